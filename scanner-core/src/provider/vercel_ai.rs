//! Vercel AI SDK: tool results of model messages, parts of UI messages, and the UI message stream.

use std::collections::HashMap;

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        Envelope, Form,
        draft::Draft,
        joiner::{Joiner, Role},
        sheet::{Shape, Sheet, is_id, is_name},
    },
    json::{Kind, NodeId},
};

use super::{Provider, Sure};

pub(crate) static PROVIDER: Provider = Provider {
    name: "vercel-ai",
    expected: "messages with \"tool-result\" content, \"parts\" with \"toolCallId\", or a UI message stream",
    recognise,
    adapt,
    reads: "tool calls, results and errors of both versions, text, reasoning, files, the UI message stream",
    status: "output-available ok, output-error, error-text and isError failed, input-* pending",
    error: "`state`: `output-error` with `errorText`; an output of type `error-text` or `error-json`; `isError: true`",
};

const PARTS: &[&str] = &[
    "tool-result",
    "tool-call",
    "tool-error",
    "tool-approval-request",
    "dynamic-tool",
    "text",
    "reasoning",
    "file",
    "image",
    "step-start",
    "source-url",
    "source-document",
    "start",
    "start-step",
    "finish-step",
    "finish",
    "abort",
    "error",
    "text-start",
    "text-delta",
    "text-end",
    "reasoning-start",
    "reasoning-delta",
    "reasoning-end",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-available",
    "tool-input-error",
    "tool-output-available",
    "tool-output-error",
    "tool-output-denied",
];
const PART: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("toolCallId", Shape::Id),
    ("state", Shape::Word(STATES)),
    ("preliminary", Shape::Scalar),
    ("dynamic", Shape::Scalar),
    ("providerExecuted", Shape::Scalar),
    ("messageId", Shape::Id),
    ("sourceId", Shape::Id),
    ("finishReason", Shape::Name),
    ("isError", Shape::Scalar),
    ("role", Shape::Word(&["user", "assistant", "tool", "system"])),
];
const STATES: &[&str] = &[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
    "partial-call",
    "call",
    "result",
    "streaming",
    "done",
];
const OUTPUTS: &[&str] =
    &["text", "json", "error-text", "error-json", "content", "execution-denied", "media", "file-data", "image-data"];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| {
        is_part(sheet, object)
            || ["content", "parts", "messages"].iter().filter_map(|key| sheet.peek(object, key)).any(|list| {
                sheet.doc.children(list).take(32).any(|item| {
                    is_part(sheet, item)
                        || ["content", "parts"]
                            .iter()
                            .filter_map(|key| sheet.peek(item, key))
                            .any(|inner| sheet.doc.children(inner).take(32).any(|part| is_part(sheet, part)))
                })
            })
    });
    if own { Sure::Yes } else { Sure::No }
}

/// A part of a tool; or of a stream, which may hold nothing but text that is cut anywhere.
fn is_part(sheet: &Sheet, object: NodeId) -> bool {
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    let has = |key| sheet.has(object, key);
    match &*kind {
        "text-delta" | "reasoning-delta" => has("id") && has("delta"),
        "dynamic-tool" => has("toolCallId"),
        kind => kind.starts_with("tool-") && has("toolCallId"),
    }
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    let mut reading = Reading::default();
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        reading.read(sheet, object, draft);
    }
    draft.surface = Some(if envelope.form == Form::Events { "UI message stream" } else { "messages" });
    reading.joiner.finish(draft);
    if envelope.form == Form::Events && !reading.finished && !envelope.done {
        draft.overall(Status::Truncated);
    }
    draft.state_all_silent(Status::Pending, "its result is not there yet");
}

#[derive(Default)]
struct Reading {
    joiner: Joiner,
    tools: HashMap<String, usize>,
    finished: bool,
}

impl Reading {
    /// Messages, a message, or a part.
    fn read(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        let mut queue = vec![object];
        while let Some(object) = queue.pop() {
            if sheet.has(object, "type") {
                self.part(sheet, object, draft);
                continue;
            }
            sheet.known(object, PART);
            let callers = sheet.peek_word(object, "role").is_some_and(|role| role == "user" || role == "system");
            for list in sheet.take_any(object, &["messages", "content", "parts"]) {
                if callers {
                    sheet.mark_callers(list);
                }
                if sheet.kind(list) == Kind::Text {
                    draft.trust = if callers { Trust::Caller } else { Trust::Tool };
                    draft.text(sheet, list, Origin::Message, None);
                    draft.trust = Trust::Tool;
                }
                let items = sheet.doc.children(list).filter(|id| sheet.is_object(*id));
                // Last in, first out: pushed in reverse, read in order.
                let at = queue.len();
                queue.extend(items);
                if let Some(new) = queue.get_mut(at..) {
                    new.reverse();
                }
            }
        }
    }

    fn part(&mut self, sheet: &Sheet, part: NodeId, draft: &mut Draft<'_>) {
        let kind = sheet.peek_word(part, "type").unwrap_or_default();
        for id in sheet.take(part, "type") {
            // `tool-NAME` holds a client's word.
            if sheet.word(id, PARTS).is_none() && is_name(&kind) {
                sheet.claim(id);
            }
        }
        let id = sheet.peek_word(part, "toolCallId").filter(|id| is_id(id));
        self.finished |= matches!(kind.as_str(), "finish" | "abort" | "error");
        match id {
            Some(id) => self.tool(sheet, part, &kind, id, draft),
            None => {
                for key in ["text", "errorText", "reasoning"] {
                    draft.texts(
                        sheet,
                        part,
                        key,
                        if key == "errorText" { Origin::Error } else { Origin::Message },
                        None,
                    );
                }
                let of = format!("{} {kind}", sheet.peek_word(part, "id").unwrap_or_default());
                for delta in sheet.take(part, "delta") {
                    self.joiner.push(draft, sheet, delta, of.clone(), Role::Text(Origin::Message), None);
                }
            }
        }
        media(sheet, part, None, draft);
        sheet.known(part, PART);
    }

    fn tool(&mut self, sheet: &Sheet, part: NodeId, kind: &str, id: String, draft: &mut Draft<'_>) {
        let call = draft.call(Some(id.clone()), None);
        self.tools.insert(id.clone(), call);
        for name in sheet.take(part, "toolName") {
            let word = sheet.doc.word(name).filter(|name| is_name(name)).map(std::borrow::Cow::into_owned);
            draft.text(sheet, name, Origin::Metadata, Some(call));
            if let (Some(word), Some(call)) = (word, draft.bundle.calls.get_mut(call)) {
                call.tool.get_or_insert(word);
            }
        }
        for delta in sheet.take(part, "inputTextDelta") {
            self.joiner.push(draft, sheet, delta, format!("{id} input"), Role::Arguments, Some(call));
        }
        for input in sheet.take_any(part, &["input", "args", "rawInput"]) {
            draft.arguments(sheet, input, Some(call));
        }
        for output in sheet.take_any(part, &["output", "result"]) {
            self.output(sheet, output, call, draft);
        }
        for key in ["errorText", "error"] {
            for error in sheet.take(part, key).filter(|id| sheet.kind(*id) != Kind::Null) {
                draft.state(call, Status::Failed, "an error");
                draft.tree(sheet, error, Origin::Error, Some(call));
            }
        }
        if sheet.peek(part, "isError").is_some_and(|id| sheet.kind(id) == Kind::Bool(true)) {
            draft.state(call, Status::Failed, "isError");
        }
        let state = sheet.peek_word(part, "state").unwrap_or_default();
        match (kind, state.as_str()) {
            (_, "output-error") | ("tool-output-error" | "tool-error" | "tool-input-error", _) => {
                draft.state(call, Status::Failed, "output-error");
            }
            (_, "output-denied") | ("tool-output-denied", _) => draft.state(call, Status::Cancelled, "output-denied"),
            (_, "output-available" | "result") | ("tool-result" | "tool-output-available", _) => {
                draft.state(call, Status::Ok, "an output and no error");
            }
            _ => draft.progress(call),
        }
    }

    /// `{type, value}` of version 5, or whatever the tool gave back.
    fn output(&mut self, sheet: &Sheet, output: NodeId, call: usize, draft: &mut Draft<'_>) {
        let kind = sheet.peek_word(output, "type").unwrap_or_default();
        if sheet.is_object(output) && sheet.has(output, "value") && OUTPUTS.contains(&kind.as_str()) {
            sheet.take_word(output, "type", OUTPUTS);
            if kind.starts_with("error") {
                draft.state(call, Status::Failed, kind.clone());
            }
            for value in sheet.take(output, "value") {
                for item in sheet.items(value).into_iter().filter(|id| sheet.is_object(*id)) {
                    if kind == "content" {
                        sheet.take_word(item, "type", OUTPUTS);
                        draft.texts(sheet, item, "text", Origin::Log, Some(call));
                    }
                    media(sheet, item, Some(call), draft);
                }
                draft.tree(sheet, value, Origin::Log, Some(call));
            }
            return;
        }
        draft.tree(sheet, output, Origin::Log, Some(call));
    }
}

/// A file or picture: base64 or a URL, with its media type.
fn media(sheet: &Sheet, part: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    let declared = sheet.peek_word(part, "mediaType").or_else(|| sheet.peek_word(part, "mimeType"));
    if declared.is_none() {
        return;
    }
    sheet.take_type(part, &["mediaType", "mimeType"]);
    draft.described(sheet, part, &["filename", "title"], call);
    let name = sheet.peek_word(part, "filename");
    let is_image = declared.as_deref().is_some_and(|declared| declared.starts_with("image/"));
    let origin = if is_image { Origin::Image } else { Origin::File };
    for id in sheet.take_any(part, &["data", "image"]).filter(|id| sheet.kind(*id) == Kind::Text) {
        let made = draft.bytes(sheet, id, origin, declared.clone(), call);
        draft.describe(made, name.clone(), None);
    }
    for id in sheet.take(part, "url") {
        draft.url(sheet, id, origin, call);
    }
}
