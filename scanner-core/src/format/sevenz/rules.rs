//! What a 7z archive can be found guilty of, beside the names in it.

use crate::finding::{Confidence, Rule, RuleText, Severity};

const fn odd(id: &'static str, category: &'static str, text: RuleText) -> Rule {
    Rule::built_in(id, category, Severity::Medium, Confidence::High, text)
}

pub(super) static STRUCTURE: Rule = odd(
    "sevenz/structure",
    "malformed.structure",
    RuleText {
        title: "The archive is not built as it should be",
        why: "Programs repair it each in their own way, so what is checked and what is unpacked may be two things.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(super) static CHECKSUM: Rule = odd(
    "sevenz/header-checksum",
    "malformed.crc",
    RuleText {
        title: "A header of the archive does not match its checksum",
        why: "It was changed after it was written: by damage, or by a hand that did not care.",
        remedy: "Fetch the archive again; if it comes back the same, find out who changed it.",
    },
);

pub(super) static TRAILING: Rule = odd(
    "sevenz/trailing-data",
    "type.trailing_data",
    RuleText {
        title: "Data behind the end of the archive",
        why: "No program that unpacks it shows them: a place to carry data out, or a second file in.",
        remedy: "Cut the file at the end of the archive; look at what was behind it.",
    },
);

pub(super) static DUPLICATE: Rule = odd(
    "sevenz/duplicate-name",
    "zip.duplicate_name",
    RuleText {
        title: "Two members with one name",
        why: "One overwrites the other, and which one depends on the program: what was checked need not be what is used.",
        remedy: "Have the archive written again with one member for each name.",
    },
);
