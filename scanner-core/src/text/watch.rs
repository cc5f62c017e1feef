//! The watch list: literal strings that must not appear anywhere, such as ids of other tenants or canaries.

use aho_corasick::AhoCorasick;

use crate::{
    finding::{Confidence, Rule, RuleText, Severity},
    text::anchors,
};

/// Found: a literal of the watch list.
pub(crate) static LITERAL: Rule = Rule::built_in(
    "watch/literal",
    "secret.token",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A string of the watch list appears",
        why: "The caller named this string as one that must not appear: an identifier of somebody else, or a canary \
              that only appears when something leaked.",
        remedy: "Withhold the output and find out how the string got into it.",
    },
);

/// Strings that must not appear. They are never shown in a finding.
///
/// ```
/// use scanner_core::Watch;
/// assert!(Watch::new(&[]).is_empty());
/// assert!(!Watch::new(&["tenant-4711".to_owned()]).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Watch {
    literals: Option<AhoCorasick>,
}

impl Watch {
    /// A list of strings; empty ones are left out.
    pub fn new(words: &[String]) -> Self {
        let words: Vec<Vec<u8>> =
            words.iter().filter(|word| !word.is_empty()).map(|word| word.clone().into()).collect();
        Self { literals: anchors::literals(&words) }
    }

    /// Whether nothing is watched for.
    pub fn is_empty(&self) -> bool {
        self.literals.is_none()
    }

    /// Where they stand, not overlapping.
    pub(crate) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
        self.literals.iter().flat_map(move |literals| literals.find_iter(text).map(|found| found.range()))
    }
}
