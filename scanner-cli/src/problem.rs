//! What goes wrong outside the scan, told to the person who can act.

use std::{fmt, io::Write};

use scanner_core::{canonical_json, visible};
use serde_json::json;

/// The command line asks for something that is not there.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An input of which nothing was scanned.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The input, as given.
    pub(crate) input: String,
    /// Stable word for programs.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) message: String,
}

impl Problem {
    /// The line that stands in place of a verdict.
    pub(crate) fn json(&self) -> String {
        canonical_json(&json!({
            "schema": "scanner.error/v1",
            "input": self.input,
            "code": self.code,
            "message": self.message,
            "at": null,
        }))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", visible(&self.input), visible(&self.message))
    }
}

/// One line to standard error. A closed one is not worth failing for.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
