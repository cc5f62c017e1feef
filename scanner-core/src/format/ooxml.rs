//! Office Open XML: documents, workbooks and decks, with and without macros, strict and transitional (ECMA-376).
//!
//! Every part is read: what a part is, its first element says, not its name. Parts that are understood are no
//! children; pictures, embedded files and what nobody knows are.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{
    finding::{Place, Severity, Span, Stop},
    format::{
        Format, Out, Subject, embedded,
        names::Names,
        office::{self, Page, Plain, Sight, Spot, Tell, Waiting, Walk, look::Styles, rules},
        pull, strings, vba,
        zip::{self, Archive, Entry, Kind},
    },
    limits::Budget,
    reader::count,
    sniff::{self, Risk},
    view::{OffsetMap, TextView},
};

mod binary;
mod clean;
pub(crate) mod flat;
mod other;
mod package;
mod sheet;
mod slide;
mod styles;
mod word;

use other::Other;
use package::{ContentTypes, Relationships, RelsWalk};
use sheet::{Shared, SharedWalk, Sheet, State, Workbook};
use slide::{Deck, Slide};
use styles::{CellStyles, CellStylesWalk, WordStylesWalk};

pub(crate) const FORMAT: Format = Format {
    name: "ooxml",
    labels: &["docx", "xlsx", "pptx"],
    inspect,
    clean: Some(clean::clean),
    rules: &rules::WITH_ZIP,
};

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let archive = zip::open(subject, out, budget);
    let mut document = Document::new(&archive);
    let read = document.read(out, budget);
    document.finish(out, budget);
    let closed = archive.finish(out);
    read.and(closed)
}

/// Parts that others refer to, where nothing else says what they are.
const SHARED: [&str; 6] =
    ["/sharedstrings.xml", "/styles.xml", "/workbook.xml", "/presentation.xml", "/workbook.bin", "/sharedstrings.bin"];

/// In which order parts are read: what others refer to comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Types,
    Relationships,
    Shared,
    Rest,
}

/// A document being read.
struct Document<'a> {
    archive: &'a Archive<'a>,
    types: ContentTypes,
    relationships: Relationships,
    words: Styles,
    cells: CellStyles,
    shared: Shared,
    shared_spot: Option<Spot>,
    workbook: Workbook,
    deck: Deck,
    /// Parts of sheets and slides, in lower case, and their numbers.
    sheets: BTreeMap<String, usize>,
    slides: BTreeMap<String, u64>,
    tell: Tell,
    waiting: Waiting,
    /// Names of parts that do not become children, and where they stand.
    names: Vec<(usize, Bytes)>,
    has_vba: bool,
    has_start: bool,
}

/// One part.
struct Part<'e> {
    entry: &'e Entry,
    /// In lower case, with slashes.
    name: String,
    kind: String,
    relation: String,
    spot: Spot,
}

impl<'a> Document<'a> {
    fn new(archive: &'a Archive<'a>) -> Self {
        Self {
            archive,
            types: ContentTypes::default(),
            relationships: Relationships::default(),
            words: Styles::default(),
            cells: CellStyles::default(),
            shared: Shared::default(),
            shared_spot: None,
            workbook: Workbook::default(),
            deck: Deck::default(),
            sheets: BTreeMap::new(),
            slides: BTreeMap::new(),
            tell: Tell::default(),
            waiting: Waiting::default(),
            names: Vec::new(),
            has_vba: false,
            has_start: false,
        }
    }

    fn read(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        for turn in [Turn::Types, Turn::Relationships, Turn::Shared, Turn::Rest] {
            for entry in self.archive.entries() {
                let part = self.part(entry);
                if self.turn(&part) == turn && entry.kind == Kind::File && !entry.is_empty() {
                    self.look(&part, turn, out, budget)?;
                }
            }
            if turn == Turn::Shared {
                self.place_sheets();
            }
        }
        Ok(())
    }

    fn part<'e>(&self, entry: &'e Entry) -> Part<'e> {
        let name = entry.name.replace('\\', "/").trim_start_matches('/').to_ascii_lowercase();
        let place = match office::part_name(&entry.name) {
            Some(name) => Place::default().name("entry", name),
            None => entry.place(),
        };
        Part {
            entry,
            kind: self.types.of(&name).to_owned(),
            relation: self.relationships.kind(&name).to_owned(),
            name,
            spot: Spot { place, span: office::span_of(entry.data.clone(), entry.at) },
        }
    }

    fn turn(&self, part: &Part<'_>) -> Turn {
        if part.name == "[content_types].xml" {
            Turn::Types
        } else if package::source_of(&part.name).is_some() {
            Turn::Relationships
        } else if matches!(part.relation.as_str(), "styles" | "sharedstrings")
            || part.relation == "officedocument" && !part.kind.contains("word")
            || ["sharedstrings+xml", "sharedstrings", "styles+xml"].iter().any(|kind| part.kind.ends_with(kind))
            || SHARED.iter().any(|name| part.name.ends_with(name))
        {
            Turn::Shared
        } else {
            Turn::Rest
        }
    }

    fn look(&mut self, part: &Part<'_>, turn: Turn, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let bytes = self.archive.read(part.entry, out, budget);
        let Some(bytes) = bytes else {
            self.keep_name(part);
            return Ok(());
        };
        let ending = part.name.rsplit('.').next().unwrap_or_default();
        let is_xml = matches!(ending, "xml" | "rels" | "vml") || part.kind.ends_with("xml") || part.kind.is_empty();
        let text = if is_xml { pull::utf8(&bytes, budget)? } else { Bytes::new() };
        let root = office::root_of(&text, budget)?;
        match root {
            Some(root) if !matches!(root.as_slice(), b"svg" | b"html") => {
                self.keep_name(part);
                self.xml(part, &root, &text, turn, out, budget)?;
            }
            _ => self.opaque(part, &bytes, out, budget)?,
        }
        Ok(())
    }

    /// The name of a part that becomes no child is read here.
    fn keep_name(&mut self, part: &Part<'_>) {
        self.names.push((part.entry.name_start(), part.entry.raw.clone()));
    }

    /// Where a person looks for a part: its sheet, its slide, or its name.
    fn spot_of(&self, part: &Part<'_>) -> Spot {
        let mut spot = part.spot.clone();
        let sheet = self.sheets.get(&part.name).and_then(|at| Some((*at, self.workbook.sheets.get(*at)?)));
        if let Some((at, listed)) = sheet {
            spot.place = match office::short_name(&listed.name) {
                Some(name) => Place::default().name("sheet", name),
                None => Place::default().number("sheet", count(at).saturating_add(1)),
            };
        }
        if let Some(number) = self.slides.get(&part.name) {
            spot.place = Place::default().number("slide", *number);
        }
        spot
    }

    /// A part that is XML, by its first element.
    fn xml(
        &mut self,
        part: &Part<'_>,
        root: &[u8],
        text: &[u8],
        turn: Turn,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let spot = self.spot_of(part);
        let mut key = "paragraph";
        let mut has_start = false;
        let listed = self.sheets.get(&part.name).and_then(|number| self.workbook.sheets.get(*number));
        let state = listed.map_or(State::Visible, |listed| listed.state);
        let mut page = Page::new(spot.clone(), &mut self.tell, out);
        page.is_lenient = part.name.ends_with(".vml");
        let words = &self.words;
        let mut walk = |walker: &mut dyn Walk, page: &mut Page<'_, '_>| office::walk(text, walker, page, budget);
        match root {
            b"Types" if turn == Turn::Types => walk(&mut self.types, &mut page)?,
            b"Relationships" => {
                let source = package::source_of(&part.name).unwrap_or_default();
                walk(&mut RelsWalk::new(&mut self.relationships, source), &mut page)?;
            }
            b"workbook" => walk(&mut self.workbook, &mut page)?,
            b"sst" => {
                self.shared_spot = Some(spot.clone());
                walk(&mut SharedWalk::new(&mut self.shared), &mut page)?;
            }
            b"styleSheet" => walk(&mut CellStylesWalk::new(&mut self.cells), &mut page)?,
            b"styles" => walk(&mut WordStylesWalk::new(&mut self.words), &mut page)?,
            b"presentation" => walk(&mut self.deck, &mut page)?,
            b"worksheet" | b"macrosheet" | b"dialogsheet" | b"chartsheet" => {
                key = "cell";
                let is_macro = root == b"macrosheet" || part.kind.contains("macrosheet");
                if is_macro {
                    page.say(&rules::XL4, "a sheet of Excel 4 macros");
                }
                sheet::hidden(state, is_macro, &mut page);
                let is_hidden = state != State::Visible;
                walk(&mut Sheet::new(words, &self.cells, &mut self.shared, is_hidden), &mut page)?;
            }
            b"sld" | b"sldLayout" | b"sldMaster" => {
                walk(&mut Slide::new(words, self.deck.size, Sight::Seen), &mut page)?;
            }
            b"notes" | b"notesMaster" | b"handoutMaster" => {
                walk(&mut Slide::new(words, self.deck.size, Sight::OffPage), &mut page)?;
            }
            b"theme" | b"themeOverride" | b"tblStyleLst" | b"calcChain" => walk(&mut Plain, &mut page)?,
            _ => {
                let is_aside = matches!(root, b"comments" | b"cmLst" | b"ThreadedComments" | b"personList");
                let whole = if is_aside { Sight::Unseen } else { Sight::Seen };
                let mut other = Other::new(words, whole);
                walk(&mut other, &mut page)?;
                has_start = other.has_start;
            }
        }
        let texts = page.texts;
        self.has_start |= has_start;
        self.waiting.read(texts, key, &spot, out, budget);
        Ok(())
    }

    /// Sheets and slides get their numbers.
    fn place_sheets(&mut self) {
        let Some(main) = self.relationships.main() else { return };
        for (number, listed) in self.workbook.sheets.iter().enumerate() {
            if let Some(relationship) = self.relationships.of(main, &listed.id) {
                self.sheets.insert(relationship.part.clone(), number);
            }
        }
        for (number, id) in (1..).zip(&self.deck.slides) {
            if let Some(relationship) = self.relationships.of(main, id) {
                self.slides.insert(relationship.part.clone(), number);
            }
        }
    }

    /// A part that is no XML.
    fn opaque(&mut self, part: &Part<'_>, bytes: &Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let kind = part.kind.as_str();
        // The type of an ending is that of many parts; what leads to this one says more.
        let is_object = matches!(part.relation.as_str(), "oleobject" | "package" | "image" | "activexcontrolbinary");
        let is_project = part.relation == "vbaproject"
            || part.name.ends_with("vbaproject.bin")
            || kind.ends_with("vbaproject") && !is_object;
        if is_project {
            self.keep_name(part);
            self.has_vba = true;
            let read = vba::inspect(bytes, Some(part.spot.span), &part.spot.place, out, budget);
            return office::carry_on(read, &part.spot, out);
        }
        if binary::is_record_part(bytes, part.name.as_str(), kind) {
            self.keep_name(part);
            return self.records(part, bytes, out, budget);
        }
        let found = sniff::sniff(bytes).kind;
        let is_unknown = found == sniff::unknown() || found.risk == Risk::Unknown;
        if is_own(kind, &part.relation, &part.name) && is_unknown {
            self.keep_name(part);
            let text = strings::runs(bytes);
            let map = OffsetMap::Within(part.spot.span);
            out.read(
                TextView::decoded(text.into(), map, Vec::new())
                    .place(part.spot.place.clone())
                    .hidden(&rules::HIDDEN_UNSEEN),
            );
            return Ok(());
        }
        let mut say = |rule, severity, message: &str| self.tell.say_as(rule, severity, &part.spot, message, out);
        if embedded::is_run(bytes, Some(&part.name)) {
            say(&embedded::EXECUTABLE, Severity::High, "a program is inside");
        }
        let is_office = matches!(found.label, "docx" | "xlsx" | "pptx" | "odt" | "ods" | "odp");
        match part.relation.as_str() {
            _ if kind.ends_with("activex") || part.relation.starts_with("activex") || part.relation == "control" => {
                say(&rules::ACTIVEX, Severity::Medium, "the data of a control");
            }
            "afchunk" => say(&rules::EMBEDDED_FILE, Severity::Medium, "a file is put into the text when it opens"),
            _ if is_office => say(&rules::EMBEDDED_FILE, Severity::Low, "another document is inside"),
            "oleobject" => say(&embedded::OBJECT, Severity::Medium, "an object of another program is inside"),
            _ if matches!(found.label, "ole" | "doc" | "xls" | "ppt") || kind.ends_with("oleobject") => {
                say(&embedded::OBJECT, Severity::Medium, "an object of another program is inside");
            }
            "package" => say(&rules::EMBEDDED_FILE, Severity::Medium, "a file is inside"),
            "image" | "thumbnail" | "font" | "video" | "audio" | "media" | "hdphoto" => {}
            _ if matches!(found.risk, Risk::Inert) => {}
            _ => say(&rules::EMBEDDED_FILE, Severity::Low, "a file that is no part of the document"),
        }
        self.archive.child(part.entry, out);
        Ok(())
    }

    fn finish(mut self, out: &mut Out<'_>, budget: &Budget) {
        let mut names = Names::default();
        self.names.sort_unstable();
        for (at, name) in &self.names {
            names.add(name, *at);
        }
        names.read("names", out);
        let whole = Spot { place: Place::default(), span: Span { start: 0, end: 0 } };
        if let Some(spot) = self.shared_spot.take() {
            let mut page = Page::new(spot.clone(), &mut self.tell, out);
            for text in self.shared.unused() {
                page.texts.part(Sight::Unseen, text);
            }
            let texts = page.texts;
            self.waiting.read(texts, "text", &spot, out, budget);
        }
        let has_sheet = self.tell.has(&rules::XL4);
        if self.has_start || self.workbook.has_start {
            let severity = if has_sheet || self.has_vba { Severity::High } else { Severity::Low };
            self.tell.say_as(&rules::AUTOEXEC, severity, &whole, "a name says what runs when the document opens", out);
        }
        let main = self.relationships.main().filter(|main| self.archive.find(main).is_some());
        let declared = main.map(|main| self.types.of(main)).unwrap_or_default();
        if (self.has_vba || has_sheet) && !declared.is_empty() && !declared.contains("macroenabled") {
            self.tell.say_as(
                &rules::TYPE_LIE,
                Severity::Medium,
                &whole,
                "macros in a document of the kind without",
                out,
            );
        }
        let missing = if self.archive.find("[Content_Types].xml").is_none() {
            Some("the list of types is missing")
        } else if main.is_none() {
            Some("the main part is missing, or nothing says which it is")
        } else if declared.is_empty() {
            Some("nothing says of what type the main part is")
        } else {
            None
        };
        if let Some(missing) = missing {
            self.tell.say_as(&rules::STRUCTURE, Severity::Medium, &whole, missing, out);
        }
        self.tell.finish(out);
    }
}

/// Binary parts that Office writes for itself: settings of printers, scrambled fonts, signatures of projects.
fn is_own(kind: &str, relation: &str, name: &str) -> bool {
    ["printersettings", "obfuscatedfont", "customproperty", "vbaprojectsignature", "vbaprojectsignatureagile"]
        .iter()
        .chain(&[
            "vbaprojectsignaturev3",
            "model+data",
            "x-fontdata",
            "binindex",
            "attachedtoolbars",
            "vnd.ms-excel.binindexws",
        ])
        .any(|known| kind.ends_with(known))
        || ["printersettings", "font", "customproperty", "xlbinaryindex", "attachedtoolbars", "keymapcustomizations"]
            .contains(&relation)
        // What Office itself overwrote and left behind.
        || name.starts_with("[trash]/")
        || name.contains("/printersettings/")
        || name.ends_with(".odttf")
        || name.ends_with(".fntdata")
}

#[cfg(test)]
pub(in crate::format) mod tests;
