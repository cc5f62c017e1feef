//! The scan: one queue, one budget, no recursion. It cannot fail: what it saw is a finding, what it could not is a gap.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Deref,
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    bundle::{Artifact, ArtifactId, Bundle, Call, Origin, Reference, Source, Status, Trust},
    envelope::{self, Attachment},
    finding::{Confidence, Finding, Findings, Gap, Reason, Rule, RuleText, Severity, Stop, Tally, sha256_hex},
    format::{self, Out, Subject},
    inflate,
    limits::{Budget, Exhausted, Limits, Resource},
    provider::{self, Adapted},
    sniff::{self, Promise, Sniffed, Type},
    text::{Reading, RuleSet, Watch},
    view::TextView,
};

/// What an input is, as far as the caller knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// An envelope if it is a known one, otherwise a file.
    Auto,
    /// One file, whatever it looks like: an envelope inside is not taken for one.
    File,
    /// One text.
    Text,
    /// The envelope of that system, by the name used with `--as`.
    Envelope(String),
    /// A bundle that the caller built; the bytes of the input are ignored.
    Bundle(Bundle),
}

impl Kind {
    /// The word of `--as`.
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::File => "file",
            Self::Text => "text",
            Self::Envelope(system) => system,
            Self::Bundle(_) => "bundle",
        }
    }

    /// What that word of `--as` means.
    pub fn named(word: &str) -> Self {
        match word {
            "auto" => Self::Auto,
            "file" => Self::File,
            "text" => Self::Text,
            system => Self::Envelope(system.to_owned()),
        }
    }
}

/// What only the world outside can know, recorded so that the same facts give the same verdict again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The worker that parsed this input died: why, and in words.
    pub death: Option<(Reason, String)>,
    /// What external engines said.
    pub engines: Vec<EngineAnswer>,
}

impl Facts {
    /// The worker that parsed this input died.
    pub fn of_death(reason: Reason, detail: impl Into<String>) -> Self {
        Self { death: Some((reason, detail.into())), ..Self::default() }
    }
}

/// What an external engine said about one input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineAnswer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Version of its database.
    pub database: String,
    /// When its database was made.
    pub database_time: String,
    /// What it said.
    pub answer: String,
}

/// One thing to scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Input {
    /// Its bytes.
    pub bytes: Bytes,
    /// What it is.
    pub kind: Kind,
    /// The name that came with it. Untrusted.
    pub name: Option<String>,
    /// The media type that came with it. Untrusted.
    pub declared: Option<String>,
    /// What the caller fetched for references.
    pub attachments: Vec<Attachment>,
    /// Literal strings that must not appear anywhere.
    pub watch: Vec<String>,
    /// Bound into the receipt, never interpreted.
    pub context: BTreeMap<String, String>,
    /// What only the world outside can know.
    pub facts: Facts,
}

impl Input {
    fn of(kind: Kind, bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            kind,
            name: None,
            declared: None,
            attachments: Vec::new(),
            watch: Vec::new(),
            context: BTreeMap::new(),
            facts: Facts::default(),
        }
    }

    /// An envelope if it is a known one, otherwise a file.
    pub fn auto(bytes: impl Into<Bytes>) -> Self {
        Self::of(Kind::Auto, bytes)
    }

    /// One file under an untrusted name.
    pub fn file(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { name: Some(name.into()), ..Self::of(Kind::File, bytes) }
    }

    /// One text, such as the standard output of a run.
    pub fn text(text: impl Into<Bytes>) -> Self {
        Self::of(Kind::Text, text)
    }

    /// The envelope of a system, by the name used with `--as`: `openai`, `bundle`, ….
    pub fn envelope(system: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self::of(Kind::Envelope(system.into()), bytes)
    }

    /// A bundle that the caller built.
    pub fn bundle(bundle: Bundle) -> Self {
        Self::of(Kind::Bundle(bundle), Bytes::new())
    }
}

/// Scans inputs with one set of rules under one set of limits. Cheap to clone, pure, usable from many threads.
#[derive(Clone, Debug)]
pub struct Scanner {
    rules: RuleSet,
    limits: Limits,
}

/// Why nothing was scanned at all. The report then holds one gap that says the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Stable word: `too_large` or `not_an_envelope`.
    pub code: &'static str,
    /// For the person who can act.
    pub message: String,
}

/// Facts about the input as a whole.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceRecord {
    /// What the caller said it is: the word of `--as`.
    pub asked: String,
    /// What it is: `envelope`, `file`, `text` or `bundle`.
    pub kind: &'static str,
    /// Base name of the file, where one was given.
    pub name: Option<String>,
    /// The declared media type that came with it.
    pub declared: Option<String>,
    /// The system it came from.
    pub provider: Option<&'static str>,
    /// The systems it may have come from, where that is not sure.
    pub candidates: Vec<&'static str>,
    /// Which of the system's interfaces.
    pub surface: Option<&'static str>,
    /// How the whole ended; `None` for files and texts.
    pub status: Option<Status>,
    /// Digest of the input.
    pub sha256: String,
    /// Size of the input in bytes.
    pub size: u64,
}

/// One artifact as it was seen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArtifactRecord {
    /// Its number.
    pub id: ArtifactId,
    /// What it was inside of.
    pub parent: Option<ArtifactId>,
    /// The call it belongs to, by position.
    pub call: Option<usize>,
    /// Names from the outermost to this one, each percent-encoded, joined by `!`.
    pub path: String,
    /// Where in the envelope.
    pub at: Option<String>,
    /// Which part of the result.
    pub origin: Origin,
    /// Who worded it.
    pub trust: Trust,
    /// Its untrusted name, secrets masked.
    pub name: Option<String>,
    /// Its declared media type.
    pub declared: Option<String>,
    /// What its bytes are.
    pub kind: &'static Type,
    /// What a browser would take them for.
    pub browser: &'static str,
    /// What else they are valid as.
    pub also: Vec<&'static Type>,
    /// Size in bytes, unpacked.
    pub size: u64,
    /// Digest of the unpacked bytes.
    pub sha256: String,
    source: Source,
}

/// Everything one scan saw and could not see, before any policy.
#[derive(Debug)]
#[non_exhaustive]
pub struct Scan {
    /// Digest over the rules that read it.
    pub rules: String,
    /// What it was allowed to spend.
    pub limits: Limits,
    /// What it spent.
    pub spent: Limits,
    /// The input as a whole.
    pub source: SourceRecord,
    /// Why nothing was scanned, where that is so.
    pub refusal: Option<Refusal>,
    /// The executions.
    pub calls: Vec<Call>,
    /// The artifacts, in order of their numbers.
    pub artifacts: Vec<ArtifactRecord>,
    /// What the envelope points at; with the artifact that answers it, where the caller attached one.
    pub references: Vec<(Reference, Option<ArtifactId>)>,
    /// The findings kept, worst first.
    pub findings: Vec<Finding>,
    /// Kinds of findings that were counted and not kept.
    pub counted: Vec<Tally>,
    /// How many findings of each severity there were, kept or not.
    pub totals: BTreeMap<Severity, u64>,
    /// What was not seen.
    pub gaps: Vec<Gap>,
    /// What the caller attached: reference id and digest.
    pub attachments: Vec<(String, String)>,
    /// Digest over the watch list; `None` without one. The strings themselves are kept nowhere.
    pub watch: Option<String>,
    /// The recorded facts.
    pub facts: Facts,
    /// The caller's context.
    pub context: BTreeMap<String, String>,
}

/// The result of a scan: a counted hold on a [`Scan`].
#[derive(Clone, Debug)]
pub struct Report {
    scan: Arc<Scan>,
}

impl Deref for Report {
    type Target = Scan;

    fn deref(&self) -> &Scan {
        &self.scan
    }
}

impl Scan {
    /// Whether everything was seen: no gap, and every reference attached.
    pub fn is_complete(&self) -> bool {
        self.gaps.is_empty() && self.references.iter().all(|(_, artifact)| artifact.is_some())
    }

    /// The bytes of an artifact as they came, unpacked again where they were packed.
    pub(crate) fn bytes_of(&self, id: ArtifactId) -> Option<Bytes> {
        let record = self.artifacts.get(usize::try_from(id.0).ok()?)?;
        let mut budget = Budget::new(self.limits);
        let unpacked = inflate::unpack(&record.source, &mut budget);
        (unpacked.stop.is_none()).then_some(unpacked.bytes)
    }
}

impl Scanner {
    /// A scanner with these rules under these limits.
    pub fn new(rules: RuleSet, limits: Limits) -> Self {
        Self { rules, limits }
    }

    /// The limits every scan starts with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The rules that read texts.
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Scans one input. Whatever its bytes are, this returns: they yield findings and gaps.
    pub fn scan(&self, input: Input) -> Report {
        let mut run = Run {
            rules: &self.rules,
            watch: Watch::default(),
            watched: input.watch.clone(),
            context: BTreeMap::new(),
            budget: Budget::new(self.limits),
            findings: Findings::keeping(self.limits.get(Resource::Findings)),
            gaps: Vec::new(),
            records: Vec::new(),
            queue: VecDeque::new(),
        };
        let size = u64::try_from(input.bytes.len()).unwrap_or(u64::MAX);
        let mut source = SourceRecord {
            asked: input.kind.name().to_owned(),
            kind: "file",
            name: input.name.clone(),
            declared: input.declared.clone(),
            provider: None,
            candidates: Vec::new(),
            surface: None,
            status: None,
            sha256: sha256_hex(&input.bytes),
            size,
        };
        let mut refusal = None;
        let mut bundle = Bundle::default();
        if let Some((reason, detail)) = &input.facts.death {
            run.gaps.push(Gap::new(*reason, detail.clone()));
        } else if let Err(exhausted) = run.budget.reach(Resource::EnvelopeBytes, size) {
            let message = too_large(&self.limits);
            run.gaps.push(Gap::new(Reason::Limit(exhausted.0), message.clone()));
            refusal = Some(Refusal { code: "too_large", message });
        } else {
            bundle = run.take(&input, &mut source, &mut refusal);
        }
        run.watch = Watch::new(&run.watched);
        source.name.iter_mut().for_each(|name| run.tame(name));
        bundle.references.iter_mut().filter_map(|reference| reference.name.as_mut()).for_each(|name| run.tame(name));
        let top = std::mem::take(&mut bundle.artifacts);
        let mut answers: Vec<Option<ArtifactId>> = vec![None; bundle.references.len()];
        for artifact in top {
            let reference = artifact.reference;
            let id = run.admit(artifact, None, 0, "");
            if let Some(slot) = reference.and_then(|at| answers.get_mut(at)) {
                *slot = id;
            }
        }
        while let Some(next) = run.queue.pop_front() {
            run.look_at(next);
        }
        run.finish(self, source, refusal, bundle, answers, input)
    }
}

/// What is said of an input beyond the door.
///
/// ```
/// let said = scanner_core::too_large(&scanner_core::Limits::default());
/// assert_eq!(said, "input is larger than envelope_bytes (64 MiB): nothing was scanned");
/// ```
pub fn too_large(limits: &Limits) -> String {
    format!(
        "input is larger than envelope_bytes ({}): nothing was scanned",
        in_bytes(limits.get(Resource::EnvelopeBytes))
    )
}

/// Mebibytes where that is exact, bytes otherwise.
fn in_bytes(count: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match count.checked_rem(MIB) {
        Some(0) if count > 0 => format!("{} MiB", count.checked_div(MIB).unwrap_or(0)),
        _ => format!("{count} bytes"),
    }
}

/// An artifact waiting for its turn.
struct Queued {
    id: ArtifactId,
    depth: u64,
    text: bool,
    name: Option<Bytes>,
}

/// A scan while it runs.
struct Run<'a> {
    rules: &'a RuleSet,
    watch: Watch,
    /// The watch list: the caller's, and that of a bundle.
    watched: Vec<String>,
    /// Context of a bundle.
    context: BTreeMap<String, String>,
    budget: Budget,
    findings: Findings,
    gaps: Vec<Gap>,
    records: Vec<ArtifactRecord>,
    queue: VecDeque<Queued>,
}

static MISMATCH: Rule = Rule::built_in(
    "type/mismatch",
    "type.mismatch",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "The content is not what the name or the declared type says",
        why: "Whoever trusts the name opens it with the wrong program, and a filter that goes by the name never looks inside.",
        remedy: "Serve it under the type that was found, or ask the producer for the right one.",
    },
);

static POLYGLOT: Rule = Rule::built_in(
    "type/polyglot",
    "type.polyglot",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The same bytes are valid as two types",
        why: "One reader sees a harmless file, the next one runs or unpacks something else from the same bytes.",
        remedy: "Do not pass it on; re-encode it to the one type that is wanted.",
    },
);

static PREFIX: Rule = Rule::built_in(
    "type/prefix-data",
    "type.prefix_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands before the file begins",
        why: "Readers that search for the beginning open the file all the same; those that do not, and filters, see the \
              junk. What it is for is hidden.",
        remedy: "Have a person look, or take only the part that is the file.",
    },
);

static TRAILING: Rule = Rule::built_in(
    "type/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands behind the end of the file",
        why: "Viewers stop at the end and show nothing of it: a place to carry data out, or a second file in.",
        remedy: "Cut the file at its end before it is passed on.",
    },
);

/// Rules of the scan itself.
pub(crate) const RULES: &[&Rule] = &[&MISMATCH, &POLYGLOT, &PREFIX, &TRAILING];

impl Run<'_> {
    /// Turns the input into a bundle of artifacts.
    fn take(&mut self, input: &Input, source: &mut SourceRecord, refusal: &mut Option<Refusal>) -> Bundle {
        let single = |origin, source: &mut SourceRecord, kind| {
            source.kind = kind;
            let mut artifact = Artifact::new(origin, Source::stored(input.bytes.clone()));
            artifact.name.clone_from(&input.name);
            artifact.declared.clone_from(&input.declared);
            Bundle { artifacts: vec![artifact], ..Bundle::default() }
        };
        let hint = match &input.kind {
            Kind::File => return single(Origin::File, source, "file"),
            Kind::Text => return single(Origin::Stdout, source, "text"),
            Kind::Bundle(bundle) => {
                source.kind = "bundle";
                source.status = worst_of(bundle);
                return bundle.clone();
            }
            Kind::Auto => None,
            Kind::Envelope(system) => Some(system.as_str()),
        };
        match provider::adapt(&input.bytes, hint, &input.attachments, &mut self.budget) {
            Adapted::NotAnEnvelope(found_out) => {
                self.gaps.extend(found_out.err().map(|exhausted| Stop::from(exhausted).into_gap()));
                single(Origin::File, source, "file")
            }
            Adapted::Wrong { message } => {
                self.gaps.push(Gap::new(Reason::Malformed, message.clone()));
                *refusal = Some(Refusal { code: "not_an_envelope", message });
                Bundle::default()
            }
            Adapted::Envelope(taken) => {
                source.kind = if taken.provider == Some("bundle") { "bundle" } else { "envelope" };
                source.provider = taken.provider;
                source.candidates = taken.candidates;
                source.surface = taken.surface;
                source.status = worst_of(&taken.bundle);
                for finding in taken.findings {
                    self.findings.add(finding);
                }
                self.gaps.extend(taken.gaps);
                self.watched.extend(taken.watch.iter().map(|word| String::from_utf8_lossy(word).into_owned()));
                self.context.extend(taken.context);
                taken.bundle
            }
        }
    }

    /// Gives an artifact its number and its place in the queue, if the budget has room for it.
    fn admit(
        &mut self,
        mut artifact: Artifact,
        parent: Option<ArtifactId>,
        depth: u64,
        parent_path: &str,
    ) -> Option<ArtifactId> {
        let admitted =
            self.budget.reach(Resource::Depth, depth).and_then(|()| self.budget.spend(Resource::Artifacts, 1));
        if let Err(Exhausted(resource)) = admitted {
            let mut gap = Gap::new(
                Reason::Limit(resource),
                format!("the limit on {resource} was reached: something here was not looked at"),
            );
            gap.artifact = parent;
            gap.at = artifact.at;
            // One gap says it for all siblings.
            if self.gaps.last() != Some(&gap) {
                self.gaps.push(gap);
            }
            return None;
        }
        let id = ArtifactId(u32::try_from(self.records.len()).unwrap_or(u32::MAX));
        // The whole name is read; what is repeated in records and paths is bounded. A name that stood in an envelope is
        // read there, as the string it is.
        let unread = artifact.at.is_none().then_some(artifact.name.as_deref()).flatten();
        let full_name = unread.map(|name| Bytes::copy_from_slice(name.as_bytes())).filter(|name| !name.is_empty());
        for words in [&mut artifact.name, &mut artifact.declared, &mut artifact.at].into_iter().flatten() {
            self.tame(words);
        }
        let own = artifact.name.as_deref().map_or_else(|| artifact.origin.name().to_owned(), path_segment);
        let path = if parent_path.is_empty() { own } else { format!("{parent_path}!{own}") };
        let text = is_text_origin(artifact.origin);
        self.records.push(ArtifactRecord {
            id,
            parent,
            call: artifact.call,
            path,
            at: artifact.at,
            origin: artifact.origin,
            trust: artifact.trust,
            name: artifact.name,
            declared: artifact.declared,
            kind: sniff::unknown(),
            browser: "",
            also: Vec::new(),
            size: 0,
            sha256: String::new(),
            source: artifact.source,
        });
        self.queue.push_back(Queued { id, depth, text, name: full_name });
        Some(id)
    }

    /// Makes untrusted words fit to be repeated: cut short, and secrets in them masked.
    fn tame(&self, words: &mut String) {
        shorten(words);
        let reading = Reading { rules: self.rules, watch: &self.watch, label: "name", artifact: ArtifactId(0) };
        if let Some(masked) = reading.masked(words) {
            *words = masked;
        }
    }

    /// Unpack, sniff, inspect, read.
    fn look_at(&mut self, next: Queued) {
        let Queued { id, depth, text, name: full_name } = next;
        let Some(record) = usize::try_from(id.0).ok().and_then(|at| self.records.get_mut(at)) else { return };
        let unpacked = inflate::unpack(&record.source, &mut self.budget);
        let behind = u64::try_from(record.source.packed.len()).unwrap_or(u64::MAX).saturating_sub(unpacked.used);
        let is_whole = unpacked.stop.is_none();
        let bytes = unpacked.bytes;
        record.size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        record.sha256 = sha256_hex(&bytes);
        let mut stops: Vec<Stop> = unpacked.stop.into_iter().collect();
        if let Err(exhausted) = self.budget.reach(Resource::ArtifactBytes, record.size) {
            stops.push(exhausted.into());
        }
        let sniffed = match self.budget.spend(Resource::Steps, sniff::STEPS) {
            Ok(()) => sniff::sniff(&bytes),
            Err(exhausted) => {
                stops.push(exhausted.into());
                Sniffed::unknown()
            }
        };
        // A stream is text whatever it looks like: it is shown as text and never opened by type.
        record.kind = if text { sniff::plain_text() } else { sniffed.kind };
        record.browser = sniffed.browser;
        record.also.clone_from(&sniffed.also);
        let (kind, trust, size) = (record.kind, record.trust, record.size);
        let (name, declared, path) = (record.name.clone(), record.declared.clone(), record.path.clone());

        let subject = Subject { bytes: &bytes, kind };
        let mut out = Out::new(id, &subject, &mut self.findings, &mut self.gaps);
        if is_whole && behind > 0 {
            let message = format!("{behind} bytes stand behind the end of the packed stream");
            out.find(Finding::built_in(&TRAILING).message(message));
        }
        if !text {
            compare_types(&sniffed, name.as_deref(), declared.as_deref(), size, &mut out);
        }
        if stops.iter().any(|stop| matches!(stop, Stop::Limit(_))) {
            // Not read at all rather than read in part: the gap says so.
        } else if let Some(format) = format::of(kind) {
            stops.extend((format.inspect)(&subject, &mut out, &mut self.budget).err().map(|stop| stop.of(format.name)));
        } else if kind == sniff::unknown() {
            out.gap(Gap::new(Reason::UnknownType, "nothing here knows what these bytes are"));
        } else {
            out.unsupported(format!("nothing here looks into {} yet", kind.mime));
        }
        let (mut texts, children) = (std::mem::take(&mut out.texts), std::mem::take(&mut out.children));
        texts.extend(full_name.map(|name| TextView::beside(name, "name")));
        let reading = Reading { rules: self.rules, watch: &self.watch, label: kind.label, artifact: id };
        for view in &texts {
            if let Err(stop) = reading.read(view, &mut self.budget, &mut self.findings) {
                stops.push(stop);
                break;
            }
        }
        for stop in stops {
            let mut gap = stop.into_gap();
            gap.artifact = Some(id);
            if !self.gaps.contains(&gap) {
                self.gaps.push(gap);
            }
        }
        for mut child in children {
            child.trust = trust;
            self.admit(child, Some(id), depth.saturating_add(1), &path);
        }
    }

    /// Ends the scan: sorts, names, counts.
    fn finish(
        mut self,
        scanner: &Scanner,
        source: SourceRecord,
        refusal: Option<Refusal>,
        bundle: Bundle,
        answers: Vec<Option<ArtifactId>>,
        input: Input,
    ) -> Report {
        let (findings, counted, totals) = self.findings.finish();
        // Cannot fail: no more are kept than the limit says.
        let _ = self.budget.reach(Resource::Findings, u64::try_from(findings.len()).unwrap_or(u64::MAX));
        Report {
            scan: Arc::new(Scan {
                rules: scanner.rules.digest().to_owned(),
                limits: scanner.limits,
                spent: *self.budget.spent(),
                source,
                refusal,
                calls: bundle.calls,
                artifacts: self.records,
                references: bundle.references.into_iter().zip(answers).collect(),
                findings,
                counted,
                totals,
                gaps: self.gaps,
                attachments: input
                    .attachments
                    .iter()
                    .map(|attached| (attached.reference.clone(), sha256_hex(&attached.bytes)))
                    .collect(),
                watch: (!self.watched.is_empty()).then(|| sha256_hex(self.watched.join("\n").as_bytes())),
                facts: input.facts,
                // What the caller says goes before what a bundle says.
                context: self.context.into_iter().chain(input.context).collect(),
            }),
        }
    }
}

/// Longest name, declared type or pointer that a record repeats, in bytes. A member's path repeats those around it.
const LONGEST_WORDS: usize = 1_024;

/// Cuts untrusted words at [`LONGEST_WORDS`], and says so.
fn shorten(words: &mut String) {
    if words.len() > LONGEST_WORDS {
        let end = words.floor_char_boundary(LONGEST_WORDS);
        words.truncate(end);
        words.push('…');
    }
}

/// Every rule that lives in code: of the scan, of formats, of envelopes and of text checks.
pub fn rules_in_code() -> impl Iterator<Item = &'static Rule> {
    let formats = format::ALL.iter().flat_map(|format| format.rules);
    RULES.iter().chain(formats).chain(envelope::RULES).chain(provider::RULES).copied().chain(RuleSet::coded())
}

/// Streams and messages are text whatever they look like.
const fn is_text_origin(origin: Origin) -> bool {
    !matches!(origin, Origin::Image | Origin::File | Origin::Member)
}

/// A lying name or declared type, bytes that are two things at once, and what stands before or behind.
fn compare_types(sniffed: &Sniffed, name: Option<&str>, declared: Option<&str>, size: u64, out: &mut Out<'_>) {
    let mime = sniffed.kind.mime;
    if let Some(mismatch) = sniff::mismatch(sniffed, name, declared) {
        // One kind of text under the name of another misleads nobody: a log called .csv, JSON lines called .json.
        let texts =
            sniffed.kind.is_text && sniff::types().iter().any(|kind| kind.mime == mismatch.declared && kind.is_text);
        let severity = match (mismatch.more_dangerous, texts) {
            (true, _) => Severity::High,
            (false, false) => Severity::Medium,
            (false, true) => Severity::Low,
        };
        let promise = match mismatch.promise {
            Promise::Name => "its name says",
            Promise::Declared => "it was declared as",
        };
        out.find(
            Finding::built_in(&MISMATCH)
                .severity(severity)
                .message(format!("{promise} {}, the bytes are {mime}", mismatch.declared)),
        );
    }
    // A text behind the end is only what stands behind the end; an archive there opens as one.
    let second = sniffed.also.first().filter(|second| !(sniffed.trailing.is_some() && second.is_text));
    if let Some(second) = second {
        let severity = if sniffed.trailing.is_some() { Severity::Medium } else { POLYGLOT.severity };
        let message = format!("the bytes are {mime} and {} at once", second.mime);
        out.find(Finding::built_in(&POLYGLOT).severity(severity).message(message));
    }
    if sniffed.prefix > 0 {
        out.find(
            Finding::built_in(&PREFIX)
                .at(0, sniffed.prefix)
                .message(format!("{} bytes stand before the {mime} begins", sniffed.prefix)),
        );
    }
    // A format that has a rule for it looks closer.
    let looked_at = format::of(sniffed.kind)
        .is_some_and(|format| format.rules.iter().any(|rule| rule.category == TRAILING.category));
    if let Some(trailing) = sniffed.trailing.filter(|_| !looked_at) {
        out.find(
            Finding::built_in(&TRAILING)
                .at(trailing, size)
                .message(format!("{} bytes stand behind the end of the {mime}", size.saturating_sub(trailing))),
        );
    }
}

/// One segment of a path: `!`, `%` and control characters percent-encoded, byte by byte.
fn path_segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '!' | '%') || character.is_control() {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// The envelope's own status and those of its calls: the worst wins.
fn worst_of(bundle: &Bundle) -> Option<Status> {
    bundle.calls.iter().map(|call| call.status).chain(bundle.status).max()
}
