//! AWS Bedrock: Converse with the Nova code interpreter, and traces of Bedrock Agents. SHAPES 10.

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        Envelope,
        draft::Draft,
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "bedrock",
    expected: "a Converse response with \"output\" and \"message\", or a trace with \"codeInterpreterInvocationOutput\"",
    recognise,
    adapt,
    reads: "Converse messages with toolUse and toolResult, Bedrock Agents traces",
    status: "status and isError of the tool result, exitCode; executionTimeout and executionError of traces",
    error: "`status: \"error\"` of the tool result; `isError: true` or `exitCode` ≠ 0 in its JSON; traces: `executionError`, `executionTimeout: true`",
};

const OUTPUT: &str = "codeInterpreterInvocationOutput";
/// What a trace wraps an output in.
const TRACE: &[&str] =
    &["trace", "orchestrationTrace", "observation", "invocationInput", "codeInterpreterInvocationInput"];
const RESPONSE: &[(&str, Shape)] = &[
    ("stopReason", Shape::Word(STOP)),
    ("usage", Shape::Inside(USAGE)),
    ("metrics", Shape::Inside(&[("latencyMs", Shape::Scalar)])),
    ("ResponseMetadata", Shape::Scalar),
    ("modelId", Shape::Name),
];
const STOP: &[&str] = &[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "guardrail_intervened",
    "content_filtered",
    "model_context_window_exceeded",
];
const USAGE: &[(&str, Shape)] = &[
    ("inputTokens", Shape::Scalar),
    ("outputTokens", Shape::Scalar),
    ("totalTokens", Shape::Scalar),
    ("cacheReadInputTokens", Shape::Scalar),
    ("cacheWriteInputTokens", Shape::Scalar),
    ("serverToolUsage", Shape::Scalar),
];
const IDS: &[(&str, Shape)] = &[
    ("agentId", Shape::Id),
    ("agentAliasId", Shape::Id),
    ("agentVersion", Shape::Id),
    ("sessionId", Shape::Id),
    ("traceId", Shape::Id),
    ("eventTime", Shape::Stamp),
    ("type", Shape::Name),
    ("clientRequestId", Shape::Id),
    ("metadata", Shape::Scalar),
];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| {
        let content = sheet.peek_path(object, &["output", "message", "content"]).or(sheet.peek(object, "content"));
        let tool = content.is_some_and(|list| {
            sheet.doc.children(list).take(64).any(|block| sheet.has(block, "toolUse") || sheet.has(block, "toolResult"))
        });
        let converse = sheet.peek_path(object, &["output", "message"]).is_some() && sheet.has(object, "stopReason");
        let messages = sheet.peek(object, "messages").is_some_and(|list| {
            sheet.doc.children(list).take(16).filter_map(|message| sheet.peek(message, "content")).any(|content| {
                sheet
                    .doc
                    .children(content)
                    .take(16)
                    .any(|block| sheet.has(block, "toolUse") || sheet.has(block, "toolResult"))
            })
        });
        tool || converse || messages || inside(sheet, object).iter().any(|id| sheet.has(*id, OUTPUT))
    });
    if own { Sure::Yes } else { Sure::No }
}

/// An object and what the layers of a trace hold.
fn inside(sheet: &Sheet, object: NodeId) -> Vec<NodeId> {
    let mut all = vec![object];
    let mut at = object;
    for _ in TRACE {
        let next = TRACE.iter().find_map(|key| sheet.peek(at, key).filter(|id| sheet.is_object(*id)));
        let Some(next) = next else { break };
        all.push(next);
        at = next;
    }
    all
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.surface = Some("Converse");
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        for output in sheet.take(object, "output").filter(|id| sheet.is_object(*id)) {
            sheet.take(output, "message").for_each(|id| message(sheet, id, draft));
        }
        for list in sheet.take(object, "messages") {
            sheet.items(list).into_iter().for_each(|id| message(sheet, id, draft));
        }
        if sheet.has(object, "role") {
            message(sheet, object, draft);
        }
        match sheet.peek_word(object, "stopReason").as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => draft.overall(Status::Truncated),
            Some("end_turn") => draft.overall(Status::Ok),
            _ => {}
        }
        sheet.known(object, RESPONSE);
        for layer in inside(sheet, object) {
            TRACE.iter().for_each(|key| sheet.take(layer, key).for_each(drop));
            sheet.known(layer, IDS);
            trace(sheet, layer, draft);
        }
    }
    draft.state_all_silent(Status::Pending, "its result is not there yet");
}

fn message(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let before = draft.trust;
    if sheet.take_word(object, "role", &["assistant", "user"]) == Some("user") {
        draft.trust = Trust::Caller;
    }
    for list in sheet.take(object, "content") {
        for block in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
            draft.texts(sheet, block, "text", Origin::Message, None);
            sheet.take(block, "toolUse").for_each(|id| tool_use(sheet, id, draft));
            sheet.take(block, "toolResult").for_each(|id| tool_result(sheet, id, draft));
            sheet.take_any(block, &["image", "document", "video"]).for_each(|id| media(sheet, id, None, draft));
            for id in sheet.take(block, "reasoningContent") {
                sheet.take_any(id, &["reasoningText", "redactedContent"]).for_each(|inner| {
                    sheet.known(inner, &[("signature", Shape::Opaque), ("text", Shape::Scalar)]);
                });
                draft.tree(sheet, id, Origin::Message, None);
            }
        }
    }
    draft.trust = before;
}

fn tool_use(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let name = sheet.peek_word(object, "name").filter(|name| is_name(name));
    let call = draft.call(sheet.take_id(object, "toolUseId"), name.as_deref());
    for id in sheet.take(object, "name") {
        if sheet.word(id, &["nova_code_interpreter"]).is_none() {
            draft.text(sheet, id, Origin::Metadata, Some(call));
        }
    }
    sheet.take_word(object, "type", &["server_tool_use", "tool_use"]);
    for input in sheet.take(object, "input") {
        sheet.take(input, "snippet").for_each(drop);
        draft.arguments(sheet, input, Some(call));
    }
}

fn tool_result(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    let call = draft.call(sheet.take_id(object, "toolUseId"), None);
    sheet.take_word(object, "type", &["nova_code_interpreter_result"]);
    for list in sheet.take(object, "content") {
        for block in sheet.items(list) {
            if !sheet.is_object(block) {
                draft.text(sheet, block, Origin::Log, Some(call));
                continue;
            }
            draft.texts(sheet, block, "text", Origin::Log, Some(call));
            for json in sheet.take(block, "json") {
                result_json(sheet, json, call, draft);
            }
            sheet.take_any(block, &["image", "document", "video"]).for_each(|id| media(sheet, id, Some(call), draft));
        }
    }
    for id in sheet.take(object, "status") {
        match sheet.word(id, &["success", "error"]) {
            Some("success") => draft.state(call, Status::Ok, "status success"),
            Some(_) => draft.state(call, Status::Failed, "status error"),
            None if sheet.kind(id) == Kind::Null => {}
            None => draft.state(call, Status::Unknown, format!("status {}", Draft::raw_word(sheet, id))),
        }
    }
    draft.state_if_silent(call, Status::Ok, "a result and no status");
}

/// `{stdOut, stdErr, exitCode, isError}`, or any JSON.
fn result_json(sheet: &Sheet, json: NodeId, call: usize, draft: &mut Draft<'_>) {
    if sheet.is_object(json) {
        for (keys, origin) in [(&["stdOut", "stdout"], Origin::Stdout), (&["stdErr", "stderr"], Origin::Stderr)] {
            for id in sheet.take_any(json, keys) {
                draft.text(sheet, id, origin, Some(call));
            }
        }
        let code = sheet.take_integer(json, &["exitCode"]);
        draft.exit(call, code);
        if sheet.take_flag(json, &["isError"]) == Some(true) {
            draft.state(call, Status::Failed, "isError");
        }
    }
    draft.tree(sheet, json, Origin::Result, Some(call));
}

fn media(sheet: &Sheet, object: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    let name = sheet.peek_word(object, "name");
    draft.described(sheet, object, &["name"], call);
    let format = sheet.peek_word(object, "format").filter(|format| is_name(format));
    sheet.known(object, &[("format", Shape::Name)]);
    let is_image = format.as_deref().is_some_and(|format| matches!(format, "png" | "jpeg" | "gif" | "webp"));
    let (origin, declared) = match format {
        Some(format) if is_image => (Origin::Image, Some(format!("image/{format}"))),
        _ => (Origin::File, None),
    };
    for source in sheet.take(object, "source") {
        for id in sheet.take(source, "bytes") {
            let made = draft.bytes(sheet, id, origin, declared.clone(), call);
            draft.describe(made, name.clone(), None);
        }
        draft.tree(sheet, source, Origin::Metadata, call);
    }
}

/// The output of a code interpreter in a trace, and what was asked for.
fn trace(sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
    draft.texts(sheet, object, "code", Origin::Code, None);
    for output in sheet.take(object, OUTPUT).filter(|id| sheet.is_object(*id)) {
        draft.surface = Some("Agents trace");
        let call = draft.call(None, Some("code_interpreter"));
        draft.texts(sheet, output, "executionOutput", Origin::Log, Some(call));
        for id in sheet.take(output, "executionError").filter(|id| sheet.kind(*id) != Kind::Null) {
            if !sheet.doc.raw(id).is_empty() {
                draft.state(call, Status::Failed, "executionError");
            }
            draft.text(sheet, id, Origin::Error, Some(call));
        }
        if sheet.take_flag(output, &["executionTimeout"]) == Some(true) {
            draft.state(call, Status::TimedOut, "executionTimeout");
        }
        for list in sheet.take(output, "files") {
            for file in sheet.items(list) {
                draft.text(sheet, file, Origin::Metadata, Some(call));
                if let Some(name) = sheet.doc.word(file).map(std::borrow::Cow::into_owned) {
                    draft.refer("file", name.clone(), Some(name), None, sheet.pointer(file), Some(call));
                }
            }
        }
        draft.tree(sheet, output, Origin::Metadata, Some(call));
        draft.state_if_silent(call, Status::Ok, "no error and no timeout");
    }
    for files in sheet
        .take(object, "files")
        .filter(|id| !sheet.has(object, "executionOutput") && sheet.is_object(*id) || sheet.kind(*id) == Kind::Array)
    {
        // An event is named like the list in it.
        let inner: Vec<_> = sheet.take(files, "files").collect();
        let lists = if inner.is_empty() { vec![files] } else { inner };
        for file in lists.into_iter().flat_map(|list| sheet.items(list)).filter(|id| sheet.is_object(*id)) {
            let name = sheet.peek_word(file, "name");
            let declared = sheet.take_type(file, &["type"]);
            draft.described(sheet, file, &["name"], None);
            for id in sheet.take(file, "bytes") {
                let made = draft.bytes(sheet, id, Origin::File, declared.clone(), None);
                draft.describe(made, name.clone(), None);
            }
        }
    }
}
