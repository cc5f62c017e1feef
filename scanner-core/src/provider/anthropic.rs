//! Anthropic: Messages API responses, requests with tool results, streams, batches, Files API, managed agents.
//! SHAPES 1.

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        Envelope, Form,
        draft::{Draft, Vendor},
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

mod blocks;
mod results;
mod stream;

pub(crate) static PROVIDER: Provider = Provider {
    name: "anthropic",
    expected: "a message with \"content\", a tool result, a stream or a batch of them",
    recognise,
    adapt,
    reads: "messages, tool results of every server tool version, client tool results, streams, batches, file metadata, managed-agent events",
    status: "return_code and error codes; is_error of client tool results; stop_reason for calls without a result",
    error: "a `…_tool_result_error` with its `error_code` (time: `execution_time_exceeded`); `return_code` ≠ 0; `is_error: true` of a client tool result",
};

const VENDOR: Vendor = Vendor { auth: "anthropic", hosts: &["api.anthropic.com"] };

const STOP_REASONS: &[&str] = &[
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
];
const USAGE: &[(&str, Shape)] = &[
    ("input_tokens", Shape::Scalar),
    ("output_tokens", Shape::Scalar),
    ("cache_creation_input_tokens", Shape::Scalar),
    ("cache_read_input_tokens", Shape::Scalar),
    ("cache_creation", Shape::Inside(CACHE)),
    ("service_tier", Shape::Word(&["standard", "priority", "batch", "auto", "standard_only"])),
    ("inference_geo", Shape::Name),
    ("server_tool_use", Shape::Inside(SERVER_TOOLS)),
    ("iterations", Shape::Inside(ITERATION)),
    ("output_tokens_details", Shape::Inside(&[("thinking_tokens", Shape::Scalar)])),
    ("speed", Shape::Word(&["standard", "fast"])),
];
const ITERATION: &[(&str, Shape)] = &[
    ("type", Shape::Word(&["message", "compaction", "advisor_message"])),
    ("input_tokens", Shape::Scalar),
    ("output_tokens", Shape::Scalar),
    ("cache_creation_input_tokens", Shape::Scalar),
    ("cache_read_input_tokens", Shape::Scalar),
    ("cache_creation", Shape::Inside(CACHE)),
];
const CACHE: &[(&str, Shape)] =
    &[("ephemeral_5m_input_tokens", Shape::Scalar), ("ephemeral_1h_input_tokens", Shape::Scalar)];
const SERVER_TOOLS: &[(&str, Shape)] = &[
    ("web_search_requests", Shape::Scalar),
    ("web_fetch_requests", Shape::Scalar),
    ("code_execution_requests", Shape::Scalar),
    ("tool_search_requests", Shape::Scalar),
];
const MESSAGE: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("type", Shape::Word(&["message"])),
    ("role", Shape::Word(&["assistant", "user", "system"])),
    ("model", Shape::Name),
    ("usage", Shape::Inside(USAGE)),
    ("stop_details", Shape::Scalar),
    ("diagnostics", Shape::Scalar),
    ("context_management", Shape::Scalar),
];
const CONTAINER: &[(&str, Shape)] =
    &[("id", Shape::Id), ("expires_at", Shape::Stamp), ("skills", Shape::Inside(SKILL))];
const SKILL: &[(&str, Shape)] =
    &[("type", Shape::Word(&["anthropic", "custom"])), ("skill_id", Shape::Id), ("version", Shape::Id)];
const REQUEST: &[(&str, Shape)] = &[
    ("model", Shape::Name),
    ("max_tokens", Shape::Scalar),
    ("temperature", Shape::Scalar),
    ("top_p", Shape::Scalar),
    ("top_k", Shape::Scalar),
    ("stream", Shape::Scalar),
    ("service_tier", Shape::Name),
    ("betas", Shape::Name),
    ("tools", Shape::Inside(TOOL)),
];
const TOOL: &[(&str, Shape)] = &[("type", Shape::Name), ("name", Shape::Name), ("max_characters", Shape::Scalar)];
const ROW: &[(&str, Shape)] = &[("custom_id", Shape::Id)];
const RESULT_TYPES: &[&str] = &["succeeded", "errored", "canceled", "expired"];
const FILE: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("type", Shape::Word(&["file"])),
    ("mime_type", Shape::Name),
    ("size_bytes", Shape::Scalar),
    ("created_at", Shape::Stamp),
    ("expires_at", Shape::Stamp),
    ("downloadable", Shape::Scalar),
    ("scope", Shape::Inside(&[("type", Shape::Name), ("id", Shape::Id)])),
];
const PAGE: &[(&str, Shape)] =
    &[("has_more", Shape::Scalar), ("first_id", Shape::Id), ("last_id", Shape::Id), ("next_page", Shape::Opaque)];
const ERROR: &[(&str, Shape)] = &[("type", Shape::Name), ("request_id", Shape::Id)];

fn recognise(envelope: &Envelope) -> Sure {
    envelope.heads().into_iter().map(|(sheet, object)| of_object(sheet, object)).max().unwrap_or(Sure::No)
}

fn of_object(sheet: &Sheet, object: NodeId) -> Sure {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let has = |key| sheet.has(object, key);
    if blocks::is_sure(&kind) && (has("tool_use_id") || has("content") || has("input") || has("file_id"))
        || stream::EVENTS.contains(&kind.as_str()) && kind != "error" && kind != "ping"
        || blocks::is_managed(&kind)
        || kind == "message" && has("content") && (has("stop_reason") || has("stop_sequence"))
        || kind == "file" && (has("size_bytes") || has("mime_type")) && has("filename")
    {
        return Sure::Yes;
    }
    let result = sheet.peek_path(object, &["result", "type"]).and_then(|id| sheet.doc.word(id));
    if has("custom_id") && result.is_some_and(|word| RESULT_TYPES.contains(&&*word)) {
        return Sure::Yes;
    }
    if let Some(list) = sheet.peek(object, "data").or(sheet.peek(object, "messages"))
        && sheet.kind(list) == Kind::Array
    {
        let items = sheet.doc.children(list).take(32);
        return items.map(|item| of_item(sheet, item)).max().unwrap_or(Sure::No);
    }
    if kind == "error" && sheet.peek_path(object, &["error", "type"]).is_some() {
        return Sure::Maybe;
    }
    // A message that was only begun, or blocks without their message.
    if has("role") && sheet.peek(object, "content").is_some_and(|content| has_blocks(sheet, content)) {
        return Sure::Yes;
    }
    Sure::No
}

/// A message of a request, a file or an event of a list.
fn of_item(sheet: &Sheet, item: NodeId) -> Sure {
    let kind = sheet.peek_word(item, "type").unwrap_or_default();
    let own = blocks::is_managed(&kind)
        || kind == "file" && sheet.has(item, "filename") && sheet.has(item, "size_bytes")
        || sheet.peek(item, "content").is_some_and(|content| has_blocks(sheet, content));
    if own { Sure::Yes } else { Sure::No }
}

fn has_blocks(sheet: &Sheet, content: NodeId) -> bool {
    sheet.kind(content) == Kind::Array
        && sheet.doc.children(content).take(64).any(|block| {
            sheet
                .peek_word(block, "type")
                .is_some_and(|kind| blocks::is_sure(&kind) && (kind != "tool_use" || sheet.has(block, "input")))
        })
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.vendor = VENDOR;
    let mut stream = stream::Stream::default();
    for (sheet, object) in envelope.objects() {
        if sheet.is_object(object) {
            read(sheet, object, &mut stream, draft);
        }
    }
    stream.finish(draft);
    draft.surface.get_or_insert("tool result");
    if envelope.form == Form::Events {
        draft.surface = Some("Messages stream");
    }
    for call in draft.silent() {
        let (status, reason) = match draft.bundle.status {
            Some(Status::Truncated) => (Status::Truncated, "its result is missing: the message was cut"),
            Some(Status::Failed) => (Status::Failed, "its result is missing: the message ended in an error"),
            _ => (Status::Pending, "its result is not there yet"),
        };
        draft.state(call, status, reason);
    }
}

/// One object of whatever kind.
fn read(sheet: &Sheet, object: NodeId, stream: &mut stream::Stream, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    if sheet.has(object, "custom_id") {
        draft.surface = Some("Message Batches results");
        row(sheet, object, draft);
    } else if stream::EVENTS.contains(&kind.as_str()) {
        stream.event(sheet, object, &kind, draft);
    } else if kind == "file" {
        draft.surface = Some("Files API metadata");
        file(sheet, object, draft);
    } else if kind == "message" || sheet.has(object, "role") {
        draft.surface = Some("Messages response");
        message(sheet, object, draft);
    } else if sheet.has(object, "messages") {
        draft.surface = Some("Messages request");
        request(sheet, object, draft);
    } else if blocks::is_managed(&kind) {
        draft.surface = Some("managed-agent events");
        blocks::managed(sheet, object, draft);
    } else if sheet.has(object, "data") && kind.is_empty() {
        sheet.known(object, PAGE);
        for list in sheet.take(object, "data") {
            for item in sheet.items(list).into_iter().filter(|item| sheet.is_object(*item)) {
                let kind = sheet.peek_word(item, "type").unwrap_or_default();
                match kind.as_str() {
                    "file" => file(sheet, item, draft),
                    kind if blocks::is_managed(kind) => blocks::managed(sheet, item, draft),
                    _ => blocks::block(sheet, item, draft),
                }
            }
        }
    } else {
        blocks::block(sheet, object, draft);
    }
}

/// A message, a model's or a caller's.
fn message(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    sheet.known(object, MESSAGE);
    let before = draft.trust;
    if sheet.peek_word(object, "role").is_some_and(|role| role != "assistant") {
        draft.trust = Trust::Caller;
    }
    let first_call = draft.bundle.calls.len();
    for content in sheet.take(object, "content") {
        blocks::content(sheet, content, Origin::Message, None, draft);
    }
    draft.trust = before;
    ended(sheet, object, draft);
    container(sheet, object, first_call, draft);
}

/// How the message ended; also in `message_delta` of a stream.
fn ended(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    draft.described(sheet, object, &["stop_sequence"], None);
    for id in sheet.take(object, "stop_reason") {
        match sheet.word(id, STOP_REASONS) {
            Some("max_tokens" | "model_context_window_exceeded") => draft.overall(Status::Truncated),
            Some("pause_turn") => draft.overall(Status::Pending),
            Some(_) => draft.overall(Status::Ok),
            None => {}
        }
    }
}

fn container(sheet: &Sheet, object: NodeId, first_call: usize, draft: &mut Draft<'_>) {
    for id in sheet.take(object, "container") {
        let name = sheet.peek_word(id, "id").filter(|word| crate::envelope::sheet::is_id(word));
        sheet.known(id, CONTAINER);
        for call in first_call..draft.bundle.calls.len() {
            draft.container(call, name.clone());
        }
    }
}

/// What a client sends: the results of the tools that run on its own machines are in it.
fn request(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    sheet.known(object, REQUEST);
    for key in ["system", "tools", "tool_choice", "metadata", "thinking", "mcp_servers", "context_management"] {
        sheet.take(object, key).for_each(|id| sheet.mark_callers(id));
    }
    for list in sheet.take(object, "messages") {
        for item in sheet.items(list).into_iter().filter(|item| sheet.is_object(*item)) {
            message(sheet, item, draft);
        }
    }
}

/// A row of a batch's results.
fn row(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    sheet.known(object, ROW);
    for result in sheet.take(object, "result") {
        match sheet.take_word(result, "type", RESULT_TYPES) {
            Some("errored") => draft.overall(Status::Failed),
            Some("canceled") => draft.overall(Status::Cancelled),
            Some("expired") => draft.overall(Status::TimedOut),
            Some(_) => {}
            None => draft.overall(Status::Unknown),
        }
        for id in sheet.take(result, "message") {
            message(sheet, id, draft);
        }
        for id in sheet.take(result, "error") {
            error(sheet, id, draft);
        }
    }
}

/// `{"type":"error","error":{"type","message"}}`, wrapped once or not.
fn error(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    draft.overall(Status::Failed);
    sheet.known(object, ERROR);
    draft.texts(sheet, object, "message", Origin::Error, None);
    for inner in sheet.take(object, "error") {
        sheet.known(inner, ERROR);
        draft.texts(sheet, inner, "message", Origin::Error, None);
    }
}

/// Metadata of a file: the name and the type were chosen by the code that made it.
fn file(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let name = sheet.peek(object, "filename").and_then(|id| sheet.doc.word(id)).map(std::borrow::Cow::into_owned);
    draft.described(sheet, object, &["filename"], None);
    for id in sheet.take(object, "id") {
        blocks::file_reference(sheet, id, name.clone(), None, draft);
    }
    sheet.known(object, FILE);
}
