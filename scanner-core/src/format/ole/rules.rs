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

pub(super) static CONTROL: Rule = Rule::built_in(
    "ole/control",
    "active.activex",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The document holds controls of other programs",
        why: "The program of a control is loaded when the document is opened; some of them run what they are given.",
        remedy: "Deliver the document without controls.",
    },
);

pub(super) static XLM: Rule = Rule::built_in(
    "ole/macro-sheet",
    "macro.xl4",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A sheet of Excel 4.0 macros",
        why: "Its cells are a program that can start others. Nobody has written such sheets for honest use in decades.",
        remedy: "Do not deliver it. Save the cells that matter in a new workbook.",
    },
);

pub(super) static XLM_AUTO: Rule = Rule::built_in(
    "ole/macro-sheet-auto",
    "macro.autoexec",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A name that runs a macro sheet by itself",
        why: "Excel starts at that name when the workbook is opened, closed or changed to: nobody has to call it.",
        remedy: "Do not deliver it.",
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

pub(super) static HIDDEN_SHEET: Rule = Rule::built_in(
    "ole/hidden-sheet",
    "office.hidden_sheet",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "A sheet that is hidden",
        why: "People put helper tables there; what is in it goes along without being looked at.",
        remedy: "Show it before the workbook goes on.",
    },
);

pub(super) static VERY_HIDDEN_SHEET: Rule = Rule::built_in(
    "ole/very-hidden-sheet",
    "office.hidden_sheet",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A sheet that is hidden so that only a macro can show it",
        why: "No menu of Excel brings it back. That is where macros keep what nobody should find.",
        remedy: "Have a person look at it with a macro or another program.",
    },
);

pub(super) static UNSEEN_SHEET: Rule = Rule::built_in(
    "ole/hidden-sheet-speaks",
    "hidden.style",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A hidden sheet says something that is meant for a reader",
        why: "A person who opens the workbook does not see it; a program that reads all cells does, and may obey.",
        remedy: "Look at the hidden sheet, and take it out.",
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
