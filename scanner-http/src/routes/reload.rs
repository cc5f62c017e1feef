//! `POST /reload` on the admin listener: rules and policies are read again, as on SIGHUP, and what is wrong is answered.

use std::sync::Arc;

use axum::{
    extract::{Request, State as Shared},
    http::header,
    response::Response,
};
use serde::Serialize;

use crate::{
    error::{ApiError, Code},
    routes::json,
    state::State,
};

#[derive(Serialize)]
struct ReloadV1<'a> {
    schema: &'static str,
    /// Digest of the rules in force.
    rules: &'a str,
    /// Whether anything is different from before.
    changed: bool,
}

pub(crate) async fn reload(Shared(state): Shared<Arc<State>>, request: Request) -> Result<Response, ApiError> {
    // A page that somebody on this machine looks at could send it, too.
    if request.headers().contains_key(header::ORIGIN) {
        return Err(ApiError::new(Code::ForbiddenOrigin, "a web page may not do this"));
    }
    let read = tokio::task::spawn_blocking(move || state.reload()).await;
    match read.map_err(|error| ApiError::internal(error.to_string()))? {
        Ok((rules, changed)) => json(&ReloadV1 { schema: "scanner.reload/v1", rules: &rules, changed }),
        Err(error) => Err(ApiError::bad(format!("nothing was changed: {error}"))),
    }
}
