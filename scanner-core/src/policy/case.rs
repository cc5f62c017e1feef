//! What a policy decides over: findings, gaps and artifacts, without their content.

use std::borrow::Cow;

use super::Override;
use crate::{
    bundle::{ArtifactId, Trust},
    finding::{Confidence, Evidence, Finding, Severity},
    scan::Scan,
    sniff::Risk,
};

/// An artifact as a policy sees it.
#[derive(Clone, Debug)]
pub struct CaseArtifact {
    /// Its number.
    pub id: ArtifactId,
    /// What it is inside of. Always an earlier one.
    pub parent: Option<ArtifactId>,
    /// The sniffer's label.
    pub label: Cow<'static, str>,
    /// The sniffer's media type.
    pub mime: Cow<'static, str>,
    /// The risk class of its type.
    pub risk: Risk,
    /// Who worded it.
    pub trust: Trust,
    /// Digest of its bytes, lower-case hexadecimal.
    pub sha256: String,
    /// Whether its bytes are text that a person or a model reads as it stands: [`Type::is_text`](crate::Type::is_text).
    pub is_text: bool,
    /// Whether nothing of it but its header can be looked at: [`Type::is_opaque`](crate::Type::is_opaque). Fit to be
    /// served as a file, not to be shown in place.
    pub opaque: bool,
    /// Whether something here can clean it. Where `sanitize` is decided and nothing can, nothing is delivered.
    pub cleanable: bool,
}

/// A finding as a policy sees it: one that is listed, or one that was only counted (`id` and `fingerprint` empty).
#[derive(Clone, Debug)]
pub struct CaseFinding {
    /// Its id in the verdict, `f0`, `f1`, …; empty when it is not listed.
    pub id: String,
    /// The artifact it is in; `None` for the envelope.
    pub artifact: Option<ArtifactId>,
    /// Its rule.
    pub rule: Cow<'static, str>,
    /// Its category.
    pub category: Cow<'static, str>,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The thing itself, or words about it.
    pub evidence: Evidence,
    /// Its fingerprint; empty when it is not listed.
    pub fingerprint: String,
}

/// A gap as a policy sees it.
#[derive(Clone, Debug)]
pub struct CaseGap {
    /// Its id in the verdict, `g0`, `g1`, ….
    pub id: String,
    /// The artifact it is in; `None` for the whole input.
    pub artifact: Option<ArtifactId>,
    /// Why, as written in verdicts: `limit:depth`, `unsupported`, ….
    pub reason: Cow<'static, str>,
}

/// Everything a policy decides over.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// In order of their numbers.
    pub artifacts: Vec<CaseArtifact>,
    /// Listed and counted ones.
    pub findings: Vec<CaseFinding>,
    /// In the order of the verdict.
    pub gaps: Vec<CaseGap>,
    /// Whether everything was seen, as the verdict will say.
    pub complete: bool,
    /// Whether what is in no artifact, but in the envelope itself, can be cleaned.
    pub cleanable: bool,
    /// What a person decided about the whole.
    pub by_person: Option<Override>,
}

/// The id of a finding by its position: `f0`, `f1`, ….
pub(crate) fn finding_id(position: usize) -> String {
    format!("f{position}")
}

/// The id of a gap by its position: `g0`, `g1`, ….
pub(crate) fn gap_id(position: usize) -> String {
    format!("g{position}")
}

impl Case {
    /// A scan as a policy sees it: every kind of finding, listed or only counted. `cleanable` says of an artifact whether
    /// it can be cleaned, and of `None` whether the envelope itself can.
    pub(crate) fn of(scan: &Scan, cleanable: impl Fn(Option<ArtifactId>) -> bool) -> Self {
        let listed = scan.findings.iter().enumerate().map(|(position, finding)| case_finding(position, finding));
        let counted = scan.counted.iter().map(|tally| CaseFinding {
            id: String::new(),
            artifact: tally.artifact,
            rule: tally.rule.clone(),
            category: tally.category.clone(),
            severity: tally.severity,
            confidence: tally.confidence,
            evidence: tally.evidence,
            fingerprint: String::new(),
        });
        Self {
            artifacts: scan
                .artifacts
                .iter()
                .map(|artifact| CaseArtifact {
                    id: artifact.id,
                    parent: artifact.parent,
                    label: Cow::Borrowed(artifact.kind.label),
                    mime: Cow::Borrowed(artifact.kind.mime),
                    risk: artifact.kind.risk,
                    trust: artifact.trust,
                    sha256: artifact.sha256.clone(),
                    is_text: artifact.kind.is_text,
                    opaque: artifact.kind.is_opaque(),
                    cleanable: cleanable(Some(artifact.id)),
                })
                .collect(),
            findings: listed.chain(counted).collect(),
            gaps: scan
                .gaps
                .iter()
                .enumerate()
                .map(|(position, gap)| CaseGap {
                    id: gap_id(position),
                    artifact: gap.artifact,
                    reason: Cow::Owned(gap.reason.to_string()),
                })
                .collect(),
            complete: scan.is_complete(),
            cleanable: cleanable(None),
            by_person: None,
        }
    }
}

fn case_finding(position: usize, finding: &Finding) -> CaseFinding {
    CaseFinding {
        id: finding_id(position),
        artifact: finding.artifact,
        rule: finding.rule.id.clone(),
        category: finding.rule.category.clone(),
        severity: finding.severity,
        confidence: finding.confidence,
        evidence: finding.evidence,
        fingerprint: finding.fingerprint.clone(),
    }
}
