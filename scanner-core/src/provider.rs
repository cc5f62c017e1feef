//! Providers: one adapter, one file, one line in [`ALL`]. An adapter claims the fields it understands and makes the
//! bundle; whatever nobody claims is read as text.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{
    bundle::{Bundle, Status},
    envelope::{Attachment, Envelope, draft::Draft},
    finding::{Finding, Gap, Rule},
    json::Kind,
    limits::{Budget, Exhausted, Resource},
};

mod agentcore;
mod anthropic;
mod azure;
mod bedrock;
mod bundle;
mod daytona;
mod e2b;
mod gemini;
mod jupyter;
mod langchain;
mod mcp;
mod modal;
mod openai;
mod openai_agents;
mod pydantic_ai;
mod runner;
#[cfg(test)]
mod tests;
mod vercel_ai;
mod xai;

/// One system whose payloads are understood.
#[derive(Debug)]
pub(crate) struct Provider {
    /// Its name: what `--as` takes and `source.provider` says.
    pub(crate) name: &'static str,
    /// What its payloads look like, for the message that says an input is none: `expected …`.
    pub(crate) expected: &'static str,
    /// How sure the shape makes it.
    pub(crate) recognise: fn(&Envelope) -> Sure,
    /// Reads what it understands.
    pub(crate) adapt: fn(&Envelope, &mut Draft<'_>),
    /// What is read, for docs/providers.md.
    #[cfg_attr(not(test), expect(dead_code, reason = "the guide is made by a test"))]
    pub(crate) reads: &'static str,
    /// How the status of a call is derived, for docs/providers.md.
    #[cfg_attr(not(test), expect(dead_code, reason = "the guide is made by a test"))]
    pub(crate) status: &'static str,
    /// Its own signs of an error, for docs/providers.md: a release leaves them as they came.
    #[cfg_attr(not(test), expect(dead_code, reason = "the guide is made by a test"))]
    pub(crate) error: &'static str,
}

/// How sure an adapter is that an envelope is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// It is another's, or nobody's.
    No,
    /// Others send the same shape.
    Maybe,
    /// Nobody else sends that.
    Yes,
}

/// Every provider. Where several may have sent an envelope, the first makes the calls.
pub(crate) const ALL: &[&Provider] = &[
    &bundle::PROVIDER,
    &anthropic::PROVIDER,
    &openai::PROVIDER,
    &xai::PROVIDER,
    &gemini::PROVIDER,
    &e2b::PROVIDER,
    &daytona::PROVIDER,
    &modal::PROVIDER,
    &mcp::PROVIDER,
    &jupyter::PROVIDER,
    &agentcore::PROVIDER,
    &bedrock::PROVIDER,
    &azure::PROVIDER,
    &langchain::PROVIDER,
    &openai_agents::PROVIDER,
    &vercel_ai::PROVIDER,
    &pydantic_ai::PROVIDER,
    &runner::PROVIDER,
];

/// Every rule that an adapter has of its own.
pub(crate) const RULES: &[&Rule] = daytona::RULES;

/// What was made of an envelope.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The neutral form.
    pub(crate) bundle: Bundle,
    /// Whose it is; `None` when several may have sent it.
    pub(crate) provider: Option<&'static str>,
    /// Who may have sent it.
    pub(crate) candidates: Vec<&'static str>,
    /// What kind of payload it is.
    pub(crate) surface: Option<&'static str>,
    /// Found in the envelope itself. `place.pointer` says where.
    pub(crate) findings: Vec<Finding>,
    /// Not seen of the envelope itself.
    pub(crate) gaps: Vec<Gap>,
    /// Strings that must not appear anywhere, given by a bundle.
    pub(crate) watch: Vec<Bytes>,
    /// Bound into the receipt, given by a bundle.
    pub(crate) context: BTreeMap<String, String>,
}

/// What an input turned out to be.
#[derive(Debug)]
pub(crate) enum Adapted {
    /// An envelope.
    Envelope(Box<Taken>),
    /// Nothing any adapter knows: a file. Or so it seems, when the budget did not cover finding out.
    NotAnEnvelope(Result<(), Exhausted>),
    /// Not what the caller said it is.
    Wrong {
        /// What was expected and what is there, for the caller.
        message: String,
    },
}

/// The systems whose payloads are understood: the words that `--as` and `source.provider` know.
pub fn provider_names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|provider| provider.name)
}

/// The provider of that name.
pub(crate) fn named(name: &str) -> Option<&'static Provider> {
    ALL.iter().copied().find(|provider| provider.name == name)
}

/// Reads an input as an envelope: of the named provider, or of whoever its shape says.
pub(crate) fn adapt(input: &Bytes, hint: Option<&str>, attachments: &[Attachment], budget: &mut Budget) -> Adapted {
    let mut trial = budget.clone();
    let envelope = Envelope::take(input, &mut trial);
    let candidates = match (hint, &envelope) {
        (None, Some(envelope)) => recognise(envelope),
        (None, None) => Vec::new(),
        (Some(name), _) => match (named(name), &envelope) {
            (Some(provider), Some(envelope)) if (provider.recognise)(envelope) > Sure::No => vec![provider],
            (Some(provider), _) => {
                let message = format!(
                    "not {} {name} envelope: expected {}, found {}. Try --as auto.",
                    article(name),
                    provider.expected,
                    found(input, envelope.as_ref())
                );
                return Adapted::Wrong { message };
            }
            (None, _) => return Adapted::Wrong { message: format!("no provider is called {name:?}. Try --as auto.") },
        },
    };
    // What finding out took stays spent. A limit met on the way is told: what nobody recognised in a part of the document
    // may be an envelope all the same, whose fields are then read as they are written.
    *budget = trial;
    let met = envelope.as_ref().and_then(Envelope::met);
    let (Some(envelope), Some((first, others))) = (envelope, candidates.split_first()) else {
        let steps = u64::try_from(input.len()).unwrap_or(u64::MAX).div_euclid(4).saturating_add(1);
        let price = budget.spend(Resource::Steps, steps);
        return Adapted::NotAnEnvelope(met.map_or(price, Err));
    };
    let mut draft = Draft::new(attachments, budget);
    (first.adapt)(&envelope, &mut draft);
    draft.settle();
    let mut readings = Vec::new();
    for other in others {
        let mut second = Draft::new(attachments, draft.budget);
        (other.adapt)(&envelope, &mut second);
        second.settle();
        readings.push((second.bundle, second.findings, second.gaps));
    }
    for (bundle, findings, gaps) in readings {
        merge(&mut draft, bundle, findings, gaps);
    }
    envelope.sweep(&mut draft);
    if envelope.cut {
        draft.overall(Status::Truncated);
    }
    Adapted::Envelope(Box::new(Taken {
        bundle: draft.bundle,
        provider: others.is_empty().then_some(first.name),
        candidates: candidates.iter().map(|provider| provider.name).collect(),
        surface: draft.surface,
        findings: draft.findings,
        gaps: draft.gaps,
        watch: draft.watch,
        context: draft.context,
    }))
}

/// Whoever is sure; else whoever may have sent it.
fn recognise(envelope: &Envelope) -> Vec<&'static Provider> {
    let answers: Vec<_> = ALL.iter().map(|provider| (*provider, (provider.recognise)(envelope))).collect();
    let best = answers.iter().map(|(_, sure)| *sure).max().unwrap_or(Sure::No);
    answers.into_iter().filter(|(_, sure)| *sure == best && best > Sure::No).map(|(provider, _)| provider).collect()
}

/// Adds what another candidate made of the same envelope: the worse status of each call, and what the first did not
/// see.
fn merge(draft: &mut Draft<'_>, bundle: Bundle, findings: Vec<Finding>, gaps: Vec<Gap>) {
    let first_calls = draft.bundle.calls.len();
    for (index, call) in bundle.calls.into_iter().enumerate() {
        if index < first_calls {
            draft.state(index, call.status, call.status_reason);
        } else {
            let made = draft.call(call.id.clone(), call.tool.as_deref());
            draft.state(made, call.status, call.status_reason);
        }
    }
    let calls = draft.bundle.calls.len();
    for mut artifact in bundle.artifacts {
        artifact.call = artifact.call.filter(|call| *call < calls);
        artifact.reference = None;
        draft.add(artifact);
    }
    for reference in bundle.references {
        let call = reference.call.filter(|call| *call < calls);
        draft.refer(reference.kind, reference.id, reference.name, reference.request, String::new(), call);
    }
    for finding in findings {
        if !draft.findings.iter().any(|known| known.rule.id == finding.rule.id && known.place == finding.place) {
            draft.findings.push(finding);
        }
    }
    for gap in gaps {
        if !draft.gaps.contains(&gap) {
            draft.gaps.push(gap);
        }
    }
    if let Some(status) = bundle.status {
        draft.overall(status);
    }
}

fn article(name: &str) -> &'static str {
    // x is read "ex".
    if name.starts_with(['a', 'e', 'i', 'o', 'x', 'm']) && !name.starts_with("mo") { "an" } else { "a" }
}

/// What stands there instead, in words.
fn found(input: &Bytes, envelope: Option<&Envelope>) -> String {
    let start = input.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else { return "nothing: the input is empty".to_owned() };
    let line = memchr::memchr_iter(b'\n', input.get(..start).unwrap_or_default()).count().saturating_add(1);
    let what = match envelope.and_then(Envelope::first) {
        Some((sheet, root)) if sheet.kind(root) == Kind::Object => "an object without them",
        Some((sheet, root)) => sheet.kind(root).with_article(),
        None => "no JSON",
    };
    format!("{what} at line {line}")
}
