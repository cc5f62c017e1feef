//! The lists of a package: its relationships and the types of its parts. What is gone is taken from them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use crate::format::{
    office::edit::{Editor, Edits, Fate},
    pull::{Name, Tag},
};

/// Types of main parts that may have macros, in lower case, and what they are without.
const WITHOUT_MACROS: &[(&str, &str)] = &[
    (
        "application/vnd.ms-word.document.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
    (
        "application/vnd.ms-word.template.macroenabledtemplate.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ),
    (
        "application/vnd.ms-excel.sheet.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    ),
    (
        "application/vnd.ms-excel.template.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml",
    ),
    (
        "application/vnd.ms-excel.addin.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.presentation.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.slideshow.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.template.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.template.main+xml",
    ),
    (
        "application/vnd.ms-powerpoint.addin.macroenabled.main+xml",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    ),
];

/// Edits `[Content_Types].xml`.
pub(super) struct TypesEditor<'k> {
    pub(super) kept: &'k BTreeSet<String>,
}

impl Editor for TypesEditor<'_> {
    fn start(&mut self, tag: &Tag<'_>) -> Fate {
        let value = |name: &[u8]| String::from_utf8_lossy(&tag.value(name).unwrap_or_default()).to_ascii_lowercase();
        let stays = match tag.local() {
            b"Override" => self.kept.contains(value(b"PartName").trim_start_matches('/')),
            b"Default" => {
                let ending = value(b"Extension");
                let is_of = |name: &String| name.rsplit_once('.').is_some_and(|(_, known)| known == ending);
                matches!(ending.as_str(), "rels" | "xml") || self.kept.iter().any(is_of)
            }
            _ => return Fate::Keep,
        };
        if !stays {
            return Fate::Drop;
        }
        let kind = value(b"ContentType");
        match WITHOUT_MACROS.iter().find(|(known, _)| *known == kind) {
            Some((_, plain)) => Fate::Change(vec![(b"ContentType".to_vec(), Some(plain.as_bytes().to_vec()))]),
            None => Fate::Keep,
        }
    }

    fn text(&mut self, _: &[u8]) {}

    fn end(&mut self, _: Name<'_>, _: Range<usize>, _: &mut Edits) {}
}

/// Edits the relationships of one part.
pub(super) struct RelsEditor<'k> {
    pub(super) ids: &'k BTreeMap<Vec<u8>, bool>,
}

impl Editor for RelsEditor<'_> {
    fn start(&mut self, tag: &Tag<'_>) -> Fate {
        let id = tag.value(b"Id").unwrap_or_default();
        let goes = tag.local() == b"Relationship" && self.ids.get(&*id) != Some(&true);
        if goes { Fate::Drop } else { Fate::Keep }
    }

    fn text(&mut self, _: &[u8]) {}

    fn end(&mut self, _: Name<'_>, _: Range<usize>, _: &mut Edits) {}
}
