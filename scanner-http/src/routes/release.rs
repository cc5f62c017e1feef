//! `POST /v1/release`: an input in, its safe version out, with the headers to serve it with. And the same beside a
//! verdict, for `POST /v1/scan?release=AUDIENCE`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State as Shared},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};
use scanner_core::{Decision, sha256_hex};
use scanner_worker::Kept;

use super::scan::{Asked, Told, tell};
use crate::{
    error::{ApiError, Code},
    state::State,
};

pub(crate) async fn release(Shared(state): Shared<Arc<State>>, request: Request) -> Result<Response, ApiError> {
    let asked = Asked::of(request.uri().query().unwrap_or_default()).and_then(|mut asked| {
        match asked.audiences.as_slice() {
            [only] if asked.release.is_none() => asked.release = Some(only.clone()),
            _ => return Err(ApiError::bad("exactly one audience: what is safe for one may not be for another")),
        }
        Ok(asked)
    });
    let told = tell(&state, request, asked).await?;
    let Some(kept) = whole(&told) else {
        let outside = "nothing of it may leave for this audience: the verdict says why";
        return Err(ApiError::new(Code::NotReleasable, outside).with_verdict(told.answer.output));
    };
    let mut response = Response::new(Body::from(kept.bytes.clone()));
    serve_with(response.headers_mut(), &kept.headers)?;
    let headers = response.headers_mut();
    headers.insert("x-scan-decision", HeaderValue::from_static(told.answer.decision.map_or("none", Decision::name)));
    let receipt = HeaderValue::from_str(&sha256_hex(told.answer.receipt.as_bytes()));
    headers.insert("x-scan-receipt", receipt.map_err(|error| ApiError::internal(error.to_string()))?);
    response.extensions_mut().insert(told.scanned());
    Ok(response)
}

/// The safe version of the whole, where it may leave.
fn whole(told: &Told) -> Option<&Kept> {
    told.answer.releases.first()?.whole.as_ref()
}

/// Headers that came from a worker: only what a header may be.
fn serve_with(headers: &mut HeaderMap, given: &[(String, String)]) -> Result<(), ApiError> {
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| ApiError::internal(error.to_string()))?;
        let value = HeaderValue::from_str(value).map_err(|error| ApiError::internal(error.to_string()))?;
        headers.insert(name, value);
    }
    Ok(())
}

/// The verdict and, where it may leave, the safe version, as `multipart/mixed` (RFC 2046 §5.1.3).
pub(super) fn beside(told: Told, verdict: String) -> Result<Response, ApiError> {
    let boundary = boundary(&told, &verdict);
    let mut body = Vec::new();
    let mut part = |headers: &[(String, String)], bytes: &[u8]| {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        for (name, value) in headers {
            body.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        body.extend_from_slice(b"\r\n");
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    };
    part(&[("Content-Type".to_owned(), "application/json".to_owned())], verdict.as_bytes());
    if let Some(kept) = whole(&told) {
        // Checked as headers of a response are: no line of one may end early.
        serve_with(&mut HeaderMap::new(), &kept.headers)?;
        part(&kept.headers, &kept.bytes);
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    let mut response = Response::new(Body::from(body));
    let media_type = HeaderValue::from_str(&format!("multipart/mixed; boundary={boundary}"));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media_type.map_err(|error| ApiError::internal(error.to_string()))?);
    headers.insert("x-scan-decision", HeaderValue::from_static(told.answer.decision.map_or("none", Decision::name)));
    response.extensions_mut().insert(told.scanned());
    Ok(response)
}

/// A line that stands in no part: made from the receipt, which nobody knows before, and lengthened while it does.
fn boundary(told: &Told, verdict: &str) -> String {
    let mut boundary = format!("scanner-{}", sha256_hex(told.answer.receipt.as_bytes()).get(..40).unwrap_or_default());
    let stands = |boundary: &str| {
        let within = |bytes: &[u8]| bytes.windows(boundary.len()).any(|window| window == boundary.as_bytes());
        within(verdict.as_bytes()) || whole(told).is_some_and(|kept| within(&kept.bytes))
    };
    while stands(&boundary) && boundary.len() < 70 {
        boundary.push('x');
    }
    boundary
}
