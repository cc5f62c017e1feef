//! Programs.

use super::{super::peek::Peek, Proof, holds};
use crate::sniff::peek::is_binary;

pub(super) const PROOFS: &[Proof] = &[
    // gABI chapter 4: class and data encoding.
    ("elf", |b| b.has(0, b"\x7fELF") && holds(b.u8(4), |class| class <= 2) && holds(b.u8(5), |order| order <= 2)),
    ("pe", is_pe),
    ("macho", is_macho),
    // JVM specification 4.1: the major version is 45 or more; a fat Mach-O counts architectures there.
    ("class", |b| b.has(0, b"\xca\xfe\xba\xbe") && holds(b.u16_be(6), |major| (43..=200).contains(&major))),
    ("dex", |b| {
        (b.has(0, b"dex\n") || b.has(0, b"dey\n") || b.has(0, b"cdex"))
            && holds(b.slice(4, 3), |version| version.iter().all(u8::is_ascii_digit))
            && holds(b.u8(7), |end| end == 0)
    }),
    ("wasm", |b| b.has(0, b"\0asm") && holds(b.u8(4), |version| version < 0x20)),
    ("swf", is_swf),
    // MS-SHLLINK 2.1: header size and the start of the class identifier.
    ("lnk", |b| b.has(0, b"\x4c\0\0\0\x01\x14\x02\0")),
    ("pyc", is_pyc),
    // The version in two halves: 5.0 to what comes.
    ("luac", |b| b.has(0, b"\x1bLua") && holds(b.u8(4), |version| (0x40..=0x6f).contains(&version))),
    ("chm", |b| b.has(0, b"ITSF") && holds(b.u32_le(4), |version| (1..=4).contains(&version))),
    ("crx", |b| b.has(0, b"Cr24") && holds(b.u32_le(4), |version| (2..=3).contains(&version))),
    // MS-ONESTORE 2.3.1: the class of notebooks' sections and of their tables of contents.
    ("onenote", |b| {
        b.has(0, b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3")
            || b.has(0, b"\xa1\x2f\xff\x43\xd9\xef\x76\x4c\x9e\xe2\x10\xea\x57\x22\x76\x5f")
    }),
    // A footer of that kind stands at the front too, of a dynamic disk.
    ("diskimage", |b| b.has(0, b"conectix\0\0\0")),
    ("diskimage", |b| b.has(0, b"vhdxfile") && holds(b.u8(9), |low| low == 0)),
    ("diskimage", |b| b.has(0, b"KDMV") && holds(b.u32_le(4), |version| (1..=3).contains(&version))),
    ("diskimage", |b| b.has(0, b"QFI\xfb")),
    ("diskimage", |b| b.has(0x40, b"\x7f\x10\xda\xbe")),
];

pub(super) const LAST_PROOFS: &[Proof] = &[
    // Images that say what they are in their last 512 bytes: of macOS, and disks of fixed size.
    ("diskimage", |b| {
        let footer = b.len().saturating_sub(512);
        b.len() >= 512 && (b.has(footer, b"koly\0\0\0") || b.has(footer, b"conectix\0\0\0"))
    }),
];

/// "MZ" alone is two letters: the PE signature where the header says, or fields of a DOS header that make sense.
fn is_pe(b: Peek<'_>) -> bool {
    if !(b.has(0, b"MZ") || b.has(0, b"ZM")) {
        return false;
    }
    if let Some(at) = b.index_le(0x3c)
        && (b.has(at, b"PE\0\0") || b.has(at, b"NE") || b.has(at, b"LE") || b.has(at, b"LX"))
    {
        return true;
    }
    b.head(64).iter().copied().any(is_binary)
        && holds(b.u16_le(2), |in_last_page| in_last_page <= 512)
        && holds(b.u16_le(8), |paragraphs| (2..=4096).contains(&paragraphs) || paragraphs == 0)
        && b.len() >= 8
}

/// Mach-O loader.h: thin files have a known processor and file type, fat ones few architectures.
fn is_macho(b: Peek<'_>) -> bool {
    let thin = |kind: Option<u32>, processor: Option<u32>| {
        holds(kind, |kind| (1..=16).contains(&kind)) && holds(processor, |processor| processor & 0x00ff_ffff <= 0x20)
    };
    if b.has(0, b"\xce\xfa\xed\xfe") || b.has(0, b"\xcf\xfa\xed\xfe") {
        return thin(b.u32_le(12), b.u32_le(4));
    }
    if b.has(0, b"\xfe\xed\xfa\xce") || b.has(0, b"\xfe\xed\xfa\xcf") {
        return thin(b.u32_be(12), b.u32_be(4));
    }
    if b.has(0, b"\xca\xfe\xba\xbe") || b.has(0, b"\xca\xfe\xba\xbf") {
        return b.u32_be(4).is_some_and(|count| (1..43).contains(&count));
    }
    (b.has(0, b"\xbe\xba\xfe\xca") || b.has(0, b"\xbf\xba\xfe\xca"))
        && b.u32_le(4).is_some_and(|count| (1..43).contains(&count))
}

/// SWF specification chapter 2: version and a length below 512 MiB, which no four letters are.
fn is_swf(b: Peek<'_>) -> bool {
    (b.has(0, b"FWS") || b.has(0, b"CWS") || b.has(0, b"ZWS"))
        && b.u8(3).is_some_and(|version| (1..=60).contains(&version))
        && holds(b.u32_le(4), |length| (8..0x2000_0000).contains(&length))
}

/// `CPython`'s magic number, "\r\n", then flags (PEP 552) and a marshalled code object at 8, 12 or 16.
fn is_pyc(b: Peek<'_>) -> bool {
    let (Some(magic), true) = (b.u16_le(0), b.has(2, b"\r\n")) else { return false };
    let code = |at: usize| holds(b.u8(at), |kind| kind & 0x7f == b'c');
    match magic {
        // 3.7 to what the next decade brings; magic numbers grow by 50 a release.
        3390..=4200 => holds(b.u32_le(4), |flags| flags <= 3) && code(16),
        3230..=3389 => code(12),
        3000..=3229 | 20121 | 50428 | 50823 | 60202 | 60717 | 62011..=62218 => code(8) || code(12),
        _ => false,
    }
}
