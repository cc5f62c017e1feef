//! Pages drawn without ink (ISO 32000-1 §8 to §9): just enough state to know which words are where, and who sees them.
//!
//! Forms inside forms are a stack of frames, not calls. A form or stream that is used over and over is drawn a few
//! times and then only counted, so cost stays linear and a page that would unfold without end is seen to.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{
    document::Document,
    font::Font,
    lex::{Lexer, Token, is_white},
    notes::Notes,
    object::{self, Dict, Object, Oddities},
    pages::{self, Page, crossing},
    paint::{self, Area, Brush, Canvas, Color, MOST_RUNS, Matrix, Sight},
    rules, strings,
};
use crate::{
    finding::{Place, Stop},
    format::Out,
    limits::{Budget, Resource},
    reader::count,
    view::TextView,
};

mod color;

/// Times that one form or stream is drawn; later uses say the same words.
const MOST_TIMES: u32 = 8;
/// Streams as short as that are drawn every time: they open and close what stands around them.
const SHORT: usize = 1024;
/// Unpacked streams that are kept for the next use, all together.
const KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Entries that are looked through one by one. A resource dictionary has eight kinds.
const FEW: usize = 16;
/// Bytes of maps and widths that fonts may need beyond twice the file: maps are packed.
const SPARE_FONT_WORK: usize = 32 * 1024 * 1024;
/// Forms in each other.
const MOST_FRAMES: usize = 64;
/// Graphics states saved in each other. The standard asks for 28.
const MOST_SAVED: usize = 512;
/// Operands of one operator; more are dropped.
const MOST_OPERANDS: usize = 512;
/// Bytes of content that a page may unfold to.
const MOST_UNFOLDED: u64 = 1 << 28;
/// Paint thinner than that does not show.
const CLEAR: f64 = 0.05;
/// A shift between letters that is as wide as a blank, in thousandths of the size.
const BLANK_SHIFT: f64 = -180.0;

/// State of §8.4.1, as far as words are concerned.
#[derive(Clone, Debug)]
struct State {
    matrix: Matrix,
    clip: Area,
    fill: Option<Color>,
    space: color::Space,
    alpha: f64,
    is_blended: bool,
    font: Option<usize>,
    size: f64,
    letter_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
    mode: i64,
}

impl State {
    fn new(clip: Area) -> Self {
        Self {
            matrix: Matrix::IDENTITY,
            clip,
            fill: Some([0.0; 3]),
            space: color::Space::Gray,
            alpha: 1.0,
            is_blended: false,
            font: None,
            size: 0.0,
            letter_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            mode: 0,
        }
    }
}

/// A stream being drawn.
struct Frame<'d, 'a> {
    data: Bytes,
    at: usize,
    resources: Option<&'d Dict<'a>>,
    /// Position of the form, of which this is the content.
    form: Option<usize>,
    /// Saved states and layers when it began.
    saved: usize,
    layers: usize,
    /// Bytes it unfolds to, with all forms inside.
    cost: u64,
}

/// What was learnt of a form when it was drawn.
#[derive(Clone, Copy, Default)]
struct Known {
    times: u32,
    cost: u64,
    is_open: bool,
}

/// Draws page after page.
pub(super) struct Drawer<'d, 'a, 'n> {
    document: &'d Document<'a>,
    notes: &'n mut Notes,
    opened: &'n mut BTreeSet<usize>,
    fonts: Vec<Font>,
    /// Fonts by the place of their dictionary in memory, which stays where it is.
    fonts_by_place: BTreeMap<usize, usize>,
    forms: BTreeMap<usize, Known>,
    kept: BTreeMap<usize, Bytes>,
    kept_bytes: usize,
    /// Times that one list of streams was drawn, and lists of annotations seen, by their place in memory.
    lists: BTreeMap<usize, u32>,
    /// Large dictionaries of resources, by their place in memory, with their entries by name.
    indexes: BTreeMap<usize, BTreeMap<&'d [u8], &'d Object<'a>>>,
    /// Layers that were asked about, by their place in memory.
    asked: BTreeMap<usize, bool>,
    /// Bytes of maps and widths read for fonts.
    font_work: usize,
    /// Layers that are off, by position.
    off: BTreeSet<usize>,
    are_layers_off: bool,
    page: Canvas,
    state: State,
    saved: Vec<State>,
    /// Saves beyond those that are kept.
    saved_in_vain: usize,
    frames: Vec<Frame<'d, 'a>>,
    /// Marked content: whether each is on a layer that is off.
    layers: Vec<bool>,
    /// How many of them are.
    layers_off: usize,
    text_matrix: Matrix,
    line_matrix: Matrix,
    path: Path,
    /// Words that stand for what is drawn (§14.9.4).
    spoken: String,
    is_orphan: bool,
    is_hidden_note: bool,
}

#[derive(Default)]
struct Path {
    area: Option<Area>,
    at: (f64, f64),
    /// It is one upright rectangle.
    is_box: bool,
    parts: u32,
    clips: bool,
}

/// Reads the text of all pages.
pub(super) fn read<'a>(
    document: &Document<'a>,
    pages: &[Page<'_, 'a>],
    notes: &mut Notes,
    opened: &mut BTreeSet<usize>,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let mut drawer = Drawer {
        document,
        notes,
        opened,
        fonts: vec![Font::unknown()],
        fonts_by_place: BTreeMap::new(),
        forms: BTreeMap::new(),
        kept: BTreeMap::new(),
        kept_bytes: 0,
        lists: BTreeMap::new(),
        indexes: BTreeMap::new(),
        asked: BTreeMap::new(),
        font_work: 0,
        off: BTreeSet::new(),
        are_layers_off: false,
        page: Canvas::default(),
        state: State::new(paint::EMPTY),
        saved: Vec::new(),
        saved_in_vain: 0,
        frames: Vec::new(),
        layers: Vec::new(),
        layers_off: 0,
        text_matrix: Matrix::IDENTITY,
        line_matrix: Matrix::IDENTITY,
        path: Path::default(),
        spoken: String::new(),
        is_orphan: false,
        is_hidden_note: false,
    };
    drawer.find_layers(budget)?;
    for (number, page) in (1_u64..).zip(pages) {
        let drawn = drawer.draw(page, budget);
        drawer.tell(number, page, out, budget)?;
        drawn?;
    }
    Ok(())
}

impl<'d, 'a> Drawer<'d, 'a, '_> {
    /// Which layers are off when the document is opened (§8.11.4).
    fn find_layers(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let Some(root) = document.root().or_else(|| document.some_root()) else { return Ok(()) };
        let Some(layers) = document.get(root, "OCProperties").dict() else { return Ok(()) };
        let Some(usual) = document.get(layers, "D").dict() else { return Ok(()) };
        let list = |dict: &'d Dict<'a>, key| document.get(dict, key).array().unwrap_or_default();
        let (all, off, on) = (list(layers, "OCGs"), list(usual, "OFF"), list(usual, "ON"));
        let lengths = [all, off, on].iter().map(|list| count(list.len())).fold(0, u64::saturating_add);
        budget.spend(Resource::Steps, lengths.saturating_mul(10))?;
        if document.get(usual, "BaseState").name() == Some(b"OFF") {
            self.off.extend(all.iter().filter_map(|layer| document.target(layer)));
            for layer in on.iter().filter_map(|layer| document.target(layer)) {
                self.off.remove(&layer);
            }
        }
        self.off.extend(off.iter().filter_map(|layer| document.target(layer)));
        self.are_layers_off = !self.off.is_empty();
        Ok(())
    }

    /// Whether a layer, or a set of layers by its policy, is off.
    fn is_off(&mut self, layer: &'d Object<'a>) -> bool {
        if !self.are_layers_off {
            return false;
        }
        let place = std::ptr::from_ref(layer).addr();
        if let Some(known) = self.asked.get(&place) {
            return *known;
        }
        let is_off = self.ask(layer);
        self.asked.insert(place, is_off);
        is_off
    }

    fn ask(&self, layer: &'d Object<'a>) -> bool {
        let document = self.document;
        let is_off = |layer: &Object<'a>| document.target(layer).is_some_and(|layer| self.off.contains(&layer));
        if is_off(layer) {
            return true;
        }
        let Some(set) = document.resolve(layer).dict().filter(|dict| dict.is("Type", "OCMD")) else { return false };
        let Some(members) = set.get("OCGs") else { return false };
        let one = std::slice::from_ref(members);
        let members = document.resolve(members).array().unwrap_or(one);
        let members = members.get(..MOST_OPERANDS).unwrap_or(members);
        if members.is_empty() {
            return false;
        }
        match document.get(set, "P").name() {
            Some(b"AllOn") => members.iter().any(is_off),
            Some(b"AnyOff") => !members.iter().any(is_off),
            Some(b"AllOff") => !members.iter().all(is_off),
            _ => members.iter().all(is_off),
        }
    }

    fn draw(&mut self, page: &Page<'d, 'a>, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        self.state = State::new(page.shown);
        self.is_orphan = !page.is_shown;
        self.is_hidden_note = false;
        let contents = page.dict.get("Contents");
        let several = contents.and_then(|contents| document.resolve(contents).array());
        let streams = several.or_else(|| contents.map(std::slice::from_ref)).unwrap_or_default();
        let mut data: Vec<u8> = Vec::new();
        let is_worn = several.is_some_and(|several| self.is_worn(several, MOST_TIMES));
        let streams = if is_worn { &[] } else { streams };
        for index in streams.iter().filter_map(|stream| document.target(stream)) {
            budget.spend(Resource::Steps, 20)?;
            let Some(part) = self.stream(index, budget) else { continue };
            let known = self.forms.entry(index).or_default();
            known.times = known.times.saturating_add(1);
            if part.len() <= SHORT || known.times <= MOST_TIMES {
                budget.spend(Resource::Steps, count(part.len() / 8))?;
                data.extend_from_slice(&part);
                data.push(b'\n');
            }
        }
        self.run(data.into(), page.resources, None, budget)?;
        self.annotations(page, budget)
    }

    /// What annotations look like is part of what is seen of a page.
    fn annotations(&mut self, page: &Page<'d, 'a>, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        let notes = document.get(page.dict, "Annots").array().unwrap_or_default();
        if notes.is_empty() || self.is_worn(notes, 1) {
            return Ok(());
        }
        for note in notes {
            budget.spend(Resource::Steps, 20)?;
            let Some(note) = document.resolve(note).dict() else { continue };
            let Some(looks) = document.get(note, "AP").dict().and_then(|looks| looks.get("N")) else { continue };
            let look = match document.resolve(looks).dict() {
                // One look for each state: the one it is in.
                Some(states) if document.target(looks).and_then(|at| document.item(at)).is_none_or(|item| item.stream.is_none()) => {
                    let state = document.get(note, "AS").name().and_then(|state| std::str::from_utf8(state).ok());
                    state.and_then(|state| states.get(state))
                }
                _ => Some(looks),
            };
            let Some(index) = look.and_then(|look| document.target(look)) else { continue };
            let flags = document.get(note, "F").int().unwrap_or(0);
            // Hidden and no view (table 165).
            self.is_hidden_note = flags & 0b10_0010 != 0;
            self.state = State::new(page.shown);
            if let Some([left, bottom, ..]) = pages::rectangle(document, document.get(note, "Rect")) {
                let form = document.item(index).and_then(|item| item.dict());
                let inner = form.and_then(|form| pages::rectangle(document, document.get(form, "BBox")));
                let [x, y, ..] = inner.unwrap_or_default();
                self.state.matrix = Matrix::shift(left - x, bottom - y);
            }
            self.run(Bytes::new(), page.resources, Some(index), budget)?;
        }
        self.is_hidden_note = false;
        Ok(())
    }

    /// Gives the words of the page to the rules.
    fn tell(&mut self, number: u64, page: &Page<'d, 'a>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let place = if page.is_shown {
            Place::default().number("page", number)
        } else {
            Place::default().name("part", "page that nothing shows")
        };
        budget.spend(Resource::Steps, count(self.page.pairs() / 4).saturating_add(count(self.page.runs())))?;
        let range = self.document.item(page.index).map_or(0..0, |item| item.at..item.end);
        let mut texts = self.page.settle();
        let spoken = std::mem::take(&mut self.spoken);
        texts.extend((!spoken.is_empty()).then_some((None, spoken)));
        for (rule, text) in texts {
            budget.spend(Resource::DecodedBytes, count(text.len()))?;
            let view = TextView::decoded(text.into(), strings::within(&range), vec!["pdf"]).place(place.clone());
            out.read(match rule {
                Some(rule) => view.hidden(rule),
                None => view,
            });
        }
        self.page = Canvas::default();
        Ok(())
    }

    /// The content of a stream; short ones are kept.
    fn stream(&mut self, index: usize, budget: &mut Budget) -> Option<Bytes> {
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
        let content = super::content(self.notes, item, decoded)?;
        let total = self.kept_bytes.saturating_add(content.len());
        if total <= KEPT_BYTES {
            self.kept_bytes = total;
            self.kept.insert(index, content.clone());
        }
        Some(content)
    }

    /// Draws content, and every form it leads to.
    fn run(
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
    fn enter(&mut self, index: usize, budget: &mut Budget) -> Result<(), Stop> {
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
    fn unfold(&mut self, cost: u64, span: std::ops::Range<usize>) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.cost = frame.cost.saturating_add(cost);
        if frame.cost > MOST_UNFOLDED {
            self.notes.add(&rules::EXPANSION, span, "forms in forms unfold to a page without end");
        }
    }

    /// Ends the innermost stream.
    fn leave(&mut self) {
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

    fn push_layer(&mut self, is_off: bool) {
        self.layers.push(is_off);
        self.layers_off = self.layers_off.saturating_add(usize::from(is_off));
    }

    /// Ends marked content down to a depth.
    fn drop_layers(&mut self, depth: usize) {
        let ended = self.layers.get(depth..).unwrap_or_default().iter().filter(|is_off| **is_off).count();
        self.layers_off = self.layers_off.saturating_sub(ended);
        self.layers.truncate(depth);
    }

    fn save(&mut self) {
        if self.saved.len() < MOST_SAVED {
            self.saved.push(self.state.clone());
        } else {
            self.saved_in_vain = self.saved_in_vain.saturating_add(1);
        }
    }

    fn restore(&mut self) {
        if self.saved_in_vain > 0 {
            self.saved_in_vain = self.saved_in_vain.saturating_sub(1);
        } else if let Some(state) = self.saved.pop() {
            self.state = state;
        }
    }

    /// A resource by its kind and name.
    fn resource(&mut self, kind: &str, name: Option<&Object<'_>>) -> Option<&'d Object<'a>> {
        let name = name?.name()?;
        let resources = self.frames.last()?.resources?;
        let kind = self.entry(resources, kind.as_bytes())?;
        self.entry(self.document.resolve(kind).dict()?, name)
    }

    /// An entry of a dictionary that is asked again and again; a large one is sorted the first time.
    fn entry(&mut self, dict: &'d Dict<'a>, name: &[u8]) -> Option<&'d Object<'a>> {
        if dict.entries.len() <= FEW {
            return dict.entries.iter().rev().find(|(known, _)| **known == *name).map(|(_, value)| value);
        }
        let index = self.indexes.entry(std::ptr::from_ref(dict).addr()).or_insert_with(|| {
            dict.entries.iter().map(|(known, value)| (&**known, value)).collect()
        });
        index.get(name).copied()
    }

    /// Whether something shared was used often enough.
    fn is_worn<T: ?Sized>(&mut self, shared: &T, most: u32) -> bool {
        let times = self.lists.entry(std::ptr::from_ref(shared).addr()).or_insert(0);
        *times = times.saturating_add(1);
        *times > most
    }

    fn operate(&mut self, word: &[u8], operands: &[Object<'_>], budget: &mut Budget) -> Result<(), Stop> {
        let number = |at: usize| operands.get(at).and_then(Object::real).unwrap_or(0.0);
        match word {
            b"q" => self.save(),
            b"Q" => {
                // A form cannot take back what was saved outside of it.
                if self.frames.last().is_none_or(|frame| self.saved.len() > frame.saved) {
                    self.restore();
                }
            }
            b"cm" => self.state.matrix = matrix_of(operands).then(self.state.matrix),
            b"BT" => (self.text_matrix, self.line_matrix) = (Matrix::IDENTITY, Matrix::IDENTITY),
            b"Tf" => {
                self.state.size = number(1);
                self.state.font = self.font(operands.first(), budget)?;
            }
            b"Tc" => self.state.letter_space = number(0),
            b"Tw" => self.state.word_space = number(0),
            b"Tz" => self.state.stretch = number(0) / 100.0,
            b"TL" => self.state.leading = number(0),
            b"Ts" => self.state.rise = number(0),
            b"Tr" => self.state.mode = operands.first().and_then(Object::int).unwrap_or(0),
            b"Td" => self.line(number(0), number(1)),
            b"TD" => {
                self.state.leading = -number(1);
                self.line(number(0), number(1));
            }
            b"Tm" => (self.text_matrix, self.line_matrix) = (matrix_of(operands), matrix_of(operands)),
            b"T*" => self.line(0.0, -self.state.leading),
            b"Tj" => self.show(operands.get(..1).unwrap_or_default(), budget)?,
            b"'" => {
                self.line(0.0, -self.state.leading);
                self.show(operands.get(..1).unwrap_or_default(), budget)?;
            }
            b"\"" => {
                (self.state.word_space, self.state.letter_space) = (number(0), number(1));
                self.line(0.0, -self.state.leading);
                self.show(operands.get(2..3).unwrap_or_default(), budget)?;
            }
            b"TJ" => {
                if let Some(Object::Array(parts)) = operands.first() {
                    self.show(parts, budget)?;
                }
            }
            b"Do" => self.paint_object(operands.first(), budget)?,
            b"gs" => self.graphics_state(operands.first(), budget)?,
            b"BDC" => self.mark(operands),
            b"BMC" => self.push_layer(false),
            b"EMC" => {
                let floor = self.frames.last().map_or(0, |frame| frame.layers);
                self.drop_layers(self.layers.len().saturating_sub(1).max(floor));
            }
            b"re" | b"m" | b"l" | b"c" | b"v" | b"y" | b"h" | b"W" | b"W*" | b"n" | b"f" | b"F" | b"f*" | b"B"
            | b"B*" | b"b" | b"b*" | b"s" | b"S" | b"sh" => self.path(word, operands),
            b"g" | b"rg" | b"k" | b"cs" | b"sc" | b"scn" => self.color(word, operands),
            _ => {}
        }
        Ok(())
    }

    fn color(&mut self, word: &[u8], operands: &[Object<'_>]) {
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
    fn path(&mut self, word: &[u8], operands: &[Object<'_>]) {
        let number = |at: usize| operands.get(at).and_then(Object::real).unwrap_or(0.0);
        let matrix = self.state.matrix;
        match word {
            b"re" => {
                let (x, y) = (number(0), number(1));
                let area = matrix.area([x, y, x + number(2), y + number(3)]);
                self.path.is_box = self.path.parts == 0 && matrix.is_upright();
                self.path.parts = self.path.parts.saturating_add(1);
                self.path.include(area);
            }
            b"m" | b"l" | b"c" | b"v" | b"y" => {
                if word != b"m" {
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
            }
            b"h" => {}
            b"W" | b"W*" => self.path.clips = true,
            b"sh" => self.fill(self.state.clip, None, false),
            _ => {
                if !matches!(word, b"n" | b"s" | b"S")
                    && let Some(area) = self.path.area
                {
                    self.fill(area, self.state.fill, self.path.is_box);
                }
                if self.path.clips {
                    // An empty path shows nothing (§8.5.4).
                    self.state.clip = crossing(self.state.clip, self.path.area.unwrap_or(paint::EMPTY));
                }
                self.path = Path::default();
            }
        }
    }

    fn fill(&mut self, area: Area, color: Option<Color>, is_box: bool) {
        if self.is_off_here() || self.state.alpha < CLEAR {
            return;
        }
        let is_plain = self.state.alpha > 0.95 && !self.state.is_blended;
        let color = if is_plain { color } else { None };
        self.page.cover(crossing(area, self.state.clip), color, is_plain && is_box);
    }

    fn is_off_here(&self) -> bool {
        self.is_orphan || self.is_hidden_note || self.layers_off > 0
    }

    fn line(&mut self, x: f64, y: f64) {
        self.line_matrix = Matrix::shift(x, y).then(self.line_matrix);
        self.text_matrix = self.line_matrix;
    }

    /// Shows strings, with shifts between them.
    fn show(&mut self, parts: &[Object<'_>], budget: &mut Budget) -> Result<(), Stop> {
        if self.page.runs() >= MOST_RUNS {
            return Err(crate::limits::Exhausted(Resource::Objects).into());
        }
        let state = &self.state;
        let Some(font) = self.fonts.get(state.font.unwrap_or(0)) else { return Ok(()) };
        budget.spend(Resource::Steps, count(parts.len()).saturating_mul(2).saturating_add(40))?;
        let mut text = String::new();
        let mut length = 0.0_f64;
        for part in parts {
            if let Some(raw) = part.string() {
                budget.spend(Resource::Steps, count(raw.len()).saturating_mul(2))?;
                font.show(&raw, |code, width| {
                    font.write(code, &mut text);
                    let space = if font.is_blank(code) { state.word_space } else { 0.0 };
                    length += (width * state.size + state.letter_space + space) * state.stretch;
                });
            } else if let Some(shift) = part.real() {
                if shift < BLANK_SHIFT && !text.is_empty() && !text.ends_with(' ') {
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
        self.page.text(&brush, |all| all.push_str(&text));
        Ok(())
    }

    fn font(&mut self, name: Option<&Object<'_>>, budget: &mut Budget) -> Result<Option<usize>, Stop> {
        let Some(font) = self.resource("Font", name) else { return Ok(None) };
        self.font_of(font, budget)
    }

    fn font_of(&mut self, font: &'d Object<'a>, budget: &mut Budget) -> Result<Option<usize>, Stop> {
        let document = self.document;
        let Some(dict) = document.resolve(font).dict() else { return Ok(None) };
        let place = std::ptr::from_ref(dict).addr();
        if let Some(known) = self.fonts_by_place.get(&place) {
            return Ok(Some(*known));
        }
        budget.spend(Resource::Objects, 1)?;
        let map = dict.get("ToUnicode").and_then(|map| document.target(map));
        let map = map.and_then(|index| self.stream(index, budget));
        let font = Font::read(document, dict, map.as_deref(), budget)?;
        self.font_work = self.font_work.saturating_add(map.map_or(0, |map| map.len())).saturating_add(font.work());
        if self.font_work > document.bytes.len().saturating_mul(2).saturating_add(SPARE_FONT_WORK) {
            return Err(Stop::malformed("too many fonts over the same maps to follow", 0));
        }
        let index = self.fonts.len();
        self.fonts.push(font);
        self.fonts_by_place.insert(place, index);
        Ok(Some(index))
    }

    /// A form is entered, a picture covers.
    fn paint_object(&mut self, name: Option<&Object<'_>>, budget: &mut Budget) -> Result<(), Stop> {
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

    fn picture(&mut self, is_solid: bool) {
        let area = self.state.matrix.area([0.0, 0.0, 1.0, 1.0]);
        self.fill(area, None, is_solid && self.state.matrix.is_upright());
    }

    /// `BI … ID data EI` (§8.9.7).
    fn inline_image(&mut self, lexer: &mut Lexer<'_>) {
        let rest = lexer.rest();
        let start = memchr::memmem::find(rest, b"ID").map_or(rest.len(), |at| at.saturating_add(2));
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

    fn graphics_state(&mut self, name: Option<&Object<'_>>, budget: &mut Budget) -> Result<(), Stop> {
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

    /// Marked content: layers, and words that stand for what is drawn.
    fn mark(&mut self, operands: &[Object<'_>]) {
        let is_layer = operands.first().and_then(Object::name) == Some(b"OC");
        let layer = if is_layer { self.resource("Properties", operands.get(1)) } else { None };
        let is_off = layer.is_some_and(|layer| self.is_off(layer));
        self.push_layer(is_off);
        let words = operands.get(1).and_then(Object::dict).and_then(|dict| dict.get("ActualText")?.string());
        if let Some(words) = words {
            self.spoken.push_str(&strings::decode(&words));
            // Letter by letter is what it mostly stands for.
            if words.len() > 8 {
                self.spoken.push('\n');
            }
        }
    }
}

impl Path {
    fn include(&mut self, [left, bottom, right, top]: Area) {
        let area = self.area.get_or_insert(paint::EMPTY);
        paint::include(area, left, bottom);
        paint::include(area, right, top);
    }
}

/// Six numbers; missing ones as in the identity.
fn matrix_of(values: &[Object<'_>]) -> Matrix {
    let Matrix(mut matrix) = Matrix::IDENTITY;
    for (slot, value) in matrix.iter_mut().zip(values) {
        if let Some(value) = value.real() {
            *slot = value;
        }
    }
    Matrix(matrix)
}
