//! Mail: header fields, parts and what is attached. One message, a mailbox of many, or a page saved as one.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use super::{
    embedded, html,
    markup::{purpose::is_shifting, rules as markup},
    path,
};
use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, text},
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod header;
#[cfg(test)]
mod tests;

use header::{Header, Transfer};

pub(crate) const FORMAT: Format = Format {
    name: "mail",
    labels: &["eml", "mbox", "mhtml"],
    inspect,
    clean: None,
    rules: &[&ATTACHMENT, &PROGRAM, &NESTED, &OPEN],
};

static ATTACHMENT: Rule = Rule::built_in(
    "mail/attachment",
    "embed.file",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A file attached to a mail",
        why: "It is opened with one click out of the mail, as the program of the reader opens it.",
        remedy: "Deliver the attachment as a file of its own, so that it is judged as one.",
    },
);

static PROGRAM: Rule = Rule::built_in(
    "mail/program",
    "embed.executable",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A program attached to a mail",
        why: "One click out of the mail runs it with all rights of the reader.",
        remedy: "Do not deliver it.",
    },
);

static NESTED: Rule = Rule::built_in(
    "mail/nesting",
    "bomb.recursion",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Parts within parts deeper than any mail",
        why: "Programs that follow the nesting run out of stack or time, or stop and pass on what they have not seen.",
        remedy: "Do not open the file.",
    },
);

static OPEN: Rule = Rule::built_in(
    "mail/open-part",
    "malformed.structure",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "Parts without their end",
        why: "The line that ends the parts is missing: the mail may be cut, and programs differ in what belongs to it.",
        remedy: "Nothing to do if the mail is read to its end.",
    },
);

/// Parts within parts that are followed.
const DEEPEST: usize = 24;
/// Bytes walked in one step.
const BYTES_PER_STEP: u64 = 2;
/// Attachments that are told one by one.
const LISTED: u64 = 100;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    if text::is_wide(subject.bytes) {
        return text::inspect(subject, out, budget);
    }
    let bytes = subject.bytes;
    budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP))?;
    let mut mail = Mail { bytes, message: 0, attached: 0, is_box: subject.kind.label == "mbox" };
    let mut result = Ok(());
    for range in messages(bytes, mail.is_box) {
        mail.message = mail.message.saturating_add(1);
        result = budget.spend(Resource::Entries, 1).map_err(Stop::from).and_then(|()| mail.read(range, out, budget));
        if result.is_err() {
            break;
        }
    }
    if let Some(more) = mail.attached.checked_sub(LISTED).filter(|more| *more > 0) {
        out.find(Finding::built_in(&ATTACHMENT).message(format!("{more} more attached files")));
    }
    result
}

/// The messages of a box: each behind a line that begins `From `, after a blank line. Otherwise the whole.
fn messages(bytes: &[u8], is_box: bool) -> Vec<Range<usize>> {
    if !is_box {
        return std::iter::once(0..bytes.len()).collect();
    }
    let mut starts: Vec<usize> = bytes.starts_with(b"From ").then_some(0).into_iter().collect();
    starts.extend(memmem::find_iter(bytes, b"\n\nFrom ").map(|at| at.saturating_add(2)));
    starts.extend(memmem::find_iter(bytes, b"\n\r\nFrom ").map(|at| at.saturating_add(3)));
    starts.sort_unstable();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// One part that waits.
struct Part {
    range: Range<usize>,
    depth: usize,
    /// What a part is that does not say so: a message in a digest.
    is_digest: bool,
}

/// The file while it is read.
struct Mail<'a> {
    bytes: &'a Bytes,
    message: u64,
    attached: u64,
    is_box: bool,
}

impl Mail<'_> {
    fn read(&mut self, message: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut waiting = vec![Part { range: message, depth: 0, is_digest: false }];
        let mut number = 0_u64;
        let mut is_deep = false;
        while let Some(part) = waiting.pop() {
            let bytes = self.bytes.get(part.range.clone()).unwrap_or_default();
            // Each level is walked once more.
            budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP.saturating_mul(4)))?;
            let header = Header::read(bytes, part.is_digest);
            let place = self.place(number);
            number = number.saturating_add(1);
            self.header(&header, &part, &place, out, budget)?;
            let body = part.range.start.saturating_add(header.length)..part.range.end;
            if let Some(boundary) = header.boundary.as_ref().filter(|_| header.kind.starts_with("multipart/")) {
                if part.depth >= DEEPEST {
                    if !is_deep {
                        out.find(Finding::built_in(&NESTED).at(count(body.start), count(body.end)).place(place));
                    }
                    is_deep = true;
                    self.words(body, &header, self.place(number), out, budget)?;
                    continue;
                }
                let is_digest = header.kind == "multipart/digest";
                let (before, parts, is_closed) = split(self.bytes, &body, boundary);
                if !is_closed && !parts.is_empty() {
                    let end = count(body.end);
                    out.find(Finding::built_in(&OPEN).at(end, end).place(place.clone()));
                }
                if parts.is_empty() {
                    // Without its boundary it is one text.
                    self.words(body, &header, place, out, budget)?;
                    continue;
                }
                // What stands before the first part is shown by old programs alone.
                out.texts.extend(self.view(before, &place, "preamble"));
                let depth = part.depth.saturating_add(1);
                waiting.extend(parts.into_iter().rev().map(|range| Part { range, depth, is_digest }));
            } else {
                self.part(body, &header, place, out, budget)?;
            }
        }
        Ok(())
    }

    fn place(&self, number: u64) -> Place {
        let place = if self.is_box { Place::default().number("message", self.message) } else { Place::default() };
        if number > 0 { place.number("part", number) } else { place }
    }

    /// A stretch as a text to read.
    fn view(&self, range: Range<usize>, place: &Place, what: &str) -> Option<TextView> {
        let text = self.bytes.get(range.clone()).filter(|text| !text.trim_ascii().is_empty())?;
        let view = TextView::at(self.bytes.slice_ref(text), count(range.start));
        Some(view.place(place.clone().name("field", what)))
    }

    /// The header is read as it stands, and its encoded words as what they say.
    fn header(
        &self,
        header: &Header,
        part: &Part,
        place: &Place,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let range = part.range.start..part.range.start.saturating_add(header.length);
        let words = header::encoded_words(self.bytes.get(range.clone()).unwrap_or_default());
        if !words.is_empty() {
            budget.spend(Resource::DecodedBytes, count(words.len()))?;
            let map = OffsetMap::Within(crate::finding::Span { start: count(range.start), end: count(range.end) });
            let view = TextView::decoded(words.into(), map, vec!["encoded-word"]);
            out.read(view.place(place.clone().name("field", "header")));
        }
        if is_shifting(header.charset.as_bytes()) {
            let (start, end) = (count(range.start), count(range.end));
            out.find(Finding::built_in(&markup::CHARSET).at(start, end).place(place.clone()));
        }
        out.texts.extend(self.view(range, place, "header"));
        Ok(())
    }

    /// A part that has no parts.
    fn part(
        &mut self,
        body: Range<usize>,
        header: &Header,
        place: Place,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let is_words =
            matches!(&*header.kind, "text/plain" | "text/html" | "text/calendar" | "text/enriched" | "text/richtext");
        let is_attached = header.is_attached || header.name.is_some();
        if is_words && !is_attached {
            return self.words(body, header, place, out, budget);
        }
        let span = (count(body.start), count(body.end));
        let bytes = self.undone(body, header, budget)?;
        if let Some(name) = &header.name {
            path::judge(name, span, &place, out, budget)?;
        }
        if header.kind == "message/rfc822" || header.kind == "message/global" {
            out.child(Source::stored(bytes), header.name.clone().or(Some("message".to_owned())));
            return Ok(());
        }
        budget.spend(Resource::Steps, crate::sniff::STEPS)?;
        let is_program = embedded::is_run(&bytes, header.name.as_deref());
        if is_program {
            out.find(Finding::built_in(&PROGRAM).at(span.0, span.1).place(place.clone()));
        }
        // Pictures and texts are what mail is made of; so are the notes that programs add.
        let is_ordinary = [
            "image/",
            "audio/",
            "video/",
            "text/",
            "message/",
            "application/pgp-",
            "application/pkcs7-signature",
            "application/x-pkcs7-signature",
        ]
        .iter()
        .any(|family| header.kind.starts_with(family));
        if is_attached || !is_ordinary {
            self.attached = self.attached.saturating_add(1);
            let kind = crate::sniff::sniff(&bytes).kind;
            let does_nothing = kind.risk == crate::sniff::Risk::Inert && !is_program;
            let severity = if is_ordinary && does_nothing { Severity::Low } else { Severity::Medium };
            if self.attached <= LISTED {
                out.find(Finding::built_in(&ATTACHMENT).severity(severity).at(span.0, span.1).place(place));
            }
        }
        if !bytes.is_empty() {
            out.child(Source::stored(bytes), header.name.clone());
        }
        Ok(())
    }

    /// A part that is shown in the mail itself.
    fn words(
        &self,
        body: Range<usize>,
        header: &Header,
        place: Place,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let start = count(body.start);
        let span = crate::finding::Span { start, end: count(body.end) };
        let layer = header.transfer.layer();
        let text = self.undone(body, header, budget)?;
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        let view = match layer {
            None => TextView::at(text, start),
            Some(layer) => TextView::decoded(text, OffsetMap::Within(span), vec![layer]),
        };
        let view = view.place(place);
        if header.kind == "text/html" || header.kind == "text/enriched" {
            return html::read(&view, out, budget);
        }
        out.read(view);
        Ok(())
    }

    /// The bytes of a body with its transfer encoding undone.
    fn undone(&self, body: Range<usize>, header: &Header, budget: &mut Budget) -> Result<Bytes, Stop> {
        let bytes = self.bytes.get(body).unwrap_or_default();
        match header.transfer {
            Transfer::None => Ok(self.bytes.slice_ref(bytes)),
            Transfer::Base64 | Transfer::Quoted | Transfer::Uuencode => {
                budget.spend(Resource::UnpackedBytes, count(bytes.len()))?;
                Ok(header.transfer.undo(bytes).into())
            }
        }
    }
}

/// What stands before the first boundary, the parts, and whether the last boundary is there (RFC 2046 5.1.1).
fn split(bytes: &[u8], body: &Range<usize>, boundary: &[u8]) -> (Range<usize>, Vec<Range<usize>>, bool) {
    let text = bytes.get(..body.end).unwrap_or_default();
    let mark = [b"--", boundary].concat();
    let mut parts = Vec::new();
    let mut before = body.clone();
    let mut open: Option<usize> = None;
    let mut is_closed = false;
    for found in memmem::find_iter(text.get(body.start..).unwrap_or_default(), &mark) {
        let at = body.start.saturating_add(found);
        let is_line =
            at == body.start || matches!(at.checked_sub(1).and_then(|before| text.get(before)), Some(b'\n' | b'\r'));
        if !is_line {
            continue;
        }
        let behind = at.saturating_add(mark.len());
        let rest = text.get(behind..).unwrap_or_default();
        let is_last = rest.starts_with(b"--");
        // A longer boundary that begins alike is another's.
        if !is_last && !rest.first().is_none_or(|byte| matches!(byte, b'\r' | b'\n' | b' ' | b'\t')) {
            continue;
        }
        match open {
            Some(start) => parts.push(start..at),
            None if parts.is_empty() => before = body.start..at,
            None => {}
        }
        let line = memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length.saturating_add(1));
        open = (!is_last).then(|| behind.saturating_add(line));
        is_closed |= is_last;
    }
    if let Some(start) = open {
        parts.push(start..body.end);
    }
    if parts.is_empty() {
        before = body.clone();
    }
    (before, parts, is_closed)
}
