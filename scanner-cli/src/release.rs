//! `scanner scan --release AUDIENCE=DIR`: what may leave, on disk. Names of files are digests: an untrusted name is only
//! ever a value in the manifest.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use scanner_worker::{Answer, Kept};
use serde_json::{Value, json};

use crate::problem::Usage;

/// The folders of the releases that were asked for, and what was written to each.
#[derive(Debug)]
pub(crate) struct Releases {
    folders: Vec<(String, PathBuf, Vec<Value>)>,
    /// Several inputs share a folder: their envelopes are told apart by digest.
    several: bool,
}

impl Releases {
    /// Folders for these audiences, made where they are missing.
    pub(crate) fn new(asked: &[(String, String)], audiences: &[String], several: bool) -> Result<Self, Usage> {
        let folders = asked
            .iter()
            .map(|(audience, folder)| {
                if !audiences.contains(audience) {
                    return Err(Usage(format!(
                        "--release {audience}=…: this audience is not decided for, add it to --audience"
                    )));
                }
                let folder = PathBuf::from(folder);
                fs::create_dir_all(folder.join("files"))
                    .map_err(|error| Usage(format!("{}: {error}", folder.display())))?;
                Ok((audience.clone(), folder, Vec::new()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { folders, several })
    }

    /// Writes what may leave of one input.
    pub(crate) fn write(&mut self, answer: &Answer) -> io::Result<()> {
        for (audience, folder, manifests) in &mut self.folders {
            let Some(released) = answer.releases.iter().find(|released| released.audience == *audience) else {
                continue;
            };
            let mut manifest: Value = serde_json::from_str(&released.manifest).map_err(io::Error::other)?;
            for kept in &released.files {
                put(folder, &kept.path, kept)?;
            }
            if let Some(whole) = &released.whole {
                let path = match whole.path.strip_prefix("envelope.") {
                    Some(extension) if self.several => {
                        fs::create_dir_all(folder.join("envelopes"))?;
                        format!("envelopes/{}.{extension}", scanner_core::sha256_hex(&whole.bytes))
                    }
                    _ => whole.path.clone(),
                };
                put(folder, &path, whole)?;
                if !manifest["envelope"].is_null() {
                    manifest["envelope"]["path"] = path.into();
                }
            }
            manifests.push(manifest);
        }
        Ok(())
    }

    /// Writes the manifests: of one input as it is, of several as a list.
    pub(crate) fn finish(self) -> io::Result<()> {
        for (audience, folder, mut manifests) in self.folders {
            let manifest = match (self.several, manifests.pop()) {
                (false, Some(only)) => only,
                (_, last) => {
                    manifests.extend(last);
                    json!({ "schema": "scanner.release/v1", "audience": audience, "inputs": manifests })
                }
            };
            fs::write(folder.join("manifest.json"), format!("{manifest}\n"))?;
        }
        Ok(())
    }
}

/// Writes bytes where they are kept. The worker's paths were checked when its answer came.
fn put(folder: &Path, path: &str, kept: &Kept) -> io::Result<()> {
    fs::write(folder.join(path), &kept.bytes)
}
