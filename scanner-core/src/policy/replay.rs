//! A case out of a verdict that was written before, so that another policy can be tried without scanning again.

use serde_json::Value;

use super::{Case, CaseArtifact, CaseFinding, CaseGap, Decision, Deliver};
use crate::{
    bundle::{ArtifactId, Trust},
    finding::{Confidence, Evidence, Severity},
    sniff::{Risk, type_of},
};

const SCHEMA: &str = "scanner.verdict/v1";

/// A case, and what the verdict counted but did not list. A policy can only be tried on what is listed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replayed {
    /// What is listed.
    pub case: Case,
    /// Findings in `totals` that are not in the list.
    pub unlisted_findings: u64,
    /// Gaps in `totals` that are not in the list.
    pub unlisted_gaps: u64,
}

impl Case {
    /// The case that a verdict (`scanner.verdict/v1`) was decided over.
    ///
    /// What can be cleaned is not in a verdict; an artifact counts as such where the verdict released it for somebody.
    ///
    /// # Errors
    /// It is no such verdict: where, and what was expected.
    ///
    /// ```
    /// let verdict = serde_json::json!({
    ///     "schema": "scanner.verdict/v1", "complete": false, "artifacts": [], "findings": [],
    ///     "gaps": [{"id": "g0", "artifact": null, "reason": "timeout", "detail": "", "at": null}],
    ///     "totals": {"findings": {"high": 2}, "gaps": 1}
    /// });
    /// let replayed = scanner_core::Case::from_verdict_json(&verdict)?;
    /// assert_eq!((replayed.case.gaps.len(), replayed.unlisted_findings), (1, 2));
    /// # Ok::<(), String>(())
    /// ```
    pub fn from_verdict_json(verdict: &Value) -> Result<Replayed, String> {
        let root = At { value: verdict, path: "" };
        let schema = root.text("schema")?;
        if schema != SCHEMA {
            return Err(format!("/schema: expected {SCHEMA:?}, found {schema:?}"));
        }
        let case = Self {
            artifacts: root.list("artifacts", artifact)?,
            findings: root.list("findings", finding)?,
            gaps: root.list("gaps", gap)?,
            complete: root.boolean("complete")?,
            cleanable: false,
            by_person: None,
        };
        let totals = root.key("totals")?;
        let totals = At { value: totals, path: "/totals" };
        let of_severity = totals.key("findings")?.as_object().ok_or("/totals/findings: expected an object")?;
        let findings: u64 = of_severity.values().filter_map(Value::as_u64).fold(0, u64::saturating_add);
        let gaps = totals.key("gaps")?.as_u64().ok_or("/totals/gaps: expected a number")?;
        let beyond = |total: u64, listed: usize| total.saturating_sub(u64::try_from(listed).unwrap_or(u64::MAX));
        Ok(Replayed {
            unlisted_findings: beyond(findings, case.findings.len()),
            unlisted_gaps: beyond(gaps, case.gaps.len()),
            case,
        })
    }
}

fn artifact(at: &At<'_>) -> Result<CaseArtifact, String> {
    let label = at.text("type")?;
    let is = |key: &str, word: &str| {
        at.value.get(key).and_then(Value::as_object).is_some_and(|of| of.values().any(|value| value == word))
    };
    Ok(CaseArtifact {
        id: at.id("id")?.ok_or_else(|| at.expected("id", "an artifact id"))?,
        parent: at.id("parent")?,
        label: label.to_owned().into(),
        mime: at.text("mime")?.to_owned().into(),
        risk: at.word("risk", "a risk", Risk::named)?,
        trust: at.word("trust", "a trust", |word| {
            Trust::ALL.into_iter().find(|(_, name)| *name == word).map(|(trust, _)| trust)
        })?,
        sha256: at.text("sha256")?.to_owned(),
        opaque: type_of(label).is_some_and(crate::sniff::Type::is_opaque),
        is_text: type_of(label).is_some_and(|kind| kind.is_text),
        cleanable: is("decision", Decision::Sanitize.name()) && is("deliver", Deliver::Release.name()),
    })
}

fn finding(at: &At<'_>) -> Result<CaseFinding, String> {
    Ok(CaseFinding {
        id: at.text("id")?.to_owned(),
        artifact: at.id("artifact")?,
        rule: at.text("rule")?.to_owned().into(),
        category: at.text("category")?.to_owned().into(),
        severity: at.word("severity", "a severity", Severity::named)?,
        confidence: at.word("confidence", "a confidence", Confidence::named)?,
        evidence: at.word("evidence", "an evidence", Evidence::named)?,
        fingerprint: at.text("fingerprint")?.to_owned(),
    })
}

fn gap(at: &At<'_>) -> Result<CaseGap, String> {
    Ok(CaseGap {
        id: at.text("id")?.to_owned(),
        artifact: at.id("artifact")?,
        reason: at.text("reason")?.to_owned().into(),
    })
}

/// A value and the JSON Pointer to it.
struct At<'a> {
    value: &'a Value,
    path: &'a str,
}

impl<'a> At<'a> {
    fn expected(&self, key: &str, what: &str) -> String {
        format!("{}/{key}: expected {what}", self.path)
    }

    fn key(&self, key: &str) -> Result<&'a Value, String> {
        self.value.get(key).ok_or_else(|| self.expected(key, "a value, found none"))
    }

    fn text(&self, key: &str) -> Result<&'a str, String> {
        self.key(key)?.as_str().ok_or_else(|| self.expected(key, "a string"))
    }

    fn boolean(&self, key: &str) -> Result<bool, String> {
        self.key(key)?.as_bool().ok_or_else(|| self.expected(key, "true or false"))
    }

    fn word<T>(&self, key: &str, what: &str, named: impl Fn(&str) -> Option<T>) -> Result<T, String> {
        named(self.text(key)?).ok_or_else(|| self.expected(key, what))
    }

    /// `a0`, or null.
    fn id(&self, key: &str) -> Result<Option<ArtifactId>, String> {
        if self.key(key)?.is_null() {
            return Ok(None);
        }
        let number = self.text(key)?.strip_prefix('a').and_then(|number| number.parse().ok());
        number.map(|number| Some(ArtifactId(number))).ok_or_else(|| self.expected(key, "an artifact id or null"))
    }

    fn list<T>(&self, key: &str, read: fn(&At<'_>) -> Result<T, String>) -> Result<Vec<T>, String> {
        let items = self.key(key)?.as_array().ok_or_else(|| self.expected(key, "a list"))?;
        let at = |(nth, value)| read(&At { value, path: &format!("{}/{key}/{nth}", self.path) });
        items.iter().enumerate().map(at).collect()
    }
}
