//! Pages drawn without ink (ISO 32000-1 §8 to §9): just enough state to know which words are where, and who sees them.
//!
//! Forms inside forms are a stack of frames, not calls. A form or stream that is used over and over is drawn a few
//! times and then only counted, so cost stays linear and a page that would unfold without end is seen to.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{
    document::Document,
    font::{Font, MOST_UNREAD},
    notes::Notes,
    object::{Dict, Object},
    pages::{self, Page},
    paint::{self, Area, Canvas, Color, Matrix},
    strings,
};
use crate::{
    finding::{Place, Reason, Stop},
    format::{Out, letters},
    limits::{Budget, Resource},
    reader::count,
    view::TextView,
};

mod color;
mod frames;
mod layers;
mod paths;
mod words;

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
/// Codes without characters in a whole document that say nothing yet: bullets and other marks of honest fonts have no
/// character, and no order to anybody is made of so few different letters.
pub(super) const MOST_SYMBOLS: usize = 8;
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
    /// Codes that led to no character, each with its font; and the page that had the first.
    unread: BTreeSet<(usize, u32)>,
    unread_on: Option<(u64, usize)>,
    /// A picture with room for letters stands in a page's own stream.
    has_inline: bool,
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
    /// The corners so far, where it is one run of straight lines.
    corners: Option<Vec<(f64, f64)>>,
}

/// Corners of a rectangle that is drawn by its sides and back to where it began.
const CORNERS_MOST: usize = 5;

impl Path {
    /// Takes in the next point of a run of straight lines.
    fn corner(&mut self, point: (f64, f64)) {
        if let Some(corners) = &mut self.corners {
            corners.push(point);
            if corners.len() > CORNERS_MOST {
                self.corners = None;
            }
        }
    }

    /// Whether it is one upright rectangle, however it was drawn.
    fn is_rectangle(&self) -> bool {
        let meets = |a: f64, b: f64| (a - b).abs() < 0.01;
        let corners = match self.corners.as_deref() {
            Some([corners @ .., last]) if corners.len() == 4 && corners.first() == Some(last) => corners,
            Some(corners) => corners,
            None => return self.is_box,
        };
        let [a, b, c, d] = *corners else { return self.is_box };
        let along =
            |[a, b, c, d]: [(f64, f64); 4]| meets(a.0, b.0) && meets(b.1, c.1) && meets(c.0, d.0) && meets(d.1, a.1);
        along([a, b, c, d]) || along([b, c, d, a])
    }
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
        unread: BTreeSet::new(),
        unread_on: None,
        has_inline: false,
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
    let drawn = (1_u64..).zip(pages).try_for_each(|(number, page)| {
        let drawn = drawer.draw(page, budget);
        if !drawer.unread.is_empty() {
            drawer.unread_on.get_or_insert((number, page.index));
        }
        drawer.tell(number, page, out, budget)?;
        drawn
    });
    drawer.tell_unread();
    if drawer.has_inline {
        letters::unread("a picture inside of a page's own stream: its letters were not read", out, budget);
    }
    drawn
}

impl<'d, 'a> Drawer<'d, 'a, '_> {
    fn draw(&mut self, page: &Page<'d, 'a>, budget: &mut Budget) -> Result<(), Stop> {
        let document = self.document;
        self.state = State::new(page.shown());
        self.is_orphan = !page.is_shown;
        self.is_hidden_note = false;
        let contents = page.dict.get("Contents");
        let several = contents.and_then(|contents| document.resolve(contents).array());
        let streams = several.or_else(|| contents.map(std::slice::from_ref)).unwrap_or_default();
        let mut parts: Vec<Bytes> = Vec::new();
        let is_worn = several.is_some_and(|several| self.is_worn(several, MOST_TIMES));
        let streams = if is_worn { &[] } else { streams };
        for index in streams.iter().filter_map(|stream| document.target(stream)) {
            budget.spend(Resource::Steps, 20)?;
            let Some(part) = self.stream(index, budget) else { continue };
            let known = self.forms.entry(index).or_default();
            known.times = known.times.saturating_add(1);
            if part.len() <= SHORT || known.times <= MOST_TIMES {
                budget.spend(Resource::Steps, count(part.len() / 8))?;
                parts.push(part);
            }
        }
        // A token ends where its stream does (§7.8.2): each end counts as a byte, the last one too.
        budget.spend(Resource::Steps, u64::from(!parts.is_empty()))?;
        // Most pages have one stream, which needs no copy.
        let data = match parts.as_slice() {
            [only] => only.clone(),
            several => several.join(&b'\n').into(),
        };
        self.run(data, page.resources, None, budget)?;
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
                Some(states)
                    if document
                        .target(looks)
                        .and_then(|at| document.item(at))
                        .is_none_or(|item| item.stream.is_none()) =>
                {
                    let state = document.get(note, "AS").name().and_then(|state| std::str::from_utf8(state).ok());
                    state.and_then(|state| states.get(state))
                }
                _ => Some(looks),
            };
            let Some(index) = look.and_then(|look| document.target(look)) else { continue };
            let flags = document.get(note, "F").int().unwrap_or(0);
            // Hidden and no view (table 165).
            self.is_hidden_note = flags & 0b10_0010 != 0;
            self.state = State::new(page.shown());
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

    /// Says that there are words which lead to no characters, where there are enough of them to say something.
    fn tell_unread(&mut self) {
        let Some((page, index)) = self.unread_on.filter(|_| self.unread.len() > MOST_SYMBOLS) else { return };
        let letters = match self.unread.len() {
            MOST_UNREAD.. => format!("{MOST_UNREAD} or more"),
            few => few.to_string(),
        };
        let detail = format!(
            "from page {page} on there is text whose codes lead to no characters ({letters} different ones): a person sees \
             it, and it was not read"
        );
        let at = self.document.item(index).map(|item| count(item.at));
        self.notes.gap(Reason::Unsupported, detail, at);
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
        Ok(())
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
        let index = self
            .indexes
            .entry(std::ptr::from_ref(dict).addr())
            .or_insert_with(|| dict.entries.iter().map(|(known, value)| (&**known, value)).collect());
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
            // A form cannot take back what was saved outside of it.
            b"Q" if self.frames.last().is_none_or(|frame| self.saved.len() > frame.saved) => self.restore(),
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
