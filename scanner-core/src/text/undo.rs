//! Text disguised letter by letter: spaced out, leet, rot13, reversed, one word a line, in cells, in typos.
//!
//! Each disguise is undone only in lines that show its marks: words that no language has but that the disguise makes
//! of the commonest words of English.

use std::ops::Range;

use super::{
    derive::{Builder, Derived},
    mention,
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    sequence::introduced,
    view::OffsetMap,
};

mod tidied;
mod words;

use tidied::{TELLING, tidied};
use words::{segment, spell};

type Undo = fn(&[u8], &Marks, &mut Budget, &mut Vec<Derived>) -> Result<(), Stop>;

/// Every disguise.
const ALL: &[Undo] = &[unescaped, spaced, leet, rot13, reversed, tidied];

/// All views of a text with a disguise undone.
pub(super) fn views(text: &[u8], marks: &Marks, budget: &mut Budget) -> Result<Vec<Derived>, Stop> {
    let mut views = Vec::new();
    for undo in ALL {
        undo(text, marks, budget, &mut views)?;
    }
    Ok(views)
}

/// Where the marks of the disguises stand; noted in the one pass that looks for the anchors of all rules.
#[derive(Debug, Default)]
pub(super) struct Marks {
    kinds: [Vec<usize>; KINDS],
    /// Telling words: where, and which.
    tells: Vec<(usize, usize)>,
}

/// Leet, rot13, reversed, words of documents about attacks; behind them each telling word is a kind of its own.
const KINDS: usize = 4;
const LEET: usize = 0;
const TURNED: usize = 1;
const MIRRORED: usize = 2;
const SUBJECT: usize = 3;

impl Marks {
    /// The literals of each kind.
    pub(super) fn literals() -> Vec<Vec<String>> {
        let owned = |marks: &[&str]| marks.iter().map(|mark| (*mark).to_owned()).collect();
        let mut literals = vec![words::leet_forms(), owned(ROT13), owned(REVERSED), owned(mention::SUBJECT)];
        literals.extend(TELLING.iter().map(|word| owned(word)));
        literals
    }

    /// Notes a mark. Marks close behind another one of their kind add nothing.
    pub(super) fn note(&mut self, kind: usize, at: usize) {
        match (self.kinds.get_mut(kind), kind.checked_sub(KINDS)) {
            (Some(places), _) => {
                if places.last().is_none_or(|last| at >= last.saturating_add(CLOSE)) {
                    places.push(at);
                }
            }
            (None, Some(word)) => {
                if self.tells.last().is_none_or(|last| last.1 != word || at >= last.0.saturating_add(CLOSE)) {
                    self.tells.push((at, word));
                }
            }
            (None, None) => {}
        }
    }

    /// Whether a text names attacks on models.
    pub(super) fn names_subject(&self) -> bool {
        !self.of(SUBJECT).is_empty()
    }

    fn of(&self, kind: usize) -> &[usize] {
        self.kinds.get(kind).map_or(&[], Vec::as_slice)
    }
}

/// Marks of one kind nearer than this are one.
const CLOSE: usize = 8;

fn builder() -> Builder {
    Builder::paying(Resource::NormalizedBytes)
}

/// A line is looked at in pieces of at most that size.
const PIECE: usize = 4096;

/// The line around an offset, at most [`PIECE`] bytes to each side.
fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let from = at.saturating_sub(PIECE);
    let before = text.get(from..at).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(from, |newline| from.saturating_add(newline).saturating_add(1));
    let to = at.saturating_add(PIECE).min(text.len());
    let after = text.get(at..to).unwrap_or_default();
    start..memchr::memchr(b'\n', after).map_or(to, |newline| at.saturating_add(newline))
}

/// Lines with terminal sequences, without them: colours and concealment stand inside of sentences.
fn unescaped(text: &[u8], _: &Marks, budget: &mut Budget, views: &mut Vec<Derived>) -> Result<(), Stop> {
    let mut out = builder();
    let mut at = 0_usize;
    let mut from = 0_usize;
    while let Some(escape) =
        text.get(from..).and_then(|rest| memchr::memchr(0x1b, rest)).map(|more| from.saturating_add(more))
    {
        let line = line_around(text, escape);
        if line.start > at {
            out.cut(line.start, budget)?;
            at = line.start;
        }
        out.push(text.get(at..escape).unwrap_or_default(), at..escape, budget)?;
        at = sequence_end(text, escape);
        from = at;
        // The rest of the line, up to its next sequence.
        let next = text
            .get(at..)
            .and_then(|rest| memchr::memchr(0x1b, rest))
            .map_or(text.len(), |more| at.saturating_add(more));
        let end = line_around(text, at).end.max(at).min(next);
        out.push(text.get(at..end).unwrap_or_default(), at..end, budget)?;
        at = end;
    }
    views.extend(out.done(text.len(), "terminal sequences", true, budget)?);
    Ok(())
}

/// Where a sequence ends: CSI at its final byte, strings at their terminator, others after two bytes.
fn sequence_end(text: &[u8], start: usize) -> usize {
    let about = introduced(text, start.saturating_add(1));
    let begins = about.saturating_add(1).min(text.len());
    let body = text.get(begins..text.len().min(begins.saturating_add(256))).unwrap_or_default();
    let length = match text.get(about) {
        // Another one begins.
        Some(0x1b) => return about,
        Some(b'[') => body.iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at.saturating_add(1)),
        Some(b']' | b'P' | b'^' | b'_' | b'X') => body.iter().position(|byte| matches!(byte, 0x07 | 0x1b)),
        _ => Some(0),
    };
    begins.saturating_add(length.unwrap_or(0)).min(text.len())
}

/// `i g n o r e`, `i.g.n.o.r.e`, `i-g-n-o-r-e`: single letters with one and the same separator between them, eight or
/// more. Wider gaps are between words; where there are none the words are found by a word list.
fn spaced(text: &[u8], _: &Marks, budget: &mut Budget, views: &mut Vec<Derived>) -> Result<(), Stop> {
    const LETTERS_FEWEST: usize = 8;
    let mut out = builder();
    let mut at = 0_usize;
    while let Some(start) = next_spaced(text, at) {
        let separator = text.get(start.saturating_add(1)).copied().unwrap_or(b' ');
        let start = spaced_start(text, start, separator, at);
        let mut letters: Vec<(usize, u8)> = Vec::new();
        let mut wide = false;
        let mut here = start;
        while let Some(byte) = text.get(here).copied().filter(|byte| byte.is_ascii_graphic() && *byte != separator) {
            letters.push((here, byte));
            let rest = text.get(here.saturating_add(1)..).unwrap_or_default();
            let gap = rest.iter().take(9).take_while(|byte| **byte == separator || **byte == b' ').count();
            let next = rest.get(gap).copied();
            if gap == 0 || gap > 8 || next.is_none_or(|next| !next.is_ascii_graphic()) {
                break;
            }
            let is_wide = gap > 1;
            if is_wide {
                wide = true;
                letters.push((here.saturating_add(1), b' '));
            }
            here = here.saturating_add(1).saturating_add(gap);
            if letters.len() > PIECE {
                break;
            }
        }
        at = letters.last().map_or(start, |(last, _)| *last).saturating_add(1).max(start.saturating_add(1));
        let alphabetic = letters.iter().filter(|(_, byte)| byte.is_ascii_alphabetic()).count();
        if alphabetic < LETTERS_FEWEST || alphabetic.saturating_mul(10) < letters.len().saturating_mul(6) {
            continue;
        }
        out.cut(start, budget)?;
        let cuts = if wide { Vec::new() } else { segment(&letters.iter().map(|(_, byte)| *byte).collect::<Vec<u8>>()) };
        for (index, (source, byte)) in letters.iter().enumerate() {
            if cuts.binary_search(&index).is_ok() {
                out.push(b" ", *source..*source, budget)?;
            }
            out.push(&[*byte], *source..source.saturating_add(1), budget)?;
        }
    }
    views.extend(out.done(text.len(), "spaced out", true, budget)?);
    Ok(())
}

/// Where a run of single letters really begins: words of two letters in front of it are not seen by [`next_spaced`].
fn spaced_start(text: &[u8], found: usize, separator: u8, limit: usize) -> usize {
    let mut start = found;
    for _ in 0..64 {
        let before = text.get(limit..start).unwrap_or_default();
        let gap = before.iter().rev().take(9).take_while(|byte| **byte == separator || **byte == b' ').count();
        let letter = before.len().checked_sub(gap.saturating_add(1)).and_then(|at| before.get(at));
        let farther = before.len().checked_sub(gap.saturating_add(2)).and_then(|at| before.get(at)).copied();
        let alone = farther.is_none_or(|byte| byte == separator || byte == b' ' || !byte.is_ascii_graphic());
        if gap == 0 || gap > 8 || !alone || !letter.is_some_and(u8::is_ascii_graphic) {
            break;
        }
        start = start.saturating_sub(gap.saturating_add(1));
    }
    start
}

/// Where letter, separator, letter, separator, letter, separator, letter begins.
fn next_spaced(text: &[u8], from: usize) -> Option<usize> {
    let mut from = from;
    while let Some(stretch) = next_spaced_stretch(text, from) {
        if let Some(found) = spaced_within(text, stretch.clone()) {
            return Some(found);
        }
        from = stretch.end;
    }
    None
}

/// The next stretch in which a run of single letters may begin. Whole blocks at a time, without a way out in the middle:
/// that runs at memory speed.
fn next_spaced_stretch(text: &[u8], from: usize) -> Option<Range<usize>> {
    const BLOCK: usize = 256;
    // A run begins one letter in front of its first separator.
    let [here, second, third, fourth, fifth] = [1, 2, 3, 4, 5].map(|ahead| text.get(from.saturating_add(ahead)..));
    let ahead = [second?, third.unwrap_or_default(), fourth.unwrap_or_default(), fifth.unwrap_or_default()];
    for (block, first) in here?.chunks(BLOCK).enumerate() {
        let at = block.saturating_mul(BLOCK);
        let [second, third, fourth, fifth] = ahead.map(|ahead| ahead.get(at..).unwrap_or_default());
        let windows = first.iter().zip(second).zip(third).zip(fourth).zip(fifth);
        let is_letter = |byte: u8| ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10);
        let any = windows.fold(false, |any, ((((a, b), c), d), e)| {
            any | ((a == c) & (c == e) & is_letter(*b) & is_letter(*d) & !is_letter(*a))
        });
        if any {
            let start = from.saturating_add(at);
            return Some(start..start.saturating_add(BLOCK));
        }
    }
    None
}

/// The first such run that begins in a stretch.
fn spaced_within(text: &[u8], stretch: Range<usize>) -> Option<usize> {
    let mut at = stretch.start;
    while at < stretch.end {
        let [a, s, b, t, c, u, d] = text.get(at..)?.first_chunk()?;
        // Of two neighbours in such a run one is a letter and the other is not: in words both are, and it jumps.
        if t.is_ascii_alphanumeric() && c.is_ascii_alphanumeric() {
            at = at.saturating_add(4);
            continue;
        }
        let separates = matches!(t, b' ' | b'.' | b'-' | b'_' | b'*' | b'|' | b'/' | b',' | b'~' | b'+');
        if separates && s == t && t == u && [a, b, c, d].iter().all(|letter| letter.is_ascii_alphanumeric()) {
            let before = at.checked_sub(1).and_then(|last| text.get(last)).copied().unwrap_or(b' ');
            if !before.is_ascii_alphanumeric() {
                return Some(at);
            }
        }
        at = at.saturating_add(1);
    }
    None
}

/// `1gn0r3 4ll pr3v10u5`: lines with three or more words of letters and digits of leet.
fn leet(text: &[u8], marks: &Marks, budget: &mut Budget, views: &mut Vec<Derived>) -> Result<(), Stop> {
    const WORDS_FEWEST: usize = 3;
    let mut out = builder();
    let mut from = 0_usize;
    for mark in marks.of(LEET) {
        if *mark < from {
            continue;
        }
        let line = line_around(text, *mark);
        // A sentence may go on over lines.
        let line = line.start.max(from)..line_around(text, line.end.saturating_add(1).min(text.len())).end;
        from = line.end.max(mark.saturating_add(1));
        let bytes = text.get(line.clone()).unwrap_or_default();
        let words: Vec<Range<usize>> = leet_words(bytes);
        let mixed = words.iter().filter(|word| is_leet(bytes.get((*word).clone()).unwrap_or_default())).count();
        if mixed < WORDS_FEWEST {
            continue;
        }
        out.cut(line.start, budget)?;
        let mut at = 0_usize;
        for word in words {
            copy(bytes, at..word.start, line.start, &mut out, budget)?;
            let source = bytes.get(word.clone()).unwrap_or_default();
            let plain = spell(source);
            let base = line.start.saturating_add(word.start);
            out.push(&plain, base..base.saturating_add(source.len()), budget)?;
            at = word.end;
        }
        copy(bytes, at..bytes.len(), line.start, &mut out, budget)?;
    }
    views.extend(out.done(text.len(), "leet", true, budget)?);
    Ok(())
}

fn copy(bytes: &[u8], range: Range<usize>, base: usize, out: &mut Builder, budget: &mut Budget) -> Result<(), Stop> {
    let source = base.saturating_add(range.start)..base.saturating_add(range.end);
    out.push(bytes.get(range).unwrap_or_default(), source, budget)
}

fn leet_words(line: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start: Option<usize> = None;
    for (at, byte) in line.iter().enumerate() {
        let inside = byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'$' | b'!' | b'|');
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| from..line.len()));
    words
}

/// Letters and leet digits, both, and no hexadecimal number.
fn is_leet(word: &[u8]) -> bool {
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = word.iter().filter(|byte| matches!(byte, b'0'..=b'9' | b'@' | b'$' | b'!' | b'|')).count();
    (2..=16).contains(&word.len())
        && letters >= 1
        && digits >= 1
        && !word.iter().any(|byte| matches!(byte, b'2' | b'6'))
        && !(word.len() >= 6 && word.iter().all(u8::is_ascii_hexdigit))
}

/// The lines of marks in which two different ones stand.
fn marked(text: &[u8], places: &[usize], marks: &[&str]) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut from = 0_usize;
    for at in places {
        if *at < from {
            continue;
        }
        let line = line_around(text, *at);
        let line = line.start.max(from)..line.end;
        from = line.end.max(at.saturating_add(1));
        let bytes = text.get(line.clone()).unwrap_or_default().to_ascii_lowercase();
        let kinds = marks.iter().filter(|mark| memchr::memmem::find(&bytes, mark.as_bytes()).is_some()).take(2).count();
        if kinds >= 2 {
            lines.push(line);
        }
    }
    lines
}

/// The commonest words of English in rot13.
const ROT13: &[&str] = &[
    "gur ",
    "naq ",
    "lbh ",
    "lbhe",
    "jvgu",
    "vafgehpg",
    "cebzcg",
    "vtaber",
    "cerivbhf",
    "nffvfgnag",
    "fraq",
    "erirny",
    "qryrgr",
    "hfre ",
    "hfref",
    "flfgrz",
    "abg ",
    "sbe ",
    "guvf",
    "gung",
    "sebz",
    "eha ",
    "cevag",
    "zhfg",
    "fubhyq",
    "uggc",
    "cyrnfr",
    "ercyl",
    "jvgubhg",
    "nyy ",
    "phey",
    "zrffntr",
    "vzcbegnag",
    "gryy",
    "sbetrg",
    "qvfertneq",
];

fn rot13(text: &[u8], marks: &Marks, budget: &mut Budget, views: &mut Vec<Derived>) -> Result<(), Stop> {
    let mut out = builder();
    for line in marked(text, marks.of(TURNED), ROT13) {
        out.cut(line.start, budget)?;
        let bytes: Vec<u8> = text.get(line.clone()).unwrap_or_default().iter().map(|byte| turned(*byte)).collect();
        out.push(&bytes, line.clone(), budget)?;
    }
    views.extend(out.done(text.len(), "rot13", true, budget)?);
    Ok(())
}

fn turned(byte: u8) -> u8 {
    match byte {
        b'a'..=b'm' | b'A'..=b'M' => byte.wrapping_add(13),
        b'n'..=b'z' | b'N'..=b'Z' => byte.wrapping_sub(13),
        _ => byte,
    }
}

/// The commonest words of English, read backwards.
const REVERSED: &[&str] = &[
    "eht ",
    " eht",
    " dna",
    " uoy",
    "uoy ",
    "snoitcurtsni",
    "tpmorp",
    "erongi",
    "suoiverp",
    "tnatsissa",
    " dnes",
    " laever",
    "metsys",
    "resu ",
    "eteled",
    " siht",
    "siht ",
    "ton ",
    " hti",
    "//:ptth",
    "//:sptth",
    " tsum",
    "nur ",
    "lruc",
    "egassem",
    "tuohtiw",
    " esaelp",
    " llet",
    "llet ",
    "wonk ",
    "tegrof",
    "drager",
];

fn reversed(text: &[u8], marks: &Marks, budget: &mut Budget, views: &mut Vec<Derived>) -> Result<(), Stop> {
    for line in marked(text, marks.of(MIRRORED), REVERSED) {
        let bytes = text.get(line.clone()).unwrap_or_default();
        let mut mirrored: Vec<u8> = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            let mut part: Vec<u8> = chunk.invalid().to_vec();
            part.extend(chunk.valid().chars().rev().collect::<String>().into_bytes());
            part.append(&mut mirrored);
            mirrored = part;
        }
        budget.spend(Resource::NormalizedBytes, u64::try_from(mirrored.len()).unwrap_or(u64::MAX))?;
        let within = crate::finding::Span {
            start: u64::try_from(line.start).unwrap_or(u64::MAX),
            end: u64::try_from(line.end).unwrap_or(u64::MAX),
        };
        views.push(Derived { text: mirrored, map: OffsetMap::Within(within), layer: "reversed", only_injection: true });
    }
    Ok(())
}
