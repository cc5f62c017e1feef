//! A rule file of the size and in the forms of those that people have: every rule of it finds what it is for, and honest
//! text stays as calm as it was. `cargo bench -p scanner-core --bench text` measures what it costs.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use scanner_core::{Finding, RuleSet, Severity};
use scanner_tests::{RULES, honest_texts};

const FILE: &str = include_str!("gitleaks/two-hundred.toml");

/// A secret of that many characters that looks like one; each number has its own.
fn made(alphabet: &[u8], length: usize, number: usize) -> String {
    let mut state = u64::try_from(number).unwrap().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()])
        })
        .collect()
}

/// A line that the rule with that id is for, by the part of its regex that says the form.
fn line(id: &str, regex: &str, number: usize) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let name = id.split('-').next().unwrap();
    if let Some((_, length)) = regex.split_once("[A-Za-z0-9]{").filter(|_| regex.contains(&format!("({name}_"))) {
        let length = length.split('}').next().unwrap().parse().unwrap();
        format!("export TOKEN={name}_{}", made(LETTERS, length, number))
    } else if regex.contains("(?:live|test)") {
        format!("{{\"auth\": \"{name}-live-{}\"}}", made(b"0123456789abcdef", 32, number))
    } else if regex.contains("/hooks/") {
        format!(
            "POST https://eu.{name}.example/hooks/T{}/{}",
            made(b"ABCDEFGH0123456789", 8, number),
            made(LETTERS, 24, number)
        )
    } else {
        format!("{name}_api_key = \"{}\"", made(b"abcdefghijklmnopqrstuvwxyz0123456789", 32, number))
    }
}

fn of_file(findings: &[Finding], ids: &BTreeSet<String>) -> Vec<String> {
    findings.iter().map(|finding| finding.rule.id.to_string()).filter(|id| ids.contains(id)).collect()
}

#[test]
fn every_rule_of_a_large_file_finds_what_it_is_for() {
    let alone = RuleSet::parse(&[("two-hundred.toml", FILE)]).unwrap();
    assert_eq!(alone.rules().len(), 200);
    let ids: BTreeSet<String> = alone.rules().map(|rule| rule.rule.id.to_string()).collect();
    let mut text = String::new();
    for (number, rule) in alone.rules().enumerate() {
        let id = rule.rule.id.split('/').next_back().unwrap();
        let line = line(id, &rule.regex, number);
        let found = of_file(&alone.read_text(line.as_bytes()), &ids);
        assert!(found.contains(&rule.rule.id.to_string()), "{id}: {line}: {found:?}");
        text.push_str(&line);
        text.push('\n');
    }
    // All in one text, behind each other and among the rules built in.
    let all = RULES.with(&[("two-hundred.toml", FILE)]).unwrap();
    let found: BTreeSet<String> = of_file(&all.read_text(text.as_bytes()), &ids).into_iter().collect();
    assert!(found.len() >= 195, "{} of 200 in one text", found.len());
    // What the file itself lets pass.
    let name = ids.iter().next().unwrap().split('/').next_back().unwrap().split('-').next().unwrap().to_owned();
    assert!(of_file(&all.read_text(format!("{name}_token: ${{{name}_placeholder}}").as_bytes()), &ids).is_empty());
}

#[test]
fn honest_text_stays_calm_with_a_large_file() {
    let file = RuleSet::parse(&[("two-hundred.toml", FILE)]).unwrap();
    let ids: BTreeSet<String> = file.rules().map(|rule| rule.rule.id.to_string()).collect();
    let file = file.without_checks_of_data();
    let mut alarms = 0;
    for text in honest_texts() {
        let findings = file.read_text(text.as_bytes());
        let loud: Vec<Finding> = findings.into_iter().filter(|finding| finding.severity > Severity::Info).collect();
        alarms += usize::from(!of_file(&loud, &ids).is_empty());
    }
    assert_eq!(alarms, 0);
}
