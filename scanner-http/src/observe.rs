//! Around every request: an id, a log line without content, a count, and headers that are always the same.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State as Shared},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    body::Lingering,
    error::{ApiError, Noted},
    server::TwoLengths,
    state::State,
};

/// The header of request ids.
const REQUEST_ID: &str = "x-request-id";

/// What a handler tells the log about a scan; travels with the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) decision: &'static str,
    pub(crate) complete: bool,
    pub(crate) bytes: u64,
    pub(crate) tenant: Option<String>,
}

/// The id of a request, for its handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestId(pub(crate) String);

/// Ids for requests that bring none.
#[derive(Debug)]
pub(crate) struct Ids {
    process: u64,
    next: std::sync::atomic::AtomicU64,
}

impl Default for Ids {
    fn default() -> Self {
        use std::hash::{BuildHasher, Hasher, RandomState};
        // Random keys, from the system: different in each process, and nothing depends on more than that.
        Self { process: RandomState::new().build_hasher().finish(), next: 0.into() }
    }
}

impl Ids {
    fn make(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        HeaderValue::try_from(format!("{:016x}-{number:08x}", self.process)).unwrap_or(HeaderValue::from_static("none"))
    }

    /// The caller's own id where it is one, or a new one.
    fn of(&self, headers: &HeaderMap) -> HeaderValue {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@".contains(byte);
        let is_id = |value: &&HeaderValue| (1..=128).contains(&value.len()) && value.as_bytes().iter().all(plain);
        headers.get(REQUEST_ID).filter(is_id).cloned().unwrap_or_else(|| self.make())
    }
}

/// The layer around every route.
pub(crate) async fn observe(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = state.ids.of(request.headers());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = match request.method().as_str() {
        method @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH") => method.to_owned(),
        _ => "other".to_owned(),
    };
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(RequestId(id.to_str().unwrap_or_default().to_owned()));
    let body = Lingering::wrap(&parts.headers, body);
    let mut response = if parts.extensions.get::<TwoLengths>().is_some() {
        drop(body);
        ApiError::bad("Content-Length and Transfer-Encoding exclude each other: nothing was scanned").into_response()
    } else {
        next.run(Request::from_parts(parts, body)).await
    };
    let noted = response.extensions_mut().remove::<Noted>();
    let scanned = response.extensions_mut().remove::<Scanned>().unwrap_or_default();
    let status = response.status().as_u16();
    let code = noted.as_ref().map_or("", |noted| noted.code.name());
    state.metrics.request(&route, status, code);
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let id = id.to_str().unwrap_or_default();
    let inside = noted.and_then(|noted| noted.inside).map(|inside| scanner_core::visible(&inside));
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Scanned { decision, complete, bytes, tenant } = scanned;
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                request = id,
                method,
                route,
                status,
                code,
                decision,
                complete,
                bytes,
                milliseconds,
                tenant = tenant.as_deref(),
                inside = inside.as_deref(),
                "request"
            )
        };
    }
    if status >= 500 && status != 503 {
        line!(error)
    } else {
        line!(info)
    }
    response
}

/// A handler panicked.
pub(crate) fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    // What it said stays inside: it may quote input. The hook of the process has not printed it either.
    ApiError::internal("a handler panicked").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_when_they_are_plain() {
        let ids = Ids::default();
        let check = |given: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(given).unwrap());
            ids.of(&headers).as_bytes() == given
        };
        assert!(check(b"0190-ab.c:d"));
        assert!(!check(b"a b") && !check(b"") && !check(b"\"x\"") && !check(b"\xff") && !check(&[b'a'; 129]));
        assert_ne!(ids.make(), ids.make());
    }
}
