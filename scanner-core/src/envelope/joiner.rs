//! Deltas of a stream, joined per call and stream before they are read: a secret or an escape may be cut in two.

use std::collections::HashMap;

use bytes::Bytes;

use crate::{
    bundle::Origin,
    json::{Kind, NodeId},
    limits::Resource,
};

use super::{draft::Draft, offset, sheet::Sheet};

/// Pieces that belong together.
#[derive(Debug)]
pub(crate) struct Joined {
    /// What stream of what they are: an item's id, a block's index.
    pub(crate) of: String,
    /// The call they belong to.
    pub(crate) call: Option<usize>,
    at: String,
    origin: Origin,
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
        origin: Origin,
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
            self.texts.push(Joined { of: of.clone(), call, at: sheet.pointer(id), origin, raw: Vec::new() });
            self.known.insert(of, self.texts.len().saturating_sub(1));
            self.texts.len().saturating_sub(1)
        });
        if let Some(text) = self.texts.get_mut(index) {
            text.raw.extend_from_slice(raw);
            text.call = text.call.or(call);
        }
    }

    /// Whether pieces of that text came.
    pub(crate) fn has(&self, of: &str) -> bool {
        self.known.contains_key(of)
    }

    /// Reads every text that came in pieces; arguments of a tool, which are JSON, as JSON.
    pub(crate) fn finish(self, draft: &mut Draft<'_>) {
        for text in self.texts {
            if text.origin != Origin::Code {
                draft.joined(&text.raw, text.at, text.origin, text.call);
                continue;
            }
            let Some(joined) = draft.decode(&text.raw, &text.at) else { continue };
            read_arguments(draft, joined, text.at, text.call);
        }
    }
}

/// Arguments of a tool: JSON text the model wrote. Cut or no JSON at all, they are read as they stand.
pub(crate) fn read_arguments(draft: &mut Draft<'_>, text: Bytes, at: String, call: Option<usize>) {
    match Sheet::parse_inner(&text, at.clone(), draft.budget) {
        Some(inner) => {
            if let Some(root) = inner.root() {
                draft.arguments(&inner, root, call);
            }
            draft.sweep(&inner);
        }
        None => drop(draft.add_text(text, at, Origin::Code, call)),
    }
}
