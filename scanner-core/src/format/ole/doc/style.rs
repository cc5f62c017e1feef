//! Which characters a person does not see: properties of runs, in pages of 512 bytes (MS-DOC 2.9.33).

use super::{CHARACTER_STYLES, pair};
use crate::{
    finding::Stop,
    format::cfb::Stream,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

const PAGE: u64 = 512;
/// Steps of one run.
const STEPS_PER_RUN: u64 = 20;

/// Properties that matter (MS-DOC 2.6.1).
const VANISH: u16 = 0x083c;
const COLOUR_OF_16: u16 = 0x2a42;
const COLOUR: u16 = 0x6870;
const SIZE: u16 = 0x4a43;
/// White, as one of sixteen, and in red, green and blue.
const WHITE_OF_16: u8 = 8;
const WHITE: [u8; 3] = [0xff; 3];
/// Half points: smaller letters are not read.
const SMALLEST: u16 = 3;

/// Ranges of the main stream that are not seen, sorted, not touching each other.
#[derive(Debug, Default)]
pub(super) struct Unseen(Vec<(u64, u64)>);

impl Unseen {
    /// A range in parts, each seen or not.
    pub(super) fn split(&self, from: u64, to: u64) -> Vec<(u64, u64, bool)> {
        let mut parts = Vec::new();
        let mut at = from;
        let first = self.0.partition_point(|(_, end)| *end <= from);
        for (start, end) in self.0.get(first..).unwrap_or_default() {
            if *start >= to {
                break;
            }
            if *start > at {
                parts.push((at, *start, false));
            }
            let start = at.max(*start);
            at = to.min(*end);
            parts.push((start, at, true));
        }
        if at < to {
            parts.push((at, to, false));
        }
        parts
    }
}

/// Reads the pages that the table lists; one that is no page is passed over.
pub(super) fn unseen(main: &Stream, table: &Stream, budget: &mut Budget) -> Result<Unseen, Stop> {
    let listed = pair(main, table, CHARACTER_STYLES)?;
    let amount = listed.len().saturating_sub(4) / 8;
    let numbers = listed.get(amount.saturating_add(1).saturating_mul(4)..).unwrap_or_default();
    let mut ranges = Vec::new();
    // Every page once: a list that names one page again and again costs nothing.
    let most = count(main.bytes.len()) / PAGE;
    for number in numbers.as_chunks::<4>().0.iter().take(usize::try_from(most).unwrap_or(0)) {
        let mut reader = Reader::new(&main.bytes);
        let number = u64::from(u32::from_le_bytes(*number) & 0x003f_ffff);
        if reader.seek(number.saturating_mul(PAGE)).is_err() {
            continue;
        }
        let Ok(page) = reader.take(PAGE) else { continue };
        let runs = page.last().copied().map_or(0, usize::from);
        budget.spend(Resource::Steps, STEPS_PER_RUN.saturating_mul(count(runs)))?;
        let bounds = page.as_chunks::<4>().0;
        let offsets = page.get(runs.saturating_add(1).saturating_mul(4)..).unwrap_or_default();
        for (run, offset) in bounds.windows(2).take(runs).zip(offsets) {
            let [start, end] = run else { continue };
            let (start, end) = (u32::from_le_bytes(*start).into(), u32::from_le_bytes(*end).into());
            if *offset != 0
                && start < end
                && is_unseen(page.get(usize::from(*offset).saturating_mul(2)..).unwrap_or_default())
            {
                ranges.push((start, end));
            }
        }
    }
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    Ok(Unseen(joined))
}

/// Whether the properties of a run take it out of sight.
fn is_unseen(properties: &[u8]) -> bool {
    let mut reader = Reader::new(properties);
    let Ok(length) = reader.u8() else { return false };
    let Ok(properties) = reader.take(length.into()) else { return false };
    let mut reader = Reader::new(properties);
    let mut is_unseen = false;
    while let Ok(code) = reader.u16_le() {
        // The upper three bits say how long the operand is (MS-DOC 2.2.5.1).
        let length = match code >> 13 {
            0 | 1 => Ok(1),
            2 | 4 | 5 => Ok(2),
            3 => Ok(4),
            7 => Ok(3),
            _ => reader.u8(),
        };
        let Ok(operand) = length.and_then(|length| reader.take(length.into())) else { break };
        is_unseen |= match (code, operand) {
            (VANISH, [on, ..]) => *on & 1 == 1,
            (COLOUR_OF_16, [colour, ..]) => *colour == WHITE_OF_16,
            (COLOUR, [colour @ .., automatic]) => *colour == WHITE && *automatic == 0,
            (SIZE, [low, high]) => u16::from_le_bytes([*low, *high]) <= SMALLEST,
            _ => false,
        };
    }
    is_unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_hide() {
        assert!(is_unseen(b"\x03\x3c\x08\x01"));
        assert!(!is_unseen(b"\x03\x3c\x08\x00"));
        assert!(is_unseen(b"\x06\x70\x68\xff\xff\xff\x00"));
        assert!(!is_unseen(b"\x06\x70\x68\0\0\0\xff"));
        assert!(is_unseen(b"\x07\x35\x08\x01\x43\x4a\x02\x00"));
        assert!(!is_unseen(b"\x04\x43\x4a\x18\x00"));
        assert!(!is_unseen(b""));
        assert!(!is_unseen(b"\xff\x3c\x08\x01"));
    }

    #[test]
    fn ranges_are_split_where_sight_changes() {
        let unseen = Unseen(vec![(10, 20), (30, 40)]);
        assert_eq!(
            unseen.split(0, 50),
            [(0, 10, false), (10, 20, true), (20, 30, false), (30, 40, true), (40, 50, false)]
        );
        assert_eq!(unseen.split(12, 15), [(12, 15, true)]);
        assert_eq!(unseen.split(20, 30), [(20, 30, false)]);
    }
}
