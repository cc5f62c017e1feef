//! Outputs of shells: one entry per command, each with its streams and its outcome (SHAPES 2.3).

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        sheet::{Shape, Sheet},
    },
    json::NodeId,
};

use super::items::{Reading, call_of, status};

/// `shell_call_output`: one entry per command.
pub(super) fn output(sheet: &Sheet, object: NodeId, reading: &mut Reading, draft: &mut Draft<'_>) {
    let call = call_of(sheet, object, Some("shell"), reading, draft);
    if let Some(longest) = sheet.peek(object, "max_output_length").and_then(|id| sheet.doc.integer(id)) {
        reading.longest.insert(call, longest.unsigned_abs());
    }
    for list in sheet.take(object, "output") {
        entries(sheet, list, call, reading, draft);
    }
    // Entries of xAI may stand beside the type.
    one(sheet, object, call, false, reading, draft);
    status(sheet, object, call, draft);
}

pub(super) fn entries(sheet: &Sheet, list: NodeId, call: usize, reading: &Reading, draft: &mut Draft<'_>) {
    for entry in sheet.items(list) {
        if sheet.is_object(entry) {
            one(sheet, entry, call, true, reading, draft);
        } else {
            draft.text(sheet, entry, Origin::Log, Some(call));
        }
    }
}

fn one(sheet: &Sheet, entry: NodeId, call: usize, alone: bool, reading: &Reading, draft: &mut Draft<'_>) {
    let mut length = 0u64;
    for (key, origin) in [("stdout", Origin::Stdout), ("stderr", Origin::Stderr)] {
        for id in sheet.take(entry, key) {
            let made = draft.lines(sheet, id, "\n", origin, Some(call));
            let text = made
                .and_then(|index| draft.bundle.artifacts.get(index))
                .map(|it| it.source.packed.clone())
                .unwrap_or_default();
            // Characters, not bytes: everything but continuation bytes.
            let characters = text.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
            length = length.saturating_add(u64::try_from(characters).unwrap_or(u64::MAX));
        }
    }
    if reading.longest.get(&call).is_some_and(|longest| *longest > 0 && length >= *longest) {
        draft.state(call, Status::Truncated, "inferred: the output is as long as max_output_length");
    }
    sheet.known(entry, &[("created_by", Shape::Id)]);
    let mut said = false;
    for outcome in sheet.take(entry, "outcome").filter(|id| sheet.is_object(*id)) {
        said = true;
        let kind = sheet.take_word(outcome, "type", &["exit", "timeout"]);
        let code = sheet.take_integer(outcome, &["exit_code"]);
        match kind {
            Some("timeout") => draft.state(call, Status::TimedOut, "outcome timeout"),
            Some(_) if code.is_some() => draft.exit(call, code),
            _ => draft.state(call, Status::Unknown, "an outcome that is none"),
        }
    }
    if alone && !said {
        draft.state(call, Status::Unknown, "an output without outcome");
    }
}
