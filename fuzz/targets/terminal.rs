//! What a terminal is shown: sequences of every kind between words. Nothing that leaves for a terminal moves a cursor,
//! sets a title or talks back, and nothing for anybody else holds a sequence at all.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::{Audience, Input, Release};
use scanner_fuzz::{decide, scan};

#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
    /// ECMA-48: CSI, by ESC or as the one control of C1, in UTF-8 or as a bare byte.
    Csi {
        how: u8,
        parameters: Vec<u16>,
        mark: Option<u8>,
        last: u8,
    },
    /// A control string: OSC, DCS, SOS, PM, APC, and how it ends.
    String {
        kind: u8,
        text: &'a str,
        end: u8,
    },
    Escape(u8),
    Control(u8),
    Line,
}

impl Piece<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
            Self::Csi { how, parameters, mark, last } => {
                out.extend_from_slice([&b"\x1b["[..], b"\xc2\x9b", b"\x9b"][usize::from(*how) % 3]);
                out.extend(mark.map(|mark| b"?><= $"[usize::from(mark) % 6]));
                let parameters: Vec<String> = parameters.iter().take(8).map(u16::to_string).collect();
                out.extend_from_slice(parameters.join(";").as_bytes());
                out.push(0x40 + last % 0x3f);
            }
            Self::String { kind, text, end } => {
                out.extend_from_slice(&[0x1b, b"]PX^_"[usize::from(*kind) % 5]]);
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice([&b"\x07"[..], b"\x1b\\", b"\xc2\x9c", b""][usize::from(*end) % 4]);
            }
            Self::Escape(byte) => out.extend_from_slice(&[0x1b, *byte]),
            Self::Control(byte) => out.push(byte % 0x20),
            Self::Line => out.push(b'\n'),
        }
    }
}

/// Whether a terminal would do more with it than show characters, in colours where those may stay. Written from ECMA-48
/// and Unicode, not from the scanner's own walk.
fn acts(bytes: &[u8], colours: bool) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            // Every terminal passes over zeros, and what leaves in a wider encoding keeps those of its letters.
            '\n' | '\t' | '\0' => {}
            '\r' if matches!(rest.peek(), None | Some('\n' | '\r')) => {}
            '\u{1b}' if colours && rest.peek() == Some(&'[') => {
                rest.next();
                while rest.next_if(|next| next.is_ascii_digit() || matches!(next, ';' | ':')).is_some() {}
                if rest.next() != Some('m') {
                    return true;
                }
            }
            character if character.is_control() => return true,
            _ => {}
        }
    }
    // A bare byte of C1 begins a sequence or moves a line on a terminal that does not read UTF-8; the others set a tab stop or
    // a guarded area, or are for one character, where they do anything, and are letters of old encodings.
    let acts = |byte: &u8| matches!(byte, 0x84 | 0x85 | 0x8d | 0x90 | 0x98 | 0x9a | 0x9b | 0x9d..=0x9f);
    bytes.utf8_chunks().any(|chunk| chunk.invalid().iter().any(acts))
}

fuzz_target!(|pieces: Vec<Piece<'_>>| {
    let mut bytes = Vec::new();
    pieces.iter().for_each(|piece| piece.write(&mut bytes));
    if bytes.len() > 16 << 10 {
        return;
    }
    let input = Input::text(bytes);
    let report = scan(&input);
    let verdict = decide(&report, &input);
    for audience in [Audience::TERMINAL, Audience::PAGE, Audience::MODEL] {
        if let Some(Release::Cleaned(released)) = verdict.release(&audience) {
            assert!(!acts(&released.bytes, audience == Audience::TERMINAL), "{audience}: {:?}", released.bytes);
        }
    }
    // What leaves as it came is what a terminal only shows, colours and redrawn lines aside.
    if let Some(Release::Unchanged(bytes)) = verdict.release(&Audience::TERMINAL) {
        assert_eq!(orders(&bytes), Vec::<String>::new(), "{bytes:?}");
    }
});

/// The sequences that a VT500 would carry out, and that are more than colours, erasing to the end of a line, moving
/// right, the look of the cursor, links, whose label is judged elsewhere, and marks of shells. Written from the published state machine of its parser: controls are done inside of
/// sequences, ESC begins another one, CAN and SUB end it.
fn orders(bytes: &[u8]) -> Vec<String> {
    enum State {
        Ground,
        Escape,
        Csi,
        String,
        /// Of an operating system command, whose number says what it does.
        Command,
    }
    let (mut state, mut inside, mut orders) = (State::Ground, Vec::new(), Vec::new());
    // The end of the text is taken for the end of a string.
    for byte in bytes.iter().copied().chain([0x1b]) {
        // The end of a string as one control of C1, in UTF-8 or as a bare byte.
        let is_over = matches!((&state, byte), (State::Command, 0x07 | 0x18 | 0x1a | 0x1b | 0x9c));
        if is_over {
            inside.pop_if(|last| byte == 0x9c && *last == 0xc2);
            let number = inside.split(|byte| *byte == b';').next().unwrap_or_default();
            let is_calm = [&b"8"[..], b"133", b"633"].contains(&number);
            orders.extend((!is_calm).then(|| format!("command {inside:?}")));
        }
        state = match (state, byte) {
            (_, 0x1b) => {
                inside.clear();
                State::Escape
            }
            (_, 0x18 | 0x1a) | (State::String | State::Command, 0x07) | (State::Command, 0x9c) => State::Ground,
            (State::Ground, _) => State::Ground,
            (State::String, _) => State::String,
            (state, ..=0x1f | 0x7f) => state,
            (State::Command, _) => {
                inside.push(byte);
                State::Command
            }
            (_, 0x80..) => State::Ground,
            (State::Escape, 0x20..=0x2f) => {
                inside.push(byte);
                State::Escape
            }
            (State::Escape, b'[') if inside.is_empty() => State::Csi,
            (State::Escape, b']') if inside.is_empty() => State::Command,
            (State::Escape, b'P' | b'X' | b'^' | b'_') if inside.is_empty() => {
                orders.push(format!("string {}", char::from(byte)));
                State::String
            }
            (State::Escape, _) => {
                let is_order =
                    inside.is_empty() && b"cZDEM78=>no|}~NO69".contains(&byte) || inside.first() == Some(&b' ');
                orders.extend(is_order.then(|| format!("escape {inside:?} {}", char::from(byte))));
                State::Ground
            }
            (State::Csi, 0x20..=0x3f) => {
                inside.push(byte);
                State::Csi
            }
            (State::Csi, _) => {
                let is_calm =
                    matches!(byte, b'm' | b'K' | b'C' | b'a') || matches!(byte, b'h' | b'l') && inside == b"?25";
                orders.extend((!is_calm).then(|| format!("control {inside:?} {}", char::from(byte))));
                State::Ground
            }
        };
    }
    orders
}
