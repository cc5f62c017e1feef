//! Bytes to tokens: a pull lexer that never fails on the inside of a string.

use memchr::memchr2;

use crate::finding::Stop;

use super::{Quirk, Quirks, decode};

/// A string as it stands between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    /// Offset of the first byte after the opening quote.
    pub(super) start: usize,
    /// Offset of the closing quote, or of the end of a cut input.
    pub(super) end: usize,
    /// Whether its bytes are its text as they stand.
    pub(super) plain: bool,
}

/// One token and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open(u8),
    Close(u8),
    Colon,
    Comma,
    Text(Raw),
    Number(usize, usize),
    Word(Word, usize, usize),
    End,
}

/// The literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Null,
    True,
    False,
}

const WORDS: [(&[u8], Word); 3] = [(b"null", Word::Null), (b"true", Word::True), (b"false", Word::False)];
/// Not JSON, but what Python's `json.dumps` writes for a float that has no value.
const NO_NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

#[derive(Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The whole input is UTF-8, so that no string has to be asked again.
    utf8: bool,
    /// The input ended in a string.
    pub(super) is_cut: bool,
    pub(super) quirks: Quirks,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let utf8 = std::str::from_utf8(bytes).is_ok();
        let mut lexer = Self { bytes, at: 0, utf8, is_cut: false, quirks: Quirks::default() };
        if bytes.starts_with(b"\xef\xbb\xbf") {
            lexer.at = 3;
            lexer.quirks.note(Quirk::ByteOrderMark, 0);
        }
        lexer
    }

    pub(super) fn skip_white(&mut self) {
        let rest = self.rest();
        let white = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).unwrap_or(rest.len());
        self.at = self.at.saturating_add(white);
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn stop(&self, what: &'static str) -> Stop {
        Stop::malformed(what, u64::try_from(self.at).unwrap_or(u64::MAX))
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Result<Token, Stop> {
        self.skip_white();
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.first().copied() else { return Ok(Token::End) };
        let single = match first {
            b'{' | b'[' => Some(Token::Open(first)),
            b'}' | b']' => Some(Token::Close(first)),
            b':' => Some(Token::Colon),
            b',' => Some(Token::Comma),
            _ => None,
        };
        if let Some(token) = single {
            self.at = start.saturating_add(1);
            return Ok(token);
        }
        if first == b'"' {
            self.at = start.saturating_add(1);
            return Ok(Token::Text(self.text()));
        }
        for (spelling, word) in WORDS {
            if rest.starts_with(spelling) {
                self.at = start.saturating_add(spelling.len());
                return Ok(Token::Word(word, start, self.at));
            }
        }
        for spelling in NO_NUMBERS {
            if rest.starts_with(spelling) {
                self.quirks.note(Quirk::Structure, start);
                self.at = start.saturating_add(spelling.len());
                return Ok(Token::Number(start, self.at));
            }
        }
        if first == b'-' || first.is_ascii_digit() {
            let length = rest
                .iter()
                .position(|byte| !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
                .unwrap_or(rest.len());
            self.at = start.saturating_add(length);
            if !is_number(rest.get(..length).unwrap_or_default()) {
                self.quirks.note(Quirk::Structure, start);
            }
            return Ok(Token::Number(start, self.at));
        }
        Err(self.stop("a JSON value was expected"))
    }

    /// The rest of a string whose opening quote is behind.
    fn text(&mut self) -> Raw {
        let start = self.at;
        let mut escaped = false;
        let end = loop {
            let Some(length) = memchr2(b'"', b'\\', self.rest()) else {
                // Cut. What there is stays; the next token is the end of the input.
                self.at = self.bytes.len();
                self.is_cut = true;
                break self.at;
            };
            let found = self.at.saturating_add(length);
            if self.bytes.get(found) == Some(&b'"') {
                self.at = found.saturating_add(1);
                break found;
            }
            escaped = true;
            self.at = found.saturating_add(2).min(self.bytes.len());
        };
        let raw = self.bytes.get(start..end).unwrap_or_default();
        // Folded, not searched: the compiler makes wide compares of it, and honest strings hold none.
        if raw.iter().fold(false, |found, byte| found | (*byte < b' ')) {
            self.quirks.note(Quirk::Control, start);
        }
        let dirty = !self.utf8 && std::str::from_utf8(raw).is_err();
        if escaped || dirty {
            decode::pieces(raw, |piece| {
                if let Some(quirk) = piece.quirk {
                    self.quirks.note(quirk, start.saturating_add(piece.at));
                }
            });
        }
        Raw { start, end, plain: !escaped && !dirty }
    }
}

/// RFC 8259 §6: no zero before another digit, digits on both sides of a point and behind an `e`.
fn is_number(spelling: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = spelling.strip_prefix(b"-").unwrap_or(spelling);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with(b"0") {
        return false;
    }
    let mut rest = rest.get(whole..).unwrap_or_default();
    if let Some(behind) = rest.strip_prefix(b".") {
        let places = digits(behind);
        if places == 0 {
            return false;
        }
        rest = behind.get(places..).unwrap_or_default();
    }
    if let Some(behind) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let behind = behind.strip_prefix(b"+").or_else(|| behind.strip_prefix(b"-")).unwrap_or(behind);
        return !behind.is_empty() && digits(behind) == behind.len();
    }
    rest.is_empty()
}
