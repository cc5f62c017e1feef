//! Maps to Unicode (ISO 32000-1 §9.10.3): `bfchar` and `bfrange`.

use super::Font;
use crate::format::pdf::lex::{self, Lexer, Token};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

/// Characters one entry of a map may stand for: ligatures have three.
const MOST_CHARACTERS: usize = 16;

impl Font {
    /// Reads a map.
    pub(super) fn unicode(&mut self, map: &[u8], budget: &mut Budget) -> Result<(), Stop> {
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

    #[test]
    fn maps_to_unicode_are_read() {
        let mut font = Font { simple: None, is_wide: true, ..Font::plain() };
        let map =
            b"1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0001> <0041>\n<0002><00660066> \
                    endbfchar 2 beginbfrange <0010> <0012> <0061> <0020><0021>[<0078> <D83DDE00>] endbfrange";
        font.unicode(map, &mut Budget::new(Limits::default())).unwrap();
        assert_eq!(
            crate::format::pdf::font::tests::text(&font, b"\0\x01\0\x02\0\x10\0\x11\0\x12\0\x20\0\x21\0\x99"),
            "Affabcx\u{1f600}"
        );
    }
}
