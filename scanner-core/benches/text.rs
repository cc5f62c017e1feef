//! Speed of the text engine in this process, beside its floors and a peer in the same run, in CPU time of this thread:
//! `cargo bench -p scanner-core --bench text`. A word as argument runs only the rows that contain it. With the shared
//! corpora beside the checkout (or in `SCANNER_SHARED`) the clean text is honest program output from there; without
//! them it is made here.
#![expect(clippy::print_stdout, reason = "a bench reports to a terminal")]

use std::{fmt::Write as _, fs, hint, path::PathBuf};

use bytes::Bytes;
use regex_automata::{
    Input as Search, MatchKind, PatternSet,
    meta::{Config, Regex},
    util::syntax,
};
use rustix::time::{ClockId, clock_gettime};
use scanner_core::{Input, Limits, RuleSet, Scanner};
use sha2::{Digest, Sha256};

const KIB: usize = 1024;
/// One measurement lasts at least that long, and so many are made; the median counts.
const SLICE_NANOS: u64 = 3_000_000;
const REPEATS: usize = 9;

/// What is asked of it: ratios to the rows beside them, times, memory.
const WHOLE_TO_SHA: f64 = 8.0;
const KIB_MICROS: f64 = 6.0;
const HITS_TO_CLEAN: f64 = 1.3;
const RULES_TO_SET: f64 = 1.5;
const STUFFED_TO_CLEAN: f64 = 60.0;
const GROWTH: f64 = 2.3;
const READY_MILLIS: f64 = 50.0;
const WITH_SECRETS_TO_WITHOUT: f64 = 1.5;
/// A rule file of full size in the form of gitleaks.
const GITLEAKS: &str = include_str!("../../tests/gitleaks/two-hundred.toml");

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let wanted = |name: &str| name.contains(&only);
    let before = resident_kib();
    let start = thread_nanos();
    let Ok(rules) = RuleSet::built_in(scanner_rules::FILES) else {
        println!("the built-in rules do not load");
        return;
    };
    let ready = as_millis(thread_nanos() - start);
    println!("{:<44}{:>12}{:>10}{:>10}", "", "measured", "ratio", "target");
    row("rule set ready, ms", ready, None, READY_MILLIS);
    let scanner = Scanner::new(rules.clone(), Limits::default());
    let clean = clean(64 * KIB);
    let text = Bytes::from(clean.clone());

    let sha = median(|| {
        hint::black_box(Sha256::digest(&clean));
    });
    row("floor: SHA-256 of 64 KiB, us", as_micros(sha), None, f64::NAN);
    row(
        "floor: memchr of 64 KiB, us",
        as_micros(median(|| {
            hint::black_box(memchr::memchr(0, &clean));
        })),
        None,
        f64::NAN,
    );
    let whole = median(|| scan(&scanner, &text));
    row("whole scan of clean 64 KiB, us; to SHA-256", as_micros(whole), Some(whole / sha), WHOLE_TO_SHA);
    let alone = median(|| {
        hint::black_box(rules.read_text(&clean));
    });
    row("rules and views of clean 64 KiB, us; to SHA-256", as_micros(alone), Some(alone / sha), f64::NAN);
    let others: Vec<(&str, &str)> =
        scanner_rules::FILES.iter().copied().filter(|(name, _)| !name.starts_with("secrets/")).collect();
    if let Ok(others) = RuleSet::built_in(&others) {
        // Private keys and personal data are checks in code.
        let others = Scanner::new(others.without_checks_of_data(), Limits::default());
        let without = median(|| scan(&others, &text));
        row(
            "without secrets and PII, us; whole to that",
            as_micros(without),
            Some(whole / without),
            WITH_SECRETS_TO_WITHOUT,
        );
    }
    row(
        "resident after that, MiB more than before",
        as_f64(resident_kib().saturating_sub(before)) / 1024.0,
        None,
        60.0,
    );
    let start = thread_nanos();
    if let Ok(all) = rules.with(&[("two-hundred.toml", GITLEAKS)]) {
        row("200 rules of gitleaks' form ready, ms", as_millis(thread_nanos() - start), None, f64::NAN);
        let all = Scanner::new(all, Limits::default());
        let with = median(|| scan(&all, &text));
        row("with them, us; to without", as_micros(with), Some(with / whole), f64::NAN);
    }
    if wanted("peer") {
        let (cold, warm) = set_of(&rules, &clean);
        row("peer: RegexSet of the same rules, cold, us", as_micros(cold), None, f64::NAN);
        row("peer: warm, us; to rules and views", as_micros(warm), Some(warm / alone), RULES_TO_SET);
    }
    let small: Vec<Bytes> = clean.chunks_exact(KIB).map(Bytes::copy_from_slice).collect();
    let mut next = 0_usize;
    let each = median(|| {
        if let Some(text) = small.get(next % small.len()) {
            scan(&scanner, text);
        }
        next += 1;
    });
    row("whole scan of 1 KiB, us", as_micros(each), Some(as_micros(each)), KIB_MICROS);
    let hits = Bytes::from(full_of_hits(&rules, &clean));
    let found = median(|| scan(&scanner, &hits));
    row("whole scan of 64 KiB with hits, us; to clean", as_micros(found), Some(found / whole), HITS_TO_CLEAN);

    println!("\n{:<44}{:>12}{:>10}{:>10}", "stuffed with", "us / 64 KiB", "to clean", "2n / n");
    for (name, unit) in attacks(&rules).iter().filter(|(name, _)| wanted(name)) {
        let time = |bytes: usize| {
            let text: Vec<u8> = unit.bytes().cycle().take(bytes).collect();
            let text = Bytes::from(text);
            // A budget that never ends: the growth is asked for, not the limit.
            median_of(5, || scan(&scanner, &text))
        };
        // Twice as much must be more of the same: at least the unit once. Told for 64 KiB.
        let bytes = (64 * KIB).max(unit.len());
        let (first, twice) = (time(bytes), time(2 * bytes));
        let one = first * as_f64(64 * 1024) / as_f64(bytes as u64);
        let growth = twice / first;
        let verdict = if one / whole <= STUFFED_TO_CLEAN && growth <= GROWTH { "" } else { "  MISSED" };
        println!("{:<44}{:>12.0}{:>10.1}{:>10.2}{verdict}", name, as_micros(one), one / whole, growth);
    }
}

fn row(name: &str, measured: f64, ratio: Option<f64>, target: f64) {
    let shown = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
    let more_is_better = name.starts_with("peer");
    let held = ratio.unwrap_or(measured);
    let missed = if more_is_better { held < target } else { held > target };
    let target = if target.is_nan() { String::new() } else { format!("{target}") };
    println!("{name:<44}{measured:>12.1}{shown:>10}{target:>10}{}", if missed { "  MISSED" } else { "" });
}

fn scan(scanner: &Scanner, text: &Bytes) {
    hint::black_box(scanner.scan(Input::text(text.clone())));
}

/// Median time of one call, in nanoseconds.
fn median(call: impl FnMut()) -> f64 {
    median_of(REPEATS, call)
}

fn median_of(repeats: usize, mut call: impl FnMut()) -> f64 {
    call();
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let start = thread_nanos();
            let mut calls = 0_u64;
            while thread_nanos() - start < SLICE_NANOS {
                call();
                calls += 1;
            }
            as_f64(thread_nanos() - start) / as_f64(calls)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(repeats / 2).copied().unwrap_or(f64::NAN)
}

fn thread_nanos() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

fn as_f64(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn as_micros(nanos: f64) -> f64 {
    nanos / 1e3
}

fn as_millis(nanos: u64) -> f64 {
    as_f64(nanos) / 1e6
}

/// One regex set of all rules: its first pass, and a warm one.
fn set_of(rules: &RuleSet, text: &[u8]) -> (f64, f64) {
    let sources: Vec<String> = rules.rules().map(|rule| rule.regex.replace(' ', "[ \t_]+")).collect();
    let built = Regex::builder()
        .configure(
            Config::new()
                .match_kind(MatchKind::All)
                .utf8_empty(false)
                .nfa_size_limit(None)
                .hybrid_cache_capacity(64 * KIB * KIB),
        )
        .syntax(syntax::Config::new().unicode(false).utf8(false).case_insensitive(true))
        .build_many(&sources);
    let Ok(set) = built else { return (f64::NAN, f64::NAN) };
    let mut found = PatternSet::new(sources.len());
    let mut pass = || {
        found.clear();
        set.which_overlapping_matches(&Search::new(text), &mut found);
    };
    let start = thread_nanos();
    pass();
    let cold = as_f64(thread_nanos() - start);
    (cold, median_of(5, pass))
}

/// Honest program output.
fn clean(bytes: usize) -> Vec<u8> {
    let shared = std::env::var_os("SCANNER_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let lines = fs::read_to_string(shared.join("corpora/text/honest-2.jsonl")).unwrap_or_default();
    let mut out = String::new();
    for line in lines.lines().step_by(7) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        if record["label"] == "benign"
            && record["text"].as_str().is_some_and(|text| text.is_ascii() && text.len() < 8 * KIB)
        {
            out.push_str(record["text"].as_str().unwrap_or_default());
            out.push('\n');
        }
        if out.len() >= bytes {
            break;
        }
    }
    let mut line = 0_u64;
    while out.len() < bytes {
        line += 1;
        let mixed = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let _ = match line % 4 {
            0 => writeln!(
                out,
                "2026-03-{:02}T10:{:02}:07Z INFO worker-{} handled request {mixed:x} in {} ms",
                line % 28 + 1,
                line % 60,
                line % 9,
                mixed % 900
            ),
            1 => writeln!(
                out,
                "| {:>6} | {:>9}.{} | {:<12} | ok |",
                line,
                mixed % 100_000,
                mixed % 10,
                ["north", "south", "east"][usize::try_from(line % 3).unwrap_or(0)]
            ),
            2 => writeln!(
                out,
                "  File \"/usr/lib/python3/site-packages/pkg/mod_{}.py\", line {}, in run_step",
                mixed % 50,
                mixed % 400
            ),
            _ => writeln!(
                out,
                "The table shows the mean of column {} after {} rows were dropped; see the notes below.",
                line % 12,
                mixed % 77
            ),
        };
    }
    out.truncate(out.floor_char_boundary(bytes));
    out.into_bytes()
}

/// The clean text with an example of a rule in every four kilobytes.
fn full_of_hits(rules: &RuleSet, clean: &[u8]) -> Vec<u8> {
    let examples: Vec<&String> =
        rules.rules().filter_map(|rule| rule.examples.first()).filter(|example| example.is_ascii()).collect();
    let mut examples = examples.into_iter().cycle();
    let mut out = Vec::with_capacity(clean.len());
    for piece in clean.chunks(4 * KIB) {
        out.extend_from_slice(piece);
        if let Some(example) = examples.next() {
            out.truncate(out.len().saturating_sub(example.len() + 2));
            out.push(b'\n');
            out.extend_from_slice(example.as_bytes());
            out.push(b'\n');
        }
    }
    out
}

/// Strings that a text is stuffed with, so that whatever looks at each of them looks often.
fn attacks(rules: &RuleSet) -> Vec<(&'static str, String)> {
    let mut anchors: Vec<&str> = rules.rules().flat_map(|rule| rule.anchors.iter().map(String::as_str)).collect();
    anchors.sort_unstable();
    anchors.dedup();
    let owned = [
        ("stripe_", "stripe_"),
        ("sk_live_", "sk_live_"),
        ("<script ", "<script "),
        ("<a onload ", "<a onload "),
        ("ignore ", "ignore "),
        ("ignore all previous ", "ignore all previous "),
        ("do not tell the user ", "do not tell the user "),
        ("ESC [", "\x1b["),
        ("ESC ] 8 ; ;", "\x1b]8;;"),
        ("a@", "a@"),
        ("digits", "1"),
        ("card numbers", "card 4539578763621486 "),
        ("numbers like cards", "4539578763621487 "),
        ("accounts", "DE12 5001 0517 0648 4898 90 "),
        ("dotted numbers", "8.8.8.8 "),
        ("BEGIN of a key", "-----BEGIN RSA PRIVATE KEY-----\n"),
        ("base64", "QWxs"),
        ("base64 of base64", "VVd4c"),
        ("hex", "49676e6f"),
        ("percent", "%41%42"),
        ("character references", "&#65;"),
        ("escapes", "\\u0041"),
        ("numbers", "73 103 "),
        ("letters apart", "i g "),
        ("leet", "1gn0r3 4ll pr3v10u5 "),
        ("rot13", "gur naq vtaber "),
        ("reversed", "eht dna "),
        ("telling words", "ingore prompt| "),
        ("<!-- ", "<!-- "),
        ("zero width", "a\u{200b}"),
        ("Cyrillic in words", "ignоrе "),
        ("bidi", "\u{202e}a"),
        ("full width", "ｉｇｎ"),
        ("U+FDFA", "\u{fdfa}"),
        ("![](http", "![](http://a/?"),
    ];
    let mut attacks: Vec<(&str, String)> = owned.into_iter().map(|(name, unit)| (name, unit.to_owned())).collect();
    attacks.push(("every anchor in turn", anchors.join(" ")));
    attacks
}
