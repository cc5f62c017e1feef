//! What a policy decides over: findings, gaps and artifacts, without their content.

use std::borrow::Cow;

use crate::{
    bundle::{ArtifactId, Trust},
    finding::{Confidence, Evidence, Severity},
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
}
