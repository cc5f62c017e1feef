//! From the codes of a page to characters: maps to Unicode, simple encodings, names of glyphs, the font's own tables
//! (ISO 32000-1 §9.6, §9.7, §9.10).
//!
//! A code that leads to no character is counted, never passed over: a page full of such codes shows a person words that
//! nothing here has read.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{
    document::Document,
    object::{Dict, Object},
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

mod encoding;
mod predefined;
mod program;
mod unicode;

use predefined::Coding;

/// Codes without characters that are told apart, in all fonts of a document together.
pub(super) const MOST_UNREAD: usize = 64;

/// Entries of a table of differences that are read.
const MOST_DIFFERENCES: usize = 1024;
/// Width of a character that nothing tells, in thousandths of the size.
const COMMON_WIDTH: f64 = 500.0;

/// What a string takes up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    pub(super) length: f64,
    pub(super) codes: f64,
}

/// How the codes of one font read.
#[derive(Debug, Default)]
pub(super) struct Font {
    /// Codes have two bytes.
    is_wide: bool,
    /// Characters of single codes: sorted by code; ranges into `characters`.
    singles: Vec<(u32, Box<str>)>,
    /// Runs of codes: first, last, first character.
    runs: Vec<(u32, u32, u32)>,
    /// What the 256 codes of a simple font are.
    simple: Option<Box<[Option<char>; 256]>>,
    /// Widths from a first code on, and runs of codes of one width.
    widths: Vec<(u32, u32, f64)>,
    /// The character and width of every code of one byte, where it is one character.
    quick: Vec<(Option<char>, f64)>,
    /// All codes of visible ASCII are those characters.
    is_ascii: bool,
    default_width: f64,
    /// Units of the font in units of text: a thousandth but for fonts drawn by the page itself.
    pub(super) unit: f64,
    /// Nothing is known about how large its glyphs are.
    pub(super) is_drawn: bool,
    /// Its strings are text already.
    coding: Option<Coding>,
}

/// Streams that say how the codes of a font read, unpacked.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The map to Unicode.
    pub(super) unicode: Option<Bytes>,
    /// The font program, which is asked where there is no map.
    pub(super) program: Option<Bytes>,
    /// From the codes of a composite font to the glyphs of its program, where they differ.
    pub(super) glyph_numbers: Option<Bytes>,
}

impl Beside {
    /// Bytes of all of them.
    pub(super) fn len(&self) -> usize {
        [&self.unicode, &self.program, &self.glyph_numbers].into_iter().flatten().map(Bytes::len).sum()
    }
}

/// Where the codes of a font that led to no character are noted, by the font's number.
pub(super) struct Unread<'u> {
    pub(super) codes: &'u mut BTreeSet<(usize, u32)>,
    pub(super) font: usize,
}

impl Unread<'_> {
    fn note(&mut self, code: u32) {
        if self.codes.len() < MOST_UNREAD {
            self.codes.insert((self.font, code));
        }
    }
}

impl Font {
    /// A font nobody described: the commonest encoding.
    pub(super) fn unknown() -> Self {
        let mut font = Self::plain();
        font.quicken();
        font
    }

    fn plain() -> Self {
        Self {
            simple: Some(encoding::table(b"WinAnsiEncoding")),
            default_width: COMMON_WIDTH,
            unit: 0.001,
            ..Self::default()
        }
    }

    /// Reads what a font dictionary says, and the streams beside it.
    pub(super) fn read<'a>(
        document: &Document<'a>,
        dict: &Dict<'a>,
        beside: &Beside,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let mut font = Self::plain();
        let kind = document.get(dict, "Subtype").name().unwrap_or_default();
        if kind == b"Type0" {
            font.is_wide = true;
            font.simple = None;
            font.default_width = 1000.0;
            if let Some(below) = below(document, dict) {
                font.composite_widths(document, below, budget)?;
            }
            if beside.unicode.is_none() {
                font.coding = document.get(dict, "Encoding").name().and_then(Coding::of);
            }
            if let Some(program) = &beside.program {
                font.glyphs(program, beside.glyph_numbers.as_deref(), budget)?;
            }
        } else {
            let built_in = match &beside.program {
                Some(program) => program::built_in_encoding(program, budget)?,
                None => None,
            };
            font.encoding(document, document.get(dict, "Encoding"), built_in, budget)?;
            font.simple_widths(document, dict, budget)?;
            if kind == b"Type3" {
                font.is_drawn = true;
                let scale = document.get(dict, "FontMatrix").array().and_then(|matrix| matrix.first()?.real());
                font.unit = scale.filter(|scale| *scale != 0.0).map_or(0.001, f64::abs);
            }
        }
        if let Some(map) = &beside.unicode {
            font.unicode(map, budget)?;
        }
        if !font.is_wide {
            font.quicken();
        }
        Ok(font)
    }

    /// Looks every code of one byte up, once.
    fn quicken(&mut self) {
        let mut text = String::new();
        self.quick = (0..256)
            .map(|code| {
                text.clear();
                self.look_up(code, &mut text);
                let mut characters = text.chars();
                let only = characters.next().filter(|first| characters.next().is_none() && !is_nothing(*first));
                (only, self.width(code))
            })
            .collect();
        self.is_ascii = (b' '..=b'~')
            .zip(self.quick.iter().skip(usize::from(b' ')))
            .all(|(byte, (character, _))| *character == Some(char::from(byte)));
    }

    /// A simple encoding: a base by name and differences from it.
    /// Without a base it is what the font program brings along, `built_in`.
    fn encoding<'a>(
        &mut self,
        document: &Document<'a>,
        value: &Object<'a>,
        built_in: Option<Box<[Option<char>; 256]>>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let base = match value {
            Object::Name(name) => Some(&**name),
            Object::Dict(dict) => document.get(dict, "BaseEncoding").name(),
            _ => None,
        };
        let mut table = match (base, built_in) {
            (None, Some(table)) => table,
            (base, _) => encoding::table(base.unwrap_or(b"StandardEncoding")),
        };
        // Each of 256 codes needs a name, and a number now and then.
        let differences = value.dict().and_then(|dict| document.get(dict, "Differences").array()).unwrap_or_default();
        let differences = differences.get(..MOST_DIFFERENCES).unwrap_or(differences);
        budget.spend(Resource::Steps, count(differences.len()).saturating_mul(10))?;
        let mut code = 0_usize;
        for value in differences {
            match value {
                Object::Int(start) => code = usize::try_from(*start).unwrap_or(usize::MAX),
                Object::Name(glyph) => {
                    if let Some(slot) = table.get_mut(code) {
                        *slot = encoding::character(glyph).or_else(|| encoding::named_by_code(glyph, code));
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
        self.simple = Some(table);
        Ok(())
    }

    fn simple_widths<'a>(&mut self, document: &Document<'a>, dict: &Dict<'a>, budget: &mut Budget) -> Result<(), Stop> {
        let first = document.get(dict, "FirstChar").int().and_then(|first| u32::try_from(first).ok()).unwrap_or(0);
        let widths = document.get(dict, "Widths").array().unwrap_or_default();
        budget.spend(Resource::Steps, count(widths.len().min(256)))?;
        for (code, width) in (first..=u32::MAX).zip(widths.iter().take(256)) {
            self.widths.extend(document.resolve(width).real().map(|width| (code, code, width)));
        }
        Ok(())
    }

    /// `/W`: `first [w w …]` or `first last w` (§9.7.4.3).
    fn composite_widths<'a>(
        &mut self,
        document: &Document<'a>,
        dict: &Dict<'a>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        if let Some(width) = document.get(dict, "DW").real() {
            self.default_width = width;
        }
        let code = |value: &Object<'_>| value.int().and_then(|code| u32::try_from(code).ok());
        let mut rest = document.get(dict, "W").array().unwrap_or_default();
        while let [first, second, tail @ ..] = rest {
            budget.spend(Resource::Steps, 5)?;
            let first = code(document.resolve(first));
            match (document.resolve(second), tail) {
                (Object::Array(widths), _) => {
                    budget.spend(Resource::Steps, count(widths.len()))?;
                    for (code, width) in (first.unwrap_or(u32::MAX)..=u32::MAX).zip(widths) {
                        self.widths.extend(width.real().map(|width| (code, code, width)));
                    }
                    rest = tail;
                }
                (last, [width, tail @ ..]) => {
                    if let (Some(first), Some(last), Some(width)) = (first, code(last), document.resolve(width).real())
                    {
                        self.widths.push((first, last, width));
                    }
                    rest = tail;
                }
                _ => break,
            }
        }
        self.widths.sort_by_key(|(first, ..)| *first);
        Ok(())
    }

    /// How much it took to read, in bytes or so.
    pub(super) fn work(&self) -> usize {
        self.widths.len().saturating_mul(4)
    }

    /// How many codes of a string are the blank of one byte, for which alone word spacing counts (§9.3.3).
    pub(super) fn blanks(&self, raw: &[u8]) -> f64 {
        let are_bytes = self.coding.is_none() && !self.is_wide;
        if are_bytes { real_of(memchr::memchr_iter(b' ', raw).count()) } else { 0.0 }
    }

    /// Writes the characters of a string. Comes back with its length in units of text, and how many codes it has.
    pub(super) fn show(&self, raw: &[u8], text: &mut String, unread: &mut Unread<'_>) -> Shown {
        let mut shown = Shown::default();
        if let Some(coding) = self.coding {
            let before = text.len();
            coding.write(raw, text);
            for character in text.get(before..).unwrap_or_default().chars() {
                shown.length += self.default_width * self.unit;
                shown.codes += 1.0;
                if is_nothing(character) {
                    unread.note(u32::from(character));
                }
            }
            return shown;
        }
        if self.is_wide {
            for pair in raw.as_chunks::<2>().0 {
                let code = u32::from(u16::from_be_bytes(*pair));
                self.write(code, text, unread);
                shown.length += self.width(code);
                shown.codes += 1.0;
            }
            return shown;
        }
        shown.codes = real_of(raw.len());
        // Nearly all there is: the codes are those of ASCII.
        if self.is_ascii
            && is_visible(raw)
            && let Ok(words) = std::str::from_utf8(raw)
        {
            text.push_str(words);
            shown.length = match self.widths.as_slice() {
                [] => shown.codes * self.default_width * self.unit,
                _ => raw.iter().map(|byte| self.quick.get(usize::from(*byte)).map_or(0.0, |(_, width)| *width)).sum(),
            };
            return shown;
        }
        for byte in raw {
            match self.quick.get(usize::from(*byte)) {
                Some((Some(character), width)) => {
                    text.push(*character);
                    shown.length += width;
                }
                _ => {
                    self.write(u32::from(*byte), text, unread);
                    shown.length += self.width(u32::from(*byte));
                }
            }
        }
        shown
    }

    /// Maps the codes of a composite font by the characters that its program has for its glyphs.
    fn glyphs(&mut self, program: &[u8], numbers: Option<&[u8]>, budget: &mut Budget) -> Result<(), Stop> {
        let glyphs = program::glyphs(program, budget)?;
        match numbers {
            None => self.runs.extend(
                glyphs.iter().map(|(glyph, character)| (u32::from(*glyph), u32::from(*glyph), u32::from(*character))),
            ),
            Some(numbers) => {
                let numbers = numbers.as_chunks::<2>().0;
                budget.spend(Resource::Steps, count(numbers.len()).saturating_mul(4))?;
                // Codes have two bytes.
                for (code, glyph) in (0..=u32::from(u16::MAX)).zip(numbers) {
                    let character = glyphs.get(&u16::from_be_bytes(*glyph));
                    self.runs.extend(character.map(|character| (code, code, u32::from(*character))));
                }
            }
        }
        Ok(())
    }

    fn width(&self, code: u32) -> f64 {
        let next = self.widths.partition_point(|(first, ..)| *first <= code);
        let found = next.checked_sub(1).and_then(|at| self.widths.get(at)).filter(|(_, last, _)| *last >= code);
        found.map_or(self.default_width, |(.., width)| *width) * self.unit
    }

    /// Writes the characters of a code.
    fn write(&self, code: u32, text: &mut String, unread: &mut Unread<'_>) {
        let before = text.len();
        self.look_up(code, text);
        if text.get(before..).unwrap_or_default().chars().all(is_nothing) {
            unread.note(code);
        }
    }

    fn look_up(&self, code: u32, text: &mut String) {
        if let Ok(at) = self.singles.binary_search_by_key(&code, |(known, _)| *known) {
            text.extend(self.singles.get(at).map(|(_, text)| &**text));
            return;
        }
        let next = self.runs.partition_point(|(first, ..)| *first <= code);
        let run = next.checked_sub(1).and_then(|at| self.runs.get(at)).filter(|(_, last, _)| *last >= code);
        if let Some((first, _, start)) = run {
            text.extend(char::from_u32(start.saturating_add(code.saturating_sub(*first))));
            return;
        }
        let simple = usize::try_from(code).ok().and_then(|code| self.simple.as_ref()?.get(code).copied().flatten());
        text.extend(simple);
    }
}

fn real_of(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Whether all bytes are visible ASCII. Never stops early: so they are compared many at a time.
fn is_visible(raw: &[u8]) -> bool {
    raw.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
}

/// Whether a character says nothing: one of nobody's, or a mark for what could not be read.
fn is_nothing(character: char) -> bool {
    matches!(character, '\0' | '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// The font below a composite one, which has its widths and its program.
fn below<'d, 'a>(document: &'d Document<'a>, dict: &'d Dict<'a>) -> Option<&'d Dict<'a>> {
    document.resolve(document.get(dict, "DescendantFonts").array()?.first()?).dict()
}

/// The streams beside a font: map to Unicode, program, glyph numbers. The program is wanted only where there is no map:
/// of a composite font with TrueType outlines, and of a Type 1 font with an encoding of its own.
pub(super) fn beside<'d, 'a>(document: &'d Document<'a>, dict: &'d Dict<'a>) -> [Option<usize>; 3] {
    let target = |dict: &'d Dict<'a>, key: &str| dict.get(key).and_then(|value| document.target(value));
    let unicode = target(dict, "ToUnicode");
    if unicode.is_some() {
        return [unicode, None, None];
    }
    let program = |dict: &'d Dict<'a>, key: &str| target(document.get(dict, "FontDescriptor").dict()?, key);
    match (document.get(dict, "Subtype").name(), below(document, dict)) {
        (Some(b"Type0"), Some(below)) => {
            // Outlines of OpenType fonts may be of either kind: their table of characters is the same.
            let program = program(below, "FontFile2").or_else(|| program(below, "FontFile3"));
            [None, program, target(below, "CIDToGIDMap")]
        }
        (Some(b"Type1"), _) => [None, program(dict, "FontFile"), None],
        _ => [None; 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn text(font: &Font, raw: &[u8]) -> String {
        let mut text = String::new();
        font.show(raw, &mut text, &mut Unread { codes: &mut BTreeSet::new(), font: 0 });
        text
    }

    #[test]
    fn simple_encodings_are_read() {
        assert_eq!(text(&Font::unknown(), b"caf\xe9 \x93x\x94"), "café “x”");
    }
}
