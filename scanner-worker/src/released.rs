//! What may leave, as a worker hands it over.

use std::io;

use bytes::Bytes;
use scanner_core::{Audience, Leaving, Verdict, manifest, sha256_hex};
use serde::{Deserialize, Serialize};

/// What may leave for one audience.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Released {
    /// The audience.
    pub audience: String,
    /// `scanner.release/v1`, one line.
    pub manifest: String,
    /// The input in its own shape, when it may leave.
    pub whole: Option<Kept>,
    /// Files that may leave by themselves.
    pub files: Vec<Kept>,
}

/// Bytes that may leave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kept {
    /// Where they are kept below the folder of a release.
    pub path: String,
    /// The headers to serve them with.
    pub headers: Vec<(String, String)>,
    /// The bytes.
    #[serde(skip)]
    pub bytes: Bytes,
}

impl Released {
    /// What may leave for the audiences whose release is wanted.
    pub(crate) fn of(verdict: &Verdict, audiences: &[Audience], wanted: &[String]) -> Vec<Self> {
        let wanted = audiences.iter().filter(|audience| wanted.iter().any(|name| name == audience.name()));
        wanted
            .filter_map(|audience| {
                let manifest = manifest(verdict, audience)?;
                Some(Self {
                    audience: audience.name().to_owned(),
                    manifest: manifest.json,
                    whole: manifest.whole.map(Kept::of),
                    files: manifest.files.into_iter().map(Kept::of).collect(),
                })
            })
            .collect()
    }

    /// Everything that has bytes, in the order in which the bytes follow.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.whole.iter().chain(&self.files)
    }

    /// Puts the bytes back, and checks what a worker says of them: a release is of an audience that was asked for, and
    /// kept where its digest says.
    pub(crate) fn fill(
        releases: &mut [Self],
        parts: &mut impl Iterator<Item = Bytes>,
        wanted: &[String],
    ) -> io::Result<()> {
        let wrong = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
        for release in releases {
            if !wanted.contains(&release.audience) {
                return wrong("a release that nobody asked for");
            }
            for kept in release.whole.iter_mut().chain(&mut release.files) {
                match parts.next() {
                    Some(bytes) => kept.bytes = bytes,
                    None => return wrong("too few parts"),
                }
                if !kept.is_sound() {
                    return wrong("a release that is not where it says");
                }
            }
        }
        if parts.next().is_some() { wrong("too many parts") } else { Ok(()) }
    }
}

impl Kept {
    fn of(leaving: Leaving) -> Self {
        Self { path: leaving.path, headers: leaving.headers, bytes: leaving.bytes }
    }

    /// Whether the path is one that a release has, and says what the bytes are.
    fn is_sound(&self) -> bool {
        let plain = |word: &str| {
            word.len() <= 16 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if let Some(extension) = self.path.strip_prefix("envelope.") {
            return plain(extension);
        }
        let Some(name) = self.path.strip_prefix("files/") else { return false };
        let (digest, extension) = name.split_once('.').unwrap_or((name, ""));
        plain(extension) && digest == sha256_hex(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_lies_is_refused() {
        let bytes = Bytes::from_static(b"clean");
        let digest = sha256_hex(&bytes);
        let back = |path: &str, audience: &str, parts: Vec<Bytes>| {
            let kept = Kept { path: path.to_owned(), ..Kept::default() };
            let mut releases = [Released { audience: audience.to_owned(), files: vec![kept], ..Released::default() }];
            Released::fill(&mut releases, &mut parts.into_iter(), &["page".to_owned()]).is_ok()
        };
        let sound = format!("files/{digest}.png");
        for path in [&sound, &format!("files/{digest}"), "envelope.json"] {
            assert!(back(path, "page", vec![bytes.clone()]), "{path}");
        }
        let other = format!("files/{}.png", "0".repeat(64));
        for path in [&other, &format!("files/{digest}.p/../x"), "envelope./../../x", "../envelope.json", ""] {
            assert!(!back(path, "page", vec![bytes.clone()]), "{path}");
        }
        assert!(!back(&sound, "model", vec![bytes.clone()]), "another audience");
        assert!(!back(&sound, "page", vec![]), "no bytes");
        assert!(!back(&sound, "page", vec![bytes.clone(), bytes]), "bytes of nothing");
    }
}
