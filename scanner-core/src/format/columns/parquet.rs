//! Parquet: columns first, then a description in Thrift, its length, and the letters again.

use crate::{
    finding::{Gap, Reason, Stop},
    format::{Out, Subject},
    limits::Budget,
    reader::{Reader, count},
};

use super::{
    ELSEWHERE, EXPANSION, EXPANSION_FROM, EXPANSION_TIMES, STRUCTURE, TRUNCATED, say,
    thrift::{self, Value},
};

/// The length and the letters at the end.
const TAIL: usize = 8;

/// What the descriptions of all columns add up to (`parquet.thrift`: `FileMetaData`, `RowGroup`, `ColumnMetaData`).
#[derive(Default)]
struct Columns {
    /// The type of the column being told.
    width: u64,
    /// Bytes that all values take in memory.
    values: u64,
    /// Bytes that all pages unpack to.
    unpacked: u64,
    is_elsewhere: bool,
    is_odd: bool,
}

pub(super) fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let total = count(bytes.len());
    if bytes.ends_with(b"PARE") || bytes.starts_with(b"PARE") {
        out.gap(Gap::new(Reason::Encrypted, "the description of the columns needs a key"));
        return Ok(());
    }
    let Some(tail) = bytes.len().checked_sub(TAIL).filter(|tail| bytes.ends_with(b"PAR1") && *tail >= 4) else {
        say(out, &TRUNCATED, bytes.len(), "the letters at the end are missing");
        return Ok(());
    };
    let mut reader = Reader::new(bytes.get(..tail).unwrap_or_default());
    let length = bytes.get(tail..).and_then(|tail| tail.first_chunk::<4>()).map_or(0, |word| u32::from_le_bytes(*word));
    let start = count(tail).checked_sub(u64::from(length)).filter(|start| *start >= 4);
    let Some(start) = start.filter(|start| reader.seek(*start).is_ok()) else {
        say(out, &STRUCTURE, tail, format!("a description of {length} bytes in a file of {total}"));
        return Ok(());
    };
    let mut columns = Columns::default();
    let told = thrift::walk(&mut reader, budget, |path, value| columns.tell(path, &value, start))?;
    if let Err(what) = told {
        say(out, &STRUCTURE, reader.position(), what);
    }
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    if columns.is_odd {
        say(out, &STRUCTURE, start, "a column of a size or place that cannot be");
    }
    if columns.is_elsewhere {
        say(out, &ELSEWHERE, start, "a column stands in another file");
    }
    let most = columns.values.max(columns.unpacked);
    if most > EXPANSION_FROM && most.checked_div(EXPANSION_TIMES).is_some_and(|least| least > total) {
        say(out, &EXPANSION, start, format!("{total} bytes unpack to {most}"));
    }
    Ok(())
}

impl Columns {
    fn tell(&mut self, path: &[i64], value: &Value, end: u64) {
        let number = match value {
            Value::Number(number) => u64::try_from(*number).ok(),
            Value::Text(_) => None,
        };
        match (path, value) {
            ([4, 1, 1], Value::Text(range)) => self.is_elsewhere |= !range.is_empty(),
            // Physical types: truth values, 32 and 64 bits, dates of 96 bits, and bytes.
            ([4, 1, 3, 1], _) => {
                self.width = match number {
                    Some(1 | 4) => 4,
                    Some(2 | 5) => 8,
                    Some(3) => 12,
                    _ => 1,
                }
            }
            ([4, 1, 3, 5], _) => {
                self.values = self.values.saturating_add(number.unwrap_or(0).saturating_mul(self.width));
                self.is_odd |= number.is_none();
            }
            ([4, 1, 3, 6], _) => {
                self.unpacked = self.unpacked.saturating_add(number.unwrap_or(0));
                self.is_odd |= number.is_none();
            }
            ([4, 1, 3, 7 | 9], _) => self.is_odd |= number.is_none_or(|number| number > end) && !self.is_elsewhere,
            _ => {}
        }
    }
}
