//! The pipe between a front and its worker. What a hostile worker writes is refused or is a sound answer to the job that
//! was asked; what a hostile front writes is refused or answered; and what an honest worker answers to any job that a
//! front can make is taken.
#![no_main]

use std::{
    io::{self, Read},
    sync::LazyLock,
};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Limits;
use scanner_fuzz::{held, limits};
use scanner_worker::{
    Answer, Bench, ScanFormat, ScanJob, Setup, TextJob, answer_alone, scan_alone, texts_alone, work_alone,
};
use serde_json::{Value, json};

static BENCH: LazyLock<Bench> =
    LazyLock::new(|| Bench::new(&Setup { limits: limits(), ..Setup::default() }).expect("the rules that ship"));

#[derive(Arbitrary, Debug)]
enum Made<'a> {
    /// Bytes from a worker that was taken over.
    Worker(&'a [u8]),
    /// An answer that is well formed, with lies where something is given.
    Answer {
        number: Option<u8>,
        decision: Option<&'a str>,
        said: Option<&'a str>,
        size: Option<u64>,
        audience: Option<u8>,
        path: &'a str,
        bytes: &'a [u8],
        lengths: Option<[i8; 3]>,
        output: Option<&'a str>,
        receipt: Option<&'a str>,
    },
    /// Bytes from a front of another version.
    Front(&'a [u8]),
    /// A job, and into which pieces the pipe cuts it.
    Job { bytes: &'a [u8], kind: &'a str, name: Option<&'a str>, format: u8, release: u8, watch: &'a str, pieces: u8 },
    /// Lines, in one job and in two.
    Lines { lines: &'a [u8], cut: u16 },
}

/// A pipe that gives so many bytes at a time.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.1.max(1));
        self.0.read(&mut buffer[..most])
    }
}

fn job() -> ScanJob {
    let mut job = ScanJob::new(&b"hello"[..]);
    job.release = vec!["model".to_owned()];
    job
}

/// What the front relies on in an answer that it took.
fn sound(answer: &Answer, job: &ScanJob) {
    if answer.refusal.is_some() && answer.output.is_empty() {
        return;
    }
    let decision = answer.decision.expect("a scan is decided");
    assert!(!answer.receipt.trim_end_matches('\n').contains(['\n', '\r']));
    if job.format == ScanFormat::Json {
        let verdict: Value = serde_json::from_str(&answer.output).expect("a verdict");
        assert_eq!(verdict["decision"], decision.name());
        assert_eq!(verdict["source"]["size"], job.bytes.len());
    }
    for released in &answer.releases {
        assert!(job.release.contains(&released.audience), "nobody asked for {}", released.audience);
        for kept in released.whole.iter().chain(&released.files) {
            let is_flat = !kept.path.contains("..") && !kept.path.starts_with('/');
            assert!(is_flat && kept.path.matches('/').count() <= 1, "{}", kept.path);
        }
    }
}

fuzz_target!(|made: Made<'_>| {
    LazyLock::force(&BENCH);
    match made {
        Made::Worker(bytes) => {
            let job = job();
            let taken = held(|| (answer_alone(&mut &*bytes, 1, &job), Limits::default()));
            taken.iter().for_each(|answer| sound(answer, &job));
        }
        Made::Answer { number, decision, said, size, audience, path, bytes, lengths, output, receipt } => {
            let job = job();
            let decision = decision.unwrap_or("block");
            let verdict = json!({
                "schema": "scanner.verdict/v1",
                "decision": said.unwrap_or(decision),
                "source": { "size": size.unwrap_or(5) },
            });
            let output = output.map_or_else(|| verdict.to_string(), str::to_owned);
            let parts: [&[u8]; 3] = [output.as_bytes(), receipt.unwrap_or("{}").as_bytes(), bytes];
            let told = parts
                .iter()
                .zip(lengths.unwrap_or_default())
                .map(|(part, lie)| (part.len() as i64 + i64::from(lie)).max(0));
            let audience = ["model", "page", ""][usize::from(audience.unwrap_or(0)) % 3];
            let head = json!({
                "number": number.unwrap_or(1),
                "decision": decision,
                "complete": true,
                "refusal": null,
                "wants": [],
                "counts": { "provider": null, "would_be": null, "findings": [], "gaps": [], "engines": [] },
                "releases": [{ "audience": audience, "manifest": "", "whole": { "path": path, "headers": [] }, "files": [] }],
                "parts": told.collect::<Vec<_>>(),
            });
            let head = head.to_string();
            let body = parts.concat();
            let frame =
                [&(head.len() as u64).to_le_bytes()[..], &(body.len() as u64).to_le_bytes(), head.as_bytes(), &body];
            if let Ok(answer) = answer_alone(&mut frame.concat().as_slice(), 1, &job) {
                sound(&answer, &job);
            }
        }
        Made::Front(bytes) => {
            let _ = held(|| (work_alone(&mut &*bytes, &BENCH), Limits::default()));
        }
        Made::Job { bytes, kind, name, format, release, watch, pieces } => {
            let mut job = ScanJob::new(bytes.to_vec());
            job.kind = ["auto", "file", "text", kind][kind.len() % 4].to_owned();
            job.name = name.map(str::to_owned);
            job.watch.extend((!watch.is_empty()).then(|| watch.to_owned()));
            job.format = match format % 4 {
                0 => ScanFormat::Human { color: format > 127 },
                1 => ScanFormat::Sarif,
                2 => ScanFormat::Packet,
                _ => ScanFormat::Json,
            };
            job.release = job.audiences.iter().take(usize::from(release) % 5).cloned().collect();
            let asked = scan_alone(7, &job);
            let written = work_alone(&mut Pieces(&asked, usize::from(pieces)), &BENCH).expect("a job is a job");
            assert_eq!(
                written,
                work_alone(&mut &*asked, &BENCH).expect("a job is a job"),
                "the pieces of a pipe count"
            );
            let answer = answer_alone(&mut Pieces(&written, usize::from(pieces)), 7, &job);
            sound(&answer.expect("an honest answer is taken"), &job);
            assert!(answer_alone(&mut &*written, 8, &job).is_err(), "an answer to another job");
        }
        Made::Lines { lines, cut } => {
            let answered = |lines: &[u8], first: u64| {
                let audiences = vec!["model".to_owned()];
                let policy = "default".to_owned();
                let job = TextJob { lines: lines.to_vec().into(), first, policy, audiences, now: None };
                let written = work_alone(&mut &*texts_alone(1, &job), &BENCH).expect("a job is a job");
                // The head, then the lines, then a receipt of nothing.
                let head = u64::from_le_bytes(written[..8].try_into().expect("eight bytes"));
                written[16 + head as usize..].to_vec()
            };
            let ends = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            let ends: Vec<usize> = ends.collect();
            let Some(cut) = ends.get(usize::from(cut) % ends.len().max(1)).copied() else { return };
            let (first, second) = lines.split_at(cut);
            let count = first.iter().filter(|byte| **byte == b'\n').count() as u64;
            let in_two = [answered(first, 1), answered(second, 1 + count)].concat();
            assert_eq!(answered(lines, 1), in_two);
        }
    }
});
