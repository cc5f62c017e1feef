//! Whatever happens to a worker, there is a verdict, and it is `block`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, Instant},
};

use scanner_core::{Decision, Limits, Resource};
use scanner_worker::{Engine, Isolation, Landlock, ScanJob, Setup, TextJob, Worker};
use serde_json::Value;

/// A worker whose executable does that deed.
fn evil(deed: &str, folder: &Path, limits: Limits) -> Worker {
    let executable = folder.join(deed);
    symlink(env!("CARGO_BIN_EXE_evil-worker"), &executable).unwrap();
    Worker::new(Setup { limits, executable: Some(executable), start: Duration::from_secs(3), ..Setup::default() })
}

#[track_caller]
fn check(deed: &str, reason: &str, detail: &str) {
    rounds(&["first", "started again"], 30, deed, reason, detail);
}

#[track_caller]
fn rounds(rounds: &[&str], wall: u64, deed: &str, reason: &str, detail: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = evil(deed, folder.path(), Limits::default().with(Resource::Wall, wall));
    for round in rounds {
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
    for deed in ["hangs", "loops"] {
        rounds(&["once"], 2, deed, "timeout", "no answer within 2 s: the worker was killed");
    }
    for deed in ["never-reads", "never-ready"] {
        rounds(&["once"], 2, deed, "timeout", "the worker was not ready within 3 s of its start");
    }
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn a_worker_that_breaks_the_protocol_is_a_verdict() {
    for deed in ["garbage", "huge", "not-json", "not-a-decision", "lies-about-size"] {
        check(deed, "worker_died", "the worker died: exit code 0");
    }
    check("half", "worker_died", "the worker died: exit code 0");
}

#[test]
fn what_is_said_unasked_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = evil("answers-before", folder.path(), Limits::default());
    let first = worker.scan(ScanJob::new(&b"hello"[..]));
    assert_eq!(first.decision, Some(Decision::Allow));
    // The second answer waits in the pipe, right in number and size.
    let second = worker.scan(ScanJob::new(&b"world"[..]));
    assert!(second.death.is_none());
    assert_ne!(first.wants, second.wants, "another process was asked");
}

#[test]
fn memory_has_an_end() {
    for deed in ["allocates", "leaks"] {
        check(deed, "limit:memory", "the worker ran out of memory");
    }
}

/// What a hijacked worker tries ends it at once: there is no error for it to work around.
#[test]
fn what_scanning_does_not_need_ends_the_worker() {
    if scanner_isolation().lacks().is_some() {
        return;
    }
    for deed in ["forks", "connects", "reads-a-file", "writes-a-file", "kills", "sleeps"] {
        check(deed, "worker_died", "the worker made a system call that scanning does not need");
    }
}

/// Each fence holds where the others are down.
#[test]
fn fences_hold_alone() {
    const DONE: &str = "the worker died: exit code 0";
    const REFUSED: &str = "the worker died: exit code 42";
    for deed in ["forks", "connects", "reads-a-file", "kills"] {
        check(&format!("nothing:{deed}"), "worker_died", DONE);
    }
    // No descriptor is left for anything. (The limit on processes does not bind root, under whom tests may run.)
    for deed in ["connects", "reads-a-file", "writes-a-file"] {
        check(&format!("limits:{deed}"), "worker_died", REFUSED);
    }
    if scanner_isolation().landlock == Landlock::Whole {
        for deed in ["forks", "connects", "reads-a-file", "writes-a-file", "kills"] {
            check(&format!("landlock:{deed}"), "worker_died", REFUSED);
        }
    }
}

fn scanner_isolation() -> Isolation {
    let folder = tempfile::tempdir().unwrap();
    evil("serves", folder.path(), Limits::default()).start().unwrap()
}

#[test]
fn where_a_fence_is_missing_strict_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("nothing:answers");
    symlink(env!("CARGO_BIN_EXE_evil-worker"), &executable).unwrap();
    let setup = |strict| Setup { executable: Some(executable.clone()), strict, ..Setup::default() };
    let mut worker = Worker::new(setup(false));
    assert_eq!(worker.start().unwrap().lacks(), Some("landlock and seccomp"));
    let answer = Worker::new(setup(true)).scan(ScanJob::new(&b"hello"[..]));
    assert_eq!(answer.decision, Some(Decision::Block));
    assert_eq!(answer.death.unwrap().detail, "this kernel lacks landlock and seccomp, and isolation is strict");
}

#[test]
fn a_worker_scans_as_this_process_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut inside = Worker::without_isolation(Setup::default());
    let mut outside = evil("serves", folder.path(), Limits::default());
    for case in scanner_tests::cases() {
        let mut job = ScanJob::new(case.bytes);
        job.name = Some(case.file_name);
        let (inside, outside) = (inside.scan(job.clone()), outside.scan(job));
        assert_eq!(inside.output, outside.output, "{}", case.name);
        assert_eq!(inside.receipt, outside.receipt, "{}", case.name);
    }
}

#[test]
fn engines_are_heard_alive_or_dead() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine { name: "av".to_owned(), answer: "found: X".to_owned(), ..Engine::default() };
    for (deed, died) in [("serves", false), ("aborts", true)] {
        let mut worker = evil(deed, folder.path(), Limits::default());
        let answer = worker.scan_beside(ScanJob::new(&b"hello"[..]), || vec![engine.clone()]);
        assert_eq!(answer.death.is_some(), died, "{deed}");
        let verdict: Value = serde_json::from_str(&answer.output).unwrap();
        assert_eq!(verdict["findings"][0]["category"], "malware.signature", "{deed}: {}", answer.output);
        assert_eq!(verdict["engines"][0]["answer"], "found: X");
        assert_eq!(verdict["decision"], "block");
    }
    // A job that is refused has asked nobody, and the next one is not confused by that.
    let folder = tempfile::tempdir().unwrap();
    let mut worker = evil("serves", folder.path(), Limits::default());
    let mut refused = ScanJob::new(&b"hello"[..]);
    refused.policy = "none".to_owned();
    assert_eq!(worker.scan_beside(refused, || vec![engine.clone()]).refusal.unwrap().0, "unknown_policy");
    assert_eq!(worker.scan(ScanJob::new(&b"hello"[..])).decision, Some(Decision::Allow));
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
