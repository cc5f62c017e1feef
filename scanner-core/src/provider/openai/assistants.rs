//! Assistants: run steps, runs, messages, and their deltas (SHAPES 2.4, 2.5).

use std::collections::BTreeSet;

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        joiner::Role,
        sheet::{Shape, Sheet},
    },
    json::NodeId,
};

use super::{
    USAGE, content, error,
    items::{self, Reading},
};

const STATUSES: &[&str] = &[
    "completed",
    "failed",
    "cancelled",
    "expired",
    "in_progress",
    "queued",
    "requires_action",
    "incomplete",
    "cancelling",
];
const OBJECT: &[(&str, Shape)] = &[
    ("id", Shape::Id),
    (
        "object",
        Shape::Word(&[
            "thread.run.step",
            "thread.run.step.delta",
            "thread.run",
            "thread.message",
            "thread.message.delta",
            "thread",
        ]),
    ),
    ("assistant_id", Shape::Id),
    ("thread_id", Shape::Id),
    ("run_id", Shape::Id),
    ("type", Shape::Word(&["tool_calls", "message_creation"])),
    ("created_at", Shape::Scalar),
    ("started_at", Shape::Scalar),
    ("expires_at", Shape::Scalar),
    ("cancelled_at", Shape::Scalar),
    ("completed_at", Shape::Scalar),
    ("expired_at", Shape::Scalar),
    ("failed_at", Shape::Scalar),
    ("incomplete_at", Shape::Scalar),
    ("incomplete_details", Shape::Inside(&[("reason", Shape::Name)])),
    ("metadata", Shape::Scalar),
    ("usage", Shape::Inside(USAGE)),
    ("model", Shape::Name),
    ("role", Shape::Word(&["assistant", "user"])),
    ("attachments", Shape::Inside(&[("file_id", Shape::Id), ("tools", Shape::Inside(&[("type", Shape::Name)]))])),
];
const DETAILS: &[(&str, Shape)] = &[
    ("type", Shape::Word(&["tool_calls", "message_creation"])),
    ("message_creation", Shape::Inside(&[("message_id", Shape::Id)])),
];
const CALL: &[(&str, Shape)] =
    &[("index", Shape::Scalar), ("type", Shape::Word(&["code_interpreter", "file_search", "function"]))];

/// One object whose `object` begins with `thread.`.
pub(super) fn read(sheet: &Sheet, object: NodeId, what: &str, reading: &mut Reading, draft: &mut Draft<'_>) {
    reading.seen_event |= reading.streaming;
    for key in ["metadata", "tools", "instructions"] {
        sheet.take(object, key).for_each(|id| sheet.mark_callers(id));
    }
    let step = sheet.peek_word(object, "id").unwrap_or_default();
    for delta in sheet.take(object, "delta") {
        inside(sheet, delta, &step, true, reading, draft);
    }
    inside(sheet, object, &step, what.ends_with(".delta"), reading, draft);
    for id in sheet.take(object, "status") {
        let status = match sheet.word(id, STATUSES) {
            Some("completed") => Status::Ok,
            Some("failed") => Status::Failed,
            Some("cancelled" | "cancelling") => Status::Cancelled,
            Some("expired") => Status::TimedOut,
            Some("incomplete") => Status::Truncated,
            Some(_) if reading.streaming => continue,
            Some(_) => Status::Pending,
            None => Status::Unknown,
        };
        // Told once: whatever comes of the step after that says its own.
        let calls = match what {
            "thread.run.step" => reading.steps.remove(&step).unwrap_or_default(),
            _ => BTreeSet::new(),
        };
        for call in &calls {
            draft.state(*call, status, format!("step {}", status.name()));
        }
        if calls.is_empty() || status > Status::Ok {
            draft.overall(status);
        }
    }
    sheet.take(object, "last_error").for_each(|id| error(sheet, id, draft));
    sheet.known(object, OBJECT);
}

/// What a step, a message or a delta of either holds.
fn inside(sheet: &Sheet, object: NodeId, step: &str, pieces: bool, reading: &mut Reading, draft: &mut Draft<'_>) {
    for details in sheet.take(object, "step_details").filter(|id| sheet.is_object(*id)) {
        sheet.known(details, DETAILS);
        for list in sheet.take(details, "tool_calls") {
            for tool in sheet.items(list) {
                tool_call(sheet, tool, step, pieces, reading, draft);
            }
        }
    }
    for content in sheet.take(object, "content") {
        if !pieces {
            content::parts(sheet, content, Origin::Message, None, reading, draft);
            continue;
        }
        for part in sheet.items(content) {
            let index = sheet.peek(part, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(0);
            sheet.known(part, &[("index", Shape::Scalar), ("type", Shape::Word(&["text", "image_file", "refusal"]))]);
            for text in sheet.take(part, "text") {
                for value in sheet.take(text, "value") {
                    reading.joiner.push(
                        draft,
                        sheet,
                        value,
                        format!("{step} {index} text"),
                        Role::Text(Origin::Message),
                        None,
                    );
                }
                sheet.take(text, "annotations").for_each(|list| content::annotations(sheet, list, draft));
            }
            for image in sheet.take(part, "image_file") {
                for id in sheet.take(image, "file_id") {
                    super::file(sheet, id, None, None, None, draft);
                }
            }
        }
    }
}

fn tool_call(sheet: &Sheet, tool: NodeId, step: &str, pieces: bool, reading: &mut Reading, draft: &mut Draft<'_>) {
    let index = sheet.peek(tool, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(0);
    let slot = format!("{step} {index}");
    let id = sheet.take_id(tool, "id");
    let call = match (&id, reading.calls.get(&slot)) {
        // Only the first piece of a call has its id.
        (None, Some(call)) if pieces => *call,
        _ => draft.call(id, sheet.peek_word(tool, "type").as_deref().filter(|kind| *kind != "function")),
    };
    reading.calls.insert(slot.clone(), call);
    reading.steps.entry(step.to_owned()).or_default().insert(call);
    sheet.known(tool, CALL);
    for function in sheet.take(tool, "function") {
        items::function(sheet, function, call, draft);
        draft.texts(sheet, function, "output", Origin::Log, Some(call));
    }
    for id in sheet.take(tool, "file_search") {
        draft.tree(sheet, id, Origin::Log, Some(call));
    }
    for interpreter in sheet.take(tool, "code_interpreter") {
        for input in sheet.take(interpreter, "input") {
            if pieces {
                reading.joiner.push(draft, sheet, input, format!("{slot} input"), Role::Text(Origin::Code), Some(call));
            } else {
                draft.text(sheet, input, Origin::Code, Some(call));
            }
        }
        for list in sheet.take(interpreter, "outputs") {
            for output in sheet.items(list).into_iter().filter(|output| sheet.is_object(*output)) {
                items::interpreter_output(sheet, output, call, pieces, reading, draft);
            }
        }
    }
}
