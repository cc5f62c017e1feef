//! What an RTF can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

pub(super) static STRUCTURE: Rule = Rule::built_in(
    "rtf/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The text is marked up in a way that no program writes",
        why: "Word reads such a file all the same, each scanner in its own way: that is how objects are hidden from scanners.",
        remedy: "Save the document again with an ordinary program.",
    },
);

pub(super) static TRUNCATED: Rule = Rule::built_in(
    "rtf/truncated",
    "malformed.truncated",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The document ends inside a group",
        why: "Part of it is missing: what a person sees is not what was made.",
        remedy: "Fetch the file again; raise the output limit of the tool if that cut it.",
    },
);

pub(super) static NESTING: Rule = Rule::built_in(
    "rtf/nesting",
    "bomb.recursion",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Groups stand in each other without end",
        why: "Readers that go down into each group use up their stack and crash.",
        remedy: "Do not open it. Make the document again.",
    },
);

pub(super) static TRAILING: Rule = Rule::built_in(
    "rtf/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Data behind the end of the document",
        why: "Word does not show them, but a program that was broken by the document finds them: that is where its code is kept.",
        remedy: "Cut the file at the end of the document; look at what was behind it.",
    },
);

pub(super) static UPDATES: Rule = Rule::built_in(
    "rtf/object-updates",
    "embed.ole",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "An object that is loaded as soon as the document is opened",
        why: "Its program runs without a click. Documents that break Office are made so; no program writes it for its user.",
        remedy: "Do not deliver it.",
    },
);

pub(super) static SHAPE: Rule = Rule::built_in(
    "rtf/shape",
    "embed.ole",
    Severity::High,
    Confidence::Medium,
    RuleText {
        title: "A property of a shape that broke Word",
        why: "Word copied the value of pFragments past the end of its memory: the value is code. No program writes it.",
        remedy: "Do not deliver it.",
    },
);
