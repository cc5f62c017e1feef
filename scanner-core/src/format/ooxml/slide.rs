//! Slides: what stands beside them, hidden ones, notes, actions (ECMA-376 part 1 §19).

use crate::{
    finding::Severity,
    format::{
        embedded,
        office::{Page, Sight, Walk, look::Styles, rules},
        pull::{Name, Tag},
    },
};

use super::other::Other;

/// Width and height of the slides of a deck, in EMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    width: i64,
    height: i64,
}

impl Default for Size {
    /// 10 by 7.5 inches.
    fn default() -> Self {
        Self { width: 9_144_000, height: 6_858_000 }
    }
}

/// What the presentation part says.
#[derive(Debug, Default)]
pub(super) struct Deck {
    pub(super) size: Size,
    /// Ids of relationships, in the order of the slides.
    pub(super) slides: Vec<Vec<u8>>,
}

fn number(tag: &Tag<'_>, name: &[u8]) -> Option<i64> {
    std::str::from_utf8(&tag.value(name)?).ok()?.trim().parse().ok()
}

impl Walk for Deck {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        match tag.local() {
            b"sldSz" => {
                if let (Some(width), Some(height)) = (number(tag, b"cx"), number(tag, b"cy")) {
                    self.size = Size { width, height };
                }
            }
            b"sldId" => {
                let id = tag.attributes().find(|attribute| attribute.name.0.ends_with(b":id"));
                self.slides.extend(id.map(|id| id.value().into_owned()));
            }
            _ => {}
        }
    }

    fn text(&mut self, _: &[u8], _: &mut Page<'_, '_>) {}

    fn end(&mut self, _: Name<'_>, _: &mut Page<'_, '_>) {}
}

/// Walks one slide, master, layout or page of notes.
pub(super) struct Slide<'a> {
    inner: Other<'a>,
    size: Size,
    /// How the slide as a whole is seen.
    whole: Sight,
    groups: u32,
    /// The shape that is open, and where it was placed.
    in_shape: bool,
    offset: Option<(i64, i64)>,
}

impl<'a> Slide<'a> {
    pub(super) fn new(styles: &'a Styles, size: Size, whole: Sight) -> Self {
        Self { inner: Other::new(styles, whole), size, whole, groups: 0, in_shape: false, offset: None }
    }

    fn hide(&mut self, sight: Sight) {
        if self.inner.word.whole == Sight::Seen {
            self.inner.word.whole = sight;
        }
    }
}

impl Walk for Slide<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        match tag.local() {
            b"sld" if tag.value(b"show").is_some_and(|show| matches!(&*show, b"0" | b"false")) => {
                self.whole = Sight::OffPage;
                self.inner.word.whole = Sight::OffPage;
            }
            b"grpSp" => self.groups = self.groups.saturating_add(1),
            b"sp" | b"pic" | b"graphicFrame" | b"cxnSp" => {
                self.in_shape = true;
                self.offset = None;
                self.inner.word.whole = self.whole;
            }
            b"cNvPr"
                if self.in_shape && tag.value(b"hidden").is_some_and(|hidden| matches!(&*hidden, b"1" | b"true")) =>
            {
                self.hide(Sight::Style);
            }
            b"off" if self.in_shape && self.groups == 0 => {
                self.offset = number(tag, b"x").zip(number(tag, b"y"));
            }
            b"ext" if self.in_shape => {
                if let (Some((x, y)), Some(width), Some(height)) =
                    (self.offset.take(), number(tag, b"cx"), number(tag, b"cy"))
                {
                    let is_beside = x.saturating_add(width) <= 0
                        || y.saturating_add(height) <= 0
                        || x >= self.size.width
                        || y >= self.size.height;
                    if is_beside {
                        self.hide(Sight::OffPage);
                    }
                }
            }
            _ => {}
        }
        self.inner.start(tag, page);
    }

    fn text(&mut self, text: &[u8], page: &mut Page<'_, '_>) {
        self.inner.text(text, page);
    }

    fn end(&mut self, name: Name<'_>, page: &mut Page<'_, '_>) {
        self.inner.end(name, page);
        match name.local() {
            b"grpSp" => self.groups = self.groups.saturating_sub(1),
            b"sp" | b"pic" | b"graphicFrame" | b"cxnSp" => {
                self.in_shape = false;
                self.inner.word.whole = self.whole;
            }
            _ => {}
        }
    }
}

/// What a click on a text or shape does (ECMA-376 part 1 §21.1.2.3.5, MS-OE376 2.1.1379).
pub(super) fn action(tag: &Tag<'_>, page: &mut Page<'_, '_>) {
    let action = tag.value(b"action").unwrap_or_default().to_ascii_lowercase();
    if action.starts_with(b"ppaction://program") {
        page.say(&rules::PROGRAM, "an action starts a program");
    } else if action.starts_with(b"ppaction://macro") {
        page.say_as(&rules::AUTOEXEC, Severity::Low, "an action runs a macro");
    } else if action.starts_with(b"ppaction://ole") {
        page.say_as(&embedded::OBJECT, Severity::Low, "an action opens an embedded object");
    }
}
