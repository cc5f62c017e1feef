//! Arrow files: batches first, then a description as a flat buffer, its length, and the letters again; and streams of
//! batches without it.

use crate::{
    finding::Stop,
    format::{Out, Subject},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{STRUCTURE, TRUNCATED, say};

const LETTERS: &[u8] = b"ARROW1";
/// The length and the letters at the end.
const TAIL: usize = 10;
/// A batch in the description: offset, length of its own description, length of its body.
const BLOCK: u64 = 24;

pub(super) fn file(subject: &Subject<'_>, out: &mut Out<'_>) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let Some(tail) = bytes.len().checked_sub(TAIL).filter(|tail| bytes.ends_with(LETTERS) && *tail >= 8) else {
        say(out, &TRUNCATED, bytes.len(), "the letters at the end are missing");
        return Ok(());
    };
    let length = bytes.get(tail..).and_then(|tail| tail.first_chunk::<4>()).map_or(0, |word| u32::from_le_bytes(*word));
    let start = usize::try_from(length).ok().and_then(|length| tail.checked_sub(length)).filter(|start| *start >= 8);
    let Some(footer) = start.and_then(|start| bytes.get(start..tail)) else {
        say(out, &STRUCTURE, tail, format!("a description of {length} bytes in a file of {}", bytes.len()));
        return Ok(());
    };
    if let Err(what) = blocks(footer, count(tail)) {
        say(out, &STRUCTURE, start.unwrap_or(0), what);
    }
    Ok(())
}

/// Checks that every batch the description names is in the file (`File.fbs`: version, schema, dictionaries, batches).
fn blocks(footer: &[u8], end: u64) -> Result<(), &'static str> {
    const BROKEN: &str = "the description leads out of itself";
    let buffer = Buffer(footer);
    let root = buffer.u32(0).ok_or(BROKEN)?;
    let table = usize::try_from(root).map_err(|_| BROKEN)?;
    for field in [2, 3] {
        let Some(at) = buffer.field(table, field).ok_or(BROKEN)? else { continue };
        let vector = buffer.follow(at).ok_or(BROKEN)?;
        let blocks = u64::from(buffer.u32(vector).ok_or(BROKEN)?);
        let mut reader = Reader::new(footer);
        reader.seek(count(vector).saturating_add(4)).map_err(|_| BROKEN)?;
        if blocks.saturating_mul(BLOCK) > count(reader.left()) {
            return Err("more batches are announced than the description has room for");
        }
        for _ in 0..blocks {
            let (Ok(offset), Ok(described), Ok(_), Ok(body)) =
                (reader.u64_le(), reader.u32_le(), reader.u32_le(), reader.u64_le())
            else {
                return Err(BROKEN);
            };
            if offset.saturating_add(u64::from(described)).saturating_add(body) > end {
                return Err("a batch reaches past the end");
            }
        }
    }
    Ok(())
}

/// A flat buffer: tables whose first number leads back to a list of where their fields are.
struct Buffer<'a>(&'a [u8]);

impl Buffer<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        self.0.get(at..)?.first_chunk::<4>().map(|word| u32::from_le_bytes(*word))
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.0.get(at..)?.first_chunk::<2>().map(|word| u16::from_le_bytes(*word))
    }

    /// Where a field of a table stands; `None` inside when the table does not have it.
    fn field(&self, table: usize, field: usize) -> Option<Option<usize>> {
        let back = self.0.get(table..)?.first_chunk::<4>().map(|word| i32::from_le_bytes(*word))?;
        let list = i64::try_from(table).ok()?.checked_sub(back.into())?;
        let list = usize::try_from(list).ok()?;
        let length = usize::from(self.u16(list)?);
        let slot = field.checked_mul(2)?.checked_add(4)?;
        if slot.checked_add(2)? > length {
            return Some(None);
        }
        let offset = usize::from(self.u16(list.checked_add(slot)?)?);
        Some(if offset == 0 { None } else { Some(table.checked_add(offset)?) })
    }

    /// Where an offset leads.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(usize::try_from(self.u32(at)?).ok()?)
    }
}

/// Messages one after the other, each with the length of its description and a body whose length that gives.
pub(super) fn stream(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let mut reader = Reader::new(bytes);
    loop {
        budget.spend(Resource::Steps, 10)?;
        let at = reader.position();
        // Streams end at the end of the file, or with a length of zero.
        let Ok(mut length) = reader.u32_le() else {
            if !reader.is_at_end() || at == 0 {
                say(out, &TRUNCATED, at, "the stream ends in the length of a message");
            }
            return Ok(());
        };
        if length == u32::MAX {
            let Ok(word) = reader.u32_le() else {
                say(out, &TRUNCATED, at, "the stream ends in the length of a message");
                return Ok(());
            };
            length = word;
        }
        if length == 0 {
            return Ok(());
        }
        let message = reader.take(length.into()).ok();
        let body = message.and_then(body_of);
        match (message, body) {
            (None, _) => {
                say(out, &TRUNCATED, at, "a message reaches past the end");
                return Ok(());
            }
            (_, None) => {
                say(out, &STRUCTURE, at, "the description of a message leads out of itself");
                return Ok(());
            }
            (_, Some(body)) => {
                if reader.take(body).is_err() {
                    say(out, &TRUNCATED, at, "the body of a message reaches past the end");
                    return Ok(());
                }
            }
        }
    }
}

/// The length of what follows a message (`Message.fbs`: version, type of header, header, length of body).
fn body_of(message: &[u8]) -> Option<u64> {
    let buffer = Buffer(message);
    let table = usize::try_from(buffer.u32(0)?).ok()?;
    match buffer.field(table, 3)? {
        None => Some(0),
        Some(at) => message.get(at..)?.first_chunk::<8>().map(|word| u64::from_le_bytes(*word)),
    }
}
