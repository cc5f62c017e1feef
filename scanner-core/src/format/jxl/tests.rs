//! Files built by hand; the name of a case is its defect.

use super::*;
use crate::format::testing::{self, Seen};

fn part(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len() + 8).unwrap().to_be_bytes()[..], name, content].concat()
}

fn boxed(parts: &[Vec<u8>]) -> Vec<u8> {
    [part(b"JXL ", b"\r\n\x87\n"), part(b"ftyp", b"jxl \0\0\0\0jxl "), parts.concat()].concat()
}

/// Small, 3 × 8 lines, as wide as high.
const SMALL: &[u8] = b"\xff\x0a\x45\0\0\0";

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "jxl", bytes, expected)
}

#[test]
fn sizes_are_read() {
    assert_eq!(size(&SMALL[2..]), Some(Size::new(24, 24)));
    // Not small, nine bits of 99, no ratio, nine bits of 199.
    let bits = 99_u32 << 3 | 199 << 17;
    assert_eq!(size(&bits.to_le_bytes()), Some(Size::new(200, 100)));
    // Twelve to ten.
    let bits = 99_u32 << 3 | 2 << 12;
    assert_eq!(size(&bits.to_le_bytes()), Some(Size::new(120, 100)));
    assert_eq!(size(b"\x06\0"), None);
}

#[test]
fn honest_pictures_are_silent() {
    says(SMALL, &[]);
    says(&boxed(&[part(b"jxlc", SMALL)]), &[]);
    let looked = says(&boxed(&[part(b"xml ", b"<x:xmpmeta/>"), part(b"jxlp", &[&[0; 4], SMALL].concat())]), &[]);
    assert_eq!(looked.texts(), ["<x:xmpmeta/>"]);
}

#[test]
fn pictures_that_lie() {
    // Thirty bits of lines, as wide as high.
    let bits = 3_u64 << 1 | 0x3fff_ffff << 3 | 1 << 33;
    let lie = [START, &bits.to_le_bytes()].concat();
    says(&lie, &["gap limit:side"]);
    says(b"\xff\x0a\x06\0", &["gap malformed"]);
    says(&boxed(&[part(b"jxlc", b"no stream")]), &["gap malformed"]);
    says(&boxed(&[]), &["medium malformed.structure"]);
    says(&boxed(&[part(b"jxlc", SMALL), b"words behind the last".to_vec()]), &["medium type.trailing_data"]);
    says(&boxed(&[part(b"jxlc", SMALL), part(b"brob", b"Exif....")]), &["gap unsupported"]);
    let mut cut = boxed(&[part(b"jxlc", SMALL)]);
    cut.pop();
    says(&cut, &["gap malformed"]);
}
