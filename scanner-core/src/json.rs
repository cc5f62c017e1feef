//! JSON as attackers write it: RFC 8259 plus what senders get wrong and what hides text from stricter readers.
//!
//! The document is a flat list of nodes, paid for one by one, without recursion. Duplicate keys are kept, lone
//! surrogates and bytes that are not UTF-8 become U+FFFD, a cut or broken input keeps everything up to the break,
//! and every oddity is noted with its offset. Strings are decoded when asked for, with the way back to the input.

use std::{borrow::Cow, collections::HashSet};

use bytes::Bytes;

use crate::{
    finding::{Span, Stop},
    limits::{Budget, Exhausted, Resource},
    view::OffsetMap,
};

mod build;
mod decode;
mod lex;
#[cfg(test)]
mod tests;

use build::Builder;
use lex::{Lexer, Raw};

/// Deepest nesting that is followed. Honest results stay below 100, `serde_json` stops at 128 and Python near 1,000:
/// what no client of a vendor can read is not worth reading.
pub(crate) const NESTING: usize = 512;
/// Duplicate keys listed one by one; the rest is counted.
const LISTED: usize = 64;
/// Keys longer than this are cut in a pointer, and a pointer ends when it is longer than that: it is for a person.
const SEGMENT_BYTES: usize = 256;
const POINTER_BYTES: usize = 2_048;
/// Longest spelling of a number that is asked for its value; beyond it no integer is exact.
const NUMBER_BYTES: usize = 400;

/// Something odd that was read all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// U+FEFF at the start.
    ByteOrderMark,
    /// `\ud800` without its other half.
    LoneSurrogate,
    /// Bytes that are not UTF-8 inside a string.
    InvalidUtf8,
    /// A raw control character inside a string.
    Control,
    /// An escape or a number that is not JSON.
    Structure,
    /// A key that the object already has.
    DuplicateKey,
}

/// How often each oddity came, and where first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quirks {
    seen: [(u64, u64); 6],
}

impl Quirks {
    pub(crate) const ALL: [Quirk; 6] = [
        Quirk::ByteOrderMark,
        Quirk::LoneSurrogate,
        Quirk::InvalidUtf8,
        Quirk::Control,
        Quirk::Structure,
        Quirk::DuplicateKey,
    ];

    fn note(&mut self, quirk: Quirk, at: usize) {
        let index = Self::ALL.iter().position(|other| *other == quirk);
        if let Some((count, first)) = index.and_then(|index| self.seen.get_mut(index)) {
            if *count == 0 {
                *first = offset(at);
            }
            *count = count.saturating_add(1);
        }
    }

    /// How often, and the offset of the first.
    pub(crate) fn of(&self, quirk: Quirk) -> Option<(u64, u64)> {
        let index = Self::ALL.iter().position(|other| *other == quirk)?;
        self.seen.get(index).copied().filter(|(count, _)| *count > 0)
    }
}

/// Number of a node in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// Its position among the nodes of its document.
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number,
    Text,
    Array,
    Object,
}

impl Kind {
    /// For messages: `an array`.
    pub(crate) const fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    start: usize,
    end: usize,
    /// Whether the text needs no decoding.
    plain: bool,
    key: Option<Raw>,
    parent: Option<NodeId>,
    /// Position among its siblings.
    index: u32,
    first: Option<NodeId>,
    next: Option<NodeId>,
}

/// A document. It is there even when reading had to stop: [`Doc::stop`] says why.
#[derive(Debug)]
pub(crate) struct Doc {
    bytes: Bytes,
    nodes: Vec<Node>,
    /// What was odd.
    pub(crate) quirks: Quirks,
    /// Members whose key their object already had, the first of them.
    pub(crate) duplicates: Vec<NodeId>,
    /// Why reading ended early.
    pub(crate) stop: Option<Stop>,
    /// Offset after the document, white space skipped; the length of the input unless something follows.
    pub(crate) end: usize,
}

/// A decoded string.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// UTF-8.
    pub(crate) bytes: Bytes,
    /// Back to the input.
    #[allow(dead_code, reason = "for inspectors of JSON files; envelopes are placed by pointer")]
    pub(crate) map: OffsetMap,
}

fn offset(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}

impl Doc {
    /// Reads the first document of `bytes`. Never fails: what could not be read is [`Doc::stop`], what follows the
    /// document begins at [`Doc::end`].
    pub(crate) fn parse(bytes: &Bytes, budget: &mut Budget) -> Self {
        let mut doc = Self {
            bytes: bytes.clone(),
            nodes: Vec::new(),
            quirks: Quirks::default(),
            duplicates: Vec::new(),
            stop: None,
            end: 0,
        };
        // About eight bytes a step: one pass to validate, one to cut.
        if let Err(exhausted) = budget.spend(Resource::Steps, offset(bytes.len()).div_euclid(8).saturating_add(1)) {
            doc.stop = Some(exhausted.into());
            return doc;
        }
        let mut lexer = Lexer::new(bytes);
        let mut builder = Builder { open: Vec::new(), key: None };
        doc.stop = builder.read(&mut lexer, &mut doc.nodes, budget).err();
        if let Some(key) = builder.key {
            // The input was cut between a key and its value: the key is text all the same.
            match builder.add(&mut doc.nodes, Kind::Text, key.start, key.end, budget) {
                Ok(_) => {
                    if let Some(node) = doc.nodes.last_mut() {
                        node.plain = key.plain;
                        node.key = None;
                    }
                }
                Err(stop) => doc.stop = Some(stop),
            }
        }
        if doc.stop.is_none() {
            lexer.skip_white();
        }
        doc.end = lexer.position();
        for (id, _) in &builder.open {
            if let Some(node) = doc.nodes.get_mut(id.index()) {
                node.end = doc.end;
            }
        }
        doc.quirks = lexer.quirks;
        doc.find_duplicates();
        doc
    }

    /// The outermost value; `None` when there is none.
    pub(crate) fn root(&self) -> Option<NodeId> {
        (!self.nodes.is_empty()).then_some(NodeId(0))
    }

    /// The whole input.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Every value, in the order of the input.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// What a value is.
    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.node(id).map_or(Kind::Null, |node| node.kind)
    }

    /// Where it stands in the input, quotes excluded.
    pub(crate) fn span(&self, id: NodeId) -> Span {
        self.node(id)
            .map_or(Span { start: 0, end: 0 }, |node| Span { start: offset(node.start), end: offset(node.end) })
    }

    /// The bytes of a value as they stand in the input, quotes excluded.
    pub(crate) fn raw(&self, id: NodeId) -> &[u8] {
        self.node(id).and_then(|node| self.bytes.get(node.start..node.end)).unwrap_or_default()
    }

    /// Items of an array or values of an object; nothing for anything else.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.node(id).and_then(|node| node.first), |id| self.node(*id)?.next)
    }

    /// The container of a value.
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.parent
    }

    /// A value and everything in it, in the order of the input.
    pub(crate) fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.span(id).end;
        let inside = (id.0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId);
        inside.take_while(move |other| *other == id || self.span(*other).start < end)
    }

    /// The key under which a value stands, as it is in the input.
    fn raw_key(&self, id: NodeId) -> Option<(&[u8], bool)> {
        let key = self.node(id)?.key?;
        Some((self.bytes.get(key.start..key.end)?, key.plain))
    }

    /// Where the key of a value stands in the input, quotes excluded.
    pub(crate) fn key_span(&self, id: NodeId) -> Option<Span> {
        let key = self.node(id)?.key?;
        Some(Span { start: offset(key.start), end: offset(key.end) })
    }

    /// The key under which a value stands, decoded; `None` in an array and at the root.
    pub(crate) fn key(&self, id: NodeId) -> Option<Cow<'_, str>> {
        let (raw, plain) = self.raw_key(id)?;
        Some(decoded(raw, plain))
    }

    /// Whether a value stands under that key.
    pub(crate) fn has_key(&self, id: NodeId, key: &str) -> bool {
        match self.raw_key(id) {
            Some((raw, true)) => raw == key.as_bytes(),
            Some((raw, false)) => decoded(raw, false) == key,
            None => false,
        }
    }

    /// The decoded text of a key as counted bytes.
    pub(crate) fn key_text(&self, id: NodeId, budget: &mut Budget) -> Result<Option<Bytes>, Exhausted> {
        let Some(key) = self.node(id).and_then(|node| node.key) else { return Ok(None) };
        Ok(Some(self.decode(key, budget)?.bytes))
    }

    /// The text of a string that is expected to be short: a name, a word of an enumeration. `None` for anything else
    /// and for strings beyond 1 KiB, which are no names.
    pub(crate) fn word(&self, id: NodeId) -> Option<Cow<'_, str>> {
        let node = self.node(id).filter(|node| node.kind == Kind::Text)?;
        let raw = self.bytes.get(node.start..node.end).filter(|raw| raw.len() <= 1_024)?;
        Some(decoded(raw, node.plain))
    }

    /// The text of a string, without a copy where nothing is escaped.
    pub(crate) fn text(&self, id: NodeId, budget: &mut Budget) -> Result<Option<Text>, Exhausted> {
        let Some(node) = self.node(id).filter(|node| node.kind == Kind::Text) else { return Ok(None) };
        self.decode(Raw { start: node.start, end: node.end, plain: node.plain }, budget).map(Some)
    }

    /// The bytes of a string's text, where nobody asks for the way back: the way of a text of many escapes is longer
    /// than the text.
    pub(crate) fn string(&self, id: NodeId, budget: &mut Budget) -> Result<Option<Bytes>, Exhausted> {
        let Some(node) = self.node(id).filter(|node| node.kind == Kind::Text) else { return Ok(None) };
        if node.plain {
            return Ok(Some(self.bytes.slice(node.start..node.end)));
        }
        joined(self.bytes.get(node.start..node.end).unwrap_or_default(), budget).map(Some)
    }

    /// The value of an integer, only if it is exactly that: `2`, `2.0` and `2e0` are, `1e999` is not.
    pub(crate) fn integer(&self, id: NodeId) -> Option<i64> {
        if self.kind(id) != Kind::Number {
            return None;
        }
        let spelling = std::str::from_utf8(self.raw(id)).ok().filter(|spelling| spelling.len() <= NUMBER_BYTES)?;
        if let Ok(value) = spelling.parse() {
            return Some(value);
        }
        let value: f64 = spelling.parse().ok()?;
        (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then(|| format!("{value:.0}").parse().ok())?
    }

    /// RFC 6901. Overlong keys and pointers are cut with `…`.
    pub(crate) fn pointer(&self, id: NodeId) -> String {
        let mut path = Vec::new();
        let mut at = Some(id);
        while let Some((id, node)) = at.and_then(|id| Some((id, self.node(id)?))) {
            path.push((id, node));
            at = node.parent;
        }
        let mut pointer = String::new();
        // The root has no segment.
        for (id, node) in path.into_iter().rev().skip(1) {
            if pointer.len() > POINTER_BYTES {
                pointer.push_str("/…");
                break;
            }
            pointer.push('/');
            match self.raw_key(id) {
                Some((raw, plain)) => push_segment(&mut pointer, raw, plain),
                None => pointer.push_str(&node.index.to_string()),
            }
        }
        pointer
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    fn decode(&self, raw: Raw, budget: &mut Budget) -> Result<Text, Exhausted> {
        let origin = offset(raw.start);
        if raw.plain {
            return Ok(Text { bytes: self.bytes.slice(raw.start..raw.end), map: OffsetMap::Shifted(origin) });
        }
        mapped(self.bytes.get(raw.start..raw.end).unwrap_or_default(), origin, budget)
    }

    fn find_duplicates(&mut self) {
        let mut found = Vec::new();
        let mut total = 0u64;
        for id in self.ids() {
            if self.kind(id) != Kind::Object {
                continue;
            }
            let mut seen = HashSet::new();
            for child in self.children(id) {
                let Some((raw, plain)) = self.raw_key(child) else { continue };
                if !seen.insert(decoded(raw, plain)) {
                    total = total.saturating_add(1);
                    if found.len() < LISTED {
                        found.push(child);
                    }
                }
            }
        }
        for id in &found {
            let at = self.node(*id).and_then(|node| node.key).map_or(0, |key| key.start);
            self.quirks.note(Quirk::DuplicateKey, at);
        }
        // `note` counts; what was not listed is counted here.
        for _ in offset(found.len())..total {
            self.quirks.note(Quirk::DuplicateKey, 0);
        }
        self.duplicates = found;
    }
}

/// What the way back from one escape takes: the run of its character and the one after it.
const BYTES_PER_ESCAPE: u64 = 32;

/// A whole input with the escapes of its strings undone; `None` where there are none. For files that are read as text:
/// nothing is parsed, so nothing broken or deep can hide a string.
pub(crate) fn unescaped(input: &Bytes, budget: &mut Budget) -> Result<Option<Text>, Exhausted> {
    memchr::memchr(b'\\', input).map(|_| mapped(input, 0, budget)).transpose()
}

/// The decoded text of bytes that begin at `origin` of the input, with the way back.
pub(crate) fn mapped(bytes: &[u8], origin: u64, budget: &mut Budget) -> Result<Text, Exhausted> {
    // U+FFFD for a byte that is not UTF-8 is the only thing that grows: three bytes for one.
    let most = if std::str::from_utf8(bytes).is_ok() { bytes.len() } else { bytes.len().saturating_mul(3) };
    let escapes = offset(memchr::memchr_iter(b'\\', bytes).count());
    budget.spend(Resource::DecodedBytes, offset(most).saturating_add(escapes.saturating_mul(BYTES_PER_ESCAPE)))?;
    let mut text = Vec::with_capacity(bytes.len());
    let mut runs = Vec::new();
    let mut next = None;
    decode::pieces(bytes, |piece| {
        // A piece that goes on where the last one ended, byte for byte, needs no run of its own.
        let here = (offset(text.len()), origin.saturating_add(offset(piece.at)));
        if next != Some(here) {
            runs.push(here);
        }
        text.extend_from_slice(piece.text);
        next = piece.quirk.is_none().then(|| {
            let length = offset(piece.text.len());
            (here.0.saturating_add(length), here.1.saturating_add(length))
        });
    });
    runs.push((offset(text.len()), origin.saturating_add(offset(bytes.len()))));
    Ok(Text { bytes: text.into(), map: OffsetMap::Runs(runs) })
}

/// Text that JSON strings were cut from, decoded as one: pieces of a stream may end in the middle of an escape, a
/// character or a surrogate pair.
pub(crate) fn joined(raw: &[u8], budget: &mut Budget) -> Result<Bytes, Exhausted> {
    let most = if std::str::from_utf8(raw).is_ok() { raw.len() } else { raw.len().saturating_mul(3) };
    budget.spend(Resource::DecodedBytes, offset(most))?;
    let mut text = Vec::with_capacity(raw.len());
    decode::pieces(raw, |piece| text.extend_from_slice(piece.text));
    Ok(text.into())
}

fn decoded(raw: &[u8], plain: bool) -> Cow<'_, str> {
    if plain {
        return String::from_utf8_lossy(raw);
    }
    let mut text = Vec::with_capacity(raw.len());
    decode::pieces(raw, |piece| text.extend_from_slice(piece.text));
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

fn push_segment(pointer: &mut String, raw: &[u8], plain: bool) {
    // Nearly every key, and every string of a deep document asks for hundreds of them.
    let simple = plain && raw.len() <= SEGMENT_BYTES && memchr::memchr2(b'~', b'/', raw).is_none();
    if let (true, Ok(key)) = (simple, std::str::from_utf8(raw)) {
        return pointer.push_str(key);
    }
    for character in decoded(raw.get(..SEGMENT_BYTES).unwrap_or(raw), plain).chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            character => pointer.push(character),
        }
    }
    if raw.len() > SEGMENT_BYTES {
        pointer.push('…');
    }
}
