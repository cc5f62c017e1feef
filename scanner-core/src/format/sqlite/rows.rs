//! Rows of tables and indices, column by column (sqlite.org, "Database file format", sections 1.6 and 2.1). In the file
//! the values of a row stand one behind the other with their lengths in front: read as they lie, the last length and the
//! value before are letters of the first word.

use std::{collections::BTreeSet, ops::Range};

use super::Header;
use crate::{
    format::{charset, strings},
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, Short, count},
};

/// Kinds of pages that have rows in them.
const INDEX_INNER: u8 = 2;
const INDEX_LEAF: u8 = 10;
const TABLE_LEAF: u8 = 13;
/// Steps of one row, and of one column.
const STEPS_PER_ROW: u64 = 20;
const STEPS_PER_COLUMN: u64 = 4;
/// Where the first page has its own header: behind that of the file.
const FIRST: usize = 100;

/// What a page has in its rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Every text, one a line.
    pub(super) text: String,
    /// Whether some statement of the schema reaches out of the database.
    pub(super) has_code: bool,
}

/// Reads the rows of the pages of one database.
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    page: usize,
    /// Bytes of a page that rows may use.
    usable: u64,
    encoding: u32,
    /// Pages that rows go on in; each belongs to one row.
    followed: BTreeSet<u32>,
}

impl<'a> Walk<'a> {
    pub(super) fn of(bytes: &'a [u8], header: &Header, page: u64) -> Self {
        let reserved = bytes.get(20).copied().map_or(0, u64::from);
        Self {
            bytes,
            page: usize::try_from(page).unwrap_or(usize::MAX),
            usable: page.saturating_sub(reserved),
            encoding: header.encoding,
            followed: BTreeSet::new(),
        }
    }

    /// The rows of the page at an offset. Values that were read as what they are are blanked in `rest`, and nothing else: a
    /// row that says of itself what is not so takes nothing out of sight.
    pub(super) fn read(
        &mut self,
        start: usize,
        rest: &mut [u8],
        rows: &mut Rows,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let end = start.saturating_add(self.page).min(self.bytes.len());
        let Some(page) = self.bytes.get(start..end) else { return Ok(()) };
        let head = if start == 0 { FIRST } else { 0 };
        let (Some(kind), Some(cells)) = (page.get(head).copied(), page.get(head.saturating_add(3)..)) else {
            return Ok(());
        };
        let pointers = match kind {
            INDEX_INNER => 12,
            INDEX_LEAF | TABLE_LEAF => 8,
            _ => return Ok(()),
        };
        let number = cells.first_chunk().map_or(0, |number| u16::from_be_bytes(*number));
        let places = page.get(head.saturating_add(pointers)..).unwrap_or_default();
        // Rows of a page do not lie over each other: together they are no longer than it.
        let mut left = page.len();
        for place in places.as_chunks::<2>().0.iter().take(number.into()) {
            budget.spend(Resource::Steps, STEPS_PER_ROW)?;
            let at = usize::from(u16::from_be_bytes(*place));
            // What does not lie within its page is no row.
            let Ok(row) = self.row(page.get(at..).unwrap_or_default(), kind) else { continue };
            let Some(less) = left.checked_sub(row.length) else { return Ok(()) };
            left = less;
            let payload = self.payload(&row, start.saturating_add(at), budget)?;
            budget.spend(Resource::Steps, count(payload.bytes.len()) / 4)?;
            self.columns(&payload, rest, rows, budget)?;
        }
        Ok(())
    }

    /// Where the bytes of a row are.
    fn row<'p>(&self, cell: &'p [u8], kind: u8) -> Result<Row<'p>, Short> {
        let mut reader = Reader::new(cell);
        if kind == INDEX_INNER {
            reader.take(4)?;
        }
        let whole = number(&mut reader)?;
        let most = if kind == TABLE_LEAF {
            number(&mut reader)?;
            self.usable.saturating_sub(35)
        } else {
            fraction(self.usable, 64)
        };
        let here = if whole <= most {
            whole
        } else {
            // Of a long row so much stays that the rest fills whole pages.
            let least = fraction(self.usable, 32);
            let filled = whole.saturating_sub(least).checked_rem(self.usable.saturating_sub(4)).unwrap_or(0);
            Some(least.saturating_add(filled)).filter(|here| *here <= most).unwrap_or(least)
        };
        let from = reader.position();
        let local = reader.take(here)?;
        let next = if here < whole { reader.u32_be()? } else { 0 };
        Ok(Row { local, from, next, left: whole.saturating_sub(here), length: reader.position() })
    }

    /// The bytes of a row at an offset, from all of its pages that are there.
    fn payload(&mut self, row: &Row<'_>, at: usize, budget: &mut Budget) -> Result<Payload, Exhausted> {
        let mut payload = Payload { bytes: row.local.to_vec(), parts: vec![(0, at.saturating_add(row.from))] };
        let (mut next, mut left) = (row.next, row.left);
        while next > 0 && left > 0 && self.followed.insert(next) {
            budget.spend(Resource::Steps, STEPS_PER_ROW)?;
            let start = usize::try_from(next).ok().and_then(|next| next.checked_sub(1)?.checked_mul(self.page));
            let page = start.and_then(|start| self.bytes.get(start..)).unwrap_or_default();
            let most = self.usable.saturating_sub(4).min(left);
            let mut reader = Reader::new(page);
            let (Ok(following), Ok(more)) = (reader.u32_be(), reader.take(most)) else { break };
            payload.parts.push((payload.bytes.len(), start.unwrap_or(0).saturating_add(4)));
            payload.bytes.extend_from_slice(more);
            (next, left) = (following, left.saturating_sub(most));
        }
        Ok(payload)
    }

    /// Texts of the columns, and words within their bytes.
    fn columns(
        &self,
        payload: &Payload,
        rest: &mut [u8],
        rows: &mut Rows,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let mut header = Reader::new(&payload.bytes);
        let mut body = header.clone();
        let Ok(length) = number(&mut header) else { return Ok(()) };
        if body.seek(length).is_err() {
            return Ok(());
        }
        while count(header.position()) < length {
            budget.spend(Resource::Steps, STEPS_PER_COLUMN)?;
            let Ok(kind) = number(&mut header) else { break };
            let size = match kind {
                0 | 8..=11 => 0,
                1..=4 => kind,
                5 => 6,
                6 | 7 => 8,
                long => long.saturating_sub(12) / 2,
            };
            // A row that is cut ends with what is left of it.
            let size = size.min(count(body.left()));
            let from = body.position();
            let Ok(value) = body.take(size) else { break };
            if kind < 12 || value.is_empty() {
                continue;
            }
            let text = match (kind % 2, self.encoding) {
                (0, _) => strings::likely(value),
                (_, 2) => charset::utf16(value, budget)?,
                (_, 3) => {
                    let swapped: Vec<u8> = value.as_chunks::<2>().0.iter().flat_map(|[a, b]| [*b, *a]).collect();
                    charset::utf16(&swapped, budget)?
                }
                _ => String::from_utf8_lossy(value).into_owned(),
            };
            budget.spend(Resource::DecodedBytes, count(text.len()))?;
            rows.has_code |= super::reaches_out(&text);
            if !text.trim().is_empty() {
                // What a terminal acts on stays; other controls are bytes of no text.
                let is_stray =
                    |letter: char| letter.is_ascii_control() && !matches!(letter, '\t' | '\n' | '\r' | '\x1b');
                rows.text.extend(text.chars().map(|letter| if is_stray(letter) { ' ' } else { letter }));
                rows.text.push('\n');
            }
            // A database may be wrong about wide letters, or right and wrong in turn: these are looked at as they lie, too.
            let is_plain = !matches!(self.encoding, 2 | 3) && !value.contains(&0);
            if is_plain || kind % 2 == 0 {
                payload.blank(from..body.position(), rest);
            }
        }
        Ok(())
    }
}

/// A row in its page.
struct Row<'p> {
    local: &'p [u8],
    /// Where these bytes begin in it.
    from: usize,
    /// The page it goes on in, or zero, and how many bytes are there.
    next: u32,
    left: u64,
    /// Bytes of its page that it takes.
    length: usize,
}

/// The bytes of a row, and where in the file its parts begin.
struct Payload {
    bytes: Vec<u8>,
    parts: Vec<(usize, usize)>,
}

impl Payload {
    /// Blanks a range of it in the bytes of the file.
    fn blank(&self, range: Range<usize>, file: &mut [u8]) {
        let ends = self.parts.iter().skip(1).map(|(start, _)| *start).chain([self.bytes.len()]);
        for ((start, at), end) in self.parts.iter().zip(ends) {
            let (from, to) = (range.start.max(*start), range.end.min(end));
            let place = |offset: usize| at.saturating_add(offset.saturating_sub(*start));
            if let Some(bytes) = file.get_mut(place(from)..place(to)).filter(|_| from < to) {
                bytes.fill(0);
            }
        }
    }
}

/// Limits of what stays in a page, as parts of 255 of it.
fn fraction(usable: u64, parts: u64) -> u64 {
    (usable.saturating_sub(12).saturating_mul(parts) / 255).saturating_sub(23)
}

/// A number of one to nine bytes, the high bits first.
fn number(reader: &mut Reader<'_>) -> Result<u64, Short> {
    let mut value = 0_u64;
    for _ in 0..8 {
        let byte = reader.u8()?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Ok(value << 8 | u64::from(reader.u8()?))
}
