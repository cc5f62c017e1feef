//! The frame in which adapters read an envelope: how it is laid out, what is claimed, what is made of it.

use bytes::Bytes;

use crate::{
    bundle::{Ground, Origin, Written},
    finding::{Reason, Stop},
    json::{Doc, Kind},
    limits::{Budget, Exhausted, Resource},
};

pub(crate) mod draft;
pub(crate) mod encoded;
pub(crate) mod joiner;
pub(crate) mod link;
pub(crate) mod rules;
pub(crate) mod sheet;
mod stream;
pub(crate) mod traceback;

use draft::Draft;
pub(crate) use rules::RULES;
use sheet::Sheet;

/// Bytes the caller fetched for a reference.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The reference's id.
    pub reference: String,
    /// What was fetched.
    pub bytes: Bytes,
}

/// How an input is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON document.
    Document,
    /// Server-sent events.
    Events,
    /// One JSON document a line.
    Lines,
}

/// Something beside the documents: a comment of a stream, a line that is no JSON.
#[derive(Debug)]
pub(crate) struct Stray {
    pub(crate) at: String,
    pub(crate) text: Bytes,
    pub(crate) kind: StrayKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrayKind {
    /// It may be there: a comment.
    Honest,
    /// It should have been JSON.
    Junk,
    /// What follows the point at which a document could not be read on.
    Rest,
}

/// An input cut into documents.
#[derive(Debug)]
pub(crate) struct Envelope {
    /// The whole input.
    input: Bytes,
    /// How it was laid out.
    pub(crate) form: Form,
    /// Its documents, in order.
    pub(crate) sheets: Vec<Sheet>,
    /// Text beside them.
    pub(crate) strays: Vec<Stray>,
    /// The last event or line is not whole.
    pub(crate) cut: bool,
    /// The stream's own end mark came.
    pub(crate) done: bool,
    /// A second document follows the first on the same line, at that offset.
    pub(crate) trailing: Option<u64>,
    /// A limit that was met while cutting.
    pub(crate) limit: Option<Exhausted>,
}

impl Envelope {
    /// Text beside the documents, paid for like a value. `false` when the budget does not cover it.
    fn stray(&mut self, at: String, text: Bytes, kind: StrayKind, budget: &mut Budget) -> bool {
        match budget.spend(Resource::Objects, 1) {
            Ok(()) => self.strays.push(Stray { at, text, kind }),
            Err(exhausted) => self.limit = Some(exhausted),
        }
        self.limit.is_none()
    }
}

pub(crate) fn offset(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}

impl Envelope {
    /// Cuts an input into documents; `None` when it is neither JSON objects nor arrays, nor a stream of them.
    pub(crate) fn take(input: &Bytes, budget: &mut Budget) -> Option<Self> {
        let body = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
        let first = body.iter().find(|byte| !byte.is_ascii_whitespace())?;
        match first {
            b'{' | b'[' => Some(documents(input, budget)),
            _ if stream::looks_like_events(body) => Some(stream::events(input, budget)),
            _ => None,
        }
    }

    fn of(form: Form, input: &Bytes) -> Self {
        Self {
            input: input.clone(),
            form,
            sheets: Vec::new(),
            strays: Vec::new(),
            cut: false,
            done: false,
            trailing: None,
            limit: None,
        }
    }

    /// The limit that was met while cutting or reading a document.
    pub(crate) fn met(&self) -> Option<Exhausted> {
        let of_a_document = self.sheets.iter().find_map(|sheet| match sheet.doc.stop {
            Some(Stop::Limit(exhausted)) => Some(exhausted),
            _ => None,
        });
        self.limit.or(of_a_document)
    }

    /// The first document's outermost value.
    pub(crate) fn first(&self) -> Option<(&Sheet, crate::json::NodeId)> {
        let sheet = self.sheets.first()?;
        Some((sheet, sheet.root()?))
    }

    /// The objects an adapter recognises it by: the outermost ones, and the items of outermost arrays, of the first
    /// few documents.
    pub(crate) fn heads(&self) -> Vec<(&Sheet, crate::json::NodeId)> {
        // Enough to see past comments, pings and padding; what comes later does not change the vendor.
        const HEADS: usize = 32;
        let roots = self.sheets.iter().take(HEADS).filter_map(|sheet| Some((sheet, sheet.root()?)));
        let mut heads = Vec::new();
        for (sheet, root) in roots {
            match sheet.kind(root) {
                Kind::Object => heads.push((sheet, root)),
                Kind::Array => {
                    heads.extend(
                        sheet.doc.children(root).take(HEADS).filter(|id| sheet.is_object(*id)).map(|id| (sheet, id)),
                    );
                }
                _ => {}
            }
        }
        heads
    }

    /// Every object to read: roots, and the items of outermost arrays.
    pub(crate) fn objects(&self) -> Vec<(&Sheet, crate::json::NodeId)> {
        let roots = self.sheets.iter().filter_map(|sheet| Some((sheet, sheet.root()?)));
        roots.flat_map(|(sheet, root)| sheet.items(root).into_iter().map(move |id| (sheet, id))).collect()
    }

    /// Reads what no adapter claimed, and says what could not be read.
    pub(crate) fn sweep(&self, draft: &mut Draft<'_>) {
        for sheet in &self.sheets {
            draft.sweep(sheet);
            match &sheet.doc.stop {
                None => {}
                Some(Stop::Limit(exhausted)) => draft.limit(*exhausted, Some(sheet.at.clone())),
                Some(Stop::Malformed { what, at }) => {
                    let at = sheet.base.saturating_add(*at);
                    draft.gap(Reason::Malformed, what.clone(), Some(format!("offset {at}")));
                }
            }
        }
        for stray in &self.strays {
            if stray.kind == StrayKind::Junk {
                draft.find(&rules::JUNK, "text that is no JSON stands where JSON is due", Some(stray.at.clone()));
            }
            let written = within(&self.input, &stray.text).map(|range| {
                let ground = Ground::at(0);
                Written::plain(ground, range, stray.text.clone())
            });
            draft.add_text(stray.text.clone(), stray.at.clone(), Origin::Unclaimed, None, written);
        }
        if let Some(at) = self.trailing {
            let message = format!("a second document follows at offset {at}: both were read");
            draft.find(&rules::STRUCTURE, message, None);
        }
        if let Some(exhausted) = self.limit {
            draft.limit(exhausted, None);
        }
    }
}

/// Where a part that was cut from the input stands in it; `None` for what was put together.
fn within(input: &Bytes, part: &Bytes) -> Option<std::ops::Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(input.as_ptr().addr())?;
    let end = start.checked_add(part.len()).filter(|end| *end <= input.len())?;
    Some(start..end)
}

/// One JSON document, or several after each other.
fn documents(input: &Bytes, budget: &mut Budget) -> Envelope {
    let mut envelope = Envelope::of(Form::Document, input);
    let first = Doc::parse(input, budget);
    let (stop, end) = (first.stop.clone(), first.end);
    envelope.sheets.push(Sheet::new(first, String::new(), 0));
    if stop.is_some() {
        envelope.cut = matches!(&stop, Some(Stop::Malformed { at, .. }) if *at >= offset(input.len()));
        rest(&mut envelope, input, end);
        return envelope;
    }
    if end >= input.len() {
        return envelope;
    }
    // Something follows. White space before it that holds a line break makes it a line.
    envelope.form = Form::Lines;
    if let Some(sheet) = envelope.sheets.first_mut() {
        sheet.at = "#0".to_owned();
    }
    let mut at = end;
    let mut wide = 0u8;
    while at < input.len() {
        let number = envelope.sheets.len().saturating_add(envelope.strays.len());
        let on_new_line =
            input.get(..at).and_then(|before| before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')))
                == Some(&b'\n');
        if !on_new_line {
            envelope.trailing.get_or_insert(offset(at));
        }
        // A line at a time, so that many lines are not each asked about the whole rest; a document over several lines
        // is rare after the first, and tried a few times only.
        let line = input.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|length| at.saturating_add(length));
        let mut doc = Doc::parse(&input.slice(at..line.unwrap_or(input.len())), budget);
        if matches!(doc.stop, Some(Stop::Malformed { .. })) && line.is_some() && wide < 4 {
            wide = wide.saturating_add(1);
            let spread = Doc::parse(&input.slice(at..), budget);
            if spread.stop.is_none() {
                doc = spread;
            }
        }
        if let Some(Stop::Limit(exhausted)) = doc.stop {
            envelope.limit = Some(exhausted);
            envelope.sheets.push(Sheet::new(doc, format!("#{number}"), at));
            break;
        }
        match (&doc.stop, line) {
            (None, _) => {
                let next = at.saturating_add(doc.end);
                envelope.sheets.push(Sheet::new(doc, format!("#{number}"), at));
                at = next.saturating_add(white(input, next));
            }
            (Some(_), Some(end)) if input.get(end..).is_some_and(|rest| !rest.trim_ascii().is_empty()) => {
                // A bad line among others: text. The next line begins anew.
                let text = input.slice(at..end);
                if !envelope.stray(format!("#{number}"), text, StrayKind::Junk, budget) {
                    break;
                }
                at = end.saturating_add(white(input, end));
            }
            (Some(_), _) => {
                // The last line: cut. What came of it is read as what it is, the rest as text.
                let stopped = at.saturating_add(doc.end);
                envelope.sheets.push(Sheet::new(doc, format!("#{number}"), at));
                envelope.cut = true;
                rest(&mut envelope, input, stopped);
                break;
            }
        }
    }
    envelope
}

/// How much white space begins there.
fn white(input: &Bytes, at: usize) -> usize {
    input.get(at..).map_or(0, |rest| rest.len().saturating_sub(rest.trim_ascii_start().len()))
}

/// What follows the point at which reading stopped, as text.
fn rest(envelope: &mut Envelope, input: &Bytes, at: usize) {
    if at < input.len() {
        let at_text = format!("offset {at}");
        envelope.strays.push(Stray { at: at_text, text: input.slice(at..), kind: StrayKind::Rest });
    }
}
