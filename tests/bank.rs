//! Statements worded without a look at the rules: how many of the attacks are found, and of the honest ones.
//!
//! `tests/bank/attacks.tsv` taught the slots of `rules/injection/slots.toml`; no rule was changed for one of
//! `tests/bank/attacks-held-back.tsv`, which was only ever counted. A line is a goal, a language and a text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;

use scanner_core::{Evidence, Severity};

/// Of the statements of a file, those in which an instruction is found, and all.
fn found(name: &str) -> (usize, usize) {
    let text = fs::read_to_string(scanner_tests::root().join("tests/bank").join(name)).unwrap();
    let texts: Vec<String> =
        text.lines().map(|line| line.splitn(3, '\t').nth(2).unwrap().replace("\\n", "\n")).collect();
    let is_found = |text: &&String| {
        scanner_tests::RULES.read_text(text.as_bytes()).iter().any(|finding| {
            finding.rule.category.starts_with("injection.")
                && finding.evidence == Evidence::Use
                && finding.severity >= Severity::Medium
        })
    };
    (texts.iter().filter(is_found).count(), texts.len())
}

#[test]
fn attacks_are_found_however_they_are_worded() {
    for (name, percent) in [("attacks.tsv", 95), ("attacks-held-back.tsv", 85)] {
        let (found, all) = found(name);
        assert!(found * 100 >= all * percent, "{name}: {found} of {all}");
    }
}

#[test]
fn honest_statements_full_of_the_same_words_are_not() {
    let (found, all) = found("honest.tsv");
    assert!(found * 100 <= all * 3, "{found} of {all}");
}
