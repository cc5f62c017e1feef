//! A verdict read back decides as it did.

use serde_json::{Value, json};

use super::*;

fn verdict() -> Value {
    json!({
        "schema": "scanner.verdict/v1",
        "complete": false,
        "artifacts": [
            {"id": "a0", "parent": null, "type": "zip", "mime": "application/zip", "risk": "container", "trust": "tool",
             "sha256": "0".repeat(64), "decision": {"page": "block"}, "deliver": {"page": "nothing"}},
            {"id": "a1", "parent": "a0", "type": "svg", "mime": "image/svg+xml", "risk": "active", "trust": "model",
             "sha256": "1".repeat(64), "decision": {"page": "sanitize"}, "deliver": {"page": "release"}}
        ],
        "findings": [
            {"id": "f0", "rule": "r/x", "category": "exec.elf", "severity": "high", "confidence": "medium",
             "evidence": "use", "artifact": "a1", "fingerprint": "f".repeat(32)}
        ],
        "gaps": [{"id": "g0", "artifact": "a0", "reason": "encrypted"}],
        "totals": {"findings": {"high": 3, "low": 2}, "gaps": 1}
    })
}

#[test]
fn a_verdict_read_back_is_the_case_it_was_decided_over() {
    let replayed = Case::from_verdict_json(&verdict()).unwrap();
    assert_eq!((replayed.unlisted_findings, replayed.unlisted_gaps), (4, 0));
    let case = replayed.case;
    let [zip, svg] = &case.artifacts[..] else { panic!() };
    assert_eq!((zip.parent, svg.parent), (None, Some(ArtifactId(0))));
    assert_eq!((zip.is_text, zip.cleanable, svg.is_text, svg.cleanable), (false, false, true, true));
    assert_eq!((svg.risk, svg.trust, &*svg.label), (Risk::Active, Trust::Model, "svg"));
    assert_eq!((zip.opaque, svg.opaque), (false, false));
    let got = decide_for(&named("default"), &case, &Audience::PAGE);
    assert_eq!(got.because, [of_finding("acts", "f0"), of_gap("not_seen", "g0")]);
    assert!(!case.complete);
}

#[test]
fn what_one_audience_got_cleaned_can_be_cleaned() {
    for (decision, deliver, cleanable) in [
        (json!({"page": "sanitize", "model": "allow"}), json!({"page": "release", "model": "original"}), true),
        (json!({"page": "sanitize"}), json!({"page": "nothing"}), false),
        (json!({"page": "allow"}), json!({"page": "release"}), false),
        (json!({}), json!({"page": "release"}), false),
        (Value::Null, json!({"page": "release"}), false),
        (json!({"page": "sanitize"}), Value::Null, false),
    ] {
        let mut verdict = verdict();
        verdict["artifacts"][1]["decision"] = decision;
        verdict["artifacts"][1]["deliver"] = deliver;
        verdict["artifacts"][0]["type"] = json!("of another version");
        let case = Case::from_verdict_json(&verdict).unwrap().case;
        let [unknown, svg] = &case.artifacts[..] else { panic!() };
        assert_eq!(svg.cleanable, cleanable);
        assert_eq!((unknown.opaque, unknown.is_text), (false, false));
    }
}

#[test]
fn what_is_no_verdict_is_told() {
    for (pointer, value, expect) in [
        (
            "/schema",
            json!("scanner.verdict/v2"),
            r#"/schema: expected "scanner.verdict/v1", found "scanner.verdict/v2""#,
        ),
        ("/complete", json!(1), "/complete: expected true or false"),
        ("/findings", json!({}), "/findings: expected a list"),
        ("/findings/0/severity", json!("bad"), "/findings/0/severity: expected a severity"),
        ("/findings/0/artifact", json!("b1"), "/findings/0/artifact: expected an artifact id or null"),
        ("/artifacts/1/id", Value::Null, "/artifacts/1/id: expected an artifact id"),
        ("/artifacts/1/trust", json!(3), "/artifacts/1/trust: expected a string"),
        ("/totals/gaps", Value::Null, "/totals/gaps: expected a number"),
    ] {
        let mut verdict = verdict();
        *verdict.pointer_mut(pointer).unwrap() = value;
        assert_eq!(Case::from_verdict_json(&verdict).unwrap_err(), expect);
    }
    assert_eq!(Case::from_verdict_json(&json!([])).unwrap_err(), "/schema: expected a value, found none");
}
