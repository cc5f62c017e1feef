//! Use or mention: a document about attacks quotes them.
//!
//! In a text that talks about the subject an instruction is told one step milder. It is a mention only when it is
//! quoted there as well: the words of the subject alone must not switch the scanner off.

use std::{ops::Range, sync::OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// Words that name the subject itself. They are looked for with the anchors of the rules.
pub(super) const SUBJECT: &[&str] = &[
    "prompt injection",
    "prompt-injection",
    "prompt_injection",
    "promptinjection",
    "jailbreak",
    "injection attack",
    "prompt attack",
    "indirect injection",
    "llm security",
    "ai security",
    "guardrail",
    "prompt guard",
    "prompt shield",
    "prompt leak",
    "prompt extraction",
    "instruction override",
    "adversarial prompt",
    "injection detect",
];

/// Words that such documents are made of.
const AROUND: &[&str] = &[
    "detect",
    "classif",
    "false positive",
    "red team",
    "red-team",
    "owasp",
    "mitigat",
    "payload",
    "attacker",
    "malicious",
    "vulnerab",
    "benchmark",
    "test case",
    "scanner",
    "heuristic",
    "defens",
    "defenc",
    "sanitiz",
    "exploit",
    "adversar",
    "threat",
    "bypass",
    "severity",
    "evaluat",
    "dataset",
    "sandbox",
    "untrusted",
    "cve-",
    "pattern",
    "assert",
    "example",
    "regex",
];

/// Of the words around the subject so many different ones make a document about it.
const AROUND_FEWEST: usize = 4;
/// Text looked at for the subject: a document says what it is about early and often.
const LOOKED_AT: usize = 256 * 1024;

/// Whether words of the same line lead up to a range: a letter and a blank before it.
pub(super) fn is_in_sentence(text: &[u8], range: &Range<usize>) -> bool {
    let before = text.get(range.start.saturating_sub(64)..range.start).unwrap_or_default();
    let words = before.trim_ascii_end();
    let blanks = before.get(words.len()..).unwrap_or_default();
    words.last().is_some_and(u8::is_ascii_alphabetic) && !blanks.is_empty() && blanks.iter().all(|byte| *byte == b' ')
}

/// Whether a text that names the subject is about it.
pub(super) fn discusses(text: &[u8]) -> bool {
    static WORDS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let Some(words) = WORDS.get_or_init(|| {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(AROUND)
            .ok()
    }) else {
        return false;
    };
    let mut around = [false; AROUND.len()];
    for found in words.find_overlapping_iter(text.get(..LOOKED_AT.min(text.len())).unwrap_or_default()) {
        if let Some(seen) = around.get_mut(found.pattern().as_usize()) {
            *seen = true;
        }
    }
    around.iter().filter(|seen| **seen).count() >= AROUND_FEWEST
}

/// Whether a range stands in quotes or code within its line.
pub(super) fn is_quoted(text: &[u8], range: &Range<usize>) -> bool {
    /// A quote opens at most that far in front.
    const REACH: usize = 160;
    let from = range.start.saturating_sub(REACH);
    let before = text.get(from..range.start).unwrap_or_default();
    let before = memchr::memrchr(b'\n', before).and_then(|newline| before.get(newline..)).unwrap_or(before);
    let after = text.get(range.end..range.end.saturating_add(REACH).min(text.len())).unwrap_or_default();
    let after = memchr::memchr(b'\n', after).and_then(|newline| after.get(..newline)).unwrap_or(after);
    let counts = |quote: u8| before.iter().filter(|byte| **byte == quote).count() % 2 == 1 && after.contains(&quote);
    let has = |bytes: &[u8], mark: &str| memchr::memmem::find(bytes, mark.as_bytes()).is_some();
    counts(b'"')
        || counts(b'`')
        || (counts(b'\'') && before.iter().rev().take(2).any(|byte| *byte == b'\''))
        || (has(before, "“") && has(after, "”"))
        || (has(before, "«") && has(after, "»"))
        || before.starts_with(b"\n>")
        || before.starts_with(b"\n| ")
        || before.starts_with(b"\n|")
}
