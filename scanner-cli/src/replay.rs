//! Scanning an input again as a receipt says that it was scanned, from the recorded facts.

use std::{collections::BTreeMap, path::Path};

use scanner_core::{Resource, Review, canonical_json, visible};
use scanner_worker::{Answer, Attachment, Death, Engine, LETTERS_ENGINE, ReadPicture, ScanFormat, ScanJob};
use serde_json::Value;

use crate::{
    Failure,
    args::{ReplayArgs, SetupArgs},
    inputs, keys,
    problem::Usage,
    scan,
};

/// What came of it.
pub(crate) enum Replay {
    /// The same receipt, byte for byte.
    Same(Box<Answer>),
    /// Another one: how they differ.
    Other(String),
    /// The input cannot be read, or cannot be scanned like that.
    Unreadable(String),
}

pub(crate) fn replay(with: &ReplayArgs, receipt: &Value, input: &Path, format: ScanFormat) -> Result<Replay, Failure> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut job = ScanJob::new(Vec::new());
    job.format = format;
    let source = &receipt["source"];
    job.kind = text(&source["as"]).unwrap_or_default();
    job.name = text(&source["name"]);
    job.declared = text(&source["type"]);
    job.policy = match &with.policy {
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
    let death = &receipt["facts"]["death"];
    job.death =
        text(&death["reason"]).map(|reason| Death { reason, detail: text(&death["detail"]).unwrap_or_default() });
    job.engines = receipt["facts"]["engines"]
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
    let review = Review::recorded_in(receipt);
    job.reviews = review.iter().map(|review| (review.key.clone(), review.to_json().to_string())).collect();
    let limits: Vec<(Resource, u64)> = Resource::ALL
        .into_iter()
        .filter_map(|resource| Some((resource, receipt["limits"][resource.name()].as_u64()?)))
        .collect();
    let setup = SetupArgs { policy: job.policy.clone(), rules: with.rules.clone(), limits, no_isolation: false };
    let limits = setup.limits();
    let (letters, attached): (Vec<_>, Vec<_>) =
        with.attach.iter().cloned().partition(|(reference, _)| reference.starts_with(LETTERS));
    job.attachments = scan::attachments(&attached, &limits)?;
    job.letters = scan::attachments(&letters, &limits)?.into_iter().map(read_picture).collect();
    if let Some(lacking) = lacks_letters(&job) {
        return Ok(Replay::Unreadable(lacking));
    }
    if let Some(path) = &with.watch {
        job.watch = scan::watch_list(path)?;
    }
    let place = match inputs::places(&[input.to_owned()]).pop() {
        Some(Ok(place)) => place,
        Some(Err(problem)) => return Ok(Replay::Unreadable(problem.to_string())),
        None => return Err(Usage("expected one input".to_owned()).into()),
    };
    match place.read(&limits) {
        Ok(bytes) => job.bytes = bytes.into(),
        Err(problem) => return Ok(Replay::Unreadable(problem.to_string())),
    }
    let answer = scan::worker(&setup, keys::binding(with.bind.as_deref())?, None)?.scan(job);
    if let Some((_, message)) = answer.refusal {
        return Ok(Replay::Unreadable(visible(&message)));
    }
    Ok(if answer.receipt == canonical_json(receipt) {
        Replay::Same(Box::new(answer))
    } else {
        Replay::Other(difference(receipt, &answer.receipt))
    })
}

/// How the reference of what was read in a picture begins; its digest follows.
const LETTERS: &str = "letters:";

fn read_picture(attached: Attachment) -> ReadPicture {
    let picture = attached.reference.strip_prefix(LETTERS).unwrap_or_default().to_owned();
    ReadPicture { picture, text: attached.bytes }
}

/// What pictures say is in no receipt. A scan in which it was read cannot be repeated without it: why, where none is
/// given.
fn lacks_letters(job: &ScanJob) -> Option<String> {
    let read =
        job.engines.iter().find(|engine| engine.name == LETTERS_ENGINE && engine.answer.starts_with("read: "))?;
    if !job.letters.is_empty() || read.answer.starts_with("read: 0 ") {
        return None;
    }
    let said = visible(&read.answer);
    Some(format!(
        "it cannot be replayed: {LETTERS_ENGINE} {said}, and receipts do not hold what pictures say. \
         Pass --attach letters:SHA256=FILE for each of them; scan --keep-letters DIR writes SHA256.txt."
    ))
}

/// The members that differ, in words.
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
