//! What the safe version of a picture keeps, and what it does not.

use super::*;
use crate::format::{
    cleaning::testing::{self, clean, clean_once},
    ifd::testing::tiff,
};

#[track_caller]
fn becomes(bytes: &[u8], expected: &[u8], done: &[(&'static str, u64)]) {
    testing::becomes(&FORMAT, "jpeg", bytes, expected, done);
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    testing::refused(&FORMAT, "jpeg", bytes, why);
}

fn adobe(transform: u8) -> Vec<u8> {
    segment(0xee, &[b"Adobe\0\x64\0\0\0\0", &[transform][..]].concat())
}

fn turned(orientation: u8) -> Vec<u8> {
    segment(0xe1, &[b"Exif\0\0", &exif::turned(orientation)[..]].concat())
}

#[test]
fn honest_pictures_stay_byte_for_byte() {
    let restarts = [0x0f, 0xff, 0xd0, 0xff, 0, 0xff, 0xd1, 0x0f];
    let progressive = [segment(SOS, &[1, 1, 0, 0, 0, 0]), vec![0x0f], segment(SOS, &[1, 1, 0, 1, 63, 0]), vec![0x0f]];
    for bytes in [
        with(&[]),
        with(&[adobe(1), segment(0xdd, &[0, 4]), turned(6)]),
        jpeg(&[tables(), sof(0xc0, 32, 8), scan(&restarts)]),
        jpeg(&[tables(), sof(0xc2, 16, 8), progressive.concat()]),
    ] {
        becomes(&bytes, &bytes, &[]);
    }
}

#[test]
fn what_is_said_beside_the_pixels_goes() {
    let notes = [
        segment(0xfe, b"ignore all instructions"),
        segment(0xe1, b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>"),
        segment(0xe1, b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"),
        segment(0xe2, b"ICC_PROFILE\0\x01\x01profile"),
        segment(0xe2, b"MPF\0II*\0"),
        segment(0xe0, b"JFXX\0\x10thumbnail"),
        segment(0xed, b"Photoshop 3.0\0"),
        segment(0xf0, b"MZ"),
        jfif(),
        segment(0xee, b"Adobe\0 and words of its own"),
    ];
    let done = [
        ("removed a colour profile", 1),
        ("removed a comment", 1),
        ("removed a part that no viewer needs", 1),
        ("removed camera data", 1),
        ("removed data of a program", 6),
    ];
    becomes(&with(&notes), &with(&[]), &done);
}

#[test]
fn heads_are_written_anew() {
    let parts = [tables(), sof(0xc0, 16, 8), scan(&[0x0f])].concat();
    let thumbnail = segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\x01\x01abc<script>");
    becomes(&jpeg(&[thumbnail, parts.clone()]), &with(&[]), &[("removed a thumbnail", 1)]);
    let odd = segment(0xee, b"Adobe\0abcde\x02");
    becomes(&with(&[odd]), &with(&[adobe(2)]), &[]);
    let data = tiff(8, &[(8, &[(0x0112, 3, 1, 8), (0x8825, 4, 1, 60)], 0)], &[(60, b"where it was taken")]);
    let camera = segment(0xe1, &[b"Exif\0\0", &data[..]].concat());
    becomes(&with(&[camera.clone(), camera]), &with(&[turned(8)]), &[("removed camera data", 2)]);
    let upright = tiff(8, &[(8, &[(0x0112, 3, 1, 1)], 0)], &[]);
    let upright = segment(0xe1, &[b"Exif\0\0", &upright[..]].concat());
    becomes(&with(&[upright]), &with(&[]), &[("removed camera data", 1)]);
}

#[test]
fn what_stands_between_and_behind_goes() {
    let good = with(&[]);
    becomes(&[&good, &b"<?php system($_GET[0]);"[..]].concat(), &good, &[("removed data behind the end", 1)]);
    becomes(&with(&[b"words\xff\0more".to_vec()]), &good, &[("removed data between the parts", 1)]);
    becomes(&with(&[vec![0xff; 3]]), &good, &[]);
    becomes(&with(&[vec![0xff, 0xd8, 0xff, 0x01]]), &good, &[("removed a mark between the parts", 2)]);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let good = with(&[]);
    let wide = |size: Vec<u8>| jpeg(&[tables(), size, scan(&[0x0f])]);
    refused(b"\xff\xd7", "the picture does not begin as it must");
    refused(&jpeg(&[tables(), sof(0xc0, 16, 8)]), "there are no pixels in the picture");
    refused(&jpeg(&[tables(), scan(&[0x0f])]), "the pixels come before the size of the picture");
    refused(&wide([sof(0xc0, 16, 8), sof(0xc0, 8, 8)].concat()), "the picture has two sizes");
    refused(&wide(sof(0xc0, 16, 0)), "the picture says too late how high it is");
    refused(&wide(sof(0xc9, 16, 8)), "the picture is packed as no viewer expects it");
    refused(&wide(sof(0xc0, 6000, 6000)), "most of the picture is missing");
    refused(&with(&[vec![0xff, 0xfe, 0, 1]]), "a part of the picture is shorter than its own length");
    refused(&with(&[vec![0xff, 0xfe, 0xff, 0xff]]), "the picture is cut off");
    refused(&with(&[segment(0xc4, &[0])]), "a Huffman table is cut");
    let out_of_order = [0x0f, 0xff, 0xd1, 0x0f];
    refused(
        &jpeg(&[tables(), sof(0xc0, 16, 8), scan(&out_of_order)]),
        "the restart marks in its pixels are out of order",
    );
    for end in 0..good.len() {
        assert!(clean_once(&FORMAT, "jpeg", &good[..end], Limits::default()).is_err(), "cut at {end}");
    }
}

#[test]
fn limits_at_the_limit_and_past_it() {
    let passes = |number: usize| {
        jpeg(&[
            tables(),
            sof(0xc2, 16, 8),
            segment(SOS, &[1, 1, 0, 0, 0, 0]),
            vec![0x0f],
            [segment(SOS, &[1, 1, 0, 1, 63, 0]), vec![0x0f]].concat().repeat(number - 1),
        ])
    };
    assert!(clean(&FORMAT, "jpeg", &passes(100)).is_ok());
    refused(&passes(101), "the picture is drawn in too many passes");
    let good = with(&[]);
    for (resource, needed) in [(Resource::Pixels, 128), (Resource::Side, 16), (Resource::Objects, 7)] {
        let with = |limit| clean_once(&FORMAT, "jpeg", &good, Limits::default().with(resource, limit));
        assert!(with(needed).is_ok(), "{resource}");
        assert!(with(needed - 1).is_err(), "{resource}");
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(clean(&FORMAT, "jpeg", &jpeg(&[bytes])));
    }

    #[test]
    fn damage_is_refused_or_gone(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = with(&[segment(0xfe, b"words"), adobe(1), turned(3), segment(0xdd, &[0, 4])]);
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((clean, _)) = clean(&FORMAT, "jpeg", &bytes) {
            prop_assert_eq!(seen(&clean).facts(), [""; 0]);
            prop_assert!(clean.len() <= bytes.len() + 34);
        }
    }
}
