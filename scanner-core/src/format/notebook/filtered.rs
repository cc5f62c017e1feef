//! A notebook in which no output runs: each form of an output is cleaned as what it is, or left out; the state of widgets
//! and marks of trust go. Code and all that needs no change stay byte for byte.

use std::ops::Range;

use bytes::Bytes;

use super::{SHORT_NAMES, active_string, links_to_script};
use crate::{
    envelope::encoded,
    format::{
        Subject,
        cleaning::{Cleaning, Part, Uncleanable, edited},
        html, markdown,
        markup::{carried::base64, element::acts},
        svg, text,
    },
    json::{Doc, Kind, NodeId, Quirk},
    limits::{Budget, Resource},
    reader::count,
};

#[cfg(test)]
mod tests;

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    if text::is_wide(subject.bytes) {
        return Err("a notebook in letters of more than one byte is not followed".into());
    }
    let doc = Doc::parse(subject.bytes, budget);
    if let Some(stop) = doc.stop.clone() {
        return Err(stop.into());
    }
    if doc.quirks.of(Quirk::DuplicateKey).is_some() {
        return Err("keys stand twice in their object, and which one counts is not known".into());
    }
    if doc.end < doc.bytes().len() {
        return Err("something follows the notebook".into());
    }
    let mut filter = Filter { doc: &doc, edits: Vec::new() };
    filter.notebook(cleaning, budget)?;
    Ok(if filter.edits.is_empty() {
        subject.bytes.clone()
    } else {
        edited(subject.bytes, filter.edits, budget)?.into()
    })
}

/// What becomes of one form of an output.
enum Form {
    Same,
    /// These words take its place.
    Words(Vec<u8>),
    Gone,
}

struct Filter<'d> {
    doc: &'d Doc,
    edits: Vec<(Range<usize>, Vec<u8>)>,
}

impl Filter<'_> {
    fn get(&self, object: NodeId, key: &str) -> Option<NodeId> {
        self.doc.children(object).find(|id| self.doc.has_key(*id, key))
    }

    fn items(&self, object: NodeId, key: &str) -> Vec<NodeId> {
        self.get(object, key).map(|list| self.doc.children(list).collect()).unwrap_or_default()
    }

    fn notebook(&mut self, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        let Some(root) = self.doc.root() else { return Ok(()) };
        let mut cells = self.items(root, "cells");
        for sheet in self.items(root, "worksheets") {
            cells.extend(self.items(sheet, "cells"));
        }
        for cell in cells {
            self.cell(cell, cleaning, budget)?;
        }
        if let Some(metadata) = self.get(root, "metadata") {
            self.leave_out(metadata, &["widgets", "trusted", "signature"], cleaning);
        }
        Ok(())
    }

    fn cell(&mut self, cell: NodeId, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        let kind = self.get(cell, "cell_type").and_then(|id| self.doc.word(id)).unwrap_or_default().into_owned();
        for key in ["source", "input"] {
            let Some(source) = self.get(cell, key) else { continue };
            let Some(words) = self.words(source, budget)? else { continue };
            match &*kind {
                "code" => {}
                "markdown" | "heading" => {
                    let washed = markdown::washed(&words, cleaning, budget)?;
                    self.replace(source, &words, &washed, budget)?;
                }
                // Written as it is into whatever the notebook becomes.
                _ if acts(&words) => {
                    cleaning.did("made markup visible");
                    let visible = words.iter().flat_map(|byte| match byte {
                        b'<' => b"&lt;".to_vec(),
                        byte => vec![*byte],
                    });
                    let visible: Vec<u8> = visible.collect();
                    self.replace(source, &words, &visible, budget)?;
                }
                _ => {}
            }
        }
        for output in self.items(cell, "outputs") {
            self.output(output, cleaning, budget)?;
        }
        for file in self.items(cell, "attachments") {
            let forms: Vec<NodeId> = self.doc.children(file).collect();
            self.bundle(file, forms, cleaning, budget)?;
        }
        if let Some(metadata) = self.get(cell, "metadata") {
            self.leave_out(metadata, &["trusted"], cleaning);
        }
        Ok(())
    }

    fn output(&mut self, output: NodeId, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        for key in ["text", "evalue", "traceback"] {
            if let Some(value) = self.get(output, key) {
                self.plain(value, cleaning, budget)?;
            }
        }
        if let Some(data) = self.get(output, "data") {
            let forms: Vec<NodeId> = self.doc.children(data).collect();
            let all = forms.len();
            let gone = self.bundle(data, forms, cleaning, budget)?;
            if gone == all && all > 0 {
                // An output of no form is none: that there was one is said.
                let span = self.span(data);
                self.edits.retain(|(range, _)| range.start < span.start || range.end > span.end);
                self.edits.push((span, br#"{"text/plain": "[output removed: it runs script]"}"#.to_vec()));
            }
        }
        if let Some(metadata) = self.get(output, "metadata") {
            self.leave_out(metadata, &["trusted"], cleaning);
        }
        let of_short_name = |id: &NodeId| SHORT_NAMES.iter().any(|(short, _)| self.doc.has_key(*id, short));
        let forms: Vec<NodeId> = self.doc.children(output).filter(of_short_name).collect();
        self.bundle(output, forms, cleaning, budget).map(|_| ())
    }

    /// Cleans the forms of one thing, which are members of `object`. How many had to go.
    fn bundle(
        &mut self,
        object: NodeId,
        forms: Vec<NodeId>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<usize, Uncleanable> {
        let mut gone = Vec::new();
        for form in forms {
            let key = self.doc.key(form).unwrap_or_default().to_ascii_lowercase();
            let mime = SHORT_NAMES.iter().find(|(short, _)| *short == key).map_or(&*key, |(_, mime)| mime);
            match self.form(form, mime, cleaning, budget)? {
                Form::Same => {}
                Form::Words(words) => self.write(form, &words, budget)?,
                Form::Gone => gone.push(form),
            }
        }
        if !gone.is_empty() {
            cleaning.did("removed a form of an output");
            self.remove(object, &gone);
        }
        Ok(gone.len())
    }

    fn form(
        &mut self,
        value: NodeId,
        mime: &str,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<Form, Uncleanable> {
        let is_packed =
            ["image/", "audio/", "video/"].iter().any(|kind| mime.starts_with(kind)) || mime == "application/pdf";
        if mime.contains("javascript") || mime.contains("bokehjs") || mime.contains("widget-view") {
            return Ok(Form::Gone);
        }
        let is_words =
            matches!(mime, "text/html" | "application/xhtml+xml" | "image/svg+xml" | "text/markdown" | "text/latex");
        if mime == "text/plain" {
            self.plain(value, cleaning, budget)?;
            return Ok(Form::Same);
        }
        if !is_words && !is_packed {
            return Ok(if active_string(self.doc, value).is_some() { Form::Gone } else { Form::Same });
        }
        let Some(words) = self.words(value, budget)? else { return Ok(Form::Gone) };
        let washed = match mime {
            "text/html" | "application/xhtml+xml" => html::washed(&words, cleaning, budget)?,
            // An attached picture is in base64 like any file.
            "image/svg+xml" if memchr::memchr(b'<', &words).is_none() => {
                return packed(&words, "image/svg", cleaning, budget);
            }
            "image/svg+xml" => match svg::washed(&words, cleaning, budget) {
                Ok(washed) => washed,
                // What is no picture is no loss.
                Err(_) => return Ok(Form::Gone),
            },
            "text/markdown" => markdown::washed(&words, cleaning, budget)?,
            "text/latex" if links_to_script(&words) => return Ok(Form::Gone),
            "text/latex" => return Ok(Form::Same),
            _ => return packed(&words, mime, cleaning, budget),
        };
        Ok(if washed == words { Form::Same } else { Form::Words(washed) })
    }

    /// Plain strings, one by one: those with escapes are asked for, the others were looked at as they stand.
    fn plain(&mut self, value: NodeId, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        let strings: Vec<NodeId> = self.doc.descendants(value).filter(|id| self.doc.kind(*id) == Kind::Text).collect();
        for id in strings {
            if memchr::memmem::find(self.doc.raw(id), b"\\u").is_none() {
                continue;
            }
            let Some(words) = self.doc.string(id, budget)? else { continue };
            let kept = cleaning.text(&words, budget)?.into_owned();
            if kept != words {
                self.write(id, &kept, budget)?;
            }
        }
        Ok(())
    }

    /// The text of a string or of a list of strings.
    fn words(&self, value: NodeId, budget: &mut Budget) -> Result<Option<Bytes>, Uncleanable> {
        match self.doc.kind(value) {
            Kind::Text => Ok(self.doc.string(value, budget)?),
            Kind::Array => {
                let mut words = Vec::new();
                for item in self.doc.children(value) {
                    let Some(line) = self.doc.string(item, budget)? else { return Ok(None) };
                    budget.spend(Resource::DecodedBytes, count(line.len()))?;
                    words.extend_from_slice(&line);
                }
                Ok(Some(words.into()))
            }
            _ => Ok(None),
        }
    }

    fn replace(&mut self, value: NodeId, old: &[u8], new: &[u8], budget: &mut Budget) -> Result<(), Uncleanable> {
        if old == new { Ok(()) } else { self.write(value, new, budget) }
    }

    /// Writes a text in the place of a value: a list stays a list of lines.
    fn write(&mut self, value: NodeId, words: &[u8], budget: &mut Budget) -> Result<(), Uncleanable> {
        // An escape is six letters at most, and most letters need none.
        budget.spend(Resource::DecodedBytes, count(words.len()).saturating_mul(2))?;
        let words = String::from_utf8_lossy(words);
        let written = if self.doc.kind(value) == Kind::Array {
            let lines: Vec<String> = words.split_inclusive('\n').map(quoted).collect();
            format!("[{}]", lines.join(", "))
        } else {
            quoted(&words)
        };
        self.edits.push((self.span(value), written.into_bytes()));
        Ok(())
    }

    /// Where a value stands, with its quotes.
    fn span(&self, id: NodeId) -> Range<usize> {
        let span = self.doc.span(id);
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let quote = usize::from(self.doc.kind(id) == Kind::Text);
        index(span.start).saturating_sub(quote)..index(span.end).saturating_add(quote)
    }

    fn leave_out(&mut self, object: NodeId, keys: &[&str], cleaning: &mut Cleaning<'_>) {
        let named = |id: &NodeId| keys.iter().any(|key| self.doc.has_key(*id, key));
        let gone: Vec<NodeId> = self.doc.children(object).filter(named).collect();
        if !gone.is_empty() {
            cleaning.did("removed state or a mark of trust");
            self.remove(object, &gone);
        }
    }

    /// Takes members out of an object, each with one comma.
    fn remove(&mut self, object: NodeId, gone: &[NodeId]) {
        let members: Vec<NodeId> = self.doc.children(object).collect();
        let start = |id: NodeId| {
            let key = self.doc.key_span(id).and_then(|span| usize::try_from(span.start).ok()).unwrap_or_default();
            key.saturating_sub(1)
        };
        let last_kept = members.iter().rposition(|id| !gone.contains(id));
        for (at, member) in members.iter().enumerate().filter(|(_, id)| gone.contains(id)) {
            if last_kept.is_some_and(|last| at < last)
                && let Some(next) = members.get(at.saturating_add(1))
            {
                self.edits.push((start(*member)..start(*next), Vec::new()));
            }
        }
        // Those behind the last that stays go with the comma before them.
        let behind = last_kept.map_or(0, |last| last.saturating_add(1));
        if let (Some(first), Some(last)) = (members.get(behind), members.last()) {
            let from = match last_kept.and_then(|at| members.get(at)) {
                Some(kept) => self.span(*kept).end,
                None => start(*first),
            };
            self.edits.push((from..self.span(*last).end, Vec::new()));
        }
    }
}

/// A file in base64, as it may stay.
fn packed(words: &[u8], mime: &str, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Form, Uncleanable> {
    let Some(carried) = encoded::base64(words, budget)? else { return Ok(Form::Gone) };
    let kind = mime.rsplit('/').next().unwrap_or_default();
    let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    Ok(match cleaning.part(&carried.bytes, Some(&format!("output.{kind}")), budget)? {
        Part::Keep => Form::Same,
        Part::Changed(bytes) => Form::Words(base64(&bytes, budget)?.into_bytes()),
        Part::Gone(_) => Form::Gone,
    })
}

/// A string of JSON (RFC 8259, 7).
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}
