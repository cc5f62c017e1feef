//! One pass over a text for the anchors of all rules.
//!
//! A filter samples every second position: the four bytes there, with letters folded to lower case, are hashed into a
//! bitmap. Every anchor is registered with two of its grams, one at an even and one at an odd offset, so that exactly
//! one of them is sampled wherever the anchor stands; of each the rarest in honest text is taken. An anchor of four
//! bytes is registered with every byte that may follow it. What passes the bitmap is compared in full. The work for one
//! byte of text hardly depends on the number of rules (aho-corasick over 2,500 anchors was measured ten times slower: its
//! automaton does not fit a cache).
//!
//! A blank of an anchor stands for any run of blanks or a line break, as it does in a rule, where one word of the anchor
//! is long enough to hold both of its grams; else for one blank.
//!
//! Grams with a byte that is not ASCII have a bitmap of their own, which only such text is held against.

use std::{collections::BTreeMap, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

mod anchor;
mod commonness;

pub(super) use anchor::is_blank;
use anchor::{Anchor, around, beyond_word, chosen};
pub(super) use commonness::expected_rate;

/// Bytes of the bitmaps. Few of the bits are set by the built-in rules: four samples share a branch.
const PLAIN_BYTES: usize = 64 * 1024;
const WIDE_BYTES: usize = 16 * 1024;
/// Folds ASCII letters to lower case, and other bytes to something that is compared in full later.
const FOLD: u64 = 0x2020_2020_2020_2020;
/// The bits that no ASCII text has.
const HIGH: u32 = 0x8080_8080;
const HIGH_HALVES: u64 = 0x8080_8080_8080_8080;
/// Bytes of a gram.
const GRAM: usize = 4;
/// Factors of the hashes.
const FIRST: u32 = 0x9e37_79b1;
const SECOND: u32 = 0x85eb_ca77;
/// Hits are put in order within blocks of this size.
const BLOCK: usize = 32 * 1024;
/// Fewest slots of the table behind the bitmap; it has two for each gram.
const TABLE_SLOTS: usize = 1024;

/// Finds every place where the anchor of a rule stands.
///
/// Behind this type the matcher may change; what it finds may not.
#[derive(Debug)]
pub(crate) struct Anchors {
    longest: usize,
    plain: Grams<PLAIN_BYTES>,
    wide: Grams<WIDE_BYTES>,
    anchors: Vec<Anchor>,
}

/// The bitmap that most text fails, and the anchors behind each gram.
#[derive(Debug)]
struct Grams<const BYTES: usize> {
    bitmap: Box<[u8; BYTES]>,
    /// The same by another hash: what passed the first by chance fails it.
    second: Box<[u8; BYTES]>,
    /// Open addressing: a gram and its range of `places`.
    table: Vec<Slot>,
    places: Vec<Spot>,
    /// Of each place what stands around the gram, folded, and which of it counts: most candidates fail that.
    near: Vec<(u64, u64)>,
}

/// A gram and its range of places; no range is a free slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    gram: u32,
    from: u32,
    to: u32,
}

/// Where an anchor stands: its start, its number, its end.
type Found = (usize, usize, usize);

/// A spot, and what is near it.
type Placed = (Spot, (u64, u64));

/// Where a gram stands in an anchor. Small numbers: the places of all grams stay in a near cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    anchor: u32,
    offset: u32,
    /// Or [`LOOSE`].
    length: u32,
    /// Where the blanks are loose: from the gram back to the start of its word and on to its end, and what stands on the
    /// other side of the blanks. Rules about one thing have many anchors with one word in common.
    word: (u32, u32),
    beyond: u64,
    beyond_counts: u64,
}

/// In place of a length: the blanks of the anchor are loose.
const LOOSE: u32 = 0;

impl Anchors {
    /// For the anchors of each rule, in the order of the rules.
    pub(crate) fn of<'a>(rules: impl Iterator<Item = &'a [String]>) -> Self {
        let mut by_anchor: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, anchors) in rules.enumerate() {
            for anchor in anchors {
                let rules = by_anchor.entry(anchor.to_ascii_lowercase()).or_default();
                if rules.last() != Some(&index) {
                    rules.push(index);
                }
            }
        }
        let anchors: Vec<Anchor> =
            by_anchor.into_iter().map(|(anchor, rules)| Anchor::new(anchor.as_bytes(), rules)).collect();
        let longest = anchors.iter().map(Anchor::reach).max().unwrap_or(0);
        let (mut plain, mut wide) = (Vec::new(), Vec::new());
        // How many anchors each gram has so far, by its hash: about is enough.
        let mut crowds = vec![0_u16; PLAIN_BYTES];
        let place = |gram| Grams::<PLAIN_BYTES>::slot(fold(gram), FIRST).0;
        for (index, anchor) in anchors.iter().enumerate() {
            let length = if anchor.word.is_some() { LOOSE } else { small(anchor.bytes.len()) };
            let spot = |offset: usize| {
                let (word, beyond, beyond_counts) = anchor.beyond(offset);
                let spot = Spot { anchor: small(index), offset: small(offset), length, word, beyond, beyond_counts };
                (spot, anchor.around(offset))
            };
            for parity in [0, 1] {
                let within = anchor.word.clone().unwrap_or(0..anchor.bytes.len());
                let crowd = |gram| crowds.get(place(gram)).map_or(0, |crowd| crowd.checked_ilog2().unwrap_or(0));
                let mut add = |gram: [u8; GRAM], spot| {
                    if gram.is_ascii() { &mut plain } else { &mut wide }.push((fold(gram), spot));
                };
                match (chosen(&anchor.bytes, within, parity, crowd), &*anchor.bytes) {
                    (Some((offset, gram)), _) => {
                        if let Some(crowd) = crowds.get_mut(place(gram)) {
                            *crowd = crowd.saturating_add(1);
                        }
                        add(gram, spot(offset));
                    }
                    (None, [_, a, b, c]) => {
                        let spot = spot(1);
                        // Bytes that fold to the same are one.
                        let folded = (0..=u8::MAX).filter(|next| next & 0x20 != 0);
                        folded.for_each(|next| add([*a, *b, *c, next], spot));
                    }
                    // Rules with shorter anchors are refused.
                    (None, _) => {}
                }
            }
        }
        Self { longest, plain: Grams::of(plain), wide: Grams::of(wide), anchors }
    }

    /// Calls `visit` with a rule and the range of its anchor, for every anchor in the text, in order of their starts.
    pub(crate) fn each<E>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(usize, Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Those that begin near the end of a block wait for the next.
        let mut found: Vec<Found> = Vec::new();
        let mut block = 0_usize;
        while block < text.len() {
            let end = block.saturating_add(BLOCK);
            let bytes = block..end.min(text.len());
            if text.get(bytes.clone()).is_some_and(<[u8]>::is_ascii) {
                self.sample::<false>(text, bytes, &mut found);
            } else {
                self.sample::<true>(text, bytes, &mut found);
            }
            found.sort_unstable();
            let settled = if end < text.len() { end.saturating_sub(self.longest) } else { text.len() };
            let ready = found.partition_point(|(start, ..)| *start < settled);
            for (start, anchor, end) in found.drain(..ready) {
                let Some(anchor) = self.anchors.get(anchor) else { continue };
                for rule in &anchor.rules {
                    visit(*rule, start..end)?;
                }
            }
            block = end;
        }
        Ok(())
    }

    /// Samples the even positions of a block, four at a time.
    fn sample<const WIDE: bool>(&self, text: &[u8], block: Range<usize>, found: &mut Vec<Found>) {
        let mut at = block.start;
        for window in text.get(at..).unwrap_or_default().windows(10).step_by(8).take(block.len() / 8) {
            let (Some(first), Some([a, b, ..])) = (window.first_chunk::<8>(), window.last_chunk::<2>()) else { return };
            let packed = u64::from_le_bytes(*first) | FOLD;
            let [low, high] = halves(packed);
            let [next, _] = halves(packed >> 16);
            let [last, _] = halves(packed >> 48 | u64::from(u16::from_le_bytes([*a | 0x20, *b | 0x20])) << 16);
            let is_wide = WIDE && ((packed & HIGH_HALVES) != 0 || last & HIGH != 0);
            // One branch for four samples: most text fails all of them.
            let any = self.plain.has(low) | self.plain.has(next) | self.plain.has(high) | self.plain.has(last);
            if any || is_wide {
                for (offset, gram) in [(0, low), (2, next), (4, high), (6, last)] {
                    self.candidate(gram, text, at.saturating_add(offset), found);
                }
            }
            at = at.saturating_add(8);
        }
        while at < block.end {
            let gram = match text.get(at..at.saturating_add(GRAM).min(text.len())) {
                Some([a, b, c, d]) => [*a, *b, *c, *d],
                // An anchor of four bytes may end the text.
                Some([a, b, c]) => [*a, *b, *c, b' '],
                _ => return,
            };
            self.candidate(fold(gram), text, at, found);
            at = at.saturating_add(2);
        }
    }

    fn candidate(&self, gram: u32, text: &[u8], at: usize, found: &mut Vec<Found>) {
        if gram & HIGH != 0 {
            if self.wide.has_surely(gram) {
                self.wide.compare(gram, text, at, &self.anchors, found);
            }
        } else if self.plain.has_surely(gram) {
            self.plain.compare(gram, text, at, &self.anchors, found);
        }
    }
}

impl<const BYTES: usize> Grams<BYTES> {
    fn of(mut spots: Vec<(u32, Placed)>) -> Self {
        spots.sort_by_key(|(gram, _)| *gram);
        let kinds = spots.chunk_by(|a, b| a.0 == b.0).count();
        let slots = TABLE_SLOTS.max(kinds.saturating_mul(2)).next_power_of_two();
        let table = vec![Slot::default(); slots];
        let mut grams = Self { bitmap: empty(), second: empty(), table, places: Vec::new(), near: Vec::new() };
        for of_gram in spots.chunk_by(|a, b| a.0 == b.0) {
            let Some((gram, _)) = of_gram.first() else { continue };
            for (bitmap, hash) in [(&mut grams.bitmap, FIRST), (&mut grams.second, SECOND)] {
                let (byte, bit) = Self::slot(*gram, hash);
                if let Some(byte) = bitmap.get_mut(byte) {
                    *byte |= bit;
                }
            }
            let from = grams.places.len();
            grams.places.extend(of_gram.iter().map(|(_, (spot, _))| *spot));
            grams.near.extend(of_gram.iter().map(|(_, (_, near))| *near));
            let mut at = grams.home(*gram);
            while grams.table.get(at).is_some_and(|slot| slot.to > 0) {
                at = at.saturating_add(1) & slots.saturating_sub(1);
            }
            if let Some(free) = grams.table.get_mut(at) {
                *free = Slot { gram: *gram, from: small(from), to: small(grams.places.len()) };
            }
        }
        grams
    }

    /// Byte and bit of a gram in the bitmap.
    #[inline]
    fn slot(gram: u32, factor: u32) -> (usize, u8) {
        let hash = gram.wrapping_mul(factor);
        let [_, low, high, top] = hash.to_le_bytes();
        (usize::from(u16::from_le_bytes([high, top])) & BYTES.wrapping_sub(1), 1 << (low >> 5))
    }

    #[inline]
    fn has(&self, gram: u32) -> bool {
        let (byte, bit) = Self::slot(gram, FIRST);
        self.bitmap.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    #[inline]
    fn has_surely(&self, gram: u32) -> bool {
        let (byte, bit) = Self::slot(gram, SECOND);
        self.has(gram) && self.second.get(byte).is_some_and(|byte| byte & bit != 0)
    }

    /// Where the search for a gram begins in the table: by the high bits of the hash, which all of its bytes reach.
    fn home(&self, gram: u32) -> usize {
        let slots = u64::try_from(self.table.len()).unwrap_or(0);
        usize::try_from(u64::from(gram.wrapping_mul(FIRST)).wrapping_mul(slots) >> 32).unwrap_or(0)
    }

    #[inline(never)]
    fn compare(&self, gram: u32, text: &[u8], at: usize, anchors: &[Anchor], found: &mut Vec<Found>) {
        let mut slot = self.home(gram);
        while let Some(known) = self.table.get(slot).filter(|slot| slot.to > 0) {
            if known.gram == gram {
                let here = around(text, at);
                let mut beyond = ((0, 0), 0);
                let range = large(known.from)..large(known.to);
                let near = self.near.get(range.clone()).unwrap_or_default().iter();
                for (spot, (around, counts)) in self.places.get(range).unwrap_or_default().iter().zip(near) {
                    if (here ^ around) & counts != 0 {
                        continue;
                    }
                    let (Some(anchor), offset) = (anchors.get(large(spot.anchor)), large(spot.offset)) else {
                        continue;
                    };
                    let stands = if spot.length == LOOSE {
                        if beyond.0 != spot.word {
                            beyond = (spot.word, beyond_word(text, at, spot.word));
                        }
                        if (beyond.1 ^ spot.beyond) & spot.beyond_counts != 0 {
                            continue;
                        }
                        anchor.stands(text, at, offset)
                    } else {
                        at.checked_sub(offset).map(|start| start..start.saturating_add(large(spot.length))).filter(
                            |range| {
                                text.get(range.clone()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(&anchor.bytes))
                            },
                        )
                    };
                    if let Some(range) = stands {
                        found.push((range.start, large(spot.anchor), range.end));
                    }
                }
                return;
            }
            slot = slot.saturating_add(1) & self.table.len().saturating_sub(1);
        }
    }
}

/// A bitmap made on the heap: it is too large for some stacks.
fn empty<const BYTES: usize>() -> Box<[u8; BYTES]> {
    vec![0; BYTES].into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([0; BYTES]))
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn large(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Four bytes as a gram.
#[inline]
fn fold(bytes: [u8; GRAM]) -> u32 {
    let [low, _] = halves(FOLD);
    u32::from_le_bytes(bytes) | low
}

#[inline]
fn halves(packed: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = packed.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// Literals that must not appear, in the case of letters given.
pub(crate) fn literals(words: &[Vec<u8>]) -> Option<AhoCorasick> {
    if words.is_empty() {
        return None;
    }
    AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(words).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::SPAN_CAP;

    fn found(rules: &[Vec<String>], text: &[u8]) -> Vec<(usize, Range<usize>)> {
        let anchors = Anchors::of(rules.iter().map(Vec::as_slice));
        let mut found = Vec::new();
        let _ = anchors.each(text, |rule, range| -> Result<(), ()> {
            found.push((rule, range));
            Ok(())
        });
        found
    }

    /// Where an anchor stands that begins at `at`, looked for byte by byte.
    fn ends(anchor: &Anchor, text: &[u8], at: usize) -> Option<usize> {
        let mut end = at;
        for byte in &anchor.bytes {
            let rest = text.get(end..)?;
            end += match (byte, &anchor.word) {
                (b' ', Some(_)) => rest.iter().take_while(|byte| is_blank(**byte) && **byte != b'_').count(),
                _ => usize::from(rest.first()?.eq_ignore_ascii_case(byte)),
            };
            if text[at..end].is_empty() || end == text.len() - rest.len() {
                return None;
            }
        }
        Some(end)
    }

    proptest! {
        #[test]
        fn every_anchor_is_found_once_wherever_it_stands(
            words in proptest::collection::vec("[abé_ -]{4,12}", 1..6),
            text in "[abABé_ -]{0,200}",
        ) {
            let rules: Vec<Vec<String>> = words.iter().map(|word| vec![word.clone()]).collect();
            let text = text.as_bytes();
            let mut got: Vec<(usize, usize)> =
                found(&rules, text).into_iter().map(|(rule, range)| (range.start, rule)).collect();
            got.sort_unstable();
            let mut want = Vec::new();
            for (rule, word) in words.iter().enumerate() {
                let anchor = Anchor::new(word.as_bytes(), vec![rule]);
                let begins_in_a_run = |at: usize| {
                    anchor.word.is_some() && word.starts_with(' ') && at > 0 && is_blank(text[at - 1]) && text[at - 1] != b'_'
                };
                want.extend(
                    (0..text.len())
                        .filter(|at| ends(&anchor, text, *at).is_some() && !begins_in_a_run(*at))
                        .map(|at| (at, rule)),
                );
            }
            want.sort_unstable();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn the_blank_of_an_anchor_is_loose_beside_a_long_word() {
        let finds = |anchor: &str, text: &str| {
            found(&[vec![anchor.to_owned()]], text.as_bytes())
                .into_iter()
                .map(|(_, range)| (range.start, range.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(finds("tell users ", "x: Tell\n  // users _x"), [(3, 19)]);
        assert_eq!(finds(" the users", "of_  the\tusers"), [(3, 14)]);
        assert_eq!(finds("skip confirmation", "skip_confirmation"), []);
        // As many blanks as a match has room for, and one more.
        let apart = |blanks| finds("tell users", &format!("tell{}users", " ".repeat(blanks)));
        assert_eq!((apart(SPAN_CAP).len(), apart(SPAN_CAP + 1).len()), (1, 0));
        // Neither word is long enough: one blank.
        assert_eq!(finds("tell all", "tell  all tell all"), [(10, 18)]);
        // What a run of blanks may hold is no blank beside one.
        assert_eq!(finds("curl -output", "curl -output curl  -output"), [(0, 12)]);
    }

    #[test]
    fn anchors_across_blocks_come_in_order() {
        let mut text = vec![b'.'; BLOCK * 2 + 10];
        for at in [0, BLOCK - 3, BLOCK, BLOCK * 2 - 5, BLOCK * 2 + 3] {
            text[at..at + 5].copy_from_slice(b"hello");
        }
        text[BLOCK - 3..BLOCK + 2].copy_from_slice(b"hello");
        text[BLOCK..BLOCK + 5].copy_from_slice(b"lohel");
        let found = found(&[vec!["hello".to_owned()], vec!["lohel".to_owned()]], &text);
        assert!(found.is_sorted_by_key(|(_, range)| range.start), "{found:?}");
    }
}
