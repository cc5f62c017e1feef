//! Colours as far as they can be told without profiles and inks (ISO 32000-1 §8.6).

use crate::format::pdf::{document::Document, object::Object, paint::Color};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Gray,
    Rgb,
    Cmyk,
    /// Inks, tables, patterns: they look like anything.
    Other,
}

impl Space {
    pub(super) fn named(name: &[u8]) -> Self {
        match name {
            b"DeviceGray" | b"G" | b"CalGray" => Self::Gray,
            b"DeviceRGB" | b"RGB" | b"CalRGB" => Self::Rgb,
            b"DeviceCMYK" | b"CMYK" => Self::Cmyk,
            _ => Self::Other,
        }
    }

    /// A space as a resource defines it: a name, or a family with parameters.
    pub(super) fn of<'a>(document: &Document<'a>, space: &Object<'a>) -> Self {
        match document.resolve(space) {
            Object::Name(name) => Self::named(name),
            Object::Array(parts) => match parts.as_slice() {
                [Object::Name(family), profile, ..] if **family == *b"ICCBased" => {
                    let profile = document.resolve(profile).dict();
                    match profile.and_then(|profile| document.get(profile, "N").int()) {
                        Some(1) => Self::Gray,
                        Some(3) => Self::Rgb,
                        Some(4) => Self::Cmyk,
                        _ => Self::Other,
                    }
                }
                [Object::Name(family), ..] => Self::named(family),
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }

    /// The colour a space begins with.
    pub(super) const fn first(self) -> Option<Color> {
        match self {
            Self::Gray | Self::Rgb | Self::Cmyk => Some([0.0; 3]),
            Self::Other => None,
        }
    }

    pub(super) fn color(self, parts: &[f64]) -> Option<Color> {
        match (self, parts) {
            (Self::Gray, [gray, ..]) => Some([*gray; 3]),
            (Self::Rgb, [red, green, blue, ..]) => Some([*red, *green, *blue]),
            (Self::Cmyk, [cyan, magenta, yellow, black]) => {
                Some([cyan, magenta, yellow].map(|ink| (1.0 - ink) * (1.0 - black)))
            }
            _ => None,
        }
    }
}
