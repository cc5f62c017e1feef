//! The command line of receipts and reviews.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::pair;

#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptCommand {
    /// Print receipts for people
    Show {
        /// A file of receipts
        file: PathBuf,
    },
    /// Check a receipt: 0 good, 1 does not match, 2 unreadable, 3 unsigned or of a foreign version
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A file with one receipt
    pub(crate) file: PathBuf,
    /// The public key (SPKI PEM) it must be signed with
    #[arg(long, value_name = "PUB")]
    pub(crate) key: Option<PathBuf>,
    /// Scan this input again from the recorded facts: it must give the same bytes
    #[arg(long, value_name = "INPUT")]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) with: ReplayArgs,
}

/// What a receipt was made with and does not hold.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The policy file, where the policy was not a built-in one
    #[arg(long, value_name = "P")]
    pub(crate) policy: Option<PathBuf>,
    /// The rule files that were added
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// The bytes that were attached
    #[arg(long, value_name = "REF=PATH", value_parser = pair)]
    pub(crate) attach: Vec<(String, String)>,
    /// The watch list that was used
    #[arg(long, value_name = "FILE")]
    pub(crate) watch: Option<PathBuf>,
    /// The key that guessable content was bound with
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) bind: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// Write one inert HTML page with everything a person needs to decide
    Packet {
        /// A file with one receipt
        receipt: PathBuf,
        /// The input it is about; it is scanned again as the receipt says
        input: PathBuf,
        /// Write the page here, not to standard output
        #[arg(short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        with: ReplayArgs,
    },
    /// Append a signed statement to the receipt: what was held for review may pass
    Approve(ReviewArgs),
    /// Append a signed statement to the receipt: nothing of it may leave
    Reject(ReviewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// A file with one receipt; the statement is appended to it
    pub(crate) receipt: PathBuf,
    /// Who decides
    #[arg(long, value_name = "WHO")]
    pub(crate) by: String,
    /// Why
    #[arg(long, value_name = "WHY")]
    pub(crate) reason: String,
    /// The Ed25519 key (PKCS#8 PEM) of who decides
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: PathBuf,
}
