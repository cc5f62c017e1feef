//! The Interactions API: steps, and the events they are streamed in (SHAPES 4.2).

use std::collections::HashMap;

use crate::{
    bundle::{Origin, Status, Trust},
    envelope::{
        draft::Draft,
        joiner::{Joiner, Role},
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

const STATUSES: &[&str] = &[
    "completed",
    "failed",
    "cancelled",
    "incomplete",
    "budget_exceeded",
    "in_progress",
    "requires_action",
    "queued",
    "idle",
    "requires_continuation",
];
const STEPS: &[&str] = &[
    "thought",
    "code_execution_call",
    "code_execution_result",
    "model_output",
    "user_input",
    "function_call",
    "function_result",
    "url_context_call",
    "url_context_result",
    "google_search_call",
    "google_search_result",
    "file_search_call",
    "file_search_result",
    "mcp_server_tool_call",
    "mcp_server_tool_result",
    "google_maps_call",
    "google_maps_result",
];
const DELTAS: &[&str] =
    &["text", "image", "document", "audio", "video", "thought_signature", "thought_summary", "text_annotation"];
const EVENTS: &[&str] = &[
    "interaction.created",
    "interaction.start",
    "interaction.status_update",
    "interaction.completed",
    "interaction.complete",
    "step.start",
    "step.delta",
    "step.stop",
    "content.start",
    "content.delta",
    "content.stop",
    "error",
];
const TOKENS: &[(&str, Shape)] = &[("modality", Shape::Name), ("tokens", Shape::Scalar)];
const USAGE: &[(&str, Shape)] = &[
    ("total_tokens", Shape::Scalar),
    ("total_input_tokens", Shape::Scalar),
    ("total_cached_tokens", Shape::Scalar),
    ("total_output_tokens", Shape::Scalar),
    ("total_tool_use_tokens", Shape::Scalar),
    ("total_thought_tokens", Shape::Scalar),
    ("total_reasoning_tokens", Shape::Scalar),
    ("input_tokens_by_modality", Shape::Inside(TOKENS)),
    ("output_tokens_by_modality", Shape::Inside(TOKENS)),
    ("cached_tokens_by_modality", Shape::Inside(TOKENS)),
    ("tool_use_tokens_by_modality", Shape::Inside(TOKENS)),
];
const INTERACTION: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    ("object", Shape::Word(&["interaction"])),
    ("model", Shape::Name),
    ("agent", Shape::Name),
    ("created", Shape::Stamp),
    ("updated", Shape::Stamp),
    ("service_tier", Shape::Name),
    ("usage", Shape::Inside(USAGE)),
    ("previous_interaction_id", Shape::Id),
    ("environment_id", Shape::Id),
    ("role", Shape::Word(&["model", "user"])),
];
const EVENT: &[(&str, Shape)] = &[
    ("event_type", Shape::Word(EVENTS)),
    ("event_id", Shape::Id),
    ("interaction_id", Shape::Id),
    ("index", Shape::Scalar),
];
const STEP: &[(&str, Shape)] = &[
    ("type", Shape::Word(STEPS)),
    ("id", Shape::Id),
    ("call_id", Shape::Id),
    ("signature", Shape::Opaque),
    ("index", Shape::Scalar),
];

pub(super) fn is_own(sheet: &Sheet, object: NodeId) -> bool {
    let event = sheet.peek_word(object, "event_type").unwrap_or_default();
    let kind = sheet.peek_word(object, "type").unwrap_or_default();
    EVENTS.contains(&event.as_str())
        || sheet.peek_word(object, "object").as_deref() == Some("interaction")
        || kind == "code_execution_call" && sheet.has(object, "arguments") && !sheet.has(object, "status")
        || kind == "code_execution_result" && sheet.has(object, "call_id")
        || sheet.peek(object, "steps").is_some_and(|list| {
            sheet.kind(list) == Kind::Array
                && sheet
                    .doc
                    .children(list)
                    .take(64)
                    .any(|step| sheet.peek_word(step, "type").is_some_and(|kind| STEPS.contains(&kind.as_str())))
        })
}

/// What came of a stream of steps so far; a whole interaction is one without events.
#[derive(Default)]
pub(super) struct Stream {
    joiner: Joiner,
    /// The call of each step, by its index.
    calls: HashMap<i64, usize>,
    /// Calls whose result came and said nothing of errors.
    quiet: Vec<usize>,
    streaming: bool,
    pub(super) ended: bool,
}

impl Stream {
    /// An interaction, an event, or a step alone.
    pub(super) fn read(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        if sheet.has(object, "event_type") {
            self.streaming = true;
            self.event(sheet, object, draft);
        } else if sheet.has(object, "steps") || sheet.has(object, "object") || sheet.has(object, "outputs") {
            self.ended = true;
            self.interaction(sheet, object, draft);
        } else {
            self.ended = true;
            self.step(sheet, object, None, draft);
        }
    }

    pub(super) fn finish(&mut self, draft: &mut Draft<'_>) {
        std::mem::take(&mut self.joiner).finish(draft);
        for call in std::mem::take(&mut self.quiet) {
            draft.state_if_silent(call, Status::Ok, "a result and no is_error");
        }
    }

    fn interaction(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        sheet.known(object, INTERACTION);
        for list in sheet.take_any(object, &["steps", "outputs"]) {
            for step in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                self.step(sheet, step, None, draft);
            }
        }
        for key in ["input", "tools", "system_instruction", "generation_config", "agent_config", "environment"] {
            sheet.take(object, key).for_each(|id| sheet.mark_callers(id));
        }
        self.status(sheet, object, draft);
        for list in sheet.take_any(object, &["errors", "error"]).filter(|id| sheet.kind(*id) != Kind::Null) {
            error(sheet, list, draft);
        }
    }

    fn status(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        for id in sheet.take(object, "status") {
            match sheet.word(id, STATUSES) {
                Some("completed") => draft.overall(Status::Ok),
                Some("failed") => draft.overall(Status::Failed),
                Some("cancelled") => draft.overall(Status::Cancelled),
                Some("incomplete" | "budget_exceeded") => draft.overall(Status::Truncated),
                // A stream says so before it says how it ended.
                Some(_) if self.streaming => {}
                Some(_) => draft.overall(Status::Pending),
                None if sheet.kind(id) == Kind::Null => {}
                None => draft.overall(Status::Unknown),
            }
        }
    }

    fn event(&mut self, sheet: &Sheet, object: NodeId, draft: &mut Draft<'_>) {
        let kind = sheet.peek_word(object, "event_type").unwrap_or_default();
        sheet.known(object, EVENT);
        let index = sheet.peek(object, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(-1);
        for id in sheet.take(object, "interaction") {
            self.interaction(sheet, id, draft);
        }
        for step in sheet.take_any(object, &["step", "content"]).filter(|id| sheet.is_object(*id)) {
            self.step(sheet, step, Some(index), draft);
        }
        for delta in sheet.take(object, "delta").filter(|id| sheet.is_object(*id)) {
            self.delta(sheet, delta, index, draft);
        }
        self.status(sheet, object, draft);
        for id in sheet.take(object, "error") {
            error(sheet, id, draft);
        }
        self.ended |= matches!(kind.as_str(), "interaction.completed" | "interaction.complete" | "error");
    }

    /// A step: whole, or the beginning of one in a stream.
    fn step(&mut self, sheet: &Sheet, step: NodeId, index: Option<i64>, draft: &mut Draft<'_>) {
        let kind = sheet.peek_word(step, "type").unwrap_or_default();
        sheet.known(step, STEP);
        if kind.ends_with("_call") {
            let call =
                draft.call(sheet.take_id(step, "id"), kind.strip_suffix("_call").filter(|tool| *tool != "function"));
            if let Some(index) = index {
                self.calls.insert(index, call);
            }
            draft.described(sheet, step, &["name", "server_name"], Some(call));
            sheet.take_word(step, "language", &["python", "bash"]);
            for arguments in sheet.take(step, "arguments") {
                claim_language(sheet, arguments);
                draft.arguments(sheet, arguments, Some(call));
            }
        } else if kind.ends_with("_result") {
            self.result(sheet, step, &kind, index, draft);
        } else {
            let before = draft.trust;
            if kind == "user_input" {
                draft.trust = Trust::Caller;
            }
            for list in sheet.take_any(step, &["content", "summary"]) {
                blocks(sheet, list, Origin::Message, None, draft);
            }
            draft.trust = before;
            if !STEPS.contains(&kind.as_str()) {
                block(sheet, step, Origin::Message, None, draft);
            }
            for id in sheet.take(step, "error").filter(|id| sheet.kind(*id) != Kind::Null) {
                error(sheet, id, draft);
            }
        }
    }

    fn result(&mut self, sheet: &Sheet, step: NodeId, kind: &str, index: Option<i64>, draft: &mut Draft<'_>) {
        let call = match sheet.take_id(step, "call_id").filter(|id| !id.is_empty()) {
            Some(id) => draft.call(Some(id), kind.strip_suffix("_result").filter(|tool| *tool != "function")),
            None => match draft.first_silent() {
                Some(call) => call,
                None => draft.call(None, None),
            },
        };
        if let Some(index) = index {
            self.calls.insert(index, call);
        }
        draft.described(sheet, step, &["name", "server_name"], Some(call));
        self.outcome(sheet, step, call, draft);
    }

    /// `result` and `is_error`, of a whole step or of a piece.
    fn outcome(&mut self, sheet: &Sheet, object: NodeId, call: usize, draft: &mut Draft<'_>) {
        let flag = sheet.take_flag(object, &["is_error"]);
        match flag {
            Some(true) => draft.state(call, Status::Failed, "is_error"),
            Some(false) => draft.state(call, Status::Ok, "is_error false"),
            None => {}
        }
        let mut odd = false;
        for result in sheet.take(object, "result") {
            match sheet.kind(result) {
                Kind::Text | Kind::Null => drop(draft.text(sheet, result, Origin::Log, Some(call))),
                Kind::Array => blocks(sheet, result, Origin::Log, Some(call), draft),
                _ => {
                    odd = true;
                    draft.odd_shape(sheet, result, "a string or a list of blocks");
                    draft.tree(sheet, result, Origin::Log, Some(call));
                }
            }
        }
        match (flag, odd) {
            (None, true) => draft.state(call, Status::Unknown, "a result of an unknown shape"),
            (None, false) => self.quiet.push(call),
            _ => {}
        }
    }

    fn delta(&mut self, sheet: &Sheet, delta: NodeId, index: i64, draft: &mut Draft<'_>) {
        let kind = sheet.peek_word(delta, "type").unwrap_or_default();
        let call = self.calls.get(&index).copied();
        for id in sheet.take(delta, "type") {
            let _ = sheet.word(id, DELTAS).or_else(|| sheet.word(id, STEPS));
        }
        for arguments in sheet.take(delta, "arguments") {
            if sheet.kind(arguments) == Kind::Text {
                self.joiner.push(draft, sheet, arguments, format!("{index} arguments"), Role::Arguments, call);
                continue;
            }
            claim_language(sheet, arguments);
            for code in sheet.take(arguments, "code") {
                self.joiner.push(draft, sheet, code, format!("{index} code"), Role::Text(Origin::Code), call);
            }
            draft.arguments(sheet, arguments, call);
        }
        if sheet.has(delta, "result") || sheet.has(delta, "is_error") {
            for result in sheet.take(delta, "result").filter(|id| sheet.kind(*id) == Kind::Text) {
                self.joiner.push(draft, sheet, result, format!("{index} result"), Role::Text(Origin::Log), call);
            }
            match call {
                Some(call) => self.piece_outcome(sheet, delta, call, draft),
                None => {
                    // A recording that begins in the middle.
                    let call = draft.call(None, None);
                    self.calls.insert(index, call);
                    self.piece_outcome(sheet, delta, call, draft);
                }
            }
        }
        if kind == "text" {
            for text in sheet.take(delta, "text") {
                self.joiner.push(draft, sheet, text, format!("{index} text"), Role::Text(Origin::Message), call);
            }
        }
        sheet.known(delta, &[("signature", Shape::Opaque)]);
        block(sheet, delta, Origin::Message, call, draft);
    }

    /// Like [`Self::outcome`], but a string result was already joined.
    fn piece_outcome(&mut self, sheet: &Sheet, delta: NodeId, call: usize, draft: &mut Draft<'_>) {
        match sheet.take_flag(delta, &["is_error"]) {
            Some(true) => draft.state(call, Status::Failed, "is_error"),
            Some(false) => draft.state(call, Status::Ok, "is_error false"),
            None => self.quiet.push(call),
        }
        for result in sheet.take(delta, "result") {
            match sheet.kind(result) {
                Kind::Text => {}
                Kind::Array => blocks(sheet, result, Origin::Log, Some(call), draft),
                _ => draft.tree(sheet, result, Origin::Log, Some(call)),
            }
        }
    }
}

fn claim_language(sheet: &Sheet, arguments: NodeId) {
    sheet.take_word(arguments, "language", &["python", "bash"]);
}

/// Content: a string or blocks.
fn blocks(sheet: &Sheet, list: NodeId, origin: Origin, call: Option<usize>, draft: &mut Draft<'_>) {
    for item in sheet.items(list) {
        if sheet.is_object(item) {
            block(sheet, item, origin, call, draft);
        } else {
            draft.text(sheet, item, origin, call);
        }
    }
}

/// A block: text, or bytes inline or by URI.
fn block(sheet: &Sheet, item: NodeId, origin: Origin, call: Option<usize>, draft: &mut Draft<'_>) {
    let kind = sheet.peek_word(item, "type").unwrap_or_default();
    sheet.take_word(item, "type", DELTAS);
    for id in sheet.take(item, "text").filter(|id| !sheet.is_claimed(*id)) {
        draft.text(sheet, id, origin, call);
    }
    for inner in sheet.take(item, "content").filter(|id| sheet.is_object(*id)) {
        sheet.take_word(inner, "type", DELTAS);
        draft.texts(sheet, inner, "text", origin, call);
    }
    let declared = sheet.take_type(item, &["mime_type", "mimeType"]);
    let name = sheet.peek_word(item, "display_name").filter(|name| is_name(name));
    draft.described(sheet, item, &["display_name"], call);
    let what = if kind == "image" { Origin::Image } else { Origin::File };
    for id in sheet.take(item, "data") {
        let made = draft.bytes(sheet, id, what, declared.clone(), call);
        draft.describe(made, name.clone(), None);
    }
    for id in sheet.take(item, "uri") {
        draft.url(sheet, id, what, call);
    }
    for id in sheet.take(item, "annotations") {
        draft.tree(sheet, id, Origin::Metadata, call);
    }
}

fn error(sheet: &Sheet, id: NodeId, draft: &mut Draft<'_>) {
    draft.overall(Status::Failed);
    for item in sheet.items(id).into_iter().filter(|id| sheet.is_object(*id)) {
        sheet.known(item, &[("code", Shape::Name), ("status", Shape::Name), ("message", Shape::Scalar)]);
    }
    draft.tree(sheet, id, Origin::Error, None);
}
