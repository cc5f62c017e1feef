//! `scanner receipt`: print receipts, and check them.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use scanner_core::{Limits, RECEIPT_SCHEMA, Resource, canonical_json, visible};
use scanner_worker::{Death, Engine, ScanJob};
use serde_json::Value;

use crate::{
    Exit, Failure,
    args::{ReceiptCommand, SetupArgs, VerifyArgs},
    inputs,
    problem::{Usage, say},
    scan,
};

pub(crate) fn run(command: &ReceiptCommand) -> Result<Exit, Failure> {
    match command {
        ReceiptCommand::Show { file } => show(file),
        ReceiptCommand::Verify(args) => verify(args),
    }
}

/// The receipts of a file: one a line.
fn read(path: &Path) -> Result<Vec<(String, Value)>, String> {
    let text = inputs::read_text(path).map_err(|problem| problem.to_string())?;
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let value = serde_json::from_str(line).map_err(|error| format!("not a receipt: {error}"))?;
            Ok((line.to_owned(), value))
        })
        .collect()
}

fn show(path: &Path) -> Result<Exit, Failure> {
    let receipts = match read(path) {
        Ok(receipts) => receipts,
        Err(message) => {
            say(&format!("scanner: {message}"));
            return Ok(Exit::Unreadable);
        }
    };
    let mut out = io::stdout().lock();
    for (line, receipt) in receipts {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), visible);
        let source = &receipt["source"];
        writeln!(out, "{}  {}", text(&receipt["decision"]).to_uppercase(), text(&source["name"]))?;
        writeln!(
            out,
            "  input     sha256 {}, {} bytes, {}",
            text(&source["sha256"]),
            source["size"],
            text(&source["kind"])
        )?;
        writeln!(out, "  policy    {} {}", text(&receipt["policy"]["name"]), text(&receipt["policy"]["digest"]))?;
        writeln!(
            out,
            "  scanner   {}, rules {}",
            text(&receipt["scanner"]["version"]),
            text(&receipt["scanner"]["rules"])
        )?;
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
        writeln!(out, "  receipt   sha256 {}", scanner_core::sha256_hex(line.as_bytes()))?;
    }
    Ok(Exit::Good)
}

fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    let mut receipts = match read(&args.file) {
        Ok(receipts) => receipts,
        Err(message) => {
            say(&format!("scanner: {message}"));
            return Ok(Exit::Unreadable);
        }
    };
    let (Some((line, receipt)), true) = (receipts.pop(), receipts.is_empty()) else {
        say("scanner: expected a file with exactly one receipt");
        return Ok(Exit::Unreadable);
    };
    let mut out = io::stdout().lock();
    if receipt["schema"] != RECEIPT_SCHEMA {
        writeln!(out, "foreign: not a {RECEIPT_SCHEMA}")?;
        return Ok(Exit::Unsigned);
    }
    if canonical_json(&receipt) != line {
        writeln!(out, "does not match: not in canonical form, so it was changed")?;
        return Ok(Exit::Found);
    }
    let Some(input) = &args.replay else {
        writeln!(out, "unsigned: it may be anybody's. With --replay INPUT it is made again and compared")?;
        return Ok(Exit::Unsigned);
    };
    match replay(args, &receipt, input)? {
        Replay::Same => {
            writeln!(out, "good: the input gives the same receipt again")?;
            Ok(Exit::Good)
        }
        Replay::Other(again) => {
            writeln!(out, "does not match: {}", difference(&receipt, &again))?;
            Ok(Exit::Found)
        }
        Replay::Unreadable(message) => {
            say(&format!("scanner: {message}"));
            Ok(Exit::Unreadable)
        }
    }
}

enum Replay {
    Same,
    Other(String),
    Unreadable(String),
}

/// Scans the input again as the receipt says it was scanned.
fn replay(args: &VerifyArgs, receipt: &Value, input: &Path) -> Result<Replay, Failure> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut job = ScanJob::new(Vec::new());
    let source = &receipt["source"];
    job.kind = text(&source["as"]).unwrap_or_default();
    job.name = text(&source["name"]);
    job.declared = text(&source["type"]);
    job.policy = match &args.policy {
        Some(path) => path.to_string_lossy().into_owned(),
        None => text(&receipt["policy"]["name"]).unwrap_or_default(),
    };
    job.audiences =
        receipt["audiences"].as_object().into_iter().flatten().map(|(audience, _)| audience.clone()).collect();
    job.context = receipt["context"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect::<BTreeMap<_, _>>();
    job.now = text(&receipt["decided_on"]);
    let facts = &receipt["facts"];
    job.death = facts["death"].is_object().then(|| Death {
        reason: text(&facts["death"]["reason"]).unwrap_or_default(),
        detail: text(&facts["death"]["detail"]).unwrap_or_default(),
    });
    job.engines = facts["engines"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|engine| Engine {
            name: text(&engine["name"]).unwrap_or_default(),
            version: text(&engine["version"]).unwrap_or_default(),
            database: text(&engine["database"]).unwrap_or_default(),
            database_time: text(&engine["database_time"]).unwrap_or_default(),
            answer: text(&engine["answer"]).unwrap_or_default(),
        })
        .collect();
    let limits: Vec<(Resource, u64)> = Resource::ALL
        .into_iter()
        .filter_map(|resource| Some((resource, receipt["limits"][resource.name()].as_u64()?)))
        .collect();
    let setup = SetupArgs { policy: job.policy.clone(), rules: args.rules.clone(), limits, no_isolation: false };
    let limits: Limits = setup.limits();
    job.attachments = scan::attachments(&args.attach, &limits)?;
    if let Some(path) = &args.watch {
        job.watch = scan::watch_list(path)?;
    }
    let place = match inputs::places(&[input.to_owned()]).pop() {
        Some(Ok(place)) => place,
        Some(Err(problem)) => return Ok(Replay::Unreadable(problem.to_string())),
        None => return Err(Usage("--replay needs one file".to_owned()).into()),
    };
    match place.read(&limits) {
        Ok(bytes) => job.bytes = bytes.into(),
        Err(problem) => return Ok(Replay::Unreadable(problem.to_string())),
    }
    let answer = scan::worker(&setup)?.scan(job);
    if let Some((_, message)) = answer.refusal {
        return Ok(Replay::Unreadable(message));
    }
    Ok(if answer.receipt == canonical_json(receipt) { Replay::Same } else { Replay::Other(answer.receipt) })
}

/// The first member that differs, in words.
fn difference(receipt: &Value, again: &str) -> String {
    let again: Value = serde_json::from_str(again).unwrap_or_default();
    let members = receipt.as_object().into_iter().flatten();
    let differing = members.filter(|(key, value)| again[key.as_str()] != **value).map(|(key, _)| visible(key));
    let differing: Vec<String> = differing.collect();
    if differing.is_empty() {
        return "the replay has members that the receipt has not".to_owned();
    }
    format!("the replay differs in {}", differing.join(", "))
}
