//! The regex of a rule: words put in, blanks made loose, compiled when first needed.

use std::{error::Error, fmt, ops::Range, sync::OnceLock};

use regex_automata::{
    Anchored, Input,
    hybrid::dfa::{Cache, DFA},
    meta::Regex,
    nfa::thompson::{NFA, WhichCaptures},
    util::{captures::Captures, pool::Pool, syntax},
};
use regex_syntax::hir::{
    Hir, Look,
    literal::{ExtractKind, Extractor},
};

use super::required::{parsed, told};

/// A match reads at most that far: a rule is about one statement, and every anchor may cost that much.
pub(crate) const SPAN_CAP: usize = 512;
/// Largest compiled automaton of one rule. The built-in ones need a tenth.
const NFA_BYTES: usize = 4 * 1024 * 1024;
/// Cache of one rule's lazy automaton, for each thread that uses it. It is cleared when full.
const CACHE_BYTES: usize = 1024 * 1024;
/// What a blank of a rule stands for: blanks as people and programs put them, or one line break with what comments,
/// quotes and tables put before the next line. Runs are not counted here: the span of a match is.
const BLANK: &str = r"(?:(?:[ \t_]|\xC2\xA0)+|[ \t]*\\?\r?\n[ \t>#*/|;-]*)";

/// A regex, compiled when first needed. Only the forward automaton is built: a match is looked for where it begins.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: String,
    case: bool,
    first: OnceLock<First>,
    compiled: OnceLock<Option<Compiled>>,
    groups: OnceLock<Option<Regex>>,
}

/// Built on first use, one cache for each thread that uses it at the same time.
struct Compiled {
    dfa: DFA,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync>>,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

/// What a match may begin with.
#[derive(Debug)]
struct First {
    bytes: Box<[bool; 256]>,
    /// It begins at the start of a word.
    word: bool,
    /// A bit for each three letters it may begin with, where these are few: of the words that begin with the first letter
    /// of a verb, few are that verb.
    heads: Option<Box<[u8; HEAD_BYTES]>>,
}

/// Bytes of the bitmap of heads; one in twenty bits is set where a rule knows a hundred verbs.
const HEAD_BYTES: usize = 256;
/// Letters of a head, and most heads of a rule.
const HEAD: usize = 3;
const HEADS_MOST: usize = 256;

impl Pattern {
    /// A pattern from the text of a rule, in which a blank is a loose blank.
    pub(crate) fn new(regex: &str, case: bool) -> Self {
        Self { source: loose(regex), case, first: OnceLock::new(), compiled: OnceLock::new(), groups: OnceLock::new() }
    }

    /// Compiles now.
    pub(crate) fn compile(&self) -> Result<(), String> {
        let compiled = self.build()?;
        // Another thread may have been faster; both are the same.
        let _ = self.compiled.set(Some(compiled));
        Ok(())
    }

    /// Whether it cannot be compiled. A test keeps the built-in rules from being so.
    pub(crate) fn is_broken(&self) -> bool {
        self.compiled().is_none()
    }

    fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get_or_init(|| self.build().ok()).as_ref()
    }

    fn syntax(&self) -> syntax::Config {
        syntax::Config::new().unicode(false).utf8(false).case_insensitive(!self.case)
    }

    fn build(&self) -> Result<Compiled, String> {
        let nfa = NFA::compiler()
            .syntax(self.syntax())
            .configure(
                NFA::config()
                    .utf8(false)
                    .shrink(false)
                    .which_captures(WhichCaptures::None)
                    .nfa_size_limit(Some(NFA_BYTES)),
            )
            .build(&self.source)
            .map_err(reason)?;
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .cache_capacity(CACHE_BYTES)
                    .skip_cache_capacity_check(true)
                    // It must not give up: the budget counts the work, not the automaton.
                    .minimum_cache_clear_count(None),
            )
            .build_from_nfa(nfa)
            .map_err(reason)?;
        let of = dfa.clone();
        Ok(Compiled { dfa, caches: Pool::new(Box::new(move || of.create_cache())) })
    }

    /// The first match that begins in a range, of at most [`SPAN_CAP`] bytes. `tried` counts the places where one could
    /// have begun.
    pub(crate) fn begins_in(&self, text: &[u8], starts: Range<usize>, tried: &mut u32) -> Option<Range<usize>> {
        let first = self.first.get_or_init(|| First::of(&self.source));
        let mut starts = starts.filter(|start| first.fits(text, *start)).peekable();
        starts.peek()?;
        let compiled = self.compiled()?;
        let mut cache = compiled.caches.get();
        starts.find_map(|start| {
            *tried = tried.saturating_add(1);
            let span = start..start.saturating_add(SPAN_CAP).min(text.len());
            let input = Input::new(text).span(span).anchored(Anchored::Yes);
            // An automaton of bytes without Unicode neither quits nor gives up.
            let end = compiled.dfa.try_search_fwd(&mut cache, &input).ok().flatten()?;
            Some(start..end.offset())
        })
    }

    /// Where the earliest match in a range ends, wherever it begins.
    pub(crate) fn ends_in(&self, text: &[u8], span: Range<usize>) -> Option<usize> {
        let compiled = self.compiled()?;
        let mut cache = compiled.caches.get();
        let input = Input::new(text).span(span).earliest(true);
        compiled.dfa.try_search_fwd(&mut cache, &input).ok().flatten().map(|end| end.offset())
    }

    /// Where the first group stands in a match, if the regex has one that took part.
    pub(crate) fn group(&self, text: &[u8], matched: Range<usize>) -> Option<Range<usize>> {
        let regex = self
            .groups
            .get_or_init(|| {
                let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(NFA_BYTES)).hybrid(false);
                Regex::builder().syntax(self.syntax()).configure(config).build(&self.source).ok()
            })
            .as_ref()?;
        let mut captures: Captures = regex.create_captures();
        regex.search_captures(&Input::new(text).span(matched).anchored(Anchored::Yes), &mut captures);
        captures.get_group(1).map(|span| span.range())
    }
}

fn reason(error: impl Error) -> String {
    told(&error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

impl First {
    fn of(regex: &str) -> Self {
        let any = Self { bytes: Box::new([true; 256]), word: false, heads: None };
        let Ok(hir) = parsed(regex) else { return any };
        let Some(literals) = beginnings(&hir, 1) else { return any };
        let mut bytes = Box::new([false; 256]);
        for literal in literals {
            match literal.first() {
                Some(byte) => mark(&mut bytes, *byte),
                None => return any,
            }
        }
        let heads = beginnings(&hir, HEAD).filter(|heads| heads.len() <= HEADS_MOST).and_then(|heads| {
            let mut bits = Box::new([0_u8; HEAD_BYTES]);
            for head in heads {
                let (byte, bit) = head_slot(head.first_chunk()?);
                *bits.get_mut(byte)? |= bit;
            }
            Some(bits)
        });
        Self { bytes, word: begins_with_word(&hir), heads }
    }

    #[inline]
    fn fits(&self, text: &[u8], at: usize) -> bool {
        let here = text.get(at).copied();
        let fits = here.is_some_and(|byte| self.bytes.get(usize::from(byte)).copied().unwrap_or(true));
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        fits && (!self.word || !at.checked_sub(1).and_then(|last| text.get(last)).copied().is_some_and(is_word))
            && self.heads.as_ref().is_none_or(|heads| {
                // A match shorter than a head begins with none.
                text.get(at..).and_then(<[u8]>::first_chunk).is_some_and(|head| {
                    let (byte, bit) = head_slot(head);
                    heads.get(byte).is_some_and(|byte| byte & bit != 0)
                })
            })
    }
}

/// The literals of at most that length that every match begins with, if there is such a list.
fn beginnings(hir: &Hir, length: usize) -> Option<Vec<Vec<u8>>> {
    let mut extractor = Extractor::new();
    extractor.kind(ExtractKind::Prefix).limit_class(256).limit_total(4096).limit_literal_len(length);
    let sequence = extractor.extract(hir);
    Some(sequence.literals()?.iter().map(|literal| literal.as_bytes().to_vec()).collect())
}

/// Byte and bit of a head in the bitmap, letters of either case alike.
#[inline]
fn head_slot(head: &[u8; HEAD]) -> (usize, u8) {
    let [a, b, c] = head.map(|byte| u32::from(byte | 0x20));
    let hash = (a | b << 8 | c << 16).wrapping_mul(0x9e37_79b1);
    let [.., low, high] = hash.to_le_bytes();
    (usize::from(high) % HEAD_BYTES, 1 << (low & 7))
}

fn mark(bytes: &mut [bool; 256], byte: u8) {
    for byte in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] {
        if let Some(slot) = bytes.get_mut(usize::from(byte)) {
            *slot = true;
        }
    }
}

/// Whether every match begins with a letter or digit behind `\b`.
fn begins_with_word(hir: &Hir) -> bool {
    let properties = hir.properties();
    properties.look_set_prefix().contains(Look::WordAscii)
}

/// Classes are of bytes. A character of more bytes in a class becomes an alternative beside it; in a negated class it
/// is left out, its bytes stay allowed.
pub(crate) fn byte_classes(regex: &str) -> String {
    let mut out = String::with_capacity(regex.len());
    let mut class: Option<(String, Vec<char>)> = None;
    let mut escaped = false;
    for character in regex.chars() {
        let was_escaped = escaped;
        escaped = !was_escaped && character == '\\';
        match &mut class {
            None if character == '[' && !was_escaped => class = Some(("[".to_owned(), Vec::new())),
            None => out.push(character),
            Some((_, wide)) if !character.is_ascii() => wide.push(character),
            Some((ascii, wide)) => {
                ascii.push(character);
                if character == ']' && !was_escaped && ascii.len() > 1 {
                    if wide.is_empty() || ascii.starts_with("[^") {
                        out.push_str(ascii);
                    } else {
                        out.push_str("(?:");
                        for character in wide.iter() {
                            out.push(*character);
                            out.push('|');
                        }
                        out.push_str(if ascii == "[]" { "" } else { ascii });
                        out.push(')');
                    }
                    class = None;
                }
            }
        }
    }
    // A class that never ends is told by the compiler of the regex.
    out.push_str(&class.map_or(String::new(), |(ascii, _)| ascii));
    out
}

/// Puts the loose blank where a blank stands outside of a class.
fn loose(regex: &str) -> String {
    let mut out = String::with_capacity(regex.len());
    let mut in_class = false;
    let mut escaped = false;
    for character in regex.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            ' ' if !in_class => {
                out.push_str(BLANK);
                continue;
            }
            _ => {}
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_leave_their_class() {
        assert_eq!(byte_classes("a[b’c]d"), "a(?:’|[bc])d");
        assert_eq!(byte_classes("[^\"”]{2}"), "[^\"]{2}");
        assert_eq!(byte_classes(r"\[é]"), r"\[é]");
        assert_eq!(byte_classes(r"[\]’]"), r"(?:’|[\]])");
    }

    #[test]
    fn heads_let_every_match_through_be_they_few_or_too_many() {
        let words = |count: usize| (0..count).map(|word| format!("v{word:03x}")).collect::<Vec<_>>().join("|");
        for count in [HEADS_MOST, HEADS_MOST + 1, 16 * HEADS_MOST, 16 * HEADS_MOST + 1] {
            let pattern = Pattern::new(&format!("(?:{}) it", words(count)), false);
            let last = format!("V{:03X} it", count - 1);
            let mut tried = 0;
            assert_eq!(pattern.begins_in(last.as_bytes(), 0..1, &mut tried), Some(0..last.len()), "{count}");
            assert_eq!(pattern.begins_in(b"w000 it", 0..1, &mut tried), None);
        }
        let head = |regex| First::of(regex).heads.is_some();
        assert!(head("[a-p][a-p]c") && !head("[a-p][a-q]c"), "as many heads as are kept, and more");
    }

    #[test]
    fn a_match_is_read_to_its_longest_and_no_farther() {
        let pattern = Pattern::new("go[^\n]*end", false);
        let reads = |bytes: usize| {
            let text = format!("go{}end", "-".repeat(bytes - 5));
            pattern.begins_in(text.as_bytes(), 0..1, &mut 0).is_some()
        };
        assert!(reads(SPAN_CAP) && !reads(SPAN_CAP + 1));
    }

    #[test]
    fn a_blank_is_loose_and_a_written_one_is_not() {
        let pattern = Pattern::new("ignore[ ]all rules", false);
        let finds = |text: &str| pattern.ends_in(text.as_bytes(), 0..text.len()).is_some();
        assert!(finds("Ignore all rules"));
        assert!(finds("ignore all\n   # rules"));
        assert!(finds("ignore all\u{a0}rules"));
        assert!(!finds("ignore  all rules"));
        assert!(!finds("ignore all\n\nrules"));
    }
}
