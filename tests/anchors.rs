//! `scanner-core/src/text/anchors/commonest.txt`: what four bytes stand most often in honest text. `rules/anchors.tsv`: for every rule that names no anchors itself those that fewest of stand in honest text. With the
//! shared data beside the checkout `BLESS=1 cargo test -p scanner-tests --test anchors` counts and chooses anew.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs,
};

use aho_corasick::AhoCorasick;
use scanner_core::RuleSet;
use scanner_tests::{honest_texts, root, shared};

/// What an anchor costs that is never found, in looks a megabyte: room in the filter, which lets more text through by
/// chance, and time at every start.
const ROOM: f64 = 1.0;
/// What it costs the filter to hold an anchor against a word that it shares with others.
const COMPARED: f64 = 0.01;
/// What one of four bytes costs more: it stands in the filter with every byte that may follow it.
const SHORT: f64 = 20.0;
/// Letters of a word from which on the blanks beside it are loose.
const LONG: usize = 5;

fn rules_without_table() -> RuleSet {
    let files: Vec<(&str, &str)> =
        scanner_rules::FILES.iter().filter(|(name, _)| *name != "anchors.tsv").copied().collect();
    RuleSet::built_in(&files).unwrap()
}

/// How often each of the literals stands in a megabyte of honest text.
fn counts(literals: BTreeSet<String>) -> BTreeMap<String, f64> {
    let matcher = AhoCorasick::builder().ascii_case_insensitive(true).build(&literals).unwrap();
    let mut found = vec![0.0; literals.len()];
    let mut bytes = 0;
    for text in honest_texts() {
        bytes += text.len();
        for literal in matcher.find_overlapping_iter(&text) {
            found[literal.pattern().as_usize()] += 1.0;
        }
    }
    let megabytes = f64::from(u32::try_from(bytes).unwrap()) / 1e6;
    literals.into_iter().zip(found.into_iter().map(|found| found / megabytes)).collect()
}

fn long_words(literal: &str) -> impl Iterator<Item = &str> {
    literal.split(' ').filter(|word| word.len() >= LONG)
}

/// Grams of four in the file of the commonest.
const GRAMS: usize = 4000;

/// The commonest grams of four: letters, digits and signs of ASCII, a letter among them.
fn commonest() -> String {
    let mut counts: BTreeMap<[u8; 4], u32> = BTreeMap::new();
    for text in honest_texts() {
        let text = text.to_ascii_lowercase();
        for gram in text.as_bytes().windows(4).filter_map(|gram| gram.first_chunk()) {
            let is_written = gram.iter().all(|byte| (b' '..=b'~').contains(byte));
            if is_written && gram.iter().any(u8::is_ascii_lowercase) {
                *counts.entry(*gram).or_default() += 1;
            }
        }
    }
    let mut grams: Vec<(u32, [u8; 4])> = counts.into_iter().map(|(gram, count)| (count, gram)).collect();
    grams.sort_unstable_by(|a, b| b.cmp(a));
    grams.truncate(GRAMS);
    let least = grams.last().map_or(0, |(count, _)| count.ilog2());
    let mut lines: Vec<String> = grams
        .into_iter()
        .map(|(count, gram)| {
            let written = gram.map(|byte| if byte == b' ' { 'B' } else { char::from(byte) });
            format!("{}{:x}\n", String::from_iter(written), (count.ilog2() - least).min(15))
        })
        .collect();
    lines.sort();
    lines.concat()
}

fn chosen() -> String {
    let rules = rules_without_table();
    let literals = RefCell::new(BTreeSet::new());
    rules.anchors_table(&|literal| {
        literals.borrow_mut().insert(literal.to_owned());
        1.0
    });
    let mut literals = literals.take();
    let words: Vec<String> = literals.iter().flat_map(|literal| long_words(literal).map(str::to_owned)).collect();
    literals.extend(words);
    let counts = counts(literals);
    rules.anchors_table(&|literal| {
        let word = long_words(literal).map(|word| counts[word]).min_by(f64::total_cmp);
        let found = counts[literal] + ROOM + COMPARED * word.unwrap_or(counts[literal]);
        // A blank beside short words is one blank to the filter.
        let is_strict = literal.contains(' ') && word.is_none();
        found * if is_strict { 2.0 } else { 1.0 } + if literal.len() < LONG { SHORT } else { 0.0 }
    })
}

#[test]
fn every_match_holds_an_anchor_of_the_table() {
    let path = root().join("rules/anchors.tsv");
    if std::env::var_os("BLESS").is_some() && shared().is_some() {
        fs::write(root().join("scanner-core/src/text/anchors/commonest.txt"), commonest()).unwrap();
        fs::write(&path, chosen()).unwrap();
    }
    let table = fs::read_to_string(path).unwrap();
    assert_eq!(rules_without_table().not_served_by(&table), Vec::<&str>::new(), "BLESS=1 makes it anew");
}
