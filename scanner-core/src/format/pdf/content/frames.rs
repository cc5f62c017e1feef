//! Streams being drawn, one inside the other, and the states they save.

use bytes::Bytes;

use super::{
    Drawer, Frame, KEPT_BYTES, Known, MOST_FRAMES, MOST_OPERANDS, MOST_SAVED, MOST_TIMES, MOST_UNFOLDED, Path,
    matrix_of,
};
use crate::format::pdf::{
    lex::{Lexer, Token},
    object::{self, Dict, Object, Oddities},
    pages::{self, crossing},
    rules,
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

impl<'d, 'a> Drawer<'d, 'a, '_> {
    /// The content of a stream; short ones are kept.
    pub(super) fn stream(&mut self, index: usize, budget: &mut Budget) -> Option<Bytes> {
        if let Some(kept) = self.kept.get(&index) {
            return Some(kept.clone());
        }
        let item = self.document.item(index)?;
        // Drawn often enough: it is not unpacked once more.
        let is_done = self.forms.get(&index).is_some_and(|known| known.times >= MOST_TIMES);
        if item.stream.is_none() || is_done {
            return None;
        }
        self.opened.insert(index);
        let decoded = self.document.decode(index, budget);
        let content = crate::format::pdf::content(self.notes, item, decoded)?;
        let total = self.kept_bytes.saturating_add(content.len());
        if total <= KEPT_BYTES {
            self.kept_bytes = total;
            self.kept.insert(index, content.clone());
        }
        Some(content)
    }

    /// Draws content, and every form it leads to.
    pub(super) fn run(
        &mut self,
        data: Bytes,
        resources: Option<&'d Dict<'a>>,
        form: Option<usize>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        self.saved.clear();
        self.saved_in_vain = 0;
        self.drop_layers(0);
        self.frames.clear();
        self.path = Path::default();
        budget.spend(Resource::Steps, count(data.len()))?;
        let cost = count(data.len());
        self.frames.push(Frame { data, at: 0, resources, form: None, saved: 0, layers: 0, cost });
        if let Some(form) = form {
            self.enter(form, budget)?;
        }
        while let Some(frame) = self.frames.last() {
            let data = frame.data.clone();
            let mut lexer = Lexer::new(&data, frame.at);
            let depth = self.frames.len();
            let mut operands: Vec<Object<'_>> = Vec::new();
            let is_over = loop {
                let before = lexer.position();
                match lexer.next() {
                    Token::End | Token::Endless => break true,
                    Token::Word(b"BI") => {
                        self.inline_image(&mut lexer);
                        operands.clear();
                    }
                    Token::Word(word) => {
                        self.operate(word, &operands, budget)?;
                        operands.clear();
                        if self.frames.len() != depth {
                            break false;
                        }
                    }
                    token => {
                        let value = match token {
                            Token::Int(value) => Object::Int(value),
                            Token::Real(value) => Object::Real(value),
                            Token::Name(name) => Object::Name(name.text),
                            Token::Literal(raw) => Object::Literal(raw),
                            Token::Hex(raw) => Object::Hex(raw),
                            Token::ArrayOpen | Token::DictOpen => {
                                lexer.seek(before);
                                let mut odd = Oddities { most: 100_000, ..Oddities::default() };
                                object::parse(&mut lexer, &mut odd).0
                            }
                            _ => continue,
                        };
                        if operands.len() < MOST_OPERANDS {
                            operands.push(value);
                        }
                    }
                }
            };
            if is_over {
                self.leave();
            } else if let Some(frame) = depth.checked_sub(1).and_then(|depth| self.frames.get_mut(depth)) {
                frame.at = lexer.position();
            }
        }
        Ok(())
    }

    /// Begins a form.
    pub(super) fn enter(&mut self, index: usize, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let known = self.forms.get(&index).copied().unwrap_or_default();
        let span = document.item(index).map_or(0..0, |item| item.at..item.end);
        if known.is_open || self.frames.len() >= MOST_FRAMES {
            self.notes.add(&rules::LOOP, span, "a form is drawn inside itself");
            return Ok(());
        }
        if known.times >= MOST_TIMES {
            self.unfold(known.cost, span);
            return Ok(());
        }
        let Some(dict) = document.item(index).and_then(|item| item.dict()) else { return Ok(()) };
        let Some(data) = self.stream(index, budget) else { return Ok(()) };
        budget.spend(Resource::Steps, count(data.len()).saturating_add(50))?;
        self.forms.insert(index, Known { times: known.times.saturating_add(1), is_open: true, ..known });
        self.save();
        let layer_is_off = dict.get("OC").is_some_and(|layer| self.is_off(layer));
        if let Some(Object::Array(values)) = dict.get("Matrix").map(|matrix| document.resolve(matrix)) {
            self.state.matrix = matrix_of(values).then(self.state.matrix);
        }
        if let Some(area) = pages::rectangle(document, document.get(dict, "BBox")) {
            self.state.clip = crossing(self.state.clip, self.state.matrix.area(area));
        }
        let above = self.frames.last().and_then(|frame| frame.resources);
        let resources = document.get(dict, "Resources").dict().or(above);
        let layers = self.layers.len();
        if layer_is_off {
            self.push_layer(true);
        }
        let cost = count(data.len()).max(1);
        let saved = self.saved.len();
        self.frames.push(Frame { data, at: 0, resources, form: Some(index), saved, layers, cost });
        Ok(())
    }

    /// Counts what a form would unfold to.
    pub(super) fn unfold(&mut self, cost: u64, span: std::ops::Range<usize>) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.cost = frame.cost.saturating_add(cost);
        if frame.cost > MOST_UNFOLDED {
            self.notes.add(&rules::EXPANSION, span, "forms in forms unfold to a page without end");
        }
    }

    /// Ends the innermost stream.
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let Some(index) = frame.form else { return };
        self.saved.truncate(frame.saved);
        self.saved_in_vain = 0;
        self.restore();
        self.drop_layers(frame.layers);
        if let Some(known) = self.forms.get_mut(&index) {
            known.is_open = false;
            known.cost = known.cost.max(frame.cost);
        }
        let span = self.document.item(index).map_or(0..0, |item| item.at..item.end);
        self.unfold(frame.cost, span);
    }

    pub(super) fn save(&mut self) {
        if self.saved.len() < MOST_SAVED {
            self.saved.push(self.state.clone());
        } else {
            self.saved_in_vain = self.saved_in_vain.saturating_add(1);
        }
    }

    pub(super) fn restore(&mut self) {
        if self.saved_in_vain > 0 {
            self.saved_in_vain = self.saved_in_vain.saturating_sub(1);
        } else if let Some(state) = self.saved.pop() {
            self.state = state;
        }
    }
}
