//! Pictures built by hand; the name of a case is its defect.

use proptest::prelude::*;

use super::*;
use crate::format::testing::{self, Seen, look};

mod clean;

/// A header of forty bytes and what follows it.
fn bmp(width: i32, height: i32, bits: u16, method: u32, table: &[u8], pixels: &[u8]) -> Vec<u8> {
    let start = u32::try_from(54 + table.len()).unwrap();
    let size = start + u32::try_from(pixels.len()).unwrap();
    let mut bytes = [b"BM", &size.to_le_bytes()[..], &[0; 4], &start.to_le_bytes(), &40_u32.to_le_bytes()].concat();
    for part in [&width.to_le_bytes()[..], &height.to_le_bytes(), &1_u16.to_le_bytes(), &bits.to_le_bytes()] {
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(&method.to_le_bytes());
    bytes.extend_from_slice(&[0; 12]);
    bytes.extend_from_slice(&u32::try_from(table.len() / 4).unwrap().to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    [&bytes[..], table, pixels].concat()
}

/// Four by three, three bytes a pixel.
fn honest() -> Vec<u8> {
    bmp(4, 3, 24, 0, &[], &[7; 36])
}

fn runs(pixels: &[u8]) -> Vec<u8> {
    bmp(4, 3, 8, 1, &[0; 16], pixels)
}

fn seen(bytes: &[u8]) -> Seen {
    look(&FORMAT, "bmp", bytes)
}

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "bmp", bytes, expected)
}

const STRUCTURE: &str = "medium malformed.structure";
const TRUNCATED: &str = "medium malformed.truncated";

#[test]
fn honest_pictures_are_silent() {
    says(&honest(), &[]);
    says(&bmp(4, -3, 24, 0, &[], &[7; 36]), &[]);
    says(&bmp(9, 3, 1, 0, &[0; 8], &[7; 12]), &[]);
    says(&bmp(4, 3, 16, 3, &[0; 12], &[7; 24]), &[]);
    let os2 =
        [&b"BM\x2c\0\0\0\0\0\0\0\x20\0\0\0\x0c\0\0\0\x04\0\x03\0\x01\0\x01\0"[..], &[0, 0, 0, 255, 255, 255], &[7; 12]]
            .concat();
    says(&os2, &[]);
    // Room for colours that are not used.
    let mut roomy = bmp(4, 3, 24, 0, &[0; 100], &[7; 36]);
    roomy[46] = 0;
    says(&roomy, &[]);
}

#[test]
fn runs_are_followed() {
    says(&runs(&[4, 9, 0, 0, 4, 9, 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 1]), &[]);
    says(&runs(&[0, 2, 2, 1, 1, 9, 0, 1]), &[]);
    says(&runs(&[4, 9, 0, 0, 4, 9, 0, 0, 4, 9]), &["low malformed.structure"]);
    says(&runs(&[4, 9, 0, 0]), &[TRUNCATED]);
    says(&runs(&[5, 9, 0, 0, 4, 9, 0, 0, 4, 9, 0, 1]), &[STRUCTURE]);
    says(&runs(&[0, 2, 0, 200, 1, 9, 0, 1]), &[STRUCTURE]);
    says(&bmp(4, -3, 8, 1, &[0; 16], &[0, 1]), &[STRUCTURE]);
    let bomb = bmp(60_000, 60_000, 8, 1, &[0; 16], &[0, 1]);
    says(&bomb, &["gap limit:pixels"]);
}

#[test]
fn headers_that_cannot_be() {
    says(&bmp(0, 3, 24, 0, &[], &[7; 36]), &[STRUCTURE]);
    says(&bmp(-4, 3, 24, 0, &[], &[7; 36]), &[STRUCTURE]);
    says(&bmp(4, 0, 24, 0, &[], &[7; 36]), &[STRUCTURE]);
    says(&bmp(4, 3, 23, 0, &[], &[7; 36]), &[STRUCTURE]);
    says(&bmp(4, 3, 24, 1, &[], &[7; 36]), &[STRUCTURE]);
    says(&bmp(4, 3, 24, 99, &[], &[7; 36]), &[STRUCTURE]);
    for (at, byte) in [(26, 9), (10, 20), (46, 200)] {
        let mut bytes = honest();
        bytes[at] = byte;
        assert!(!seen(&bytes).facts().is_empty(), "byte {at}");
    }
    let mut bytes = honest();
    bytes[14] = 41;
    says(&bytes, &["gap malformed"]);
}

#[test]
fn sizes_that_the_bytes_cannot_back() {
    says(&bmp(4, 30, 24, 0, &[], &[7; 36]), &[TRUNCATED]);
    says(&bmp(60_000, 60_000, 24, 0, &[], &[7; 36]), &["high bomb.dimensions", TRUNCATED]);
    says(&bmp(i32::MAX, i32::MAX, 24, 0, &[], &[7; 36]), &["high bomb.dimensions", TRUNCATED]);
    says(&bmp(i32::MAX, i32::MIN, 24, 0, &[], &[7; 36]), &["high bomb.dimensions", STRUCTURE, TRUNCATED]);
}

#[test]
fn cut_pictures_are_never_clean() {
    let whole = honest();
    for length in 6..whole.len() - 3 {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn data_where_no_viewer_looks() {
    let looked = says(&[honest(), b"<?php system($_GET[0]); ?>".to_vec()].concat(), &["medium type.trailing_data"]);
    assert_eq!(looked.children.len(), 1);
    says(&[honest(), vec![0; 2]].concat(), &["info type.trailing_data"]);
    let mut between = bmp(4, 3, 24, 0, b"words between header and pixels.", &[7; 36]);
    between[46] = 0;
    assert_eq!(says(&between, &[]).texts(), ["words between header and pixels."]);
    let inner = bmp(4, 3, 0, 5, &[], b"\x89PNG and so on");
    let mut inner = inner;
    inner[34] = 14;
    assert_eq!(says(&inner, &[]).children.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noise_ends(noise in proptest::collection::vec(any::<u8>(), 1..40), at in 2_usize..70, pixels in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut bytes = runs(&pixels);
        for (byte, noise) in bytes.iter_mut().skip(at).zip(noise) {
            *byte = noise;
        }
        seen(&bytes);
    }
}
