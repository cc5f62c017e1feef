//! The decision: every finding and gap gets an answer, the worst one wins.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Audience, AudienceSettings, Case, CaseArtifact, CaseFinding, CaseGap, Date, Decision, Deliver, Override, Policy,
    clause::Clause,
    lift::{APPROVED, REJECTED, rejected},
    tree::Tree,
};

/// Names in `because` that are no clause of a file.
pub(super) const RESERVED: [&str; 8] =
    [APPROVED, FLOOR, INCOMPLETE, INLINE, NO_CLEANER, OTHERWISE, REJECTED, UNKNOWN_AUDIENCE];
const FLOOR: &str = "floor";
const INLINE: &str = "inline";
pub(super) const INCOMPLETE: &str = "incomplete";
const NO_CLEANER: &str = "no_cleaner";
const OTHERWISE: &str = "otherwise";
const UNKNOWN_AUDIENCE: &str = "unknown_audience";

/// What is answered where nothing may leave.
const BLOCKED: Answer = Answer { decision: Decision::Block, deliver: Deliver::Nothing };

/// Reasons given for one audience. Each clause comes once before any comes twice, so a flood hides none.
const REASONS: usize = 20;

/// What a policy says of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided {
    /// The worst over the audiences asked; `block` when none was.
    pub decision: Decision,
    /// Whether the policy is enforced. If not, every answer is `allow` and `would_be` says what the policy would have it.
    pub enforced: bool,
    /// Whether some exception of the policy ends, so that the day counted.
    pub uses_date: bool,
    /// One for each audience, in the order asked.
    pub audiences: Vec<ForAudience>,
}

/// What a policy says of a case, for one audience.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForAudience {
    /// The audience.
    pub audience: Audience,
    /// Of the whole: the worst over all findings and gaps.
    pub decision: Decision,
    /// Of the whole: `original` when every artifact may leave as it came, `release` when some must be cleaned or left
    /// out, `nothing` when nothing may leave.
    pub deliver: Deliver,
    /// What the decision would have been, when the policy is not enforced.
    pub would_be: Option<Decision>,
    /// Why, worst first. Empty when there is nothing to say.
    pub because: Vec<Because>,
    /// One for each artifact of the case, in its order: the worst over what is in it and in everything inside it.
    pub artifacts: Vec<Answer>,
    /// One for each finding of the case, in its order.
    pub findings: Vec<Decision>,
    /// One for each gap of the case, in its order.
    pub gaps: Vec<Decision>,
}

/// What a policy says of one artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What is to happen.
    pub decision: Decision,
    /// What may leave.
    pub deliver: Deliver,
}

/// A clause that took part in the decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Because {
    /// Its name; or `approved`, `floor`, `incomplete`, `inline`, `no_cleaner`, `otherwise`,
    /// `rejected`, `unknown_audience`.
    pub clause: String,
    /// What it was about.
    pub cause: Cause,
}

/// What a clause was about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The finding of that id.
    Finding(String),
    /// The gap of that id.
    Gap(String),
    /// Nothing that has an id: findings that were only counted, or the whole. Written `"finding": null`.
    Unlisted,
}

impl Policy {
    /// Decides over a case. Every case gets an answer; what no clause speaks of gets `otherwise`.
    ///
    /// Gaps of a limit, of a timeout and of a dead worker are never answered below `review`. For an audience that the
    /// policy does not know everything is blocked ([`Policy::audience`] tells before). Without `now`, exceptions that
    /// end do not count.
    pub fn decide(&self, case: &Case, audiences: &[Audience], now: Option<Date>) -> Decided {
        let tree = Tree::of(case);
        let excepted = self.excepted(case, &tree, now);
        let audiences: Vec<ForAudience> = audiences
            .iter()
            .map(|audience| match self.settings(audience) {
                None => ForAudience::unknown(case, audience),
                Some(settings) => {
                    let mut judged = self.judge(case, &tree, &excepted, audience, settings);
                    let answer = gather(case, &tree, &judged, audience, settings);
                    match &case.by_person {
                        Some(Override::Approved(approval))
                            if answer.decision == Decision::Review && approval.is_for(audience) =>
                        {
                            approval.lift(case, &mut judged);
                            gather(case, &tree, &judged, audience, settings)
                        }
                        Some(Override::Rejected) => answer.rejected(),
                        Some(Override::Approved(_)) | None => answer,
                    }
                }
            })
            .map(|answer| if self.enforced { answer } else { answer.reported_only() })
            .collect();
        Decided {
            decision: audiences.iter().map(|audience| audience.decision).max().unwrap_or(Decision::Block),
            enforced: self.enforced,
            uses_date: self.uses_date(),
            audiences,
        }
    }

    /// For each finding, whether an exception takes it out.
    fn excepted(&self, case: &Case, tree: &Tree<'_>, now: Option<Date>) -> Vec<bool> {
        let exceptions: Vec<_> = self.exceptions.iter().filter(|exception| exception.holds_on(now)).collect();
        case.findings
            .iter()
            .map(|finding| {
                let at = tree.find(finding.artifact);
                exceptions.iter().any(|exception| exception.covers(finding, tree.digests(at)))
            })
            .collect()
    }

    /// The answer to each finding, each gap, and to what was not seen, in this order.
    fn judge(
        &self,
        case: &Case,
        tree: &Tree<'_>,
        excepted: &[bool],
        audience: &Audience,
        settings: &AudienceSettings,
    ) -> Vec<Judged<'_>> {
        let like = settings.like.as_ref();
        let clauses: Vec<&Clause> = self.clauses.iter().filter(|clause| clause.is_for(audience, like)).collect();
        let findings = case.findings.iter().zip(excepted).map(|(finding, excepted)| match excepted {
            true => Judged::excepted(finding, tree),
            false => self.judge_finding(&clauses, finding, tree),
        });
        let gaps = case.gaps.iter().map(|gap| self.judge_gap(&clauses, gap, tree));
        let unseen = (!case.complete).then_some(Judged {
            at: None,
            cause: Cause::Unlisted,
            decision: self.incomplete,
            withhold: false,
            clause: INCOMPLETE,
        });
        findings.chain(gaps).chain(unseen).collect()
    }

    fn judge_finding<'a>(&self, clauses: &[&'a Clause], finding: &CaseFinding, tree: &Tree<'_>) -> Judged<'a> {
        let at = tree.find(finding.artifact);
        let clause = clauses.iter().copied().find(|clause| clause.fits_finding(finding, tree.host(at)));
        let cause = if finding.id.is_empty() { Cause::Unlisted } else { Cause::Finding(finding.id.clone()) };
        self.judged(clause, at, cause)
    }

    fn judge_gap<'a>(&self, clauses: &[&'a Clause], gap: &CaseGap, tree: &Tree<'_>) -> Judged<'a> {
        let at = tree.find(gap.artifact);
        let clause = clauses.iter().copied().find(|clause| clause.fits_gap(&gap.reason, tree.host(at)));
        let judged = self.judged(clause, at, Cause::Gap(gap.id.clone()));
        if judged.decision < Decision::Review && is_floored(&gap.reason) {
            return Judged { decision: Decision::Review, clause: FLOOR, ..judged };
        }
        judged
    }

    fn judged<'a>(&self, clause: Option<&'a Clause>, at: Option<usize>, cause: Cause) -> Judged<'a> {
        match clause {
            Some(clause) => {
                Judged { at, cause, decision: clause.then, withhold: clause.withhold, clause: &clause.name }
            }
            None => Judged { at, cause, decision: self.otherwise, withhold: false, clause: OTHERWISE },
        }
    }
}

impl ForAudience {
    /// For an audience of which the policy says nothing: nothing leaves.
    fn unknown(case: &Case, audience: &Audience) -> Self {
        Self {
            audience: audience.clone(),
            decision: BLOCKED.decision,
            deliver: BLOCKED.deliver,
            would_be: None,
            because: vec![Because { clause: UNKNOWN_AUDIENCE.to_owned(), cause: Cause::Unlisted }],
            artifacts: vec![BLOCKED; case.artifacts.len()],
            findings: vec![BLOCKED.decision; case.findings.len()],
            gaps: vec![BLOCKED.decision; case.gaps.len()],
        }
    }

    /// The same answer to everything.
    fn all(self, answer: Answer) -> Self {
        Self {
            decision: answer.decision,
            deliver: answer.deliver,
            artifacts: vec![answer; self.artifacts.len()],
            findings: vec![answer.decision; self.findings.len()],
            gaps: vec![answer.decision; self.gaps.len()],
            ..self
        }
    }

    /// The same, when a person rejected it.
    fn rejected(mut self) -> Self {
        self.because.insert(0, rejected());
        self.because.truncate(REASONS);
        self.all(BLOCKED)
    }

    /// The same, when the policy only reports.
    fn reported_only(self) -> Self {
        let would_be = Some(self.decision);
        Self { would_be, ..self.all(Answer { decision: Decision::Allow, deliver: Deliver::Original }) }
    }
}

/// Gathers the judged: upwards to what they are inside of, and over the whole.
fn gather(
    case: &Case,
    tree: &Tree<'_>,
    judged: &[Judged<'_>],
    audience: &Audience,
    settings: &AudienceSettings,
) -> ForAudience {
    let mut whole = Sum::default();
    let mut sums = vec![Sum::default(); case.artifacts.len()];
    for (nth, one) in judged.iter().enumerate() {
        let sum = one.at.and_then(|at| sums.get_mut(at)).unwrap_or(&mut whole);
        sum.take(Sum { decision: one.decision, withheld: one.withhold, first: Some(nth) });
    }
    let mut unclean: Vec<usize> = Vec::new();
    unclean.extend(whole.first.filter(|_| whole.decision == Decision::Sanitize && !case.cleanable));
    let own = whole.deliver(case.cleanable);

    // What is served as a file may be opaque; what is shown in place may not, nor what the policy does not show there.
    let as_file = [Some(audience), settings.like.as_ref()].contains(&Some(&Audience::DOWNLOAD));
    let is_held = |artifact: &CaseArtifact| {
        (artifact.opaque && !as_file) || !settings.may_inline(&artifact.label, &artifact.mime)
    };
    let mut held = false;
    let mut roots: Vec<Deliver> = Vec::new();
    let mut answers: Vec<Answer> = Vec::with_capacity(sums.len());
    // A parent comes before what is inside it: backwards, each is complete when its turn comes.
    for (at, artifact) in case.artifacts.iter().enumerate().rev() {
        let mut sum = sums.get(at).copied().unwrap_or_default();
        if is_held(artifact) {
            sum.withheld = true;
            held = true;
        }
        let deliver = sum.deliver(artifact.cleanable);
        unclean.extend(sum.first.filter(|_| sum.decision == Decision::Sanitize && !artifact.cleanable));
        let parent = tree.parent(at).and_then(|parent| sums.get_mut(parent));
        if parent.is_none() {
            roots.push(deliver);
        }
        parent.unwrap_or(&mut whole).take(Sum { withheld: deliver == Deliver::Nothing, ..sum });
        answers.push(Answer { decision: sum.decision, deliver });
    }
    answers.reverse();

    let deliver = match own {
        _ if whole.decision >= Decision::Review => Deliver::Nothing,
        Deliver::Nothing => Deliver::Nothing,
        _ if !roots.is_empty() && roots.iter().all(|root| *root == Deliver::Nothing) => Deliver::Nothing,
        // What is to be cleaned may stand in no artifact, but in the envelope itself.
        Deliver::Original if roots.iter().all(|root| *root == Deliver::Original) => Deliver::Original,
        _ => Deliver::Release,
    };
    // Findings come first, then gaps.
    let mut decisions = judged.iter().map(|one| one.decision);
    let findings = decisions.by_ref().take(case.findings.len()).collect();
    let gaps = decisions.take(case.gaps.len()).collect();
    ForAudience {
        audience: audience.clone(),
        decision: whole.decision,
        deliver,
        would_be: None,
        because: because(judged, &unclean, held),
        artifacts: answers,
        findings,
        gaps,
    }
}

/// Whether a gap of that reason may never be answered below `review`: what was not seen there could be anything.
pub(super) fn is_floored(reason: &str) -> bool {
    matches!(reason, "worker_died" | "timeout") || reason.starts_with("limit:")
}

/// The answer to one finding or gap.
#[derive(Clone, Debug)]
pub(super) struct Judged<'a> {
    /// Position of its artifact in the case; `None` for the whole.
    at: Option<usize>,
    cause: Cause,
    pub(super) decision: Decision,
    withhold: bool,
    pub(super) clause: &'a str,
}

impl Judged<'_> {
    /// A finding that an exception of the policy takes out.
    fn excepted(finding: &CaseFinding, tree: &Tree<'_>) -> Self {
        Judged {
            at: tree.find(finding.artifact),
            cause: Cause::Unlisted,
            decision: Decision::Allow,
            withhold: false,
            clause: "",
        }
    }
}

/// The worst of several answers.
#[derive(Clone, Copy, Debug)]
struct Sum {
    decision: Decision,
    withheld: bool,
    /// The first of the judged that has this decision.
    first: Option<usize>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { decision: Decision::Allow, withheld: false, first: None }
    }
}

impl Sum {
    fn take(&mut self, other: Self) {
        self.withheld |= other.withheld;
        if other.decision > self.decision {
            (self.decision, self.first) = (other.decision, other.first);
        } else if other.decision == self.decision {
            self.first = [self.first, other.first].into_iter().flatten().min();
        }
    }

    fn deliver(self, cleanable: bool) -> Deliver {
        match self.decision {
            _ if self.withheld => Deliver::Nothing,
            Decision::Allow => Deliver::Original,
            Decision::Sanitize if cleanable => Deliver::Release,
            Decision::Sanitize | Decision::Review | Decision::Block => Deliver::Nothing,
        }
    }
}

/// The reasons worth telling: what is above `allow`, held back or approved, worst first, each clause once before any twice.
fn because(judged: &[Judged<'_>], unclean: &[usize], held: bool) -> Vec<Because> {
    let told = judged.iter().filter(|one| one.decision > Decision::Allow || one.withhold || one.clause == APPROVED);
    let told = told.map(|one| (one.decision, one.clause, &one.cause));
    // `unclean` was gathered backwards.
    let unclean = unclean.iter().rev().filter_map(|nth| judged.get(*nth));
    let unclean = unclean.map(|one| (Decision::Sanitize, NO_CLEANER, &one.cause));

    let mut seen = BTreeSet::new();
    let mut times: BTreeMap<(Decision, &str), usize> = BTreeMap::new();
    let mut reasons: Vec<_> = told
        .chain(unclean)
        .filter(|(_, clause, cause)| seen.insert((*clause, *cause)))
        .map(|(decision, clause, cause)| {
            let nth = times.entry((decision, clause)).or_default();
            *nth = nth.saturating_add(1);
            (Reverse(decision), *nth, clause, cause)
        })
        .collect();
    reasons.sort_by_key(|(decision, nth, ..)| (*decision, *nth));
    reasons
        .into_iter()
        .map(|(_, _, clause, cause)| Because { clause: clause.to_owned(), cause: cause.clone() })
        .chain(held.then(|| Because { clause: INLINE.to_owned(), cause: Cause::Unlisted }))
        .take(REASONS)
        .collect()
}
