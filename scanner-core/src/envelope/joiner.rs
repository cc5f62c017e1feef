//! Deltas of a stream, joined per call and stream before they are read: a secret or an escape may be cut in two.

use std::collections::HashMap;

use bytes::Bytes;

use crate::{
    bundle::{Origin, Piece, Spelling, Status, Written},
    json::{Kind, NodeId},
    limits::Resource,
};

use super::{draft::Draft, offset, sheet::Sheet, traceback::ends_in_traceback};

/// What a text that comes in pieces is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A text as it stands.
    Text(Origin),
    /// Arguments of a tool: JSON when it is whole.
    Arguments,
}

/// Pieces that belong together.
#[derive(Debug)]
struct Joined {
    /// The call they belong to.
    call: Option<usize>,
    at: String,
    role: Role,
    pieces: Vec<Piece>,
    raw: Vec<u8>,
}

/// All texts that came in pieces.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    texts: Vec<Joined>,
    known: HashMap<String, usize>,
}

impl Joiner {
    /// One more piece of the text `of`. Claims it.
    pub(crate) fn push(
        &mut self,
        draft: &mut Draft<'_>,
        sheet: &Sheet,
        id: NodeId,
        of: String,
        role: Role,
        call: Option<usize>,
    ) {
        match sheet.kind(id) {
            Kind::Text => {}
            Kind::Null => return,
            _ => return draft.odd_shape(sheet, id, "a piece of text"),
        }
        // As it stands, escapes undecoded: they may go on in the next piece.
        let raw = sheet.doc.raw(id);
        if let Err(exhausted) = draft.budget.spend(Resource::DecodedBytes, offset(raw.len())) {
            return draft.limit(exhausted, Some(sheet.pointer(id)));
        }
        sheet.claim(id);
        let known = self.known.get(&of).copied();
        let index = known.unwrap_or_else(|| {
            self.texts.push(Joined { call, at: sheet.pointer(id), role, pieces: Vec::new(), raw: Vec::new() });
            self.known.insert(of, self.texts.len().saturating_sub(1));
            self.texts.len().saturating_sub(1)
        });
        if let Some(text) = self.texts.get_mut(index) {
            text.raw.extend_from_slice(raw);
            text.pieces.push(sheet.piece(id));
            text.call = text.call.or(call);
        }
    }

    /// Reads every text that came in pieces.
    pub(crate) fn finish(self, draft: &mut Draft<'_>) {
        for text in self.texts {
            let Some(joined) = draft.decode(&text.raw, &text.at) else { continue };
            let written = Written::strings(text.pieces, Spelling::Json);
            let Role::Text(origin) = text.role else {
                read_arguments(draft, joined, text.at, written, text.call);
                continue;
            };
            if let Some(call) = text.call.filter(|_| origin == Origin::Log && ends_in_traceback(&joined)) {
                draft.state(call, Status::Failed, "inferred: the log ends in a traceback");
            }
            draft.add_text(joined, text.at, origin, text.call, Some(written));
        }
    }
}

/// Arguments of a tool: JSON text the model wrote. Cut or no JSON at all, they are read as they stand.
pub(crate) fn read_arguments(draft: &mut Draft<'_>, text: Bytes, at: String, written: Written, call: Option<usize>) {
    let inner = Sheet::parse_inner(&text, at.clone(), written.clone(), draft.budget).unwrap_or_else(|exhausted| {
        draft.limit(exhausted, Some(at.clone()));
        None
    });
    match inner {
        Some(inner) => {
            if let Some(root) = inner.root() {
                draft.arguments(&inner, root, call);
            }
            draft.sweep(&inner);
        }
        None => drop(draft.add_text(text, at, Origin::Code, call, Some(written))),
    }
}
