//! JSON, JSON lines and notebooks, by parsing the head. Comments, trailing commas and the numbers that Python writes
//! (`NaN`) pass: what tools write is wider than RFC 8259.

use super::Text;

/// How the parse of one value ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The value is complete; the offset behind it.
    Whole(usize),
    /// The bytes ended inside it.
    Cut,
    Wrong,
}

/// What was seen in it.
#[derive(Debug, Default)]
struct Facts {
    /// Members of objects and elements of arrays, all levels.
    parts: u32,
    members: u32,
    notebook_keys: u32,
}

pub(super) fn kind(text: &Text<'_>) -> Option<&'static str> {
    let head = text.head.trim_ascii_start();
    let first = *head.first()?;
    if !matches!(first, b'{' | b'[' | b'"' | b'n' | b't' | b'f' | b'/') {
        return None;
    }
    let mut facts = Facts::default();
    let end = value(head, &mut facts);
    let notebook = facts.notebook_keys >= 2;
    match end {
        End::Whole(end) => {
            let first_value = head.get(..end)?;
            let rest = head.get(end..)?;
            if rest.trim_ascii().is_empty() {
                return match first {
                    b'"' if !text.whole => None,
                    _ if notebook => Some("ipynb"),
                    _ => Some("json"),
                };
            }
            let next_line = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).any(|byte| *byte == b'\n');
            let opens = matches!(rest.trim_ascii_start().first(), Some(b'{' | b'['));
            let one_line = !first_value.contains(&b'\n');
            if !(matches!(first, b'{' | b'[') && opens && next_line) {
                return None;
            }
            let mut more = Facts::default();
            match value(rest.trim_ascii_start(), &mut more) {
                End::Whole(_) | End::Cut if one_line => Some("jsonl"),
                End::Whole(_) => Some("json"),
                _ => None,
            }
        }
        // Cut after enough that no sentence would have got through.
        End::Cut if facts.members >= 1 || facts.parts >= 3 || (head.len() > 64 && first != b'/') => {
            if matches!(first, b'"' | b'n' | b't' | b'f') {
                return None;
            }
            // Lines longer than the head.
            let beyond = text.raw.get(..0x4_0000).unwrap_or(text.raw);
            let lines = first == b'{' && !head.contains(&b'\n') && memchr::memmem::find(beyond, b"}\n{").is_some();
            Some(if lines {
                "jsonl"
            } else if notebook || (facts.notebook_keys >= 1 && memchr::memmem::find(head, b"\"cell_type\"").is_some()) {
                "ipynb"
            } else {
                "json"
            })
        }
        _ => None,
    }
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Value,
    /// A key, or the end of the object.
    Key,
    Colon,
    /// A comma, or the end of what is open.
    Comma,
}

/// Parses one value without recursion; open brackets are kept as one byte each, never more than the head is long.
fn value(bytes: &[u8], facts: &mut Facts) -> End {
    let mut open: Vec<u8> = Vec::new();
    let mut want = Want::Value;
    let mut at = 0_usize;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let skipped = rest.len().saturating_sub(rest.trim_ascii_start().len());
        at = at.saturating_add(skipped);
        let rest = rest.get(skipped..).unwrap_or_default();
        let Some(&first) = rest.first() else { return End::Cut };
        let taken = match (first, want) {
            (b'/', _) if !open.is_empty() || at == 0 || want == Want::Value => match comment(rest) {
                Some(length) => length,
                None if rest.len() < 2 || rest.starts_with(b"/*") || rest.starts_with(b"//") => return End::Cut,
                None => return End::Wrong,
            },
            (b'}', Want::Key | Want::Comma) if open.last() == Some(&b'{') => {
                open.pop();
                want = Want::Comma;
                1
            }
            (b']', Want::Value | Want::Comma) if open.last() == Some(&b'[') => {
                open.pop();
                want = Want::Comma;
                1
            }
            (b',', Want::Comma) => {
                want = if open.last() == Some(&b'{') { Want::Key } else { Want::Value };
                1
            }
            (b':', Want::Colon) => {
                want = Want::Value;
                facts.members = facts.members.saturating_add(1);
                1
            }
            (b'"', Want::Key | Want::Value) => {
                let Some(length) = string(rest) else { return End::Cut };
                if length == 0 {
                    return End::Wrong;
                }
                if want == Want::Key {
                    let key = rest.get(..length).unwrap_or_default();
                    let telling = open.len() == 1
                        && (key == b"\"nbformat\""
                            || key == b"\"cells\""
                            || key == b"\"nbformat_minor\""
                            || key == b"\"worksheets\"");
                    facts.notebook_keys = facts.notebook_keys.saturating_add(u32::from(telling));
                    want = Want::Colon;
                } else {
                    want = Want::Comma;
                }
                facts.parts = facts.parts.saturating_add(1);
                length
            }
            (b'{', Want::Value) => {
                open.push(b'{');
                want = Want::Key;
                1
            }
            (b'[', Want::Value) => {
                open.push(b'[');
                1
            }
            (_, Want::Value) => {
                let length =
                    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
                let word = rest.get(..length).unwrap_or_default();
                if !is_scalar(word) {
                    return if length == rest.len() && is_scalar_start(word) { End::Cut } else { End::Wrong };
                }
                want = Want::Comma;
                facts.parts = facts.parts.saturating_add(1);
                length
            }
            _ => return End::Wrong,
        };
        at = at.saturating_add(taken);
        if open.is_empty() && want == Want::Comma {
            return End::Whole(at);
        }
    }
}

/// The length of a comment; `None` when it does not end or is none.
fn comment(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"//") {
        return memchr::memchr(b'\n', rest);
    }
    rest.strip_prefix(b"/*").and_then(|body| memchr::memmem::find(body, b"*/"))?.checked_add(4)
}

/// The length of a string with its quotes; 0 when it is broken by a line end; `None` when the bytes end inside it.
fn string(rest: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at.checked_add(1),
            b'\n' => return Some(0),
            _ => {}
        }
    }
    None
}

fn is_scalar(word: &[u8]) -> bool {
    if matches!(word, b"true" | b"false" | b"null" | b"NaN" | b"Infinity" | b"-Infinity") {
        return true;
    }
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}

fn is_scalar_start(word: &[u8]) -> bool {
    [&b"true"[..], b"false", b"null", b"NaN"].iter().any(|full| full.starts_with(word))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let text = Text { head: Cow::Borrowed(text.as_bytes()), whole: true, raw: text.as_bytes() };
        assert_eq!(kind(&text), want, "{text:?}");
    }

    #[test]
    fn prose_in_brackets_is_not_json() {
        check("[also not json]\n", None);
        check("{not json}", None);
        check("[INFO] start\n[WARN] {\"k\":1}\n", None);
        check("\"quoted\" he said", None);
        check("true story", None);
    }

    #[test]
    fn lines_and_wholes() {
        check("{}", Some("json"));
        check("[1,2]\n[3,4]\n", Some("jsonl"));
        check("{\"a\":1}\n\n{\"a\":", Some("jsonl"));
        check("{\"a\":1}\n", Some("json"));
        check("[{\"a\": NaN, // why\n \"b\": 1,},]", Some("json"));
        check("{\n  \"name\": \"x", Some("json"));
        check("{\"cells\": [], \"nbformat\": 4}", Some("ipynb"));
    }

    #[test]
    fn nesting_costs_no_stack() {
        check(&"[".repeat(16_000), Some("json"));
    }
}
