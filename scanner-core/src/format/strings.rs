//! Texts inside binary fields: runs of characters, as a person with a hex viewer would see them.

use std::ops::Range;

use bytes::Bytes;

use crate::{
    finding::{Place, Span},
    format::Out,
    limits::{Budget, Exhausted, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

/// Shorter runs are chance.
const SHORTEST_CHARACTERS: usize = 6;

/// Every run of printable characters, in UTF-8 or as the ASCII part of UTF-16, one a line. One pass, and never more
/// bytes than went in.
pub(super) fn runs(data: &[u8]) -> String {
    let mut text = String::new();
    for chunk in data.utf8_chunks() {
        for run in chunk.valid().split(char::is_control) {
            if run.chars().nth(SHORTEST_CHARACTERS.saturating_sub(1)).is_some() {
                push(&mut text, run);
            }
        }
    }
    // ASCII in UTF-16: every second byte is zero. Big and little end look alike but for where the run begins.
    let mut run = String::new();
    let mut previous = 0_u8;
    let mut expect_zero = false;
    for byte in data.iter().copied().chain([1, 1]) {
        match (expect_zero, byte) {
            (false, 0x20..=0x7e) if previous == 0 || !run.is_empty() => {
                run.push(char::from(byte));
                expect_zero = true;
            }
            (true, 0) => expect_zero = false,
            _ => {
                if run.len() >= SHORTEST_CHARACTERS {
                    push(&mut text, &run);
                }
                run.clear();
                expect_zero = false;
            }
        }
        previous = byte;
    }
    text
}

/// Bytes whose runs are read together: a finding in them has no closer place.
const BLOCK: usize = 256 * 1024;

/// Reads every run of a stretch of the artifact.
pub(super) fn read(bytes: &Bytes, range: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Exhausted> {
    let mut from = range.start;
    while from < range.end {
        let to = from.saturating_add(BLOCK).min(range.end);
        budget.spend(Resource::Steps, count(to.saturating_sub(from)))?;
        let text = runs(bytes.get(from..to).unwrap_or_default());
        if !text.is_empty() {
            let map = OffsetMap::Within(Span { start: count(from), end: count(to) });
            let place = Place::default().number("offset", count(from));
            out.read(TextView::decoded(text.into(), map, Vec::new()).place(place));
        }
        from = to;
    }
    Ok(())
}

fn push(text: &mut String, run: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(run);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_reads_and_drops_what_is_chance() {
        assert_eq!(runs(b"\x01\x02Copyright \xc3\xa9\0\xff\xfeabc\0\0S\0e\0c\0r\0e\0t\0\0"), "Copyright é\nSecret");
        assert_eq!(runs(b"\0H\0i\0d\0d\0e\0n\x01"), "Hidden");
        assert_eq!(runs(&[0; 100]), "");
        assert_eq!(runs(b""), "");
    }

    #[test]
    fn never_grows() {
        let data = b"a\0b\0c\0d\0e\0f\0g\0long enough to be a run\0\x01\0w\0i\0d\0e\0r".repeat(50);
        assert!(runs(&data).len() <= data.len());
    }
}
