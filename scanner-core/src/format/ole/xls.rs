//! Excel workbooks (MS-XLS, and the older BIFF): one stream of records, walked once.

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;

use super::rules;
use crate::{
    finding::{Finding, Gap, Place, Reason, Rule, Severity, Stop},
    format::{Out, cfb::Stream, charset, fields::is_remote, office, strings},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::TextView,
};

mod formula;
mod words;

use formula::Calls;
use words::{Shared, Words};

const FORMULA: u16 = 0x06;
const END: u16 = 0x0a;
const HEADER: u16 = 0x14;
const FOOTER: u16 = 0x15;
const NAME: u16 = 0x18;
const EXTERNAL_SHEET: u16 = 0x17;
const NOTE: u16 = 0x1c;
const EXTERNAL_NAME: u16 = 0x23;
const FILE_PASS: u16 = 0x2f;
const CONTINUE: u16 = 0x3c;
const CODE_PAGE: u16 = 0x42;
const DCON_REF: u16 = 0x51;
const WRITER: u16 = 0x5c;
const SHEET: u16 = 0x85;
const RICH_STRING: u16 = 0xd6;
const DATABASE_QUERY: u16 = 0xdc;
const QUERY_STRING: u16 = 0xcd;
const SHARED_STRINGS: u16 = 0xfc;
const SHARED_CELL: u16 = 0xfd;
const SUP_BOOK: u16 = 0x1ae;
const TEXT_OBJECT: u16 = 0x1b6;
const LINK: u16 = 0x1b8;
const LABEL: u16 = 0x204;
const OLD_LABEL: u16 = 0x04;
const STRING: u16 = 0x207;
/// The begin of a substream, in five generations.
const BEGIN: [u16; 4] = [0x09, 0x209, 0x409, 0x809];

/// Steps of one record.
const STEPS_PER_RECORD: u64 = 6;
/// Bytes of a record looked at in one step.
const BYTES_PER_STEP: u64 = 4;

/// Whether a sheet is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Yes,
    Hidden,
    /// Only a macro can show it.
    Never,
}

/// The workbook while its records are walked.
struct Book<'a> {
    stream: &'a Stream,
    place: &'a Place,
    /// BIFF8: strings say how wide they are.
    is_new: bool,
    page: u16,
    /// Where the substreams of sheets begin that are not shown.
    hidden_sheets: Vec<u64>,
    /// Where the last of all sheets begins, as listed.
    last_sheet: u64,
    told: BTreeSet<(&'static str, &'static str)>,
    shared: Shared,
    /// Texts of cells, names, comments: shown and hidden ones.
    cells: Words,
    hidden_cells: Words,
    /// Depth at which the substream of a sheet began that is not shown.
    hidden_from: Option<u32>,
    links: u64,
    calls: Calls,
    depth: u32,
}

/// Reads the records of the stream `Workbook` or `Book`.
pub(super) fn read(stream: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut book = Book {
        stream,
        place,
        is_new: true,
        page: charset::WESTERN,
        hidden_sheets: Vec::new(),
        last_sheet: 0,
        told: BTreeSet::new(),
        shared: Shared::default(),
        cells: Words::default(),
        hidden_cells: Words::default(),
        hidden_from: None,
        links: 0,
        calls: Calls::default(),
        depth: 0,
    };
    let walked = book.walk(out, budget);
    book.finish(out);
    walked
}

impl Book<'_> {
    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let bytes = self.stream.bytes.clone();
        let mut reader = Reader::new(&bytes);
        let mut is_first = true;
        let mut continued = NAME;
        while reader.left() >= 4 {
            let start = reader.position();
            let kind = reader.u16_le()?;
            let length = reader.u16_le()?;
            budget.spend(Resource::Steps, STEPS_PER_RECORD)?;
            if is_first && !BEGIN.contains(&kind) {
                return Err(self.stop("the workbook does not begin like one", start));
            }
            is_first = false;
            // Streams are padded with zeros behind the last substream.
            if kind == 0 && length == 0 && self.depth == 0 {
                break;
            }
            let Ok(data) = reader.take(length.into()) else {
                return Err(self.stop("a record of the workbook is longer than what is left", start));
            };
            let range = start..reader.position();
            budget.spend(Resource::Steps, count(data.len()).div_ceil(BYTES_PER_STEP))?;
            match kind {
                FILE_PASS => {
                    out.gap(Gap::new(Reason::Encrypted, "the workbook needs a password").at_offset(self.at(&range)));
                    return Ok(());
                }
                CONTINUE => self.go_on(continued, data, budget)?,
                _ => {
                    continued = kind;
                    self.record(kind, data, range, &mut reader, out, budget)?;
                }
            }
        }
        if is_first {
            return Err(self.stop("the workbook does not begin like one", 0));
        }
        // Not even the head of its first record is left.
        let is_cut = self.last_sheet.saturating_add(4) > count(bytes.len());
        if self.depth > 0 || is_cut {
            return Err(self.stop("the workbook ends before its last sheet does", reader.position()));
        }
        Ok(())
    }

    fn record(
        &mut self,
        kind: u16,
        data: &[u8],
        range: Range<usize>,
        reader: &mut Reader<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        match kind {
            kind if BEGIN.contains(&kind) => self.begin(kind, data, range, out),
            END => {
                self.depth = self.depth.saturating_sub(1);
                self.hidden_from = self.hidden_from.filter(|from| self.depth >= *from);
            }
            CODE_PAGE => self.page = Reader::new(data).u16_le().unwrap_or(self.page),
            SHEET => self.sheet(data, range, out, budget)?,
            NAME => self.name(data, range, out, budget)?,
            SHARED_STRINGS => self.shared(data, reader, budget)?,
            SHARED_CELL => {
                let index = data.get(6..10).and_then(|index| index.try_into().ok()).map_or(0, u32::from_le_bytes);
                self.shared.used(index, self.hidden_from.is_some());
            }
            LABEL | RICH_STRING => self.text(data.get(6..), 2, budget)?,
            OLD_LABEL => self.text(data.get(7..), 1, budget)?,
            STRING => self.text(Some(data), 2, budget)?,
            QUERY_STRING => {
                let text = self.string(data, 2, budget)?;
                if is_remote(&text) || text.starts_with("URL;") {
                    self.say(&rules::QUERY, "a query that loads from elsewhere", range, out);
                }
                self.push(&text);
            }
            HEADER | FOOTER if !data.is_empty() => {
                self.text(Some(data), if self.is_new { 2 } else { 1 }, budget)?;
            }
            WRITER => self.text(Some(data), if self.is_new { 2 } else { 1 }, budget)?,
            // Since 97 only who wrote the note; its words are those of a text object.
            NOTE => self.text(data.get(if self.is_new { 8 } else { 4 }..), 2, budget)?,
            FORMULA => self.formula(data.get(20..).unwrap_or_default(), data.get(22..).unwrap_or_default(), budget)?,
            SUP_BOOK => self.book(data.get(2..).unwrap_or_default(), 2, range, out, budget)?,
            EXTERNAL_SHEET if !self.is_new => self.book(data, 1, range, out, budget)?,
            EXTERNAL_NAME => {
                // OLE and DDE links say so in their flags; a name of one is no longer than its length says.
                let text = self.string(data.get(6..).unwrap_or_default(), 1, budget)?;
                self.push(&text);
            }
            DATABASE_QUERY => self.say(&rules::QUERY, "a query that loads from a data base", range, out),
            DCON_REF => {
                let text = strings::runs(data);
                self.push(&text);
            }
            LINK => {
                self.links = self.links.saturating_add(1);
                let text = strings::runs(data);
                self.push(&text);
            }
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, kind: u16, data: &[u8], range: Range<usize>, out: &mut Out<'_>) {
        let mut reader = Reader::new(data);
        let (version, what) = (reader.u16_le().unwrap_or(0), reader.u16_le().unwrap_or(0));
        if self.depth == 0 && what == 5 {
            self.is_new = kind == 0x809 && version >= 0x600;
        }
        self.depth = self.depth.saturating_add(1);
        let is_hidden = self.hidden_sheets.contains(&count(range.start));
        if is_hidden {
            self.hidden_from.get_or_insert(self.depth);
        }
        if what == 0x40 {
            self.say(&office::rules::XL4, "a sheet of macros", range, out);
        }
    }

    fn sheet(&mut self, data: &[u8], range: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Objects, 1)?;
        let mut reader = Reader::new(data);
        let (Ok(begins), Ok(state), Ok(what)) = (reader.u32_le(), reader.u8(), reader.u8()) else { return Ok(()) };
        self.last_sheet = self.last_sheet.max(begins.into());
        let shown = match state & 3 {
            0 => Shown::Yes,
            1 => Shown::Hidden,
            _ => Shown::Never,
        };
        let name = self.string(reader.rest(), 1, budget)?;
        self.push(&name);
        match shown {
            Shown::Yes => {}
            Shown::Hidden => self.say(&office::rules::HIDDEN_SHEET, "a sheet is hidden", range.clone(), out),
            Shown::Never => {
                let message = "a sheet is hidden so that only a macro can show it";
                self.say_as(&office::rules::HIDDEN_SHEET, Severity::Medium, message, range.clone(), out);
            }
        }
        if what == 1 {
            self.say(&office::rules::XL4, "a sheet of macros", range, out);
        }
        // More sheets than that are walked as if they were shown.
        if shown != Shown::Yes && self.hidden_sheets.len() < MOST_HIDDEN {
            self.hidden_sheets.push(begins.into());
        }
        Ok(())
    }

    /// A defined name: some run when the workbook is opened or closed (MS-XLS 2.5.114).
    fn name(&mut self, data: &[u8], range: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(data);
        let (Ok(flags), Ok(_), Ok(length), Ok(code)) = (reader.u16_le(), reader.u8(), reader.u8(), reader.u16_le())
        else {
            return Ok(());
        };
        let rest = data.get(14..).unwrap_or_default();
        let (is_wide, letters) = match rest.split_first() {
            Some((flag, letters)) if self.is_new => (flag & 1 != 0, letters),
            _ => (false, rest),
        };
        let length = usize::from(length).saturating_mul(if is_wide { 2 } else { 1 });
        let (name, formula) = letters.split_at_checked(length).unwrap_or((letters, &[]));
        let is_auto = match flags & 0x20 {
            0 => {
                let name = self.letters(name, is_wide, budget)?;
                let is_auto = name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("auto_"));
                self.push(&name);
                is_auto
            }
            // Auto_Open, Auto_Close, Auto_Activate, Auto_Deactivate.
            _ => matches!(name.first(), Some(1 | 2 | 0x0a | 0x0b)),
        };
        if is_auto {
            self.say(
                &office::rules::AUTOEXEC,
                "a name that runs macros when the workbook is opened or closed",
                range,
                out,
            );
        }
        let length = usize::from(code);
        self.code(formula.get(..length).unwrap_or(formula), budget)
    }

    /// A formula with its length before it.
    fn formula(&mut self, head: &[u8], code: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        let length = Reader::new(head).u16_le().map_or(0, usize::from);
        self.code(code.get(..length).unwrap_or(code), budget)
    }

    fn code(&mut self, code: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Steps, count(code.len()))?;
        let mut texts = Vec::new();
        self.calls.read(code, self.is_new, &mut texts);
        for (text, is_wide) in texts {
            let text = self.letters(text, is_wide, budget)?;
            self.push(&text);
        }
        Ok(())
    }

    /// Another workbook, or the server of a data exchange (MS-XLS 2.4.271).
    fn book(
        &mut self,
        data: &[u8],
        width: usize,
        range: Range<usize>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        // 0x0401 is this workbook, 0x3a01 are functions of add-ins; both have no path.
        if matches!(data, [1, 4 | 0x3a, ..]) && width == 2 || data.len() < 3 {
            return Ok(());
        }
        let text = self.string(data, width, budget)?;
        self.push(&text);
        let plain: String = text.chars().filter(|character| !character.is_control()).collect();
        // A path begins with one of three marks; a service and its topic have a mark between them.
        if text.chars().skip(1).any(|character| character == '\u{3}') && !text.starts_with(['\0', '\u{1}', '\u{2}']) {
            self.say(&office::rules::DDE, "a link that starts the program it names", range, out);
        } else if is_remote(&plain) || text.starts_with("\u{1}\u{5}") || text.starts_with("\u{1}\u{1}@") {
            self.say(&office::rules::REMOTE, "a workbook elsewhere is loaded when links are updated", range, out);
        } else if plain.len() > 1 {
            self.say(&rules::OTHER_BOOK, "cells are taken from another workbook", range, out);
        }
        Ok(())
    }

    /// The table of texts that cells refer to, with the records that continue it.
    fn shared(&mut self, data: &[u8], reader: &mut Reader<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut parts = vec![data];
        loop {
            let mut next = reader.clone();
            let (Ok(CONTINUE), Ok(length)) = (next.u16_le(), next.u16_le()) else { break };
            let Ok(data) = next.take(length.into()) else { break };
            budget.spend(Resource::Steps, STEPS_PER_RECORD.saturating_add(count(data.len())))?;
            parts.push(data);
            *reader = next;
        }
        Ok(self.shared.read(&parts, budget)?)
    }

    /// What continues a record: texts of comments and text boxes.
    fn go_on(&mut self, continued: u16, data: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        if continued == TEXT_OBJECT
            && let Some((flag, letters)) = data.split_first()
            && *flag <= 1
        {
            let text = self.letters(letters, *flag == 1, budget)?;
            self.push(&text);
        }
        Ok(())
    }

    fn text(&mut self, data: Option<&[u8]>, width: usize, budget: &mut Budget) -> Result<(), Stop> {
        let text = self.string(data.unwrap_or_default(), width, budget)?;
        self.push(&text);
        Ok(())
    }

    /// A string with its length before it, in one or two bytes.
    fn string(&self, data: &[u8], width: usize, budget: &mut Budget) -> Result<String, Stop> {
        let mut reader = Reader::new(data);
        let length = if width == 1 { reader.u8().map(u16::from) } else { reader.u16_le() };
        let Ok(length) = length else { return Ok(String::new()) };
        let is_wide = self.is_new && reader.u8().is_ok_and(|flags| flags & 1 != 0);
        let length = usize::from(length).saturating_mul(if is_wide { 2 } else { 1 });
        let letters = reader.rest();
        self.letters(letters.get(..length).unwrap_or(letters), is_wide, budget)
    }

    fn letters(&self, bytes: &[u8], is_wide: bool, budget: &mut Budget) -> Result<String, Stop> {
        Ok(match is_wide {
            true => charset::utf16(bytes, budget)?,
            false => charset::decode(bytes, if self.is_new { charset::WESTERN } else { self.page }, budget)?,
        })
    }

    fn push(&mut self, text: &str) {
        if self.hidden_from.is_some() { self.hidden_cells.push(text) } else { self.cells.push(text) }
    }

    /// Each thing once: a workbook has thousands of names and links.
    fn say(&mut self, rule: &'static Rule, message: &'static str, range: Range<usize>, out: &mut Out<'_>) {
        self.say_as(rule, rule.severity, message, range, out);
    }

    fn say_as(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        message: &'static str,
        range: Range<usize>,
        out: &mut Out<'_>,
    ) {
        if self.told.insert((&rule.id, message)) {
            let span = self.stream.span(range);
            let finding = Finding::built_in(rule).severity(severity).at(span.start, span.end);
            out.find(finding.place(self.place.clone()).message(message));
        }
    }

    fn at(&self, range: &Range<usize>) -> u64 {
        self.stream.span(range.clone()).start
    }

    fn stop(&self, what: &'static str, at: usize) -> Stop {
        Stop::malformed(what, self.stream.span(at..at).start)
    }

    /// What can be said once all records were seen, and the texts.
    fn finish(mut self, out: &mut Out<'_>) {
        let whole = 0..self.stream.bytes.len();
        for (rule, message) in self.calls.told() {
            self.say(rule, message, whole.clone(), out);
        }
        if self.links > 0 {
            let message = format!("{} links to other places", self.links);
            out.find(Finding::built_in(&office::rules::LINK).place(self.place.clone()).message(message));
        }
        let (shown, hidden) = self.shared.into_words();
        let map = self.stream.map();
        for (words, is_hidden) in [(shown, false), (self.cells, false), (hidden, true), (self.hidden_cells, true)] {
            let text: Bytes = words.into_text();
            if text.is_empty() {
                continue;
            }
            let view = TextView::decoded(text, map.clone(), vec!["biff"]).place(self.place.clone());
            out.read(if is_hidden { view.hidden(&office::rules::HIDDEN_STYLE) } else { view });
        }
    }
}

/// Sheets that are not shown and remembered as such.
const MOST_HIDDEN: usize = 64;
