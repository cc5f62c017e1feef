//! JSON lines of texts: one object `{"id","text"}` in, one line of findings out.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    json::{Doc, Kind},
    limits::Budget,
    output::{FindingV1, GapV1, findings_v1, gaps_v1},
    policy::{Audience, Case, Date, Decision, Policy},
    scan::{Facts, Input, Scanner},
};

/// The answer to one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextLine {
    /// The decision; `None` when the line is no object with an id and a text.
    pub decision: Option<Decision>,
    /// Whether the text was seen whole.
    pub complete: bool,
    /// The answer as one line of JSON, without a line end.
    pub json: String,
}

/// Reads one line and decides about its text; `None` for a blank line. With a death among the facts the line is not
/// parsed: the answer has no id then, and says the line by its number.
pub fn text_line(
    scanner: &Scanner,
    policy: &Policy,
    audiences: &[Audience],
    now: Option<Date>,
    line: (u64, &Bytes),
    facts: Facts,
) -> Option<TextLine> {
    let (number, line) = line;
    if line.trim_ascii().is_empty() {
        return None;
    }
    let parsed = if facts.death.is_some() { Ok((json!(null), line.clone())) } else { id_and_text(scanner, line) };
    let (id, text) = match parsed {
        Ok(parsed) => parsed,
        Err(message) => {
            let error = json!({ "id": null, "line": number, "error": { "code": "not_a_text", "message": message } });
            return Some(TextLine { decision: None, complete: false, json: error.to_string() });
        }
    };
    let died = facts.death.is_some();
    let report = scanner.scan(Input { facts, ..Input::text(text) });
    // Only the decision is told, so no safe version is made.
    let decision = policy.decide(&Case::of(&report, |_| true), audiences, now).decision;
    let answer = LineV1 {
        id,
        line: died.then_some(number),
        decision: decision.name(),
        findings: findings_v1(&report.findings),
        gaps: gaps_v1(&report.gaps),
    };
    Some(TextLine {
        decision: Some(decision),
        complete: report.is_complete(),
        json: serde_json::to_string(&answer).unwrap_or_default(),
    })
}

#[derive(Serialize)]
struct LineV1<'a> {
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    decision: &'static str,
    findings: Vec<FindingV1<'a>>,
    gaps: Vec<GapV1<'a>>,
}

/// The members of the line's object. Whatever else is in it is not a text anybody asked about, so it is an error: a
/// second `text` could hide behind the first.
fn id_and_text(scanner: &Scanner, line: &Bytes) -> Result<(Value, Bytes), String> {
    let mut budget = Budget::new(*scanner.limits());
    let doc = Doc::parse(line, &mut budget);
    if let Some(stop) = doc.stop {
        return Err(stop.into_gap().detail);
    }
    let root = doc.root().filter(|root| doc.kind(*root) == Kind::Object && doc.end == line.len());
    let root = root.ok_or("expected one JSON object {\"id\",\"text\"}")?;
    let (mut id, mut text) = (None, None);
    for member in doc.children(root) {
        let slot = match doc.key(member).as_deref() {
            Some("id") => &mut id,
            Some("text") => &mut text,
            _ => return Err("expected only the keys \"id\" and \"text\"".to_owned()),
        };
        if slot.replace(member).is_some() {
            return Err("a key stands twice".to_owned());
        }
    }
    let id = match id {
        None => Value::Null,
        Some(member) => match (doc.word(member), doc.integer(member)) {
            (Some(word), _) => Value::from(word.into_owned()),
            (None, Some(number)) => Value::from(number),
            _ => return Err("\"id\" must be a string of at most 1 KiB or a whole number".to_owned()),
        },
    };
    let text = text.and_then(|member| doc.text(member, &mut budget).transpose());
    match text {
        None => Err("\"text\" must be a string".to_owned()),
        Some(Err(exhausted)) => Err(exhausted.to_string()),
        Some(Ok(text)) => Ok((id, text.bytes)),
    }
}
