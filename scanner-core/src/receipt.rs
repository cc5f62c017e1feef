//! The receipt: what was scanned, with what, to which decision. Canonical, and without a clock.

use serde_json::{Map, Value, json};

use crate::{
    finding::sha256_hex,
    limits::{Limits, Resource},
    verdict::{Release, Verdict},
};

/// The schema of the receipts written here.
pub const RECEIPT_SCHEMA: &str = "scanner.receipt/v1";

/// A record that binds an input to a decision. Same input, rules, policy and limits give the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    canonical: String,
}

impl Verdict {
    /// The receipt of this verdict.
    pub fn receipt(&self) -> Receipt {
        Receipt::of(self)
    }
}

impl Receipt {
    fn of(verdict: &Verdict) -> Self {
        let scan = verdict.report();
        let source = &scan.source;
        let audiences: Map<String, Value> = verdict
            .audiences()
            .iter()
            .map(|audience| {
                let decision = json!({
                    "decision": audience.decision.name(),
                    "deliver": audience.deliver.name(),
                    "would_be": audience.would_be.map(|decision| decision.name()),
                });
                (audience.audience.name().to_owned(), decision)
            })
            .collect();
        let mut receipt = json!({
            "schema": RECEIPT_SCHEMA,
            "scanner": { "version": env!("CARGO_PKG_VERSION"), "rules": scan.rules },
            "policy": { "name": verdict.policy_name(), "digest": verdict.policy_digest(), "enforced": verdict.is_enforced() },
            "source": {
                "as": source.asked,
                "kind": source.kind,
                "name": source.name,
                "type": source.declared,
                "provider": source.provider,
                "sha256": source.sha256,
                "size": source.size,
            },
            "attachments": scan.attachments.iter().map(|(id, sha256)| json!({ "reference": id, "sha256": sha256 })).collect::<Vec<_>>(),
            "watch": scan.watch,
            "artifacts": scan.artifacts.iter().map(|artifact| json!({
                "id": artifact.id.to_string(),
                "sha256": artifact.sha256,
                "size": artifact.size,
            })).collect::<Vec<_>>(),
            "releases": releases(verdict),
            "limits": numbers(&scan.limits, true),
            "spent": numbers(&scan.spent, false),
            "facts": {
                "death": scan.facts.death.as_ref().map(|(reason, detail)| json!({ "reason": reason.to_string(), "detail": detail })),
                "engines": scan.facts.engines.iter().map(|engine| json!({
                    "name": engine.name,
                    "version": engine.version,
                    "database": engine.database,
                    "database_time": engine.database_time,
                    "answer": engine.answer,
                })).collect::<Vec<_>>(),
            },
            "findings": scan.findings.iter().map(|finding| finding.fingerprint.as_str()).collect::<Vec<_>>(),
            "totals": scan.totals.iter().map(|(severity, count)| (severity.name().to_owned(), Value::from(*count))).collect::<Map<_, _>>(),
            "gaps": scan.gaps.iter().map(|gap| json!({
                "artifact": gap.artifact.map(|id| id.to_string()),
                "reason": gap.reason.to_string(),
                "detail": gap.detail,
                "at": gap.at,
            })).collect::<Vec<_>>(),
            "decision": verdict.decision().name(),
            "complete": scan.is_complete(),
            "audiences": audiences,
            "context": scan.context,
        });
        if let (Some(date), Some(object)) = (verdict.decided_on(), receipt.as_object_mut()) {
            object.insert("decided_on".to_owned(), Value::from(date.to_string()));
        }
        Self { canonical: canonical_json(&receipt) }
    }

    /// The receipt in canonical form (RFC 8785), without a line end.
    pub fn as_str(&self) -> &str {
        &self.canonical
    }

    /// SHA-256 over the canonical form, lower-case hexadecimal.
    pub fn sha256(&self) -> String {
        sha256_hex(self.canonical.as_bytes())
    }
}

/// What left for each audience, with what proves it: the digest of what came, of what left, and that the second scan
/// allowed it.
fn releases(verdict: &Verdict) -> Vec<Value> {
    let source = &verdict.report().source.sha256;
    verdict
        .audiences()
        .iter()
        .filter_map(|answer| {
            let audience = answer.audience.name();
            Some(match verdict.release(&answer.audience)? {
                Release::Unchanged(_) => {
                    json!({ "audience": audience, "state": "unchanged", "from": source, "sha256": source })
                }
                Release::Cleaned(released) => json!({
                    "audience": audience,
                    "state": "cleaned",
                    "from": source,
                    "sha256": released.sha256,
                    "size": released.bytes.len(),
                    "actions": released.actions.iter().map(|action| json!({
                        "artifact": action.artifact.map(|id| id.to_string()),
                        "action": action.action,
                        "count": action.count,
                    })).collect::<Vec<_>>(),
                    "proof": { "decision": "allow", "scans": released.scans },
                }),
                Release::Withheld(why) => json!({ "audience": audience, "state": "withheld", "why": why }),
            })
        })
        .collect()
}

/// Limits or what was spent. What the process outside used is not repeatable, so it is not in `spent`.
fn numbers(limits: &Limits, with_process: bool) -> Map<String, Value> {
    Resource::ALL
        .into_iter()
        .filter(|resource| with_process || !resource.is_of_process())
        .map(|resource| (resource.name().to_owned(), Value::from(limits.get(resource))))
        .collect()
}

/// JSON in canonical form (RFC 8785): no white space, keys sorted by UTF-16 code units. All numbers here are whole and
/// below 2^53, for which the plain decimal form is canonical.
///
/// ```
/// let value = serde_json::json!({ "b": [1, "\u{e9}\n"], "a": null });
/// assert_eq!(scanner_core::canonical_json(&value), "{\"a\":null,\"b\":[1,\"\u{e9}\\n\"]}");
/// ```
pub fn canonical_json(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical_json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            let members: Vec<String> = keys
                .into_iter()
                .filter_map(|key| members.get(key).map(|value| (key, value)))
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical_json(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_utf16_units() {
        // RFC 8785 section 3.2.3: U+FB33 sorts after the surrogates of U+1F600.
        let value = json!({ "\u{fb33}": 1, "\u{1f600}": 2, "\u{20ac}": 3, "1": 4, "\r": 5 });
        assert_eq!(canonical_json(&value), "{\"\\r\":5,\"1\":4,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn strings_escape_as_little_as_they_must() {
        assert_eq!(canonical_json(&json!("\u{8}\u{1}/\"\\\u{7f}")), "\"\\b\\u0001/\\\"\\\\\u{7f}\"");
    }
}
