//! Words shown (ISO 32000-1 §9.4), and the fonts they are shown in.

use super::{BLANK_SHIFT, CLEAR, Drawer, SPARE_FONT_WORK};
use crate::format::pdf::{
    font::{self, Beside, Font, Unread},
    object::Object,
    paint::{Brush, MOST_RUNS, Matrix, Sight},
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

impl<'d, 'a> Drawer<'d, 'a, '_> {
    pub(super) fn line(&mut self, x: f64, y: f64) {
        self.line_matrix = Matrix::shift(x, y).then(self.line_matrix);
        self.text_matrix = self.line_matrix;
    }

    /// Shows strings, with shifts between them.
    pub(super) fn show(&mut self, parts: &[Object<'_>], budget: &mut Budget) -> Result<(), Stop> {
        if self.page.runs() >= MOST_RUNS {
            return Err(crate::limits::Exhausted(Resource::Objects).into());
        }
        let state = &self.state;
        let number = state.font.unwrap_or(0);
        let Some(font) = self.fonts.get(number) else { return Ok(()) };
        let mut unread = Unread { codes: &mut self.unread, font: number };
        budget.spend(Resource::Steps, count(parts.len()).saturating_mul(2).saturating_add(40))?;
        let text = &mut self.page.text;
        let from = text.len();
        let mut length = 0.0_f64;
        for part in parts {
            if let Some(raw) = part.string() {
                budget.spend(Resource::Steps, count(raw.len()).saturating_mul(2))?;
                let shown = font.show(&raw, text, &mut unread);
                // Seldom asked for, and one more pass over the string.
                let blanks = if state.word_space == 0.0 { 0.0 } else { font.blanks(&raw) };
                let spaces = shown.codes * state.letter_space + blanks * state.word_space;
                length += (shown.length * state.size + spaces) * state.stretch;
            } else if let Some(shift) = part.real() {
                if shift < BLANK_SHIFT && text.len() > from && !text.ends_with(' ') {
                    text.push(' ');
                }
                length -= shift / 1000.0 * state.size * state.stretch;
            }
        }
        let matrix = Matrix([state.stretch, 0.0, 0.0, 1.0, 0.0, state.rise]).then(self.text_matrix).then(state.matrix);
        // Glyphs that the page draws itself may have any size.
        let unit = if font.is_drawn { font.unit * 1000.0 } else { 1.0 };
        let size = state.size * unit.max(0.001);
        let is_off = if self.is_orphan || self.is_hidden_note {
            Some(Sight::Off)
        } else {
            (self.layers_off > 0).then_some(Sight::Covered)
        };
        let brush = Brush {
            matrix,
            height: (!font.is_drawn || unit <= 1.0).then(|| (size * self.text_matrix.then(state.matrix).scale()).abs()),
            length,
            size,
            shown: state.clip,
            // Stroked letters have the colour of lines, which nobody keeps here.
            color: state.fill.filter(|_| matches!(state.mode, 0 | 4)),
            is_clear: matches!(state.mode, 3 | 7) || state.alpha < CLEAR,
            is_off,
        };
        self.text_matrix = Matrix::shift(length, 0.0).then(self.text_matrix);
        self.page.run(from, &brush);
        Ok(())
    }

    pub(super) fn font(&mut self, name: Option<&Object<'_>>, budget: &mut Budget) -> Result<Option<usize>, Stop> {
        let Some(font) = self.resource("Font", name) else { return Ok(None) };
        self.font_of(font, budget)
    }

    pub(super) fn font_of(&mut self, font: &'d Object<'a>, budget: &mut Budget) -> Result<Option<usize>, Stop> {
        let document = self.document;
        let Some(dict) = document.resolve(font).dict() else { return Ok(None) };
        let place = std::ptr::from_ref(dict).addr();
        if let Some(known) = self.fonts_by_place.get(&place) {
            return Ok(Some(*known));
        }
        budget.spend(Resource::Objects, 1)?;
        let [unicode, program, glyph_numbers] =
            font::beside(document, dict).map(|stream| stream.and_then(|index| self.stream(index, budget)));
        let beside = Beside { unicode, program, glyph_numbers };
        let font = Font::read(document, dict, &beside, budget)?;
        self.font_work = self.font_work.saturating_add(beside.len()).saturating_add(font.work());
        if self.font_work > document.bytes.len().saturating_mul(2).saturating_add(SPARE_FONT_WORK) {
            return Err(Stop::malformed("too many fonts over the same maps to follow", 0));
        }
        let index = self.fonts.len();
        self.fonts.push(font);
        self.fonts_by_place.insert(place, index);
        Ok(Some(index))
    }
}
