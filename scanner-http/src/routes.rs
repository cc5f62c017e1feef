//! The handlers: one file for each route, with the structs it answers with.

pub(crate) mod capabilities;
pub(crate) mod docs;
pub(crate) mod health;
pub(crate) mod openapi;
pub(crate) mod policies;
pub(crate) mod reload;
pub(crate) mod release;
pub(crate) mod rules;
pub(crate) mod scan;

use axum::{
    http::header,
    response::{IntoResponse, Response},
};

use crate::error::{ApiError, Code};

pub(crate) async fn not_found() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such route: see /openapi.json")
}

pub(crate) async fn method_not_allowed() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "the route is there, but not with this method: see /openapi.json")
}

/// A document.
fn json(document: &impl serde::Serialize) -> Result<Response, ApiError> {
    let text = serde_json::to_string(document).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}
