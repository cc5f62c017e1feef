//! The safe version of a zip: its files washed and packed again under safe names, and nothing else of it.

use bytes::Bytes;

use super::{Archive, Closed, Entry, Kind, Packing, Repack};
use crate::{
    bundle::ArtifactId,
    finding::Findings,
    format::{
        Out, Subject,
        cleaning::{Cleaning, Part, Uncleanable},
        path::SafeNames,
    },
    inflate,
    limits::{Budget, Resource},
    reader::count,
};

/// The checksum runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    if matches!(subject.kind.label, "jar" | "apk" | "whl") || cleaning.must_go("exec.package") {
        return Err("a package that installs software has no safe version".into());
    }
    let archive = Archive::to_clean(subject, budget)?;
    let (mut names, mut pack) = (SafeNames::default(), Repack::new());
    // More than folders: what they had in them, and what is left of it.
    let (mut had_more, mut has_files) = (false, false);
    for entry in archive.entries() {
        if !entry.comment.is_empty() {
            cleaning.did("removed a comment");
        }
        had_more |= entry.kind != Kind::Directory;
        match entry.kind {
            Kind::Symlink => cleaning.did("removed a link"),
            Kind::Device => cleaning.did("removed a device"),
            Kind::Directory => {
                if let Some(name) = names.folder(&entry.name, cleaning, budget)? {
                    pack.add(&name, &[], Packing::Stored, budget)?;
                }
            }
            Kind::File => {
                let Some(name) = names.file(&entry.name, cleaning, budget)? else { continue };
                let mut bytes = archive.whole(entry, budget)?;
                if !bytes.is_empty() {
                    match cleaning.part(&bytes, Some(&name), budget)? {
                        Part::Keep => {}
                        Part::Changed(changed) => bytes = changed,
                        Part::Gone(_) => continue,
                    }
                }
                pack.add(&name, &bytes, Packing::like(entry.method), budget)?;
                has_files = true;
            }
        }
    }
    if had_more && !has_files {
        return Err("nothing in the archive may stay".into());
    }
    for _ in &archive.unlisted {
        cleaning.did("removed data that belong to no member");
    }
    pack.finish()
}

impl<'a> Archive<'a> {
    /// Walks a zip that is to be written again: from its end through its directory to each member.
    ///
    /// # Errors
    /// When it cannot be followed to its end.
    pub(crate) fn to_clean(subject: &Subject<'a>, budget: &mut Budget) -> Result<Self, Uncleanable> {
        // What is wrong with it was said when it was inspected.
        let (mut findings, mut gaps) = (Findings::keeping(0), Vec::new());
        let mut out = Out::new(ArtifactId(0), subject, &mut findings, &mut gaps);
        let mut archive = Self::over(subject.bytes);
        archive.walk(&mut out, budget)?;
        Ok(archive)
    }

    /// All of a member, as the archive promises it.
    ///
    /// # Errors
    /// When it cannot be had, or is not what was packed.
    pub(crate) fn whole(&self, entry: &Entry, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
        if entry.is_empty() {
            return Ok(Bytes::new());
        }
        let source = self.source(entry).map_err(|closed| match closed {
            Closed::Encrypted => "a file in the archive needs a key".into(),
            Closed::Unsupported(method) => Uncleanable(
                format!("a file in the archive is packed by method {method}, which nothing here unpacks").into(),
            ),
            Closed::Nowhere => "a file in the archive is not where its directory says".into(),
            Closed::Shared => "files in the archive share the same packed bytes".into(),
        })?;
        let unpacked = inflate::unpack(&source, budget);
        if let Some(stop) = unpacked.stop {
            return Err(stop.into());
        }
        if let Some(told) = entry.claim().crc32 {
            budget.spend(Resource::Steps, count(unpacked.bytes.len()).div_ceil(BYTES_PER_STEP))?;
            let mut crc = flate2::Crc::new();
            crc.update(&unpacked.bytes);
            if crc.sum() != told {
                return Err("a file in the archive does not match its checksum".into());
            }
        }
        Ok(unpacked.bytes)
    }
}
