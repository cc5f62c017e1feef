//! `GET /openapi.json`: the routes for programs. Written by hand; a test compares it with the route table, the
//! parameters and the error codes.

use std::sync::LazyLock;

use axum::{http::header, response::IntoResponse};
use serde_json::{Map, Value};

/// The description without its schemas.
const ROUTES: &str = include_str!("openapi.json");
/// The schemas that are documents of their own: name, text.
const SCHEMAS: [(&str, &str); 1] = [("Verdict", include_str!("../../../docs/schema/verdict.json"))];

/// The whole description. What a schema keeps for itself becomes a schema of the description.
static OPENAPI: LazyLock<String> = LazyLock::new(|| {
    // Both are parts of this program and read by a test.
    let mut whole: Value = serde_json::from_str(ROUTES).unwrap_or_default();
    whole["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    for (name, text) in SCHEMAS {
        let mut schema: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let definitions = schema.remove("$defs");
        schema.retain(|key, _| !matches!(key.as_str(), "$schema" | "$id"));
        let all = definitions.into_iter().filter_map(|definitions| match definitions {
            Value::Object(all) => Some(all),
            _ => None,
        });
        for (inner, definition) in all.flatten() {
            whole["components"]["schemas"][format!("{name}.{inner}")] = moved(definition, name);
        }
        whole["components"]["schemas"][name] = moved(Value::Object(schema), name);
    }
    whole.to_string()
});

/// References into the schema's own definitions, pointed at where those are now.
fn moved(value: Value, name: &str) -> Value {
    match value {
        Value::Object(object) => object
            .into_iter()
            .map(|(key, value)| match value.as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
                Some(inner) if key == "$ref" => (key, format!("#/components/schemas/{name}.{inner}").into()),
                _ => (key, moved(value, name)),
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(|item| moved(item, name)).collect(),
        other => other,
    }
}

pub(crate) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI.as_str())
}
