//! Envelopes of every provider: those of the corpus, changed at some places and valid all the same.

use std::{fs, path::Path, sync::LazyLock};

use arbitrary::Arbitrary;
use data_encoding::BASE64;
use scanner_core::provider_names;
use serde_json::{Map, Value};

use crate::ORDER;

/// What changes at one place.
#[derive(Arbitrary, Debug)]
pub enum Change<'a> {
    /// A string becomes that text.
    Text(&'a str),
    /// A string becomes the order that the scanner knows.
    Order,
    /// A string becomes base64 of these bytes.
    Base64(&'a [u8]),
    /// A string becomes JSON in a string: what stood there, as the only member of an object.
    Nested,
    /// A value becomes one of another kind.
    Number(i64),
    Null,
    True,
    /// A value becomes what stands at another place, of this envelope or of another.
    Other {
        envelope: u16,
        at: u16,
    },
    /// It goes, or stands there twice.
    Gone,
    Twice,
    /// A member gets the key of some other member of some envelope.
    Renamed {
        envelope: u16,
        at: u16,
    },
}

/// An envelope of some provider, with changes at the values of these numbers.
#[derive(Arbitrary, Debug)]
pub struct Envelope<'a> {
    pub provider: u8,
    pub number: u8,
    pub changes: Vec<(u16, Change<'a>)>,
}

/// An envelope as it is written: JSON documents with what stands around them.
#[derive(Clone, Debug)]
struct Form {
    pieces: Vec<(String, Value, String)>,
}

static FORMS: LazyLock<Vec<(&'static str, Vec<Form>)>> = LazyLock::new(|| {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let forms = |provider: &str| {
        let mut files: Vec<_> = fs::read_dir(corpus.join(provider.replace('-', "_")))
            .map(|folder| folder.flatten().map(|file| file.path()).collect())
            .unwrap_or_default();
        files.sort();
        files.iter().filter_map(|file| Form::read(&fs::read_to_string(file).ok()?)).collect::<Vec<_>>()
    };
    provider_names().map(|name| (name, forms(name))).filter(|(_, forms)| !forms.is_empty()).collect()
});

impl Form {
    /// A document, or one on each line, with or without the word of an event before it.
    fn read(text: &str) -> Option<Self> {
        if let Ok(value) = serde_json::from_str(text) {
            return Some(Self { pieces: vec![(String::new(), value, String::new())] });
        }
        let mut pieces = Vec::new();
        let mut before = String::new();
        for line in text.split_inclusive('\n') {
            let start = line.find('{').unwrap_or(line.len());
            let (head, body) = line.split_at(start);
            before.push_str(head);
            match serde_json::from_str(body.trim_end()) {
                Ok(value) => pieces.push((std::mem::take(&mut before), value, "\n".to_owned())),
                Err(_) => before.push_str(body),
            }
        }
        let (.., after) = pieces.last_mut()?;
        after.push_str(&before);
        Some(Self { pieces })
    }

    /// The value of that number, counted over all documents, wrapping around.
    fn value(&mut self, number: u16) -> &mut Value {
        let counts: Vec<usize> = self.pieces.iter().map(|(_, value, _)| count(value)).collect();
        let mut left = usize::from(number) % counts.iter().sum::<usize>().max(1);
        let at = counts.iter().position(|count| {
            let is_here = left < *count;
            left -= if is_here { 0 } else { *count };
            is_here
        });
        nth(&mut self.pieces[at.unwrap_or(0)].1, &mut left).expect("it was counted")
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(members) => members.values_mut().find_map(|member| nth(member, left)),
        _ => None,
    }
}

fn form(provider: u8, number: u8) -> (&'static str, Form) {
    let (name, forms) = &FORMS[usize::from(provider) % FORMS.len()];
    (name, forms[usize::from(number) % forms.len()].clone())
}

fn other(envelope: u16, at: u16) -> Value {
    let [provider, number] = envelope.to_le_bytes();
    form(provider, number).1.value(at).clone()
}

impl Envelope<'_> {
    /// Whose it is, its bytes, and whether the order stands in it as a whole string.
    pub fn write(&self) -> (&'static str, Vec<u8>, bool) {
        let (name, mut form) = form(self.provider, self.number);
        for (at, change) in self.changes.iter().take(12) {
            let value = form.value(*at);
            let is_text = value.is_string();
            match change {
                Change::Text(text) if is_text => *value = Value::from(*text),
                Change::Order if is_text => *value = Value::from(ORDER),
                Change::Base64(bytes) if is_text => *value = Value::from(BASE64.encode(bytes)),
                Change::Nested if is_text => {
                    let inner = Map::from_iter([("output".to_owned(), value.take())]);
                    *value = Value::from(Value::Object(inner).to_string());
                }
                Change::Text(_) | Change::Order | Change::Base64(_) | Change::Nested => {}
                Change::Number(number) => *value = Value::from(*number),
                Change::Null => *value = Value::Null,
                Change::True => *value = Value::from(true),
                Change::Other { envelope, at } => *value = other(*envelope, *at),
                Change::Gone => match value {
                    Value::Array(items) => drop(items.pop()),
                    Value::Object(members) => drop(members.keys().next().cloned().and_then(|key| members.remove(&key))),
                    _ => {}
                },
                Change::Twice => match value {
                    Value::Array(items) => items.extend(items.clone()),
                    Value::Object(members) => {
                        let more: Vec<_> =
                            members.iter().map(|(key, value)| (format!("{key}2"), value.clone())).collect();
                        members.extend(more);
                    }
                    Value::String(text) => *text = text.repeat(2),
                    _ => {}
                },
                Change::Renamed { envelope, at } => {
                    let words = other(*envelope, *at);
                    let word = words.as_object().and_then(|members| members.keys().next().cloned());
                    if let (Value::Object(members), Some(word)) = (value, word)
                        && let Some(first) = members.keys().next().cloned()
                        && let Some(moved) = members.remove(&first)
                    {
                        members.insert(word, moved);
                    }
                }
            }
            // What is put in twice doubles what is in it.
            if form.pieces.iter().map(|(_, value, _)| count(value)).sum::<usize>() > 4_000 {
                break;
            }
        }
        let has_order = form.pieces.iter().any(|(_, value, _)| holds(name, value));
        let pieces = form.pieces.iter().map(|(before, value, after)| format!("{before}{value}{after}"));
        (name, pieces.collect::<String>().into_bytes(), has_order)
    }
}

/// Whether the order is one of the strings that the sender wrote. What a caller says in its own bundle, what must not
/// appear and what a receipt binds, is not what came.
fn holds(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => text == ORDER,
        Value::Array(items) => items.iter().any(|item| holds(name, item)),
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| name != "bundle" || !["watch", "context"].contains(&key.as_str()))
            .any(|(_, member)| holds(name, member)),
        _ => false,
    }
}
