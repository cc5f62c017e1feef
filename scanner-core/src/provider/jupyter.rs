//! Jupyter: kernel messages and notebooks. SHAPES 9.

use std::collections::HashMap;

use crate::{
    bundle::{Artifact, Origin, Source, Status, Written},
    envelope::{
        Envelope,
        draft::Draft,
        joiner::{Joiner, Role},
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "jupyter",
    expected: "a notebook with \"cells\", outputs with \"output_type\", or messages with \"msg_type\"",
    recognise,
    adapt,
    reads: "cells, outputs and attachments of notebooks; stream, display_data, execute_result, error and reply messages",
    status: "an error output or reply is failed, aborted is cancelled, anything else ok",
    error: "an output of type `error`; `status: \"error\"` of a reply",
};

const OUTPUTS: &[&str] = &["stream", "display_data", "execute_result", "error", "update_display_data"];
const MESSAGES: &[&str] = &[
    "status",
    "execute_input",
    "execute_request",
    "execute_reply",
    "execute_result",
    "display_data",
    "update_display_data",
    "clear_output",
    "stream",
    "error",
    "comm_open",
    "comm_msg",
    "comm_close",
];
const HEADER: &[(&str, Shape)] = &[
    ("msg_id", Shape::Id),
    ("msg_type", Shape::Word(MESSAGES)),
    ("username", Shape::Name),
    ("session", Shape::Id),
    ("date", Shape::Stamp),
    ("version", Shape::Name),
    ("subshell_id", Shape::Id),
];
const MESSAGE: &[(&str, Shape)] = &[
    ("header", Shape::Inside(HEADER)),
    ("parent_header", Shape::Inside(HEADER)),
    ("msg_id", Shape::Id),
    ("msg_type", Shape::Word(MESSAGES)),
    ("channel", Shape::Word(&["iopub", "shell", "stdin", "control"])),
    ("metadata", Shape::Inside(REPLY)),
    ("buffers", Shape::Scalar),
];
const REPLY: &[(&str, Shape)] = &[
    ("started", Shape::Stamp),
    ("dependencies_met", Shape::Scalar),
    ("engine", Shape::Id),
    ("status", Shape::Word(&["ok", "error", "aborted"])),
];
const CONTENT: &[(&str, Shape)] = &[
    ("execution_state", Shape::Word(&["busy", "idle", "starting", "restarting", "dead"])),
    ("execution_count", Shape::Scalar),
    ("wait", Shape::Scalar),
    ("silent", Shape::Scalar),
    ("store_history", Shape::Scalar),
    ("allow_stdin", Shape::Scalar),
    ("stop_on_error", Shape::Scalar),
    ("user_expressions", Shape::Scalar),
    ("payload", Shape::Scalar),
    ("transient", Shape::Inside(&[("display_id", Shape::Id)])),
    ("metadata", Shape::Scalar),
    ("engine_info", Shape::Scalar),
];
const OUTPUT: &[(&str, Shape)] =
    &[("output_type", Shape::Word(OUTPUTS)), ("execution_count", Shape::Scalar), ("metadata", Shape::Scalar)];
const NOTEBOOK: &[(&str, Shape)] =
    &[("nbformat", Shape::Scalar), ("nbformat_minor", Shape::Scalar), ("metadata", Shape::Inside(METADATA))];
const METADATA: &[(&str, Shape)] = &[
    ("kernelspec", Shape::Inside(&[("name", Shape::Name), ("display_name", Shape::Scalar), ("language", Shape::Name)])),
    ("language_info", Shape::Inside(LANGUAGE)),
];
const LANGUAGE: &[(&str, Shape)] = &[
    ("name", Shape::Name),
    ("version", Shape::Name),
    ("mimetype", Shape::Name),
    ("file_extension", Shape::Name),
    ("pygments_lexer", Shape::Name),
    ("nbconvert_exporter", Shape::Name),
    ("codemirror_mode", Shape::Inside(&[("name", Shape::Name), ("version", Shape::Scalar)])),
];
const CELL: &[(&str, Shape)] = &[
    ("cell_type", Shape::Word(&["code", "markdown", "raw"])),
    ("id", Shape::Id),
    ("execution_count", Shape::Scalar),
    ("metadata", Shape::Scalar),
];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| {
        let output = sheet.peek_word(object, "output_type").is_some_and(|kind| OUTPUTS.contains(&kind.as_str()));
        let message = sheet.has(object, "content")
            && (sheet.has(object, "parent_header") || sheet.has(object, "header"))
            && (sheet.has(object, "msg_type") || sheet.peek_path(object, &["header", "msg_type"]).is_some());
        let notebook = sheet.has(object, "nbformat") && sheet.has(object, "cells");
        output || message || notebook || sheet.has(object, "cell_type") && sheet.has(object, "source")
    });
    if own { Sure::Yes } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    let mut kernel = Kernel::default();
    let mut loose = None;
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        if sheet.has(object, "cells") {
            draft.surface = Some("notebook");
            notebook(sheet, object, draft);
        } else if sheet.has(object, "cell_type") {
            draft.surface = Some("notebook cells");
            cell(sheet, object, draft);
        } else if sheet.has(object, "output_type") {
            draft.surface = Some("notebook outputs");
            let call = *loose.get_or_insert_with(|| draft.call(None, None));
            output(sheet, object, call, draft);
        } else {
            draft.surface = Some("kernel messages");
            kernel.message(sheet, object, draft);
        }
    }
    kernel.finish(draft);
    draft.state_all_silent(Status::Ok, "no error output");
}

fn notebook(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    // A notebook is also a file that somebody opens: its own format is looked into as well.
    let mut whole = Artifact::new(Origin::File, Source::stored(sheet.doc.bytes().clone()));
    whole.declared = Some("application/x-ipynb+json".to_owned());
    whole.at = Some(sheet.pointer(object));
    let bytes = sheet.doc.bytes();
    whole.written.push(Written::plain(sheet.ground.clone(), 0..bytes.len(), bytes.clone()));
    draft.add(whole);
    sheet.known(object, NOTEBOOK);
    for metadata in sheet.take(object, "metadata") {
        draft.tree(sheet, metadata, Origin::Metadata, None);
    }
    for cells in sheet.take(object, "cells") {
        for item in sheet.items(cells).into_iter().filter(|id| sheet.is_object(*id)) {
            cell(sheet, item, draft);
        }
    }
}

fn cell(sheet: &Sheet, cell: NodeId, draft: &mut Draft<'_>) {
    let is_code = sheet.peek_word(cell, "cell_type").as_deref() == Some("code");
    let id = sheet.peek_word(cell, "id").filter(|id| crate::envelope::sheet::is_id(id));
    sheet.known(cell, CELL);
    let ran = sheet.peek(cell, "outputs").is_some_and(|list| sheet.doc.children(list).next().is_some())
        || sheet.peek(cell, "execution_count").is_some_and(|id| sheet.kind(id) == Kind::Number);
    let call = (is_code && ran).then(|| draft.call(id, None));
    for source in sheet.take(cell, "source") {
        draft.lines(sheet, source, "", if is_code { Origin::Code } else { Origin::Message }, call);
    }
    for outputs in sheet.take(cell, "outputs") {
        for item in sheet.items(outputs).into_iter().filter(|id| sheet.is_object(*id)) {
            if let Some(call) = call {
                output(sheet, item, call, draft);
            }
        }
    }
    for attachments in sheet.take(cell, "attachments") {
        for file in sheet.doc.children(attachments).filter(|id| sheet.is_object(*id)) {
            mime_bundle(sheet, file, call, draft);
        }
    }
    if let Some(call) = call {
        draft.state_if_silent(call, Status::Ok, "no error output");
    }
}

fn output(sheet: &Sheet, output: NodeId, call: usize, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(output, "output_type").unwrap_or_default();
    sheet.known(output, OUTPUT);
    content(sheet, output, &kind, call, None, draft);
}

/// What an output and a message have in common.
fn content(
    sheet: &Sheet,
    object: NodeId,
    kind: &str,
    call: usize,
    joiner: Option<(&mut Joiner, &str)>,
    draft: &mut Draft<'_>,
) {
    if kind == "stream" {
        let name = sheet.take_word(object, "name", &["stdout", "stderr"]).unwrap_or("stdout");
        let origin = if name == "stderr" { Origin::Stderr } else { Origin::Stdout };
        let mut joiner = joiner;
        for text in sheet.take(object, "text") {
            match (&mut joiner, sheet.kind(text)) {
                (Some((joiner, of)), Kind::Text) => {
                    joiner.push(draft, sheet, text, format!("{of} {name}"), Role::Text(origin), Some(call));
                }
                _ => drop(draft.lines(sheet, text, "", origin, Some(call))),
            }
        }
    }
    for data in sheet.take(object, "data").filter(|id| sheet.is_object(*id)) {
        mime_bundle(sheet, data, Some(call), draft);
    }
    if kind == "error" || sheet.has(object, "ename") {
        draft.state(call, Status::Failed, "an error output");
        for key in ["ename", "evalue", "traceback"] {
            for id in sheet.take(object, key) {
                draft.lines(sheet, id, "\n", Origin::Error, Some(call));
            }
        }
    }
}

/// Values by media type: one thing in several forms, any of which may be shown.
pub(super) fn mime_bundle(sheet: &Sheet, bundle: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    for id in sheet.doc.children(bundle) {
        let mime = sheet.doc.key(id).map(std::borrow::Cow::into_owned).unwrap_or_default();
        if is_name(&mime) && mime.contains('/') {
            sheet.claim_key(id);
        }
        value_of(sheet, id, &mime, call, draft);
    }
}

/// One value of a media type.
pub(super) fn value_of(sheet: &Sheet, id: NodeId, mime: &str, call: Option<usize>, draft: &mut Draft<'_>) {
    let plain = mime.to_ascii_lowercase();
    let declared = Some(mime.to_owned());
    let (family, member) = plain.split_once('/').unwrap_or((&plain, ""));
    match (family, member) {
        ("image", "svg+xml") => {
            let made = draft.lines(sheet, id, "", Origin::Image, call);
            draft.describe(made, None, declared);
        }
        ("image", _) => drop(draft.bytes(sheet, id, Origin::Image, declared, call)),
        ("audio" | "video" | "font", _) | ("application", "pdf" | "octet-stream" | "zip") => {
            draft.bytes(sheet, id, Origin::File, declared, call);
        }
        ("text", "html" | "javascript") | ("application", "javascript" | "xhtml+xml" | "xml") => {
            let made = draft.lines(sheet, id, "", Origin::File, call);
            draft.describe(made, None, declared);
        }
        _ if matches!(sheet.kind(id), Kind::Text | Kind::Array) && !member.ends_with("json") => {
            draft.lines(sheet, id, "", Origin::Result, call);
        }
        _ => draft.tree(sheet, id, Origin::Result, call),
    }
}

/// Messages of a kernel, by the request they answer.
#[derive(Default)]
struct Kernel {
    joiner: Joiner,
    calls: HashMap<String, usize>,
    idle: Vec<usize>,
}

impl Kernel {
    fn message(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        let word = |path: &[&str]| {
            sheet.peek_path(object, path).and_then(|id| sheet.doc.word(id)).map(std::borrow::Cow::into_owned)
        };
        let kind = word(&["msg_type"]).or_else(|| word(&["header", "msg_type"])).unwrap_or_default();
        let own = word(&["msg_id"]).or_else(|| word(&["header", "msg_id"])).unwrap_or_default();
        let asked = word(&["parent_header", "msg_id"]).unwrap_or_default();
        let request = if kind == "execute_request" { own } else { asked };
        sheet.known(object, MESSAGE);
        let call = match self.calls.get(&request) {
            Some(call) => *call,
            None => {
                let id = crate::envelope::sheet::is_id(&request).then(|| request.clone());
                let call = draft.call(id, None);
                self.calls.insert(request.clone(), call);
                call
            }
        };
        for inner in sheet.take(object, "content").filter(|id| sheet.is_object(*id)) {
            sheet.known(inner, CONTENT);
            draft.texts(sheet, inner, "code", Origin::Code, Some(call));
            content(sheet, inner, &kind, call, Some((&mut self.joiner, &request)), draft);
            for id in sheet.take(inner, "status") {
                match sheet.word(id, &["ok", "error", "aborted", "abort"]) {
                    Some("ok") => draft.state(call, Status::Ok, "execute_reply ok"),
                    Some("error") => draft.state(call, Status::Failed, "execute_reply error"),
                    Some(_) => draft.state(call, Status::Cancelled, "execute_reply aborted"),
                    None => draft.state(call, Status::Unknown, "a reply of an unknown status"),
                }
            }
            match sheet.peek_word(inner, "execution_state").as_deref() {
                Some("idle") => self.idle.push(call),
                Some("dead") => draft.state(call, Status::Failed, "the kernel died"),
                _ => {}
            }
        }
    }

    fn finish(self, draft: &mut Draft<'_>) {
        self.joiner.finish(draft);
        for call in self.calls.into_values() {
            let status = if self.idle.contains(&call) { Status::Ok } else { Status::Pending };
            let reason = if status == Status::Ok { "no error, and the kernel is idle again" } else { "no reply yet" };
            draft.state_if_silent(call, status, reason);
        }
    }
}
