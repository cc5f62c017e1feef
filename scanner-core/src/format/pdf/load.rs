//! A file as a document: objects found, tables followed, encryption opened, object streams unpacked. The judge and the
//! cleaner start from the same document, so what one passes is what the other writes.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{
    content, crypt,
    document::{Document, Lock},
    file::{self, Between, Item, Reading},
    object::Dict,
    rules,
    xref::{self, Xref},
};
use crate::{finding::Stop, limits::Budget};

/// What reading a file through found.
pub(super) struct Found<'a> {
    pub(super) items: Vec<Item<'a>>,
    pub(super) between: Between<'a>,
    /// Newest first.
    pub(super) trailers: Vec<Dict<'a>>,
    /// Why not all of it was read.
    pub(super) stop: Option<Stop>,
    xref: Xref<'a>,
}

/// Reads the file through and follows its tables.
pub(super) fn find<'a>(reading: &mut Reading<'a>, budget: &mut Budget) -> Result<Found<'a>, Stop> {
    let mut xref = xref::walk(reading, budget)?;
    let (mut items, between, mut stop) = file::scan(reading, &xref, budget)?;
    match file::elsewhere(reading, &xref, &mut items, budget) {
        Ok(missing) => xref::check(reading, &xref, &items, &missing),
        Err(early) => stop = stop.or(Some(early)),
    }
    let mut trailers = std::mem::take(&mut xref.trailers);
    if !xref.is_whole || trailers.is_empty() {
        trailers.extend(between.trailers.iter().rev().filter_map(Item::dict).cloned());
        trailers
            .extend(items.iter().rev().filter_map(|item| item.dict().filter(|dict| dict.is("Type", "XRef"))).cloned());
    }
    revisions(&items, &trailers, reading);
    Ok(Found { items, between, trailers, stop, xref })
}

/// Objects that are there more than once: older versions that a later one replaced, or two in one version, of which a
/// reader that trusts the table and one that searches the file see different ones.
fn revisions(items: &[Item<'_>], trailers: &[Dict<'_>], reading: &mut Reading<'_>) {
    let mut sorted: Vec<&Item<'_>> = items.iter().collect();
    sorted.sort_by_key(|item| item.number);
    let stream = |item: &Item<'_>| item.stream.clone().and_then(|range| reading.bytes.get(range));
    let (mut older, mut doubled) = (0_u64, None);
    for pair in sorted.windows(2) {
        let [one, other] = pair else { continue };
        if one.number == other.number {
            older = older.saturating_add(1);
            if one.object != other.object || stream(one) != stream(other) {
                doubled = doubled.or(Some(other.at..other.end));
            }
        }
    }
    if trailers.len() > 1 && older > 0 {
        let end = reading.bytes.len();
        let message = format!("{older} objects are there in more than one version");
        reading.notes.add(&rules::INCREMENTAL, end..end, message);
    } else if let Some(span) = doubled {
        reading.notes.add(&rules::STRUCTURE, span, "two different objects have one number");
    }
}

/// A document of which the object streams are not unpacked yet.
pub(super) struct Packed<'a> {
    first: Document<'a>,
    xref: Xref<'a>,
    header: usize,
    stop: Option<Stop>,
}

/// A document with everything in it.
pub(super) struct Loaded<'a> {
    pub(super) document: Document<'a>,
    /// Streams that were unpacked, by position.
    pub(super) opened: BTreeSet<usize>,
    /// Why not all of it was read.
    pub(super) stop: Option<Stop>,
}

/// Object streams by the position of each, with what is in them.
pub(super) type Containers = Vec<(usize, Option<Bytes>)>;

impl<'a> Found<'a> {
    /// Opens the lock, if everybody can, and the object streams. They are kept apart: objects borrow from them.
    pub(super) fn unlock(
        self,
        bytes: &'a Bytes,
        reading: &mut Reading<'a>,
        budget: &mut Budget,
    ) -> Result<(Packed<'a>, Containers), Stop> {
        let Self { mut items, between, trailers, stop, xref } = self;
        let header = reading.header;
        items.extend(between.trailers);
        items.sort_by_key(|item| item.at);
        let mut first = Document::new(bytes, items, trailers, &xref, header, Lock::None);
        first.lock = crypt::lock(&first, budget)?;
        let mut containers = Vec::new();
        for (index, item) in first.items.iter().enumerate() {
            if item.stream.is_some() && item.dict().is_some_and(|dict| dict.is("Type", "ObjStm")) {
                let decoded = first.decode(index, budget);
                containers.push((index, content(&mut reading.notes, item, decoded)));
            }
        }
        Ok((Packed { first, xref, header, stop }, containers))
    }
}

impl<'a> Packed<'a> {
    /// The whole document, with the objects that the containers hold.
    pub(super) fn unpack<'x>(
        self,
        containers: &'x Containers,
        reading: &mut Reading<'_>,
        budget: &mut Budget,
    ) -> Loaded<'x>
    where
        'a: 'x,
    {
        let Self { first, xref, header, mut stop } = self;
        let mut packed: Vec<Item<'x>> = Vec::new();
        for (index, data) in containers {
            let (Some(container), Some(data)) = (first.item(*index), data) else { continue };
            if let Err(early) = file::unpack(reading, container, data, &mut packed, budget) {
                stop = stop.or(Some(early));
                break;
            }
        }
        let bytes = first.bytes;
        let Document { items, trailers, lock, .. } = first;
        // Positions of streams move: they are found again by where they stand.
        let opened_at: BTreeSet<usize> =
            containers.iter().filter_map(|(index, _)| items.get(*index)).map(|item| item.at).collect();
        let mut items: Vec<Item<'x>> = items;
        items.extend(packed);
        items.sort_by_key(|item| item.at);
        let document = Document::new(bytes, items, trailers, &xref, header, lock);
        let opened = document
            .items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.stream.is_some() && opened_at.contains(&item.at))
            .map(|(index, _)| index)
            .collect();
        Loaded { document, opened, stop }
    }
}
