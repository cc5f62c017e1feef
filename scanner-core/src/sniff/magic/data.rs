//! Columns, arrays, models, databases, documents of streams.

use super::{super::peek::Peek, Proof, holds};
use crate::{
    inflate,
    sniff::peek::{find, is_binary},
};

pub(super) const PROOFS: &[Proof] = &[
    // Word takes this much for its own, and whoever hides an object writes no more. Raw data may stand in it.
    ("rtf", |b| b.has(0, b"{\\rt")),
    ("npy", |b| b.has(0, b"\x93NUMPY") && holds(b.u8(6), |major| (1..=3).contains(&major))),
    // Encapsulated PostScript with a preview (EPSF 3.0, section 5.2), and what printers are sent.
    ("ps", |b| b.has(0, b"\xc5\xd0\xd3\xc6") || b.has(0, b"\x04%!PS")),
    ("sqlite", |b| b.has(0, b"SQLite format 3\0")),
    ("hdf5", is_hdf5),
    ("mat", |b| {
        b.has(0, b"MATLAB 5.0 MAT-file")
            && if b.len() < 128 {
                b.has(19, b",") || b.has(19, b" Platform")
            } else {
                b.has(126, b"IM") || b.has(126, b"MI")
            }
    }),
    ("arrow", |b| b.has(0, b"ARROW1\0\0")),
    ("parquet", |b| (b.has(0, b"PAR1") || b.has(0, b"PARE")) && has_end(b, b"PAR1", b"PARE")),
    ("feather1", |b| b.has(0, b"FEA1") && has_end(b, b"FEA1", b"FEA1")),
    ("avro", |b| b.has(0, b"Obj\x01")),
    // Tables of other programs: ORC names itself at both ends, with the length of its last part behind the second.
    ("orc", |b| b.has(0, b"ORC") && b.tail(4).starts_with(b"ORC")),
    ("netcdf", |b| b.has(0, b"CDF") && holds(b.u8(3), |version| matches!(version, 1 | 2 | 5))),
    ("stata", is_stata),
    ("spss", |b| b.has(0, b"$FL2@(#)") || b.has(0, b"$FL3@(#)")),
    ("xport", |b| b.has(0, b"HEADER RECORD*******LIB")),
    ("gguf", |b| b.has(0, b"GGUF") && holds(b.u32_le(4), |version| version <= 16 || version.swap_bytes() <= 16)),
    ("bplist", |b| {
        b.has(0, b"bplist")
            && holds(b.u8(6), |major| major.is_ascii_digit())
            && holds(b.u8(7), |minor| minor.is_ascii_digit())
            && (b.len() <= 8 || b.head(4096).iter().copied().any(is_binary))
    }),
    ("pcap", is_pcap),
    ("safetensors", is_safetensors),
    ("arrowstream", is_arrow_stream),
    // Excel before OLE: BOF records of versions 2 to 4 with their lengths.
    ("xls", |b| b.has(0, b"\x09\x00\x04\x00") || b.has(0, b"\x09\x02\x06\x00") || b.has(0, b"\x09\x04\x06\x00")),
    // Word 2 and before.
    ("doc", |b| b.has(0, b"\xdb\xa5\x2d\x00") || b.has(0, b"\x31\xbe\x00\x00")),
];

pub(super) const LAST_PROOFS: &[Proof] = &[("mat", is_mat4), ("zlib", |b| inflate::begins_zlib(b.head(ZLIB_HEAD)))];

/// What is unpacked of a stream without a signature, to prove it.
const ZLIB_HEAD: usize = 1024;

/// A file of columns names itself at both ends. Cut, it must at least not read as text.
fn has_end(b: Peek<'_>, one: &[u8], other: &[u8]) -> bool {
    let tail = b.tail(4);
    (b.len() >= 12 && (tail == one || tail == other)) || b.from(4).iter().take(64).copied().any(is_binary)
}

/// Stata: since release 117 in elements, before that a release, an order of bytes and a kind.
fn is_stata(b: Peek<'_>) -> bool {
    let is_old = holds(b.u8(0), |release| matches!(release, 104..=115))
        && holds(b.u8(1), |order| matches!(order, 1 | 2))
        && b.has(2, b"\x01\0")
        && b.len() > 109;
    is_old || b.has(0, b"<stata_dta><header>")
}

/// HDF5 file format, section II.A: the superblock is at 0, 512, 1024, 2048 and so on. Doubling keeps this short.
fn is_hdf5(b: Peek<'_>) -> bool {
    let mut at = 0_usize;
    while at < b.len() {
        if b.has(at, b"\x89HDF\r\n\x1a\n") {
            return true;
        }
        at = if at == 0 { 512 } else { at.saturating_mul(2) };
    }
    false
}

/// The libpcap format with its version, or the section header of pcapng with its byte order magic.
fn is_pcap(b: Peek<'_>) -> bool {
    let little = b.has(0, b"\xd4\xc3\xb2\xa1") || b.has(0, b"\x4d\x3c\xb2\xa1");
    let big = b.has(0, b"\xa1\xb2\xc3\xd4") || b.has(0, b"\xa1\xb2\x3c\x4d");
    (little && holds(b.u16_le(4), |major| major == 2))
        || (big && holds(b.u16_be(4), |major| major == 2))
        || (b.has(0, b"\n\r\r\n") && (b.has(8, b"\x1a\x2b\x3c\x4d") || b.has(8, b"\x4d\x3c\x2b\x1a")))
}

/// Safetensors: the length of a JSON object whose tensors have a `dtype`.
fn is_safetensors(b: Peek<'_>) -> bool {
    let Some(length) = b.u64_le(0) else { return false };
    if !(2..100_000_000).contains(&length) || !b.has(8, b"{") {
        return false;
    }
    let header = b.head(4096).get(8..).unwrap_or_default();
    let header = usize::try_from(length).ok().and_then(|length| header.get(..length)).unwrap_or(header);
    find(header, b"\"dtype\"").is_some()
        || find(header, b"\"__metadata__\"").is_some()
        || header.trim_ascii_end() == b"{}"
}

/// Arrow IPC, encapsulated message: continuation, length, and a flatbuffer whose root offset lies inside it. Streams
/// of before 0.15 have no continuation.
fn is_arrow_stream(b: Peek<'_>) -> bool {
    let at = if b.has(0, b"\xff\xff\xff\xff") { 4 } else { 0 };
    let (Some(length), Some(root)) = (b.index_le(at), b.index_le(at.saturating_add(4))) else { return false };
    let table = at.saturating_add(4).saturating_add(root);
    let (Some(back), true) = (b.u32_le(table), length.is_multiple_of(8) && (16..0x0100_0000).contains(&length)) else {
        return false;
    };
    // The table's vtable lies before it, both inside the message; a message table has four or five fields.
    let back = usize::try_from(back).unwrap_or(usize::MAX);
    let Some(vtable) = table.checked_sub(back) else { return false };
    let strict = at == 4 || root >= 12;
    root < length
        && root >= 8
        && vtable >= at
        && strict
        && b.u16_le(vtable).is_some_and(|size| (6..=20).contains(&size) && size % 2 == 0)
}

/// MAT-file level 4: type digits, rows, columns, imaginary flag, length of a name that ends in NUL.
fn is_mat4(b: Peek<'_>) -> bool {
    let (Some(kind), Some(rows), Some(columns), Some(imaginary), Some(length)) =
        (b.u32_le(0), b.u32_le(4), b.u32_le(8), b.u32_le(12), b.index_le(16))
    else {
        return false;
    };
    let kinds = kind <= 52 && kind % 10 <= 2 && (kind / 10) % 10 <= 5;
    kinds
        && imaginary <= 1
        && rows > 0
        && columns > 0
        && rows < 1 << 24
        && columns < 1 << 24
        && (2..=64).contains(&length)
        && b.slice(20, length).is_some_and(|name| {
            name.split_last().is_some_and(|(end, name)| {
                *end == 0 && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            })
        })
}
