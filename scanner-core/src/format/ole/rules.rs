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
