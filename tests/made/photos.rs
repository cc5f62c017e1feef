//! JPEG, AVIF and JPEG XL.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
        Style,
    },
    defect::{Kind, ORDER},
    pictures::exif,
};

const JPEG: Kind = Kind::new("jpeg", "jpg", jpeg).chain();
const AVIF: Kind = Kind::new("heif", "avif", avif).chain();
const JXL: Kind = Kind::new("jxl", "jxl", jxl).chain();

pub(super) fn make(cases: &mut Cases) {
    for kind in [JPEG, AVIF, JXL] {
        kind.make(cases);
    }
    segments(cases);
    boxes(cases);
}

/// A code table with one code of one bit, for the value zero.
const CODES: [u8; 17] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn jpeg(b: &mut Build) {
    b.part("SOI");
    b.raw([0xff, 0xd8]);
    b.part("APP0");
    b.raw([0xff, 0xe0]);
    b.be("APP0 length", Length, 2, 16);
    b.raw(b"JFIF\0\x01\x01\0\0\x01\0\x01");
    b.be("thumbnail width", Count, 1, 0);
    b.be("thumbnail height", Count, 1, 0);
    b.part("comment");
    b.raw([0xff, 0xfe]);
    let says = b.says("comment", "made for a test");
    b.be("comment length", Length, 2, says.len() + 2);
    b.raw(says);
    b.part("Exif");
    b.raw([0xff, 0xe1]);
    let says = b.says("Exif description", "made for a test");
    let block = exif(&says);
    b.be("Exif length", Length, 2, block.len() + 8);
    b.raw(b"Exif\0\0");
    b.raw(block);
    b.part("DQT");
    b.raw([0xff, 0xdb]);
    b.be("DQT length", Length, 2, 67);
    b.be("DQT number", Choice, 1, 0);
    b.raw([1; 64]);
    b.part("DHT");
    b.raw([0xff, 0xc4]);
    b.be("DHT length", Length, 2, 38);
    b.raw([0]);
    b.raw(CODES);
    b.raw([0x10]);
    b.be("codes of one bit", Count, 1, 1);
    b.raw(&CODES[1..]);
    b.part("SOF");
    b.raw([0xff, 0xc0]);
    b.be("SOF length", Length, 2, 11);
    b.be("depth", Choice, 1, 8);
    b.be("height", Count, 2, 8);
    b.be("width", Count, 2, 16);
    b.be("components", Count, 1, 1);
    b.raw([1]);
    b.be("sampling", Choice, 1, 0x11);
    b.be("number of the DQT", Choice, 1, 0);
    b.part("SOS");
    b.raw([0xff, 0xda]);
    b.be("SOS length", Length, 2, 8);
    b.be("components of the scan", Count, 1, 1);
    b.be("component number", Choice, 1, 1);
    b.be("numbers of the DHT", Choice, 1, 0);
    b.raw([0, 63, 0]);
    b.part("pixels");
    b.raw([0x0f]);
    b.part("EOI");
    b.raw([0xff, 0xd9]);
}

fn segments(cases: &mut Cases) {
    let honest = Build::of(jpeg, None);
    let at = honest.parts[2].1;
    let with = |marker: u8, body: &[u8]| {
        let length = u16::try_from(body.len() + 2).unwrap_or_default().to_be_bytes();
        [&honest.bytes[..at], &[0xff, marker], &length, body, &honest.bytes[at..]].concat()
    };
    let raw = |bytes: &[u8]| [&honest.bytes[..at], bytes, &honest.bytes[at..]].concat();
    let order = ORDER.as_bytes();
    let rows: [(&str, &str, Vec<u8>); 14] = [
        (
            "attack-in-xmp",
            "the metadata order a model about",
            with(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0", order].concat()),
        ),
        (
            "attack-in-photoshop-block",
            "a block of Photoshop holds an order",
            with(0xed, &[b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x3c", order].concat()),
        ),
        ("attack-in-unknown-segment", "a segment that nobody knows holds an order", with(0xe9, order)),
        (
            "attack-in-extension-of-jfif",
            "an extension of JFIF holds an order",
            with(0xe0, &[b"JFXX\0\x10", order].concat()),
        ),
        ("exif-is-no-tiff", "the Exif block is no TIFF", with(0xe1, b"Exif\0\0nothing of the kind")),
        ("profile-part-of-none", "part five of a colour profile of two", with(0xe2, b"ICC_PROFILE\0\x05\x02words")),
        ("profile-part-zero", "part nought of a colour profile", with(0xe2, b"ICC_PROFILE\0\0\x01words")),
        ("restart-interval-of-three-bytes", "the restart interval is three bytes", with(0xdd, &[0, 0, 1])),
        ("arithmetic-coding-announced", "a table for arithmetic coding, which nobody reads", with(0xcc, &[0, 0])),
        (
            "hierarchical",
            "a frame of pictures in pictures, which nobody reads",
            with(0xde, &[8, 0, 8, 0, 16, 1, 1, 0x11, 0]),
        ),
        ("marker-of-no-meaning", "a marker that the standard keeps back", with(0x02, b"ab")),
        ("bytes-between-segments", "bytes that belong to no segment", raw(b"between")),
        ("start-twice", "the file starts again in its middle", raw(&[0xff, 0xd8])),
        (
            "table-of-a-wrong-class",
            "a code table of a class that there is not",
            with(0xc4, &[[0x40].as_slice(), &CODES].concat()),
        ),
    ];
    for (name, why, bytes) in rows {
        JPEG.add(cases, name, why, &bytes, &[]);
    }
}

/// A box: its length, its type, what the function writes.
fn boxed(b: &mut Build, name: &'static str, kind: &[u8; 4], body: impl FnOnce(&mut Build)) {
    let from = b.at();
    let length = b.hole(name, Length, 4, Style::Big);
    b.raw(kind);
    body(b);
    b.fill(length, b.at() - from);
}

fn avif(b: &mut Build) {
    let says = b.says("XMP", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
    b.part("ftyp");
    boxed(b, "ftyp length", b"ftyp", |b| b.raw(b"avif\0\0\0\0avifmif1"));
    b.part("meta");
    let mut place = None;
    boxed(b, "meta length", b"meta", |b| {
        b.zeros(4);
        boxed(b, "iprp length", b"iprp", |b| {
            boxed(b, "ipco length", b"ipco", |b| {
                boxed(b, "ispe length", b"ispe", |b| {
                    b.zeros(4);
                    b.be("width", Count, 4, 400);
                    b.be("height", Count, 4, 300);
                });
            });
        });
        boxed(b, "iinf length", b"iinf", |b| {
            b.zeros(4);
            b.be("items", Count, 2, 1);
            boxed(b, "infe length", b"infe", |b| {
                b.be("infe version", Choice, 1, 2);
                b.zeros(3);
                b.be("item number", Choice, 2, 1);
                b.zeros(2);
                b.raw(b"mime");
                let name = b.says("item name", "meta");
                b.raw(name);
                b.raw([0]);
                let kind = b.says("item type", "application/rdf+xml");
                b.raw(kind);
                b.raw([0]);
            });
        });
        boxed(b, "iloc length", b"iloc", |b| {
            b.be("iloc version", Choice, 1, 0);
            b.zeros(3);
            b.be("sizes of iloc", Choice, 2, 0x4400);
            b.be("places", Count, 2, 1);
            b.raw([0, 1, 0, 0]);
            b.be("extents", Count, 2, 1);
            place = Some(b.hole("extent offset", Offset, 4, Style::Big));
            b.be("extent length", Length, 4, says.len());
        });
    });
    b.part("mdat");
    boxed(b, "mdat length", b"mdat", |b| {
        let at = b.at();
        if let Some(place) = place {
            b.fill(place, at);
        }
        b.raw(&says);
    });
}

fn jxl(b: &mut Build) {
    b.part("signature");
    boxed(b, "signature length", b"JXL ", |b| b.raw([0x0d, 0x0a, 0x87, 0x0a]));
    b.part("ftyp");
    boxed(b, "ftyp length", b"ftyp", |b| b.raw(b"jxl \0\0\0\0jxl "));
    b.part("xml");
    boxed(b, "xml length", b"xml ", |b| {
        let says = b.says("XMP", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
        b.raw(says);
    });
    b.part("Exif");
    boxed(b, "Exif length", b"Exif", |b| {
        b.be("offset of the TIFF", Offset, 4, 0);
        let says = b.says("Exif description", "made for a test");
        b.raw(exif(&says));
    });
    b.part("jxlc");
    boxed(b, "jxlc length", b"jxlc", |b| {
        b.raw([0xff, 0x0a, 0x45]);
        b.zeros(17);
    });
}

fn boxes(cases: &mut Cases) {
    for (kind, base) in [(AVIF, Build::of(avif, None)), (JXL, Build::of(jxl, None))] {
        let with = |extra: &[u8]| [&base.bytes[..], extra].concat();
        let order = ORDER.as_bytes();
        let long = [&[0, 0, 0, 1][..], b"free", &[0, 0, 0, 0, 0, 0, 0, 20], b"abcd"].concat();
        let liar = [&[0, 0, 0, 1][..], b"free", &[0xff; 8], b"abcd"].concat();
        let attack = [&[0, 0, 0, 68][..], b"free", order].concat();
        let identified = [&[0, 0, 0, 84][..], b"uuid", &[7; 16], order].concat();
        for (name, why, extra) in [
            ("box-of-a-long-length", "a box whose length is written in eight bytes, which is allowed", long),
            ("box-of-a-long-length-lies", "a box of all the bytes that eight bytes can count", liar),
            (
                "box-of-no-length",
                "the last box has no length: it goes to the end",
                [&[0; 4][..], b"free", b"abcd"].concat(),
            ),
            ("box-shorter-than-its-head", "a box of seven bytes", [&[0, 0, 0, 7][..], b"free"].concat()),
            ("attack-in-free-space", "a box of nothing holds an order", attack),
            ("attack-in-a-private-box", "a box of a private type holds an order", identified),
        ] {
            kind.add(cases, name, why, &with(&extra), &[]);
        }
    }
}
