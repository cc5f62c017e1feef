//! What an OLE document can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

pub(super) static TRAILING: Rule = Rule::built_in(
    "ole/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Data behind the end of the document",
        why: "No program shows them, but another one finds and runs them: a place to carry a second file in.",
        remedy: "Save the document again with the program that made it; look at what was behind it.",
    },
);

pub(super) static XLM_RUNS: Rule = Rule::built_in(
    "ole/formula-runs",
    "macro.xl4",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A formula that starts programs or calls the system",
        why: "Calculation needs none of these functions; they load libraries, write files and run commands.",
        remedy: "Do not deliver it.",
    },
);

pub(super) static OTHER_BOOK: Rule = Rule::built_in(
    "ole/other-workbook",
    "net.external_ref",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "Cells are taken from another workbook",
        why: "The path names a folder of the computer it was made on; the values are those of the last time it was opened.",
        remedy: "Replace the links by their values.",
    },
);

pub(super) static QUERY: Rule = Rule::built_in(
    "ole/query",
    "net.external_ref",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A table that is fetched from elsewhere",
        why: "Excel asks the place it names when the workbook is opened or refreshed: it learns who reads, and it decides what \
              is shown.",
        remedy: "Replace the query by its result.",
    },
);

pub(super) static RUNS_PROGRAM: Rule = Rule::built_in(
    "ole/runs-program",
    "exec.shortcut",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A click on a slide starts a program",
        why: "The presentation names a program of the computer it is shown on, or one that it brought along.",
        remedy: "Take the action out.",
    },
);

pub(super) static RUNS_MACRO: Rule = Rule::built_in(
    "ole/runs-macro",
    "macro.autoexec",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A click on a slide starts a macro",
        why: "What it starts is in the project of the presentation.",
        remedy: "Deliver the presentation without macros.",
    },
);
