//! Excerpts: built redacted, or not at all.

use std::{fmt, ops::Range};

/// Bytes shown before and after the match.
const AROUND: usize = 32;
/// Longest stretch of the match that is shown.
const LONGEST: usize = 160;

/// A part of a text that must never be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Where it stands in the text.
    pub range: Range<usize>,
    /// How many of its first bytes the issuer's own format makes public (`AKIA…`); the rest stays hidden.
    pub public_prefix: usize,
}

/// A piece of content that may leave the scanner: short, with secrets masked and nothing that a terminal, a browser
/// or a reader's eye would act on. There is no way to build one unredacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    /// The text around `range`, with every secret masked.
    ///
    /// ```
    /// use scanner_core::{Excerpt, Secret};
    /// let text = b"key=AKIAXXXXXXXXXXXXXXXX\n";
    /// let secret = Secret { range: 4..24, public_prefix: 4 };
    /// assert_eq!(Excerpt::redacted(text, 4..24, &[secret]).as_str(), "key=AKIA…[16-31 characters hidden]\\n");
    /// ```
    pub fn redacted(text: &[u8], range: Range<usize>, secrets: &[Secret]) -> Self {
        let start = range.start.saturating_sub(AROUND).min(text.len());
        let shown_end = range.end.min(range.start.saturating_add(LONGEST)).min(text.len());
        let end = shown_end.saturating_add(AROUND).min(text.len());
        let mut out = String::new();
        if start > 0 {
            out.push('…');
        }
        push_masked(&mut out, text, start..end, secrets, push_visible);
        if end < text.len() {
            out.push('…');
        }
        Self(out)
    }

    /// The beginning of a text, with every secret masked. Lines stay lines.
    pub(crate) fn beginning(text: &[u8], most: usize, secrets: &[Secret]) -> Self {
        let end = most.min(text.len());
        let mut out = String::new();
        push_masked(&mut out, text, 0..end, secrets, |out, bytes| {
            for (nth, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                if nth > 0 {
                    out.push('\n');
                }
                push_visible(out, line);
            }
        });
        if end < text.len() {
            out.push('…');
        }
        Self(out)
    }

    /// The redacted text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Untrusted words that a report repeats, such as a name, with every secret in them masked.
pub(crate) fn masked(text: &str, secrets: &[Secret]) -> String {
    let mut out = String::new();
    push_masked(&mut out, text.as_bytes(), 0..text.len(), secrets, |out, bytes| {
        out.push_str(&String::from_utf8_lossy(bytes));
    });
    out
}

/// Appends the window of the text with every secret masked.
fn push_masked(out: &mut String, text: &[u8], window: Range<usize>, secrets: &[Secret], push: fn(&mut String, &[u8])) {
    let Range { start: mut at, end } = window;
    let mut within: Vec<&Secret> =
        secrets.iter().filter(|secret| secret.range.start < end && secret.range.end > at).collect();
    within.sort_by_key(|secret| (secret.range.start, secret.range.end));
    for secret in within {
        if secret.range.end <= at {
            continue;
        }
        // A secret that begins before the window, or overlaps the last one, gives up its prefix too.
        if secret.range.start >= at {
            push(out, text.get(at..secret.range.start).unwrap_or_default());
            let prefix_end = secret.range.start.saturating_add(secret.public_prefix).min(secret.range.end);
            push(out, text.get(secret.range.start..prefix_end).unwrap_or_default());
        }
        out.push_str(length_class(secret.range.len()));
        at = secret.range.end;
    }
    if at < end {
        push(out, text.get(at..end).unwrap_or_default());
    }
}

/// Length classes, not lengths: an exact length helps to guess.
fn length_class(length: usize) -> &'static str {
    match length {
        0..=7 => "…[under 8 characters hidden]",
        8..=15 => "…[8-15 characters hidden]",
        16..=31 => "…[16-31 characters hidden]",
        32..=63 => "…[32-63 characters hidden]",
        _ => "…[64 or more characters hidden]",
    }
}

fn push_visible(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_character(out, character);
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
}

fn push_character(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if is_unsafe_to_print(character) => out.push_str(&format!("\\u{{{:x}}}", u32::from(character))),
        _ => out.push(character),
    }
}

/// Characters that a terminal acts on, that reorder text, or that nobody sees (Unicode general categories Cc and Cf,
/// variation selectors, tags, fillers and line separators).
fn is_unsafe_to_print(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Untrusted text as it may be printed: what a terminal would act on, or nobody would see, is written as an escape.
///
/// ```
/// assert_eq!(scanner_core::visible("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
/// ```
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        push_character(&mut out, character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_byte_of_a_secret_beyond_its_prefix_is_shown(before in "[ -~]{0,60}", after in "[ -~]{0,60}", at in 0usize..200, long in 0usize..200) {
            // The secret is made of a character that nothing else uses.
            let (mark, lone_byte) = ('\u{e9}', "\\xa9");
            let secret = mark.to_string().repeat(20);
            let text = format!("{before}{secret}{after}");
            let masked = Secret { range: before.len()..before.len() + secret.len(), public_prefix: 0 };
            let at = at.min(text.len());
            let shown = Excerpt::redacted(text.as_bytes(), at..at.saturating_add(long).min(text.len()), &[masked]);
            prop_assert!(!shown.as_str().contains(mark));
            prop_assert!(!shown.as_str().contains(lone_byte));
        }
    }

    #[test]
    fn a_beginning_keeps_lines_and_hides_what_acts() {
        let text = b"one\ttwo\nkey=hunter2hunter2\n\x1b[2Jthree\r\nfour";
        let secret = Secret { range: 12..26, public_prefix: 0 };
        let shown = |most| Excerpt::beginning(text, most, std::slice::from_ref(&secret)).0;
        assert_eq!(shown(100), "one\\ttwo\nkey=…[8-15 characters hidden]\n\\u{1b}[2Jthree\\r\nfour", "whole");
        assert_eq!(shown(3), "one…");
        assert_eq!(shown(14), "one\\ttwo\nkey=…[8-15 characters hidden]…", "cut inside the secret");
    }

    #[test]
    fn overlapping_secrets_stay_hidden() {
        let text = b"user:hunter2hunter2@host";
        let secrets = [Secret { range: 5..19, public_prefix: 0 }, Secret { range: 12..19, public_prefix: 4 }];
        assert_eq!(Excerpt::redacted(text, 0..24, &secrets).as_str(), "user:…[8-15 characters hidden]@host");
    }
}
