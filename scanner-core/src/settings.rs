//! Files of the operator: rules and policies. Strict TOML in which every mistake is told with line and column.

use std::{fmt, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// What is wrong with a rule or policy file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsError {
    /// The file, as the operator named it.
    pub file: String,
    /// Line, counted from one.
    pub line: usize,
    /// Column in characters, counted from one.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for SettingsError {}

/// The text that positions are counted in.
#[derive(Clone, Copy, Debug)]
struct Origin<'a> {
    file: &'a str,
    text: &'a str,
}

impl Origin<'_> {
    fn error(&self, at: usize, message: impl Into<String>) -> SettingsError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline.saturating_add(1));
        SettingsError {
            file: self.file.to_owned(),
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count().saturating_add(1),
            column: before.get(line_start..).unwrap_or_default().chars().count().saturating_add(1),
            message: message.into(),
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<'a, T> {
    pub(crate) value: T,
    start: usize,
    origin: Origin<'a>,
}

impl<T> At<'_, T> {
    /// An error at this value.
    pub(crate) fn error(&self, message: impl Into<String>) -> SettingsError {
        self.origin.error(self.start, message)
    }
}

impl<'a> At<'a, &'a str> {
    /// The value that one of `all` has this name, or an error that names what it could have been.
    pub(crate) fn one_of<T: Copy>(
        &self,
        what: &str,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Result<T, SettingsError> {
        all.iter().copied().find(|candidate| name(*candidate) == self.value).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|candidate| name(*candidate)).collect();
            self.error(format!("unknown {what} \"{}\", {}", self.value, suggest(self.value, &names)))
        })
    }
}

/// A table of a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Table<'a> {
    table: &'a DeTable<'a>,
    start: usize,
    origin: Origin<'a>,
}

/// Parses a file and hands its root table to `read`.
pub(crate) fn parse<T>(
    file: &str,
    text: &str,
    read: impl FnOnce(&Table<'_>) -> Result<T, SettingsError>,
) -> Result<T, SettingsError> {
    let origin = Origin { file, text };
    let root = DeTable::parse(text)
        .map_err(|error| origin.error(error.span().map_or(0, |span| span.start), error.message()))?;
    read(&Table { table: root.get_ref(), start: 0, origin })
}

impl<'a> Table<'a> {
    /// An error at the head of this table.
    pub(crate) fn error(&self, message: impl Into<String>) -> SettingsError {
        self.origin.error(self.start, message)
    }

    /// Refuses every key that is not in the list.
    pub(crate) fn only(&self, keys: &[&str]) -> Result<(), SettingsError> {
        let unknown =
            self.table.keys().filter(|key| !keys.contains(&key.get_ref().as_ref())).min_by_key(|key| key.span().start);
        match unknown {
            None => Ok(()),
            Some(key) => {
                let name: &str = key.get_ref();
                Err(self.origin.error(key.span().start, format!("unknown key \"{name}\", {}", suggest(name, keys))))
            }
        }
    }

    /// Its keys, in order of appearance.
    pub(crate) fn keys(&self) -> Vec<At<'a, &'a str>> {
        let mut keys: Vec<At<'a, &'a str>> = self
            .table
            .keys()
            .map(|key| At { value: key.get_ref().as_ref(), start: key.span().start, origin: self.origin })
            .collect();
        keys.sort_by_key(|key| key.start);
        keys
    }

    /// A string.
    pub(crate) fn string(&self, key: &str) -> Result<Option<At<'a, &'a str>>, SettingsError> {
        self.value(key).map(|value| self.as_string(key, value)).transpose()
    }

    /// A string that must be there.
    pub(crate) fn required(&self, key: &str) -> Result<At<'a, &'a str>, SettingsError> {
        self.string(key)?.ok_or_else(|| self.error(format!("\"{key}\" is missing")))
    }

    /// One string or a list of strings; absent is `None`.
    pub(crate) fn strings(&self, key: &str) -> Result<Option<Vec<At<'a, &'a str>>>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Array(items) => {
                items.iter().map(|item| self.as_string(key, item)).collect::<Result<_, _>>().map(Some)
            }
            _ => self.as_string(key, value).map(|one| Some(vec![one])),
        }
    }

    /// A truth value.
    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.get_ref().as_bool().map(Some).ok_or_else(|| self.wrong(key, "true or false", value))
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&self, key: &str) -> Result<Option<At<'a, u64>>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value
            .get_ref()
            .as_integer()
            .and_then(|integer| u64::from_str_radix(integer.as_str(), integer.radix()).ok())
            .map(|number| Some(At { value: number, start: value.span().start, origin: self.origin }))
            .ok_or_else(|| self.wrong(key, "a whole number", value))
    }

    /// A number that is not negative and may have a fraction, in hundredths.
    pub(crate) fn hundredths(&self, key: &str) -> Result<Option<u32>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let written = match value.get_ref() {
            DeValue::Integer(integer) => integer.as_str(),
            DeValue::Float(float) => float.as_str(),
            _ => return Err(self.wrong(key, "a number", value)),
        };
        let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
        let digits: String = fraction.chars().chain("00".chars()).take(2).collect();
        let hundredths = whole.parse::<u32>().ok().zip(digits.parse::<u32>().ok());
        hundredths
            .and_then(|(whole, part)| whole.checked_mul(100)?.checked_add(part))
            .map(Some)
            .ok_or_else(|| self.wrong(key, "a number like 3.5", value))
    }

    /// A date without a time: year, month, day.
    pub(crate) fn date(&self, key: &str) -> Result<Option<(u16, u8, u8)>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value
            .get_ref()
            .as_datetime()
            .filter(|datetime| datetime.time.is_none())
            .and_then(|datetime| datetime.date)
            .map(|date| Some((date.year, date.month, date.day)))
            .ok_or_else(|| self.wrong(key, "a date like 2027-01-31", value))
    }

    /// A table; absent is `None`.
    pub(crate) fn table(&self, key: &str) -> Result<Option<Self>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Table { table, start: value.span().start, origin: self.origin })),
            _ => Err(self.wrong(key, "a table", value)),
        }
    }

    /// A list of tables, `[[key]]`; absent is empty.
    pub(crate) fn tables(&self, key: &str) -> Result<Vec<Self>, SettingsError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(key, "a list of tables", value));
        };
        items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(table) => Ok(Table { table, start: item.span().start, origin: self.origin }),
                _ => Err(self.wrong(key, "a list of tables", item)),
            })
            .collect()
    }

    fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    fn as_string(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Result<At<'a, &'a str>, SettingsError> {
        let Range { start, .. } = value.span();
        value
            .get_ref()
            .as_str()
            .map(|text| At { value: text, start, origin: self.origin })
            .ok_or_else(|| self.wrong(key, "a string", value))
    }

    fn wrong(&self, key: &str, expected: &str, value: &Spanned<DeValue<'_>>) -> SettingsError {
        let found = value.get_ref().type_str();
        self.origin.error(value.span().start, format!("\"{key}\" must be {expected}, found {found}"))
    }
}

/// What the writer may have meant.
pub(crate) fn suggest(word: &str, known: &[&str]) -> String {
    match known.iter().map(|name| (distance(word, name), name)).min() {
        Some((edits, name)) if edits <= 2 => format!("did you mean \"{name}\"?"),
        _ => format!("expected one of: {}", known.join(", ")),
    }
}

/// Edits between two words (Levenshtein), on the first 64 characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i.saturating_add(1);
        let mut next = vec![left];
        for (to, above) in b.iter().zip(row.iter().skip(1)) {
            let cost = diagonal.saturating_add(usize::from(from != *to));
            diagonal = *above;
            left = cost.min(left.saturating_add(1)).min(above.saturating_add(1));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, read: fn(&Table<'_>) -> Result<(), SettingsError>, expect: &str) {
        let error = parse("policy.toml", text, read).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn an_unknown_key_is_told_with_its_place() {
        check(
            "name = 'x'\n\n[[when]]\n  serverity = 'high'\n",
            |root| root.tables("when")?.iter().try_for_each(|when| when.only(&["severity", "then"])),
            "policy.toml:4:3: unknown key \"serverity\", did you mean \"severity\"?",
        );
    }

    #[test]
    fn a_wrong_type_is_told_with_its_place() {
        check(
            "first = 'é'\nname = 3",
            |root| root.required("name").map(drop),
            "policy.toml:2:8: \"name\" must be a string, found integer",
        );
    }

    #[test]
    fn broken_toml_is_told_with_its_place() {
        let error = parse("p", "a = 1\nb = [", |_| Ok(())).unwrap_err();
        assert_eq!(error.line, 2);
    }

    #[test]
    fn far_words_get_the_list() {
        assert_eq!(suggest("colour", &["high", "low"]), "expected one of: high, low");
        assert_eq!(suggest("sanitise", &["allow", "sanitize"]), "did you mean \"sanitize\"?");
    }
}
