//! How the service ends: nothing that was accepted is lost.

use std::{thread, time::Duration};

use rustix::process::Signal;

use crate::service::{Client, Service};

#[test]
fn what_was_accepted_is_finished() {
    let mut service = Service::start("[workers]\ncount = 1\n");
    service.signal_workers(Signal::STOP);
    let mut idle = service.connect();
    assert_eq!(idle.ask("GET /v1/policies HTTP/1.1", b"").status, 200);
    // Under way, waiting, and half sent.
    let mut clients: Vec<Client> = (0..8).map(|_| service.connect()).collect();
    for client in &mut clients {
        client.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    }
    let mut half = service.connect();
    half.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
    service.until("scanner_scans_waiting 7");
    service.until("scanner_uploads 1");
    // In the system's queue at best when the signal comes.
    let mut late: Vec<Client> = (0..8).map(|_| service.connect()).collect();
    for client in &mut late {
        client.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    }
    service.signal(Signal::TERM);
    let mut admin = Client::to(service.admin);
    assert_eq!(admin.ask("GET /healthz HTTP/1.1", b"").status, 200);
    for _ in 0..100 {
        if service.admin("/readyz").status == 503 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(service.admin("/readyz").status, 503, "not ready at once");
    thread::sleep(Duration::from_millis(300));
    assert!(std::net::TcpStream::connect(service.address).is_err(), "nothing more is accepted");
    half.write(b"lo");
    service.signal_workers(Signal::CONT);
    for client in clients.iter_mut().chain(&mut late).chain([&mut half]) {
        let answer = client.answer().expect("an accepted request is answered");
        assert_eq!(answer.is_verdict()["decision"], "allow");
    }
    assert!(idle.closes(Duration::from_secs(5)));
    assert_eq!(service.ended(Duration::from_secs(10)).code(), Some(0));
}

#[test]
fn a_second_signal_does_not_wait() {
    let mut service = Service::start("[workers]\ncount = 1\n");
    service.signal_workers(Signal::STOP);
    let mut client = service.connect();
    client.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    service.until("scanner_scans_running 1");
    service.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(200));
    service.signal(Signal::TERM);
    assert_eq!(service.ended(Duration::from_secs(3)).code(), Some(1));
}

#[test]
fn with_nothing_to_do_it_ends_at_once() {
    let mut service = Service::start("");
    let workers = service.workers();
    assert!(!workers.is_empty());
    service.signal(Signal::INT);
    assert_eq!(service.ended(Duration::from_secs(3)).code(), Some(0));
    thread::sleep(Duration::from_millis(200));
    for worker in workers {
        // Where nobody collects orphans, an ended one stays as a zombie.
        let stat = std::fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
        assert!(matches!(state, None | Some("Z")), "a worker outlived the service: {stat}");
    }
}

#[test]
fn grace_keeps_accepting() {
    let mut service = Service::start("[shutdown]\ngrace = \"1s\"\n");
    service.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(service.admin("/readyz").status, 503);
    service.scan("audience=page", b"x").is_verdict();
    assert_eq!(service.ended(Duration::from_secs(10)).code(), Some(0));
}

#[test]
fn requests_that_take_too_long_do_not_keep_it() {
    let mut service = Service::start("[workers]\ncount = 1\n[shutdown]\nfinish = \"300ms\"\n");
    service.signal_workers(Signal::STOP);
    let mut client = service.connect();
    client.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    service.until("scanner_scans_running 1");
    service.signal(Signal::TERM);
    assert_eq!(service.ended(Duration::from_secs(3)).code(), Some(1));
    assert!(service.log().iter().any(|line| line.contains("requests under way were cut off")), "{:?}", service.log());
}
