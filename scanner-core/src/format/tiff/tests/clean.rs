//! What the safe version of a picture keeps, and what it does not.

use super::*;
use crate::{
    format::cleaning::testing::{self, clean, clean_once},
    limits::Limits,
};

/// The safe version as it is written: pixels, long values, directory.
fn expected(rows: &[Row]) -> Vec<u8> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        if row.0 == 0x0111 {
            row.3 = 8;
        }
    }
    tiff(20, &[(20, &rows, 0)], &[(8, &[7; 12])])
}

#[track_caller]
fn becomes(bytes: &[u8], expected: &[u8], done: &[(&'static str, u64)]) {
    testing::becomes(&FORMAT, "tiff", bytes, expected, done);
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    testing::refused(&FORMAT, "tiff", bytes, why);
}

#[test]
fn honest_pictures_keep_entries_and_pixels() {
    becomes(&with(&[]), &expected(&ROWS), &[]);
    let again = expected(&ROWS);
    becomes(&again, &again, &[]);
}

#[test]
fn what_is_said_beside_the_pixels_goes() {
    let bytes = with(&[
        (0x010e, 2, 4, u32::from_le_bytes(*b"abc\0")),
        (0x8825, 4, 1, 8),
        (0x8773, 7, 12, 200),
        (0x02bc, 1, 12, 200),
        (0xc000, 1, 4, 0),
        // A number where there should be another type.
        (0x011a, 2, 4, 0),
    ]);
    let done = [
        ("removed a colour profile", 1),
        ("removed a part that no viewer needs", 1),
        ("removed a text", 3),
        ("removed camera data", 1),
    ];
    becomes(&bytes, &expected(&ROWS), &done);
    becomes(&[with(&[]), b"<?php system($_GET[0]);".to_vec()].concat(), &expected(&ROWS), &[]);
}

#[test]
fn pages_and_long_values_follow_each_other() {
    let mut rows = ROWS.to_vec();
    rows.push((0x011a, 5, 1, 300));
    let mut second = ROWS.to_vec();
    second[5].3 = 600;
    let bytes = tiff(
        8,
        &[(8, &rows, 400), (400, &second, 0)],
        &[(200, &[7; 12]), (300, &[72, 0, 0, 0, 1, 0, 0, 0]), (600, &[9; 12])],
    );
    let (clean, _) = clean(&FORMAT, "tiff", &bytes).unwrap();
    assert_eq!(&clean[8..20], [7; 12]);
    assert_eq!(&clean[20..28], [72, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(seen(&clean).facts(), [""; 0]);
    assert_eq!(seen(&clean).spent(Resource::Pixels), 12);
    assert!(clean.windows(12).any(|window| window == [9; 12]));
}

#[test]
fn pages_that_share_their_bytes_are_refused() {
    let mut rows = ROWS.to_vec();
    rows[7].3 = 400;
    let bytes = tiff(8, &[(8, &rows, 600), (600, &rows, 0)], &[(200, &[7; 400])]);
    refused(&bytes, "pages share the same packed pixels");
    let table = vec![(0x0140, 3, 200, 200)];
    let rows = [&ROWS[..], &table].concat();
    let bytes = tiff(8, &[(8, &rows, 600), (600, &rows, 0)], &[(200, &[7; 400])]);
    refused(&bytes, "pages share the same values");
}

#[test]
fn the_order_of_bytes_stays() {
    let mut bytes = b"MM\0*\0\0\0\x14\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\0\x08".to_vec();
    for (tag, kind, values, value) in ROWS {
        bytes.extend(tag.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend(values.to_be_bytes());
        let value = if tag == 0x0111 { 8 } else { value };
        bytes.extend(if kind == 3 { (value << 16).to_be_bytes() } else { value.to_be_bytes() });
    }
    bytes.extend([0; 4]);
    becomes(&bytes, &bytes, &[]);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let good = with(&[]);
    refused(b"II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0", "this kind of TIFF cannot be written again");
    refused(b"II*\0\0\0\0\0", "there is no page in the picture");
    refused(
        &tiff(8, &[(8, &ROWS, 8)], &[(200, &[7; 12])]),
        "the list of pages leads back to a page that was there before",
    );
    refused(&with(&[(0x0103, 3, 1, 7)]), "the pixels are packed in a way that cannot be looked through");
    refused(&with(&[(0x0144, 4, 1, 200)]), "a page says the same thing twice");
    refused(&with(&[(0x0111, 4, 1, 201)]), "the picture is cut off");
    refused(&with(&[(0x010e, 2, 40, 5000)]), "a value of a page lies outside the file");
    refused(&tiff(8, &[(8, &ROWS[..5], 0)], &[]), "a page does not say where its pixels are");
    let lies = "what is left of it is not as it should be: 4 × 40 pixels, and bytes for 12 at most: most of the picture is missing";
    refused(&with(&[(0x0101, 3, 1, 40), (0x0116, 3, 1, 40)]), lies);
    for end in 0..good.len() {
        assert!(clean_once(&FORMAT, "tiff", &good[..end], Limits::default()).is_err(), "cut at {end}");
    }
}

#[test]
fn limits_at_the_limit_and_past_it() {
    // Entries are counted here, and twice by the inspector.
    for (resource, needed) in [(Resource::Pixels, 12), (Resource::Frames, 1), (Resource::Objects, 24)] {
        let with = |limit| clean_once(&FORMAT, "tiff", &with(&[]), Limits::default().with(resource, limit));
        assert!(with(needed).is_ok(), "{resource}");
        assert!(with(needed - 1).is_err(), "{resource}");
    }
}

proptest! {
    #[test]
    fn damage_is_refused_or_gone(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = with(&[(0x010e, 2, 4, u32::from_le_bytes(*b"abc\0"))]);
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((clean, _)) = clean(&FORMAT, "tiff", &bytes) {
            prop_assert!(clean.len() <= bytes.len());
        }
    }
}
