//! PDF (ISO 32000-1), read from front to end by our own eyes: objects, tables, streams, actions, pages and their text.
//!
//! The tables of a PDF are claims. All objects of all revisions are found by reading the file through; the tables are
//! followed beside that and compared. One judge looks at every object, whether a viewer would reach it or not.

use std::collections::BTreeSet;

use bytes::Bytes;
use memchr::memmem;

use crate::{
    bundle::Source,
    finding::{Place, Reason, Severity, Stop},
    format::{Format, Out, Subject},
    limits::{Budget, Exhausted, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod clean;
mod content;
mod crypt;
mod document;
mod file;
mod filter;
mod font;
mod judge;
mod lex;
mod load;
mod notes;
mod object;
mod pages;
mod paint;
mod pictures;
mod rules;
mod strings;
mod xref;

use document::{Document, Lock};
use file::{Between, Item, Reading};
use filter::{Decoded, Fault};
use judge::Judged;
use load::Loaded;
use notes::Notes;
use object::Dict;

pub(crate) const FORMAT: Format =
    Format { name: "pdf", labels: &["pdf"], inspect, clean: Some(clean::clean), rules: rules::ALL };

/// Readers look for the header that far (annex H, implementation note 13).
const HEADER_WITHIN: usize = 1024 + 8;
/// Line ends behind the end of the file hide nothing.
const HARMLESS_PADDING: usize = 16;
/// Sides and pixels of a picture that no scanner makes: a sheet of A0 at 400 dots an inch has half of that. Pictures are
/// not decoded here: what they claim is judged.
const WIDEST: u64 = 65_535;
const MOST_PIXELS: u64 = 1 << 29;
/// Output of streams that are only measured, all together.
const MEASURED_BYTES: u64 = 64 * 1024 * 1024;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let mut reading = start(bytes);
    let looked = look(bytes, &mut reading, out, budget);
    reading.notes.tell(out);
    looked
}

/// The file with its header found.
fn start(bytes: &Bytes) -> Reading<'_> {
    let head = bytes.get(..HEADER_WITHIN).unwrap_or(bytes);
    let header = memmem::find(head, b"%PDF-").or_else(|| memmem::find(head, b"%PDF"));
    let mut reading = Reading::of(bytes, header.unwrap_or(0));
    if header.is_none() {
        reading.notes.add(&rules::STRUCTURE, 0..0, "there is no header");
    }
    if reading.header > 0 {
        let header = reading.header;
        reading.notes.add(&rules::HEADER, header..header, format!("the header comes {header} bytes late"));
    }
    reading
}

fn look<'a>(bytes: &'a Bytes, reading: &mut Reading<'a>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    ends(bytes, &mut reading.notes, out);
    let found = load::find(reading, budget)?;
    aside(bytes, &found.between, reading, out);
    let (packed, containers) = found.unlock(bytes, reading, budget)?;
    let Loaded { document, opened, mut stop } = packed.unpack(&containers, reading, budget);
    let mut contents = Contents { document: &document, notes: &mut reading.notes, opened };
    if let Err(early) = contents.look(out, budget) {
        stop = stop.or(Some(early));
    }
    stop.map_or(Ok(()), Err)
}

/// How many pages the tree of a document has, for a comparison with another reader. `None` where the inspector would
/// have stopped.
pub(crate) fn pages_of(subject: &Subject<'_>, budget: &mut Budget) -> Option<usize> {
    memmem::find(subject.bytes, b"%PDF-")?;
    let mut reading = start(subject.bytes);
    let found = load::find(&mut reading, budget).ok()?;
    let (packed, containers) = found.unlock(subject.bytes, &mut reading, budget).ok()?;
    let loaded = packed.unpack(&containers, &mut reading, budget);
    if loaded.stop.is_some() {
        return None;
    }
    let pages = pages::walk(&loaded.document, &mut reading.notes, budget).ok()?;
    Some(pages.iter().filter(|page| page.is_shown).count())
}

/// How the file ends, and what stands behind that.
fn ends(bytes: &Bytes, notes: &mut Notes, out: &mut Out<'_>) {
    let length = bytes.len();
    let Some(mark) = memmem::rfind(bytes, b"%%EOF") else {
        notes.add(&rules::TRUNCATED, length..length, "the end of the document is missing");
        return;
    };
    let end = mark.saturating_add(5);
    let rest = bytes.get(end..).unwrap_or_default();
    let white = rest.iter().take_while(|byte| lex::is_white(**byte)).count();
    let start = end.saturating_add(white).min(length);
    if rest.len().saturating_sub(white) <= HARMLESS_PADDING {
        return;
    }
    notes.add(&rules::TRAILING, start..length, format!("{} bytes behind the end", length.saturating_sub(start)));
    out.child(Source::stored(bytes.slice(start..)), None);
}

/// What stands between objects: comments are read, bytes that belong to nothing are looked into.
fn aside(bytes: &Bytes, between: &Between<'_>, reading: &mut Reading<'_>, out: &mut Out<'_>) {
    let mut comments = Vec::new();
    let mut runs = Vec::new();
    for comment in &between.comments {
        let text = bytes.get(comment.clone()).filter(|text| std::str::from_utf8(text).is_ok());
        if let Some(text) = text {
            runs.push((count(comments.len()), count(comment.start)));
            comments.extend_from_slice(text);
            comments.push(b'\n');
        }
    }
    if let Some(last) = between.comments.last().filter(|_| !comments.is_empty()) {
        runs.push((count(comments.len()), count(last.end)));
        let place = Place::default().name("part", "comments");
        let view = TextView::decoded(comments.into(), OffsetMap::Runs(runs), Vec::new());
        out.read(view.place(place).hidden(&rules::HIDDEN_COMMENT));
    }
    let stray = between.stray.clone();
    // What stands behind the last end is told as such.
    let is_behind = memmem::rfind(bytes, b"%%EOF").is_some_and(|mark| stray.start > mark);
    if !stray.is_empty() && !is_behind {
        reading.notes.add(&rules::STRUCTURE, stray.clone(), "bytes between the objects belong to nothing");
        out.child(Source::stored(bytes.slice(stray)), None);
    }
}

/// The content of a stream that is to be read; what is wrong with it is noted.
fn content(notes: &mut Notes, item: &Item<'_>, decoded: Option<Decoded>) -> Option<Bytes> {
    let decoded = decoded?;
    let span = item.at..item.end;
    match decoded.fault {
        Some(fault) => faulty(notes, item, fault),
        None if decoded.is_picture => {
            notes.add(&rules::STRUCTURE, span.clone(), "what should be words is packed as a picture");
        }
        None => {}
    }
    match decoded.stop {
        Some(Stop::Limit(Exhausted(Resource::Ratio))) => {
            notes.add(&rules::RATIO, span, "a stream unpacks to far more than it is");
            notes.refused(Resource::Ratio);
        }
        Some(stop @ Stop::Limit(_)) => notes.not_read(stop, 0),
        // All decoders stop at the same place, so readers see no more than this.
        Some(Stop::Malformed { .. }) if !decoded.bytes.is_empty() => {
            notes.add_as(&rules::STRUCTURE, Severity::Low, span, "the packed data of a stream are damaged");
        }
        Some(Stop::Malformed { what, .. }) => notes.not_read(Stop::malformed(what, count(item.at)), 0),
        None => {}
    }
    Some(decoded.bytes)
}

fn faulty(notes: &mut Notes, item: &Item<'_>, fault: Fault) {
    let span = item.at..item.end;
    match fault {
        Fault::TooMany => notes.add(&rules::FILTERS, span, "a stream has more filters than anybody needs"),
        Fault::Unknown => notes.add(&rules::STRUCTURE, span, "a stream has a filter that nobody knows"),
        Fault::Predictor => notes.add(&rules::STRUCTURE, span, "the rows of a stream have an impossible width"),
        Fault::HugeRow => {
            notes.add(&rules::STRUCTURE, span.clone(), "the rows of a stream have an impossible width");
            notes.add(&rules::RATIO, span, "one row of a stream would fill the memory of a reader");
        }
    }
}

/// What is in the streams of a document.
struct Contents<'d, 'a, 'n> {
    document: &'d Document<'a>,
    notes: &'n mut Notes,
    /// Streams that were unpacked, by position.
    opened: BTreeSet<usize>,
}

impl<'d, 'a> Contents<'d, 'a, '_> {
    fn look(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let judged = judge::judge(document, self.notes, budget)?;
        strings::read(document, out, budget)?;
        let is_closed = matches!(document.lock, Lock::Closed);
        if is_closed {
            self.notes.gap(Reason::Encrypted, "the document needs a key: its pages were not seen", None);
            return Ok(());
        }
        self.texts(&judged, out, budget);
        self.attachments(&judged, out, budget);
        let pages = pages::walk(document, self.notes, budget)?;
        let read = content::read(document, &pages, self.notes, &mut self.opened, out, budget);
        self.measure(budget)?;
        pictures::look_through(document, out, budget)?;
        read
    }

    /// Streams of script, XML forms and metadata.
    fn texts(&mut self, judged: &Judged, out: &mut Out<'_>, budget: &mut Budget) {
        for index in &judged.texts {
            let Some(item) = self.document.item(*index) else { continue };
            self.opened.insert(*index);
            let decoded = self.document.decode(*index, budget);
            let Some(text) = content(self.notes, item, decoded).filter(|text| !text.is_empty()) else { continue };
            let map = strings::within(&(item.at..item.end));
            let place = Place::default().name("part", format!("object {}", item.number));
            out.read(TextView::decoded(strings::stream_text(&text), map, vec!["pdf"]).place(place));
        }
    }

    /// Attached files become artifacts of their own.
    fn attachments(&mut self, judged: &Judged, out: &mut Out<'_>, budget: &mut Budget) {
        for (index, name) in &judged.attached {
            let Some(item) = self.document.item(*index).filter(|item| item.stream.is_some()) else { continue };
            self.notes.add(&rules::EMBEDDED, item.at..item.end, "a file is attached");
            self.opened.insert(*index);
            let decoded = self.document.decode(*index, budget);
            if let Some(file) = content(self.notes, item, decoded).filter(|file| !file.is_empty()) {
                out.child(Source::stored(file), name.clone());
            }
        }
    }

    /// Streams that nobody reads here: whether they unpack to far more than they are, and pictures of impossible size.
    fn measure(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let mut left = MEASURED_BYTES;
        for (index, item) in document.items.iter().enumerate() {
            let (Some(dict), Some(range)) = (item.dict(), &item.stream) else { continue };
            budget.spend(Resource::Steps, 20)?;
            let is_picture = document.get(dict, "Subtype").name() == Some(b"Image");
            let expected = if is_picture { self.picture(item, dict) } else { 0 };
            if self.opened.contains(&index) {
                continue;
            }
            let steps = filter::steps(dict, Some(document));
            let is_flate = |name: &[u8]| matches!(name, b"FlateDecode" | b"Fl");
            let grows =
                |name: &[u8]| is_flate(name) || matches!(name, b"LZWDecode" | b"LZW" | b"RunLengthDecode" | b"RL");
            match steps.as_slice() {
                [] => {}
                [(name, None)] if is_flate(name) => {
                    if range.len() > 1024
                        && let Some(packed) = document.packed(index, budget)?
                        && filter::is_bomb(&packed, expected, &mut left, budget)?
                    {
                        self.notes.add(&rules::RATIO, item.at..item.end, "a stream unpacks to far more than it is");
                        self.notes.refused(Resource::Ratio);
                    }
                }
                several if several.len() > 8 || expected == 0 && several.iter().any(|(name, _)| grows(name)) => {
                    let decoded = document.decode(index, budget);
                    // Nobody reads what is in it: damage is nothing to tell.
                    let decoded = decoded.map(|mut decoded| {
                        decoded.stop = decoded.stop.filter(|stop| matches!(stop, Stop::Limit(_)));
                        decoded.is_picture = false;
                        decoded
                    });
                    content(self.notes, item, decoded);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The bytes a picture should have; an impossible size is noted.
    fn picture(&mut self, item: &Item<'_>, dict: &'d Dict<'a>) -> u64 {
        let number = |key: &str| {
            let value = self.document.get(dict, key).int().unwrap_or(0);
            u64::try_from(value).unwrap_or(0)
        };
        let (width, height) = (number("Width"), number("Height"));
        let pixels = width.saturating_mul(height);
        if width.max(height) > WIDEST || pixels > MOST_PIXELS {
            self.notes.add(&rules::DIMENSIONS, item.at..item.end, format!("a picture of {width} × {height}"));
        }
        // At most four colours of sixteen bits.
        pixels.saturating_mul(8).max(1)
    }
}

#[cfg(test)]
mod tests;
