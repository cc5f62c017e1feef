//! What the safe version of a picture keeps, and what it does not.

use super::*;
use crate::{
    format::{
        cleaning::testing::{self, clean, clean_once},
        ifd::testing::tiff,
    },
    limits::Limits,
};

#[track_caller]
fn becomes(bytes: &[u8], expected: &[u8], done: &[(&'static str, u64)]) {
    testing::becomes(&FORMAT, "webp", bytes, expected, done);
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    testing::refused(&FORMAT, "webp", bytes, why);
}

fn moving(rest: &[Vec<u8>]) -> Vec<u8> {
    let anim = chunk(b"ANIM", &[0; 6]);
    webp(&[canvas(2, 4, 3), anim, frame(4, 3, &lossy(4, 3)), frame(2, 2, &lossless(2, 2)), rest.concat()])
}

#[test]
fn honest_pictures_stay_byte_for_byte() {
    for bytes in [
        webp(&[lossless(4, 3)]),
        webp(&[lossy(4, 3)]),
        webp(&[canvas(ALPHA, 4, 3), chunk(b"ALPH", &[0; 3]), lossy(4, 3)]),
        webp(&[canvas(8, 4, 3), lossy(4, 3), chunk(b"EXIF", &exif::turned(6))]),
        moving(&[]),
    ] {
        becomes(&bytes, &bytes, &[]);
    }
}

const ALPHA: u8 = 0x10;

#[test]
fn what_is_said_beside_the_pixels_goes() {
    let notes = [
        chunk(b"ICCP", b"profile"),
        chunk(b"XMP ", b"<x:xmpmeta/>"),
        chunk(b"EXIF", b"II*\0\x08\0\0\0\0\0\0\0\0\0"),
        chunk(b"note", b"ignore all instructions"),
    ]
    .concat();
    let done = [
        ("removed a colour profile", 1),
        ("removed a part that no viewer needs", 1),
        ("removed a text", 1),
        ("removed camera data", 1),
    ];
    // The flags of everything, and bits that are kept for later.
    becomes(&webp(&[canvas(0xed, 4, 3), notes.clone(), lossy(4, 3)]), &webp(&[canvas(0, 4, 3), lossy(4, 3)]), &done);
    becomes(&moving(std::slice::from_ref(&notes)), &moving(&[]), &done);
    becomes(&webp(&[lossy(4, 3), notes]), &webp(&[lossy(4, 3)]), &done);
    let inner = [lossy(4, 3), chunk(b"note", b"MZ")].concat();
    let anim = chunk(b"ANIM", &[0; 6]);
    let frames = |inner: &[u8]| webp(&[canvas(2, 4, 3), anim.clone(), frame(4, 3, inner)]);
    becomes(&frames(&inner), &frames(&lossy(4, 3)), &[("removed a part that no viewer needs", 1)]);
}

#[test]
fn of_camera_data_only_the_turn_stays() {
    let data = tiff(8, &[(8, &[(0x0112, 3, 1, 6), (0x8825, 4, 1, 60)], 0)], &[(60, b"where it was taken")]);
    becomes(
        &webp(&[canvas(8, 4, 3), lossy(4, 3), chunk(b"EXIF", &data)]),
        &webp(&[canvas(8, 4, 3), lossy(4, 3), chunk(b"EXIF", &exif::turned(6))]),
        &[("removed camera data", 1)],
    );
}

#[test]
fn what_stands_behind_goes() {
    let good = webp(&[lossy(4, 3)]);
    becomes(&[&good, &b"<?php system($_GET[0]);"[..]].concat(), &good, &[("removed data behind the end", 1)]);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let good = webp(&[lossy(4, 3)]);
    refused(b"RIFF\x04\0\0\0WAVE", "the picture does not begin as it must");
    refused(&webp(&[canvas(0, 4, 3)]), "there are no pixels in the picture");
    refused(&webp(&[lossy(4, 3), lossy(4, 3)]), "there are two pictures in one");
    refused(
        &webp(&[canvas(0, 5, 3), lossy(4, 3)]),
        "what is left of it is not as it should be: 5 × 3 pixels are promised, 4 × 3 are there",
    );
    for end in 0..good.len() {
        assert!(clean_once(&FORMAT, "webp", &good[..end], Limits::default()).is_err(), "cut at {end}");
    }
}

#[test]
fn limits_at_the_limit_and_past_it() {
    let bytes = moving(&[]);
    for (resource, needed) in [(Resource::Pixels, 16), (Resource::Side, 4), (Resource::Frames, 4)] {
        let with = |limit| clean_once(&FORMAT, "webp", &bytes, Limits::default().with(resource, limit));
        assert!(with(needed).is_ok(), "{resource}");
        assert!(with(needed - 1).is_err(), "{resource}");
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(clean(&FORMAT, "webp", &webp(&[bytes])));
    }

    #[test]
    fn damage_is_refused_or_gone(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = moving(&[chunk(b"XMP ", b"<x:xmpmeta/>")]);
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((clean, _)) = clean(&FORMAT, "webp", &bytes) {
            let facts = seen(&clean).facts();
            prop_assert!(facts.iter().all(|fact| fact.starts_with("low ")), "{:?}", facts);
            prop_assert!(clean.len() <= bytes.len() + 34);
        }
    }
}
