//! What makes a PDF act, as another reader sees it.

use bytes::Bytes;
use scanner_core::{Input, pdf_pages};

use crate::{is_warned, limits, scan, tells};

/// By the categories that the scanner has for it.
#[derive(Debug, Default)]
pub struct Acts {
    pub script: bool,
    pub launch: bool,
    pub file: bool,
}

/// Holds the scanner to having found as much as another reader did, unless it says itself that the document is odd or
/// was not seen to its end.
pub fn held_to(data: &[u8], acts: impl FnOnce() -> Acts, their_pages: impl FnOnce() -> usize) {
    let report = scan(&Input::file("a.pdf", data.to_vec()));
    if report.artifacts[0].kind.label != "pdf" || is_warned(&report) {
        return;
    }
    let acts = acts();
    assert!(!acts.script || tells(&report, "script.pdf_js"), "{acts:?}");
    assert!(!acts.launch || tells(&report, "exec.pdf_launch"), "{acts:?}");
    assert!(!acts.file || tells(&report, "embed.file"), "{acts:?}");
    if let Some(pages) = pdf_pages(&Bytes::copy_from_slice(data), limits()) {
        let theirs = their_pages();
        // A page more is a page looked at; one less is a page that somebody is shown and nobody looked at.
        assert!(theirs <= pages, "{theirs} pages, and {pages} here");
    }
}
