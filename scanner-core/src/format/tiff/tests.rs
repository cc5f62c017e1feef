//! Files built by hand; the name of a case is its defect.

use proptest::prelude::*;

use super::*;
use crate::format::{
    ifd::testing::{Row, tiff},
    testing::{self, Seen, look},
};

mod clean;

/// Four by three pixels of eight bits in one strip at 200.
const ROWS: [Row; 8] = [
    (0x0100, 3, 1, 4),
    (0x0101, 3, 1, 3),
    (0x0102, 3, 1, 8),
    (0x0103, 3, 1, 1),
    (0x0106, 3, 1, 1),
    (0x0111, 4, 1, 200),
    (0x0116, 3, 1, 3),
    (0x0117, 4, 1, 12),
];

fn with(changes: &[Row]) -> Vec<u8> {
    let mut rows = ROWS.to_vec();
    for change in changes {
        match rows.iter_mut().find(|row| row.0 == change.0) {
            Some(row) => *row = *change,
            None => rows.push(*change),
        }
    }
    tiff(8, &[(8, &rows, 0)], &[(200, &[7; 12])])
}

fn seen(bytes: &[u8]) -> Seen {
    look(&FORMAT, "tiff", bytes)
}

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "tiff", bytes, expected)
}

const STRUCTURE: &str = "medium malformed.structure";
const TRUNCATED: &str = "medium malformed.truncated";

#[test]
fn honest_pictures_are_silent() {
    says(&with(&[]), &[]);
    let looked = says(&with(&[(0x010e, 2, 4, u32::from_le_bytes(*b"abc\0"))]), &[]);
    assert_eq!(looked.texts(), ["abc"]);
    let big: Vec<u8> = [
        &b"MM\0+\0\x08\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x01"[..],
        b"\x01\x0e\0\x02\0\0\0\0\0\0\0\x06wide!\0\0\0\0\0\0\0\0\0\0\0",
    ]
    .concat();
    assert_eq!(says(&big, &[]).texts(), ["wide!"]);
}

#[test]
fn chains_that_come_back() {
    says(&tiff(8, &[(8, &ROWS, 8)], &[(200, &[7; 12])]), &["medium bomb.recursion"]);
    let two = tiff(8, &[(8, &ROWS, 300), (300, &ROWS, 8)], &[(200, &[7; 12])]);
    says(&two, &["medium bomb.recursion"]);
    let sub = [&ROWS[..], &[(0x014a, 4, 1, 8)]].concat();
    says(&tiff(8, &[(8, &sub, 0)], &[(200, &[7; 12])]), &["medium bomb.recursion"]);
    // Two below, which also stand in a chain: no loop.
    let subs = [&ROWS[..], &[(0x014a, 4, 2, 290)]].concat();
    let list = [300_u32.to_le_bytes(), 500_u32.to_le_bytes()].concat();
    let levels = tiff(8, &[(8, &subs, 0), (300, &ROWS, 500), (500, &ROWS, 0)], &[(200, &[7; 12]), (290, &list)]);
    says(&levels, &[]);
}

#[test]
fn offsets_and_counts_that_lie() {
    says(&tiff(0, &[], &[]), &[STRUCTURE]);
    says(&tiff(5000, &[], &[]), &[TRUNCATED, "low malformed.structure"]);
    says(&tiff(8, &[], &[(8, &[0xff, 0xff]), (100, &[0])]), &[TRUNCATED, "low malformed.structure"]);
    says(&with(&[(0x0111, 4, 1 << 30, 200)]), &[TRUNCATED, STRUCTURE, "low malformed.structure"]);
    says(&with(&[(0x0111, 4, 1, 5000)]), &[TRUNCATED]);
    says(&with(&[(0x0117, 4, 1, 5000)]), &[TRUNCATED]);
    says(&with(&[(0x0116, 3, 1, 1)]), &[TRUNCATED]);
    says(&with(&[(0x0100, 3, 1, 0)]), &[STRUCTURE]);
    says(&tiff(8, &[(8, &ROWS[..5], 0)], &[]), &[STRUCTURE]);
}

#[test]
fn sizes_that_the_bytes_cannot_back() {
    says(&with(&[(0x0101, 3, 1, 30)]), &[TRUNCATED]);
    let gigantic = [(0x0100, 4, 1, 60_000), (0x0101, 4, 1, 60_000), (0x0116, 4, 1, 60_000)];
    says(&with(&gigantic), &["high bomb.dimensions", TRUNCATED]);
    let unbounded = [&gigantic[..], &[(0x0103, 3, 1, 4), (0x0102, 3, 1, 1)]].concat();
    says(&with(&unbounded), &["high bomb.ratio", "gap limit:pixels"]);
    says(&with(&[(0x0103, 3, 1, 5), (0x0101, 3, 1, 3000), (0x0116, 3, 1, 3000)]), &[]);
}

#[test]
fn pages_are_shown_one_at_a_time() {
    let rows: Vec<Row> = ROWS
        .iter()
        .map(|row| match row.0 {
            0x0100 | 0x0101 | 0x0116 => (row.0, 4, 1, 8000),
            0x0103 => (row.0, 3, 1, 4),
            0x0102 => (row.0, 3, 1, 1),
            _ => *row,
        })
        .collect();
    let two = tiff(8, &[(8, &rows, 300), (300, &rows, 0)], &[(200, &[7; 12])]);
    says(&two, &[]);
    let at: Vec<usize> = (0..40).map(|page| if page == 0 { 8 } else { 200 + page * 200 }).collect();
    let pages: Vec<(usize, &[Row], u32)> =
        (0..40).map(|page| (at[page], &rows[..], at.get(page + 1).map_or(0, |next| *next as u32))).collect();
    says(&tiff(8, &pages, &[(200, &[7; 12])]), &["medium bomb.frames"]);
}

#[test]
fn what_no_page_names() {
    let looked = says(&[with(&[]), b"<script>alert(1)</script>".to_vec()].concat(), &["medium type.trailing_data"]);
    assert_eq!(looked.children.len(), 1);
    says(&[with(&[]), b"\x01\x02\x03\x04\xff\xfe of nobody\x01\x02".to_vec()].concat(), &[]);
}

#[test]
fn cut_files_are_never_clean() {
    let whole = with(&[]);
    for length in 5..whole.len() {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noise_ends(noise in proptest::collection::vec(any::<u8>(), 1..40), at in 4_usize..110) {
        let mut bytes = with(&[(0x014a, 4, 2, 120), (0x8769, 4, 1, 8)]);
        for (byte, noise) in bytes.iter_mut().skip(at).zip(noise) {
            *byte = noise;
        }
        seen(&bytes);
    }
}
