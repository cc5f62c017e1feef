//! The command, run as its users run it.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

/// What a run of the command came to.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// What it printed.
    pub out: String,
    /// What it said.
    pub err: String,
}

impl Ran {
    /// The lines of standard output as JSON.
    ///
    /// # Panics
    /// When one is none.
    #[allow(clippy::panic, reason = "a test that fails")]
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect()
    }
}

/// Runs a program in a folder, with that on its standard input.
///
/// # Panics
/// When it cannot be run, or ends by a signal.
#[allow(clippy::unwrap_used, reason = "a test that fails")]
pub fn run_program(program: &str, folder: &Path, args: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let done = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}
