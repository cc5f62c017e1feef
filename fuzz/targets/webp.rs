//! WebPs, whose lengths are right: chunks of a RIFF in any order, frames within frames. An order in their XMP is found, or
//! the report says that the picture is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, scan, tells};

#[derive(Arbitrary, Debug)]
enum Chunk<'a> {
    Features { flags: u8, width: u16, height: u16 },
    Lossy { width: u16, height: u16, data: &'a [u8] },
    Lossless { width: u16, height: u16, data: &'a [u8] },
    Alpha(&'a [u8]),
    Animation { colour: [u8; 4], loops: u16 },
    Frame { at: [u8; 2], size: [u8; 2], inside: Vec<Chunk<'a>> },
    Profile(&'a [u8]),
    Exif(&'a [u8]),
    Xmp(&'a str),
    Order,
    Other { kind: [u8; 4], data: &'a [u8] },
    Lie { kind: [u8; 4], length: u32, data: &'a [u8] },
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    chunks: Vec<Chunk<'a>>,
    length: Option<u32>,
    after: &'a [u8],
}

fn chunk(kind: &[u8; 4], data: &[u8], out: &mut Vec<u8>) {
    out.extend(kind);
    out.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(data);
    out.extend((data.len() % 2 == 1).then_some(0));
}

fn three(number: u16) -> [u8; 3] {
    let [low, high] = number.to_le_bytes();
    [low, high, 0]
}

impl Chunk<'_> {
    fn write(&self, depth: u8, out: &mut Vec<u8>) {
        match self {
            Self::Features { flags, width, height } => {
                let head = [&[*flags, 0, 0, 0][..], &three(width % 600), &three(height % 600)];
                chunk(b"VP8X", &head.concat(), out);
            }
            Self::Lossy { width, height, data } => {
                // RFC 6386 §9.1: a key frame of that size.
                let (width, height) = ((width % 600).to_le_bytes(), (height % 600).to_le_bytes());
                chunk(b"VP8 ", &[&b"\x10\0\0\x9d\x01\x2a"[..], &width, &height, data].concat(), out);
            }
            Self::Lossless { width, height, data } => {
                let size = u32::from(width % 600) | u32::from(height % 600) << 14;
                chunk(b"VP8L", &[&[0x2f][..], &size.to_le_bytes(), data].concat(), out);
            }
            Self::Alpha(data) => chunk(b"ALPH", data, out),
            Self::Animation { colour, loops } => chunk(b"ANIM", &[&colour[..], &loops.to_le_bytes()].concat(), out),
            Self::Frame { at: [x, y], size: [width, height], inside } => {
                let mut data = Vec::new();
                for number in [x, y, width, height] {
                    data.extend(three(u16::from(*number)));
                }
                data.extend([100, 0, 0, 0]);
                if depth < 4 {
                    inside.iter().take(6).for_each(|inner| inner.write(depth + 1, &mut data));
                }
                chunk(b"ANMF", &data, out);
            }
            Self::Profile(data) => chunk(b"ICCP", data, out),
            Self::Exif(data) => chunk(b"EXIF", &[b"II*\0\x08\0\0\0", *data].concat(), out),
            Self::Xmp(text) => chunk(b"XMP ", text.as_bytes(), out),
            Self::Order => chunk(b"XMP ", ORDER.as_bytes(), out),
            Self::Other { kind, data } => chunk(kind, data, out),
            Self::Lie { kind, length, data } => {
                out.extend(kind);
                out.extend(length.to_le_bytes());
                out.extend_from_slice(data);
            }
        }
    }
}

fuzz_target!(|made: Made<'_>| {
    let mut body = b"WEBP".to_vec();
    made.chunks.iter().take(24).for_each(|chunk| chunk.write(0, &mut body));
    let length = made.length.unwrap_or(u32::try_from(body.len()).unwrap_or(u32::MAX));
    let bytes = [&b"RIFF"[..], &length.to_le_bytes(), &body, made.after].concat();
    if bytes.len() > 64 << 10 {
        return;
    }
    let has_order = made.chunks.iter().take(24).any(|chunk| matches!(chunk, Chunk::Order));
    let input = Input::file("a.webp", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!has_order || tells(&report, "injection.") || is_warned(&report));
});
