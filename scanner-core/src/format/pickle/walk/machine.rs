//! The stack and the memo.

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

use super::{
    super::{
        facts::Wrong,
        thing::{Kind, Thing},
    },
    Walk,
};

const STEPS_PER_PUT: u64 = 4;
const STEPS_PER_SPARSE_PUT: u64 = 20;
/// A place in the memo above this, and above the number of bytes in the file, has nothing to do with what is in it.
const HIGHEST_PLACE: u64 = 1 << 20;
/// `CPython` writes nested things by recursion, which its limit ends before.
const DEEPEST: u16 = 1_000;
/// Things that references stand for, from which it is a bomb: in all, and for one opcode.
const LARGEST: f32 = 1e9;
const EXPANSION: f32 = 1e3;

impl Walk<'_, '_> {
    pub(super) fn put(&mut self, at: usize, place: u64, budget: &mut Budget) -> Result<(), Stop> {
        let Some(mut thing) = self.top(at) else { return Ok(()) };
        if thing.kind == Kind::Container {
            thing.at = u32::try_from(place.saturating_add(1)).unwrap_or(0);
            if let Some(top) = self.machine.stack.last_mut() {
                top.at = thing.at;
            }
        }
        let next = count(self.machine.memo.len());
        if place > HIGHEST_PLACE && place > count(self.bytes.len()) {
            let range = at..self.reader.position();
            self.wrong(Wrong::Structure, range.clone(), "a place in the memo that no pickle needs");
            // Python takes sixteen bytes for each place below it.
            self.wrong(Wrong::Memo, range, "a place in the memo that takes gigabytes to reach");
        }
        budget.spend(Resource::Steps, STEPS_PER_PUT)?;
        // Old writers count from one.
        if place == 1 && next == 0 {
            self.machine.memo.push(Thing::of(Kind::Vacant, 0));
        }
        let place_in_row = usize::try_from(place).unwrap_or(usize::MAX);
        if place == count(self.machine.memo.len()) && !self.machine.sparse.contains_key(&place) {
            self.machine.memo.push(thing);
            self.machine.filled = self.machine.filled.saturating_add(1);
        } else if let Some(slot) = self.machine.memo.get_mut(place_in_row) {
            if slot.kind == Kind::Vacant {
                self.machine.filled = self.machine.filled.saturating_add(1);
            }
            *slot = thing;
        } else {
            budget.spend(Resource::Steps, STEPS_PER_SPARSE_PUT)?;
            if self.machine.sparse.insert(place, thing).is_none() {
                self.machine.filled = self.machine.filled.saturating_add(1);
            }
        }
        Ok(())
    }

    pub(super) fn get(&mut self, at: usize, place: u64) {
        let in_row = usize::try_from(place).ok().and_then(|place| self.machine.memo.get(place)).copied();
        let found =
            in_row.or_else(|| self.machine.sparse.get(&place).copied()).filter(|thing| thing.kind != Kind::Vacant);
        if found.is_none() {
            self.wrong(Wrong::Structure, at..self.reader.position(), "a place of the memo that holds nothing");
        }
        self.push_copy(found);
    }

    /// Puts parts into the container on top.
    pub(super) fn fill(&mut self, at: usize, parts: &[Thing]) {
        if let Some(target) = self.top(at) {
            self.fill_top(at, target, parts);
        }
    }

    pub(super) fn fill_top(&mut self, at: usize, target: Thing, parts: &[Thing]) {
        if let Some(name) = self.name_mut(target) {
            name.is_changed = true;
            return;
        }
        let mut target = target;
        parts.iter().for_each(|part| target.holds(*part));
        if let Some(top) = self.machine.stack.last_mut() {
            *top = target;
        }
        // The memo knows the same container.
        let place = (target.kind == Kind::Container).then(|| target.at.checked_sub(1)).flatten();
        if let Some(place) = place {
            let in_row = usize::try_from(place).ok().and_then(|place| self.machine.memo.get_mut(place));
            let slot = match in_row {
                Some(slot) => Some(slot),
                None => self.machine.sparse.get_mut(&u64::from(place)),
            };
            if let Some(slot) = slot {
                *slot = target;
            }
        }
        self.check(at, target);
    }

    pub(super) fn push_container(&mut self, kind: Kind, parts: &[Thing]) {
        let mut container = Thing::of(kind, 0);
        parts.iter().for_each(|part| container.holds(*part));
        self.push(container);
    }

    pub(super) fn push(&mut self, thing: Thing) {
        self.machine.stack.push(thing);
        self.check(self.reader.position(), thing);
    }

    /// Pushes a thing that may be on the stack already, or nothing in particular.
    pub(super) fn push_copy(&mut self, thing: impl Into<Option<Thing>>) {
        let thing = thing.into().unwrap_or(Thing::OTHER);
        self.seen(thing);
        self.push(thing);
    }

    /// Counts a name that comes onto the stack.
    pub(super) fn seen(&mut self, thing: Thing) {
        if let Some(name) = self.name_mut(thing) {
            name.pushed = name.pushed.saturating_add(1);
        }
    }

    /// Nesting and size that nobody writes honestly.
    pub(super) fn check(&mut self, at: usize, thing: Thing) {
        if thing.depth > DEEPEST {
            self.wrong(Wrong::Depth, at..at, "containers in containers, deeper than Python writes them");
        }
        if thing.size > LARGEST && thing.size > self.machine.opcodes * EXPANSION {
            self.wrong(Wrong::Expansion, at..at, "a few references stand for billions of things");
        }
    }

    /// The lowest height of the stack that may be touched: what is below a mark belongs to whoever closes it.
    pub(super) fn floor(&self) -> usize {
        self.machine.marks.last().copied().unwrap_or(0)
    }

    pub(super) fn top(&mut self, at: usize) -> Option<Thing> {
        let top = if self.machine.stack.len() > self.floor() { self.machine.stack.last().copied() } else { None };
        if top.is_none() {
            self.underflow(at);
        }
        top
    }

    pub(super) fn pop(&mut self, at: usize) -> Option<Thing> {
        let top = self.top(at);
        if top.is_some() {
            self.machine.stack.pop();
        }
        top
    }

    /// The last things on the stack, in order; none when there are too few.
    pub(super) fn last(&mut self, at: usize, width: usize) -> Vec<Thing> {
        let from = self.machine.stack.len().checked_sub(width).filter(|from| *from >= self.floor());
        if let Some(from) = from {
            self.machine.stack.split_off(from)
        } else {
            self.underflow(at);
            Vec::new()
        }
    }

    /// Everything above the mark, which is taken away; none when there is no mark.
    pub(super) fn above_mark(&mut self, at: usize) -> Vec<Thing> {
        if let Some(mark) = self.machine.marks.pop() {
            self.machine.stack.split_off(mark.min(self.machine.stack.len()))
        } else {
            self.wrong(Wrong::Structure, at..self.reader.position(), "there is no mark");
            Vec::new()
        }
    }

    pub(super) fn underflow(&mut self, at: usize) {
        self.wrong(Wrong::Structure, at..self.reader.position(), "an opcode wants more than there is on the stack");
    }
}
