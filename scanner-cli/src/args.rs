//! The command line (CONTRACT §1).

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use scanner_core::{Decision, Limits, Resource};
use scanner_worker::LETTER_PIXELS;

use crate::problem::Usage;

mod records;

pub(crate) use records::{ReceiptCommand, ReplayArgs, ReviewArgs, ReviewCommand, VerifyArgs};

/// Judges the output of AI code execution before a person or a model sees it.
#[derive(Debug, Parser)]
#[command(name = "scanner", version, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Scan files, folders, tool results or standard input; one verdict each
    Scan(Box<ScanArgs>),
    /// Tell what type files are, by their bytes
    Sniff(SniffArgs),
    /// Read texts as JSON lines {"id","text"} from standard input; one line of findings each
    Text(TextArgs),
    /// The rules texts are read with
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Policies: what a finding or a gap leads to
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Receipts: what was scanned, with what, to which decision
    #[command(subcommand)]
    Receipt(ReceiptCommand),
    /// Reviews: look at what was held for a person, and decide
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Run the service: the program scanner-http, with these arguments
    #[command(disable_help_flag = true)]
    Serve(ServeArgs),
}

/// Options that choose policy, rules and limits.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// default, strict, permissive, report-only, or the path of a policy file
    #[arg(long, value_name = "P", default_value = "default")]
    pub(crate) policy: String,
    /// Add rule files, or all *.toml files of a folder
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Change a limit, such as `depth=3`, `unpacked_bytes=1GiB` or `wall=30s`
    #[arg(long = "limit", value_name = "NAME=VALUE", value_parser = limit)]
    pub(crate) limits: Vec<(Resource, u64)>,
    /// Parse hostile bytes in this very process: for tests only
    #[arg(long)]
    pub(crate) no_isolation: bool,
}

impl SetupArgs {
    pub(crate) fn limits(&self) -> Limits {
        self.limits_of(false)
    }

    /// The limits where letters are read, or not.
    pub(crate) fn limits_of(&self, letters: bool) -> Limits {
        let default = Limits::default().with(Resource::LetterPixels, if letters { LETTER_PIXELS } else { 0 });
        self.limits.iter().fold(default, |limits, (resource, value)| limits.with(*resource, *value))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files, folders, or - for standard input
    #[arg(value_name = "PATH", default_value = "-")]
    pub(crate) paths: Vec<PathBuf>,
    /// What the input is: auto, file, text, bundle, runner, or the name of a provider
    #[arg(long = "as", value_name = "KIND", default_value = "auto")]
    pub(crate) kind: String,
    /// Untrusted name of standard input or of a single file
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Declared media type of standard input or of a single file
    #[arg(long = "type", value_name = "T")]
    pub(crate) declared: Option<String>,
    /// Bytes fetched for a reference; scanned as its artifact
    #[arg(long, value_name = "REF=PATH", value_parser = pair)]
    pub(crate) attach: Vec<(String, String)>,
    /// Who will see it: page, terminal, model, download, or one of the policy's own
    #[arg(long, value_name = "A,...", value_delimiter = ',', default_value = "page,terminal,model,download")]
    pub(crate) audience: Vec<String>,
    #[command(flatten)]
    pub(crate) setup: SetupArgs,
    /// Literal strings that must not appear anywhere, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) watch: Option<PathBuf>,
    /// Bound into the receipt, never interpreted
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) context: Vec<(String, String)>,
    /// human (default on a terminal), json (one document a line) or sarif (one SARIF 2.1.0 log of all inputs)
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<Format>,
    /// Have the letters in pictures read by this program: tesseract, or its path
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) letters: Option<String>,
    /// The languages it looks for, such as eng+deu
    #[arg(long, value_name = "L", default_value = "eng", requires = "letters")]
    pub(crate) languages: String,
    /// Keep what it read in this folder, one file for each picture, for a replay. Secrets that stand there are kept, too
    #[arg(long, value_name = "DIR", requires = "letters")]
    pub(crate) keep_letters: Option<PathBuf>,
    /// Write what may leave for an audience into a folder: manifest.json, files/…, the envelope in its own shape
    #[arg(long, value_name = "AUDIENCE=DIR", value_parser = pair)]
    pub(crate) release: Vec<(String, String)>,
    /// Write the receipts, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    /// Sign the receipts with this Ed25519 key (PKCS#8 PEM): one DSSE envelope a line
    #[arg(long, value_name = "KEYFILE", requires = "receipt")]
    pub(crate) sign: Option<PathBuf>,
    /// Bind what could be guessed (short, or with a secret in it) with the key in this file, of 32 bytes or more
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) bind: Option<PathBuf>,
    /// Decisions of people, one signed statement a line; receipts among them are passed over
    #[arg(long, value_name = "FILE", requires = "reviewer")]
    pub(crate) reviews: Option<PathBuf>,
    /// The public key (SPKI PEM) of somebody whose decisions count
    #[arg(long, value_name = "PUB", requires = "reviews")]
    pub(crate) reviewer: Vec<PathBuf>,
    /// Exit with 1 at this decision or a worse one
    #[arg(long, value_name = "D", default_value = "review")]
    pub(crate) fail_on: FailOn,
    /// Exit with 1 when something was not seen
    #[arg(long)]
    pub(crate) require_complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
    Sarif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Sanitize,
    Review,
    Block,
    Never,
}

impl FailOn {
    pub(crate) fn is_met_by(self, decision: Option<Decision>) -> bool {
        let least = match self {
            Self::Sanitize => Decision::Sanitize,
            Self::Review => Decision::Review,
            Self::Block => Decision::Block,
            Self::Never => return false,
        };
        decision.is_some_and(|decision| decision >= least)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Arguments of scanner-http; --help tells them
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<std::ffi::OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct SniffArgs {
    /// Files
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// human, tsv (path, label, mime, risk, second types, browser type, declared type, mismatch) or json
    #[arg(long, value_name = "F", default_value = "human")]
    pub(crate) format: SniffFormat,
    /// Parse hostile bytes in this very process: for tests only
    #[arg(long)]
    pub(crate) no_isolation: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SniffFormat {
    Human,
    Tsv,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct TextArgs {
    /// Who will see it: page, terminal, model, download, or one of the policy's own
    #[arg(long, value_name = "A,...", value_delimiter = ',', default_value = "page,terminal,model,download")]
    pub(crate) audience: Vec<String>,
    #[command(flatten)]
    pub(crate) setup: SetupArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// All rules, one a line
    List,
    /// One rule, in full
    Show {
        /// Its id, such as injection/override
        id: String,
    },
    /// Run the examples of the built-in rules, or of rule files
    Test {
        /// Rule files
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print a built-in policy
    Show {
        /// default, strict, permissive or report-only
        name: String,
    },
    /// Read a policy file and say what is wrong with it
    Check {
        /// The policy file
        file: PathBuf,
    },
    /// What would change under a policy, without scanning again
    Try {
        /// The policy file, or the name of a built-in policy
        file: PathBuf,
        /// Verdicts, one a line
        #[arg(value_name = "VERDICT.jsonl", required = true)]
        verdicts: Vec<PathBuf>,
    },
}

fn pair(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .ok_or_else(|| "expected KEY=VALUE".to_owned())
}

/// `depth=3`, `unpacked_bytes=1GiB`, `wall=30s`.
fn limit(text: &str) -> Result<(Resource, u64), String> {
    let (name, value) = pair(text)?;
    let resource = Resource::named(&name).ok_or_else(|| {
        let names: Vec<&str> = Resource::ALL.iter().map(|resource| resource.name()).collect();
        format!("unknown limit \"{name}\", expected one of: {}", names.join(", "))
    })?;
    let digits = value.find(|character: char| !character.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let factor: u64 = match unit {
        "" | "s" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(format!("unknown unit \"{unit}\", expected KiB, MiB, GiB or s")),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .filter(|number| *number < 1 << 53)
        .map(|number| (resource, number))
        .ok_or_else(|| format!("\"{value}\" is not a whole number below 2^53"))
}

impl From<String> for Usage {
    fn from(message: String) -> Self {
        Self(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn limits_take_units() {
        assert_eq!(limit("depth=3"), Ok((Resource::Depth, 3)));
        assert_eq!(limit("unpacked_bytes=1GiB"), Ok((Resource::UnpackedBytes, 1 << 30)));
        assert_eq!(limit("wall=30s"), Ok((Resource::Wall, 30)));
        assert!(limit("deph=3").unwrap_err().contains("unknown limit"));
        assert!(limit("depth=").is_err());
        assert!(limit("depth=3.5").is_err());
        assert!(limit("steps=9007199254740992").is_err());
        assert!(limit("steps=99999999999999999999GiB").is_err());
    }
}
