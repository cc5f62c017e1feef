//! The scan: one queue, one budget, no recursion. It cannot fail: what it saw is a finding, what it could not is a gap.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    binding::Binding,
    bundle::{Artifact, ArtifactId, Bundle, Claim, Ground, Origin, Source, Status, Written},
    envelope,
    finding::{Finding, Findings, Gap, Place, Reason, Rule, Stop, sha256_hex},
    format::{self, Out, Subject},
    inflate,
    limits::{Budget, Exhausted, Limits, Resource},
    provider::{self, Adapted},
    sniff::{self, Sniffed},
    text::{Reading, RuleSet, Watch},
    view::TextView,
};

mod engines;
mod input;
mod letters;
mod lies;
mod report;
mod review;
mod words;

pub use input::{EngineAnswer, Facts, Input, Kind};
pub(crate) use letters::answer_in_receipt;
pub use letters::{Answers, Letters, Picture, letters_answer};
pub use report::{ArtifactRecord, Refusal, Report, Scan, SourceRecord};
pub(crate) use review::is_secret;
pub use review::{About, Review, Ruling};

use letters::Known;
use lies::{TRAILING, compare_types};
use words::{path_segment, shorten};

/// Scans inputs with one set of rules under one set of limits. Cheap to clone, pure, usable from many threads.
#[derive(Clone, Debug)]
pub struct Scanner {
    rules: RuleSet,
    limits: Limits,
    binding: Option<Binding>,
    /// What pictures say, where an engine has read them already: what is released is scanned with that.
    known: Option<Known>,
}

impl Scanner {
    /// A scanner with these rules under these limits.
    pub fn new(rules: RuleSet, limits: Limits) -> Self {
        Self { rules, limits, binding: None, known: None }
    }

    /// The same, with a key that receipts bind guessable content with.
    #[must_use]
    pub fn bound_by(self, binding: Option<Binding>) -> Self {
        Self { binding, ..self }
    }

    /// The key that receipts bind guessable content with.
    pub fn binding(&self) -> Option<&Binding> {
        self.binding.as_ref()
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
        self.scan_beside(input, |_| Answers::default())
    }

    /// The same, beside engines that look at the same input meanwhile: `engines` is asked for their answers once
    /// everything here was looked at, and may wait for them. Where letters are asked for (`letter_pixels`) it is given
    /// the pictures. The report is the one of an input that brought these answers as [`Facts`].
    ///
    /// ```
    /// use scanner_core::{EngineAnswer, Input, Limits, Reason, RuleSet, Scanner};
    /// let scanner = Scanner::new(RuleSet::built_in(&[])?, Limits::default());
    /// let silent = || vec![EngineAnswer::of("clamav", "unavailable: silent for 5 s")];
    /// let report = scanner.scan_beside(Input::text("3 rows"), |_pictures| silent().into());
    /// assert_eq!(report.gaps[0].reason, Reason::EngineUnavailable);
    /// # Ok::<(), scanner_core::SettingsError>(())
    /// ```
    pub fn scan_beside(&self, mut input: Input, engines: impl FnOnce(&[Picture]) -> Answers) -> Report {
        let mut run = Run {
            rules: &self.rules,
            watch: Watch::default(),
            watched: input.watch.clone(),
            context: BTreeMap::new(),
            input: (input.bytes.clone(), sha256_hex(&input.bytes)),
            budget: Budget::new(self.limits),
            findings: Findings::keeping(self.limits.get(Resource::Findings)),
            gaps: Vec::new(),
            records: Vec::new(),
            queue: VecDeque::new(),
            tail: Vec::new(),
            pictures: Vec::new(),
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
            sha256: run.input.1.clone(),
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
        let answers_of_engines = engines(&run.pictures);
        input.facts.engines.extend(answers_of_engines.engines);
        input.facts.letters.extend(answers_of_engines.letters);
        run.hear(&input.facts.engines);
        let known = run.read_letters(&input.facts, self);
        let scanner = Self { known, ..self.clone() };
        run.finish(&scanner, source, refusal, bundle, answers, input)
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
    claim: Option<Claim>,
}

/// A scan while it runs.
struct Run<'a> {
    rules: &'a RuleSet,
    watch: Watch,
    /// The watch list: the caller's, and that of a bundle.
    watched: Vec<String>,
    /// Context of a bundle.
    context: BTreeMap<String, String>,
    /// The bytes of the input and their digest.
    input: (Bytes, String),
    budget: Budget,
    findings: Findings,
    gaps: Vec<Gap>,
    records: Vec<ArtifactRecord>,
    queue: VecDeque<Queued>,
    /// The end of the text read last: a string of the watch list may go on in the next one.
    tail: Vec<u8>,
    /// Pictures whose letters are to be read.
    pictures: Vec<Picture>,
}

impl Run<'_> {
    /// Turns the input into a bundle of artifacts.
    fn take(&mut self, input: &Input, source: &mut SourceRecord, refusal: &mut Option<Refusal>) -> Bundle {
        let single = |origin, source: &mut SourceRecord, kind| {
            source.kind = kind;
            let mut artifact = Artifact::new(origin, Source::stored(input.bytes.clone()));
            artifact.name.clone_from(&input.name);
            artifact.declared.clone_from(&input.declared);
            let whole = 0..input.bytes.len();
            artifact.written.push(Written::plain(Ground::at(0), whole, input.bytes.clone()));
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
        let text = artifact.origin.is_text();
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
            written: artifact.written,
            reference: artifact.reference,
        });
        self.queue.push_back(Queued { id, depth, text, name: full_name, claim: artifact.claim });
        Some(id)
    }

    /// Makes untrusted words fit to be repeated: cut short, and secrets in them masked.
    fn tame(&self, words: &mut String) {
        shorten(words);
        let reading =
            Reading { rules: self.rules, watch: &self.watch, label: "name", name: None, artifact: ArtifactId(0) };
        if let Some(masked) = reading.masked(words) {
            *words = masked;
        }
    }

    /// Unpack, sniff, inspect, read.
    fn look_at(&mut self, next: Queued) {
        let Queued { id, depth, text, name: full_name, claim } = next;
        let Some(record) = usize::try_from(id.0).ok().and_then(|at| self.records.get_mut(at)) else { return };
        let unpacked = inflate::unpack(&record.source, &mut self.budget);
        let packed_rest = usize::try_from(unpacked.used).ok().and_then(|used| record.source.packed.get(used..));
        let packed_rest = packed_rest.map_or_else(Bytes::new, |rest| record.source.packed.slice_ref(rest));
        let is_whole = unpacked.stop.is_none();
        let bytes = unpacked.bytes.clone();
        record.size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        record.sha256 = match &self.input {
            // The input as it came was digested at the door.
            (input, digest) if input.as_ptr() == bytes.as_ptr() && input.len() == bytes.len() => digest.clone(),
            _ => sha256_hex(&bytes),
        };
        let mut stops: Vec<Stop> = unpacked.stop.iter().cloned().collect();
        if let Err(exhausted) = self.budget.reach(Resource::ArtifactBytes, record.size) {
            stops.push(exhausted.into());
        }
        let sniffed = match self.budget.spend(Resource::Steps, sniff::STEPS) {
            // A stream is text whatever it looks like: it is shown as text and never opened by type.
            Ok(()) if text => sniff::sniff_stream(&bytes),
            Ok(()) => sniff::sniff(&bytes),
            Err(exhausted) => {
                stops.push(exhausted.into());
                Sniffed::unknown()
            }
        };
        record.kind = if text { sniff::plain_text() } else { sniffed.kind };
        record.browser = sniffed.browser;
        record.also.clone_from(&sniffed.also);
        let (kind, trust, size) = (record.kind, record.trust, record.size);
        let (name, declared, path) = (record.name.clone(), record.declared.clone(), record.path.clone());

        let subject = Subject { bytes: &bytes, kind };
        let gaps_before = self.gaps.len();
        let mut out = Out::new(id, &subject, &mut self.findings, &mut self.gaps);
        if let Some(claim) = claim {
            let checked = format::claim::check(claim, &unpacked, &Place::default(), &mut out, &mut self.budget);
            stops.extend(checked.err().map(Stop::from));
        }
        if is_whole && !packed_rest.is_empty() {
            behind_the_stream(packed_rest, &mut out);
        }
        if !text {
            compare_types(&sniffed, name.as_deref(), declared.as_deref(), size, &mut out);
        }
        if stops.iter().any(|stop| matches!(stop, Stop::Limit(_))) {
            // Not read at all rather than read in part: the gap says so.
        } else if let Some(format) = format::of(kind) {
            stops.extend((format.inspect)(&subject, &mut out, &mut self.budget).err().map(|stop| stop.of(format.name)));
        } else if kind == sniff::unknown() && !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0) {
            // Room that was set aside and never written: there is nothing to know.
        } else if kind == sniff::unknown() {
            out.gap(Gap::new(Reason::UnknownType, "nothing here knows what these bytes are"));
            format::inspect_broken(&subject, &mut out);
        } else if !kind.is_opaque() {
            out.unsupported(format!("nothing here looks into {} yet", kind.mime));
        }
        if stops.is_empty() && !out.is_looked_at && out.gaps_since(gaps_before) == 0 {
            format::letters::nobody_looked(kind, &mut out, &self.budget);
        }
        let (mut texts, children) = (std::mem::take(&mut out.texts), std::mem::take(&mut out.children));
        let pictures = std::mem::take(&mut out.pictures);
        self.pictures.extend(pictures.into_iter().map(|plane| Picture::of(id, plane)));
        texts.extend(full_name.map(|name| TextView::beside(name, "name")));
        let reading =
            Reading { rules: self.rules, watch: &self.watch, label: kind.label, name: name.as_deref(), artifact: id };
        for view in &texts {
            // What is not in the artifact's bytes, such as its name, stands between no two texts.
            if let Some(map) = &view.map {
                if let Some((finding, length)) = self.watch.over_the_seam(&self.tail, &view.text) {
                    self.findings.add(Finding { artifact: Some(id), span: Some(map.span(0, length)), ..finding });
                }
                self.tail = self.watch.tail(&view.text).to_vec();
            }
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
            scanner: scanner.clone(),
            input: input.clone(),
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

/// What is left of a member's packed bytes once its stream has ended. Zeros are how tapes and blocks are filled up.
fn behind_the_stream(rest: Bytes, out: &mut Out<'_>) {
    if rest.iter().all(|byte| *byte == 0) {
        return;
    }
    let message = format!("{} bytes stand behind the end of the packed stream", rest.len());
    out.find(Finding::built_in(&TRAILING).message(message));
    out.child(Source::stored(rest), None);
}

/// Every rule that lives in code: of the scan, of formats, of envelopes and of text checks.
pub fn rules_in_code() -> impl Iterator<Item = &'static Rule> {
    let mut seen = BTreeSet::new();
    // Parts that several formats have bring the same rule.
    let formats =
        format::ALL.iter().flat_map(|format| format.rules).filter(move |rule| seen.insert(std::ptr::from_ref(**rule)));
    engines::RULES
        .iter()
        .chain(lies::RULES)
        .chain(formats)
        .chain(envelope::RULES)
        .chain(provider::RULES)
        .copied()
        .chain(RuleSet::coded())
}

/// The envelope's own status and those of its calls: the worst wins.
fn worst_of(bundle: &Bundle) -> Option<Status> {
    bundle.calls.iter().map(|call| call.status).chain(bundle.status).max()
}
