//! Views derived from a text: what is written in another form is written out, and every byte remembers where it came
//! from. A view is made only where a cheap look says that there is something to write out.

use std::ops::Range;

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    view::OffsetMap,
};

/// A text written out, and the way back to the one it was made from.
#[derive(Debug)]
pub(super) struct Derived {
    pub(super) text: Vec<u8>,
    pub(super) map: OffsetMap,
    /// What was undone, as findings tell it.
    pub(super) layer: &'static str,
    /// Whether only rules about instructions to a model read it: honest text turns to noise in it.
    pub(super) only_injection: bool,
}

/// Writes a view.
#[derive(Debug)]
pub(super) struct Builder {
    text: Vec<u8>,
    runs: Vec<(u64, u64)>,
    /// Where the source of the next byte would be if the run went on.
    next: usize,
    resource: Resource,
    unpaid: u64,
}

/// Bytes are paid for in portions of this size, before the next portion is written.
const PORTION: u64 = 1024;

impl Builder {
    /// A view whose bytes are paid from that resource.
    pub(super) fn paying(resource: Resource) -> Self {
        Self { text: Vec::new(), runs: Vec::new(), next: usize::MAX, resource, unpaid: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn last(&self) -> Option<u8> {
        self.text.last().copied()
    }

    /// Bytes that stand for a range of the source.
    pub(super) fn push(&mut self, bytes: &[u8], source: Range<usize>, budget: &mut Budget) -> Result<(), Stop> {
        let paid = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.unpaid = self.unpaid.saturating_add(paid);
        if self.unpaid >= PORTION {
            budget.spend(self.resource, std::mem::take(&mut self.unpaid))?;
        }
        if self.next != source.start || bytes.len() != source.len() {
            let text = u64::try_from(self.text.len()).unwrap_or(u64::MAX);
            self.runs.push((text, u64::try_from(source.start).unwrap_or(u64::MAX)));
        }
        // A run goes on only while text and source advance together.
        self.next = if bytes.len() == source.len() { source.end } else { usize::MAX };
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes back what was written from a length on.
    pub(super) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        let limit = u64::try_from(length).unwrap_or(u64::MAX);
        self.runs.retain(|(text, _)| *text < limit);
        self.next = usize::MAX;
    }

    /// A gap that no rule reads across.
    pub(super) fn cut(&mut self, source: usize, budget: &mut Budget) -> Result<(), Stop> {
        if self.text.is_empty() || self.text.ends_with(b"\n\n") {
            return Ok(());
        }
        self.push(b"\n\n", source..source, budget)
    }

    /// The view, unless nothing was written.
    pub(super) fn done(
        mut self,
        end: usize,
        layer: &'static str,
        only_injection: bool,
        budget: &mut Budget,
    ) -> Result<Option<Derived>, Stop> {
        if self.text.is_empty() {
            return Ok(None);
        }
        budget.spend(self.resource, self.unpaid)?;
        let length = u64::try_from(self.text.len()).unwrap_or(u64::MAX);
        self.runs.push((length, u64::try_from(end).unwrap_or(u64::MAX)));
        Ok(Some(Derived { text: self.text, map: OffsetMap::Runs(self.runs), layer, only_injection }))
    }
}
