//! The release: the safe version of an input for one audience. What the policy wants gone is taken out where it stands,
//! files are cleaned by their formats, and the outcome is scanned again under the same policy: only what comes back as
//! `allow` is released. So cleaning twice changes nothing: what is released is what is allowed.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::{
    bundle::ArtifactId,
    finding::{Coordinate, Finding, sha256_hex},
    format::{
        self, Subject,
        cleaning::{Cleaning, Part, Uncleanable, Washer},
    },
    limits::Budget,
    policy::{Audience, AudienceSettings, Case, Date, Decided, Decision, Deliver, Override, Policy},
    scan::{ArtifactRecord, Input, Kind, Report, Scanner},
};

mod headers;
mod place;
mod stand_in;
mod terminal;
#[cfg(test)]
mod tests;
mod words;

pub use headers::{Served, safe_name, serving_headers};

use place::{Edit, Placer};
use words::{Ledger, Words};

/// Rounds of cleaning and looking again. Each takes out what the last one laid bare, and of a flood as much as a scan
/// tells: 64 of each rule in each text.
const ROUNDS: usize = 8;
/// Files in files that are cleaned one by one; the limit on depth stops the scan before that by default.
const DEPTH: u8 = 6;

/// How an audience is shown what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Page,
    Terminal,
    Model,
    Download,
}

impl Shown {
    /// An audience of the policy's own is shown as the one it is like, and as a page when it is like none: that is the
    /// strictest.
    fn of(audience: &Audience, settings: Option<&AudienceSettings>) -> Self {
        let known = |audience: &Audience| match audience {
            audience if *audience == Audience::PAGE => Some(Self::Page),
            audience if *audience == Audience::TERMINAL => Some(Self::Terminal),
            audience if *audience == Audience::MODEL => Some(Self::Model),
            audience if *audience == Audience::DOWNLOAD => Some(Self::Download),
            _ => None,
        };
        known(audience).or_else(|| known(settings?.like.as_ref()?)).unwrap_or(Self::Page)
    }
}

/// What was done to one artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// Where it stands: the path of the artifact in the input as it came.
    pub artifact: Option<ArtifactId>,
    /// What, in fixed words.
    pub action: &'static str,
    /// How often.
    pub count: u64,
}

/// The safe version of an input for one audience, proven by a scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Released {
    /// The input in its own shape, cleaned.
    pub bytes: Bytes,
    /// SHA-256 of these bytes, lower-case hexadecimal.
    pub sha256: String,
    /// What was done.
    pub actions: Vec<Action>,
    /// The cleaned bytes of each outermost artifact that changed; `None` where something else stands in its place.
    pub(crate) artifacts: BTreeMap<ArtifactId, Option<Bytes>>,
    /// Scans it took; the last one allowed it.
    pub scans: u64,
}

/// Who makes a release: the scanner, the policy, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) policy: &'a Policy,
    pub(crate) audience: &'a Audience,
    pub(crate) now: Option<Date>,
    pub(crate) by_person: Option<&'a Override>,
}

/// What came of trying.
type Tried = Result<Option<Released>, Uncleanable>;

impl Maker<'_> {
    /// The safe version of what was scanned; `None` when it is safe as it is.
    pub(crate) fn release(&self, report: &Report, input: &Input) -> Tried {
        let mut work =
            Work { maker: *self, ledger: Ledger::default(), budget: Budget::new(*self.scanner.limits()), depth: 0 };
        work.release(Some(report.clone()), input.clone())
    }

    fn decide(&self, report: &Report) -> Decided {
        let case = Case { by_person: self.by_person.cloned(), ..Case::of(report, |_| true) };
        self.policy.decide(&case, std::slice::from_ref(self.audience), self.now)
    }

    fn shown(&self) -> Shown {
        Shown::of(self.audience, self.policy.settings(self.audience))
    }
}

/// A release while it is made.
#[derive(Debug)]
struct Work<'a> {
    maker: Maker<'a>,
    ledger: Ledger,
    budget: Budget,
    depth: u8,
}

/// What one round wants changed.
#[derive(Debug, Default)]
struct Changes {
    placer: Placer,
    /// New bytes of attachments, by reference; of artifacts of a bundle, by position.
    attached: BTreeMap<String, Bytes>,
    bundled: BTreeMap<usize, Bytes>,
    /// A new name for the input itself.
    name: Option<String>,
    /// New bytes of artifacts, by where they stand.
    artifacts: BTreeMap<String, Option<Bytes>>,
    did: Vec<(String, BTreeMap<&'static str, u64>)>,
    any: bool,
}

type Did = BTreeMap<(String, &'static str), u64>;

/// Adds what a round did to what was done before.
fn note(did: &mut Did, done: Vec<(String, BTreeMap<&'static str, u64>)>) {
    for (place, done) in done {
        for (action, count) in done {
            let sum = did.entry((place.clone(), action)).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}

/// Where an artifact stands, whatever its number in this scan or that: the same shape has the same places.
fn place_of(report: &Report, record: &ArtifactRecord) -> String {
    let reference = record.reference.and_then(|at| report.references.get(at));
    match (reference, &record.at) {
        (Some((reference, _)), _) => format!("@{}", reference.id),
        (None, Some(at)) => format!("{at} {}", record.origin.name()),
        (None, None) => record.id.to_string(),
    }
}

impl Work<'_> {
    fn release(&mut self, first: Option<Report>, input: Input) -> Tried {
        let mut current = input;
        let mut next = first;
        let mut artifacts: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
        let mut did = Did::new();
        let mut roots: BTreeMap<String, ArtifactId> = BTreeMap::new();
        let mut scans = 0u64;
        for round in 0..ROUNDS {
            let report = match next.take() {
                Some(report) => report,
                None => {
                    scans = scans.saturating_add(1);
                    self.look(&current)
                }
            };
            if round == 0 {
                roots = report
                    .artifacts
                    .iter()
                    .filter(|record| record.parent.is_none())
                    .map(|record| (place_of(&report, record), record.id))
                    .collect();
            }
            let decided = self.maker.decide(&report);
            match decided.decision {
                Decision::Allow => {
                    let changes = self.finish(&report, &decided, round)?;
                    if changes.any {
                        note(&mut did, changes.did);
                        artifacts.extend(changes.artifacts);
                        current = apply(
                            changes.placer,
                            changes.attached,
                            &changes.bundled,
                            changes.name,
                            current,
                            &mut self.budget,
                        )?;
                        continue;
                    }
                    if round == 0 {
                        return Ok(None);
                    }
                    let named = |place: &String| roots.get(place).copied();
                    return Ok(Some(Released {
                        sha256: sha256_hex(&current.bytes),
                        bytes: current.bytes,
                        actions: did
                            .into_iter()
                            .map(|((place, action), count)| Action { artifact: named(&place), action, count })
                            .collect(),
                        artifacts: artifacts
                            .into_iter()
                            .filter_map(|(place, bytes)| Some((named(&place)?, bytes)))
                            .collect(),
                        scans,
                    }));
                }
                Decision::Sanitize => {}
                Decision::Review | Decision::Block => {
                    let why = decided.audiences.first().and_then(|answer| answer.because.first());
                    let why = why.map_or("", |because| because.clause.as_str());
                    let what = if round == 0 { "the whole" } else { "what came of cleaning" };
                    let decision = decided.decision.name();
                    return Err(Uncleanable(format!("{what} is {decision} (clause {why})").into()));
                }
            }
            let changes = self.round(&report, &decided, round, &current)?;
            if !changes.any {
                return Err("nothing here can take out what was found".into());
            }
            note(&mut did, changes.did);
            artifacts.extend(changes.artifacts);
            current =
                apply(changes.placer, changes.attached, &changes.bundled, changes.name, current, &mut self.budget)?;
        }
        Err("something is left after every round of cleaning".into())
    }

    /// What is left to do where everything is allowed: what the policy does not show there is replaced, and where
    /// something changes anyway long texts keep head and tail.
    fn finish(&mut self, report: &Report, decided: &Decided, round: usize) -> Result<Changes, Uncleanable> {
        let mut changes = Changes::default();
        let Some(answers) = decided.audiences.first() else { return Ok(changes) };
        let is_envelope = !matches!(report.source.kind, "file" | "text");
        let roots = report.artifacts.iter().zip(&answers.artifacts).filter(|(record, _)| record.parent.is_none());
        for (record, answer) in roots.clone() {
            if is_envelope && answer.deliver == Deliver::Nothing && !record.written.is_empty() {
                self.replace(report, record, "policy.withheld", &mut changes)?;
            }
        }
        let settings = self.maker.policy.settings(self.maker.audience);
        let most = settings.and_then(|settings| settings.max_text_bytes).filter(|_| round > 0 && !changes.any);
        for (record, _) in roots {
            let Some(most) = most.filter(|most| record.origin.is_text() && record.size > *most) else { continue };
            let Some(bytes) = report.bytes_of(record.id) else { continue };
            let words = Words { text: &bytes, origin: record.origin, shown: self.maker.shown(), again: false };
            let edits = words.shortened(most, settings.map(|settings| settings.keep).unwrap_or_default());
            if !edits.is_empty() {
                let short = applied(&bytes, &edits);
                self.put(report, record, &edits, &short, &mut changes)?;
                changes.artifacts.insert(place_of(report, record), Some(short));
                changes.did.push((place_of(report, record), BTreeMap::from([("left out the middle", 1)])));
            }
        }
        Ok(changes)
    }

    /// Puts something else in the place of an artifact that must not leave.
    fn replace(
        &mut self,
        report: &Report,
        record: &ArtifactRecord,
        category: &str,
        changes: &mut Changes,
    ) -> Result<(), Uncleanable> {
        let bytes = report.bytes_of(record.id).ok_or(Uncleanable::from("it cannot be unpacked again"))?;
        let mime = record.declared.as_deref().unwrap_or(record.kind.mime);
        let stand_in = match record.kind.is_text {
            true => stand_in::words(category, record.origin).into_bytes(),
            false => stand_in::bytes(mime),
        };
        if bytes == stand_in {
            return Err("what stands in its place is not allowed either".into());
        }
        let edits = [Edit { range: 0..bytes.len(), with: stand_in.clone() }];
        self.put(report, record, &edits, &stand_in.into(), changes)?;
        let place = place_of(report, record);
        changes.artifacts.insert(place.clone(), None);
        changes.did.push((place, BTreeMap::from([("replaced", 1)])));
        Ok(())
    }

    /// Scans an input again, with every secret that was taken out on the watch list.
    fn look(&self, input: &Input) -> Report {
        let mut input = input.clone();
        input.watch.extend(self.ledger.sought().cloned());
        self.maker.scanner.scan(input)
    }

    /// What is to be changed, artifact by artifact.
    fn round(
        &mut self,
        report: &Report,
        decided: &Decided,
        round: usize,
        input: &Input,
    ) -> Result<Changes, Uncleanable> {
        let mut changes = Changes::default();
        let Some(answers) = decided.audiences.first() else { return Ok(changes) };
        let wanted: BTreeSet<usize> = answers
            .findings
            .iter()
            .enumerate()
            .filter(|(_, decision)| **decision == Decision::Sanitize)
            .map(|(position, _)| position)
            .collect();
        let gone: Vec<&Finding> = wanted.iter().filter_map(|position| report.findings.get(*position)).collect();
        self.envelope(report, &gone, &mut changes)?;
        let mut answers = answers.artifacts.iter();
        let mut whole = None;
        for record in &report.artifacts {
            let sanitize = answers.next().is_some_and(|answer| answer.decision == Decision::Sanitize);
            if record.parent.is_none() && sanitize {
                if record.at.as_ref().is_some_and(|at| at.is_empty()) {
                    whole = Some(record);
                } else {
                    self.artifact(report, record, &gone, round, input, &mut changes)?;
                }
            }
        }
        // The input itself as a file holds the texts of all others, in their spelling: an order in escapes shows no
        // sentence there. It has its turn when they are clean.
        if let (Some(record), false) = (whole, changes.any) {
            self.artifact(report, record, &gone, round, input, &mut changes)?;
        }
        Ok(changes)
    }

    /// Findings of the envelope itself: what stands at their place is taken out.
    fn envelope(&mut self, report: &Report, gone: &[&Finding], changes: &mut Changes) -> Result<(), Uncleanable> {
        for finding in gone.iter().filter(|finding| finding.artifact.is_none()) {
            let Some(Coordinate::Name(at)) = finding.place.0.get("pointer") else { continue };
            let mark = |record: &ArtifactRecord| stand_in::words(&finding.rule.category, record.origin).into_bytes();
            for record in report.artifacts.iter().filter(|record| record.at.as_ref() == Some(at)) {
                let Some(bytes) = report.bytes_of(record.id) else { continue };
                let edits = [Edit { range: 0..bytes.len(), with: mark(record) }];
                for written in &record.written {
                    changes.placer.change(written, &edits, &mut self.budget)?;
                    changes.any = true;
                }
            }
        }
        Ok(())
    }

    fn artifact(
        &mut self,
        report: &Report,
        record: &ArtifactRecord,
        gone: &[&Finding],
        round: usize,
        input: &Input,
        changes: &mut Changes,
    ) -> Result<(), Uncleanable> {
        let bytes = report.bytes_of(record.id).ok_or(Uncleanable::from("it cannot be unpacked again"))?;
        let own: Vec<&Finding> = gone.iter().copied().filter(|finding| finding.artifact == Some(record.id)).collect();
        let inside: Vec<&Finding> =
            gone.iter().copied().filter(|finding| is_inside(report, finding.artifact, record.id)).collect();
        let mut did = BTreeMap::new();
        let is_named = |finding: &&Finding| {
            finding.span.is_none()
                && matches!(finding.place.0.get("part"), Some(Coordinate::Name(part)) if part == "name")
        };
        if own.iter().any(is_named) && record.written.len() == 1 && input.name.is_some() {
            changes.name = Some(headers::plain_name(record.kind));
            changes.any = true;
            did.insert("replaced the name", 1);
        }
        let words = Words { text: &bytes, origin: record.origin, shown: self.maker.shown(), again: round > 0 };
        let has_format =
            !record.origin.is_text() && format::of(record.kind).is_some_and(|format| format.clean.is_some());
        let edits = match record.kind.is_text {
            true => {
                let spoken: Vec<&Finding> = own
                    .iter()
                    .copied()
                    .filter(|finding| !(has_format && round == 0 && is_structural(finding)))
                    .collect();
                words.edits(&spoken, &mut self.ledger, &mut did)
            }
            false => Vec::new(),
        };
        let cleaned = match has_format {
            true => {
                let before = applied(&bytes, &edits);
                match self.clean(report, record, &before, &own, &mut did) {
                    Ok(cleaned) => Ok(Some(cleaned).filter(|cleaned| *cleaned != bytes)),
                    // What stands in the text was taken out: that may be all there is to do.
                    Err(_) if !edits.is_empty() && inside.is_empty() => Ok(Some(before)),
                    Err(why) => Err(why),
                }
            }
            false if inside.is_empty() => Ok((!edits.is_empty()).then(|| applied(&bytes, &edits))),
            false => Err("nothing here can rewrite what is inside it".into()),
        };
        let place = place_of(report, record);
        let is_envelope = report.source.kind != "file" && report.source.kind != "text";
        match cleaned {
            Ok(Some(cleaned)) => {
                // Text changes where it changed, so that pieces of a stream stay what they were.
                let edits = if has_format || edits.is_empty() { vec![whole(&bytes, &cleaned)] } else { edits };
                self.put(report, record, &edits, &cleaned, changes)?;
                changes.artifacts.insert(place.clone(), Some(cleaned));
            }
            Ok(None) | Err(_) if is_envelope => {
                let category = own.iter().chain(&inside).map(|finding| finding.rule.category.clone()).next();
                self.replace(report, record, category.as_deref().unwrap_or("policy.withheld"), changes)?;
            }
            Ok(None) if changes.name.is_some() => {}
            Ok(None) => return Err("nothing here can take out what was found".into()),
            Err(why) => return Err(why),
        }
        changes.did.push((place, did));
        Ok(())
    }

    /// Puts changes of an artifact wherever its bytes stand.
    fn put(
        &mut self,
        report: &Report,
        record: &ArtifactRecord,
        edits: &[Edit],
        cleaned: &Bytes,
        changes: &mut Changes,
    ) -> Result<(), Uncleanable> {
        changes.any = true;
        if let Some((reference, _)) = record.reference.and_then(|at| report.references.get(at)) {
            changes.attached.insert(reference.id.clone(), cleaned.clone());
        }
        for written in &record.written {
            let is_encoded = written.carrier == crate::bundle::Carrier::Encoded;
            let as_whole = [whole_of(record, cleaned)];
            changes.placer.change(written, if is_encoded { &as_whole } else { edits }, &mut self.budget)?;
        }
        if record.written.is_empty() && record.reference.is_none() {
            let position =
                report.artifacts.iter().filter(|other| other.parent.is_none()).position(|other| other.id == record.id);
            changes.bundled.extend(position.map(|position| (position, cleaned.clone())));
        }
        Ok(())
    }

    /// The artifact as its format cleans it.
    fn clean(
        &mut self,
        report: &Report,
        record: &ArtifactRecord,
        bytes: &Bytes,
        own: &[&Finding],
        did: &mut BTreeMap<&'static str, u64>,
    ) -> Result<Bytes, Uncleanable> {
        let clean = format::of(record.kind).and_then(|format| format.clean);
        let clean = clean.ok_or_else(|| Uncleanable(format!("nothing here cleans {}", record.kind.mime).into()))?;
        let findings: Vec<Finding> = own.iter().map(|finding| (*finding).clone()).collect();
        let mut budget = self.budget.clone();
        let mut wash = Wash { work: self, report };
        let mut cleaning = Cleaning::new(&mut wash, &findings);
        let cleaned = clean(&Subject { bytes, kind: record.kind }, &mut cleaning, &mut budget);
        did.extend(cleaning.into_actions());
        self.budget = budget;
        cleaned
    }

    /// A part of an artifact as an input of its own.
    fn part(&mut self, input: Input) -> Tried {
        if self.depth >= DEPTH {
            return Err("files are nested too deep to be cleaned".into());
        }
        let ledger = std::mem::take(&mut self.ledger);
        let mut inner =
            Work { maker: self.maker, ledger, budget: self.budget.clone(), depth: self.depth.saturating_add(1) };
        let tried = inner.release(None, input);
        self.ledger = inner.ledger;
        self.budget = inner.budget;
        tried
    }
}

/// Asked by cleaners about what is inside an artifact.
#[derive(Debug)]
struct Wash<'a, 'b> {
    work: &'a mut Work<'b>,
    report: &'a Report,
}

impl Washer for Wash<'_, '_> {
    fn text(&mut self, text: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, Uncleanable> {
        // Most files have nothing in their texts: then no text is read again.
        if text.is_empty() || !self.report.findings.iter().any(is_of_words) {
            return Ok(None);
        }
        self.work.budget = budget.clone();
        let tried = self.work.part(Input::text(Bytes::copy_from_slice(text)));
        *budget = self.work.budget.clone();
        Ok(tried?.map(|released| released.bytes.to_vec()))
    }

    fn part(&mut self, bytes: &Bytes, name: Option<&str>, budget: &mut Budget) -> Result<Part, Uncleanable> {
        self.work.budget = budget.clone();
        let mut input = Input::file("", bytes.clone());
        input.name = name.map(str::to_owned);
        let tried = self.work.part(input);
        *budget = self.work.budget.clone();
        Ok(match tried {
            Ok(None) => Part::Keep,
            Ok(Some(released)) => Part::Changed(released.bytes),
            Err(Uncleanable(why)) => Part::Gone(why),
        })
    }
}

/// Whether a finding is about words, wherever they stand.
fn is_of_words(finding: &Finding) -> bool {
    let family = finding.rule.category.split('.').next().unwrap_or_default();
    matches!(family, "secret" | "pii" | "injection" | "hidden" | "terminal" | "url")
}

/// Whether a finding is about how a file is built: its format takes it out. Anything else is words.
fn is_structural(finding: &Finding) -> bool {
    !is_of_words(finding)
}

/// Whether an artifact is somewhere inside another.
fn is_inside(report: &Report, artifact: Option<ArtifactId>, host: ArtifactId) -> bool {
    let parent = |id: ArtifactId| {
        usize::try_from(id.0).ok().and_then(|at| report.artifacts.get(at)).and_then(|record| record.parent)
    };
    std::iter::successors(artifact.and_then(parent), |id| parent(*id)).any(|id| id == host)
}

/// The change that makes one text of another and leaves what they have in common.
fn whole(before: &[u8], after: &[u8]) -> Edit {
    let shortest = before.len().min(after.len());
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut head = head;
    while head > 0 && before.get(head).is_some_and(|byte| byte & 0xc0 == 0x80) {
        head = head.saturating_sub(1);
    }
    let mut tail = tail.min(shortest.saturating_sub(head));
    while tail > 0 && before.get(before.len().saturating_sub(tail)).is_some_and(|byte| byte & 0xc0 == 0x80) {
        tail = tail.saturating_sub(1);
    }
    let with = after.get(head..after.len().saturating_sub(tail)).unwrap_or_default().to_vec();
    Edit { range: head..before.len().saturating_sub(tail), with }
}

/// The change of an artifact as a whole.
fn whole_of(record: &ArtifactRecord, cleaned: &Bytes) -> Edit {
    Edit { range: 0..usize::try_from(record.size).unwrap_or(usize::MAX), with: cleaned.to_vec() }
}

fn applied(bytes: &Bytes, edits: &[Edit]) -> Bytes {
    if edits.is_empty() {
        return bytes.clone();
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0usize;
    for edit in edits {
        out.extend_from_slice(bytes.get(at..edit.range.start).unwrap_or_default());
        out.extend_from_slice(&edit.with);
        at = edit.range.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out.into()
}

/// The input with everything changed.
fn apply(
    placer: Placer,
    attached: BTreeMap<String, Bytes>,
    bundled: &BTreeMap<usize, Bytes>,
    name: Option<String>,
    mut input: Input,
    budget: &mut Budget,
) -> Result<Input, Uncleanable> {
    (input.bytes, _) = placer.apply(&input.bytes, budget)?;
    for attachment in &mut input.attachments {
        if let Some(cleaned) = attached.get(&attachment.reference) {
            attachment.bytes = cleaned.clone();
        }
    }
    if let Kind::Bundle(bundle) = &mut input.kind {
        for (position, cleaned) in bundled {
            if let Some(artifact) = bundle.artifacts.get_mut(*position) {
                artifact.source = crate::bundle::Source::stored(cleaned.clone());
            }
        }
    }
    if name.is_some() {
        input.name = name;
    }
    Ok(input)
}
