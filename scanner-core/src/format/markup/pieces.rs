//! A text put together from pieces of another, with the way back.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::entity;
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
    view::{Marks, OffsetMap, TextView},
};

/// What the way back of one piece takes.
const BYTES_PER_RUN: u64 = 16;

/// Pieces in the order of the text they come from.
#[derive(Debug, Default)]
pub(in crate::format) struct Pieces {
    text: Vec<u8>,
    runs: Vec<(u64, u64)>,
    end: usize,
    /// From which offset on, which line of the text it comes from.
    lines: Vec<(u64, u64)>,
    /// The line reached, counted from zero, and up to where lines are counted.
    line: (u64, usize),
}

impl Pieces {
    /// Adds a range as it stands.
    pub(in crate::format) fn push(&mut self, text: &[u8], range: Range<usize>, budget: &mut Budget) -> Result<(), Stop> {
        let Some(piece) = text.get(range.clone()).filter(|piece| !piece.is_empty()) else { return Ok(()) };
        let breaks = memchr_iter(b'\n', piece);
        let marks = count(breaks.clone().count()).saturating_add(2);
        budget.spend(Resource::DecodedBytes, count(piece.len()).saturating_add(marks.saturating_mul(BYTES_PER_RUN)))?;
        self.begin(text, range.start);
        let start = self.text.len();
        for at in breaks {
            self.line = (self.line.0.saturating_add(1), range.start.saturating_add(at).saturating_add(1));
            self.lines.push((count(start.saturating_add(at).saturating_add(1)), self.line.0.saturating_add(1)));
        }
        self.text.extend_from_slice(piece);
        self.end = range.end;
        Ok(())
    }

    /// Adds a range with its character references undone.
    pub(in crate::format) fn decode(&mut self, text: &[u8], range: Range<usize>, budget: &mut Budget) -> Result<(), Stop> {
        let mut at = range.start;
        while at < range.end {
            let rest = text.get(at..range.end).unwrap_or_default();
            let plain = memchr(b'&', rest).unwrap_or(rest.len());
            self.push(text, at..at.saturating_add(plain), budget)?;
            at = at.saturating_add(plain);
            let Some(rest) = text.get(at..range.end).filter(|rest| !rest.is_empty()) else { break };
            let Some((stands, length)) = entity::first(rest) else {
                self.push(text, at..at.saturating_add(1), budget)?;
                at = at.saturating_add(1);
                continue;
            };
            budget.spend(Resource::DecodedBytes, count(stands.len()).saturating_add(BYTES_PER_RUN.saturating_mul(2)))?;
            self.begin(text, at);
            self.text.extend_from_slice(stands.as_bytes());
            at = at.saturating_add(length);
            self.end = at;
        }
        Ok(())
    }

    /// Sets what comes next apart from what was, unless it is already.
    pub(in crate::format) fn part(&mut self, separator: u8) {
        if self.text.last().is_some_and(|last| !last.is_ascii_whitespace()) {
            self.text.push(separator);
        }
    }

    fn begin(&mut self, text: &[u8], at: usize) {
        let passed = text.get(self.line.1..at).unwrap_or_default();
        let line = self.line.0.saturating_add(count(memchr_iter(b'\n', passed).count()));
        self.line = (line, at.max(self.line.1));
        if self.lines.last().is_none_or(|(_, last)| *last != line.saturating_add(1)) {
            self.lines.push((count(self.text.len()), line.saturating_add(1)));
        }
        // A piece that goes on where the last one ended needs no run of its own.
        let here = (count(self.text.len()), count(at));
        let goes_on = self.runs.last().is_some_and(|(text, origin)| {
            origin.saturating_add(here.0.saturating_sub(*text)) == here.1 && self.end == at
        });
        if !goes_on {
            self.runs.push(here);
        }
    }

    /// The text as a view, if there is any: of `base`, which it was cut from.
    pub(in crate::format) fn into_view(mut self, base: &TextView, part: &'static str) -> Option<TextView> {
        if self.text.trim_ascii().is_empty() {
            return None;
        }
        self.runs.push((count(self.text.len()), count(self.end)));
        let map = match base.map {
            Some(OffsetMap::Shifted(by)) => {
                self.runs.iter_mut().for_each(|(_, at)| *at = at.saturating_add(by));
                OffsetMap::Runs(self.runs)
            }
            // Decoded from wider units: the text as a whole.
            Some(ref map) => OffsetMap::Within(map.span(0, count(base.text.len()))),
            None => OffsetMap::Runs(self.runs),
        };
        let view = TextView::decoded(self.text.into(), map, base.decoded.clone());
        let marks = Marks::numbered("line", self.lines);
        Some(view.place(base.place.clone().name("part", part)).marked(marks).judged())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{finding::Place, limits::Limits};

    #[test]
    fn pieces_lead_back() {
        let text = b"ab&lt;c<p>de";
        let mut budget = Budget::new(Limits::default());
        let mut pieces = Pieces::default();
        pieces.decode(text, 0..7, &mut budget).unwrap();
        pieces.part(b'\n');
        pieces.push(text, 10..12, &mut budget).unwrap();
        let view = pieces.into_view(&TextView::at(Bytes::from_static(text), 100), "text").unwrap();
        assert_eq!(&view.text[..], b"ab<c\nde");
        let span = |start, end| {
            let span = view.map.as_ref().unwrap().span(start, end);
            (span.start, span.end)
        };
        assert_eq!(span(0, 2), (100, 102));
        assert_eq!(span(2, 3), (102, 106));
        assert_eq!(span(5, 7), (110, 112));
        assert_eq!(view.place_at(5), Place::default().name("part", "text").number("line", 1));
    }
}
