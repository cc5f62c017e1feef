//! Text written as codes: base64, base32, hexadecimal, binary, decimal, percent, character references, escapes,
//! quoted-printable, invisible tags. Maximal runs are decoded once; what does not decode to text is left alone.

use std::ops::Range;

use super::derive::{Builder, Derived};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
};

mod base64;

use base64::base64;

/// Runs of base64 and base32 shorter than this hide no instruction.
const RUN_SHORTEST: usize = 20;
/// A piece of a run that is looked at to see whether it decodes to text.
const LOOK: usize = 64;
/// One run is decoded at most that far.
const RUN_LONGEST: usize = 4 * 1024 * 1024;

type Decoder = fn(&[u8], &mut Budget) -> Result<Option<Derived>, Stop>;

/// Every decoder.
const ALL: &[Decoder] = &[base64, hex, numbers, percent, references, escapes, quoted_printable, tags];

/// All decoded views of a text.
pub(super) fn views(text: &[u8], budget: &mut Budget) -> Result<Vec<Derived>, Stop> {
    let mut views = Vec::new();
    for decoder in ALL {
        views.extend(decoder(text, budget)?);
    }
    Ok(views)
}

fn builder() -> Builder {
    Builder::paying(Resource::DecodedBytes)
}

/// From this length on, printable bytes are text whatever they are.
const PRINTABLE_SHORTEST: usize = 20;

/// Whether bytes read as text: UTF-8, or nearly, with letters, and no controls.
fn is_text(bytes: &[u8]) -> bool {
    if bytes.is_empty() {
        return false;
    }
    let odd = bytes.iter().filter(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    let wide = bytes.iter().filter(|byte| **byte >= 0x80).count();
    let plain = bytes.iter().filter(|byte| byte.is_ascii_alphabetic() || **byte == b' ').count();
    let invalid: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let len = bytes.len();
    // Twenty bytes that are all printable are no accident, even where they are mostly digits: one in 10^8.
    let is_printable = wide == 0 && len >= PRINTABLE_SHORTEST;
    // The cut end of a piece may split one character.
    odd == 0 && (is_printable || invalid <= 3 && plain.saturating_add(wide).saturating_mul(10) >= len.saturating_mul(6))
}

/// Classes of bytes: symbols of base64, hexadecimal digits, and what lists of numbers are written with.
const SEXTET: u8 = 1;
const HEX: u8 = 2;
const LIST: u8 = 4;
const CLASSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut rest: &mut [u8] = &mut table;
    let mut byte = 0_u8;
    while let [first, after @ ..] = rest {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_') {
            *first |= SEXTET;
        }
        if byte.is_ascii_hexdigit() {
            *first |= HEX;
        }
        if byte.is_ascii_hexdigit() || matches!(byte, b' ' | b',' | b'-' | b':' | b';' | b'\n' | b'x' | b'o') {
            *first |= LIST;
        }
        rest = after;
        byte = byte.wrapping_add(1);
    }
    table
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & class != 0)
}

/// The next maximal run of at least `shortest` bytes of a class. Jumps: where the byte `shortest` ahead is not of the
/// class, no run can have begun.
#[inline]
fn next_run(text: &[u8], from: usize, shortest: usize, class: u8) -> Option<Range<usize>> {
    let mut start = from;
    loop {
        let window = text.get(start..start.saturating_add(shortest))?;
        match window.iter().rposition(|byte| !is(*byte, class)) {
            Some(at) => start = start.saturating_add(at).saturating_add(1),
            None => {
                let rest = text.get(start.saturating_add(shortest)..).unwrap_or_default();
                let more = rest.iter().position(|byte| !is(*byte, class)).unwrap_or(rest.len());
                return Some(start..start.saturating_add(shortest).saturating_add(more));
            }
        }
    }
}

fn nibble(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn hex(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    let mut out = builder();
    let mut from = 0_usize;
    while let Some(run) = next_run(text, from, RUN_SHORTEST, HEX) {
        from = run.end;
        let digits = text.get(run.clone()).unwrap_or_default();
        let look = plain_hex(digits.get(..digits.len().min(LOOK)).unwrap_or_default());
        if !is_text(&look) {
            continue;
        }
        out.cut(run.start, budget)?;
        let mut at = run.start;
        for pair in digits.chunks_exact(2) {
            out.push(&plain_hex(pair), at..at.saturating_add(2), budget)?;
            at = at.saturating_add(2);
        }
    }
    out.done(text.len(), "hex", false, budget)
}

fn plain_hex(digits: &[u8]) -> Vec<u8> {
    digits
        .chunks_exact(2)
        .filter_map(|pair| match pair {
            [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
            _ => None,
        })
        .collect()
}

/// Numbers that are the codes of characters, one after the other: `73 103 110`, `01001001 01100111`, `49 67 6e`,
/// `0x49, 0x67`, `\x49` apart from escapes.
fn numbers(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    const NUMBERS_FEWEST: usize = 12;
    let mut out = builder();
    let mut from = 0_usize;
    // What lists are written with, three bytes for each number at the least.
    while let Some(run) = next_run(text, from, NUMBERS_FEWEST * 3, LIST) {
        from = run.end;
        let mut at = run.start;
        while let Some(more) = text.get(at..run.end).and_then(|run| run.iter().position(u8::is_ascii_digit)) {
            let start = at.saturating_add(more);
            let (codes, end) = code_list(text, start);
            at = end.max(start.saturating_add(1));
            if codes.len() >= NUMBERS_FEWEST {
                write_codes(&codes, &mut out, budget)?;
            }
        }
        from = from.max(at);
    }
    out.done(text.len(), "numbers", false, budget)
}

/// Writes a list of numbers as the characters they are the codes of, in the first base in which they are text.
fn write_codes(codes: &[Code<'_>], out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    let codes = codes.get(..codes.len().min(RUN_LONGEST)).unwrap_or_default();
    let plain = [2_u32, 16, 10, 8].into_iter().find_map(|radix| {
        let plain: Option<Vec<u8>> = codes.iter().map(|(_, digits)| code(digits, radix)).collect();
        plain.filter(|plain| is_text(plain))
    });
    let (Some(plain), Some((first, _))) = (plain, codes.first()) else { return Ok(()) };
    out.cut(first.start, budget)?;
    for (byte, (range, _)) in plain.iter().zip(codes) {
        out.push(&[*byte], range.clone(), budget)?;
    }
    Ok(())
}

/// Where a number stands, and its digits.
type Code<'a> = (Range<usize>, &'a [u8]);

/// Numbers of two to eight digits with short separators between them.
fn code_list(text: &[u8], start: usize) -> (Vec<Code<'_>>, usize) {
    let mut codes = Vec::new();
    let mut at = start;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let prefix = if rest.starts_with(b"0x") || rest.starts_with(b"0b") || rest.starts_with(b"0o") { 2 } else { 0 };
        let digits = rest.get(prefix..).unwrap_or_default();
        let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if !(2..=8).contains(&length) {
            return (codes, at.saturating_add(prefix).saturating_add(length));
        }
        let end = at.saturating_add(prefix).saturating_add(length);
        codes.push((at..end, digits.get(..length).unwrap_or_default()));
        let after = text.get(end..).unwrap_or_default();
        let between =
            after.iter().take(3).take_while(|byte| matches!(byte, b' ' | b',' | b'-' | b':' | b';' | b'\n')).count();
        at = end.saturating_add(between);
        if between == 0 {
            return (codes, end);
        }
    }
}

fn code(digits: &[u8], radix: u32) -> Option<u8> {
    let right_length = match radix {
        2 => digits.len() >= 7,
        16 => digits.len() == 2,
        _ => (2..=3).contains(&digits.len()),
    };
    if !right_length {
        return None;
    }
    let value = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    u8::try_from(value).ok()
}

/// Copies a text with some of its parts replaced, but only what stands near a replacement.
struct Patch<'a> {
    text: &'a [u8],
    out: Builder,
    /// Copied up to here.
    at: usize,
    /// Copying goes on up to here.
    keep: usize,
}

/// What stands that near to something decoded is copied beside it: a sentence may be written in part.
const CONTEXT: usize = 200;

impl<'a> Patch<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { text, out: builder(), at: 0, keep: 0 }
    }

    fn replace(&mut self, range: Range<usize>, bytes: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        let from = range.start.saturating_sub(CONTEXT);
        if from > self.keep {
            self.copy(self.keep, budget)?;
            self.out.cut(from, budget)?;
            self.at = from;
        }
        self.copy(range.start, budget)?;
        self.out.push(bytes, range.clone(), budget)?;
        self.at = range.end;
        self.keep = range.end.saturating_add(CONTEXT);
        Ok(())
    }

    fn copy(&mut self, to: usize, budget: &mut Budget) -> Result<(), Stop> {
        let to = to.min(self.text.len());
        let bytes = self.text.get(self.at..to).unwrap_or_default();
        self.out.push(bytes, self.at..self.at.saturating_add(bytes.len()), budget)?;
        self.at = self.at.max(to);
        Ok(())
    }

    fn done(mut self, layer: &'static str, budget: &mut Budget) -> Result<Option<Derived>, Stop> {
        if self.out.is_empty() {
            return Ok(None);
        }
        let end = self.keep.min(self.text.len());
        self.copy(end, budget)?;
        self.out.done(end, layer, false, budget)
    }
}

fn percent(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    let mut patch = Patch::of(text);
    for at in memchr::memchr_iter(b'%', text) {
        if let Some([high, low]) = text.get(at.saturating_add(1)..at.saturating_add(3))
            && let (Some(high), Some(low)) = (nibble(*high), nibble(*low))
            && high < 8
        {
            patch.replace(at..at.saturating_add(3), &[high << 4 | low], budget)?;
        }
    }
    patch.done("percent", budget)
}

/// Character references of HTML and XML.
fn references(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    const NAMES: &[(&str, char)] = &[
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("quot;", '"'),
        ("apos;", '\''),
        ("nbsp;", ' '),
        ("colon;", ':'),
        ("period;", '.'),
        ("comma;", ','),
        ("lpar;", '('),
        ("rpar;", ')'),
        ("sol;", '/'),
        ("excl;", '!'),
        ("NewLine;", '\n'),
        ("Tab;", '\t'),
        ("lowbar;", '_'),
        ("shy;", '\u{ad}'),
        ("zwnj;", '\u{200c}'),
    ];
    let mut patch = Patch::of(text);
    let mut buffer = [0_u8; 4];
    for at in memchr::memchr_iter(b'&', text) {
        let rest = text.get(at.saturating_add(1)..at.saturating_add(13).min(text.len())).unwrap_or_default();
        let found = match rest.strip_prefix(b"#") {
            Some(number) => reference(number).map(|(character, length)| (character, length.saturating_add(2))),
            None => NAMES
                .iter()
                .find(|(name, _)| rest.starts_with(name.as_bytes()))
                .map(|(name, character)| (*character, name.len().saturating_add(1))),
        };
        if let Some((character, length)) = found {
            patch.replace(at..at.saturating_add(length), character.encode_utf8(&mut buffer).as_bytes(), budget)?;
        }
    }
    patch.done("character references", budget)
}

/// A number behind `&#`: its character, and how many bytes it took.
fn reference(number: &[u8]) -> Option<(char, usize)> {
    let (digits, radix, prefix): (&[u8], u32, usize) = match number.first() {
        Some(b'x' | b'X') => (number.get(1..)?, 16, 1),
        _ => (number, 10, 0),
    };
    let length = digits.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let value = u32::from_str_radix(std::str::from_utf8(digits.get(..length)?).ok()?, radix).ok()?;
    let ends = usize::from(digits.get(length) == Some(&b';'));
    Some((char::from_u32(value)?, prefix.saturating_add(length).saturating_add(ends)))
}

/// Escapes of source code and JSON: `\u0041`, `\u{41}`, `\x41`, `\101`, `U+0041`.
fn escapes(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    let mut patch = Patch::of(text);
    let mut buffer = [0_u8; 4];
    let mut from = 0_usize;
    while let Some(at) =
        text.get(from..).and_then(|rest| memchr::memchr(b'\\', rest)).map(|more| from.saturating_add(more))
    {
        from = at.saturating_add(1);
        let rest = text.get(from..from.saturating_add(24).min(text.len())).unwrap_or_default();
        let Some((value, length)) = escape(rest) else { continue };
        if let Some(character) = char::from_u32(value) {
            // Escaped once more for JSON: the backslashes in front belong to the escape.
            let slashes = text
                .get(patch.at.min(at)..at)
                .unwrap_or_default()
                .iter()
                .rev()
                .take(3)
                .take_while(|byte| **byte == b'\\')
                .count();
            let range = at.saturating_sub(slashes)..from.saturating_add(length);
            from = range.end;
            patch.replace(range, character.encode_utf8(&mut buffer).as_bytes(), budget)?;
        }
    }
    patch.done("escapes", budget)
}

/// What stands behind a backslash: a code, and how many bytes it took. Surrogate pairs are one character.
fn escape(rest: &[u8]) -> Option<(u32, usize)> {
    let number = |digits: &[u8], radix: u32| {
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok().filter(|_| !digits.is_empty())
    };
    match rest {
        [b'u', b'{', digits @ ..] => {
            let length = digits.iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
            (digits.get(length) == Some(&b'}'))
                .then(|| Some((number(digits.get(..length)?, 16)?, length.saturating_add(3))))?
        }
        [b'u', digits @ ..] => {
            let high = number(digits.get(..4)?, 16)?;
            if let (0xd800..=0xdbff, Some([b'\\', b'u'])) = (high, digits.get(4..6))
                && let Some(low @ 0xdc00..=0xdfff) = digits.get(6..10).and_then(|low| number(low, 16))
            {
                let character =
                    (high.wrapping_sub(0xd800) << 10).wrapping_add(low.wrapping_sub(0xdc00)).wrapping_add(0x10000);
                return Some((character, 11));
            }
            Some((high, 5))
        }
        [b'U', digits @ ..] => Some((number(digits.get(..8)?, 16)?, 9)),
        [b'x', digits @ ..] => Some((number(digits.get(..2)?, 16)?, 3)),
        [b'0'..=b'1', _, _, ..] => {
            let digits = rest.get(..3)?;
            digits.iter().all(|byte| (b'0'..=b'7').contains(byte)).then(|| Some((number(digits, 8)?, 3)))?
        }
        _ => None,
    }
}

fn quoted_printable(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    let mut patch = Patch::of(text);
    // Assignments such as a=10 look the same: only text that has several is taken for it.
    let codes = memchr::memchr_iter(b'=', text).filter_map(|at| {
        let value = match text.get(at.saturating_add(1)..at.saturating_add(3)) {
            Some([high, low]) if !high.is_ascii_lowercase() && !low.is_ascii_lowercase() => {
                nibble(*high)? << 4 | nibble(*low)?
            }
            Some([b'\n', _]) => return Some((at..at.saturating_add(2), None)),
            Some(b"\r\n") => return Some((at..at.saturating_add(3), None)),
            _ => return None,
        };
        (value >= 0x20).then_some((at..at.saturating_add(3), Some(value)))
    });
    let codes: Vec<(Range<usize>, Option<u8>)> = codes.collect();
    if codes.len() < 4 {
        return Ok(None);
    }
    for (range, value) in codes {
        match value {
            Some(value) => patch.replace(range, &[value], budget)?,
            None => patch.replace(range, b"", budget)?,
        }
    }
    patch.done("quoted-printable", budget)
}

/// Invisible tag characters, as the ASCII they stand for; variation selectors, as the bytes they number.
fn tags(text: &[u8], budget: &mut Budget) -> Result<Option<Derived>, Stop> {
    let mut out = builder();
    if text.is_ascii() {
        return Ok(None);
    }
    for at in memchr::memmem::find_iter(text, b"\xf3\xa0") {
        if let Some([high @ 0x80..=0x87, low]) = text.get(at.saturating_add(2)..at.saturating_add(4)) {
            let code = u32::from(high & 0x0f) << 6 | u32::from(low & 0x3f);
            let byte = match code {
                0x20..=0x7e => u8::try_from(code).ok(),
                // U+E0100 + n stands for the byte n + 16.
                0x100..=0x1ef => u8::try_from(code.wrapping_sub(0xf0)).ok(),
                _ => None,
            };
            if let Some(byte) = byte {
                out.push(&[byte], at..at.saturating_add(4), budget)?;
            }
        }
    }
    out.done(text.len(), "tags", false, budget)
}
