//! What styles hide: characters switched off, in the colour of the page, too small to be read.

use std::collections::{BTreeMap, BTreeSet};

use crate::format::{
    office::{Page, Sight, Walk},
    pull::{Name, Tag},
};

/// Half points of a size that nobody reads.
const TINY_HALF_POINTS: u32 = 4;
/// Parts of a colour from which on it is white.
const NEARLY_WHITE: u8 = 0xf0;
/// Styles that are based on each other.
const LONGEST_CHAIN: usize = 16;

/// How characters look, as far as it hides them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    is_off: bool,
    is_white: bool,
    is_tiny: bool,
    /// Something stands behind them: white on dark is read.
    is_shaded: bool,
}

impl Look {
    pub(super) const fn sight(self) -> Sight {
        match self {
            Self { is_off: true, .. } => Sight::Style,
            Self { is_tiny: true, .. } => Sight::Size,
            Self { is_white: true, is_shaded: false, .. } => Sight::Color,
            _ => Sight::Seen,
        }
    }

    /// Both together.
    pub(super) const fn with(self, other: Self) -> Self {
        Self {
            is_off: self.is_off || other.is_off,
            is_white: self.is_white || other.is_white,
            is_tiny: self.is_tiny || other.is_tiny,
            is_shaded: self.is_shaded || other.is_shaded,
        }
    }

    /// One property of a run (ECMA-376 part 1 §17.3.2).
    pub(super) fn property(&mut self, name: &[u8], tag: &Tag<'_>) {
        let value = || tag.value(b"val").unwrap_or_default();
        match name {
            b"vanish" | b"specVanish" | b"webHidden" => {
                self.is_off = !matches!(&*value(), b"0" | b"false" | b"off");
            }
            b"color" => {
                let theme = tag.value(b"themeColor").unwrap_or_default();
                self.is_white = is_white(&value()) || matches!(&*theme, b"background1" | b"light1");
            }
            b"sz" => {
                let size = std::str::from_utf8(&value()).ok().and_then(|size| size.parse::<u32>().ok());
                self.is_tiny = size.is_some_and(|size| size <= TINY_HALF_POINTS);
            }
            b"shd" => {
                let fill = tag.value(b"fill").unwrap_or_default();
                self.is_shaded = !matches!(&*fill, b"" | b"auto") && !is_white(&fill);
            }
            b"highlight" => self.is_shaded = !matches!(&*value(), b"none" | b"white"),
            // DrawingML: the colour of the characters.
            b"srgbClr" => self.is_white = is_white(&value()),
            b"schemeClr" => self.is_white = matches!(&*value(), b"bg1" | b"lt1"),
            _ => {}
        }
    }

    /// The size of characters in a drawing, in hundredths of a point.
    pub(super) fn drawing_size(&mut self, size: &[u8]) {
        let size = std::str::from_utf8(size).ok().and_then(|size| size.parse::<u32>().ok());
        self.is_tiny = size.is_some_and(|size| size <= TINY_HALF_POINTS.saturating_mul(50));
    }
}

/// `FFFFFF`, `#ffffff`, `FFFFFFFF`, or nearly so.
pub(in crate::format) fn is_white(color: &[u8]) -> bool {
    let digits = color.strip_prefix(b"#").unwrap_or(color);
    let digits = if digits.len() == 8 { digits.get(2..).unwrap_or_default() } else { digits };
    let parts = digits.chunks_exact(2).filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    color.eq_ignore_ascii_case(b"white")
        || (digits.len() == 6 && parts.filter(|part| *part >= NEARLY_WHITE).count() == 3)
}

/// Styles of a document by their ids.
#[derive(Debug, Default)]
pub(super) struct WordStyles {
    styles: BTreeMap<Vec<u8>, (Look, Vec<u8>)>,
}

impl WordStyles {
    /// How a style looks, with those it is based on.
    pub(super) fn look(&self, id: &[u8]) -> Look {
        let mut look = Look::default();
        let mut next = self.styles.get(id);
        for _ in 0..LONGEST_CHAIN {
            let Some((own, based)) = next else { break };
            look = look.with(*own);
            next = self.styles.get(based);
        }
        look
    }
}

/// Reads `styles.xml` of a document.
#[derive(Debug)]
pub(super) struct WordStylesWalk<'a> {
    pub(super) styles: &'a mut WordStyles,
    current: Option<(Vec<u8>, Look, Vec<u8>)>,
    in_run_properties: bool,
}

impl<'a> WordStylesWalk<'a> {
    pub(super) fn new(styles: &'a mut WordStyles) -> Self {
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
                // One that hides nothing need not be known, unless it is based on one that does.
                if let Some((id, look, based)) = self.current.take()
                    && (look != Look::default() || !based.is_empty())
                {
                    self.styles.styles.insert(id, (look, based));
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
                    font.is_white = is_white(&color) || number(tag, b"theme") == Some(0) && tag.value(b"tint").is_none();
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
