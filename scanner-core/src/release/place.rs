//! Puts bytes back where they stood: changes of a text become changes of the input that holds it, whatever it is written
//! in — a JSON string, JSON in a JSON string, pieces of a stream, base64. Every other byte of the input stays as it came.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use bytes::Bytes;
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};

use crate::{
    bundle::{Carrier, Ground, Piece, Spelling, Written},
    format::cleaning::Uncleanable,
    json::{self, Text},
    limits::{Budget, Resource},
    reader::count,
    view::OffsetMap,
};

/// A range of bytes that become others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// Which bytes.
    pub(super) range: Range<usize>,
    /// What they become.
    pub(super) with: Vec<u8>,
}

/// Carries changes of artifacts over to the input.
#[derive(Debug, Default)]
pub(super) struct Placer {
    /// Texts that were undone already: a document in a string may hold thousands of artifacts.
    undone: BTreeMap<usize, Arc<Undone>>,
    edits: Vec<Edit>,
}

/// The text that pieces make, with the way back.
#[derive(Debug)]
struct Undone {
    text: Bytes,
    map: Way,
}

/// From the text to the raw bytes of all pieces, one after the other.
#[derive(Debug)]
enum Way {
    /// The text is the raw bytes.
    Same,
    /// All pieces as one.
    One(OffsetMap),
    /// Each piece by itself: from which offset of the text on, and its own way.
    Each(Vec<(usize, OffsetMap)>),
}

impl Placer {
    /// Changes of an artifact's bytes, sorted and apart from each other, at one of the places it is written.
    pub(super) fn change(&mut self, written: &Written, edits: &[Edit], budget: &mut Budget) -> Result<(), Uncleanable> {
        let undone = undo(written, budget)?;
        match written.carrier {
            Carrier::Text => self.text(written, &undone, edits.to_vec(), budget),
            Carrier::Encoded => {
                let [whole] = edits else { return Err("bytes in base64 are only replaced as a whole".into()) };
                budget.spend(Resource::UnpackedBytes, count(whole.with.len().saturating_mul(2)))?;
                let with = encoded_like(&undone.text, &whole.with);
                self.text(written, &undone, vec![Edit { range: 0..undone.text.len(), with }], budget)
            }
        }
    }

    /// Changes of the text that is written there. Texts in texts are few: adapters undo three layers at most.
    fn text(
        &mut self,
        written: &Written,
        undone: &Undone,
        edits: Vec<Edit>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let mut inside: Vec<(Arc<Written>, Vec<Edit>)> = Vec::new();
        for edit in edits {
            let raw = undone.raw(&edit.range);
            let mut with = match written.spelling {
                Spelling::Plain => edit.with,
                Spelling::Json | Spelling::Lines(_) => escaped(&edit.with),
            };
            budget.spend(Resource::DecodedBytes, count(with.len()))?;
            let mut start = 0usize;
            let mut is_first = true;
            for piece in &written.pieces {
                let end = start.saturating_add(piece.raw.len());
                let is_last = raw.end <= end;
                // What is put in goes where the change begins; the rest of it only goes away.
                if raw.start < end || raw.start == end && is_last {
                    let range = raw.start.max(start)..raw.end.min(end);
                    if is_first || !range.is_empty() {
                        let at = |offset: usize| piece.raw.start.saturating_add(offset.saturating_sub(start));
                        let with = std::mem::take(&mut with);
                        let own = Edit { range: at(range.start)..at(range.end), with };
                        is_first = false;
                        self.ground(piece, own, &mut inside)?;
                    }
                }
                start = end;
                if is_last {
                    break;
                }
            }
        }
        for (outer, edits) in inside {
            let undone = self.undone(&outer, budget)?;
            self.text(&outer, &undone, edits, budget)?;
        }
        Ok(())
    }

    fn ground(
        &mut self,
        piece: &Piece,
        edit: Edit,
        inside: &mut Vec<(Arc<Written>, Vec<Edit>)>,
    ) -> Result<(), Uncleanable> {
        match &piece.ground {
            Ground::Input(runs) => {
                let start = in_input(runs, edit.range.start);
                let end = match edit.range.is_empty() {
                    true => start,
                    false => in_input(runs, edit.range.end.saturating_sub(1)).map(|last| last.saturating_add(1)),
                };
                let (Some(start), Some(end)) = (start, end) else {
                    return Err("a text stands outside the input".into());
                };
                self.edits.push(Edit { range: start..end, with: edit.with });
            }
            Ground::Text(outer) => match inside.last_mut() {
                Some((last, edits)) if Arc::ptr_eq(last, outer) => edits.push(edit),
                _ => inside.push((Arc::clone(outer), vec![edit])),
            },
        }
        Ok(())
    }

    fn undone(&mut self, written: &Arc<Written>, budget: &mut Budget) -> Result<Arc<Undone>, Uncleanable> {
        let key = Arc::as_ptr(written).addr();
        if let Some(known) = self.undone.get(&key) {
            return Ok(Arc::clone(known));
        }
        let undone = Arc::new(undo(written, budget)?);
        self.undone.insert(key, Arc::clone(&undone));
        Ok(undone)
    }

    /// The input with all changes. Of two that overlap the shorter one is made: the longer is of what is around it, and
    /// is asked for again when the outcome is looked at.
    pub(super) fn apply(self, input: &Bytes, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
        let mut edits = self.edits;
        edits.sort_by_key(|edit| (edit.range.len(), edit.range.start));
        let mut made: BTreeMap<usize, Edit> = BTreeMap::new();
        for edit in edits {
            let before = made.range(..edit.range.end.max(edit.range.start.saturating_add(1))).next_back();
            let overlaps =
                before.is_some_and(|(_, other)| other.range.end > edit.range.start || other.range == edit.range);
            if !overlaps {
                made.insert(edit.range.start, edit);
            }
        }
        let made: Vec<Edit> = made.into_values().collect();
        let grown: usize = made.iter().map(|edit| edit.with.len()).sum();
        budget.spend(Resource::UnpackedBytes, count(input.len().saturating_add(grown)))?;
        Ok(applied(input, &made))
    }
}

impl Undone {
    /// Where a range of the text stands in the raw bytes of all pieces.
    fn raw(&self, range: &Range<usize>) -> Range<usize> {
        let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let by = |map: &OffsetMap, range: Range<usize>| {
            let span = map.span(count(range.start), count(range.end));
            index(span.start)..index(span.end)
        };
        match &self.map {
            Way::Same => range.clone(),
            Way::One(map) => by(map, range.clone()),
            Way::Each(pieces) => {
                let of = |offset: usize, is_end: bool| {
                    // An end belongs to the piece it ends, not to the one that begins there.
                    let next =
                        pieces.partition_point(|(from, _)| if is_end { *from < offset } else { *from <= offset });
                    pieces.get(next.saturating_sub(1))
                };
                let start = of(range.start, false).map(|(from, map)| {
                    let own = range.start.saturating_sub(*from);
                    by(map, own..own).start
                });
                let end = of(range.end, true).map(|(from, map)| {
                    let own = range.end.saturating_sub(*from);
                    by(map, own..own).start
                });
                let start = start.unwrap_or(0);
                start..end.unwrap_or(start).max(start)
            }
        }
    }
}

/// The text that pieces make.
fn undo(written: &Written, budget: &mut Budget) -> Result<Undone, Uncleanable> {
    let raw_bytes = || {
        let mut raw = Vec::with_capacity(written.pieces.iter().map(|piece| piece.bytes.len()).sum());
        written.pieces.iter().for_each(|piece| raw.extend_from_slice(&piece.bytes));
        Bytes::from(raw)
    };
    match (written.spelling, written.pieces.as_slice()) {
        (Spelling::Plain, [only]) => Ok(Undone { text: only.bytes.clone(), map: Way::Same }),
        (Spelling::Plain, _) => {
            budget.spend(Resource::DecodedBytes, count(written.pieces.iter().map(|piece| piece.bytes.len()).sum()))?;
            Ok(Undone { text: raw_bytes(), map: Way::Same })
        }
        (Spelling::Json, pieces) => {
            let Text { bytes, map } = match pieces {
                [only] => json::mapped(&only.bytes, 0, budget)?,
                _ => json::mapped(&raw_bytes(), 0, budget)?,
            };
            Ok(Undone { text: bytes, map: Way::One(map) })
        }
        (Spelling::Lines(between), pieces) => {
            let mut text = Vec::new();
            let mut ways = Vec::with_capacity(pieces.len());
            let mut start = 0usize;
            for piece in pieces {
                let own = json::mapped(&piece.bytes, count(start), budget)?;
                if !text.is_empty() {
                    text.extend_from_slice(between.as_bytes());
                }
                ways.push((text.len(), own.map));
                text.extend_from_slice(&own.bytes);
                start = start.saturating_add(piece.bytes.len());
            }
            Ok(Undone { text: text.into(), map: Way::Each(ways) })
        }
    }
}

/// Where a byte of a document stands in the input.
fn in_input(runs: &[(usize, usize)], offset: usize) -> Option<usize> {
    let next = runs.partition_point(|(document, _)| *document <= offset);
    let (document, input) = runs.get(next.checked_sub(1)?)?;
    input.checked_add(offset.checked_sub(*document)?)
}

/// The change that makes one text of another and leaves what they have in common.
pub(super) fn whole(before: &[u8], after: &[u8]) -> Edit {
    let shortest = before.len().min(after.len());
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut head = head;
    while head > 0 && before.get(head).is_some_and(|byte| byte & 0xc0 == 0x80) {
        head = head.saturating_sub(1);
    }
    let mut tail = tail.min(shortest.saturating_sub(head));
    while tail > 0 && before.get(before.len().saturating_sub(tail)).is_some_and(|byte| byte & 0xc0 == 0x80) {
        tail = tail.saturating_sub(1);
    }
    let with = after.get(head..after.len().saturating_sub(tail)).unwrap_or_default().to_vec();
    Edit { range: head..before.len().saturating_sub(tail), with }
}

/// Bytes with changes made, which are sorted and apart.
pub(super) fn applied(bytes: &Bytes, edits: &[Edit]) -> Bytes {
    if edits.is_empty() {
        return bytes.clone();
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0usize;
    for edit in edits {
        out.extend_from_slice(bytes.get(at..edit.range.start).unwrap_or_default());
        out.extend_from_slice(&edit.with);
        at = edit.range.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out.into()
}

/// As the inside of a JSON string (RFC 8259 §7).
pub(super) fn escaped(text: &[u8]) -> Vec<u8> {
    let quoted = serde_json::Value::from(String::from_utf8_lossy(text)).to_string();
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or_default().as_bytes().to_vec()
}

/// Bytes in base64 as the sender wrote it: the same alphabet, padding, line length and head of a data URL.
fn encoded_like(before: &[u8], bytes: &[u8]) -> Vec<u8> {
    let comma = memchr::memchr(b',', before).filter(|_| crate::envelope::encoded::is_data_url(before));
    let (head, body) = before.split_at(comma.map_or(0, |comma| comma.saturating_add(1)));
    let is_percent = comma.is_some() && !is_base64_head(head);
    if is_percent {
        let mut out = head.to_vec();
        for byte in bytes {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(*byte),
                byte => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            }
        }
        return out;
    }
    let is_url_safe = body.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let is_padded = body.trim_ascii_end().ends_with(b"=")
        || body.iter().filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')).count()
            % 4
            == 0;
    let encoding = match (is_url_safe, is_padded) {
        (false, true) => BASE64,
        (false, false) => BASE64_NOPAD,
        (true, true) => BASE64URL,
        (true, false) => BASE64URL_NOPAD,
    };
    let text = encoding.encode(bytes);
    // A break at the very end is no length of lines.
    let line = memchr::memchr(b'\n', body).filter(|line| *line > 0 && line.saturating_add(1) < body.len());
    let lines: Vec<&[u8]> = text.as_bytes().chunks(line.unwrap_or(usize::MAX)).collect();
    let mut out = head.to_vec();
    out.extend(lines.join(&b'\n'));
    if body.ends_with(b"\n") && !lines.is_empty() {
        out.push(b'\n');
    }
    out
}

fn is_base64_head(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    head.trim_end_matches(',').split(';').skip(1).any(|parameter| parameter.trim().eq_ignore_ascii_case("base64"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::Limits;

    #[test]
    fn base64_is_written_as_the_sender_wrote_it() {
        for (before, bytes, expected) in [
            ("QUJD", "hello", "aGVsbG8="),
            ("QUI=", "hello", "aGVsbG8="),
            ("QUI=\n", "hello", "aGVsbG8=\n"),
            ("QUI", "hello", "aGVsbG8"),
            // A letter of either alphabet counts for the length.
            ("+/+/", "hello", "aGVsbG8="),
            ("+/+/", "\u{ff}~~", "w79+fg=="),
            ("-_-_", "\u{ff}~~", "w79-fg=="),
            ("QQ-_Q", "\u{ff}~~", "w79-fg"),
            ("QUJD\nREVG\n", "hello!", "aGVs\nbG8h\n"),
            ("QUJD\nREVG", "hello!", "aGVs\nbG8h"),
            ("\nQUJD", "abc", "YWJj"),
            // Nothing is no line, and the head stays whole.
            ("QUI=\n", "", ""),
            ("data:;base64,QUJD\nREVG", "", "data:;base64,"),
            ("data:image/png;base64,QUJD", "abc", "data:image/png;base64,YWJj"),
            ("data:;charset=x; BASE64 ,QUJD", "abc", "data:;charset=x; BASE64 ,YWJj"),
            ("data:text/plain,a", "a b\u{e9}/-._~", "data:text/plain,a%20b%C3%A9%2F-._~"),
            ("data:base64,a", "a b", "data:base64,a%20b"),
            // Not a URL: a comma in it is noise.
            ("QUJD,QUJD", "abc", "YWJj"),
        ] {
            let written = encoded_like(before.as_bytes(), bytes.as_bytes());
            assert_eq!(String::from_utf8(written).unwrap(), expected, "{before}");
        }
    }

    #[test]
    fn of_changes_that_overlap_the_shorter_is_made() {
        let made = |edits: &[(Range<usize>, &str)]| {
            let edits = edits.iter().map(|(range, with)| Edit { range: range.clone(), with: with.as_bytes().to_vec() });
            let placer = Placer { edits: edits.collect(), ..Placer::default() };
            let bytes = placer.apply(&Bytes::from_static(b"abcdef"), &mut Budget::new(Limits::default())).unwrap();
            String::from_utf8(bytes.to_vec()).unwrap()
        };
        assert_eq!(made(&[(1..3, "X"), (3..5, "Y")]), "aXYf");
        assert_eq!(made(&[(3..5, "Y"), (1..3, "X")]), "aXYf");
        assert_eq!(made(&[(0..6, "W"), (2..3, "Z")]), "abZdef");
        assert_eq!(made(&[(1..4, "W"), (3..5, "Z")]), "abcZf");
        assert_eq!(made(&[(1..3, "W"), (0..2, "Z")]), "Zcdef");
        // What is put in at one place, once; beside a change it has its own place.
        assert_eq!(made(&[(2..2, "X"), (2..2, "Y")]), "abXcdef");
        assert_eq!(made(&[(2..2, "X"), (0..2, "Y")]), "YXcdef");
        assert_eq!(made(&[(6..6, "X"), (0..1, "")]), "bcdefX");
    }

    proptest! {
        #[test]
        fn the_change_between_two_texts_makes_one_of_the_other(
            before in "[a\u{e8}\u{e9}\u{129}\u{1f600}\u{1f601}]{0,6}",
            after in "[a\u{e8}\u{e9}\u{129}\u{1f600}\u{1f601}]{0,6}",
        ) {
            let edit = whole(before.as_bytes(), after.as_bytes());
            // No letter is cut in two, on either side.
            prop_assert!(before.is_char_boundary(edit.range.start) && before.is_char_boundary(edit.range.end));
            prop_assert!(std::str::from_utf8(&edit.with).is_ok());
            let common = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
            prop_assert_eq!(edit.range.start, common);
            prop_assert_eq!(applied(&Bytes::from(before.clone()), std::slice::from_ref(&edit)), after.as_bytes());
            let tail: usize =
                before[common..].chars().rev().zip(after[common..].chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
            prop_assert_eq!(edit.range.end, before.len() - tail);
        }
    }
}
