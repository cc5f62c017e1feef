//! Field codes of word processors: what a document does by itself when it is opened or printed. Not a format of its own:
//! a part of others.

use crate::{
    finding::{Finding, Place, Severity, Span},
    format::{Out, embedded, office::rules},
};

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
            Act::Starts(severity) => (&rules::DDE, severity),
            Act::Loads => (&rules::REMOTE, Severity::Medium),
            Act::Links => (&embedded::LINK, Severity::Medium),
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
            out.find(Finding::built_in(&rules::LINK).place(place.clone()).message(message));
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
