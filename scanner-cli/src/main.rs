//! The `scanner` command. It reads inputs and prints answers; everything that decides is in `scanner-core`, and hostile
//! bytes are parsed by a worker: this very executable, started again.

mod args;
mod inputs;
mod keys;
mod policy;
mod problem;
mod receipt;
mod release;
mod replay;
mod review;
mod reviews;
mod rules;
mod scan;
mod serve;
mod sniff;
mod text;

use std::{io, process::ExitCode};

use clap::Parser;

use crate::{
    args::{Cli, Command},
    problem::Usage,
};

/// How the command ends (CONTRACT §1). 2 wins over 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing to say against it.
    Good,
    /// Something at or above `--fail-on`, or not seen under `--require-complete`.
    Found,
    /// An input could not be read, or is not what `--as` says.
    Unreadable,
    /// Receipts only: unsigned, or of a foreign version.
    Unsigned,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Good => 0,
            Exit::Found => 1,
            Exit::Unreadable => 2,
            Exit::Unsigned => 3,
        })
    }
}

/// The command line is wrong (`EX_USAGE` of sysexits).
const USAGE: u8 = 64;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == scanner_worker::WORKER_ARGUMENT) {
        return scanner_worker::serve().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == scanner_worker::LETTERS_ARGUMENT) {
        return scanner_worker::launch().into();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be done about a closed terminal.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match run(cli.command) {
        Ok(exit) => exit.into(),
        // The reader went away: as if the pipe had ended us.
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(141),
        Err(Failure::Io(error)) => {
            problem::say(&format!("scanner: {error}"));
            Exit::Unreadable.into()
        }
        Err(Failure::Usage(usage)) => {
            problem::say(&format!("scanner: {usage}"));
            ExitCode::from(USAGE)
        }
    }
}

/// Why the command could not do its work at all.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Reading or writing broke.
    Io(io::Error),
    /// The command line asks for something that is not there.
    Usage(Usage),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Usage> for Failure {
    fn from(usage: Usage) -> Self {
        Self::Usage(usage)
    }
}

fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Scan(args) => scan::run(&args),
        Command::Sniff(args) => sniff::run(&args),
        Command::Text(args) => text::run(&args),
        Command::Rules(command) => rules::run(&command),
        Command::Policy(command) => policy::run(&command),
        Command::Receipt(command) => receipt::run(&command),
        Command::Review(command) => review::run(&command),
        Command::Serve(args) => serve::run(&args),
    }
}
