//! What styles hide: characters switched off, in the colour of the page, too small to be read.

use std::collections::BTreeSet;

use crate::format::{
    office::{
        Page, Walk,
        look::{Look, Styles, is_white},
    },
    pull::{Name, Tag},
};

/// Reads `styles.xml` of a document.
#[derive(Debug)]
pub(super) struct WordStylesWalk<'a> {
    styles: &'a mut Styles,
    current: Option<(Vec<u8>, Look, Vec<u8>)>,
    in_run_properties: bool,
}

impl<'a> WordStylesWalk<'a> {
    pub(super) fn new(styles: &'a mut Styles) -> Self {
        Self { styles, current: None, in_run_properties: false }
    }
}

impl Walk for WordStylesWalk<'_> {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        match tag.local() {
            b"style" => {
                let id = tag.value(b"styleId").unwrap_or_default().into_owned();
                self.current = Some((id, Look::default(), Vec::new()));
            }
            b"rPr" => self.in_run_properties = true,
            b"basedOn" => {
                if let Some((_, _, based)) = &mut self.current {
                    *based = tag.value(b"val").unwrap_or_default().into_owned();
                }
            }
            name if self.in_run_properties => {
                if let Some((_, look, _)) = &mut self.current {
                    look.property(name, tag);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, _: &[u8], _: &mut Page<'_, '_>) {}

    fn end(&mut self, name: Name<'_>, _: &mut Page<'_, '_>) {
        match name.local() {
            b"style" => {
                if let Some((id, look, based)) = self.current.take() {
                    self.styles.insert(id, look, based);
                }
            }
            b"rPr" => self.in_run_properties = false,
            _ => {}
        }
    }
}

/// How the cells of a workbook look, by the number of their format.
#[derive(Debug, Default)]
pub(super) struct CellStyles {
    looks: Vec<Look>,
}

impl CellStyles {
    pub(super) fn look(&self, format: usize) -> Look {
        self.looks.get(format).copied().unwrap_or_default()
    }
}

/// Reads `styles.xml` of a workbook.
#[derive(Debug)]
pub(super) struct CellStylesWalk<'a> {
    styles: &'a mut CellStyles,
    fonts: Vec<Look>,
    fills: Vec<bool>,
    silent: BTreeSet<u32>,
    section: Section,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Other,
    Fonts,
    Fills,
    Formats,
}

impl<'a> CellStylesWalk<'a> {
    pub(super) fn new(styles: &'a mut CellStyles) -> Self {
        Self { styles, fonts: Vec::new(), fills: Vec::new(), silent: BTreeSet::new(), section: Section::Other }
    }
}

fn number(tag: &Tag<'_>, name: &[u8]) -> Option<u32> {
    std::str::from_utf8(&tag.value(name)?).ok()?.parse().ok()
}

impl Walk for CellStylesWalk<'_> {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        match (self.section, tag.local()) {
            (_, b"fonts") => self.section = Section::Fonts,
            (_, b"fills") => self.section = Section::Fills,
            (_, b"cellXfs") => self.section = Section::Formats,
            (_, b"cellStyleXfs" | b"dxfs" | b"borders" | b"cellStyles") => self.section = Section::Other,
            (_, b"numFmt") => {
                // `;;;` shows nothing, whatever the cell holds.
                let code = tag.value(b"formatCode").unwrap_or_default();
                if code.starts_with(b";;;") && code.iter().all(|byte| matches!(byte, b';' | b' ')) {
                    self.silent.extend(number(tag, b"numFmtId"));
                }
            }
            (Section::Fonts, b"font") => self.fonts.push(Look::default()),
            (Section::Fonts, b"color") => {
                if let Some(font) = self.fonts.last_mut() {
                    let color = tag.value(b"rgb").unwrap_or_default();
                    font.is_white =
                        is_white(&color) || number(tag, b"theme") == Some(0) && tag.value(b"tint").is_none();
                }
            }
            (Section::Fonts, b"sz") => {
                if let Some(font) = self.fonts.last_mut() {
                    let size = tag.value(b"val").unwrap_or_default();
                    let size = std::str::from_utf8(&size).ok().and_then(|size| size.parse::<f64>().ok());
                    font.is_tiny = size.is_some_and(|size| size <= 2.0);
                }
            }
            (Section::Fills, b"fill") => self.fills.push(false),
            (Section::Fills, b"patternFill") => {
                let kind = tag.value(b"patternType").unwrap_or_default();
                if let Some(fill) = self.fills.last_mut() {
                    *fill = !matches!(&*kind, b"" | b"none");
                }
            }
            (Section::Fills, b"gradientFill") => {
                if let Some(fill) = self.fills.last_mut() {
                    *fill = true;
                }
            }
            (Section::Fills, b"fgColor") => {
                if let Some(fill) = self.fills.last_mut() {
                    *fill &= !is_white(&tag.value(b"rgb").unwrap_or_default());
                }
            }
            (Section::Formats, b"xf") => {
                let index = |name: &[u8]| number(tag, name).and_then(|number| usize::try_from(number).ok());
                let font = index(b"fontId").and_then(|font| self.fonts.get(font)).copied().unwrap_or_default();
                let fill = index(b"fillId").and_then(|fill| self.fills.get(fill)).copied().unwrap_or_default();
                let is_silent = number(tag, b"numFmtId").is_some_and(|format| self.silent.contains(&format));
                self.styles.looks.push(Look { is_off: is_silent, is_shaded: fill, ..font });
            }
            _ => {}
        }
    }

    fn text(&mut self, _: &[u8], _: &mut Page<'_, '_>) {}

    fn end(&mut self, _: Name<'_>, _: &mut Page<'_, '_>) {}
}
