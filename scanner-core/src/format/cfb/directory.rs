//! The directory: a chain of entries of 128 bytes that name each other as trees (MS-CFB 2.6).

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::{
    Compound, Entry, Faults, Kind,
    chain::{self, Table},
    header::Header,
    rules,
};
use crate::{
    finding::Stop,
    format::Out,
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

const ENTRY_BYTES: usize = 128;
/// No entry.
const NONE: u32 = 0xffff_ffff;
/// Storages in each other that any program makes: documents in documents, with the parts of each.
const DEEPEST: u32 = 64;
/// Steps of one slot of the directory.
const STEPS_PER_SLOT: u64 = 10;

/// A slot of the directory as it stands.
#[derive(Debug)]
struct Slot {
    entry: Entry,
    siblings: [u32; 2],
    child: u32,
    first: u32,
    /// Offset in the file.
    at: usize,
}

impl Slot {
    /// `None` for a slot that is not used.
    fn read(bytes: &[u8], at: usize, is_version_4: bool) -> Result<Option<Self>, Short> {
        let mut reader = Reader::new(bytes);
        let name = reader.take(64)?;
        let name_bytes = reader.u16_le()?;
        let kind = match reader.u8()? {
            1 => Kind::Storage,
            2 => Kind::Stream,
            5 => Kind::Root,
            _ => return Ok(None),
        };
        reader.u8()?;
        let siblings = [reader.u32_le()?, reader.u32_le()?];
        let child = reader.u32_le()?;
        let class = reader.array()?;
        reader.take(4 + 8 + 8)?;
        let first = reader.u32_le()?;
        let size = reader.u64_le()?;
        // Old writers leave the upper half as it was (MS-CFB 2.6.1).
        let size = if is_version_4 { size } else { size & 0xffff_ffff };
        let name = name.get(..usize::from(name_bytes).min(64)).unwrap_or(name);
        let units = name.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).take_while(|unit| *unit != 0);
        let name = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        let entry = Entry { name, kind, parent: 0, class, size, runs: Vec::new() };
        Ok(Some(Self { entry, siblings, child, first, at }))
    }
}

/// Where the bytes of an entry begin: its first sector, and where in the file that stands.
type First = (u32, usize);

impl Compound {
    /// Reads the slots, then walks the trees with a list of what is to be visited: each slot once.
    pub(super) fn read_directory(
        &mut self,
        header: &Header,
        sectors: &mut Table,
        faults: &mut Faults<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<First>, Stop> {
        let chain = sectors.follow(header.first_directory, None, chain::DIRECTORY, budget)?;
        if let Some((rule, message)) = chain.end.fault() {
            faults.say(rule, chain.at, message, out);
        }
        let mut slots: Vec<Option<Slot>> = Vec::new();
        for run in chain.runs {
            let bytes = self.bytes.get(run.clone()).unwrap_or_default();
            for (nth, bytes) in bytes.chunks_exact(ENTRY_BYTES).enumerate() {
                budget.spend(Resource::Steps, STEPS_PER_SLOT)?;
                let at = run.start.saturating_add(nth.saturating_mul(ENTRY_BYTES));
                let slot = Slot::read(bytes, at, header.is_version_4).unwrap_or_default();
                if slot.is_some() {
                    budget.spend(Resource::Objects, 1)?;
                }
                slots.push(slot);
            }
        }
        let Some(first) = slots.first_mut() else {
            return Err(faults.stop("the compound file has no directory", 48));
        };
        // A root is made up where there is none, so that everything is in something.
        let root = match first.take() {
            Some(slot) if slot.entry.kind == Kind::Root => Some(slot),
            other => {
                *first = other;
                faults.say(&rules::STRUCTURE, 48, "the directory does not begin with its root", out);
                None
            }
        };
        let mut walk = Walk { visited: vec![false; slots.len()], slots, firsts: Vec::new(), pending: Vec::new() };
        let mut entry =
            Entry { name: String::new(), kind: Kind::Root, parent: 0, class: [0; 16], size: 0, runs: Vec::new() };
        let mut first = (NONE, 48);
        if let Some(slot) = root {
            walk.visit(0);
            walk.pending.push(Named { slot: slot.child, parent: 0, depth: 1, at: slot.at });
            first = (slot.first, slot.at);
            entry = slot.entry;
        }
        self.entries.push(entry);
        walk.firsts.push(first);
        walk.trees(&mut self.entries, Some(faults), out);
        // Slots that no tree names are looked at last, as if they stood in the root: a reader that only runs over the
        // slots sees them.
        let orphans =
            (0..walk.slots.len()).filter(|at| matches!(walk.slots.get(*at), Some(Some(_)))).collect::<Vec<_>>();
        for orphan in orphans {
            let slot = u32::try_from(orphan).unwrap_or(NONE);
            if let Some(Some(found)) = walk.slots.get(orphan) {
                faults.hint(found.at, "an entry of the directory stands in no storage", out);
                walk.pending.push(Named { slot, parent: 0, depth: 1, at: found.at });
                walk.trees(&mut self.entries, None, out);
            }
        }
        self.below = self.entries.iter().enumerate().skip(1).map(|(at, entry)| (entry.parent, at)).collect();
        self.below.sort_unstable();
        Ok(walk.firsts)
    }

    /// Follows the chain of every stream. Small ones lie in the stream of the root.
    pub(super) fn follow_streams(
        &mut self,
        header: &Header,
        firsts: &[First],
        sectors: &mut Table,
        faults: &mut Faults<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let is_mini = |entry: &Entry| entry.kind == Kind::Stream && (1..header.cutoff).contains(&entry.size);
        let mut mini = None;
        if self.entries.iter().any(is_mini) {
            let first = firsts.first().copied().unwrap_or((NONE, 0));
            let size = self.entries.first().map_or(0, |root| root.size);
            mini = Some(Mini::of(&self.bytes, (first, size), header, sectors, faults, out, budget)?);
        }
        for (at, (entry, (first, named_at))) in self.entries.iter_mut().zip(firsts).enumerate() {
            if entry.kind != Kind::Stream || entry.size == 0 {
                continue;
            }
            let owner = chain::FIRST_ENTRY.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            let chain = match mini.as_mut().filter(|_| is_mini(entry)) {
                Some(mini) => {
                    let chain = mini.table.follow(*first, Some(entry.size), owner, budget)?;
                    entry.runs = mini.place(&chain.runs);
                    chain
                }
                None => {
                    let mut chain = sectors.follow(*first, Some(entry.size), owner, budget)?;
                    entry.runs = std::mem::take(&mut chain.runs);
                    chain
                }
            };
            if let Some((rule, message)) = chain.end.fault() {
                faults.say(rule, *named_at, message, out);
            }
        }
        Ok(())
    }
}

/// A slot to be visited, and who names it.
#[derive(Clone, Copy, Debug)]
struct Named {
    slot: u32,
    parent: usize,
    depth: u32,
    /// Where in the file the slot stands that names it.
    at: usize,
}

/// The walk over the trees of the directory.
#[derive(Debug)]
struct Walk {
    slots: Vec<Option<Slot>>,
    visited: Vec<bool>,
    firsts: Vec<First>,
    pending: Vec<Named>,
}

impl Walk {
    /// Whether a slot was visited before; it is now.
    fn visit(&mut self, at: usize) -> bool {
        self.visited.get_mut(at).is_some_and(|visited| std::mem::replace(visited, true))
    }

    /// Everything that is pending, and what that names. Without `faults` nothing is reported.
    fn trees(&mut self, entries: &mut Vec<Entry>, mut faults: Option<&mut Faults<'_>>, out: &mut Out<'_>) {
        let mut say = |rule, at, message, out: &mut Out<'_>| {
            if let Some(faults) = faults.as_deref_mut() {
                faults.say(rule, at, message, out);
            }
        };
        while let Some(named) = self.pending.pop() {
            if named.slot == NONE {
                continue;
            }
            let at = usize::try_from(named.slot).unwrap_or(usize::MAX);
            if self.visit(at) {
                say(&rules::LOOP, named.at, "the directory leads back to an entry", out);
                continue;
            }
            let Some(slot) = self.slots.get_mut(at).and_then(Option::take) else {
                say(&rules::STRUCTURE, named.at, "the directory names an entry that is not there", out);
                continue;
            };
            let here = Named { slot: NONE, parent: named.parent, depth: named.depth, at: slot.at };
            self.pending.extend(slot.siblings.map(|sibling| Named { slot: sibling, ..here }));
            if slot.entry.kind != Kind::Stream {
                if named.depth == DEEPEST {
                    say(&rules::LOOP, slot.at, "storages stand in each other without end", out);
                }
                let (parent, depth) = (entries.len(), named.depth.saturating_add(1));
                self.pending.push(Named { slot: slot.child, parent, depth, at: slot.at });
            }
            self.firsts.push((slot.first, slot.at));
            entries.push(Entry { parent: named.parent, ..slot.entry });
        }
    }
}

/// The stream of the root, in which small streams lie in pieces.
#[derive(Debug)]
struct Mini {
    table: Table,
    /// Its pieces: where they begin in the stream, and where they stand in the file.
    runs: Vec<(usize, Range<usize>)>,
}

impl Mini {
    fn of(
        bytes: &Bytes,
        (first, size): (First, u64),
        header: &Header,
        sectors: &mut Table,
        faults: &mut Faults<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let links = sectors.follow(header.first_mini_table, None, chain::MINI_TABLE, budget)?;
        let stream = sectors.follow(first.0, Some(size), chain::FIRST_ENTRY, budget)?;
        for (chain, at) in [(&links, 60), (&stream, first.1)] {
            if let Some((rule, message)) = chain.end.fault() {
                faults.say(rule, at, message, out);
            }
        }
        let length: usize = links.runs.iter().map(ExactSizeIterator::len).sum();
        budget.spend(Resource::Steps, count(length))?;
        let mut table = BytesMut::with_capacity(length);
        links.runs.iter().for_each(|run| table.extend_from_slice(bytes.get(run.clone()).unwrap_or_default()));
        let mut length = 0_usize;
        let mut runs = Vec::with_capacity(stream.runs.len());
        for run in stream.runs {
            runs.push((length, run.clone()));
            length = length.saturating_add(run.len());
        }
        Ok(Self { table: Table::of_mini(table.freeze(), length), runs })
    }

    /// Where pieces of the stream stand in the file.
    fn place(&self, pieces: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut placed: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let first = self.runs.partition_point(|(start, _)| *start <= piece.start).saturating_sub(1);
            for (before, run) in self.runs.get(first..).unwrap_or_default() {
                if *before >= piece.end {
                    break;
                }
                let skip = piece.start.saturating_sub(*before);
                let start = run.start.saturating_add(skip);
                let end = run.start.saturating_add(piece.end.saturating_sub(*before)).min(run.end);
                match placed.last_mut() {
                    Some(last) if last.end == start => last.end = end,
                    _ => placed.push(start..end),
                }
            }
        }
        placed
    }
}
