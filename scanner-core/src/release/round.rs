//! One round of a release: what is to be changed, artifact by artifact.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{
    Work,
    done::place_of,
    headers::plain_name,
    place::{Edit, Placer, applied, whole},
    stand_in,
    wash::is_of_words,
    words::Words,
};
use crate::{
    bundle::{ArtifactId, Carrier, Source},
    finding::{Coordinate, Finding},
    format::{self, cleaning::Uncleanable},
    limits::Budget,
    policy::{Decided, Decision, Deliver},
    scan::{ArtifactRecord, Input, Kind, Report},
};

/// What one round wants changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    placer: Placer,
    /// New bytes of attachments, by reference; of artifacts of a bundle, by position.
    attached: BTreeMap<String, Bytes>,
    bundled: BTreeMap<usize, Bytes>,
    /// A new name for the input itself.
    name: Option<String>,
    /// Where something else is put.
    pub(super) replaced: Vec<String>,
    pub(super) did: Vec<(String, BTreeMap<&'static str, u64>)>,
    pub(super) any: bool,
}

impl Changes {
    /// The input with everything changed.
    pub(super) fn apply(self, mut input: Input, budget: &mut Budget) -> Result<Input, Uncleanable> {
        input.bytes = self.placer.apply(&input.bytes, budget)?;
        for attachment in &mut input.attachments {
            if let Some(cleaned) = self.attached.get(&attachment.reference) {
                attachment.bytes = cleaned.clone();
            }
        }
        if let Kind::Bundle(bundle) = &mut input.kind {
            for (position, cleaned) in self.bundled {
                if let Some(artifact) = bundle.artifacts.get_mut(position) {
                    artifact.source = Source::stored(cleaned);
                }
            }
        }
        if self.name.is_some() {
            input.name = self.name;
        }
        Ok(input)
    }
}

impl Work<'_> {
    /// What is left to do where everything is allowed: what the policy does not show there is replaced, and where
    /// something changes anyway long texts keep head and tail.
    pub(super) fn finish(&mut self, report: &Report, decided: &Decided, round: usize) -> Result<Changes, Uncleanable> {
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
        changes.replaced.push(place.clone());
        changes.did.push((place, BTreeMap::from([("replaced", 1)])));
        Ok(())
    }

    /// What is to be changed, artifact by artifact.
    pub(super) fn round(
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
            let is_there = |record: &&ArtifactRecord| record.at.as_ref() == Some(at) && !record.written.is_empty();
            for record in report.artifacts.iter().filter(is_there) {
                let Some(bytes) = report.bytes_of(record.id) else { continue };
                let edits = [Edit { range: 0..bytes.len(), with: mark(record) }];
                for written in &record.written {
                    changes.placer.change(written, &edits, &mut self.budget)?;
                }
                changes.any = true;
                changes.did.push((place_of(report, record), BTreeMap::from([("removed text", 1)])));
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
            changes.name = Some(plain_name(record.kind));
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
            let is_encoded = written.carrier == Carrier::Encoded;
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

/// The change of an artifact as a whole.
fn whole_of(record: &ArtifactRecord, cleaned: &Bytes) -> Edit {
    Edit { range: 0..usize::try_from(record.size).unwrap_or(usize::MAX), with: cleaned.to_vec() }
}
