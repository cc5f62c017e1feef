//! SARIF 2.1.0: findings as code-scanning services and editors read them. What was not seen is a notification of the
//! run, since SARIF has no word for it; a run that was stopped has not succeeded.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    bundle::ArtifactId,
    finding::{Coordinate, Evidence, Finding, Gap, Reason, Rule, Severity, visible},
    scan::Scan,
    verdict::Verdict,
};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A SARIF log of one run, in one line without a line end.
pub fn sarif(verdict: &Verdict) -> String {
    log(run_of(verdict))
}

/// Several logs of [`sarif`] as one log of one run: what services take. A log that is none is left out.
///
/// ```
/// assert!(scanner_core::sarif_of_all(["{}"]).contains(r#""results":[]"#));
/// ```
pub fn sarif_of_all<'a>(logs: impl IntoIterator<Item = &'a str>) -> String {
    let mut rules = BTreeMap::new();
    let mut lists = ["artifacts", "invocations", "results"].map(|key| (key, Vec::new()));
    for log in logs {
        let mut log: Value = serde_json::from_str(log).unwrap_or_default();
        let Some(run) = log.pointer_mut("/runs/0") else { continue };
        for (key, list) in &mut lists {
            if let Some(Value::Array(items)) = run.get_mut(*key).map(Value::take) {
                list.extend(items);
            }
        }
        if let Some(Value::Array(items)) = run.pointer_mut("/tool/driver/rules").map(Value::take) {
            let id = |rule: &Value| rule.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            rules.extend(items.into_iter().map(|rule| (id(&rule), rule)));
        }
    }
    let lists = lists.into_iter().map(|(key, list)| (key.to_owned(), Value::Array(list)));
    log(run(rules.into_values().collect(), lists.collect()))
}

fn log(run: Value) -> String {
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }).to_string()
}

fn run(rules: Vec<Value>, mut lists: Map<String, Value>) -> Value {
    let driver = json!({ "name": "scanner", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
    lists.insert("tool".to_owned(), json!({ "driver": driver }));
    lists.insert("columnKind".to_owned(), "unicodeCodePoints".into());
    lists.into()
}

fn run_of(verdict: &Verdict) -> Value {
    let scan: &Scan = verdict.report();
    let rules: BTreeMap<&str, Value> =
        scan.findings.iter().map(|finding| (&*finding.rule.id, rule(&finding.rule))).collect();
    let results: Vec<Value> = scan.findings.iter().map(|finding| result(scan, finding)).collect();
    let seen: Vec<Value> = scan.gaps.iter().map(|gap| notification(scan, gap)).collect();
    let invocation = json!({
        "executionSuccessful": !scan.gaps.iter().any(|gap| stopped(&gap.reason)),
        "toolExecutionNotifications": seen,
        "properties": {
            "input": uri(scan),
            "decision": verdict.decision().name(),
            "complete": scan.is_complete(),
            "policy": verdict.policy_name(),
            "receipt": verdict.receipt().sha256(),
        },
    });
    let artifact = json!({
        "location": { "uri": uri(scan) },
        "length": scan.source.size,
        "hashes": { "sha-256": scan.source.sha256 },
        "roles": ["analysisTarget"],
    });
    let lists = [("artifacts", vec![artifact]), ("invocations", vec![invocation]), ("results", results)];
    run(rules.into_values().collect(), lists.into_iter().map(|(key, list)| (key.to_owned(), list.into())).collect())
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// The number services sort by: 9 and more is critical, 7 high, 4 medium, above 0 low.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "3.0",
        Severity::Info => "0.0",
    }
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": rule.remedy },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "precision": rule.confidence.name(),
            "security-severity": score(rule.severity),
            "tags": ["security", rule.category],
        },
    })
}

fn result(scan: &Scan, finding: &Finding) -> Value {
    // What is only mentioned does no harm.
    let level = if finding.evidence == Evidence::Mention { "note" } else { level(finding.severity) };
    let mut result = json!({
        "ruleId": finding.rule.id,
        "level": level,
        "message": { "text": visible(&finding.message) },
        "locations": [location(scan, finding.artifact, None, Some(finding))],
        "partialFingerprints": { "scanner/v1": finding.fingerprint },
        "properties": {
            "category": finding.rule.category,
            "severity": finding.severity.name(),
            "confidence": finding.confidence.name(),
            "evidence": finding.evidence.name(),
            "decoded": finding.decoded,
        },
    });
    if let (Some(excerpt), Some(Value::Object(properties))) = (&finding.excerpt, result.get_mut("properties")) {
        properties.insert("excerpt".to_owned(), visible(excerpt.as_str()).into());
    }
    result
}

fn notification(scan: &Scan, gap: &Gap) -> Value {
    json!({
        "descriptor": { "id": format!("gap/{}", gap.reason) },
        "level": if stopped(&gap.reason) { "error" } else { "warning" },
        "message": { "text": format!("not seen: {}: {}", gap.reason, visible(&gap.detail)) },
        "locations": [location(scan, gap.artifact, gap.at.as_deref(), None)],
    })
}

/// Whether the scan was stopped, and not only unable to read something.
fn stopped(reason: &Reason) -> bool {
    matches!(reason, Reason::WorkerDied | Reason::Timeout | Reason::Limit(_))
}

/// The file a person has, the region in it where the artifact is that file itself, and which artifact in it.
fn location(scan: &Scan, artifact: Option<ArtifactId>, at: Option<&str>, finding: Option<&Finding>) -> Value {
    let record = artifact.and_then(|id| scan.artifacts.get(usize::try_from(id.0).ok()?));
    let mut physical = Map::from_iter([("artifactLocation".to_owned(), json!({ "uri": uri(scan) }))]);
    let is_input = record.is_some_and(|record| record.parent.is_none() && record.at.is_none());
    if let Some(region) = finding.filter(|_| is_input).and_then(region) {
        physical.insert("region".to_owned(), region);
    }
    let mut location = Map::from_iter([("physicalLocation".to_owned(), Value::Object(physical))]);
    let inside = at.or_else(|| record.and_then(|record| record.at.as_deref()));
    let path = record.filter(|_| !is_input).map(|record| visible(&record.path));
    if inside.is_some() || path.is_some() {
        let logical = json!({
            "name": path.unwrap_or_default(),
            "fullyQualifiedName": visible(inside.unwrap_or_default()),
            "kind": "member",
        });
        location.insert("logicalLocations".to_owned(), json!([logical]));
    }
    Value::Object(location)
}

/// Lines and columns where the place has them, bytes where there is a span.
fn region(finding: &Finding) -> Option<Value> {
    let mut region = Map::new();
    for (key, name) in [("line", "startLine"), ("column", "startColumn")] {
        match finding.place.0.get(key) {
            Some(Coordinate::Number(number)) if *number > 0 => region.insert(name.to_owned(), (*number).into()),
            // A column means nothing without its line.
            _ => break,
        };
    }
    if let Some(span) = finding.span {
        region.insert("byteOffset".to_owned(), span.start.into());
        region.insert("byteLength".to_owned(), span.end.saturating_sub(span.start).into());
    }
    (!region.is_empty()).then_some(region.into())
}

/// The name of the input as a relative reference: nothing in it leads anywhere else.
fn uri(scan: &Scan) -> String {
    let name = scan.source.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("stdin");
    let segments = name.split('/').filter(|segment| !matches!(*segment, "" | "." | ".."));
    let encoded: Vec<String> = segments.map(encode).collect();
    if encoded.is_empty() { "stdin".to_owned() } else { encoded.join("/") }
}

fn encode(segment: &str) -> String {
    let mut encoded = String::new();
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Audience, Input, Limits, Policy, RuleSet, Scanner};

    fn verdict(input: Input, limits: Limits) -> Value {
        let scanner = Scanner::new(RuleSet::built_in(&[]).unwrap(), limits);
        let policy = Policy::parse("p", "schema = 'scanner.policy/v1'\nname = 'p'\n", &|_| None).unwrap();
        let report = scanner.scan(input);
        serde_json::from_str(&sarif(&report.decide(&policy, &[Audience::PAGE], None))).unwrap()
    }

    #[test]
    fn a_finding_is_a_result_with_its_rule() {
        let log =
            verdict(Input::file("../a b.csv", "name,total\nx,=WEBSERVICE(\"http://e.example/\")\n"), Limits::default());
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert!(!results.is_empty(), "{log}");
        let ids: Vec<&Value> =
            run["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
        for result in results {
            assert!(ids.contains(&&result["ruleId"]), "{result}");
            assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b.csv");
        }
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    }

    #[test]
    fn a_limit_is_a_run_that_did_not_succeed() {
        let log = verdict(Input::text("hello"), Limits::default().with(crate::Resource::EnvelopeBytes, 1));
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["toolExecutionNotifications"][0]["descriptor"]["id"], "gap/limit:envelope_bytes");
    }

    #[test]
    fn several_logs_are_one_run_with_each_rule_once() {
        let one =
            verdict(Input::file("a.csv", "x,=WEBSERVICE(\"http://e.example/\")\n"), Limits::default()).to_string();
        let all: Value = serde_json::from_str(&sarif_of_all([one.as_str(), "broken", one.as_str()])).unwrap();
        let one: Value = serde_json::from_str(&one).unwrap();
        assert_eq!(all["runs"].as_array().unwrap().len(), 1);
        assert_eq!(all["runs"][0]["tool"], one["runs"][0]["tool"]);
        let count = |log: &Value, key: &str| log["runs"][0][key].as_array().unwrap().len();
        for key in ["results", "artifacts", "invocations"] {
            assert_eq!(count(&all, key), 2 * count(&one, key), "{key}");
        }
    }
}
