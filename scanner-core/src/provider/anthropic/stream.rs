//! Messages streams (SHAPES 1.4). Results are never streamed in pieces; text and the input of calls are.

use std::collections::HashMap;

use crate::{
    bundle::{Origin, Status},
    envelope::{
        draft::Draft,
        joiner::{Joiner, Role},
        sheet::{Shape, Sheet},
    },
    json::NodeId,
};

use super::{USAGE, blocks};

pub(super) const EVENTS: &[&str] = &[
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];
const EVENT: &[(&str, Shape)] = &[
    ("type", Shape::Word(EVENTS)),
    ("index", Shape::Scalar),
    ("usage", Shape::Inside(USAGE)),
    ("request_id", Shape::Id),
];
const DELTA: &[(&str, Shape)] = &[
    (
        "type",
        Shape::Word(&[
            "text_delta",
            "input_json_delta",
            "citations_delta",
            "thinking_delta",
            "signature_delta",
            "compaction_delta",
        ]),
    ),
    ("signature", Shape::Opaque),
    ("stop_details", Shape::Scalar),
    ("estimated_tokens", Shape::Scalar),
];

/// What came of a stream so far.
#[derive(Default)]
pub(super) struct Stream {
    joiner: Joiner,
    /// The call of each block, by its index.
    calls: HashMap<i64, usize>,
    /// Calls before that one were told their container.
    contained: usize,
    seen: bool,
    stopped: bool,
}

impl Stream {
    pub(super) fn event(&mut self, sheet: &Sheet, object: NodeId, kind: &str, draft: &mut Draft<'_>) {
        self.seen |= kind != "error" && kind != "ping";
        sheet.known(object, EVENT);
        let index = sheet.peek(object, "index").and_then(|id| sheet.doc.integer(id)).unwrap_or(-1);
        for message in sheet.take(object, "message") {
            super::message(sheet, message, draft);
        }
        for block in sheet.take(object, "content_block") {
            let before = draft.bundle.calls.len();
            let id = sheet.peek_word(block, "id");
            blocks::block(sheet, block, draft);
            let call = id
                .and_then(|id| draft.find_call(&id))
                .or_else(|| (draft.bundle.calls.len() > before).then_some(before));
            match call {
                Some(call) => drop(self.calls.insert(index, call)),
                None => drop(self.calls.remove(&index)),
            }
        }
        for delta in sheet.take(object, "delta") {
            self.delta(sheet, delta, index, draft);
        }
        match kind {
            "message_stop" => self.stopped = true,
            "error" => {
                self.stopped = true;
                for id in sheet.take(object, "error") {
                    super::error(sheet, id, draft);
                }
            }
            _ => {}
        }
    }

    fn delta(&mut self, sheet: &Sheet, delta: NodeId, index: i64, draft: &mut Draft<'_>) {
        sheet.known(delta, DELTA);
        let call = self.calls.get(&index).copied();
        for (key, role) in [
            ("text", Role::Text(Origin::Message)),
            ("thinking", Role::Text(Origin::Message)),
            ("partial_json", Role::Arguments),
        ] {
            for id in sheet.take(delta, key) {
                self.joiner.push(draft, sheet, id, format!("{index} {key}"), role, call);
            }
        }
        for id in sheet.take(delta, "citation") {
            blocks::citation(sheet, id, call, draft);
        }
        super::ended(sheet, delta, draft);
        super::container(sheet, delta, self.contained, draft);
        self.contained = if sheet.has(delta, "container") { draft.bundle.calls.len() } else { self.contained };
    }

    pub(super) fn finish(self, draft: &mut Draft<'_>) {
        self.joiner.finish(draft);
        if self.seen && !self.stopped {
            draft.overall(Status::Truncated);
        }
    }
}
