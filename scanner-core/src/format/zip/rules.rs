//! What a zip can be found guilty of, beside the names in it.

use crate::finding::{Confidence, Rule, RuleText, Severity};

const fn odd(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

pub(super) static STRUCTURE: Rule = odd(
    "zip/structure",
    "malformed.structure",
    RuleText {
        title: "The archive is not built as it should be",
        why: "Programs repair it each in their own way, so what is checked and what is unpacked may be two things.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(super) static MISMATCH: Rule = odd(
    "zip/header-mismatch",
    "zip.header_mismatch",
    RuleText {
        title: "The directory and the header before a member say different things of it",
        why: "A program that reads from the front and one that reads the directory unpack two different archives.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(super) static HIDDEN: Rule = odd(
    "zip/hidden-entry",
    "zip.hidden_entry",
    RuleText {
        title: "A member that the directory does not list",
        why: "Most programs do not show it; those that read from the front unpack it all the same.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(super) static UNLISTED: Rule = odd(
    "zip/unlisted-data",
    "malformed.structure",
    RuleText {
        title: "Data between the members that belong to none of them",
        why: "No program shows them: a place to hide data in an archive that looks complete.",
        remedy: "Have the archive written again with an ordinary program: that drops them.",
    },
);

pub(super) static PREFIX: Rule = odd(
    "zip/prefix-data",
    "type.prefix_data",
    RuleText {
        title: "Something stands before the archive begins",
        why: "Programs that read the directory skip it; those that read from the front open that instead.",
        remedy: "Have a person look, or take only the part that is the archive.",
    },
);

pub(super) static TRAILING: Rule = odd(
    "zip/trailing-data",
    "type.trailing_data",
    RuleText {
        title: "Data behind the end of the archive",
        why: "Programs that search for the end from behind may find another one there; others show nothing of it.",
        remedy: "Cut the file at the end of the archive; look at what was behind it.",
    },
);

pub(super) static SECOND: Rule = odd(
    "zip/second-archive",
    "type.polyglot",
    RuleText {
        title: "A second archive in the same file, outside of the first",
        why: "Which of the two is unpacked depends on the program: one is checked, the other is opened.",
        remedy: "Have one archive written with an ordinary program.",
    },
);

pub(super) static DUPLICATE: Rule = odd(
    "zip/duplicate-name",
    "zip.duplicate_name",
    RuleText {
        title: "Two members with one name",
        why: "Some programs unpack the first, some the last, or one overwrites the other: what was checked need not be what is used.",
        remedy: "Have the archive written again with one member for each name.",
    },
);

pub(super) static OVERLAP: Rule = Rule::built_in(
    "zip/overlap",
    "bomb.overlap",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Members that share the same packed bytes",
        why: "Each byte is unpacked once for every member that claims it: a small file becomes a gigantic one. No \
              program writes such an archive.",
        remedy: "Do not unpack it.",
    },
);

pub(super) static SIZE_LIE: Rule = odd(
    "zip/impossible-size",
    "zip.size_lie",
    RuleText {
        title: "A size that the packed bytes cannot have",
        why: "A program that reserves what a header asks for runs out of memory before it unpacks a byte.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);
