//! Looks of rules at their anchors: how far each has read, and where the next may begin.

use super::{anchors::is_blank, rules::SPAN_CAP};

/// After that many places tried in vain within [`DENSE_BYTES`], a rule reads on in one pass instead: text stuffed with
/// anchors and with what matches begin with must not cost [`SPAN_CAP`] bytes for each.
const DENSE_TRIES: u32 = 32;
pub(super) const DENSE_BYTES: usize = 4096;

/// How far one rule has read in one layer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// No match of the rule begins before that.
    pub(super) read_to: usize,
    /// Places tried in vain since `since`.
    missed: u32,
    since: usize,
    /// A match is known to end there; up to it anchors are looked at one by one.
    pub(super) sure_to: usize,
    /// Whose it is.
    rule: usize,
}

/// How far each rule has read, for one layer after the other: only rules with an anchor in the text take room.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Of each rule, where its look is, counted from one; none is zero.
    slots: Vec<u16>,
    looks: Vec<Look>,
}

impl Looks {
    /// Forgets all of them.
    pub(super) fn begin(&mut self, rules: usize) {
        self.slots.resize(rules, 0);
        for look in self.looks.drain(..) {
            if let Some(slot) = self.slots.get_mut(look.rule) {
                *slot = 0;
            }
        }
    }

    /// Of a rule; `None` for what is no rule.
    pub(super) fn of(&mut self, rule: usize) -> Option<&mut Look> {
        let slot = self.slots.get_mut(rule)?;
        if *slot == 0 {
            self.looks.push(Look { rule, ..Look::default() });
            *slot = u16::try_from(self.looks.len()).ok()?;
        }
        self.looks.get_mut(usize::from(*slot).checked_sub(1)?)
    }
}

impl Look {
    pub(super) fn is_dense(&self, at: usize) -> bool {
        self.missed >= DENSE_TRIES && at.saturating_sub(self.since) <= DENSE_BYTES
    }

    pub(super) fn missed(&mut self, at: usize, tried: u32) {
        if self.missed == 0 || at.saturating_sub(self.since) > DENSE_BYTES {
            self.since = at;
            self.missed = 0;
        }
        self.missed = self.missed.saturating_add(tried);
    }
}

/// Where a window of so many bytes in front of an anchor begins. A run of blanks, or a line break with what comments and
/// tables put behind it, counts as one: a blank of a rule stands for any of them.
pub(super) fn reach(text: &[u8], anchor: usize, before: usize) -> usize {
    let farthest = anchor.saturating_sub(SPAN_CAP);
    if before == 0 || before >= SPAN_CAP {
        return if before == 0 { anchor } else { farthest };
    }
    let mut left = before;
    let mut in_blank = false;
    for (back, byte) in text.get(farthest..anchor).unwrap_or_default().iter().rev().enumerate() {
        let is_blank = is_blank(*byte);
        if !(is_blank && in_blank) {
            let Some(less) = left.checked_sub(1) else { return anchor.saturating_sub(back) };
            left = less;
        }
        in_blank = is_blank;
    }
    farthest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_a_run_of_blanks_as_one_and_ends_where_a_match_would() {
        let text = format!("{}abc  \n# def", "x".repeat(SPAN_CAP));
        let from = |before| text.len() - reach(text.as_bytes(), text.len(), before);
        assert_eq!([0, 3, 4, 5, 7].map(from), [0, 3, 8, 9, 11]);
        assert_eq!([SPAN_CAP - 1, SPAN_CAP, SPAN_CAP + 1].map(from), [SPAN_CAP; 3]);
    }

    #[test]
    fn so_many_places_in_vain_are_dense_and_one_less_or_farther_apart_is_not() {
        let after = |tried, at| {
            let mut look = Look::default();
            look.missed(0, tried);
            look.is_dense(at)
        };
        assert!(after(DENSE_TRIES, DENSE_BYTES));
        assert!(!after(DENSE_TRIES - 1, 0) && !after(DENSE_TRIES, DENSE_BYTES + 1));
    }
}
