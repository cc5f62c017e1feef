//! The front door of the tests: cases of `corpus/`, the scanner they are put before, and the command.
//!
//! A case is a file `corpus/<area>/<what-is-wrong>.<ext>` with a golden `<file>.want` beside it. Its area says how it is
//! given to the scanner ([`how`]). A case ending in `.hex` is commented hexadecimal: bytes up to `#`, so that a broken
//! file can be reviewed in a diff. `BLESS=1 cargo test -p scanner-tests --test corpus` writes the goldens anew.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use data_encoding::HEXLOWER;
use scanner_core::{
    Audience, Date, Decision, Delivery, Input, Kind, Limits, Policy, Release, Report, Resource, RuleSet, Scanner,
    Verdict, visible,
};
use sha2::{Digest, Sha256};

pub mod command;
pub mod made;
pub mod planted;

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Labelled data that is not part of the project, where this machine has it: beside the checkout, or in
/// `SCANNER_SHARED`.
pub fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("SCANNER_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    shared.is_dir().then_some(shared)
}

/// Texts in which nothing is to be found: the honest statements of `tests/bank`, and those labelled so in the shared
/// data, where this machine has it.
///
/// # Panics
/// When the bank cannot be read.
#[allow(clippy::expect_used, reason = "a bank that cannot be read is a broken checkout")]
pub fn honest_texts() -> impl Iterator<Item = String> {
    let bank = fs::read_to_string(root().join("tests/bank/honest.tsv")).expect("tests/bank/honest.tsv");
    worded(&bank).into_iter().chain(labelled("honest-", "benign"))
}

/// Texts that order a model about: the statements of `tests/bank`, and the labelled ones where there are any.
///
/// # Panics
/// When the bank cannot be read.
#[allow(clippy::expect_used, reason = "a bank that cannot be read is a broken checkout")]
pub fn attack_texts() -> impl Iterator<Item = String> {
    let bank = fs::read_to_string(root().join("tests/bank/attacks.tsv")).expect("tests/bank/attacks.tsv");
    worded(&bank).into_iter().chain(labelled("attacks-", ""))
}

/// The texts of a bank: the third cell of each line.
fn worded(bank: &str) -> Vec<String> {
    bank.lines().filter_map(|line| line.splitn(3, '\t').nth(2).map(|text| text.replace("\\n", "\n"))).collect()
}

/// The labelled texts of the files whose names begin so, with that label; with any where it is empty.
fn labelled(begins: &str, label: &str) -> Vec<String> {
    let folder = shared().and_then(|shared| fs::read_dir(shared.join("corpora/text")).ok());
    let mut files: Vec<PathBuf> = folder
        .into_iter()
        .flat_map(|folder| folder.flatten().map(|entry| entry.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins)))
        .collect();
    files.sort();
    let lines: Vec<String> = files.into_iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
    lines
        .iter()
        .flat_map(|lines| lines.lines())
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|record| label.is_empty() || record["label"] == label)
        .filter_map(|record| record["text"].as_str().map(str::to_owned))
        .collect()
}

/// One case of the corpus.
#[derive(Clone, Debug)]
pub struct Case {
    /// `<area>/<file>`.
    pub name: String,
    /// The area alone.
    pub area: String,
    /// The untrusted name it is given.
    pub file_name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where its golden is.
    pub want: PathBuf,
}

/// Every case, sorted by name.
///
/// # Panics
/// When a case cannot be read.
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "a corpus that cannot be read is a broken checkout")]
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for area in fs::read_dir(root().join("corpus")).expect("corpus/") {
        let area = area.unwrap().path();
        if !area.is_dir() {
            continue;
        }
        for file in fs::read_dir(&area).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "want") {
                continue;
            }
            let raw = fs::read(&path).unwrap();
            let file = path.file_name().unwrap().to_str().expect("case names are ASCII").to_owned();
            let (file_name, bytes) = match file.strip_suffix(".hex") {
                Some(name) => (name.to_owned(), from_hex(&raw)),
                None => (file.clone(), raw),
            };
            let area = area.file_name().unwrap().to_str().unwrap().to_owned();
            cases.push(Case {
                name: format!("{area}/{file}"),
                area,
                file_name,
                bytes,
                want: path.with_file_name(format!("{file}.want")),
            });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "the corpus is empty");
    cases
}

/// Hexadecimal with white space; `#` starts a comment.
#[allow(clippy::expect_used, reason = "a case that is no hexadecimal is a broken checkout")]
fn from_hex(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let digits: String = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .flat_map(str::chars)
        .filter(|character| !character.is_ascii_whitespace())
        .collect();
    data_encoding::HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).expect("hexadecimal")
}

/// Whether the area has the name of a format, and not of a system whose envelopes it holds.
fn is_format(area: &str) -> bool {
    area == "binary" || root().join("scanner-core/src/format").join(format!("{area}.rs")).is_file()
}

/// How the cases of an area are given to the scanner.
pub fn how(area: &str) -> Kind {
    match area {
        "hidden" | "injection" | "personal" | "secrets" | "stream" | "terminal" => Kind::Text,
        // JSON that is nobody's envelope is tried as one.
        "json" => Kind::Auto,
        format if is_format(format) => Kind::File,
        _ => Kind::Auto,
    }
}

/// Does that with every case, on all processors.
///
/// # Panics
/// When it does so for a case.
pub fn each(cases: &[Case], work: impl Fn(&Case) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(case);
                }
            });
        }
    });
}

impl Case {
    /// What the case may spend: the defaults, and what only who asks for it gets.
    pub fn limits(&self) -> Limits {
        match self.area.as_str() {
            "qr" => Limits::default().with(Resource::CodePixels, 1 << 20),
            _ => Limits::default(),
        }
    }

    /// The case as an input.
    pub fn input(&self) -> Input {
        let mut input = Input::file(self.file_name.clone(), self.bytes.clone());
        input.kind = how(&self.area);
        input
    }
}

/// The built-in rules, read once.
#[allow(clippy::expect_used, reason = "built-in rules are tested to be readable")]
pub static RULES: LazyLock<RuleSet> =
    LazyLock::new(|| RuleSet::built_in(scanner_rules::FILES).expect("built-in rules"));

/// A scanner with the built-in rules.
pub fn scanner(limits: Limits) -> Scanner {
    Scanner::new(RULES.clone(), limits)
}

/// A policy that ships with the scanner.
#[allow(clippy::expect_used, reason = "built-in policies are tested to be readable")]
pub fn policy(name: &str) -> Policy {
    let text = |name: &str| scanner_rules::POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    Policy::parse(name, text(name).expect("a built-in policy"), &|name| text(name).map(Cow::Borrowed))
        .expect("a policy")
}

/// A day on which no test depends.
pub fn today() -> Date {
    Date::from_unix_seconds(1_800_000_000)
}

/// The report under a built-in policy, for the four audiences.
pub fn decide(report: &Report, policy_name: &str) -> Verdict {
    report.decide(&policy(policy_name), &Audience::BUILT_IN, Some(today()))
}

/// What a golden holds: the decision under each built-in policy and what may leave, artifacts, findings, gaps, what was
/// spent.
#[allow(clippy::expect_used, reason = "writing to a string does not fail")]
pub fn golden(report: &Report) -> String {
    let mut out = String::new();
    for (name, _) in scanner_rules::POLICIES {
        let verdict = decide(report, name);
        let decisions: Vec<String> = verdict
            .audiences()
            .iter()
            .map(|audience| {
                let would = audience
                    .would_be
                    .map_or_else(String::new, |would: Decision| format!(" (would be {})", would.name()));
                format!("{} {}/{}{would}", audience.audience, audience.decision.name(), audience.deliver.name())
            })
            .collect();
        writeln!(out, "{name}: {}", decisions.join(", ")).expect("write");
        if *name == "default" {
            released(&verdict, &mut out);
        }
    }
    out + &seen(report)
}

/// What was taken out for each audience, or why nothing leaves that could have been cleaned.
#[allow(clippy::expect_used, reason = "writing to a string does not fail")]
fn released(verdict: &Verdict, out: &mut String) {
    for answer in verdict.audiences() {
        match verdict.release(&answer.audience) {
            Some(Release::Cleaned(released)) => {
                let actions: Vec<String> = released
                    .actions
                    .iter()
                    .map(|action| {
                        let artifact = action.artifact.map_or_else(|| "-".to_owned(), |id| id.to_string());
                        format!("{artifact} {} {}", action.action, action.count)
                    })
                    .collect();
                let sent = digest(&released.bytes);
                writeln!(out, "release {}: {} -> {sent}", answer.audience, actions.join(", ")).expect("write");
            }
            Some(Release::Withheld(why)) if answer.decision == Decision::Sanitize => {
                writeln!(out, "withheld {}: {why}", answer.audience).expect("write");
            }
            _ => {}
        }
        artifacts(verdict, &answer.audience, (answer.decision.name(), answer.deliver.name()), out);
    }
}

/// Artifacts about which something else is decided than about what they are in, and what may leave of one by itself.
#[allow(clippy::expect_used, reason = "writing to a string does not fail")]
fn artifacts(verdict: &Verdict, audience: &Audience, whole: (&str, &str), out: &mut String) {
    let words = |id| verdict.answer(audience, id).map(|answer| (answer.decision.name(), answer.deliver.name()));
    let mut alike: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for record in &verdict.report().artifacts {
        let Some(answer) = words(record.id) else { continue };
        if let Delivery::Release(bytes, _) = verdict.delivery(audience, record.id) {
            alike.entry(answer).or_default().push(format!("{} -> {}", record.id, digest(&bytes)));
        } else if record.parent.map_or(Some(whole), words) != Some(answer) {
            alike.entry(answer).or_default().push(record.id.to_string());
        }
    }
    for ((decision, deliver), ids) in alike {
        writeln!(out, "{audience} {decision}/{deliver}: {}", ids.join(", ")).expect("write");
    }
}

/// Bytes, in a word.
fn digest(bytes: &[u8]) -> String {
    let mut digest = HEXLOWER.encode(&Sha256::digest(bytes));
    digest.truncate(12);
    format!("{} bytes {digest}", bytes.len())
}

/// Artifacts, findings, gaps and what was spent: what one scan says, before any policy.
#[allow(clippy::expect_used, reason = "writing to a string does not fail")]
pub fn seen(report: &Report) -> String {
    let mut out = String::new();
    if let Some(provider) = report.source.provider {
        let status = report.source.status.map_or("none", |status| status.name());
        writeln!(out, "source {provider}, status {status}").expect("write");
    }
    for call in &report.calls {
        let id = call.id.as_deref().unwrap_or("-");
        writeln!(out, "call {} {}: {}", visible(id), call.status.name(), call.status_reason).expect("write");
    }
    for artifact in &report.artifacts {
        let also: Vec<&str> = artifact.also.iter().map(|kind| kind.label).collect();
        let also = if also.is_empty() { String::new() } else { format!(" also {}", also.join(",")) };
        writeln!(
            out,
            "artifact {} {} {} {}{also}, {} bytes, {}",
            artifact.id,
            artifact.origin.name(),
            visible(&artifact.path),
            artifact.kind.label,
            artifact.size,
            artifact.at.as_deref().map_or_else(|| "given".to_owned(), visible)
        )
        .expect("write");
    }
    for finding in &report.findings {
        let artifact = finding.artifact.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let span = finding.span.map_or_else(|| "-".to_owned(), |span| format!("{}..{}", span.start, span.end));
        let decoded =
            if finding.decoded.is_empty() { String::new() } else { format!(" by {}", finding.decoded.join("+")) };
        writeln!(
            out,
            "finding {} {} {} {} {artifact} {span}{decoded}: {}",
            finding.severity.name(),
            finding.evidence.name(),
            finding.rule.category,
            finding.rule.id,
            visible(&finding.message)
        )
        .expect("write");
    }
    for gap in &report.gaps {
        let artifact = gap.artifact.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let at = gap.at.as_deref().map_or_else(String::new, |at| format!(" at {}", visible(at)));
        writeln!(out, "gap {} {artifact}{at}: {}", gap.reason, visible(&gap.detail)).expect("write");
    }
    for (reference, artifact) in &report.references {
        let answer = artifact.map_or_else(|| "not attached".to_owned(), |id| id.to_string());
        writeln!(out, "reference {} {}: {answer}", reference.kind, visible(&reference.id)).expect("write");
    }
    let spent: Vec<String> = Resource::ALL
        .into_iter()
        .filter(|resource| report.spent.get(*resource) > 0)
        .map(|resource| format!("{resource}={}", report.spent.get(resource)))
        .collect();
    writeln!(out, "spent {}", spent.join(" ")).expect("write");
    out
}
