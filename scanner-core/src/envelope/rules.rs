//! What an envelope itself can be found to have, whatever is in it.

use crate::{
    finding::{Confidence, Rule, RuleText, Severity},
    json::Quirk,
};

pub(crate) static DUPLICATE_KEY: Rule = Rule::built_in(
    "envelope/duplicate-key",
    "malformed.duplicate_key",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "a key stands twice in one object",
        why: "Two readers of the same JSON see different values: one is checked, the other is used.",
        remedy: "Both values were read. Do not pass the envelope on as it is.",
    },
);
pub(crate) static ENCODING: Rule = Rule::built_in(
    "envelope/encoding",
    "malformed.encoding",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "text that is not valid Unicode",
        why: "Half a surrogate pair or bytes that are not UTF-8: strict readers refuse them, others drop or replace them.",
        remedy: "It was read with U+FFFD in their place. Nothing to do unless it comes often.",
    },
);
pub(crate) static STRUCTURE: Rule = Rule::built_in(
    "envelope/structure",
    "malformed.structure",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "an envelope that breaks the format's rules and could be read all the same",
        why: "Readers differ on it: what one reads the other refuses or drops.",
        remedy: "Everything was read. Look at what produced it when it comes often.",
    },
);
pub(crate) static JUNK: Rule = Rule::built_in(
    "envelope/junk",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "something between the messages of a stream that is no message",
        why: "No vendor sends that: somebody else wrote into the stream. Clients skip it, print it or stop at it.",
        remedy: "It was read as text. Find out who writes into the stream before it is passed on.",
    },
);
pub(crate) static BASE64: Rule = Rule::built_in(
    "envelope/base64",
    "malformed.encoding",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "base64 on which decoders do not agree",
        why: "Mixed alphabets or a loose end: another decoder makes other bytes of it than the ones that were read.",
        remedy: "Deliver the bytes that were read, not the text.",
    },
);
pub(crate) static SHAPE: Rule = Rule::built_in(
    "envelope/shape",
    "malformed.structure",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "a field of another type than the vendor documents",
        why: "What a client makes of it depends on the client.",
        remedy: "Its text was read. Look at what produced it.",
    },
);
pub(crate) static REFERENCE: Rule = Rule::built_in(
    "envelope/reference",
    "policy.reference",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "a reference that no safe request can be built from",
        why: "An id outside the vendor's alphabet or a URL outside its hosts makes whoever fetches it send a request of the output's choosing.",
        remedy: "Do not fetch it.",
    },
);
pub(crate) static INTERNAL_URL: Rule = Rule::built_in(
    "envelope/internal-url",
    "url.internal",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "a reference into the private network",
        why: "Whoever fetches it reaches a service that trusts its own network: metadata services, admin pages.",
        remedy: "Do not fetch it.",
    },
);
pub(crate) static SCRIPT_URL: Rule = Rule::built_in(
    "envelope/script-url",
    "html.url",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "a reference whose scheme runs code",
        why: "A page that uses it as the address of a picture or a link runs it.",
        remedy: "Do not show it.",
    },
);

/// Every rule of this module and its neighbours.
pub(crate) const RULES: &[&Rule] =
    &[&DUPLICATE_KEY, &ENCODING, &STRUCTURE, &JUNK, &BASE64, &SHAPE, &REFERENCE, &INTERNAL_URL, &SCRIPT_URL];

/// The rule and the words for an oddity of JSON; a byte-order mark is none.
pub(crate) fn of(quirk: Quirk) -> Option<(&'static Rule, &'static str)> {
    match quirk {
        Quirk::LoneSurrogate => Some((&ENCODING, "half of a surrogate pair, read as U+FFFD")),
        Quirk::InvalidUtf8 => Some((&ENCODING, "bytes that are not UTF-8, read as U+FFFD")),
        Quirk::Control => Some((&STRUCTURE, "a raw control character inside a JSON string")),
        Quirk::Structure => Some((&STRUCTURE, "an escape or a number that JSON does not have")),
        // Listed one by one.
        Quirk::DuplicateKey | Quirk::ByteOrderMark => None,
    }
}
