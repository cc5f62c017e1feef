//! How calm the rules for secrets and personal data are over honest text: the statements of `tests/bank`, and the
//! labelled texts beside the checkout (or in `SCANNER_SHARED`) where there are any. With those the figures are
//! `cargo test -p scanner-tests --test calm -- --nocapture`.
#![allow(clippy::print_stdout, reason = "the figures are asked for")]

use std::collections::BTreeMap;

use scanner_core::Severity;
use scanner_tests::{RULES, honest_texts};

#[test]
fn personal_data_and_secrets_are_not_seen_where_there_are_none() {
    let (mut texts, mut bytes) = (0_usize, 0_usize);
    let mut loud: BTreeMap<String, usize> = BTreeMap::new();
    for text in honest_texts() {
        texts += 1;
        bytes += text.len();
        let findings = RULES.read_text(text.as_bytes());
        let categories = findings.iter().filter(|finding| finding.severity > Severity::Info);
        let mut categories: Vec<&str> = categories.map(|finding| &*finding.rule.category).collect();
        categories.sort_unstable();
        categories.dedup();
        for category in categories {
            if category.starts_with("pii.") || category.starts_with("secret.") {
                *loud.entry(category.to_owned()).or_insert(0) += 1;
            }
        }
    }
    println!("{texts} honest texts, {bytes} bytes; with a finding above information: {loud:?}");
    assert!(texts > 100, "{texts}");
    let personal: usize =
        loud.iter().filter(|(category, _)| category.starts_with("pii.")).map(|(_, texts)| texts).sum();
    assert_eq!(personal, 0, "{loud:?}");
    let all: usize = loud.values().sum();
    assert!(all * 1000 <= texts, "{loud:?} of {texts}");
}
