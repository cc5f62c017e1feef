//! Pictures.

use super::{super::peek::Peek, Proof, holds};
use crate::sniff::peek::is_binary;

pub(super) const PROOFS: &[Proof] = &[
    ("png", is_png),
    // ITU T.81 annex B: SOI and the start of the next marker.
    ("jpeg", |b| b.has(0, b"\xff\xd8\xff") && holds(b.u8(3), |marker| marker >= 0xc0 || marker == 0xff)),
    ("gif", is_gif),
    ("webp", |b| b.has(0, b"RIFF") && b.has(8, b"WEBP")),
    // Adobe Photoshop file formats: version 1, or 2 for large documents; six reserved zeros.
    ("psd", |b| b.has(0, b"8BPS\0") && holds(b.u8(5), |version| version == 1 || version == 2)),
    // ISO 18181-2: the container; the bare code stream is a weak signature, below.
    ("jxl", |b| b.has(0, b"\0\0\0\x0cJXL \r\n\x87\n")),
    ("jp2", |b| b.has(0, b"\0\0\0\x0cjP  \r\n\x87\n") || b.has(0, b"\xff\x4f\xff\x51")),
    // OpenEXR: magic, then version 2.
    ("exr", |b| b.has(0, b"\x76\x2f\x31\x01") && holds(b.u8(4), |version| version <= 2)),
    ("dds", |b| b.has(0, b"DDS \x7c\0\0\0")),
    ("tiff", is_tiff),
    ("bmp", is_bmp),
    ("icns", |b| b.has(0, b"icns") && holds(b.u32_be(4), |size| (8..0x1000_0000).contains(&size))),
    ("qoi", is_qoi),
];

/// Short signatures.
pub(super) const WEAK_PROOFS: &[Proof] = &[
    ("ico", |b| b.has(0, b"\0\0\x01\0") && is_directory(b)),
    ("cur", |b| b.has(0, b"\0\0\x02\0") && is_directory(b)),
    // ISO 18181-1: a bare code stream. Two bytes prove little: the rest must not be text.
    ("jxl", |b| b.has(0, b"\xff\x0a") && b.len() >= 4 && b.head(64).iter().copied().any(is_binary)),
    ("netpbm", is_netpbm),
];

/// No signature at all.
pub(super) const LAST_PROOFS: &[Proof] = &[("tga", is_tga)];

/// PNG specification, section 5.2. The signature is made to break where line ends are rewritten or a bit is dropped: the
/// header behind it, of a length all its own, proves the picture all the same.
fn is_png(b: Peek<'_>) -> bool {
    b.has(0, b"\x89PNG\r\n\x1a\n") || (5..=11).any(|at| b.has(at, b"\0\0\0\x0dIHDR"))
}

/// `GIF89a` specification, section 18. Text that begins with the six letters has a screen of thousands of letters'
/// width and never a block; it is a picture to browsers all the same, so a tag or an operator right behind counts.
fn is_gif(b: Peek<'_>) -> bool {
    let hostile = b.u8(6).is_some_and(|next| b"<=/*;(".contains(&next));
    (b.has(0, b"GIF89a") || b.has(0, b"GIF87a"))
        && (b.len() <= 13 || hostile || b.head(1024).iter().copied().any(is_binary))
}

/// TIFF 6.0 section 2 and `BigTIFF`: byte order, version, and an offset that lies behind the header.
fn is_tiff(b: Peek<'_>) -> bool {
    ((b.has(0, b"II*\0") || b.has(0, b"IIRO") || b.has(0, b"IIU\0")) && holds(b.u32_le(4), |at| at >= 8))
        || (b.has(0, b"MM\0*") && holds(b.u32_be(4), |at| at >= 8))
        || b.has(0, b"II+\0\x08\0")
        || b.has(0, b"MM\0+\0\x08")
}

/// The size of the second header, of which there are nine, is what tells a picture from a sentence.
fn is_bmp(b: Peek<'_>) -> bool {
    b.has(0, b"BM")
        && holds(b.u32_le(14), |size| matches!(size, 12 | 16 | 40 | 52 | 56 | 64 | 108 | 124))
        && holds(b.u32_le(10), |at| at < 0x0100_0000)
        && b.len() >= 6
        && b.head(32).iter().copied().any(is_binary)
}

/// QOI specification: width, height, channels, colour space.
fn is_qoi(b: Peek<'_>) -> bool {
    b.has(0, b"qoif")
        && holds(b.u8(12), |channels| channels == 3 || channels == 4)
        && holds(b.u8(13), |space| space <= 1)
        && holds(b.u32_be(4), |width| width > 0 && width < 0x2000_0000)
}

/// An ICO or CUR directory. An empty one is only believed when nothing follows: the same bytes begin a TGA.
fn is_directory(b: Peek<'_>) -> bool {
    let Some(count) = b.u16_le(4) else { return false };
    if count == 0 {
        return b.len() == 6;
    }
    let directory = u32::from(count).saturating_mul(16).saturating_add(6);
    count <= 512
        && holds(b.u32_le(14), |size| size > 0)
        && holds(b.u32_le(18), |at| at >= directory || at >= 22)
        && (b.u8(9) == Some(0) || b.u8(9) == Some(0xff) || b.u8(9).is_none())
}

/// Netpbm: `P1` to `P7`, then numbers with white space and comments between; PFM: `PF` and a line end.
fn is_netpbm(b: Peek<'_>) -> bool {
    if b.has(0, b"P7\nWIDTH") || b.has(0, b"P7\n#") || b.has(0, b"PF\n") || b.has(0, b"Pf\n") {
        return true;
    }
    let (Some(b'P'), Some(kind @ b'1'..=b'6'), Some(b' ' | b'\n' | b'\r' | b'\t')) = (b.u8(0), b.u8(1), b.u8(2)) else {
        return false;
    };
    let mut numbers = 0_u8;
    let mut rest = b.head(1024).get(2..).unwrap_or_default();
    while let Some((&first, after)) = rest.split_first() {
        match first {
            b' ' | b'\n' | b'\r' | b'\t' => rest = after,
            b'#' => rest = memchr::memchr(b'\n', after).and_then(|end| after.get(end..)).unwrap_or_default(),
            b'0'..=b'9' => {
                numbers = numbers.saturating_add(1);
                let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
            }
            _ => break,
        }
    }
    // The plain kinds must end the header's line: "P1 5 10 is nothing".
    let wanted = if kind == b'1' || kind == b'4' { 2 } else { 3 };
    numbers >= wanted && (kind >= b'4' || numbers > wanted || rest.is_empty())
}

/// Truevision TGA: every field of the 18 byte header in its range, and either the footer of version 2 or as many bytes
/// as the pixels need.
fn is_tga(b: Peek<'_>) -> bool {
    let Some(&[id, has_map, kind, m0, m1, n0, n1, map_bits, _, _, _, _, w0, w1, h0, h1, depth, flags]) = b.slice(0, 18)
    else {
        return false;
    };
    let width = usize::from(u16::from_le_bytes([w0, w1]));
    let height = usize::from(u16::from_le_bytes([h0, h1]));
    let mapped = usize::from(u16::from_le_bytes([n0, n1]));
    let colours = matches!(kind & 7, 1..=3) && kind & !0x0b == 0;
    let depths = matches!(depth, 8 | 15 | 16 | 24 | 32) && flags & 0xc0 == 0;
    let map = match has_map {
        0 => kind & 7 != 1,
        1 => matches!(map_bits, 15 | 16 | 24 | 32) && u16::from_le_bytes([m0, m1]) < 4096,
        _ => false,
    };
    if !(colours && depths && map && width > 0 && height > 0) {
        return false;
    }
    if b.tail(18) == b"TRUEVISION-XFILE.\0" {
        return true;
    }
    let map_bytes = if has_map == 1 { mapped.saturating_mul(usize::from(map_bits).div_ceil(8)) } else { 0 };
    let before = 18_usize.saturating_add(usize::from(id)).saturating_add(map_bytes);
    let pixels = width.saturating_mul(height).saturating_mul(usize::from(depth).div_ceil(8));
    let there = b.len().saturating_sub(before);
    if kind < 8 {
        there >= pixels && there <= pixels.saturating_add(4096).saturating_add(pixels / 2)
    } else {
        // A run packet holds at most 128 pixels.
        there >= pixels / 128 && there <= pixels.saturating_add(pixels / 64).saturating_add(4096)
    }
}
