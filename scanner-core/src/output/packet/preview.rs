//! The beginning of the texts that would leave, without the secrets in them. A text is read again for that, as it would
//! leave: where that tells of more secrets than it can place, nothing is shown.

use std::fmt::Write;

use bytes::Bytes;

use super::{escaped, push_escaped};
use crate::{
    bundle::ArtifactId,
    finding::{Excerpt, Secret, sha256_hex},
    policy::Audience,
    scan::{ArtifactRecord, Input},
    verdict::{Delivery, Verdict},
};

/// Bytes of a text that are shown.
const SHOWN: usize = 4 << 10;
/// Bytes that are read for that, so that what begins in the shown part is seen to its end: the longest secrets are
/// private keys of some 12 KiB.
const READ: usize = 64 << 10;
/// Different texts shown on one page.
const TEXTS: usize = 8;

/// What was shown before, so that what leaves alike for several audiences stands on the page once.
#[derive(Debug, Default)]
pub(super) struct Previews {
    /// Artifact, digest of what leaves of it, and the audience under which it stands.
    shown: Vec<(ArtifactId, String, String)>,
    left_out: bool,
}

impl Previews {
    /// Shows the texts that would leave for an audience.
    pub(super) fn of(&mut self, out: &mut String, verdict: &Verdict, audience: &Audience) {
        for record in verdict.report().artifacts.iter().filter(|record| record.parent.is_none() && record.kind.is_text)
        {
            let (bytes, state) = match verdict.delivery(audience, record.id) {
                Delivery::Original(bytes) => (bytes, "as it came"),
                Delivery::Release(bytes, _) => (bytes, "cleaned"),
                Delivery::Nothing(_) => continue,
            };
            self.one(out, verdict, audience, record, &bytes, state);
        }
    }

    fn one(
        &mut self,
        out: &mut String,
        verdict: &Verdict,
        audience: &Audience,
        record: &ArtifactRecord,
        bytes: &Bytes,
        state: &str,
    ) {
        let digest = sha256_hex(bytes);
        let title = format!("{} {}, {state}, {} bytes", record.id, escaped(&record.path), bytes.len());
        if let Some((_, _, first)) = self.shown.iter().find(|(id, shown, _)| *id == record.id && *shown == digest) {
            let _ = writeln!(out, "<p>{title}: the same as for {}.</p>", escaped(first));
            return;
        }
        if self.shown.len() >= TEXTS {
            if !std::mem::replace(&mut self.left_out, true) {
                let _ = writeln!(out, "<p>More texts would leave than are shown here.</p>");
            }
            return;
        }
        self.shown.push((record.id, digest, audience.name().to_owned()));
        match preview(verdict, record, bytes) {
            Some(text) => {
                let _ = writeln!(out, "<p>{title}, beginning:</p>\n<pre>{}</pre>", lines(text.as_str()));
            }
            None => {
                let _ = writeln!(out, "<p>{title}: not shown, there may be secrets in it.</p>");
            }
        }
    }
}

/// The beginning of a text with every secret masked; `None` when not all of them can be told.
fn preview(verdict: &Verdict, record: &ArtifactRecord, bytes: &Bytes) -> Option<Excerpt> {
    let report = verdict.report();
    let read = bytes.slice(..bytes.len().min(READ));
    let mut input = match record.origin.is_text() {
        true => Input::text(read.clone()),
        false => Input::file("", read.clone()),
    };
    input.watch.clone_from(&report.input.watch);
    let again = report.scanner.scan(input);
    let is_hidden = |category: &str| category.starts_with("secret.") || category.starts_with("pii.");
    // Counted means that there were more than are told; a limit, that not all was read.
    let is_whole = again.counted.iter().all(|tally| !is_hidden(&tally.category)) && again.gaps.is_empty();
    let mut secrets = Vec::new();
    for finding in again.findings.iter().filter(|finding| is_hidden(&finding.rule.category)) {
        let span = finding.span.filter(|_| finding.artifact == Some(ArtifactId(0)))?;
        let range = usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?;
        secrets.push(Secret { range, public_prefix: 0 });
    }
    is_whole.then(|| Excerpt::beginning(&read, SHOWN, &secrets))
}

/// Text that is visible already, as part of a page, its lines kept.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| push_escaped(&mut out, character));
    out
}
