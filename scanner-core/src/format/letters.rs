//! Letters in pictures. Nothing here reads any: what the pixels are decoded to is handed on, to be shown to an engine.
//! What cannot be handed on is a gap, wherever letters are asked for.

use bytes::Bytes;

use crate::{
    finding::Span,
    format::{Out, picture::Size},
    limits::{Budget, Resource},
    sniff::Type,
};

/// Pixels of the shorter side that a line of letters needs. Fonts of fewer are no letters to a person, nor to an engine.
const SMALLEST: u32 = 8;

/// A picture as a person sees it, in shades of grey.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Row by row, a byte for each pixel: zero is black.
    pub(crate) shades: Bytes,
    /// Where its pixels are packed.
    pub(crate) at: Span,
}

/// Whether letters are asked for.
pub(super) fn are_wanted(budget: &Budget) -> bool {
    budget.limits().get(Resource::LetterPixels) > 0
}

/// Whether a line of letters has room in it.
pub(super) fn have_room(size: Size) -> bool {
    size.width.min(size.height) >= SMALLEST
}

/// A picture whose pixels were not looked at is not seen, where letters are asked for.
pub(crate) fn nobody_looked(kind: &Type, out: &mut Out<'_>, budget: &Budget) {
    if kind.mime.starts_with("image/") && !kind.is_text {
        unread("nothing here unpacks the pixels of this picture: its letters were not read", out, budget);
    }
}

/// What has letters that nobody is shown, where they are asked for.
pub(super) fn unread(what: &'static str, out: &mut Out<'_>, budget: &Budget) {
    if are_wanted(budget) {
        out.is_looked_at = true;
        out.unsupported(what);
    }
}
