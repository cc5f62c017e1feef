//! The text of a string, piece by piece, with where each piece stood.

use super::Quirk;

/// A stretch of decoded text.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// Offset in the raw string.
    pub(super) at: usize,
    /// Its text.
    pub(super) text: &'a [u8],
    /// What was odd about it.
    pub(super) quirk: Option<Quirk>,
}

const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Hands the decoded text of a raw string to `each`, in order. Linear; never fails: what cannot be decoded becomes
/// U+FFFD, a backslash before something that is no escape stands for itself.
pub(super) fn pieces(raw: &[u8], mut each: impl FnMut(Piece<'_>)) {
    let mut at = 0usize;
    while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        stretch(rest.get(..plain).unwrap_or_default(), at, &mut each);
        at = at.saturating_add(plain);
        let Some(escape) = raw.get(at..).filter(|escape| !escape.is_empty()) else { break };
        at = at.saturating_add(one(escape, at, &mut each));
    }
}

/// Bytes between escapes.
fn stretch(bytes: &[u8], at: usize, each: &mut impl FnMut(Piece<'_>)) {
    let mut at = at;
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid().as_bytes();
        if !valid.is_empty() {
            each(Piece { at, text: valid, quirk: None });
            at = at.saturating_add(valid.len());
        }
        if !chunk.invalid().is_empty() {
            each(Piece { at, text: REPLACEMENT, quirk: Some(Quirk::InvalidUtf8) });
            at = at.saturating_add(chunk.invalid().len());
        }
    }
}

/// One escape at the start of `bytes`; how many bytes it took.
fn one(bytes: &[u8], at: usize, each: &mut impl FnMut(Piece<'_>)) -> usize {
    let Some(letter) = bytes.get(1).copied() else {
        each(Piece { at, text: b"\\", quirk: Some(Quirk::Structure) });
        return 1;
    };
    let text: &[u8] = match letter {
        b'"' => b"\"",
        b'\\' => b"\\",
        b'/' => b"/",
        b'b' => b"\x08",
        b'f' => b"\x0c",
        b'n' => b"\n",
        b'r' => b"\r",
        b't' => b"\t",
        b'u' => return unicode(bytes, at, each),
        _ => {
            // `\x`: decoders differ, the text is what stands there.
            each(Piece { at, text: b"\\", quirk: Some(Quirk::Structure) });
            return 1;
        }
    };
    each(Piece { at, text, quirk: None });
    2
}

fn unicode(bytes: &[u8], at: usize, each: &mut impl FnMut(Piece<'_>)) -> usize {
    let Some(unit) = hex4(bytes.get(2..6)) else {
        each(Piece { at, text: b"\\", quirk: Some(Quirk::Structure) });
        return 1;
    };
    let mut buffer = [0u8; 4];
    if let Some(character) = char::from_u32(unit) {
        each(Piece { at, text: character.encode_utf8(&mut buffer).as_bytes(), quirk: None });
        return 6;
    }
    let low = if bytes.get(6..8) == Some(b"\\u") { hex4(bytes.get(8..12)) } else { None };
    let pair = match (unit, low) {
        (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
            let high = unit.wrapping_sub(0xd800).wrapping_mul(0x400);
            char::from_u32(high.wrapping_add(low.wrapping_sub(0xdc00)).wrapping_add(0x1_0000))
        }
        _ => None,
    };
    if let Some(character) = pair {
        each(Piece { at, text: character.encode_utf8(&mut buffer).as_bytes(), quirk: None });
        return 12;
    }
    each(Piece { at, text: REPLACEMENT, quirk: Some(Quirk::LoneSurrogate) });
    6
}

fn hex4(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0u32, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value.wrapping_mul(16).wrapping_add(digit))
    })
}
