//! Bodies as they come: in pieces, too long, too slow, encoded, large.

use std::time::{Duration, Instant};

use crate::service::{Client, Service};

const HEAD: &str = "POST /v1/scan?audience=page HTTP/1.1\r\nHost: localhost\r\n";
const LIMIT: usize = 64 * 1024;
const TOO_LARGE: &str = "input is larger than envelope_bytes (65536 bytes): nothing was scanned";

fn small() -> Service {
    Service::start(
        "[limits]\nenvelope_bytes = \"64KiB\"\n[body]\nmemory = \"4KiB\"\nfolder = \"FOLDER\"\nidle = \"400ms\"\nstart = \"1s\"\n\
         [connections]\nhead = \"500ms\"\nidle = \"1s\"\n",
    )
}

fn chunked(client: &mut Client, chunks: impl IntoIterator<Item = Vec<u8>>) {
    client.write(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    for chunk in chunks {
        let whole = [format!("{:x}\r\n", chunk.len()).into_bytes(), chunk, b"\r\n".to_vec()].concat();
        if !client.write(&whole) {
            return;
        }
    }
    client.write(b"0\r\n\r\n");
}

#[test]
fn the_verdict_is_the_same_whatever_the_pieces() {
    let service = small();
    let body = include_bytes!("../../../examples/poisoned.json");
    let whole = service.scan("audience=page", body).body;
    let mut client = service.connect();
    client.write(format!("{HEAD}Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    for byte in body {
        client.write(&[*byte]);
    }
    assert_eq!(client.answer().unwrap().body, whole, "byte by byte");
    for size in [1, 7, 500] {
        let mut client = service.connect();
        chunked(&mut client, body.chunks(size).map(<[u8]>::to_vec));
        let answer = client.answer().unwrap();
        assert_eq!(answer.body, whole, "in chunks of {size}");
        assert_eq!(answer.header("connection"), Some("close"));
    }
}

#[test]
fn exactly_the_limit_passes_and_one_byte_more_does_not() {
    let service = small();
    let exact = vec![b'a'; LIMIT];
    assert_eq!(service.scan("audience=page", &exact).is_verdict()["source"]["size"], LIMIT);
    let more = vec![b'a'; LIMIT + 1];
    assert_eq!(service.scan("audience=page", &more).is_error(413, "too_large"), TOO_LARGE);
    let mut client = service.connect();
    chunked(&mut client, exact.chunks(1000).map(<[u8]>::to_vec));
    assert_eq!(client.answer().unwrap().is_verdict()["source"]["size"], LIMIT);
    let mut client = service.connect();
    chunked(&mut client, more.chunks(1000).map(<[u8]>::to_vec));
    assert_eq!(client.answer().unwrap().is_error(413, "too_large"), TOO_LARGE);
    assert!(std::fs::read_dir(service.folder()).unwrap().count() <= 1, "files without a name leave nothing behind");
}

#[test]
fn an_announced_body_that_is_too_large_is_refused_before_it_is_sent() {
    let service = small();
    let mut client = service.connect();
    client.write(format!("{HEAD}Content-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n").as_bytes());
    assert_eq!(client.answer().unwrap().is_error(413, "too_large"), TOO_LARGE);
}

#[test]
fn who_writes_before_reading_still_reads_the_answer() {
    // Ten megabytes do not fit the buffers of two sockets: if the service closed at once, the answer would be lost.
    let service = small();
    let answer = service.scan("audience=page", &vec![b'a'; 10 << 20]);
    answer.is_error(413, "too_large");
    let answer = service.send("POST /nowhere HTTP/1.1", &vec![b'a'; 10 << 20]);
    answer.is_error(404, "not_found");
}

#[test]
fn an_endless_body_is_cut() {
    let service = small();
    let mut client = service.connect();
    client.write(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
    let chunk = [b"10000\r\n".to_vec(), vec![b'a'; 0x10000], b"\r\n".to_vec()].concat();
    let started = Instant::now();
    while client.write(&chunk) && started.elapsed() < Duration::from_secs(20) {}
    assert!(started.elapsed() < Duration::from_secs(15), "it was read for ever");
    assert!(service.scan("audience=page", b"x").status == 200);
}

#[test]
fn a_body_that_stalls_or_trickles_is_408() {
    let service = small();
    let started = Instant::now();
    let mut stalls = service.connect();
    stalls.write(format!("{HEAD}Content-Length: 100\r\n\r\nabc").as_bytes());
    stalls.answer().unwrap().is_error(408, "slow_body");
    let took = started.elapsed();
    assert!((Duration::from_millis(350)..Duration::from_secs(3)).contains(&took), "{took:?}");

    let mut trickles = service.connect();
    trickles.write(format!("{HEAD}Content-Length: 100\r\n\r\n").as_bytes());
    let started = Instant::now();
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(100));
        trickles.write(b"a");
        if started.elapsed() > Duration::from_millis(1300) {
            break;
        }
    }
    trickles.answer().unwrap().is_error(408, "slow_body");
    service.until("scanner_uploads 0");
}

#[test]
fn a_body_that_is_shorter_than_announced_is_no_input() {
    let service = small();
    let mut client = service.connect();
    client.write(format!("{HEAD}Content-Length: 100\r\n\r\nabc").as_bytes());
    drop(client);
    service.until("scanner_uploads 0");
    let metrics = service.admin("/metrics");
    assert!(!metrics.text().contains("scanner_scans_total{"), "{}", metrics.text());
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let service = small();
    for begun in ["", "POST /v1/scan HT", "PRI * HTTP/2.0\r\n"] {
        let mut client = service.connect();
        client.write(begun.as_bytes());
        let started = Instant::now();
        client.answer();
        assert!(client.closes(Duration::from_secs(5)), "{begun:?}");
        assert!(started.elapsed() < Duration::from_secs(4), "{begun:?}");
    }
    let mut trickles = service.connect();
    for byte in HEAD.bytes().cycle().take(40) {
        std::thread::sleep(Duration::from_millis(50));
        if !trickles.write(&[byte]) {
            break;
        }
    }
    trickles.answer();
    assert!(trickles.closes(Duration::from_secs(2)));
}

#[test]
fn an_idle_connection_ends() {
    let service = small();
    let mut client = service.connect();
    assert_eq!(client.ask("GET /v1/policies HTTP/1.1", b"").status, 200);
    assert!(client.closes(Duration::from_secs(5)));
}

#[test]
fn an_answer_that_is_not_read_ends_the_connection() {
    let service = small();
    let mut client = service.connect();
    // Tens of megabytes of answers, more than two sockets hold.
    client.write("GET /v1/rules HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2000).as_bytes());
    service.until("scanner_connections 2");
    service.until("scanner_connections 1");
}

#[test]
fn encoded_bodies_are_refused() {
    let service = small();
    for coding in ["gzip", "br", "zstd", "identity, gzip", "x\u{e9}"] {
        let answer = service.send(&format!("POST /v1/scan?audience=page HTTP/1.1\r\nContent-Encoding: {coding}"), b"x");
        answer.is_error(415, "encoded_body");
    }
    service.send("POST /v1/scan?audience=page HTTP/1.1\r\nContent-Encoding: identity", b"x").is_verdict();
}

#[test]
fn where_there_is_no_space_it_says_so() {
    let service = Service::start("[body]\nmemory = \"4KiB\"\nfolder = \"/proc\"\n");
    let answer = service.scan("audience=page", &[b'a'; 64 * 1024]);
    answer.is_error(507, "no_space");
    assert!(answer.header("retry-after").is_some());
    service.scan("audience=page", &[b'a'; 1024]).is_verdict();
}

#[test]
fn a_large_body_waits_in_a_file_and_is_scanned() {
    let service = Service::start("[body]\nmemory = \"4KiB\"\nfolder = \"FOLDER\"\n");
    let line = b"a line of an honest log\n";
    let body: Vec<u8> = line.iter().copied().cycle().take(5 << 20).collect();
    let verdict = service.scan("audience=page", &body).is_verdict();
    assert_eq!((&verdict["source"]["size"], &verdict["decision"]), (&body.len().into(), &"allow".into()));
    assert_eq!(verdict["source"]["sha256"], scanner_core::sha256_hex(&body));
}
