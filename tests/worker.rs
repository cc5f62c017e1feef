//! Whatever happens to a worker, there is a verdict, and it is `block`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, Instant},
};

use scanner_core::{Decision, Limits, Resource};
use scanner_worker::{ScanJob, Setup, TextJob, Worker};
use serde_json::Value;

/// A worker whose executable does that deed.
fn evil(deed: &str, folder: &Path, limits: Limits) -> Worker {
    let executable = folder.join(deed);
    symlink(env!("CARGO_BIN_EXE_evil-worker"), &executable).unwrap();
    Worker::new(Setup { limits, executable: Some(executable), start: Duration::from_secs(3), ..Setup::default() })
}

#[track_caller]
fn check(deed: &str, reason: &str, detail: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = evil(deed, folder.path(), Limits::default().with(Resource::Wall, 2));
    for round in ["first", "started again"] {
        let mut job = ScanJob::new(&b"hello"[..]);
        job.name = Some("a.txt".to_owned());
        let answer = worker.scan(job);
        assert_eq!(answer.decision, Some(Decision::Block), "{deed}, {round}");
        assert!(!answer.complete && answer.refusal.is_none());
        let verdict: Value = serde_json::from_str(&answer.output).unwrap();
        assert_eq!(verdict["gaps"][0]["reason"], reason, "{deed}, {round}: {}", verdict["gaps"]);
        assert_eq!(verdict["gaps"][0]["detail"], detail, "{deed}, {round}");
        assert_eq!(verdict["source"]["sha256"], scanner_core::sha256_hex(b"hello"), "the input is named all the same");
        assert!(!answer.output.contains("hunter2"));
    }
}

#[test]
fn a_worker_that_exits_is_a_verdict() {
    check("exits", "worker_died", "the worker died: exit code 7");
}

#[test]
fn a_worker_that_aborts_is_a_verdict() {
    check("aborts", "worker_died", "the worker died: signal 6");
}

#[test]
fn a_worker_that_panics_is_a_verdict_without_its_message() {
    check("panics", "worker_died", "the worker died: exit code 101");
}

#[test]
fn a_worker_that_overflows_its_stack_is_a_verdict() {
    check("overflows", "worker_died", "the worker died: signal 6");
}

#[test]
fn a_worker_that_hangs_is_a_verdict_in_time() {
    let started = Instant::now();
    check("hangs", "timeout", "no answer within 2 s: the worker was killed");
    for deed in ["never-reads", "never-ready"] {
        check(deed, "timeout", "the worker was not ready within 3 s of its start");
    }
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn a_worker_that_breaks_the_protocol_is_a_verdict() {
    const BROKE: &str = "the worker died: exit code 0";
    for deed in ["garbage", "huge", "half", "not-json", "not-a-decision", "lying-parts"] {
        check(deed, "worker_died", BROKE);
    }
}

#[test]
fn a_worker_that_is_not_there_is_a_verdict() {
    let setup = Setup { executable: Some("/nowhere/scanner".into()), ..Setup::default() };
    let answer = Worker::new(setup).scan(ScanJob::new(&b"hello"[..]));
    assert_eq!(answer.decision, Some(Decision::Block));
    assert!(answer.output.contains("no worker could be started"), "{}", answer.output);
}

#[test]
fn each_line_of_text_is_answered_when_the_worker_dies() {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = evil("aborts", folder.path(), Limits::default());
    let answer = worker.texts(TextJob {
        lines: (&b"{\"id\":1,\"text\":\"a\"}\n\n{\"id\":2,\"text\":\"b\"}\n"[..]).into(),
        first: 10,
        policy: "default".to_owned(),
        audiences: vec!["model".to_owned()],
        now: None,
    });
    let lines: Vec<Value> = answer.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for (line, number) in lines.iter().zip([10, 12]) {
        assert_eq!((&line["line"], &line["decision"]), (&number.into(), &"block".into()));
        assert_eq!(line["gaps"][0]["reason"], "worker_died");
    }
}
