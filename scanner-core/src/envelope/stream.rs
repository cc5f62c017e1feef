//! Server-sent events (WHATWG HTML, "event stream interpretation") as recorded by whoever recorded them.
//!
//! Read more leniently than a client would: a byte-order mark, a last event without its blank line and an event
//! without data are all looked at. Clients drop them, and a person reading the recording does not.

use bytes::Bytes;

use crate::{
    bundle::Ground,
    finding::Stop,
    json::{Doc, Kind},
    limits::{Budget, Resource},
};

use super::{
    Envelope, Form, StrayKind, offset,
    sheet::{Sheet, is_id},
};

/// Lines looked at before an input is said to be no stream.
const LINES: usize = 64;
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// Lines ended by CR, LF or CRLF, with the offset of each. The last has no end.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let length = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..length)?;
        let end = rest.get(length..).unwrap_or_default();
        let ends = if end.starts_with(b"\r\n") { 2 } else { 1 };
        self.at = start.saturating_add(length).saturating_add(ends);
        Some((start, line))
    }
}

/// The name and value of a line; the blank after the colon is optional.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let colon = memchr::memchr(b':', line).unwrap_or(line.len());
    let (name, value) = line.split_at(colon);
    let value = value.strip_prefix(b":").unwrap_or(value);
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

/// Whether the first lines are those of a stream, one of them with JSON in it.
pub(super) fn looks_like_events(body: &[u8]) -> bool {
    let mut data = false;
    for (_, line) in (Lines { bytes: body, at: 0 }).take(LINES) {
        if line.is_empty() || line.starts_with(b":") {
            continue;
        }
        let (name, value) = field(line);
        if !FIELDS.contains(&name) {
            return data;
        }
        data |= name == b"data" && matches!(value.trim_ascii_start().first(), Some(b'{' | b'['));
    }
    data
}

#[derive(Default)]
struct Event {
    name: Option<String>,
    /// Where its data lines stand.
    data: Vec<(usize, usize)>,
}

/// Cuts a stream into events.
pub(super) fn events(input: &Bytes, budget: &mut Budget) -> Envelope {
    let mut envelope = Envelope::of(Form::Events, input);
    if let Err(exhausted) = budget.spend(Resource::Steps, offset(input.len()).div_euclid(8).saturating_add(1)) {
        envelope.limit = Some(exhausted);
        return envelope;
    }
    let start = if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut event = Event::default();
    let mut number = 0usize;
    for (at, line) in (Lines { bytes: input, at: start }) {
        if envelope.limit.is_some() {
            return envelope;
        }
        if line.is_empty() {
            if !event.data.is_empty() {
                close(&mut envelope, input, std::mem::take(&mut event), number, budget);
                number = number.saturating_add(1);
            }
            event = Event::default();
            continue;
        }
        let mut stray = |envelope: &mut Envelope, text: &[u8], kind| {
            envelope.stray(format!("#{number}"), input.slice_ref(text), kind, budget);
        };
        let (name, value) = field(line);
        match name {
            b"data" => {
                let end = at.saturating_add(line.len());
                event.data.push((end.saturating_sub(value.len()), end));
            }
            b"event" => match std::str::from_utf8(value) {
                Ok(word) if is_id(word) => event.name = Some(word.to_owned()),
                _ => stray(&mut envelope, value, StrayKind::Honest),
            },
            b"id" if std::str::from_utf8(value).is_ok_and(is_id) => {}
            b"retry" if value.iter().all(u8::is_ascii_digit) => {}
            b"" | b"id" | b"retry" => {
                let text = value.trim_ascii();
                if !text.is_empty() {
                    stray(&mut envelope, text, StrayKind::Honest);
                }
            }
            _ => stray(&mut envelope, line, StrayKind::Junk),
        }
    }
    if !event.data.is_empty() {
        // Clients drop an event without its blank line. Whether the stream was cut here, its own end mark says.
        close(&mut envelope, input, event, number, budget);
    }
    envelope
}

/// One event is over: its data lines, joined by line breaks, are a document.
fn close(envelope: &mut Envelope, input: &Bytes, event: Event, number: usize, budget: &mut Budget) {
    let at = format!("#{number}");
    let base = event.data.first().map_or(0, |(start, _)| *start);
    let data = match event.data.as_slice() {
        [(start, end)] => input.slice(*start..*end),
        lines => {
            let length = lines.iter().map(|(start, end)| end.saturating_sub(*start).saturating_add(1)).sum::<usize>();
            if let Err(exhausted) = budget.spend(Resource::DecodedBytes, offset(length)) {
                envelope.limit = Some(exhausted);
                return;
            }
            let mut joined = Vec::with_capacity(length);
            for (index, (start, end)) in lines.iter().enumerate() {
                if index > 0 {
                    joined.push(b'\n');
                }
                joined.extend_from_slice(input.get(*start..*end).unwrap_or_default());
            }
            joined.into()
        }
    };
    let mut runs = Vec::with_capacity(event.data.len());
    let mut length = 0usize;
    for (start, end) in &event.data {
        runs.push((length, *start));
        length = length.saturating_add(end.saturating_sub(*start)).saturating_add(1);
    }
    let ground = Ground::Input(runs.into());
    // The end mark of OpenAI, xAI and others; nothing to read in it.
    if matches!(data.trim_ascii(), b"[DONE]" | b"") {
        envelope.done |= !data.trim_ascii().is_empty();
        return;
    }
    let doc = Doc::parse(&data, budget);
    let holds = doc.root().is_some_and(|root| matches!(doc.kind(root), Kind::Object | Kind::Array));
    let after = data.get(doc.end..).unwrap_or_default().trim_ascii();
    match &doc.stop {
        Some(Stop::Limit(exhausted)) => envelope.limit = Some(*exhausted),
        Some(Stop::Malformed { .. }) if holds => envelope.cut = true,
        Some(Stop::Malformed { .. }) => {
            envelope.stray(at, data, StrayKind::Junk, budget);
            return;
        }
        None => {}
    }
    if !after.is_empty() {
        let kind = if doc.stop.is_some() { StrayKind::Rest } else { StrayKind::Junk };
        envelope.stray(at.clone(), data.slice_ref(after), kind, budget);
    }
    let mut sheet = Sheet::on(doc, at, ground, offset(base));
    sheet.event = event.name;
    envelope.sheets.push(sheet);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn read(text: &str) -> Envelope {
        assert!(looks_like_events(text.trim_start_matches('\u{feff}').as_bytes()), "{text:?}");
        events(&Bytes::copy_from_slice(text.as_bytes()), &mut Budget::new(Limits::default()))
    }

    fn raws(envelope: &Envelope) -> Vec<String> {
        envelope
            .sheets
            .iter()
            .map(|sheet| String::from_utf8_lossy(sheet.doc.raw(sheet.root().unwrap())).into_owned())
            .collect()
    }

    #[test]
    fn all_three_line_ends_and_everything_optional() {
        for end in ["\n", "\r", "\r\n"] {
            let lines = [
                ": hello",
                "",
                "event: a",
                "id: 7",
                "retry: 3000",
                "data: {\"a\":",
                "data:1}",
                "",
                "data: {\"b\":2}",
                "",
                "data: [DONE]",
                "",
            ];
            let envelope = read(&lines.map(|line| format!("{line}{end}")).concat());
            assert_eq!(raws(&envelope), ["{\"a\":\n1}", "{\"b\":2}"], "{end:?}");
            assert_eq!(envelope.sheets[0].event.as_deref(), Some("a"));
            assert_eq!(envelope.strays.len(), 1);
            assert!(!envelope.cut);
        }
    }

    #[test]
    fn a_mark_a_cut_and_junk_are_all_looked_at() {
        let envelope = read("\u{feff}event: a\ndata: {\"a\":1}\n\nwhat: is this\ndata: junk\n\ndata: {\"b\":\"cu");
        assert_eq!(raws(&envelope), ["{\"a\":1}", "{\"b\":\"cu"]);
        assert_eq!(
            envelope.strays.iter().map(|stray| stray.text.clone()).collect::<Vec<_>>(),
            ["what: is this", "junk"]
        );
        assert!(envelope.cut);
        assert!(!read("data: {\"a\":1}").cut);
        assert_eq!(envelope.sheets[1].at, "#2");
    }

    #[test]
    fn text_that_only_begins_like_a_stream_is_none() {
        for text in ["data: yes\n", "hello: world\ndata: {}\n", "# data: {}\n", ""] {
            assert!(!looks_like_events(text.as_bytes()), "{text:?}");
        }
    }
}
