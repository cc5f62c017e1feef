//! Heads that can be read in two ways, and bodies that lie about themselves.

use std::time::{Duration, Instant};

use crate::service::Service;

const SCAN: &str = "POST /v1/scan?audience=page HTTP/1.1\r\nHost: localhost\r\n";

/// One request is sent: at most one is answered, with that status, and the connection ends.
#[track_caller]
fn check(service: &Service, wire: &str, status: u16) {
    let mut client = service.connect();
    client.write(wire.as_bytes());
    let answer = client.answer().unwrap_or_else(|| panic!("no answer to {wire:?}"));
    assert_eq!(answer.status, status, "{wire:?}: {}", answer.text());
    assert!(client.answer().is_none() || status == 200, "two answers to {wire:?}");
}

#[test]
fn two_lengths_are_refused() {
    let service = Service::start("");
    let smuggled = "0\r\n\r\nGET /v1/rules HTTP/1.1\r\nHost: a\r\n\r\n";
    let bad = |headers: &str| {
        let mut client = service.connect();
        client.write(format!("{SCAN}{headers}\r\n{smuggled}").as_bytes());
        let answer = client.answer().expect("an answer");
        assert_eq!(
            answer.is_error(400, "bad_request"),
            "Content-Length and Transfer-Encoding exclude each other: nothing was scanned"
        );
        assert!(client.answer().is_none(), "two requests were seen where one was sent");
    };
    bad("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n");
    bad("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n");
    bad("transfer-encoding: chunked\r\ncontent-length: 40\r\n");
    // Behind an honest request on the same connection, too.
    let mut client = service.connect();
    client.write(
        format!(
            "{SCAN}Content-Length: 2\r\n\r\nok{SCAN}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{smuggled}"
        )
        .as_bytes(),
    );
    client.answer().unwrap().is_verdict();
    client.answer().unwrap().is_error(400, "bad_request");
    assert!(client.answer().is_none());
    // A chunked body that quotes such a head is only a body.
    let quoted = "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = service.connect();
    client.write(
        format!("{SCAN}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{quoted}\r\n0\r\n\r\n", quoted.len()).as_bytes(),
    );
    client.answer().unwrap().is_verdict();
}

#[test]
fn what_is_no_http_is_refused() {
    let service = Service::start("[connections]\nhead = \"1s\"\n");
    let get = "GET /v1/policies HTTP/1.1\r\nHost: a\r\n";
    check(&service, &format!("{SCAN}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 400);
    check(&service, &format!("{SCAN}Content-Length: -1\r\n\r\n"), 400);
    check(&service, &format!("{SCAN}Content-Length: +1\r\n\r\na"), 400);
    check(&service, &format!("{SCAN}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"), 400);
    check(&service, &format!("{SCAN}Transfer-Encoding: gzip\r\n\r\n"), 400);
    check(&service, "POST /v1/scan?audience=page HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
    check(&service, &format!("{get}A: b\r\n folded\r\n\r\n"), 400);
    check(&service, &format!("{get}A : b\r\n\r\n"), 400);
    check(&service, &format!("{get}\r\n").replace("Host", "Ho\0st"), 400);
    check(&service, &format!("{get}{}\r\n", "A: b\r\n".repeat(200)), 431);
    check(&service, &format!("{get}A: {}\r\n\r\n", "b".repeat(256 * 1024)), 431);
    check(&service, &format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(256 * 1024)), 431);
    assert_eq!(service.get("/v1/policies").status, 200);
}

#[test]
fn chunks_that_lie_are_no_input() {
    let service = Service::start("[body]\nidle = \"500ms\"\n[connections]\nhead = \"1s\"\n");
    for (body, status) in [
        ("zz\r\nabc\r\n", 400),
        ("ffffffffffffffffff\r\nabc\r\n", 400),
        ("3\r\nabcd\r\n0\r\n\r\n", 400),
        ("3\r\nabc\r\n", 408),
        ("-3\r\nabc\r\n0\r\n\r\n", 400),
    ] {
        check(&service, &format!("{SCAN}Transfer-Encoding: chunked\r\n\r\n{body}"), status);
    }
    let started = Instant::now();
    let mut client = service.connect();
    client.write(format!("{SCAN}Transfer-Encoding: chunked\r\n\r\n1;{}\r\n", "x".repeat(1 << 20)).as_bytes());
    let _ = client.answer();
    assert!(started.elapsed() < Duration::from_secs(10));
    let many = "1\r\na\r\n".repeat(200_000) + "0\r\n\r\n";
    let mut client = service.connect();
    client.write(format!("{SCAN}Transfer-Encoding: chunked\r\n\r\n{many}").as_bytes());
    assert_eq!(client.answer().unwrap().is_verdict()["source"]["size"], 200_000);
    let metrics = service.admin("/metrics");
    assert!(metrics.text().contains("scanner_scan_duration_seconds_count 1\n"), "{}", metrics.text());
}

#[test]
fn a_connection_serves_many_requests_in_turn() {
    let service = Service::start("");
    let mut client = service.connect();
    let one = format!("{SCAN}Content-Length: 5\r\n\r\nhello");
    client.write(one.repeat(20).as_bytes());
    let answers: Vec<_> = (0..20).map(|_| client.answer().unwrap().body).collect();
    assert!(answers.iter().all(|body| *body == answers[0]));
}
