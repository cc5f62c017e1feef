//! One pass over a text for the anchors of all rules.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind, automaton::Automaton, dfa::DFA};

/// Finds every place where the anchor of a rule stands.
///
/// Behind this type the matcher may change; what it finds may not.
#[derive(Debug)]
pub(crate) struct Anchors {
    dfa: Option<DFA>,
    /// For each pattern of the automaton, its rules.
    rules: Vec<Vec<usize>>,
}

impl Anchors {
    /// For the anchors of each rule, in the order of the rules.
    pub(crate) fn of<'a>(rules: impl Iterator<Item = &'a [String]>) -> Self {
        let mut by_anchor: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, anchors) in rules.enumerate() {
            for anchor in anchors {
                by_anchor.entry(anchor.to_ascii_lowercase()).or_default().push(index);
            }
        }
        let dfa =
            DFA::builder().match_kind(MatchKind::Standard).ascii_case_insensitive(true).build(by_anchor.keys()).ok();
        Self { dfa, rules: by_anchor.into_values().collect() }
    }

    /// Calls `visit` with a rule and the range of its anchor, for every anchor in the text, in order of their ends.
    pub(crate) fn each<E>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(usize, std::ops::Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(dfa) = &self.dfa else { return Ok(()) };
        let mut state = aho_corasick::automaton::OverlappingState::start();
        let input = aho_corasick::Input::new(text);
        loop {
            if dfa.try_find_overlapping(&input, &mut state).is_err() {
                return Ok(());
            }
            let Some(found) = state.get_match() else { return Ok(()) };
            for rule in self.rules.get(found.pattern().as_usize()).into_iter().flatten() {
                visit(*rule, found.range())?;
            }
        }
    }
}

/// Literals that must not appear, in any case of letters as given.
pub(crate) fn literals(words: &[Vec<u8>]) -> Option<AhoCorasick> {
    if words.is_empty() {
        return None;
    }
    AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(words).ok()
}
