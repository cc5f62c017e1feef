//! Texts of one part, put together from pieces: what a person sees, and what not and why.

use crate::{
    finding::Rule,
    format::Out,
    reader::count,
    view::{Marks, OffsetMap, TextView},
};

use super::{Spot, rules};

/// How a person sees a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// On the page.
    Seen,
    /// Switched off: hidden characters, rows, sheets.
    Style,
    /// In the colour of the page.
    Color,
    /// Too small to be read.
    Size,
    /// Beside the page or behind it.
    OffPage,
    /// In properties, comments, names: not on any page.
    Unseen,
}

impl Sight {
    const ALL: [Self; 6] = [Self::Seen, Self::Style, Self::Color, Self::Size, Self::OffPage, Self::Unseen];

    fn rule(self) -> Option<&'static Rule> {
        match self {
            Self::Seen => None,
            Self::Style => Some(&rules::HIDDEN_STYLE),
            Self::Color => Some(&rules::HIDDEN_COLOR),
            Self::Size => Some(&rules::HIDDEN_SIZE),
            Self::OffPage => Some(&rules::HIDDEN_OFFPAGE),
            Self::Unseen => Some(&rules::HIDDEN_UNSEEN),
        }
    }
}

/// The texts of a part, one for each way to see them.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    buffers: [Buffer; Sight::ALL.len()],
    /// The place of what comes next.
    mark: Option<u64>,
}

#[derive(Debug, Default)]
struct Buffer {
    text: Vec<u8>,
    marks: Vec<(u64, u64)>,
}

impl Texts {
    /// A piece that goes on where the last one ended.
    pub(crate) fn push(&mut self, sight: Sight, piece: &[u8]) {
        let mark = self.mark;
        let Some(buffer) = self.buffer(sight) else { return };
        if let Some(mark) = mark.filter(|mark| buffer.marks.last().is_none_or(|(_, last)| last != mark)) {
            buffer.marks.push((count(buffer.text.len()), mark));
        }
        buffer.text.extend_from_slice(piece);
    }

    /// A piece of its own.
    pub(crate) fn part(&mut self, sight: Sight, piece: &[u8]) {
        if !piece.is_empty() {
            self.push(sight, piece);
            self.break_off(sight, b'\n');
        }
    }

    /// Ends the piece, where one was begun.
    pub(crate) fn break_off(&mut self, sight: Sight, with: u8) {
        let Some(buffer) = self.buffer(sight) else { return };
        match buffer.text.last_mut() {
            None | Some(b'\n') => {}
            // The last cell of a row.
            Some(last @ b'\t') => *last = with,
            Some(_) => buffer.text.push(with),
        }
    }

    /// Ends every piece.
    pub(crate) fn break_all(&mut self, with: u8) {
        for sight in Sight::ALL {
            self.break_off(sight, with);
        }
    }

    /// The place of what comes next.
    pub(crate) fn mark(&mut self, number: u64) {
        self.mark = Some(number);
    }

    /// Bytes of all of them.
    pub(crate) fn length(&self) -> u64 {
        self.buffers.iter().fold(0, |total, buffer| total.saturating_add(count(buffer.text.len())))
    }

    fn buffer(&mut self, sight: Sight) -> Option<&mut Buffer> {
        let at = Sight::ALL.iter().position(|known| *known == sight)?;
        self.buffers.get_mut(at)
    }

    /// Hands them over. `key` says what the marks count.
    pub(super) fn read(self, key: &'static str, spot: &Spot, out: &mut Out<'_>) {
        for (sight, buffer) in Sight::ALL.into_iter().zip(self.buffers) {
            if buffer.text.trim_ascii().is_empty() {
                continue;
            }
            let map = OffsetMap::Within(spot.span);
            let mut view = TextView::decoded(buffer.text.into(), map, Vec::new()).place(spot.place.clone());
            if !buffer.marks.is_empty() {
                view = view.marked(if key == "cell" {
                    Marks::cells(buffer.marks)
                } else {
                    Marks::numbered(key, buffer.marks)
                });
            }
            out.read(match sight.rule() {
                Some(rule) => view.hidden(rule),
                None => view,
            });
        }
    }
}
