//! Pictures built by hand; the name of a case is its defect.

use proptest::prelude::*;

use super::*;
use crate::{
    format::testing::{self, Seen, look},
    limits::Limits,
};

mod clean;

fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len() + 2).unwrap();
    [&[0xff, marker], &length.to_be_bytes()[..], content].concat()
}

fn jfif() -> Vec<u8> {
    segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0")
}

fn sof(marker: u8, width: u16, height: u16) -> Vec<u8> {
    let mut content = vec![8];
    content.extend_from_slice(&height.to_be_bytes());
    content.extend_from_slice(&width.to_be_bytes());
    content.extend_from_slice(&[1, 1, 0x11, 0]);
    segment(marker, &content)
}

/// One code of one bit.
fn dht(name: u8) -> Vec<u8> {
    let mut content = vec![name, 1];
    content.extend_from_slice(&[0; 15]);
    content.push(0);
    segment(0xc4, &content)
}

fn dqt() -> Vec<u8> {
    segment(0xdb, &[&[0][..], &[1; 64]].concat())
}

fn scan(pixels: &[u8]) -> Vec<u8> {
    [&segment(SOS, &[1, 1, 0, 0, 63, 0])[..], pixels].concat()
}

fn tables() -> Vec<u8> {
    [dqt(), dht(0), dht(0x10)].concat()
}

fn jpeg(parts: &[Vec<u8>]) -> Vec<u8> {
    [b"\xff\xd8", &parts.concat()[..], b"\xff\xd9"].concat()
}

/// Sixteen by eight: two blocks of two bits.
fn with(parts: &[Vec<u8>]) -> Vec<u8> {
    jpeg(&[jfif(), parts.concat(), tables(), sof(0xc0, 16, 8), scan(&[0x0f])])
}

fn seen(bytes: &[u8]) -> Seen {
    look(&FORMAT, "jpeg", bytes)
}

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "jpeg", bytes, expected)
}

const STRUCTURE: &str = "medium malformed.structure";
const TRUNCATED: &str = "medium malformed.truncated";

#[test]
fn honest_pictures_are_silent() {
    says(&with(&[]), &[]);
    says(&with(&[segment(0xfe, b"Made by hand")]), &[]);
    says(&with(&[segment(0xee, b"Adobe\0\x64\0\0\0\0\x01"), segment(0xdd, &[0, 4])]), &[]);
    let restarts = [0x0f, 0xff, 0xd0, 0xff, 0, 0xff, 0xd1, 0x0f];
    says(&jpeg(&[tables(), sof(0xc0, 32, 8), scan(&restarts)]), &[]);
    let progressive = [segment(SOS, &[1, 1, 0, 0, 0, 0]), vec![0x0f], segment(SOS, &[1, 1, 0, 1, 63, 0]), vec![0x0f]];
    says(&jpeg(&[tables(), sof(0xc2, 16, 8), progressive.concat()]), &[]);
}

#[test]
fn texts_are_read_where_they_stand() {
    let xmp = [b"http://ns.adobe.com/xap/1.0/\0".to_vec(), b"<x:xmpmeta/>".to_vec()].concat();
    let seen = says(
        &with(&[
            segment(0xfe, b"a comment\0"),
            segment(0xe1, &xmp),
            segment(0xe2, b"ICC_PROFILE\0\x01\x01\x01\x02sRGB by nobody\x01"),
            segment(0xed, b"Photoshop 3.0\0\x01\x02a caption of a photo\x03"),
            segment(0xe5, b"words in a segment of nobody"),
        ]),
        &[],
    );
    assert_eq!(
        seen.texts(),
        [
            "a comment",
            "<x:xmpmeta/>",
            "sRGB by nobody",
            "Photoshop 3.0\na caption of a photo",
            "words in a segment of nobody"
        ]
    );
    assert_eq!(seen.span(0, 0, 1), (24, 25));
}

#[test]
fn every_length_that_lies() {
    let at = |needle: &[u8]| memchr::memmem::find(&with(&[]), needle).unwrap();
    for marker in [&b"\xff\xe0"[..], b"\xff\xdb", b"\xff\xc4", b"\xff\xc0", b"\xff\xda"] {
        for length in [[0, 0], [0, 1], [0xff, 0xff]] {
            let mut bytes = with(&[]);
            bytes[at(marker) + 2..][..2].copy_from_slice(&length);
            let facts = seen(&bytes).facts();
            assert!(facts.iter().any(|fact| fact.starts_with("gap malformed")), "{marker:?} {length:?}: {facts:?}");
        }
    }
    says(&with(&[segment(0xc4, &[&[0][..], &[255; 16]].concat())]), &[STRUCTURE]);
    says(&with(&[segment(0xc4, &[&[0, 1][..], &[0; 15]].concat())]), &[STRUCTURE]);
    says(&with(&[segment(0xdb, &[1; 30])]), &[STRUCTURE]);
    says(&with(&[segment(0xdd, &[1])]), &[STRUCTURE]);
}

#[test]
fn parts_out_of_order() {
    says(&with(&[sof(0xc0, 16, 8)]), &[STRUCTURE]);
    says(&jpeg(&[tables(), scan(&[0x0f]), sof(0xc0, 16, 8)]), &[STRUCTURE, TRUNCATED]);
    says(&jpeg(&[dqt(), dht(0), sof(0xc0, 16, 8), scan(&[0x0f])]), &[STRUCTURE]);
    says(&with(&[vec![0xff, 0xd0]]), &[STRUCTURE]);
    says(&with(&[b"junk between".to_vec()]), &[STRUCTURE]);
    says(&with(&[vec![0xff, 0xff, 0xff]]), &[]);
    says(&jpeg(&[jfif()]), &[STRUCTURE]);
    says(&jpeg(&[tables(), sof(0xc0, 32, 8), scan(&[0x0f, 0xff, 0xd3, 0x0f])]), &[STRUCTURE]);
    says(&jpeg(&[tables(), sof(0xc0, 0, 8), scan(&[0x0f])]), &[STRUCTURE, STRUCTURE]);
}

#[test]
fn sizes_that_the_bytes_cannot_back() {
    says(&jpeg(&[tables(), sof(0xc0, 600, 600), scan(&[0x0f; 20])]), &[TRUNCATED]);
    says(&jpeg(&[tables(), sof(0xc0, 65_535, 65_535), scan(&[0x0f; 20])]), &["high bomb.dimensions", TRUNCATED]);
    // Arithmetic coding has no bound: what is gigantic is refused.
    says(&jpeg(&[dqt(), sof(0xc9, 65_535, 65_535), scan(&[0x0f; 20])]), &["gap limit:pixels"]);
}

#[test]
fn scans_without_number() {
    let one = [segment(SOS, &[1, 1, 0, 1, 63, 0]), vec![0x0f]].concat();
    let first = [segment(SOS, &[1, 1, 0, 0, 0, 0]), vec![0x0f; 3200]].concat();
    let bomb = jpeg(&[tables(), sof(0xc2, 1600, 1000), first.clone(), one.repeat(99)]);
    says(&bomb, &[]);
    let bomb = jpeg(&[tables(), sof(0xc2, 1600, 1000), first, one.repeat(400)]);
    says(&bomb, &["medium bomb.frames", "gap limit:pixels"]);
}

#[test]
fn cut_pictures_are_never_clean() {
    let whole = with(&[segment(0xfe, b"Made by hand")]);
    for length in 2..whole.len() {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn what_stands_behind_the_end() {
    let behind = [with(&[]), b"<script>alert(1)</script>".to_vec()].concat();
    let looked = says(&behind, &["medium type.trailing_data"]);
    assert_eq!(looked.children.len(), 1);
    says(&[with(&[]), vec![0; 5000]].concat(), &["info type.trailing_data"]);
    says(&[with(&[]), b"\r\n".to_vec()].concat(), &["info type.trailing_data"]);
}

#[test]
fn pictures_that_the_list_names_belong() {
    let other = with(&[]);
    let build = |offset: u32| {
        let mut list = b"MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0\x20\0\0\0\x1a\0\0\0\0\0\0\0".to_vec();
        list.extend_from_slice(&[0; 16]);
        list.extend_from_slice(&[0; 4]);
        list.extend_from_slice(&u32::try_from(other.len()).unwrap().to_le_bytes());
        list.extend_from_slice(&offset.to_le_bytes());
        list.extend_from_slice(&[0; 4]);
        with(&[segment(0xe2, &list)])
    };
    let base = memchr::memmem::find(&build(0), b"II*\0").unwrap();
    let first = build(u32::try_from(build(0).len() - base).unwrap());
    let seen = says(&[first.clone(), other.clone()].concat(), &[]);
    assert_eq!(&seen.children[0].source.packed[..], other);
    says(&[first, other, b"and more than that behind".to_vec()].concat(), &["medium type.trailing_data"]);
}

#[test]
fn words_behind_the_signature() {
    says(b"\xff\xd8\xff\xe0<html><script>alert(1)</script></html>", &["high type.polyglot", "gap malformed"]);
    says(b"\xff\xd8<html><script>alert(1)</script></html>", &[STRUCTURE, TRUNCATED]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noise_ends(noise in proptest::collection::vec(prop_oneof![Just(0xff_u8), any::<u8>()], 0..300), at in 0_usize..200) {
        let mut bytes = with(&[]);
        let at = at.min(bytes.len());
        bytes.splice(at..at, noise);
        bytes.splice(0..2, [0xff, 0xd8]);
        seen(&bytes);
    }
}
