//! Words with `*` in them.

/// A word in which each `*` stands for any run of characters, also none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// Whether the whole word fits. Linear in the word for each star.
    pub(super) fn fits(&self, word: &str) -> bool {
        let Some((head, tail)) = self.0.split_once('*') else { return self.0 == word };
        let (middle, last) = tail.rsplit_once('*').unwrap_or(("", tail));
        let Some(rest) = word.strip_prefix(head).and_then(|rest| rest.strip_suffix(last)) else { return false };
        // The earliest place for each piece leaves the most room for the next.
        let mut rest = Some(rest);
        for piece in middle.split('*') {
            rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_, after)| after);
        }
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars() {
        for (pattern, word, fits) in [
            ("secret.key", "secret.key", true),
            ("secret.key", "secret.keys", false),
            ("secret.*", "secret.key", true),
            ("secret.*", "secret.", true),
            ("secret.*", "secrets.key", false),
            ("*", "", true),
            ("*", "anything", true),
            ("*.key", "secret.key", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a.b.b.c", true),
            ("a*b*c", "a.c.b", false),
            ("a**c", "abc", true),
            ("*/*", "text/plain", true),
            ("*b*b*", "abc", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(Pattern::new(pattern).fits(word), fits, "{pattern} {word}");
        }
    }
}
