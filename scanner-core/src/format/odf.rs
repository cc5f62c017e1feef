//! OpenDocument: texts, workbooks and decks, as a package or as one flat file (OASIS ODF 1.3).

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::{
    finding::{Gap, Place, Reason, Severity, Span, Stop},
    format::{
        Format, Out, Subject, embedded,
        names::Names,
        office::{self, Page, Spot, Tell, Waiting, rules},
        pull::{self, Name, Tag},
        strings,
        zip::{self, Archive, Entry, Kind},
    },
    limits::Budget,
    reader::count,
    sniff::{self, Risk},
    view::{OffsetMap, TextView},
};

mod body;
mod clean;
mod length;
mod script;
mod styles;

use body::Body;
use styles::OdfStyles;

pub(crate) const FORMAT: Format =
    Format { name: "odf", labels: &["odt", "ods", "odp"], inspect, clean: Some(clean::clean), rules: &rules::WITH_ZIP };

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let archive = zip::open(subject, out, budget);
    let mut document = Document {
        archive: &archive,
        locked: BTreeSet::new(),
        styles: OdfStyles::default(),
        tell: Tell::default(),
        waiting: Waiting::default(),
        names: Vec::new(),
    };
    let read = document.read(out, budget);
    document.finish(out);
    let closed = archive.finish(out);
    read.and(closed)
}

/// A flat document: one XML that holds what the parts of a package hold.
///
/// # Errors
/// When the budget is used up.
pub(crate) fn flat(bytes: &Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let text = pull::utf8(bytes, budget)?;
    let spot = Spot { place: Place::default(), span: Span { start: 0, end: count(bytes.len()) } };
    let (mut tell, mut waiting, mut styles) = (Tell::default(), Waiting::default(), OdfStyles::default());
    let mut page = Page::new(spot.clone(), &mut tell, out);
    let mut body = Body::new(&mut styles, true);
    let walked = office::walk(&text, &mut body, &mut page, budget);
    let (key, texts) = (body.key(), page.texts);
    waiting.read(texts, key, &spot, out, budget);
    tell.finish(out);
    Ok(walked?)
}

/// In which order parts are read: what others refer to comes first.
const TURNS: [fn(&str) -> bool; 3] = [
    |name| name == "meta-inf/manifest.xml",
    |name| name.ends_with("styles.xml") && name != "meta-inf/manifest.xml",
    |name| !name.ends_with("styles.xml") && name != "meta-inf/manifest.xml",
];

struct Document<'a> {
    archive: &'a Archive<'a>,
    /// Parts that need a key, in lower case.
    locked: BTreeSet<String>,
    styles: OdfStyles,
    tell: Tell,
    waiting: Waiting,
    /// Names of parts that do not become children, and where they stand.
    names: Vec<(usize, Bytes)>,
}

impl Document<'_> {
    fn read(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let archive = self.archive;
        for is_turn in TURNS {
            for entry in archive.entries() {
                let name = entry.name.replace('\\', "/").trim_start_matches('/').to_ascii_lowercase();
                if !is_turn(&name) {
                    continue;
                }
                if self.locked.contains(&name) || entry.kind != Kind::File || entry.is_empty() || name == "mimetype" {
                    self.keep_name(entry);
                    continue;
                }
                self.look(entry, &name, out, budget)?;
            }
        }
        Ok(())
    }

    fn keep_name(&mut self, entry: &Entry) {
        self.names.push((entry.name_start(), entry.raw.clone()));
    }

    fn look(&mut self, entry: &Entry, name: &str, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let Some(bytes) = self.archive.read(entry, out, budget) else {
            self.keep_name(entry);
            return Ok(());
        };
        let place = match office::part_name(&entry.name) {
            Some(name) => Place::default().name("entry", name),
            None => entry.place(),
        };
        let spot = Spot { place, span: office::span_of(entry.data.clone(), entry.at) };
        let is_script = ["scripts/", "basic/", "dialogs/"].iter().any(|folder| name.starts_with(folder));
        let is_xml = [".xml", ".rdf", ".xlb", ".xba", ".xlc"].iter().any(|ending| name.ends_with(ending));
        let text = if is_xml || name.starts_with("basic/") { pull::utf8(&bytes, budget)? } else { Bytes::new() };
        let Some(root) = office::root_of(&text, budget)? else {
            if is_script {
                self.tell.say_as(&rules::SCRIPT_FILE, Severity::High, &spot, "a script beside the document", out);
                self.tell.say_as(&rules::BASIC, Severity::High, &spot, "a script beside the document", out);
                self.archive.child(entry, out);
                return Ok(());
            }
            self.opaque(entry, name, &bytes, &spot, out);
            return Ok(());
        };
        self.keep_name(entry);
        let mut page = Page::new(spot.clone(), &mut self.tell, out);
        let mut key = "text";
        match root.as_slice() {
            b"manifest" => office::walk(&text, &mut Manifest::new(&mut self.locked), &mut page, budget)?,
            b"module" => office::walk(&text, &mut script::Module::default(), &mut page, budget)?,
            _ => {
                let mut body = Body::new(&mut self.styles, false);
                let walked = office::walk(&text, &mut body, &mut page, budget);
                key = body.key();
                walked?;
            }
        }
        let texts = page.texts;
        self.waiting.read(texts, key, &spot, out, budget);
        Ok(())
    }

    /// A part that is no XML.
    fn opaque(&mut self, entry: &Entry, name: &str, bytes: &Bytes, spot: &Spot, out: &mut Out<'_>) {
        let found = sniff::sniff(bytes).kind;
        let is_unknown = found == sniff::unknown() || found.risk == Risk::Unknown;
        let is_own = name.starts_with("objectreplacements/") || name == "layout-cache" || name.starts_with("fonts/");
        if is_unknown && is_own {
            self.keep_name(entry);
            let text = strings::runs(bytes);
            let view = TextView::decoded(text.into(), OffsetMap::Within(spot.span), Vec::new());
            out.read(view.place(spot.place.clone()).hidden(&rules::HIDDEN_UNSEEN));
            return;
        }
        if matches!(found.label, "ole" | "doc" | "xls" | "ppt") {
            self.tell.say_as(&embedded::OBJECT, Severity::Medium, spot, "an object of another program is inside", out);
        } else if found.risk != Risk::Inert && found.risk != Risk::Active {
            self.tell.say_as(&rules::EMBEDDED_FILE, Severity::Low, spot, "a file that is no part of the document", out);
        }
        self.archive.child(entry, out);
    }

    fn finish(mut self, out: &mut Out<'_>) {
        let mut names = Names::default();
        self.names.sort_unstable();
        for (at, name) in &self.names {
            names.add(name, *at);
        }
        names.read("names", out);
        if !self.locked.is_empty() {
            let detail = format!("{} parts of the document need a key", self.locked.len());
            out.gap(Gap::new(Reason::Encrypted, detail));
        }
        let whole = Spot { place: Place::default(), span: Span { start: 0, end: 0 } };
        let has = |name| self.archive.find(name).is_some();
        let (has_content, has_list) = (has("content.xml") || has("encrypted-package"), has("META-INF/manifest.xml"));
        // With neither it is an archive that calls itself a document, and nothing opens it as one.
        let severity = if has_content || has_list { Severity::Medium } else { Severity::Low };
        for (is_there, what) in [(has_content, "the content is missing"), (has_list, "the list of parts is missing")] {
            if !is_there {
                self.tell.say_as(&rules::STRUCTURE, severity, &whole, what, out);
            }
        }
        self.tell.finish(out);
    }
}

/// Reads the manifest: which parts need a key (ODF 1.3 part 2 §4.8).
#[derive(Debug)]
struct Manifest<'a> {
    locked: &'a mut BTreeSet<String>,
    current: String,
}

impl<'a> Manifest<'a> {
    fn new(locked: &'a mut BTreeSet<String>) -> Self {
        Self { locked, current: String::new() }
    }
}

impl office::Walk for Manifest<'_> {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        match tag.local() {
            b"file-entry" => {
                let path = tag.value(b"full-path").unwrap_or_default();
                self.current = String::from_utf8_lossy(&path).trim_start_matches('/').to_ascii_lowercase();
            }
            b"encryption-data" => {
                self.locked.insert(std::mem::take(&mut self.current));
            }
            _ => {}
        }
    }

    fn text(&mut self, _: &[u8], _: &mut Page<'_, '_>) {}

    fn end(&mut self, _: Name<'_>, _: &mut Page<'_, '_>) {}
}

#[cfg(test)]
mod tests;
