//! Objects written anew, one after the other, with one table at the end. What refers to an object gives it a number;
//! what nothing refers to is never written.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
};

use bytes::Bytes;

use super::kind::{Kind, Shape};
use crate::{
    format::{
        cleaning::{Cleaning, Uncleanable},
        pdf::{
            document::Document,
            filter,
            object::{Dict, Object},
            strings,
        },
    },
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

/// Steps of one value.
const STEPS_PER_VALUE: u64 = 10;
/// Bytes copied for one step.
const BYTES_PER_STEP: u64 = 16;
/// Filters of one stream, as the judge has it.
const MOST_FILTERS: usize = 8;
/// Numbers of a page are far below that; readers keep them in 32 bits.
const LARGEST: f64 = 2_147_483_647.0;

/// Something that will be written under a number of its own.
#[derive(Clone, Copy)]
enum Thing<'d, 'a> {
    Item(usize),
    Dict(&'d Dict<'a>),
}

/// What is still to be written of an object. The first is on top of the stack.
enum Task<'d, 'a> {
    Value(&'d Object<'a>, Kind),
    Key(&'d [u8]),
    Sign(&'static str),
}

pub(super) struct Writer<'d, 'a, 'c, 'w> {
    pub(super) document: &'d Document<'a>,
    pub(super) cleaning: &'c mut Cleaning<'w>,
    out: Vec<u8>,
    /// Where each object stands, by number from one.
    offsets: Vec<usize>,
    /// Numbers given, by the place of a thing in memory and what it is for.
    numbers: BTreeMap<(usize, Kind), u32>,
    waiting: VecDeque<(u32, Thing<'d, 'a>, Kind)>,
    /// Bytes of streams that may still be copied. Honest streams do not lie over each other.
    left: usize,
}

impl<'d, 'a, 'c, 'w> Writer<'d, 'a, 'c, 'w> {
    pub(super) fn new(document: &'d Document<'a>, cleaning: &'c mut Cleaning<'w>) -> Self {
        Self {
            document,
            cleaning,
            // The second line tells programs that move files that this is no text (§7.5.2).
            out: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(),
            offsets: Vec::new(),
            numbers: BTreeMap::new(),
            waiting: VecDeque::new(),
            left: document.bytes.len().saturating_mul(2),
        }
    }

    /// The next free number.
    pub(super) fn number(&mut self) -> u32 {
        self.offsets.push(0);
        u32::try_from(self.offsets.len()).unwrap_or(u32::MAX)
    }

    /// Begins an object.
    pub(super) fn open(&mut self, number: u32) {
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        if let Some(offset) = self.offsets.get_mut(at) {
            *offset = self.out.len();
        }
        self.raw(&format!("{number} 0 obj\n"));
    }

    pub(super) fn close(&mut self) {
        self.raw("\nendobj\n");
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn length(&self) -> usize {
        self.out.len()
    }

    /// Takes back what was written from there on.
    pub(super) fn cut(&mut self, length: usize) {
        self.out.truncate(length);
    }

    pub(super) fn reference(&mut self, number: u32) {
        self.raw(&format!("{number} 0 R"));
    }

    /// The number of the object behind a reference, where it has a place as that kind.
    pub(super) fn number_of(&mut self, object: &Object<'a>, kind: Kind) -> Option<u32> {
        let index = self.document.target(object)?;
        let item = self.document.item(index)?;
        let (place, kind) = match &item.object {
            Object::Dict(dict) => (std::ptr::from_ref(dict).addr(), kind.of(dict, item.stream.is_some())?),
            Object::Array(_) => (std::ptr::from_ref(&item.object).addr(), kind),
            _ => return None,
        };
        Some(self.numbered(place, Thing::Item(index), kind))
    }

    /// The number of a dictionary that many may share without being an object of its own.
    pub(super) fn number_of_dict(&mut self, dict: &'d Dict<'a>, kind: Kind) -> u32 {
        self.numbered(std::ptr::from_ref(dict).addr(), Thing::Dict(dict), kind)
    }

    fn numbered(&mut self, place: usize, thing: Thing<'d, 'a>, kind: Kind) -> u32 {
        if let Some(number) = self.numbers.get(&(place, kind)) {
            return *number;
        }
        let number = self.number();
        self.numbers.insert((place, kind), number);
        self.waiting.push_back((number, thing, kind));
        number
    }

    /// Writes all that was referred to, and what that refers to.
    pub(super) fn rest(&mut self, budget: &mut Budget) -> Result<(), Uncleanable> {
        while let Some((number, thing, kind)) = self.waiting.pop_front() {
            budget.spend(Resource::Objects, 1)?;
            self.open(number);
            match thing {
                Thing::Dict(dict) => self.dict(dict, kind, budget)?,
                Thing::Item(index) => {
                    let Some(item) = self.document.item(index) else { continue };
                    match &item.object {
                        Object::Dict(dict) if item.stream.is_some() && kind.may_be_stream() => {
                            self.stream(index, dict, kind, budget)?;
                        }
                        Object::Dict(dict) => self.dict(dict, kind, budget)?,
                        object => self.value(object, kind, budget)?,
                    }
                }
            }
            self.close();
        }
        Ok(())
    }

    fn stream(&mut self, index: usize, dict: &'d Dict<'a>, kind: Kind, budget: &mut Budget) -> Result<(), Uncleanable> {
        let document = self.document;
        let packed = document.packed(index, budget)?.unwrap_or_default();
        budget.spend(Resource::Steps, count(packed.len()) / BYTES_PER_STEP)?;
        self.left = self.left.checked_sub(packed.len()).ok_or("the streams of the document lie over each other")?;
        let steps = filter::steps(dict, Some(document));
        if steps.len() > MOST_FILTERS {
            return Err("a stream is packed many times over".into());
        }
        self.raw("<<");
        self.entries(dict, kind, budget)?;
        // A filter that decrypts nothing says nothing.
        let steps: Vec<_> = steps.into_iter().filter(|(name, _)| *name != b"Crypt").collect();
        if !steps.is_empty() {
            self.raw("/Filter[");
            for (name, _) in &steps {
                self.name(name)?;
            }
            self.raw("]");
        }
        if steps.iter().any(|(_, parameters)| parameters.is_some()) {
            self.raw("/DecodeParms[");
            for (_, parameters) in &steps {
                match parameters {
                    Some(parameters) => self.dict(parameters, Kind::Packing, budget)?,
                    None => self.raw(" null "),
                }
            }
            self.raw("]");
        }
        self.raw(&format!("/Length {}>>\nstream\n", packed.len()));
        self.out.extend_from_slice(&packed);
        self.raw("\nendstream");
        Ok(())
    }

    fn dict(&mut self, dict: &'d Dict<'a>, kind: Kind, budget: &mut Budget) -> Result<(), Uncleanable> {
        self.raw("<<");
        self.entries(dict, kind, budget)?;
        self.raw(">>");
        Ok(())
    }

    /// The entries of a dictionary that its kind has.
    pub(super) fn entries(&mut self, dict: &'d Dict<'a>, kind: Kind, budget: &mut Budget) -> Result<(), Uncleanable> {
        let mut tasks = Vec::new();
        self.push_entries(dict, kind, &mut tasks, budget)?;
        self.run(tasks, budget)
    }

    pub(super) fn value(&mut self, value: &'d Object<'a>, kind: Kind, budget: &mut Budget) -> Result<(), Uncleanable> {
        self.run(vec![Task::Value(value, kind)], budget)
    }

    fn push_entries(
        &self,
        dict: &'d Dict<'a>,
        kind: Kind,
        tasks: &mut Vec<Task<'d, 'a>>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let entries: Vec<(&'d [u8], &'d Object<'a>, Kind)> = match kind.shape() {
            Shape::None => Vec::new(),
            Shape::Keys(keys) => {
                // Each key is looked for among all.
                budget.spend(Resource::Steps, count(dict.entries.len()).saturating_mul(count(keys.len())) / 4)?;
                keys.iter().filter_map(|(key, kind)| Some((key.as_bytes(), dict.get(key)?, *kind))).collect()
            }
            Shape::Each(kind) => {
                budget.spend(Resource::Steps, count(dict.entries.len()).saturating_mul(STEPS_PER_VALUE))?;
                // In the order of their names; of two with one name the last counts. Whoever looks for a form in XML by its
                // key finds a resource of that name, and no writer names one so.
                let named = dict.entries.iter().filter(|(name, _)| **name != *b"XFA");
                let entries: BTreeMap<&[u8], &Object<'a>> = named.map(|(name, value)| (&**name, value)).collect();
                entries.into_iter().map(|(name, value)| (name, value, kind)).collect()
            }
        };
        for (key, value, kind) in entries.into_iter().rev() {
            budget.spend(Resource::Steps, weight(self.document, value))?;
            if has_place(self.document, value, kind) {
                tasks.extend([Task::Value(value, kind), Task::Key(key)]);
            }
        }
        Ok(())
    }

    fn run(&mut self, mut tasks: Vec<Task<'d, 'a>>, budget: &mut Budget) -> Result<(), Uncleanable> {
        while let Some(task) = tasks.pop() {
            budget.spend(Resource::Steps, STEPS_PER_VALUE)?;
            let (value, kind) = match task {
                Task::Key(name) => {
                    self.name(name)?;
                    continue;
                }
                Task::Sign(sign) => {
                    self.raw(sign);
                    continue;
                }
                Task::Value(value, kind) => (value, kind),
            };
            budget.spend(Resource::Steps, weight(self.document, value))?;
            if let Some(number) = self.number_of(value, kind) {
                self.raw(" ");
                self.reference(number);
                continue;
            }
            match self.document.resolve(value) {
                Object::Array(values) if value.reference().is_none() => {
                    self.raw("[");
                    tasks.push(Task::Sign("]"));
                    for value in values {
                        budget.spend(Resource::Steps, weight(self.document, value))?;
                    }
                    let placed = values.iter().rev().filter(|value| {
                        matches!(self.document.resolve(value), Object::Null) || has_place(self.document, value, kind)
                    });
                    tasks.extend(placed.map(|value| Task::Value(value, kind)));
                }
                Object::Dict(dict) if value.reference().is_none() => {
                    let Some(kind) = kind.of(dict, false) else { continue };
                    self.raw("<<");
                    tasks.push(Task::Sign(">>"));
                    self.push_entries(dict, kind, &mut tasks, budget)?;
                }
                scalar => self.scalar(scalar, kind, budget)?,
            }
        }
        Ok(())
    }

    fn scalar(&mut self, value: &Object<'a>, kind: Kind, budget: &mut Budget) -> Result<(), Uncleanable> {
        match value {
            Object::Bool(true) => self.raw(" true"),
            Object::Bool(false) => self.raw(" false"),
            Object::Int(value) => self.raw(&format!(" {value}")),
            Object::Real(value) => self.real(*value),
            Object::Name(name) => self.name(name)?,
            Object::Literal(_) | Object::Hex(_) => {
                let raw = value.string().unwrap_or_default();
                budget.spend(Resource::Steps, count(raw.len()))?;
                if kind == Kind::Text {
                    self.text(&raw, budget)?;
                } else {
                    self.string(&raw);
                }
            }
            _ => self.raw(" null"),
        }
        Ok(())
    }

    /// A number with a fraction, short enough that reading and writing it again changes nothing.
    pub(super) fn real(&mut self, value: f64) {
        let value = if value.is_finite() { value.clamp(-LARGEST, LARGEST) } else { 0.0 };
        let size = value.abs();
        let digits =
            if size >= 1e6 { format!("{value:.0}") } else { format!("{value:.*}", if size < 1.0 { 9 } else { 6 }) };
        let short = match digits.contains('.') {
            true => digits.trim_end_matches('0').trim_end_matches('.'),
            false => &digits,
        };
        self.raw(" ");
        self.raw(if matches!(short, "-0" | "") { "0" } else { short });
    }

    fn name(&mut self, name: &[u8]) -> Result<(), Uncleanable> {
        if name.contains(&0) {
            return Err("a name in the document has a zero byte in it".into());
        }
        self.out.push(b'/');
        for byte in name {
            match byte {
                b'!'..=b'~' if !b"#()<>[]{}/%".contains(byte) => self.out.push(*byte),
                _ => self.out.extend_from_slice(format!("#{byte:02x}").as_bytes()),
            }
        }
        Ok(())
    }

    /// A string for people, washed.
    pub(super) fn text(&mut self, raw: &[u8], budget: &mut Budget) -> Result<(), Uncleanable> {
        let words = strings::decode(raw);
        match self.cleaning.text(words.as_bytes(), budget)? {
            Cow::Borrowed(_) => self.string(raw),
            Cow::Owned(changed) => {
                let changed = String::from_utf8_lossy(&changed);
                if changed.is_ascii() {
                    self.string(changed.as_bytes());
                } else {
                    let units = changed.encode_utf16().flat_map(u16::to_be_bytes);
                    self.string(&[0xfe, 0xff].into_iter().chain(units).collect::<Vec<u8>>());
                }
            }
        }
        Ok(())
    }

    fn string(&mut self, bytes: &[u8]) {
        self.out.push(b'(');
        for byte in bytes {
            match byte {
                b'(' | b')' | b'\\' => self.out.extend_from_slice(&[b'\\', *byte]),
                // Readers turn a bare one into a line feed.
                b'\r' => self.out.extend_from_slice(b"\\r"),
                _ => self.out.push(*byte),
            }
        }
        self.out.push(b')');
    }

    /// The table of objects, and the end.
    pub(super) fn finish(mut self, root: u32) -> Bytes {
        let table = self.out.len();
        let size = self.offsets.len().saturating_add(1);
        let mut lines = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for offset in &self.offsets {
            lines.push_str(&format!("{offset:010} 00000 n \n"));
        }
        lines.push_str(&format!("trailer\n<</Size {size}/Root {root} 0 R>>\nstartxref\n{table}\n%%EOF\n"));
        self.raw(&lines);
        self.out.into()
    }
}

/// Steps of looking at a value: what a dictionary is, some of its keys say, and a large one may be referred to often.
pub(super) fn weight<'a>(document: &Document<'a>, value: &Object<'a>) -> u64 {
    let entries = document.resolve(value).dict().map_or(0, |dict| dict.entries.len());
    count(entries).saturating_add(STEPS_PER_VALUE)
}

/// Whether something can be written where that kind is expected.
fn has_place<'a>(document: &Document<'a>, value: &Object<'a>, kind: Kind) -> bool {
    let is_stream =
        || document.target(value).and_then(|at| document.item(at)).is_some_and(|item| item.stream.is_some());
    match document.resolve(value) {
        Object::Null | Object::Ref(_) => false,
        Object::Dict(dict) => kind.of(dict, is_stream()).is_some(),
        _ => true,
    }
}
