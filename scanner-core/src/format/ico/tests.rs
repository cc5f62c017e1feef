//! Icons built by hand; the name of a case is its defect.

use super::*;
use crate::format::testing::{self, Seen, look};

mod clean;

/// Two by two pixels of 32 bits, and the mask below.
fn bitmap() -> Vec<u8> {
    let mut bytes = 40_u32.to_le_bytes().to_vec();
    bytes.extend_from_slice(&2_u32.to_le_bytes());
    bytes.extend_from_slice(&4_u32.to_le_bytes());
    bytes.extend_from_slice(&[1, 0, 32, 0]);
    bytes.extend_from_slice(&[0; 24]);
    bytes.extend_from_slice(&[9; 16]);
    bytes.extend_from_slice(&[0; 8]);
    bytes
}

/// Sides, offset and length of each picture, then bytes.
fn ico(entries: &[(u8, u32, u32)], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 1, 0, entries.len() as u8, 0];
    for (side, offset, length) in entries {
        file.extend_from_slice(&[*side, *side, 0, 0, 1, 0, 32, 0]);
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&offset.to_le_bytes());
    }
    file.extend_from_slice(bytes);
    file
}

fn seen(bytes: &[u8]) -> Seen {
    look(&FORMAT, "ico", bytes)
}

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "ico", bytes, expected)
}

const STRUCTURE: &str = "medium malformed.structure";

#[test]
fn honest_icons_are_silent() {
    says(&ico(&[(2, 22, 64)], &bitmap()), &[]);
    says(&ico(&[(2, 38, 64), (2, 102, 64)], &[bitmap(), bitmap()].concat()), &[]);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\0\0\0\x01\0";
    let looked = says(&ico(&[(0, 22, png.len() as u32)], png), &[]);
    assert_eq!(&looked.children[0].source.packed[..], png);
}

#[test]
fn directories_that_lie() {
    says(&ico(&[(2, 22, 640)], &bitmap()), &[STRUCTURE]);
    says(&ico(&[(2, 2200, 64)], &bitmap()), &[STRUCTURE, "medium type.trailing_data"]);
    says(&ico(&[(2, 8, 64)], &bitmap()), &[STRUCTURE, "info type.trailing_data"]);
    says(&ico(&[(3, 22, 64)], &bitmap()), &["low malformed.structure"]);
    says(&ico(&[(2, 38, 64), (2, 38, 64)], &bitmap()), &["low malformed.structure"]);
    says(&ico(&[(2, 38, 64), (2, 60, 42)], &bitmap()), &[STRUCTURE]);
    says(&ico(&[], &[]), &[STRUCTURE]);
    says(&ico(&[(2, 22, 30)], &bitmap()[..30]), &["gap malformed"]);
}

#[test]
fn pictures_that_lie() {
    let mut bytes = bitmap();
    bytes[4..8].copy_from_slice(&60_000_u32.to_le_bytes());
    bytes[8..12].copy_from_slice(&120_000_u32.to_le_bytes());
    says(&ico(&[(0, 22, 64)], &bytes), &["high bomb.dimensions", "medium malformed.truncated"]);
    bytes[8..12].copy_from_slice(&0_u32.to_le_bytes());
    says(&ico(&[(0, 22, 64)], &bytes), &[STRUCTURE]);
}

#[test]
fn what_no_viewer_shows() {
    let looked = says(
        &[ico(&[(2, 22, 64)], &bitmap()), b"<script>alert(1)</script>".to_vec()].concat(),
        &["medium type.trailing_data"],
    );
    assert_eq!(looked.children.len(), 1);
    let between = ico(&[(2, 38, 64)], &[b"words before it.", &bitmap()[..]].concat());
    assert_eq!(says(&between, &[]).texts(), ["words before it."]);
}

#[test]
fn cut_icons_are_never_clean() {
    let whole = ico(&[(2, 38, 64), (2, 102, 64)], &[bitmap(), bitmap()].concat());
    for length in 4..whole.len() {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn bitmaps_that_nobody_reads_are_told() {
    let large = |side: u32| {
        let mut bytes = bitmap();
        bytes[4..8].copy_from_slice(&side.to_le_bytes());
        bytes[8..12].copy_from_slice(&(side * 2).to_le_bytes());
        bytes.resize(40 + usize::try_from(side * side * 4 + side * 4).unwrap(), 0);
        ico(&[(u8::try_from(side).unwrap(), 22, u32::try_from(bytes.len()).unwrap())], &bytes)
    };
    let gaps = |side, letters| Seen::with(&FORMAT, "ico", &large(side), Resource::LetterPixels, letters).gaps.len();
    assert_eq!((gaps(8, 1), gaps(7, 1), gaps(8, 0)), (1, 0, 0));
}
