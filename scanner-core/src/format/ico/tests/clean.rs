//! What the safe version of an icon keeps, and what it does not.

use proptest::prelude::*;

use super::*;
use crate::{
    format::cleaning::testing::{self, clean, clean_once},
    limits::Limits,
};

#[track_caller]
fn becomes(bytes: &[u8], expected: &[u8]) {
    let (clean, _) = clean(&FORMAT, "ico", bytes).unwrap();
    assert_eq!(clean.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(seen(&clean).facts(), [""; 0]);
    assert!(seen(&clean).texts().is_empty());
}

#[track_caller]
fn refused(bytes: &[u8], why: &'static str) {
    testing::refused(&FORMAT, "ico", bytes, why);
}

#[test]
fn pictures_stay_and_what_is_between_them_goes() {
    let one = ico(&[(2, 22, 64)], &bitmap());
    becomes(&one, &one);
    let two = ico(&[(2, 38, 64), (2, 102, 64)], &[bitmap(), bitmap()].concat());
    becomes(&two, &two);
    becomes(&ico(&[(2, 38, 64)], &[b"words before it.", &bitmap()[..]].concat()), &one);
    becomes(&[&one, &b"<?php system($_GET[0]);"[..]].concat(), &one);
    becomes(&ico(&[(2, 22, 70)], &[&bitmap(), &b"behind"[..]].concat()), &one);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\0\0\0\x01\0";
    let packed = ico(&[(0, 22, png.len() as u32)], png);
    becomes(&packed, &packed);
}

#[test]
fn what_cannot_be_followed_is_refused() {
    refused(b"\0\0\x03\0\x01\0", "the icon does not begin as it must");
    refused(&ico(&[(2, 38, 64), (2, 38, 64)], &bitmap()), "pictures of the icon share the same bytes");
    refused(&ico(&[(2, 22, 65)], &bitmap()), "the picture is cut off");
    refused(&ico(&[], &[]), "what is left of it is not as it should be: there is no picture in it");
    let mut wide = bitmap();
    wide[4] = 200;
    refused(&ico(&[(200, 22, 64)], &wide), "the picture is cut off");
    let mut packed = bitmap();
    packed[16] = 5;
    refused(&ico(&[(2, 22, 64)], &packed), "a picture of the icon is packed as no viewer expects it");
    let whole = ico(&[(2, 22, 64)], &bitmap());
    for end in 0..whole.len() {
        assert!(clean_once(&FORMAT, "ico", &whole[..end], Limits::default()).is_err(), "cut at {end}");
    }
}

#[test]
fn pictures_at_the_limit_and_past_it() {
    let two = ico(&[(2, 38, 64), (2, 102, 64)], &[bitmap(), bitmap()].concat());
    // Each is counted here, and by the inspector.
    let with = |limit| clean_once(&FORMAT, "ico", &two, Limits::default().with(Resource::Objects, limit));
    assert!(with(4).is_ok());
    assert!(with(3).is_err());
}

proptest! {
    #[test]
    fn damage_is_refused_or_gone(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = ico(&[(2, 38, 64), (2, 102, 64)], &[bitmap(), bitmap()].concat());
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((clean, _)) = clean(&FORMAT, "ico", &bytes) {
            prop_assert!(clean.len() <= bytes.len());
        }
    }
}
