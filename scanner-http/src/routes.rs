//! The handlers: one file for each route, with the structs it answers with.

pub(crate) mod health;
pub(crate) mod scan;

use crate::error::{ApiError, Code};

pub(crate) async fn not_found() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such route: see /openapi.json")
}

pub(crate) async fn method_not_allowed() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "the route is there, but not with this method: see /openapi.json")
}
