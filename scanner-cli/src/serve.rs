//! `scanner serve`: becomes the service, which is a program of its own so that this one holds no HTTP.

use std::{io, os::unix::process::CommandExt, process::Command};

use crate::{Exit, Failure, args::ServeArgs, problem::Usage};

const PROGRAM: &str = "scanner-http";

/// Comes back only with an error.
pub(crate) fn run(args: &ServeArgs) -> Result<Exit, Failure> {
    // Beside this program first: the two are of one build.
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM)).filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| PROGRAM.into());
    let error = Command::new(&program).args(&args.args).exec();
    if error.kind() == io::ErrorKind::NotFound {
        return Err(
            Usage(format!("{PROGRAM} is not there: cargo install --path {PROGRAM} puts it on your path")).into()
        );
    }
    Err(Failure::Io(error))
}
