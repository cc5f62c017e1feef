//! More work than fits, and workers that fall.

use std::{
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::service::Service;

#[test]
fn beyond_the_queue_the_answer_is_not_now() {
    let service = Service::start("[workers]\ncount = 1\nqueue = 2\n[limits]\nwall = \"60s\"\n");
    service.signal_workers(Signal::STOP);
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| service.scan("audience=page", b"hello"))).collect();
        service.until("scanner_scans_waiting 2");
        for _ in 0..20 {
            let started = Instant::now();
            let answer = service.scan("audience=page", &[b'x'; 1000]);
            answer.is_error(503, "overloaded");
            assert_eq!(answer.header("retry-after"), Some("1"));
            assert!(started.elapsed() < Duration::from_secs(5), "it waited: {:?}", started.elapsed());
        }
        assert_eq!(service.admin("/healthz").status, 200);
        service.signal_workers(Signal::CONT);
        for answer in waiting {
            answer.join().unwrap().is_verdict();
        }
    });
    service.scan("audience=page", b"x").is_verdict();
    service.until("scanner_scans_waiting 0");
}

#[test]
fn uploads_are_counted_too() {
    let service = Service::start("[body]\nuploads = 1\n");
    let mut slow = service.connect();
    slow.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na");
    service.until("scanner_uploads 1");
    service.scan("audience=page", b"x").is_error(503, "overloaded");
    slow.write(b"b");
    slow.answer().unwrap().is_verdict();
    service.scan("audience=page", b"x").is_verdict();
}

#[test]
fn who_waits_too_long_is_told() {
    let service = Service::start("[workers]\ncount = 1\nqueue = 2\nwait = \"200ms\"\n");
    service.signal_workers(Signal::STOP);
    thread::scope(|scope| {
        let first = scope.spawn(|| service.scan("audience=page", b"hello"));
        service.until("scanner_scans_running 1");
        let second = scope.spawn(|| service.scan("audience=page", b"hello"));
        service.until("scanner_scans_waiting 1");
        thread::sleep(Duration::from_millis(300));
        service.signal_workers(Signal::CONT);
        first.join().unwrap().is_verdict();
        second.join().unwrap().is_error(503, "overloaded");
    });
}

#[test]
fn who_has_gone_is_not_scanned() {
    let service = Service::start("[workers]\ncount = 1\nqueue = 2\n");
    service.signal_workers(Signal::STOP);
    thread::scope(|scope| {
        let first = scope.spawn(|| service.scan("audience=page", b"hello"));
        service.until("scanner_scans_running 1");
        let mut gone = service.connect();
        gone.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na");
        service.until("scanner_scans_waiting 1");
        drop(gone);
        thread::sleep(Duration::from_millis(100));
        service.signal_workers(Signal::CONT);
        first.join().unwrap().is_verdict();
    });
    service.until("scanner_scans_waiting 0");
    service.until("scanner_scan_duration_seconds_count 1");
}

#[test]
fn a_worker_that_is_killed_is_a_verdict_and_the_next_one_is_there() {
    let service = Service::start("[workers]\ncount = 1\n[limits]\nwall = \"30s\"\n");
    service.signal_workers(Signal::STOP);
    thread::scope(|scope| {
        let scan = scope.spawn(|| service.scan("audience=page,download", b"hello"));
        service.until("scanner_scans_running 1");
        service.signal_workers(Signal::KILL);
        let verdict = scan.join().unwrap().is_verdict();
        assert_eq!((&verdict["decision"], &verdict["complete"]), (&"block".into(), &false.into()));
        assert_eq!(verdict["gaps"][0]["reason"], "worker_died");
    });
    assert_eq!(service.scan("audience=page", b"hello").is_verdict()["decision"], "allow");
    service.until("scanner_worker_deaths_total{reason=\"worker_died\"} 1");
}

#[test]
fn a_worker_that_hangs_is_a_verdict_in_time() {
    // Two seconds, so that an unoptimised scan on a busy machine is not taken for a hang.
    let service = Service::start("[workers]\ncount = 1\n[limits]\nwall = \"2s\"\n");
    service.signal_workers(Signal::STOP);
    let started = Instant::now();
    let verdict = service.scan("audience=page", b"hello").is_verdict();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!((&verdict["decision"], &verdict["gaps"][0]["reason"]), (&"block".into(), &"timeout".into()));
    service.until("scanner_worker_deaths_total{reason=\"timeout\"} 1");
    // The spare one was stopped as well.
    service.signal_workers(Signal::CONT);
    assert_eq!(service.scan("audience=page", b"hello").is_verdict()["decision"], "allow");
}

#[test]
fn without_a_worker_it_is_not_ready_and_still_answers() {
    let service = Service::start_unready("[workers]\nexecutable = \"/nowhere/scanner\"\n");
    let verdict = service.scan("audience=page", b"hello").is_verdict();
    assert_eq!(verdict["decision"], "block");
    assert_eq!(service.admin("/readyz").status, 503);
    assert_eq!(service.admin("/healthz").status, 200);
    service.until("scanner_ready 0");
}

#[test]
fn without_file_descriptors_it_waits_and_recovers() {
    let service = Service::start("[connections]\nidle = \"1s\"\nhead = \"1s\"\n");
    let few = rustix::process::Rlimit { current: Some(40), maximum: Some(40) };
    rustix::process::prlimit(Some(service.pid()), rustix::process::Resource::Nofile, few).unwrap();
    let clients: Vec<_> = (0..60).map(|_| service.connect()).collect();
    thread::sleep(Duration::from_millis(300));
    drop(clients);
    for _ in 0..10 {
        service.scan("audience=page", b"hello").is_verdict();
    }
    assert!(service.log().iter().any(|line| line.contains("Too many open files")), "{:?}", service.log());
}

#[test]
fn many_at_once_all_get_an_answer() {
    let service = Service::start("[workers]\ncount = 2\nqueue = 4\n[connections]\nmost = 50\n");
    let started = Instant::now();
    let body = vec![b'a'; 64 * 1024];
    let answers: Vec<u16> = thread::scope(|scope| {
        let asking: Vec<_> = (0..200).map(|_| scope.spawn(|| service.scan("audience=page", &body).status)).collect();
        asking.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    let good = answers.iter().filter(|status| **status == 200).count();
    let refused = answers.iter().filter(|status| **status == 503).count();
    assert_eq!(good + refused, 200, "{answers:?}");
    assert!(good >= 6, "{good}");
    assert!(started.elapsed() < Duration::from_secs(60));
    service.until(&format!("scanner_scan_duration_seconds_count {good}"));
    service.until(&format!("scanner_requests_total{{route=\"/v1/scan\",status=\"200\",code=\"\"}} {good}"));
}
