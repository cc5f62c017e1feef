//! The items of a HEIF file (ISO 14496-12 §8.11): what they are and where they stand.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    finding::Stop,
    format::boxes::{self, Part},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

/// Steps of one item or of one of its pieces.
const STEPS_PER_ITEM: u64 = 10;

/// What the lists say.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// By number: the kind of each item that is no picture.
    kinds: BTreeMap<u32, String>,
    /// Where the words about each item stand: its name, and what its kind has beside it.
    pub(super) words: Vec<Range<usize>>,
    /// The first piece of each item: whether it counts in the file or in the data box, offset and length.
    pieces: BTreeMap<u32, (u16, u64, u64)>,
    /// The data box.
    pub(super) data: Option<Range<usize>>,
    /// A picture made of others may be larger than the codec allows.
    pub(super) has_grid: bool,
    /// Items that reach beyond what they stand in.
    pub(super) cut: u64,
}

impl Items {
    /// Where the items are (§8.11.3).
    pub(super) fn locations(&mut self, reader: &mut Reader<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let [version, _, _, _, first, second] = reader.array()?;
        let (offset_bytes, length_bytes) = (first >> 4, first & 15);
        let (base_bytes, index_bytes) = (second >> 4, if version == 0 { 0 } else { second & 15 });
        let items = if version < 2 { reader.u16_be()?.into() } else { reader.u32_be()? };
        for _ in 0..items {
            budget.spend(Resource::Steps, STEPS_PER_ITEM)?;
            budget.spend(Resource::Objects, 1)?;
            let item = if version < 2 { reader.u16_be()?.into() } else { reader.u32_be()? };
            let method = if version == 0 { 0 } else { reader.u16_be()? & 15 };
            reader.take(2)?;
            let base = number(reader, base_bytes)?;
            let pieces = reader.u16_be()?;
            for piece in 0..pieces {
                // Fields of no bytes: many pieces may cost nothing to write.
                budget.spend(Resource::Steps, STEPS_PER_ITEM)?;
                number(reader, index_bytes)?;
                let offset = base.saturating_add(number(reader, offset_bytes)?);
                let length = number(reader, length_bytes)?;
                if piece == 0 {
                    self.pieces.insert(item, (method, offset, length));
                }
            }
        }
        Ok(())
    }

    /// What the items are (§8.11.6).
    pub(super) fn kinds(&mut self, bytes: &[u8], part: &Part, budget: &mut Budget) -> Result<(), Stop> {
        let head = if bytes.get(part.range.start) == Some(&0) { 6 } else { 8 };
        let mut range = part.from(head);
        while let Some(entry) = boxes::next(bytes, &range, budget)? {
            let mut reader = Reader::new(bytes.get(entry.range.clone()).unwrap_or_default());
            range.start = entry.range.end;
            let [version, ..] = reader.array::<4>()?;
            if entry.name != *b"infe" || version < 2 {
                self.words.push(entry.range);
                continue;
            }
            let item = if version == 2 { reader.u16_be()?.into() } else { reader.u32_be()? };
            reader.take(2)?;
            let kind: [u8; 4] = reader.array()?;
            // Read with the kind in front of it the name has no beginning.
            self.words.push(entry.range.start.saturating_add(reader.position())..entry.range.end);
            match &kind {
                b"grid" | b"iovl" => self.has_grid = true,
                b"Exif" | b"mime" | b"uri " => {
                    let kind = kind.iter().copied().map(char::from).collect::<String>();
                    self.kinds.insert(item, kind.trim_end().to_owned());
                }
                _ => {}
            }
        }
        // What is no box any more.
        self.words.push(range);
        Ok(())
    }

    /// Ranges of the file that hold notes; counts what lies outside.
    pub(super) fn notes(&mut self, length: usize) -> Vec<(String, Range<usize>)> {
        let mut notes = Vec::new();
        for (item, (method, offset, bytes)) in &self.pieces {
            let (base, most) = match (method, &self.data) {
                (0, _) => (0, length),
                (1, Some(data)) => (data.start, data.end),
                _ => continue,
            };
            let start = usize::try_from(*offset).ok().and_then(|offset| base.checked_add(offset));
            let end = start.and_then(|start| start.checked_add(usize::try_from(*bytes).ok()?));
            let Some((start, end)) = start.zip(end).filter(|(_, end)| *end <= most) else {
                self.cut = self.cut.saturating_add(1);
                continue;
            };
            // No length: up to the end.
            let end = if *bytes == 0 { most } else { end };
            if let Some(kind) = self.kinds.get(item).filter(|_| start < end) {
                notes.push((kind.clone(), start..end));
            }
        }
        notes
    }
}

/// A number of none, four or eight bytes.
fn number(reader: &mut Reader<'_>, bytes: u8) -> Result<u64, Short> {
    match bytes {
        0 => Ok(0),
        4 => reader.u32_be().map(u64::from),
        8 => reader.u64_be(),
        _ => Err(Short { at: count(reader.position()), wanted: bytes.into() }),
    }
}
