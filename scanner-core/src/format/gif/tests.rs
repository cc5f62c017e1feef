//! Pictures built by hand; the name of a case is its defect.

use proptest::prelude::*;

use super::*;
use crate::format::testing::{self, Seen, look};

mod clean;

/// A screen of two colours.
fn screen(width: u16, height: u16) -> Vec<u8> {
    [b"GIF89a", &width.to_le_bytes()[..], &height.to_le_bytes(), &[0x80, 0, 0], &[0, 0, 0, 255, 255, 255]].concat()
}

fn blocks(content: &[u8]) -> Vec<u8> {
    let mut blocks: Vec<u8> = content.chunks(255).flat_map(|piece| [&[piece.len() as u8], piece].concat()).collect();
    blocks.push(0);
    blocks
}

/// Codes of three bits, cleared before the width grows: each pixel a code.
fn codes(pixels: usize) -> Vec<u8> {
    let mut bits: Vec<u8> = Vec::new();
    let mut put = |code: u8| bits.extend((0..3).map(|bit| code >> bit & 1));
    for pixel in 0..pixels {
        if pixel % 2 == 0 {
            put(4);
        }
        put(1);
    }
    put(5);
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit)).collect()
}

fn image(width: u16, height: u16, pixels: &[u8]) -> Vec<u8> {
    let place = [0, 0].map(u16::to_le_bytes).concat();
    [&[0x2c][..], &place, &width.to_le_bytes(), &height.to_le_bytes(), &[0, 2], &blocks(pixels)].concat()
}

fn comment(words: &[u8]) -> Vec<u8> {
    [&[0x21, 0xfe][..], &blocks(words)].concat()
}

fn application(name: &[u8], content: &[u8]) -> Vec<u8> {
    [&[0x21, 0xff, 11][..], name, &blocks(content)].concat()
}

fn gif(parts: &[Vec<u8>]) -> Vec<u8> {
    [screen(4, 3), parts.concat(), vec![0x3b]].concat()
}

fn honest() -> Vec<u8> {
    image(4, 3, &codes(12))
}

fn seen(bytes: &[u8]) -> Seen {
    look(&FORMAT, "gif", bytes)
}

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "gif", bytes, expected)
}

const TRUNCATED: &str = "medium malformed.truncated";

#[test]
fn honest_pictures_are_silent() {
    says(&gif(&[honest()]), &[]);
    let looped = application(b"NETSCAPE2.0", &[1, 0, 0]);
    let delay = vec![0x21, 0xf9, 4, 0, 5, 0, 0, 0];
    says(&gif(&[looped, delay.clone(), honest(), delay, honest()]), &[]);
    says(&gif(&[honest(), vec![0, 0]]), &[]);
}

#[test]
fn texts_are_joined_and_mapped() {
    let long = b"word ".repeat(60);
    let mut xmp = b"<x:xmpmeta/>".to_vec();
    let start = xmp.len();
    xmp.push(1);
    xmp.extend((0..=255_u8).rev());
    let xmp = [&[0x21, 0xff, 11][..], b"XMP DataXMP", &xmp, &[0]].concat();
    let seen = says(&gif(&[comment(&long), application(b"NOBODY 1.00", b"words of a program"), xmp, honest()]), &[]);
    let texts = seen.texts();
    assert_eq!(texts[0].as_bytes(), long);
    assert_eq!(texts[1], "NOBODY 1.00words of a program");
    assert_eq!(texts[2].len(), start);
    // Behind the first sub-block of 255 bytes stands a length.
    assert_eq!(seen.span(0, 0, 1), (22, 23));
    assert_eq!(seen.span(0, 255, 256), (278, 279));
}

#[test]
fn pixels_are_counted() {
    says(&gif(&[image(4, 3, &codes(11))]), &[TRUNCATED]);
    says(&gif(&[image(4, 3, &codes(14))]), &["medium malformed.structure"]);
    says(&gif(&[image(4, 3, &[&codes(12)[..], b"data that nobody sees"].concat())]), &["medium type.trailing_data"]);
    says(&gif(&[image(4, 3, &[&codes(12)[..], &[0; 40]].concat())]), &[]);
    // The first code of all must be a clear, an end or a pixel.
    says(&gif(&[image(4, 3, &[0x07])]), &["gap malformed"]);
    let mut odd = gif(&[honest()]);
    odd[29] = 12;
    says(&odd, &["medium malformed.structure"]);
}

#[test]
fn bombs() {
    let tiny = image(1, 1, &codes(1));
    let many = [screen(65_535, 65_535), tiny.repeat(1000), vec![0x3b]].concat();
    says(&many, &["medium bomb.frames", "gap limit:pixels", "gap limit:frames"]);
    says(&gif(&[honest().repeat(500)]), &[]);
    says(&gif(&[honest().repeat(501)]), &["gap limit:frames"]);
    let lie = [screen(8, 8), image(65_535, 65_535, &codes(4)), vec![0x3b]].concat();
    says(&lie, &["high bomb.dimensions", TRUNCATED, "low malformed.structure"]);
}

#[test]
fn frames_beyond_the_screen_are_odd() {
    says(&gif(&[image(5, 3, &codes(15))]), &["low malformed.structure"]);
    says(&gif(&[]), &["medium malformed.structure"]);
}

#[test]
fn cut_pictures_are_never_clean() {
    let whole = gif(&[comment(b"Made by hand"), honest()]);
    for length in 6..whole.len() {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn what_stands_behind_the_end() {
    let looked = says(&[gif(&[honest()]), b"PK\x03\x04 and so on".to_vec()].concat(), &["medium type.trailing_data"]);
    assert_eq!(looked.children.len(), 1);
    says(&[gif(&[honest()]), vec![0; 100]].concat(), &["info type.trailing_data"]);
}

#[test]
fn words_behind_the_signature() {
    let looked =
        says(b"GIF89a<html><script>alert(1)</script>", &["high type.polyglot", "gap limit:pixels", "gap malformed"]);
    assert_eq!(looked.texts(), ["<html><script>alert(1)</script>"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noise_ends(noise in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..60) {
        let mut bytes = gif(&[comment(b"Made by hand"), honest()]);
        let at = at.min(bytes.len());
        bytes.splice(at..at, noise);
        seen(&bytes);
    }

    #[test]
    fn every_code_is_counted(pieces in proptest::collection::vec(any::<u8>(), 0..600), least in 1_u8..=8, cut in 0_usize..600) {
        let mut whole = Codes::of(least).unwrap();
        whole.feed(&pieces);
        let mut parts = Codes::of(least).unwrap();
        let (first, second) = pieces.split_at(cut.min(pieces.len()));
        parts.feed(first);
        if !parts.is_over() {
            parts.feed(second);
        }
        prop_assert_eq!((whole.pixels(), whole.is_over()), (parts.pixels(), parts.is_over()));
        prop_assert!(whole.pixels() <= pieces.len() as u64 * MOST_PIXELS_PER_BYTE);
    }
}

/// Frames that are not read as a person sees them are a gap where letters are asked for, once for all of them.
#[test]
fn frames_that_nobody_reads_are_told() {
    let shown = |sizes: &[(u16, u16)]| {
        let frames: Vec<Vec<u8>> = sizes.iter().map(|(w, h)| image(*w, *h, &codes((w * h).into()))).collect();
        let file = [screen(9, 8), frames.concat(), vec![0x3b]].concat();
        let seen = Seen::with(&FORMAT, "gif", &file, Resource::LetterPixels, 1000);
        (seen.pictures.len(), seen.facts().iter().filter(|fact| fact.starts_with("gap unsupported")).count())
    };
    assert_eq!(shown(&[(9, 8)]), (1, 0));
    assert_eq!(shown(&[(9, 8); 4]), (4, 0));
    assert_eq!(shown(&[(9, 8); 5]), (4, 1));
    assert_eq!(shown(&[(9, 8); 7]), (4, 1));
    assert_eq!(shown(&[(9, 8), (8, 8)]), (2, 1), "drawn into another");
    assert_eq!(shown(&[(9, 8), (7, 8)]), (1, 0), "no letter has room in it");
}
