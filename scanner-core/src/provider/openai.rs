//! OpenAI: Responses API (whole, requests, streams), containers and their files, batches, Assistants run steps.
//! SHAPES 2. xAI's REST API has the same items and reads them with what is here.

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        Envelope, Form,
        draft::{Draft, Vendor},
        link,
        rules::REFERENCE,
        sheet::{Shape, Sheet},
    },
    json::{Kind, NodeId},
};

use super::Provider;

mod assistants;
mod content;
mod items;
mod printed;
mod recognise;
mod shell;
mod stream;

pub(super) use content::parts;
pub(super) use items::{Dialect, Reading, function};
pub(super) use printed::read as read_printed;
pub(super) use recognise::{is_responses, recognise};

pub(crate) static PROVIDER: Provider = Provider {
    name: "openai",
    expected: "an object with \"output\" or \"input\", one of their items, a stream or a batch of them",
    recognise: |envelope| recognise(envelope).0,
    adapt: |envelope, draft| {
        draft.vendor = VENDOR;
        adapt(envelope, Dialect::OpenAi, draft);
    },
    reads: "Responses API output and input items, streams, containers and files, citations, batches, Assistants run steps",
    status: "item status, exit codes and outcomes of shells; a log that ends in a traceback is failed, inferred",
    error: "`status: \"failed\"`; shell: `outcome` of type `timeout`, or `exit_code` ≠ 0; the code interpreter has no sign of its own: a traceback ends its `logs`",
};

const VENDOR: Vendor =
    Vendor { auth: "openai", hosts: &["api.openai.com", "files.oaiusercontent.com", "*.oaiusercontent.com"] };

const RESPONSE_STATUSES: &[&str] = &["completed", "failed", "in_progress", "cancelled", "queued", "incomplete"];
const USAGE: &[(&str, Shape)] = &[
    ("input_tokens", Shape::Scalar),
    ("input_tokens_details", Shape::Inside(DETAILS)),
    ("output_tokens", Shape::Scalar),
    ("output_tokens_details", Shape::Inside(DETAILS)),
    ("prompt_tokens", Shape::Scalar),
    ("prompt_tokens_details", Shape::Inside(DETAILS)),
    ("completion_tokens", Shape::Scalar),
    ("completion_tokens_details", Shape::Inside(DETAILS)),
    ("total_tokens", Shape::Scalar),
    ("num_sources_used", Shape::Scalar),
    ("num_server_side_tools_used", Shape::Scalar),
    ("cost_in_usd_ticks", Shape::Scalar),
];
const DETAILS: &[(&str, Shape)] = &[
    ("cached_tokens", Shape::Scalar),
    ("cache_write_tokens", Shape::Scalar),
    ("reasoning_tokens", Shape::Scalar),
    ("audio_tokens", Shape::Scalar),
    ("text_tokens", Shape::Scalar),
    ("image_tokens", Shape::Scalar),
    ("accepted_prediction_tokens", Shape::Scalar),
    ("rejected_prediction_tokens", Shape::Scalar),
];
const RESPONSE: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("object", Shape::Word(&["response", "response.compaction"])),
    ("model", Shape::Name),
    ("created_at", Shape::Scalar),
    ("completed_at", Shape::Scalar),
    ("background", Shape::Scalar),
    ("billing", Shape::Inside(&[("payer", Shape::Word(&["developer", "openai"]))])),
    ("conversation", Shape::Inside(&[("id", Shape::Id)])),
    (
        "incomplete_details",
        Shape::Inside(&[("reason", Shape::Word(&["max_output_tokens", "content_filter", "length"]))]),
    ),
    ("frequency_penalty", Shape::Scalar),
    ("presence_penalty", Shape::Scalar),
    ("max_output_tokens", Shape::Scalar),
    ("max_tool_calls", Shape::Scalar),
    ("parallel_tool_calls", Shape::Scalar),
    ("previous_response_id", Shape::Id),
    ("prompt_cache_key", Shape::Id),
    ("prompt_cache_retention", Shape::Word(&["in-memory", "in_memory", "24h"])),
    (
        "reasoning",
        Shape::Inside(&[
            ("effort", Shape::Name),
            ("summary", Shape::Name),
            ("generate_summary", Shape::Name),
            ("encrypted_content", Shape::Opaque),
        ]),
    ),
    ("safety_identifier", Shape::Id),
    ("service_tier", Shape::Name),
    ("store", Shape::Scalar),
    ("stream", Shape::Scalar),
    ("include", Shape::Name),
    ("temperature", Shape::Scalar),
    (
        "text",
        Shape::Inside(&[
            ("format", Shape::Inside(&[("type", Shape::Name), ("strict", Shape::Scalar)])),
            ("verbosity", Shape::Name),
        ]),
    ),
    ("tool_choice", Shape::Name),
    (
        "tools",
        Shape::Inside(&[
            ("type", Shape::Name),
            (
                "container",
                Shape::Inside(&[("type", Shape::Name), ("memory_limit", Shape::Name), ("file_ids", Shape::Id)]),
            ),
            ("environment", Shape::Inside(&[("type", Shape::Name), ("container_id", Shape::Id)])),
        ]),
    ),
    ("top_logprobs", Shape::Scalar),
    ("top_p", Shape::Scalar),
    ("truncation", Shape::Word(&["auto", "disabled"])),
    ("usage", Shape::Inside(USAGE)),
    ("user", Shape::Id),
    ("metadata", Shape::Scalar),
    ("instructions", Shape::Scalar),
    ("prompt", Shape::Scalar),
    ("moderation", Shape::Scalar),
    ("output_text", Shape::Scalar),
];
const ROW: &[(&str, Shape)] = &[("id", Shape::Id), ("custom_id", Shape::Id)];
const ROW_RESPONSE: &[(&str, Shape)] = &[("status_code", Shape::Scalar), ("request_id", Shape::Id)];
const ERROR: &[(&str, Shape)] = &[("code", Shape::Name), ("type", Shape::Name), ("param", Shape::Name)];
const CONTAINER: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("object", Shape::Word(&["container", "container.file", "container.deleted", "file", "list"])),
    ("created_at", Shape::Scalar),
    ("last_active_at", Shape::Scalar),
    ("expires_at", Shape::Scalar),
    ("status", Shape::Word(&["running", "active", "deleted", "expired", "uploaded", "processed", "error"])),
    ("expires_after", Shape::Inside(&[("anchor", Shape::Word(&["last_active_at"])), ("minutes", Shape::Scalar)])),
    ("memory_limit", Shape::Word(&["1g", "4g", "16g", "64g"])),
    ("network_policy", Shape::Inside(&[("type", Shape::Word(&["allowlist", "disabled"]))])),
    ("container_id", Shape::Id),
    ("bytes", Shape::Scalar),
    ("source", Shape::Word(&["user", "assistant"])),
    ("purpose", Shape::Name),
    ("status_details", Shape::Scalar),
    ("has_more", Shape::Scalar),
    ("first_id", Shape::Id),
    ("last_id", Shape::Id),
    ("data", Shape::Scalar),
];

/// Reads a Responses API envelope of either vendor.
pub(super) fn adapt(envelope: &Envelope, dialect: Dialect, draft: &mut Draft<'_>) {
    let mut reading = Reading::new(dialect, envelope.form == Form::Events);
    for (sheet, object) in envelope.objects() {
        if sheet.is_object(object) {
            read(sheet, object, &mut reading, draft);
        }
    }
    reading.finish(envelope.done, draft);
}

/// One object of whatever kind.
pub(super) fn read(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let what = sheet.peek_word(object, "object").unwrap_or_default();
    if sheet.has(object, "custom_id") {
        draft.surface = Some("Batch output");
        row(sheet, object, reading, draft);
    } else if what.starts_with("thread.") {
        draft.surface = Some("Assistants");
        assistants::read(sheet, object, &what, reading, draft);
    } else if stream::is_event(&kind) {
        draft.surface = Some("Responses stream");
        stream::event(sheet, object, &kind, reading, draft);
    } else if what == "container" || what == "container.file" || what == "file" {
        draft.surface = Some("containers and files");
        container(sheet, object, &what, draft);
    } else if what == "list" {
        sheet.known(object, CONTAINER);
        for list in sheet.take(object, "data") {
            for item in sheet.items(list).into_iter().filter(|item| sheet.is_object(*item)) {
                let what = sheet.peek_word(item, "object").unwrap_or_default();
                match what.as_str() {
                    "container" | "container.file" | "file" => container(sheet, item, &what, draft),
                    what if what.starts_with("thread.") => assistants::read(sheet, item, what, reading, draft),
                    _ => items::item(sheet, item, true, reading, draft),
                }
            }
        }
    } else if sheet.has(object, "output") && (what == "response" || kind.is_empty()) {
        draft.surface = Some("Responses response");
        response(sheet, object, reading, draft);
    } else if sheet.has(object, "choices") {
        draft.surface = Some("Chat Completions");
        choices(sheet, object, reading, draft);
    } else if sheet.has(object, "input") && kind.is_empty() {
        draft.surface = Some("Responses request");
        request(sheet, object, reading, draft);
    } else if sheet.has(object, "error") && kind.is_empty() {
        sheet.take(object, "error").for_each(|id| error(sheet, id, draft));
    } else {
        draft.surface.get_or_insert("Responses item");
        items::item(sheet, object, true, reading, draft);
    }
}

/// A whole response.
fn response(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    sheet.known(object, RESPONSE);
    for key in ["instructions", "tools", "text", "metadata", "prompt", "tool_choice"] {
        sheet.take(object, key).for_each(|id| sheet.mark_callers(id));
    }
    for list in sheet.take(object, "output") {
        for item in sheet.items(list) {
            if sheet.is_object(item) {
                items::item(sheet, item, true, reading, draft);
            } else {
                draft.text(sheet, item, Origin::Message, None);
            }
        }
    }
    draft.texts(sheet, object, "output_text", Origin::Message, None);
    for id in sheet.take(object, "status") {
        match sheet.word(id, RESPONSE_STATUSES) {
            Some("completed") => draft.overall(Status::Ok),
            Some("failed") => draft.overall(Status::Failed),
            Some("cancelled") => draft.overall(Status::Cancelled),
            Some("incomplete") => draft.overall(Status::Truncated),
            // A stream says so before it says how it ended.
            Some(_) if reading.streaming => {}
            Some(_) => draft.overall(Status::Pending),
            None if sheet.kind(id) == Kind::Null => {}
            None => draft.overall(Status::Unknown),
        }
    }
    sheet.take(object, "error").for_each(|id| error(sheet, id, draft));
}

/// What a client sends: the results of the tools that run on its own machines are in it.
fn request(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    sheet.known(object, RESPONSE);
    for key in ["instructions", "tools", "text", "metadata", "prompt", "tool_choice"] {
        sheet.take(object, key).for_each(|id| sheet.mark_callers(id));
    }
    for input in sheet.take(object, "input") {
        if sheet.kind(input) == Kind::Text {
            draft.trust = Trust::Caller;
            draft.text(sheet, input, Origin::Message, None);
            draft.trust = Trust::Tool;
            continue;
        }
        for item in sheet.items(input).into_iter().filter(|item| sheet.is_object(*item)) {
            items::item(sheet, item, true, reading, draft);
        }
    }
}

/// `choices` of a chat completion: messages with tool calls.
fn choices(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    const CHAT: &[(&str, Shape)] = &[
        ("id", Shape::Id),
        ("object", Shape::Word(&["chat.completion", "chat.completion.chunk"])),
        ("created", Shape::Scalar),
        ("model", Shape::Name),
        ("system_fingerprint", Shape::Id),
        ("service_tier", Shape::Name),
        ("usage", Shape::Inside(USAGE)),
    ];
    const CHOICE: &[(&str, Shape)] = &[
        ("index", Shape::Scalar),
        ("finish_reason", Shape::Word(&["stop", "length", "tool_calls", "content_filter", "function_call"])),
        ("logprobs", Shape::Scalar),
    ];
    const CALL: &[(&str, Shape)] = &[("index", Shape::Scalar), ("type", Shape::Word(&["function", "custom"]))];
    sheet.known(object, CHAT);
    for list in sheet.take(object, "choices") {
        for choice in sheet.items(list).into_iter().filter(|choice| sheet.is_object(*choice)) {
            if sheet.peek_word(choice, "finish_reason").as_deref() == Some("length") {
                draft.overall(Status::Truncated);
            }
            sheet.known(choice, CHOICE);
            for message in sheet.take_any(choice, &["message", "delta"]) {
                content::message(sheet, message, reading, draft);
                for calls in sheet.take(message, "tool_calls") {
                    for call in sheet.items(calls) {
                        sheet.known(call, CALL);
                        let id = sheet.take_id(call, "id");
                        let made = draft.call(id, None);
                        for function in sheet.take_any(call, &["function", "custom"]) {
                            items::function(sheet, function, made, draft);
                        }
                        draft.progress(made);
                    }
                }
            }
        }
    }
}

/// A row of a batch's output.
fn row(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    sheet.known(object, ROW);
    for outer in sheet.take(object, "response") {
        if sheet.peek(outer, "status_code").and_then(|id| sheet.doc.integer(id)).is_some_and(|code| code >= 400) {
            draft.overall(Status::Failed);
        }
        sheet.known(outer, ROW_RESPONSE);
        for body in sheet.take(outer, "body") {
            if sheet.is_object(body) {
                read(sheet, body, reading, draft);
                draft.surface = Some("Batch output");
            }
        }
    }
    sheet.take(object, "error").for_each(|id| error(sheet, id, draft));
}

/// An error object; null is none.
fn error(sheet: &Sheet, id: NodeId, draft: &mut Draft<'_>) {
    match sheet.kind(id) {
        Kind::Null => {}
        Kind::Text => {
            draft.overall(Status::Failed);
            draft.text(sheet, id, Origin::Error, None);
        }
        _ => {
            let expired = sheet.peek_word(id, "code").is_some_and(|code| code.ends_with("expired"));
            draft.overall(if expired { Status::TimedOut } else { Status::Failed });
            sheet.known(id, ERROR);
            draft.texts(sheet, id, "message", Origin::Error, None);
        }
    }
}

/// A container, a file in one, or an uploaded file.
fn container(sheet: &Sheet, object: NodeId, what: &str, draft: &mut Draft<'_>) {
    let expired = sheet.peek_word(object, "status").is_some_and(|status| status == "expired");
    if what == "container" {
        draft.described(sheet, object, &["name"], None);
        if expired {
            draft.gap(
                crate::finding::Reason::NotFetched,
                "the container expired: its files cannot be fetched any more",
                Some(sheet.pointer(object)),
            );
        }
    } else {
        let name = sheet.peek_word(object, "filename").or_else(|| sheet.peek_word(object, "path"));
        let owner = sheet.peek_word(object, "container_id");
        draft.described(sheet, object, &["path", "filename"], None);
        for id in sheet.take(object, "id") {
            file(sheet, id, owner.as_deref(), name.clone(), None, draft);
        }
    }
    sheet.known(object, CONTAINER);
}

/// A file the vendor keeps, in a container or not.
fn file(
    sheet: &Sheet,
    id: NodeId,
    container: Option<&str>,
    name: Option<String>,
    call: Option<usize>,
    draft: &mut Draft<'_>,
) {
    let Some(word) = sheet.doc.word(id).map(std::borrow::Cow::into_owned) else { return };
    let at = sheet.pointer(id);
    let (kind, request) = match container {
        Some(container) => (
            "container_file",
            link::request(draft.vendor.auth, &["/v1/containers/", "/files/", "/content"], &[container, &word]),
        ),
        None => ("file_id", link::request(draft.vendor.auth, &["/v1/files/", "/content"], &[&word])),
    };
    if request.is_none() {
        draft.find(&REFERENCE, "a file or container id outside the vendor's alphabet", Some(at.clone()));
    } else {
        sheet.claim(id);
    }
    draft.refer(kind, word, name, request, at, call);
}
