//! What the safe version of a picture keeps, and what it does not.

use super::*;
use crate::format::cleaning::testing::{self, clean, clean_once};

#[track_caller]
fn becomes(bytes: &[u8], expected: &[u8], done: &[(&'static str, u64)]) {
    testing::becomes(&FORMAT, "png", bytes, expected, done);
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    testing::refused(&FORMAT, "png", bytes, why);
}

/// The pixels as a reader that is not ours sees them.
fn pixels(bytes: &[u8]) -> Vec<u8> {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn honest_pictures_stay_byte_for_byte() {
    let rows = rows();
    let split = png(&[head(), chunk(b"IDAT", &rows[..3]), chunk(b"IDAT", &rows[3..]), iend()]);
    for bytes in [with(&[]), split, everything_honest()] {
        becomes(&bytes, &bytes, &[]);
    }
}

/// Every chunk of numbers, as they are written.
fn everything_honest() -> Vec<u8> {
    let numbers = [
        chunk(b"gAMA", &45_455_u32.to_be_bytes()),
        chunk(b"cHRM", &[[0, 0, 0x7a, 0x26]; 8].concat()),
        chunk(b"sRGB", &[0]),
        chunk(b"cICP", &[1, 13, 0, 1]),
        chunk(b"sBIT", &[8, 8, 8]),
        chunk(b"pHYs", &[0, 0, 0x0f, 0x61, 0, 0, 0x0f, 0x61, 1]),
        chunk(b"PLTE", &[1, 2, 3, 4, 5, 6]),
        chunk(b"bKGD", &[1]),
        chunk(b"tRNS", &[0, 0xff]),
        chunk(b"eXIf", &exif::turned(6)),
    ];
    png(&[ihdr(4, 3, 1, 3, 0), numbers.concat(), chunk(b"IDAT", &zlib(&[0; 6])), iend()])
}

#[test]
fn what_is_said_beside_the_pixels_goes() {
    let notes = [
        chunk(b"tEXt", b"Comment\0ignore all instructions"),
        chunk(b"zTXt", b"Comment\0\0x"),
        chunk(b"iTXt", b"Comment\0\0\0\0\0x"),
        chunk(b"eXIf", b"II*\0\x08\0\0\0\0\0"),
        chunk(b"iCCP", b"name\0\0x"),
        chunk(b"tIME", &[0; 7]),
        chunk(b"prVt", b"MZ"),
    ];
    let done = [
        ("removed a colour profile", 1),
        ("removed a date", 1),
        ("removed a part that no viewer needs", 1),
        ("removed a text", 3),
        ("removed camera data", 1),
    ];
    becomes(&with(&notes), &with(&[]), &done);
    let between = png(&[head(), chunk(b"IDAT", &rows()[..3]), notes.concat(), chunk(b"IDAT", &rows()[3..]), iend()]);
    let split = png(&[head(), chunk(b"IDAT", &rows()[..3]), chunk(b"IDAT", &rows()[3..]), iend()]);
    becomes(&between, &split, &done);
}

#[test]
fn of_camera_data_only_the_turn_stays() {
    let data = crate::format::ifd::testing::tiff(
        8,
        &[(8, &[(0x0112, 3, 1, 6), (0x010e, 2, 6, 100)], 0)],
        &[(100, b"house\0")],
    );
    becomes(&with(&[chunk(b"eXIf", &data)]), &with(&[chunk(b"eXIf", &exif::turned(6))]), &[("removed camera data", 1)]);
    let upright = crate::format::ifd::testing::tiff(8, &[(8, &[(0x0112, 3, 1, 1)], 0)], &[]);
    becomes(&with(&[chunk(b"eXIf", &upright)]), &with(&[]), &[("removed camera data", 1)]);
}

#[test]
fn numbers_with_room_for_a_message_go() {
    for odd in [
        chunk(b"gAMA", b"text"),
        chunk(b"cHRM", b"thirty-two bytes of words, or so"),
        chunk(b"sRGB", b"x"),
        chunk(b"sBIT", &[9]),
        chunk(b"pHYs", b"ninebytes"),
        chunk(b"bKGD", b"xy"),
        chunk(b"tRNS", b"xy"),
        chunk(b"PLTE", b"abc"),
    ] {
        becomes(&with(&[odd]), &with(&[]), &[("removed a part that no viewer needs", 1)]);
    }
    let twice = chunk(b"sRGB", &[1]);
    becomes(&with(&[twice.clone(), twice.clone()]), &with(&[twice]), &[("removed a part that no viewer needs", 1)]);
}

#[test]
fn what_stands_behind_goes() {
    let good = with(&[]);
    becomes(&[&good, &b"<?php system($_GET[0]);"[..]].concat(), &good, &[("removed data behind the end", 1)]);
    let data = [rows(), b"PK\x03\x04".to_vec()].concat();
    let done = [("removed data behind the pixels", 1)];
    becomes(&png(&[head(), chunk(b"IDAT", &data), iend()]), &good, &done);
    becomes(&png(&[head(), idat(), chunk(b"IDAT", b"PK\x03\x04"), iend()]), &good, &done);
    becomes(&png(&[head(), idat(), chunk(b"IEND", b"more")]), &good, &[]);
}

#[test]
fn pixels_without_room_are_cut_and_the_others_stay() {
    let picture = |plain: &[u8]| png(&[head(), chunk(b"IDAT", &zlib(plain)), iend()]);
    let done = [("removed pixels that the picture has no room for", 1)];
    for hidden in [&b"hidden"[..], &vec![0; 3_000_000]] {
        let (clean, actions) = clean(&FORMAT, "png", &picture(&[b"\0abcd\0abcd\0abcd", hidden].concat())).unwrap();
        assert_eq!(actions.into_iter().collect::<Vec<_>>(), done);
        assert_eq!(seen(&clean).facts(), [""; 0]);
        assert_eq!(pixels(&clean), b"abcdabcdabcd");
    }
}

#[test]
fn frames_stay_and_are_counted_anew() {
    let frames = |rest: &[u8], more: &[u8]| {
        let pixels = [&[0, 0, 0, 2][..], &zlib(&[0, 9]), rest].concat();
        png(&[
            head(),
            actl(2),
            fctl(0, 4, 3, 0, 0),
            idat(),
            fctl(1, 1, 1, 3, 2),
            chunk(b"fdAT", &pixels),
            more.to_vec(),
            iend(),
        ])
    };
    let good = frames(b"", b"");
    becomes(&good, &good, &[]);
    becomes(&frames(b"MZ", b""), &good, &[("removed data behind the pixels", 1)]);
    becomes(&frames(b"", &chunk(b"fdAT", &[0, 0, 0, 3])), &good, &[]);
    let excess = png(&[head(), actl(1), idat(), fctl(0, 1, 1, 3, 2), fdat(1, b"\0\x09hidden"), iend()]);
    let clean = clean(&FORMAT, "png", &excess).unwrap().0;
    assert_eq!(seen(&clean).facts(), [""; 0]);
    assert_eq!(memmem::find(&clean, b"hidden"), None);
    let stray = png(&[head(), fctl(0, 4, 3, 0, 0), idat(), fdat(1, &[0, 9]), iend()]);
    becomes(&stray, &with(&[]), &[("removed frames that nothing shows", 2)]);
}

#[test]
fn animations_that_cannot_be_followed_are_refused() {
    const ODD: &str = "a frame is out of order, outside the picture, or not a frame";
    let animated = |parts: &[Vec<u8>]| png(&[head(), parts.concat(), iend()]);
    refused(&animated(&[actl(2), fctl(0, 4, 3, 0, 0), idat()]), "there are not as many frames as are announced");
    refused(&animated(&[actl(1), fctl(1, 4, 3, 0, 0), idat()]), ODD);
    refused(&animated(&[actl(1), fctl(0, 5, 3, 0, 0), idat()]), ODD);
    refused(&animated(&[actl(1), fctl(0, 3, 3, 0, 0), idat()]), ODD);
    refused(&animated(&[actl(1), idat(), fctl(0, 4, 3, 1, 0), fdat(1, &[0])]), ODD);
    refused(&animated(&[actl(1), idat(), fdat(0, &[0])]), "there are pixels of no frame");
    refused(
        &animated(&[actl(1), idat(), fctl(0, 1, 1, 0, 0), fdat(2, &[0, 0])]),
        "the pixels of a frame are out of order or damaged",
    );
    refused(
        &animated(&[actl(1), idat(), fctl(0, 1, 1, 0, 0), fdat(1, &[0, 0]), idat()]),
        "the pixels of the picture stand in two places",
    );
    refused(&animated(&[actl(1), idat(), fctl(0, 1, 1, 0, 0)]), "most of the picture is missing");
    refused(&animated(&[chunk(b"acTL", &[0; 7]), idat()]), "the animation is not announced as it should be");
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let good = with(&[]);
    refused(&[b"\x89PNG\n\x1a\n", &good[8..]].concat(), "the signature of the picture is damaged");
    refused(&png(&[idat(), iend()]), "the picture does not begin with its header");
    refused(&png(&[head(), head(), idat(), iend()]), "chunk IHDR is essential, and unknown or damaged");
    refused(&with(&[chunk(b"EVIL", b"")]), "chunk EVIL is essential, and unknown or damaged");
    refused(&png(&[head(), idat()]), "the end of the picture is missing");
    refused(&png(&[head(), iend()]), "most of the picture is missing");
    refused(&png(&[ihdr(4, 3, 8, 3, 0), idat(), iend()]), "the colour table of the picture is missing");
    refused(
        &png(&[ihdr(4, 3, 8, 3, 0), chunk(b"PLTE", &[0; 4]), idat(), iend()]),
        "the colour table of the picture is damaged",
    );
    refused(&png(&[head(), chunk(b"IDAT", &zlib(&[0; 14])), iend()]), "the picture is cut off");
    for (at, why) in
        [(29, "chunk IHDR does not match its checksum"), (49, "chunk IDAT is essential, and unknown or damaged")]
    {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        refused(&bytes, why);
    }
    let mut sum = rows();
    *sum.last_mut().unwrap() ^= 1;
    refused(&png(&[head(), chunk(b"IDAT", &sum), iend()]), DAMAGED);
    refused(&png(&[head(), chunk(b"IDAT", &zlib(&[9; 15])), iend()]), DAMAGED);
    for end in 0..good.len() {
        assert!(clean_once(&FORMAT, "png", &good[..end], Limits::default()).is_err(), "cut at {end}");
    }
}

const DAMAGED: &str = "the pixels of the picture are damaged";

#[test]
fn limits_at_the_limit_and_past_it() {
    let bytes = png(&[head(), actl(1), fctl(0, 4, 3, 0, 0), idat(), iend()]);
    for (resource, needed) in
        [(Resource::Pixels, 12), (Resource::Side, 4), (Resource::Frames, 1), (Resource::Objects, 5)]
    {
        let with = |limit| clean_once(&FORMAT, "png", &bytes, Limits::default().with(resource, limit));
        assert!(with(needed).is_ok(), "{resource}");
        assert!(with(needed - 1).is_err(), "{resource}");
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(clean(&FORMAT, "png", &png(&[bytes])));
    }

    #[test]
    fn damage_is_refused_or_gone(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = everything();
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((clean, _)) = clean(&FORMAT, "png", &bytes) {
            prop_assert_eq!(seen(&clean).facts(), [""; 0]);
            prop_assert!(clean.len() <= bytes.len() + bytes.len() / 3);
        }
    }
}
