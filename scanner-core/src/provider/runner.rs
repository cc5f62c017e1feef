//! A runner's own result: `{stdout, stderr, exit_code, files}` in the spellings people use.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure, bundle};

pub(crate) static PROVIDER: Provider = Provider {
    name: "runner",
    expected: "an object with \"stdout\", \"stderr\" or \"exit_code\"",
    recognise,
    adapt,
    reads: "stdout, stderr, output, result, error, code and files, in the usual spellings",
    status: "a true timed_out is timed_out; else the exit code: 0 is ok, anything else failed; a null exit code is pending; else success",
    error: "a true `timed_out`; an exit code that is not 0; a false `success`",
};

const STDOUT: &[&str] = &["stdout", "std_out", "stdOut", "out"];
const STDERR: &[&str] = &["stderr", "std_err", "stdErr", "err"];
const LOG: &[&str] = &["output", "logs", "log"];
const RESULT: &[&str] = &["result", "return_value", "returnValue"];
const ERROR: &[&str] = &["error", "exception", "traceback", "message"];
const CODE: &[&str] = &["code", "command", "cmd", "script"];
const FILES: &[&str] = &["files", "artifacts", "output_files", "outputFiles"];
const EXIT: &[&str] = &[
    "exit_code",
    "exitCode",
    "exitcode",
    "returncode",
    "return_code",
    "returnCode",
    "exit_status",
    "exitStatus",
    "rc",
];
const TIMED_OUT: &[&str] = &["timed_out", "timedOut", "timeout", "command_timed_out"];
const SUCCESS: &[&str] = &["success", "ok"];
const ID: &[&str] = &["id", "call_id", "run_id"];
const KNOWN: &[(&str, Shape)] = &[
    ("duration", Shape::Scalar),
    ("duration_ms", Shape::Scalar),
    ("durationMs", Shape::Scalar),
    ("execution_time", Shape::Scalar),
    ("executionTime", Shape::Scalar),
    ("pid", Shape::Scalar),
    ("signal", Shape::Scalar),
    ("started_at", Shape::Stamp),
    ("finished_at", Shape::Stamp),
];

fn recognise(envelope: &Envelope) -> Sure {
    let heads = envelope.heads();
    let all = !heads.is_empty() && heads.iter().all(|(sheet, object)| looks_like(sheet, *object));
    if all { Sure::Maybe } else { Sure::No }
}

/// A stream or an exit code, and nothing that only others have.
fn looks_like(sheet: &Sheet, object: NodeId) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| sheet.has(object, key));
    (has(STDOUT) || has(STDERR) || has(EXIT)) && !sheet.has(object, "type")
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("runner result");
    for (sheet, object) in envelope.objects() {
        let id = ID.iter().find_map(|key| sheet.take_id(object, key));
        let call = draft.call(id, None);
        read(sheet, object, call, draft);
    }
}

/// Everything of one result.
fn read(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for (keys, origin) in [
        (STDOUT, Origin::Stdout),
        (STDERR, Origin::Stderr),
        (LOG, Origin::Log),
        (RESULT, Origin::Result),
        (ERROR, Origin::Error),
    ] {
        for id in sheet.take_any(object, keys) {
            if matches!(sheet.kind(id), Kind::Text | Kind::Array) {
                draft.lines(sheet, id, "\n", origin, Some(call));
            }
        }
    }
    for id in sheet.take_any(object, CODE) {
        // `code` is the exit code with some, the program with others.
        match sheet.kind(id) {
            Kind::Number => draft.exit(call, Some(sheet.doc.integer(id))),
            _ => drop(draft.lines(sheet, id, " ", Origin::Code, Some(call))),
        }
    }
    for list in sheet.take_any(object, FILES) {
        bundle::files(sheet, list, call, draft);
    }
    status(sheet, object, call, draft);
    sheet.known(object, KNOWN);
}

fn status(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    if sheet.take_flag(object, TIMED_OUT) == Some(true) {
        draft.state(call, Status::TimedOut, "the runner says it timed out");
    }
    let running = EXIT.iter().filter_map(|key| sheet.peek(object, key)).any(|id| sheet.kind(id) == Kind::Null);
    draft.exit(call, sheet.take_integer(object, EXIT));
    match sheet.take_flag(object, SUCCESS) {
        Some(true) => draft.state_if_silent(call, Status::Ok, "the runner says it succeeded"),
        Some(false) => draft.state(call, Status::Failed, "the runner says it did not succeed"),
        None => {}
    }
    for id in sheet.take(object, "status") {
        if let Some(word) = sheet.word(id, bundle::STATUSES)
            && let Some(status) = Status::named(word)
        {
            draft.state(call, status, "the runner's own status");
        }
    }
    if running {
        draft.state_if_silent(call, Status::Pending, "the exit code is null: it is running");
    }
    draft.state_if_silent(call, Status::Unknown, "no exit code and no status");
}
