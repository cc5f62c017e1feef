//! Whether a person sees the text of an element: by its style, its size, its place and its colour.

use memchr::{memchr, memchr_iter, memmem};

use super::{
    css::{self, Colour, Look, Sheet},
    element::{Element, local},
    token::Dialect,
};

/// Why a text is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    Style,
    Size,
    Away,
    Colour,
}

/// What is seen of the text of an element that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) unseen: Option<Unseen>,
    colour: Colour,
    behind: Option<Colour>,
}

impl Default for Sight {
    fn default() -> Self {
        Self { unseen: None, colour: Colour(0, 0, 0), behind: Some(Colour::WHITE) }
    }
}

impl Sight {
    /// Of an element inside that looks like that.
    pub(super) fn within(self, look: Look) -> Self {
        let colour = look.colour.unwrap_or(self.colour);
        let behind = look.behind.unwrap_or(self.behind);
        let is_coloured = look.colour.is_some() || look.behind.is_some();
        // A colour is judged again where it or what is behind it changes.
        let is_coloured = is_coloured || self.unseen == Some(Unseen::Colour);
        let unseen = self.unseen.filter(|unseen| *unseen != Unseen::Colour).or_else(|| {
            if look.is_hidden || look.is_clear {
                Some(Unseen::Style)
            } else if look.is_away {
                Some(Unseen::Away)
            } else if look.is_tiny {
                Some(Unseen::Size)
            } else if is_coloured && behind.is_some_and(|behind| colour.is_like(behind)) {
                Some(Unseen::Colour)
            } else {
                None
            }
        });
        Self { unseen, colour, behind }
    }
}

/// What the sheets, the style and the attributes of an element say of being seen.
pub(super) fn look(sheet: &Sheet, dialect: Dialect, element: &Element<'_>) -> Look {
    let mut look = Look::default();
    if !sheet.is_empty() {
        let value = |name: &[u8]| element.value(name).unwrap_or_default();
        look = sheet.of(&element.name, value(b"class"), value(b"id"));
    }
    for property in &element.properties {
        let value = &*property.value;
        match &*property.name {
            b"hidden" => look.is_hidden = true,
            b"style" => look = look.with(css::look(value)),
            b"display" | b"visibility" | b"opacity" | b"fill" | b"fill-opacity" | b"font-size" => {
                look = look.with(css::look(&[&property.name, &b":"[..], value].concat()));
            }
            b"color" if element.is(&[b"font"]) => look.colour = css::colour(value).flatten().or(look.colour),
            b"bgcolor" => look.behind = Some(css::colour(value).flatten()),
            _ => {}
        }
    }
    // Kept for scripts and for other programs.
    look.is_hidden |= dialect == Dialect::Html && element.is(&[b"template", b"datalist", b"noframes", b"noembed"]);
    look.is_hidden |= element.is(&[b"metadata"]);
    look
}

/// The style elements of a text. They count for what stands before them too: they are read first.
pub(super) fn sheet(text: &[u8]) -> Sheet {
    let mut sheet = Sheet::default();
    let mut read_to = 0_usize;
    for start in memchr_iter(b'<', text) {
        // No prefix is longer.
        let inside = text.get(start.saturating_add(1)..).unwrap_or_default();
        let window = inside.get(..32).unwrap_or(inside);
        let length = window.iter().position(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
        let name = window.get(..length.unwrap_or(window.len())).unwrap_or_default();
        if start < read_to || !local(name).eq_ignore_ascii_case(b"style") {
            continue;
        }
        let Some(open) = memchr(b'>', inside) else { break };
        let body = inside.get(open.saturating_add(1)..).unwrap_or_default();
        let length = memmem::find(body, b"</").unwrap_or(body.len());
        sheet.add(body.get(..length).unwrap_or_default());
        read_to = start.saturating_add(open).saturating_add(length);
    }
    sheet
}
