//! One anchor: its grams, what stands around them, and its blanks, which are loose where one of its words is long.

use std::ops::Range;

use super::{FOLD, GRAM, commonness::commonness, large, small};
use crate::text::SPAN_CAP;

/// Longest run that a blank of an anchor stands for: no match is longer, so no blanks push its words out of sight.
const BLANKS_MOST: usize = SPAN_CAP;

/// A literal and the rules that have it.
#[derive(Debug)]
pub(super) struct Anchor {
    pub(super) bytes: Box<[u8]>,
    pub(super) rules: Box<[usize]>,
    /// The word that holds its grams, where its blanks are loose.
    pub(super) word: Option<Range<usize>>,
}

impl Anchor {
    pub(super) fn new(bytes: &[u8], rules: Vec<usize>) -> Self {
        let touches = |pair: &[u8]| matches!(pair, [b' ', other] | [other, b' '] if is_blank(*other));
        let is_loose = bytes.contains(&b' ') && !bytes.windows(2).any(touches);
        let mut from = 0_usize;
        let words = bytes.split(|byte| *byte == b' ').map(|word| {
            let range = from..from.saturating_add(word.len());
            from = range.end.saturating_add(1);
            range
        });
        let rarity = |range: &Range<usize>| {
            let worst_of = |parity| chosen(bytes, range.clone(), parity, |_| 0).map(|(_, gram)| commonness(gram));
            worst_of(0).max(worst_of(1))
        };
        // The word of five bytes or more whose commoner gram is rarest.
        let word = words.filter(|range| is_loose && range.len() > GRAM).min_by_key(rarity);
        Self { bytes: bytes.into(), rules: rules.into(), word }
    }

    /// Longest stretch of text in which it may stand.
    pub(super) fn reach(&self) -> usize {
        let blanks = self.bytes.iter().filter(|byte| **byte == b' ' && self.word.is_some()).count();
        self.bytes.len().saturating_add(blanks.saturating_mul(BLANKS_MOST))
    }

    /// What stands around its gram at an offset, and which of that is sure: no more than the word where blanks are loose.
    pub(super) fn around(&self, gram: usize) -> (u64, u64) {
        let sure = self.word.clone().unwrap_or(0..self.bytes.len());
        let mut counts = [0_u8; 2 * GRAM];
        for (byte, place) in counts.iter_mut().zip(places(gram)) {
            *byte = if place.is_some_and(|place| sure.contains(&place)) { u8::MAX } else { 0 };
        }
        (around(&self.bytes, gram), u64::from_le_bytes(counts))
    }

    /// From a gram to both ends of its word, what stands beyond the blanks there, and which of that is sure: no more than
    /// to the next blank.
    pub(super) fn beyond(&self, gram: usize) -> ((u32, u32), u64, u64) {
        let Some(word) = self.word.clone() else { return ((0, 0), 0, 0) };
        let ends = (small(gram.saturating_sub(word.start)), small(word.end.saturating_sub(gram)));
        let front = self.bytes.get(..word.start.saturating_sub(1)).unwrap_or_default();
        let rest = self.bytes.get(word.end.saturating_add(1)..).unwrap_or_default();
        let sure = |byte: &&u8| **byte != b' ';
        let (before, after) =
            (front.iter().rev().take_while(sure).take(GRAM).count(), rest.iter().take_while(sure).take(GRAM).count());
        let mut counts = [0_u8; 2 * GRAM];
        for (place, byte) in counts.iter_mut().enumerate() {
            let is_sure =
                if place < GRAM { GRAM.saturating_sub(place) <= before } else { place < GRAM.saturating_add(after) };
            *byte = if is_sure { u8::MAX } else { 0 };
        }
        (ends, around_both(front, rest), u64::from_le_bytes(counts))
    }

    /// Where it stands, if its byte `offset` stands at `at`.
    pub(super) fn stands(&self, text: &[u8], at: usize, offset: usize) -> Option<Range<usize>> {
        let (before, behind) = self.bytes.split_at_checked(offset)?;
        let mut end = at;
        for byte in behind {
            end = end.saturating_add(span_of(*byte, text.get(end..)?.iter())?);
        }
        let mut start = at;
        for byte in before.iter().rev() {
            start = start.saturating_sub(span_of(*byte, text.get(..start)?.iter().rev())?);
        }
        Some(start..end)
    }
}

/// How many of the next bytes a byte of a loose anchor stands for.
fn span_of<'a>(byte: u8, mut next: impl Iterator<Item = &'a u8>) -> Option<usize> {
    if byte == b' ' {
        // Not the joint of an identifier: `skip_confirmation` is a name, and honest code is full of them.
        let run = next.take(BLANKS_MOST).take_while(|byte| is_blank(**byte) && **byte != b'_').count();
        return (run > 0).then_some(run);
    }
    next.next().is_some_and(|next| next.eq_ignore_ascii_case(&byte)).then_some(1)
}

/// Whether a blank of a rule may stand for it, among others: blanks, a line break, and what comments, quotes and tables
/// put before the next line.
pub(in crate::text) fn is_blank(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'_' | b'\r' | b'\n' | b'>' | b'#' | b'*' | b'/' | b'|' | b';' | b'-' | b'\\' | 0xc2 | 0xa0
    )
}

/// The rarest gram within a range of an anchor at offsets of that parity, and where it stands; one that many anchors have
/// already counts as commoner.
pub(super) fn chosen(
    bytes: &[u8],
    range: Range<usize>,
    parity: usize,
    crowd: impl Fn([u8; GRAM]) -> u32,
) -> Option<(usize, [u8; GRAM])> {
    let from = range.start;
    let grams = bytes.get(range)?.windows(GRAM).filter_map(|gram| gram.first_chunk::<GRAM>()).copied();
    grams
        .enumerate()
        .map(|(offset, gram)| (offset.saturating_add(from), gram))
        .filter(|(offset, _)| offset % 2 == parity)
        .min_by_key(|(_, gram)| (gram.is_ascii(), commonness(*gram).saturating_add(crowd(*gram))))
}

/// The four bytes in front of a gram and the four behind it, folded.
#[inline]
pub(super) fn around(bytes: &[u8], gram: usize) -> u64 {
    let whole = gram.checked_sub(GRAM).and_then(|from| bytes.get(from..gram.saturating_add(2 * GRAM)));
    let mut out = [0; 2 * GRAM];
    match whole.and_then(|whole| Some((whole.first_chunk::<GRAM>()?, whole.last_chunk::<GRAM>()?))) {
        Some(([a, b, c, d], [e, f, g, h])) => out = [*a, *b, *c, *d, *e, *f, *g, *h],
        None => {
            for (byte, place) in out.iter_mut().zip(places(gram)) {
                *byte = place.and_then(|place| bytes.get(place)).copied().unwrap_or(0);
            }
        }
    }
    u64::from_le_bytes(out) | FOLD
}

/// What stands beyond the blanks at both ends of the word around a gram.
pub(super) fn beyond_word(text: &[u8], gram: usize, (back, ahead): (u32, u32)) -> u64 {
    let front = text.get(..gram.saturating_sub(large(back))).unwrap_or_default();
    let rest = text.get(gram.saturating_add(large(ahead))..).unwrap_or_default();
    let before = span_of(b' ', front.iter().rev()).unwrap_or(0);
    let after = span_of(b' ', rest.iter()).unwrap_or(0);
    around_both(
        front.get(..front.len().saturating_sub(before)).unwrap_or_default(),
        rest.get(after..).unwrap_or_default(),
    )
}

/// The last four bytes of one text and the first four of another, folded.
fn around_both(front: &[u8], rest: &[u8]) -> u64 {
    let mut out = [0; 2 * GRAM];
    let (before, after) = out.split_at_mut(GRAM);
    for (byte, known) in before.iter_mut().rev().zip(front.iter().rev()) {
        *byte = *known;
    }
    for (byte, known) in after.iter_mut().zip(rest) {
        *byte = *known;
    }
    u64::from_le_bytes(out) | FOLD
}

/// Where the bytes around a gram stand.
fn places(gram: usize) -> impl Iterator<Item = Option<usize>> {
    let before = (1..=GRAM).rev().map(move |back| gram.checked_sub(back));
    before.chain((GRAM..2 * GRAM).map(move |ahead| gram.checked_add(ahead)))
}
