//! One document of an envelope, and which parts of it an adapter understands.
//!
//! Adapters *claim*. A key is claimed when it is in the adapter's vocabulary; a value when it is read as what it is,
//! or when it is plainly an identifier, a time, a word of a known list. What nobody claims is read as text.

use std::{cell::Cell, sync::Arc};

use bytes::Bytes;

use super::offset;
use crate::{
    bundle::{Ground, Piece, Spelling, Written},
    finding::{Span, Stop},
    json::{Doc, Kind, NodeId},
    limits::{Budget, Exhausted, Resource},
};

/// Longest identifier. OpenAI allows 64 for `call_id`; Bedrock and Azure use paths of about 100.
const ID_BYTES: usize = 128;
/// More separators than any vendor's identifier has: a sentence in snake case is no identifier.
const ID_SEPARATORS: usize = 6;
const MOST_SEPARATORS: usize = 12;
/// Longest time stamp, model name or media type.
const STAMP_BYTES: usize = 64;

/// One document: the whole input, an event of a stream, a line.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// The document.
    pub(crate) doc: Doc,
    /// What stands before its JSON Pointers: nothing, `#3` for event 3, the pointer of a string that held JSON.
    pub(crate) at: String,
    /// Offset of the document in the input; zero for JSON that was inside a string.
    pub(crate) base: u64,
    /// What its offsets are offsets of.
    pub(crate) ground: Ground,
    /// The name an event stream gave it.
    pub(crate) event: Option<String>,
    claims: Vec<Cell<Claim>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Claim {
    key: bool,
    value: bool,
    /// The caller of the vendor worded it: a prompt, the definition of a tool.
    callers: bool,
}

/// What a claimed value must look like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// An identifier in the vendor's alphabet.
    Id,
    /// A time.
    Stamp,
    /// A name such as a model's or a media type: letters, digits and `-._/:+`.
    Name,
    /// A number, a boolean or nothing: only the key can carry text.
    Scalar,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Bytes that nobody but the vendor can read: a signature, padding against length analysis.
    Opaque,
    /// An object, or a list of them, with these members.
    Inside(&'static [(&'static str, Self)]),
}

impl Sheet {
    /// A document with nothing claimed, cut from the input at `base`.
    pub(crate) fn new(doc: Doc, at: String, base: usize) -> Self {
        Self::on(doc, at, Ground::at(base), offset(base))
    }

    /// A document with nothing claimed, on its ground.
    pub(crate) fn on(doc: Doc, at: String, ground: Ground, base: u64) -> Self {
        let claims = vec![Cell::default(); doc.len()];
        Self { doc, at, base, ground, event: None, claims }
    }

    /// How a string is written.
    pub(crate) fn piece(&self, id: NodeId) -> Piece {
        self.piece_at(self.doc.span(id))
    }

    /// How the key of a value is written.
    pub(crate) fn key_piece(&self, id: NodeId) -> Option<Piece> {
        self.doc.key_span(id).map(|span| self.piece_at(span))
    }

    fn piece_at(&self, span: Span) -> Piece {
        let index = |offset| usize::try_from(offset).unwrap_or(usize::MAX);
        let raw = index(span.start)..index(span.end);
        let bytes = self.doc.bytes();
        let bytes =
            if raw.end <= bytes.len() && raw.start <= raw.end { bytes.slice(raw.clone()) } else { Bytes::new() };
        Piece { ground: self.ground.clone(), raw, bytes }
    }

    /// Where a string as a whole is written.
    pub(crate) fn written(&self, id: NodeId) -> Written {
        Written::strings(vec![self.piece(id)], Spelling::Json)
    }

    /// The JSON inside a string, if the whole of it is an object or an array. Claims the string then.
    pub(crate) fn inner(&self, id: NodeId, budget: &mut Budget) -> Result<Option<Self>, Exhausted> {
        let Some(text) = self.doc.string(id, budget)? else { return Ok(None) };
        let inner = Self::parse_inner(&text, self.pointer(id), self.written(id), budget)?;
        if inner.is_some() {
            self.claim(id);
        }
        Ok(inner)
    }

    /// JSON that was text, written so: only if the whole of it is one object or array.
    pub(crate) fn parse_inner(
        text: &Bytes,
        at: String,
        written: Written,
        budget: &mut Budget,
    ) -> Result<Option<Self>, Exhausted> {
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if !matches!(first, Some(b'{' | b'[' | b'"')) {
            return Ok(None);
        }
        let doc = Doc::parse(text, budget);
        match doc.stop {
            None if doc.end == text.len() => Ok(Some(Self::on(doc, at, Ground::Text(Arc::new(written)), 0))),
            // Nested beyond what any reader follows: it is text.
            Some(Stop::Limit(exhausted)) if exhausted.0 != Resource::Depth => Err(exhausted),
            _ => Ok(None),
        }
    }

    /// The outermost value.
    pub(crate) fn root(&self) -> Option<NodeId> {
        self.doc.root()
    }

    /// Where a value stands in the envelope.
    pub(crate) fn pointer(&self, id: NodeId) -> String {
        format!("{}{}", self.at, self.doc.pointer(id))
    }

    /// What a value is.
    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.doc.kind(id)
    }

    /// Whether it is an object.
    pub(crate) fn is_object(&self, id: NodeId) -> bool {
        self.kind(id) == Kind::Object
    }

    /// The values under a key, all of them when it is there twice. Claims the key.
    pub(crate) fn take<'a>(&'a self, object: NodeId, key: &'a str) -> impl Iterator<Item = NodeId> + 'a {
        self.peek_all(object, key).inspect(|id| self.claim_key(*id))
    }

    /// The values under any of these keys. Claims the keys.
    pub(crate) fn take_any<'a>(&'a self, object: NodeId, keys: &'a [&str]) -> impl Iterator<Item = NodeId> + 'a {
        let members = self.doc.children(object);
        members.filter(move |id| keys.iter().any(|key| self.doc.has_key(*id, key))).inspect(|id| self.claim_key(*id))
    }

    /// The items of an array, or the value itself when it is no array: a single object where a list is due is read
    /// all the same.
    pub(crate) fn items(&self, id: NodeId) -> Vec<NodeId> {
        match self.kind(id) {
            Kind::Array => self.doc.children(id).collect(),
            Kind::Null => Vec::new(),
            _ => vec![id],
        }
    }

    fn peek_all<'a>(&'a self, object: NodeId, key: &'a str) -> impl Iterator<Item = NodeId> + 'a {
        self.doc.children(object).filter(move |id| self.doc.has_key(*id, key))
    }

    /// The first value under a key, without a claim.
    pub(crate) fn peek(&self, object: NodeId, key: &str) -> Option<NodeId> {
        self.peek_all(object, key).next()
    }

    /// The first value at the end of a path of keys, without a claim.
    pub(crate) fn peek_path(&self, object: NodeId, path: &[&str]) -> Option<NodeId> {
        path.iter().try_fold(object, |at, key| self.peek(at, key))
    }

    /// Whether an object has a key.
    pub(crate) fn has(&self, object: NodeId, key: &str) -> bool {
        self.peek(object, key).is_some()
    }

    /// The short string under a key, without a claim.
    pub(crate) fn peek_word(&self, object: NodeId, key: &str) -> Option<String> {
        self.doc.word(self.peek(object, key)?).map(std::borrow::Cow::into_owned)
    }

    /// Claims the key under which a value stands.
    pub(crate) fn claim_key(&self, id: NodeId) {
        self.set(id, |claim| claim.key = true);
    }

    /// Says that the caller worded everything in a value.
    pub(crate) fn mark_callers(&self, id: NodeId) {
        self.set(id, |claim| claim.callers = true);
    }

    /// Whether the caller worded a value. Asked in the order of the document: a mark goes down as it is asked for.
    pub(crate) fn is_callers(&self, id: NodeId) -> bool {
        let is = |id: NodeId| self.claims.get(id.index()).is_some_and(|claim| claim.get().callers);
        let callers = is(id) || self.doc.parent(id).is_some_and(is);
        if callers {
            self.mark_callers(id);
        }
        callers
    }

    /// Claims a value.
    pub(crate) fn claim(&self, id: NodeId) {
        self.set(id, |claim| claim.value = true);
    }

    /// Takes the claim of a value back: it turned out to be something else.
    pub(crate) fn unclaim(&self, id: NodeId) {
        self.set(id, |claim| claim.value = false);
    }

    fn set(&self, id: NodeId, change: impl FnOnce(&mut Claim)) {
        if let Some(cell) = self.claims.get(id.index()) {
            let mut claim = cell.get();
            change(&mut claim);
            cell.set(claim);
        }
    }

    /// Whether the key of a value is claimed.
    pub(crate) fn is_key_claimed(&self, id: NodeId) -> bool {
        self.claims.get(id.index()).is_some_and(|claim| claim.get().key)
    }

    /// Whether a value is claimed.
    pub(crate) fn is_claimed(&self, id: NodeId) -> bool {
        self.claims.get(id.index()).is_some_and(|claim| claim.get().value)
    }

    /// A word of an enumeration: claimed and returned as the list spells it, or left to be read as text. ASCII case
    /// does not count: the Gemini SDK compares so.
    pub(crate) fn word(&self, id: NodeId, words: &'static [&'static str]) -> Option<&'static str> {
        let word = self.doc.word(id)?;
        let known = words.iter().copied().find(|known| known.eq_ignore_ascii_case(&word))?;
        self.claim(id);
        Some(known)
    }

    /// The first known word under a key; the key is claimed.
    pub(crate) fn take_word(&self, object: NodeId, key: &str, words: &'static [&'static str]) -> Option<&'static str> {
        self.take(object, key).filter_map(|id| self.word(id, words)).next()
    }

    /// An identifier: claimed and returned when it is in the alphabet of identifiers.
    pub(crate) fn id(&self, id: NodeId) -> Option<String> {
        let word = self.doc.word(id).filter(|word| is_id(word))?.into_owned();
        self.claim(id);
        Some(word)
    }

    /// The first identifier under a key; the key is claimed.
    pub(crate) fn take_id(&self, object: NodeId, key: &str) -> Option<String> {
        let mut found = None;
        for id in self.take(object, key) {
            let word = self.id(id);
            found = found.or(word);
        }
        found
    }

    /// The media type under one of these keys: claimed when it looks like one, returned whatever it is, for it is
    /// compared and never believed.
    pub(crate) fn take_type(&self, object: NodeId, keys: &[&str]) -> Option<String> {
        let mut found = None;
        for id in self.take_any(object, keys) {
            let word = self.doc.word(id).map(std::borrow::Cow::into_owned);
            if word.as_deref().is_some_and(is_name) {
                self.claim(id);
            }
            found = found.or(word);
        }
        found
    }

    /// The integer under a key, the worst when it is there twice: not zero wins. `Some(None)` when something else
    /// than an exact integer stands there.
    pub(crate) fn take_integer(&self, object: NodeId, keys: &[&str]) -> Option<Option<i64>> {
        let mut found: Option<Option<i64>> = None;
        for id in self.take_any(object, keys) {
            if self.kind(id) == Kind::Null {
                continue;
            }
            let value = self.doc.integer(id);
            found = Some(match (found, value) {
                (None | Some(Some(0)), value) => value,
                (Some(earlier), _) => earlier,
            });
        }
        found
    }

    /// Whether any value under these keys says true: the boolean, not a word.
    pub(crate) fn take_flag(&self, object: NodeId, keys: &[&str]) -> Option<bool> {
        let mut found = None;
        for id in self.take_any(object, keys) {
            if let Kind::Bool(value) = self.kind(id) {
                found = Some(value || found == Some(true));
            }
        }
        found
    }

    /// Claims the members of an object that are in a table and look as the table says.
    pub(crate) fn known(&self, object: NodeId, table: &'static [(&'static str, Shape)]) {
        // Tables are constants: their nesting, not the input's, bounds the queue.
        let mut queue = vec![(object, table)];
        while let Some((object, table)) = queue.pop() {
            for id in self.doc.children(object) {
                let shape = table.iter().find(|(known, _)| self.doc.has_key(id, known));
                let Some((_, shape)) = shape else { continue };
                self.claim_key(id);
                let list = match self.kind(id) {
                    Kind::Array => self.doc.children(id).collect(),
                    _ => vec![id],
                };
                for id in list {
                    match shape {
                        Shape::Inside(inner) => queue.push((id, *inner)),
                        shape => self.check(id, *shape),
                    }
                }
            }
        }
    }

    fn check(&self, id: NodeId, shape: Shape) {
        let fits = match shape {
            Shape::Word(words) => self.word(id, words).is_some(),
            Shape::Opaque => is_opaque(self.doc.raw(id)),
            Shape::Id => self.doc.word(id).is_some_and(|word| is_id(&word)),
            Shape::Stamp => self.doc.word(id).is_some_and(|word| is_stamp(&word)),
            Shape::Name => self.doc.word(id).is_some_and(|word| is_name(&word)),
            Shape::Scalar | Shape::Inside(_) => false,
        };
        if fits {
            self.claim(id);
        }
    }
}

/// Letters, digits and a few separators, in the length and grouping of identifiers, not of sentences.
pub(crate) fn is_id(word: &str) -> bool {
    let separator = |byte: u8| matches!(byte, b'_' | b'-' | b'.' | b':');
    word.len() <= ID_BYTES
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || separator(byte))
        && is_grouped_like_an_id(word, separator)
}

/// Few separators, or many digits: a UUID with a region behind it has seven.
fn is_grouped_like_an_id(word: &str, separator: impl Fn(u8) -> bool) -> bool {
    let separators = word.bytes().filter(|byte| separator(*byte)).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    separators <= ID_SEPARATORS || separators <= MOST_SEPARATORS && digits.saturating_mul(4) >= word.len()
}

/// What may stand in the path of a request to the vendor: no dots, so no `..`.
pub(crate) fn is_path_id(word: &str) -> bool {
    !word.is_empty() && is_id(word) && !word.contains(['.', ':'])
}

fn is_stamp(word: &str) -> bool {
    word.len() <= STAMP_BYTES
        && word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z' | b':' | b'.' | b'-' | b'+' | b' '))
}

/// Model names, media types, versions.
pub(crate) fn is_name(word: &str) -> bool {
    word.len() <= STAMP_BYTES
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'/' | b':' | b'+'))
        && word.bytes().filter(|byte| !byte.is_ascii_alphanumeric()).count() <= ID_SEPARATORS
}

/// Base64 of either alphabet without white space. Words of a sentence would need separators, and those are `_` and
/// `-` only: text of that kind is read.
fn is_opaque(raw: &[u8]) -> bool {
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    raw.iter().all(letters)
        && raw.iter().filter(|byte| matches!(byte, b'-' | b'_')).count() <= raw.len().div_euclid(12).saturating_add(3)
}
