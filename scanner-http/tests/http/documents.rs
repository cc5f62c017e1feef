//! What is written about the service is so: /openapi.json and docs/http.md. (Configuration is tested where it is read.)

use std::{collections::BTreeSet, fs, process::Command};

use scanner_http::Code;
use serde_json::Value;

use crate::service::Service;

fn document(name: &str) -> String {
    fs::read_to_string(scanner_tests::root().join(name)).unwrap()
}

/// The routes of the table in `lib.rs`, with their methods.
fn routes() -> BTreeSet<(String, String)> {
    let source = document("scanner-http/src/lib.rs");
    let (service, _) = source.split_once("pub fn admin_router").unwrap();
    let mut routes = BTreeSet::new();
    for route in service.split(".route(").skip(1) {
        let path = route.split('"').nth(1).unwrap();
        let method = route.split(',').nth(1).unwrap().trim().split('(').next().unwrap();
        routes.insert((path.to_owned(), method.to_owned()));
    }
    routes
}

#[test]
fn the_description_has_every_route_and_every_code() {
    let service = Service::start("");
    let description = service.get("/openapi.json").json();
    let described: BTreeSet<(String, String)> = description["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(move |method| (path.clone(), method.clone()))
        })
        .collect();
    assert_eq!(described, routes());
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(description["components"]["schemas"]["Problem"]["properties"]["code"]["enum"], Value::from(codes));
    for code in Code::ALL {
        let status = code.status().as_u16().to_string();
        let said = &description["components"]["responses"][&status]["description"];
        // There is no route that is no route.
        assert!(code == Code::NotFound || said.as_str().unwrap().contains(code.name()), "{}: {said}", code.name());
        let row = format!("| {status} | `{}` |", code.name());
        assert!(document("docs/http.md").contains(&row), "docs/http.md has no row {row}");
        assert!(
            document("scanner-http/src/routes/docs.html").contains(&format!("<code>{}</code>", code.name())),
            "{}",
            code.name()
        );
    }
    let parameters: Vec<&str> = description["paths"]["/v1/scan"]["post"]["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|parameter| parameter["name"].as_str().unwrap())
        .collect();
    let refused = service.scan("audience=page&x=1", b"").is_error(400, "bad_request");
    let mut known: Vec<&str> = refused.split_once("expected one of: ").unwrap().1.split(", ").collect();
    for name in &known {
        assert!(document("docs/http.md").contains(&format!("`{name}`")), "docs/http.md: {name}");
    }
    let mut parameters = parameters;
    parameters.sort_unstable();
    known.sort_unstable();
    assert_eq!(parameters, known);
    let parts = description["paths"]["/v1/scan"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"].clone();
    let parts: BTreeSet<String> = parts.as_object().unwrap().keys().cloned().collect();
    let capabilities = service.get("/v1/capabilities").json();
    let known: BTreeSet<String> = capabilities["multipart"]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(parts, known);
}

#[test]
fn every_reference_of_the_description_leads_somewhere() {
    let service = Service::start("");
    let description = service.get("/openapi.json").json();
    let mut count = 0;
    let mut values = vec![&description];
    while let Some(value) = values.pop() {
        match value {
            Value::Object(object) => {
                if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} leads outside"));
                    assert!(description.pointer(pointer).is_some(), "{reference} leads nowhere");
                    count += 1;
                }
                values.extend(object.values());
            }
            Value::Array(items) => values.extend(items),
            _ => {}
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn every_metric_is_documented() {
    let service = Service::start("");
    let metrics = service.admin("/metrics");
    let document = document("docs/http.md");
    for line in metrics.text().lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(document.contains(&format!("`{name}`")), "docs/http.md does not name {name}");
    }
}

/// Every `curl` of docs/http.md is run. Where there is no curl there is nothing to run.
#[test]
fn the_examples_run() {
    if Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let service = Service::start("");
    let folder = service.folder();
    fs::copy(scanner_tests::root().join("examples/poisoned.json"), folder.join("poisoned.json")).unwrap();
    for (name, bytes) in
        [("chart.png", &b"\x89PNG\r\n\x1a\n"[..]), ("report.xlsx", b"PK"), ("out.txt", b"3 rows\n"), ("err.txt", b"")]
    {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let document = document("docs/http.md");
    let mut count = 0;
    for block in document.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        for command in block.replace("\\\n", " ").lines() {
            let command = command
                .replace("127.0.0.1:8080", &service.address.to_string())
                .replace("127.0.0.1:8081", &service.admin.to_string())
                .replace("some-tool", "echo hello");
            let ran = Command::new("sh").args(["-c", &command]).current_dir(folder).output().unwrap();
            assert!(
                ran.status.success(),
                "{command}: {}{}",
                String::from_utf8_lossy(&ran.stdout),
                String::from_utf8_lossy(&ran.stderr)
            );
            let redirected = command.contains(" > ");
            assert!(redirected || !ran.stdout.is_empty(), "{command}");
            if command.contains("/v1/scan?") && !redirected {
                let verdict: Value = serde_json::from_slice(&ran.stdout).unwrap();
                assert_eq!(verdict["schema"], "scanner.verdict/v1", "{command}");
            }
            count += 1;
        }
    }
    assert!(count >= 14, "{count}");
    let verdict: Value = serde_json::from_str(&fs::read_to_string(folder.join("verdict.json")).unwrap()).unwrap();
    assert!(verdict["receipt"]["canonical"].is_string());
    let shown = document.split("```json\n").nth(1).unwrap().split("```").next().unwrap().trim();
    assert_eq!(service.send("POST /v1/scan HTTP/1.1", b"").text(), shown);
}
