//! The child's side: our own executable, started again, gives up what reading letters does not need and becomes the
//! other program.

use std::{io, os::unix::process::CommandExt, path::PathBuf, process::Command};

use serde::{Deserialize, Serialize};

use crate::confine::confine_reader;

/// The first argument with which a front starts its own executable to read letters.
pub const LETTERS_ARGUMENT: &str = "__letters";
/// Exit codes: the program is not there, or cannot be run. As shells say it.
pub(super) const CANNOT_START: i32 = 127;
/// Isolation is strict, and there is none.
pub(super) const LACKS_FENCES: i32 = 126;

/// What to become, and within which limits.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) program: PathBuf,
    /// A folder that it reads beside those of the system.
    pub(super) data: Option<PathBuf>,
    pub(super) arguments: Vec<String>,
    /// CPU seconds.
    pub(super) seconds: u64,
    /// Bytes of address space.
    pub(super) memory: u64,
    pub(super) strict: bool,
}

/// Becomes the program that reads letters, as the second argument orders, after everything else was given up. For a
/// process whose first argument is [`LETTERS_ARGUMENT`]: it returns only when that failed, and then with the exit code to
/// end with.
///
/// ```no_run
/// if std::env::args().nth(1).as_deref() == Some(scanner_worker::LETTERS_ARGUMENT) {
///     std::process::exit(scanner_worker::launch().into());
/// }
/// ```
pub fn launch() -> u8 {
    let code = match become_reader() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => LACKS_FENCES,
        _ => CANNOT_START,
    };
    u8::try_from(code).unwrap_or(1)
}

fn become_reader() -> io::Result<()> {
    let order = std::env::args().nth(2).ok_or(io::ErrorKind::InvalidInput)?;
    let order: Order = serde_json::from_str(&order)?;
    let readable: Vec<PathBuf> = order.data.iter().cloned().chain([order.program.clone()]).collect();
    let isolation = confine_reader(order.memory, order.seconds, &readable)?;
    if order.strict && isolation.lacks().is_some() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // The environment is what the front left of it. It comes back only with an error.
    Err(Command::new(&order.program).args(&order.arguments).exec())
}
