//! Settings: TOML, INI and YAML. Their lines look alike; each is believed when every line fits its grammar.

use super::lines;

/// Lines looked at.
const LINES: usize = 400;

/// Settings with tables or sections in which every line fits: asked before programs are.
pub(super) fn strong(head: &[u8]) -> Option<&'static str> {
    let toml = Toml::read(head);
    if toml.is_one() && toml.tables > 0 {
        return Some("toml");
    }
    let ini = Ini::read(head);
    if ini.sections > 0 && ini.keys > 0 && ini.wrong == 0 && ini.is_one() {
        return Some("ini");
    }
    let yaml = Yaml::read(head);
    let structured = yaml.nested && yaml.keys >= 4 && yaml.lower.saturating_mul(3) >= yaml.keys.saturating_mul(2);
    (structured && yaml.wrong == 0 && yaml.loose.saturating_mul(10) <= yaml.keys && yaml.is_one()).then_some("yaml")
}

pub(super) fn kind(head: &[u8]) -> Option<&'static str> {
    let toml = Toml::read(head);
    if toml.is_one() {
        return Some("toml");
    }
    // A document that is one tagged value, as in attacks on loaders that build objects.
    if head.trim_ascii_start().starts_with(b"!!python/") || head.trim_ascii_start().starts_with(b"!ruby/") {
        return Some("yaml");
    }
    if Ini::read(head).is_one() {
        return Some("ini");
    }
    Yaml::read(head).is_one().then_some("yaml")
}

/// TOML: tables and typed values; strings and arrays over several lines are followed to their end.
#[derive(Debug, Default)]
struct Toml {
    tables: u32,
    pairs: u32,
    /// Values that INI would not write: quoted, arrays, inline tables, booleans, dates.
    typed: u32,
    /// Whether a value stands apart from its `=`: shells never write it so.
    spaced: bool,
    wrong: u32,
}

impl Toml {
    fn is_one(&self) -> bool {
        self.wrong == 0 && self.pairs >= 1 && (self.tables >= 1 || (self.typed > 0 && self.spaced))
    }

    fn read(head: &[u8]) -> Self {
        let mut toml = Self::default();
        // What ends the value that an earlier line began.
        let mut until: Option<&'static [u8]> = None;
        let mut depth = 0_i32;
        for line in lines(head).take(LINES) {
            let line = line.trim_ascii();
            if let Some(end) = until {
                if memchr::memmem::find(line, end).is_some() {
                    until = None;
                }
                continue;
            }
            if depth > 0 {
                depth = depth.saturating_add(balance(line));
                continue;
            }
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            if line.starts_with(b"[") {
                if is_table(line) {
                    toml.tables = toml.tables.saturating_add(1)
                } else {
                    toml.wrong = toml.wrong.saturating_add(1)
                }
                continue;
            }
            let Some((_, value)) = split_pair(line).filter(|(key, _)| is_key(key.trim_ascii())) else {
                toml.wrong = toml.wrong.saturating_add(1);
                continue;
            };
            toml.spaced |= value.starts_with(b" ");
            let value = value.trim_ascii();
            toml.pairs = toml.pairs.saturating_add(1);
            match value.first() {
                _ if value.starts_with(b"\"\"\"") => {
                    toml.typed = toml.typed.saturating_add(1);
                    until = memchr::memmem::find(value.get(3..).unwrap_or_default(), b"\"\"\"")
                        .is_none()
                        .then_some(b"\"\"\"");
                }
                _ if value.starts_with(b"'''") => {
                    toml.typed = toml.typed.saturating_add(1);
                    until =
                        memchr::memmem::find(value.get(3..).unwrap_or_default(), b"'''").is_none().then_some(b"'''");
                }
                Some(b'"' | b'\'') if is_quoted(value) => toml.typed = toml.typed.saturating_add(1),
                Some(b'[' | b'{') => {
                    toml.typed = toml.typed.saturating_add(1);
                    depth = balance(value).max(0);
                }
                _ if is_bare(value) => {
                    toml.typed = toml.typed.saturating_add(u32::from(!value.first().is_some_and(u8::is_ascii_digit)))
                }
                _ => toml.wrong = toml.wrong.saturating_add(1),
            }
        }
        toml
    }
}

fn balance(line: &[u8]) -> i32 {
    let mut quoted = None;
    let mut depth = 0_i32;
    for byte in line {
        match (quoted, byte) {
            (None, b'"' | b'\'') => quoted = Some(*byte),
            (Some(quote), byte) if quote == *byte => quoted = None,
            (None, b'#') => break,
            (None, b'[' | b'{') => depth = depth.saturating_add(1),
            (None, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

fn is_table(line: &[u8]) -> bool {
    let line = memchr::memmem::find(line, b" #").and_then(|at| line.get(..at)).unwrap_or(line).trim_ascii_end();
    let inner = line
        .strip_prefix(b"[[")
        .and_then(|inner| inner.strip_suffix(b"]]"))
        .or_else(|| line.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")));
    inner.is_some_and(|inner| is_key(inner.trim_ascii()))
}

/// Bare, dotted and quoted keys; in quotes anything goes.
fn is_key(key: &[u8]) -> bool {
    let mut quoted = None;
    for byte in key {
        match (quoted, byte) {
            (None, b'"' | b'\'') => quoted = Some(*byte),
            (Some(quote), byte) if quote == *byte => quoted = None,
            (Some(_), _) => {}
            (None, byte) if byte.is_ascii_alphanumeric() || b"_-. ".contains(byte) => {}
            _ => return false,
        }
    }
    let words = key.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
    !key.is_empty() && quoted.is_none() && (words == 1 || key.iter().any(|byte| matches!(byte, b'.' | b'"' | b'\'')))
}

/// Key and value around the first `=` outside of quotes.
fn split_pair(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut quoted = None;
    let at = line.iter().position(|byte| {
        match (quoted, byte) {
            (None, b'"' | b'\'') => quoted = Some(*byte),
            (Some(quote), byte) if quote == *byte => quoted = None,
            (None, b'=') => return true,
            _ => {}
        }
        false
    })?;
    Some((line.get(..at)?, line.get(at.checked_add(1)?..)?))
}

fn is_quoted(value: &[u8]) -> bool {
    let Some(quote) = value.first() else { return false };
    let mut escaped = false;
    for (at, byte) in value.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if *quote == b'"' => escaped = true,
            byte if byte == quote => {
                let rest = value.get(at.saturating_add(1)..).unwrap_or_default().trim_ascii();
                return rest.is_empty() || rest.starts_with(b"#");
            }
            _ => {}
        }
    }
    false
}

/// Numbers, booleans and dates.
fn is_bare(value: &[u8]) -> bool {
    let value = value.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
    matches!(value, b"true" | b"false" | b"inf" | b"nan")
        || (value.first().is_some_and(|first| first.is_ascii_digit() || b"+-".contains(first))
            && value
                .get(1..)
                .is_some_and(|rest| rest.iter().all(|byte| byte.is_ascii_hexdigit() || b"_-+.:xoeETZ ".contains(byte))))
}

/// INI, `.properties`, unit files: sections in brackets and keys with `=` or `:`.
#[derive(Debug, Default)]
struct Ini {
    sections: u32,
    keys: u32,
    colons: u32,
    comments: u32,
    wrong: u32,
}

impl Ini {
    fn read(head: &[u8]) -> Self {
        let mut ini = Self::default();
        let mut continued = false;
        for line in lines(head).take(LINES) {
            let indented = matches!(line.first(), Some(b' ' | b'\t'));
            let line = line.trim_ascii();
            let goes_on = std::mem::replace(&mut continued, line.ends_with(b"\\"));
            if !goes_on && !line.is_empty() {
                ini.line(line, indented);
            }
        }
        ini
    }

    fn line(&mut self, line: &[u8], indented: bool) {
        let count = |number: &mut u32, one: bool| *number = number.saturating_add(u32::from(one));
        if line.starts_with(b";") || line.starts_with(b"#") || line.starts_with(b"!") {
            count(&mut self.comments, true);
        } else if let Some(section) = section(line) {
            let named = !section.is_empty() && !section.iter().any(|byte| matches!(byte, b',' | b'{' | b'(' | b'='));
            count(&mut self.sections, named);
            count(&mut self.wrong, !named);
        } else if let Some(at) = memchr::memchr2(b'=', b':', line) {
            let key = line.get(..at).unwrap_or_default().trim_ascii();
            let is_plain =
                |byte: &u8| byte.is_ascii_alphanumeric() || b"_-. /\\[]$%@*,'\"()&+".contains(byte) || *byte >= 0x80;
            let words = key.split(|byte| *byte == b' ').count();
            let most = if self.sections > 0 { 6 } else { 1 };
            let is_code = line.ends_with(b"{")
                || line.get(at.saturating_add(1)) == Some(&b'=')
                || (self.sections == 0 && (line.ends_with(b";") || line.ends_with(b"(")));
            if !key.is_empty() && key.iter().all(is_plain) && words <= most && !is_code {
                count(&mut self.keys, true);
                count(&mut self.colons, line.get(at) == Some(&b':'));
            } else {
                count(&mut self.wrong, !(indented && self.keys > 0));
            }
        } else {
            // Below a section a key may stand alone.
            let alone =
                self.sections > 0 && (indented || line.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' '));
            count(&mut self.wrong, !alone);
        }
    }

    fn is_one(&self) -> bool {
        if self.sections > 0 {
            self.keys >= 1
                && self.colons.saturating_mul(2) <= self.keys.saturating_add(1)
                && self.wrong.saturating_mul(12) <= self.keys.saturating_add(self.sections)
        } else {
            // Without sections only `key=value` counts; a few words with colons are YAML or prose.
            self.colons == 0 && self.wrong == 0 && self.keys >= if self.comments > 0 { 1 } else { 2 }
        }
    }
}

/// The name in brackets, with a comment behind it or not.
fn section(line: &[u8]) -> Option<&[u8]> {
    let inner = line.strip_prefix(b"[")?;
    inner.split(|byte| matches!(byte, b';' | b'#')).next()?.trim_ascii_end().strip_suffix(b"]")
}

/// YAML: keys, items, and what is indented below them.
#[derive(Debug, Default)]
struct Yaml {
    keys: u32,
    lower: u32,
    items: u32,
    nested: bool,
    marked: bool,
    comments: u32,
    wrong: u32,
    prose: u32,
    /// Lines taken for plain scalars that go on.
    loose: u32,
    /// Indentation of the key whose value is a block or goes on below.
    block: Option<usize>,
    /// Indentation of a key without a value.
    open: Option<usize>,
    flow: i32,
    /// Values of one word.
    words: u32,
    /// Values in brackets or braces, closed on their line.
    flows: u32,
}

impl Yaml {
    fn read(head: &[u8]) -> Self {
        let mut yaml = Self::default();
        for line in lines(head).take(LINES) {
            yaml.line(line);
        }
        yaml
    }

    fn line(&mut self, full: &[u8]) {
        let line = full.trim_ascii();
        if line.is_empty() {
            return;
        }
        let indent = full.iter().take_while(|byte| **byte == b' ').count();
        if self.flow > 0 {
            self.flow = self.flow.saturating_add(balance(line));
            return;
        }
        if let Some(block) = self.block {
            if indent > block {
                return;
            }
            self.block = None;
        }
        if line.starts_with(b"#") {
            self.comments = self.comments.saturating_add(1);
            return;
        }
        if line == b"---" || line.starts_with(b"--- ") || line.starts_with(b"%YAML") {
            self.marked = true;
            return;
        }
        if line == b"..." {
            return;
        }
        if full.starts_with(b"\t") {
            self.wrong = self.wrong.saturating_add(1);
            return;
        }
        let mut rest = line;
        let mut at = indent;
        let mut item = false;
        while let Some(after) = rest.strip_prefix(b"- ").or((rest == b"-").then_some(&b""[..])) {
            item = true;
            at = at.saturating_add(2);
            rest = after.trim_ascii_start();
        }
        if item {
            self.items = self.items.saturating_add(1);
            self.nested |= self.open.is_some_and(|open| indent >= open);
        } else if self.open.is_some_and(|open| indent > open) {
            self.nested |= pair(rest).is_some();
        }
        self.open = None;
        match pair(rest) {
            Some((key, value)) => {
                self.keys = self.keys.saturating_add(1);
                self.lower = self.lower.saturating_add(u32::from(
                    key.first().is_some_and(|first| !first.is_ascii_uppercase() && !first.is_ascii_digit())
                        && !key.contains(&b' '),
                ));
                self.value(value, at);
            }
            None if item => {
                self.prose = self.prose.saturating_add(u32::from(
                    rest.iter().filter(|byte| **byte == b' ').count() >= 3 && !rest.starts_with(b"\""),
                ));
                self.value(rest, indent);
            }
            // A plain scalar that goes on.
            None if self.keys > 0 && indent > 0 => self.loose = self.loose.saturating_add(1),
            None => self.wrong = self.wrong.saturating_add(1),
        }
    }

    fn value(&mut self, value: &[u8], at: usize) {
        let word = !value.is_empty() && !value.contains(&b' ');
        self.words = self.words.saturating_add(u32::from(word));
        match value.first() {
            None | Some(b'#') => self.open = Some(at),
            Some(b'|' | b'>') => self.block = Some(at.saturating_sub(usize::from(at > 0))),
            Some(b'[' | b'{') if !value.starts_with(b"{{") => {
                self.flows = self
                    .flows
                    .saturating_add(u32::from(balance(value) == 0 && matches!(value.last(), Some(b']' | b'}'))));
                self.flow = balance(value).max(0);
            }
            Some(b'"' | b'\'' | b'&' | b'*' | b'!') => {}
            // "is important: do it" is not a plain scalar.
            Some(_) => {
                self.wrong = self
                    .wrong
                    .saturating_add(u32::from(memchr::memmem::find(value, b": ").is_some() && !value.contains(&b'#')))
            }
        }
    }

    fn is_one(&self) -> bool {
        // One pair alone: a list, or a single word.
        if self.wrong == 0 && self.keys == 1 && self.lower == 1 && self.items == 0 && self.loose == 0 {
            return self.flows == 1 || self.words == 1 || self.marked;
        }
        let structure = self.nested || self.marked || (self.comments > 0 && self.keys > 0);
        let keyed = self.keys >= 2 && self.lower.saturating_mul(2) >= self.keys;
        let listed = self.marked && self.items >= 1 && self.prose.saturating_mul(2) <= self.items;
        let allowed = self.keys.saturating_add(self.items) / 25;
        self.wrong <= allowed
            && ((structure && keyed)
                || (self.keys >= 2 && self.lower == self.keys)
                || (self.keys >= 1
                    && self.nested
                    && self.lower == self.keys
                    && self.prose.saturating_mul(2) <= self.items)
                || listed
                || (self.marked && self.keys >= 1 && self.lower >= 1))
    }
}

/// `key: value` or `key:`.
fn pair(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let quoted = matches!(line.first(), Some(b'"' | b'\''));
    let at = if quoted {
        let quote = line.first()?;
        let end = memchr::memchr(*quote, line.get(1..)?)?.checked_add(2)?;
        (line.get(end) == Some(&b':')).then_some(end)?
    } else {
        let mut from = 0_usize;
        loop {
            let at = memchr::memchr(b':', line.get(from..)?)?.checked_add(from)?;
            if line.get(at.checked_add(1)?).is_none_or(|after| matches!(after, b' ' | b'\t')) {
                break at;
            }
            from = at.checked_add(1)?;
        }
    };
    let (key, value) = line.split_at_checked(at)?;
    let words = key.iter().filter(|byte| **byte == b' ').count();
    let plain = quoted
        || (!key.is_empty()
            && words <= 3
            && !key.iter().any(|byte| b"{}[](),;=<\"'`".contains(byte))
            && !key.first().is_some_and(|first| b"#*|@%&".contains(first)));
    plain.then(|| (key, value.get(1..).unwrap_or_default().trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(kind(text.as_bytes()), want, "{text}");
    }

    #[test]
    fn notes_with_colons() {
        check("Note: this is important: do it now.\nReason: none.\n", None);
        check("Accuracy: 0.91\nF1: 0.88\n", None);
        check("[also not json]\n", None);
        check("---\nletters and dashes\n---\n", None);
        check("- milk\n- eggs\n", None);
    }

    #[test]
    fn settings() {
        check("a: 1\nb: 2\n", Some("yaml"));
        check("name: ci\non: [push]\njobs:\n  build:\n    steps:\n      - uses: a@v4\n", Some("yaml"));
        check("a = 1\nb = [1,\n 2]\n[c.d]\ne = \"\"\"\nx\n\"\"\"\n", Some("toml"));
        check("[section]\nkey=value\nother = 2\n", Some("ini"));
        check("; c\n[a]\nb=c\n[d]\ne=f\n", Some("ini"));
        check("[[products]]\nname = \"H\"\nsku = 7\n", Some("toml"));
    }
}
