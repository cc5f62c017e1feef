//! Policy: data that maps findings and gaps to a decision, per audience. Pure and total.

use std::{borrow::Cow, fmt};

use crate::{
    bundle::{ArtifactId, Trust},
    finding::{Confidence, Evidence, Severity},
    sniff::Risk,
};

/// What is to happen with an artifact, or with the whole. The worst wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may go as it is.
    Allow,
    /// It may go once cleaned.
    Sanitize,
    /// A person decides.
    Review,
    /// It stays.
    Block,
}

impl Decision {
    /// All, mildest first.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Sanitize, Self::Review, Self::Block];

    /// The word used in verdicts and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Sanitize => "sanitize",
            Self::Review => "review",
            Self::Block => "block",
        }
    }

    /// The decision of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }
}

/// What may leave. Ordered from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deliver {
    /// The bytes as they came.
    Original,
    /// The cleaned version.
    Release,
    /// Nothing.
    Nothing,
}

impl Deliver {
    /// The word used in verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Release => "release",
            Self::Nothing => "nothing",
        }
    }
}

/// Where something goes. A policy may define more than the four that are built in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Audience(Cow<'static, str>);

impl Audience {
    /// Shown in a web page.
    pub const PAGE: Self = Self(Cow::Borrowed("page"));
    /// Printed on a terminal.
    pub const TERMINAL: Self = Self(Cow::Borrowed("terminal"));
    /// Fed back to the model as a tool result.
    pub const MODEL: Self = Self(Cow::Borrowed("model"));
    /// Served as a file.
    pub const DOWNLOAD: Self = Self(Cow::Borrowed("download"));
    /// The four that are built in, in the order in which verdicts list them.
    pub const BUILT_IN: [Self; 4] = [Self::PAGE, Self::TERMINAL, Self::MODEL, Self::DOWNLOAD];

    /// The audience of that name; whether a policy knows it is asked when deciding.
    pub fn named(name: &str) -> Self {
        Self(Cow::Owned(name.to_owned()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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
}
