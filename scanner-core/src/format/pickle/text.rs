//! Texts in a pickle, gathered to be read together.

use bytes::Bytes;

use crate::{
    format::strings,
    reader::count,
    view::{OffsetMap, TextView},
};

use super::opcode::{self, Writing};

/// Shorter texts tell nothing: keys, codes, units.
const SHORTEST: usize = 6;

/// A text that is taken back is followed by the name of its encoding at most.
const RETRACTED_WITHIN: usize = 3;

/// Bytes that old protocols and programs keep in a text: control characters that no text has, not even one that speaks
/// to a terminal.
fn is_data(text: &[u8]) -> bool {
    let strange = |letter: char| matches!(letter, '\0'..='\u{6}' | '\u{e}'..='\u{1a}' | '\u{1c}'..='\u{1f}' | '\u{80}'..='\u{9f}');
    std::str::from_utf8(text).map_or_else(|_| text.contains(&0), |text| text.contains(strange))
}

/// Texts one below the other, and where each stood.
#[derive(Debug, Default)]
pub(super) struct Texts {
    text: Vec<u8>,
    runs: Vec<(u64, u64)>,
    end: u64,
    /// Texts up to there are not looked at again to be taken back.
    settled: u64,
}

impl Texts {
    /// An operand that is text.
    pub(super) fn add(&mut self, writing: Writing, bytes: &[u8], at: usize) {
        if bytes.len() < SHORTEST {
            return;
        }
        let escaped = writing != Writing::Plain && !bytes.iter().all(|byte| byte.is_ascii() && *byte != b'\\');
        let decoded = escaped.then(|| opcode::decoded(writing, bytes));
        let text = decoded.as_deref().unwrap_or(bytes);
        if is_data(text) {
            let readable = strings::likely(text);
            if !readable.is_empty() {
                self.push(readable.as_bytes(), bytes.len(), at);
            }
        } else {
            self.push(text, bytes.len(), at);
        }
    }

    /// An operand that is bytes, when it reads as text.
    pub(super) fn add_bytes(&mut self, bytes: &[u8], at: usize) {
        let is_text = std::str::from_utf8(bytes)
            .is_ok_and(|text| !text.chars().any(|letter| letter.is_control() && !letter.is_whitespace()));
        if is_text {
            self.add(Writing::Plain, bytes, at);
        }
    }

    /// Takes a text back that turned out to be bytes: only what reads as text in it stays. It is one of the last few.
    pub(super) fn retract(&mut self, at: usize) {
        let at = count(at);
        if at < self.settled {
            return;
        }
        let from_last = self.runs.iter().rev().take(RETRACTED_WITHIN).position(|(_, stood)| *stood == at);
        let index = from_last.and_then(|back| self.runs.len().checked_sub(back)?.checked_sub(1));
        let Some((index, (from, _))) = index.and_then(|index| Some((index, *self.runs.get(index)?))) else { return };
        let next = self.runs.get(index.saturating_add(1)).map(|(next, _)| *next);
        // What follows is the name of an encoding: no loss.
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let end = next.map_or(self.text.len(), |next| place(next).saturating_sub(1));
        let readable = strings::likely(self.text.get(place(from)..end).unwrap_or_default());
        self.settled = at.saturating_add(1);
        self.runs.truncate(index.saturating_add(1));
        self.text.truncate(place(from));
        self.text.extend_from_slice(readable.as_bytes());
    }

    fn push(&mut self, text: &[u8], stood: usize, at: usize) {
        if !self.text.is_empty() {
            self.text.push(b'\n');
        }
        let at = count(at);
        self.runs.push((count(self.text.len()), at));
        self.text.extend_from_slice(text);
        self.end = at.saturating_add(count(stood));
    }

    /// All of it, to be read.
    pub(super) fn into_view(mut self) -> Option<TextView> {
        if self.text.is_empty() {
            return None;
        }
        self.runs.push((count(self.text.len()), self.end));
        Some(TextView::decoded(Bytes::from(self.text), OffsetMap::Runs(self.runs), Vec::new()))
    }
}
