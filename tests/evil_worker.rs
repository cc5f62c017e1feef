//! A worker that does what a hijacked or broken one might. What it does is the name it is started under.
#![allow(clippy::unwrap_used, clippy::exit, clippy::panic, clippy::print_stdout, reason = "it is evil")]

use std::{
    io::{Read, Write},
    thread,
    time::Duration,
};

/// Never ends by itself.
#[allow(unconditional_recursion, reason = "the stack is to overflow")]
fn deeper(depth: u64) -> u64 {
    let ballast = std::hint::black_box([depth; 512]);
    deeper(depth + 1) + ballast[usize::try_from(depth % 512).unwrap()]
}

/// Reads one frame and throws it away.
fn frame() {
    let mut prefix = [0; 16];
    std::io::stdin().read_exact(&mut prefix).unwrap();
    let lengths: Vec<u64> = prefix.chunks(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap())).collect();
    let mut rest = Vec::new();
    std::io::stdin().take(lengths.iter().sum()).read_to_end(&mut rest).unwrap();
}

/// Answers with these bytes.
fn say(bytes: &[u8]) {
    std::io::stdout().write_all(bytes).unwrap();
    std::io::stdout().flush().unwrap();
}

/// A frame with this head and body.
fn say_frame(head: &str, body: &str) {
    let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.extend(body.as_bytes());
    say(&bytes);
}

fn main() {
    let name = std::env::args().next().unwrap();
    let deed = name.rsplit('/').next().unwrap();
    if deed == "never-reads" {
        thread::sleep(Duration::from_secs(60));
    }
    frame();
    if deed == "never-ready" {
        thread::sleep(Duration::from_secs(60));
    }
    say_frame("ready", "");
    frame();
    match deed {
        "exits" => std::process::exit(7),
        "aborts" => std::process::abort(),
        "panics" => panic!("with a secret in the message: hunter2"),
        "overflows" => {
            std::hint::black_box(deeper(0));
        }
        "hangs" => thread::sleep(Duration::from_secs(60)),
        "garbage" => say(&[0xff; 4096]),
        "huge" => say(&[0xff; 16]),
        "half" => say(&[8, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        "not-json" => say_frame("{", ""),
        "not-a-decision" => {
            say_frame(
                r#"{"decision":"fine","complete":true,"refusal":null,"wants":[],"counts":{"provider":null,"would_be":null,"findings":[],"gaps":[]},"parts":[0,0]}"#,
                "",
            );
        }
        "lying-parts" => {
            say_frame(
                r#"{"decision":"allow","complete":true,"refusal":null,"wants":[],"counts":{"provider":null,"would_be":null,"findings":[],"gaps":[]},"parts":[9,9]}"#,
                "{}",
            );
        }
        other => panic!("no such deed: {other}"),
    }
}
