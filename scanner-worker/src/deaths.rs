//! Inputs that workers died of. One that did it twice is not put before a third worker: a caller that sends it again
//! and again would otherwise keep the whole pool busy with starting.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::job::Death;

/// How often an input may be tried: once, and once again, for it may have been the machine.
const TRIES: u32 = 2;
/// How long that is kept: a machine that was short of memory has recovered by then.
const KEPT: Duration = Duration::from_secs(600);
/// How many inputs are remembered, in a hundred bytes each. Beyond that the oldest is forgotten.
const MOST: usize = 1_024;

/// Who sent it and its digest.
pub(crate) type Key = (String, String);

/// The inputs that workers died of lately, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Deaths {
    known: VecDeque<Known>,
}

#[derive(Debug)]
struct Known {
    key: Key,
    times: u32,
    last: Instant,
    death: Death,
}

impl Deaths {
    /// Whether there is anything to look for; digests cost time.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The death to answer with, where the input has had its tries.
    pub(crate) fn of(&mut self, key: &Key, now: Instant) -> Option<Death> {
        while self.known.front().is_some_and(|oldest| now.saturating_duration_since(oldest.last) > KEPT) {
            self.known.pop_front();
        }
        self.known.iter().find(|known| known.key == *key && known.times >= TRIES).map(|known| known.death.clone())
    }

    /// A worker died of it.
    pub(crate) fn add(&mut self, key: Key, death: Death, now: Instant) {
        let before = self.known.iter().position(|known| known.key == key).and_then(|at| self.known.remove(at));
        let times = before.map_or(0, |before| before.times).saturating_add(1);
        if self.known.len() >= MOST {
            self.known.pop_front();
        }
        self.known.push_back(Known { key, times, last: now, death });
    }

    /// It was scanned all the same: it was not the input.
    pub(crate) fn forget(&mut self, key: &Key) {
        self.known.retain(|known| known.key != *key);
    }

    /// Other rules may not die of it.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tenant: &str, digest: impl ToString) -> Key {
        (tenant.to_owned(), digest.to_string())
    }

    fn death() -> Death {
        Death { reason: "worker_died".to_owned(), detail: "x".to_owned() }
    }

    #[test]
    fn an_input_is_tried_twice_and_for_each_tenant() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        deaths.add(key("a", 1), death(), now);
        assert_eq!(deaths.of(&key("a", 1), now), None);
        deaths.add(key("a", 1), death(), now);
        assert_eq!(deaths.of(&key("a", 1), now), Some(death()));
        assert_eq!(deaths.of(&key("b", 1), now), None);
        assert_eq!(deaths.of(&key("a", 2), now), None);
        assert_eq!(deaths.of(&key("a", 1), now + KEPT), Some(death()));
        assert_eq!(deaths.of(&key("a", 1), now + KEPT + Duration::from_millis(1)), None);
        assert!(deaths.is_empty());
    }

    #[test]
    fn what_was_scanned_is_forgotten() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        deaths.add(key("a", 1), death(), now);
        deaths.forget(&key("a", 1));
        deaths.add(key("a", 1), death(), now);
        assert_eq!(deaths.of(&key("a", 1), now), None);
    }

    #[test]
    fn so_many_are_remembered_and_no_more() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        for number in 0..=MOST {
            deaths.add(key("a", number), death(), now);
            deaths.add(key("a", number), death(), now);
        }
        assert_eq!(deaths.known.len(), MOST);
        assert_eq!(deaths.of(&key("a", 0), now), None);
        assert_eq!(deaths.of(&key("a", 1), now), Some(death()));
    }
}
