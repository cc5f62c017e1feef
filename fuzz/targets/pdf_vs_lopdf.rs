//! Two readers of one PDF: what `lopdf`, a lenient reader that repairs, finds in a document, the scanner must have found
//! too, or have said that the document is odd or was not seen to its end. A document that shows one thing to the scanner
//! and another to a reader is how filters are passed by.
#![no_main]

use std::sync::LazyLock;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use lopdf::{Document, LoadOptions, Object};
use scanner_core::{Input, Limits, Report, Resource, RuleSet, Scanner, Severity, pdf_pages};

static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::built_in(scanner_rules::FILES).unwrap());

fn limits() -> Limits {
    Limits::default().with(Resource::UnpackedBytes, 4 << 20).with(Resource::Steps, 5_000_000)
}

/// What makes a document act, by the categories that the scanner has for it.
#[derive(Debug, Default)]
struct Acts {
    script: bool,
    launch: bool,
    file: bool,
}

impl Acts {
    /// Of every object that the reader loaded, whether anything leads to it or not.
    fn of(document: &Document) -> Self {
        let mut acts = Self::default();
        let mut waiting: Vec<&Object> = document.objects.values().collect();
        while let Some(object) = waiting.pop() {
            let dict = match object {
                Object::Array(values) => {
                    waiting.extend(values);
                    continue;
                }
                Object::Dictionary(dict) => dict,
                Object::Stream(stream) => {
                    acts.file |= stream.dict.has_type(b"EmbeddedFile");
                    &stream.dict
                }
                _ => continue,
            };
            // A structure element has a kind of the same key, of its writer's choosing.
            let is_structure = dict.has(b"K") && dict.has(b"P") || dict.has_type(b"StructElem");
            let kind = dict.get_deref(b"S", document).and_then(Object::as_name).unwrap_or_default();
            acts.script |= kind == b"JavaScript" && !is_structure;
            acts.script |= dict.get_deref(b"JS", document).is_ok_and(|script| script.as_str().is_ok());
            acts.launch |= kind == b"Launch" && !is_structure;
            waiting.extend(dict.iter().map(|(_, value)| value));
        }
        acts
    }
}

/// Whether the report says itself that there may be more.
fn is_warned(report: &Report) -> bool {
    !report.gaps.is_empty()
        || report.findings.iter().any(|finding| {
            finding.severity >= Severity::Medium
                && ["malformed.", "bomb.", "type."].iter().any(|family| finding.rule.category.starts_with(family))
        })
}

fuzz_target!(|data: &[u8]| {
    // The first byte of every seed says how it is given to the whole scan.
    let Some((_, data)) = data.split_first() else { return };
    let options = LoadOptions { max_decompressed_size: Some(1 << 20), ..LoadOptions::default() };
    let Ok(theirs) = Document::load_mem_with_options(data, options) else { return };
    let report = Scanner::new(RULES.clone(), limits()).scan(Input::file("a.pdf", data.to_vec()));
    if report.artifacts[0].kind.label != "pdf" || is_warned(&report) {
        return;
    }
    let has = |category: &str| report.findings.iter().any(|finding| finding.rule.category == category);
    let acts = Acts::of(&theirs);
    assert!(!acts.script || has("script.pdf_js"), "{acts:?}");
    assert!(!acts.launch || has("exec.pdf_launch"), "{acts:?}");
    assert!(!acts.file || has("embed.file"), "{acts:?}");
    if let Some(pages) = pdf_pages(&Bytes::copy_from_slice(data), limits()) {
        assert_eq!(theirs.get_pages().len(), pages, "pages");
    }
});
