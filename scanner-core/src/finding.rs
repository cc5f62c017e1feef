//! What was seen ([`Finding`]), what was not ([`Gap`]), and the rules that findings come from.

use std::{borrow::Cow, fmt, ops::Deref, sync::Arc};

use sha2::{Digest, Sha256};

use crate::{
    bundle::ArtifactId,
    limits::{Exhausted, Resource},
};

mod category;
mod collection;
mod excerpt;
mod place;

pub use category::{CATEGORIES, is_category};
pub use collection::{Findings, Tally};
pub(crate) use excerpt::masked;
pub use excerpt::{Excerpt, Secret, visible};
pub use place::{Coordinate, Place, Span};

/// How bad a finding is. `High` acts by itself or escapes; `Medium` acts when opened or trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, nothing to do.
    Info,
    /// Odd, harmless by itself.
    Low,
    /// Acts when opened or trusted.
    Medium,
    /// Acts by itself, or escapes.
    High,
    /// Known to do harm.
    Critical,
}

impl Severity {
    /// All, mildest first.
    pub const ALL: [Self; 5] = [Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word used in verdicts, rules and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The severity of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

/// How sure a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A hint.
    Low,
    /// Likely.
    Medium,
    /// Proven by structure, or as good as.
    High,
}

impl Confidence {
    /// All, weakest first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The word used in verdicts, rules and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The confidence of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|confidence| confidence.name() == name)
    }
}

/// Whether the thing itself is there, or only words about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// The thing itself.
    Use,
    /// Documentation, a quoted rule, test data.
    Mention,
}

impl Evidence {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Use, Self::Mention];

    /// The word used in verdicts and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Mention => "mention",
        }
    }

    /// The evidence of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|evidence| evidence.name() == name)
    }
}

/// What a finding is made from, whether it stands in a file or in code. Ids are kebab: `png/trailing-data`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable name, unique among all rules.
    pub id: Cow<'static, str>,
    /// One line: what was found.
    pub title: Cow<'static, str>,
    /// Why that is a problem, and for whom.
    pub why: Cow<'static, str>,
    /// What the reader can do about it.
    pub remedy: Cow<'static, str>,
    /// A word of CATEGORIES.
    pub category: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
}

impl Rule {
    /// A rule that lives in code.
    pub const fn built_in(
        id: &'static str,
        category: &'static str,
        severity: Severity,
        confidence: Confidence,
        text: RuleText,
    ) -> Self {
        Self {
            id: Cow::Borrowed(id),
            title: Cow::Borrowed(text.title),
            why: Cow::Borrowed(text.why),
            remedy: Cow::Borrowed(text.remedy),
            category: Cow::Borrowed(category),
            severity,
            confidence,
        }
    }
}

/// The words of a rule that lives in code.
#[derive(Clone, Copy, Debug)]
pub struct RuleText {
    /// See [`Rule::title`].
    pub title: &'static str,
    /// See [`Rule::why`].
    pub why: &'static str,
    /// See [`Rule::remedy`].
    pub remedy: &'static str,
}

/// A counted hold on a rule, wherever it lives.
#[derive(Clone, Debug)]
pub enum RuleRef {
    /// A rule in code.
    BuiltIn(&'static Rule),
    /// A rule from a file.
    Loaded(Arc<Rule>),
}

impl Deref for RuleRef {
    type Target = Rule;

    fn deref(&self) -> &Rule {
        match self {
            Self::BuiltIn(rule) => rule,
            Self::Loaded(rule) => rule,
        }
    }
}

/// Digest over rule, artifact type and the normalised match: stable across runs, for suppressions and SARIF.
pub fn fingerprint(rule: &str, artifact_type: &str, matched: &[u8]) -> String {
    let mut digest = Sha256::new();
    for part in [rule.as_bytes(), artifact_type.as_bytes()] {
        digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        digest.update(part);
    }
    // Normalised: white space runs are one blank and ASCII case does not count, so reflowed text keeps its mark.
    let mut normalised = Vec::with_capacity(matched.len());
    for word in matched.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        normalised.extend(word.iter().map(u8::to_ascii_lowercase));
        normalised.push(b' ');
    }
    digest.update(normalised.strip_suffix(b" ").unwrap_or_default());
    hex(digest.finalize().get(..16).unwrap_or_default())
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Something seen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The rule it comes from.
    pub rule: RuleRef,
    /// How bad, here: usually the rule's own severity.
    pub severity: Severity,
    /// How sure, here.
    pub confidence: Confidence,
    /// The thing itself, or words about it.
    pub evidence: Evidence,
    /// The artifact it is in; `None` for the envelope itself.
    pub artifact: Option<ArtifactId>,
    /// Where in the artifact's bytes.
    pub span: Option<Span>,
    /// Where the secret in it stands, when that is not the whole of the span: what a release takes out.
    pub(crate) secret: Option<Span>,
    /// Where a person looks.
    pub place: Place,
    /// The layers that were undone before it could be seen, outermost first.
    pub decoded: Vec<&'static str>,
    /// What was found here, in words. Never the content itself.
    pub message: String,
    /// The content, redacted.
    pub excerpt: Option<Excerpt>,
    /// See [`fingerprint`].
    pub fingerprint: String,
}

impl Finding {
    /// A finding of a rule with the rule's own severity, not yet placed.
    pub fn of(rule: RuleRef) -> Self {
        Self {
            severity: rule.severity,
            confidence: rule.confidence,
            evidence: Evidence::Use,
            artifact: None,
            span: None,
            secret: None,
            place: Place::default(),
            decoded: Vec::new(),
            message: rule.title.clone().into_owned(),
            excerpt: None,
            fingerprint: String::new(),
            rule,
        }
    }

    /// A finding of a rule that lives in code.
    pub fn built_in(rule: &'static Rule) -> Self {
        Self::of(RuleRef::BuiltIn(rule))
    }

    /// With another severity than the rule's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// At a range of the artifact's bytes.
    #[must_use]
    pub fn at(mut self, start: u64, end: u64) -> Self {
        self.span = Some(Span { start, end });
        self
    }

    /// At a place a person looks for.
    #[must_use]
    pub fn place(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// In these words. Facts and numbers only, never content.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}

/// Why something was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A limit stopped the work.
    Limit(Resource),
    /// Reading had to stop.
    Malformed,
    /// It needs a key.
    Encrypted,
    /// Output that the vendor encrypted for itself, to be sent back to it unread.
    EncryptedStdout,
    /// Nothing here looks into that format.
    Unsupported,
    /// Nobody knows what it is.
    UnknownType,
    /// The caller did not attach the bytes of a reference.
    NotFetched,
    /// The provider was not asked to include it.
    NotIncluded,
    /// An external engine did not answer.
    EngineUnavailable,
    /// The worker process died.
    WorkerDied,
    /// The worker process ran out of time.
    Timeout,
}

impl Reason {
    /// Every reason; those of limits last.
    pub fn all() -> impl Iterator<Item = Self> {
        const OTHERS: [Reason; 10] = [
            Reason::Malformed,
            Reason::Encrypted,
            Reason::EncryptedStdout,
            Reason::Unsupported,
            Reason::UnknownType,
            Reason::NotFetched,
            Reason::NotIncluded,
            Reason::EngineUnavailable,
            Reason::WorkerDied,
            Reason::Timeout,
        ];
        OTHERS.into_iter().chain(Resource::ALL.into_iter().map(Self::Limit))
    }
}

impl Reason {
    /// Reasons that are not of a limit.
    const PLAIN: [Self; 10] = [
        Self::Malformed,
        Self::Encrypted,
        Self::EncryptedStdout,
        Self::Unsupported,
        Self::UnknownType,
        Self::NotFetched,
        Self::NotIncluded,
        Self::EngineUnavailable,
        Self::WorkerDied,
        Self::Timeout,
    ];

    /// The reason written so.
    ///
    /// ```
    /// use scanner_core::{Reason, Resource};
    /// assert_eq!(Reason::named("limit:depth"), Some(Reason::Limit(Resource::Depth)));
    /// assert_eq!(Reason::named("timeout"), Some(Reason::Timeout));
    /// assert_eq!(Reason::named("limit:patience"), None);
    /// ```
    pub fn named(word: &str) -> Option<Self> {
        match word.strip_prefix("limit:") {
            Some(resource) => Resource::named(resource).map(Self::Limit),
            None => Self::PLAIN.into_iter().find(|reason| reason.to_string() == word),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(resource) => write!(f, "limit:{resource}"),
            Self::Malformed => f.write_str("malformed"),
            Self::Encrypted => f.write_str("encrypted"),
            Self::EncryptedStdout => f.write_str("encrypted_stdout"),
            Self::Unsupported => f.write_str("unsupported"),
            Self::UnknownType => f.write_str("unknown_type"),
            Self::NotFetched => f.write_str("not_fetched"),
            Self::NotIncluded => f.write_str("not_included"),
            Self::EngineUnavailable => f.write_str("engine_unavailable"),
            Self::WorkerDied => f.write_str("worker_died"),
            Self::Timeout => f.write_str("timeout"),
        }
    }
}

/// Something *not* seen, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The artifact it is in; `None` for the whole input.
    pub artifact: Option<ArtifactId>,
    /// Why.
    pub reason: Reason,
    /// In words, for the person who can act.
    pub detail: String,
    /// Where: a JSON Pointer of the envelope, or `offset N` of the artifact.
    pub at: Option<String>,
}

impl Gap {
    /// A gap not yet placed.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { artifact: None, reason, detail: detail.into(), at: None }
    }

    /// The gap at a byte offset of its artifact.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.at = Some(format!("offset {offset}"));
        self
    }
}

/// Why an inspector stopped early. What it had written stays; the stop becomes a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget does not cover the next piece of work.
    Limit(Exhausted),
    /// The bytes cannot be followed further.
    Malformed {
        /// What was expected.
        what: Cow<'static, str>,
        /// Offset in the artifact.
        at: u64,
    },
}

impl Stop {
    /// The bytes cannot be followed past `at`.
    pub fn malformed(what: impl Into<Cow<'static, str>>, at: u64) -> Self {
        Self::Malformed { what: what.into(), at }
    }

    /// Says which format could not be followed.
    #[must_use]
    pub(crate) fn of(self, format: &str) -> Self {
        match self {
            Self::Malformed { what, at } => Self::malformed(format!("{format}: {what}"), at),
            limit @ Self::Limit(_) => limit,
        }
    }

    /// The gap it becomes.
    pub fn into_gap(self) -> Gap {
        match self {
            Self::Limit(Exhausted(resource)) => {
                Gap::new(Reason::Limit(resource), format!("the limit on {resource} was reached: the rest was not read"))
            }
            Self::Malformed { what, at } => Gap::new(Reason::Malformed, what).at_offset(at),
        }
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Self::Limit(exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_case_do_not_change_the_fingerprint() {
        let mark = fingerprint("r", "text", b"Ignore  all\nprevious");
        assert_eq!(mark, fingerprint("r", "text", b"ignore all previous"));
        assert_ne!(mark, fingerprint("r", "html", b"ignore all previous"));
        assert_ne!(mark, fingerprint("rt", "ext", b"ignore all previous"));
    }
}
