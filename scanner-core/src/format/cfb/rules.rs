//! What a compound file can be found guilty of.

use crate::finding::{Confidence, Rule, RuleText, Severity};

const fn malformed(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

pub(crate) static STRUCTURE: Rule = malformed(
    "ole/structure",
    "malformed.structure",
    RuleText {
        title: "The tables of the compound file say something that cannot be",
        why: "Programs repair such a file each in their own way, so what a scanner sees is not what the program opens.",
        remedy: "Save the document again with the program that made it.",
    },
);

pub(crate) static TRUNCATED: Rule = malformed(
    "ole/truncated",
    "malformed.truncated",
    RuleText {
        title: "Part of the compound file is missing",
        why: "A stream ends before the length that is announced: what a person sees is not what was made.",
        remedy: "Fetch the file again; raise the output limit of the tool if that cut it.",
    },
);

pub(crate) static LOOP: Rule = malformed(
    "ole/loop",
    "bomb.recursion",
    RuleText {
        title: "The tables of the compound file lead in a circle",
        why: "A reader that follows them never ends, or fills the memory. No program writes such a file.",
        remedy: "Do not open it. Make the document again.",
    },
);

pub(crate) static OVERLAP: Rule = malformed(
    "ole/overlap",
    "bomb.overlap",
    RuleText {
        title: "Two parts of the compound file share the same bytes",
        why: "A small file unpacks to a large one that way, and a scanner may take the bytes for the harmless one of the two.",
        remedy: "Do not open it. Make the document again.",
    },
);
