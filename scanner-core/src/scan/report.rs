//! What comes of a scan, before any policy.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use bytes::Bytes;

use super::{Facts, Input, Scanner};
use crate::{
    bundle::{ArtifactId, Call, Origin, Reference, Source, Status, Trust, Written},
    finding::{Finding, Gap, Severity, Tally},
    inflate,
    limits::{Budget, Limits},
    sniff::Type,
};

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
    pub(super) source: Source,
    /// Where its bytes stand in the input; empty for what is inside another artifact.
    pub(crate) written: Vec<Written>,
    /// The reference it answers, by position.
    pub(crate) reference: Option<usize>,
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
    pub(super) scan: Arc<Scan>,
    /// What scans a release again.
    pub(crate) scanner: Scanner,
    /// What was scanned: a release is made of it.
    pub(crate) input: Input,
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
