//! Names, tuples and calls: what tells whether loading runs anything.

use std::ops::Range;

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{
    super::{
        array,
        facts::{Name, Wrong},
        globals::{self, Reach},
        opcode::{self, Op},
        thing::{Kind, Thing},
    },
    Walk,
};

const STEPS_PER_NAME: u64 = 20;
const STEPS_PER_NEW_NAME: u64 = 2_000;
/// Longest name that is looked up, escapes and length included.
const LONGEST_NAME: usize = 600;
/// Pickles inside the stream, one in another.
const MOST_OUTER: usize = 8;

impl Walk<'_, '_> {
    /// What of a tuple anybody will ask about.
    pub(super) fn tuple(&self, parts: &[Thing]) -> Thing {
        let (kind, at) = match parts {
            [class, word] if class.kind == Kind::Name && word.kind == Kind::Text && self.is_restorer(*class, *word) => {
                (Kind::Restorer, 0)
            }
            [thing, word] if thing.kind == Kind::Made && word.kind == Kind::Text && self.is_plain(*word) => {
                (Kind::Lookup, 0)
            }
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
    pub(super) fn is_restorer(&self, class: Thing, word: Thing) -> bool {
        let Some(class) = self.name_of(class).filter(|class| class.reach == Reach::Known) else { return false };
        match self.short_text(word).as_deref() {
            Some("__new__") => true,
            Some("_unpickle") => class.module == "zoneinfo" && class.name == "ZoneInfo",
            _ => false,
        }
    }

    /// A name without double underscores, which lead from any object to everything there is.
    pub(super) fn is_plain(&self, word: Thing) -> bool {
        self.short_text(word).is_some_and(|word| !word.contains("__"))
    }

    /// The id of a storage of torch: a tuple that begins so.
    pub(super) fn is_storage(&self, id: Thing) -> bool {
        id.kind == Kind::OfText && matches!(self.short_text(id).as_deref(), Some("storage" | "module"))
    }

    pub(super) fn name_of(&self, thing: Thing) -> Option<&Name> {
        (thing.kind == Kind::Name).then(|| self.facts.names.get(usize::try_from(thing.at).ok()?))?
    }

    pub(super) fn name_mut(&mut self, thing: Thing) -> Option<&mut Name> {
        (thing.kind == Kind::Name).then(|| self.facts.names.get_mut(usize::try_from(thing.at).ok()?))?
    }

    /// The text whose opcode stands there, if it is as short as a name.
    pub(super) fn short_text(&self, thing: Thing) -> Option<String> {
        let from = usize::try_from(thing.at).ok()?;
        // A name, escaped, and the operand's own length.
        let window = self.bytes.get(from..from.saturating_add(LONGEST_NAME).min(self.bytes.len()))?;
        match opcode::next(&mut Reader::new(window)) {
            Ok(Op::Text(writing, range)) => String::from_utf8(opcode::decoded(writing, window.get(range)?)).ok(),
            _ => None,
        }
    }

    /// A name stands in the stream.
    pub(super) fn global(
        &mut self,
        at: usize,
        module: Range<usize>,
        name: Range<usize>,
        budget: &mut Budget,
    ) -> Result<Thing, Stop> {
        let mut words = [&b""[..]; 2];
        for (word, range) in words.iter_mut().zip([module, name]) {
            let line = self.bytes.get(range).unwrap_or_default();
            *word = line.strip_suffix(b"\r").unwrap_or(line);
            if word.len() < line.len() {
                self.facts
                    .wrong
                    .entry(Wrong::Structure)
                    .or_insert((at..self.reader.position(), "line ends were rewritten"));
            }
        }
        let [module, name] = words;
        self.intern(at, module, name, budget)
    }

    pub(super) fn stack_global(&mut self, at: usize, parts: &[Thing], budget: &mut Budget) -> Result<(), Stop> {
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
                if parts.iter().any(|part| matches!(part.kind, Kind::Number | Kind::Numbers | Kind::Bytes | Kind::Name))
                {
                    self.wrong(Wrong::Structure, range.clone(), "a name that is no text");
                }
                self.wrong(Wrong::MadeName, range, "the name of what is loaded is itself made while loading");
            }
            self.push(Thing::OTHER);
        }
        Ok(())
    }

    /// The number of a name, new or known.
    pub(super) fn intern(&mut self, at: usize, module: &[u8], name: &[u8], budget: &mut Budget) -> Result<Thing, Stop> {
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
    pub(super) fn call(&mut self, at: usize, parts: &[Thing]) {
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
        let is_method_called = self.is_method_called;
        if let Some(name) = self.name_mut(*callee) {
            name.is_called = true;
            is_encode = name.module == "_codecs" && name.name == "encode" && arguments.kind == Kind::OfText;
            let (harmless, kind, made) = match (name.reach, arguments.kind) {
                (Reach::Attribute, Kind::Restorer) => (true, Kind::Harmless, 0),
                (Reach::Attribute, Kind::Lookup) => (!is_method_called, Kind::Method, 0),
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
            if !std::mem::replace(&mut self.is_method_called, true) {
                let names = self.facts.names.iter_mut().filter(|name| name.reach == Reach::Attribute);
                names.for_each(|name| name.harmless = 0);
            }
        } else if callee.kind != Kind::Harmless {
            let what = "something is called that an earlier step made";
            self.wrong(Wrong::Call, at..self.reader.position(), what);
        }
        // What is called may call its first argument in turn: `_rebuild_from_type_v2` of torch does.
        if let Some(argument) = self.name_mut(arguments_name(arguments)) {
            argument.is_called |= argument.reach == Reach::Function;
        }
        // Bytes that were written as text, for the readers of old protocols.
        if is_encode && let Some(range) = self.operand(arguments.at) {
            self.texts.retract(range.start);
        }
        if let Some(range) = loaded.and_then(|opcode| self.operand(opcode)) {
            self.facts.loaded.insert(range.start, range);
        }
        parts.iter().for_each(|part| result.holds(*part));
        self.check(at, result);
        self.push(result);
    }

    /// The bytes or text that the opcode there pushes.
    pub(super) fn operand(&self, opcode: u32) -> Option<Range<usize>> {
        let mut reader = Reader::new(self.bytes);
        reader.seek(opcode.into()).ok()?;
        match opcode::next(&mut reader) {
            Ok(Op::Bytes(_, range) | Op::Text(_, range)) => Some(range),
            _ => None,
        }
    }

    /// Hands a state to the thing below it.
    pub(super) fn build(&mut self, at: usize, budget: &mut Budget) -> Result<(), Stop> {
        let parts = self.last(at, 1);
        let target = self.top(at).unwrap_or(Thing::OTHER);
        if target.kind == Kind::RawArray {
            return self.raw_array(at, budget);
        }
        self.fill_top(at, target, &parts);
        Ok(())
    }

    /// The bytes of an array follow, or a pickle of its elements.
    pub(super) fn raw_array(&mut self, at: usize, budget: &mut Budget) -> Result<(), Stop> {
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
    pub(super) fn note_layout(&mut self, parts: &[Thing]) {
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
}

/// A name at the start of the arguments, as a thing of its own.
fn arguments_name(arguments: Thing) -> Thing {
    if arguments.kind == Kind::OfName { Thing::of(Kind::Name, arguments.at) } else { Thing::OTHER }
}
