//! Reading a policy file. Every mistake is told with line and column.

use std::borrow::Cow;

use super::{Audience, AudienceSettings, Date, Decision, Exception, Keep, Policy};
use crate::{
    finding::sha256_hex,
    settings::{self, At, SettingsError, Table},
};

mod when;
mod words;

use words::{check_name, decision, known, one, patterns};

const SCHEMA: &str = "scanner.policy/v1";
const KEYS: [&str; 9] =
    ["schema", "name", "extends", "enforced", "otherwise", "incomplete", "audiences", "when", "except"];
const AUDIENCE_KEYS: [&str; 5] = ["max_text_bytes", "keep", "inline", "sandbox", "like"];
const EXCEPT_KEYS: [&str; 5] = ["fingerprint", "rule", "sha256", "reason", "expires"];
/// Policies below policies: the shipped ones need one.
const BASES: usize = 4;

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
        let own = when::clauses(root, name.value, &audiences)?;
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
            sandbox: patterns(&table, "sandbox", |_| Ok(()))?.or(before.sandbox),
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

/// Every key of a policy file that has a value of its own.
#[cfg(test)]
pub(super) fn every_key() -> Vec<&'static str> {
    let tables = ["audiences", "when", "except"];
    [&KEYS[..], &AUDIENCE_KEYS, &when::KEYS, &EXCEPT_KEYS]
        .concat()
        .into_iter()
        .filter(|key| !tables.contains(key))
        .collect()
}
