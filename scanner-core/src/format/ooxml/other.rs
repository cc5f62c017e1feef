//! Parts that are neither text nor sheet: settings, links to other workbooks, connections, controls, properties. Their
//! elements have names of their own, so one walk knows all of them; what it does not know is followed as text.

use crate::{
    finding::Severity,
    format::{
        office::{Page, Sight, Walk, link, look::Styles, rules},
        pull::{Name, Tag},
    },
};

use super::word::Word;

/// Walks any part.
#[derive(Debug)]
pub(super) struct Other<'a> {
    pub(super) word: Word<'a>,
    /// A macro is named that runs when the document opens.
    pub(super) has_start: bool,
}

impl<'a> Other<'a> {
    pub(super) fn new(styles: &'a Styles, whole: Sight) -> Self {
        Self { word: Word::new(styles, whole), has_start: false }
    }
}

impl Walk for Other<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        match tag.local() {
            b"ddeLink" => page.say(&rules::DDE, "the workbook is linked to another program"),
            b"oleLink" => {
                page.say_as(
                    &rules::LINKED_OBJECT,
                    Severity::Low,
                    "the workbook is linked to an object of another program",
                );
            }
            b"webPr" => connection(tag, b"url", page),
            b"connection" => connection(tag, b"odcFile", page),
            b"textPr" => connection(tag, b"sourceFile", page),
            b"dbPr" => {
                let source = tag.value(b"connection").unwrap_or_default();
                // A query over the workbook itself.
                let is_inside = memchr::memmem::find(&source, b"$Workbook$").is_some()
                    || memchr::memmem::find(&source, b"$EmbeddedMashup").is_some();
                let severity = if is_inside { Severity::Low } else { Severity::Medium };
                page.say_as(&rules::REMOTE, severity, "the workbook asks a database");
            }
            b"connectString" => page.say_as(&rules::REMOTE, Severity::Medium, "the document asks a database"),
            b"ocx" => page.say(&rules::ACTIVEX, "a control is kept in a part of its own"),
            b"customUI" if tag.value(b"onLoad").is_some() => self.has_start = true,
            b"webPublishItem" => connection(tag, b"destinationFile", page),
            b"webextension" | b"taskpane" => {
                page.say_as(&rules::REMOTE, Severity::Low, "the document names an add-in");
            }
            _ => {}
        }
        self.word.start(tag, page);
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        self.word.text(text, page);
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        self.word.end(name, page);
    }
}

fn connection(tag: &Tag<'_>, name: &[u8], page: &mut Page<'_, '_>) {
    if let Some(target) = tag.value(name) {
        page.link(link::Use::Data, &target);
    }
}
