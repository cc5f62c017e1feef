//! What a tape archive can be found guilty of, beside the names in it.

use crate::finding::{Confidence, Rule, RuleText, Severity};

const fn odd(id: &'static str, category: &'static str, severity: Severity, text: RuleText) -> Rule {
    Rule::built_in(id, category, severity, Confidence::High, text)
}

pub(super) static STRUCTURE: Rule = odd(
    "tar/structure",
    "malformed.structure",
    Severity::Medium,
    RuleText {
        title: "The archive is not built as it should be",
        why: "Programs repair it each in their own way, so what is checked and what is unpacked may be two things.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(super) static CHECKSUM: Rule = odd(
    "tar/checksum",
    "malformed.crc",
    Severity::Medium,
    RuleText {
        title: "The header of a member does not match its checksum",
        why: "It was changed after it was written: by damage, or by a hand that did not care.",
        remedy: "Fetch the archive again; if it comes back the same, find out who changed it.",
    },
);

pub(super) static SIZES: Rule = odd(
    "tar/two-sizes",
    "malformed.structure",
    Severity::Medium,
    RuleText {
        title: "A member has one size in its header and another in its description",
        why: "A program that goes by the other one finds headers in the middle of the content, and members that nobody \
              checked.",
        remedy: "Have the archive written again with an ordinary program.",
    },
);

pub(super) static TRAILING: Rule = odd(
    "tar/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    RuleText {
        title: "Data behind the end of the archive",
        why: "Most programs stop at the end; some go on and unpack what stands there.",
        remedy: "Cut the file at the end of the archive; look at what was behind it.",
    },
);

pub(super) static SPARSE: Rule = odd(
    "tar/sparse",
    "bomb.ratio",
    Severity::High,
    RuleText {
        title: "A file with holes that is gigantic once they are filled",
        why: "A few bytes become a file larger than the disk wherever the holes are written out.",
        remedy: "Do not unpack it.",
    },
);

pub(super) static DUPLICATE: Rule = odd(
    "tar/duplicate-name",
    "zip.duplicate_name",
    Severity::Low,
    RuleText {
        title: "Two members with one name",
        why: "The second overwrites the first. That is how an archive is brought up to date.",
        remedy: "Nothing to do, if both are wanted.",
    },
);
