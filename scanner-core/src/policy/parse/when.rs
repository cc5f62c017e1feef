//! `[[when]]`.

use super::{
    super::{
        Audience, AudienceSettings, Decision, Pattern,
        clause::{About, Clause, FindingTest, HostTest},
        decide::{RESERVED, is_floored},
    },
    words::{check_name, known, not_empty, one, patterns, thresholds, words},
};
use crate::{
    bundle::Trust,
    finding::{CATEGORIES, Confidence, Evidence, Reason, Severity, is_category},
    settings::{At, SettingsError, Table, suggest},
    sniff::Risk,
};

/// Conditions on findings, which a clause about gaps cannot have.
const FINDING_KEYS: [&str; 5] = ["category", "rule", "severity", "confidence", "evidence"];
pub(super) const KEYS: [&str; 14] = [
    "name",
    "category",
    "rule",
    "severity",
    "confidence",
    "evidence",
    "gap",
    "trust",
    "risk",
    "type",
    "text",
    "audience",
    "then",
    "deliver",
];
/// Keys of a clause that are no condition.
const ANSWER_KEYS: [&str; 3] = ["name", "then", "deliver"];

pub(super) fn clauses(
    root: &Table<'_>,
    policy: &str,
    audiences: &[(Audience, AudienceSettings)],
) -> Result<Vec<Clause>, SettingsError> {
    let mut clauses: Vec<Clause> = Vec::new();
    for (nth, table) in root.tables("when")?.iter().enumerate() {
        table.only(&KEYS)?;
        let name = match table.string("name")? {
            None => format!("{policy}/{}", nth.saturating_add(1)),
            Some(name) => {
                check_name(&name)?;
                if RESERVED.contains(&name.value) {
                    return Err(name.error(format!("{:?} already means something in verdicts", name.value)));
                }
                if clauses.iter().any(|clause| clause.name == name.value) {
                    return Err(name.error(format!("two clauses are named {:?}", name.value)));
                }
                name.value.to_owned()
            }
        };
        clauses.push(clause(table, name, audiences)?);
    }
    Ok(clauses)
}

fn clause(
    table: &Table<'_>,
    name: String,
    audiences: &[(Audience, AudienceSettings)],
) -> Result<Clause, SettingsError> {
    if table.keys().iter().all(|key| ANSWER_KEYS.contains(&key.value)) {
        return Err(table.error("a clause needs a condition; for what nobody lists there is \"otherwise\""));
    }
    let then = table.required("then")?;
    let decision = then.one_of("decision", &Decision::ALL, Decision::name)?;
    Ok(Clause {
        name,
        about: about(table, &then, decision)?,
        host: HostTest {
            trust: words(table, "trust", &Trust::ALL.map(|(trust, _)| trust), Trust::name)?,
            risk: words(table, "risk", &Risk::ALL, Risk::name)?,
            kind: patterns(table, "type", |_| Ok(()))?,
            text: table.boolean("text")?,
        },
        audience: clause_audiences(table, audiences)?,
        then: decision,
        withhold: one(table, "deliver", &["nothing"], |word| word)?.is_some(),
    })
}

fn about(table: &Table<'_>, then: &At<'_, &str>, decision: Decision) -> Result<About, SettingsError> {
    let Some(gaps) = table.strings("gap")? else {
        return Ok(About::Findings(FindingTest {
            category: patterns(table, "category", check_category)?,
            rule: patterns(table, "rule", |_| Ok(()))?,
            severity: thresholds(table, "severity", &Severity::ALL, Severity::name)?,
            confidence: thresholds(table, "confidence", &Confidence::ALL, Confidence::name)?,
            evidence: words(table, "evidence", &Evidence::ALL, Evidence::name)?,
        }));
    };
    if let Some(key) = table.keys().iter().find(|key| FINDING_KEYS.contains(&key.value)) {
        return Err(key.error(format!("a clause about a gap cannot have \"{}\", which is about findings", key.value)));
    }
    not_empty(table, "gap", gaps.len())?;
    let known: Vec<String> = Reason::all().map(|reason| reason.to_string()).collect();
    for gap in &gaps {
        let pattern = Pattern::new(gap.value);
        let mut fitting = known.iter().filter(|reason| pattern.fits(reason)).peekable();
        if fitting.peek().is_none() {
            return Err(gap.error(format!("unknown gap {:?}, {}", gap.value, suggest_gap(gap.value, &known))));
        }
        if decision < Decision::Review && fitting.all(|reason| is_floored(reason)) {
            return Err(then.error(format!(
                "{:?} is never answered below \"review\": what was not seen could be anything",
                gap.value
            )));
        }
    }
    Ok(About::Gaps(gaps.iter().map(|gap| Pattern::new(gap.value)).collect()))
}

fn suggest_gap(word: &str, known: &[String]) -> String {
    let limit = word.starts_with("limit:");
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    names.retain(|name| name.starts_with("limit:") == limit);
    names.push("limit:*");
    suggest(word, &names)
}

/// A category, or a pattern that fits one.
fn check_category(word: &At<'_, &str>) -> Result<(), SettingsError> {
    if is_category(word.value) {
        return Ok(());
    }
    let pattern = Pattern::new(word.value);
    let all = |(family, members): &(&'static str, &'static [&'static str])| -> Vec<String> {
        members.iter().map(|member| format!("{family}.{member}")).collect()
    };
    if CATEGORIES.iter().any(|family| all(family).iter().any(|name| pattern.fits(name))) {
        return Ok(());
    }
    let family = word.value.split('.').next().unwrap_or_default();
    let (asked, names) = match CATEGORIES.iter().find(|(name, _)| *name == family) {
        Some(family) => (word.value.to_owned(), all(family)),
        None => (format!("{family}.*"), CATEGORIES.iter().map(|(family, _)| format!("{family}.*")).collect()),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Err(word.error(format!("unknown category {:?}, {}", word.value, suggest(&asked, &names))))
}

fn clause_audiences(
    table: &Table<'_>,
    audiences: &[(Audience, AudienceSettings)],
) -> Result<Option<Vec<String>>, SettingsError> {
    let Some(words) = table.strings("audience")? else { return Ok(None) };
    not_empty(table, "audience", words.len())?;
    let names: Vec<&str> = audiences.iter().map(|(audience, _)| audience.name()).chain(["*"]).collect();
    words.iter().try_for_each(|word| known("audience", word, &names))?;
    let all = words.iter().any(|word| word.value == "*");
    Ok((!all).then(|| words.iter().map(|word| word.value.to_owned()).collect()))
}
