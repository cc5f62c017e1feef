//! What `scanner sniff` says of a file: for people, as a row of cells, as JSON.

use serde::Serialize;

use crate::{
    finding::visible,
    sniff::{Sniffed, declared_type, mismatch, sniff},
};

/// A line for people.
pub fn sniff_human(name: &str, bytes: &[u8]) -> String {
    let sniffed = sniff(bytes);
    let mut line =
        format!("{}: {}, {} ({})", visible(name), sniffed.kind.label, sniffed.kind.mime, sniffed.kind.risk.name());
    for second in &sniffed.also {
        line.push_str(&format!(", also {}", second.mime));
    }
    if mismatch(&sniffed, Some(name), None).is_some() {
        line.push_str(&format!(", but its name says {}", declared_type(name)));
    }
    line
}

/// Cells between tabs: path, label, mime, risk, second types (comma), browser type, declared type, mismatch (0/1).
/// Tabs, line ends and backslashes in the path are escaped.
pub fn sniff_tsv(name: &str, bytes: &[u8]) -> String {
    let sniffed = sniff(bytes);
    [
        name.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"),
        sniffed.kind.label.to_owned(),
        sniffed.kind.mime.to_owned(),
        sniffed.kind.risk.name().to_owned(),
        also(&sniffed).join(","),
        sniffed.browser.to_owned(),
        declared_type(name).to_owned(),
        u8::from(mismatch(&sniffed, Some(name), None).is_some()).to_string(),
    ]
    .join("\t")
}

/// One JSON document in a line.
pub fn sniff_json(name: &str, bytes: &[u8]) -> String {
    let sniffed = sniff(bytes);
    let row = SniffV1 {
        schema: "scanner.sniff/v1",
        path: name,
        r#type: sniffed.kind.label,
        mime: sniffed.kind.mime,
        risk: sniffed.kind.risk.name(),
        also: also(&sniffed),
        browser_type: sniffed.browser,
        declared: declared_type(name),
        mismatch: mismatch(&sniffed, Some(name), None).is_some(),
    };
    serde_json::to_string(&row).unwrap_or_default()
}

fn also(sniffed: &Sniffed) -> Vec<&'static str> {
    sniffed.also.iter().map(|kind| kind.mime).collect()
}

#[derive(Serialize)]
struct SniffV1<'a> {
    schema: &'static str,
    path: &'a str,
    r#type: &'static str,
    mime: &'static str,
    risk: &'static str,
    also: Vec<&'static str>,
    browser_type: &'static str,
    declared: &'a str,
    mismatch: bool,
}
