use std::io::Write;

use flate2::{Compression, write};
use proptest::prelude::*;

use super::*;
use crate::limits::Limits;

fn packed(codec: Codec, plain: &[u8]) -> Source {
    let level = Compression::best();
    let packed = match codec {
        Codec::Stored => plain.to_vec(),
        Codec::Zlib => {
            let mut encoder = write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Deflate => {
            let mut encoder = write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Gzip => {
            let mut encoder = write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        other => panic!("no encoder for {other:?}"),
    };
    Source { packed: packed.into(), codec }
}

const PACKED: [Codec; 4] = [Codec::Zlib, Codec::Deflate, Codec::Gzip, Codec::Bzip2];

fn budget(resource: Resource, limit: u64) -> Budget {
    Budget::new(Limits::default().with(resource, limit))
}

fn stopped_by(unpacked: &Unpacked) -> Option<Resource> {
    match unpacked.stop {
        Some(Stop::Limit(Exhausted(resource))) => Some(resource),
        _ => None,
    }
}

#[test]
fn each_limit_holds_at_it_and_not_one_past() {
    let plain: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8 ^ (n / 4096) as u8).collect();
    for codec in PACKED {
        let source = packed(codec, &plain);
        let ratio = (plain.len() as u64).div_ceil(source.packed.len() as u64);
        let mut spent = Budget::new(Limits::default());
        assert_eq!(unpack(&source, &mut spent).stop, None);
        assert_eq!(spent.spent().get(Resource::UnpackedBytes), 3_000_000);
        assert_eq!(spent.spent().get(Resource::ArtifactBytes), 3_000_000);
        assert_eq!(spent.spent().get(Resource::Ratio), ratio);
        for resource in [Resource::UnpackedBytes, Resource::ArtifactBytes, Resource::Ratio, Resource::Steps] {
            let needed = spent.spent().get(resource);
            let at = unpack(&source, &mut budget(resource, needed));
            assert_eq!((at.stop, at.bytes.len()), (None, plain.len()), "{codec:?} {resource}");
            let mut tight = budget(resource, needed - 1);
            let past = unpack(&source, &mut tight);
            assert_eq!(stopped_by(&past), Some(resource), "{codec:?}");
            assert!(tight.spent().get(resource) < needed);
            assert!(plain.starts_with(&past.bytes), "what came out until then stays");
        }
        let one_less = unpack(&source, &mut budget(Resource::UnpackedBytes, 2_999_999));
        assert_eq!(one_less.bytes.len(), 2_999_999, "every paid byte is kept");
    }
}

#[test]
fn stored_is_not_copied_and_obeys_the_door() {
    let source = packed(Codec::Stored, b"twelve bytes");
    let unpacked = unpack(&source, &mut budget(Resource::ArtifactBytes, 12));
    assert_eq!(unpacked.bytes.as_ptr(), source.packed.as_ptr());
    assert_eq!(stopped_by(&unpack(&source, &mut budget(Resource::ArtifactBytes, 11))), Some(Resource::ArtifactBytes));
}

#[test]
fn a_bomb_of_zeros_stops_early() {
    let source = packed(Codec::Zlib, &vec![0; 10_000_000]);
    let unpacked = unpack(&source, &mut Budget::new(Limits::default()));
    assert_eq!(stopped_by(&unpacked), Some(Resource::Ratio));
    assert_eq!(unpacked.bytes.len(), source.packed.len() * 200);
    let unpacked = zlib(&source.packed, (Resource::TextBytes, 1000), &mut Budget::new(Limits::default()));
    assert_eq!((stopped_by(&unpacked), unpacked.bytes.len()), (Some(Resource::TextBytes), 1000));
}

#[test]
fn a_small_member_may_be_as_dense_as_deflate_gets() {
    let source = packed(Codec::Zlib, &vec![0; 1024 * 1024]);
    assert!(source.packed.len() < 1200);
    assert_eq!(unpack(&source, &mut Budget::new(Limits::default())).stop, None);
    let source = packed(Codec::Zlib, &vec![0; 1024 * 1024 + 1]);
    assert_eq!(stopped_by(&unpack(&source, &mut Budget::new(Limits::default()))), Some(Resource::Ratio));
}

#[test]
fn a_cut_at_every_byte_keeps_what_came_out() {
    let plain: Vec<u8> = (0..2000_u32).map(|n| (n * n % 253) as u8).collect();
    for codec in PACKED {
        let whole = packed(codec, &plain).packed;
        for length in 0..whole.len() {
            let source = Source { packed: whole.slice(..length), codec };
            let unpacked = unpack(&source, &mut Budget::new(Limits::default()));
            assert!(matches!(unpacked.stop, Some(Stop::Malformed { .. })), "{codec:?} cut at {length}");
            assert!(plain.starts_with(&unpacked.bytes));
        }
    }
}

#[test]
fn members_follow_each_other_and_garbage_does_not_belong() {
    let mut two = packed(Codec::Gzip, b"first ").packed.to_vec();
    two.extend_from_slice(&packed(Codec::Gzip, b"second").packed);
    let length = two.len() as u64;
    two.extend_from_slice(b"<?php");
    let unpacked = unpack(&Source { packed: two.into(), codec: Codec::Gzip }, &mut Budget::new(Limits::default()));
    assert_eq!((&unpacked.bytes[..], unpacked.used, unpacked.stop), (&b"first second"[..], length, None));
}

#[test]
fn every_gzip_field_is_skipped() {
    let plain = packed(Codec::Gzip, b"text").packed;
    let mut dressed = plain[..10].to_vec();
    dressed[3] = 2 | 4 | 8 | 16;
    dressed.extend_from_slice(b"\x03\0abcname\0comment\0\x12\x34");
    let header = dressed.len();
    dressed.extend_from_slice(&plain[10..]);
    let whole = Source { packed: dressed.clone().into(), codec: Codec::Gzip };
    assert_eq!(&unpack(&whole, &mut Budget::new(Limits::default())).bytes[..], b"text");
    for length in 0..header {
        let cut = Source { packed: dressed[..length].to_vec().into(), codec: Codec::Gzip };
        assert!(unpack(&cut, &mut Budget::new(Limits::default())).stop.is_some());
    }
    for wrong in [header + 6, dressed.len() - 1, dressed.len() - 5] {
        let mut bytes = dressed.clone();
        bytes[wrong] ^= 1;
        let damaged = Source { packed: bytes.into(), codec: Codec::Gzip };
        assert!(unpack(&damaged, &mut Budget::new(Limits::default())).stop.is_some(), "byte {wrong}");
    }
}

const WORDS: &[u8] = b"the same words, the same words, the same words";

/// The same words by every other coding.
fn others() -> Vec<(Codec, Vec<u8>)> {
    let hex = |text: &str| data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap();
    let lzma = "003a1a08ce76d976d393cee06c5c75e42bf800eb3e67b1fffffa9d5000";
    vec![
        (
            Codec::Xz,
            hex(
                "fd377a585a000004e6d6b4460200210116000000742fe5a3e0002d00175d003a1a08ce76d976d393cee06c5c75e42bf800eb32ed\
                 80000000271b09c8e4e453010001332ed4dd3b081fb6f37d010000000004595a",
            ),
        ),
        (Codec::Lzma, hex(&format!("5d00008000ffffffffffffffff{lzma}"))),
        (Codec::ZipLzma { size: u64::MAX }, hex(&format!("090405005d00008000{lzma}"))),
        (Codec::ZipLzma { size: 46 }, hex(&format!("090405005d00008000{lzma}"))),
        (Codec::Zstd, hex("28b52ffd242eb50000807468652073616d6520776f7264732c200100469c4b0128fd9b")),
        // Short matches are the same in both.
        (Codec::Deflate64, packed(Codec::Deflate, WORDS).packed.to_vec()),
    ]
}

#[test]
fn every_coding_comes_back_and_a_cut_is_noticed() {
    for (codec, packed) in others() {
        let unpacked = unpack(&Source { packed: packed.clone().into(), codec }, &mut Budget::new(Limits::default()));
        assert_eq!((&unpacked.bytes[..], &unpacked.stop), (WORDS, &None), "{codec:?}");
        for length in 0..packed.len() {
            let cut = Source { packed: packed[..length].to_vec().into(), codec };
            let unpacked = unpack(&cut, &mut Budget::new(Limits::default()));
            assert!(WORDS.starts_with(&unpacked.bytes), "{codec:?}");
            // What is cut off may be no more than the mark at the end.
            assert!(unpacked.stop.is_some() || unpacked.bytes.len() == WORDS.len(), "{codec:?} cut at {length}");
        }
    }
}

#[test]
fn what_stands_behind_a_stream_is_not_part_of_it() {
    // One of them is not told where it ends, and another reads ahead: zips say how long their members are.
    let is_exact = |codec| !matches!(codec, Codec::ZipLzma { size: 46 } | Codec::Deflate64);
    for (codec, packed) in others().into_iter().filter(|(codec, _)| is_exact(*codec)) {
        let length = packed.len() as u64;
        let behind = [&packed[..], b"<?php"].concat();
        let unpacked = unpack(&Source { packed: behind.into(), codec }, &mut Budget::new(Limits::default()));
        assert_eq!((unpacked.used, &unpacked.stop), (length, &None), "{codec:?}");
    }
}

#[test]
fn streams_and_frames_follow_each_other() {
    for codec in [Codec::Xz, Codec::Zstd, Codec::Bzip2] {
        let one = others().into_iter().find(|(known, _)| *known == codec).map(|(_, packed)| packed);
        let one = one.unwrap_or_else(|| packed(Codec::Bzip2, WORDS).packed.to_vec());
        let padding: &[u8] = match codec {
            Codec::Xz => &[0; 8],
            Codec::Zstd => b"\x50\x2a\x4d\x18\x03\0\0\0abc",
            _ => b"",
        };
        let two = Source { packed: [&one[..], padding, &one].concat().into(), codec };
        let unpacked = unpack(&two, &mut Budget::new(Limits::default()));
        assert_eq!((unpacked.bytes, unpacked.stop), ([WORDS, WORDS].concat().into(), None), "{codec:?}");
    }
}

#[test]
fn damage_and_wrong_checksums_are_noticed() {
    for (codec, packed) in others().into_iter().filter(|(codec, _)| matches!(codec, Codec::Xz | Codec::Zstd)) {
        for at in 0..packed.len() {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x10;
            let unpacked = unpack(&Source { packed: bytes.into(), codec }, &mut Budget::new(Limits::default()));
            assert!(unpacked.stop.is_some() || unpacked.bytes == WORDS, "{codec:?} byte {at}");
        }
    }
}

#[test]
fn memory_is_not_reserved_because_a_header_asks_for_it() {
    let mut budget = Budget::new(Limits::default());
    // A window of 3.75 TiB, and a dictionary of 4 GiB.
    let window = Source { packed: b"\x28\xb5\x2f\xfd\0\xff\x01\0\0".to_vec().into(), codec: Codec::Zstd };
    assert!(matches!(unpack(&window, &mut budget).stop, Some(Stop::Malformed { .. })));
    let dictionary = Source {
        packed: b"\x5d\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0".to_vec().into(),
        codec: Codec::Lzma,
    };
    assert!(matches!(unpack(&dictionary, &mut budget).stop, Some(Stop::Malformed { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn comes_back_as_it_went_in(plain in proptest::collection::vec(any::<u8>(), 0..3_000), repeat in 1_usize..20) {
        let plain = plain.repeat(repeat);
        for codec in PACKED {
            let source = packed(codec, &plain);
            let unpacked = unpack(&source, &mut Budget::new(Limits::default()));
            prop_assert_eq!(unpacked.stop, None);
            prop_assert_eq!(unpacked.used, source.packed.len() as u64);
            prop_assert_eq!(&unpacked.bytes[..], &plain[..]);
        }
    }

    #[test]
    fn noise_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..500)) {
        for codec in PACKED.into_iter().chain(others().into_iter().map(|(codec, _)| codec)) {
            let unpacked = unpack(&Source { packed: noise.clone().into(), codec }, &mut Budget::new(Limits::default()));
            prop_assert!(unpacked.used <= noise.len() as u64);
        }
    }
}
