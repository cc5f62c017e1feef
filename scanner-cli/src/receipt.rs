//! `scanner receipt`: print receipts, and check them.

use std::{
    io::{self, Write},
    path::Path,
};

use scanner_core::{
    Digest, DsseError, Envelope, RECEIPT_SCHEMA, Review, Statement, canonical_json, sha256_hex, visible,
};
use scanner_worker::ScanFormat;
use serde_json::Value;

use crate::{
    Exit, Failure,
    args::{ReceiptCommand, VerifyArgs},
    inputs, keys,
    problem::say,
    replay::{Replay, replay},
};

pub(crate) fn run(command: &ReceiptCommand) -> Result<Exit, Failure> {
    match command {
        ReceiptCommand::Show { file } => show(file),
        ReceiptCommand::Verify(args) => verify(args),
    }
}

/// One line of a file of receipts.
#[derive(Debug)]
pub(crate) enum Line {
    /// A receipt, in canonical form or not.
    Receipt {
        /// As it stands there, or inside what was signed.
        receipt: Value,
        /// The line is the receipt itself, in canonical form.
        canonical: bool,
        /// The signatures over it, and when they were made.
        signed: Option<(Envelope, String)>,
    },
    /// What a person decided.
    Review(Envelope, Box<Review>),
    /// Of another version or kind.
    Foreign(String),
}

/// The lines of a file of receipts. What is on them is read, not checked.
pub(crate) fn read(path: &Path) -> Result<Vec<Line>, String> {
    let text = inputs::read_text(path).map_err(|problem| problem.to_string())?;
    let lines = (1_u64..).zip(text.lines()).filter(|(_, line)| !line.is_empty());
    lines
        .map(|(number, line)| one(line).map_err(|why| format!("{}:{number}: {why}", visible(&path.to_string_lossy()))))
        .collect()
}

fn one(line: &str) -> Result<Line, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("not a receipt: {error}"))?;
    if value.get("payloadType").is_none() {
        if value["schema"] != RECEIPT_SCHEMA {
            return Ok(Line::Foreign(format!("not a {RECEIPT_SCHEMA}")));
        }
        let canonical = canonical_json(&value) == line;
        return Ok(Line::Receipt { receipt: value, canonical, signed: None });
    }
    let read = Envelope::read(line).and_then(|envelope| Ok((Statement::read(&envelope)?, envelope)));
    match read {
        Ok((Statement::Receipt { receipt, signed_at, .. }, envelope)) => {
            Ok(Line::Receipt { receipt, canonical: true, signed: Some((envelope, signed_at)) })
        }
        Ok((Statement::Review(review), envelope)) => Ok(Line::Review(envelope, review)),
        Ok(_) => Ok(Line::Foreign("a statement of another kind".to_owned())),
        Err(error @ DsseError::OtherType(_)) => Ok(Line::Foreign(visible(&error.to_string()))),
        Err(error) => Err(visible(&error.to_string())),
    }
}

/// The only receipt of a file; reviews may stand beside it.
pub(crate) fn the_only(path: &Path) -> Result<Line, String> {
    let lines = read(path)?;
    let mut receipts = lines.into_iter().filter(|line| !matches!(line, Line::Review(..)));
    match (receipts.next(), receipts.next()) {
        (Some(only), None) => Ok(only),
        _ => Err("expected a file with exactly one receipt".to_owned()),
    }
}

/// An input that is not what it should be: said, not failed with.
pub(crate) fn unreadable(message: &str) -> Exit {
    say(&format!("scanner: {message}"));
    Exit::Unreadable
}

fn show(path: &Path) -> Result<Exit, Failure> {
    let lines = match read(path) {
        Ok(lines) => lines,
        Err(message) => return Ok(unreadable(&message)),
    };
    let mut out = io::stdout().lock();
    for line in lines {
        match line {
            Line::Receipt { receipt, signed, .. } => {
                show_receipt(&mut out, &receipt)?;
                if let Some((envelope, at)) = signed {
                    let keys: Vec<String> = envelope.key_ids().map(visible).collect();
                    writeln!(
                        out,
                        "  signed    {}, said to be by key {}; not checked here",
                        visible(&at),
                        keys.join(", ")
                    )?;
                }
            }
            Line::Review(_, review) => {
                let to = review.audiences.iter().map(|audience| visible(audience)).collect::<Vec<_>>().join(", ");
                writeln!(out, "{} by {} for {to}", review.ruling.name().to_uppercase(), visible(&review.by))?;
                writeln!(out, "  why       {}", visible(&review.reason))?;
                writeln!(out, "  receipt   sha256 {}", visible(&review.receipt))?;
                writeln!(
                    out,
                    "  signed    {}, said to be by key {}; not checked here",
                    visible(&review.at),
                    visible(&review.key)
                )?;
            }
            Line::Foreign(why) => writeln!(out, "FOREIGN   {why}")?,
        }
    }
    Ok(Exit::Good)
}

fn show_receipt(out: &mut impl Write, receipt: &Value) -> io::Result<()> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), visible);
    let source = &receipt["source"];
    writeln!(out, "{}  {}", text(&receipt["decision"]).to_uppercase(), text(&source["name"]))?;
    let digest =
        Digest::of_member(source).map_or_else(String::new, |digest| format!("{} {}", digest.name(), digest.hex()));
    writeln!(out, "  input     {digest}, {} bytes, {}", source["size"], text(&source["kind"]))?;
    writeln!(out, "  policy    {} {}", text(&receipt["policy"]["name"]), text(&receipt["policy"]["digest"]))?;
    let scanner = &receipt["scanner"];
    writeln!(out, "  scanner   {}, rules {}", text(&scanner["version"]), text(&scanner["rules"]))?;
    for (audience, decision) in receipt["audiences"].as_object().into_iter().flatten() {
        writeln!(
            out,
            "  {:<9} {}, deliver {}",
            visible(audience),
            text(&decision["decision"]),
            text(&decision["deliver"])
        )?;
    }
    let count = |key: &str| receipt[key].as_array().map_or(0, Vec::len);
    writeln!(out, "  {} artifacts, {} findings, {} gaps", count("artifacts"), count("findings"), count("gaps"))?;
    for (key, value) in receipt["context"].as_object().into_iter().flatten() {
        writeln!(out, "  context   {} = {}", visible(key), text(value))?;
    }
    if let Some(review) = Review::recorded_in(receipt) {
        writeln!(out, "  review    {} by {}: {}", review.ruling.name(), visible(&review.by), visible(&review.reason))?;
    }
    writeln!(out, "  receipt   sha256 {}", sha256_hex(canonical_json(receipt).as_bytes()))
}

fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    let key = args.key.as_deref().map(keys::public).transpose()?;
    let (receipt, canonical, signed) = match the_only(&args.file) {
        Ok(Line::Receipt { receipt, canonical, signed }) => (receipt, canonical, signed),
        Ok(Line::Foreign(why)) => {
            writeln!(io::stdout(), "foreign: {why}")?;
            return Ok(Exit::Unsigned);
        }
        Ok(Line::Review(..)) => return Ok(unreadable("expected a file with exactly one receipt")),
        Err(message) => return Ok(unreadable(&message)),
    };
    let mut out = io::stdout().lock();
    if !canonical {
        writeln!(out, "does not match: not in canonical form, so it was changed")?;
        return Ok(Exit::Found);
    }
    let mut good = Vec::new();
    match (&key, &signed) {
        (Some(key), Some((envelope, at))) => match envelope.verify(std::slice::from_ref(key)) {
            Ok(key) => good.push(format!("signed {} by key {}", visible(at), key.id())),
            Err(why) => {
                writeln!(out, "does not match: {why}")?;
                return Ok(Exit::Found);
            }
        },
        (Some(_), None) => {
            writeln!(out, "unsigned: there is no signature that --key could check")?;
            return Ok(Exit::Unsigned);
        }
        (None, None) if args.replay.is_none() => {
            writeln!(out, "unsigned: it may be anybody's. With --replay INPUT it is made again and compared")?;
            return Ok(Exit::Unsigned);
        }
        (None, Some((envelope, _))) if args.replay.is_none() => {
            let keys: Vec<String> = envelope.key_ids().map(visible).collect();
            writeln!(
                out,
                "not checked: signed, it says, by key {}. Give --key PUB, --replay INPUT, or both",
                keys.join(", ")
            )?;
            return Ok(Exit::Unsigned);
        }
        (None, Some(_)) => good.push("its signature was not checked, for want of --key".to_owned()),
        (None, None) => good.push("it is not signed".to_owned()),
    }
    if let Some(input) = &args.replay {
        match replay(&args.with, &receipt, input, ScanFormat::Json)? {
            Replay::Same(_) => good.insert(0, "the input gives the same receipt again".to_owned()),
            Replay::Other(why) => {
                writeln!(out, "does not match: {why}")?;
                return Ok(Exit::Found);
            }
            Replay::Unreadable(message) => return Ok(unreadable(&message)),
        }
        // What only the world outside knew is taken from the receipt: a replay cannot say whether it was so.
        if let Some(review) = Review::recorded_in(&receipt) {
            good.push(format!("it records that {} decided {}", visible(&review.by), review.ruling.name()));
        }
        if !receipt["facts"]["death"].is_null() {
            good.push("it records that the worker died".to_owned());
        }
    }
    writeln!(out, "good: {}", good.join("; "))?;
    Ok(Exit::Good)
}
