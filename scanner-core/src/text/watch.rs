//! The watch list: literal strings that must not appear anywhere, such as ids of other tenants or canaries.

use aho_corasick::AhoCorasick;

use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity, fingerprint},
    reader::count,
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
    /// Bytes of the longest string.
    longest: usize,
}

impl Watch {
    /// A list of strings; empty ones are left out.
    pub fn new(words: &[String]) -> Self {
        let words: Vec<Vec<u8>> =
            words.iter().filter(|word| !word.is_empty()).map(|word| word.clone().into()).collect();
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        Self { literals: anchors::literals(&words), longest }
    }

    /// Whether nothing is watched for.
    pub fn is_empty(&self) -> bool {
        self.literals.is_none()
    }

    /// How much of a text matters for a string that goes on in the next one.
    pub(crate) fn tail<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let end = text.len();
        text.get(end.saturating_sub(self.longest.saturating_sub(1))..).unwrap_or_default()
    }

    /// The string that begins in `tail`, the end of the text before, and goes on in `text`: the finding, and how many
    /// bytes of `text` belong to it.
    pub(crate) fn over_the_seam(&self, tail: &[u8], text: &[u8]) -> Option<(Finding, u64)> {
        let head = text.get(..self.longest.saturating_sub(1).min(text.len())).unwrap_or_default();
        if tail.is_empty() || head.is_empty() {
            return None;
        }
        let seam = [tail, head].concat();
        let found = self.find(&seam).find(|found| found.start < tail.len() && found.end > tail.len())?;
        let words = "A string of the watch list begins in the text before this one and ends here";
        let mut finding = Finding::built_in(&LITERAL).message(words);
        finding.fingerprint = self.mark(seam.get(found.clone()).unwrap_or_default());
        Some((finding, count(found.end.saturating_sub(tail.len()))))
    }

    /// The fingerprint of one of the strings, wherever it is found.
    pub(crate) fn mark(&self, literal: &[u8]) -> String {
        fingerprint(&LITERAL.id, "secret", literal)
    }

    /// Where they stand, not overlapping.
    pub(crate) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
        self.literals.iter().flat_map(move |literals| literals.find_iter(text).map(|found| found.range()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_over_the_seam_of_two_texts() {
        let watch = Watch::new(&["tenant-4711".to_owned(), "x".to_owned()]);
        let over = |before: &[u8], text: &[u8]| {
            watch.over_the_seam(watch.tail(before), text).map(|(finding, length)| (finding.fingerprint, length))
        };
        let mark = watch.mark(b"tenant-4711");
        assert_eq!(over(b"id tenant-", b"4711 is here"), Some((mark.clone(), 4)));
        assert_eq!(over(b"t", b"enant-4711"), Some((mark, 10)));
        for (before, text) in [("tenant-4711", "4711"), ("", "tenant-4711"), ("tenant-4711", ""), ("tenant-", " 4711")]
        {
            assert_eq!(over(before.as_bytes(), text.as_bytes()), None, "{before}|{text}");
        }
    }
}
