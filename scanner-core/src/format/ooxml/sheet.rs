//! Workbooks: their sheets, names and shared texts, and the cells of a sheet (ECMA-376 part 1 §18).

use crate::{
    finding::Severity,
    format::{
        office::{Page, Sight, Walk, look::Styles, rules},
        pull::{Name, Tag},
    },
    reader::count,
    view::{Marks, cell_name},
};

use super::{other::Other, styles::CellStyles};

/// Columns of a sheet.
const COLUMNS: usize = 16_384;
/// Cells of the rectangle that a sheet spans from which on it is odd that few of them are there.
const FAR_CELLS: u64 = 1 << 30;
/// Cells of the rectangle for each that is there, from which on they are few.
const FAR_FOR_EACH: u64 = 10_000;
/// Shared texts that are announced and not there.
const MISSING_TEXTS: u64 = 100_000;
/// A shared text that is longer is put into a sheet once.
const SHORT_TEXT: usize = 32;

/// A sheet as the workbook lists it.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) state: State,
    /// Id of the relationship to its part.
    pub(super) id: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Visible,
    Hidden,
    VeryHidden,
}

/// What the workbook part says.
#[derive(Debug, Default)]
pub(super) struct Workbook {
    pub(super) sheets: Vec<Listed>,
    /// A name that Excel runs when the workbook opens or closes.
    pub(super) has_start: bool,
    in_name: bool,
    formula: Vec<u8>,
}

/// Whether Excel runs what a name refers to by itself.
pub(super) fn is_start(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("_xlnm.").unwrap_or(&name);
    ["auto_open", "auto_close", "auto_activate", "auto_deactivate"].iter().any(|start| name.starts_with(start))
}

impl Walk for Workbook {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        match tag.local() {
            b"sheet" => {
                let value = |name: &[u8]| tag.value(name).unwrap_or_default();
                let id = tag.attributes().find(|attribute| attribute.name.0.ends_with(b":id"));
                self.sheets.push(Listed {
                    name: String::from_utf8_lossy(&value(b"name")).into_owned(),
                    state: match &*value(b"state") {
                        b"hidden" => State::Hidden,
                        b"veryHidden" => State::VeryHidden,
                        _ => State::Visible,
                    },
                    id: id.map(|id| id.value().into_owned()).unwrap_or_default(),
                });
            }
            b"definedName" => {
                self.in_name = true;
                self.formula.clear();
                let name = tag.value(b"name").unwrap_or_default();
                self.has_start |= is_start(&String::from_utf8_lossy(&name));
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &[u8], _: &mut Page<'_, '_>) {
        if self.in_name {
            self.formula.extend_from_slice(text);
        }
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        if name.local() == b"definedName" {
            self.in_name = false;
            page.formula(&self.formula);
            page.texts.part(Sight::Unseen, &self.formula);
        }
    }
}

/// The texts that cells share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    text: Vec<u8>,
    ends: Vec<usize>,
    /// Which were put into a sheet where they are seen, and where not.
    used: Vec<(bool, bool)>,
}

impl Shared {
    /// A text is complete.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
        self.used.push((false, false));
    }

    /// A text, where it is to be put into a sheet: a long one only once.
    pub(super) fn take(&mut self, index: usize, is_seen: bool) -> Option<&[u8]> {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let text = self.text.get(start..*self.ends.get(index)?)?;
        let (seen, hidden) = self.used.get_mut(index)?;
        let is_again = std::mem::replace(if is_seen { seen } else { hidden }, true);
        (!is_again || text.len() <= SHORT_TEXT).then_some(text)
    }

    /// Texts that no cell shows.
    pub(super) fn unused(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let texts = starts.zip(&self.ends).map(|(start, end)| self.text.get(start..*end).unwrap_or_default());
        texts.zip(&self.used).filter(|(_, used)| **used == (false, false)).map(|(text, _)| text)
    }

    pub(super) fn count(&self) -> u64 {
        count(self.ends.len())
    }
}

/// Reads the part of shared texts.
#[derive(Debug)]
pub(super) struct SharedWalk<'a> {
    shared: &'a mut Shared,
    announced: u64,
    current: Vec<u8>,
    in_text: bool,
    /// How a reading aid is written, which is not shown in the cell.
    in_aid: bool,
}

impl<'a> SharedWalk<'a> {
    pub(super) fn new(shared: &'a mut Shared) -> Self {
        Self { shared, announced: 0, current: Vec::new(), in_text: false, in_aid: false }
    }
}

impl Walk for SharedWalk<'_> {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        match tag.local() {
            b"sst" => self.announced = number(tag, b"uniqueCount").unwrap_or(0),
            b"si" => self.current.clear(),
            b"t" => self.in_text = true,
            b"rPh" => self.in_aid = true,
            _ => {}
        }
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        match (self.in_text, self.in_aid) {
            (true, false) => self.current.extend_from_slice(text),
            (true, true) => page.texts.part(Sight::Unseen, text),
            (false, _) => {}
        }
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        match name.local() {
            b"si" => self.shared.push(&self.current),
            b"t" => self.in_text = false,
            b"rPh" => self.in_aid = false,
            b"sst" if self.announced > self.shared.count().saturating_add(MISSING_TEXTS) => {
                page.say(&rules::STRUCTURE, "more shared texts are announced than are there");
            }
            _ => {}
        }
    }
}

fn number(tag: &Tag<'_>, name: &[u8]) -> Option<u64> {
    std::str::from_utf8(&tag.value(name)?).ok()?.trim().parse().ok()
}

fn is_set(tag: &Tag<'_>, name: &[u8]) -> bool {
    tag.value(name).is_some_and(|value| matches!(&*value, b"1" | b"true" | b"on"))
}

/// `AB12` as row and column, from zero.
pub(super) fn coordinates(name: &[u8]) -> Option<(u64, u64)> {
    let (mut column, mut row, mut has_digit) = (0_u64, 0_u64, false);
    for byte in name {
        match byte {
            b'$' => {}
            b'A'..=b'Z' | b'a'..=b'z' if !has_digit => {
                let letter = u64::from(byte.to_ascii_uppercase().saturating_sub(b'A')).saturating_add(1);
                column = column.checked_mul(26)?.checked_add(letter)?;
            }
            b'0'..=b'9' => {
                has_digit = true;
                row = row.checked_mul(10)?.checked_add(u64::from(byte.saturating_sub(b'0')))?;
            }
            _ => return None,
        }
    }
    Some((row.checked_sub(1)?, column.checked_sub(1)?))
}

/// The cell that is open.
#[derive(Debug, Default)]
struct Cell {
    is_shared: bool,
    sight: Option<Sight>,
    value: Vec<u8>,
    formula: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    Value,
    Formula,
    /// A formula beside the cells: of a format or a check.
    Rule,
}

/// Walks one sheet.
pub(super) struct Sheet<'a> {
    inner: Other<'a>,
    styles: &'a CellStyles,
    shared: &'a mut Shared,
    is_hidden: bool,
    /// How many ranges of hidden columns begin at each column, less those that ended before.
    hidden_columns: Vec<i64>,
    is_row_hidden: bool,
    row: u64,
    column: u64,
    cell: Option<Cell>,
    inside: Inside,
    rule: Vec<u8>,
    extent: Extent,
}

/// What a sheet says of its size, and what is there.
#[derive(Debug, Default)]
struct Extent {
    announced: Option<(u64, u64)>,
    cells: u64,
    last: (u64, u64),
}

impl<'a> Sheet<'a> {
    pub(super) fn new(words: &'a Styles, styles: &'a CellStyles, shared: &'a mut Shared, is_hidden: bool) -> Self {
        Self {
            inner: Other::new(words, if is_hidden { Sight::Style } else { Sight::Seen }),
            styles,
            shared,
            is_hidden,
            hidden_columns: Vec::new(),
            is_row_hidden: false,
            row: 0,
            column: 0,
            cell: None,
            inside: Inside::Nothing,
            rule: Vec::new(),
            extent: Extent::default(),
        }
    }

    fn hide_columns(&mut self, tag: &Tag<'_>) {
        let range = number(tag, b"min").zip(number(tag, b"max"));
        let Some((from, to)) = range.filter(|_| is_set(tag, b"hidden")) else { return };
        self.hidden_columns.resize(COLUMNS.saturating_add(2), 0);
        for (at, step) in [(from.saturating_sub(1), 1), (to, -1)] {
            let at = usize::try_from(at).unwrap_or(COLUMNS).min(COLUMNS);
            if let Some(ranges) = self.hidden_columns.get_mut(at) {
                *ranges = ranges.saturating_add(step);
            }
        }
    }

    fn begin_cell(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        if let Some((row, column)) = tag.value(b"r").and_then(|name| coordinates(&name)) {
            (self.row, self.column) = (row, column);
        }
        let index = |number: u64| usize::try_from(number).ok();
        let look = number(tag, b"s").and_then(index).map(|format| self.styles.look(format));
        let is_column_hidden =
            index(self.column).and_then(|column| self.hidden_columns.get(column)).is_some_and(|ranges| *ranges > 0);
        let sight = if self.is_hidden || self.is_row_hidden || is_column_hidden {
            Sight::Style
        } else {
            look.unwrap_or_default().sight()
        };
        let is_shared = tag.value(b"t").is_some_and(|kind| &*kind == b"s");
        self.cell = Some(Cell { is_shared, sight: Some(sight), ..Cell::default() });
        page.texts.mark(Marks::cell(self.row, self.column));
    }

    fn end_cell(&mut self, page: &mut Page<'_, '_>) {
        let Some(cell) = self.cell.take() else { return };
        let sight = cell.sight.unwrap_or(Sight::Seen);
        if cell.is_shared {
            let index = std::str::from_utf8(&cell.value).ok().and_then(|index| index.trim().parse().ok());
            if let Some(text) = index.and_then(|index| self.shared.take(index, sight == Sight::Seen)) {
                page.texts.push(sight, text);
            }
        } else {
            page.texts.push(sight, &cell.value);
        }
        page.texts.break_off(sight, b'\t');
        if !cell.formula.is_empty() {
            let listed = page.spot.place.clone();
            page.spot.place = listed.clone().name("cell", cell_name(Marks::cell(self.row, self.column)));
            page.formula(&cell.formula);
            page.spot.place = listed;
            if memchr::memchr(b'"', &cell.formula).is_some() {
                page.texts.part(Sight::Unseen, &cell.formula);
            }
        }
        if !cell.value.is_empty() || !cell.formula.is_empty() {
            self.extent.add(self.row, self.column);
        }
        self.column = self.column.saturating_add(1);
    }
}

impl Extent {
    fn add(&mut self, row: u64, column: u64) {
        self.last = (self.last.0.max(row), self.last.1.max(column));
        self.cells = self.cells.saturating_add(1);
    }

    fn judge(&self, page: &mut Page<'_, '_>) {
        // Rows and columns count from the first: readers keep the rectangle from A1 on.
        let spanned = self.last.0.saturating_add(1).saturating_mul(self.last.1.saturating_add(1));
        let is_far = |cells: u64| cells >= FAR_CELLS && cells.checked_div(FAR_FOR_EACH).unwrap_or(0) > self.cells;
        if self.cells > 0 && is_far(spanned) {
            page.say(&rules::FAR, "a few cells span more than a thousand million");
        } else if let Some((rows, columns)) = self.announced
            && is_far(rows.saturating_mul(columns))
        {
            page.say(&rules::STRUCTURE, "the sheet says that it spans more than a thousand million cells, and has few");
        }
    }
}

impl Walk for Sheet<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        match tag.local() {
            b"c" => return self.begin_cell(tag, page),
            b"v" | b"t" if self.cell.is_some() => {
                self.inside = Inside::Value;
                return;
            }
            b"f" if self.cell.is_some() => {
                self.inside = Inside::Formula;
                return;
            }
            b"row" => {
                self.row = number(tag, b"r").map_or(self.row.saturating_add(1), |row| row.saturating_sub(1));
                self.column = 0;
                self.is_row_hidden = is_set(tag, b"hidden");
                return;
            }
            b"col" => return self.hide_columns(tag),
            b"sheetData" => {
                // From counts of what begins and ends to what is open.
                let mut open = 0_i64;
                for ranges in &mut self.hidden_columns {
                    open = open.saturating_add(*ranges);
                    *ranges = open;
                }
            }
            b"dimension" => {
                let range = tag.value(b"ref").unwrap_or_default();
                let end = range.split(|byte| *byte == b':').next_back().unwrap_or_default();
                self.extent.announced =
                    coordinates(end).map(|(row, column)| (row.saturating_add(1), column.saturating_add(1)));
            }
            b"formula" | b"formula1" | b"formula2" | b"f" => self.inside = Inside::Rule,
            b"sheetPr" | b"sheetView" | b"sheetFormatPr" => {}
            _ => {}
        }
        self.inner.start(tag, page);
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        match (self.inside, &mut self.cell) {
            (Inside::Value, Some(cell)) => cell.value.extend_from_slice(text),
            (Inside::Formula, Some(cell)) => cell.formula.extend_from_slice(text),
            (Inside::Rule, _) => self.rule.extend_from_slice(text),
            // Line ends between elements.
            (_, Some(_)) => {}
            (_, None) => self.inner.text(text, page),
        }
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        match name.local() {
            b"c" => return self.end_cell(page),
            b"v" | b"t" if self.cell.is_some() => {
                self.inside = Inside::Nothing;
                return;
            }
            b"f" if self.cell.is_some() => {
                self.inside = Inside::Nothing;
                return;
            }
            b"row" => {
                page.texts.break_all(b'\n');
                return;
            }
            b"formula" | b"formula1" | b"formula2" | b"f" => {
                self.inside = Inside::Nothing;
                let rule = std::mem::take(&mut self.rule);
                page.formula(&rule);
                page.texts.part(Sight::Unseen, &rule);
            }
            b"worksheet" | b"macrosheet" => self.extent.judge(page),
            _ => {}
        }
        self.inner.end(name, page);
    }
}

/// What is said of a sheet that is hidden.
pub(super) fn hidden(state: State, is_macro: bool, page: &mut Page<'_, '_>) {
    let (severity, message) = match (state, is_macro) {
        (State::Visible, _) => return,
        (State::VeryHidden, _) => (Severity::Medium, "a sheet is very hidden: no menu shows it"),
        (State::Hidden, true) => (Severity::Medium, "a sheet of macros is hidden"),
        (State::Hidden, false) => (Severity::Low, "a sheet is hidden"),
    };
    page.say_as(&rules::HIDDEN_SHEET, severity, message);
}
