//! What the kernel says of the workers of a running service.

use std::fs;

use crate::service::{Service, refuses};

fn status(pid: impl std::fmt::Display, key: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix(&format!("{key}:"))).unwrap().trim().to_owned()
}

#[test]
fn workers_hold_nothing_but_their_pipes() {
    // A descriptor that a careless starter left open: it reaches the service, and must not reach a worker.
    let leak = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let service = Service::start("[workers]\ncount = 1\n");
    service.scan("audience=page", b"hello").is_verdict();
    let isolation = service.get("/v1/capabilities").json()["isolation"].clone();
    assert_eq!(isolation["strict"], false);
    let workers = service.workers();
    assert!(!workers.is_empty());
    for pid in workers {
        assert_eq!(status(pid, "NoNewPrivs"), "1");
        assert_eq!(status(pid, "Threads"), "1");
        assert_eq!(status(pid, "Seccomp"), if isolation["seccomp"] == true { "2" } else { "0" });
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        for (name, most) in
            [("Max core file size", "0"), ("Max open files", "3"), ("Max file size", "0"), ("Max processes", "0")]
        {
            let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
            let words: Vec<&str> = line[name.len()..].split_whitespace().collect();
            assert_eq!(words[..2], [most, most], "{line}");
        }
        // Only root may look into a process that is not dumpable.
        if let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) {
            let mut open: Vec<String> = open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            open.sort();
            assert_eq!(open, ["0", "1", "2"]);
        }
        assert!(fs::read(format!("/proc/{pid}/environ")).unwrap_or_default().is_empty());
    }
    let told = if isolation["landlock"] == "none" || isolation["seccomp"] == false {
        "this kernel lacks something"
    } else {
        "workers are isolated"
    };
    service.logs(told);
}

#[test]
fn strict_runs_where_nothing_is_missing() {
    let lax = Service::start("").get("/v1/capabilities").json()["isolation"].clone();
    if lax["landlock"] == "none" || lax["seccomp"] == false {
        let (code, said) = refuses("[workers]\nstrict = true\n");
        assert_eq!(code, Some(64));
        assert!(said.contains("and isolation is strict"), "{said}");
    } else {
        let service = Service::start("[workers]\nstrict = true\n");
        assert_eq!(service.get("/v1/capabilities").json()["isolation"]["strict"], true);
        service.scan("audience=page", b"hello").is_verdict();
    }
}

/// An upgrade puts another file in the place of this one while the service still runs.
#[test]
fn workers_are_of_the_build_of_their_service() {
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("scanner-http");
    fs::copy(env!("CARGO_BIN_EXE_scanner-http"), &executable).unwrap();
    let service = Service::start_from(&executable, "[workers]\ncount = 1\n");
    fs::remove_file(&executable).unwrap();
    fs::write(&executable, "#!/bin/false\n").unwrap();
    service.signal_workers(rustix::process::Signal::KILL);
    // The first may meet a worker that is just dying.
    let decisions: Vec<_> =
        (0..3).map(|round| service.scan("audience=page", format!("hello {round}").as_bytes()).is_verdict()).collect();
    assert_eq!(decisions[2]["decision"], "allow", "{decisions:?}");
}
