//! The walk: every opcode is followed with what it leaves on the stack, as far as that tells what is called. Nothing is
//! built.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{
    array::Layout,
    facts::{Facts, Wrong},
    opcode::{self, Fault, Op, Writing},
    text::Texts,
    thing::{Kind, Thing},
};

mod call;
mod machine;

/// Steps of one opcode, and more for one that puts something into the memo or names something.
const STEPS: u64 = 2;
/// Things on the stack for one unit of the budget: a thing is small.
const STACK_PER_OBJECT: usize = 8;
/// Python refuses to read a longer decimal number (`sys.int_info`), which would take it time by the square.
const MOST_DIGITS: usize = 4300;
/// Operands that may be pickles themselves, or packed ones.
const MOST_OPERANDS: usize = 1_000;
/// Shorter operands hold no pickle that calls anything.
const SHORTEST_INNER: usize = 8;
/// The number that begins a file of torch before it was a zip (`torch.serialization.MAGIC_NUMBER`), as bytes.
const TORCH_MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// Stack, marks and memo of one pickle.
#[derive(Debug, Default)]
struct Machine {
    stack: Vec<Thing>,
    /// Heights of the stack at which marks stand.
    marks: Vec<usize>,
    memo: Vec<Thing>,
    /// Places that do not follow each other.
    sparse: BTreeMap<u64, Thing>,
    /// Places that hold something.
    filled: u64,
    /// Where the frame ends in which the walk is.
    frame: Option<usize>,
    /// Opcodes walked.
    opcodes: f32,
}

/// One walk over a stretch of the bytes.
pub(super) struct Walk<'a, 't> {
    bytes: &'a [u8],
    reader: Reader<'a>,
    machine: Machine,
    /// Pickles that wait for the end of one inside them.
    outer: Vec<Machine>,
    highest: usize,
    known: BTreeMap<(Vec<u8>, Vec<u8>), u32>,
    /// The class is named that announces raw bytes of an array.
    has_arrays: bool,
    /// What `getattr` found is called.
    is_method_called: bool,
    layout: Layout,
    facts: Facts,
    texts: &'t mut Texts,
}

/// Walks the pickle at `start`, at most up to `end`; tells what it found and where it ended.
pub(super) fn walk(
    bytes: &[u8],
    start: usize,
    end: usize,
    texts: &mut Texts,
    budget: &mut Budget,
) -> (Facts, usize, Option<Stop>) {
    let bytes = bytes.get(..end).unwrap_or(bytes);
    let mut reader = Reader::new(bytes);
    // The callers' own offsets.
    let _ = reader.seek(count(start));
    let mut walk = Walk {
        bytes,
        reader,
        machine: Machine::default(),
        outer: Vec::new(),
        highest: 0,
        known: BTreeMap::new(),
        has_arrays: false,
        is_method_called: false,
        layout: Layout::default(),
        facts: Facts::default(),
        texts,
    };
    let stop = walk.run(budget).err();
    (walk.facts, walk.reader.position(), stop)
}

impl Walk<'_, '_> {
    fn run(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        loop {
            let at = self.reader.position();
            if self.machine.frame.is_some_and(|end| at >= end) {
                let crossed = self.machine.frame.take().is_some_and(|end| at > end);
                if crossed {
                    self.wrong(Wrong::Structure, at..at, "an opcode reaches past the end of its frame");
                }
            }
            budget.spend(Resource::Steps, STEPS)?;
            let op = match opcode::next(&mut self.reader) {
                Ok(op) => op,
                Err(fault) => {
                    let end = self.bytes.len();
                    match fault {
                        Fault::Cut if at >= end => {
                            self.wrong(Wrong::Truncated, at..at, "the pickle ends without its end")
                        }
                        Fault::Cut => self.wrong(Wrong::Truncated, at..end, "an operand reaches past the end"),
                        Fault::Unknown => {
                            self.wrong(Wrong::Structure, at..at.saturating_add(1), "this is no opcode");
                        }
                    }
                    // What cannot be read any more stands behind.
                    let _ = self.reader.seek(count(at));
                    return Ok(());
                }
            };
            self.machine.opcodes += 1.0;
            if op == Op::Stop {
                self.pop(at);
                match self.outer.pop() {
                    Some(outer) => {
                        self.machine = outer;
                        continue;
                    }
                    None => {
                        self.facts.is_whole = true;
                        return Ok(());
                    }
                }
            }
            self.step(at, op, budget)?;
            let height = self.machine.stack.len().saturating_add(self.machine.marks.len());
            if height > self.highest {
                self.highest = height;
                if height.is_multiple_of(STACK_PER_OBJECT) {
                    budget.spend(Resource::Objects, 1)?;
                }
            }
        }
    }

    fn step(&mut self, at: usize, op: Op, budget: &mut Budget) -> Result<(), Stop> {
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        match op {
            Op::Protocol(version) => {
                if version > 5 {
                    self.wrong(Wrong::Structure, at..at.saturating_add(2), "there is no such protocol");
                }
            }
            Op::Frame(length) => self.frame(at, length),
            // The end is handled by the caller.
            Op::Stop | Op::ReadOnly => {}
            Op::Mark => self.machine.marks.push(self.machine.stack.len()),
            Op::Pop => {
                if self.machine.marks.last() == Some(&self.machine.stack.len()) {
                    self.machine.marks.pop();
                } else {
                    self.pop(at);
                }
            }
            Op::PopMark => drop(self.above_mark(at)),
            Op::Duplicate => {
                let top = self.top(at);
                self.push_copy(top);
            }
            Op::Plain => self.push(Thing::OTHER),
            Op::Number(value) => self.push(Thing::of(Kind::Number, u32::try_from(value).unwrap_or(u32::MAX))),
            Op::Digits(digits) => self.digits(at, digits),
            Op::Long(number) => {
                if self.bytes.get(number) == Some(&TORCH_MAGIC) {
                    self.facts.is_torch_magic = true;
                }
                self.push(Thing::OTHER);
            }
            Op::Text(writing, range) => {
                budget.spend(Resource::Steps, count(range.len()).div_euclid(16))?;
                self.text(place, writing, range);
            }
            Op::Bytes(_, range) => {
                budget.spend(Resource::Steps, count(range.len()).div_euclid(64))?;
                self.data(place, range);
            }
            Op::EmptyTuple => self.push(Thing::of(Kind::Numbers, 1)),
            Op::EmptyList | Op::EmptyDict => self.push(Thing::of(Kind::Container, 0)),
            Op::EmptySet => self.push(Thing::OTHER),
            Op::Tuple(width) => {
                let parts = match width {
                    Some(width) => self.last(at, width),
                    None => self.above_mark(at),
                };
                let tuple = self.tuple(&parts);
                self.push(tuple);
            }
            Op::List | Op::FrozenSet => {
                let parts = self.above_mark(at);
                self.push_container(Kind::Container, &parts);
            }
            Op::Dict => {
                let parts = self.above_mark(at);
                self.note_layout(&parts);
                self.push_container(Kind::Container, &parts);
            }
            Op::Append => {
                let parts = self.last(at, 1);
                self.fill(at, &parts);
            }
            Op::SetItem => {
                let parts = self.last(at, 2);
                self.note_layout(&parts);
                self.fill(at, &parts);
            }
            Op::Fill { pairs } => {
                let parts = self.above_mark(at);
                if pairs {
                    self.note_layout(&parts);
                }
                self.fill(at, &parts);
            }
            Op::Put(place) => self.put(at, place, budget)?,
            Op::Memoize => self.put(at, self.machine.filled, budget)?,
            Op::Get(place) => self.get(at, place),
            Op::Global(module, name) => {
                let thing = self.global(at, module, name, budget)?;
                self.push_copy(thing);
            }
            Op::StackGlobal => {
                let parts = self.last(at, 2);
                self.stack_global(at, &parts, budget)?;
            }
            Op::Extension => {
                self.wrong(
                    Wrong::Extension,
                    at..self.reader.position(),
                    "a number of the extension registry is loaded",
                );
                self.push(Thing::OTHER);
            }
            Op::Persistent { on_stack } => {
                let id = if on_stack { self.pop(at) } else { Some(Thing::OTHER) };
                if !id.is_some_and(|id| self.is_storage(id)) {
                    let what = "an id is loaded that only the loading program understands";
                    self.wrong(Wrong::Persistent, at..self.reader.position(), what);
                }
                self.push(Thing::OTHER);
            }
            Op::Reduce => {
                let parts = self.last(at, 2);
                self.call(at, &parts);
            }
            Op::NewObject { keywords } => {
                let parts = self.last(at, if keywords { 3 } else { 2 });
                self.call(at, &parts);
            }
            Op::Object => {
                let parts = self.above_mark(at);
                self.call(at, &parts);
            }
            Op::Instance(module, name) => {
                let class = self.global(at, module, name, budget)?;
                let mut parts = self.above_mark(at);
                self.seen(class);
                parts.insert(0, class);
                self.call(at, &parts);
            }
            Op::Build => self.build(at, budget)?,
        }
        Ok(())
    }

    fn frame(&mut self, at: usize, length: u64) {
        let end = usize::try_from(length).ok().and_then(|length| self.reader.position().checked_add(length));
        let range = at..self.reader.position();
        match end {
            Some(end) if end <= self.bytes.len() => {
                if self.machine.frame.is_some() {
                    self.wrong(Wrong::Structure, range, "a frame begins inside another");
                }
                self.machine.frame = Some(end);
            }
            _ => self.wrong(Wrong::Structure, range, "a frame says that it is longer than the file"),
        }
    }

    /// A whole number in decimal: as Python reads it, with a sign, and `L` behind long ones.
    fn digits(&mut self, at: usize, range: Range<usize>) {
        let written = self.bytes.get(range.clone()).unwrap_or_default().trim_ascii();
        let digits = written.strip_suffix(b"L").unwrap_or(written);
        let digits = digits.strip_prefix(b"-").or(digits.strip_prefix(b"+")).unwrap_or(digits);
        if digits.len() > MOST_DIGITS {
            self.wrong(Wrong::Structure, range, "a number of more digits than Python reads");
        } else if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            self.wrong(Wrong::Structure, at..range.end, "a number that is none");
        }
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX);
        self.push(Thing::of(Kind::Number, value));
    }

    fn text(&mut self, place: u32, writing: Writing, range: Range<usize>) {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        if bytes.len() >= SHORTEST_ENCODED && self.facts.encoded.len() < MOST_OPERANDS && super::looks_encoded(bytes) {
            self.facts.encoded.push(range.clone());
        }
        self.texts.add(writing, bytes, range.start);
        self.push(Thing::of(Kind::Text, place));
    }

    fn data(&mut self, place: u32, range: Range<usize>) {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        if bytes.len() >= SHORTEST_INNER {
            let list = match bytes {
                [0x80, 1..=5, ..] => Some(&mut self.facts.inner),
                _ if super::packing(bytes).is_some() => Some(&mut self.facts.packed),
                [b'c' | b'(' | b'i', ..] if memchr::memchr(b'\n', bytes).is_some() => Some(&mut self.facts.inner),
                _ => None,
            };
            if let Some(list) = list.filter(|list| list.len() < MOST_OPERANDS) {
                list.push(range.clone());
            }
            self.texts.add_bytes(bytes, range.start);
        }
        self.push(Thing::of(Kind::Bytes, place));
    }

    fn wrong(&mut self, wrong: Wrong, range: Range<usize>, what: &'static str) {
        self.facts.wrong.entry(wrong).or_insert((range, what));
    }
}

/// A text that is shorter holds no program, encoded or not.
const SHORTEST_ENCODED: usize = 16;
