//! What the source of a macro does, by its words: which procedures run by themselves, and what it calls.

use std::collections::BTreeSet;

use crate::{
    finding::{Finding, Place, Span},
    format::{Out, vba::rules},
};

/// Procedures that Word, Excel, `PowerPoint`, Access, Outlook, Project, Visio and Publisher start without being asked.
const STARTS: &[&str] = &[
    "app_documentopen",
    "application_mapilogoncomplete",
    "application_newmail",
    "application_newmailex",
    "application_quit",
    "application_reminder",
    "application_startup",
    "auto_activate",
    "auto_add",
    "auto_close",
    "auto_deactivate",
    "auto_exec",
    "auto_exit",
    "auto_nav",
    "auto_new",
    "auto_open",
    "auto_remove",
    "auto_showbegin",
    "autoclose",
    "autoexec",
    "autoexit",
    "autonew",
    "autoopen",
    "document_beforeclose",
    "document_beforesave",
    "document_change",
    "document_close",
    "document_contentcontrolonenter",
    "document_contentcontrolonexit",
    "document_documentopened",
    "document_new",
    "document_open",
    "document_sync",
    "documentbeforeclose",
    "documentchange",
    "documentopen",
    "newdocument",
    "onslideshowpagechange",
    "onslideshowterminate",
    "presentation_open",
    "presentationopen",
    "project_open",
    "slideshowbegin",
    "workbook_activate",
    "workbook_addininstall",
    "workbook_beforeclose",
    "workbook_beforesave",
    "workbook_close",
    "workbook_deactivate",
    "workbook_open",
    "workbook_sheetactivate",
    "workbook_sheetcalculate",
    "workbook_windowactivate",
    "workbook_windowresize",
    "workbookopen",
    "worksheet_activate",
    "worksheet_calculate",
    "worksheet_change",
    "worksheet_selectionchange",
];

/// Events of controls that come when a control is drawn or touched by the pointer: `<control>_<event>`.
const EVENTS: &[&str] = &[
    "_beforenavigate2",
    "_documentcomplete",
    "_downloadbegin",
    "_downloadcomplete",
    "_filedownload",
    "_gotfocus",
    "_layout",
    "_mouseenter",
    "_mousehover",
    "_mouseleave",
    "_mousemove",
    "_navigatecomplete2",
    "_newwindow2",
    "_onconnecting",
    "_painted",
    "_painting",
    "_progresschange",
    "_propertychange",
    "_resize",
    "_setsecurelockicon",
    "_statustextchange",
    "_titlechange",
];

/// Words of the language and of its libraries that reach out of the document.
const CALLS: &[&str] = &[
    "appactivate",
    "applescripttask",
    "callbyname",
    "createobject",
    "createprocess",
    "createprocessa",
    "createprocessw",
    "createremotethread",
    "createthread",
    "declare",
    "environ",
    "executeexcel4macro",
    "followhyperlink",
    "getobject",
    "macscript",
    "queueuserapc",
    "rtlmovememory",
    "savetofile",
    "sendkeys",
    "shell",
    "shellexecute",
    "shellexecutea",
    "shellexecutew",
    "urldownloadtofile",
    "urldownloadtofilea",
    "urldownloadtofilew",
    "virtualalloc",
    "virtualallocex",
    "virtualprotect",
    "winexec",
    "writeprocessmemory",
];

/// Bytes of the shortest of them.
const SHORTEST_CALL: usize = 5;

/// Words in strings, after strings that are added together were joined.
const NAMES: &[&str] = &[
    "adodb.stream",
    "bitsadmin",
    "certutil",
    "cmd /c",
    "cmd.exe",
    "cscript",
    "microsoft.xmlhttp",
    "msbuild",
    "mshta",
    "msxml2.",
    "powershell",
    "pwsh",
    "regsvr32",
    "rundll32",
    "schedule.service",
    "scripting.filesystemobject",
    "shell.application",
    "winhttp.",
    "winmgmts:",
    "wmic ",
    "wscript",
];

/// Words that a project has in its compiled code only when its source had them.
const TELLING: &[&str] = &["createobject", "shellexecute", "urldownloadtofile", "virtualalloc", "winexec"];

/// Words that one finding names.
const NAMED: usize = 6;

/// What was seen in the modules of a project.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Of the module that is being judged.
    starts: BTreeSet<&'static str>,
    events: bool,
    calls: BTreeSet<&'static str>,
    /// Of all modules.
    words: BTreeSet<&'static str>,
    modules: usize,
}

impl Judged {
    /// Reads the source of one module.
    pub(super) fn module(&mut self, name: &str, source: &[u8]) {
        self.starts.clear();
        self.events = false;
        self.calls.clear();
        self.modules = self.modules.saturating_add(1);
        let mut is_named = false;
        let mut has_main = false;
        let mut texts = Vec::new();
        for token in Tokens::of(source) {
            match token {
                Token::Word(word) => {
                    if is_named {
                        self.starts.extend(listed(STARTS, word));
                        self.events |= EVENTS.iter().any(|event| ends_with(word, event));
                        has_main |= word.eq_ignore_ascii_case(b"main");
                    }
                    is_named = [&b"sub"[..], b"function"].iter().any(|kind| word.eq_ignore_ascii_case(kind));
                    if word.len() >= SHORTEST_CALL {
                        self.calls.extend(listed(CALLS, word));
                        self.words.extend(listed(TELLING, word));
                    }
                }
                Token::Text(text) => {
                    texts.extend_from_slice(&text);
                    texts.push(b'\n');
                }
            }
        }
        texts.make_ascii_lowercase();
        self.calls.extend(NAMES.iter().filter(|name| contains(&texts, name)));
        // Word also starts the procedure Main of a module that has such a name.
        if has_main {
            self.starts.extend(listed(STARTS, name.as_bytes()));
        }
        self.words.extend(&self.starts);
    }

    /// Says what the module that was read last is found guilty of.
    pub(super) fn tell(&self, span: Span, place: &Place, out: &mut Out<'_>) {
        let mut say = |rule, message: String| {
            out.find(Finding::built_in(rule).at(span.start, span.end).place(place.clone()).message(message));
        };
        for name in &self.starts {
            say(&rules::AUTOEXEC, format!("the procedure {name} runs by itself"));
        }
        if self.events {
            say(&rules::AUTOEXEC, "a procedure runs when a control is drawn or touched".to_owned());
        }
        if !self.calls.is_empty() {
            let names: Vec<&str> = self.calls.iter().copied().take(NAMED).collect();
            say(&rules::CALLS_OUT, format!("the macro uses {}", names.join(", ")));
        }
    }

    /// A telling word that the compiled code has and no source.
    pub(super) fn missing(&self, compiled: &str) -> Option<&'static str> {
        if self.modules == 0 {
            return None;
        }
        let compiled = compiled.to_ascii_lowercase();
        let telling = STARTS.iter().filter(|name| name.starts_with("auto") || name.ends_with("_open"));
        telling.chain(TELLING).find(|name| !self.words.contains(*name) && contains(compiled.as_bytes(), name)).copied()
    }
}

fn listed(list: &'static [&'static str], word: &[u8]) -> Option<&'static str> {
    list.iter().find(|name| name.as_bytes().eq_ignore_ascii_case(word)).copied()
}

fn ends_with(word: &[u8], end: &str) -> bool {
    let tail = word.len().checked_sub(end.len()).and_then(|at| word.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
}

fn contains(text: &[u8], name: &str) -> bool {
    memchr::memmem::find(text, name.as_bytes()).is_some()
}

/// Whether a source says more than the attributes that every module has.
pub(super) fn has_words(source: &[u8]) -> bool {
    source.split(|byte| matches!(byte, b'\r' | b'\n')).any(|line| {
        let line = line.trim_ascii();
        let is_attribute = line.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"attribute"));
        !line.is_empty() && line.iter().any(u8::is_ascii_alphabetic) && !is_attribute
    }) || source.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"attribute"))
}

/// A word of the source, or a string with those that are added to it.
#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a [u8]),
    Text(Vec<u8>),
}

/// The source, word by word; comments are left out, and a line that goes on in the next is one line.
struct Tokens<'a> {
    source: &'a [u8],
    at: usize,
    at_line_start: bool,
}

impl<'a> Tokens<'a> {
    fn of(source: &'a [u8]) -> Self {
        Self { source, at: 0, at_line_start: true }
    }

    fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn step(&mut self, by: usize) {
        self.at = self.at.saturating_add(by);
    }

    fn skip_line(&mut self) {
        let rest = self.source.get(self.at..).unwrap_or_default();
        self.step(memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len()));
    }

    /// Behind the opening quote: up to the closing one, or the end of the line.
    fn string(&mut self, text: &mut Vec<u8>) {
        loop {
            let rest = self.source.get(self.at..).unwrap_or_default();
            let Some(length) = memchr::memchr3(b'"', b'\r', b'\n', rest) else {
                text.extend_from_slice(rest);
                self.step(rest.len());
                return;
            };
            text.extend_from_slice(rest.get(..length).unwrap_or_default());
            self.step(length);
            if self.peek() != Some(b'"') {
                return;
            }
            self.step(1);
            if self.peek() != Some(b'"') {
                return;
            }
            text.push(b'"');
            self.step(1);
        }
    }

    /// Whether another string is added to the one before; the cursor stands behind its opening quote then.
    fn is_added(&mut self) -> bool {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let mut has_sign = false;
        for (length, byte) in rest.iter().enumerate() {
            match byte {
                b' ' | b'\t' | b'_' | b'\r' | b'\n' => {}
                b'&' | b'+' if !has_sign => has_sign = true,
                b'"' if has_sign => {
                    self.step(length.saturating_add(1));
                    return true;
                }
                _ => return false,
            }
        }
        false
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => self.skip_line(),
                b'\r' | b'\n' => {
                    self.at_line_start = true;
                    self.step(1);
                }
                b'"' => {
                    self.at_line_start = false;
                    self.step(1);
                    let mut text = Vec::new();
                    self.string(&mut text);
                    while self.is_added() {
                        self.string(&mut text);
                    }
                    return Some(Token::Text(text));
                }
                _ if is_letter(byte) => {
                    let rest = self.source.get(self.at..).unwrap_or_default();
                    let is_part = |byte: &u8| is_letter(*byte) || byte.is_ascii_digit() || *byte == b'_';
                    let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                    let word = rest.get(..length).unwrap_or(rest);
                    self.step(length);
                    if std::mem::take(&mut self.at_line_start) && word.eq_ignore_ascii_case(b"rem") {
                        self.skip_line();
                        continue;
                    }
                    return Some(Token::Word(word));
                }
                _ => self.step(1),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(source: &str) -> (Vec<&'static str>, bool, Vec<&'static str>) {
        let mut judged = Judged::default();
        judged.module("Module1", source.as_bytes());
        (judged.starts.iter().copied().collect(), judged.events, judged.calls.iter().copied().collect())
    }

    #[test]
    fn procedures_that_start_are_named_and_words_about_them_are_not() {
        assert_eq!(judged("Private Sub Document_Open()\r\nEnd Sub").0, ["document_open"]);
        assert_eq!(judged("sub _\r\n AUTOOPEN").0, ["autoopen"]);
        assert_eq!(judged("Function auto_open()").0, ["auto_open"]);
        assert!(judged("Sub InkPicture1_Painted()").1);
        assert_eq!(
            judged("' Sub AutoOpen()\r\nRem Sub AutoOpen\r\nx = \"Sub AutoOpen\"\r\nSub Mine()\r\nAutoOpen").0,
            [""; 0]
        );
        assert_eq!(judged("Sub CommandButton1_Click()\nEnd Sub"), (vec![], false, vec![]));
    }

    #[test]
    fn calls_are_seen_through_strings_in_pieces() {
        assert_eq!(judged("x = \"pow\" & \"er\" + _\r\n \"shell -e\"").2, ["powershell"]);
        assert_eq!(
            judged("CreateObject(\"WScript.Shell\").Run \"\"\"cmd.exe\"\"\"").2,
            ["cmd.exe", "createobject", "wscript"]
        );
        assert_eq!(
            judged("Private Declare PtrSafe Function F Lib \"urlmon\" Alias \"URLDownloadToFileA\"").2,
            ["declare"]
        );
        assert_eq!(judged("MsgBox \"hello\" ' Shell\r\nSeashell = 1"), (vec![], false, vec![]));
    }

    #[test]
    fn a_module_that_is_named_so_starts_its_main() {
        let mut judged = Judged::default();
        judged.module("AutoExec", b"Sub MAIN\r\nEnd Sub");
        assert!(judged.starts.contains("autoexec"));
    }

    #[test]
    fn attributes_are_a_source() {
        assert!(has_words(b"Attribute VB_Name = \"Sheet1\"\r\n"), "an empty sheet has compiled code too");
        assert!(!has_words(b""));
        assert!(!has_words(b"\0\0\0\0 \r\n"));
    }
}
