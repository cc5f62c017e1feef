//! Hits of one text, before they are told.

use std::{collections::BTreeMap, ops::Range};

use super::looks::Looks;
use crate::finding::{Confidence, Evidence, Rule, Secret, Severity};

/// Hits of one rule kept whole in one text; the rest is counted.
const KEPT_PER_RULE: u64 = 64;
/// Weak hits count when another rule hits within that many bytes.
const TOGETHER: usize = 300;
/// An excerpt looks that far around its match.
const EXCERPT_REACH: usize = 256;

/// The rule of a hit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// By position in the rule set.
    Loaded(usize),
    /// A rule in code.
    BuiltIn(&'static Rule),
}

impl Source {
    fn key(&self) -> (usize, &str) {
        match self {
            Self::Loaded(index) => (*index, ""),
            Self::BuiltIn(rule) => (usize::MAX, &rule.id),
        }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Source {}

impl PartialOrd for Source {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Source {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Something found at a range of the base.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) source: Source,
    /// In the base.
    pub(super) range: Range<usize>,
    pub(super) severity: Severity,
    pub(super) confidence: Confidence,
    pub(super) evidence: Evidence,
    pub(super) decoded: Vec<&'static str>,
    pub(super) message: Option<String>,
    /// The secret in it, in the base, where that is not the whole.
    pub(super) secret: Option<Range<usize>>,
    /// The bytes that matched, as the pass saw them: the mark of a finding is made from them, if it is told.
    pub(super) matched: Box<[u8]>,
    /// The pass that saw it and where in that pass's text: two hits in one view may have one range in the base.
    pub(super) seen: (usize, Range<usize>),
    /// Counts only beside another one.
    pub(super) weak: bool,
    /// And that in the same line.
    pub(super) same_line: bool,
    pub(super) injection: bool,
}

impl Hit {
    /// What it shares room with.
    pub(super) fn kind(&self) -> Kind {
        (self.source, self.severity > Severity::Info)
    }

    /// A hit that stands for itself; its source and range are filled in by [`Hits::add`].
    pub(super) fn new(severity: Severity, confidence: Confidence, matched: &[u8]) -> Self {
        Self {
            source: Source::Loaded(usize::MAX),
            range: 0..0,
            severity,
            confidence,
            evidence: Evidence::Use,
            decoded: Vec::new(),
            message: None,
            secret: None,
            matched: matched.into(),
            seen: (0, 0..0),
            weak: false,
            same_line: false,
            injection: false,
        }
    }
}

/// Hits that share room: of one rule, information and what is more apart. A flood of placeholders must not push out the
/// secret behind it.
pub(super) type Kind = (Source, bool);

/// The first hit of a rule, and how many there were beyond those kept.
pub(super) type More = (Range<usize>, u64);

/// Everything found in one text.
#[derive(Debug, Default)]
pub(super) struct Hits {
    hits: Vec<Hit>,
    /// By rule, and by whether a hit is more than information.
    counts: BTreeMap<Kind, u64>,
    hidden: Vec<Secret>,
    /// Passes so far.
    pub(super) passes: usize,
    /// The text names attacks on models.
    pub(super) names_subject: bool,
    /// Lent to one pass after the other.
    pub(super) looks: Looks,
}

impl Hits {
    /// Adds one hit; beyond the first of each rule `make` is not called and the hit is only counted.
    pub(super) fn add(&mut self, source: Source, severity: Severity, range: Range<usize>, make: impl FnOnce() -> Hit) {
        let count = self.counts.entry((source, severity > Severity::Info)).or_default();
        *count = count.saturating_add(1);
        if *count <= KEPT_PER_RULE {
            self.hits.push(Hit { source, range, severity, ..make() });
        }
    }

    /// Notes a range that must not be shown in any excerpt.
    pub(super) fn hide(&mut self, secret: Secret) {
        self.hidden.push(secret);
    }

    pub(super) fn any(&self, test: impl Fn(&Hit) -> bool) -> bool {
        self.hits.iter().any(test)
    }

    /// What is told, sorted by position; how many more of each rule there were, told with its first; what to hide.
    pub(super) fn settle(self, text: &[u8]) -> (Vec<Hit>, BTreeMap<Kind, More>, Hidden) {
        let Self { hits, counts, hidden, .. } = self;
        let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
        let mut last_of: BTreeMap<Source, Vec<Range<usize>>> = BTreeMap::new();
        let all: Vec<Sign> = hits.iter().filter(|hit| hit.injection).map(Sign::of).collect();
        for hit in hits {
            let told = last_of.entry(hit.source).or_default();
            // The same thing seen in another view of the same bytes is told once, as the plainest view saw it.
            if !hit.decoded.is_empty() && told.iter().any(|range| overlap(range, &hit.range)) {
                continue;
            }
            if hit.weak && !all.iter().any(|other| other.supports(&Sign::of(&hit), text)) {
                continue;
            }
            told.push(hit.range.clone());
            kept.push(hit);
        }
        kept.sort_by(|a, b| (a.range.start, a.range.end, &a.source).cmp(&(b.range.start, b.range.end, &b.source)));
        let mut more = BTreeMap::new();
        for hit in &kept {
            let beyond = counts.get(&hit.kind()).copied().unwrap_or(0).saturating_sub(KEPT_PER_RULE);
            if beyond > 0 {
                more.entry(hit.kind()).or_insert_with(|| (hit.range.clone(), beyond));
            }
        }
        (kept, more, Hidden::of(hidden))
    }
}

/// What matters of a hit when two of them are weighed together.
#[derive(Debug)]
struct Sign {
    source: Source,
    range: Range<usize>,
    seen: (usize, Range<usize>),
    same_line: bool,
}

impl Sign {
    fn of(hit: &Hit) -> Self {
        Self { source: hit.source, range: hit.range.clone(), seen: hit.seen.clone(), same_line: hit.same_line }
    }

    fn shares_words(&self, other: &Self) -> bool {
        if self.seen.0 == other.seen.0 {
            same_words(&self.seen.1, &other.seen.1)
        } else {
            same_words(&self.range, &other.range)
        }
    }

    /// Whether two signs count together: of two rules, close, and not both made of the same words.
    fn supports(&self, other: &Self, text: &[u8]) -> bool {
        let (a, b) = (&self.range, &other.range);
        if self.source == other.source || self.shares_words(other) || distance(a, b) > TOGETHER {
            return false;
        }
        let between = text.get(a.end.min(b.end)..a.start.max(b.start)).unwrap_or_default();
        !(self.same_line || other.same_line) || memchr::memchr(b'\n', between).is_none()
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Whether two ranges share more than half of the shorter one.
fn same_words(a: &Range<usize>, b: &Range<usize>) -> bool {
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    shared.saturating_mul(2) > a.len().min(b.len())
}

fn distance(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.start.saturating_sub(b.end).max(b.start.saturating_sub(a.end))
}

/// Ranges that no excerpt shows: sorted, not overlapping.
#[derive(Debug)]
pub(super) struct Hidden(Vec<Secret>);

impl Hidden {
    fn of(mut secrets: Vec<Secret>) -> Self {
        secrets.sort_by_key(|secret| (secret.range.start, secret.range.end));
        let mut merged: Vec<Secret> = Vec::with_capacity(secrets.len());
        for secret in secrets {
            match merged.last_mut() {
                Some(last) if secret.range.start < last.range.end => {
                    last.public_prefix = if secret.range.start == last.range.start {
                        last.public_prefix.min(secret.public_prefix)
                    } else {
                        last.public_prefix.min(secret.range.start.saturating_sub(last.range.start))
                    };
                    last.range.end = last.range.end.max(secret.range.end);
                }
                _ => merged.push(secret),
            }
        }
        Self(merged)
    }

    /// Those that an excerpt of that range could show a part of.
    pub(super) fn near(&self, range: &Range<usize>) -> &[Secret] {
        let from = range.start.saturating_sub(EXCERPT_REACH);
        let to = range.end.saturating_add(EXCERPT_REACH);
        let first = self.0.partition_point(|secret| secret.range.end <= from);
        let last = self.0.partition_point(|secret| secret.range.start < to);
        self.0.get(first..last.max(first)).unwrap_or_default()
    }
}

/// Entropy of the bytes, in tenths of a bit per byte.
pub(super) fn entropy_tenths(bytes: &[u8]) -> u64 {
    let bits = entropy(bytes);
    // Compared as whole tenths, so that it does not depend on the last bits of a logarithm.
    (0..80_u32).rev().find(|tenths| f64::from(*tenths) / 10.0 <= bits + 1e-9).map_or(0, u64::from)
}

/// Entropy of the bytes, in hundredths of a bit per byte.
pub(super) fn entropy_hundredths(bytes: &[u8]) -> u32 {
    let bits = entropy(bytes);
    (0..800_u32).rev().find(|hundredths| f64::from(*hundredths) / 100.0 <= bits + 1e-9).unwrap_or(0)
}

fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count = count.saturating_add(1);
        }
    }
    let total = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}

/// Words that mark what documentation puts where a secret would stand.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "your",
    "changeme",
    "change_me",
    "placeholder",
    "dummy",
    "redacted",
    "xxxx",
    "****",
    "....",
    "insert",
    "replace",
    "sample",
    "secret_here",
    "key_here",
    "token_here",
    "1234567890",
    "0123456789",
    "abcdefgh",
    "<",
    "${",
    "{{",
    "%s",
    "%d",
    "%(",
    "todo",
    "foobar",
];

/// Whole passwords that stand for a password.
const WORDS: &[&str] = &[
    "password",
    "pass",
    "passwd",
    "passphrase",
    "secret",
    "pwd",
    "pw",
    "admin",
    "root",
    "test",
    "guest",
    "user",
    "username",
    "postgres",
    "mysql",
    "changeit",
    "hunter2",
    "letmein",
    "token",
    "foo",
    "bar",
    "string",
    "none",
    "null",
    "testpass",
    "testpassword",
    "mypassword",
    "mysecret",
    "passw0rd",
    "p@ssw0rd",
    "p4ssw0rd",
    "default",
    "hello",
];

/// Whether a match is what documentation shows instead of a secret.
pub(super) fn is_placeholder(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let distinct = {
        let mut seen = [false; 256];
        for byte in &lower {
            if let Some(slot) = seen.get_mut(usize::from(*byte)) {
                *slot = true;
            }
        }
        seen.iter().filter(|seen| **seen).count()
    };
    distinct <= 4
        || is_redaction(secret)
        || WORDS.iter().any(|word| lower == word.as_bytes())
        || PLACEHOLDERS.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// What a release puts in the place of a secret: `[secret:aws-access-key-id]`, `[pii:card:2]`.
fn is_redaction(secret: &[u8]) -> bool {
    let inside = secret.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let kind = inside.and_then(|inside| inside.strip_prefix(b"secret:").or_else(|| inside.strip_prefix(b"pii:")));
    kind.is_some_and(|kind| {
        kind.len() <= 64
            && kind.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-:".contains(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_release_puts_in_is_a_placeholder() {
        for redaction in ["[secret:connection-string]", "[pii:card:2]"] {
            assert!(is_placeholder(redaction.as_bytes()), "{redaction}");
        }
        assert!(!is_placeholder(b"[secret:qX7!vPz2w]"));
        assert!(!is_placeholder(b"secret:connection-string-qx7vpz2w"));
    }

    #[test]
    fn entropy_is_counted_in_tenths_of_bits() {
        assert_eq!(entropy_tenths(b"aaaa"), 0);
        assert_eq!(entropy_tenths(b"abab"), 10);
        assert_eq!(entropy_tenths(b"abcd"), 20);
        assert_eq!(entropy_tenths(b""), 0);
    }

    #[test]
    fn hidden_ranges_merge_and_give_up_prefixes() {
        let secret = |range: Range<usize>, public_prefix| Secret { range, public_prefix };
        let hidden = Hidden::of(vec![secret(10..20, 4), secret(12..30, 4), secret(40..50, 0)]);
        assert_eq!(hidden.near(&(0..5)), [secret(10..30, 2), secret(40..50, 0)]);
        assert_eq!(hidden.near(&(1000..1001)), []);
    }
}
