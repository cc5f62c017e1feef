//! The walk: every opcode is followed with what it leaves on the stack, as far as that tells what is called. Nothing is
//! built: a thing is twelve bytes, whatever it stands for.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{
    array::{self, Layout},
    globals::{self, Reach},
    opcode::{self, Fault, Op, Writing},
    text::Texts,
};

/// Steps of one opcode, and more for one that puts something into the memo or names something.
const STEPS: u64 = 2;
const STEPS_PER_PUT: u64 = 4;
const STEPS_PER_SPARSE_PUT: u64 = 20;
const STEPS_PER_NAME: u64 = 20;
const STEPS_PER_NEW_NAME: u64 = 2_000;
/// Things on the stack for one unit of the budget: a thing is small.
const STACK_PER_OBJECT: usize = 8;
/// Python refuses to read a longer decimal number (`sys.int_info`), which would take it time by the square.
const MOST_DIGITS: usize = 4300;
/// A place in the memo above this, and above the number of bytes in the file, has nothing to do with what is in it.
const HIGHEST_PLACE: u64 = 1 << 20;
/// Operands that may be pickles themselves, or packed ones.
const MOST_OPERANDS: usize = 1_000;
/// Pickles inside the stream, one in another.
const MOST_OUTER: usize = 8;
/// Shorter operands hold no pickle that calls anything.
const SHORTEST_INNER: usize = 8;
/// The number that begins a file of torch before it was a zip (`torch.serialization.MAGIC_NUMBER`), as bytes.
const TORCH_MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// What a thing on the stack is, as far as anybody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Not asked about.
    Other,
    /// A place of the memo that holds nothing.
    Vacant,
    /// A text, written by the opcode at `at`.
    Text,
    /// Bytes, written by the opcode at `at`.
    Bytes,
    /// The name `at` of those loaded.
    Name,
    /// The whole number `at`.
    Number,
    /// A tuple of whole numbers, whose product is `at`.
    Numbers,
    /// A tuple that begins with such a text.
    OfText,
    /// A tuple that begins with such bytes.
    OfBytes,
    /// A tuple that begins with such a name.
    OfName,
    /// A known class and the name of what restores or makes it, to be asked of `getattr`.
    Restorer,
    /// A tuple that begins with a function that is known to be harmless.
    OfHarmless,
    /// What a known name made.
    Made,
    /// Such a thing and the name of an attribute of it, to be asked of `getattr`.
    Lookup,
    /// The attribute, most likely a method: it may be kept, not called.
    Method,
    /// A function that is known to be harmless.
    Harmless,
    /// A type of array elements, whose text is at `at`.
    ElementType,
    /// Announces raw bytes of an array.
    RawArray,
    /// A list or dictionary, kept in the memo at `at` less one, if not zero.
    Container,
}

/// One thing on the stack or in the memo.
#[derive(Clone, Copy, Debug)]
struct Thing {
    kind: Kind,
    depth: u16,
    at: u32,
    /// Things in it and in those, each counted as often as it is referred to.
    size: f32,
}

impl Thing {
    const OTHER: Self = Self::of(Kind::Other, 0);

    const fn of(kind: Kind, at: u32) -> Self {
        Self { kind, depth: 0, at, size: 1.0 }
    }

    /// A container takes it in.
    fn holds(&mut self, other: Self) {
        self.depth = self.depth.max(other.depth.saturating_add(1));
        self.size += other.size;
    }
}

/// A name that was loaded.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) module: String,
    pub(super) name: String,
    /// The opcode that loaded it first.
    pub(super) at: usize,
    pub(super) reach: Reach,
    /// It is called while loading.
    pub(super) is_called: bool,
    /// It is itself changed while loading.
    pub(super) is_changed: bool,
    /// How often it came onto the stack, and how often it was used in the one harmless way.
    pushed: u64,
    harmless: u64,
}

impl Name {
    /// Whether it runs code, or finds what does.
    pub(super) fn is_dangerous(&self) -> bool {
        match self.reach {
            Reach::Dangerous => true,
            Reach::Function => self.is_called || self.is_changed,
            Reach::Attribute | Reach::Partial | Reach::Loads => self.pushed != self.harmless || self.is_changed,
            Reach::Known | Reach::RawArray | Reach::ElementType | Reach::Unknown => self.is_changed,
        }
    }
}

/// Something that is not as it should be, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    Structure,
    Truncated,
    Memo,
    Depth,
    Expansion,
    /// A call of something that is not known, and no name either.
    Call,
    /// A name that is made while loading.
    MadeName,
    /// A number of the extension registry.
    Extension,
    /// An id that only the loading program understands.
    Persistent,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) names: Vec<Name>,
    /// Of each kind the first: where, and in words.
    pub(super) wrong: BTreeMap<Wrong, (Range<usize>, &'static str)>,
    /// Operands that begin like a pickle.
    pub(super) inner: Vec<Range<usize>>,
    /// Operands that begin like packed bytes.
    pub(super) packed: Vec<Range<usize>>,
    /// Texts long enough to be packed bytes in base64.
    pub(super) encoded: Vec<Range<usize>>,
    /// Bytes that are loaded as a pickle or an archive of torch.
    pub(super) loaded: Vec<Range<usize>>,
    /// It reached its end.
    pub(super) is_whole: bool,
    /// It is the number that begins an old file of torch.
    pub(super) is_torch_magic: bool,
    /// Something is called.
    pub(super) calls: bool,
}

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
                        Fault::Cut if at >= end => self.wrong(Wrong::Truncated, at..at, "the pickle ends without its end"),
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
                self.wrong(Wrong::Extension, at..self.reader.position(), "a number of the extension registry is loaded");
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

    /// What of a tuple anybody will ask about.
    fn tuple(&self, parts: &[Thing]) -> Thing {
        let (kind, at) = match parts {
            [class, word] if class.kind == Kind::Name && word.kind == Kind::Text && self.is_restorer(*class, *word) => {
                (Kind::Restorer, 0)
            }
            [thing, word] if thing.kind == Kind::Made && word.kind == Kind::Text && self.is_plain(*word) => (Kind::Lookup, 0),
            [first, ..] if first.kind == Kind::Text => (Kind::OfText, first.at),
            [first, ..] if first.kind == Kind::Bytes => (Kind::OfBytes, first.at),
            [first, ..] if first.kind == Kind::Name => (Kind::OfName, first.at),
            [first, ..] if first.kind == Kind::Harmless => (Kind::OfHarmless, 0),
            _ if parts.iter().all(|part| part.kind == Kind::Number) => {
                (Kind::Numbers, parts.iter().fold(1_u32, |product, part| product.saturating_mul(part.at)))
            }
            _ => (Kind::Other, 0),
        };
        let mut tuple = Thing::of(kind, at);
        parts.iter().for_each(|part| tuple.holds(*part));
        tuple
    }

    /// `getattr(ZoneInfo, "_unpickle")` is how a time zone is restored, and `getattr(class, "__new__")` how protocols 2 and
    /// 3 make an object with arguments by name: there is no other honest look-up.
    fn is_restorer(&self, class: Thing, word: Thing) -> bool {
        let Some(class) = self.name_of(class).filter(|class| class.reach == Reach::Known) else { return false };
        match self.short_text(word).as_deref() {
            Some("__new__") => true,
            Some("_unpickle") => class.module == "zoneinfo" && class.name == "ZoneInfo",
            _ => false,
        }
    }

    /// A name without double underscores, which lead from any object to everything there is.
    fn is_plain(&self, word: Thing) -> bool {
        self.short_text(word).is_some_and(|word| !word.contains("__"))
    }

    /// The id of a storage of torch: a tuple that begins so.
    fn is_storage(&self, id: Thing) -> bool {
        id.kind == Kind::OfText && matches!(self.short_text(id).as_deref(), Some("storage" | "module"))
    }

    fn name_of(&self, thing: Thing) -> Option<&Name> {
        (thing.kind == Kind::Name).then(|| self.facts.names.get(usize::try_from(thing.at).ok()?))?
    }

    fn name_mut(&mut self, thing: Thing) -> Option<&mut Name> {
        (thing.kind == Kind::Name).then(|| self.facts.names.get_mut(usize::try_from(thing.at).ok()?))?
    }

    /// The text whose opcode stands there, if it is as short as a name.
    fn short_text(&self, thing: Thing) -> Option<String> {
        let from = usize::try_from(thing.at).ok()?;
        // A name, escaped, and the operand's own length.
        let window = self.bytes.get(from..from.saturating_add(LONGEST_NAME).min(self.bytes.len()))?;
        match opcode::next(&mut Reader::new(window)) {
            Ok(Op::Text(writing, range)) => {
                String::from_utf8(opcode::decoded(writing, window.get(range)?)).ok()
            }
            _ => None,
        }
    }

    /// A name stands in the stream.
    fn global(&mut self, at: usize, module: Range<usize>, name: Range<usize>, budget: &mut Budget) -> Result<Thing, Stop> {
        let mut words = [&b""[..]; 2];
        for (word, range) in words.iter_mut().zip([module, name]) {
            let line = self.bytes.get(range).unwrap_or_default();
            *word = line.strip_suffix(b"\r").unwrap_or(line);
            if word.len() < line.len() {
                self.facts.wrong.entry(Wrong::Structure).or_insert((at..self.reader.position(), "line ends were rewritten"));
            }
        }
        let [module, name] = words;
        self.intern(at, module, name, budget)
    }

    fn stack_global(&mut self, at: usize, parts: &[Thing], budget: &mut Budget) -> Result<(), Stop> {
        let texts = match parts {
            [module, name] if module.kind == Kind::Text && name.kind == Kind::Text => {
                self.short_text(*module).zip(self.short_text(*name))
            }
            _ => None,
        };
        if let Some((module, name)) = texts {
            let thing = self.intern(at, module.as_bytes(), name.as_bytes(), budget)?;
            self.push_copy(thing);
        } else {
            if parts.len() == 2 {
                let range = at..self.reader.position();
                if parts.iter().any(|part| matches!(part.kind, Kind::Number | Kind::Numbers | Kind::Bytes | Kind::Name)) {
                    self.wrong(Wrong::Structure, range.clone(), "a name that is no text");
                }
                self.wrong(Wrong::MadeName, range, "the name of what is loaded is itself made while loading");
            }
            self.push(Thing::OTHER);
        }
        Ok(())
    }

    /// The number of a name, new or known.
    fn intern(&mut self, at: usize, module: &[u8], name: &[u8], budget: &mut Budget) -> Result<Thing, Stop> {
        let length = count(module.len().saturating_add(name.len()));
        budget.spend(Resource::Steps, STEPS_PER_NAME.saturating_add(length))?;
        let key = (module.to_vec(), name.to_vec());
        if let Some(number) = self.known.get(&key) {
            return Ok(Thing::of(Kind::Name, *number));
        }
        budget.spend(Resource::Objects, 1)?;
        budget.spend(Resource::Steps, STEPS_PER_NEW_NAME.saturating_add(length.saturating_mul(8)))?;
        let number = u32::try_from(self.facts.names.len()).unwrap_or(u32::MAX);
        let (module, name) = (String::from_utf8_lossy(module), String::from_utf8_lossy(name));
        let reach = globals::reach(&module, &name);
        self.has_arrays |= reach == Reach::RawArray;
        self.facts.names.push(Name {
            at,
            reach,
            module: module.into_owned(),
            name: name.into_owned(),
            is_called: false,
            is_changed: false,
            pushed: 0,
            harmless: 0,
        });
        self.known.insert(key, number);
        Ok(Thing::of(Kind::Name, number))
    }

    /// The first of the parts is called with the second.
    fn call(&mut self, at: usize, parts: &[Thing]) {
        let Some((callee, rest)) = parts.split_first() else {
            self.push(Thing::OTHER);
            return;
        };
        self.facts.calls = true;
        let arguments = rest.first().copied().unwrap_or(Thing::OTHER);
        let known = self.name_of(arguments_name(arguments)).map(|name| name.reach);
        let mut result = Thing::OTHER;
        let mut loaded = None;
        let mut is_encode = false;
        if let Some(name) = self.name_mut(*callee) {
            name.is_called = true;
            is_encode = name.module == "_codecs" && name.name == "encode" && arguments.kind == Kind::OfText;
            let (harmless, kind, made) = match (name.reach, arguments.kind) {
                (Reach::Attribute, Kind::Restorer) => (true, Kind::Harmless, 0),
                (Reach::Attribute, Kind::Lookup) => (true, Kind::Method, 0),
                (Reach::Partial, Kind::OfName) if known == Some(Reach::Known) => (true, Kind::Harmless, 0),
                (Reach::Partial, Kind::OfHarmless) => (true, Kind::Harmless, 0),
                (Reach::Loads, Kind::OfBytes) => {
                    loaded = Some(arguments.at);
                    (true, Kind::Other, 0)
                }
                (Reach::ElementType, Kind::OfText) => (true, Kind::ElementType, arguments.at),
                (Reach::RawArray, _) => (true, Kind::RawArray, 0),
                (Reach::Known, _) => (true, Kind::Made, 0),
                _ => (false, Kind::Other, 0),
            };
            name.harmless = name.harmless.saturating_add(u64::from(harmless));
            result = Thing::of(kind, made);
        } else if callee.kind == Kind::Method {
            // `DataFrame.eval`: the look-up was not harmless after all.
            self.facts.names.iter_mut().filter(|name| name.reach == Reach::Attribute).for_each(|name| name.harmless = 0);
        } else if callee.kind != Kind::Harmless {
            let what = "something is called that an earlier step made";
            self.wrong(Wrong::Call, at..self.reader.position(), what);
        }
        // Bytes that were written as text, for the readers of old protocols.
        if is_encode && let Some(range) = self.operand(arguments.at) {
            self.texts.retract(range.start);
        }
        if let Some(range) = loaded.and_then(|opcode| self.operand(opcode))
            && self.facts.loaded.len() < MOST_OPERANDS
        {
            self.facts.loaded.push(range);
        }
        parts.iter().for_each(|part| result.holds(*part));
        self.check(at, result);
        self.push(result);
    }

    /// The bytes or text that the opcode there pushes.
    fn operand(&self, opcode: u32) -> Option<Range<usize>> {
        let mut reader = Reader::new(self.bytes);
        reader.seek(opcode.into()).ok()?;
        match opcode::next(&mut reader) {
            Ok(Op::Bytes(_, range) | Op::Text(_, range)) => Some(range),
            _ => None,
        }
    }

    /// Hands a state to the thing below it.
    fn build(&mut self, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        let parts = self.last(at, 1);
        let target = self.top(at).unwrap_or(Thing::OTHER);
        if target.kind == Kind::RawArray {
            return self.raw_array(at, budget);
        }
        self.fill_top(at, target, &parts);
        Ok(())
    }

    /// The bytes of an array follow, or a pickle of its elements.
    fn raw_array(&mut self, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        // What was announced is there: it is no longer awaited.
        if let Some(top) = self.machine.stack.last_mut() {
            top.kind = Kind::Other;
        }
        let layout = std::mem::take(&mut self.layout);
        // The bytes stand behind the frame that announced them.
        self.machine.frame = None;
        match array::skip(&mut self.reader, &layout) {
            array::Data::Skipped => {}
            array::Data::Objects => {
                budget.spend(Resource::Objects, 1)?;
                if self.outer.len() >= MOST_OUTER {
                    return Err(Stop::malformed("arrays of objects in arrays of objects, too many of them", count(at)));
                }
                self.outer.push(std::mem::take(&mut self.machine));
            }
            array::Data::Short => {
                self.wrong(Wrong::Truncated, at..self.bytes.len(), "an array says that it is longer than the file");
                // Its numbers are no opcodes.
                let _ = self.reader.seek(count(self.bytes.len()));
            }
            array::Data::Unknown => {
                self.wrong(Wrong::Structure, at..self.reader.position(), "an array of no known type of elements");
            }
        }
        Ok(())
    }

    /// Notes what a dictionary says about the array that follows: pairs of keys and values.
    fn note_layout(&mut self, parts: &[Thing]) {
        // Only one in a file of joblib does, and it is small.
        if parts.len() > 32 || !self.has_arrays {
            return;
        }
        for pair in parts.chunks_exact(2) {
            let [key, value] = pair else { continue };
            let Some(word) = (key.kind == Kind::Text).then(|| self.short_text(*key)).flatten() else { continue };
            match (word.as_str(), value.kind) {
                ("shape", Kind::Numbers) => self.layout.elements = Some(value.at),
                ("shape", _) => self.layout.elements = None,
                ("dtype", Kind::ElementType) => self.layout.element = self.short_text(Thing::of(Kind::Text, value.at)),
                ("numpy_array_alignment_bytes", Kind::Number) => self.layout.is_aligned = true,
                _ => {}
            }
        }
    }

    fn put(&mut self, at: usize, place: u64, budget: &mut Budget) -> Result<(), Stop> {
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

    fn get(&mut self, at: usize, place: u64) {
        let in_row = usize::try_from(place).ok().and_then(|place| self.machine.memo.get(place)).copied();
        let found = in_row.or_else(|| self.machine.sparse.get(&place).copied()).filter(|thing| thing.kind != Kind::Vacant);
        if found.is_none() {
            self.wrong(Wrong::Structure, at..self.reader.position(), "a place of the memo that holds nothing");
        }
        self.push_copy(found);
    }

    /// Puts parts into the container on top.
    fn fill(&mut self, at: usize, parts: &[Thing]) {
        if let Some(target) = self.top(at) {
            self.fill_top(at, target, parts);
        }
    }

    fn fill_top(&mut self, at: usize, target: Thing, parts: &[Thing]) {
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

    fn push_container(&mut self, kind: Kind, parts: &[Thing]) {
        let mut container = Thing::of(kind, 0);
        parts.iter().for_each(|part| container.holds(*part));
        self.push(container);
    }

    fn push(&mut self, thing: Thing) {
        self.machine.stack.push(thing);
        self.check(self.reader.position(), thing);
    }

    /// Pushes a thing that may be on the stack already, or nothing in particular.
    fn push_copy(&mut self, thing: impl Into<Option<Thing>>) {
        let thing = thing.into().unwrap_or(Thing::OTHER);
        self.seen(thing);
        self.push(thing);
    }

    /// Counts a name that comes onto the stack.
    fn seen(&mut self, thing: Thing) {
        if let Some(name) = self.name_mut(thing) {
            name.pushed = name.pushed.saturating_add(1);
        }
    }

    /// Nesting and size that nobody writes honestly.
    fn check(&mut self, at: usize, thing: Thing) {
        if thing.depth > DEEPEST {
            self.wrong(Wrong::Depth, at..at, "containers in containers, deeper than Python writes them");
        }
        if thing.size > LARGEST && thing.size > self.machine.opcodes * EXPANSION {
            self.wrong(Wrong::Expansion, at..at, "a few references stand for billions of things");
        }
    }

    /// The lowest height of the stack that may be touched: what is below a mark belongs to whoever closes it.
    fn floor(&self) -> usize {
        self.machine.marks.last().copied().unwrap_or(0)
    }

    fn top(&mut self, at: usize) -> Option<Thing> {
        let top = if self.machine.stack.len() > self.floor() { self.machine.stack.last().copied() } else { None };
        if top.is_none() {
            self.underflow(at);
        }
        top
    }

    fn pop(&mut self, at: usize) -> Option<Thing> {
        let top = self.top(at);
        if top.is_some() {
            self.machine.stack.pop();
        }
        top
    }

    /// The last things on the stack, in order; none when there are too few.
    fn last(&mut self, at: usize, width: usize) -> Vec<Thing> {
        let from = self.machine.stack.len().checked_sub(width).filter(|from| *from >= self.floor());
        if let Some(from) = from {
            self.machine.stack.split_off(from)
        } else {
            self.underflow(at);
            Vec::new()
        }
    }

    /// Everything above the mark, which is taken away; none when there is no mark.
    fn above_mark(&mut self, at: usize) -> Vec<Thing> {
        if let Some(mark) = self.machine.marks.pop() {
            self.machine.stack.split_off(mark.min(self.machine.stack.len()))
        } else {
            self.wrong(Wrong::Structure, at..self.reader.position(), "there is no mark");
            Vec::new()
        }
    }

    fn underflow(&mut self, at: usize) {
        self.wrong(Wrong::Structure, at..self.reader.position(), "an opcode wants more than there is on the stack");
    }

    fn wrong(&mut self, wrong: Wrong, range: Range<usize>, what: &'static str) {
        self.facts.wrong.entry(wrong).or_insert((range, what));
    }
}

/// A name at the start of the arguments, as a thing of its own.
fn arguments_name(arguments: Thing) -> Thing {
    if arguments.kind == Kind::OfName { Thing::of(Kind::Name, arguments.at) } else { Thing::OTHER }
}

/// Longest name that is looked up, escapes and length included.
const LONGEST_NAME: usize = 600;
/// A text that is shorter holds no program, encoded or not.
const SHORTEST_ENCODED: usize = 16;
/// CPython writes nested things by recursion, which its limit ends before.
const DEEPEST: u16 = 1_000;
/// Things that references stand for, from which it is a bomb: in all, and for one opcode.
const LARGEST: f32 = 1e9;
const EXPANSION: f32 = 1e3;
