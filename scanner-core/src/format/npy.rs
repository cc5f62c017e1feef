//! Arrays of numpy: a header, which is a Python dictionary, and raw numbers; arrays of objects are pickles.

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span, Stop},
    format::{
        Format, Out, Subject,
        pickle::{self, Element},
        strings,
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::{OffsetMap, TextView},
};

mod literal;

use literal::{Literal, Value};

pub(crate) const FORMAT: Format = Format {
    name: "npy",
    labels: &["npy"],
    inspect,
    clean: None,
    rules: &[&OBJECTS, &HEADER, &TRUNCATED, &DIMENSIONS, &TRAILING],
};

static OBJECTS: Rule = Rule::built_in(
    "npy/objects",
    "pickle.present",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "An array of Python objects",
        why: "Its elements are a pickle, a program that runs while it is loaded. numpy refuses it unless the reader asks for \
              that, which few scripts should.",
        remedy: "Ask for numbers or texts in a plain array; load this one only from a producer you trust.",
    },
);

static HEADER: Rule = Rule::built_in(
    "npy/header",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The header of the array is not what the format asks for",
        why: "It must be a dictionary of three known keys. Readers that evaluate it as Python run what else is in it.",
        remedy: "Have the array written again with `numpy.save`.",
    },
);

static TRUNCATED: Rule = Rule::built_in(
    "npy/truncated",
    "malformed.truncated",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The array is shorter than its header says",
        why: "A part of it is missing, or its header lies to make a reader set memory aside.",
        remedy: "Fetch the file again; if it comes back the same, have it written again.",
    },
);

static DIMENSIONS: Rule = Rule::built_in(
    "npy/dimensions",
    "bomb.dimensions",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A few bytes that announce an array of gigabytes",
        why: "Readers set the memory aside before they look whether the numbers are there.",
        remedy: "Do not load it.",
    },
);

static TRAILING: Rule = Rule::built_in(
    "npy/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands behind the end of the array",
        why: "numpy stops at the last number and ignores it: a place to carry data out, or a second file in.",
        remedy: "Cut the file at the end of the array before it is passed on.",
    },
);

/// The signature and the version.
const FIXED: u64 = 8;
/// numpy refuses to read a longer header (`numpy.lib.format._MAX_HEADER_SIZE`).
const LONGEST_HEADER: u64 = 10_000;
/// More than that, and at least so many times what is there, is no cut file.
const BOMB_BYTES: u64 = 4 * 1024 * 1024 * 1024;
const BOMB_TIMES: u64 = 100;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let mut reader = Reader::new(bytes);
    reader.seek(6)?;
    let version = reader.u8()?;
    reader.u8()?;
    let length = if version < 2 { u64::from(reader.u16_le()?) } else { u64::from(reader.u32_le()?) };
    let start = count(reader.position());
    let place = || Place::default().number("offset", start);
    let Ok(header) = reader.take(length) else {
        let message = format!("the header says that it has {length} bytes");
        out.find(Finding::built_in(&TRUNCATED).at(FIXED, start).place(place()).message(message));
        return Ok(());
    };
    budget.spend(Resource::Steps, length)?;
    let end = count(reader.position());
    out.read(
        TextView::at(bytes.slice(reader.position().saturating_sub(header.len())..reader.position()), start)
            .place(place()),
    );
    if length > LONGEST_HEADER {
        let message = format!("a header of {length} bytes, longer than numpy reads");
        out.find(Finding::built_in(&HEADER).at(start, end).place(place()).message(message));
    }
    let header = match Header::read(header) {
        Ok(header) => header,
        Err(what) => {
            out.find(Finding::built_in(&HEADER).at(start, end).place(place()).message(what));
            return Err(Stop::malformed("the elements cannot be told without the header", end));
        }
    };
    if header.has_objects {
        out.find(Finding::built_in(&OBJECTS).at(start, end).place(place()));
        let behind = pickle::stream(bytes, reader.position(), out, budget)?;
        trailing(subject, behind, out);
        return Ok(());
    }
    let Some(size) = header.size else {
        let total = count(bytes.len());
        let message = "the header announces more bytes than any machine has";
        for rule in [&TRUNCATED, &DIMENSIONS] {
            out.find(Finding::built_in(rule).at(start, total).place(place()).message(message));
        }
        return Ok(());
    };
    let there = count(reader.left());
    if size > there {
        let message = format!("{size} bytes of elements are announced, {there} are there");
        out.find(Finding::built_in(&TRUNCATED).at(end, count(bytes.len())).place(place()).message(message.clone()));
        if size >= BOMB_BYTES && size.checked_div(BOMB_TIMES).is_some_and(|least| least >= there) {
            out.find(Finding::built_in(&DIMENSIONS).at(start, end).place(place()).message(message));
        }
    }
    if header.has_texts {
        let elements = reader.take(size.min(there))?;
        budget.spend(Resource::Steps, count(elements.len()))?;
        let text = texts(elements, header.is_wide);
        let map = OffsetMap::Within(Span { start: end, end: end.saturating_add(count(elements.len())) });
        out.read(TextView::decoded(text.into(), map, Vec::new()));
    } else {
        reader.take(size.min(there))?;
    }
    trailing(subject, reader.position(), out);
    Ok(())
}

/// Runs of text in elements of one width, or of four bytes a character.
fn texts(elements: &[u8], is_wide: bool) -> String {
    if !is_wide {
        return strings::likely(elements);
    }
    let (units, _) = elements.as_chunks::<4>();
    let letters: String = units
        .iter()
        .map(|unit| {
            // Either byte order: no character reaches into the upper byte.
            let little = u32::from_le_bytes(*unit);
            let code = if little > 0x10_ffff { u32::from_be_bytes(*unit) } else { little };
            char::from_u32(code).filter(|letter| *letter != '\0').unwrap_or('\u{1}')
        })
        .collect();
    strings::likely(letters.as_bytes())
}

fn trailing(subject: &Subject<'_>, end: usize, out: &mut Out<'_>) {
    let left = subject.bytes.len().saturating_sub(end);
    if left > 0 {
        let message = format!("{left} bytes behind the end of the array");
        out.find(Finding::built_in(&TRAILING).at(count(end), count(subject.bytes.len())).message(message));
        out.child(crate::bundle::Source::stored(subject.bytes.slice(end..)), None);
    }
}

/// What the header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    /// Bytes of all elements; `None` when there is no such number.
    size: Option<u64>,
    has_objects: bool,
    has_texts: bool,
    /// The texts are of four bytes a character.
    is_wide: bool,
}

impl Header {
    fn read(header: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(header).map_err(|_| "the header is no text")?;
        let literal = Literal::parse(text).ok_or("the header is more than names, numbers and texts")?;
        let root = literal.root().ok_or("the header is empty")?;
        let Value::Dict(pairs) = root else { return Err("the header is no dictionary") };
        let mut found = [None; 3];
        for (key, value) in pairs {
            let Some(Value::Text(key)) = literal.get(*key) else { return Err("a key of the header is no text") };
            let slot = match key.as_str() {
                "descr" => 0,
                "shape" => 1,
                "fortran_order" => 2,
                _ => return Err("the header has a key that the format does not know"),
            };
            if let Some(slot) = found.get_mut(slot) {
                *slot = literal.get(*value);
            }
        }
        let [Some(descr), Some(Value::Sequence(shape)), Some(Value::Other)] = found else {
            return Err("the header lacks one of its three keys, or has it of another type");
        };
        let mut elements = Some(1_u64);
        for side in shape {
            let Some(Value::Number(side)) = literal.get(*side) else { return Err("a side of the array is no number") };
            elements = elements.and_then(|elements| elements.checked_mul(*side));
        }
        let mut header = Self { size: None, has_objects: false, has_texts: false, is_wide: false };
        let element = header.element(&literal, descr)?;
        header.size = elements.zip(element).and_then(|(elements, element)| elements.checked_mul(element));
        Ok(header)
    }

    /// The size of one element: a word, or a list of fields, each with a name, a type and perhaps a shape. Fields may
    /// hold fields: they wait in a queue, with how often each occurs.
    fn element(&mut self, literal: &Literal, descr: &Value) -> Result<Option<u64>, &'static str> {
        let mut waiting = vec![(descr, 1_u64)];
        let mut total = Some(0_u64);
        while let Some((descr, times)) = waiting.pop() {
            match descr {
                Value::Text(word) => match pickle::element_size(word) {
                    Element::Bytes(size) => {
                        let letter = word.trim_start_matches(['<', '>', '=', '|']);
                        self.has_texts |= letter.starts_with(['U', 'S', 'a', 'V']);
                        self.is_wide |= letter.starts_with('U');
                        total = total.zip(size.checked_mul(times)).and_then(|(total, size)| total.checked_add(size));
                    }
                    Element::Objects => self.has_objects = true,
                    Element::Unknown => return Err("the elements are of no known type"),
                },
                Value::Sequence(fields) => {
                    for field in fields {
                        let Some(Value::Sequence(parts)) = literal.get(*field) else {
                            return Err("a field of the elements is not named and typed");
                        };
                        let inner = parts.get(1).and_then(|at| literal.get(*at)).ok_or("a field has no type")?;
                        let mut often = Some(times);
                        if let Some(Value::Sequence(shape)) = parts.get(2).and_then(|at| literal.get(*at)) {
                            for side in shape {
                                let Some(Value::Number(side)) = literal.get(*side) else {
                                    return Err("a side of a field is no number");
                                };
                                often = often.and_then(|often| often.checked_mul(*side));
                            }
                        }
                        match often {
                            Some(often) => waiting.push((inner, often)),
                            None => total = None,
                        }
                    }
                }
                _ => return Err("the elements are of no known type"),
            }
        }
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    fn array(header: &str, elements: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend_from_slice(&u16::try_from(header.len()).expect("short").to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(elements);
        bytes
    }

    #[track_caller]
    fn check(header: &str, elements: &[u8], want: &[&str]) {
        let facts = look(&FORMAT, "npy", &array(header, elements)).facts();
        let facts: Vec<String> =
            facts.iter().map(|fact| fact.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(facts, want, "{header}");
    }

    #[test]
    fn honest_arrays_are_silent() {
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }          \n", &[0; 16], &[]);
        check("{'descr': '|b1', 'fortran_order': True, 'shape': (), }\n", &[1], &[]);
        check(
            "{'descr': [('a', '<i4'), ('b', '<f8', (2, 3))], 'fortran_order': False, 'shape': (1L,), }\n",
            &[0; 52],
            &[],
        );
        check("{'descr': [('a', [('b', '<i4')]), ('', '|V4')], 'fortran_order': False, 'shape': (2,)}", &[0; 16], &[]);
    }

    #[test]
    fn headers_that_are_programs_or_lie() {
        check(
            "{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (1,)}\n",
            b"",
            &["medium malformed.structure", "gap malformed"],
        );
        check("{'descr': '<f8', 'shape': (1,)}", b"", &["medium malformed.structure", "gap malformed"]);
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", &[0; 16], &["medium malformed.truncated"]);
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &[0; 16], &["medium type.trailing_data"]);
        let bomb = &["high bomb.dimensions", "medium malformed.truncated"];
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,)}", b"", bomb);
        check("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,1099511627776)}", b"", bomb);
        assert_eq!(
            look(&FORMAT, "npy", b"\x93NUMPY\x02\0\xff\xff\xff\xff{").facts(),
            ["medium malformed.truncated 8..12"]
        );
    }

    #[test]
    fn objects_are_pickles() {
        let header = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n";
        check(header, b"\x80\x04]\x94.", &["medium pickle.present", "info pickle.present"]);
        check(
            header,
            b"cos\nsystem\n(S'id'\ntR.",
            &["high pickle.dangerous_global", "medium pickle.present", "info pickle.present"],
        );
        check(
            "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,)}",
            b"N.",
            &["medium pickle.present", "info pickle.present"],
        );
    }

    #[test]
    fn texts_are_read() {
        let wide: Vec<u8> = "look here".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
        let seen = look(&FORMAT, "npy", &array("{'descr': '<U9', 'fortran_order': False, 'shape': (1,)}", &wide));
        assert_eq!(seen.texts()[1], "look here");
    }

    #[test]
    fn a_cut_anywhere_is_told() {
        let whole = array("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n", &[0; 16]);
        for end in 6..whole.len() {
            assert!(!look(&FORMAT, "npy", &whole[..end]).facts().is_empty(), "cut at {end}");
        }
    }
}
