//! `LangChain`: messages as their own dumps write them, `ToolMessage` with its artifact among them.
//!
//! Three spellings: `model_dump()` (`{"type": "tool", "content", …}`), `messages_to_dict()` (`{"type", "data": {…}}`) and
//! `dumps()` (`{"lc": 1, "id": […, "ToolMessage"], "kwargs": {…}}`).

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure, openai, openai::Dialect};

pub(crate) static PROVIDER: Provider = Provider {
    name: "langchain",
    expected: "a message with \"type\" and \"content\", or \"lc\" and \"kwargs\"",
    recognise,
    adapt,
    reads: "tool, ai, human and system messages in all three dumps; content blocks, artifacts, tool calls",
    status: "status of the tool message; a call without one is pending",
    error: "`status: \"error\"` of the tool message",
};

const TYPES: &[&str] =
    &["tool", "ai", "human", "system", "function", "chat", "remove", "AIMessageChunk", "ToolMessageChunk"];
const OUTER: &[(&str, Shape)] = &[("lc", Shape::Scalar), ("type", Shape::Word(&["constructor"])), ("id", Shape::Name)];
const MESSAGE: &[(&str, Shape)] = &[
    ("type", Shape::Word(TYPES)),
    ("id", Shape::Id),
    ("example", Shape::Scalar),
    ("tool_call_id", Shape::Id),
    ("response_metadata", Shape::Scalar),
    ("additional_kwargs", Shape::Scalar),
    ("usage_metadata", Shape::Inside(USAGE)),
];
const USAGE: &[(&str, Shape)] = &[
    ("input_tokens", Shape::Scalar),
    ("output_tokens", Shape::Scalar),
    ("total_tokens", Shape::Scalar),
    ("input_token_details", Shape::Inside(&[("cache_read", Shape::Scalar), ("cache_creation", Shape::Scalar)])),
    ("output_token_details", Shape::Inside(&[("reasoning", Shape::Scalar)])),
];

const BLOCK: &[(&str, Shape)] = &[
    ("type", Shape::Word(&["image", "file", "audio", "video", "text-plain"])),
    ("source_type", Shape::Word(&["base64"])),
    ("id", Shape::Id),
];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| {
        let listed = sheet
            .peek(object, "messages")
            .is_some_and(|list| sheet.doc.children(list).take(32).any(|message| is_message(sheet, message)));
        listed || is_message(sheet, object)
    });
    if own { Sure::Yes } else { Sure::No }
}

fn is_message(sheet: &Sheet, object: NodeId) -> bool {
    if sheet.has(object, "lc") && sheet.has(object, "kwargs") {
        return true;
    }
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let body = sheet.peek(object, "data").filter(|id| sheet.is_object(*id)).unwrap_or(object);
    TYPES.contains(&kind.as_str())
        && sheet.has(body, "content")
        && (sheet.has(body, "additional_kwargs")
            || sheet.has(body, "response_metadata")
            || sheet.has(body, "tool_call_id"))
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("messages");
    let mut reading = openai::Reading::new(Dialect::OpenAi, false);
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        let mut listed = false;
        for list in sheet.take(object, "messages") {
            listed = true;
            for item in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                message(sheet, item, &mut reading, draft);
            }
        }
        if !listed {
            message(sheet, object, &mut reading, draft);
        }
    }
    draft.state_all_silent(Status::Pending, "its result is not there yet");
}

fn message(sheet: &Sheet, object: NodeId, reading: &mut openai::Reading, draft: &mut Draft<'_>) {
    let mut kind = sheet.peek_word(object, "type").unwrap_or_default();
    let mut body = object;
    for inner in sheet.take_any(object, &["kwargs", "data"]).filter(|id| sheet.is_object(*id)) {
        body = inner;
        if let Some(path) = sheet.peek(object, "id").filter(|id| sheet.kind(*id) == Kind::Array) {
            let class = sheet.doc.children(path).last().and_then(|id| sheet.doc.word(id));
            kind = match class.as_deref() {
                Some("ToolMessage") => "tool".to_owned(),
                Some("HumanMessage") => "human".to_owned(),
                Some("SystemMessage") => "system".to_owned(),
                _ => "ai".to_owned(),
            };
        }
        sheet.known(object, OUTER);
        sheet.take_word(object, "type", TYPES);
    }
    sheet.known(body, MESSAGE);
    if matches!(kind.as_str(), "tool" | "function" | "ToolMessageChunk") {
        return tool(sheet, body, reading, draft);
    }
    let before = draft.trust;
    if matches!(kind.as_str(), "human" | "system") {
        draft.trust = Trust::Caller;
    }
    for content in sheet.take(body, "content") {
        blocks(sheet, content, None, draft);
        openai::parts(sheet, content, Origin::Message, None, reading, draft);
    }
    draft.trust = before;
    for list in sheet.take_any(body, &["tool_calls", "invalid_tool_calls"]) {
        for call in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
            let made = draft.call(sheet.take_id(call, "id"), None);
            sheet.known(call, &[("type", Shape::Word(&["tool_call", "invalid_tool_call"]))]);
            name(sheet, call, made, draft);
            for args in sheet.take(call, "args") {
                draft.arguments(sheet, args, Some(made));
            }
            draft.texts(sheet, call, "error", Origin::Error, Some(made));
        }
    }
}

fn name(sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
    for id in sheet.take(object, "name") {
        let name = sheet.doc.word(id).filter(|name| is_name(name)).map(std::borrow::Cow::into_owned);
        draft.text(sheet, id, Origin::Metadata, Some(call));
        if let (Some(name), Some(call)) = (name, draft.bundle.calls.get_mut(call)) {
            call.tool.get_or_insert(name);
        }
    }
}

/// The bytes of the framework's own content blocks, in the spelling of version 1 and in the one before it.
fn blocks(sheet: &Sheet, content: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    for block in sheet.items(content).into_iter().filter(|id| sheet.is_object(*id)) {
        let is_picture = sheet.peek_word(block, "type").as_deref() == Some("image");
        let is_old = sheet.peek_word(block, "source_type").as_deref() == Some("base64");
        if !is_old && !sheet.has(block, "base64") {
            continue;
        }
        sheet.known(block, BLOCK);
        let declared = sheet.take_type(block, &["mime_type"]);
        let origin = if is_picture { Origin::Image } else { Origin::File };
        for id in sheet.take_any(block, if is_old { &["data"] } else { &["base64"] }) {
            draft.bytes(sheet, id, origin, declared.clone(), call);
        }
    }
}

/// What a tool gave back: content for the model, an artifact for the program.
fn tool(sheet: &Sheet, body: NodeId, reading: &mut openai::Reading, draft: &mut Draft<'_>) {
    let call = draft.call(sheet.peek_word(body, "tool_call_id").filter(|id| crate::envelope::sheet::is_id(id)), None);
    name(sheet, body, call, draft);
    for content in sheet.take(body, "content") {
        blocks(sheet, content, Some(call), draft);
        openai::parts(sheet, content, Origin::Log, Some(call), reading, draft);
    }
    for artifact in sheet.take(body, "artifact") {
        draft.tree(sheet, artifact, Origin::Result, Some(call));
    }
    for id in sheet.take(body, "status") {
        match sheet.word(id, &["success", "error"]) {
            Some("success") => draft.state(call, Status::Ok, "status success"),
            Some(_) => draft.state(call, Status::Failed, "status error"),
            None => draft.state(call, Status::Unknown, format!("status {}", Draft::raw_word(sheet, id))),
        }
    }
    draft.state_if_silent(call, Status::Ok, "a result and no status");
}
