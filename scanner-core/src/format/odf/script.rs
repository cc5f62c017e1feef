//! Modules of Basic (`OpenOffice`), kept as XML around their source.

use crate::format::{
    office::{Page, Sight, Walk, rules},
    pull::{Name, Tag},
};

/// Names of procedures that run by themselves, where a document was brought over from Microsoft Office.
const STARTS: [&[u8]; 10] = [
    b"autoopen",
    b"auto_open",
    b"autoexec",
    b"autonew",
    b"autoclose",
    b"auto_close",
    b"document_open",
    b"document_close",
    b"workbook_open",
    b"workbook_activate",
];

/// Walks a module.
#[derive(Debug, Default)]
pub(super) struct Module {
    source: Vec<u8>,
}

impl Walk for Module {
    fn start(&mut self, _: &Tag<'_>, _: &mut Page<'_, '_>) {}

    fn text(&mut self, text: &[u8], _: &mut Page<'_, '_>) {
        self.source.extend_from_slice(text);
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        if name.local() == b"module" {
            source(&std::mem::take(&mut self.source), page);
        }
    }
}

/// The source of a module, or of a script in the document itself.
pub(super) fn source(source: &[u8], page: &mut Page<'_, '_>) {
    if source.trim_ascii().is_empty() {
        return;
    }
    page.say(&rules::BASIC, "a module of Basic or another script");
    let lower = source.to_ascii_lowercase();
    let mut words = lower.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    if words.any(|word| STARTS.contains(&word)) {
        page.say(&rules::AUTOEXEC, "a procedure has a name that runs by itself");
    }
    page.texts.part(Sight::Unseen, source);
}
