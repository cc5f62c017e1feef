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
}

impl TextView {
    /// A text that stands as it is at an offset of the artifact.
    pub fn at(text: Bytes, offset: u64) -> Self {
        Self { text, map: Some(OffsetMap::Shifted(offset)), place: Place::default(), decoded: Vec::new(), hidden: None, is_judged: false }
    }

    /// A text mapped back by `map`, after undoing `decoded`.
    pub fn decoded(text: Bytes, map: OffsetMap, decoded: Vec<&'static str>) -> Self {
        Self { text, map: Some(map), place: Place::default(), decoded, hidden: None, is_judged: false }
    }

    /// A text that belongs to the artifact and is not in its bytes, such as its name.
    pub fn beside(text: Bytes, what: &'static str) -> Self {
        Self { text, map: None, place: Place::default().name("part", what), decoded: Vec::new(), hidden: None, is_judged: false }
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
}
