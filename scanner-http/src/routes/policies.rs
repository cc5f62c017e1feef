//! `GET /v1/policies`: the policies the caller may ask for.

use std::sync::Arc;

use axum::{
    extract::{Request, State as Shared},
    response::Response,
};
use serde::Serialize;

use crate::{error::ApiError, routes::json, state::State};

#[derive(Serialize)]
struct PoliciesV1<'a> {
    schema: &'static str,
    /// The one of requests that name none.
    default: &'a str,
    policies: Vec<PolicyV1<'a>>,
}

#[derive(Serialize)]
struct PolicyV1<'a> {
    name: &'a str,
    /// As `scanner.policy.digest` in verdicts.
    digest: &'a str,
    enforced: bool,
    audiences: Vec<&'a str>,
}

pub(crate) async fn policies(Shared(state): Shared<Arc<State>>, request: Request) -> Result<Response, ApiError> {
    let loaded = state.loaded();
    let caller = loaded.callers.of(request.headers())?;
    let known = caller.policies().iter().filter_map(|name| loaded.policies.named(name));
    json(&PoliciesV1 {
        schema: "scanner.policies/v1",
        default: caller.policy(None)?,
        policies: known
            .map(|policy| PolicyV1 {
                name: policy.name(),
                digest: policy.digest(),
                enforced: policy.enforced(),
                audiences: policy.audiences().map(|(audience, _)| audience.name()).collect(),
            })
            .collect(),
    })
}
