//! GGUF: a count of tensors, a count of keys, the keys with their values, and where each tensor stands.

use std::ops::Range;

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span, Stop},
    format::{Format, Out, Subject},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
    view::{OffsetMap, TextView},
};

pub(crate) const FORMAT: Format = Format {
    name: "gguf",
    labels: &["gguf"],
    inspect,
    clean: None,
    rules: &[&STRUCTURE, &TRUNCATED, &TRAILING, &TEMPLATE],
};

static STRUCTURE: Rule = Rule::built_in(
    "gguf/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The model says of itself what cannot be",
        why: "Readers written in C set memory aside for what a count or a length says, and some wrote past it.",
        remedy: "Have the model converted again by the program that made it.",
    },
);

static TRUNCATED: Rule = Rule::built_in(
    "gguf/truncated",
    "malformed.truncated",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The model ends before what it announces",
        why: "A part of it is missing, or a length lies.",
        remedy: "Fetch the file again; if it comes back the same, have it converted again.",
    },
);

static TRAILING: Rule = Rule::built_in(
    "gguf/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands behind the last tensor of the model",
        why: "No reader looks there: a place to carry data out, or a second file in.",
        remedy: "Cut the file at the end of the last tensor before it is passed on.",
    },
);

static TEMPLATE: Rule = Rule::built_in(
    "gguf/template-code",
    "script.server",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A chat template that reaches into Python",
        why: "Templates are Jinja, rendered by whoever chats with the model. Names with double underscores lead from any value to \
              the modules of Python, and from there to the system.",
        remedy: "Do not load the model where templates are rendered without a sandbox.",
    },
);

/// What a template needs to leave its sandbox, and no chat needs.
const REACHING: [&[u8]; 8] = [
    b"__class__",
    b"__globals__",
    b"__subclasses__",
    b"__import__",
    b"__builtins__",
    b"__mro__",
    b"__init__",
    b"popen(",
];

/// Alignment of the tensors, unless a key says otherwise.
const ALIGNMENT: u64 = 32;
/// A tensor has at most so many sides (`GGML_MAX_DIMS`).
const MOST_SIDES: u32 = 4;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let mut reader = Reader::new(bytes);
    reader.seek(4)?;
    let version = reader.u32_le()?;
    if version > 0xffff {
        out.unsupported("nothing here reads models with the large end first");
        return Ok(());
    }
    let is_first = version == 1;
    let wide = |reader: &mut Reader<'_>| if is_first { reader.u32_le().map(u64::from) } else { reader.u64_le() };
    let (tensors, keys) = (wide(&mut reader)?, wide(&mut reader)?);
    let there = count(bytes.len());
    // The smallest key takes 13 bytes, the smallest tensor 24.
    if keys.saturating_mul(13) > there || tensors.saturating_mul(24) > there {
        let message = format!("{tensors} tensors and {keys} keys are announced in {there} bytes");
        out.find(Finding::built_in(&STRUCTURE).at(8, count(reader.position())).message(message));
        return Ok(());
    }
    let mut walk = Walk { bytes, reader, is_first, alignment: ALIGNMENT };
    let walked = walk.keys(keys, out, budget).and_then(|()| walk.tensors(tensors, out, budget));
    match walked {
        Err(Stop::Malformed { at, .. }) => {
            out.find(Finding::built_in(&TRUNCATED).at(at.min(there), there));
            Ok(())
        }
        other => other,
    }
}

struct Walk<'a> {
    bytes: &'a Bytes,
    reader: Reader<'a>,
    is_first: bool,
    alignment: u64,
}

impl Walk<'_> {
    fn length(&mut self) -> Result<u64, Short> {
        if self.is_first { self.reader.u32_le().map(u64::from) } else { self.reader.u64_le() }
    }

    fn text(&mut self) -> Result<Range<usize>, Short> {
        let length = self.length()?;
        let from = self.reader.position();
        self.reader.take(length)?;
        Ok(from..self.reader.position())
    }

    fn keys(&mut self, keys: u64, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut names = Vec::new();
        let from = self.reader.position();
        let walked = (0..keys).try_for_each(|_| self.key(&mut names, out, budget));
        if !names.is_empty() {
            let map = OffsetMap::Within(Span { start: count(from), end: count(self.reader.position()) });
            let place = Place::default().number("offset", count(from));
            out.read(TextView::decoded(names.into(), map, Vec::new()).place(place));
        }
        walked
    }

    fn key(&mut self, names: &mut Vec<u8>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Objects, 1)?;
        budget.spend(Resource::Steps, 20)?;
        let key = self.text()?;
        let name = self.bytes.get(key.clone()).unwrap_or_default();
        names.extend_from_slice(name);
        names.push(b'\n');
        let kind = self.reader.u32_le()?;
        if kind == STRING {
            let value = self.text()?;
            self.told(&key, value, out);
        } else if kind == ARRAY {
            self.array(&key, out, budget)?;
        } else if let Some(width) = width_of(kind) {
            let value = self.reader.take(width)?;
            if name == b"general.alignment"
                && let Some(bytes) = value.first_chunk::<4>()
            {
                self.alignment = u64::from(u32::from_le_bytes(*bytes));
            }
        } else {
            return self.odd(key, "a key has a value of no known type", out);
        }
        Ok(())
    }

    /// A text of the model, with the name of its key.
    fn told(&self, key: &Range<usize>, value: Range<usize>, out: &mut Out<'_>) {
        let name = self.bytes.get(key.clone()).unwrap_or_default();
        let place = Place::default().number("offset", count(value.start));
        let text = self.bytes.get(value.clone()).unwrap_or_default();
        let is_template = name.starts_with(b"tokenizer.chat_template");
        if is_template && REACHING.iter().any(|word| memchr::memmem::find(text, word).is_some()) {
            let finding = Finding::built_in(&TEMPLATE).at(count(value.start), count(value.end));
            out.find(finding.place(place.clone()));
        }
        if !value.is_empty() {
            out.read(TextView::at(self.bytes.slice(value.clone()), count(value.start)).place(place));
        }
    }

    /// The type of the elements, how many, and each of them. Words of the vocabulary are read together.
    fn array(&mut self, key: &Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let kind = self.reader.u32_le()?;
        let elements = self.length()?;
        let from = self.reader.position();
        if kind == STRING {
            let mut words = Words::from(from);
            for _ in 0..elements {
                budget.spend(Resource::Steps, 2)?;
                let word = self.text()?;
                words.push(self.bytes, word);
            }
            words.read(out);
            return Ok(());
        }
        let Some(width) = width_of(kind) else {
            return self.odd(key.clone(), "a list of lists, or of no known type", out);
        };
        self.reader.take(elements.saturating_mul(width))?;
        Ok(())
    }

    fn odd(&self, at: Range<usize>, what: &'static str, out: &mut Out<'_>) -> Result<(), Stop> {
        let place = Place::default().number("offset", count(at.start));
        out.find(Finding::built_in(&STRUCTURE).at(count(at.start), count(at.end)).place(place).message(what));
        Err(Stop::malformed("what follows cannot be found", count(self.reader.position())))
    }

    fn tensors(&mut self, tensors: u64, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut last = 0_u64;
        // Where the tensors end; nobody knows once one has a type of tomorrow.
        let mut behind = Some(0_u64);
        let names = self.reader.position();
        let mut words = Words::from(names);
        for _ in 0..tensors {
            budget.spend(Resource::Objects, 1)?;
            let name = self.text()?;
            words.push(self.bytes, name.clone());
            let sides = self.reader.u32_le()?;
            if sides > MOST_SIDES {
                return self.odd(name, "a tensor of more than four sides", out);
            }
            let mut elements = Some(1_u64);
            for _ in 0..sides {
                let side = self.length()?;
                elements = elements.and_then(|elements| elements.checked_mul(side));
            }
            let kind = self.reader.u32_le()?;
            let offset = self.reader.u64_le()?;
            let Some(elements) = elements else {
                return self.odd(name, "a tensor larger than any machine", out);
            };
            last = last.max(offset);
            behind = behind.zip(packed(kind, elements)).map(|(end, length)| end.max(offset.saturating_add(length)));
        }
        let end = self.reader.position();
        words.read(out);
        if self.alignment == 0 || !self.alignment.is_power_of_two() {
            return self.odd(names..end, "an alignment that is no power of two", out);
        }
        let start = count(end).next_multiple_of(self.alignment);
        let there = count(self.bytes.len());
        if tensors > 0 && start.saturating_add(last) >= there {
            return Err(Stop::malformed("a tensor begins behind the end", start.min(there)));
        }
        let Some(behind) = behind.map(|behind| start.saturating_add(behind)) else { return Ok(()) };
        if tensors > 0 && behind > there {
            return Err(Stop::malformed("the last tensor is cut", there));
        }
        self.rest(behind, out);
        Ok(())
    }

    /// What stands behind the tensors, but for zeros up to the alignment.
    fn rest(&self, behind: u64, out: &mut Out<'_>) {
        let from = usize::try_from(behind).unwrap_or(usize::MAX);
        let Some(rest) = self.bytes.get(from..).filter(|rest| rest.iter().any(|byte| *byte != 0)) else { return };
        let there = count(self.bytes.len());
        let message = format!("{} bytes behind the last tensor", rest.len());
        out.find(Finding::built_in(&TRAILING).at(behind, there).message(message));
        out.child(Source::stored(self.bytes.slice_ref(rest)), None);
    }
}

/// Words that stand apart in the file, read together. The numbers between them are ends of lines here: a length of 27 is
/// no escape, and a type of 14 switches no character set.
struct Words {
    from: usize,
    text: Vec<u8>,
}

impl Words {
    fn from(from: usize) -> Self {
        Self { from, text: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8], word: Range<usize>) {
        self.text.resize(word.start.saturating_sub(self.from), b'\n');
        self.text.extend_from_slice(bytes.get(word).unwrap_or_default());
    }

    fn read(self, out: &mut Out<'_>) {
        if !self.text.is_empty() {
            let place = Place::default().number("offset", count(self.from));
            out.read(TextView::at(self.text.into(), count(self.from)).place(place));
        }
    }
}

/// Types of values (`gguf_type`).
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// Bytes of so many elements of a tensor of that type (`ggml_type`): blocks of elements, and bytes of a block.
fn packed(kind: u32, elements: u64) -> Option<u64> {
    let (block, bytes) = match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        24 => (1, 1),
        27 | 28 => (1, 8),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        29 => (256, 56),
        34 => (256, 54),
        35 => (256, 66),
        39 => (32, 17),
        _ => return None,
    };
    elements.div_ceil(block).checked_mul(bytes)
}

/// Bytes of a number of that type.
const fn width_of(kind: u32) -> Option<u64> {
    Some(match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    fn text(word: &str) -> Vec<u8> {
        [count(word.len()).to_le_bytes().as_slice(), word.as_bytes()].concat()
    }

    /// A model of one key and one tensor.
    fn model(key: &str, value: &str) -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0".to_vec();
        bytes.extend(text(key));
        bytes.extend(STRING.to_le_bytes());
        bytes.extend(text(value));
        bytes.extend(text("list"));
        bytes.extend(ARRAY.to_le_bytes());
        bytes.extend(STRING.to_le_bytes());
        bytes.extend(2_u64.to_le_bytes());
        bytes.extend(text("one"));
        bytes.extend(text("two"));
        bytes.extend(text("weight"));
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(4_u64.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(32) + 16, 0);
        bytes
    }

    #[test]
    fn keys_are_read_and_templates_judged() {
        let seen = look(&FORMAT, "gguf", &model("general.name", "a small model"));
        assert_eq!(seen.facts(), Vec::<String>::new());
        assert_eq!(seen.texts()[0], "a small model");
        let seen = look(
            &FORMAT,
            "gguf",
            &model("tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}"),
        );
        assert_eq!(seen.facts(), Vec::<String>::new());
        let seen =
            look(&FORMAT, "gguf", &model("tokenizer.chat_template", "{{ ''.__class__.__mro__[1].__subclasses__() }}"));
        assert_eq!(seen.facts(), ["high script.server 67..113"]);
    }

    #[test]
    fn lies_and_cuts_are_told() {
        let huge = b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x10";
        assert_eq!(look(&FORMAT, "gguf", huge).facts(), ["medium malformed.structure 8..24"]);
        let whole = model("general.name", "x");
        for end in 8..whole.len() - 16 {
            assert!(!look(&FORMAT, "gguf", &whole[..end]).facts().is_empty(), "cut at {end}");
        }
    }
}
