//! Files built by hand; the name of a case is its defect.

use proptest::prelude::*;

use super::*;
use crate::format::testing::{self, Seen, look};

fn part(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len() + 8).unwrap().to_be_bytes()[..], name, content].concat()
}

fn ftyp() -> Vec<u8> {
    part(b"ftyp", b"avif\0\0\0\0avifmif1")
}

fn ispe(width: u32, height: u32) -> Vec<u8> {
    part(b"ispe", &[[0; 4], width.to_be_bytes(), height.to_be_bytes()].concat())
}

/// A picture of that size, an item of that kind at that range of the file.
fn meta(width: u32, height: u32, kind: &[u8; 4], offset: u32, length: u32) -> Vec<u8> {
    let iprp = part(b"iprp", &part(b"ipco", &ispe(width, height)));
    let infe = part(b"infe", &[&[2, 0, 0, 0, 0, 1, 0, 0][..], kind, b"a name\0"].concat());
    let iinf = part(b"iinf", &[&[0, 0, 0, 0, 0, 1][..], &infe].concat());
    let mut iloc = vec![0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1];
    iloc.extend_from_slice(&offset.to_be_bytes());
    iloc.extend_from_slice(&length.to_be_bytes());
    part(b"meta", &[&[0; 4][..], &iprp, &iinf, &part(b"iloc", &iloc)].concat())
}

fn file(width: u32, height: u32, kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let head = [ftyp(), meta(width, height, kind, 0, 0)].concat().len() + 8;
    let (offset, length) = (u32::try_from(head).unwrap(), u32::try_from(data.len()).unwrap());
    [ftyp(), meta(width, height, kind, offset, length), part(b"mdat", data)].concat()
}

fn seen(bytes: &[u8]) -> Seen {
    look(&FORMAT, "avif", bytes)
}

#[track_caller]
fn says(bytes: &[u8], expected: &[&str]) -> Seen {
    testing::says(&FORMAT, "avif", bytes, expected)
}

#[test]
fn honest_pictures_are_silent() {
    says(&file(400, 300, b"av01", &[7; 50]), &[]);
    let looked = says(&file(400, 300, b"mime", b"<x:xmpmeta/>"), &[]);
    // The list of items is read too: its words are those of whoever wrote the file.
    assert_eq!(looked.texts(), ["a name", "<x:xmpmeta/>"]);
    let exif = b"\0\0\0\x06Exif\0\0II*\0\x08\0\0\0\x01\0\x0e\x01\x02\0\x04\0\0\0abc\0\0\0\0\0";
    assert_eq!(says(&file(400, 300, b"Exif", exif), &[]).texts(), ["a name", "abc"]);
}

#[test]
fn bombs() {
    says(&file(65_000, 65_000, b"av01", &[7; 50]), &["gap limit:pixels"]);
    says(&file(1 << 31, 1 << 31, b"av01", &[7; 50]), &["high bomb.dimensions", "gap limit:side"]);
    let deep = (0..40).fold(ispe(1, 1), |inner, _| part(b"ipco", &inner));
    let deep = [ftyp(), part(b"meta", &[&[0; 4][..], &part(b"iprp", &deep)].concat())].concat();
    says(&deep, &["medium malformed.structure", "medium malformed.structure"]);
    let samples = part(b"stsz", &[[0; 4], [0; 4], 600_u32.to_be_bytes()].concat());
    let track = [b"stbl", b"minf", b"mdia", b"trak", b"moov"].iter().fold(samples, |inner, name| part(name, &inner));
    says(&[file(40, 30, b"av01", &[7; 50]), track].concat(), &["gap limit:frames"]);
}

#[test]
fn items_that_lie() {
    let mut bytes = file(400, 300, b"mime", b"<x:xmpmeta/>");
    let at = bytes.len() - 20 - 4;
    bytes[at] = 0x7f;
    says(&bytes, &["medium malformed.truncated"]);
    // Pieces without number that cost nothing to write.
    let mut iloc = vec![1, 0, 0, 0, 0, 0, 0xff, 0xff];
    for _ in 0..2000 {
        iloc.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0xff, 0xff]);
    }
    let flood = [ftyp(), part(b"meta", &[&[0; 4][..], &part(b"iloc", &iloc)].concat())].concat();
    says(&flood, &["gap limit:steps"]);
}

#[test]
fn cut_files_are_never_clean() {
    let whole = file(400, 300, b"mime", b"<x:xmpmeta/>");
    for length in (8..whole.len()).filter(|length| *length != whole.len() - 20) {
        assert!(!seen(&whole[..length]).facts().is_empty(), "cut at {length}");
    }
}

#[test]
fn what_stands_behind_the_end() {
    let looked = says(
        &[file(4, 3, b"av01", &[7; 5]), b"<script>alert(1)</script>".to_vec()].concat(),
        &["medium type.trailing_data"],
    );
    assert_eq!(looked.children.len(), 1);
    let hidden = [file(4, 3, b"av01", &[7; 5]), part(b"free", b"words where nobody looks")].concat();
    assert_eq!(says(&hidden, &[]).texts(), ["a name", "words where nobody looks"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn noise_ends(noise in proptest::collection::vec(any::<u8>(), 1..40), at in 0_usize..200) {
        let mut bytes = file(400, 300, b"Exif", &[7; 20]);
        for (byte, noise) in bytes.iter_mut().skip(at).zip(noise) {
            *byte = noise;
        }
        seen(&bytes);
    }
}
