//! Long forms of the faults, for `.ci/long faults`: real times, real numbers, bounded all the same.

use std::{
    io::Read,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, Signal, prlimit};

use crate::service::{Client, Service};

/// Milliseconds of the slowest in a hundred of so many small scans.
fn slowest_of(service: &Service, count: usize) -> u128 {
    let mut client = service.connect();
    let mut took: Vec<u128> = (0..count)
        .map(|_| {
            let started = Instant::now();
            client.ask("POST /v1/scan?audience=page HTTP/1.1", b"hello").is_verdict();
            started.elapsed().as_millis()
        })
        .collect();
    took.sort_unstable();
    took[count * 99 / 100]
}

#[test]
#[ignore = "long: .ci/long faults"]
fn heads_that_do_not_come_by_the_hundred() {
    let service = Service::start("");
    let idle = slowest_of(&service, 300);
    let before = service.status("VmRSS");
    let started = Instant::now();
    let mut slow: Vec<(TcpStream, Option<Duration>)> =
        (0..500).map(|_| (TcpStream::connect(service.address).unwrap(), None)).collect();
    for (stream, _) in &slow {
        stream.set_nonblocking(true).unwrap();
    }
    let mut busy = 0;
    let mut round = 0;
    while slow.iter().any(|(_, closed)| closed.is_none()) && started.elapsed() < Duration::from_secs(30) {
        for (stream, closed) in slow.iter_mut().filter(|(_, closed)| closed.is_none()) {
            let sent = std::io::Write::write(stream, b"P");
            let read = stream.read(&mut [0; 512]);
            if matches!(read, Ok(0))
                || read.is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock)
                || sent.is_err()
            {
                *closed = Some(started.elapsed());
            }
        }
        if round == 2 {
            busy = slowest_of(&service, 100);
        }
        round += 1;
        thread::sleep(Duration::from_secs(1));
    }
    let grown = service.status("VmRSS").saturating_sub(before);
    let times: Vec<f64> = slow.iter().map(|(_, closed)| closed.expect("closed").as_secs_f64()).collect();
    let (first, last) = times.iter().fold((f64::MAX, 0.0_f64), |(low, high), time| (low.min(*time), high.max(*time)));
    println!(
        "closed after {first:.1} to {last:.1} s; slowest in a hundred {idle} ms idle, {busy} ms under it; grown {grown} kB"
    );
    // The head's 5 s, and how coarsely this test looks.
    assert!(first >= 4.0 && last <= 9.0);
    assert!(grown < 50_000, "{grown} kB");
}

#[test]
#[ignore = "long: .ci/long faults"]
fn bodies_that_stall_or_trickle_in_real_time() {
    let service = Service::start("[body]\nmemory = \"1KiB\"\nfolder = \"FOLDER\"\n");
    let head = b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n";
    let mut stalls = service.connect();
    stalls.write(head);
    stalls.write(&[b'a'; 4096]);
    let mut trickles = service.connect();
    trickles.write(head);
    let started = Instant::now();
    let mut after = None;
    thread::scope(|scope| {
        let stalled = scope.spawn(|| {
            stalls.answer().unwrap().is_error(408, "slow_body");
            started.elapsed()
        });
        while started.elapsed() < Duration::from_secs(25) && trickles.write(b"aaaaaaaaaa") {
            thread::sleep(Duration::from_secs(1));
            if after.is_none() && service.sum("scanner_requests_total", "408") == 2 {
                after = Some(started.elapsed());
                break;
            }
        }
        let stalled = stalled.join().unwrap();
        println!("a stall ends after {stalled:?}, a trickle after {after:?}");
        assert!((9..=13).contains(&stalled.as_secs()), "{stalled:?}");
    });
    assert!((14..=20).contains(&after.unwrap().as_secs()), "{after:?}");
    trickles.answer().unwrap().is_error(408, "slow_body");
    service.until("scanner_uploads 0");
}

#[test]
#[ignore = "long: .ci/long faults"]
fn a_thousand_uploads_at_once() {
    let service = Service::start("[workers]\nqueue = 16\n");
    let body: Vec<u8> = b"a line of an honest log\n".iter().copied().cycle().take(1 << 20).collect();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let asking: Vec<_> = (0..1000).map(|_| scope.spawn(|| service.scan("audience=page", &body).status)).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|one| **one == status).count() as u64;
    println!("1000 uploads of 1 MiB: {} verdicts, {} refused", count(200), count(503));
    assert_eq!(count(200) + count(503), 1000, "{statuses:?}");
    assert_eq!(service.sum("scanner_scans_total", ""), count(200));
    assert_eq!(service.sum("scanner_requests_total", "status=\"503\",code=\"overloaded\""), count(503));
    service.scan("audience=page", b"hello").is_verdict();
}

#[test]
#[ignore = "long: .ci/long faults"]
fn few_descriptors_and_many_clients() {
    let service = Service::start("[connections]\nhead = \"2s\"\nidle = \"2s\"\n");
    let few = Rlimit { current: Some(256), maximum: Some(256) };
    prlimit(Some(service.pid()), Resource::Nofile, few).unwrap();
    let clients: Vec<Client> = (0..400).map(|_| service.connect()).collect();
    thread::sleep(Duration::from_secs(1));
    // The admin listener waits for a descriptor like everybody, and gets one when the idle ones end.
    drop(clients);
    for _ in 0..20 {
        service.scan("audience=page", b"hello").is_verdict();
    }
    assert_eq!(service.admin("/healthz").status, 200);
}

#[test]
#[ignore = "long: .ci/long faults"]
fn the_end_during_two_hundred_requests() {
    let mut service =
        Service::start("[workers]\nqueue = 300\n[body]\nuploads = 300\n[journal]\nfolder = \"FOLDER/receipts\"\n");
    let body: Vec<u8> = b"a line of an honest log\n".iter().copied().cycle().take(256 << 10).collect();
    let mut clients: Vec<Client> = (0..200).map(|_| service.connect()).collect();
    for client in &mut clients {
        let head = format!("POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
        client.write(head.as_bytes());
        client.write(&body);
    }
    service.signal(Signal::TERM);
    let answers: Vec<u16> = clients.iter_mut().map(|client| client.answer().expect("an answer").status).collect();
    assert!(answers.iter().all(|status| *status == 200), "{answers:?}");
    let started = Instant::now();
    assert_eq!(service.ended(Duration::from_secs(30)).code(), Some(0));
    println!("200 requests answered, ended {:?} after the last", started.elapsed());
    assert_eq!(scanner_http::journal::check(&service.folder().join("receipts")).unwrap().lines, 200);
}

/// Under libfaketime, which `.ci/long faults` installs: the clock goes an hour ahead and two back, and nothing times out.
#[test]
#[ignore = "long: .ci/long faults"]
fn the_clock_jumps() {
    let library = std::env::var("FAKETIME_LIBRARY").expect("FAKETIME_LIBRARY names libfaketime.so.1");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clock");
    std::fs::write(&file, "+0").unwrap();
    let environment = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME_TIMESTAMP_FILE", file.to_str().unwrap()),
        ("FAKETIME_NO_CACHE", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ];
    let service = Service::start_under("[journal]\nfolder = \"FOLDER/receipts\"\n", &environment);
    for shift in ["+0", "+3600s", "-3600s", "+0", "+86400s"] {
        std::fs::write(&file, shift).unwrap();
        let mut slow = service.connect();
        slow.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
        thread::sleep(Duration::from_millis(300));
        slow.write(b"lo");
        assert_eq!(slow.answer().unwrap().is_verdict()["decision"], "allow", "{shift}");
    }
    let seen = scanner_http::journal::check(&service.folder().join("receipts")).unwrap();
    assert_eq!(seen.lines, 5, "times in the journal never go back");
    println!("the day of the last receipt, a day ahead: {}", seen.day);
}
