//! Values of a policy file: words of a list, patterns, names.

use super::super::{Decision, Pattern};
use crate::settings::{At, SettingsError, Table, suggest};

/// Names stand in verdicts, receipts and labels of metrics.
const NAME_BYTES: usize = 64;

/// A decision by name.
pub(super) fn decision(table: &Table<'_>, key: &str) -> Result<Option<Decision>, SettingsError> {
    let word = table.string(key)?;
    word.map(|word| word.one_of("decision", &Decision::ALL, Decision::name)).transpose()
}

/// One word of a list.
pub(super) fn one<T: Copy>(
    table: &Table<'_>,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<T>, SettingsError> {
    table.string(key)?.map(|word| word.one_of(key, all, name)).transpose()
}

/// Words of a list.
pub(super) fn words<T: Copy>(
    table: &Table<'_>,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<Vec<T>>, SettingsError> {
    let Some(words) = table.strings(key)? else { return Ok(None) };
    not_empty(table, key, words.len())?;
    words.iter().map(|word| word.one_of(key, all, name)).collect::<Result<_, _>>().map(Some)
}

/// Words of an ordered list, each with `>=` or `<=` before it or without; what they mean together.
pub(super) fn thresholds<T: Copy + Ord>(
    table: &Table<'_>,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<Vec<T>>, SettingsError> {
    let Some(words) = table.strings(key)? else { return Ok(None) };
    not_empty(table, key, words.len())?;
    let mut accepted = Vec::new();
    for mut word in words {
        let (from, bare) = word.value.strip_prefix(">=").map_or((false, word.value), |bare| (true, bare));
        let (to, bare) = bare.strip_prefix("<=").filter(|_| !from).map_or((false, bare), |bare| (true, bare));
        word.value = bare;
        let bound = word.one_of(key, all, name)?;
        let fits = |value: &T| *value == bound || (from && *value > bound) || (to && *value < bound);
        accepted.extend(all.iter().copied().filter(fits));
    }
    Ok(Some(accepted))
}

pub(super) fn patterns(
    table: &Table<'_>,
    key: &str,
    check: fn(&At<'_, &str>) -> Result<(), SettingsError>,
) -> Result<Option<Vec<Pattern>>, SettingsError> {
    let Some(words) = table.strings(key)? else { return Ok(None) };
    not_empty(table, key, words.len())?;
    words.iter().try_for_each(check)?;
    Ok(Some(words.iter().map(|word| Pattern::new(word.value)).collect()))
}

pub(super) fn not_empty(table: &Table<'_>, key: &str, words: usize) -> Result<(), SettingsError> {
    match table.keys().iter().find(|at| at.value == key) {
        Some(at) if words == 0 => Err(at.error(format!("\"{key}\" is empty: nothing would ever fit"))),
        _ => Ok(()),
    }
}

pub(super) fn known(what: &str, word: &At<'_, &str>, names: &[&str]) -> Result<(), SettingsError> {
    if names.contains(&word.value) {
        return Ok(());
    }
    Err(word.error(format!("unknown {what} {:?}, {}", word.value, suggest(word.value, names))))
}

pub(super) fn check_name(name: &At<'_, &str>) -> Result<(), SettingsError> {
    let ok = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if (1..=NAME_BYTES).contains(&name.value.len()) && name.value.bytes().all(ok) {
        return Ok(());
    }
    Err(name
        .error(format!("a name is 1 to {NAME_BYTES} letters, digits, \"-\", \"_\" or \".\", found {:?}", name.value)))
}
