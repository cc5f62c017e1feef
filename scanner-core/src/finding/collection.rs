//! All findings of a scan: the worst kept whole, the rest counted.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use super::{Confidence, Evidence, Finding, Severity};
use crate::bundle::ArtifactId;

/// Findings that were counted but not kept, as the decision needs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// The artifact they are in.
    pub artifact: Option<ArtifactId>,
    /// Their rule.
    pub rule: Cow<'static, str>,
    /// Their category.
    pub category: Cow<'static, str>,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The thing itself, or words about it.
    pub evidence: Evidence,
}

/// Order in which findings are kept: worst first; then the first of each rule in each artifact before the second of
/// any, so that a flood of one rule cannot push out another of the same severity; then as they came.
type KeepKey = (std::cmp::Reverse<Severity>, u64, u64);

/// All findings of a scan: the worst kept whole, the rest counted. Memory is bounded by the limit, not by the input.
#[derive(Debug)]
pub struct Findings {
    keep: usize,
    kept: BTreeMap<KeepKey, Finding>,
    dropped: BTreeMap<Tally, u64>,
    totals: BTreeMap<Severity, u64>,
    nth: HashMap<(Option<ArtifactId>, Cow<'static, str>), u64>,
    came: u64,
}

impl Findings {
    /// Room for that many.
    pub fn keeping(limit: u64) -> Self {
        Self {
            keep: usize::try_from(limit).unwrap_or(usize::MAX),
            kept: BTreeMap::new(),
            dropped: BTreeMap::new(),
            totals: BTreeMap::new(),
            nth: HashMap::new(),
            came: 0,
        }
    }

    /// Adds one.
    pub fn add(&mut self, finding: Finding) {
        count(self.totals.entry(finding.severity).or_default(), 1);
        let nth = self.nth.entry((finding.artifact, finding.rule.id.clone())).or_default();
        *nth = nth.saturating_add(1);
        self.came = self.came.saturating_add(1);
        self.kept.insert((std::cmp::Reverse(finding.severity), *nth, self.came), finding);
        if self.kept.len() > self.keep
            && let Some((_, last)) = self.kept.pop_last()
        {
            self.tally(&last, 1);
        }
    }

    /// Adds `more` like `finding` that are not worth a record each.
    pub fn add_uncounted(&mut self, finding: &Finding, more: u64) {
        if more > 0 {
            count(self.totals.entry(finding.severity).or_default(), more);
            self.tally(finding, more);
        }
    }

    fn tally(&mut self, finding: &Finding, more: u64) {
        let key = Tally {
            artifact: finding.artifact,
            rule: finding.rule.id.clone(),
            category: finding.rule.category.clone(),
            severity: finding.severity,
            confidence: finding.confidence,
            evidence: finding.evidence,
        };
        count(self.dropped.entry(key).or_default(), more);
    }

    /// How many were found, kept or not.
    #[cfg(test)]
    pub(crate) fn total(&self) -> u64 {
        self.totals.values().sum()
    }

    /// Ends the collection: kept findings worst first, then by artifact and position; what was dropped; totals.
    pub fn finish(self) -> (Vec<Finding>, Vec<Tally>, BTreeMap<Severity, u64>) {
        let mut kept: Vec<(u64, Finding)> =
            self.kept.into_iter().map(|((_, _, came), finding)| (came, finding)).collect();
        kept.sort_by(|(came, a), (later, b)| {
            let place = |finding: &Finding| (std::cmp::Reverse(finding.severity), finding.artifact, finding.span);
            place(a).cmp(&place(b)).then_with(|| a.rule.id.cmp(&b.rule.id)).then(came.cmp(later))
        });
        (kept.into_iter().map(|(_, finding)| finding).collect(), self.dropped.into_keys().collect(), self.totals)
    }
}

fn count(counter: &mut u64, more: u64) {
    *counter = counter.saturating_add(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Rule, RuleText};

    const TEXT: RuleText = RuleText { title: "t", why: "w", remedy: "r" };
    static LOW: Rule = Rule::built_in("test/low", "malformed.structure", Severity::Low, Confidence::High, TEXT);
    static HIGH: Rule = Rule::built_in("test/high", "malformed.structure", Severity::High, Confidence::High, TEXT);
    static OTHER: Rule = Rule::built_in("test/other", "malformed.structure", Severity::High, Confidence::High, TEXT);

    #[test]
    fn a_flood_cannot_push_out_the_worse_or_the_rarer() {
        let mut findings = Findings::keeping(3);
        for _ in 0..50 {
            findings.add(Finding::built_in(&LOW));
        }
        for _ in 0..50 {
            findings.add(Finding::built_in(&HIGH));
        }
        findings.add(Finding::built_in(&OTHER));
        let (kept, dropped, totals) = findings.finish();
        let ids: Vec<&str> = kept.iter().map(|finding| &*finding.rule.id).collect();
        assert_eq!(ids, ["test/high", "test/high", "test/other"]);
        assert_eq!(totals, BTreeMap::from([(Severity::Low, 50), (Severity::High, 51)]));
        assert_eq!(dropped.len(), 2);
    }
}
