//! Multipart bodies: parts, references, and what is refused.

use serde_json::Value;

use crate::service::{Answer, Service};

const TYPE: &str = "Content-Type: multipart/form-data; boundary=XX";

fn part(disposition: &str, body: &[u8]) -> Vec<u8> {
    [format!("--XX\r\nContent-Disposition: form-data; {disposition}\r\n\r\n").as_bytes(), body, b"\r\n"].concat()
}

fn send(service: &Service, query: &str, parts: &[Vec<u8>]) -> Answer {
    let body = [parts.concat(), b"--XX--\r\n".to_vec()].concat();
    service.send(&format!("POST /v1/scan?{query} HTTP/1.1\r\n{TYPE}"), &body)
}

#[test]
fn the_parts_of_a_run_are_one_tool_result() {
    let service = Service::start("[body]\nmemory = \"1KiB\"\n");
    let file: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let parts = [
        part("name=\"file\"; filename=\"../a b.bin\"", &file),
        part("name=\"stdout\"", b"one \"line\"\r\n--X\r\n"),
        part("name=\"meta\"", br#"{"id":"run1","tool":"bash","exit_code":2}"#),
        part("name=\"stderr\"", b"\x1b[31mno\x1b[0m"),
    ];
    let verdict = send(&service, "audience=page", &parts).is_verdict();
    assert_eq!((&verdict["source"]["kind"], &verdict["source"]["status"]), (&"bundle".into(), &"failed".into()));
    assert_eq!((&verdict["calls"][0]["id"], &verdict["calls"][0]["exit_code"]), (&"run1".into(), &2.into()));
    let artifact = |origin: &str| {
        let all = verdict["artifacts"].as_array().unwrap();
        all.iter()
            .find(|artifact| artifact["origin"] == origin)
            .unwrap_or_else(|| panic!("{origin}: {verdict}"))
            .clone()
    };
    assert_eq!(artifact("file")["sha256"], scanner_core::sha256_hex(&file));
    assert_eq!(artifact("file")["name"], "../a b.bin");
    assert_eq!(artifact("stdout")["sha256"], scanner_core::sha256_hex(b"one \"line\"\r\n--X\r\n"));
    assert_eq!(artifact("stderr")["size"], 11);
}

#[test]
fn the_part_input_gives_the_verdict_of_the_raw_body() {
    let service = Service::start("");
    let body = include_bytes!("../../../examples/poisoned.json");
    let raw = service.scan("audience=page,model&name=poisoned.json", body);
    let part = part("name=\"input\"; filename=\"C:\\dir/poisoned.json\"", body);
    let multi = send(&service, "audience=page,model", &[part]);
    assert_eq!(multi.is_verdict(), raw.is_verdict());
    assert_eq!(multi.body, raw.body);
}

#[test]
fn references_are_attached_and_strings_are_watched() {
    let service = Service::start("");
    let bundle = br#"{"schema":"scanner.bundle/v1","calls":[{"id":"a","files":[{"name":"r.txt","path":"r.txt"}],"stdout":"tenant-4711"}]}"#;
    let input = part("name=\"input\"", bundle);
    let verdict = send(&service, "audience=page", std::slice::from_ref(&input)).is_verdict();
    assert_eq!((&verdict["references"][0]["artifact"], &verdict["complete"]), (&Value::Null, &false.into()));
    let attached = part("name=\"attach:r.txt\"", b"hello");
    let verdict = send(&service, "audience=page", &[input.clone(), attached]).is_verdict();
    assert!(verdict["references"][0]["artifact"].is_string());
    assert!(
        verdict["artifacts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|artifact| artifact["sha256"] == scanner_core::sha256_hex(b"hello"))
    );
    let before = verdict["findings"].as_array().unwrap().len();
    let watched = part("name=\"watch\"", b"tenant-4711\r\n\nother\n");
    let verdict = send(&service, "audience=page", &[watched, input]).is_verdict();
    assert!(verdict["findings"].as_array().unwrap().len() > before, "{verdict}");
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let service = Service::start("[limits]\nenvelope_bytes = \"4KiB\"\n[body]\nattached = \"2KiB\"\nparts = 8\n");
    let bad = |parts: &[Vec<u8>]| send(&service, "audience=page", parts).is_error(400, "bad_request");
    let stdout = || part("name=stdout", b"x");
    assert!(bad(&[]).starts_with("a multipart body has either the part input, or"));
    assert!(bad(&[stdout(), part("name=input", b"x")]).starts_with("a multipart body has either"));
    assert_eq!(bad(&[stdout(), stdout()]), "part \"stdout\" is given twice");
    assert!(bad(&[part("name=\"in\u{202e}put\"", b"x")]).starts_with("unknown part \"in"));
    assert_eq!(
        bad(&[stdout(), part("name=\"attach:a\"", b""), part("name=\"attach:a\"", b"")]),
        "part \"attach:a\" is given twice"
    );
    assert!(bad(&[stdout(), part("name=meta", b"{\"exit\":1}")]).starts_with("meta: unknown field \"exit\""));
    assert!(
        bad(&[stdout(), part("name=meta", b"{\"status\":\"fine\"}")])
            .starts_with("meta: unknown status \"fine\", expected one of: ok")
    );
    assert!(bad(&vec![part("name=file", b"x"); 9]).contains("too many parts"));
    assert!(bad(&[stdout(), part("name=watch", b"\xff")]).contains("watch is not UTF-8"));
    let large = |name: &str, size: usize| send(&service, "audience=page", &[stdout(), part(name, &vec![b'a'; size])]);
    let too_large = "input is larger than envelope_bytes (4096 bytes): nothing was scanned";
    assert_eq!(large("name=file", 5000).is_error(413, "too_large"), too_large);
    // As base64 it is more than the limit, which counts for the bundle.
    assert_eq!(large("name=file", 3500).is_error(413, "too_large"), too_large);
    assert_eq!(
        large("name=\"attach:a\"", 2049).is_error(413, "too_large"),
        "attach parts are larger than body.attached (2048 bytes): nothing was scanned"
    );
    large("name=\"attach:a\"", 2048).is_verdict();
    large("name=meta", 70_000).is_error(413, "too_large");
    let said = send(&service, "audience=page&as=openai", &[stdout()]).is_error(400, "bad_request");
    assert!(said.starts_with("as goes with the part input"), "{said}");
    send(&service, "audience=page&as=bundle", &[stdout()]).is_verdict();
    send(&service, "", &[stdout()]).is_error(400, "bad_request");
    send(&service, "audience=page", &[part("name=stdout\r\nContent-Transfer-Encoding: base64", b"eA==")])
        .is_error(415, "encoded_body");
}

#[test]
fn bodies_that_are_no_multipart_are_refused() {
    let service = Service::start("[body]\nidle = \"500ms\"\n");
    let bad = |content_type: &str, body: &str| {
        let head = format!("POST /v1/scan?audience=page HTTP/1.1\r\nContent-Type: {content_type}");
        service.send(&head, body.as_bytes()).is_error(400, "bad_request")
    };
    let good = "--XX\r\nContent-Disposition: form-data; name=stdout\r\n\r\nx\r\n--XX--";
    assert!(bad("multipart/form-data; boundary=XX; boundary=YY", good).ends_with("two boundaries"));
    assert!(
        bad("multipart/form-data; boundary=XX\r\nContent-Type: multipart/form-data; boundary=YY", good)
            .ends_with("two content types")
    );
    assert!(bad("text/plain\r\nContent-Type: multipart/form-data; boundary=XX", good).ends_with("two content types"));
    assert!(bad("multipart/form-data", good).ends_with("no boundary"));
    assert!(bad("multipart/form-data; boundary=YY", good).ends_with("does not begin with its boundary"));
    assert!(
        bad("Multipart/Form-Data; boundary=XX", &good[..good.len() - 2]).ends_with("it ends before the last boundary")
    );
    assert!(bad("multipart/form-data; boundary=XX", "").ends_with("it ends before the last boundary"));
    // Anything else is a body as it is.
    let head = "POST /v1/scan?audience=page HTTP/1.1\r\nContent-Type: multipart/mixed; boundary=XX";
    assert_eq!(service.send(head, good.as_bytes()).is_verdict()["source"]["size"], good.len());
}
