//! What is painted beside words: paths, pictures, and the colours and states they are painted in.

use super::{CLEAR, Drawer, Path, color};
use crate::format::pdf::{
    lex::{Lexer, Token, is_white},
    object::Object,
    pages::crossing,
    paint::{self, Area, Color},
};
use crate::{
    finding::Stop,
    format::{letters, picture::Size},
    limits::Budget,
};

impl<'d, 'a> Drawer<'d, 'a, '_> {
    pub(super) fn color(&mut self, word: &[u8], operands: &[Object<'_>]) {
        let document = self.document;
        if word == b"cs" {
            self.state.space = match self.resource("ColorSpace", operands.first()) {
                Some(space) => color::Space::of(document, space),
                None => color::Space::named(operands.first().and_then(Object::name).unwrap_or_default()),
            };
            self.state.fill = self.state.space.first();
            return;
        }
        let parts: Vec<f64> = operands.iter().filter_map(Object::real).take(4).collect();
        match word {
            b"g" => self.state.space = color::Space::Gray,
            b"rg" => self.state.space = color::Space::Rgb,
            b"k" => self.state.space = color::Space::Cmyk,
            _ => {}
        }
        self.state.fill = self.state.space.color(&parts);
    }

    /// Paths as far as their area: what is filled covers, what clips hides.
    pub(super) fn path(&mut self, word: &[u8], operands: &[Object<'_>]) {
        let number = |at: usize| operands.get(at).and_then(Object::real).unwrap_or(0.0);
        let matrix = self.state.matrix;
        match word {
            b"re" => {
                let (x, y) = (number(0), number(1));
                let area = matrix.area([x, y, x + number(2), y + number(3)]);
                self.path.is_box = self.path.parts == 0 && matrix.is_upright();
                self.path.parts = self.path.parts.saturating_add(1);
                self.path.corners = None;
                self.path.include(area);
            }
            b"m" | b"l" | b"c" | b"v" | b"y" => {
                if word == b"m" {
                    self.path.corners = (self.path.parts == 0).then(Vec::new);
                } else {
                    self.path.parts = self.path.parts.saturating_add(1);
                    self.path.is_box = false;
                    let (x, y) = self.path.at;
                    self.path.include([x, y, x, y]);
                }
                for pair in operands.chunks_exact(2) {
                    let [x, y] = pair else { continue };
                    let (x, y) = matrix.point(x.real().unwrap_or(0.0), y.real().unwrap_or(0.0));
                    if word != b"m" {
                        self.path.include([x, y, x, y]);
                    }
                    self.path.at = (x, y);
                }
                match word {
                    b"m" | b"l" => self.path.corner(self.path.at),
                    _ => self.path.corners = None,
                }
            }
            b"h" => {}
            b"W" | b"W*" => self.path.clips = true,
            b"sh" => self.fill(self.state.clip, None, false),
            _ => {
                if !matches!(word, b"n" | b"s" | b"S")
                    && let Some(area) = self.path.area
                {
                    self.fill(area, self.state.fill, self.path.is_rectangle());
                }
                if self.path.clips {
                    // An empty path shows nothing (§8.5.4).
                    self.state.clip = crossing(self.state.clip, self.path.area.unwrap_or(paint::EMPTY));
                }
                self.path = Path::default();
            }
        }
    }

    pub(super) fn fill(&mut self, area: Area, color: Option<Color>, is_box: bool) {
        if self.is_off_here() || self.state.alpha < CLEAR {
            return;
        }
        let is_plain = self.state.alpha > 0.95 && !self.state.is_blended;
        let color = if is_plain { color } else { None };
        self.page.cover(crossing(area, self.state.clip), color, is_plain && is_box);
    }

    /// A form is entered, a picture covers.
    pub(super) fn paint_object(&mut self, name: Option<&Object<'_>>, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let Some(index) = self.resource("XObject", name).and_then(|object| document.target(object)) else {
            return Ok(());
        };
        let Some(dict) = document.item(index).and_then(|item| item.dict()) else { return Ok(()) };
        if document.get(dict, "Subtype").name() == Some(b"Form") {
            return self.enter(index, budget);
        }
        if dict.get("OC").is_some_and(|layer| self.is_off(layer)) {
            return Ok(());
        }
        let is_mask = *document.get(dict, "ImageMask") == Object::Bool(true);
        let is_solid = !is_mask && !dict.has("SMask") && !dict.has("Mask") && !dict.has("SMaskInData");
        self.picture(is_solid);
        Ok(())
    }

    pub(super) fn picture(&mut self, is_solid: bool) {
        let area = self.state.matrix.area([0.0, 0.0, 1.0, 1.0]);
        self.fill(area, None, is_solid && self.state.matrix.is_upright());
    }

    /// `BI … ID data EI` (§8.9.7).
    pub(super) fn inline_image(&mut self, lexer: &mut Lexer<'_>) {
        let rest = lexer.rest();
        let start = memchr::memmem::find(rest, b"ID").map_or(rest.len(), |at| at.saturating_add(2));
        self.has_inline |= letters::have_room(inline_size(rest.get(..start).unwrap_or_default()));
        let mut at = start;
        // The end mark stands between blanks; data may hold it, but seldom so.
        while let Some(found) = rest.get(at..).and_then(|rest| memchr::memmem::find(rest, b"EI")) {
            let mark = at.saturating_add(found);
            at = mark.saturating_add(2);
            let before = mark.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(|byte| is_white(*byte));
            if before && rest.get(at).is_none_or(|byte| is_white(*byte)) {
                lexer.seek(lexer.position().saturating_add(at));
                self.picture(false);
                return;
            }
        }
        lexer.seek(lexer.position().saturating_add(rest.len()));
    }

    pub(super) fn graphics_state(&mut self, name: Option<&Object<'_>>, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let Some(dict) = self.resource("ExtGState", name).and_then(|state| document.resolve(state).dict()) else {
            return Ok(());
        };
        if let Some(alpha) = document.get(dict, "ca").real() {
            self.state.alpha = alpha;
        }
        if dict.has("BM") {
            self.state.is_blended = !matches!(document.get(dict, "BM").name(), Some(b"Normal" | b"Compatible"));
        }
        if let Some([font, size]) = document.get(dict, "Font").array() {
            self.state.size = size.real().unwrap_or(0.0);
            self.state.font = self.font_of(font, budget)?;
        }
        Ok(())
    }
}

/// What an inline picture says of its size, by either name (§8.9.7, table 91).
fn inline_size(keys: &[u8]) -> Size {
    let mut lexer = Lexer::new(keys, 0);
    let mut size = Size::new(0, 0);
    let mut is_width = None;
    loop {
        match lexer.next() {
            Token::End | Token::Endless => return size,
            Token::Name(key) => {
                is_width = match &*key.text {
                    b"W" | b"Width" => Some(true),
                    b"H" | b"Height" => Some(false),
                    _ => None,
                };
            }
            Token::Int(number) => {
                let side = u32::try_from(number).unwrap_or(0);
                match is_width.take() {
                    Some(true) => size.width = side,
                    Some(false) => size.height = side,
                    None => {}
                }
            }
            _ => is_width = None,
        }
    }
}
