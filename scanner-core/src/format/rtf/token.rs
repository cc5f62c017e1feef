//! RTF, token by token: groups, control words, symbols, text.

use memchr::memchr3;

/// Letters of a control word, and digits of its number, that readers take (RTF 1.9.1, "Control word").
const LONGEST_WORD: usize = 32;
const LONGEST_NUMBER: usize = 10;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A control word, with its number.
    Word {
        name: &'a [u8],
        number: Option<i64>,
    },
    /// A word or a number that is longer than any reader takes.
    TooLong,
    /// A backslash and one character that is no letter.
    Symbol(u8),
    /// A byte written as two digits.
    Byte(u8),
    /// Text as it stands, without ends of lines.
    Text(&'a [u8]),
}

/// The tokens of a file.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What follows a word or a number that was too long.
    pending: Option<Token<'a>>,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, pending: None }
    }

    /// Where the next token begins.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self, by: usize) {
        self.at = self.at.saturating_add(by);
    }

    /// Takes bytes that are no text, behind `\bin`: `None` when fewer are left.
    pub(super) fn raw(&mut self, length: usize) -> Option<&'a [u8]> {
        let raw = self.rest().get(..length)?;
        self.step(length);
        Some(raw)
    }

    /// Behind a backslash.
    fn control(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let first = *rest.first()?;
        if !first.is_ascii_alphabetic() {
            self.step(1);
            if first == b'\'' {
                return Some(self.byte());
            }
            return Some(Token::Symbol(first));
        }
        let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or(rest);
        let (number, digits, is_number_long) = number(rest.get(length..).unwrap_or_default());
        let mut used = length.saturating_add(digits);
        // One blank ends the word and is no text.
        if rest.get(used) == Some(&b' ') {
            used = used.saturating_add(1);
        }
        self.step(used);
        let word = Token::Word { name, number };
        if length > LONGEST_WORD || is_number_long {
            self.pending = Some(word);
            return Some(Token::TooLong);
        }
        Some(word)
    }

    /// Two digits behind `\'`. What is none is a character of its own.
    fn byte(&mut self) -> Token<'a> {
        let digit = |at: usize| self.rest().get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (digit(0), digit(1)) {
            (Some(high), Some(low)) => {
                self.step(2);
                Token::Byte(u8::try_from(high << 4 | low).unwrap_or(0))
            }
            _ => Token::Symbol(b'\''),
        }
    }
}

/// A number, how many bytes it takes, and whether it is longer than any.
fn number(bytes: &[u8]) -> (Option<i64>, usize, bool) {
    let is_negative = bytes.first() == Some(&b'-');
    let start = usize::from(is_negative);
    let digits = bytes.get(start..).unwrap_or_default();
    let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    if length == 0 {
        return (None, 0, false);
    }
    let value = digits
        .iter()
        .take(length)
        .fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit.saturating_sub(b'0'))));
    let value = if is_negative { value.saturating_neg() } else { value };
    (Some(value), start.saturating_add(length), length > LONGEST_NUMBER)
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(pending) = self.pending.take() {
            return Some(pending);
        }
        loop {
            let rest = self.rest();
            match rest.first()? {
                b'{' => {
                    self.step(1);
                    return Some(Token::Open);
                }
                b'}' => {
                    self.step(1);
                    return Some(Token::Close);
                }
                b'\\' => {
                    self.step(1);
                    return self.control();
                }
                b'\r' | b'\n' | 0 => self.step(1),
                _ => {
                    let end = memchr3(b'{', b'}', b'\\', rest).unwrap_or(rest.len());
                    let text = rest.get(..end).unwrap_or(rest);
                    let end = text.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)).unwrap_or(end);
                    self.step(end);
                    return Some(Token::Text(text.get(..end).unwrap_or(text)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(name: &[u8], number: Option<i64>) -> Token<'_> {
        Token::Word { name, number }
    }

    #[test]
    fn every_kind_of_token() {
        let tokens: Vec<Token<'_>> = Tokens::of(b"{\\rtf1\\b0 a b\r\n\\'e9\\~\\'zz\\*\\u-5?}").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                word(b"rtf", Some(1)),
                word(b"b", Some(0)),
                Token::Text(b"a b"),
                Token::Byte(0xe9),
                Token::Symbol(b'~'),
                Token::Symbol(b'\''),
                Token::Text(b"zz"),
                Token::Symbol(b'*'),
                word(b"u", Some(-5)),
                Token::Text(b"?"),
                Token::Close
            ]
        );
    }

    #[test]
    fn what_is_too_long_is_said_and_read() {
        let mut tokens = Tokens::of(b"\\u-99999999999999999999 x");
        assert_eq!(tokens.next(), Some(Token::TooLong));
        assert_eq!(tokens.next(), Some(word(b"u", Some(-i64::MAX))));
        assert_eq!(tokens.next(), Some(Token::Text(b"x")));
        let long = [&b"\\"[..], &[b'a'; 40]].concat();
        assert_eq!(Tokens::of(&long).next(), Some(Token::TooLong));
        assert_eq!(Tokens::of(b"\\").next(), None);
    }

    #[test]
    fn raw_bytes_are_stepped_over() {
        let mut tokens = Tokens::of(b"\\bin3 {{{x");
        assert_eq!(tokens.next(), Some(word(b"bin", Some(3))));
        assert_eq!(tokens.raw(3), Some(&b"{{{"[..]));
        assert_eq!(tokens.raw(2), None);
        assert_eq!(tokens.next(), Some(Token::Text(b"x")));
    }
}
