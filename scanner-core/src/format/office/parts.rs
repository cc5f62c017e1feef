//! The parts of a package, unpacked, for those who write it anew. What cannot be read to its end is refused: a part
//! that was not seen is not passed on.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::{
    bundle::ArtifactId,
    finding::Findings,
    format::{
        Out, Subject,
        cleaning::{Cleaning, Uncleanable},
        pull,
        zip::{self, Kind, Packing, Repack},
    },
    limits::Budget,
};

/// One part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// As it is to be written: with slashes, without one in front.
    pub(crate) name: String,
    /// In ASCII lower case: programs do not tell cases apart.
    pub(crate) lower: String,
    pub(crate) bytes: Bytes,
    packing: Packing,
}

/// All parts of a package in their order. Folders, links and parts with a name that leads outside are left out.
///
/// # Errors
/// When a part cannot be read, or two have one name.
pub(crate) fn read(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Vec<Part>, Uncleanable> {
    let (mut findings, mut gaps) = (Findings::keeping(0), Vec::new());
    let mut out = Out::new(ArtifactId(0), subject, &mut findings, &mut gaps);
    let archive = zip::open(subject, &mut out, budget);
    let mut parts = Vec::new();
    let mut known = BTreeSet::new();
    for entry in archive.entries() {
        let name = entry.name.replace('\\', "/");
        let name = name.trim_start_matches('/');
        let is_inside = name.split('/').all(|piece| !matches!(piece, "" | "." | ".."));
        match entry.kind {
            Kind::Directory => {}
            Kind::File if is_inside && !name.contains([':', '\0']) => {
                let lower = name.to_ascii_lowercase();
                if !known.insert(lower.clone()) {
                    return Err("two parts of it have one name".into());
                }
                let bytes = archive.read(entry, &mut out, budget).ok_or("a part of it cannot be unpacked")?;
                parts.push(Part { name: name.to_owned(), lower, bytes, packing: Packing::like(entry.method) });
            }
            _ => cleaning.did("removed part"),
        }
    }
    archive.finish(&mut out)?;
    match gaps.into_iter().next() {
        Some(gap) => Err(Uncleanable(gap.detail.into())),
        None => Ok(parts),
    }
}

/// Texts that are there and are not shown cannot be told from those around them when a part is edited.
///
/// # Errors
/// When one of them has to go.
pub(crate) fn refuse_hidden(cleaning: &Cleaning<'_>) -> Result<(), Uncleanable> {
    const HIDDEN: [&str; 4] = ["hidden.style", "hidden.color", "hidden.size", "hidden.offpage"];
    match HIDDEN.iter().any(|hidden| cleaning.must_go(hidden)) {
        true => Err("a hidden text is part of it".into()),
        false => Ok(()),
    }
}

impl Part {
    /// Its bytes are to stand as they are.
    pub(crate) fn store(&mut self) {
        self.packing = Packing::Stored;
    }

    /// Its text, where it is XML.
    ///
    /// # Errors
    /// When it is written in another encoding than it would be written in: what it says of that would be wrong.
    pub(crate) fn text(&self, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
        let text = pull::utf8(&self.bytes, budget)?;
        let bare = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        if text != bare && text != self.bytes {
            return Err("a part of it is not written in UTF-8".into());
        }
        Ok(text)
    }

    pub(crate) fn pack(&self, into: &mut Repack, budget: &mut Budget) -> Result<(), Uncleanable> {
        into.add(&self.name, &self.bytes, self.packing, budget)
    }
}
