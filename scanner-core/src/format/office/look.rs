//! How characters look, as far as that hides them from a person.

use std::collections::BTreeMap;

use super::Sight;
use crate::format::pull::Tag;

/// Half points of a size that nobody reads.
const TINY_HALF_POINTS: u32 = 4;
/// Parts of a colour from which on it is white.
const NEARLY_WHITE: u8 = 0xf0;
/// Styles that are based on each other.
const LONGEST_CHAIN: usize = 16;

/// How characters look, as far as it hides them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) is_off: bool,
    pub(crate) is_white: bool,
    pub(crate) is_tiny: bool,
    /// Something stands behind them: white on dark is read.
    pub(crate) is_shaded: bool,
}

impl Look {
    pub(crate) const fn sight(self) -> Sight {
        match self {
            Self { is_off: true, .. } => Sight::Style,
            Self { is_tiny: true, .. } => Sight::Size,
            Self { is_white: true, is_shaded: false, .. } => Sight::Color,
            _ => Sight::Seen,
        }
    }

    /// Both together.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self {
            is_off: self.is_off || other.is_off,
            is_white: self.is_white || other.is_white,
            is_tiny: self.is_tiny || other.is_tiny,
            is_shaded: self.is_shaded || other.is_shaded,
        }
    }

    /// One property of a run (ECMA-376 part 1 §17.3.2).
    pub(crate) fn property(&mut self, name: &[u8], tag: &Tag<'_>) {
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
    pub(crate) fn drawing_size(&mut self, size: &[u8]) {
        let size = std::str::from_utf8(size).ok().and_then(|size| size.parse::<u32>().ok());
        self.is_tiny = size.is_some_and(|size| size <= TINY_HALF_POINTS.saturating_mul(50));
    }
}

/// `FFFFFF`, `#ffffff`, `FFFFFFFF`, or nearly so.
pub(crate) fn is_white(color: &[u8]) -> bool {
    let digits = color.strip_prefix(b"#").unwrap_or(color);
    let digits = if digits.len() == 8 { digits.get(2..).unwrap_or_default() } else { digits };
    let parts = digits.chunks_exact(2).filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    color.eq_ignore_ascii_case(b"white")
        || (digits.len() == 6 && parts.filter(|part| *part >= NEARLY_WHITE).count() == 3)
}

/// Styles by their names, each with the one it is based on.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    styles: BTreeMap<Vec<u8>, (Look, Vec<u8>)>,
}

impl Styles {
    /// Keeps a style. One that hides nothing need not be known, unless it is based on one that does.
    pub(crate) fn insert(&mut self, name: Vec<u8>, look: Look, based: Vec<u8>) {
        if look != Look::default() || !based.is_empty() {
            self.styles.insert(name, (look, based));
        }
    }

    /// How a style looks, with those it is based on.
    pub(crate) fn look(&self, id: &[u8]) -> Look {
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
