//! `scanner sniff`: what type files are, by their bytes.

use std::io::{self, Write};

use scanner_core::Limits;
use scanner_worker::{Setup, SniffFormat, SniffJob, Worker};

use crate::{Exit, Failure, args, inputs, problem::say};

pub(crate) fn run(args: &args::SniffArgs) -> Result<Exit, Failure> {
    let mut worker =
        if args.no_isolation { Worker::without_isolation(Setup::default()) } else { Worker::new(Setup::default()) };
    let format = match args.format {
        args::SniffFormat::Human => SniffFormat::Human,
        args::SniffFormat::Tsv => SniffFormat::Tsv,
        args::SniffFormat::Json => SniffFormat::Json,
    };
    let limits = Limits::default();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut exit = Exit::Good;
    for place in inputs::places(&args.paths) {
        let read = place.and_then(|place| place.read(&limits).map(|bytes| (place.shown, bytes)));
        let (name, bytes) = match read {
            Ok(read) => read,
            Err(problem) => {
                say(&format!("scanner: {problem}"));
                exit = Exit::Unreadable;
                continue;
            }
        };
        let answer = worker.sniff(SniffJob { bytes: bytes.into(), name, format });
        match answer.refusal {
            None => writeln!(out, "{}", answer.output)?,
            Some((_, message)) => {
                say(&format!("scanner: {message}"));
                exit = Exit::Unreadable;
            }
        }
    }
    out.flush()?;
    Ok(exit)
}
