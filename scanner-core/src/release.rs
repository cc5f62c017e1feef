//! The release: the safe version of an input for one audience. What the policy wants gone is taken out where it stands,
//! files are cleaned by their formats, and the outcome is scanned again under the same policy: only what comes back as
//! `allow` is released. So cleaning twice changes nothing: what is released is what is allowed.

use std::{cell::RefCell, collections::BTreeMap};

use bytes::Bytes;

use crate::{
    bundle::ArtifactId,
    finding::sha256_hex,
    format::cleaning::Uncleanable,
    limits::Budget,
    policy::{Audience, AudienceSettings, Case, Date, Decided, Decision, Override, Policy},
    scan::{Input, Report, Scanner},
};

mod done;
mod headers;
mod looks;
mod place;
mod round;
mod stand_in;
mod terminal;
#[cfg(test)]
mod tests;
mod wash;
mod words;

pub use headers::{Served, safe_name, serving_headers};

use done::{Done, Roots};
pub(crate) use looks::Looks;
use words::Ledger;

/// Rounds of cleaning and looking again. Each takes out what the last one laid bare, and of a flood as much as a scan
/// tells: 64 of each rule in each text.
const ROUNDS: usize = 8;

/// How an audience is shown what it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Page,
    Terminal,
    Model,
    Download,
}

impl Shown {
    /// An audience of the policy's own is shown as the one it is like, and as a page when it is like none: that is the
    /// strictest.
    fn of(audience: &Audience, settings: Option<&AudienceSettings>) -> Self {
        let known = |audience: &Audience| match audience {
            audience if *audience == Audience::PAGE => Some(Self::Page),
            audience if *audience == Audience::TERMINAL => Some(Self::Terminal),
            audience if *audience == Audience::MODEL => Some(Self::Model),
            audience if *audience == Audience::DOWNLOAD => Some(Self::Download),
            _ => None,
        };
        known(audience).or_else(|| known(settings?.like.as_ref()?)).unwrap_or(Self::Page)
    }
}

/// What was done to one artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// Where it stands: the path of the artifact in the input as it came.
    pub artifact: Option<ArtifactId>,
    /// What, in fixed words.
    pub action: &'static str,
    /// How often.
    pub count: u64,
}

/// The safe version of an input for one audience, proven by a scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Released {
    /// The input in its own shape, cleaned.
    pub bytes: Bytes,
    /// SHA-256 of these bytes, lower-case hexadecimal.
    pub sha256: String,
    /// What was done.
    pub actions: Vec<Action>,
    /// The cleaned bytes of each outermost artifact that changed; `None` where something else stands in its place.
    pub(crate) artifacts: BTreeMap<ArtifactId, Option<Bytes>>,
    /// Scans it took; the last one allowed it.
    pub scans: u64,
}

/// Who makes a release: the scanner, the policy, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker<'a> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) policy: &'a Policy,
    pub(crate) audience: &'a Audience,
    pub(crate) now: Option<Date>,
    pub(crate) by_person: Option<&'a Override>,
    pub(crate) looks: &'a RefCell<Looks>,
}

/// What came of trying.
type Tried = Result<Option<Released>, Uncleanable>;

impl Maker<'_> {
    /// The safe version of what was scanned; `None` when it is safe as it is.
    pub(crate) fn release(&self, report: &Report, input: &Input) -> Tried {
        let mut work =
            Work { maker: *self, ledger: Ledger::default(), budget: Budget::new(*self.scanner.limits()), depth: 0 };
        work.release(Some(report.clone()), input.clone())
    }

    fn decide(&self, report: &Report) -> Decided {
        let case = Case { by_person: self.by_person.cloned(), ..Case::of(report, |_| true) };
        self.policy.decide(&case, std::slice::from_ref(self.audience), self.now)
    }

    fn shown(&self) -> Shown {
        Shown::of(self.audience, self.policy.settings(self.audience))
    }
}

/// A release while it is made.
#[derive(Debug)]
struct Work<'a> {
    maker: Maker<'a>,
    ledger: Ledger,
    budget: Budget,
    depth: u8,
}

impl Work<'_> {
    fn release(&mut self, first: Option<Report>, input: Input) -> Tried {
        let mut current = input;
        let mut next = first;
        let mut done = Done::default();
        let mut roots = Roots::new();
        let mut scans = 0u64;
        for round in 0..ROUNDS {
            let report = match next.take() {
                Some(report) => report,
                None => {
                    scans = scans.saturating_add(1);
                    self.look(&current)?
                }
            };
            if round == 0 {
                roots = done::roots(&report);
            }
            let decided = self.maker.decide(&report);
            let changes = match decided.decision {
                Decision::Allow => {
                    let changes = self.finish(&report, &decided, round)?;
                    if !changes.any {
                        return Ok((round > 0).then(|| Released {
                            sha256: sha256_hex(&current.bytes),
                            bytes: current.bytes,
                            actions: done.actions(&roots),
                            artifacts: done.artifacts(&roots, &report),
                            scans,
                        }));
                    }
                    changes
                }
                Decision::Sanitize => {
                    let changes = self.round(&report, &decided, round, &current)?;
                    if !changes.any {
                        return Err("nothing here can take out what was found".into());
                    }
                    changes
                }
                Decision::Review | Decision::Block => {
                    let why = decided.audiences.first().and_then(|answer| answer.because.first());
                    let why = why.map_or("", |because| because.clause.as_str());
                    let what = if round == 0 { "the whole" } else { "what came of cleaning" };
                    let decision = decided.decision.name();
                    return Err(Uncleanable(format!("{what} is {decision} (clause {why})").into()));
                }
            };
            done.note(&changes);
            current = changes.apply(current, &mut self.budget)?;
        }
        Err("something is left after every round of cleaning".into())
    }

    /// Scans an input again, with every secret that was taken out on the watch list.
    fn look(&self, input: &Input) -> Result<Report, Uncleanable> {
        let mut input = input.clone();
        input.watch.extend(self.ledger.sought().cloned());
        let looked = self.maker.looks.borrow_mut().look(self.maker.scanner, &input);
        looked.ok_or_else(|| "it is too large to be scanned again after cleaning".into())
    }
}
