//! What a caller is told when there is no verdict (CONTRACT §2), and what the log says about it.

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
};

/// Why there is no verdict. The word is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request is not one that can be understood.
    BadRequest,
    /// No token, or none that is known.
    Unauthorized,
    /// A policy that the token may not ask for.
    ForbiddenPolicy,
    /// A web page of somebody else sent it.
    ForbiddenOrigin,
    /// No such route.
    NotFound,
    /// The route is there, the method is not.
    MethodNotAllowed,
    /// The body stalled, or came too slowly.
    SlowBody,
    /// The input is larger than one scan takes.
    TooLarge,
    /// The body is compressed.
    EncodedBody,
    /// No release can be made.
    NotReleasable,
    /// Not what `as` says it is.
    NotAnEnvelope,
    /// More requests than the token may send.
    Rate,
    /// Something here is broken.
    Internal,
    /// As many scans as fit are under way.
    Overloaded,
    /// A body could not be kept.
    NoSpace,
}

impl Code {
    /// All.
    pub const ALL: [Self; 15] = [
        Self::BadRequest,
        Self::Unauthorized,
        Self::ForbiddenPolicy,
        Self::ForbiddenOrigin,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::SlowBody,
        Self::TooLarge,
        Self::EncodedBody,
        Self::NotReleasable,
        Self::NotAnEnvelope,
        Self::Rate,
        Self::Internal,
        Self::Overloaded,
        Self::NoSpace,
    ];

    /// The word, the status, and the same in words.
    const fn entry(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Self::BadRequest => ("bad_request", StatusCode::BAD_REQUEST, "The request cannot be understood"),
            Self::Unauthorized => ("unauthorized", StatusCode::UNAUTHORIZED, "A bearer token is needed"),
            Self::ForbiddenPolicy => ("forbidden_policy", StatusCode::FORBIDDEN, "The policy may not be asked for"),
            Self::ForbiddenOrigin => ("forbidden_origin", StatusCode::FORBIDDEN, "Another site's page sent this"),
            Self::NotFound => ("not_found", StatusCode::NOT_FOUND, "No such route"),
            Self::MethodNotAllowed => ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED, "Not with this method"),
            Self::SlowBody => ("slow_body", StatusCode::REQUEST_TIMEOUT, "The body came too slowly"),
            Self::TooLarge => ("too_large", StatusCode::PAYLOAD_TOO_LARGE, "The input is too large"),
            Self::EncodedBody => ("encoded_body", StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body is compressed"),
            Self::NotReleasable => ("not_releasable", StatusCode::UNPROCESSABLE_ENTITY, "Nothing may leave"),
            Self::NotAnEnvelope => ("not_an_envelope", StatusCode::UNPROCESSABLE_ENTITY, "Not what it was said to be"),
            Self::Rate => ("rate", StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
            Self::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR, "Something is broken here"),
            Self::Overloaded => ("overloaded", StatusCode::SERVICE_UNAVAILABLE, "Too much work at once"),
            Self::NoSpace => ("no_space", StatusCode::INSUFFICIENT_STORAGE, "The body could not be kept"),
        }
    }

    /// The stable word.
    pub const fn name(self) -> &'static str {
        self.entry().0
    }

    /// The status it goes with.
    pub const fn status(self) -> StatusCode {
        self.entry().1
    }
}

/// An answer that is no verdict.
#[derive(Clone, Debug)]
pub struct ApiError {
    code: Code,
    /// For the caller. Never a byte of the input.
    outside: String,
    /// For the log only.
    inside: Option<String>,
    /// The verdict that says why nothing leaves: one line of JSON.
    verdict: Option<String>,
}

/// What the log says about an answer; travels with it.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) code: Code,
    pub(crate) inside: Option<String>,
}

impl ApiError {
    /// An error that says that to the caller.
    pub fn new(code: Code, outside: impl Into<String>) -> Self {
        Self { code, outside: outside.into(), inside: None, verdict: None }
    }

    /// The request cannot be understood, and why.
    pub(crate) fn bad(outside: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, outside)
    }

    /// Something is broken here; the caller learns no more than that.
    pub(crate) fn internal(inside: impl Into<String>) -> Self {
        Self::new(Code::Internal, "something is broken here: nothing was scanned").inside(inside)
    }

    /// The verdict that says why.
    pub(crate) fn with_verdict(mut self, verdict: String) -> Self {
        self.verdict = Some(verdict);
        self
    }

    /// What the log says, and the caller does not.
    pub(crate) fn inside(mut self, inside: impl Into<String>) -> Self {
        self.inside = Some(inside.into());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        let (code, status, title) = self.code.entry();
        let problem = serde_json::json!({
            "type": "about:blank",
            "title": title,
            "status": status.as_u16(),
            "code": code,
            "detail": self.outside,
        });
        let mut text = problem.to_string();
        if let Some(verdict) = self.verdict {
            // The verdict is passed on as it is, as one more member.
            text.truncate(text.len().saturating_sub(1));
            text.push_str(&format!(",\"verdict\":{verdict}}}"));
        }
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self.code {
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"scanner\""));
            }
            Code::Overloaded | Code::Rate | Code::NoSpace => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response.extensions_mut().insert(Noted { code: self.code, inside: self.inside });
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique() {
        for (position, code) in Code::ALL.into_iter().enumerate() {
            assert!(Code::ALL.iter().skip(position + 1).all(|other| other.name() != code.name()));
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }
}
