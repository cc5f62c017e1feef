//! Sound, film and fonts.

use super::{super::peek::Peek, Proof, holds};
use crate::sniff::peek::{find, is_binary};

pub(super) const PROOFS: &[Proof] = &[
    ("wav", |b| (b.has(0, b"RIFF") || b.has(0, b"RF64") || b.has(0, b"RIFX")) && b.has(8, b"WAVE")),
    ("avi", |b| b.has(0, b"RIFF") && b.has(8, b"AVI ")),
    ("midi", |b| b.has(0, b"MThd\0\0\0\x06") || (b.has(0, b"RIFF") && b.has(8, b"RMID"))),
    ("aiff", |b| b.has(0, b"FORM") && (b.has(8, b"AIFF") || b.has(8, b"AIFC"))),
    // The first block is STREAMINFO, of 34 bytes.
    ("flac", |b| b.has(0, b"fLaC") && holds(b.u8(4), |kind| kind & 0x7f == 0) && holds(b.u8(7), |length| length == 34)),
    ("ogg", |b| b.has(0, b"OggS\0")),
    ("asf", |b| b.has(0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11")),
    ("flv", |b| b.has(0, b"FLV\x01") && holds(b.u8(4), |flags| flags & 0xfa == 0)),
    ("au", |b| {
        b.has(0, b".snd")
            && holds(b.u32_be(4), |at| (24..0x10_0000).contains(&at))
            && holds(b.u32_be(12), |encoding| (1..=27).contains(&encoding))
    }),
    ("mpeg", |b| b.has(0, b"\0\0\x01\xba") || b.has(0, b"\0\0\x01\xb3") || b.has(0, b"\0\0\x01\xb0")),
    // OpenType: a table directory of plausible size whose first tag is printable.
    ("ttf", |b| is_font(b, b"\0\x01\0\0") || is_font(b, b"true")),
    ("otf", |b| is_font(b, b"OTTO")),
    ("ttc", |b| b.has(0, b"ttcf") && (b.has(4, b"\0\x01\0\0") || b.has(4, b"\0\x02\0\0") || b.len() < 8)),
    ("woff", |b| is_woff(b, b"wOFF")),
    ("woff2", |b| is_woff(b, b"wOF2")),
    // ID3v2.4 section 3.1: versions below 0xff, a length in seven bit bytes.
    ("mp3", |b| {
        b.has(0, b"ID3")
            && holds(b.u8(3), |major| major < 16)
            && holds(b.slice(6, 4), |length| length.iter().all(|byte| *byte < 0x80))
    }),
    ("aac", |b| b.has(0, b"ADIF") && b.head(64).iter().copied().any(is_binary)),
    ("aac", |b| is_framed(b, adts_frame)),
    // 0xfffe is a byte order mark far more often than MPEG-1 layer I.
    ("mp3", |b| !b.has(0, b"\xff\xfe") && is_framed(b, mpeg_frame)),
];

pub(super) const LAST_PROOFS: &[Proof] = &[("mpegts", is_transport_stream), ("mp3", is_framed_later)];

/// ISO base media: the brand in `ftyp`, or the boxes with which old `QuickTime` files begin.
pub(super) fn boxed(b: Peek<'_>) -> Option<&'static str> {
    let size = b.index_be(0)?;
    if !b.has(4, b"ftyp") {
        let old = [&b"moov"[..], b"mdat", b"wide", b"pnot", b"free", b"skip"].iter().any(|name| b.has(4, name));
        let inner = b.has(4, b"moov") || b.has(12, b"mdat") || b.has(12, b"moov") || b.has(4, b"mdat");
        let next = size.saturating_add(4);
        let chained = [&b"moov"[..], b"mdat", b"wide", b"free", b"skip"].iter().any(|name| b.has(next, name));
        return (old && (inner || chained) && (size >= 8 || size <= 1)).then_some("mov");
    }
    // A box of text letters' length is a sentence.
    if !(8..0x0010_0000).contains(&size) && size != 0 {
        return None;
    }
    let compatible = b.head(size.min(1024)).get(16..).unwrap_or_default();
    let has = |brand: &[u8]| compatible.chunks_exact(4).any(|found| found == brand);
    Some(match b.slice(8, 4).unwrap_or_default() {
        b"avif" | b"avis" => "avif",
        b"heic" | b"heix" | b"hevc" | b"hevx" | b"heim" | b"heis" | b"hevm" | b"hevs" => "heic",
        b"mif1" | b"msf1" | b"mif2" if has(b"avif") || has(b"avis") => "avif",
        b"mif1" | b"msf1" | b"mif2" => "heic",
        b"M4A " | b"M4B " | b"M4P " => "m4a",
        b"qt  " => "mov",
        b"jp2 " | b"jpx " | b"jpm " | b"mj2s" | b"mjp2" => "jp2",
        [b'3', b'g', ..] => "3gp",
        [b'3', b'G', ..] => "3gp",
        _ => "mp4",
    })
}

/// Matroska: the document type in the EBML header. Cut before it, a reader of the header's fields still knows the
/// family: `webm` writers declare it with `DocType` (0x4282).
pub(super) fn ebml(b: Peek<'_>) -> Option<&'static str> {
    if !b.has(0, b"\x1a\x45\xdf\xa3") {
        return None;
    }
    let head = b.head(64);
    if find(head, b"webm").is_some() {
        return Some("webm");
    }
    if find(head, b"matroska").is_some() || find(head, b"\x42\x82\x88").is_some() {
        return Some("mkv");
    }
    // Without a document type in sight: of the two, the commoner on the web.
    Some("webm")
}

fn is_font(b: Peek<'_>, version: &[u8]) -> bool {
    b.has(0, version)
        && holds(b.u16_be(4), |tables| (1..=256).contains(&tables))
        && holds(b.slice(12, 4), |tag| tag.iter().all(|byte| matches!(byte, b' '..=b'~')))
        && b.len() >= 6
}

/// WOFF 1.0 and 2.0: the flavour of the font inside.
fn is_woff(b: Peek<'_>, signature: &[u8]) -> bool {
    let flavours = [&b"\0\x01\0\0"[..], b"OTTO", b"true", b"ttcf", b"typ1"];
    b.has(0, signature) && (b.len() < 8 || flavours.iter().any(|flavour| b.has(4, flavour)))
}

/// One frame after the other: a second header where the first says, unless the bytes end before it.
fn is_framed(b: Peek<'_>, frame: fn(Peek<'_>, usize) -> Option<usize>) -> bool {
    let Some(first) = frame(b, 0) else { return false };
    // A lone header at the end of a file that is cut there.
    first > 4 && (frame(b, first).is_some() || (b.len() >= 4 && b.len() <= first))
}

/// Players look for frames behind junk: three in a row, near the start, are no accident.
fn is_framed_later(b: Peek<'_>) -> bool {
    let mut from = 0;
    while let Some(at) = memchr::memchr(0xff, b.head(2048).get(from..).unwrap_or_default()) {
        let at = at.saturating_add(from);
        let mut next = at;
        let mut frames = 0_u8;
        while let Some(size) = mpeg_frame(b, next) {
            frames = frames.saturating_add(1);
            next = next.saturating_add(size.max(4));
            if frames >= 3 {
                return true;
            }
        }
        from = at.saturating_add(1);
    }
    false
}

/// ISO 13818-7 ADTS: sync, layer 0, a sampling frequency that exists, the frame's length.
fn adts_frame(b: Peek<'_>, at: usize) -> Option<usize> {
    let &[sync, flags, profile, l0, l1, l2, _] = b.slice(at, 7)? else { return None };
    if sync != 0xff || flags & 0xf6 != 0xf0 || (profile >> 2) & 0x0f > 12 {
        return None;
    }
    let length = (usize::from(l0 & 3) << 11) | (usize::from(l1) << 3) | usize::from(l2 >> 5);
    (length >= 7).then_some(length)
}

/// ISO 11172-3 and 13818-3: the length of the frame whose header stands there.
fn mpeg_frame(b: Peek<'_>, at: usize) -> Option<usize> {
    const KBITS: [[usize; 16]; 5] = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 0],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 0],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
    ];
    let &[sync, version_layer, rates, _] = b.slice(at, 4)? else { return None };
    let version = (version_layer >> 3) & 3;
    let layer = (version_layer >> 1) & 3;
    if sync != 0xff || version_layer & 0xe0 != 0xe0 || version == 1 || layer == 0 {
        return None;
    }
    let mpeg1 = version == 3;
    let row = match (mpeg1, layer) {
        (true, 3) => 0,
        (true, 2) => 1,
        (true, _) => 2,
        (false, 3) => 3,
        (false, _) => 4,
    };
    let kbits = *KBITS.get(row)?.get(usize::from(rates >> 4))?;
    let hertz = *[44_100_usize, 48_000, 32_000].get(usize::from((rates >> 2) & 3))?;
    let hertz = match version {
        3 => hertz,
        2 => hertz / 2,
        _ => hertz / 4,
    };
    let padding = usize::from((rates >> 1) & 1);
    if kbits == 0 {
        return None;
    }
    let bits = kbits.saturating_mul(1000);
    let (scale, unit) = match (layer, mpeg1) {
        (3, _) => (12_usize, 4),
        (1, false) => (72, 1),
        _ => (144, 1),
    };
    bits.saturating_mul(scale).checked_div(hertz)?.checked_add(padding)?.checked_mul(unit)
}

/// ISO 13818-1: a packet of 188 bytes begins with 0x47; Blu-ray puts four bytes before each.
fn is_transport_stream(b: Peek<'_>) -> bool {
    let packets = |start: usize, size: usize| {
        let mut at = start;
        let mut seen = 0_u8;
        while at < b.len() && seen < 8 {
            if b.u8(at) != Some(0x47) {
                return false;
            }
            seen = seen.saturating_add(1);
            at = at.saturating_add(size);
        }
        seen >= 2
    };
    (packets(0, 188) || packets(4, 192)) && b.head(188).iter().copied().any(is_binary)
}
