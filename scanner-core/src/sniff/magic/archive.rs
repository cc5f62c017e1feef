//! Archives and compressed data. Zip has a file of its own.

use super::{super::peek::Peek, Proof, holds};

pub(super) const PROOFS: &[Proof] = &[
    // RFC 1952: method 8; the three highest flags are reserved.
    ("gzip", |b| b.has(0, b"\x1f\x8b\x08") && holds(b.u8(3), |flags| flags & 0xe0 == 0)),
    // A block's or the stream's end's 48 bit magic follows the level.
    ("bzip2", |b| {
        b.has(0, b"BZh")
            && holds(b.u8(3), |level| level.is_ascii_digit() && level != b'0')
            && (b.has(4, b"\x31\x41\x59\x26\x53\x59") || b.has(4, b"\x17\x72\x45\x38\x50\x90") || b.len() < 10)
    }),
    ("xz", |b| b.has(0, b"\xfd7zXZ\0")),
    // RFC 8878: the reserved bit of the frame header; a skippable frame counts when a frame follows it.
    ("zstd", |b| b.has(0, b"\x28\xb5\x2f\xfd") && holds(b.u8(4), |descriptor| descriptor & 0x08 == 0)),
    ("lz4", |b| b.has(0, b"\x04\x22\x4d\x18") && holds(b.u8(4), |flags| flags & 0xc0 == 0x40)),
    ("lz4", |b| b.has(0, b"\x02\x21\x4c\x18")),
    ("zstd", |b| follows_skippable(b, b"\x28\xb5\x2f\xfd")),
    ("lz4", |b| follows_skippable(b, b"\x04\x22\x4d\x18")),
    ("7z", |b| b.has(0, b"7z\xbc\xaf\x27\x1c")),
    ("rar", |b| b.has(0, b"Rar!\x1a\x07\x00") || b.has(0, b"Rar!\x1a\x07\x01") || b.has(0, b"RE~^")),
    ("cab", |b| b.has(0, b"MSCF\0\0\0\0")),
    ("ar", |b| b.has(0, b"!<arch>\n") || b.has(0, b"!<thin>\n")),
    ("rpm", |b| b.has(0, b"\xed\xab\xee\xdb")),
    ("cpio", is_cpio),
    // A wrong sum does not stop every reader.
    ("tar", |b| b.has(257, b"ustar") && (b.len() < 512 || is_summed(b) || is_octal(b.slice(100, 8)))),
    // ECMA-119 section 8: the first volume descriptors, sectors of 2048 bytes, at sector 16; raw sectors of 2352.
    ("iso", |b| [0x8001, 0x8801, 0x9001, 0x9311].iter().any(|at| b.has(*at, b"CD001"))),
    ("lzma", is_lzma),
    ("tar", |b| is_octal(b.slice(100, 8)) && is_octal(b.slice(148, 8)) && is_octal(b.slice(124, 12)) && is_summed(b)),
];

fn follows_skippable(b: Peek<'_>, magic: &[u8]) -> bool {
    b.u8(0).is_some_and(|low| low & 0xf0 == 0x50)
        && b.has(1, b"\x2a\x4d\x18")
        && b.index_le(4).is_some_and(|size| b.has(size.saturating_add(8), magic) || b.len() < size.saturating_add(12))
        && (b.index_le(4).is_some_and(|size| b.has(size.saturating_add(8), magic)) || magic.starts_with(b"\x28"))
}

/// cpio(5): the ASCII headers are octal or hexadecimal numbers; the binary one carries a name of plausible length.
fn is_cpio(b: Peek<'_>) -> bool {
    let digits = |count: usize, test: fn(&u8) -> bool| {
        let fields = b.from(6).get(..count).unwrap_or(b.from(6));
        // A number of six digits alone is no header.
        fields.len() >= 24 && fields.iter().all(test)
    };
    if b.has(0, b"070707") {
        return digits(70, |byte| matches!(byte, b'0'..=b'7'));
    }
    if b.has(0, b"070701") || b.has(0, b"070702") {
        return digits(104, u8::is_ascii_hexdigit);
    }
    let name = if b.has(0, b"\xc7\x71") {
        b.u16_le(20)
    } else if b.has(0, b"\x71\xc7") {
        b.u16_be(20)
    } else {
        return false;
    };
    let Some(length @ 2..=1024) = name.map(usize::from) else { return false };
    b.slice(26, length).is_some_and(|name| {
        name.split_last().is_some_and(|(end, name)| *end == 0 && !name.iter().any(|byte| *byte < b' '))
    })
}

fn is_octal(field: Option<&[u8]>) -> bool {
    field.is_some_and(|field| {
        field.iter().any(u8::is_ascii_digit) && field.iter().all(|byte| matches!(byte, b'0'..=b'7' | b' ' | 0))
    })
}

/// POSIX ustar: the checksum is the sum of the header with its own field as spaces; old writers summed signed bytes.
fn is_summed(b: Peek<'_>) -> bool {
    let (Some(header), Some(field)) = (b.slice(0, 512), b.slice(148, 8)) else { return false };
    let mut want = 0_i32;
    for digit in field.iter().filter(|byte| byte.is_ascii_digit()) {
        want = want.saturating_mul(8).saturating_add(i32::from(digit.saturating_sub(b'0')));
    }
    let (mut unsigned, mut signed) = (0_i32, 0_i32);
    for (at, byte) in header.iter().enumerate() {
        let byte = if (148..156).contains(&at) { b' ' } else { *byte };
        unsigned = unsigned.saturating_add(i32::from(byte));
        signed = signed.saturating_add(i32::from(byte.cast_signed()));
    }
    want > 0 && (want == unsigned || want == signed)
}

/// The LZMA SDK's "alone" header: properties, a dictionary of 2^n or 2^n + 2^(n-1), a length or none, and the first
/// byte of the range coder, which is zero.
fn is_lzma(b: Peek<'_>) -> bool {
    let (Some(properties), Some(dictionary), Some(size)) = (b.u8(0), b.u32_le(1), b.u64_le(5)) else { return false };
    let ones = dictionary.count_ones();
    let shape = ones == 1 || (ones == 2 && (dictionary & (dictionary >> 1)) != 0);
    properties < 225
        && (properties == 0x5d || size == u64::MAX)
        && dictionary >= 4096
        && shape
        && (size == u64::MAX || size < 1 << 38)
        && holds(b.u8(13), |first| first == 0)
}
