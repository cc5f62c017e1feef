//! Results that a vendor writes as JSON inside a string: xAI's logs and gRPC content, OpenAI's local shell
//! (SHAPES 2.4, 3.1, 3.2, 12). Only there, and only so many layers; the string itself is the vendor's, what is in it
//! came from the program.

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

/// Layers of JSON in JSON that are undone: once is normal, twice is a sender's mistake.
const LAYERS: usize = 3;
const KNOWN: &[(&str, Shape)] = &[("duration_ms", Shape::Scalar), ("execution_time", Shape::Scalar)];

/// Reads a string that holds a result as JSON. `false` when it does not: it is text then, and still unclaimed.
pub(crate) fn read(sheet: &Sheet, id: NodeId, call: usize, draft: &mut Draft<'_>) -> bool {
    let mut inner = match sheet.inner(id, draft.budget) {
        Ok(Some(inner)) => inner,
        Ok(None) => return false,
        Err(exhausted) => {
            draft.limit(exhausted, Some(sheet.pointer(id)));
            return false;
        }
    };
    for _ in 1..LAYERS {
        let Some(root) = inner.root().filter(|root| inner.kind(*root) == Kind::Text) else { break };
        match inner.inner(root, draft.budget) {
            Ok(Some(next)) => inner = next,
            Ok(None) => break,
            Err(exhausted) => {
                draft.limit(exhausted, Some(sheet.pointer(id)));
                break;
            }
        }
    }
    let Some(root) = inner.root() else { return false };
    match inner.kind(root) {
        Kind::Object if is_result(&inner, root) => {
            result(&inner, root, call, draft);
            draft.sweep(&inner);
            true
        }
        Kind::Text => {
            draft.text(&inner, root, Origin::Log, Some(call));
            draft.sweep(&inner);
            true
        }
        _ => {
            sheet.unclaim(id);
            false
        }
    }
}

fn is_result(sheet: &Sheet, object: NodeId) -> bool {
    ["stdout", "stderr", "exit_code", "command_timed_out", "timed_out", "output_files", "error", "output"]
        .iter()
        .any(|key| sheet.has(object, key))
}

/// `{stdout, stderr, exit_code, command_timed_out}` and `{stdout, stderr, output_files, error, ret}`.
fn result(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for (key, origin) in [
        ("stdout", Origin::Stdout),
        ("stderr", Origin::Stderr),
        ("output", Origin::Log),
        ("ret", Origin::Result),
        ("result", Origin::Result),
    ] {
        for id in sheet.take(object, key) {
            draft.lines(sheet, id, "\n", origin, Some(call));
        }
    }
    let flag = sheet.take_flag(object, &["command_timed_out", "timed_out", "timeout"]);
    if flag == Some(true) {
        draft.state(call, Status::TimedOut, "the result says the command timed out");
    }
    let code = sheet.take_integer(object, &["exit_code", "exitCode", "returncode", "return_code"]);
    draft.exit(call, code);
    for id in sheet.take(object, "error") {
        let empty = sheet.kind(id) == Kind::Null || sheet.doc.raw(id).is_empty();
        if !empty {
            draft.state(call, Status::Failed, "the result has an error");
        } else if code.is_none() {
            draft.state(call, Status::Ok, "the result has no error");
        }
        draft.tree(sheet, id, Origin::Error, Some(call));
    }
    for files in sheet.take_any(object, &["output_files", "outputFiles"]) {
        super::super::xai::output_files(sheet, files, call, draft);
    }
    sheet.known(object, KNOWN);
}
