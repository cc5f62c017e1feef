//! Messages and content parts, with their citations (SHAPES 2.2).

use crate::{
    bundle::{Origin, Trust},
    envelope::{
        draft::Draft,
        sheet::{Shape, Sheet, is_id},
    },
    json::{Kind, NodeId},
};

use super::{
    file,
    items::{self, Reading},
};

const PARTS: &[&str] = &[
    "output_text",
    "input_text",
    "text",
    "summary_text",
    "reasoning_text",
    "refusal",
    "input_image",
    "output_image",
    "input_file",
    "input_audio",
    "image_url",
];
const PART: &[(&str, Shape)] = &[
    ("type", Shape::Word(PARTS)),
    ("detail", Shape::Word(&["low", "high", "auto", "original"])),
    ("index", Shape::Scalar),
];
const CITATION: &[(&str, Shape)] = &[
    ("type", Shape::Word(&["container_file_citation", "file_citation", "file_path", "url_citation"])),
    ("start_index", Shape::Scalar),
    ("end_index", Shape::Scalar),
    ("index", Shape::Scalar),
    ("container_id", Shape::Id),
];

/// A message: of the model, or of the caller.
pub(crate) fn message(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    sheet.known(
        object,
        &[
            ("type", Shape::Word(&["message"])),
            ("role", Shape::Word(&["assistant", "user", "system", "developer", "tool", "critic"])),
            ("refusal", Shape::Scalar),
            ("tool_call_id", Shape::Id),
        ],
    );
    let role = sheet.peek_word(object, "role").unwrap_or_default();
    let before = draft.trust;
    if matches!(role.as_str(), "user" | "system" | "developer") {
        draft.trust = Trust::Caller;
    }
    let call = sheet.peek_word(object, "tool_call_id").filter(|id| is_id(id)).map(|id| draft.call(Some(id), None));
    let origin = if role == "tool" { Origin::Log } else { Origin::Message };
    for content in sheet.take_any(object, &["content", "refusal", "reasoning_content"]) {
        parts(sheet, content, origin, call, reading, draft);
    }
    if let Some(call) = call {
        draft.state(call, crate::bundle::Status::Ok, "an output and no status");
    }
    draft.trust = before;
    items::status_words(sheet, object);
}

/// Content: a string or parts.
pub(crate) fn parts(
    sheet: &Sheet,
    id: NodeId,
    origin: Origin,
    call: Option<usize>,
    reading: &mut Reading,
    draft: &mut Draft<'_>,
) {
    for item in sheet.items(id) {
        if sheet.is_object(item) {
            part(sheet, item, origin, call, reading, draft);
        } else {
            draft.text(sheet, item, origin, call);
        }
    }
}

pub(super) fn part(
    sheet: &Sheet,
    part: NodeId,
    origin: Origin,
    call: Option<usize>,
    reading: &mut Reading,
    draft: &mut Draft<'_>,
) {
    let kind = sheet.peek_word(part, "type").unwrap_or_default();
    sheet.known(part, PART);
    for id in sheet.take_any(part, &["text", "refusal", "transcript"]) {
        if sheet.is_object(id) {
            // Assistants: {"value", "annotations"}.
            draft.texts(sheet, id, "value", origin, call);
            sheet.take(id, "annotations").for_each(|list| annotations(sheet, list, draft));
        } else {
            draft.text(sheet, id, origin, call);
        }
    }
    sheet.take(part, "annotations").for_each(|list| annotations(sheet, list, draft));
    sheet.take(part, "logprobs").for_each(|list| logprobs(sheet, list, origin, call, draft));
    let image = if kind.contains("file") { Origin::File } else { Origin::Image };
    let name = sheet.peek_word(part, "filename");
    draft.described(sheet, part, &["filename"], call);
    for id in sheet.take_any(part, &["image_url", "file_url"]) {
        let inner = if sheet.is_object(id) { sheet.take(id, "url").next() } else { Some(id) };
        if let Some(url) = inner {
            draft.url(sheet, url, image, call);
        }
    }
    for id in sheet.take(part, "file_data") {
        let made = draft.bytes(sheet, id, Origin::File, None, call);
        draft.describe(made, name.clone(), None);
    }
    for id in sheet.take(part, "file_id") {
        file(sheet, id, None, name.clone(), call, draft);
    }
    // Assistants: what a run drew.
    for drawn in sheet.take(part, "image_file") {
        sheet.known(drawn, &[("detail", Shape::Word(&["auto", "low", "high"]))]);
        for id in sheet.take(drawn, "file_id") {
            file(sheet, id, None, None, call, draft);
        }
    }
    if items::is_sure(&kind) {
        items::item(sheet, part, true, reading, draft);
    }
}

/// The tokens of a text again, with their odds: joined, they are a text of their own.
pub(super) fn logprobs(sheet: &Sheet, list: NodeId, origin: Origin, call: Option<usize>, draft: &mut Draft<'_>) {
    let mut pieces = Vec::new();
    let mut at = None;
    for id in sheet.doc.descendants(list) {
        let Some(key) = sheet.doc.key(id) else { continue };
        match &*key {
            "logprob" | "bytes" | "top_logprobs" => sheet.claim_key(id),
            "token" if sheet.kind(id) == Kind::Text => {
                sheet.claim_key(id);
                sheet.claim(id);
                at.get_or_insert_with(|| sheet.pointer(id));
                pieces.push(sheet.piece(id));
            }
            _ => {}
        }
    }
    if let Some(at) = at {
        draft.joined(pieces, at, origin, call);
    }
}

/// Citations: files of containers among them.
pub(super) fn annotations(sheet: &Sheet, list: NodeId, draft: &mut Draft<'_>) {
    for citation in sheet.items(list).into_iter().filter(|citation| sheet.is_object(*citation)) {
        let name = sheet.peek_word(citation, "filename");
        let container = sheet.peek_word(citation, "container_id");
        sheet.known(citation, CITATION);
        draft.described(sheet, citation, &["filename", "title", "url", "text", "quote"], None);
        for id in sheet.take(citation, "file_id") {
            file(sheet, id, container.as_deref(), name.clone(), None, draft);
        }
        for inner in sheet.take_any(citation, &["file_path", "file_citation"]) {
            draft.described(sheet, inner, &["quote"], None);
            for id in sheet.take(inner, "file_id") {
                file(sheet, id, None, None, None, draft);
            }
        }
    }
}
