//! Text strings (ISO 32000-1 §7.9.2) and all the words that stand in objects.

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;

use super::{document::Document, object::Object};
use crate::{
    finding::{Place, Stop},
    format::Out,
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

/// Shorter strings say nothing.
const SHORTEST: usize = 4;

/// A text string as UTF-8: by its mark UTF-16 or UTF-8, else in the encoding of PDF documents.
pub(super) fn decode(raw: &[u8]) -> Cow<'_, str> {
    let wide = |raw: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, _) = raw.as_chunks::<2>();
        char::decode_utf16(pairs.iter().copied().map(unit))
            .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect::<String>()
    };
    match raw {
        [0xfe, 0xff, rest @ ..] => Cow::Owned(wide(rest, u16::from_be_bytes)),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(wide(rest, u16::from_le_bytes)),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        // Many writers put UTF-8 there without a mark.
        _ => match std::str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(raw.iter().map(|byte| document_character(*byte)).collect()),
        },
    }
}

/// Annex D.3: Latin 1, but for a stretch of punctuation.
fn document_character(byte: u8) -> char {
    match byte {
        0x80 => '•',
        0x81 => '†',
        0x82 => '‡',
        0x83 => '…',
        0x84 => '—',
        0x85 => '–',
        0x88 => '‹',
        0x89 => '›',
        0x8a => '−',
        0x8c => '„',
        0x8d => '“',
        0x8e => '”',
        0x8f => '‘',
        0x90 => '’',
        0x91 => '‚',
        0x93 => 'ﬁ',
        0x94 => 'ﬂ',
        0xa0 => '€',
        _ => char::from(byte),
    }
}

/// Whether a string is words and not a number, a date or bytes.
fn is_words(text: &str) -> bool {
    text.len() >= SHORTEST
        && !text.starts_with("D:2")
        && !text.chars().any(|character| character.is_control() && !character.is_whitespace() && character != '\u{1b}')
}

/// Reads all strings of all objects, one a line.
pub(super) fn read(document: &Document<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut text = String::new();
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut end = 0;
    let mut waiting = Vec::new();
    for item in &document.items {
        waiting.push(&item.object);
        while let Some(value) = waiting.pop() {
            match value {
                Object::Array(values) => waiting.extend(values.iter().rev()),
                // The keys of encryption are no text.
                Object::Dict(dict) if dict.has("CF") || dict.is("Filter", "Standard") => {}
                Object::Dict(dict) => waiting.extend(dict.entries.iter().rev().map(|(_, value)| value)),
                Object::Literal(raw) | Object::Hex(raw) => {
                    budget.spend(Resource::Steps, count(raw.len().div_ceil(2)))?;
                    let Some(raw) = document.string(item, value) else { continue };
                    let words = decode(&raw);
                    if is_words(&words) {
                        budget.spend(Resource::DecodedBytes, count(words.len()))?;
                        runs.push((count(text.len()), count(item.at)));
                        text.push_str(&words);
                        text.push('\n');
                        end = item.end;
                    }
                }
                _ => {}
            }
        }
    }
    if !text.is_empty() {
        runs.push((count(text.len()), count(end)));
        let place = Place::default().name("part", "strings of objects");
        let view = TextView::decoded(text.into(), OffsetMap::Runs(runs), vec!["pdf"]);
        out.read(view.place(place));
    }
    Ok(())
}

/// A text that came out of a stream: UTF-8, or what its mark says.
pub(super) fn stream_text(bytes: &Bytes) -> Bytes {
    match &**bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => decode(bytes).into_owned().into(),
        _ => bytes.clone(),
    }
}

/// Where a text that came out of an object stands.
pub(super) fn within(range: &Range<usize>) -> OffsetMap {
    OffsetMap::Within(crate::finding::Span { start: count(range.start), end: count(range.end) })
}
