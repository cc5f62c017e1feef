//! E2B: the execute stream, `Execution.to_json()`, command results. SHAPES 5.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::Draft,
        joiner::{Joiner, Role},
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure, daytona, jupyter};

pub(crate) static PROVIDER: Provider = Provider {
    name: "e2b",
    expected: "lines of an execution, an object with \"results\" and \"logs\", or a command result",
    recognise,
    adapt,
    reads: "stdout, stderr, results in every MIME form, charts, errors; logs and error that are JSON in a string",
    status: "an error is failed, those of the server itself truncated; a stream without end_of_execution is truncated",
    error: "an `error` with `name`, `value` and `traceback`; a command: `exit_code` ≠ 0; a cut stream has no `end_of_execution`",
};

const LINES: &[&str] = &[
    "number_of_executions",
    "stdout",
    "stderr",
    "result",
    "error",
    "keepalive",
    "end_of_execution",
    "unexpected_end_of_execution",
];
/// Error names made by the server, not by user code.
const SERVER_ERRORS: &[&str] = &["UnexpectedEndOfExecution", "WebSocketError", "ContextRestarting", "ExecutionAborted"];
/// The forms of a result, and the media types they stand for.
const FORMS: &[(&str, &str)] = &[
    ("text", "text/plain"),
    ("html", "text/html"),
    ("markdown", "text/markdown"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("pdf", "application/pdf"),
    ("latex", "text/latex"),
    ("javascript", "application/javascript"),
    ("json", "application/json"),
    ("data", "application/json"),
];
const LINE: &[(&str, Shape)] = &[
    ("type", Shape::Word(LINES)),
    ("execution_count", Shape::Scalar),
    ("timestamp", Shape::Stamp),
    ("is_main_result", Shape::Scalar),
    ("line", Shape::Scalar),
];

fn recognise(envelope: &Envelope) -> Sure {
    envelope.heads().into_iter().map(|(sheet, object)| of_object(sheet, object)).max().unwrap_or(Sure::No)
}

fn of_object(sheet: &Sheet, object: NodeId) -> Sure {
    let has = |key| sheet.has(object, key);
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    match kind.as_str() {
        "number_of_executions" | "end_of_execution" | "unexpected_end_of_execution" => return Sure::Yes,
        "stdout" | "stderr" if has("text") && has("timestamp") => return Sure::Yes,
        "result" if has("is_main_result") => return Sure::Yes,
        "stdout" | "stderr" if has("text") => return Sure::Maybe,
        _ => {}
    }
    if kind.is_empty() && has("results") && has("logs") {
        return Sure::Yes;
    }
    if kind.is_empty() && has("stdout") && has("stderr") && has("exit_code") && has("error") {
        Sure::Maybe
    } else {
        Sure::No
    }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    let objects: Vec<_> = envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)).collect();
    let is_stream = objects.iter().any(|(sheet, object)| sheet.has(*object, "type"));
    if !is_stream {
        for (sheet, object) in objects {
            if sheet.has(object, "results") || sheet.has(object, "logs") {
                execution(sheet, object, draft);
            } else {
                command(sheet, object, draft);
            }
        }
        return;
    }
    draft.surface = Some("execute stream");
    let call = draft.call(None, Some("code_interpreter"));
    let mut joiner = Joiner::default();
    let mut ended = false;
    for (sheet, object) in objects {
        let kind = sheet.peek_word(object, "type").unwrap_or_default();
        match kind.as_str() {
            "stdout" | "stderr" => {
                let origin = if kind == "stdout" { Origin::Stdout } else { Origin::Stderr };
                for text in sheet.take(object, "text") {
                    joiner.push(draft, sheet, text, kind.clone(), Role::Text(origin), Some(call));
                }
            }
            "result" => result(sheet, object, call, draft),
            "error" => error(sheet, object, call, draft),
            "end_of_execution" => ended = true,
            "unexpected_end_of_execution" => draft.state(call, Status::Truncated, "unexpected_end_of_execution"),
            _ => {}
        }
        sheet.known(object, LINE);
    }
    joiner.finish(draft);
    if !ended {
        draft.state(call, Status::Truncated, "no end_of_execution: the stream just stops");
    }
    draft.state_if_silent(call, Status::Ok, "end_of_execution and no error");
}

/// `Execution.to_json()`: `logs` and `error` are JSON in strings, the results are not.
fn execution(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    draft.surface = Some("Execution");
    let call = draft.call(None, Some("code_interpreter"));
    for list in sheet.take(object, "results") {
        for item in sheet.items(list) {
            if sheet.is_object(item) {
                result(sheet, item, call, draft);
            } else {
                draft.text(sheet, item, Origin::Result, Some(call));
            }
        }
    }
    for logs in sheet.take(object, "logs") {
        in_string(sheet, logs, draft, |sheet, logs, draft| {
            for (key, origin) in [("stdout", Origin::Stdout), ("stderr", Origin::Stderr)] {
                for id in sheet.take(logs, key) {
                    draft.lines(sheet, id, "", origin, Some(call));
                }
            }
        });
    }
    for id in sheet.take(object, "error").filter(|id| sheet.kind(*id) != Kind::Null) {
        in_string(sheet, id, draft, |sheet, id, draft| {
            if sheet.is_object(id) {
                error(sheet, id, call, draft);
            }
        });
        draft.state_if_silent(call, Status::Failed, "an error");
    }
    sheet.known(object, &[("execution_count", Shape::Scalar)]);
    draft.state_if_silent(call, Status::Ok, "no error");
}

/// An object, or one that is JSON in a string. Anything else is left to be read as unclaimed.
fn in_string(sheet: &Sheet, id: NodeId, draft: &mut Draft<'_>, mut read: impl FnMut(&Sheet, NodeId, &mut Draft<'_>)) {
    if sheet.kind(id) != Kind::Text {
        return read(sheet, id, draft);
    }
    match sheet.inner(id, draft.budget) {
        Ok(Some(inner)) => {
            if let Some(root) = inner.root() {
                read(&inner, root, draft);
            }
            draft.sweep(&inner);
        }
        Ok(None) => {}
        Err(exhausted) => draft.limit(exhausted, Some(sheet.pointer(id))),
    }
}

/// One result in all its forms.
fn result(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for (key, mime) in FORMS {
        for id in sheet.take(object, key).filter(|id| sheet.kind(*id) != Kind::Null) {
            jupyter::value_of(sheet, id, mime, Some(call), draft);
        }
    }
    for chart in sheet.take(object, "chart").filter(|id| sheet.is_object(*id)) {
        daytona::chart(sheet, chart, call, draft);
    }
    for extra in sheet.take(object, "extra").filter(|id| sheet.is_object(*id)) {
        jupyter::mime_bundle(sheet, extra, Some(call), draft);
    }
    sheet.known(object, LINE);
}

fn error(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    let name = sheet.take_word(object, "name", SERVER_ERRORS);
    match name {
        Some(name) => draft.state(call, Status::Truncated, format!("error {name} of the server")),
        None => draft.state(call, Status::Failed, "an error"),
    }
    for key in ["name", "value", "traceback"] {
        for id in sheet.take(object, key).filter(|id| !sheet.is_claimed(*id)) {
            draft.lines(sheet, id, "\n", Origin::Error, Some(call));
        }
    }
}

/// `commands.run`: `{stdout, stderr, exit_code, error}`.
fn command(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    draft.surface = Some("command result");
    let call = draft.call(None, Some("commands"));
    for (key, origin) in [("stdout", Origin::Stdout), ("stderr", Origin::Stderr), ("error", Origin::Error)] {
        draft.texts(sheet, object, key, origin, Some(call));
    }
    let code = sheet.take_integer(object, &["exit_code"]);
    draft.exit(call, code);
    sheet.known(object, &[("pid", Shape::Scalar)]);
    draft.state_if_silent(call, Status::Unknown, "no exit code");
}
