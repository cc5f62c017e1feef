//! GIFs whose blocks follow each other as they should: frames, comments, plain text, application blocks. An order in a
//! comment is found, or the report says that the picture is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, scan, tells};

#[derive(Arbitrary, Debug)]
enum Block<'a> {
    Frame { at: [u8; 4], size: [u8; 4], flags: u8, palette: &'a [u8], code: u8, data: &'a [u8] },
    Control { flags: u8, delay: u16, colour: u8 },
    Comment(&'a str),
    Order,
    Text { head: [u8; 12], text: &'a str },
    Application { name: [u8; 11], data: &'a [u8] },
    Loop(u16),
    Xmp(&'a str),
    Other { label: u8, data: &'a [u8] },
    Raw(&'a [u8]),
    End,
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    size: [u8; 4],
    flags: u8,
    palette: &'a [u8],
    blocks: Vec<Block<'a>>,
    is_cut: bool,
    after: &'a [u8],
}

/// Data in pieces of at most 255 bytes, ended by an empty one (GIF89a §15).
fn pieces(data: &[u8], out: &mut Vec<u8>) {
    for piece in data.chunks(255) {
        out.push(u8::try_from(piece.len()).expect("a piece is short"));
        out.extend_from_slice(piece);
    }
    out.push(0);
}

fn palette(flags: u8, bytes: &[u8], out: &mut Vec<u8>) {
    if flags & 0x80 != 0 {
        let length = 3 << ((flags & 7) + 1);
        out.extend(bytes.iter().copied().chain(std::iter::repeat(0)).take(length));
    }
}

impl Block<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Frame { at, size, flags, palette: colours, code, data } => {
                out.push(0x2c);
                out.extend([at[0], at[1] & 3, at[2], at[3] & 3, size[0], size[1] & 1, size[2], size[3] & 1, *flags]);
                palette(*flags, colours, out);
                out.push(2 + code % 7);
                pieces(data, out);
            }
            Self::Control { flags, delay, colour } => {
                let [low, high] = delay.to_le_bytes();
                out.extend([0x21, 0xf9, 4, *flags, low, high, *colour, 0]);
            }
            Self::Comment(text) => Self::Other { label: 0xfe, data: text.as_bytes() }.write(out),
            Self::Order => Self::Other { label: 0xfe, data: ORDER.as_bytes() }.write(out),
            Self::Text { head, text } => {
                out.extend([0x21, 0x01, 12]);
                out.extend(head);
                pieces(text.as_bytes(), out);
            }
            Self::Application { name, data } => {
                out.extend([0x21, 0xff, 11]);
                out.extend(name);
                pieces(data, out);
            }
            Self::Loop(times) => {
                let [low, high] = times.to_le_bytes();
                Block::Application { name: *b"NETSCAPE2.0", data: &[1, low, high] }.write(out);
            }
            // XMP stands as it is, behind it 257 bytes that end every reading of it as pieces.
            Self::Xmp(text) => {
                out.extend(b"\x21\xff\x0bXMP DataXMP");
                out.extend(text.bytes());
                out.push(1);
                out.extend((0..=255).rev());
                out.push(0);
            }
            Self::Other { label, data } => {
                out.extend([0x21, *label]);
                pieces(data, out);
            }
            Self::Raw(bytes) => out.extend_from_slice(bytes),
            Self::End => out.push(0x3b),
        }
    }
}

fuzz_target!(|made: Made<'_>| {
    let [w, v, h, g] = made.size;
    let mut bytes = b"GIF89a".to_vec();
    bytes.extend([w, v & 1, h, g & 1, made.flags, 0, 0]);
    palette(made.flags, made.palette, &mut bytes);
    made.blocks.iter().take(40).for_each(|block| block.write(&mut bytes));
    if !made.is_cut {
        bytes.push(0x3b);
    }
    bytes.extend_from_slice(made.after);
    if bytes.len() > 64 << 10 {
        return;
    }
    let has_order = made.blocks.iter().take(40).any(|block| matches!(block, Block::Order));
    let input = Input::file("a.gif", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!has_order || tells(&report, "injection.") || is_warned(&report));
});
