//! Disks that are full, workers that are shot, clocks that jump, the end: nothing accepted goes without its answer, and
//! the journal holds what was answered.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, Signal, prlimit};
use scanner_http::journal::check;

use crate::service::{Client, Service};

const JOURNAL: &str = "[journal]\nfolder = \"FOLDER/receipts\"\n";

fn receipts(service: &Service) -> PathBuf {
    service.folder().join("receipts")
}

#[test]
fn every_verdict_has_its_receipt_in_the_journal() {
    let service = Service::start(JOURNAL);
    let mut receipts_of = Vec::new();
    for number in 0..5 {
        let verdict = service.scan("audience=page", format!("hello {number}").as_bytes()).is_verdict();
        receipts_of.push(verdict["receipt"]["sha256"].as_str().unwrap().to_owned());
    }
    service.scan("audience=nobody", b"x").is_error(400, "bad_request");
    let seen = check(&receipts(&service)).unwrap();
    assert_eq!((seen.lines, seen.first), (5, 1));
    let text: String = fs::read_dir(receipts(&service))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for (line, digest) in text.lines().zip(receipts_of) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(scanner_core::sha256_hex(scanner_core::canonical_json(&line["receipt"]).as_bytes()), digest);
    }
}

/// As on a full disk: from some length on, files do not grow.
fn full_at(service: &Service, bytes: Option<u64>) {
    prlimit(Some(service.pid()), Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

#[test]
fn with_a_full_disk_there_is_no_verdict_and_nothing_half_written() {
    let service = Service::start(&format!("{JOURNAL}[body]\nmemory = \"4KiB\"\n"));
    service.scan("audience=page", b"hello").is_verdict();
    let length = |service: &Service| {
        fs::read_dir(receipts(service)).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    let before = length(&service);
    for room in [0, 1, 100] {
        full_at(&service, Some(before + room));
        service.scan("audience=page", b"hello").is_error(507, "no_space");
        assert_eq!(length(&service), before, "with room for {room} bytes");
    }
    // A body that waits in a file is refused before it is scanned; a small one never needed the disk.
    service.scan("audience=page", &[b'a'; 64 * 1024]).is_error(507, "no_space");
    full_at(&service, None);
    service.scan("audience=page", &[b'a'; 64 * 1024]).is_verdict();
    assert_eq!(check(&receipts(&service)).unwrap().lines, 2);
    assert!(service.log().iter().any(|line| line.contains("journal: ")), "{:?}", service.log());
}

#[test]
fn a_service_that_is_killed_loses_no_receipt_and_no_chain() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("[journal]\nfolder = \"{}\"\n", folder.path().display());
    let mut answered = 0;
    for _ in 0..3 {
        let service = Service::start(&config);
        let told = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut client = service.connect();
                    let body = "POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
                    while client.write(body.as_bytes()) && client.answer().is_some_and(|answer| answer.status == 200) {
                        told.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            while told.load(Ordering::Relaxed) < 20 {
                thread::sleep(Duration::from_millis(1));
            }
            service.signal(Signal::KILL);
        });
        answered += told.into_inner() as u64;
    }
    // What was cut off is removed when it goes on. Written and not answered may be one for each client of each round.
    drop(Service::start(&config));
    let kept = check(folder.path()).unwrap().lines;
    assert!((answered..=answered + 12).contains(&kept), "{kept} kept, {answered} answered");
}

#[test]
fn accepted_is_verdicts_and_refusals_while_workers_are_shot_and_the_end_comes() {
    let mut service = Service::start(&format!("{JOURNAL}[workers]\ncount = 2\nqueue = 8\n"));
    let (verdicts, refusals, gone) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let receipts = receipts(&service);
    thread::scope(|scope| {
        for number in 0..24 {
            let (service, verdicts, refusals, gone) = (&service, &verdicts, &refusals, &gone);
            scope.spawn(move || {
                for round in 0..400 {
                    // After the end nobody listens: that request was not accepted.
                    let Ok(stream) = std::net::TcpStream::connect(service.address) else { return };
                    let mut client = Client::of(stream);
                    let body = format!("hello {number} {round}");
                    let head = format!(
                        "POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
                        body.len()
                    );
                    client.write((head + &body).as_bytes());
                    match client.answer() {
                        Some(answer) if answer.status == 200 => {
                            answer.is_verdict();
                            verdicts.fetch_add(1, Ordering::Relaxed);
                        }
                        Some(answer) => {
                            answer.is_error(503, "overloaded");
                            refusals.fetch_add(1, Ordering::Relaxed);
                        }
                        None => {
                            gone.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(100));
            service.signal_workers(Signal::KILL);
        }
        service.until("scanner_ready 1");
        thread::sleep(Duration::from_millis(300));
        service.signal(Signal::TERM);
    });
    let (verdicts, refusals, gone) = (verdicts.into_inner() as u64, refusals.into_inner(), gone.into_inner());
    assert_eq!(service.ended(Duration::from_secs(30)).code(), Some(0));
    assert!(verdicts > 20, "{verdicts} verdicts, {refusals} refusals");
    // Connections that the kernel had taken when the listener closed, one for each client at most.
    assert!(gone <= 24, "{gone} went without an answer, {verdicts} verdicts, {refusals} refusals");
    assert_eq!(check(&receipts).unwrap().lines, verdicts, "{refusals} refusals, {gone} gone");
    let log = service.log();
    let logged = log.iter().filter(|line| line.contains("\"route\":\"/v1/scan\"")).count();
    assert_eq!(logged as u64, verdicts + refusals as u64, "accepted = verdicts + refusals");
}

#[test]
fn bodies_wait_in_files_without_a_name_and_go_with_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&format!("[body]\nmemory = \"1KiB\"\nfolder = \"{}\"\n", folder.path().display()));
    let mut client = service.connect();
    client.write(b"POST /v1/scan?audience=page HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
    client.write(&[b'a'; 100_000]);
    service.until("scanner_uploads 1");
    let is_spooled = || {
        let fds = fs::read_dir(format!("/proc/{}/fd", service.pid())).unwrap();
        fds.flatten().filter_map(|fd| fs::read_link(fd.path()).ok()).any(|to| to.starts_with(folder.path()))
    };
    while !is_spooled() {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a body has a name");
    service.signal(Signal::KILL);
    drop(service);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Time is looked at in one place, for days and the journal; everything else counts from an instant, which no change of
/// the clock moves.
#[test]
fn nothing_but_dates_depends_on_the_clock() {
    let mut named = Vec::new();
    let mut folders =
        vec![scanner_tests::root().join("scanner-http/src"), scanner_tests::root().join("scanner-worker/src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if fs::read_to_string(&path).unwrap().contains("SystemTime::now") {
                named.push(path.file_name().unwrap().to_owned());
            }
        }
    }
    assert_eq!(named, ["scan.rs"]);
}
