//! The content of a document: texts with what hides them, cells, links, events, fields (ODF 1.3 part 3).

use crate::{
    finding::Severity,
    format::{
        office::{
            Page, Sight, Walk,
            link::{self, Reach},
            look::Look,
            rules, short_name,
        },
        pull::{Name, Tag},
    },
    view::{Marks, cell_name},
};

use super::{length, script, styles::OdfStyles};

/// Cells with content that repetition makes, from which on it is a bomb: more than any sheet has rows.
const MOST_REPEATED: u64 = 4_194_304;
/// A page where nothing says its size: 28 by 21 centimetres.
const PAGE: (i64, i64) = (28_000, 21_000);

/// Walks content, styles, properties, settings, and flat documents.
pub(super) struct Body<'a> {
    styles: &'a mut OdfStyles,
    is_flat: bool,
    depth: usize,
    /// Depths from which on text looks so, all that is around counted in.
    looks: Vec<(usize, Look)>,
    /// Depths at which something began that is not seen, and how.
    asides: Vec<(usize, Sight)>,
    paragraphs: u64,
    in_paragraph: u32,
    slide: u64,
    sheet: Option<Table>,
    is_scripts: bool,
    script: Option<Vec<u8>>,
    is_binary: bool,
    has_cells: bool,
    has_slides: bool,
}

/// A table that is open.
#[derive(Debug, Default)]
struct Table {
    row: u64,
    column: u64,
    /// How often this row, and this cell, are repeated.
    rows: u64,
    columns: u64,
    is_row_hidden: bool,
    cell: Look,
    has_content: bool,
    repeated: u64,
}

impl<'a> Body<'a> {
    pub(super) fn new(styles: &'a mut OdfStyles, is_flat: bool) -> Self {
        Self {
            styles,
            is_flat,
            depth: 0,
            looks: Vec::new(),
            asides: Vec::new(),
            paragraphs: 0,
            in_paragraph: 0,
            slide: 0,
            sheet: None,
            is_scripts: false,
            script: None,
            is_binary: false,
            has_cells: false,
            has_slides: false,
        }
    }

    /// What the marks of its texts count.
    pub(super) const fn key(&self) -> &'static str {
        match (self.has_cells, self.has_slides) {
            (true, _) => "cell",
            (false, true) => "slide",
            (false, false) => "paragraph",
        }
    }

    fn sight(&self) -> Sight {
        if let Some((_, sight)) = self.asides.last() {
            return *sight;
        }
        let mut look = self.looks.last().map_or_else(Look::default, |(_, look)| *look);
        if let Some(table) = &self.sheet {
            if table.is_row_hidden {
                return Sight::Style;
            }
            look = look.with(table.cell);
        }
        look.sight()
    }

    fn aside(&mut self, sight: Sight) {
        self.asides.push((self.depth, sight));
    }

    fn look(&mut self, tag: &Tag<'_>, family: &[u8]) {
        let name = tag.value(b"style-name").unwrap_or_default();
        let look = self.styles.look(family, &name);
        if look != Look::default() {
            let whole = self.looks.last().map_or(look, |(_, around)| around.with(look));
            self.looks.push((self.depth, whole));
        }
    }

    fn table(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        let name = tag.value(b"name").unwrap_or_default();
        if let Some(name) = short_name(&String::from_utf8_lossy(&name)) {
            page.spot.place = page.spot.place.clone().name("sheet", name);
        }
        if self.styles.is_hidden(b"table", &tag.value(b"style-name").unwrap_or_default()) {
            page.say_as(&rules::HIDDEN_SHEET, Severity::Medium, "a sheet is hidden");
            self.aside(Sight::Style);
        }
        self.sheet = Some(Table::default());
    }

    fn row(&mut self, tag: &Tag<'_>) {
        let Some(table) = &mut self.sheet else { return };
        table.rows = number(tag, b"number-rows-repeated").unwrap_or(1);
        table.column = 0;
        let visibility = tag.value(b"visibility").unwrap_or_default();
        table.is_row_hidden = matches!(&*visibility, b"collapse" | b"filter");
    }

    fn cell(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        let style = tag.value(b"style-name").unwrap_or_default();
        let look = self.styles.look(b"table-cell", &style);
        let formula = tag.value(b"formula").unwrap_or_default();
        let has_value = [&b"value"[..], b"string-value", b"date-value", b"boolean-value", b"time-value"]
            .iter()
            .any(|name| tag.attribute(name).is_some());
        let Some(table) = &mut self.sheet else { return };
        self.has_cells = true;
        table.columns = number(tag, b"number-columns-repeated").unwrap_or(1);
        table.cell = look;
        table.has_content = has_value || !formula.is_empty();
        let cell = Marks::cell(table.row, table.column);
        page.texts.mark(cell);
        if !formula.is_empty() {
            let listed = page.spot.place.clone();
            page.spot.place = listed.clone().name("cell", cell_name(cell));
            page.formula(&formula);
            page.spot.place = listed;
        }
        if let Some(text) = tag.value(b"string-value") {
            page.texts.push(self.sight(), &text);
        }
    }

    fn end_cell(&mut self, page: &mut Page<'_, '_>) {
        page.texts.break_all(b'\t');
        let Some(table) = &mut self.sheet else { return };
        let cells = table.columns.saturating_mul(table.rows.max(1));
        if table.has_content && cells > 1 {
            table.repeated = table.repeated.saturating_add(cells);
        }
        table.column = table.column.saturating_add(table.columns);
        table.has_content = false;
        table.cell = Look::default();
    }

    fn end_row(&mut self, page: &mut Page<'_, '_>) {
        page.texts.break_all(b'\n');
        if let Some(table) = &mut self.sheet {
            table.row = table.row.saturating_add(table.rows.max(1));
            table.is_row_hidden = false;
        }
    }

    /// A link of that use. Inside a package a path leads to a part of it, and only `..` leaves it.
    fn link(&self, used: link::Use, target: &[u8], page: &mut Page<'_, '_>) {
        let is_part = link::reach(target) == Reach::Beside && !target.trim_ascii_start().starts_with(b"..");
        if !is_part || self.is_flat && used != link::Use::Link {
            page.link(used, target);
        }
    }

    fn event(&self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        if tag.value(b"action").is_some_and(|action| &*action == b"execute") {
            page.say(&rules::PROGRAM, "an event starts a program");
            return;
        }
        let target = tag.value(b"href").unwrap_or_default();
        let is_macro = target.starts_with(b"vnd.sun.star.script:")
            || target.starts_with(b"macro:")
            || tag.attribute(b"macro-name").is_some()
            || tag.attribute(b"language").is_some();
        if !is_macro {
            self.link(link::Use::Link, &target, page);
            return;
        }
        let name = tag.value(b"event-name").unwrap_or_default();
        let is_of_document = self.is_scripts || name.starts_with(b"office:") || name.ends_with(b":load");
        if is_of_document {
            page.say(&rules::AUTOEXEC, "an event of the document runs a macro");
        }
        let severity = if is_of_document { Severity::High } else { Severity::Medium };
        page.say_as(&rules::BASIC, severity, "an event runs a macro");
    }

    /// A shape of a slide that stands beside it.
    fn shape(&mut self, tag: &Tag<'_>) {
        let read = |name: &[u8]| tag.value(name).and_then(|value| length::read(&value));
        let Some((x, y)) = read(b"x").zip(read(b"y")).filter(|_| self.has_slides) else { return };
        let (width, height) = (read(b"width").unwrap_or(0), read(b"height").unwrap_or(0));
        let (page_width, page_height) = self.styles.page.unwrap_or(PAGE);
        if x.saturating_add(width) <= 0 || y.saturating_add(height) <= 0 || x >= page_width || y >= page_height {
            self.aside(Sight::OffPage);
        }
    }
}

/// The use of a link by the element that has it.
fn used(element: &[u8]) -> link::Use {
    match element {
        b"a" | b"hyperlink-behaviour" | b"area-rectangle" | b"area-circle" | b"area-polygon" => link::Use::Link,
        b"image" | b"fill-image" | b"background-image" | b"sound" | b"font-face-uri" | b"marker" => link::Use::Media,
        b"object" | b"object-ole" | b"plugin" | b"applet" => link::Use::Object,
        b"floating-frame" | b"auto-reload" => link::Use::Frame,
        b"template" => link::Use::Template,
        b"table-source" | b"cell-range-source" | b"section-source" | b"connection-resource" | b"database-location" => {
            link::Use::Data
        }
        _ => link::Use::Other,
    }
}

impl Walk for Body<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        self.depth = self.depth.saturating_add(1);
        self.styles.start(tag);
        let is = |name: &[u8], wanted: &[u8]| tag.value(name).is_some_and(|value| &*value == wanted);
        match tag.local() {
            b"p" | b"h" => {
                self.in_paragraph = self.in_paragraph.saturating_add(1);
                self.paragraphs = self.paragraphs.saturating_add(1);
                match &mut self.sheet {
                    Some(table) => table.has_content = true,
                    None if !self.has_slides => page.texts.mark(self.paragraphs),
                    None => {}
                }
                self.look(tag, b"paragraph");
            }
            b"span" => self.look(tag, b"text"),
            b"s" => page.texts.push(self.sight(), b" "),
            b"tab" => page.texts.push(self.sight(), b"\t"),
            b"line-break" => page.texts.push(self.sight(), b"\n"),
            b"hidden-text" | b"deletion" => self.aside(Sight::Style),
            b"hidden-paragraph" if !is(b"is-hidden", b"false") => self.aside(Sight::Style),
            b"section" if is(b"display", b"none") || is(b"display", b"condition") => self.aside(Sight::Style),
            b"annotation" => self.aside(Sight::Unseen),
            b"notes" if tag.name.prefix() == b"presentation" => self.aside(Sight::OffPage),
            b"page" if tag.attribute(b"master-page-name").is_some() => {
                self.has_slides = true;
                self.slide = self.slide.saturating_add(1);
                page.texts.mark(self.slide);
                if self.styles.is_hidden(b"drawing-page", &tag.value(b"style-name").unwrap_or_default()) {
                    self.aside(Sight::OffPage);
                }
            }
            b"frame" | b"custom-shape" | b"rect" | b"text-box" => self.shape(tag),
            b"table" => self.table(tag, page),
            b"table-row" => self.row(tag),
            b"table-cell" | b"covered-table-cell" => self.cell(tag, page),
            b"scripts" => self.is_scripts = true,
            b"script" if tag.attribute(b"language").is_some() => self.script = Some(Vec::new()),
            b"module" | b"source-code" => self.script = Some(Vec::new()),
            b"event-listener" => return self.event(tag, page),
            b"dde-source" | b"dde-connection-decl" | b"dde-link" if tag.attribute(b"dde-application").is_some() => {
                page.say(&rules::DDE, "the document is linked to another program");
            }
            b"binary-data" => self.is_binary = true,
            b"plugin" | b"applet" => page.say(&rules::ACTIVEX, "a plug-in stands in the document"),
            b"execute-macro" => page.say(&rules::BASIC, "a field runs a macro"),
            _ => {}
        }
        // Formulas of fields, conditions and checks; a cell's own is looked at with its cell.
        if !matches!(tag.local(), b"table-cell" | b"covered-table-cell") {
            for name in [&b"formula"[..], b"condition"] {
                if let Some(formula) = tag.value(name) {
                    page.formula(&formula);
                }
            }
        }
        if let Some(target) = tag.value(b"href") {
            self.link(used(tag.local()), &target, page);
        }
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        if let Some(script) = &mut self.script {
            script.extend_from_slice(text);
        } else if self.is_binary {
            page.binary(text);
        } else if self.in_paragraph > 0 {
            page.texts.push(self.sight(), text);
        } else if !text.trim_ascii().is_empty() {
            page.texts.part(Sight::Unseen, text);
        }
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        match name.local() {
            b"p" | b"h" => {
                self.in_paragraph = self.in_paragraph.saturating_sub(1);
                page.texts.break_all(b'\n');
            }
            b"table-cell" | b"covered-table-cell" => self.end_cell(page),
            b"table-row" => self.end_row(page),
            b"table" => {
                if self.sheet.take().is_some_and(|table| table.repeated > MOST_REPEATED) {
                    page.say(&rules::REPEAT, "cells with content are repeated more often than a sheet has rows");
                }
            }
            b"scripts" => self.is_scripts = false,
            b"script" | b"module" | b"source-code" => {
                if let Some(source) = self.script.take() {
                    script::source(&source, page);
                }
            }
            b"binary-data" => {
                self.is_binary = false;
                page.end_binary();
            }
            other => self.styles.end(other),
        }
        while self.asides.last().is_some_and(|(depth, _)| *depth >= self.depth) {
            self.asides.pop();
        }
        while self.looks.last().is_some_and(|(depth, _)| *depth >= self.depth) {
            self.looks.pop();
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

fn number(tag: &Tag<'_>, name: &[u8]) -> Option<u64> {
    std::str::from_utf8(&tag.value(name)?).ok()?.trim().parse().ok()
}
