//! What is told of office documents, whatever they are written in.

use crate::{
    finding::{Confidence, Rule, RuleText, Severity},
    format::{cfb, embedded, pull::doctype, vba, zip},
};

/// Rules of every office format.
pub(crate) const ALL: [&Rule; 26] = [
    &LINK,
    &REMOTE,
    &REMOTE_TEMPLATE,
    &LINKED_OBJECT,
    &EMBEDDED_FILE,
    &SCRIPT_LINK,
    &PROTOCOL,
    &PROGRAM,
    &AUTOEXEC,
    &XL4,
    &BASIC,
    &SCRIPT_FILE,
    &DDE,
    &FORMULA,
    &ACTIVEX,
    &HIDDEN_SHEET,
    &TYPE_LIE,
    &STRUCTURE,
    &FAR,
    &REPEAT,
    &DEEP,
    &HIDDEN_STYLE,
    &HIDDEN_COLOR,
    &HIDDEN_SIZE,
    &HIDDEN_OFFPAGE,
    &HIDDEN_UNSEEN,
];

pub(crate) static LINK: Rule = Rule::built_in(
    "office/link",
    "net.link",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "There is a link to elsewhere",
        why: "A click on it leaves the document.",
        remedy: "Look where it goes before following it.",
    },
);

pub(crate) static REMOTE: Rule = Rule::built_in(
    "office/loads-from-elsewhere",
    "net.external_ref",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The document loads something from elsewhere",
        why: "Opening it tells another machine who reads it and when, and shows what that machine sends. A share of \
              Windows also gets the reader's credentials.",
        remedy: "Open it without access to the network, or take the reference out.",
    },
);

pub(crate) static REMOTE_TEMPLATE: Rule = Rule::built_in(
    "office/template-from-elsewhere",
    "net.external_template",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document takes its template from another machine",
        why: "The template is loaded when the document opens, and its macros run: the document itself carries none and \
              passes every filter (template injection).",
        remedy: "Do not open it; remove the reference to the template.",
    },
);

pub(crate) static LINKED_OBJECT: Rule = Rule::built_in(
    "office/linked-object",
    "embed.ole",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document shows an object that it does not hold",
        why: "The object is loaded when the document opens and handed to the program that its type names; a page or \
              script among them runs.",
        remedy: "Do not open it; replace the object by a picture of it.",
    },
);

pub(crate) static EMBEDDED_FILE: Rule = Rule::built_in(
    "office/embedded-file",
    "embed.file",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "The document holds another file",
        why: "A double click opens the file inside.",
        remedy: "Look at the file inside as at any other.",
    },
);

pub(crate) static SCRIPT_LINK: Rule = Rule::built_in(
    "office/script-link",
    "html.url",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The target of a link is code",
        why: "Where the document is shown as a page, a click runs the code with the rights of that page.",
        remedy: "Remove the link.",
    },
);

pub(crate) static PROTOCOL: Rule = Rule::built_in(
    "office/protocol",
    "exec.protocol",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A link starts a program by its protocol",
        why: "Protocols such as ms-msdt and search-ms hand the rest of the link to a program of the system, which has \
              been made to run commands.",
        remedy: "Do not open it.",
    },
);

pub(crate) static PROGRAM: Rule = Rule::built_in(
    "office/starts-program",
    "exec.shortcut",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "An action of the document starts a program",
        why: "A click, or the mouse passing over, starts the program that the action names.",
        remedy: "Do not open it; remove the action.",
    },
);

pub(crate) static AUTOEXEC: Rule = Rule::built_in(
    "office/autoexec",
    "macro.autoexec",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Macros run by themselves",
        why: "The document names a macro that runs when it is opened, closed or looked at.",
        remedy: "Do not deliver it.",
    },
);

pub(crate) static XL4: Rule = Rule::built_in(
    "office/old-macros",
    "macro.xl4",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The workbook has a sheet of Excel 4 macros",
        why: "Such a sheet runs commands and calls functions of the system, and many scanners for macros do not see \
              it.",
        remedy: "Deliver it without the sheet, or not at all.",
    },
);

pub(crate) static BASIC: Rule = Rule::built_in(
    "office/script",
    "macro.basic",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document carries scripts",
        why: "Scripts inside a document run with all rights of the reader when an event or a button calls them.",
        remedy: "Deliver it without scripts, or not at all.",
    },
);

pub(crate) static SCRIPT_FILE: Rule = Rule::built_in(
    "office/script-file",
    "exec.script",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document carries a script file",
        why: "The office program runs it in its own process, with all rights of the reader.",
        remedy: "Deliver it without scripts, or not at all.",
    },
);

pub(crate) static DDE: Rule = Rule::built_in(
    "office/dde",
    "macro.dde",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document asks another program to run something",
        why: "Dynamic data exchange starts the program that a field or formula names, with the words it gives: a \
              command, after one or two questions that most people confirm.",
        remedy: "Do not open it; remove the field or formula.",
    },
);

pub(crate) static FORMULA: Rule = Rule::built_in(
    "office/formula",
    "script.formula",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A formula reaches outside the workbook",
        why: "It sends the content of cells to an address, or takes in what comes from there.",
        remedy: "Remove the formula or keep only its value.",
    },
);

pub(crate) static ACTIVEX: Rule = Rule::built_in(
    "office/activex",
    "active.activex",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The document holds an ActiveX control",
        why: "A control is code of the reader's machine that the document starts and gives data to.",
        remedy: "Replace the control by its picture.",
    },
);

pub(crate) static HIDDEN_SHEET: Rule = Rule::built_in(
    "office/hidden-sheet",
    "office.hidden_sheet",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "A sheet is hidden",
        why: "What stands there is computed with and not shown; a sheet that is very hidden cannot be shown by the \
              menu.",
        remedy: "Show the sheet and look at it.",
    },
);

pub(crate) static TYPE_LIE: Rule = Rule::built_in(
    "office/type-lie",
    "type.mismatch",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The document says that it has no macros, and has",
        why: "Its main part is declared as the kind without macros: filters that go by the declaration or the name let \
              it pass.",
        remedy: "Treat it as a document with macros.",
    },
);

pub(crate) static STRUCTURE: Rule = Rule::built_in(
    "office/structure",
    "malformed.structure",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The parts of the document do not fit together",
        why: "Programs repair such a document each in its own way, and so read different ones; a count that lies makes \
              some of them reserve memory for what is not there.",
        remedy: "Have the document written again by the program it comes from.",
    },
);

pub(crate) static FAR: Rule = Rule::built_in(
    "office/far-cells",
    "bomb.dimensions",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A few cells span a sheet of giga cells",
        why: "A reader that keeps the sheet as one rectangle reserves memory for all of it.",
        remedy: "Move the cells together, or read the sheet cell by cell.",
    },
);

pub(crate) static REPEAT: Rule = Rule::built_in(
    "office/repeated-cells",
    "bomb.ratio",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A cell is repeated without measure",
        why: "A few bytes stand for millions of cells with content: a reader that expands them runs out of memory.",
        remedy: "Do not pass it on.",
    },
);

pub(crate) static DEEP: Rule = Rule::built_in(
    "office/deep-nesting",
    "bomb.recursion",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Elements are nested without measure",
        why: "Readers that go down by recursion overflow their stacks and crash.",
        remedy: "Do not pass it on.",
    },
);

pub(crate) static HIDDEN_STYLE: Rule = Rule::built_in(
    "office/hidden-text",
    "hidden.style",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Text that is switched off says something",
        why: "People do not see hidden characters, rows and sheets; a model that is given the text reads it as part of \
              the document.",
        remedy: "Remove the hidden text before a model reads the document.",
    },
);

pub(crate) static HIDDEN_COLOR: Rule = Rule::built_in(
    "office/hidden-color",
    "hidden.color",
    Severity::High,
    Confidence::Medium,
    RuleText {
        title: "Text in the colour of the page says something",
        why: "People do not see it; a model that is given the text reads it as part of the document.",
        remedy: "Remove the hidden text before a model reads the document.",
    },
);

pub(crate) static HIDDEN_SIZE: Rule = Rule::built_in(
    "office/hidden-size",
    "hidden.size",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Text too small to be read says something",
        why: "People do not see it; a model that is given the text reads it as part of the document.",
        remedy: "Remove the hidden text before a model reads the document.",
    },
);

pub(crate) static HIDDEN_OFFPAGE: Rule = Rule::built_in(
    "office/hidden-beside-page",
    "hidden.offpage",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Text beside the page says something",
        why: "It stands outside the slide, on a hidden slide or in the notes: people who look at the pages do not see \
              it, a model that is given the text does.",
        remedy: "Remove the hidden text before a model reads the document.",
    },
);

pub(crate) static HIDDEN_UNSEEN: Rule = Rule::built_in(
    "office/hidden-in-properties",
    "hidden.comment",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Text that is on no page says something",
        why: "Properties, comments, names and descriptions are not shown with the pages; a model that is given the \
              whole document reads them.",
        remedy: "Remove the properties before a model reads the document.",
    },
);

/// Lists of rules as one.
const fn join<const N: usize>(lists: &[&[&'static Rule]]) -> [&'static Rule; N] {
    let mut out = [&LINK; N];
    let mut rest = lists;
    let mut at = 0;
    while let [list, behind @ ..] = rest {
        let mut list = *list;
        while let [rule, next @ ..] = list {
            #[expect(
                clippy::indexing_slicing,
                clippy::arithmetic_side_effects,
                reason = "done by the compiler, which refuses to leave the bounds"
            )]
            {
                out[at] = rule;
                at += 1;
            }
            list = next;
        }
        rest = behind;
    }
    out
}

/// Rules of office documents that are a zip.
pub(crate) static WITH_ZIP: [&Rule; ALL.len() + zip::FORMAT.rules.len() + doctype::RULES.len() + INSIDE.len()] =
    join(&[&ALL, zip::FORMAT.rules, doctype::RULES, INSIDE]);

/// Rules of projects and objects inside a document.
const INSIDE: &[&Rule] = &[
    &cfb::LOOP,
    &cfb::OVERLAP,
    &cfb::STRUCTURE,
    &cfb::TRUNCATED,
    &embedded::EXECUTABLE,
    &embedded::OBJECT,
    &vba::AUTOEXEC,
    &vba::CALLS_OUT,
    &vba::PROJECT,
    &vba::STOMPED,
    &vba::STRUCTURE,
];
