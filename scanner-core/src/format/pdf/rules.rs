//! What a PDF can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

/// Names that make something happen, or that hold what does.
pub(super) const ACTIVE_NAMES: &[&[u8]] = &[
    b"JavaScript",
    b"JS",
    b"OpenAction",
    b"AA",
    b"Launch",
    b"URI",
    b"SubmitForm",
    b"ImportData",
    b"GoToR",
    b"GoToE",
    b"EmbeddedFile",
    b"EmbeddedFiles",
    b"EF",
    b"Filespec",
    b"RichMedia",
    b"Movie",
    b"Sound",
    b"Rendition",
    b"XFA",
    b"AcroForm",
    b"Action",
    b"Encrypt",
    b"ObjStm",
    b"XRef",
    b"Win",
    b"Screen",
    b"Names",
    b"Annots",
    b"Next",
    b"RichMediaExecute",
    b"Collection",
];

const fn rule(id: &'static str, category: &'static str, severity: Severity, text: RuleText) -> Rule {
    Rule::built_in(id, category, severity, Confidence::High, text)
}

const REWRITE: &str = "Print the document to a new PDF, or write it again with an ordinary program.";
const STRIP: &str = "Take the action out before the document is passed on, or print the document to a new PDF.";

pub(super) static STRUCTURE: Rule = rule(
    "pdf/structure",
    "malformed.structure",
    Severity::Medium,
    RuleText {
        title: "The objects of the document are not as the standard has them",
        why: "Readers repair such a document each in their own way, so two of them may show two documents.",
        remedy: REWRITE,
    },
);

pub(super) static XREF: Rule = rule(
    "pdf/xref",
    "malformed.xref",
    Severity::Medium,
    RuleText {
        title: "The table of objects does not fit the document",
        why: "A reader that trusts the table and one that searches the file see different objects.",
        remedy: REWRITE,
    },
);

pub(super) static TRUNCATED: Rule = rule(
    "pdf/truncated",
    "malformed.truncated",
    Severity::Medium,
    RuleText {
        title: "The document ends early",
        why: "What is missing was not seen; readers guess at it, each in their own way.",
        remedy: "Fetch the file again, or ask for a complete one.",
    },
);

pub(super) static HEADER: Rule = rule(
    "pdf/header-offset",
    "malformed.header_offset",
    Severity::Medium,
    RuleText {
        title: "The header of the document comes late",
        why: "Filters that look at the first bytes take the file for something else; readers search for the header and open it.",
        remedy: REWRITE,
    },
);

pub(super) static DEEP: Rule = rule(
    "pdf/nesting",
    "bomb.recursion",
    Severity::High,
    RuleText {
        title: "Values are nested without end",
        why: "Readers that follow nesting by calling themselves run out of stack and crash.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static LOOP: Rule = rule(
    "pdf/loop",
    "bomb.recursion",
    Severity::Medium,
    RuleText {
        title: "Objects of the document lead back to themselves",
        why: "A reader that follows them without keeping count never ends.",
        remedy: REWRITE,
    },
);

pub(super) static EXPANSION: Rule = rule(
    "pdf/expansion",
    "bomb.recursion",
    Severity::High,
    RuleText {
        title: "A small document that unfolds to an enormous one",
        why: "Objects are used over and over inside each other: a reader that draws or lists them all never ends.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static FILTERS: Rule = rule(
    "pdf/filters",
    "bomb.recursion",
    Severity::High,
    RuleText {
        title: "A stream is packed many times over",
        why: "No honest writer does so: it hides content from filters that undo a few layers, or wears a reader out.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static RATIO: Rule = rule(
    "pdf/bomb",
    "bomb.ratio",
    Severity::High,
    RuleText {
        title: "A stream unpacks to far more than it is",
        why: "A reader that unpacks it runs out of memory or time.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static DIMENSIONS: Rule = rule(
    "pdf/image-size",
    "bomb.dimensions",
    Severity::High,
    RuleText {
        title: "A picture that claims an enormous size",
        why: "A reader that makes room for it runs out of memory.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static NAME_ESCAPE: Rule = rule(
    "pdf/name-escape",
    "pdf.name_escape",
    Severity::Medium,
    RuleText {
        title: "Letters of a name are written as numbers",
        why: "No writer needs that: it hides words such as JavaScript from filters that search for them.",
        remedy: REWRITE,
    },
);

pub(super) static INCREMENTAL: Rule = rule(
    "pdf/incremental",
    "pdf.incremental",
    Severity::Info,
    RuleText {
        title: "The document was saved over an older version of itself",
        why: "The older version is still in the file, and a reader that searches the file may show it.",
        remedy: "Nothing to do, unless the older version says something that must not leave.",
    },
);

pub(super) static TRAILING: Rule = rule(
    "pdf/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    RuleText {
        title: "Something stands behind the end of the document",
        why: "Readers show nothing of it: a place to carry data out, or a second file in.",
        remedy: "Cut the file at its end before it is passed on.",
    },
);

pub(super) static SCRIPT: Rule = rule(
    "pdf/javascript",
    "script.pdf_js",
    Severity::Medium,
    RuleText {
        title: "The document carries JavaScript",
        why: "Readers that know it run it when the document is opened, printed, or touched: it was the way in of most attacks by PDF.",
        remedy: STRIP,
    },
);

pub(super) static LAUNCH: Rule = rule(
    "pdf/launch",
    "exec.pdf_launch",
    Severity::High,
    RuleText {
        title: "The document starts a program",
        why: "A launch action runs a program or opens a file of the computer that the document is read on.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static SUBMIT: Rule = rule(
    "pdf/submit-form",
    "html.form",
    Severity::Medium,
    RuleText {
        title: "A form of the document is sent away",
        why: "What is typed into the form goes to the address that the document names.",
        remedy: STRIP,
    },
);

pub(super) static EXTERNAL: Rule = rule(
    "pdf/external",
    "net.external_ref",
    Severity::Medium,
    RuleText {
        title: "The document reaches for something outside",
        why: "A file or share that the document names is opened by the reader; a share of a stranger's gets the user's credentials on the way.",
        remedy: STRIP,
    },
);

pub(super) static SCHEME: Rule = rule(
    "pdf/link-scheme",
    "html.url",
    Severity::Medium,
    RuleText {
        title: "A link of the document is a script or carries content of its own",
        why: "A browser that shows the document may run it as part of the page.",
        remedy: STRIP,
    },
);

pub(super) static PROTOCOL: Rule = rule(
    "pdf/link-protocol",
    "exec.protocol",
    Severity::High,
    RuleText {
        title: "A link of the document calls a handler of the system",
        why: "Such addresses start programs with words of the stranger's choosing; several were used in attacks.",
        remedy: "Do not pass it on.",
    },
);

pub(super) static LINK: Rule = rule(
    "pdf/link",
    "net.link",
    Severity::Info,
    RuleText {
        title: "The document has links",
        why: "Whoever follows one leaves the document.",
        remedy: "Nothing to do.",
    },
);

pub(super) static AUTO_OPEN: Rule = rule(
    "pdf/auto-open",
    "net.auto_open",
    Severity::Medium,
    RuleText {
        title: "The document goes outside without being asked",
        why: "An action that runs when the document or a page is opened tells a stranger who reads it, and where.",
        remedy: STRIP,
    },
);

pub(super) static EMBEDDED: Rule = rule(
    "pdf/embedded-file",
    "embed.file",
    Severity::Medium,
    RuleText {
        title: "A file is attached to the document",
        why: "A reader saves or opens it at a click: filters that look at the document alone never see it.",
        remedy: "Take the attachment out, or judge it on its own.",
    },
);

pub(super) static RICH_MEDIA: Rule = rule(
    "pdf/rich-media",
    "active.richmedia",
    Severity::Medium,
    RuleText {
        title: "The document plays something",
        why: "Films, sounds, Flash and 3D models are handed to players that were the way in of attacks.",
        remedy: STRIP,
    },
);

pub(super) static XFA: Rule = rule(
    "pdf/xfa",
    "script.xfa",
    Severity::Medium,
    RuleText {
        title: "The document carries a form in XML, with scripts of its own",
        why: "Readers that know XFA build the pages from it and run its scripts; others show something else.",
        remedy: REWRITE,
    },
);

const fn hidden(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::High, Confidence::High, text)
}

const UNSEEN: &str = "A person never sees it where it stands, a model that is given the text of the document reads it.";
const LOOK: &str = "Do not give the text of this document to a model; ask where it comes from.";

pub(super) static HIDDEN_COLOR: Rule = hidden(
    "pdf/hidden-color",
    "hidden.color",
    RuleText { title: "A message in the colour of what it stands on, or without any", why: UNSEEN, remedy: LOOK },
);

pub(super) static HIDDEN_SIZE: Rule = hidden(
    "pdf/hidden-size",
    "hidden.size",
    RuleText { title: "A message too small to be read", why: UNSEEN, remedy: LOOK },
);

pub(super) static HIDDEN_OFFPAGE: Rule = hidden(
    "pdf/hidden-offpage",
    "hidden.offpage",
    RuleText { title: "A message outside of what is shown of the page", why: UNSEEN, remedy: LOOK },
);

pub(super) static HIDDEN_COVERED: Rule = hidden(
    "pdf/hidden-covered",
    "hidden.overwritten",
    RuleText { title: "A message painted over, or on a layer that is off", why: UNSEEN, remedy: LOOK },
);

pub(super) static HIDDEN_COMMENT: Rule = hidden(
    "pdf/hidden-comment",
    "hidden.comment",
    RuleText { title: "A message between the objects of the document", why: UNSEEN, remedy: LOOK },
);

/// All of them.
pub(super) const ALL: &[&Rule] = &[
    &STRUCTURE,
    &XREF,
    &TRUNCATED,
    &HEADER,
    &DEEP,
    &LOOP,
    &EXPANSION,
    &FILTERS,
    &RATIO,
    &DIMENSIONS,
    &NAME_ESCAPE,
    &INCREMENTAL,
    &TRAILING,
    &SCRIPT,
    &LAUNCH,
    &SUBMIT,
    &EXTERNAL,
    &SCHEME,
    &PROTOCOL,
    &LINK,
    &AUTO_OPEN,
    &EMBEDDED,
    &RICH_MEDIA,
    &XFA,
    &HIDDEN_COLOR,
    &HIDDEN_SIZE,
    &HIDDEN_OFFPAGE,
    &HIDDEN_COVERED,
    &HIDDEN_COMMENT,
];
