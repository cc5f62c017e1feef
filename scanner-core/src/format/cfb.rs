//! OLE compound files (MS-CFB): a small file system inside a file. Not a format of its own: a part of others.
//!
//! Every sector has one owner. That ends loops, finds streams that share bytes, and keeps the cost of all streams
//! together below the size of the file, whatever the tables say.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use crate::{
    finding::{Finding, Place, Rule, Severity, Span, Stop},
    format::Out,
    limits::{Budget, Resource},
    reader::count,
    view::OffsetMap,
};

mod chain;
mod directory;
mod header;
mod rules;

pub(crate) use rules::{LOOP, OVERLAP, STRUCTURE, TRUNCATED};

use chain::Table;
use header::Header;

/// The first eight bytes.
pub(crate) const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Streams smaller than that are kept in pieces of 64 bytes (MS-CFB 2.2).
const CUTOFF: u64 = 4096;
/// log2 of the bytes of such a piece.
const MINI_SHIFT: u32 = 6;
/// Bytes copied in one step.
const BYTES_PER_STEP: u64 = 32;
/// Storages around an entry that its path names; more are cut.
const PATH_SEGMENTS: usize = 8;

/// What an entry of the directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The storage that holds all others.
    Root,
    /// A folder.
    Storage,
    /// A file.
    Stream,
}

/// One entry of the directory.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The storage it is in; the root's is its own.
    pub(crate) parent: usize,
    /// The class that a storage is of, as stored.
    pub(crate) class: [u8; 16],
    /// How many bytes it says it has.
    pub(crate) size: u64,
    /// Where its bytes stand in the compound file, in order.
    runs: Vec<Range<usize>>,
}

impl Entry {
    /// Whether it has that name: case does not count (MS-CFB 2.6.4).
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Whether it holds others.
    pub(crate) fn is_storage(&self) -> bool {
        self.kind != Kind::Stream
    }
}

/// The bytes of a stream, and where they stand.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) bytes: Bytes,
    runs: Vec<Range<usize>>,
    within: Option<Span>,
}

impl Stream {
    /// Where a range of the stream stands in the artifact: from its first byte to the end of the piece that holds it.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        if let Some(span) = self.within {
            return span;
        }
        let mut before = 0_usize;
        for run in &self.runs {
            let within = range.start.saturating_sub(before);
            if within < run.len() {
                let start = run.start.saturating_add(within);
                let end = start.saturating_add(range.len()).min(run.end);
                return Span { start: count(start), end: count(end) };
            }
            before = before.saturating_add(run.len());
        }
        let end = self.runs.last().map_or(0, |run| count(run.end));
        Span { start: end, end }
    }

    /// All of it.
    pub(crate) fn whole(&self) -> Span {
        self.span(0..self.bytes.len())
    }

    /// For a text that was made from it.
    pub(crate) fn map(&self) -> OffsetMap {
        OffsetMap::Within(self.whole())
    }
}

/// A compound file whose chains were all followed once.
#[derive(Debug)]
pub(crate) struct Compound {
    bytes: Bytes,
    entries: Vec<Entry>,
    /// Every entry below the one it is in, sorted.
    below: Vec<(usize, usize)>,
    /// Where the bytes as a whole stand, when they are not the artifact's own.
    within: Option<Span>,
    /// One past the last byte that any table or chain uses.
    end: usize,
}

impl Compound {
    /// Reads the tables and the directory, and follows every chain. What does not fit is reported; what was found until
    /// then stays usable.
    ///
    /// # Errors
    /// When there is no directory to be found, or the budget is used up.
    pub(crate) fn open(
        bytes: &Bytes,
        within: Option<Span>,
        place: &Place,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let mut faults = Faults { told: Vec::new(), within, place, length: bytes.len() };
        let header = Header::read(bytes, &mut faults, out)?;
        let mut sectors = Table::of_file(bytes, &header, &mut faults, out, budget)?;
        let mut this = Self { bytes: bytes.clone(), entries: Vec::new(), below: Vec::new(), within, end: 0 };
        let firsts = this.read_directory(&header, &mut sectors, &mut faults, out, budget)?;
        this.follow_streams(&header, &firsts, &mut sectors, &mut faults, out, budget)?;
        this.end = sectors.end_of_used();
        Ok(this)
    }

    /// Every entry, the root first.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Positions of the storages, the root first.
    pub(crate) fn storages(&self) -> Vec<usize> {
        self.entries.iter().enumerate().filter(|(_, entry)| entry.is_storage()).map(|(at, _)| at).collect()
    }

    /// Positions of what stands directly in a storage, in the order of the directory.
    pub(crate) fn inside(&self, storage: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.below.partition_point(|(parent, _)| *parent < storage);
        let rest = self.below.get(first..).unwrap_or_default();
        rest.iter().take_while(move |(parent, _)| *parent == storage).map(|(_, at)| *at)
    }

    /// The first stream of that name in a storage.
    pub(crate) fn find(&self, storage: usize, name: &str) -> Option<usize> {
        self.inside(storage)
            .find(|at| self.entries.get(*at).is_some_and(|entry| entry.kind == Kind::Stream && entry.is_named(name)))
    }

    /// The names from the root down, with slashes.
    pub(crate) fn path(&self, at: usize) -> String {
        let mut names = Vec::new();
        let mut next = at;
        while let Some(entry) = self.entries.get(next) {
            if entry.kind == Kind::Root || names.len() >= PATH_SEGMENTS {
                break;
            }
            names.push(readable(&entry.name));
            next = entry.parent;
        }
        names.reverse();
        names.join("/")
    }

    /// The bytes of a stream, as far as its chain goes.
    ///
    /// # Errors
    /// When the budget does not cover the copy that a stream in pieces needs.
    pub(crate) fn stream(&self, at: usize, budget: &mut Budget) -> Result<Stream, Stop> {
        let runs = self.entries.get(at).map(|entry| entry.runs.clone()).unwrap_or_default();
        let slice = |run: &Range<usize>| self.bytes.get(run.clone()).unwrap_or_default();
        let bytes = match &runs[..] {
            [] => Bytes::new(),
            [run] => self.bytes.slice_ref(slice(run)),
            runs => {
                let length: usize = runs.iter().map(|run| slice(run).len()).sum();
                budget.spend(Resource::Steps, count(length).div_ceil(BYTES_PER_STEP))?;
                let mut joined = BytesMut::with_capacity(length);
                runs.iter().for_each(|run| joined.extend_from_slice(slice(run)));
                joined.freeze()
            }
        };
        Ok(Stream { bytes, runs, within: self.within })
    }

    /// Where the tail begins.
    pub(crate) fn tail_at(&self) -> usize {
        self.end.min(self.bytes.len())
    }

    /// What stands behind the last byte that any table or chain uses.
    pub(crate) fn tail(&self) -> Bytes {
        self.bytes.slice(self.tail_at()..)
    }
}

/// A name without the control characters that some begin with.
pub(crate) fn readable(name: &str) -> String {
    name.chars().filter(|character| !character.is_control()).collect()
}

/// What does not fit, each kind told once: a broken table breaks every chain behind it.
#[derive(Debug)]
struct Faults<'a> {
    told: Vec<&'static str>,
    within: Option<Span>,
    place: &'a Place,
    length: usize,
}

impl Faults<'_> {
    fn say(&mut self, rule: &'static Rule, at: usize, message: &'static str, out: &mut Out<'_>) {
        self.tell(rule, rule.severity, at, message, out);
    }

    /// Odd, and no harm by itself.
    fn hint(&mut self, at: usize, message: &'static str, out: &mut Out<'_>) {
        self.tell(&STRUCTURE, Severity::Low, at, message, out);
    }

    fn tell(&mut self, rule: &'static Rule, severity: Severity, at: usize, message: &'static str, out: &mut Out<'_>) {
        if self.told.contains(&message) {
            return;
        }
        self.told.push(message);
        let at = at.min(self.length);
        let span = self.within.unwrap_or(Span { start: count(at), end: count(at.saturating_add(4).min(self.length)) });
        let finding = Finding::built_in(rule).severity(severity).at(span.start, span.end).place(self.place.clone());
        out.find(finding.message(message));
    }

    /// A stop at an offset.
    fn stop(&self, what: &'static str, at: usize) -> Stop {
        Stop::malformed(what, self.within.map_or(count(at.min(self.length)), |span| span.start))
    }
}

#[cfg(test)]
pub(super) mod build;
#[cfg(test)]
mod tests;
