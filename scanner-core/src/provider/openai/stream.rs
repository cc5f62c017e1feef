//! Responses streams (SHAPES 2.5). Every event is read, known or not: whatever comes in pieces is joined by what it is
//! a piece of.

use crate::{
    bundle::Origin,
    envelope::{
        draft::Draft,
        joiner::Role,
        rules::STRUCTURE,
        sheet::{Shape, Sheet, is_id},
    },
    json::{Kind, NodeId},
};

use super::{
    content, error,
    items::{self, Reading},
    response, shell,
};

const EVENT: &[(&str, Shape)] = &[
    ("type", Shape::Name),
    ("sequence_number", Shape::Scalar),
    ("output_index", Shape::Scalar),
    ("content_index", Shape::Scalar),
    ("summary_index", Shape::Scalar),
    ("annotation_index", Shape::Scalar),
    ("command_index", Shape::Scalar),
    ("partial_image_index", Shape::Scalar),
    ("item_id", Shape::Id),
    ("response_id", Shape::Id),
    ("obfuscation", Shape::Opaque),
    ("stream_id", Shape::Id),
    ("agent", Shape::Inside(&[("agent_name", Shape::Name)])),
    ("code", Shape::Scalar),
    ("param", Shape::Name),
    ("status", Shape::Word(&["completed", "in_progress", "incomplete", "failed"])),
    ("output_format", Shape::Word(&["png", "jpeg", "webp"])),
    ("background", Shape::Word(&["transparent", "opaque", "auto"])),
    ("quality", Shape::Name),
    ("size", Shape::Name),
];

pub(super) fn is_event(kind: &str) -> bool {
    kind.starts_with("response.") || kind == "error" || kind == "keepalive"
}

/// One event.
pub(super) fn event(sheet: &Sheet, object: NodeId, kind: &str, reading: &mut Reading, draft: &mut Draft<'_>) {
    reading.seen_event = true;
    order(sheet, object, reading, draft);
    let position =
        |key: &str| sheet.peek(object, key).and_then(|id| sheet.doc.integer(id)).map(|index| format!("#{index}"));
    let item_id = sheet.peek_word(object, "item_id").filter(|id| is_id(id) && !id.is_empty());
    let index = position("output_index");
    for id in sheet.take(object, "response") {
        response(sheet, id, reading, draft);
    }
    for id in sheet.take(object, "item") {
        items::item(sheet, id, !kind.ends_with(".added"), reading, draft);
        let known = sheet.peek_word(id, "id").and_then(|id| draft.find_call(&id));
        if let (Some(call), Some(index)) = (known, &index) {
            reading.calls.insert(index.clone(), call);
        }
    }
    let of = item_id.clone().or(index.clone()).unwrap_or_default();
    let mut call = [item_id, index].into_iter().flatten().find_map(|key| reading.calls.get(&key).copied());
    let is_code = ["code", "arguments", "command", "input", "diff"].iter().any(|word| kind.contains(word))
        && !kind.contains("output");
    if call.is_none() && kind.contains("call") && !of.is_empty() {
        // A recording that begins in the middle.
        let made = draft.call(Some(of.clone()), None);
        reading.calls.insert(of.clone(), made);
        draft.progress(made);
        call = Some(made);
    }
    for id in sheet.take(object, "part") {
        content::part(sheet, id, Origin::Message, call, reading, draft);
    }
    let role = match (is_arguments(kind), is_code) {
        (true, _) => Role::Arguments,
        (_, true) => Role::Text(Origin::Code),
        _ => Role::Text(Origin::Message),
    };
    let stem = kind.rsplit_once('.').map_or(kind, |(stem, _)| stem);
    let piece = [position("content_index"), position("summary_index"), position("command_index")]
        .into_iter()
        .flatten()
        .collect::<String>();
    for id in sheet.take(object, "delta") {
        delta(sheet, id, &format!("{of} {piece} {stem}"), role, call, reading, draft);
    }
    for id in sheet.take_any(object, &["code", "arguments", "input", "command", "diff"]) {
        if kind == "error" {
            sheet.known(object, &[("code", Shape::Name)]);
        } else if is_arguments(kind) {
            items_arguments(sheet, id, call, draft);
        } else {
            draft.text(sheet, id, Origin::Code, call);
        }
    }
    for id in sheet.take_any(object, &["text", "refusal"]) {
        draft.text(sheet, id, Origin::Message, call);
    }
    for list in sheet.take(object, "output") {
        if let Some(call) = call {
            shell::entries(sheet, list, call, reading, draft);
        }
    }
    sheet.take(object, "annotation").for_each(|id| content::annotations(sheet, id, draft));
    sheet.take(object, "logprobs").for_each(|id| content::logprobs(sheet, id, Origin::Message, call, draft));
    for id in sheet.take(object, "partial_image_b64") {
        draft.bytes(sheet, id, Origin::Image, None, call);
    }
    if kind == "error" {
        draft.overall(crate::bundle::Status::Failed);
        draft.texts(sheet, object, "message", Origin::Error, None);
        sheet.take(object, "error").for_each(|id| error(sheet, id, draft));
    }
    reading.ended |=
        matches!(kind, "response.completed" | "response.failed" | "response.incomplete" | "response.done" | "error");
    sheet.known(object, EVENT);
}

fn is_arguments(kind: &str) -> bool {
    kind.contains("arguments")
}

fn items_arguments(sheet: &Sheet, id: NodeId, call: Option<usize>, draft: &mut Draft<'_>) {
    match call {
        Some(call) => items::arguments(sheet, id, call, draft),
        None => drop(draft.text(sheet, id, Origin::Code, None)),
    }
}

/// A piece: a string, or the pieces of two streams (SHAPES 2.5, shell).
fn delta(
    sheet: &Sheet,
    id: NodeId,
    of: &str,
    role: Role,
    call: Option<usize>,
    reading: &mut Reading,
    draft: &mut Draft<'_>,
) {
    if sheet.kind(id) != Kind::Object {
        reading.joiner.push(draft, sheet, id, of.to_owned(), role, call);
        return;
    }
    for (key, origin) in [("stdout", Origin::Stdout), ("stderr", Origin::Stderr)] {
        for piece in sheet.take(id, key) {
            reading.joiner.push(draft, sheet, piece, format!("{of} {key}"), Role::Text(origin), call);
        }
    }
}

/// Events out of order are put in order by some clients and not by others: both read something else.
fn order(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    let Some(number) = sheet.peek(object, "sequence_number").and_then(|id| sheet.doc.integer(id)) else { return };
    if reading.sequence.is_some_and(|last| number < last) {
        draft.find(&STRUCTURE, "the sequence numbers of the stream fall", Some(sheet.pointer(object)));
    }
    reading.sequence = Some(number);
}
