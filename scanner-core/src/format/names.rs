//! Names and comments of members that do not become children: one text for all of them, each at its place.

use crate::{
    finding::Place,
    format::Out,
    reader::count,
    view::{OffsetMap, TextView},
};

/// Lines being gathered.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: Vec<u8>,
    runs: Vec<(u64, u64)>,
    end: u64,
}

impl Names {
    /// One more line, from that offset of the artifact.
    pub(super) fn add(&mut self, line: &[u8], at: usize) {
        if line.is_empty() {
            return;
        }
        self.runs.push((count(self.text.len()), count(at)));
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.end = count(at).saturating_add(count(line.len()));
    }

    /// Hands them out to be read.
    pub(super) fn read(mut self, what: &'static str, out: &mut Out<'_>) {
        if self.text.is_empty() {
            return;
        }
        self.runs.push((count(self.text.len()), self.end));
        let view = TextView::decoded(self.text.into(), OffsetMap::Runs(self.runs), Vec::new());
        out.read(view.place(Place::default().name("part", what)));
    }
}
