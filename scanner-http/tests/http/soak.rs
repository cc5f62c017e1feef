//! Hostile and honest requests for as long as `SOAK_SECONDS` says, for `.ci/long soak`. Every request that was sent whole
//! is answered, and the front ends as small as it was after its first minute.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Signal, kill_process};

use crate::{
    fake_clamd::{CLEAN, Deed, FakeClamd},
    service::{Client, Service},
};

/// Numbers that look like chance and are the same in every run (xorshift64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

/// The cases of the corpus and, where this machine has them, labelled files and samples; and what `SOAK_INPUTS` names.
fn inputs() -> Vec<Vec<u8>> {
    let mut inputs: Vec<Vec<u8>> = scanner_tests::cases().into_iter().map(|case| case.bytes).collect();
    let mut folders: Vec<PathBuf> = scanner_tests::shared()
        .into_iter()
        .flat_map(|shared| [shared.join("corpora/files"), shared.join("corpora/types"), shared.join("samples")])
        .chain(std::env::var_os("SOAK_INPUTS").map(PathBuf::from))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if entry.metadata().is_ok_and(|data| data.len() < 4 << 20) {
                inputs.extend(fs::read(path));
            }
        }
    }
    inputs
}

/// One request; what came of it, in a word.
fn ask(service: &Service, chance: &mut Chance, input: &[u8]) -> String {
    let head = "POST /v1/scan?audience=page,terminal,model,download HTTP/1.1\r\nHost: a\r\n";
    let mut client = service.connect();
    let whole = |client: &mut Client| {
        client.write(format!("{head}Content-Length: {}\r\n\r\n", input.len()).as_bytes());
        client.write(input);
    };
    let way = chance.below(20);
    match way {
        0 => {
            // Goes away in the middle.
            client.write(format!("{head}Content-Length: {}\r\n\r\n", input.len() + 1).as_bytes());
            client.write(input);
            return "went away".to_owned();
        }
        1 => {
            client.write(input);
            client.write(b"\r\n\r\n");
            client.half_close();
        }
        2 => {
            client.write(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
            for chunk in input.chunks(1000) {
                client.write(format!("{:x}\r\n", chunk.len()).as_bytes());
                client.write(chunk);
                client.write(b"\r\n");
            }
            client.write(b"0\r\n\r\n");
        }
        3 => {
            client.write(format!("{head}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", input.len()).as_bytes());
            client.write(input);
        }
        4 => {
            let boundary = "x-boundary-of-the-soak";
            let mut body =
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\r\n").into_bytes();
            if chance.below(2) == 0 {
                body = format!(
                    "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n"
                )
                .into_bytes();
            }
            body.extend(input);
            body.extend(format!("\r\n--{boundary}--\r\n").bytes());
            let kind = format!("Content-Type: multipart/form-data; boundary={boundary}\r\n");
            client.write(format!("{head}{kind}Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            client.write(&body);
        }
        _ => whole(&mut client),
    }
    match client.answer() {
        Some(answer) if answer.status == 200 => format!("200 {}", answer.is_verdict()["decision"].as_str().unwrap()),
        Some(answer) => answer.status.to_string(),
        // What is no HTTP at all need not be answered, only survived.
        None if way == 1 => "no HTTP".to_owned(),
        None => "none".to_owned(),
    }
}

#[test]
#[ignore = "long: .ci/long soak"]
fn hostile_and_honest_for_minutes() {
    let seconds: u64 = std::env::var("SOAK_SECONDS").map_or(60, |seconds| seconds.parse().unwrap());
    let inputs = inputs();
    let fake = FakeClamd::start(CLEAN);
    let service = Service::start(&format!(
        "[clamav]\naddress = \"{}\"\ntotal = \"300ms\"\npause = \"1s\"\n[journal]\nfolder = \"FOLDER/receipts\"\n\
         [workers]\nqueue = 16\njobs = 200\n[connections]\nidle = \"5s\"\n",
        fake.address
    ));
    let (over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcomes = Mutex::new(BTreeMap::<String, u64>::new());
    let mut levels: Vec<(u64, usize)> = Vec::new();
    thread::scope(|scope| {
        for seed in 1..=4_u64 {
            let (service, inputs, over, sent, outcomes) = (&service, &inputs, &over, &sent, &outcomes);
            scope.spawn(move || {
                let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                while !over.load(Ordering::Relaxed) {
                    // Each of them once at first: what the largest of them needs belongs to the level of the first minute.
                    let number = usize::try_from(sent.fetch_add(1, Ordering::Relaxed)).unwrap();
                    let input = if number < inputs.len() { number } else { chance.below(inputs.len()) };
                    let outcome = ask(service, &mut chance, &inputs[input]);
                    *outcomes.lock().unwrap().entry(outcome).or_default() += 1;
                }
            });
        }
        let started = Instant::now();
        let deeds =
            [CLEAN, Deed::Closes, CLEAN, Deed::Silent, CLEAN, Deed::Floods, CLEAN, Deed::Says(b"stream: X FOUND\0")];
        for second in 1.. {
            thread::sleep(Duration::from_secs(second).saturating_sub(started.elapsed()));
            levels.push((service.status("VmRSS"), service.descriptors()));
            fake.now(deeds[usize::try_from(second / 3).unwrap() % deeds.len()]);
            if second % 7 == 0
                && let Some(worker) = service.workers().first()
            {
                let _ = kill_process(*worker, Signal::KILL);
            }
            if second % 20 == 0 {
                service.signal(Signal::HUP);
            }
            if second >= seconds {
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let outcomes = outcomes.into_inner().unwrap();
    let first = (levels.len() / 10).max(levels.len().min(60) / 2).min(levels.len() - 1);
    // The highest of ten seconds at either end: a large input on its way is no growth.
    let highest = |levels: &[(u64, usize)]| {
        (levels.iter().map(|level| level.0).max().unwrap(), levels.iter().map(|level| level.1).max().unwrap())
    };
    let before = highest(&levels[first.saturating_sub(10)..=first]);
    let after = highest(&levels[levels.len().saturating_sub(10)..]);
    println!("{} inputs, {} requests in {seconds} s: {outcomes:?}", inputs.len(), sent.into_inner());
    println!(
        "front: {} kB and {} descriptors after {first} s, {} kB and {} descriptors at the end",
        before.0, before.1, after.0, after.1
    );
    println!("workers that died or were shot: {}", service.sum("scanner_worker_deaths_total", ""));
    assert!(!outcomes.contains_key("none"), "a request without an answer: {outcomes:?}");
    assert!(after.0 * 10 <= before.0 * 11, "memory grew");
    assert!(after.1 * 10 <= before.1 * 11 + 40, "descriptors grew");
    assert!(scanner_http::journal::check(&service.folder().join("receipts")).unwrap().lines > 0);
    service.scan("audience=page", b"hello").is_verdict();
}
