//! One clause, and what it is compared with.

use super::{Audience, CaseFinding, Date, Decision, Pattern, tree::Host};
use crate::{
    bundle::Trust,
    finding::{Confidence, Evidence, Severity},
    sniff::Risk,
};

/// `[[when]]`: conditions that must all hold, and what then follows. A condition that is not there holds.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) name: String,
    pub(super) about: About,
    pub(super) host: HostTest,
    /// Names; `None` for every audience.
    pub(super) audience: Option<Vec<String>>,
    pub(super) then: Decision,
    /// `deliver = "nothing"`.
    pub(super) withhold: bool,
}

/// A clause is about findings or about gaps, never both.
#[derive(Clone, Debug)]
pub(super) enum About {
    Findings(FindingTest),
    Gaps(Vec<Pattern>),
}

/// Conditions on a finding itself.
#[derive(Clone, Debug)]
pub(super) struct FindingTest {
    pub(super) category: Option<Vec<Pattern>>,
    pub(super) rule: Option<Vec<Pattern>>,
    pub(super) severity: Option<Vec<Severity>>,
    pub(super) confidence: Option<Vec<Confidence>>,
    pub(super) evidence: Option<Vec<Evidence>>,
}

/// Conditions on the artifact that a finding or gap is in.
#[derive(Clone, Debug)]
pub(super) struct HostTest {
    pub(super) trust: Option<Vec<Trust>>,
    pub(super) risk: Option<Vec<Risk>>,
    pub(super) kind: Option<Vec<Pattern>>,
    pub(super) text: Option<bool>,
}

impl HostTest {
    fn fits(&self, host: &Host) -> bool {
        holds(self.trust.as_deref(), host.trust)
            && holds(self.risk.as_deref(), host.risk)
            && self.text.is_none_or(|text| text == host.as_text)
            && (fits(self.kind.as_deref(), &host.label) || fits(self.kind.as_deref(), &host.mime))
    }
}

impl Clause {
    /// Whether it speaks of that audience, or of the one it is like.
    pub(super) fn is_for(&self, audience: &Audience, like: Option<&Audience>) -> bool {
        self.audience.as_ref().is_none_or(|names| {
            names.iter().any(|name| name == audience.name() || like.is_some_and(|like| name == like.name()))
        })
    }

    pub(super) fn fits_finding(&self, finding: &CaseFinding, host: &Host) -> bool {
        let About::Findings(test) = &self.about else { return false };
        holds(test.severity.as_deref(), finding.severity)
            && holds(test.confidence.as_deref(), finding.confidence)
            && holds(test.evidence.as_deref(), finding.evidence)
            && fits(test.category.as_deref(), &finding.category)
            && fits(test.rule.as_deref(), &finding.rule)
            && self.host.fits(host)
    }

    pub(super) fn fits_gap(&self, reason: &str, host: &Host) -> bool {
        let About::Gaps(reasons) = &self.about else { return false };
        fits(Some(reasons), reason) && self.host.fits(host)
    }
}

/// `[[except]]`: findings that do not count. Everything it names must agree.
#[derive(Clone, Debug)]
pub(super) struct Exception {
    pub(super) fingerprint: Option<String>,
    pub(super) rule: Option<String>,
    /// Of the artifact the finding is in, or of anything that is inside of.
    pub(super) sha256: Option<String>,
    /// The last day on which it counts.
    pub(super) expires: Option<Date>,
}

impl Exception {
    /// Whether it still counts. One that ends does not when nobody says what day it is.
    pub(super) fn holds_on(&self, now: Option<Date>) -> bool {
        self.expires.is_none_or(|last| now.is_some_and(|now| now <= last))
    }

    /// Whether it means that finding, in an artifact with these digests: its own and its parents'.
    pub(super) fn covers<'a>(&self, finding: &CaseFinding, mut digests: impl Iterator<Item = &'a str>) -> bool {
        self.fingerprint.as_ref().is_none_or(|fingerprint| *fingerprint == finding.fingerprint)
            && self.rule.as_ref().is_none_or(|rule| *rule == finding.rule)
            && self.sha256.as_ref().is_none_or(|sha256| digests.any(|digest| digest == sha256))
    }
}

fn holds<T: PartialEq>(accepted: Option<&[T]>, value: T) -> bool {
    accepted.is_none_or(|accepted| accepted.contains(&value))
}

fn fits(patterns: Option<&[Pattern]>, word: &str) -> bool {
    patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.fits(word)))
}
