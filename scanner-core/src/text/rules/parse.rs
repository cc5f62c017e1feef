//! What stands in a rule file, and the lints it must pass.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    gitleaks::{self, Extends, Gitleaks},
    pattern::{Pattern, byte_classes},
    required::{ANCHOR_SHORTEST, Required, required},
};
use crate::{
    finding::{Confidence, Rule, Severity, is_category, sha256_hex},
    settings::{self, At, SettingsError, Table},
    text::{anchors::expected_rate, proof::Proof},
};

/// A rule of a rule file.
#[derive(Debug)]
#[non_exhaustive]
pub struct TextRule {
    /// What findings say of it.
    pub rule: Arc<Rule>,
    /// Literals one of which stands in every match; ASCII letters in either case.
    pub anchors: Vec<String>,
    /// The regex, with the words of its file put in.
    pub regex: String,
    /// Texts that it finds something in.
    pub examples: Vec<String>,
    /// Texts that it finds nothing in.
    pub counterexamples: Vec<String>,
    /// The file it stands in.
    pub file: String,
    /// Counts only beside another hit.
    pub weak: bool,
    /// Of a weak rule: the other hit must stand in the same line.
    pub same_line: bool,
    /// How many bytes in front of its anchor a match may begin, a run of blanks counted as one.
    pub before: usize,
    /// Of a secret: how many bytes at its start the issuer's format makes public.
    pub public_prefix: usize,
    /// Of a secret: fewest bits of entropy per byte, in tenths; below it is no secret.
    pub entropy_tenths: u64,
    /// Of a secret: what proves it beyond its shape.
    pub proof: Option<Proof>,
    /// Types of artifacts it reads; empty is all.
    pub applies_to: Vec<String>,
    pub(crate) pattern: Pattern,
    /// What a rule of a gitleaks file asks for instead.
    pub(crate) gitleaks: Option<Box<Gitleaks>>,
}

const RULE_KEYS: &[&str] = &[
    "id",
    "title",
    "why",
    "remedy",
    "category",
    "severity",
    "confidence",
    "anchors",
    "regex",
    "case",
    "before",
    "same_line",
    "weak",
    "public_prefix",
    "entropy_tenths",
    "proof",
    "applies_to",
    "examples",
    "counterexamples",
];

/// Longest regex source, longest text field, most rules in a file: an operator's file cannot make a start slow.
pub(super) const REGEX_LONGEST: usize = 64 * 1024;
const TEXT_LONGEST: usize = 2_000;
pub(super) const RULES_MOST: usize = 2_000;
/// Farthest look-behind of `before`.
const BEFORE_MOST: u64 = 64;

/// Anchors that were chosen before, by the regex they were chosen for: choosing takes time, and data to count in. A regex
/// that is not in the table has its anchors chosen anew, so the table can be old but not wrong.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<String, (usize, Vec<String>)>);

impl Known {
    /// One line a regex, between tabs: its key, how far in front of an anchor a match may begin, its anchors.
    pub(super) fn read(table: &str) -> Self {
        let entry = |line: &str| {
            let mut cells = line.split('\t');
            Some((cells.next()?.to_owned(), (cells.next()?.parse().ok()?, cells.map(str::to_owned).collect())))
        };
        Self(table.lines().filter_map(entry).collect())
    }

    /// The line of a regex.
    pub(super) fn line(regex: &str, found: &Required) -> String {
        format!("{}\t{}\t{}\n", Self::key(regex), found.before, found.anchors.join("\t"))
    }

    fn key(regex: &str) -> String {
        let mut key = sha256_hex(regex.as_bytes());
        key.truncate(16);
        key
    }

    /// How far in front of an anchor a match may begin, and the anchors.
    pub(super) fn get(&self, regex: &str) -> Option<&(usize, Vec<String>)> {
        self.0.get(&Self::key(regex))
    }
}

/// Reads one file. `seen` maps ids to the file they stand in.
pub(super) fn file(
    name: &str,
    text: &str,
    eager: bool,
    known: &Known,
    seen: &mut BTreeMap<String, String>,
    rules: &mut Vec<TextRule>,
) -> Result<Extends, SettingsError> {
    settings::parse(name, text, |root| {
        if gitleaks::is_one(root) {
            return gitleaks::file(name, root, seen, rules);
        }
        root.only(&["words", "rule"])?;
        let words = words(root)?;
        let tables = root.tables("rule")?;
        if tables.len() > RULES_MOST {
            return Err(root.error(format!("more than {RULES_MOST} rules in one file")));
        }
        for table in &tables {
            let rule = rule(name, table, &words, eager, known)?;
            let id = table.required("id")?;
            if let Some(other) = seen.insert(rule.rule.id.to_string(), name.to_owned()) {
                return Err(id.error(format!("the id \"{}\" is taken by a rule in {other}", id.value)));
            }
            rules.push(rule);
        }
        Ok(Extends::default())
    })
}

/// Words in order of appearance; a later one may use an earlier one.
fn words(root: &Table<'_>) -> Result<BTreeMap<String, String>, SettingsError> {
    let mut words = BTreeMap::new();
    let Some(table) = root.table("words")? else { return Ok(words) };
    for key in table.keys() {
        if !key.value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return Err(key.error("a word's name is made of a-z and _"));
        }
        let list = table.strings(key.value)?.unwrap_or_default();
        let parts: Vec<String> = list.iter().map(|part| put_in(part, &words)).collect::<Result<_, SettingsError>>()?;
        words.insert(key.value.to_owned(), format!("(?:{})", parts.join("|")));
    }
    Ok(words)
}

/// Replaces `{name}` by the word of that name.
fn put_in(regex: &At<'_, &str>, words: &BTreeMap<String, String>) -> Result<String, SettingsError> {
    let mut out = String::with_capacity(regex.value.len());
    let mut rest = regex.value;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let name = after
            .split_once('}')
            .map(|(name, _)| name)
            .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        match name {
            Some(name) => {
                let word = words.get(name).ok_or_else(|| regex.error(format!("there is no word \"{name}\" above")))?;
                out.push_str(word);
                rest = after.get(name.len().saturating_add(1)..).unwrap_or_default();
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
        if out.len() > REGEX_LONGEST {
            return Err(regex.error(format!("longer than {REGEX_LONGEST} bytes with its words put in")));
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn rule(
    file: &str,
    table: &Table<'_>,
    words: &BTreeMap<String, String>,
    eager: bool,
    known: &Known,
) -> Result<TextRule, SettingsError> {
    table.only(RULE_KEYS)?;
    let id = table.required("id")?;
    if !is_id(id.value) {
        return Err(id.error("an id looks like \"family/what-it-finds\": a-z, 0-9 and -, one /"));
    }
    let category = table.required("category")?;
    if !is_category(category.value) {
        return Err(category.error(format!("there is no category \"{}\"", category.value)));
    }
    let severity = table.required("severity")?.one_of("severity", &Severity::ALL, Severity::name)?;
    let confidence = table.required("confidence")?.one_of("confidence", &Confidence::ALL, Confidence::name)?;
    let case = table.boolean("case")?.unwrap_or(false);
    let source = table.required("regex")?;
    let regex = byte_classes(&put_in(&source, words)?);
    let (before, anchors) = match known.get(&regex) {
        Some(known) if table.strings("anchors")?.is_none() => known.clone(),
        _ => anchors(table, &source, &regex)?,
    };
    let pattern = Pattern::new(&regex, case);
    if eager {
        pattern.compile().map_err(|error| source.error(error))?;
    }
    Ok(TextRule {
        rule: Arc::new(Rule {
            id: id.value.to_owned().into(),
            title: words_of(table, "title")?.into(),
            why: words_of(table, "why")?.into(),
            remedy: words_of(table, "remedy")?.into(),
            category: category.value.to_owned().into(),
            severity,
            confidence,
        }),
        anchors,
        regex,
        examples: list(table, "examples")?,
        counterexamples: list(table, "counterexamples")?,
        file: file.to_owned(),
        weak: table.boolean("weak")?.unwrap_or(false),
        same_line: table.boolean("same_line")?.unwrap_or(false),
        before,
        public_prefix: bounded(table, "public_prefix", 32)?,
        entropy_tenths: table.number("entropy_tenths")?.map_or(0, |number| number.value),
        proof: table.string("proof")?.map(|proof| proof.one_of("proof", &Proof::ALL, Proof::name)).transpose()?,
        applies_to: list(table, "applies_to")?,
        pattern,
        gitleaks: None,
    })
}

/// The anchors given and how far in front of one a match may begin, or those that the regex cannot match without.
fn anchors(table: &Table<'_>, source: &At<'_, &str>, regex: &str) -> Result<(usize, Vec<String>), SettingsError> {
    let before = bounded(table, "before", BEFORE_MOST)?;
    if let Some(given) = table.strings("anchors")? {
        for anchor in &given {
            if anchor.value.len() < ANCHOR_SHORTEST {
                return Err(anchor.error(format!(
                    "an anchor has {ANCHOR_SHORTEST} bytes or more: a shorter one would fire on every line"
                )));
            }
        }
        if given.is_empty() {
            return Err(source.error("a rule has at least one anchor"));
        }
        return Ok((before, given.iter().map(|anchor| anchor.value.to_ascii_lowercase()).collect()));
    }
    let found = required(regex, &expected_rate).map_err(|error| source.error(error))?;
    let found = found.ok_or_else(|| {
        source.error(format!(
            "there are matches without a word of {ANCHOR_SHORTEST} bytes or more that is always the same, or one of a few: \
             name the anchors"
        ))
    })?;
    Ok((found.before, found.anchors))
}

fn bounded(table: &Table<'_>, key: &str, most: u64) -> Result<usize, SettingsError> {
    let Some(number) = table.number(key)? else { return Ok(0) };
    if number.value > most {
        return Err(number.error(format!("\"{key}\" is at most {most}")));
    }
    usize::try_from(number.value).map_err(|error| number.error(error.to_string()))
}

/// A text for people: there, and not endless.
fn words_of(table: &Table<'_>, key: &str) -> Result<String, SettingsError> {
    let text = table.required(key)?;
    if text.value.trim().is_empty() || text.value.len() > TEXT_LONGEST {
        return Err(text.error(format!("\"{key}\" has 1 to {TEXT_LONGEST} bytes")));
    }
    Ok(text.value.trim().to_owned())
}

fn list(table: &Table<'_>, key: &str) -> Result<Vec<String>, SettingsError> {
    Ok(table.strings(key)?.unwrap_or_default().iter().map(|item| item.value.to_owned()).collect())
}

fn is_id(id: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    id.split_once('/').is_some_and(|(family, name)| part(family) && part(name))
}
