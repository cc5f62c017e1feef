//! `GET /v1/rules`: what texts are read with and what formats are checked for.

use std::sync::Arc;

use axum::{
    extract::{Request, State as Shared},
    response::Response,
};
use scanner_core::{Rule, rules_in_code};
use serde::Serialize;

use crate::{error::ApiError, routes::json, state::State};

#[derive(Serialize)]
struct RulesV1<'a> {
    schema: &'static str,
    /// As `scanner.rules` in verdicts.
    digest: &'a str,
    rules: Vec<RuleV1<'a>>,
}

#[derive(Serialize)]
struct RuleV1<'a> {
    id: &'a str,
    title: &'a str,
    category: &'a str,
    severity: &'static str,
    confidence: &'static str,
    why: &'a str,
    remedy: &'a str,
}

pub(crate) async fn rules(Shared(state): Shared<Arc<State>>, request: Request) -> Result<Response, ApiError> {
    let loaded = state.loaded();
    loaded.callers.of(request.headers())?;
    let of = |rule: &Rule| (rule.severity.name(), rule.confidence.name());
    let coded: Vec<&Rule> = rules_in_code().collect();
    let mut rules: Vec<RuleV1<'_>> = loaded
        .rules
        .rules()
        .map(|text| &*text.rule)
        .chain(coded)
        .map(|rule| {
            let (severity, confidence) = of(rule);
            RuleV1 {
                id: &rule.id,
                title: &rule.title,
                category: &rule.category,
                severity,
                confidence,
                why: &rule.why,
                remedy: &rule.remedy,
            }
        })
        .collect();
    rules.sort_by_key(|rule| rule.id);
    json(&RulesV1 { schema: "scanner.rules/v1", digest: loaded.rules.digest(), rules })
}
