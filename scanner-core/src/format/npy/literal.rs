//! Python literals as the header of an array has them: dictionaries, tuples, lists, texts, numbers and a few names.
//! Nothing is evaluated: what is more than that is refused.

/// Values that wait for their end, one in another.
const DEEPEST: usize = 32;

/// One value. Those inside others are named by their number.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Pairs of key and value.
    Dict(Vec<(usize, usize)>),
    /// A tuple or a list.
    Sequence(Vec<usize>),
    Text(String),
    Number(u64),
    /// `True`, `False` or `None`.
    Other,
}

/// A value and all inside it.
#[derive(Debug, Default)]
pub(super) struct Literal {
    values: Vec<Value>,
    root: usize,
}

/// A container that is being read.
struct Open {
    end: u8,
    items: Vec<usize>,
    /// A colon stood behind the last item: the next is its value.
    awaits: bool,
    /// An item is complete, so that a comma may follow.
    is_complete: bool,
}

impl Literal {
    /// The value that the whole text is.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut literal = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut root = None;
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([' ', '\n', '\r', '\t', '\0']);
            let Some(first) = rest.bytes().next() else { break };
            if root.is_some() {
                return None;
            }
            let next = rest.get(1..);
            let done = match first {
                b'{' | b'(' | b'[' => {
                    if open.len() >= DEEPEST {
                        return None;
                    }
                    let end = if first == b'{' {
                        b'}'
                    } else if first == b'(' {
                        b')'
                    } else {
                        b']'
                    };
                    open.push(Open { end, items: Vec::new(), awaits: false, is_complete: false });
                    rest = next?;
                    continue;
                }
                b'}' | b')' | b']' => {
                    let closed = open.pop().filter(|open| open.end == first && !open.awaits)?;
                    rest = next?;
                    if first == b'}' {
                        let (pairs, odd) = closed.items.as_chunks::<2>();
                        if !odd.is_empty() {
                            return None;
                        }
                        Value::Dict(pairs.iter().map(|[key, value]| (*key, *value)).collect())
                    } else {
                        Value::Sequence(closed.items)
                    }
                }
                b',' => {
                    let inside = open.last_mut().filter(|open| open.is_complete)?;
                    inside.is_complete = false;
                    rest = next?;
                    continue;
                }
                b':' => {
                    let inside =
                        open.last_mut().filter(|open| open.end == b'}' && !open.items.len().is_multiple_of(2))?;
                    inside.awaits = true;
                    inside.is_complete = false;
                    rest = next?;
                    continue;
                }
                b'\'' | b'"' => {
                    let inner = next?;
                    let length = inner.bytes().position(|byte| byte == first || byte == b'\\')?;
                    let (word, behind) = inner.split_at_checked(length)?;
                    rest = behind.strip_prefix(char::from(first))?;
                    Value::Text(word.to_owned())
                }
                b'0'..=b'9' => {
                    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                    let (digits, behind) = rest.split_at_checked(length)?;
                    // Python 2 wrote long numbers so.
                    rest = behind.strip_prefix('L').unwrap_or(behind);
                    Value::Number(digits.parse().ok()?)
                }
                _ => {
                    let word = ["True", "False", "None"].into_iter().find(|word| rest.starts_with(word))?;
                    rest = rest.strip_prefix(word)?;
                    if rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
                        return None;
                    }
                    Value::Other
                }
            };
            let number = literal.values.len();
            literal.values.push(done);
            match open.last_mut() {
                Some(inside) => {
                    let is_value = inside.end == b'}' && !inside.items.len().is_multiple_of(2);
                    // Two values with nothing between them.
                    if inside.is_complete || (is_value && !inside.awaits) {
                        return None;
                    }
                    inside.items.push(number);
                    inside.awaits = false;
                    inside.is_complete = inside.end != b'}' || is_value;
                }
                None => root = Some(number),
            }
        }
        literal.root = root?;
        Some(literal)
    }

    /// The value of the whole.
    pub(super) fn root(&self) -> Option<&Value> {
        self.values.get(self.root)
    }

    /// The value of that number.
    pub(super) fn get(&self, number: usize) -> Option<&Value> {
        self.values.get(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_nothing_else() {
        for good in ["{}", "()", "(1,)", "{'a': 1, 'b': (2, 3)}", "[('a', \"b\"), ('c', 'd', (1L,))]\n", "True", "''"] {
            assert!(Literal::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "{",
            "}",
            "{'a'}",
            "{'a': }",
            "{'a': 1 2}",
            "(1 2)",
            "f()",
            "1+1",
            "'a' 'b'",
            "{'a': 1}}",
            "[1",
            "(,)",
            "Truely",
            "{1: 2: 3}",
            "'a\\'",
            "99999999999999999999",
        ] {
            assert!(Literal::parse(bad).is_none(), "{bad}");
        }
        assert!(Literal::parse(&"(".repeat(1000)).is_none());
    }
}
