//! Azure Container Apps dynamic sessions, all API versions. SHAPES 11.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "azure",
    expected: "an object with \"properties\", \"executionType\" or \"executionTimeMs\"",
    recognise,
    adapt,
    reads: "code/execute, executions and executeCommand results, errors, file lists",
    status: "status, error codes and exit codes; a Failed whose error code speaks of a timeout is timed_out",
    error: "`status`: `Failed`, `Canceled`; an `error` with its code; `exitCode` ≠ 0",
};

const EXECUTION: &[(&str, Shape)] = &[
    ("$id", Shape::Id),
    ("id", Shape::Id),
    ("identifier", Shape::Id),
    ("executionType", Shape::Word(&["Synchronous", "Asynchronous"])),
    ("executionTimeInMilliseconds", Shape::Scalar),
    ("executionTimeMs", Shape::Scalar),
    ("executedAt", Shape::Stamp),
    ("createdAt", Shape::Stamp),
    ("codeInputType", Shape::Name),
];
const FILE: &[(&str, Shape)] = &[
    ("$id", Shape::Id),
    ("size", Shape::Scalar),
    ("sizeInBytes", Shape::Scalar),
    ("lastModifiedTime", Shape::Stamp),
    ("lastModifiedAt", Shape::Stamp),
    ("type", Shape::Word(&["file", "directory"])),
    ("properties", Shape::Scalar),
];
/// Words of 2025, and the ones 2024 is said to use (unverified).
const STATUSES: &[&str] =
    &["Succeeded", "Success", "Failed", "Failure", "Canceled", "Cancelled", "NotStarted", "Running"];

fn recognise(envelope: &Envelope) -> Sure {
    envelope.heads().into_iter().map(|(sheet, object)| of_object(sheet, object)).max().unwrap_or(Sure::No)
}

fn of_object(sheet: &Sheet, object: NodeId) -> Sure {
    let has = |key| sheet.has(object, key);
    let streams = |at| sheet.has(at, "stdout") || sheet.has(at, "stderr");
    if sheet.peek(object, "properties").is_some_and(|inner| streams(inner) || sheet.has(inner, "filename"))
        || has("executionType") && (has("status") || has("identifier"))
        || has("executionTimeMs") && streams(object)
        || has("executionTimeInMilliseconds") && streams(object)
    {
        return Sure::Yes;
    }
    let listed = sheet.peek(object, "value").is_some_and(|list| {
        sheet.doc.children(list).take(8).any(|item| {
            sheet.peek(item, "properties").is_some_and(|inner| sheet.has(inner, "filename"))
                || sheet.has(item, "sizeInBytes") && sheet.has(item, "name")
                || sheet.has(item, "executionType")
        })
    });
    if listed { Sure::Yes } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("dynamic sessions");
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        let mut listed = false;
        for list in sheet.take(object, "value") {
            for item in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                listed = true;
                if sheet.has(item, "executionType") { execution(sheet, item, draft) } else { file(sheet, item, draft) }
            }
        }
        let is_file = sheet.peek(object, "properties").is_some_and(|inner| sheet.has(inner, "filename"));
        match (listed, is_file) {
            (true, _) => {}
            (false, true) => file(sheet, object, draft),
            (false, false) => execution(sheet, object, draft),
        }
        sheet.known(object, &[("nextLink", Shape::Scalar), ("count", Shape::Scalar), ("$id", Shape::Id)]);
    }
}

fn execution(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let id = sheet.peek_word(object, "id").filter(|id| crate::envelope::sheet::is_id(id));
    let call = draft.call(id, None);
    draft.container(call, sheet.take_id(object, "identifier"));
    let inner: Vec<_> = sheet.take(object, "properties").filter(|id| sheet.is_object(*id)).collect();
    for level in [object].into_iter().chain(inner) {
        streams(sheet, level, call, draft);
        for result in sheet.take(level, "result") {
            // 2025: an object of streams; 2024: whatever the last expression was.
            let of_streams = ["stdout", "stderr", "executionResult"].iter().any(|key| sheet.has(result, key));
            if of_streams {
                streams(sheet, result, call, draft);
            } else {
                value(sheet, result, call, draft);
            }
        }
        for id in sheet.take(level, "code") {
            draft.text(sheet, id, Origin::Code, Some(call));
        }
        errors(sheet, level, call, draft);
        status(sheet, level, call, draft);
        let code = sheet.take_integer(level, &["exitCode"]);
        draft.exit(call, code);
        sheet.known(level, EXECUTION);
    }
    if !draft.is_under_way(call) {
        draft.state_if_silent(call, Status::Unknown, "neither status nor exit code");
    }
}

fn streams(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    draft.texts(sheet, object, "stdout", Origin::Stdout, Some(call));
    draft.texts(sheet, object, "stderr", Origin::Stderr, Some(call));
    sheet.take(object, "executionResult").for_each(|id| value(sheet, id, call, draft));
    sheet.known(object, EXECUTION);
}

/// The value of the last expression: any JSON, or a picture.
fn value(sheet: &Sheet, id: NodeId, call: usize, draft: &mut Draft<'_>) {
    if sheet.has(id, "base64_data") {
        sheet.take_word(id, "type", &["image"]);
        let format = sheet.peek_word(id, "format").filter(|format| crate::envelope::sheet::is_name(format));
        sheet.known(id, &[("format", Shape::Name)]);
        for data in sheet.take(id, "base64_data") {
            let declared = format.as_ref().map(|format| format!("image/{format}"));
            draft.bytes(sheet, data, Origin::Image, declared, Some(call));
        }
    }
    draft.tree(sheet, id, Origin::Result, Some(call));
}

fn errors(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for outer in sheet.take(object, "error").filter(|id| sheet.kind(*id) != Kind::Null) {
        draft.state(call, Status::Failed, "an error");
        let mut error = outer;
        for inner in sheet.take(outer, "error").filter(|id| sheet.is_object(*id)) {
            error = inner;
        }
        if let Some(code) = sheet.peek_word(error, "code")
            && code.to_ascii_lowercase().contains("timeout")
        {
            draft.state(call, Status::TimedOut, "the error code speaks of a timeout");
        }
        const ERROR: &[(&str, Shape)] = &[
            ("code", Shape::Name),
            ("message", Shape::Scalar),
            ("target", Shape::Scalar),
            ("details", Shape::Scalar),
            ("innererror", Shape::Scalar),
            ("traceId", Shape::Id),
        ];
        sheet.known(error, ERROR);
        draft.tree(sheet, outer, Origin::Error, Some(call));
    }
}

fn status(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for id in sheet.take(object, "status") {
        match sheet.word(id, STATUSES) {
            Some("Succeeded" | "Success") => draft.state(call, Status::Ok, "status Succeeded"),
            Some("Failed" | "Failure") => draft.state(call, Status::Failed, "status Failed"),
            // SHAPES 0 counts it among the failures: nobody but the service cancels.
            Some("Canceled" | "Cancelled") => draft.state(call, Status::Cancelled, "status Canceled"),
            Some(_) => draft.progress(call),
            None => match sheet.doc.integer(id) {
                _ if sheet.kind(id) == Kind::Null => {}
                Some(0) => draft.state(call, Status::Ok, "status 0"),
                _ => draft.state(call, Status::Unknown, format!("status {}", Draft::raw_word(sheet, id))),
            },
        }
    }
}

/// A file of a session: a name to fetch by.
fn file(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    sheet.known(object, FILE);
    let inner = sheet.peek(object, "properties").filter(|id| sheet.is_object(*id)).unwrap_or(object);
    sheet.known(inner, FILE);
    draft.described(sheet, inner, &["directory"], None);
    for id in sheet.take_any(inner, &["filename", "name"]) {
        draft.text(sheet, id, Origin::Metadata, None);
        if let Some(name) = sheet.doc.word(id).map(std::borrow::Cow::into_owned) {
            draft.refer("file", name.clone(), Some(name), None, sheet.pointer(id), None);
        }
    }
}
