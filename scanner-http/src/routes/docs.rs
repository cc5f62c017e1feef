//! `GET /docs`: one page, without anything from elsewhere. Drop a file, read the verdict, copy the call.

use std::sync::LazyLock;

use axum::{
    http::header,
    response::{Html, IntoResponse},
};
use data_encoding::BASE64;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("docs.html");

/// Only the very script and style of the page run, and they talk to nobody but this service.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |tag: &str| {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let inner = PAGE.split_once(&open).and_then(|(_, rest)| rest.split_once(&close)).map_or("", |(inner, _)| inner);
        BASE64.encode(&Sha256::digest(inner.as_bytes()))
    };
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash("script"),
        hash("style")
    )
});

pub(crate) async fn docs() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY.as_str()),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (headers, Html(PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_and_has_one_script_and_one_style() {
        for (what, count) in
            [("<script", 1), ("<style", 1), ("<link", 0), ("<img", 0), ("src=", 0), ("@import", 0), ("innerHTML", 0)]
        {
            assert_eq!(PAGE.matches(what).count(), count, "{what}");
        }
        assert!(!PAGE.contains(" style=") && !PAGE.contains(" onclick="), "inline code is not allowed by the policy");
        assert!(POLICY.contains("'sha256-"));
    }
}
