//! Items of the Responses API: messages, calls and their outputs (SHAPES 2.1 to 2.4, 3.1).

use std::collections::{BTreeSet, HashMap, HashSet};

use bytes::Bytes;

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        joiner::{Joiner, Role, read_arguments},
        offset,
        rules::SHAPE,
        sheet::{Shape, Sheet, is_id, is_name},
        traceback,
    },
    finding::{Reason, Stop},
    json::{Doc, Kind, NodeId},
    limits::Resource,
};

use super::{content, file, printed, shell};

/// Who sent the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `logs` is what the program printed.
    OpenAi,
    /// `logs` is JSON of the vendor, with what the program printed in it.
    Xai,
}

/// What is known of an envelope while its items are read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(super) dialect: Dialect,
    pub(crate) streaming: bool,
    pub(super) joiner: Joiner,
    /// Calls by the ids and positions of their items.
    pub(super) calls: HashMap<String, usize>,
    /// Calls of code interpreters whose outputs were not there, and where.
    without_outputs: HashMap<usize, String>,
    with_outputs: HashSet<usize>,
    /// The longest output a shell was allowed, by call.
    pub(super) longest: HashMap<usize, u64>,
    /// Calls of each step of a run.
    pub(super) steps: HashMap<String, BTreeSet<usize>>,
    pub(super) sequence: Option<i64>,
    pub(super) seen_event: bool,
    pub(super) ended: bool,
}

impl Reading {
    pub(crate) fn new(dialect: Dialect, streaming: bool) -> Self {
        Self {
            dialect,
            streaming,
            joiner: Joiner::default(),
            calls: HashMap::new(),
            without_outputs: HashMap::new(),
            with_outputs: HashSet::new(),
            longest: HashMap::new(),
            steps: HashMap::new(),
            sequence: None,
            seen_event: false,
            ended: false,
        }
    }

    /// What can only be said when everything was read.
    pub(crate) fn finish(self, done: bool, draft: &mut Draft<'_>) {
        self.joiner.finish(draft);
        let mut missing: Vec<_> =
            self.without_outputs.into_iter().filter(|(call, _)| !self.with_outputs.contains(call)).collect();
        missing.sort();
        for (call, at) in missing {
            draft.gap(
                Reason::NotIncluded,
                "the outputs were not asked for: request with include [\"code_interpreter_call.outputs\"]",
                Some(at),
            );
            draft.state_if_silent(call, Status::Unknown, "its outputs are not included");
        }
        if self.seen_event && !self.ended && !done {
            draft.overall(Status::Truncated);
        }
        for call in draft.silent() {
            let (status, reason) = match draft.bundle.status {
                Some(Status::Truncated) => (Status::Truncated, "its result is missing: the response is incomplete"),
                _ => (Status::Pending, "its result is not there yet"),
            };
            draft.state(call, status, reason);
        }
    }
}

const SURE: &[&str] = &[
    "code_interpreter_call",
    "code_execution_call",
    "shell_call",
    "shell_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "program",
    "program_output",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "computer_call",
    "computer_call_output",
    "web_search_call",
    "x_search_call",
    "file_search_call",
    "image_generation_call",
    "reasoning",
    "compaction",
    "item_reference",
];
const STATUSES: &[&str] = &[
    "completed",
    "incomplete",
    "failed",
    "in_progress",
    "interpreting",
    "searching",
    "generating",
    "calling",
    "queued",
];
const ITEM: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("call_id", Shape::Id),
    ("container_id", Shape::Id),
    ("response_id", Shape::Id),
    ("approval_request_id", Shape::Id),
    ("created_by", Shape::Id),
    ("fingerprint", Shape::Opaque),
    ("encrypted_content", Shape::Opaque),
    ("max_output_length", Shape::Scalar),
    ("phase", Shape::Word(&["commentary", "final_answer"])),
    ("agent", Shape::Inside(&[("agent_name", Shape::Name)])),
    ("background", Shape::Word(&["transparent", "opaque", "auto"])),
    ("output_format", Shape::Word(&["png", "jpeg", "webp"])),
    ("quality", Shape::Word(&["low", "medium", "high", "auto"])),
    ("size", Shape::Name),
    (
        "environment",
        Shape::Inside(&[
            ("type", Shape::Word(&["local", "container_reference", "container_auto"])),
            ("container_id", Shape::Id),
        ]),
    ),
    ("caller", Shape::Inside(&[("type", Shape::Word(&["direct", "program"])), ("caller_id", Shape::Id)])),
];
const ACTION: &[(&str, Shape)] = &[
    ("type", Shape::Name),
    ("timeout_ms", Shape::Scalar),
    ("max_output_length", Shape::Scalar),
    ("x", Shape::Scalar),
    ("y", Shape::Scalar),
    ("button", Shape::Word(&["left", "right", "wheel", "back", "forward"])),
    ("commands", Shape::Scalar),
    ("command", Shape::Scalar),
    ("env", Shape::Scalar),
    ("user", Shape::Id),
    ("working_directory", Shape::Scalar),
    ("query", Shape::Scalar),
    ("queries", Shape::Scalar),
    ("url", Shape::Scalar),
    ("sources", Shape::Scalar),
    ("path", Shape::Scalar),
    ("diff", Shape::Scalar),
];
pub(super) fn is_sure(kind: &str) -> bool {
    SURE.contains(&kind)
}

/// One item. `whole` is false for the first sight of it in a stream, when nothing in it is final.
pub(super) fn item(sheet: &Sheet, object: NodeId, whole: bool, reading: &mut Reading, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    sheet.take_word(object, "type", SURE);
    match kind.as_str() {
        "message" => content::message(sheet, object, reading, draft),
        "" if sheet.has(object, "role") => content::message(sheet, object, reading, draft),
        "reasoning" => {
            for list in sheet.take_any(object, &["summary", "content"]) {
                content::parts(sheet, list, Origin::Message, None, reading, draft);
            }
            status_words(sheet, object);
        }
        "code_interpreter_call" | "code_execution_call" => interpreter(sheet, object, whole, reading, draft),
        "shell_call_output" => shell::output(sheet, object, reading, draft),
        kind if kind.ends_with("_output") => output(sheet, object, kind, reading, draft),
        kind if SURE.contains(&kind) => call(sheet, object, kind, reading, draft),
        _ => status_words(sheet, object),
    }
    sheet.known(object, ITEM);
}

pub(super) fn status_words(sheet: &Sheet, object: NodeId) {
    sheet.take_word(object, "status", STATUSES);
}

/// The call of an item, by `call_id` or `id`; both lead to it afterwards.
pub(super) fn call_of(
    sheet: &Sheet,
    object: NodeId,
    tool: Option<&str>,
    reading: &mut Reading,
    draft: &mut Draft<'_>,
) -> usize {
    let id = sheet.peek_word(object, "id").filter(|id| is_id(id));
    let call_id = sheet.peek_word(object, "call_id").filter(|id| is_id(id) && !id.is_empty());
    let known = id.as_ref().and_then(|id| draft.find_call(id));
    let call = match (known, call_id.clone().or(id.clone())) {
        (Some(call), _) => call,
        (None, Some(key)) => draft.call(Some(key), tool),
        (None, None) => draft.call(None, tool),
    };
    for key in [id, call_id].into_iter().flatten() {
        draft.also_called(&key, call);
        reading.calls.insert(key, call);
    }
    let container = sheet.peek_word(object, "container_id").or_else(|| {
        sheet
            .peek_path(object, &["environment", "container_id"])
            .and_then(|id| sheet.doc.word(id))
            .map(std::borrow::Cow::into_owned)
    });
    draft.container(call, container.filter(|id| is_id(id)));
    let caller = sheet
        .peek_path(object, &["caller", "caller_id"])
        .and_then(|id| sheet.doc.word(id))
        .map(std::borrow::Cow::into_owned);
    draft.caller(call, caller.filter(|id| is_id(id)));
    call
}

/// What an item's own status says of its call.
pub(super) fn status(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for id in sheet.take(object, "status") {
        match sheet.word(id, STATUSES) {
            Some("completed") => draft.state(call, Status::Ok, "status completed"),
            Some("incomplete") => draft.state(call, Status::Truncated, "status incomplete"),
            Some("failed") => draft.state(call, Status::Failed, "status failed"),
            Some(_) => draft.progress(call),
            None if sheet.kind(id) == Kind::Null => {}
            None => draft.state(call, Status::Unknown, format!("status {}", Draft::raw_word(sheet, id))),
        }
    }
}

/// `code_interpreter_call` in all its shapes.
fn interpreter(sheet: &Sheet, object: NodeId, whole: bool, reading: &mut Reading, draft: &mut Draft<'_>) {
    let call = call_of(sheet, object, Some("code_interpreter"), reading, draft);
    draft.texts(sheet, object, "code", Origin::Code, Some(call));
    for id in sheet.take(object, "arguments") {
        arguments(sheet, id, call, draft);
    }
    sheet.take_word(object, "name", &["code_execution", "code_interpreter"]);
    let mut there = false;
    for list in sheet.take_any(object, &["outputs", "results"]) {
        if sheet.kind(list) == Kind::Null {
            continue;
        }
        there = true;
        if sheet.kind(list) != Kind::Array {
            draft.find(&SHAPE, "outputs is no list: what stands there was read", Some(sheet.pointer(list)));
        }
        for output in sheet.items(list) {
            if sheet.is_object(output) {
                interpreter_output(sheet, output, call, false, reading, draft);
            } else {
                draft.text(sheet, output, Origin::Log, Some(call));
            }
        }
    }
    if whole && there {
        reading.with_outputs.insert(call);
    } else if whole {
        reading.without_outputs.entry(call).or_insert_with(|| sheet.pointer(object));
    }
    status(sheet, object, call, draft);
    if whole && there && !sheet.has(object, "status") {
        draft.state_if_silent(call, Status::Unknown, "no status");
    }
}

/// One of the outputs: logs, a picture, or something new.
pub(super) fn interpreter_output(
    sheet: &Sheet,
    output: NodeId,
    call: usize,
    pieces: bool,
    reading: &mut Reading,
    draft: &mut Draft<'_>,
) {
    let index = sheet.peek(output, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(0);
    sheet.known(output, &[("type", Shape::Word(&["logs", "image"])), ("index", Shape::Scalar)]);
    for id in sheet.take(output, "logs") {
        if pieces {
            reading.joiner.push(draft, sheet, id, format!("{call} logs {index}"), Role::Text(Origin::Log), Some(call));
        } else {
            logs(sheet, id, call, reading.dialect, draft);
        }
    }
    for id in sheet.take_any(output, &["url", "image_url"]) {
        draft.url(sheet, id, Origin::Image, Some(call));
    }
    for image in sheet.take(output, "image") {
        if !sheet.is_object(image) {
            draft.url(sheet, image, Origin::Image, Some(call));
            continue;
        }
        // @langchain/xai: {data, media_type}; Assistants: {file_id}.
        let declared = sheet.take_type(image, &["media_type", "mime_type"]);
        for id in sheet.take(image, "data") {
            draft.bytes(sheet, id, Origin::Image, declared.clone(), Some(call));
        }
        for id in sheet.take(image, "file_id") {
            file(sheet, id, None, None, Some(call), draft);
        }
    }
    for id in sheet.take(output, "file_id") {
        file(sheet, id, None, None, Some(call), draft);
    }
}

/// What was printed, or the vendor's JSON around it.
fn logs(sheet: &Sheet, id: NodeId, call: usize, dialect: Dialect, draft: &mut Draft<'_>) {
    if dialect == Dialect::Xai && printed::read(sheet, id, call, draft) {
        return;
    }
    let made = draft.text(sheet, id, Origin::Log, Some(call));
    let Some(artifact) = made.and_then(|index| draft.bundle.artifacts.get(index)) else { return };
    let text = artifact.source.packed.clone();
    if traceback::ends_in_traceback(&text) {
        draft.state(call, Status::Failed, "inferred: the log ends in a traceback");
    } else if dialect == Dialect::Xai && is_cut_json(&text, draft) {
        draft.state(call, Status::Truncated, "inferred: the log ends in the middle of its JSON");
    }
}

/// Whether a text is JSON up to its end, and not over there.
fn is_cut_json(text: &Bytes, draft: &mut Draft<'_>) -> bool {
    if !text.starts_with(b"{\"") {
        return false;
    }
    match Doc::parse(text, draft.budget).stop {
        Some(Stop::Malformed { at, .. }) => at >= offset(text.len()),
        Some(Stop::Limit(exhausted)) if exhausted.0 != Resource::Depth => {
            draft.limit(exhausted, None);
            false
        }
        _ => false,
    }
}

/// Arguments of a function: JSON in a string.
pub(super) fn arguments(sheet: &Sheet, id: NodeId, call: usize, draft: &mut Draft<'_>) {
    match sheet.kind(id) {
        Kind::Text => match sheet.doc.string(id, draft.budget) {
            Ok(Some(text)) => {
                sheet.claim(id);
                read_arguments(draft, text, sheet.pointer(id), sheet.written(id), Some(call));
            }
            Ok(None) => {}
            Err(exhausted) => draft.limit(exhausted, Some(sheet.pointer(id))),
        },
        _ => draft.arguments(sheet, id, Some(call)),
    }
}

/// `{name, arguments}` of a function or custom tool call.
pub(crate) fn function(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for id in sheet.take(object, "name") {
        // A client's tool has whatever name the client gave it: read as text.
        let name = sheet.doc.word(id).filter(|name| is_name(name)).map(std::borrow::Cow::into_owned);
        if sheet.word(id, &["code_execution", "code_interpreter", "web_search", "x_search"]).is_none() {
            draft.text(sheet, id, Origin::Metadata, Some(call));
        }
        if let (Some(name), Some(call)) = (name, draft.bundle.calls.get_mut(call)) {
            call.tool.get_or_insert(name);
        }
    }
    for id in sheet.take(object, "arguments") {
        arguments(sheet, id, call, draft);
    }
    draft.texts(sheet, object, "input", Origin::Code, Some(call));
}

/// A call whose output is an item of its own, or is in it.
fn call(sheet: &Sheet, object: NodeId, kind: &str, reading: &mut Reading, draft: &mut Draft<'_>) {
    let tool = kind.strip_suffix("_call").unwrap_or(kind);
    let tool = if matches!(kind, "function_call" | "custom_tool_call" | "mcp_call") { None } else { Some(tool) };
    let call = call_of(sheet, object, tool, reading, draft);
    function(sheet, object, call, draft);
    draft.described(sheet, object, &["server_label", "namespace", "revised_prompt", "reason"], Some(call));
    draft.texts(sheet, object, "code", Origin::Code, Some(call));
    for action in sheet.take_any(object, &["action", "operation", "actions", "queries"]) {
        if let Some(longest) = sheet.peek(action, "max_output_length").and_then(|id| sheet.doc.integer(id)) {
            reading.longest.insert(call, longest.unsigned_abs());
        }
        sheet.known(action, ACTION);
        draft.tree(sheet, action, Origin::Code, Some(call));
    }
    for id in sheet.take_any(object, &["output", "results", "tools"]) {
        if sheet.kind(id) == Kind::Text {
            draft.text(sheet, id, Origin::Log, Some(call));
        } else {
            draft.tree(sheet, id, Origin::Log, Some(call));
        }
    }
    for id in sheet.take(object, "result") {
        if kind == "image_generation_call" {
            draft.bytes(sheet, id, Origin::Image, None, Some(call));
        } else {
            draft.text(sheet, id, Origin::Result, Some(call));
        }
    }
    let mut failed = false;
    for id in sheet.take(object, "error").filter(|id| sheet.kind(*id) != Kind::Null) {
        failed = true;
        sheet.known(id, super::ERROR);
        draft.tree(sheet, id, Origin::Error, Some(call));
    }
    if failed {
        draft.state(call, Status::Failed, "it has an error");
    }
    // `completed` of these says that the call was written, not that it ran: its output does.
    let own_output = !matches!(
        kind,
        "shell_call"
            | "local_shell_call"
            | "apply_patch_call"
            | "function_call"
            | "custom_tool_call"
            | "program"
            | "computer_call"
            | "mcp_approval_request"
    );
    if own_output {
        status(sheet, object, call, draft);
        if matches!(kind, "mcp_call" | "mcp_list_tools") && sheet.peek(object, "status").is_none() {
            draft.state(call, Status::Ok, "no error");
        }
    } else {
        for id in sheet.take(object, "status") {
            match sheet.word(id, STATUSES) {
                Some("incomplete") => draft.state(call, Status::Truncated, "status incomplete"),
                Some("failed") => draft.state(call, Status::Failed, "status failed"),
                _ => {}
            }
        }
    }
}

/// Output of a client's tool: a string or parts.
fn output(sheet: &Sheet, object: NodeId, kind: &str, reading: &mut Reading, draft: &mut Draft<'_>) {
    let tool = match kind {
        "local_shell_call_output" => Some("local_shell"),
        "apply_patch_call_output" => Some("apply_patch"),
        "program_output" => Some("program"),
        "computer_call_output" => Some("computer"),
        _ => None,
    };
    let call = call_of(sheet, object, tool, reading, draft);
    let mut silent = true;
    for id in sheet.take_any(object, &["output", "result"]) {
        match sheet.kind(id) {
            Kind::Text if kind == "local_shell_call_output" => {
                if printed::read(sheet, id, call, draft) {
                    silent = !draft.is_stated(call);
                } else {
                    draft.text(sheet, id, Origin::Log, Some(call));
                }
            }
            Kind::Text => drop(draft.text(sheet, id, Origin::Log, Some(call))),
            _ => content::parts(sheet, id, Origin::Log, Some(call), reading, draft),
        }
    }
    let stated = sheet.peek(object, "status").is_some_and(|id| sheet.kind(id) != Kind::Null);
    match (kind, stated) {
        ("local_shell_call_output", true) if !silent => status(sheet, object, call, draft),
        // It says that the output was handed over, nothing of how the command ended.
        ("local_shell_call_output", _) => {
            sheet.take_word(object, "status", STATUSES);
            if silent {
                draft.state(call, Status::Unknown, "an output of no known shape");
            }
        }
        (_, true) => status(sheet, object, call, draft),
        (_, false) => draft.state(call, Status::Ok, "an output and no status"),
    }
}
