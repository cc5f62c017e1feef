//! Private keys in their armour: from BEGIN to END, however long, so that no excerpt shows a part of the body.

use std::sync::LazyLock;

use memchr::memmem;

use super::{About, Check, Said, Sink};
use crate::finding::{Confidence, Rule, RuleText, Severity};

pub(super) const CHECK: Check = Check { rules: &[&PRIVATE_KEY], about: About::Data, run };

static PRIVATE_KEY: Rule = Rule::built_in(
    "secret/private-key",
    "secret.key",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A private key",
        why: "Whoever has a private key can sign, decrypt or log in as its owner.",
        remedy: "Withhold the output, replace the key, and find out how it got into the output.",
    },
);

/// A body this short is a placeholder.
const BODY_SHORTEST: usize = 48;
/// A key without an END is taken this far.
const BODY_LONGEST: usize = 16 * 1024;

fn run(text: &[u8], sink: &mut Sink<'_>) {
    static BEGIN: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("-----BEGIN "));
    let mut from = 0_usize;
    while let Some(at) = text.get(from..).and_then(|rest| BEGIN.find(rest)) {
        let start = from.saturating_add(at);
        from = start.saturating_add(11);
        let rest = text.get(from..).unwrap_or_default();
        // "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK": the label is one line of capitals.
        let label_end = rest.iter().position(|byte| !(byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9')));
        let Some(label) = label_end.and_then(|end| rest.get(..end.min(40))) else { continue };
        if memmem::find(label, b"PRIVATE KEY").is_none() {
            continue;
        }
        let body = rest.get(label.len()..).unwrap_or_default();
        let window = body.get(..BODY_LONGEST.min(body.len())).unwrap_or_default();
        let body_end = memmem::find(window, b"-----END ").unwrap_or_else(|| {
            // Cut off: as far as it looks like a body, JSON escapes and white space included.
            window
                .iter()
                .position(|byte| {
                    !(byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:-,".contains(byte))
                })
                .unwrap_or(window.len())
        });
        let symbols = window
            .get(..body_end)
            .unwrap_or_default()
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
            .count();
        let end = from.saturating_add(label.len()).saturating_add(body_end);
        if symbols >= BODY_SHORTEST {
            sink.find(&PRIVATE_KEY, text, start..end, Said::default());
            sink.hide(from.saturating_add(label.len()).saturating_add(5).min(end)..end);
        }
        from = end;
    }
}
