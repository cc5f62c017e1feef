//! PNGs with right checksums: chunks of every kind in any order, lengths that lie where it is said. An order in a text
//! chunk is found; a picture that is released is one, without what is no picture.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{
    ORDER, decide, is_warned,
    made::{crc32, zlib},
    scan, tells,
};

#[derive(Arbitrary, Debug)]
enum Chunk<'a> {
    Header { width: u16, height: u16, depth: u8, colour: u8, interlaced: bool },
    Palette(&'a [u8]),
    Data { rows: &'a [u8], cut: u8 },
    Raw(&'a [u8]),
    Text { key: &'a str, text: &'a str },
    Packed { key: &'a str, text: &'a str },
    International { key: &'a str, text: &'a str, is_packed: bool },
    Order { form: u8 },
    Profile { name: &'a str, bytes: &'a [u8] },
    Exif(&'a [u8]),
    Control { frames: u8, plays: u8 },
    Frame { sequence: u8, width: u16, height: u16 },
    FrameData { sequence: u8, bytes: &'a [u8] },
    Other { kind: [u8; 4], bytes: &'a [u8] },
    End,
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    chunks: Vec<(Chunk<'a>, Lie)>,
    after: &'a [u8],
}

/// Most chunks do not lie.
#[derive(Arbitrary, Debug)]
enum Lie {
    None,
    Nothing,
    Honest,
    Length(u32),
    Crc(u32),
}

impl Chunk<'_> {
    fn write(&self) -> ([u8; 4], Vec<u8>) {
        let name = |key: &str| {
            let key: String = key.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
            if key.is_empty() { "Comment".to_owned() } else { key }
        };
        match self {
            Self::Header { width, height, depth, colour, interlaced } => {
                let mut out = u32::from(*width % 600).to_be_bytes().to_vec();
                out.extend(u32::from(*height % 600).to_be_bytes());
                out.extend([
                    [1, 2, 4, 8, 16, 8, 8, *depth][usize::from(*depth) % 8],
                    [0, 2, 3, 4, 6, 6, 2, *colour][usize::from(*colour) % 8],
                ]);
                out.extend([0, 0, u8::from(*interlaced)]);
                (*b"IHDR", out)
            }
            Self::Palette(bytes) => (*b"PLTE", bytes.to_vec()),
            Self::Data { rows, cut } => {
                let packed = zlib(rows);
                let keep = packed.len().saturating_sub(usize::from(cut % 8));
                (*b"IDAT", packed[..keep].to_vec())
            }
            Self::Raw(bytes) => (*b"IDAT", bytes.to_vec()),
            Self::Text { key, text } => (*b"tEXt", format!("{}\0{text}", name(key)).into_bytes()),
            Self::Packed { key, text } => {
                (*b"zTXt", [format!("{}\0\0", name(key)).as_bytes(), &zlib(text.as_bytes())].concat())
            }
            Self::International { key, text, is_packed } => {
                let text = if *is_packed { zlib(text.as_bytes()) } else { text.as_bytes().to_vec() };
                let head = [name(key).as_bytes(), &[0, u8::from(*is_packed), 0], b"en\0", b"\0"].concat();
                (*b"iTXt", [head, text].concat())
            }
            Self::Order { form } => match form % 3 {
                0 => Chunk::Text { key: "Comment", text: ORDER }.write(),
                1 => Chunk::Packed { key: "Comment", text: ORDER }.write(),
                _ => Chunk::International { key: "Comment", text: ORDER, is_packed: *form > 127 }.write(),
            },
            Self::Profile { name: key, bytes } => {
                (*b"iCCP", [format!("{}\0\0", name(key)).as_bytes(), &zlib(bytes)].concat())
            }
            Self::Exif(bytes) => (*b"eXIf", [b"MM\0*", *bytes].concat()),
            Self::Control { frames, plays } => {
                (*b"acTL", [u32::from(*frames).to_be_bytes(), u32::from(*plays).to_be_bytes()].concat())
            }
            Self::Frame { sequence, width, height } => {
                let mut out = Vec::new();
                for number in [u32::from(*sequence), u32::from(*width % 600), u32::from(*height % 600), 0, 0] {
                    out.extend(number.to_be_bytes());
                }
                out.extend([0, 1, 0, 10, 0, 0]);
                (*b"fcTL", out)
            }
            Self::FrameData { sequence, bytes } => {
                (*b"fdAT", [&u32::from(*sequence).to_be_bytes()[..], &zlib(bytes)].concat())
            }
            Self::Other { kind, bytes } => (*kind, bytes.to_vec()),
            Self::End => (*b"IEND", Vec::new()),
        }
    }
}

fuzz_target!(|made: Made<'_>| {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut has_order = false;
    for (chunk, lie) in made.chunks.iter().take(40) {
        let (kind, data) = chunk.write();
        has_order |= matches!(chunk, Chunk::Order { .. });
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let (length, crc) = match lie {
            Lie::Length(length) => (*length, crc32(&[&kind, &data])),
            Lie::Crc(crc) => (length, *crc),
            Lie::None | Lie::Nothing | Lie::Honest => (length, crc32(&[&kind, &data])),
        };
        bytes.extend(length.to_be_bytes());
        bytes.extend(kind);
        bytes.extend(data);
        bytes.extend(crc.to_be_bytes());
    }
    bytes.extend_from_slice(made.after);
    if bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::file("a.png", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!has_order || tells(&report, "injection.") || is_warned(&report));
});
