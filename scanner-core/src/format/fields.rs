//! Field codes of word processors: what a document does by itself when it is opened or printed. Not a format of its own:
//! a part of others.

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span},
    format::Out,
};

pub(crate) static DDE: Rule = Rule::built_in(
    "fields/dde",
    "macro.dde",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A field that starts a program",
        why: "Dynamic data exchange runs the command that stands in the field when it is updated, after a question that most \
              people answer with yes. No macro is needed.",
        remedy: "Take the field out; its last result is text.",
    },
);

pub(crate) static REMOTE: Rule = Rule::built_in(
    "fields/remote",
    "net.external_ref",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A field that loads from elsewhere",
        why: "The place it points at learns who opened the document and when; Windows may send the name and password hash \
              of the reader along.",
        remedy: "Put what it loads into the document, or take it out.",
    },
);

pub(crate) static TEMPLATE: Rule = Rule::built_in(
    "fields/template",
    "net.external_template",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A template that is fetched from elsewhere",
        why: "The template is loaded when the document is opened, with its macros: code that no check of this file sees.",
        remedy: "Detach the template.",
    },
);

pub(crate) static LINKS: Rule = Rule::built_in(
    "fields/links",
    "net.link",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "Links to other places",
        why: "A click leads out of the document. The addresses are read as text.",
        remedy: "Nothing to do if links were expected.",
    },
);

pub(crate) static UNSEEN: Rule = Rule::built_in(
    "fields/unseen-text",
    "hidden.style",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Text that is formatted so that nobody sees it says something that is meant for a reader",
        why: "A person who opens the document does not see it; a program that reads the text does, and may obey.",
        remedy: "Show hidden text in the word processor, and take it out.",
    },
);

/// What a field does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Starts a program, with the severity of how little is asked.
    Starts(Severity),
    /// Loads from elsewhere.
    Loads,
    /// Links an object that is elsewhere.
    Links,
    /// Leads elsewhere at a click.
    Leads,
}

/// What a field code does; `None` for what only counts or numbers.
pub(super) fn act(code: &str) -> Option<Act> {
    let code = code.trim_start_matches(|c: char| c.is_whitespace() || c == '"' || c == '\u{13}');
    let end = code.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(code.len());
    let (word, rest) = code.split_at_checked(end)?;
    Some(match &*word.to_ascii_uppercase() {
        "DDEAUTO" | "DDE" => Act::Starts(Severity::High),
        "INCLUDEPICTURE" | "INCLUDETEXT" | "INCLUDE" | "IMPORT" | "RD" if is_remote(rest) => Act::Loads,
        "DATABASE" => Act::Loads,
        "LINK" => Act::Links,
        "HYPERLINK" if rest.contains("://") || rest.contains("mailto:") || rest.contains("\\\\\\\\") => Act::Leads,
        _ => return None,
    })
}

/// Whether an argument points out of this machine: an address, or a share of another machine (in field codes every
/// backslash is doubled).
pub(crate) fn is_remote(argument: &str) -> bool {
    let argument = argument.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
    let starts = |with: &str| argument.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    ["http:", "https:", "ftp:", "smb:", "mhtml:", "\\\\", "//", "file://", "file:\\\\", "ldap:", "ms-", "search-ms:"]
        .iter()
        .any(|with| starts(with))
        && !["file:///", "\\\\?\\", "\\\\.\\"].iter().any(|with| starts(with))
}

/// Says what the fields of a document do: the first of each kind with its place, links counted.
#[derive(Debug, Default)]
pub(super) struct Judge {
    told: Vec<&'static str>,
    links: u64,
}

impl Judge {
    pub(super) fn field(&mut self, code: &str, span: Span, place: &Place, out: &mut Out<'_>) {
        let Some(act) = act(code) else { return };
        let (rule, severity) = match act {
            Act::Starts(severity) => (&DDE, severity),
            Act::Loads => (&REMOTE, Severity::Medium),
            Act::Links => (&super::embedded::LINK, Severity::Medium),
            Act::Leads => {
                self.links = self.links.saturating_add(1);
                return;
            }
        };
        if !self.told.contains(&&*rule.id) {
            self.told.push(&rule.id);
            out.find(Finding::built_in(rule).severity(severity).at(span.start, span.end).place(place.clone()));
        }
    }

    pub(super) fn finish(self, place: &Place, out: &mut Out<'_>) {
        if self.links > 0 {
            let message = format!("{} links to other places", self.links);
            out.find(Finding::built_in(&LINKS).place(place.clone()).message(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_known_by_their_first_word() {
        assert_eq!(act(" DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe \"/k calc\""), Some(Act::Starts(Severity::High)));
        assert_eq!(act("dde cmd"), Some(Act::Starts(Severity::High)));
        assert_eq!(act("INCLUDEPICTURE \"http://e.example/a.png\" \\d"), Some(Act::Loads));
        assert_eq!(act("INCLUDEPICTURE \\\\\\\\host\\\\share\\\\a.png"), Some(Act::Loads));
        assert_eq!(act("INCLUDEPICTURE \"C:\\\\Users\\\\me\\\\a.png\""), None);
        assert_eq!(act("LINK Excel.Sheet.8 \"C:\\\\a.xls\""), Some(Act::Links));
        assert_eq!(act("HYPERLINK \"https://e.example\""), Some(Act::Leads));
        assert_eq!(act("HYPERLINK \\l \"chapter\""), None);
        for harmless in ["PAGE", "TOC \\o", "", "é", "SEQ Table", "DDEX y"] {
            assert_eq!(act(harmless), None, "{harmless}");
        }
    }
}
