//! A text to be read, and where each byte of it stands in the artifact.

use bytes::Bytes;

use crate::finding::{Place, Span};

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
}

impl TextView {
    /// A text that stands as it is at an offset of the artifact.
    pub fn at(text: Bytes, offset: u64) -> Self {
        Self { text, map: Some(OffsetMap::Shifted(offset)), place: Place::default(), decoded: Vec::new() }
    }

    /// A text mapped back by `map`, after undoing `decoded`.
    pub fn decoded(text: Bytes, map: OffsetMap, decoded: Vec<&'static str>) -> Self {
        Self { text, map: Some(map), place: Place::default(), decoded }
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
}
