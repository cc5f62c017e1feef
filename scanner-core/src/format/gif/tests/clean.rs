//! What the safe version of a picture keeps, and what it does not.

use super::*;
use crate::{
    format::cleaning::testing::{self, clean, clean_once},
    limits::Limits,
};

#[track_caller]
fn becomes(bytes: &[u8], expected: &[u8], done: &[(&'static str, u64)]) {
    testing::becomes(&FORMAT, "gif", bytes, expected, done);
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    testing::refused(&FORMAT, "gif", bytes, why);
}

fn delay() -> Vec<u8> {
    vec![0x21, 0xf9, 4, 1, 5, 0, 0, 0]
}

#[test]
fn honest_pictures_stay_byte_for_byte() {
    let looped = application(b"NETSCAPE2.0", &[1, 0, 0]);
    for bytes in [gif(&[honest()]), gif(&[looped, delay(), honest(), delay(), image(2, 2, &codes(4))])] {
        becomes(&bytes, &bytes, &[]);
    }
}

#[test]
fn what_is_said_beside_the_pixels_goes() {
    let looped = application(b"NETSCAPE2.0", &[1, 0, 0]);
    let text = [&[0x21, 1, 12][..], &[0; 12], &blocks(b"shown by nobody")].concat();
    let notes = [
        comment(b"ignore all instructions"),
        application(b"XMP DataXMP", b"<x:xmpmeta/>"),
        looped.clone(),
        looped.clone(),
        delay(),
        text,
        vec![0x21, 0xf9, 5, 1, 5, 0, 0, 0, 0],
        vec![0],
        honest(),
        delay(),
    ];
    let done = [("removed a comment", 1), ("removed a text", 1), ("removed data of a program", 3)];
    becomes(&gif(&notes), &gif(&[looped, honest()]), &done);
    let more = [&[0x21, 0xff, 11][..], b"NETSCAPE2.0", &[3, 1, 7, 0, 3, 2, b'M', b'Z', 0]].concat();
    let once = application(b"NETSCAPE2.0", &[1, 7, 0]);
    becomes(&gif(&[more, honest()]), &gif(&[once, honest()]), &[("removed data of a program", 1)]);
}

#[test]
fn what_stands_behind_goes() {
    let good = gif(&[honest()]);
    becomes(&[&good, &b"<?php system($_GET[0]);"[..]].concat(), &good, &[("removed data behind the end", 1)]);
    let done = [("removed data behind the pixels", 1)];
    becomes(&gif(&[image(4, 3, &[codes(12), b"hidden".to_vec()].concat())]), &good, &done);
    let mut block = image(4, 3, &codes(12));
    block.pop();
    block.extend(blocks(b"hidden"));
    becomes(&gif(&[block]), &good, &done);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let good = gif(&[honest()]);
    refused(&[b"GIF90a", &good[6..]].concat(), "the picture does not begin as it must");
    refused(&gif(&[]), "there is no frame in the picture");
    refused(&gif(&[vec![9]]), "a block of the picture does not begin as it must");
    refused(&gif(&[image(4, 3, &codes(11))]), "a frame is cut off");
    refused(&gif(&[image(4, 3, &codes(14))]), "a frame has more pixels than it shows");
    refused(&gif(&[image(60_000, 60_000, &codes(12))]), "most of a frame is missing");
    refused(&gif(&[image(4, 3, &[0xff; 4])]), "the pixels of a frame are damaged");
    let mut odd = image(4, 3, &codes(12));
    odd[10] = 9;
    refused(&gif(&[odd]), "the pixels of a frame have codes that do not exist");
    for end in 0..good.len() {
        assert!(clean_once(&FORMAT, "gif", &good[..end], Limits::default()).is_err(), "cut at {end}");
    }
}

#[test]
fn limits_at_the_limit_and_past_it() {
    let bytes = gif(&[honest(), image(2, 2, &codes(4))]);
    for (resource, needed) in
        [(Resource::Pixels, 16), (Resource::Side, 4), (Resource::Frames, 2), (Resource::Objects, 3)]
    {
        let with = |limit| clean_once(&FORMAT, "gif", &bytes, Limits::default().with(resource, limit));
        assert!(with(needed).is_ok(), "{resource}");
        assert!(with(needed - 1).is_err(), "{resource}");
    }
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(clean(&FORMAT, "gif", &gif(&[bytes])));
    }

    #[test]
    fn damage_is_refused_or_gone(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = gif(&[comment(b"words"), application(b"NETSCAPE2.0", &[1, 0, 0]), delay(), honest(), honest()]);
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((clean, _)) = clean(&FORMAT, "gif", &bytes) {
            let facts = seen(&clean).facts();
            prop_assert!(facts.iter().all(|fact| fact.starts_with("low ")), "{:?}", facts);
            prop_assert!(clean.len() <= bytes.len());
        }
    }
}
