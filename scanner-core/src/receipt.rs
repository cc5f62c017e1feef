//! The receipt: what was scanned, with what, to which decision. Canonical, and without a clock.

use serde_json::{Map, Value, json};

mod dsse;
mod keys;
mod review;
mod statement;
#[cfg(test)]
mod tests;

pub use dsse::{DsseError, Envelope};
pub use keys::{KeyError, PublicKey, SigningKey};
pub use review::REVIEW_SCHEMA;
pub use statement::{Statement, sign_receipt, sign_review, utc};

use crate::{
    finding::{Finding, sha256_hex},
    limits::{Limits, Resource},
    scan::{Report, Review, answer_in_receipt, is_secret},
    verdict::{Release, Verdict},
};

use review::attachments_json;

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
        let secretive = scan.secretive();
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
            "source": scan.source_digest().put(json!({
                "as": source.asked,
                "kind": source.kind,
                "name": source.name,
                "type": source.declared,
                "provider": source.provider,
                "size": source.size,
            })),
            "attachments": attachments_json(&scan.attachment_digests()),
            "watch": scan.watch,
            "artifacts": scan.artifacts.iter().zip(secretive).map(|(artifact, has_secret)| {
                let digest = scan.digest(&artifact.sha256, artifact.size, has_secret);
                digest.put(json!({ "id": artifact.id.to_string(), "size": artifact.size }))
            }).collect::<Vec<_>>(),
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
                    "answer": answer_in_receipt(engine, scan.scanner.binding()),
                })).collect::<Vec<_>>(),
                "review": verdict.review().map(Review::to_fact),
            },
            "findings": scan.findings.iter().map(|finding| mark(scan, finding)).collect::<Vec<_>>(),
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

/// The fingerprint of a finding. That of a secret is a digest over the secret: with a key it is bound as content is.
fn mark(report: &Report, finding: &Finding) -> String {
    match report.scanner.binding() {
        Some(binding) if is_secret(&finding.rule.category) => binding.of(&finding.fingerprint),
        _ => finding.fingerprint.clone(),
    }
}

/// What left for each audience, with what proves it: the digest of what came, of what left, and that the second scan
/// allowed it.
fn releases(verdict: &Verdict) -> Vec<Value> {
    let report = verdict.report();
    let source = report.source_digest();
    let from = source.to_json();
    // In the order of their names: a receipt does not say in which order audiences were asked for, and a replay must
    // give the same bytes.
    let mut answers: Vec<_> = verdict.audiences().iter().collect();
    answers.sort_by(|a, b| a.audience.name().cmp(b.audience.name()));
    answers
        .into_iter()
        .filter_map(|answer| {
            let audience = answer.audience.name();
            Some(match verdict.release(&answer.audience)? {
                Release::Unchanged(_) => {
                    source.put(json!({ "audience": audience, "state": "unchanged", "from": from }))
                }
                Release::Cleaned(released) => {
                    let size = u64::try_from(released.bytes.len()).unwrap_or(u64::MAX);
                    report.digest(&released.sha256, size, false).put(json!({
                        "audience": audience,
                        "state": "cleaned",
                        "from": from,
                        "size": size,
                        "actions": released.actions.iter().map(|action| json!({
                            "artifact": action.artifact.map(|id| id.to_string()),
                            "action": action.action,
                            "count": action.count,
                        })).collect::<Vec<_>>(),
                        "proof": { "decision": "allow", "scans": released.scans },
                    }))
                }
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
