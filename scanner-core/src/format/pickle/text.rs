//! Texts in a pickle, gathered to be read together.

use bytes::Bytes;

use crate::{
    reader::count,
    view::{OffsetMap, TextView},
};

use super::opcode::{self, Writing};

/// Shorter texts tell nothing: keys, codes, units.
const SHORTEST: usize = 6;

/// Texts one below the other, and where each stood.
#[derive(Debug, Default)]
pub(super) struct Texts {
    text: Vec<u8>,
    runs: Vec<(u64, u64)>,
    end: u64,
}

impl Texts {
    /// An operand that is text.
    pub(super) fn add(&mut self, writing: Writing, bytes: &[u8], at: usize) {
        if bytes.len() < SHORTEST {
            return;
        }
        match writing {
            Writing::Plain => self.push(bytes, bytes.len(), at),
            _ if memchr::memchr(b'\\', bytes).is_none() => self.push(bytes, bytes.len(), at),
            _ => self.push(&opcode::decoded(writing, bytes), bytes.len(), at),
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
