//! A text to be read, and where each byte of it stands in the artifact.

use bytes::Bytes;

use crate::{
    finding::{Place, Rule, Span},
    reader::count,
};

/// From bytes of a text back to bytes of the artifact.
#[derive(Clone, Debug)]
pub enum OffsetMap {
    /// Byte `i` of the text is byte `i + n` of the artifact.
    Shifted(u64),
    /// The text as a whole comes from that range: inflated, or otherwise without a byte-to-byte relation.
    Within(Span),
    /// Runs: from text offset `.0` on, text byte `t` comes from artifact byte `.1 + (t - .0)`, up to the next run.
    /// Sorted; the last entry is the end of both.
    Runs(Vec<(u64, u64)>),
    /// The text was decoded from units of one width: UTF-16 or UTF-32. Exact like [`Runs`](Self::Runs), which would
    /// need an entry for each character.
    Units(Units),
}

/// Where the characters of a text decoded from UTF-16 or UTF-32 stood.
#[derive(Clone, Debug)]
pub struct Units {
    /// The decoded text: UTF-8.
    text: Bytes,
    /// Bytes of one unit.
    width: u64,
    /// Offsets of a character in the text and in the artifact, sorted: first the start of both, last the end of both.
    marks: Vec<(u64, u64)>,
}

impl Units {
    /// A character is looked for from the nearest mark before it: one mark each `MARK_EVERY` bytes of text keeps that
    /// short.
    pub(crate) const MARK_EVERY: usize = 4096;

    /// For `text`, decoded from units of `width` bytes, with `marks` every now and then.
    pub(crate) fn new(text: Bytes, width: u64, marks: Vec<(u64, u64)>) -> Self {
        Self { text, width, marks }
    }

    /// Where the character that holds byte `offset` of the text begins in the artifact.
    fn origin(&self, offset: u64) -> u64 {
        let next = self.marks.partition_point(|(text, _)| *text <= offset);
        let (end, limit) = self.marks.get(next).or(self.marks.last()).copied().unwrap_or_default();
        let (mut at, mut artifact) =
            next.checked_sub(1).and_then(|mark| self.marks.get(mark)).copied().unwrap_or((0, 0));
        let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let text = self.text.get(index(at)..index(end)).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("");
        for character in text.chars() {
            let next = at.saturating_add(count(character.len_utf8()));
            if next > offset {
                break;
            }
            at = next;
            let units = if self.width == 2 { count(character.len_utf16()) } else { 1 };
            artifact = artifact.saturating_add(units.saturating_mul(self.width));
        }
        // The last unit may be cut.
        artifact.min(limit)
    }
}

impl OffsetMap {
    /// Where a range of the text stands in the artifact. Never empty for a text that is not.
    pub fn span(&self, start: u64, end: u64) -> Span {
        match self {
            Self::Shifted(by) => Span { start: start.saturating_add(*by), end: end.saturating_add(*by) },
            Self::Within(span) => *span,
            Self::Runs(runs) => {
                let origin = |offset: u64| {
                    let next = runs.partition_point(|(text, _)| *text <= offset);
                    let (text, artifact) = next.checked_sub(1).and_then(|at| runs.get(at)).copied().unwrap_or((0, 0));
                    let within = artifact.saturating_add(offset.saturating_sub(text));
                    // A run may be shorter in the text than in the artifact, never reach into the next.
                    runs.get(next).map_or(within, |(_, limit)| within.min(*limit))
                };
                let start_at = origin(start);
                // The end is where the last byte's run lets the next one begin.
                let end_at = match runs.binary_search_by_key(&end, |(text, _)| *text) {
                    Ok(at) => runs.get(at).map_or(start_at, |(_, artifact)| *artifact),
                    Err(_) => origin(end),
                };
                Span { start: start_at, end: end_at.max(start_at) }
            }
            Self::Units(units) => Span { start: units.origin(start), end: units.origin(end) },
        }
    }
}

/// One text of an artifact: a stream, a metadata field, a cell, a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextView {
    /// The text. UTF-8 where it was; bytes that are not stay as they are, rules see bytes.
    pub text: Bytes,
    /// Back to the artifact; `None` for texts that are not in its bytes (its name).
    pub map: Option<OffsetMap>,
    /// Where a person looks. Line and column are added when it names nothing yet.
    pub place: Place,
    /// The layers undone to get it, outermost first.
    pub decoded: Vec<&'static str>,
    /// The rule to report when this text, which a person does not see where it stands, is worded as an instruction or
    /// carries a secret. Hidden text as such is ordinary.
    pub hidden: Option<&'static Rule>,
    /// Its markup was judged by the format that cut it: the check for markup in plain text does not read it again.
    pub is_judged: bool,
    /// Finer places within the text, where it is made of many small ones.
    pub marks: Option<Marks>,
}

/// Places of the pieces that one text was put together from: a table of a million cells is one text.
#[derive(Clone, Debug)]
pub struct Marks {
    /// What the numbers count.
    key: &'static str,
    /// From which offset of the text on, which number. Sorted by offset.
    at: Vec<(u64, u64)>,
}

/// Columns of a sheet are fewer than that (Excel: 16,384).
const COLUMNS: u64 = 1 << 20;

impl Marks {
    /// Pieces that are counted from one: paragraphs, slides.
    pub(crate) fn numbered(key: &'static str, at: Vec<(u64, u64)>) -> Self {
        Self { key, at }
    }

    /// Cells of a sheet, each packed by [`cell`](Self::cell).
    pub(crate) fn cells(at: Vec<(u64, u64)>) -> Self {
        Self { key: "cell", at }
    }

    /// Row and column, both from zero, as one number.
    pub(crate) fn cell(row: u64, column: u64) -> u64 {
        row.saturating_mul(COLUMNS).saturating_add(column.min(COLUMNS.saturating_sub(1)))
    }

    /// The place of what stands at `offset` of the text.
    fn place(&self, place: Place, offset: u64) -> Place {
        let next = self.at.partition_point(|(from, _)| *from <= offset);
        match next.checked_sub(1).and_then(|mark| self.at.get(mark)) {
            Some((_, number)) if self.key == "cell" => place.name("cell", cell_name(*number)),
            Some((_, number)) => place.number(self.key, *number),
            None => place,
        }
    }
}

/// A packed cell as people write it: `B3`.
pub(crate) fn cell_name(cell: u64) -> String {
    let row = cell.checked_div(COLUMNS).unwrap_or(0).saturating_add(1);
    let mut column = cell.checked_rem(COLUMNS).unwrap_or(0).saturating_add(1);
    let mut letters = Vec::new();
    while let Some(before) = column.checked_sub(1) {
        let letter = u32::try_from(before % 26).ok().and_then(|digit| char::from_digit(digit.saturating_add(10), 36));
        letters.push(letter.unwrap_or('?').to_ascii_uppercase());
        column = before / 26;
    }
    format!("{}{row}", letters.into_iter().rev().collect::<String>())
}

impl TextView {
    /// A text that stands as it is at an offset of the artifact.
    pub fn at(text: Bytes, offset: u64) -> Self {
        Self {
            text,
            map: Some(OffsetMap::Shifted(offset)),
            place: Place::default(),
            decoded: Vec::new(),
            hidden: None,
            is_judged: false,
            marks: None,
        }
    }

    /// A text mapped back by `map`, after undoing `decoded`.
    pub fn decoded(text: Bytes, map: OffsetMap, decoded: Vec<&'static str>) -> Self {
        Self { text, map: Some(map), place: Place::default(), decoded, hidden: None, is_judged: false, marks: None }
    }

    /// A text that belongs to the artifact and is not in its bytes, such as its name.
    pub fn beside(text: Bytes, what: &'static str) -> Self {
        Self {
            text,
            map: None,
            place: Place::default().name("part", what),
            decoded: Vec::new(),
            hidden: None,
            is_judged: false,
            marks: None,
        }
    }

    /// The same text, which a person does not see: `rule` says why.
    #[must_use]
    pub fn hidden(mut self, rule: &'static Rule) -> Self {
        self.hidden = Some(rule);
        self
    }

    /// The same text, whose markup is judged already.
    #[must_use]
    pub fn judged(mut self) -> Self {
        self.is_judged = true;
        self
    }

    /// The same text at a place.
    #[must_use]
    pub fn place(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// The same text with finer places.
    #[must_use]
    pub(crate) fn marked(mut self, marks: Marks) -> Self {
        self.marks = Some(marks);
        self
    }

    /// Where a person looks for what stands at `offset` of the text.
    pub(crate) fn place_at(&self, offset: u64) -> Place {
        let place = self.place.clone();
        match &self.marks {
            Some(marks) => marks.place(place, offset),
            None => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_map_both_ends() {
        // "a\nb" escaped as `a\nb` in the artifact at 10: text 0..1 from 10, text 1 from 11..13, text 2 from 13.
        let map = OffsetMap::Runs(vec![(0, 10), (1, 11), (2, 13), (3, 14)]);
        assert_eq!(map.span(0, 3), Span { start: 10, end: 14 });
        assert_eq!(map.span(1, 2), Span { start: 11, end: 13 });
        assert_eq!(map.span(2, 3), Span { start: 13, end: 14 });
        assert_eq!(map.span(0, 1), Span { start: 10, end: 11 });
    }

    #[test]
    fn pieces_have_their_own_places() {
        let at = vec![(0, Marks::cell(0, 0)), (4, Marks::cell(2, 27)), (9, Marks::cell(1_048_575, 16_383))];
        let view = TextView::at(Bytes::from("one\ntwo\n\nthree"), 0).marked(Marks::cells(at));
        let cell = |offset| view.place_at(offset);
        assert_eq!(cell(0), Place::default().name("cell", "A1"));
        assert_eq!(cell(3), Place::default().name("cell", "A1"));
        assert_eq!(cell(4), Place::default().name("cell", "AB3"));
        assert_eq!(cell(99), Place::default().name("cell", "XFD1048576"));
    }

    #[test]
    fn units_map_every_character_with_and_without_marks() {
        // UTF-16 behind a mark of order: each character two bytes, the face four.
        let text = Bytes::from("aé\u{1f600}€z");
        for marks in [vec![(0, 2), (11, 14)], vec![(0, 2), (3, 6), (11, 14)]] {
            let map = OffsetMap::Units(Units::new(text.clone(), 2, marks));
            assert_eq!(map.span(0, 1), Span { start: 2, end: 4 });
            assert_eq!(map.span(1, 3), Span { start: 4, end: 6 });
            assert_eq!(map.span(3, 7), Span { start: 6, end: 10 });
            assert_eq!(map.span(7, 11), Span { start: 10, end: 14 });
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]

        /// Any sorted runs, any place: a span never turns around, never leaves what the runs cover, and never goes back
        /// when the text goes on.
        #[test]
        fn runs_keep_order_and_stay_inside(
            steps in proptest::collection::vec((1_u64..9, 0_u64..9), 1..12),
            at in 0_u64..60,
            length in 0_u64..60,
        ) {
            let mut runs = vec![(0_u64, 10_u64)];
            for (text, artifact) in steps {
                let (last_text, last_artifact) = runs.last().copied().unwrap_or_default();
                runs.push((last_text + text, last_artifact + artifact));
            }
            let (end, limit) = runs.last().copied().unwrap_or_default();
            let (start, stop) = (at.min(end), at.saturating_add(length).min(end));
            let map = OffsetMap::Runs(runs);
            let span = map.span(start, stop);
            proptest::prop_assert!(10 <= span.start && span.start <= span.end && span.end <= limit, "{:?}", span);
            let later = map.span(stop, end);
            proptest::prop_assert!(later.start >= span.start && later.end >= span.end, "{:?} {:?}", span, later);
        }

        /// Any text in UTF-16 or UTF-32: each character's span is as long as the units that it takes, wherever marks are.
        #[test]
        fn units_find_every_character(words in "\\PC{0,40}", wide in proptest::bool::ANY, every in 1_usize..9) {
            let width = if wide { 4 } else { 2 };
            let size = |character: char| if wide { 4 } else { 2 * count(character.len_utf16()) };
            let mut places = vec![(0, 2)];
            let (mut text, mut artifact) = (0, 2);
            for character in words.chars() {
                text += count(character.len_utf8());
                artifact += size(character);
                places.push((text, artifact));
            }
            let last = places.len() - 1;
            let marks = places.iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last).map(|(_, mark)| *mark);
            let map = OffsetMap::Units(Units::new(words.clone().into(), width, marks.collect()));
            for pair in places.windows(2) {
                let span = map.span(pair[0].0, pair[1].0);
                proptest::prop_assert_eq!((span.start, span.end), (pair[0].1, pair[1].1));
            }
        }
    }
}
