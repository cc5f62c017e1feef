//! Reads a journal from its first line to its last: whether each names the one before it.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use scanner_core::sha256_hex;

use super::{Entry, LINE_BYTES, NOTHING, SCHEMA, day_of, segments};

/// What a journal holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Lines.
    pub lines: u64,
    /// Number of the first one; above one when older files were removed.
    pub first: u64,
    /// SHA-256 of the last one: who writes it down elsewhere can tell later whether anything before it was changed.
    pub head: String,
    /// The day of the last one.
    pub day: String,
}

/// Checks the journal in that folder.
///
/// # Errors
/// The first line that is not what it should be, by file and number of the line.
pub fn check(folder: &Path) -> io::Result<Checked> {
    let mut seen = Checked { lines: 0, first: 0, head: NOTHING.to_owned(), day: String::new() };
    let (mut number, mut time) = (0, 0);
    for (first, path) in segments(folder)? {
        let mut reader = BufReader::new(File::open(&path)?);
        let mut at = 0_u64;
        loop {
            at += 1;
            let wrong = |what: &str| {
                let path = scanner_core::visible(&path.to_string_lossy());
                io::Error::new(io::ErrorKind::InvalidData, format!("{path}:{at}: {what}"))
            };
            let mut line = Vec::new();
            reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                break;
            }
            if line.pop() != Some(b'\n') {
                return Err(wrong("cut off"));
            }
            let entry: Entry<'_> = serde_json::from_slice(&line).map_err(|_| wrong("not a line of a journal"))?;
            if entry.schema != SCHEMA {
                return Err(wrong("of another schema"));
            }
            if seen.lines == 0 {
                (seen.first, number) = (entry.number, entry.number.saturating_sub(1));
            } else if entry.previous != seen.head {
                return Err(wrong("the line before it was changed or removed"));
            }
            number += 1;
            if entry.number != number || (at == 1 && first != number) || entry.time < time {
                return Err(wrong("out of order"));
            }
            time = entry.time;
            seen = Checked { lines: seen.lines + 1, head: sha256_hex(&line), day: day_of(time), ..seen };
        }
    }
    Ok(seen)
}
