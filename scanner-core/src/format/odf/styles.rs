//! Styles of a document, as far as they hide something.

use std::collections::BTreeSet;

use crate::format::{
    office::look::{Look, Styles, is_white},
    pull::Tag,
};

use super::length;

/// Hundredths of a millimetre of a size that nobody reads: two points.
const TINY: i64 = 70;

/// What was read of all styles. A name belongs to its family.
#[derive(Debug, Default)]
pub(super) struct OdfStyles {
    styles: Styles,
    /// Styles of tables and pages that are not shown.
    hidden: BTreeSet<Vec<u8>>,
    current: Option<(Vec<u8>, Vec<u8>, Look)>,
    /// Width and height of the page, hundredths of a millimetre.
    pub(super) page: Option<(i64, i64)>,
}

/// The family before the name: a paragraph and a table may have styles of the same name.
fn key(family: &[u8], name: &[u8]) -> Vec<u8> {
    [family, b":", name].concat()
}

fn is_shade(color: &[u8]) -> bool {
    !matches!(color, b"" | b"transparent") && !is_white(color)
}

impl OdfStyles {
    /// How a style of a family looks.
    pub(super) fn look(&self, family: &[u8], name: &[u8]) -> Look {
        self.styles.look(&key(family, name))
    }

    /// Whether tables or pages of that style are not shown.
    pub(super) fn is_hidden(&self, family: &[u8], name: &[u8]) -> bool {
        self.hidden.contains(&key(family, name))
    }

    /// An element that may be about styles.
    pub(super) fn start(&mut self, tag: &Tag<'_>) {
        let value = |name: &[u8]| tag.value(name).unwrap_or_default();
        match tag.local() {
            b"style" => {
                let family = value(b"family");
                let parent = value(b"parent-style-name");
                let based = if parent.is_empty() { Vec::new() } else { key(&family, &parent) };
                self.current = Some((key(&family, &value(b"name")), based, Look::default()));
            }
            b"text-properties" => self.text(tag),
            b"table-properties" => self.hide(&value(b"display"), b"false"),
            b"drawing-page-properties" => self.hide(&value(b"visibility"), b"hidden"),
            b"table-cell-properties" | b"paragraph-properties" => {
                if let Some((_, _, look)) = &mut self.current {
                    look.is_shaded |= is_shade(&value(b"background-color"));
                    look.is_off |= &*value(b"cell-protect") == b"hidden-and-protected";
                }
            }
            b"page-layout-properties" => {
                let size = |name| length::read(&value(name));
                self.page = self.page.or(size(b"page-width").zip(size(b"page-height")));
            }
            _ => {}
        }
    }

    fn text(&mut self, tag: &Tag<'_>) {
        let Some((_, _, look)) = &mut self.current else { return };
        let value = |name: &[u8]| tag.value(name).unwrap_or_default();
        look.is_off |= &*value(b"display") == b"none";
        look.is_white |= is_white(&value(b"color"));
        look.is_tiny |= length::read(&value(b"font-size")).is_some_and(|size| size <= TINY);
        look.is_shaded |= is_shade(&value(b"background-color"));
    }

    fn hide(&mut self, value: &[u8], hidden: &[u8]) {
        if let Some((name, _, _)) = self.current.as_ref().filter(|_| value == hidden) {
            self.hidden.insert(name.clone());
        }
    }

    /// A style is complete.
    pub(super) fn end(&mut self, name: &[u8]) {
        if name == b"style"
            && let Some((name, based, look)) = self.current.take()
        {
            self.styles.insert(name, look, based);
        }
    }
}
