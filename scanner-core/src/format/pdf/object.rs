//! Objects (ISO 32000-1 §7.3), built without recursion: nesting is a stack of our own, with an end.

use std::borrow::Cow;

use super::lex::{self, Lexer, Name, Token};

/// Levels of arrays and dictionaries in each other. Honest files stay below thirty; readers overflow their stack
/// somewhere above a thousand.
const DEEPEST: usize = 200;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Name(Cow<'a, [u8]>),
    /// As it stands between round brackets.
    Literal(&'a [u8]),
    /// As it stands between angle brackets.
    Hex(&'a [u8]),
    Array(Vec<Self>),
    Dict(Dict<'a>),
    Ref(u32),
}

/// A dictionary in the order it is written, doubled keys included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dict<'a> {
    pub(super) entries: Vec<(Cow<'a, [u8]>, Object<'a>)>,
}

impl<'a> Object<'a> {
    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn real(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(real_of(*value)),
            Self::Real(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn dict(&self) -> Option<&Dict<'a>> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn reference(&self) -> Option<u32> {
        match self {
            Self::Ref(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self, Self::Literal(_) | Self::Hex(_))
    }

    /// The bytes of a string, its brackets' escapes undone.
    pub(super) fn string(&self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Literal(raw) => Some(lex::literal(raw)),
            Self::Hex(raw) => Some(Cow::Owned(lex::hexadecimal(raw))),
            _ => None,
        }
    }
}

/// An integer as a real, as exactly as pages need it.
pub(super) fn real_of(value: i64) -> f64 {
    let clamped = value.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    i32::try_from(clamped).map_or(0.0, f64::from)
}

impl<'a> Dict<'a> {
    /// The last value of a key, which is the one most readers take.
    pub(super) fn get(&self, key: &str) -> Option<&Object<'a>> {
        self.entries.iter().rev().find(|(known, _)| **known == *key.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn name(&self, key: &str) -> Option<&[u8]> {
        self.get(key).and_then(Object::name)
    }

    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        self.name(key) == Some(name.as_bytes())
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| *value != Object::Null)
    }

    /// A key with two different values: which one counts depends on the reader.
    fn is_ambiguous(&self) -> bool {
        let differ = |a: &(Cow<'_, [u8]>, Object<'_>), b: &(Cow<'_, [u8]>, Object<'_>)| a.0 == b.0 && a.1 != b.1;
        if self.entries.len() <= 12 {
            let mut rest = self.entries.as_slice();
            while let [first, tail @ ..] = rest {
                if tail.iter().any(|other| differ(first, other)) {
                    return true;
                }
                rest = tail;
            }
            return false;
        }
        let mut sorted: Vec<_> = self.entries.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted.windows(2).any(|pair| matches!(pair, [a, b] if differ(a, b)))
    }
}

/// How an object could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// A string without an end.
    Endless,
    /// The bytes end inside.
    Cut,
    /// Nested deeper than [`DEEPEST`].
    Deep,
    /// Something stands where a value should.
    Odd,
    /// More values than are left in the budget.
    Many,
}

/// What was odd about objects that could be read.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    /// Values built.
    pub(super) values: u64,
    /// Values that may still be built.
    pub(super) most: u64,
    /// Names written with needless escapes, decoded.
    pub(super) disguised: Vec<Vec<u8>>,
    pub(super) has_ambiguous_dict: bool,
    pub(super) has_zero_in_name: bool,
    /// A bracket of the other kind stood where one was to be closed.
    pub(super) has_wrong_bracket: bool,
}

/// A disguised name more or less tells nothing new.
const DISGUISED_KEPT: usize = 64;

enum Open<'a> {
    Array(Vec<Object<'a>>),
    Dict(Dict<'a>, Option<Cow<'a, [u8]>>),
}

impl<'a> Open<'a> {
    fn take(&mut self, value: Object<'a>) {
        match self {
            Open::Array(values) => values.push(value),
            Open::Dict(dict, key) => match key.take() {
                Some(name) => dict.entries.push((name, value)),
                // A second number may belong to a reference: it waits under the key that came before.
                None => extend_last(dict, value),
            },
        }
    }

    fn close(self) -> Object<'a> {
        match self {
            Open::Array(values) => Object::Array(values),
            Open::Dict(mut dict, key) => {
                dict.entries.extend(key.map(|key| (key, Object::Null)));
                Object::Dict(dict)
            }
        }
    }
}

/// Reads one value. The lexer is left behind it, or where it broke: what was read until then comes back all the same,
/// as readers that repair would have it.
pub(super) fn parse<'a>(lexer: &mut Lexer<'a>, odd: &mut Oddities) -> (Object<'a>, Option<Broken>) {
    let mut open: Vec<Open<'a>> = Vec::new();
    let broken = loop {
        if odd.values >= odd.most {
            break Broken::Many;
        }
        odd.values = odd.values.saturating_add(1);
        let before = lexer.position();
        let value = match lexer.next() {
            Token::Int(value) => Object::Int(value),
            Token::Real(value) => Object::Real(value),
            Token::Literal(raw) => Object::Literal(raw),
            Token::Hex(raw) => Object::Hex(raw),
            Token::Name(name) => {
                let name = noted(name, odd);
                if let Some(Open::Dict(_, key @ None)) = open.last_mut() {
                    *key = Some(name);
                    continue;
                }
                Object::Name(name)
            }
            token @ (Token::ArrayOpen | Token::DictOpen) => {
                if open.len() >= DEEPEST {
                    break Broken::Deep;
                }
                open.push(match token {
                    Token::ArrayOpen => Open::Array(Vec::new()),
                    _ => Open::Dict(Dict::default(), None),
                });
                continue;
            }
            token @ (Token::ArrayClose | Token::DictClose) => match (open.pop(), token) {
                (Some(closed @ Open::Array(_)), Token::ArrayClose) => closed.close(),
                (Some(closed @ Open::Dict(..)), Token::DictClose) => {
                    let closed = closed.close();
                    odd.has_ambiguous_dict |= closed.dict().is_some_and(Dict::is_ambiguous);
                    closed
                }
                // The wrong bracket is stepped over.
                (Some(other), _) => {
                    odd.has_wrong_bracket = true;
                    open.push(other);
                    continue;
                }
                (None, _) => break Broken::Odd,
            },
            Token::Word(b"true") => Object::Bool(true),
            Token::Word(b"false") => Object::Bool(false),
            Token::Word(b"null") => Object::Null,
            Token::Word(b"R") => match open.last_mut().and_then(take_reference) {
                Some(reference) => reference,
                None => break Broken::Odd,
            },
            Token::Word(word) => {
                // An object that is not closed ends where the next thing begins; inside a container an unknown word
                // is stepped over, as readers do.
                if open.is_empty() || word.starts_with(b"endobj") || word.starts_with(b"endstream") || word == b"obj" {
                    lexer.seek(before);
                    break Broken::Odd;
                }
                Object::Null
            }
            Token::Endless => break Broken::Endless,
            Token::End => break Broken::Cut,
        };
        match open.last_mut() {
            None => return (whole(value, lexer), None),
            Some(container) => container.take(value),
        }
    };
    let mut value = Object::Null;
    while let Some(mut container) = open.pop() {
        if value != Object::Null {
            container.take(value);
        }
        value = container.close();
    }
    (value, Some(broken))
}

/// Numbers in a dictionary come one by one before the `R` that makes them a reference.
fn extend_last<'a>(dict: &mut Dict<'a>, value: Object<'a>) {
    let Some((_, last)) = dict.entries.last_mut() else { return };
    match last {
        Object::Int(first) if matches!(value, Object::Int(_)) => {
            *last = Object::Array(vec![Object::Int(*first), value]);
        }
        _ => {}
    }
}

/// Takes `n g` back from the end of what is open.
fn take_reference<'a>(open: &mut Open<'a>) -> Option<Object<'a>> {
    let number = match open {
        Open::Array(values) => {
            let [.., Object::Int(number), Object::Int(_)] = values.as_slice() else { return None };
            let number = *number;
            values.truncate(values.len().saturating_sub(2));
            number
        }
        Open::Dict(dict, key) => {
            let (_, last) = dict.entries.last()?;
            let Object::Array(pair) = last else { return None };
            let [Object::Int(number), Object::Int(_)] = pair.as_slice() else { return None };
            let number = *number;
            // The key takes the reference in its place.
            *key = dict.entries.pop().map(|(name, _)| name);
            number
        }
    };
    Some(u32::try_from(number).map_or(Object::Null, Object::Ref))
}

/// A value at the outermost level: two more tokens may make it a reference.
fn whole<'a>(value: Object<'a>, lexer: &mut Lexer<'a>) -> Object<'a> {
    let Object::Int(number) = value else { return value };
    let mut ahead = lexer.clone();
    if let (Token::Int(_), Token::Word(b"R")) = (ahead.next(), ahead.next())
        && let Ok(number) = u32::try_from(number)
    {
        *lexer = ahead;
        return Object::Ref(number);
    }
    value
}

fn noted<'a>(name: Name<'a>, odd: &mut Oddities) -> Cow<'a, [u8]> {
    if let Cow::Owned(text) = &name.text {
        odd.has_zero_in_name |= text.contains(&0);
        if name.is_disguised && odd.disguised.len() < DISGUISED_KEPT {
            odd.disguised.push(text.clone());
        }
    }
    name.text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &[u8]) -> (Object<'_>, Option<Broken>) {
        let mut odd = Oddities { most: 1000, ..Oddities::default() };
        parse(&mut Lexer::new(data, 0), &mut odd)
    }

    #[test]
    fn references_are_told_from_numbers() {
        let (object, broken) = read(b"<</A 1 0 R/B[1 2 0 R 3]/C 4/D 5 0 R>>");
        let dict = object.dict().unwrap();
        assert_eq!(broken, None);
        assert_eq!(dict.get("A"), Some(&Object::Ref(1)));
        assert_eq!(dict.get("B"), Some(&Object::Array(vec![Object::Int(1), Object::Ref(2), Object::Int(3)])));
        assert_eq!(dict.get("C"), Some(&Object::Int(4)));
        assert_eq!(dict.get("D"), Some(&Object::Ref(5)));
        assert_eq!(read(b"7 0 R"), (Object::Ref(7), None));
        assert_eq!(read(b"7 endobj"), (Object::Int(7), None));
    }

    #[test]
    fn what_is_broken_is_told_and_what_was_read_stays() {
        let one_two = || Object::Array(vec![Object::Int(1), Object::Int(2)]);
        assert_eq!(read(b"[1 2"), (one_two(), Some(Broken::Cut)));
        assert_eq!(read(b"[1 >>2]"), (one_two(), None));
        assert_eq!(read(b"[1 2(a"), (one_two(), Some(Broken::Endless)));
        assert_eq!(read("[".repeat(300).as_bytes()).1, Some(Broken::Deep));
        assert_eq!(read("0 ".repeat(2000).replacen("0 ", "[ ", 1).as_bytes()).1, Some(Broken::Many));
        let (object, broken) = read(b"<</A 1/B<</C 2 endobj");
        assert_eq!(broken, Some(Broken::Odd));
        assert_eq!(object.dict().unwrap().get("B").unwrap().dict().unwrap().get("C"), Some(&Object::Int(2)));
    }

    #[test]
    fn a_key_with_two_values_is_noticed() {
        let mut odd = Oddities { most: 1000, ..Oddities::default() };
        parse(&mut Lexer::new(b"<</A 1/A 1>>", 0), &mut odd);
        assert!(!odd.has_ambiguous_dict);
        parse(&mut Lexer::new(b"<</A 1/A 2>>", 0), &mut odd);
        assert!(odd.has_ambiguous_dict);
    }
}
