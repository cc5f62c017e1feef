//! PNG, GIF, BMP, ICO, WebP and TIFF.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset, Sum},
        Style,
    },
    defect::{Kind, ORDER},
    sums::{crc32, deflate, zlib},
};

const PNG: Kind = Kind::new("png", "png", png).chain();
const GIF: Kind = Kind::new("gif", "gif", gif).chain();
const BMP: Kind = Kind::new("bmp", "bmp", bmp);
const ICO: Kind = Kind::new("ico", "ico", ico);
const WEBP: Kind = Kind::new("webp", "webp", webp).chain();
const TIFF: Kind = Kind::new("tiff", "tif", tiff);

pub(super) fn make(cases: &mut Cases) {
    for kind in [PNG, GIF, BMP, ICO, WEBP, TIFF] {
        kind.make(cases);
    }
    png_chunks(cases);
    gif_blocks(cases);
    tiff_tags(cases);
}

/// A chunk: its length, its type, what the function writes, its checksum.
fn chunk(b: &mut Build, names: [&'static str; 3], kind: &[u8; 4], body: impl FnOnce(&mut Build)) {
    b.part(names[0]);
    let length = b.hole(names[1], Length, 4, Style::Big);
    let from = b.at();
    b.raw(kind);
    body(b);
    b.fill(length, b.at() - from - 4);
    let sum = crc32(&b.bytes[from..]);
    b.be(names[2], Sum, 4, sum as usize);
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Two rows of two grey pixels, each row with its filter in front.
const ROWS: &[u8] = &[0, 0x10, 0x90, 0, 0x90, 0x10];

fn head(b: &mut Build) {
    b.part("signature");
    b.raw(SIGNATURE);
    chunk(b, ["IHDR", "IHDR length", "IHDR checksum"], b"IHDR", |b| {
        b.be("width", Count, 4, 2);
        b.be("height", Count, 4, 2);
        b.be("depth", Choice, 1, 8);
        b.be("colour type", Choice, 1, 0);
        b.be("compression", Choice, 1, 0);
        b.be("filter", Choice, 1, 0);
        b.be("interlacing", Choice, 1, 0);
    });
}

fn png(b: &mut Build) {
    head(b);
    chunk(b, ["tEXt", "tEXt length", "tEXt checksum"], b"tEXt", |b| {
        let word = b.says("keyword", "Comment");
        b.raw(word);
        b.raw([0]);
        let says = b.says("comment", "made for a test");
        b.raw(says);
    });
    chunk(b, ["iTXt", "iTXt length", "iTXt checksum"], b"iTXt", |b| {
        b.raw(b"Title\0");
        b.be("packed flag of iTXt", Choice, 1, 0);
        b.raw(b"\0en\0");
        let word = b.says("translated keyword", "Title");
        b.raw(word);
        b.raw([0]);
        let says = b.says("title", "two by two");
        b.raw(says);
    });
    chunk(b, ["zTXt", "zTXt length", "zTXt checksum"], b"zTXt", |b| {
        b.raw(b"Author\0");
        b.be("method of zTXt", Choice, 1, 0);
        let says = b.says("packed author", "a test");
        b.raw(zlib(&says));
    });
    chunk(b, ["IDAT", "IDAT length", "IDAT checksum"], b"IDAT", |b| b.raw(zlib(ROWS)));
    chunk(b, ["IEND", "IEND length", "IEND checksum"], b"IEND", |_| {});
}

/// A picture with further chunks between its head and its pixels.
fn png_with(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut b = Build::default();
    head(&mut b);
    chunk(&mut b, ["extra", "extra length", "extra checksum"], kind, |b| b.raw(body));
    chunk(&mut b, ["IDAT", "IDAT length", "IDAT checksum"], b"IDAT", |b| b.raw(zlib(ROWS)));
    chunk(&mut b, ["IEND", "IEND length", "IEND checksum"], b"IEND", |_| {});
    b.bytes
}

/// A picture whose pixels are packed like that.
fn png_pixels(packed: &[&[u8]]) -> Vec<u8> {
    let mut b = Build::default();
    head(&mut b);
    for piece in packed {
        chunk(&mut b, ["IDAT", "IDAT length", "IDAT checksum"], b"IDAT", |b| b.raw(piece));
    }
    chunk(&mut b, ["IEND", "IEND length", "IEND checksum"], b"IEND", |_| {});
    b.bytes
}

fn png_chunks(cases: &mut Cases) {
    let profile = |name: &[u8], says: &[u8]| [name, b"\0\0", &zlib(says)].concat();
    let order = ORDER.as_bytes();
    let whole = zlib(ROWS);
    let mut no_sum = whole.clone();
    no_sum.truncate(whole.len() - 4);
    let mut wrong_sum = whole.clone();
    if let Some(last) = wrong_sum.last_mut() {
        *last ^= 1;
    }
    let dictionary = [&[0x78, 0xbb, 0, 0, 0, 1][..], &deflate(ROWS), &[0; 4]].concat();
    let rows: [(&str, &str, Vec<u8>); 20] = [
        ("attack-in-exif", "the Exif block orders a model about", png_with(b"eXIf", &exif(order))),
        ("exif-is-no-tiff", "the Exif block is no TIFF", png_with(b"eXIf", b"nothing of the kind")),
        (
            "attack-in-profile-name",
            "the name of the colour profile is an order",
            png_with(b"iCCP", &profile(order, &[0; 128])),
        ),
        ("attack-in-profile", "the colour profile holds an order", png_with(b"iCCP", &profile(b"p", order))),
        ("profile-cut", "the packed colour profile ends early", png_with(b"iCCP", b"p\0\0\x78\x9c\x63")),
        (
            "bomb-in-profile",
            "a profile of a hundred bytes unpacks to 40 KB",
            png_with(b"iCCP", &profile(b"p", &[7; 40_000])),
        ),
        ("text-without-keyword", "a tEXt chunk with no end of its keyword", png_with(b"tEXt", b"no zero here")),
        ("text-of-nothing", "a tEXt chunk of no bytes", png_with(b"tEXt", b"")),
        ("attack-in-unknown-chunk", "a chunk of no known type holds an order", png_with(b"meMo", order)),
        ("unknown-critical-chunk", "a chunk that must be understood and is not", png_with(b"ABCD", b"1234")),
        ("chunk-name-is-no-name", "the type of a chunk is no letters", png_with(&[0, 1, 2, 3], b"1234")),
        ("palette-for-grey", "a palette for a picture in grey", png_with(b"PLTE", &[0; 6])),
        ("palette-of-a-broken-entry", "a palette whose length is no multiple of three", png_with(b"PLTE", &[0; 7])),
        ("script-in-unknown-chunk", "a script stands in a chunk", png_with(b"prIV", b"<?php system($_GET['c']); ?>")),
        (
            "pixels-in-two-chunks",
            "the packed pixels are cut over two chunks, which is allowed",
            png_pixels(&[&whole[..5], &whole[5..]]),
        ),
        ("pixels-of-nothing", "the pixels are an empty chunk", png_pixels(&[b""])),
        ("pixels-without-sum", "the sum behind the packed pixels is missing", png_pixels(&[&no_sum])),
        ("pixels-sum-wrong", "the sum behind the packed pixels is wrong", png_pixels(&[&wrong_sum])),
        ("pixels-want-a-dictionary", "the packed pixels want a dictionary", png_pixels(&[&dictionary])),
        (
            "filter-of-no-meaning",
            "a row is filtered in a way that there is not",
            png_pixels(&[&zlib(&[9, 1, 2, 0, 3, 4])]),
        ),
    ];
    for (name, why, bytes) in rows {
        PNG.add(cases, name, why, &bytes, &[]);
    }
}

/// A block of Exif: a TIFF of one tag, the description.
pub(super) fn exif(says: &[u8]) -> Vec<u8> {
    let length = u32::try_from(says.len()).unwrap_or_default().to_le_bytes();
    [b"II*\0\x08\0\0\0\x01\0\x0e\x01\x02\0", &length[..], &[26, 0, 0, 0, 0, 0, 0, 0], says].concat()
}

fn gif(b: &mut Build) {
    b.part("screen");
    b.raw(b"GIF89a");
    b.le("screen width", Count, 2, 4);
    b.le("screen height", Count, 2, 3);
    b.raw([0x80, 0, 0]);
    b.raw([0, 0, 0, 255, 255, 255]);
    b.part("control");
    b.raw([0x21, 0xf9]);
    b.le("control length", Length, 1, 4);
    b.raw([0, 0, 0, 0, 0]);
    b.part("comment");
    b.raw([0x21, 0xfe]);
    let says = b.says("comment", "made for a test");
    b.le("comment length", Length, 1, says.len());
    b.raw(says);
    b.raw([0]);
    b.part("application");
    b.raw([0x21, 0xff, 11]);
    b.raw(b"NETSCAPE2.0");
    b.le("loop block length", Length, 1, 3);
    b.raw([1, 0, 0, 0]);
    b.part("frame");
    b.raw([0x2c]);
    b.le("left edge", Count, 2, 0);
    b.le("top edge", Count, 2, 0);
    b.le("frame width", Count, 2, 4);
    b.le("frame height", Count, 2, 3);
    b.raw([0]);
    b.le("code size", Choice, 1, 2);
    b.le("codes length", Length, 1, 8);
    b.raw([0x4c, 0x98, 0x30, 0x61, 0xc2, 0x84, 0x49, 0x01, 0]);
    b.part("trailer");
    b.raw([0x3b]);
}

fn gif_blocks(cases: &mut Cases) {
    let honest = Build::of(gif, None);
    let cut = honest.parts[1].1;
    let (screen, rest) = honest.bytes.split_at(cut);
    let with = |block: &[u8]| [screen, block, rest].concat();
    let mut text = b"\x21\x01\x0c\0\0\0\0\x04\0\x03\0\x08\x08\x01\0".to_vec();
    text.push(60);
    text.extend_from_slice(ORDER.as_bytes());
    text.push(0);
    let xmp =
        [&b"\x21\xff\x0bXMP DataXMP"[..], b"<x:xmpmeta>", ORDER.as_bytes(), b"</x:xmpmeta>\x01\xff\xfe\0\0"].concat();
    let rows: [(&str, &str, Vec<u8>); 6] = [
        ("attack-in-plain-text-block", "a block that is drawn as text is an order", with(&text)),
        ("attack-in-xmp", "the metadata order a model about", with(&xmp)),
        ("block-of-no-meaning", "an extension that nobody knows", with(b"\x21\x42\x03abc\0")),
        ("block-introducer-unknown", "a block begins with a byte that begins none", with(b"\x77")),
        ("blocks-never-end", "the last block of an extension is missing", [screen, b"\x21\xfe\x02ab"].concat()),
        ("old-version-with-extensions", "says it is the version without extensions, and has some", {
            [b"GIF87a", honest.bytes.get(6..).unwrap_or_default()].concat()
        }),
    ];
    for (name, why, bytes) in rows {
        GIF.add(cases, name, why, &bytes, &[]);
    }
}

fn bmp(b: &mut Build) {
    b.part("file head");
    b.raw(b"BM");
    b.le("file size", Length, 4, 62);
    b.zeros(4);
    b.le("pixel offset", Offset, 4, 54);
    b.part("picture head");
    b.le("head size", Length, 4, 40);
    b.le("width", Count, 4, 2);
    b.le("height", Count, 4, 1);
    b.le("planes", Count, 2, 1);
    b.le("depth", Choice, 2, 24);
    b.le("compression", Choice, 4, 0);
    b.le("pixel bytes", Length, 4, 8);
    b.raw([0x13, 0x0b, 0, 0, 0x13, 0x0b, 0, 0]);
    b.le("colours", Count, 4, 0);
    b.zeros(4);
    b.part("pixels");
    b.raw([0, 0, 255, 0, 255, 0, 0, 0]);
}

fn ico(b: &mut Build) {
    b.part("directory");
    b.raw([0, 0]);
    b.le("type", Choice, 2, 1);
    b.le("pictures", Count, 2, 1);
    b.part("entry");
    b.raw([1, 1, 0, 0]);
    b.le("planes of the entry", Count, 2, 1);
    b.raw([32, 0]);
    b.le("picture length", Length, 4, 48);
    b.le("picture offset", Offset, 4, 22);
    b.part("picture");
    b.le("head size", Length, 4, 40);
    b.le("width", Count, 4, 1);
    b.le("double height", Count, 4, 2);
    b.raw([1, 0]);
    b.le("depth", Choice, 2, 32);
    b.le("compression", Choice, 4, 0);
    b.zeros(20);
    b.raw([0, 0, 255, 255]);
    b.part("mask");
    b.zeros(4);
}

fn webp(b: &mut Build) {
    b.part("head");
    b.raw(b"RIFF");
    let size = b.hole("file size", Length, 4, Style::Little);
    b.raw(b"WEBP");
    b.part("VP8X");
    b.raw(b"VP8X");
    b.le("VP8X length", Length, 4, 10);
    b.raw([4, 0, 0, 0]);
    b.le("canvas width less one", Count, 3, 3);
    b.le("canvas height less one", Count, 3, 2);
    b.part("VP8L");
    b.raw(b"VP8L");
    b.le("VP8L length", Length, 4, 13);
    b.raw([0x2f, 0x03, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    b.part("XMP");
    b.raw(b"XMP ");
    let says = b.says("XMP", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
    b.le("XMP length", Length, 4, says.len());
    b.raw(says);
    b.align(2);
    b.fill(size, b.at() - 8);
}

fn tiff(b: &mut Build) {
    b.part("head");
    b.raw(b"II");
    b.le("version", Choice, 2, 42);
    b.le("first page", Offset, 4, 8);
    b.part("page");
    b.le("tags", Count, 2, 9);
    let tag = |b: &mut Build, tag: u16, kind: u16, count: u32| {
        b.raw(tag.to_le_bytes());
        b.raw(kind.to_le_bytes());
        b.raw(count.to_le_bytes());
    };
    tag(b, 256, 4, 1);
    b.le("width", Count, 4, 4);
    tag(b, 257, 4, 1);
    b.le("height", Count, 4, 3);
    tag(b, 258, 3, 1);
    b.le("depth", Choice, 4, 8);
    tag(b, 259, 3, 1);
    b.le("compression", Choice, 4, 1);
    tag(b, 262, 3, 1);
    b.le("meaning of grey", Choice, 4, 1);
    let says = b.says("description", "made for a test");
    b.raw([0x0e, 0x01]);
    b.le("type of the description", Choice, 2, 2);
    b.le("description length", Length, 4, says.len() + 1);
    let description = b.hole("description offset", Offset, 4, Style::Little);
    tag(b, 273, 4, 1);
    let pixels = b.hole("strip offset", Offset, 4, Style::Little);
    tag(b, 278, 4, 1);
    b.le("rows of a strip", Count, 4, 3);
    tag(b, 279, 4, 1);
    b.le("strip length", Length, 4, 12);
    b.le("next page", Offset, 4, 0);
    b.part("description");
    b.fill(description, b.at());
    b.raw(says);
    b.raw([0]);
    b.part("pixels");
    b.fill(pixels, b.at());
    b.raw([7; 12]);
}

fn tiff_tags(cases: &mut Cases) {
    // Tags out of order, twice, and of types that there are not: what old readers written in C trip over.
    let honest = Build::of(tiff, None).bytes;
    let with = |at: usize, bytes: &[u8]| {
        let mut file = honest.clone();
        file.splice(at..at + bytes.len(), bytes.iter().copied());
        file
    };
    let rows: [(&str, &str, Vec<u8>); 6] = [
        ("tags-out-of-order", "the tags are not in ascending order", with(10, &[0x01, 0x01])),
        ("tag-twice", "the width stands there twice", with(22, &[0x00, 0x01])),
        ("tag-of-no-type", "the type of a tag is none", with(12, &[0xff, 0x00])),
        ("tag-counts-gigabytes", "a tag has four thousand million values", with(14, &[0xff; 4])),
        ("order-of-bytes-disagrees", "the head says the large end comes first, the rest does not", with(0, b"MM")),
        ("page-is-the-head", "the first page stands in the head", with(4, &[0, 0, 0, 0])),
    ];
    for (name, why, bytes) in rows {
        TIFF.add(cases, name, why, &bytes, &[]);
    }
}
