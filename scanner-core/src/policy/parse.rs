//! Reading a policy file. Every mistake is told with line and column.

use std::borrow::Cow;

use super::{
    Audience, AudienceSettings, Date, Decision, Exception, Keep, Pattern, Policy,
    clause::{About, Clause, FindingTest, HostTest},
    decide::{RESERVED, is_floored},
};
use crate::{
    bundle::Trust,
    finding::{CATEGORIES, Confidence, Evidence, Reason, Severity, sha256_hex},
    settings::{self, At, SettingsError, Table, suggest},
    sniff::Risk,
};

const SCHEMA: &str = "scanner.policy/v1";
const KEYS: [&str; 9] =
    ["schema", "name", "extends", "enforced", "otherwise", "incomplete", "audiences", "when", "except"];
const AUDIENCE_KEYS: [&str; 4] = ["max_text_bytes", "keep", "inline", "like"];
/// Conditions on findings, which a clause about gaps cannot have.
const FINDING_KEYS: [&str; 5] = ["category", "rule", "severity", "confidence", "evidence"];
const WHEN_KEYS: [&str; 14] = [
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
const EXCEPT_KEYS: [&str; 5] = ["fingerprint", "rule", "sha256", "reason", "expires"];
/// Policies below policies: the shipped ones need one.
const BASES: usize = 4;
/// Names stand in verdicts, receipts and labels of metrics.
const NAME_BYTES: usize = 64;

impl Policy {
    /// Reads a policy. `file` is what errors call it; `base` gives the text of a policy that it may extend, by name.
    ///
    /// # Errors
    /// The first mistake, with its line and column.
    ///
    /// ```
    /// let text = "schema = \"scanner.policy/v1\"\nname = \"mine\"\n\n[[when]]\nserverity = \"high\"\nthen = \"block\"\n";
    /// let error = scanner_core::Policy::parse("policy.toml", text, &|_| None).unwrap_err();
    /// assert_eq!(error.to_string(), r#"policy.toml:5:1: unknown key "serverity", did you mean "severity"?"#);
    /// ```
    pub fn parse(
        file: &str,
        text: &str,
        base: &dyn Fn(&str) -> Option<Cow<'static, str>>,
    ) -> Result<Self, SettingsError> {
        policy(file, text, base, &[])
    }

    /// What a policy says that says nothing, and extends nothing.
    fn silent() -> Self {
        Self {
            name: String::new(),
            digest: String::new(),
            enforced: true,
            otherwise: Decision::Review,
            incomplete: Decision::Allow,
            audiences: Audience::BUILT_IN.map(|audience| (audience, AudienceSettings::default())).into(),
            clauses: Vec::new(),
            exceptions: Vec::new(),
        }
    }
}

fn policy(
    file: &str,
    text: &str,
    base: &dyn Fn(&str) -> Option<Cow<'static, str>>,
    above: &[&str],
) -> Result<Policy, SettingsError> {
    settings::parse(file, text, |root| {
        root.only(&KEYS)?;
        let schema = root.required("schema")?;
        if schema.value != SCHEMA {
            return Err(schema.error(format!("unknown schema {:?}, expected {SCHEMA:?}", schema.value)));
        }
        let name = root.required("name")?;
        check_name(&name)?;
        let below = match root.string("extends")? {
            Some(extends) => extended(&extends, base, above)?,
            None => Policy::silent(),
        };
        let audiences = audiences(root, below.audiences)?;
        let own = clauses(root, name.value, &audiences)?;
        let exceptions = root.tables("except")?.iter().map(exception).collect::<Result<Vec<_>, _>>()?;
        Ok(Policy {
            name: name.value.to_owned(),
            digest: sha256_hex(format!("{SCHEMA}\n{}\n{}\n{text}", below.digest, text.len()).as_bytes()),
            enforced: root.boolean("enforced")?.unwrap_or(below.enforced),
            otherwise: decision(root, "otherwise")?.unwrap_or(below.otherwise),
            incomplete: decision(root, "incomplete")?.unwrap_or(below.incomplete),
            audiences,
            clauses: [own, below.clauses].concat(),
            exceptions: [exceptions, below.exceptions].concat(),
        })
    })
}

fn extended(
    extends: &At<'_, &str>,
    base: &dyn Fn(&str) -> Option<Cow<'static, str>>,
    above: &[&str],
) -> Result<Policy, SettingsError> {
    let chain = [above, &[extends.value]].concat();
    if above.contains(&extends.value) {
        return Err(extends.error(format!("{:?} extends itself: {}", extends.value, chain.join(" -> "))));
    }
    if chain.len() > BASES {
        return Err(extends.error(format!("more than {BASES} policies below each other: {}", chain.join(" -> "))));
    }
    let text = base(extends.value)
        .ok_or_else(|| extends.error(format!("there is no policy {:?} to extend", extends.value)))?;
    policy(extends.value, &text, base, &chain)
}

fn audiences(
    root: &Table<'_>,
    mut known: Vec<(Audience, AudienceSettings)>,
) -> Result<Vec<(Audience, AudienceSettings)>, SettingsError> {
    let Some(tables) = root.table("audiences")? else { return Ok(known) };
    for key in tables.keys() {
        check_name(&key)?;
        let Some(table) = tables.table(key.value)? else { continue };
        table.only(&AUDIENCE_KEYS)?;
        let audience = Audience::named(key.value);
        let place = known.iter().position(|(known, _)| *known == audience);
        let before = place.and_then(|place| known.get(place)).map(|(_, settings)| settings.clone()).unwrap_or_default();
        let settings = AudienceSettings {
            max_text_bytes: table.number("max_text_bytes")?.map(|number| number.value).or(before.max_text_bytes),
            keep: one(&table, "keep", &Keep::ALL, Keep::name)?.unwrap_or(before.keep),
            like: like(&table, &audience)?.or(before.like),
            inline: patterns(&table, "inline", |_| Ok(()))?.or(before.inline),
        };
        match place.and_then(|place| known.get_mut(place)) {
            Some(entry) => entry.1 = settings,
            None => known.push((audience, settings)),
        }
    }
    Ok(known)
}

fn like(table: &Table<'_>, audience: &Audience) -> Result<Option<Audience>, SettingsError> {
    let Some(like) = table.string("like")? else { return Ok(None) };
    if Audience::BUILT_IN.contains(audience) {
        return Err(like.error(format!("\"like\" is for audiences of your own, {:?} is built in", audience.name())));
    }
    let names = Audience::BUILT_IN;
    let names: Vec<&str> = names.iter().map(Audience::name).collect();
    known("audience", &like, &names)?;
    Ok(Some(Audience::named(like.value)))
}

fn clauses(
    root: &Table<'_>,
    policy: &str,
    audiences: &[(Audience, AudienceSettings)],
) -> Result<Vec<Clause>, SettingsError> {
    let mut clauses: Vec<Clause> = Vec::new();
    for (nth, table) in root.tables("when")?.iter().enumerate() {
        table.only(&WHEN_KEYS)?;
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
            trust: trusts(table)?,
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

fn exception(table: &Table<'_>) -> Result<Exception, SettingsError> {
    table.only(&EXCEPT_KEYS)?;
    let digest = |key: &str, digits: usize| -> Result<Option<String>, SettingsError> {
        let Some(word) = table.string(key)? else { return Ok(None) };
        let is_hex = word.value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if word.value.len() != digits || !is_hex {
            return Err(word.error(format!("\"{key}\" must be {digits} lower-case hexadecimal digits")));
        }
        Ok(Some(word.value.to_owned()))
    };
    let fingerprint = digest("fingerprint", 32)?;
    let sha256 = digest("sha256", 64)?;
    let rule = table.string("rule")?;
    if let Some(rule) = rule.as_ref().filter(|rule| rule.value.is_empty() || rule.value.contains('*')) {
        return Err(rule.error("an exception names one rule; for many there is [[when]]"));
    }
    if fingerprint.is_none() && sha256.is_none() && rule.is_none() {
        return Err(table.error("an exception needs \"fingerprint\", \"rule\" or \"sha256\""));
    }
    let reason = table.required("reason")?;
    if reason.value.trim().is_empty() {
        return Err(reason.error("\"reason\" is empty: say why this may pass"));
    }
    let expires = match table.date("expires")? {
        None => None,
        Some((year, month, day)) => {
            Some(Date::new(year, month, day).ok_or_else(|| table.error("\"expires\" is no day of the calendar"))?)
        }
    };
    Ok(Exception { fingerprint, rule: rule.map(|rule| rule.value.to_owned()), sha256, expires })
}

/// A decision by name.
fn decision(table: &Table<'_>, key: &str) -> Result<Option<Decision>, SettingsError> {
    let word = table.string(key)?;
    word.map(|word| word.one_of("decision", &Decision::ALL, Decision::name)).transpose()
}

/// One word of a list.
fn one<T: Copy>(
    table: &Table<'_>,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<T>, SettingsError> {
    table.string(key)?.map(|word| word.one_of(key, all, name)).transpose()
}

/// Words of a list.
fn words<T: Copy>(
    table: &Table<'_>,
    key: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Option<Vec<T>>, SettingsError> {
    let Some(words) = table.strings(key)? else { return Ok(None) };
    not_empty(table, key, words.len())?;
    words.iter().map(|word| word.one_of(key, all, name)).collect::<Result<_, _>>().map(Some)
}

fn trusts(table: &Table<'_>) -> Result<Option<Vec<Trust>>, SettingsError> {
    words(table, "trust", &Trust::ALL.map(|(trust, _)| trust), Trust::name)
}

/// Words of an ordered list, each with `>=` or `<=` before it or without; what they mean together.
fn thresholds<T: Copy + Ord>(
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

fn patterns(
    table: &Table<'_>,
    key: &str,
    check: fn(&At<'_, &str>) -> Result<(), SettingsError>,
) -> Result<Option<Vec<Pattern>>, SettingsError> {
    let Some(words) = table.strings(key)? else { return Ok(None) };
    not_empty(table, key, words.len())?;
    words.iter().try_for_each(check)?;
    Ok(Some(words.iter().map(|word| Pattern::new(word.value)).collect()))
}

fn not_empty(table: &Table<'_>, key: &str, words: usize) -> Result<(), SettingsError> {
    match table.keys().iter().find(|at| at.value == key) {
        Some(at) if words == 0 => Err(at.error(format!("\"{key}\" is empty: nothing would ever fit"))),
        _ => Ok(()),
    }
}

fn known(what: &str, word: &At<'_, &str>, names: &[&str]) -> Result<(), SettingsError> {
    if names.contains(&word.value) {
        return Ok(());
    }
    Err(word.error(format!("unknown {what} {:?}, {}", word.value, suggest(word.value, names))))
}

fn check_name(name: &At<'_, &str>) -> Result<(), SettingsError> {
    let ok = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if (1..=NAME_BYTES).contains(&name.value.len()) && name.value.bytes().all(ok) {
        return Ok(());
    }
    Err(name
        .error(format!("a name is 1 to {NAME_BYTES} letters, digits, \"-\", \"_\" or \".\", found {:?}", name.value)))
}
