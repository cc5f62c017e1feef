//! The words around a number, which say what it is. Each byte of a text is read for them once, however many numbers
//! ask, so a flood of right numbers cannot make the next one go unasked.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
    sync::LazyLock,
};

use aho_corasick::AhoCorasick;

use super::{card, national};

/// Bytes in front of a number, and behind it, in which a word may say what it is.
const BEFORE: usize = 64;
const BEHIND: usize = 24;
/// The first line names the columns of a table.
const HEADING: usize = 512;
/// Numbers are asked about in the order of the text, but one may begin with letters before its digits.
const LEAD: usize = 64;
/// No word known here is longer.
const LONGEST: usize = 32;

/// Kinds of numbers as bits: cards, then national ids in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u32);

impl Kinds {
    pub(super) const CARD: Self = Self(1);

    /// The national id with that place in its list.
    pub(super) fn national(place: usize) -> Self {
        let shift = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
        Self(1_u32.checked_shl(shift).unwrap_or(0))
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A word that says something.
#[derive(Clone, Copy, Debug)]
struct Word {
    start: usize,
    end: usize,
    kinds: Kinds,
}

/// The words known here, and what each says.
struct Known {
    /// Sorted, in small letters.
    words: Vec<(&'static str, Kinds)>,
    /// Words in another script than Latin may be anywhere in a run of letters: such scripts may have no blanks.
    anywhere: Option<AhoCorasick>,
    anywhere_kinds: Vec<Kinds>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let lists = [(Kinds::CARD, card::WORDS)].into_iter().chain(national::words());
    let mut all: BTreeMap<&'static str, u32> = BTreeMap::new();
    for (kind, words) in lists {
        for word in words {
            *all.entry(word).or_insert(0) |= kind.0;
        }
    }
    let (ascii, other): (Vec<_>, Vec<_>) =
        all.into_iter().map(|(word, kinds)| (word, Kinds(kinds))).partition(|(word, _)| word.is_ascii());
    let anywhere = AhoCorasick::builder().ascii_case_insensitive(true).build(other.iter().map(|(word, _)| *word)).ok();
    Known { words: ascii, anywhere, anywhere_kinds: other.into_iter().map(|(_, kinds)| kinds).collect() }
});

/// A text being asked for what its numbers are.
#[derive(Debug)]
pub(super) struct Around<'t> {
    text: &'t [u8],
    /// How far it was read for words.
    read_to: usize,
    /// Words since shortly before the last number.
    words: VecDeque<Word>,
    /// Those of the first line, read when first asked for.
    heading: Option<Vec<Word>>,
}

impl<'t> Around<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        Self { text, read_to: 0, words: VecDeque::new(), heading: None }
    }

    /// Whether one of the words of a kind stands close to the range, or in the first line, as a word of its own: the
    /// word `pan` is not in `company`.
    pub(super) fn says(&mut self, range: &Range<usize>, kind: Kinds) -> bool {
        let before = range.start.saturating_sub(BEFORE);
        let behind = range.end.saturating_add(BEHIND);
        self.read(before.saturating_sub(LEAD), behind);
        let is_close = |word: &Word| {
            (word.start >= before && word.end <= range.start) || (word.start >= range.end && word.end <= behind)
        };
        if self.words.iter().any(|word| word.kinds.has(kind) && is_close(word)) {
            return true;
        }
        let text = self.text;
        let heading = self.heading.get_or_insert_with(|| {
            let line = text.get(..HEADING).unwrap_or(text).split(|byte| *byte == b'\n').next().unwrap_or_default();
            let mut words = VecDeque::new();
            read_words(line, 0, line.len(), &mut words);
            words.into()
        });
        heading.iter().any(|word| word.kinds.has(kind) && word.end <= before)
    }

    /// Reads on for words, from `from` at the earliest up to `to`; forgets those before.
    fn read(&mut self, from: usize, to: usize) {
        while self.words.front().is_some_and(|word| word.end < from) {
            self.words.pop_front();
        }
        let start = self.read_to.max(from);
        if start < to {
            self.read_to = read_words(self.text, start, to, &mut self.words);
        }
    }
}

/// Notes every known word that begins from `start` on and before `to`; comes back with the end of the last one. `_`,
/// digits and a capital behind a small letter end a word.
fn read_words(text: &[u8], start: usize, to: usize, words: &mut VecDeque<Word>) -> usize {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte >= 0x80;
    let is_within = |at: usize| at.checked_sub(1).and_then(|at| text.get(at)).is_some_and(|byte| is_letter(*byte));
    let mut is_cut = is_within(start);
    let mut at = start;
    while at < to {
        let rest = text.get(at..).unwrap_or_default();
        let Some(first) = rest.first() else { break };
        if !is_letter(*first) {
            at = at.saturating_add(1);
            is_cut = false;
            continue;
        }
        let mut last = b'A';
        let length = rest
            .iter()
            .take_while(|byte| {
                let new_word = last.is_ascii_lowercase() && byte.is_ascii_uppercase();
                last = **byte;
                is_letter(**byte) && !new_word
            })
            .count()
            .max(1);
        note(rest.get(..length).unwrap_or_default(), at, is_cut, words);
        at = at.saturating_add(length);
        is_cut = false;
    }
    at
}

/// Notes a word if it is known. Of one that `is_cut` the beginning was not seen.
fn note(word: &[u8], at: usize, is_cut: bool, words: &mut VecDeque<Word>) {
    let known = &*KNOWN;
    if !word.is_ascii() {
        for found in known.anywhere.iter().flat_map(|known| known.find_iter(word)) {
            if let Some(kinds) = known.anywhere_kinds.get(found.pattern().as_usize()) {
                let (start, end) = (at.saturating_add(found.start()), at.saturating_add(found.end()));
                words.push_back(Word { start, end, kinds: *kinds });
            }
        }
        return;
    }
    if is_cut || word.len() > LONGEST {
        return;
    }
    let lower = word.iter().map(u8::to_ascii_lowercase);
    if let Ok(found) = known.words.binary_search_by(|(known, _)| known.bytes().cmp(lower.clone()))
        && let Some((_, kinds)) = known.words.get(found)
    {
        words.push_back(Word { start: at, end: at.saturating_add(word.len()), kinds: *kinds });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str, number: &str, kind: Kinds) -> bool {
        let start = text.find(number).unwrap();
        Around::of(text.as_bytes()).says(&(start..start + number.len()), kind)
    }

    #[test]
    fn words_count_as_far_as_they_reach() {
        let far = |blanks: usize| format!("x\n{}card{}123", "-".repeat(600), " ".repeat(blanks));
        assert!(says(&far(BEFORE - 4), "123", Kinds::CARD));
        assert!(!says(&far(BEFORE - 3), "123", Kinds::CARD));
        let behind = |blanks: usize| format!("123{}card", " ".repeat(blanks));
        assert!(says(&behind(BEHIND - 4), "123", Kinds::CARD));
        assert!(!says(&behind(BEHIND - 3), "123", Kinds::CARD));
        let heading = |blanks: usize| format!("{}card\n{}123", "-".repeat(blanks), "-".repeat(600));
        assert!(says(&heading(HEADING - 4), "123", Kinds::CARD));
        assert!(!says(&heading(HEADING - 3), "123", Kinds::CARD));
    }

    #[test]
    fn words_are_whole() {
        for text in ["card 123", "CARD_NO=123", "cardNumber 123", "my_card:123", "カード番号は123", "これは信用卡123"]
        {
            assert!(says(text, "123", Kinds::CARD), "{text}");
        }
        for text in ["discard 123", "cards123card4x", "cardx 123", "company 123"] {
            assert_eq!(says(text, "123", Kinds::CARD), text.starts_with("cards"), "{text}");
        }
        let cut = format!("{}card 123", "x".repeat(BEFORE + LEAD - 5));
        assert!(!says(&cut, "123", Kinds::CARD));
        assert!(!says("card 123", "123", Kinds::national(0)));
    }

    #[test]
    fn every_number_is_asked_in_turn() {
        let text = "card 11 22 33 44 55 66 77 88 99 ssn 11";
        let mut around = Around::of(text.as_bytes());
        let all: Vec<bool> = text
            .match_indices(|character: char| character.is_ascii_digit())
            .step_by(2)
            .map(|(at, _)| around.says(&(at..at + 2), Kinds::CARD))
            .collect();
        assert_eq!(all, [true; 10]);
    }
}
