//! ClamAV beside our own scan, before a clamd that lies, stalls and falls.

use serde_json::Value;

use crate::{
    fake_clamd::{CLEAN, Deed, FakeClamd, nobody},
    service::Service,
};

fn service(address: &str, more: &str) -> Service {
    Service::start(&format!(
        "[clamav]\naddress = \"{address}\"\nconnect = \"500ms\"\ntotal = \"1s\"\npause = \"1500ms\"\n{more}"
    ))
}

fn scan(service: &Service) -> Value {
    service.scan("audience=download", b"hello\n").is_verdict()
}

#[track_caller]
fn is_gap(verdict: &Value, detail: &str) {
    assert_eq!((&verdict["decision"], &verdict["complete"]), (&"review".into(), &false.into()), "{verdict}");
    assert_eq!(verdict["gaps"][0]["reason"], "engine_unavailable");
    let said = verdict["gaps"][0]["detail"].as_str().unwrap();
    assert!(said.starts_with(&format!("clamav did not look: {detail}")), "{said}");
    assert!(verdict["engines"][0]["answer"].as_str().unwrap().starts_with("unavailable: "), "{verdict}");
}

#[test]
fn what_it_says_is_in_the_verdict() {
    let fake = FakeClamd::start(CLEAN);
    let service = service(&fake.address, "");
    let verdict = scan(&service);
    assert_eq!((&verdict["decision"], &verdict["complete"]), (&"allow".into(), &true.into()));
    let engine = serde_json::json!({
        "name": "clamav", "version": "1.4.3", "database": "27000", "database_time": "Sat Nov 28 10:00:00 2026",
        "answer": "clean",
    });
    assert_eq!(verdict["engines"], serde_json::json!([engine]));
    fake.now(Deed::Says(b"stream: Win.Test.EICAR_HDB-1 FOUND\0"));
    let verdict = scan(&service);
    assert_eq!(verdict["decision"], "block");
    assert_eq!(verdict["findings"][0]["category"], "malware.signature");
    assert_eq!(verdict["findings"][0]["message"], "clamav calls it Win.Test.EICAR_HDB-1");
    assert_eq!(verdict["findings"][0]["artifact"], verdict["artifacts"][0]["id"]);
    assert_eq!(fake.seen(), [b"hello\n", b"hello\n"]);
    assert_eq!(service.get("/v1/capabilities").json()["engines"], serde_json::json!(["clamav"]));
    service.until("scanner_engine_answers_total{engine=\"clamav\",answer=\"clean\"} 1");
    service.until("scanner_engine_answers_total{engine=\"clamav\",answer=\"found\"} 1");
}

#[test]
fn a_socket_with_a_path_is_as_good() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clamd.ctl");
    let fake = FakeClamd::on_socket(&path, CLEAN);
    assert_eq!(scan(&service(&fake.address, ""))["engines"][0]["answer"], "clean");
}

#[test]
fn whatever_goes_wrong_is_a_gap_and_never_clean() {
    let fake = FakeClamd::start(CLEAN);
    let service = service(&fake.address, "failures = 100\n");
    for (deed, detail) in [
        (Deed::Says(b"stream: O"), "an answer that is none"),
        (Deed::Says(b"stream: OK"), "an answer that is none"),
        (Deed::Says(b"stream: LOOKUP failed ERROR\0"), "an answer that is none"),
        (Deed::Says(b"stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\0"), "it reached a limit of its own"),
        (Deed::Closes, "it closed the connection"),
        (Deed::Floods, "an answer without an end"),
        (Deed::Silent, "no answer within 1000 ms"),
    ] {
        fake.now(deed);
        let verdict = scan(&service);
        if deed == Deed::Closes {
            // Whether that is an end or an error depends on how far the file had got.
            is_gap(&verdict, "");
        } else {
            is_gap(&verdict, detail);
        }
    }
    // More than both sides' buffers hold, so that sending stands still or breaks off.
    let large = vec![b'a'; 8 << 20];
    for deed in [Deed::Stuck, Deed::TooLarge] {
        fake.now(deed);
        is_gap(&service.scan("audience=download", &large).is_verdict(), "");
    }
    fake.now(CLEAN);
    assert_eq!(scan(&service)["engines"][0]["answer"], "clean");
}

#[test]
fn nobody_there_is_a_gap() {
    is_gap(&scan(&service(&nobody(), "")), "connection refused");
    let fake = FakeClamd::start(Deed::NoVersion);
    is_gap(&scan(&service(&fake.address, "")), "no answer within 1000 ms");
}

#[test]
fn the_policy_decides_and_a_hit_is_heard_beside_what_we_found() {
    let fake = FakeClamd::start(Deed::Silent);
    let service = service(&fake.address, "failures = 100\n");
    let poisoned = include_bytes!("../../../examples/poisoned.json");
    let verdict = service.scan("audience=page&policy=report-only", poisoned).is_verdict();
    assert_eq!((&verdict["decision"], &verdict["complete"]), (&"allow".into(), &false.into()));
    fake.now(Deed::Says(b"stream: X FOUND\0"));
    let verdict = service.scan("audience=page", poisoned).is_verdict();
    let found = verdict["findings"].as_array().unwrap();
    assert!(found.len() > 1 && found.iter().any(|finding| finding["rule"] == "engine/signature"), "{verdict}");
}

#[test]
fn an_engine_that_fails_is_left_alone_for_a_while() {
    let fake = FakeClamd::start(Deed::Closes);
    let service = service(&fake.address, "failures = 2\n");
    (0..2).for_each(|_| is_gap(&scan(&service), ""));
    let before = fake.connections();
    is_gap(&scan(&service), "it failed 2 times in a row and is left alone for a while");
    assert_eq!(fake.connections(), before);
    fake.now(CLEAN);
    std::thread::sleep(std::time::Duration::from_millis(1600));
    assert_eq!(scan(&service)["engines"][0]["answer"], "clean");
    assert_eq!(scan(&service)["engines"][0]["answer"], "clean");
}

#[test]
fn every_part_is_shown_and_what_is_too_large_is_not() {
    let fake = FakeClamd::start(CLEAN);
    let service = service(&fake.address, "most = \"1KiB\"\n");
    let body = "--x\r\nContent-Disposition: form-data; name=\"stdout\"\r\n\r\nout\r\n\
                --x\r\nContent-Disposition: form-data; name=\"meta\"\r\n\r\n{}\r\n\
                --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\none\r\n--x--\r\n";
    let head = "POST /v1/scan?audience=page HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x";
    service.send(head, body.as_bytes()).is_verdict();
    assert_eq!(fake.seen(), [b"out", b"one"]);
    assert!(service.scan("audience=page", &[b'a'; 1024]).is_verdict()["complete"] == true);
    let connections = fake.connections();
    is_gap(
        &service.scan("audience=download", &[b'a'; 1025]).is_verdict(),
        "the input is larger than clamav.most (1024 bytes)",
    );
    assert_eq!(fake.connections(), connections);
}
