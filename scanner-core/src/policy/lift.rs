//! What a person decided, over what a policy did: an approval lifts `review`, a rejection blocks.

use std::collections::BTreeSet;

use super::{
    Audience, Case, Cause, Decision,
    decide::{INCOMPLETE, Judged, is_floored},
};

/// Names in `because` for what a person decided.
pub(super) const APPROVED: &str = "approved";
pub(super) const REJECTED: &str = "rejected";

/// What a person decided about the whole.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Override {
    /// What is `review` may pass, as far as they saw it.
    Approved(Approval),
    /// Nothing may leave.
    Rejected,
}

/// What an approval lifts: for these audiences, what the case held that was approved. Something that only a cleaned
/// version shows was seen by nobody.
#[derive(Clone, Debug)]
pub struct Approval {
    audiences: Vec<String>,
    /// Rule and fingerprint.
    findings: BTreeSet<(String, String)>,
    gaps: BTreeSet<String>,
    incomplete: bool,
}

impl Approval {
    /// An approval of a case, for the audiences of these names.
    pub fn of(case: &Case, audiences: &[String]) -> Self {
        Self {
            audiences: audiences.to_vec(),
            findings: case.findings.iter().map(|finding| key(&finding.rule, &finding.fingerprint)).collect(),
            gaps: case.gaps.iter().map(|gap| gap.reason.to_string()).collect(),
            incomplete: !case.complete,
        }
    }

    pub(super) fn is_for(&self, audience: &Audience) -> bool {
        self.audiences.iter().any(|name| name == audience.name())
    }

    /// Turns the answers `review` to what was approved into `allow`. The floor stays: of what a dead worker or a reached
    /// limit left unseen, this scan may have left more than the one that was looked at.
    pub(super) fn lift(&self, case: &Case, judged: &mut [Judged<'_>]) {
        let findings =
            case.findings.iter().map(|finding| self.findings.contains(&key(&finding.rule, &finding.fingerprint)));
        let gaps = case.gaps.iter().map(|gap| self.gaps.contains(&*gap.reason) && !is_floored(&gap.reason));
        let mut known = findings.chain(gaps);
        for one in judged.iter_mut() {
            // Behind findings and gaps comes what has no id.
            let lifted = known.next().unwrap_or(self.incomplete && one.clause == INCOMPLETE);
            if lifted && one.decision == Decision::Review {
                one.decision = Decision::Allow;
                one.clause = APPROVED;
            }
        }
    }
}

fn key(rule: &str, fingerprint: &str) -> (String, String) {
    (rule.to_owned(), fingerprint.to_owned())
}

/// The reason given for a rejection.
pub(super) fn rejected() -> super::Because {
    super::Because { clause: REJECTED.to_owned(), cause: Cause::Unlisted }
}
