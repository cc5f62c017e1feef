//! Streams that are packed: gzip, bzip2, xz, LZMA, Zstandard, LZ4.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset, Sum},
    },
    defect::{Kind, ORDER},
    sums::{crc32, deflate},
};

const GZIP: Kind = Kind::new("compressed", "gz", gzip).paths(&["file name of gzip"]);
const BZIP2: Kind = Kind::new("compressed", "bz2", bzip2);
const XZ: Kind = Kind::new("compressed", "xz", xz);
const LZMA: Kind = Kind::new("compressed", "lzma", lzma);
const ZSTD: Kind = Kind::new("compressed", "zst", zstd);
const LZ4: Kind = Kind::new("compressed", "lz4", lz4);

pub(super) fn make(cases: &mut Cases) {
    for kind in [GZIP, BZIP2, XZ, LZMA, ZSTD, LZ4] {
        kind.make(cases);
    }
    blocks(cases);
}

/// What every stream here unpacks to.
const WORDS: &str = "the same words, the same words\n";

/// Deflate without packing: a block of so many bytes as they are.
fn stored(b: &mut Build, content: &[u8]) {
    b.raw([1]);
    b.le("stored length", Length, 2, content.len());
    b.le("stored length turned around", Length, 2, !content.len() & 0xffff);
    b.raw(content);
}

fn gzip(b: &mut Build) {
    let content = b.says("content of gz", WORDS);
    b.part("head");
    b.raw([0x1f, 0x8b]);
    b.le("method of gzip", Choice, 1, 8);
    b.le("flags of gzip", Choice, 1, 0x1c);
    b.raw([0, 0, 0, 0, 0, 3]);
    b.part("extra field");
    b.le("extra length of gzip", Length, 2, 6);
    b.raw(b"AB");
    b.le("subfield length of gzip", Length, 2, 2);
    b.raw([1, 2]);
    b.part("name");
    let name = b.says("file name of gzip", "words.txt");
    b.raw(name);
    b.raw([0]);
    b.part("comment");
    let comment = b.says("comment of gzip", "made for a test");
    b.raw(comment);
    b.raw([0]);
    b.part("packed data");
    stored(b, &content);
    b.part("tail");
    b.le("sum of gzip", Sum, 4, crc32(&content) as usize);
    b.le("size of gzip", Length, 4, content.len());
}

/// "the same words" as bzip2 packs them: its blocks begin at bits, so the stream is as its own program writes it.
fn bzip2(b: &mut Build) {
    b.part("bzip2 head");
    b.raw(b"BZh");
    b.be("level of bzip2", Choice, 1, usize::from(b'9'));
    b.part("block head");
    b.raw([0x31, 0x41, 0x59, 0x26, 0x53, 0x59]);
    b.be("sum of the block", Sum, 4, 0xe6a8_cd24);
    b.be("place in the block", Offset, 3, 0x0e);
    b.part("block");
    b.raw([0x51, 0x80, 0x00, 0x10, 0x40, 0x04, 0x26, 0x42, 0x9c, 0x80, 0x20, 0x00, 0x21, 0x28, 0x86, 0x8c]);
    b.raw([0x4f, 0x42, 0x01, 0xa0, 0x0b, 0xe9, 0xc7, 0x34, 0xd6, 0x49, 0x47, 0xca, 0x10, 0x84, 0x26]);
    b.part("end of the stream");
    b.raw([0x4e, 0x60, 0xbb, 0x92, 0x29, 0xc2, 0x84, 0x87]);
    b.be("sum of bzip2", Sum, 4, 0x3546_6920);
}

fn lzma(b: &mut Build) {
    b.part("lzma head");
    b.le("properties of lzma", Choice, 1, 0x5d);
    b.le("dictionary of lzma", Length, 4, 0x80_0000);
    b.le("size of lzma", Length, 8, usize::MAX);
    b.part("lzma data");
    b.raw([0x00, 0x3a, 0x1a, 0x08, 0xce, 0x76, 0xd9, 0x76, 0xd3, 0x93, 0xce, 0xe0, 0x6c, 0x5c, 0x75, 0xe4, 0x2b, 0xf7]);
    b.raw([0xf5, 0x12, 0x5f, 0x31, 0xbc, 0xdc, 0x7f, 0xff, 0xa1, 0x7b, 0x80, 0x00]);
}

/// An xz stream of one LZMA2 chunk that is not packed.
fn xz(b: &mut Build) {
    let content = b.says("content of xz", WORDS);
    b.part("xz head");
    b.raw(b"\xfd7zXZ\0");
    let flags = b.at();
    b.raw([0]);
    b.be("check of xz", Choice, 1, 1);
    let sum = crc32(&b.bytes[flags..]);
    b.le("sum of the xz head", Sum, 4, sum as usize);
    b.part("xz block head");
    let block = b.at();
    b.le("size of the xz block head", Length, 1, 2);
    b.raw([0]);
    b.le("filter of xz", Choice, 1, 0x21);
    b.le("length of the filter properties", Length, 1, 1);
    b.le("dictionary of xz", Choice, 1, 0x10);
    b.zeros(3);
    let sum = crc32(&b.bytes[block..]);
    b.le("sum of the xz block head", Sum, 4, sum as usize);
    b.part("xz chunk");
    b.be("kind of the xz chunk", Choice, 1, 1);
    b.be("length less one of the xz chunk", Length, 2, content.len() - 1);
    b.raw(&content);
    b.raw([0]);
    let size = b.at() - block;
    b.align(4);
    b.le("sum of the xz block", Sum, 4, crc32(&content) as usize);
    b.part("xz index");
    let index = b.at();
    b.raw([0]);
    b.le("blocks in the xz index", Count, 1, 1);
    b.le("size of the block in the xz index", Length, 1, size + 4);
    b.le("unpacked size in the xz index", Length, 1, content.len());
    b.align(4);
    let sum = crc32(&b.bytes[index..]);
    b.le("sum of the xz index", Sum, 4, sum as usize);
    b.part("xz tail");
    let mut tail = Build::default();
    tail.le("", Length, 4, 1);
    tail.raw([0, 1]);
    b.le("sum of the xz tail", Sum, 4, crc32(&tail.bytes) as usize);
    b.le("size of the xz index", Length, 4, 1);
    b.raw([0]);
    b.le("check in the xz tail", Choice, 1, 1);
    b.raw(b"YZ");
}

/// A skippable frame, then a frame of one block that is not packed.
fn zstd(b: &mut Build) {
    b.part("skipped frame");
    b.raw([0x50, 0x2a, 0x4d, 0x18]);
    let says = b.says("skipped frame", "made for a test");
    b.le("length of the skipped frame", Length, 4, says.len());
    b.raw(says);
    let content = b.says("content of zst", WORDS);
    b.part("frame head");
    b.raw([0x28, 0xb5, 0x2f, 0xfd]);
    b.le("flags of the frame", Choice, 1, 0x20);
    b.le("size of the frame", Length, 1, content.len());
    b.part("frame block");
    b.le("head of the block", Length, 3, content.len() << 3 | 1);
    b.raw(content);
}

/// A frame of one block that is not packed.
fn lz4(b: &mut Build) {
    let content = b.says("content of lz4", WORDS);
    b.part("lz4 head");
    b.raw([0x04, 0x22, 0x4d, 0x18]);
    b.raw([0x60, 0x40, 0x82]);
    b.part("lz4 block");
    b.le("length of the lz4 block", Length, 4, content.len() | 0x8000_0000);
    b.raw(content);
    b.part("lz4 end");
    b.zeros(4);
}

fn blocks(cases: &mut Cases) {
    let gz = |deflated: &[u8], sum: u32, size: u32| {
        [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], deflated, &sum.to_le_bytes(), &size.to_le_bytes()].concat()
    };
    let whole =
        |content: &[u8]| gz(&deflate(content), crc32(content), u32::try_from(content.len()).unwrap_or_default());
    let inner = (0..5).fold(whole(b"words\n"), |inner, _| whole(&inner));
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("block-of-a-reserved-type", "a block of the type that is kept back", gz(&[0x07, 0], 0, 0)),
        ("block-copies-from-before-the-start", "a copy from before the first byte", gz(&[0x03 | 0x08, 0x04, 0], 0, 0)),
        (
            "block-never-ends",
            "the last block does not say that it is the last",
            gz(&[0, 1, 0, 0xfe, 0xff, b'a'], crc32(b"a"), 1),
        ),
        (
            "codes-overfull",
            "a code table with more codes than fit",
            gz(&[0x05, 0xe0, 0x81, 0x24, 0x49, 0x92, 0x24], 0, 0),
        ),
        ("two-members", "two members, which is allowed", [whole(b"one\n"), whole(b"two\n")].concat()),
        (
            "second-member-cut",
            "the second of two members is cut",
            [whole(b"one\n"), whole(b"two\n")[..14].to_vec()].concat(),
        ),
        ("packed-five-times", "a stream in a stream in a stream", inner),
        ("bomb-of-a-kilobyte", "a kilobyte unpacks to 400 KB", whole(&[0; 400_000])),
        ("packed-attack", "the packed text orders a model about", whole(ORDER.as_bytes())),
        (
            "packed-program",
            "what is packed is a program",
            whole(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0>\0\x01\0\0\0"),
        ),
        ("packed-zip", "what is packed is an archive", whole(&super::zip::small())),
        ("packed-nothing", "nothing is packed", whole(b"")),
        ("head-alone", "there is a head and nothing else", vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
    ];
    for (name, why, bytes) in rows {
        GZIP.add(cases, name, why, &bytes, &[]);
    }
    let frame = |blocks: &[u8]| [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58][..], blocks].concat();
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("run", "a block that is a run of one byte", frame(&[0x23, 0x00, 0x00, b'a'])),
        ("run-of-128-kb", "a block of four bytes is 128 KB", frame(&[0x03, 0x00, 0x10, b'a'])),
        ("run-over-the-block-limit", "a block is longer than blocks may be", frame(&[0x0b, 0x00, 0x10, b'a'])),
        ("block-of-a-reserved-type", "a block of the type that is kept back", frame(&[0x0f, 0, 0, b'a'])),
        ("block-of-garbage", "a packed block that cannot be unpacked", frame(&[0x25, 0, 0, 1, 2, 3, 4])),
        (
            "dictionary-wanted",
            "the frame wants a dictionary",
            vec![0x28, 0xb5, 0x2f, 0xfd, 0x21, 0x07, 0x01, 0x09, 0, 0, b'a'],
        ),
        (
            "reserved-flag",
            "a flag of the frame that is kept back",
            vec![0x28, 0xb5, 0x2f, 0xfd, 0x28, 0x01, 0x09, 0, 0, b'a'],
        ),
    ];
    for (name, why, bytes) in rows {
        ZSTD.add(cases, name, why, &bytes, &[]);
    }
}
