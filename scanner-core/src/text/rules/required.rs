//! What every match of a regex holds: the literals that a text is searched for before the regex is asked.
//!
//! A rule is a verb, a gap and an object more often than not. Verbs are common words of honest text, objects are not,
//! so of all literals that no match can do without those are taken that are rarest, wherever in a match they stand.

use std::collections::BTreeSet;

use regex_syntax::{
    ParserBuilder,
    hir::{
        Hir, HirKind,
        literal::{ExtractKind, Extractor},
    },
};

use super::pattern::SPAN_CAP;

/// Shorter literals are refused: they would be found on every line.
pub(crate) const ANCHOR_SHORTEST: usize = 4;
/// Literals are cut to these lengths: a longer one is rarer, a shorter one is fewer.
const LENGTHS: [usize; 4] = [5, 8, 12, 16];
/// Most literals of one part of a regex.
const LITERALS_MOST: usize = 600;
/// Most bytes of a class that is written out: letters, digits and a few signs, as of the names of files.
const CLASS_MOST: usize = 40;
/// So many bytes in front of an anchor cost as much to pass over as a look at the anchor.
const REACH: f64 = 150.0;
/// Parts of a concatenation that are looked at. Those behind are left to those in front.
const PARTS_MOST: usize = 64;
/// Bytes of an error that are shown to whoever wrote the regex.
const ERROR_LONGEST: usize = 1024;

/// Literals one of which stands in every match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Required {
    /// Lower-case, sorted.
    pub(crate) anchors: Vec<String>,
    /// How far in front of it a match may begin, in bytes, a run of blanks counted as one; [`SPAN_CAP`] is anywhere.
    pub(crate) before: usize,
    /// How often one of them is found.
    rate: f64,
}

impl Required {
    /// What looking at all of them costs: one whose match may begin far in front of it costs more.
    pub(crate) fn cost(&self) -> f64 {
        let reach = f64::from(u16::try_from(self.before).unwrap_or(u16::MAX));
        self.rate * (1.0 + reach / REACH)
    }
}

/// The cheapest literals that every match of a regex holds; `None` where it can do without any. `rate` says how often a
/// literal is found in honest text.
///
/// # Errors
/// The regex is none.
pub(crate) fn required(regex: &str, rate: &dyn Fn(&str) -> f64) -> Result<Option<Required>, String> {
    let hir = parsed(regex)?;
    Ok(cheapest(&hir, rate).map(|found| Required { before: found.before.min(SPAN_CAP), ..found }))
}

pub(super) fn parsed(regex: &str) -> Result<Hir, String> {
    ParserBuilder::new().unicode(false).utf8(false).build().parse(regex).map_err(|error| told(&error.to_string()))
}

/// What is wrong with a regex. The error shows the regex with the place marked: with its words put in, one may be longer
/// than anybody reads, and then the reason stands alone.
pub(super) fn told(error: &str) -> String {
    let reason = error.lines().next_back().filter(|_| error.len() > ERROR_LONGEST);
    reason.unwrap_or(error).to_owned()
}

/// The nesting of a regex is bounded by its parser.
fn cheapest(hir: &Hir, rate: &dyn Fn(&str) -> f64) -> Option<Required> {
    let mut best = beginning(hir, rate);
    let mut offer = |other: Option<Required>| {
        if let Some(other) = other
            && best.as_ref().is_none_or(|best| other.cost() < best.cost())
        {
            best = Some(other);
        }
    };
    match hir.kind() {
        HirKind::Capture(capture) => offer(cheapest(&capture.sub, rate)),
        HirKind::Repetition(repetition) if repetition.min > 0 => offer(cheapest(&repetition.sub, rate)),
        HirKind::Concat(parts) => {
            let mut before = 0_usize;
            for (at, part) in parts.iter().enumerate().take(PARTS_MOST) {
                let rest = Hir::concat(parts.get(at..).unwrap_or_default().to_vec());
                let behind = |found: Required| Required { before: found.before.saturating_add(before), ..found };
                offer(beginning(&rest, rate).map(behind));
                offer(cheapest(part, rate).map(behind));
                before = before.saturating_add(part.properties().maximum_len().unwrap_or(SPAN_CAP));
            }
        }
        HirKind::Alternation(ways) => {
            let all: Option<Vec<Required>> = ways.iter().map(|way| cheapest(way, rate)).collect();
            offer(all.map(|ways| {
                let before = ways.iter().map(|way| way.before).max().unwrap_or(0);
                of(ways.into_iter().flat_map(|way| way.anchors).collect(), before, rate)
            }));
        }
        _ => {}
    }
    best
}

/// The cheapest literals that every match begins with.
fn beginning(hir: &Hir, rate: &dyn Fn(&str) -> f64) -> Option<Required> {
    beginnings(hir).map(|anchors| of(anchors, 0, rate)).min_by(|a, b| a.cost().total_cmp(&b.cost()))
}

/// The literals that every match begins with, cut to every length.
fn beginnings(hir: &Hir) -> impl Iterator<Item = BTreeSet<String>> {
    LENGTHS.into_iter().filter_map(|length| {
        let mut extractor = Extractor::new();
        extractor
            .kind(ExtractKind::Prefix)
            .limit_class(CLASS_MOST)
            .limit_total(LITERALS_MOST)
            .limit_literal_len(length);
        let mut sequence = extractor.extract(hir);
        sequence.minimize_by_preference();
        let anchors: BTreeSet<String> =
            sequence.literals()?.iter().map(|literal| whole_characters(literal.as_bytes())).collect();
        // The table of anchors is a table of words: no tab in them, no line end.
        let fits = |anchor: &String| anchor.len() >= ANCHOR_SHORTEST && !anchor.contains(['\t', '\n', '\r']);
        (!anchors.is_empty() && anchors.iter().all(fits)).then_some(anchors)
    })
}

/// Whether every match of a regex holds one of these literals, and begins at most `before` bytes in front of it.
pub(crate) fn holds(regex: &str, anchors: &[String], before: usize) -> bool {
    let within = if before >= SPAN_CAP { usize::MAX } else { before };
    parsed(regex).is_ok_and(|hir| holds_one(&hir, anchors, within))
}

fn holds_one(hir: &Hir, anchors: &[String], within: usize) -> bool {
    let begins = |hir: &Hir| {
        beginnings(hir)
            .any(|all| all.iter().all(|literal| anchors.iter().any(|anchor| literal.starts_with(anchor.as_str()))))
    };
    begins(hir)
        || match hir.kind() {
            HirKind::Capture(capture) => holds_one(&capture.sub, anchors, within),
            HirKind::Repetition(repetition) => repetition.min > 0 && holds_one(&repetition.sub, anchors, within),
            HirKind::Concat(parts) => {
                let mut left = Some(within);
                parts.iter().enumerate().any(|(at, part)| {
                    let here = left;
                    left = left.and_then(|left| left.checked_sub(part.properties().maximum_len().unwrap_or(SPAN_CAP)));
                    here.is_some_and(|left| {
                        begins(&Hir::concat(parts.get(at..).unwrap_or_default().to_vec()))
                            || holds_one(part, anchors, left)
                    })
                })
            }
            HirKind::Alternation(ways) => ways.iter().all(|way| holds_one(way, anchors, within)),
            _ => false,
        }
}

/// Without what another one finds as well.
fn of(anchors: BTreeSet<String>, before: usize, rate: &dyn Fn(&str) -> f64) -> Required {
    let mut kept: Vec<String> = Vec::with_capacity(anchors.len());
    for anchor in anchors {
        // Sorted, so whatever begins an anchor comes before it.
        if kept.last().is_none_or(|last| !anchor.starts_with(last.as_str())) {
            kept.push(anchor);
        }
    }
    let rate = kept.iter().map(|anchor| rate(anchor)).sum();
    Required { anchors: kept, before, rate }
}

/// Cut where a character ends, in lower case.
fn whole_characters(literal: &[u8]) -> String {
    let whole = literal.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    whole.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_regex_so_long_and_no_longer() {
        let error = |bytes: usize| format!("{:a<1$}\nerror: why", "", bytes - 11);
        assert_eq!(told(&error(ERROR_LONGEST)), error(ERROR_LONGEST));
        assert_eq!(told(&error(ERROR_LONGEST + 1)), "error: why");
    }

    /// As if every letter of these were common, and nothing else.
    fn chosen(regex: &str, common: &[&str]) -> Option<(Vec<String>, usize)> {
        let rate = |literal: &str| if common.iter().any(|word| literal.starts_with(word)) { 100.0 } else { 1.0 };
        required(regex, &rate).unwrap().map(|found| (found.anchors, found.before))
    }

    #[track_caller]
    fn check(regex: &str, common: &[&str], anchors: &[&str], before: usize) {
        let owned: Vec<String> = anchors.iter().map(|anchor| (*anchor).to_owned()).collect();
        assert_eq!(chosen(regex, common), Some((owned, before)), "{regex}");
    }

    #[test]
    fn the_rarest_part_of_a_match_is_taken() {
        check("print (?:all|any) secrets", &[], &["print"], 0);
        check("print (?:all|any) secrets", &["print"], &[" secr"], 9);
        check(r"\b(?:forget|disregard) it", &[], &["disre", "forge"], 0);
        check("(?:print [a-z]{0,9}keys|list tokens)", &["print"], &["keys", "list "], 15);
        check("print [^\n]+ secrets", &["print"], &[" secr"], SPAN_CAP);
        check("(?:print|list) +é€aaa", &["print"], &["é€"], SPAN_CAP);
    }

    #[test]
    fn so_many_parts_and_bytes_of_a_class_are_looked_at_and_no_more() {
        let behind = |parts: usize| chosen(&format!("{}secrets", "[^x]?".repeat(parts)), &[]);
        assert!(behind(PARTS_MOST - 1).is_some() && behind(PARTS_MOST).is_none());
        // From `!` to `H` there are as many as are written out.
        assert_eq!(chosen("x[!-H]yz", &[]).map(|(anchors, _)| anchors.len()), Some(CLASS_MOST));
        assert_eq!(chosen("x[!-I]yz", &[]), None);
    }

    #[test]
    fn a_match_without_an_anchor_is_noticed() {
        let serves = |anchors: &[&str], before| {
            let anchors: Vec<String> = anchors.iter().map(|anchor| (*anchor).to_owned()).collect();
            holds("(?:print|list) [a-z]{0,9}(?:keys|secrets)", &anchors, before)
        };
        assert!(serves(&["keys", "secr"], 15) && serves(&["print", "list"], 0));
        assert!(!serves(&["keys", "secr"], 14) && !serves(&["keys"], 15) && !serves(&["print"], 15));
    }

    #[test]
    fn what_a_match_can_do_without_is_not_taken() {
        assert_eq!(chosen("(?:secrets)?[a-z]+", &[]), None);
        assert_eq!(chosen("[a-z]+(?:secrets|key)", &[]), None);
        check("(?:print )?[a-z]+(?: secrets)+", &[], &[" secr"], SPAN_CAP);
    }
}
