//! Text rules that need code: one check, one file, one line in [`ALL`].

use std::ops::Range;

use super::{
    Layer,
    hits::{Hit, Hits, Source},
};
use crate::finding::{Confidence, Rule, Secret, Severity};

mod hidden;
mod html;
mod key;
mod pii;
mod terminal;

pub(crate) use hidden::is_invisible;

/// One coded check.
#[derive(Debug)]
pub(crate) struct Check {
    /// Every rule it can find.
    pub(crate) rules: &'static [&'static Rule],
    /// What it looks for, which says where it is run.
    pub(crate) about: About,
    /// Reads a text once, in linear time.
    pub(crate) run: fn(&[u8], &mut Sink<'_>),
}

/// What a check looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Data: what is written in another form is read as well.
    Data,
    /// Markup: not asked where an inspector of markup has judged the text.
    Markup,
    /// How a text is shown: only the text as it stands counts.
    Shown,
}

/// Every check.
pub(crate) const ALL: &[&Check] = &[&hidden::CHECK, &html::CHECK, &key::CHECK, &pii::CHECK, &terminal::CHECK];

/// Where a check writes what it found.
#[derive(Debug)]
pub(crate) struct Sink<'a> {
    hits: &'a mut Hits,
    /// The view that is read, when it is not the text as it stands.
    layer: Option<&'a Layer<'a>>,
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
        Self { hits, layer: None }
    }

    /// For a view: what is found in it is placed in the text it was made from.
    pub(super) fn within(hits: &'a mut Hits, layer: &'a Layer<'a>) -> Self {
        Self { hits, layer: Some(layer) }
    }

    fn in_base(&self, range: Range<usize>) -> Range<usize> {
        self.layer.map_or(range.clone(), |layer| layer.in_base(&range))
    }

    /// Found at a range of the text.
    pub(crate) fn find(&mut self, rule: &'static Rule, text: &[u8], range: Range<usize>, said: Said) {
        let decoded = self.layer.map(|layer| layer.decoded.clone()).unwrap_or_default();
        let matched = text.get(range.clone()).unwrap_or_default();
        let placed = self.in_base(range);
        let severity = said.severity.unwrap_or(rule.severity);
        self.hits.add(Source::BuiltIn(rule), severity, placed, || Hit {
            decoded,
            confidence: said.confidence.unwrap_or(rule.confidence),
            message: said.message,
            ..Hit::new(rule.severity, rule.confidence, matched)
        });
    }

    /// A range that no excerpt may show.
    pub(crate) fn hide(&mut self, range: Range<usize>) {
        let range = self.in_base(range);
        self.hits.hide(Secret { range, public_prefix: 0 });
    }
}

/// In these words.
pub(crate) fn saying(message: impl Into<String>) -> Said {
    Said { message: Some(message.into()), ..Said::default() }
}
