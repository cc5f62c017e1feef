//! What the safe version of a packed file keeps, and what it does not.

use proptest::prelude::*;

use super::*;
use crate::{
    format::{
        cleaning::{
            Uncleanable,
            testing::{clean, clean_once},
        },
        pack,
    },
    inflate,
    limits::Limits,
};

fn budget() -> Budget {
    Budget::new(Limits::default())
}

fn gzip(data: &[u8]) -> Vec<u8> {
    pack::gzip(data, &mut budget()).unwrap()
}

/// What the safe version unpacks to, and what was done.
#[track_caller]
fn becomes(label: &'static str, bytes: &[u8], expected: &[u8], done: &[(&'static str, u64)]) -> Vec<u8> {
    let (clean, actions) = clean(&FORMAT, label, bytes).unwrap();
    let unpacked = inflate::unpack(&Source { packed: clean.clone(), codec: codec_of(label) }, &mut budget());
    assert_eq!((unpacked.stop, &unpacked.bytes[..]), (None, expected));
    assert_eq!(unpacked.used, count(clean.len()));
    assert_eq!(actions.into_iter().collect::<Vec<_>>(), done);
    clean.to_vec()
}

#[track_caller]
fn refused(label: &'static str, bytes: &[u8], why: &'static str) {
    assert_eq!(clean(&FORMAT, label, bytes).unwrap_err(), Uncleanable(why.into()));
}

/// A member with every optional field.
fn noted(name: &str, data: &[u8]) -> Vec<u8> {
    let mut head = b"\x1f\x8b\x08\x1c\x01\x02\x03\x04\0\xff\x03\0abc".to_vec();
    head.extend([name.as_bytes(), b"\0a comment\0"].concat());
    [&head, &gzip(data)[10..]].concat()
}

#[test]
fn of_gzip_only_the_content_stays() {
    let plain = becomes("gzip", &gzip(b"words"), b"words", &[]);
    let done = [("removed a comment", 1), ("removed data behind the end", 1)];
    assert_eq!(becomes("gzip", &[noted("../a", b"words"), b"MZ".to_vec()].concat(), b"words", &done), plain);
    let members = [gzip(b"wo"), gzip(b""), gzip(b"rds")].concat();
    assert_eq!(becomes("gzip", &members, b"words", &[]), plain);
    assert_eq!(&plain[..10], b"\x1f\x8b\x08\0\0\0\0\0\0\xff");
}

#[test]
fn what_is_in_it_is_washed() {
    let done = [("cleaned a file inside", 1)];
    becomes("gzip", &gzip(b"dirty"), b"clean", &done);
    becomes("zlib", &pack::zlib(b"dirty", &mut budget()).unwrap(), b"clean", &done);
    becomes("bzip2", &pack::bzip2(b"dirty", &mut budget()).unwrap(), b"clean", &done);
    refused("gzip", &noted("a.exe", b"MZ"), "a program");
}

#[test]
fn what_cannot_be_packed_again_stays_or_is_refused() {
    // One block of five bytes as they are (RFC 8878 §3.1.1).
    let zstd = |data: &[u8; 5]| [&b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0"[..], data].concat();
    let plain =
        becomes("zstd", &[zstd(b"words"), b"MZ??".to_vec()].concat(), b"words", &[("removed data behind the end", 1)]);
    assert_eq!(plain, zstd(b"words"));
    refused("zstd", &zstd(b"dirty"), "what is in it has a safe version, but nothing here packs zstd files");
    let skipped = [&b"\x5a\x2a\x4d\x18\x02\0\0\0MZ"[..], &zstd(b"words")].concat();
    refused("zstd", &skipped, "it begins with data that nobody unpacks");
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let good = gzip(&[b'x'; 50]);
    for end in 0..good.len() {
        assert!(clean_once(&FORMAT, "gzip", &good[..end], Limits::default()).is_err(), "cut at {end}");
    }
    let bomb = gzip(&vec![0; 4 << 20]);
    refused("gzip", &bomb, "the limit on ratio was reached while cleaning");
}

#[test]
fn unpacked_bytes_at_the_limit_and_past_it() {
    let good = gzip(&[b'x'; 50]);
    let with = |limit| clean_once(&FORMAT, "gzip", &good, Limits::default().with(Resource::UnpackedBytes, limit));
    assert!(with(50).is_ok());
    assert!(with(49).is_err());
}

proptest! {
    #[test]
    fn whatever_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), label in 0_usize..7) {
        drop(clean(&FORMAT, FORMAT.labels[label], &bytes));
    }

    #[test]
    fn any_damage_is_survived(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = noted("a", b"words and words");
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        drop(clean(&FORMAT, "gzip", &bytes));
    }
}
