//! What a verdict says for one audience: the decision, why, and what may leave.

use serde::Serialize;

use crate::{
    policy::{Cause, ForAudience},
    verdict::{Release, Verdict},
};

#[derive(Serialize)]
pub(super) struct AudienceV1<'a> {
    decision: &'static str,
    deliver: &'static str,
    would_be: Option<&'static str>,
    because: Vec<BecauseV1<'a>>,
    release: Option<ReleaseV1<'a>>,
}

#[derive(Serialize)]
struct ReleaseV1<'a> {
    state: &'static str,
    sha256: Option<&'a str>,
    size: Option<usize>,
    actions: Vec<ActionV1>,
    /// Why nothing leaves.
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct ActionV1 {
    artifact: Option<String>,
    action: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct BecauseV1<'a> {
    clause: &'a str,
    finding: Option<&'a str>,
    gap: Option<&'a str>,
}

impl<'a> AudienceV1<'a> {
    pub(super) fn of(verdict: &'a Verdict, audience: &'a ForAudience) -> Self {
        Self {
            decision: audience.decision.name(),
            deliver: audience.deliver.name(),
            would_be: audience.would_be.map(|decision| decision.name()),
            because: audience
                .because
                .iter()
                .map(|because| {
                    let (finding, gap) = match &because.cause {
                        Cause::Finding(id) => (Some(id.as_str()), None),
                        Cause::Gap(id) => (None, Some(id.as_str())),
                        Cause::Unlisted => (None, None),
                    };
                    BecauseV1 { clause: &because.clause, finding, gap }
                })
                .collect(),
            release: verdict
                .release(&audience.audience)
                .map(|release| ReleaseV1::of(&release, &verdict.report().source.sha256)),
        }
    }
}

impl<'a> ReleaseV1<'a> {
    fn of(release: &Release<'a>, source: &'a str) -> Self {
        let state = release.state();
        match *release {
            Release::Unchanged(bytes) => {
                Self { state, sha256: Some(source), size: Some(bytes.len()), actions: Vec::new(), why: None }
            }
            Release::Cleaned(released) => Self {
                state,
                sha256: Some(&released.sha256),
                size: Some(released.bytes.len()),
                actions: released
                    .actions
                    .iter()
                    .map(|action| ActionV1 {
                        artifact: action.artifact.map(|id| id.to_string()),
                        action: action.action,
                        count: action.count,
                    })
                    .collect(),
                why: None,
            },
            Release::Withheld(why) => Self { state, sha256: None, size: None, actions: Vec::new(), why: Some(why) },
        }
    }
}
