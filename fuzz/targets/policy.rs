//! Policy files: an error with its place or a policy, and no policy, whatever it says, lets through what was not seen
//! or what a worker died of.
#![no_main]

use std::{borrow::Cow, sync::LazyLock};

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use scanner_core::{
    Audience, Date, Decision, Facts, Input, Limits, Policy, Reason, Report, Resource, Scanner, verdict_json,
};
use scanner_fuzz::{ORDER, RULES, held, limits, policy_text};

static REPORTS: LazyLock<[Report; 4]> = LazyLock::new(|| {
    let scanner = Scanner::new(RULES.clone(), limits());
    let poor = Scanner::new(RULES.clone(), limits().with(Resource::Steps, 20_000));
    let mut died = Input::file("a.png", &b"\x89PNG"[..]);
    died.facts = Facts::of_death(Reason::Timeout, "no answer");
    [
        scanner.scan(Input::text("mean: 4.2\n")),
        scanner.scan(Input::text(format!("{ORDER}\nAKIAQQQQQQQQQQQQQQQQ <script>1</script>\n"))),
        poor.scan(Input::text("word ".repeat(20_000))),
        scanner.scan(died),
    ]
});

/// Lines that stand above every table; at most one of each key.
const TOP: [&[&str]; 4] = [
    &["extends = \"default\"", "extends = \"strict\"", "extends = \"permissive\""],
    &["otherwise = \"allow\"", "otherwise = \"sanitize\"", "otherwise = \"block\""],
    &["incomplete = \"sanitize\"", "incomplete = \"review\"", "incomplete = \"block\""],
    &["enforced = true", "enforced = false"],
];
/// Conditions on findings, on gaps, and on both; at most one of each key in a clause.
const FINDINGS: [&[&str]; 5] = [
    &["category = \"*\"", "category = \"injection.*\"", "category = [\"secret.*\", \"html.*\"]"],
    &["rule = \"*\"", "rule = \"key-*\""],
    &["severity = \">=low\"", "severity = \"<=high\"", "severity = [\"info\", \"critical\"]"],
    &["confidence = \"low\"", "confidence = \">=medium\""],
    &["evidence = \"use\"", "evidence = \"mention\""],
];
const GAPS: [&[&str]; 1] =
    [&["gap = \"*\"", "gap = \"timeout\"", "gap = \"limit:*\"", "gap = \"*e*\"", "gap = [\"malformed\", \"t*\"]"]];
const BOTH: [&[&str]; 5] = [
    &["trust = \"tool\"", "trust = \"caller\""],
    &["risk = \"inert\"", "risk = [\"active\", \"unknown\"]"],
    &["type = \"*\"", "type = \"png\"", "type = \"text/*\""],
    &["text = true", "text = false"],
    &["audience = \"*\"", "audience = \"model\"", "audience = [\"page\", \"download\"]"],
];
const ANSWERS: &[&str] = &["then = \"allow\"", "then = \"sanitize\"", "then = \"review\"", "then = \"block\""];

/// A policy of those lines, in any order that is one: plain bytes seldom get past the reader of the file.
fn made(bytes: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let mut text = String::from("schema = \"scanner.policy/v1\"\nname = \"made\"\n");
    let some = |keys: &[&[&str]], text: &mut String, bytes: &mut Unstructured<'_>, of: u8| {
        for values in keys {
            if bytes.ratio(1, of)? {
                text.push_str(bytes.choose(values)?);
                text.push('\n');
            }
        }
        Ok(())
    };
    some(&TOP, &mut text, bytes, 2)?;
    for _ in 0..bytes.int_in_range(1..=6)? {
        text.push_str("[[when]]\n");
        if bytes.ratio(1, 2)? {
            some(&FINDINGS, &mut text, bytes, 3)?;
        } else {
            some(&GAPS, &mut text, bytes, 1)?;
        }
        some(&BOTH, &mut text, bytes, 4)?;
        text.push_str(bytes.choose(ANSWERS)?);
        text.push('\n');
        if bytes.ratio(1, 8)? {
            text.push_str("deliver = \"nothing\"\n");
        }
    }
    Ok(text)
}

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        check(text);
    }
    if let Ok(text) = made(&mut Unstructured::new(data)) {
        check(&text);
    }
});

fn check(text: &str) {
    let parsed =
        held(|| (Policy::parse("a.toml", text, &|name| policy_text(name).map(Cow::Borrowed)), Limits::default()));
    let policy = match parsed {
        Ok(policy) => policy,
        Err(error) => {
            let said = error.to_string();
            assert!(said.starts_with("a.toml:") && said.len() < 8 << 10, "{said:.300}");
            return;
        }
    };
    let mut audiences = Audience::BUILT_IN.to_vec();
    audiences.extend(policy.audiences().map(|(audience, _)| audience.clone()).take(4));
    for (number, report) in REPORTS.iter().enumerate() {
        for now in [None, Some(Date::from_unix_seconds(1_800_000_000))] {
            let verdict = report.decide(&policy, &audiences, now);
            assert!(serde_json::from_str::<serde_json::Value>(&verdict_json(&verdict)).is_ok());
            for answer in verdict.audiences() {
                assert!(policy.enforced() == answer.would_be.is_none(), "{answer:?}");
                // A death and a limit are never answered below review, where the policy is enforced.
                if number >= 2 && policy.enforced() {
                    assert!(answer.decision >= Decision::Review, "{answer:?}");
                }
            }
        }
    }
}
