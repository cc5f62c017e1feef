//! What a pickle can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

pub(super) static PRESENT: Rule = Rule::built_in(
    "pickle/present",
    "pickle.present",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "A pickle: loading it runs what it names",
        why: "A pickle is a program for a small machine that may call any function of Python. Everything that this one names \
              is known and only builds data.",
        remedy: "Nothing to do; load it with the versions of the libraries that it names.",
    },
);

pub(super) static DANGEROUS: Rule = Rule::built_in(
    "pickle/dangerous-global",
    "pickle.dangerous_global",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A pickle that reaches for code when it is loaded",
        why: "What it names runs commands, evaluates code, opens files or connections, or finds any other function by name. It \
              does so while the file is being loaded, with all rights of the person who loads it.",
        remedy: "Do not load it. Ask the producer for the data in a format that cannot run anything.",
    },
);

pub(super) static UNKNOWN: Rule = Rule::built_in(
    "pickle/unknown-global",
    "pickle.unknown_global",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A pickle that calls something nobody here knows",
        why: "Loading it imports a module and calls into it. What that does depends on code that is not in the file.",
        remedy: "Load it only where that code is known and trusted.",
    },
);

pub(super) static NESTED: Rule = Rule::built_in(
    "pickle/nested",
    "pickle.nested",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "A pickle inside a pickle",
        why: "A scanner that reads only the outer one does not see what the inner one calls, and it runs as soon as it is \
              loaded in turn.",
        remedy: "Look at what the inner one calls; here it was looked into as well.",
    },
);

pub(super) static STRUCTURE: Rule = Rule::built_in(
    "pickle/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A pickle that is not built as one",
        why: "Python stops with an error in the middle of it, and what came before has run by then. Other readers go on in \
              their own way, which is how a pickle is made to look harmless to one of them.",
        remedy: "Have it written again by the program that made it.",
    },
);

pub(super) static TRUNCATED: Rule = Rule::built_in(
    "pickle/truncated",
    "malformed.truncated",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A pickle that ends too early, or announces more than there is",
        why: "Some readers set memory aside for what is announced; and what came before the end has run by then.",
        remedy: "Fetch the file again; if it comes back the same, have it written again.",
    },
);

pub(super) static RECURSION: Rule = Rule::built_in(
    "pickle/depth",
    "bomb.recursion",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Containers nested deeper than Python itself writes them",
        why: "Whoever prints, compares, copies or frees such a thing walks down all levels and may crash at the bottom.",
        remedy: "Do not load it.",
    },
);

pub(super) static EXPANSION: Rule = Rule::built_in(
    "pickle/expansion",
    "bomb.objects",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A few references that stand for billions of objects",
        why: "Containers hold the same containers again and again, level after level: printing or copying the result never ends.",
        remedy: "Do not load it.",
    },
);

pub(super) static MEMO: Rule = Rule::built_in(
    "pickle/memo-bomb",
    "bomb.objects",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A place in the memo far beyond everything that could be in it",
        why: "Python makes its table of places as large as the largest number: a few bytes of the file take all memory.",
        remedy: "Do not load it.",
    },
);

pub(super) static TRAILING: Rule = Rule::built_in(
    "pickle/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands behind the end of the pickle",
        why: "A loader stops at the end and ignores it: a place to carry data out, or a second file in.",
        remedy: "Cut the file at the end of the pickle before it is passed on.",
    },
);
