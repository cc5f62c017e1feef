//! Tokens (ISO 32000-1 §7.2): the same for files, object streams, page contents and character maps.

use std::borrow::Cow;

/// One token. Strings are as they stand, without their brackets: [`literal`] and [`hexadecimal`] undo them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Int(i64),
    Real(f64),
    Name(Name<'a>),
    Literal(&'a [u8]),
    Hex(&'a [u8]),
    ArrayOpen,
    ArrayClose,
    DictOpen,
    DictClose,
    Word(&'a [u8]),
    /// A string that never ends, from there on.
    Endless,
    End,
}

/// A name without its slash, its escapes undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// It was written with escapes that no writer needs: letters or digits.
    pub(super) is_disguised: bool,
}

/// White space of §7.2.2.
pub(super) const fn is_white(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

/// Which bytes are regular characters, looked up: most bytes of a file are asked.
const REGULAR: [bool; 256] = {
    let mut table = [false; 256];
    let mut rest = table.as_mut_slice();
    let mut byte = 0_u8;
    while let [slot, tail @ ..] = rest {
        *slot = !is_white(byte) && !is_delimiter(byte);
        byte = byte.wrapping_add(1);
        rest = tail;
    }
    table
};

fn is_regular(byte: u8) -> bool {
    REGULAR.get(usize::from(byte)).is_some_and(|is_regular| *is_regular)
}

/// A cursor over tokens.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    data: &'a [u8],
    /// The end of `data` that is not read yet.
    rest: &'a [u8],
}

impl<'a> Lexer<'a> {
    pub(super) fn new(data: &'a [u8], at: usize) -> Self {
        Self { data, rest: data.get(at..).unwrap_or_default() }
    }

    pub(super) fn position(&self) -> usize {
        self.data.len().saturating_sub(self.rest.len())
    }

    pub(super) fn seek(&mut self, at: usize) {
        self.rest = self.data.get(at..).unwrap_or_default();
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next bytes, as many as that.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, &[]));
        self.rest = rest;
        taken
    }

    /// Over white space alone: where a comment stands there, it is next.
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest;
        self.take(rest.iter().position(|byte| !is_white(*byte)).unwrap_or(rest.len()));
    }

    /// Over white space and comments.
    pub(super) fn skip_white(&mut self) {
        loop {
            self.skip_blanks();
            if self.rest.first() != Some(&b'%') {
                return;
            }
            self.take(memchr::memchr2(b'\n', b'\r', self.rest).unwrap_or(usize::MAX));
        }
    }

    /// The bytes as long as they are regular characters.
    fn regular(&mut self) -> &'a [u8] {
        let rest = self.rest;
        self.take(rest.iter().position(|byte| !is_regular(*byte)).unwrap_or(rest.len()))
    }

    /// Most tokens are words and numbers: they are told where they are asked for, and cost no call.
    #[inline]
    pub(super) fn next(&mut self) -> Token<'a> {
        self.skip_white();
        match self.rest.first() {
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
                let raw = self.regular();
                number(raw).unwrap_or(Token::Word(raw))
            }
            Some(first) if is_regular(*first) => Token::Word(self.regular()),
            Some(_) => self.delimited(),
            None => Token::End,
        }
    }

    /// What begins with a delimiter.
    fn delimited(&mut self) -> Token<'a> {
        let rest = self.rest;
        let (token, behind) = match rest {
            [b'/', tail @ ..] => {
                self.rest = tail;
                return Token::Name(name(self.regular()));
            }
            [b'(', tail @ ..] => literal_end(tail),
            [b'<', b'<', tail @ ..] => (Token::DictOpen, tail),
            [b'<', tail @ ..] => match memchr::memchr(b'>', tail).and_then(|length| tail.split_at_checked(length)) {
                Some((raw, behind)) => (Token::Hex(raw), behind.get(1..).unwrap_or_default()),
                None => (Token::Endless, Default::default()),
            },
            [b'>', b'>', tail @ ..] => (Token::DictClose, tail),
            [b'[', tail @ ..] => (Token::ArrayOpen, tail),
            [b']', tail @ ..] => (Token::ArrayClose, tail),
            _ => rest.split_at_checked(1).map_or((Token::End, rest), |(one, tail)| (Token::Word(one), tail)),
        };
        self.rest = behind;
        token
    }
}

/// A literal string whose first bracket is read, and what stands behind it. Round brackets come in pairs, a backslash
/// takes the next byte along (§7.3.4.2).
fn literal_end(text: &[u8]) -> (Token<'_>, &[u8]) {
    let mut rest = text;
    let mut open = 1_usize;
    while let Some([mark, tail @ ..]) = memchr::memchr3(b'(', b')', b'\\', rest).and_then(|found| rest.get(found..)) {
        rest = tail;
        match mark {
            b'\\' => rest = tail.get(1..).unwrap_or_default(),
            b'(' => open = open.saturating_add(1),
            _ => open = open.saturating_sub(1),
        }
        if open == 0 {
            let length = text.len().saturating_sub(tail.len()).saturating_sub(1);
            return (Token::Literal(text.get(..length).unwrap_or_default()), tail);
        }
    }
    (Token::Endless, &[])
}

/// An integer or a real; what overflows or reads strangely (`--5`, `1.2.3`) as readers take it, where they do.
fn number<'a>(raw: &[u8]) -> Option<Token<'a>> {
    let (negative, digits) = match raw {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, raw),
    };
    // A doubled sign is read as one by most.
    let digits = if let [b'-', rest @ ..] = digits { rest } else { digits };
    let mut value = 0_i64;
    let mut rest = digits;
    while let [digit @ b'0'..=b'9', tail @ ..] = rest {
        value = value.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0')));
        rest = tail;
    }
    if digits.is_empty() || !rest.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-')) {
        return None;
    }
    if rest.is_empty() {
        return Some(Token::Int(if negative { value.saturating_neg() } else { value }));
    }
    let mut value = 0.0_f64;
    let mut scale = 0.0_f64;
    for byte in digits {
        match byte {
            b'.' if scale == 0.0 => scale = 1.0,
            b'0'..=b'9' => {
                let digit = f64::from(byte.wrapping_sub(b'0'));
                if scale == 0.0 {
                    value = value * 10.0 + digit;
                } else {
                    scale /= 10.0;
                    value += digit * scale;
                }
            }
            _ => break,
        }
    }
    Some(Token::Real(if negative { -value } else { value }))
}

/// Undoes `#xx` (§7.3.5).
fn name(raw: &[u8]) -> Name<'_> {
    let mut is_disguised = false;
    if memchr::memchr(b'#', raw).is_none() {
        return Name { text: Cow::Borrowed(raw), is_disguised };
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'#', [high, low, tail @ ..]) => {
                if let (Some(high), Some(low)) = (digit(*high), digit(*low)) {
                    let byte = high << 4 | low;
                    is_disguised |= byte.is_ascii_alphanumeric();
                    text.push(byte);
                    rest = tail;
                } else {
                    text.push(b'#');
                }
            }
            _ => text.push(*first),
        }
    }
    Name { text: Cow::Owned(text), is_disguised }
}

pub(super) const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
        b'A'..=b'F' => Some(byte.wrapping_sub(b'A').wrapping_add(10)),
        _ => None,
    }
}

/// The bytes of a literal string (§7.3.4.2).
pub(super) fn literal(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\\', b'\r', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'\r' {
            text.push(b'\n');
            rest = tail.strip_prefix(b"\n").unwrap_or(tail);
            continue;
        }
        if *first != b'\\' {
            text.push(*first);
            continue;
        }
        let [escaped, tail @ ..] = tail else { break };
        rest = tail;
        match escaped {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\n' => {}
            b'\r' => rest = tail.strip_prefix(b"\n").unwrap_or(tail),
            b'0'..=b'7' => {
                let mut value = escaped.wrapping_sub(b'0');
                for _ in 0..2 {
                    let [next @ b'0'..=b'7', tail @ ..] = rest else { break };
                    // A number above 255 loses its high bit.
                    value = value.wrapping_shl(3) | next.wrapping_sub(b'0');
                    rest = tail;
                }
                text.push(value);
            }
            other => text.push(*other),
        }
    }
    Cow::Owned(text)
}

/// The bytes of a hexadecimal string (§7.3.4.3): what is no digit is skipped, a missing last digit is zero.
pub(super) fn hexadecimal(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len().div_ceil(2));
    let mut half = None;
    for value in raw.iter().copied().filter_map(digit) {
        half = match half {
            None => Some(value << 4),
            Some(high) => {
                text.push(high | value);
                None
            }
        };
    }
    text.extend(half);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(data: &[u8]) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(data, 0);
        let mut tokens = Vec::new();
        loop {
            match lexer.next() {
                Token::End => return tokens,
                token => tokens.push(token),
            }
        }
    }

    #[test]
    fn tokens_of_every_kind() {
        let name = |text: &'static [u8], is_disguised| Token::Name(Name { text: Cow::Borrowed(text), is_disguised });
        assert_eq!(
            all(b"<</J#61va#20x/ /A%c\n[-1 +.5 --3 4.](a(b)\\)c)<4 1>true>>"),
            [
                Token::DictOpen,
                name(b"Java x", true),
                name(b"", false),
                name(b"A", false),
                Token::ArrayOpen,
                Token::Int(-1),
                Token::Real(0.5),
                Token::Int(-3),
                Token::Real(4.0),
                Token::ArrayClose,
                Token::Literal(b"a(b)\\)c"),
                Token::Hex(b"4 1"),
                Token::Word(b"true"),
                Token::DictClose,
            ]
        );
        assert_eq!(all(b"(a(b)"), [Token::Endless]);
        assert_eq!(all(b"<41"), [Token::Endless]);
        assert_eq!(all(b"99999999999999999999"), [Token::Int(i64::MAX)]);
        assert_eq!(all(b"a#zz/b#zz")[1], name(b"b#zz", false));
    }

    #[test]
    fn strings_lose_their_escapes() {
        assert_eq!(&*literal(b"a\\(\\101\\1\\n\\\r\nb\r\nc\\q\\"), b"a(A\x01\nb\ncq");
        assert_eq!(hexadecimal(b"4 1 4"), b"A@");
    }
}
