//! Every route, and what is the same for all answers.

use crate::service::Service;

#[test]
fn every_route_answers() {
    let service = Service::start("");
    let rules = service.get("/v1/rules").json();
    assert_eq!(rules["schema"], "scanner.rules/v1");
    assert!(rules["rules"].as_array().unwrap().iter().any(|rule| rule["category"] == "type.mismatch"));
    let policies = service.get("/v1/policies").json();
    assert_eq!(policies["default"], "default");
    assert_eq!(policies["policies"].as_array().unwrap().len(), 4);
    let capabilities = service.get("/v1/capabilities").json();
    assert_eq!(capabilities["audiences"][0], "page");
    assert_eq!(capabilities["limits"]["envelope_bytes"], 64 << 20);
    assert!(capabilities["as"].as_array().unwrap().iter().any(|word| word == "bundle"));
    let verdict = service.scan("audience=page,model&name=a.txt&context.user=u1", b"hello").is_verdict();
    assert_eq!(verdict["scanner"]["rules"], capabilities["rules"]);
    assert_eq!(verdict["source"]["name"], "a.txt");
    assert_eq!(verdict["context"]["user"], "u1");
    assert_eq!(verdict["audiences"].as_object().unwrap().keys().collect::<Vec<_>>(), ["model", "page"]);
    let docs = service.get("/docs");
    assert_eq!(docs.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(docs.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert_eq!(service.admin("/healthz").text(), "ok\n");
    assert_eq!(service.admin("/readyz").text(), "ready\n");
    for path in ["/healthz", "/readyz", "/metrics"] {
        service.get(path).is_error(404, "not_found");
    }
    service.admin("/v1/rules").is_error(404, "not_found");
}

#[test]
fn the_docs_page_can_be_turned_off() {
    let service = Service::start("docs = false");
    service.get("/docs").is_error(404, "not_found");
}

#[test]
fn mistakes_in_the_query_are_told() {
    let service = Service::start("[limits]\nenvelope_bytes = \"1MiB\"\n");
    let bad = |query: &str| service.scan(query, b"x").is_error(400, "bad_request");
    assert_eq!(bad(""), "audience is required: page, terminal, model or download");
    assert_eq!(bad("audience="), "audience is required: page, terminal, model or download");
    assert_eq!(bad("audience=pag"), "unknown audience \"pag\", did you mean \"page\"?");
    assert!(
        bad("audience=page&audiance=model").starts_with("unknown parameter \"audiance\", expected one of: as, name")
    );
    assert!(bad("audience=page&policy=no%0Ane").starts_with("there is no such policy, expected one of: default"));
    assert_eq!(bad("audience=page&name=a&name=b"), "\"name\" is given twice");
    assert_eq!(bad("audience=page&receipt=yes"), "receipt is 1 or 0");
    assert!(bad("audience=page&context.=1").starts_with("unknown parameter"));
    let said = service.scan("audience=page&as=bundle", b"x").is_error(422, "not_an_envelope");
    assert!(said.starts_with("not a bundle envelope: expected an object with \"schema\""), "{said}");
    assert!(
        service
            .scan("audience=page&as=nobody", b"x")
            .is_error(422, "not_an_envelope")
            .contains("no provider is called")
    );
    service.get("/v1/scan?audience=page").is_error(405, "method_not_allowed");
    assert_eq!(service.get("/v1/scan").header("allow"), Some("POST"));
    service.get("/nowhere").is_error(404, "not_found");
    service.send("BREW /v1/scan HTTP/1.1", b"").is_error(405, "method_not_allowed");
    // An audience is asked once, however often it is named.
    let verdict = service.scan("audience=page&audience=model,page,", b"x").is_verdict();
    assert_eq!(verdict["audiences"].as_object().unwrap().len(), 2);
}

#[test]
fn every_answer_has_a_request_id() {
    let service = Service::start("");
    let mut client = service.connect();
    let echoed = client.ask("GET /nowhere HTTP/1.1\r\nX-Request-Id: 0190-ab.c", b"");
    assert_eq!(echoed.header("x-request-id"), Some("0190-ab.c"));
    let first = client.ask("GET /v1/rules HTTP/1.1", b"");
    let second = client.ask("POST /v1/scan?audience=page HTTP/1.1\r\nX-Request-Id: a b\"", b"x");
    let id = |answer: &crate::service::Answer| answer.header("x-request-id").unwrap().to_owned();
    assert_ne!(id(&first), id(&second));
    assert!(id(&second).bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    assert_eq!(second.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(second.header("cache-control"), Some("no-store"));
}

#[test]
fn the_log_has_one_line_for_each_request_and_no_content() {
    let mut service = Service::start("");
    let name = "evil%0A%7B%22level%22%3A%22x%22%7D%1B%5B31m%E2%80%AE";
    service.scan(&format!("audience=page&name={name}&context.a={name}"), b"SECRETBODY").is_verdict();
    service.scan(&format!("audience=page&{name}=1"), b"SECRETBODY").is_error(400, "bad_request");
    service
        .send("POST /v1/SECRETPATH HTTP/1.1\r\nAuthorization: Bearer SECRETTOKEN\r\nX-Request-Id: mine", b"SECRETBODY")
        .is_error(404, "not_found");
    service.signal(rustix::process::Signal::TERM);
    service.ended(std::time::Duration::from_secs(10));
    let log = service.log();
    let lines: Vec<serde_json::Value> = log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<_> =
        lines.iter().filter(|line| line["message"] == "request" && line["route"] != "/readyz").collect();
    assert_eq!(requests.len(), 3, "{log:?}");
    assert_eq!(
        (&requests[0]["route"], &requests[0]["decision"], &requests[0]["bytes"]),
        (&"/v1/scan".into(), &"sanitize".into(), &10.into())
    );
    assert_eq!((&requests[2]["route"], &requests[2]["request"]), (&"none".into(), &"mine".into()));
    for line in &log {
        assert!(!line.contains("SECRET") && !line.contains("evil"), "{line}");
        assert!(line.chars().all(|character| character == '\u{fffd}' || (' '..='~').contains(&character)), "{line:?}");
    }
}

#[test]
fn metrics_have_bounded_labels() {
    let service = Service::start("");
    for number in 0..40 {
        service.send(&format!("GET /v1/{number} HTTP/1.1"), b"");
        service.send(&format!("M{number} /v1/scan HTTP/1.1"), b"");
        service
            .scan(&format!("audience=page&name={number}&context.c{number}=x"), format!("hello {number}").as_bytes())
            .is_verdict();
        service.scan(&format!("audience=a{number}"), b"x");
    }
    let poisoned = include_bytes!("../../../examples/poisoned.json");
    service.scan("audience=page&policy=report-only", poisoned).is_verdict();
    let metrics = service.admin("/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = metrics.text();
    let series =
        |name: &str| text.lines().filter(|line| line.starts_with(name) && line.as_bytes()[name.len()] == b'{').count();
    // /readyz with two statuses, one route that is none, /v1/scan in three ways.
    assert!(series("scanner_requests_total") <= 6, "{text}");
    assert_eq!(series("scanner_scans_total"), 2, "{text}");
    assert!(text.contains("scanner_scans_total{decision=\"allow\",provider=\"none\"} 40\n"), "{text}");
    assert!(text.contains("scanner_would_be_total{decision=\"block\"} 1\n"), "{text}");
    assert!(text.contains("category=\"html.script\""), "{text}");
    assert!(text.contains("scanner_scan_duration_seconds_count 41\n"), "{text}");
    assert!(text.contains("scanner_ready 1\n") && text.contains("scanner_scans_waiting 0\n"), "{text}");
}
