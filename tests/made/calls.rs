//! Envelopes of providers: a payload as it should be, then each of its fields missing, of another type, said twice,
//! saying what it should not; and streams whose events are cut, lost, doubled or out of order.

use serde_json::{Value, json};

use super::{
    Cases,
    defect::{ORDER, slug},
};

mod shapes;

/// A payload of one provider.
struct Shape {
    area: &'static str,
    /// What is told apart by it, for the names of its cases.
    name: &'static str,
    text: &'static str,
    /// Where the fields stand that the adapter lives by.
    fields: &'static [&'static str],
    /// Fields of these that are base64.
    packed: &'static [&'static str],
}

/// Events of one provider.
struct Events {
    area: &'static str,
    name: &'static str,
    extension: &'static str,
    events: &'static [&'static str],
}

pub(super) fn make(cases: &mut Cases) {
    for shape in shapes::SHAPES {
        shape.make(cases);
    }
    for events in shapes::EVENTS {
        events.make(cases);
    }
}

impl Shape {
    fn add(&self, cases: &mut Cases, name: &str, why: &str, text: String) {
        if !cases.has(self.area, text.as_bytes()) {
            cases.text(self.area, &format!("{}-{name}.json", self.name), why, text);
        }
    }

    #[allow(clippy::expect_used, reason = "the shapes are constants of this program")]
    fn make(&self, cases: &mut Cases) {
        let honest: Value = serde_json::from_str(self.text).expect("a shape is JSON");
        cases.text(self.area, &format!("honest-{}.json", self.name), "a payload as it should be", self.text);
        for pointer in self.fields {
            self.field(cases, &honest, pointer);
        }
        for pointer in self.packed {
            let name = word(pointer, self.fields);
            for (how, why, data) in [
                ("broken", "base64 that is none", "@@@@"),
                ("cut", "base64 that ends early", "iVBORw0KGgo"),
                ("of-the-other-alphabet", "base64 of the alphabet for addresses", "_-_-"),
                ("of-nothing", "base64 of no bytes", ""),
            ] {
                let text = with(&honest, pointer, Some(json!(data))).to_string();
                self.add(cases, &format!("{name}-{how}"), &format!("the {name} is {why}"), text);
            }
        }
        let cut = self.text.len() * 3 / 5;
        let cut = (cut..self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(cut);
        self.add(cases, "cut", "the payload ends in its middle", self.text[..cut].to_owned());
        self.add(cases, "followed-by-another", "a second payload follows the first", format!("{0}{0}", self.text));
        self.add(cases, "with-unknown-field", "a field that nobody knows is an order", {
            let mut more = honest.clone();
            if let Some(object) = more.as_object_mut() {
                object.insert("note_of_tomorrow".to_owned(), json!(ORDER));
            }
            more.to_string()
        });
    }

    #[allow(clippy::expect_used, reason = "the shapes are constants of this program")]
    fn field(&self, cases: &mut Cases, honest: &Value, pointer: &str) {
        let name = word(pointer, self.fields);
        let value = honest.pointer(pointer).expect("a field of the shape");
        let mut add = |how: &str, why: String, text: String| self.add(cases, &format!("{name}-{how}"), &why, text);
        add("missing", format!("there is no {name}"), with(honest, pointer, None).to_string());
        let (kind, other) = match value {
            Value::String(_) => ("a-number", json!(7)),
            Value::Number(_) => ("a-word", json!("many")),
            Value::Bool(_) => ("a-word", json!("yes")),
            Value::Array(_) => ("an-object", json!({"a": 1})),
            Value::Object(_) => ("a-list", json!([1])),
            Value::Null => ("a-list", json!([])),
        };
        let why = format!("the {name} is {}", kind.replace('-', " "));
        add(&format!("is-{kind}"), why, with(honest, pointer, Some(other)).to_string());
        let second = match value {
            Value::String(_) => json!("another"),
            Value::Number(number) => json!(number.as_i64().unwrap_or_default() + 1),
            Value::Bool(is) => json!(!is),
            Value::Array(_) => json!([]),
            Value::Object(_) | Value::Null => json!({}),
        };
        if let Some(text) = twice(honest, pointer, value, &second) {
            add("twice", format!("the {name} stands there twice, and readers differ in which they take"), text);
        }
        match value {
            Value::String(_) => {
                let text = with(honest, pointer, Some(json!(ORDER))).to_string();
                add("attacks", format!("the {name} is an order"), text);
            }
            Value::Number(_) => {
                for (how, why, number) in
                    [("huge", "more than a number holds", json!(u64::MAX)), ("below-zero", "below nought", json!(-1))]
                {
                    add(how, format!("the {name} is {why}"), with(honest, pointer, Some(number)).to_string());
                }
            }
            Value::Array(items) => {
                let deep = (0..300).fold(json!("deep"), |inner, _| json!([inner]));
                add(
                    "deep",
                    format!("the {name} is three hundred lists deep"),
                    with(honest, pointer, Some(deep)).to_string(),
                );
                let doubled: Vec<Value> = items.iter().chain(items).cloned().collect();
                add(
                    "doubled",
                    format!("each of the {name} stands there twice, with one id"),
                    with(honest, pointer, Some(json!(doubled))).to_string(),
                );
            }
            _ => {}
        }
    }
}

/// A name for the place of a field: its last words, as many as tell it from the other fields.
fn word(pointer: &str, fields: &[&str]) -> String {
    let words =
        |pointer: &str| -> Vec<String> { pointer.split('/').filter(|word| !word.is_empty()).map(slug).collect() };
    let own = words(pointer);
    let is_shared = |length: usize| {
        let ends = |other: &&&str| **other != pointer && words(other).ends_with(&own[own.len() - length..]);
        fields.iter().any(|other| ends(&other))
    };
    let length = (1..own.len()).find(|length| !is_shared(*length)).unwrap_or(own.len());
    own[own.len() - length..].join("-")
}

/// The payload with another value there, or with none.
fn with(honest: &Value, pointer: &str, value: Option<Value>) -> Value {
    let mut changed = honest.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
    match (changed.pointer_mut(parent), value) {
        (Some(Value::Object(object)), Some(value)) => {
            object.insert(key.to_owned(), value);
        }
        (Some(Value::Object(object)), None) => {
            object.remove(key);
        }
        (Some(Value::Array(items)), value) => {
            if let Ok(index) = key.parse::<usize>() {
                match value {
                    Some(value) => items[index] = value,
                    None => drop(items.remove(index)),
                }
            }
        }
        _ => {}
    }
    changed
}

/// The payload with a key twice: a map cannot hold that, so a mark is put there and its text is exchanged.
fn twice(honest: &Value, pointer: &str, first: &Value, second: &Value) -> Option<String> {
    let key = pointer.rsplit_once('/')?.1;
    if key.parse::<usize>().is_ok() {
        return None;
    }
    let marked = with(honest, pointer, Some(json!("@mark@"))).to_string();
    let both = format!("\"{key}\":{first},\"{key}\":{second}");
    Some(marked.replace(&format!("\"{key}\":\"@mark@\""), &both))
}

impl Events {
    fn make(&self, cases: &mut Cases) {
        let written = |events: &[String]| -> String {
            match self.extension {
                "sse" => events.iter().map(|event| format!("data: {event}\n\n")).collect(),
                _ => events.iter().map(|event| format!("{event}\n")).collect(),
            }
        };
        let honest: Vec<String> = self.events.iter().map(|event| (*event).to_owned()).collect();
        let last = honest.len() - 1;
        let mut add = |name: &str, why: &str, text: String| {
            if !cases.has(self.area, text.as_bytes()) {
                cases.text(self.area, &format!("{name}.{}", self.extension), why, text);
            }
        };
        let named = |how: &str| format!("{}-{how}", self.name);
        add(&format!("honest-{}", self.name), "a stream as it should be", written(&honest));
        add(&named("without-its-end"), "the last event did not come", written(&honest[..last]));
        add(&named("without-its-begin"), "the first event did not come", written(&honest[1..]));
        for at in 1..last {
            let name = named(&format!("without-event-{}", at + 1));
            let rest: Vec<String> = [&honest[..at], &honest[at + 1..]].concat();
            add(&name, &format!("event {} did not come", at + 1), written(&rest));
        }
        add(&named("event-twice"), "an event came twice", written(&[&honest[..2], &honest[1..]].concat()));
        let mut turned = honest.clone();
        turned.swap(1, last.saturating_sub(1).max(1));
        add(&named("events-out-of-order"), "two events came in the wrong order", written(&turned));
        let whole = written(&honest);
        add(&named("event-cut"), "the stream ends inside an event", whole[..whole.len() * 2 / 3].to_owned());
        let noise: Vec<String> = [&honest[..1], &["{\"a\":".to_owned()], &honest[1..]].concat();
        add(&named("event-of-garbage"), "an event is no JSON", written(&noise));
        let stranger = json!({"type": "event.of.tomorrow", "text": ORDER}).to_string();
        let strange: Vec<String> = [&honest[..1], &[stranger], &honest[1..]].concat();
        add(&named("event-unknown"), "an event that nobody knows is an order", written(&strange));
        add(&named("behind-its-end"), "an order follows the last event", format!("{whole}{ORDER}\n"));
        if self.extension == "sse" {
            add(&named("event-without-blank-line"), "no blank line ends the last event", whole.trim_end().to_owned());
            add(&named("lines-end-in-two-letters"), "lines end as on Windows", whole.replace('\n', "\r\n"));
            add(&named("comment-attacks"), "a comment of the stream is an order", format!(": {ORDER}\n\n{whole}"));
            add(&named("event-name-attacks"), "the name of an event is an order", format!("event: {ORDER}\n{whole}"));
            add(
                &named("data-without-space"),
                "no blank behind the colon, which is allowed",
                whole.replace("data: ", "data:"),
            );
        }
    }
}
