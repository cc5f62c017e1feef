//! What a project of macros can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

pub(crate) static PROJECT: Rule = Rule::built_in(
    "vba/project",
    "macro.vba",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document holds macros",
        why: "They are a program with all rights of the person who opens the document and allows them, as one click does.",
        remedy: "Deliver the document without macros: save it in a format that has none.",
    },
);

pub(crate) static AUTOEXEC: Rule = Rule::built_in(
    "vba/autoexec",
    "macro.autoexec",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A macro that runs by itself",
        why: "The program starts it when the document is opened or closed, or when something in it is drawn: nobody has to call it.",
        remedy: "Do not deliver it. Save the document in a format without macros.",
    },
);

pub(crate) static CALLS_OUT: Rule = Rule::built_in(
    "vba/calls-out",
    "macro.vba",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A macro that starts programs, loads from the network or calls the system",
        why: "Calculation and layout need none of that; macros that bring in other software do nothing else.",
        remedy: "Do not deliver it. Have a person read the source in the texts of this result.",
    },
);

pub(crate) static STOMPED: Rule = Rule::built_in(
    "vba/stomped",
    "macro.vba",
    Severity::High,
    Confidence::Medium,
    RuleText {
        title: "The source of a macro is not what was compiled",
        why: "Office runs the compiled code of its own version and shows the source; scanners read the source. Taking it away \
              hides what runs.",
        remedy: "Do not deliver it.",
    },
);

pub(crate) static STRUCTURE: Rule = Rule::built_in(
    "vba/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The project of macros is not built as it should be",
        why: "Part of the source may not have been read, and the program may still run it.",
        remedy: "Save the document in a format without macros.",
    },
);
