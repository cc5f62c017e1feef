//! `scanner review`: the page for the person who decides, and their decision.

use std::{
    fs,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use scanner_core::{Review, Ruling, sign_review, visible};
use scanner_worker::ScanFormat;
use serde_json::Value;

use crate::{
    Exit, Failure,
    args::{ReplayArgs, ReviewArgs, ReviewCommand},
    keys,
    problem::say,
    receipt::{Line, the_only, unreadable},
    replay::{Replay, replay},
    scan,
};

pub(crate) fn run(command: &ReviewCommand) -> Result<Exit, Failure> {
    match command {
        ReviewCommand::Packet { receipt, input, output, with } => packet(receipt, input, output.as_ref(), with),
        ReviewCommand::Approve(args) => decide(args, Ruling::Approve),
        ReviewCommand::Reject(args) => decide(args, Ruling::Reject),
    }
}

/// The receipt to review. Its signature is for `receipt verify`: who reviews looks at the input itself.
fn receipt(path: &Path) -> Result<Value, Exit> {
    match the_only(path) {
        Ok(Line::Receipt { receipt, canonical: true, .. }) => Ok(receipt),
        Ok(Line::Receipt { .. }) => {
            say("scanner: the receipt is not in canonical form, so it was changed");
            Err(Exit::Found)
        }
        Ok(Line::Foreign(why)) => {
            say(&format!("scanner: foreign: {why}"));
            Err(Exit::Unsigned)
        }
        Ok(Line::Review(..)) => Err(unreadable("expected a file with exactly one receipt")),
        Err(message) => Err(unreadable(&message)),
    }
}

fn packet(path: &Path, input: &Path, output: Option<&PathBuf>, with: &ReplayArgs) -> Result<Exit, Failure> {
    let receipt = match receipt(path) {
        Ok(receipt) => receipt,
        Err(exit) => return Ok(exit),
    };
    match replay(with, &receipt, input, ScanFormat::Packet)? {
        Replay::Same(answer) => {
            match output {
                Some(file) => fs::write(file, &answer.output)?,
                None => io::stdout().lock().write_all(answer.output.as_bytes())?,
            }
            Ok(Exit::Good)
        }
        Replay::Other(why) => {
            say(&format!("scanner: the receipt is not of this input as it is scanned now: {why}"));
            Ok(Exit::Found)
        }
        Replay::Unreadable(message) => Ok(unreadable(&message)),
    }
}

fn decide(args: &ReviewArgs, ruling: Ruling) -> Result<Exit, Failure> {
    let key = keys::signing(&args.sign)?;
    let receipt = match receipt(&args.receipt) {
        Ok(receipt) => receipt,
        Err(exit) => return Ok(exit),
    };
    let review = match Review::of_receipt(&receipt, ruling, &args.by, &args.reason, &scan::now()) {
        Ok(review) => review,
        Err(why) => {
            say(&format!("scanner: {why}"));
            return Ok(Exit::Found);
        }
    };
    append(&args.receipt, &sign_review(&review, &key))?;
    let to: Vec<String> = review.audiences.iter().map(|audience| visible(audience)).collect();
    writeln!(io::stdout(), "{} for {}, by key {}", review.ruling.name(), to.join(", "), key.public().id())?;
    Ok(Exit::Good)
}

/// Adds a line to a file whose last one may have no end.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let before = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{before}{line}\n").as_bytes())
}
