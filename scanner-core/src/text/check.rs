//! Text rules that need code: one check, one file, one line in [`ALL`].

use std::ops::Range;

use super::hits::{Hit, Hits, Source};
use crate::finding::{Confidence, Rule, Secret, Severity};

mod hidden;
mod html;
mod key;
mod terminal;

pub(crate) use hidden::is_invisible;

/// One coded check.
#[derive(Debug)]
pub(crate) struct Check {
    /// Every rule it can find.
    pub(crate) rules: &'static [&'static Rule],
    /// Reads a text once, in linear time.
    pub(crate) run: fn(&[u8], &mut Sink<'_>),
}

/// Every check.
pub(crate) const ALL: &[&Check] = &[&hidden::CHECK, &html::CHECK, &key::CHECK, &terminal::CHECK];

/// Where a check writes what it found.
#[derive(Debug)]
pub(crate) struct Sink<'a> {
    hits: &'a mut Hits,
}

/// What a check says beyond its rule.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// In these words, never content.
    pub(crate) message: Option<String>,
    /// As severe as this, not as the rule.
    pub(crate) severity: Option<Severity>,
    /// As sure as this, not as the rule.
    pub(crate) confidence: Option<Confidence>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(hits: &'a mut Hits) -> Self {
        Self { hits }
    }

    /// Found at a range of the text.
    pub(crate) fn find(&mut self, rule: &'static Rule, text: &[u8], range: Range<usize>, said: Said) {
        let matched = text.get(range.clone()).unwrap_or_default();
        self.hits.add(Source::BuiltIn(rule), range, || Hit {
            severity: said.severity.unwrap_or(rule.severity),
            confidence: said.confidence.unwrap_or(rule.confidence),
            message: said.message,
            ..Hit::new(rule.severity, rule.confidence, matched)
        });
    }

    /// A range that no excerpt may show.
    pub(crate) fn hide(&mut self, range: Range<usize>) {
        self.hits.hide(Secret { range, public_prefix: 0 });
    }
}

/// In these words.
pub(crate) fn saying(message: impl Into<String>) -> Said {
    Said { message: Some(message.into()), ..Said::default() }
}
