//! The pool: one worker for one tenant, whole again after every death, and nothing tried for ever.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use scanner_core::Decision;
use scanner_worker::{Answer, Engine, Kit, Pool, PoolSize, ScanJob, Setup};
use tempfile::TempDir;

const SIZE: PoolSize = PoolSize { workers: 2, spare: 1, jobs: 5 };

/// A pool whose workers do that deed. What is at its path can be exchanged.
fn pool(deed: &str, size: PoolSize) -> (Pool, PathBuf, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join(deed);
    symlink(env!("CARGO_BIN_EXE_evil-worker"), &executable).unwrap();
    let setup = Setup { executable: Some(executable.clone()), ..Setup::default() };
    (Pool::start(Kit::new(setup), size).unwrap(), executable, folder)
}

fn scan(pool: &Pool, tenant: &str, bytes: &'static [u8]) -> Answer {
    pool.scan(tenant, ScanJob::new(bytes), None::<fn() -> Vec<Engine>>)
}

#[track_caller]
fn until(pool: &Pool, workers: usize) {
    let until = Instant::now() + Duration::from_secs(30);
    while pool.workers() != workers {
        assert!(Instant::now() < until, "{} workers: {:?}", pool.workers(), pool.isolation());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_worker_serves_one_tenant_and_only_so_many_jobs() {
    let (pool, _, _folder) = pool("answers", SIZE);
    until(&pool, 3);
    let mut served: Vec<(String, String)> = Vec::new();
    for round in 0..24 {
        let tenant = format!("t{}", round % 4);
        let answer = scan(&pool, &tenant, b"hello");
        served.push((answer.wants[0].clone(), tenant));
    }
    for (process, tenant) in &served {
        let others = served.iter().filter(|(other, _)| other == process);
        assert!(others.clone().all(|(_, other)| other == tenant), "{process} served two tenants: {served:?}");
        assert!(others.count() <= 5, "{process} was not thrown away: {served:?}");
    }
    // One tenant alone keeps its worker until that is worn out.
    let alone: BTreeSet<String> = (0..10).map(|_| scan(&pool, "alone", b"hello").wants[0].clone()).collect();
    assert!((2..=3).contains(&alone.len()), "{alone:?}");
    assert!(pool.workers() <= 3);
}

#[test]
fn an_input_that_kills_is_tried_twice_for_each_tenant() {
    let (pool, executable, folder) = pool("aborts", PoolSize { spare: 0, ..SIZE });
    for _ in 0..2 {
        let answer = scan(&pool, "a", b"deadly");
        assert_eq!(
            (answer.decision, answer.death.unwrap().detail),
            (Some(Decision::Block), "the worker died: signal 6".to_owned())
        );
    }
    // From here on workers are honest.
    fs::remove_file(&executable).unwrap();
    fs::write(&executable, format!("#!/bin/sh\nexec {}/serves \"$@\"\n", folder.path().display())).unwrap();
    symlink(env!("CARGO_BIN_EXE_evil-worker"), folder.path().join("serves")).unwrap();
    fs::set_permissions(&executable, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let answer = scan(&pool, "a", b"deadly");
    assert_eq!((answer.decision, answer.death.is_some()), (Some(Decision::Block), true), "not tried again");
    let answer = scan(&pool, "b", b"deadly");
    assert_eq!((answer.decision, answer.death), (Some(Decision::Allow), None), "another tenant's own input");
    assert_eq!(scan(&pool, "a", b"harmless").decision, Some(Decision::Allow));
    pool.change(Kit::new(Setup { executable: Some(executable), ..Setup::default() }));
    assert_eq!(scan(&pool, "a", b"deadly").decision, Some(Decision::Allow), "other rules may not die of it");
}

#[test]
fn what_dies_idle_is_replaced_before_anybody_asks() {
    let (pool, _, _folder) = pool("answers", SIZE);
    until(&pool, 3);
    let process = scan(&pool, "a", b"hello").wants[0].parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    // Until its end has come through, it may still be given a job: that one gets a verdict about a death.
    let stat = format!("/proc/{process}/stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        thread::sleep(Duration::from_millis(1));
    }
    until(&pool, 3);
    let answer = scan(&pool, "a", b"hello");
    assert!(answer.death.is_none());
    assert_ne!(answer.wants[0], process.to_string());
}

#[test]
fn a_pool_without_workers_answers_and_recovers() {
    let (pool, executable, folder) = pool("answers", SIZE);
    fs::rename(&executable, folder.path().join("away")).unwrap();
    pool.change(Kit::new(Setup { executable: Some(executable.clone()), ..Setup::default() }));
    let answer = scan(&pool, "a", b"hello");
    assert_eq!(answer.decision, Some(Decision::Block));
    assert!(answer.death.unwrap().detail.starts_with("no worker could be started"));
    fs::rename(folder.path().join("away"), &executable).unwrap();
    until(&pool, 3);
    assert_eq!(scan(&pool, "a", b"hello").decision, Some(Decision::Allow));
}

#[test]
fn a_pool_takes_another_kit_between_scans() {
    let (pool, executable, _folder) = pool("answers", SIZE);
    until(&pool, 3);
    let before = scan(&pool, "a", b"hello").wants;
    pool.change(Kit::new(Setup { executable: Some(executable), ..Setup::default() }));
    assert_ne!(scan(&pool, "a", b"hello").wants, before);
}
