//! From the codes of a page to characters: maps to Unicode, simple encodings, names of glyphs (ISO 32000-1 §9.6, §9.10).

use super::{
    document::Document,
    lex::{self, Lexer, Token},
    object::{Dict, Object},
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

mod encoding;

/// Characters one entry of a map may stand for: ligatures have three.
const MOST_CHARACTERS: usize = 16;
/// Entries of a table of differences that are read.
const MOST_DIFFERENCES: usize = 1024;
/// Width of a character that nothing tells, in thousandths of the size.
const COMMON_WIDTH: f64 = 500.0;

/// What a string takes up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    pub(super) length: f64,
    pub(super) codes: f64,
    pub(super) blanks: f64,
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
    default_width: f64,
    /// Units of the font in units of text: a thousandth but for fonts drawn by the page itself.
    pub(super) unit: f64,
    /// Nothing is known about how large its glyphs are.
    pub(super) is_drawn: bool,
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

    /// Reads what a font dictionary says. `unicode`: the content of its map to Unicode.
    pub(super) fn read<'a>(
        document: &Document<'a>,
        dict: &Dict<'a>,
        unicode: Option<&[u8]>,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let mut font = Self::plain();
        let kind = document.get(dict, "Subtype").name().unwrap_or_default();
        if kind == b"Type0" {
            font.is_wide = true;
            font.simple = None;
            font.default_width = 1000.0;
            let parent = document.get(dict, "DescendantFonts").array().and_then(|fonts| fonts.first());
            if let Some(below) = parent.and_then(|below| document.resolve(below).dict()) {
                font.composite_widths(document, below, budget)?;
            }
        } else {
            font.encoding(document, document.get(dict, "Encoding"), budget)?;
            font.simple_widths(document, dict, budget)?;
            if kind == b"Type3" {
                font.is_drawn = true;
                let scale = document.get(dict, "FontMatrix").array().and_then(|matrix| matrix.first()?.real());
                font.unit = scale.filter(|scale| *scale != 0.0).map_or(0.001, f64::abs);
            }
        }
        if let Some(map) = unicode {
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
                self.write(code, &mut text);
                let mut characters = text.chars();
                (characters.next().filter(|_| characters.next().is_none()), self.width(code))
            })
            .collect();
    }

    /// A simple encoding: a base by name and differences from it.
    fn encoding<'a>(&mut self, document: &Document<'a>, value: &Object<'a>, budget: &mut Budget) -> Result<(), Stop> {
        let base = match value {
            Object::Name(name) => Some(&**name),
            Object::Dict(dict) => document.get(dict, "BaseEncoding").name(),
            _ => None,
        };
        let mut table = encoding::table(base.unwrap_or(b"StandardEncoding"));
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
                        *slot = encoding::character(glyph);
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

    /// A map to Unicode (§9.10.3): `bfchar` and `bfrange`.
    fn unicode(&mut self, map: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Steps, count(map.len()))?;
        let mut lexer = Lexer::new(map, 0);
        let mut section: &[u8] = b"";
        loop {
            match lexer.next() {
                Token::End | Token::Endless => break,
                Token::Word(word) => section = word,
                Token::Hex(first) if section == b"beginbfchar" => {
                    if let Token::Hex(text) = lexer.next() {
                        self.note_wide(first);
                        self.singles.extend(code_of(first).zip(text_of(text)));
                    }
                }
                Token::Hex(first) if section == b"beginbfrange" => {
                    let Token::Hex(last) = lexer.next() else { continue };
                    self.note_wide(first);
                    let (first, last) = (code_of(first), code_of(last));
                    match lexer.next() {
                        Token::Hex(text) => {
                            let (Some(first), Some(last), Some(text)) = (first, last, text_of(text)) else { continue };
                            let mut characters = text.chars();
                            match (characters.next(), characters.next()) {
                                (Some(start), None) => self.runs.push((first, last, u32::from(start))),
                                _ => self.singles.push((first, text)),
                            }
                        }
                        Token::ArrayOpen => {
                            for code in first.unwrap_or(u32::MAX)..=u32::MAX {
                                match lexer.next() {
                                    Token::Hex(text) => self.singles.extend(text_of(text).map(|text| (code, text))),
                                    _ => break,
                                }
                            }
                        }
                        _ => {}
                    }
                }
                Token::Hex(first) if section == b"begincodespacerange" => self.note_wide(first),
                _ => {}
            }
        }
        // The first of a code counts.
        self.singles.sort_by_key(|(code, _)| *code);
        self.singles.dedup_by_key(|(code, _)| *code);
        self.runs.sort_unstable();
        Ok(())
    }

    /// Composite fonts have codes of two bytes but where their map says one.
    fn note_wide(&mut self, code: &[u8]) {
        if self.simple.is_none() {
            self.is_wide = code.iter().filter(|byte| byte.is_ascii_hexdigit()).count() > 2;
        }
    }

    /// How much it took to read, in bytes or so.
    pub(super) fn work(&self) -> usize {
        self.widths.len().saturating_mul(4)
    }

    /// Writes the characters of a string. Comes back with its length in units of text, how many codes it has, and how
    /// many of them are the blank of one byte, for which alone word spacing counts (§9.3.3).
    pub(super) fn show(&self, raw: &[u8], text: &mut String) -> Shown {
        let mut shown = Shown::default();
        if self.is_wide {
            for pair in raw.as_chunks::<2>().0 {
                let code = u32::from(u16::from_be_bytes(*pair));
                self.write(code, text);
                shown.length += self.width(code);
                shown.codes += 1.0;
            }
            return shown;
        }
        for byte in raw {
            match self.quick.get(usize::from(*byte)) {
                Some((Some(character), width)) => {
                    text.push(*character);
                    shown.length += width;
                }
                _ => {
                    self.write(u32::from(*byte), text);
                    shown.length += self.width(u32::from(*byte));
                }
            }
            shown.codes += 1.0;
            shown.blanks += f64::from(u8::from(*byte == b' '));
        }
        shown
    }

    fn width(&self, code: u32) -> f64 {
        let next = self.widths.partition_point(|(first, ..)| *first <= code);
        let found = next.checked_sub(1).and_then(|at| self.widths.get(at)).filter(|(_, last, _)| *last >= code);
        found.map_or(self.default_width, |(.., width)| *width) * self.unit
    }

    /// Writes the characters of a code.
    pub(super) fn write(&self, code: u32, text: &mut String) {
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

/// A code of up to four bytes.
fn code_of(raw: &[u8]) -> Option<u32> {
    let bytes = lex::hexadecimal(raw.get(..32).unwrap_or(raw));
    (1..=4).contains(&bytes.len()).then(|| bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}

/// UTF-16, high byte first.
fn text_of(raw: &[u8]) -> Option<Box<str>> {
    let bytes = lex::hexadecimal(raw.get(..256).unwrap_or(raw));
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text: String = char::decode_utf16(pairs.iter().map(|pair| u16::from_be_bytes(*pair)))
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        // Some maps write one byte.
        .chain(rest.iter().filter(|_| pairs.is_empty()).map(|byte| char::from(*byte)))
        .take(MOST_CHARACTERS)
        .collect();
    (!text.is_empty()).then(|| text.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn text(font: &Font, raw: &[u8]) -> String {
        let mut text = String::new();
        font.show(raw, &mut text);
        text
    }

    #[test]
    fn maps_to_unicode_are_read() {
        let mut font = Font { simple: None, is_wide: true, ..Font::plain() };
        let map =
            b"1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0001> <0041>\n<0002><00660066> \
                    endbfchar 2 beginbfrange <0010> <0012> <0061> <0020><0021>[<0078> <D83DDE00>] endbfrange";
        font.unicode(map, &mut Budget::new(Limits::default())).unwrap();
        assert_eq!(text(&font, b"\0\x01\0\x02\0\x10\0\x11\0\x12\0\x20\0\x21\0\x99"), "Affabcx\u{1f600}");
    }

    #[test]
    fn simple_encodings_are_read() {
        assert_eq!(text(&Font::unknown(), b"caf\xe9 \x93x\x94"), "café “x”");
    }
}
