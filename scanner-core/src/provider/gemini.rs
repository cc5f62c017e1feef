//! Gemini: generateContent whole, streamed, batched and live, and the Interactions API. SHAPES 4.
//!
//! Keys come in `camelCase` from the wire and in `snake_case` from the Python SDK; both are read everywhere.

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

mod interactions;
mod parts;

use parts::Turn;

pub(crate) static PROVIDER: Provider = Provider {
    name: "gemini",
    expected: "an object with \"candidates\", \"steps\" or \"serverContent\", a stream or a batch of them",
    recognise,
    adapt,
    reads: "parts of candidates, requests, batches and live messages; steps and events of the Interactions API",
    status: "outcome of the result; is_error of interactions; a call without a result by finishReason or status",
    error: "`outcome`: `OUTCOME_FAILED`, `OUTCOME_DEADLINE_EXCEEDED`; Interactions: `is_error: true`, for time too",
};

const VENDOR: Vendor = Vendor { auth: "gemini", hosts: &["generativelanguage.googleapis.com"] };

/// How deep a response may be wrapped: job, results, list of results, row, response.
const LAYERS: u8 = 5;
const FINISH: &[&str] = &[
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_OTHER",
    "IMAGE_RECITATION",
    "NO_IMAGE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MALFORMED_RESPONSE",
    "FINISH_REASON_UNSPECIFIED",
];
const MODALITY: &[(&str, Shape)] =
    &[("modality", Shape::Name), ("tokenCount", Shape::Scalar), ("token_count", Shape::Scalar)];
const USAGE: &[(&str, Shape)] = &[
    ("promptTokenCount", Shape::Scalar),
    ("candidatesTokenCount", Shape::Scalar),
    ("responseTokenCount", Shape::Scalar),
    ("totalTokenCount", Shape::Scalar),
    ("cachedContentTokenCount", Shape::Scalar),
    ("toolUsePromptTokenCount", Shape::Scalar),
    ("thoughtsTokenCount", Shape::Scalar),
    ("promptTokensDetails", Shape::Inside(MODALITY)),
    ("candidatesTokensDetails", Shape::Inside(MODALITY)),
    ("responseTokensDetails", Shape::Inside(MODALITY)),
    ("cacheTokensDetails", Shape::Inside(MODALITY)),
    ("toolUsePromptTokensDetails", Shape::Inside(MODALITY)),
    ("trafficType", Shape::Name),
    ("prompt_token_count", Shape::Scalar),
    ("candidates_token_count", Shape::Scalar),
    ("total_token_count", Shape::Scalar),
    ("cached_content_token_count", Shape::Scalar),
    ("tool_use_prompt_token_count", Shape::Scalar),
    ("thoughts_token_count", Shape::Scalar),
    ("prompt_tokens_details", Shape::Inside(MODALITY)),
    ("candidates_tokens_details", Shape::Inside(MODALITY)),
    ("cache_tokens_details", Shape::Inside(MODALITY)),
    ("tool_use_prompt_tokens_details", Shape::Inside(MODALITY)),
    ("traffic_type", Shape::Name),
    ("serviceTier", Shape::Name),
    ("service_tier", Shape::Name),
];
const RATING: &[(&str, Shape)] = &[
    ("category", Shape::Name),
    ("probability", Shape::Name),
    ("severity", Shape::Name),
    ("blocked", Shape::Scalar),
    ("probabilityScore", Shape::Scalar),
    ("severityScore", Shape::Scalar),
    ("probability_score", Shape::Scalar),
    ("severity_score", Shape::Scalar),
];
const RESPONSE: &[(&str, Shape)] = &[
    ("modelVersion", Shape::Name),
    ("responseId", Shape::Id),
    ("createTime", Shape::Stamp),
    ("usageMetadata", Shape::Inside(USAGE)),
    ("promptFeedback", Shape::Inside(FEEDBACK)),
    ("model_version", Shape::Name),
    ("response_id", Shape::Id),
    ("create_time", Shape::Stamp),
    ("usage_metadata", Shape::Inside(USAGE)),
    ("prompt_feedback", Shape::Inside(FEEDBACK)),
    ("model", Shape::Name),
    ("key", Shape::Id),
    ("parsed", Shape::Scalar),
    ("automatic_function_calling_history", Shape::Scalar),
    ("modelStatus", Shape::Inside(&[("modelStage", Shape::Name)])),
];
const FEEDBACK: &[(&str, Shape)] = &[
    ("blockReason", Shape::Name),
    ("block_reason", Shape::Name),
    ("safetyRatings", Shape::Inside(RATING)),
    ("safety_ratings", Shape::Inside(RATING)),
];
const CANDIDATE: &[(&str, Shape)] = &[
    ("index", Shape::Scalar),
    ("tokenCount", Shape::Scalar),
    ("avgLogprobs", Shape::Scalar),
    ("safetyRatings", Shape::Inside(RATING)),
    ("token_count", Shape::Scalar),
    ("avg_logprobs", Shape::Scalar),
    ("safety_ratings", Shape::Inside(RATING)),
];
const CANDIDATE_TEXT: &[&str] = &[
    "finishMessage",
    "finish_message",
    "citationMetadata",
    "citation_metadata",
    "groundingMetadata",
    "grounding_metadata",
    "groundingAttributions",
    "urlContextMetadata",
    "url_context_metadata",
    "logprobsResult",
    "logprobs_result",
];
const SERVER: &[(&str, Shape)] = &[
    ("turnComplete", Shape::Scalar),
    ("generationComplete", Shape::Scalar),
    ("interrupted", Shape::Scalar),
    ("waitingForInput", Shape::Scalar),
    ("turnCompleteReason", Shape::Name),
    ("turn_complete", Shape::Scalar),
    ("generation_complete", Shape::Scalar),
];
const JOB: &[(&str, Shape)] = &[
    ("name", Shape::Name),
    ("state", Shape::Name),
    ("createTime", Shape::Stamp),
    ("updateTime", Shape::Stamp),
    ("startTime", Shape::Stamp),
    ("endTime", Shape::Stamp),
    ("create_time", Shape::Stamp),
    ("update_time", Shape::Stamp),
    ("end_time", Shape::Stamp),
    ("done", Shape::Scalar),
    ("metadata", Shape::Inside(&[("key", Shape::Id), ("state", Shape::Name)])),
];

fn recognise(envelope: &Envelope) -> Sure {
    let own = envelope.heads().into_iter().any(|(sheet, object)| is_own(sheet, object, LAYERS));
    if own { Sure::Yes } else { Sure::No }
}

/// Whether an object is one of the vendor's; looks into what wraps one a few layers deep.
fn is_own(sheet: &Sheet, object: NodeId, layers: u8) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| sheet.has(object, key));
    let list =
        |keys: &[&str]| keys.iter().filter_map(|key| sheet.peek(object, key)).find(|id| sheet.kind(*id) == Kind::Array);
    if list(&["candidates"]).is_some()
        || has(&["promptFeedback", "prompt_feedback", "serverContent", "server_content"])
        || has(&["usageMetadata", "usage_metadata"]) && has(&["modelVersion", "model_version", "responseId"])
        || has(parts::CALL) && !sheet.has(object, "type")
        || has(parts::RESULT) && !sheet.has(object, "type")
        || interactions::is_own(sheet, object)
    {
        return true;
    }
    if let Some(parts) = list(&["parts"]) {
        return sheet.doc.children(parts).take(32).any(|part| parts::is_part(sheet, part));
    }
    if layers == 0 {
        return false;
    }
    if let Some(contents) = list(&["contents", "inlinedResponses", "inlined_responses"]) {
        let mut items = sheet.doc.children(contents).take(32);
        return items.any(|item| is_own(sheet, item, layers.saturating_sub(1)));
    }
    let inner = ["response", "dest", "content", "modelTurn", "inlinedResponses", "inlined_responses"]
        .iter()
        .filter_map(|key| sheet.peek(object, key));
    inner.filter(|inner| sheet.is_object(*inner)).any(|inner| is_own(sheet, inner, layers.saturating_sub(1)))
}

/// What is known while the objects of an envelope are read.
#[derive(Default)]
pub(super) struct Reading {
    turn: Turn,
    interactions: interactions::Stream,
    finished: bool,
    pieces: bool,
}

fn adapt(envelope: &Envelope, draft: &mut Draft<'_>) {
    draft.vendor = VENDOR;
    let objects: Vec<_> = envelope.objects().into_iter().filter(|(sheet, object)| sheet.is_object(*object)).collect();
    let pieces = envelope.form == Form::Events
        || objects.len() > 1
            && objects.iter().all(|(sheet, object)| !sheet.has(*object, "key") && !sheet.has(*object, "type"));
    let mut reading = Reading { pieces, ..Reading::default() };
    for (sheet, object) in objects {
        read(sheet, object, LAYERS, &mut reading, draft);
    }
    reading.turn.finish(draft);
    reading.interactions.finish(draft);
    let unfinished = pieces && !reading.finished && !envelope.done && !reading.interactions_done();
    if unfinished {
        draft.overall(Status::Truncated);
    }
    for call in draft.silent() {
        let (status, reason) = match draft.bundle.status {
            Some(Status::Truncated) => (Status::Truncated, "its result is missing: the generation was cut"),
            Some(Status::Ok) => (Status::Unknown, "its result is missing though the generation ended well"),
            Some(status @ (Status::Failed | Status::Cancelled)) => (status, "its result is missing"),
            _ => (Status::Pending, "its result is not there yet"),
        };
        draft.state(call, status, reason);
    }
}

impl Reading {
    fn interactions_done(&self) -> bool {
        self.interactions.ended
    }
}

/// One object of whatever kind.
fn read(sheet: &Sheet, object: NodeId, layers: u8, reading: &mut Reading, draft: &mut Draft<'_>) {
    if interactions::is_own(sheet, object) {
        draft.surface = Some("Interactions");
        reading.interactions.read(sheet, object, draft);
        return;
    }
    sheet.known(object, RESPONSE);
    let has = |keys: &[&str]| keys.iter().any(|key| sheet.has(object, key));
    if has(&["candidates", "promptFeedback", "prompt_feedback"]) {
        draft.surface.get_or_insert("generateContent");
        candidates(sheet, object, reading, draft);
    }
    for content in sheet.take_any(object, &["serverContent", "server_content"]) {
        draft.surface = Some("Live");
        live(sheet, content, reading, draft);
    }
    if has(&["parts"]) {
        draft.surface.get_or_insert("content");
        content(sheet, object, None, reading, draft);
    }
    if has(&["contents"]) {
        draft.surface = Some("generateContent request");
        request(sheet, object, reading, draft);
    }
    if parts::is_part(sheet, object) {
        reading.turn.part(sheet, object, None, draft);
    }
    if layers > 0 {
        // A row of a batch, a job, an element of its results.
        for key in ["response", "dest"] {
            for inner in sheet.take(object, key).filter(|id| sheet.is_object(*id)) {
                draft.surface = Some("batch");
                read(sheet, inner, layers.saturating_sub(1), reading, draft);
                sheet.known(object, JOB);
            }
        }
        for list in sheet.take_any(object, &["inlinedResponses", "inlined_responses"]) {
            for inner in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                sheet.known(inner, JOB);
                read(sheet, inner, layers.saturating_sub(1), reading, draft);
            }
        }
    }
    for error in sheet.take(object, "error").filter(|id| sheet.kind(*id) != Kind::Null) {
        let code = sheet.peek(error, "code").and_then(|id| sheet.doc.integer(id));
        // google.rpc.Code.
        draft.overall(match (code, sheet.peek_word(error, "status").as_deref()) {
            (Some(4), _) | (_, Some("DEADLINE_EXCEEDED")) => Status::TimedOut,
            (Some(1), _) | (_, Some("CANCELLED")) => Status::Cancelled,
            _ => Status::Failed,
        });
        sheet.known(
            error,
            &[("code", Shape::Scalar), ("status", Shape::Name), ("details", Shape::Scalar), ("message", Shape::Scalar)],
        );
        draft.tree(sheet, error, Origin::Error, None);
    }
    for headers in sheet.take_any(object, &["sdkHttpResponse", "sdk_http_response"]) {
        draft.tree(sheet, headers, Origin::Metadata, None);
    }
}

fn candidates(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    let mut any = false;
    for list in sheet.take(object, "candidates") {
        for candidate in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
            any = true;
            let index = sheet.peek(candidate, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(0);
            for inner in sheet.take(candidate, "content").filter(|id| sheet.is_object(*id)) {
                content(sheet, inner, reading.pieces.then_some(index), reading, draft);
            }
            for id in sheet.take_any(candidate, &["finishReason", "finish_reason"]) {
                reading.finished |= sheet.kind(id) != Kind::Null;
                match sheet.word(id, FINISH) {
                    Some("STOP") => draft.overall(Status::Ok),
                    Some("FINISH_REASON_UNSPECIFIED") => {}
                    Some(_) => draft.overall(Status::Truncated),
                    None if sheet.kind(id) == Kind::Null => {}
                    None => draft.overall(Status::Unknown),
                }
            }
            sheet.known(candidate, CANDIDATE);
            for id in sheet.take_any(candidate, CANDIDATE_TEXT) {
                draft.tree(sheet, id, Origin::Metadata, None);
            }
        }
    }
    let blocked = ["promptFeedback", "prompt_feedback"]
        .iter()
        .filter_map(|key| sheet.peek(object, key))
        .any(|feedback| sheet.has(feedback, "blockReason") || sheet.has(feedback, "block_reason"));
    if blocked && !any {
        // Nothing was generated, so nothing says how it would have ended.
        reading.finished = true;
        draft.overall(Status::Unknown);
    }
}

/// `{parts, role}`. `piece` is the candidate when it is one piece of a stream.
fn content(sheet: &Sheet, object: NodeId, piece: Option<i64>, reading: &mut Reading, draft: &mut Draft<'_>) {
    let before = draft.trust;
    if sheet
        .take_word(object, "role", &["model", "user", "function", "system"])
        .is_some_and(|role| role == "user" || role == "system")
    {
        draft.trust = Trust::Caller;
    }
    for list in sheet.take(object, "parts") {
        for part in sheet.items(list) {
            if sheet.is_object(part) {
                reading.turn.part(sheet, part, piece, draft);
            } else {
                draft.text(sheet, part, Origin::Message, None);
            }
        }
    }
    draft.trust = before;
}

fn live(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    for turn in sheet.take_any(object, &["modelTurn", "model_turn"]) {
        content(sheet, turn, Some(0), reading, draft);
    }
    for key in ["inputTranscription", "input_transcription", "outputTranscription", "output_transcription"] {
        for id in sheet.take(object, key) {
            sheet.known(id, &[("finished", Shape::Scalar), ("languageCode", Shape::Name)]);
            reading.turn.transcript(sheet, id, key, draft);
        }
    }
    for id in sheet.take_any(object, &["groundingMetadata", "urlContextMetadata"]) {
        draft.tree(sheet, id, Origin::Metadata, None);
    }
    for key in ["turnComplete", "turn_complete"] {
        reading.finished |= sheet.peek(object, key).is_some_and(|id| sheet.kind(id) == Kind::Bool(true));
    }
    if reading.finished {
        draft.overall(Status::Ok);
    }
    if sheet.peek(object, "interrupted").is_some_and(|id| sheet.kind(id) == Kind::Bool(true)) {
        draft.overall(Status::Truncated);
    }
    sheet.known(object, SERVER);
}

fn request(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    for key in [
        "systemInstruction",
        "system_instruction",
        "tools",
        "toolConfig",
        "generationConfig",
        "safetySettings",
        "config",
    ] {
        sheet.take(object, key).for_each(|id| sheet.mark_callers(id));
    }
    reading.finished = true;
    for list in sheet.take(object, "contents") {
        for item in sheet.items(list) {
            if sheet.is_object(item) {
                content(sheet, item, None, reading, draft);
            } else {
                draft.text(sheet, item, Origin::Message, None);
            }
        }
    }
}
