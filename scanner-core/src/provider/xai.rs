//! xAI: the Responses API in its four shapes, read with OpenAI's items, and the gRPC chat as protobuf JSON.
//! SHAPES 3.

use std::collections::{HashMap, HashSet};

use crate::{
    bundle::{Origin, Status},
    envelope::{
        Envelope, Form,
        draft::{Draft, Vendor},
        joiner::{Joiner, Role},
        link,
        rules::REFERENCE,
        sheet::{Shape, Sheet, is_id},
    },
    finding::Reason,
    json::{Kind, NodeId},
};

use super::{
    Provider, Sure,
    openai::{self, Dialect},
};

pub(crate) static PROVIDER: Provider = Provider {
    name: "xai",
    expected: "an object with \"output\" or \"choices\"",
    recognise,
    adapt,
    reads: "Responses API items with the JSON in logs, streams, gRPC chat responses and chunks with ROLE_TOOL content",
    status: "exit_code and command_timed_out in logs; status of the call; error of the gRPC result",
    error: "`command_timed_out: true` or `exit_code` ≠ 0 in the JSON of `logs`; gRPC: `TOOL_CALL_STATUS_FAILED`, `error_message`, or an `error` that is not empty",
};

const VENDOR: Vendor = Vendor { auth: "xai", hosts: &["api.x.ai"] };

const CHAT: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("created", Shape::Stamp),
    ("model", Shape::Name),
    ("system_fingerprint", Shape::Id),
    ("systemFingerprint", Shape::Id),
    ("usage", Shape::Inside(USAGE)),
    ("object", Shape::Name),
];
const USAGE: &[(&str, Shape)] = &[
    ("completion_tokens", Shape::Scalar),
    ("prompt_tokens", Shape::Scalar),
    ("total_tokens", Shape::Scalar),
    ("prompt_text_tokens", Shape::Scalar),
    ("prompt_image_tokens", Shape::Scalar),
    ("reasoning_tokens", Shape::Scalar),
    ("cached_prompt_text_tokens", Shape::Scalar),
    ("num_sources_used", Shape::Scalar),
    ("server_side_tools_used", Shape::Word(TOOLS_USED)),
    ("cost_in_usd_ticks", Shape::Scalar),
    ("completionTokens", Shape::Scalar),
    ("promptTokens", Shape::Scalar),
    ("totalTokens", Shape::Scalar),
    ("promptTextTokens", Shape::Scalar),
    ("promptImageTokens", Shape::Scalar),
    ("reasoningTokens", Shape::Scalar),
    ("cachedPromptTextTokens", Shape::Scalar),
    ("numSourcesUsed", Shape::Scalar),
    ("serverSideToolsUsed", Shape::Word(TOOLS_USED)),
    ("costInUsdTicks", Shape::Scalar),
];
const TOOLS_USED: &[&str] = &[
    "SERVER_SIDE_TOOL_INVALID",
    "SERVER_SIDE_TOOL_WEB_SEARCH",
    "SERVER_SIDE_TOOL_X_SEARCH",
    "SERVER_SIDE_TOOL_CODE_EXECUTION",
    "SERVER_SIDE_TOOL_VIEW_IMAGE",
    "SERVER_SIDE_TOOL_VIEW_X_VIDEO",
    "SERVER_SIDE_TOOL_COLLECTIONS_SEARCH",
    "SERVER_SIDE_TOOL_MCP",
    "SERVER_SIDE_TOOL_ATTACHMENT_SEARCH",
];
const FINISH: &[&str] = &[
    "REASON_INVALID",
    "REASON_MAX_LEN",
    "REASON_MAX_CONTEXT",
    "REASON_STOP",
    "REASON_TOOL_CALLS",
    "REASON_TIME_LIMIT",
];
const ROLES: &[&str] =
    &["ROLE_ASSISTANT", "ROLE_TOOL", "ROLE_USER", "ROLE_SYSTEM", "ROLE_FUNCTION", "ROLE_DEVELOPER", "INVALID_ROLE"];
const TYPES: &[&str] = &[
    "TOOL_CALL_TYPE_INVALID",
    "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL",
    "TOOL_CALL_TYPE_WEB_SEARCH_TOOL",
    "TOOL_CALL_TYPE_X_SEARCH_TOOL",
    CODE_EXECUTION,
    "TOOL_CALL_TYPE_COLLECTIONS_SEARCH_TOOL",
    "TOOL_CALL_TYPE_MCP_TOOL",
    "TOOL_CALL_TYPE_ATTACHMENT_SEARCH_TOOL",
];
const CODE_EXECUTION: &str = "TOOL_CALL_TYPE_CODE_EXECUTION_TOOL";
const STATUSES: &[&str] = &[
    "TOOL_CALL_STATUS_IN_PROGRESS",
    "TOOL_CALL_STATUS_COMPLETED",
    "TOOL_CALL_STATUS_INCOMPLETE",
    "TOOL_CALL_STATUS_FAILED",
];

fn recognise(envelope: &Envelope) -> Sure {
    let grpc = envelope.heads().iter().any(|(sheet, object)| is_grpc(sheet, *object));
    if grpc { Sure::Yes } else { openai::recognise(envelope).1 }
}

/// Protobuf JSON of the chat service: enumerations are spelled `ROLE_…`.
fn is_grpc(sheet: &Sheet, object: NodeId) -> bool {
    let role = |message: NodeId| sheet.peek_word(message, "role").is_some_and(|role| role.starts_with("ROLE_"));
    let Some(list) = sheet.peek(object, "outputs") else {
        return role(object)
            && (sheet.has(object, "content") || sheet.has(object, "tool_calls") || sheet.has(object, "toolCalls"));
    };
    sheet.doc.children(list).take(16).any(|output| {
        ["message", "delta"].iter().filter_map(|key| sheet.peek(output, key)).any(role)
            || ["finish_reason", "finishReason"]
                .iter()
                .any(|key| sheet.peek_word(output, key).is_some_and(|reason| reason.starts_with("REASON_")))
    })
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.vendor = VENDOR;
    let mut reading = openai::Reading::new(Dialect::Xai, envelope.form == Form::Events);
    let mut chat = Chat::default();
    for (sheet, object) in envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)) {
        if is_grpc(sheet, object) || sheet.has(object, "outputs") && !openai::is_responses(sheet, object) {
            draft.surface = Some("gRPC chat");
            chat.read(sheet, object, draft);
        } else {
            openai::read(sheet, object, &mut reading, draft);
        }
    }
    chat.finish(draft);
    reading.finish(envelope.done, draft);
}

/// A chat while its outputs are read.
#[derive(Default)]
struct Chat {
    joiner: Joiner,
    code_calls: HashMap<usize, String>,
    answered: HashSet<usize>,
}

impl Chat {
    fn read(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        sheet.known(object, CHAT);
        for list in sheet.take(object, "outputs") {
            for output in sheet.items(list).into_iter().filter(|output| sheet.is_object(*output)) {
                // Protobuf leaves zeros out.
                let index = sheet.peek(output, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(0);
                sheet.known(output, &[("index", Shape::Scalar), ("logprobs", Shape::Scalar)]);
                for id in sheet.take_any(output, &["finish_reason", "finishReason"]) {
                    match sheet.word(id, FINISH) {
                        Some("REASON_MAX_LEN" | "REASON_MAX_CONTEXT") => draft.overall(Status::Truncated),
                        Some("REASON_TIME_LIMIT") => draft.overall(Status::TimedOut),
                        Some("REASON_STOP" | "REASON_TOOL_CALLS") => draft.overall(Status::Ok),
                        _ => {}
                    }
                }
                for message in sheet.take(output, "message") {
                    self.message(sheet, message, None, draft);
                }
                for delta in sheet.take(output, "delta") {
                    self.message(sheet, delta, Some(index), draft);
                }
            }
        }
        if sheet.has(object, "role") {
            self.message(sheet, object, None, draft);
        }
        for files in sheet.take_any(object, &["output_files", "outputFiles"]) {
            files_of(sheet, files, None, draft);
        }
        for list in sheet.take(object, "citations") {
            draft.tree(sheet, list, Origin::Metadata, None);
        }
    }

    /// A message, or a piece of the message at `index`.
    fn message(&mut self, sheet: &Sheet, message: NodeId, index: Option<i64>, draft: &mut Draft<'_>) {
        let role = sheet.take_word(message, "role", ROLES).unwrap_or_default();
        sheet.known(message, &[("encrypted_content", Shape::Opaque), ("encryptedContent", Shape::Opaque)]);
        let mut call = None;
        for list in sheet.take_any(message, &["tool_calls", "toolCalls"]) {
            for tool in sheet.items(list).into_iter().filter(|tool| sheet.is_object(*tool)) {
                call = Some(self.tool_call(sheet, tool, draft));
            }
        }
        for key in ["content", "reasoning_content", "reasoningContent"] {
            for id in sheet.take(message, key) {
                if role == "ROLE_TOOL" && key == "content" {
                    self.output(sheet, id, call, draft);
                } else if let (Some(index), Kind::Text) = (index, sheet.kind(id)) {
                    self.joiner.push(draft, sheet, id, format!("{index} {key}"), Role::Text(Origin::Message), None);
                } else {
                    draft.tree(sheet, id, Origin::Message, None);
                }
            }
        }
    }

    fn tool_call(&mut self, sheet: &Sheet, tool: NodeId, draft: &mut Draft<'_>) -> usize {
        let kind = sheet.take_word(tool, "type", TYPES);
        let id = sheet.take_id(tool, "id");
        let call = draft.call(id, None);
        if kind == Some(CODE_EXECUTION) {
            self.code_calls.entry(call).or_insert_with(|| sheet.pointer(tool));
        }
        let mut said = false;
        for id in sheet.take(tool, "status") {
            said = true;
            match sheet.word(id, STATUSES) {
                Some("TOOL_CALL_STATUS_COMPLETED") => draft.state(call, Status::Ok, "TOOL_CALL_STATUS_COMPLETED"),
                Some("TOOL_CALL_STATUS_FAILED") => draft.state(call, Status::Failed, "TOOL_CALL_STATUS_FAILED"),
                Some("TOOL_CALL_STATUS_INCOMPLETE") => {
                    draft.state(call, Status::Truncated, "TOOL_CALL_STATUS_INCOMPLETE");
                }
                Some(_) => draft.progress(call),
                None => draft.state(call, Status::Unknown, format!("status {}", Draft::raw_word(sheet, id))),
            }
        }
        if !said {
            // Zero is IN_PROGRESS, and zeros are left out.
            draft.progress(call);
        }
        for id in sheet.take_any(tool, &["error_message", "errorMessage"]) {
            if !sheet.doc.raw(id).is_empty() && sheet.kind(id) == Kind::Text {
                draft.state(call, Status::Failed, "the call has an error message");
            }
            draft.text(sheet, id, Origin::Error, Some(call));
        }
        for function in sheet.take(tool, "function") {
            openai::function(sheet, function, call, draft);
        }
        call
    }

    /// The content of a `ROLE_TOOL` message: JSON in a string, or whatever came instead.
    fn output(&mut self, sheet: &Sheet, id: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
        // The call is told again beside its output; where it is not, it is the first that still lacks one.
        let unanswered = || self.code_calls.keys().filter(|call| !self.answered.contains(call)).min().copied();
        let call = match call.or_else(unanswered).or_else(|| draft.first_silent()) {
            Some(call) => call,
            None => draft.call(None, None),
        };
        self.answered.insert(call);
        if sheet.kind(id) != Kind::Text {
            draft.tree(sheet, id, Origin::Log, Some(call));
        } else if !openai::read_printed(sheet, id, call, draft) {
            let made = draft.text(sheet, id, Origin::Log, Some(call));
            let text = made.and_then(|index| draft.bundle.artifacts.get(index)).map(|it| it.source.packed.clone());
            if text.is_some_and(|text| crate::envelope::traceback::ends_in_traceback(&text)) {
                draft.state(call, Status::Failed, "inferred: the log ends in a traceback");
            }
        }
        if !draft.is_under_way(call) {
            draft.state_if_silent(call, Status::Ok, "an output and no status");
        }
    }

    fn finish(self, draft: &mut Draft<'_>) {
        self.joiner.finish(draft);
        let mut missing: Vec<_> =
            self.code_calls.into_iter().filter(|(call, _)| !self.answered.contains(call)).collect();
        missing.sort();
        for (call, at) in missing {
            if draft.is_stated(call) {
                draft.gap(
                    Reason::NotIncluded,
                    "the output was not asked for: request with INCLUDE_OPTION_CODE_EXECUTION_CALL_OUTPUT",
                    Some(at),
                );
            }
        }
    }
}

/// `output_files` of a result: a map from name to id (SHAPES 3.2, a guess) or a list of `{file_id, name}`.
pub(super) fn output_files(sheet: &Sheet, files: NodeId, call: usize, draft: &mut Draft<'_>) {
    files_of(sheet, files, Some(call), draft);
}

fn files_of(sheet: &Sheet, files: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    if sheet.is_object(files) && !sheet.has(files, "file_id") && !sheet.has(files, "fileId") {
        for file in sheet.doc.children(files) {
            // The key is the name; it stays unclaimed and is read.
            let name = sheet.doc.key(file).map(std::borrow::Cow::into_owned);
            match sheet.kind(file) {
                Kind::Text => reference(sheet, file, name, call, draft),
                _ => one_file(sheet, file, name, call, draft),
            }
        }
        return;
    }
    for file in sheet.items(files) {
        match sheet.kind(file) {
            Kind::Text => reference(sheet, file, None, call, draft),
            _ => one_file(sheet, file, None, call, draft),
        }
    }
}

fn one_file(sheet: &Sheet, file: NodeId, name: Option<String>, call: Option<usize>, draft: &mut Draft<'_>) {
    let name = sheet.peek_word(file, "name").or_else(|| sheet.peek_word(file, "filename")).or(name);
    draft.described(sheet, file, &["name", "filename"], call);
    for id in sheet.take_any(file, &["file_id", "fileId", "id"]) {
        reference(sheet, id, name.clone(), call, draft);
    }
    for id in sheet.take_any(file, &["data", "base64"]) {
        let made = draft.bytes(sheet, id, Origin::File, None, call);
        draft.describe(made, name.clone(), None);
    }
}

fn reference(sheet: &Sheet, id: NodeId, name: Option<String>, call: Option<usize>, draft: &mut Draft<'_>) {
    let Some(word) = sheet.doc.word(id).map(std::borrow::Cow::into_owned) else { return };
    if word.is_empty() {
        return;
    }
    let at = sheet.pointer(id);
    let request = link::request(VENDOR.auth, &["/v1/files/", "/content"], &[&word]);
    if request.is_none() {
        draft.find(&REFERENCE, "a file id outside the vendor's alphabet", Some(at.clone()));
    } else if is_id(&word) {
        sheet.claim(id);
    }
    draft.refer("file_id", word, name, request, at, call);
}
