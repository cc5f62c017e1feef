//! `GET /v1/capabilities`: what this version understands and what one scan may spend.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{Request, State as Shared},
    response::Response,
};
use scanner_core::{Resource, provider_names};
use serde::Serialize;

use crate::{error::ApiError, routes::json, state::State};

#[derive(Serialize)]
struct CapabilitiesV1<'a> {
    schema: &'static str,
    version: &'static str,
    /// Digest of the rules, as `scanner.rules` in verdicts.
    rules: &'a str,
    /// The words of `as`.
    r#as: Vec<&'static str>,
    policies: &'a [String],
    /// Of the caller's own policy.
    audiences: Vec<&'a str>,
    limits: BTreeMap<&'static str, u64>,
    isolation: IsolationV1,
    /// Other engines that look at the same input.
    engines: Vec<&'static str>,
    multipart: MultipartV1,
    receipt: bool,
    release: bool,
    stream: bool,
}

/// What holds the workers. Null until the first one has started.
#[derive(Serialize)]
struct IsolationV1 {
    landlock: Option<&'static str>,
    seccomp: Option<bool>,
    strict: bool,
}

#[derive(Serialize)]
struct MultipartV1 {
    parts: [&'static str; 7],
    most_parts: usize,
    attached_bytes: u64,
}

pub(crate) async fn capabilities(Shared(state): Shared<Arc<State>>, request: Request) -> Result<Response, ApiError> {
    let loaded = state.loaded();
    let caller = loaded.callers.of(request.headers())?;
    let policy = loaded.policies.named(caller.policy(None)?);
    let isolation = state.pool.isolation().and_then(Result::ok);
    json(&CapabilitiesV1 {
        schema: "scanner.capabilities/v1",
        version: env!("CARGO_PKG_VERSION"),
        rules: loaded.rules.digest(),
        r#as: ["auto", "file", "text"].into_iter().chain(provider_names()).collect(),
        policies: caller.policies(),
        audiences: policy.iter().flat_map(|policy| policy.audiences()).map(|(audience, _)| audience.name()).collect(),
        limits: Resource::ALL.into_iter().map(|resource| (resource.name(), state.limits.get(resource))).collect(),
        isolation: IsolationV1 {
            landlock: isolation.map(|isolation| isolation.landlock.name()),
            seccomp: isolation.map(|isolation| isolation.seccomp),
            strict: state.config.workers.strict,
        },
        engines: state.engines(),
        multipart: MultipartV1 {
            parts: crate::parts::PARTS,
            most_parts: state.config.body.parts,
            attached_bytes: state.config.body.attached.0,
        },
        receipt: true,
        release: true,
        stream: false,
    })
}
