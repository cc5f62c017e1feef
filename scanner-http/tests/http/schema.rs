//! docs/schema against what is really answered: every answer fits, and every word of the schema is meant.

use std::{collections::BTreeSet, fs};

use serde_json::{Map, Value};

use crate::service::Service;

fn schema(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(scanner_tests::root().join("docs/schema").join(name)).unwrap()).unwrap()
}

/// As much of JSON Schema (2020-12) as ours use. Strict: what the schema does not name is an error, too.
struct Check<'a> {
    root: &'a Value,
    /// Properties that were met, as `definition.property`.
    met: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str, of: &str) {
        for (word, with) in schema.as_object().unwrap() {
            let fits = match word.as_str() {
                "$ref" => {
                    let name = with.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    let root = self.root;
                    self.value(&root["$defs"][name], value, at, name);
                    true
                }
                "type" => match with {
                    Value::Array(types) => types.iter().any(|kind| is(kind, value)),
                    kind => is(kind, value),
                },
                "const" => with == value,
                "enum" => with.as_array().unwrap().contains(value),
                "minimum" => value.as_u64().is_some() || value.is_null(),
                "pattern" => value.as_str().is_none_or(|text| matches_pattern(with.as_str().unwrap(), text)),
                "required" => value.as_object().is_none_or(|object| {
                    with.as_array().unwrap().iter().all(|key| object.contains_key(key.as_str().unwrap()))
                }),
                "properties" => {
                    self.object(schema, value, at, of);
                    true
                }
                "additionalProperties" => {
                    if let (Value::Object(_), Some(object)) = (with, value.as_object()) {
                        for (key, value) in object {
                            self.value(with, value, &format!("{at}/{key}"), of);
                        }
                    }
                    true
                }
                "items" => {
                    for (position, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(with, item, &format!("{at}/{position}"), of);
                    }
                    true
                }
                "anyOf" | "oneOf" => {
                    let fitting = with.as_array().unwrap().iter().filter(|one| {
                        let mut inner = Check { root: self.root, met: BTreeSet::new(), wrong: Vec::new() };
                        inner.value(one, value, at, of);
                        self.met.extend(inner.met);
                        inner.wrong.is_empty()
                    });
                    let count = fitting.count();
                    if word == "anyOf" { count > 0 } else { count == 1 }
                }
                "description" | "title" | "$schema" | "$id" | "$defs" | "contentEncoding" | "format" => true,
                other => panic!("{other} is a word this test does not know"),
            };
            if !fits {
                self.wrong.push(format!("{at}: {word} {with}: {value}"));
            }
        }
    }

    fn object(&mut self, schema: &Value, value: &Value, at: &str, of: &str) {
        let nothing = Map::new();
        let properties = schema["properties"].as_object().unwrap();
        for (key, value) in value.as_object().unwrap_or(&nothing) {
            match properties.get(key) {
                Some(schema) => {
                    self.met.insert(format!("{of}.{key}"));
                    self.value(schema, value, &format!("{at}/{key}"), &format!("{of}.{key}"));
                }
                None => self.wrong.push(format!("{at}: the schema does not name {key}")),
            }
        }
    }
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

/// The patterns that are used: digits of a digest, words with a comparison, a name.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let hex = |length| text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match pattern {
        "^[0-9a-f]{64}$" => hex(64),
        "^[0-9a-f]{32}$" => hex(32),
        "^[A-Za-z0-9._-]+$" => text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)),
        levels => {
            let words = levels.strip_prefix("^(>=|<=)?(").and_then(|rest| rest.strip_suffix(")$")).unwrap();
            words.split('|').any(|word| word == text.trim_start_matches(">=").trim_start_matches("<="))
        }
    }
}

/// Checks values against a schema and gives the properties that were met.
#[track_caller]
fn fit<'a>(schema: &Value, values: impl IntoIterator<Item = (&'a str, Value)>) -> BTreeSet<String> {
    let mut check = Check { root: schema, met: BTreeSet::new(), wrong: Vec::new() };
    for (name, value) in values {
        check.value(schema, &value, name, "");
    }
    assert!(check.wrong.is_empty(), "{}", check.wrong.join("\n"));
    check.met
}

/// Every property the schema names.
fn named(schema: &Value) -> BTreeSet<String> {
    fn walk(schema: &Value, of: &str, into: &mut BTreeSet<String>) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            into.insert(format!("{of}.{key}"));
            walk(property, &format!("{of}.{key}"), into);
        }
        for below in ["items", "additionalProperties"] {
            if schema[below].is_object() {
                walk(&schema[below], of, into);
            }
        }
    }
    let mut names = BTreeSet::new();
    walk(schema, "", &mut names);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        walk(definition, name, &mut names);
    }
    names
}

#[test]
fn verdicts_fit_their_schema() {
    let service = Service::start("");
    let bundle =
        br#"{"schema":"scanner.bundle/v1","calls":[{"id":"a","tool":"bash","exit_code":1,"code":"x","stdout":"hello",
        "files":[{"name":"r.txt","path":"r.txt"}]}],"context":{"a":"b"}}"#;
    let bodies: [(&str, &[u8]); 5] = [
        ("poisoned", include_bytes!("../../../examples/poisoned.json")),
        ("honest", include_bytes!("../../../examples/honest.json")),
        ("bundle", bundle),
        ("empty", b""),
        ("broken", b"\x89PNG\r\n\x1a\nnot really"),
    ];
    let mut verdicts = Vec::new();
    for (name, body) in bodies {
        for policy in ["default", "strict", "permissive", "report-only"] {
            let query = format!("audience=page,terminal,model,download&policy={policy}&receipt=1&name=a.bin");
            verdicts.push((name, service.scan(&query, body).is_verdict()));
        }
    }
    let schema = schema("verdict.json");
    let met = fit(&schema, verdicts);
    // What this version never fills, or no body above does.
    let later = [".review.", "reference.request.", ".engines.", "finding.span.", "artifact.also"];
    let missing: Vec<String> = named(&schema)
        .into_iter()
        .filter(|name| !met.contains(name) && !later.iter().any(|later| name.starts_with(later)))
        .collect();
    assert!(missing.is_empty(), "the schema names what no verdict has: {missing:?}");
}

#[test]
fn bundles_fit_their_schema_and_are_read() {
    let everything = serde_json::json!({
        "schema": "scanner.bundle/v1",
        "calls": [
            { "id": "a", "tool": "bash", "status": "failed", "exit_code": 1, "code": "x", "container": "c", "stdout": "o", "stderr": "e",
              "result": "r", "files": [
                { "name": "a.txt", "type": "text/plain", "text": "hello" },
                { "name": "b.bin", "base64": "AAEC" },
                { "name": "c.txt", "path": "c.txt" },
            ] },
            { "exit_code": null },
        ],
        "messages": ["done"], "watch": ["tenant-4711"], "context": { "run": "r1" },
    });
    let schema = schema("bundle.json");
    let service = Service::start("");
    let verdict = service.scan("audience=page&as=bundle", everything.to_string().as_bytes()).is_verdict();
    let unclaimed =
        verdict["artifacts"].as_array().unwrap().iter().filter(|artifact| artifact["origin"] == "unclaimed").count();
    assert_eq!(unclaimed, 0, "the schema names what the scanner does not know: {verdict}");
    let honest = serde_json::from_slice(include_bytes!("../../../examples/honest.json")).unwrap();
    let met = fit(&schema, [("everything", everything), ("honest", honest)]);
    assert_eq!(named(&schema), met);
}

#[test]
fn policies_fit_their_schema() {
    let mut policies: Vec<(&str, Value)> = Vec::new();
    let shipped = scanner_rules::POLICIES.iter().map(|(name, text)| (*name, (*text).to_owned()));
    let guide = fs::read_to_string(scanner_tests::root().join("docs/policy.md")).unwrap();
    let recipes =
        guide.split("```toml\n").skip(1).map(|rest| ("docs/policy.md", rest.split("```").next().unwrap().to_owned()));
    for (name, text) in shipped.chain(recipes) {
        let table: toml::Table = toml::from_str(&text).unwrap();
        policies.push((name, plain(toml::Value::Table(table))));
    }
    let schema = schema("policy.json");
    fit(&schema, policies);
    // The keys are those the reader knows: it lists them when it meets another.
    for (text, definition) in [
        ("zzzzzzzz = 1", ""),
        ("[[when]]\nzzzzzzzz = 1", "clause"),
        ("[[except]]\nzzzzzzzz = 1", "exception"),
        ("[audiences.page]\nzzzzzzzz = 1", "audience"),
    ] {
        let text = format!("schema = 'scanner.policy/v1'\nname = 'x'\n{text}");
        let text = if definition.is_empty() { "zzzzzzzz = 1".to_owned() } else { text };
        let error = scanner_core::Policy::parse("p", &text, &|_| None).unwrap_err().message;
        let known: BTreeSet<&str> = error.split_once("expected one of: ").unwrap().1.split(", ").collect();
        let of = if definition.is_empty() { &schema } else { &schema["$defs"][definition] };
        let named: BTreeSet<&str> = of["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(named, known, "{definition}");
    }
}

/// TOML as JSON; a date is a string.
fn plain(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(plain).collect(),
        toml::Value::Table(table) => {
            table.into_iter().map(|(key, value)| (key, plain(value))).collect::<Map<_, _>>().into()
        }
        toml::Value::Float(number) => panic!("a fraction: {number}"),
    }
}
