//! `pydantic-ai`: message histories as its `ModelMessagesTypeAdapter` dumps them.

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        Envelope,
        draft::Draft,
        joiner::read_arguments,
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "pydantic-ai",
    expected: "messages with \"kind\" and \"parts\" that have a \"part_kind\"",
    recognise,
    adapt,
    reads: "every part kind: tool calls and returns, built-in ones too, text, thinking, files, retries",
    status: "outcome of a return, return_code and status in a built-in one; a retry prompt of a tool is failed",
    error: "`outcome` of a return: `failed`, `retried`, `denied`, `interrupted`; `return_code` ≠ 0 in it; a part of kind `retry-prompt`",
};

const KINDS: &[&str] = &[
    "tool-return",
    "tool-call",
    "builtin-tool-return",
    "builtin-tool-call",
    "retry-prompt",
    "text",
    "thinking",
    "file",
    "user-prompt",
    "system-prompt",
    "compaction",
];
const OUTCOMES: &[&str] = &["success", "failed", "denied", "interrupted", "retried"];
const MESSAGE: &[(&str, Shape)] = &[
    ("kind", Shape::Word(&["request", "response"])),
    ("timestamp", Shape::Stamp),
    ("model_name", Shape::Name),
    ("provider_name", Shape::Name),
    ("provider_url", Shape::Scalar),
    ("provider_response_id", Shape::Id),
    ("finish_reason", Shape::Name),
    ("run_id", Shape::Id),
    ("state", Shape::Name),
    ("metadata", Shape::Scalar),
    ("usage", Shape::Inside(USAGE)),
];
const USAGE: &[(&str, Shape)] = &[
    ("input_tokens", Shape::Scalar),
    ("output_tokens", Shape::Scalar),
    ("cache_write_tokens", Shape::Scalar),
    ("cache_read_tokens", Shape::Scalar),
    ("input_audio_tokens", Shape::Scalar),
    ("cache_audio_read_tokens", Shape::Scalar),
    ("output_audio_tokens", Shape::Scalar),
    ("details", Shape::Scalar),
];
const PART: &[(&str, Shape)] = &[
    ("part_kind", Shape::Word(KINDS)),
    ("tool_call_id", Shape::Id),
    ("id", Shape::Id),
    ("timestamp", Shape::Stamp),
    ("provider_name", Shape::Name),
    ("signature", Shape::Opaque),
    ("metadata", Shape::Scalar),
    ("provider_details", Shape::Scalar),
];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| {
        sheet.has(object, "part_kind")
            || sheet
                .peek(object, "parts")
                .is_some_and(|list| sheet.doc.children(list).take(32).any(|part| sheet.has(part, "part_kind")))
    });
    if own { Sure::Yes } else { Sure::No }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("message history");
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        if sheet.has(object, "part_kind") {
            part(sheet, object, draft);
            continue;
        }
        sheet.take(object, "instructions").for_each(|id| sheet.mark_callers(id));
        for list in sheet.take(object, "parts") {
            for item in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                part(sheet, item, draft);
            }
        }
        sheet.known(object, MESSAGE);
    }
    draft.state_all_silent(Status::Pending, "its result is not there yet");
}

fn part(sheet: &Sheet, part: NodeId, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(part, "part_kind").unwrap_or_default();
    sheet.known(part, PART);
    let is_tool = sheet.has(part, "tool_call_id") && sheet.has(part, "tool_name");
    if !is_tool {
        let before = draft.trust;
        if matches!(kind.as_str(), "user-prompt" | "system-prompt") {
            draft.trust = Trust::Caller;
        }
        for content in sheet.take(part, "content") {
            value(sheet, content, Origin::Message, None, draft);
        }
        draft.trust = before;
        return;
    }
    let id = sheet.peek_word(part, "tool_call_id").filter(|id| crate::envelope::sheet::is_id(id));
    let call = draft.call(id, None);
    for name in sheet.take(part, "tool_name") {
        let word = sheet.doc.word(name).filter(|name| is_name(name)).map(std::borrow::Cow::into_owned);
        if sheet.word(name, &["code_execution", "web_search"]).is_none() {
            draft.text(sheet, name, Origin::Metadata, Some(call));
        }
        if let (Some(word), Some(call)) = (word, draft.bundle.calls.get_mut(call)) {
            call.tool.get_or_insert(word);
        }
    }
    for args in sheet.take(part, "args") {
        match sheet.doc.string(args, draft.budget) {
            Ok(Some(text)) => {
                sheet.claim(args);
                read_arguments(draft, text, sheet.pointer(args), sheet.written(args), Some(call));
            }
            Ok(None) => draft.arguments(sheet, args, Some(call)),
            Err(exhausted) => draft.limit(exhausted, Some(sheet.pointer(args))),
        }
    }
    for content in sheet.take(part, "content") {
        returned(sheet, content, call, draft);
    }
    match kind.as_str() {
        "retry-prompt" => draft.state(call, Status::Failed, "the tool asked for a retry"),
        "tool-return" | "builtin-tool-return" => {
            let told = sheet.has(part, "outcome");
            match sheet.take_word(part, "outcome", OUTCOMES) {
                Some("failed" | "retried") => draft.state(call, Status::Failed, "outcome failed or retried"),
                Some("denied" | "interrupted") => draft.state(call, Status::Cancelled, "outcome denied or interrupted"),
                Some(_) => draft.state_if_silent(call, Status::Ok, "a return"),
                None if told => draft.state(call, Status::Unknown, "an outcome of an unknown name"),
                None => draft.state_if_silent(call, Status::Ok, "a return"),
            }
        }
        _ => {}
    }
}

/// What a tool gave back. Built-in code execution keeps the vendor's own fields.
fn returned(sheet: &Sheet, content: NodeId, call: usize, draft: &mut Draft<'_>) {
    if sheet.is_object(content) {
        for (key, origin) in [("stdout", Origin::Stdout), ("stderr", Origin::Stderr), ("output", Origin::Log)] {
            for id in sheet.take(content, key).filter(|id| sheet.kind(*id) == Kind::Text) {
                draft.text(sheet, id, origin, Some(call));
            }
        }
        let code = sheet.take_integer(content, &["return_code", "exit_code"]);
        draft.exit(call, code);
        match sheet.take_word(content, "outcome", &["OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"]) {
            Some("OUTCOME_FAILED") => draft.state(call, Status::Failed, "OUTCOME_FAILED"),
            Some("OUTCOME_DEADLINE_EXCEEDED") => draft.state(call, Status::TimedOut, "OUTCOME_DEADLINE_EXCEEDED"),
            Some(_) => draft.state(call, Status::Ok, "OUTCOME_OK"),
            None => {}
        }
    }
    value(sheet, content, Origin::Log, Some(call), draft);
}

/// Text, a list of text and media, or any JSON.
fn value(sheet: &Sheet, content: NodeId, origin: Origin, call: Option<usize>, draft: &mut Draft<'_>) {
    for item in sheet.items(content).into_iter().filter(|id| sheet.is_object(*id)) {
        // BinaryContent: {"data", "media_type", "kind": "binary"}.
        if sheet.has(item, "data") && sheet.has(item, "media_type") {
            let declared = sheet.take_type(item, &["media_type"]);
            sheet.known(item, &[("kind", Shape::Name), ("identifier", Shape::Id)]);
            let is_image = declared.as_deref().is_some_and(|declared| declared.starts_with("image/"));
            for id in sheet.take(item, "data") {
                draft.bytes(sheet, id, if is_image { Origin::Image } else { Origin::File }, declared.clone(), call);
            }
        }
    }
    draft.tree(sheet, content, origin, call);
}
