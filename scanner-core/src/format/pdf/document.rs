//! The objects of a file as one document: which of a number counts, what a reference leads to, what a stream holds.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    crypt::Crypt,
    file::{Item, UNNUMBERED},
    filter::{self, Decoded},
    object::{Dict, Object},
    xref::{Spot, Xref},
};
use crate::{
    inflate::Spare,
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// References that lead to references. One is odd already.
const MOST_HOPS: usize = 16;

/// Whether the content can be read.
#[derive(Debug)]
pub(super) enum Lock {
    /// It is not encrypted.
    None,
    /// It is, and anybody can open it.
    Open(Crypt),
    /// It needs a key.
    Closed,
}

#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) bytes: &'a Bytes,
    /// All objects of all revisions, in the order of the file.
    pub(super) items: Vec<Item<'a>>,
    /// The number of an object and its position in `items`: the one that counts.
    current: Vec<(u32, usize)>,
    /// Newest first.
    pub(super) trailers: Vec<Dict<'a>>,
    pub(super) lock: Lock,
    spare: Spare,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        bytes: &'a Bytes,
        items: Vec<Item<'a>>,
        trailers: Vec<Dict<'a>>,
        xref: &Xref<'_>,
        header: usize,
        lock: Lock,
    ) -> Self {
        // The last of a number in the file counts, unless the table names another.
        let mut current: Vec<(u32, bool, usize)> = items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.number != UNNUMBERED)
            .map(|(index, item)| {
                let is_named = match xref.spot(item.number) {
                    Some(Spot::At(at, _)) => at == item.at || at.saturating_add(header) == item.at,
                    Some(Spot::Packed(_)) => item.is_packed,
                    _ => false,
                };
                (item.number, is_named, index)
            })
            .collect();
        current.sort_unstable();
        current.reverse();
        current.dedup_by_key(|(number, ..)| *number);
        current.reverse();
        let current = current.into_iter().map(|(number, _, index)| (number, index)).collect();
        Self { bytes, items, current, trailers, lock, spare: Spare::default() }
    }

    /// The position of the object of that number that counts.
    pub(super) fn find(&self, number: u32) -> Option<usize> {
        let at = self.current.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.current.get(at).map(|(_, index)| *index)
    }

    pub(super) fn item(&self, index: usize) -> Option<&Item<'a>> {
        self.items.get(index)
    }

    /// What a value is when references are followed. A reference that leads nowhere is null (§7.3.10).
    pub(super) fn resolve<'x>(&'x self, object: &'x Object<'a>) -> &'x Object<'a> {
        let mut object = object;
        for _ in 0..MOST_HOPS {
            let Object::Ref(number) = object else { return object };
            match self.find(*number).and_then(|index| self.item(index)) {
                Some(item) => object = &item.object,
                None => break,
            }
        }
        &Object::Null
    }

    pub(super) fn get<'x>(&'x self, dict: &'x Dict<'a>, key: &str) -> &'x Object<'a> {
        dict.get(key).map_or(&Object::Null, |value| self.resolve(value))
    }

    /// The position of the object that a reference leads to at last.
    pub(super) fn target(&self, object: &Object<'a>) -> Option<usize> {
        let mut index = self.find(object.reference()?)?;
        for _ in 0..MOST_HOPS {
            match self.item(index)?.object {
                Object::Ref(number) => index = self.find(number)?,
                _ => return Some(index),
            }
        }
        None
    }

    /// The catalogue: what the newest trailer that has one names.
    pub(super) fn root(&self) -> Option<&Dict<'a>> {
        let named = self.trailers.iter().find_map(|trailer| self.get(trailer, "Root").dict());
        named.filter(|root| root.has("Pages"))
    }

    /// Any catalogue, where no trailer names one.
    pub(super) fn some_root(&self) -> Option<&Dict<'a>> {
        self.items.iter().rev().find_map(|item| item.dict().filter(|dict| dict.is("Type", "Catalog")))
    }

    /// The bytes of a stream as they stand in the file, their encryption undone.
    pub(super) fn packed(&self, index: usize, budget: &mut Budget) -> Result<Option<Bytes>, Exhausted> {
        let Some(packed) = self.item(index).and_then(|item| self.slice(item)) else { return Ok(None) };
        match (&self.lock, self.item(index)) {
            (Lock::Open(crypt), Some(item)) => {
                budget.spend(Resource::Steps, count(packed.len()))?;
                Ok(Some(crypt.stream(item, packed)))
            }
            (Lock::Closed, _) => Ok(None),
            _ => Ok(Some(packed)),
        }
    }

    fn slice(&self, item: &Item<'a>) -> Option<Bytes> {
        let range = item.stream.clone().filter(|range| range.end <= self.bytes.len() && range.start <= range.end)?;
        Some(self.bytes.slice(range))
    }

    /// The content of a stream.
    pub(super) fn decode(&self, index: usize, budget: &mut Budget) -> Option<Decoded> {
        let dict = self.item(index)?.dict()?;
        match self.packed(index, budget) {
            Ok(packed) => Some(filter::decode(&filter::steps(dict, Some(self)), packed?, &self.spare, budget)),
            Err(exhausted) => Some(Decoded { stop: Some(exhausted.into()), ..Decoded::default() }),
        }
    }

    /// The bytes of a string in an object.
    pub(super) fn string<'x>(&self, item: &Item<'_>, object: &Object<'x>) -> Option<Cow<'x, [u8]>> {
        let raw = object.string()?;
        match &self.lock {
            Lock::None => Some(raw),
            Lock::Closed => None,
            Lock::Open(_) if item.is_packed => Some(raw),
            Lock::Open(crypt) => Some(Cow::Owned(crypt.string(item, &raw))),
        }
    }
}
