//! Parts of a content: code, results, bytes, text (SHAPES 4.1).

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        joiner::{Joiner, Role},
        sheet::{Shape, Sheet, is_name},
    },
    json::{Kind, NodeId},
};

pub(super) const CALL: &[&str] = &["executableCode", "executable_code"];
pub(super) const RESULT: &[&str] = &["codeExecutionResult", "code_execution_result"];
const BYTES: &[&str] = &["inlineData", "inline_data"];
const FILE: &[&str] = &["fileData", "file_data"];
const FUNCTION: &[&str] = &["functionCall", "function_call"];
const ANSWER: &[&str] = &["functionResponse", "function_response"];
const MIME: &[&str] = &["mimeType", "mime_type"];
const NAME: &[&str] = &["displayName", "display_name"];
const OUTCOMES: &[&str] = &["OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED", "OUTCOME_UNSPECIFIED"];
const PART: &[(&str, Shape)] = &[
    ("thought", Shape::Scalar),
    ("thoughtSignature", Shape::Opaque),
    ("thought_signature", Shape::Opaque),
    ("videoMetadata", Shape::Inside(VIDEO)),
    ("video_metadata", Shape::Inside(VIDEO)),
    ("mediaResolution", Shape::Name),
    ("media_resolution", Shape::Name),
    ("partMetadata", Shape::Scalar),
];
const VIDEO: &[(&str, Shape)] = &[("startOffset", Shape::Name), ("endOffset", Shape::Name), ("fps", Shape::Scalar)];
const CODE: &[(&str, Shape)] = &[("language", Shape::Word(&["PYTHON", "LANGUAGE_UNSPECIFIED"])), ("id", Shape::Id)];

/// Whether an object is a part, by a key that only parts have.
pub(super) fn is_part(sheet: &Sheet, object: NodeId) -> bool {
    [CALL, RESULT, BYTES, FILE, FUNCTION, ANSWER].iter().any(|keys| keys.iter().any(|key| sheet.has(object, key)))
        || ["thoughtSignature", "thought_signature"].iter().any(|key| sheet.has(object, key))
}

/// A turn of the model while its parts are read, whole or in pieces.
#[derive(Default)]
pub(super) struct Turn {
    joiner: Joiner,
    /// The last call that code asked for: results and pictures without an id are its own.
    last: Option<usize>,
    /// How many parts that are no text came: text before and after them are two.
    breaks: usize,
}

impl Turn {
    pub(super) fn finish(&mut self, draft: &mut Draft<'_>) {
        std::mem::take(&mut self.joiner).finish(draft);
    }

    /// A part. `piece` is the candidate when it is one piece of a stream.
    pub(super) fn part(&mut self, sheet: &Sheet, part: NodeId, piece: Option<i64>, draft: &mut Draft<'_>) {
        sheet.known(part, PART);
        let thought = sheet.peek(part, "thought").is_some_and(|id| sheet.kind(id) == Kind::Bool(true));
        for text in sheet.take(part, "text") {
            match (piece, sheet.kind(text)) {
                (Some(candidate), Kind::Text) => {
                    let of = format!("{candidate} {} {thought}", self.breaks);
                    self.joiner.push(draft, sheet, text, of, Role::Text(Origin::Message), None);
                }
                _ => drop(draft.text(sheet, text, Origin::Message, None)),
            }
        }
        if is_part(sheet, part) && !sheet.has(part, "text") {
            self.breaks = self.breaks.saturating_add(1);
        }
        for code in sheet.take_any(part, CALL).filter(|id| sheet.is_object(*id)) {
            let call = draft.call(sheet.take_id(code, "id"), Some("code_execution"));
            self.last = Some(call);
            draft.texts(sheet, code, "code", Origin::Code, Some(call));
            sheet.known(code, CODE);
        }
        for result in sheet.take_any(part, RESULT).filter(|id| sheet.is_object(*id)) {
            self.result(sheet, result, draft);
        }
        for data in sheet.take_any(part, BYTES).filter(|id| sheet.is_object(*id)) {
            self.bytes(sheet, data, draft);
        }
        for file in sheet.take_any(part, FILE).filter(|id| sheet.is_object(*id)) {
            sheet.take_type(file, MIME);
            draft.described(sheet, file, NAME, self.last);
            for uri in sheet.take_any(file, &["fileUri", "file_uri"]) {
                draft.url(sheet, uri, Origin::File, self.last);
            }
        }
        for function in sheet.take_any(part, FUNCTION).filter(|id| sheet.is_object(*id)) {
            function_call(sheet, function, draft);
        }
        for answer in sheet.take_any(part, ANSWER).filter(|id| sheet.is_object(*id)) {
            self.answer(sheet, answer, draft);
        }
    }

    /// A result: of the call with its id, else of the first without a result, else of the last one again
    /// (several results may follow one code: SHAPES 4.1).
    fn result(&mut self, sheet: &Sheet, result: NodeId, draft: &mut Draft<'_>) {
        let call = match sheet.take_id(result, "id").filter(|id| !id.is_empty()) {
            Some(id) => draft.call(Some(id), Some("code_execution")),
            None => match draft.first_silent().or(self.last) {
                Some(call) => call,
                None => draft.call(None, Some("code_execution")),
            },
        };
        self.last = Some(call);
        draft.texts(sheet, result, "output", Origin::Log, Some(call));
        let mut said = false;
        for id in sheet.take(result, "outcome").filter(|id| sheet.kind(*id) != Kind::Null) {
            said = true;
            let word = match sheet.doc.integer(id) {
                // Protobuf numbers of the enumeration.
                Some(1) => Some("OUTCOME_OK"),
                Some(2) => Some("OUTCOME_FAILED"),
                Some(3) => Some("OUTCOME_DEADLINE_EXCEEDED"),
                Some(_) => None,
                None => sheet.word(id, OUTCOMES),
            };
            match word {
                Some("OUTCOME_OK") => draft.state(call, Status::Ok, "OUTCOME_OK"),
                Some("OUTCOME_FAILED") => draft.state(call, Status::Failed, "OUTCOME_FAILED"),
                Some("OUTCOME_DEADLINE_EXCEEDED") => draft.state(call, Status::TimedOut, "OUTCOME_DEADLINE_EXCEEDED"),
                Some(_) => draft.state(call, Status::Unknown, "OUTCOME_UNSPECIFIED"),
                None => draft.state(call, Status::Unknown, format!("outcome {}", Draft::raw_word(sheet, id))),
            }
        }
        if !said {
            draft.state(call, Status::Unknown, "a result without outcome");
        }
    }

    fn bytes(&mut self, sheet: &Sheet, data: NodeId, draft: &mut Draft<'_>) {
        let declared = sheet.take_type(data, MIME);
        let name = NAME.iter().find_map(|key| sheet.peek_word(data, key));
        draft.described(sheet, data, NAME, self.last);
        let is_image = declared.as_deref().is_none_or(|kind| kind.starts_with("image/"));
        let origin = if is_image { Origin::Image } else { Origin::File };
        for id in sheet.take(data, "data") {
            let made = draft.bytes(sheet, id, origin, declared.clone(), self.last);
            draft.describe(made, name.clone(), None);
        }
    }

    fn answer(&mut self, sheet: &Sheet, answer: NodeId, draft: &mut Draft<'_>) {
        let call = match sheet.take_id(answer, "id").filter(|id| !id.is_empty()) {
            Some(id) => draft.call(Some(id), None),
            None => match draft.first_silent() {
                Some(call) => call,
                None => draft.call(None, None),
            },
        };
        draft.described(sheet, answer, &["name"], Some(call));
        for list in sheet.take(answer, "parts") {
            for part in sheet.items(list).into_iter().filter(|id| sheet.is_object(*id)) {
                self.last = Some(call);
                for data in sheet.take_any(part, BYTES) {
                    self.bytes(sheet, data, draft);
                }
            }
        }
        let mut failed = false;
        for id in sheet.take(answer, "response") {
            failed |= sheet.has(id, "error");
            sheet.take_any(id, &["output", "error", "result"]).for_each(drop);
            draft.tree(sheet, id, Origin::Log, Some(call));
        }
        let status = if failed { Status::Failed } else { Status::Ok };
        draft.state(call, status, if failed { "the response has an error" } else { "a response without error" });
    }

    pub(super) fn transcript(&mut self, sheet: &Sheet, object: NodeId, of: &str, draft: &mut Draft<'_>) {
        for id in sheet.take(object, "text") {
            self.joiner.push(draft, sheet, id, of.to_owned(), Role::Text(Origin::Message), None);
        }
    }
}

fn function_call(sheet: &Sheet, function: NodeId, draft: &mut Draft<'_>) {
    let call = draft.call(sheet.take_id(function, "id"), None);
    for id in sheet.take(function, "name") {
        let name = sheet.doc.word(id).filter(|name| is_name(name)).map(std::borrow::Cow::into_owned);
        draft.text(sheet, id, Origin::Metadata, Some(call));
        if let (Some(name), Some(call)) = (name, draft.bundle.calls.get_mut(call)) {
            call.tool.get_or_insert(name);
        }
    }
    for args in sheet.take_any(function, &["args", "partialArgs", "partial_args"]) {
        draft.arguments(sheet, args, Some(call));
    }
}
