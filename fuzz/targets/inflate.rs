//! Unpacking under a budget against the plain decoders: what a plain reader gets out of packed bytes, the scanner gets
//! too, byte for byte, unless it says that a limit stopped it; and it takes nothing for whole that no reader reads.
#![no_main]

use std::io::Read;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Codec, Reason, Resource, Source, unpack_alone};
use scanner_fuzz::{held, limits, within};

/// What is asked of a plain reader; a bomb is not unpacked to its end.
const MOST: u64 = 8 << 20;

/// What a plain reader makes of the first stream, if it is whole.
fn plain(codec: u8, packed: &[u8]) -> Option<Vec<u8>> {
    fn all(reader: impl Read) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        reader.take(MOST).read_to_end(&mut out).ok()?;
        Some(out)
    }
    match codec {
        0 => all(flate2::read::GzDecoder::new(packed)),
        1 => all(flate2::read::ZlibDecoder::new(packed)),
        2 => all(flate2::read::DeflateDecoder::new(packed)),
        3 => all(bzip2::read::BzDecoder::new(packed)),
        4 => all(lzma_rust2::XzReader::new(packed, false)),
        5 => all(ruzstd::decoding::StreamingDecoder::new_with_max_window_size(packed, 64 << 20).ok()?),
        6 => all(deflate64::Deflate64Decoder::new(packed)),
        _ => all(lzma_rust2::LzmaReader::new_mem_limit(packed, 64 << 10, None).ok()?),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((how, packed)) = data.split_first() else { return };
    let number = how % 9;
    let codec = match number {
        0 => Codec::Gzip,
        1 => Codec::Zlib,
        2 => Codec::Deflate,
        3 => Codec::Bzip2,
        4 => Codec::Xz,
        5 => Codec::Zstd,
        6 => Codec::Deflate64,
        7 => Codec::Lzma,
        _ => Codec::Lz4,
    };
    let source = Source { packed: Bytes::copy_from_slice(packed), codec };
    let ours = held(|| {
        let ours = unpack_alone(&source, limits());
        let spent = ours.spent;
        (ours, spent)
    });
    within(&ours.spent, &limits());
    assert!(ours.used <= packed.len() as u64);
    assert_eq!(ours.bytes.len() as u64, ours.spent.get(Resource::UnpackedBytes), "what comes out is paid");
    let again = unpack_alone(&source, ours.spent);
    assert_eq!((&again.bytes, &again.gap), (&ours.bytes, &ours.gap), "what it spent is not what it needs");
    let is_limited = ours.gap.as_ref().is_some_and(|gap| matches!(gap.reason, Reason::Limit(_)));
    // The plain reader of LZMA takes streams that `xz` refuses as damaged: what is refused and told is not compared.
    let is_refused = number == 7 && ours.gap.is_some();
    if number == 8 || is_limited || is_refused {
        return;
    }
    // Frames that are to be skipped (RFC 8878 §3.1.2) may come first: the plain reader does not go past them.
    if codec == Codec::Zstd && packed.get(1..4) == Some(b"\x2a\x4d\x18") {
        return;
    }
    let theirs = plain(number, packed);
    match theirs {
        // The scanner goes on to further members, which a plain reader leaves.
        Some(theirs) if (theirs.len() as u64) < MOST => {
            assert!(ours.bytes.starts_with(&theirs), "{codec:?}: {} bytes of {}", ours.bytes.len(), theirs.len());
        }
        None if ours.gap.is_none() => panic!("{codec:?}: whole to the scanner, and to no reader"),
        _ => {}
    }
});
