//! Documents that are programs: TeX, which may run commands when it is set, and PostScript, which is one throughout.

use memchr::{memchr, memmem};

use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity},
    format::Out,
    reader::count,
    view::TextView,
};

pub(in crate::format) static TEX: Rule = Rule::built_in(
    "document/tex-command",
    "script.tex",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "TeX that runs a command or reaches for files",
        why: "Setting the document runs commands of the shell, or reads and writes files of whoever sets it, where that is allowed.",
        remedy: "Set the document with shell escape switched off, or not at all.",
    },
);

pub(in crate::format) static POSTSCRIPT: Rule = Rule::built_in(
    "document/postscript",
    "script.postscript",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "PostScript, which is a program",
        why: "Showing it runs it: its operators can read, write and delete files, and its interpreters had holes that gave away the machine.",
        remedy: "Convert it to PDF or a picture in a closed room, and deliver that.",
    },
);

/// Says if the text, as decoded, is one.
pub(in crate::format) fn look(label: &str, view: &TextView, out: &mut Out<'_>) {
    let text = &view.text;
    let found = match label {
        // A fragment without its beginning is plain text to the sniffer.
        "latex" | "txt" | "text-other" => tex(text).map(|at| (&TEX, at, "a command that runs or reaches out")),
        "ps" => Some(postscript(text)),
        _ => None,
    };
    let Some((rule, at, message)) = found else { return };
    let end = at.saturating_add(1).min(text.len());
    let finding = Finding::built_in(rule).message(message);
    out.find(match view.map.as_ref().map(|map| map.span(count(at), count(end))) {
        Some(span) => finding.at(span.start, span.end),
        None => finding,
    });
}

/// Ways to write `\write18` past whoever looks for it: letters by their code, the name put together.
const DISGUISED: [&[u8]; 3] = [b"\\^^77rite18", b"\\csname write\\endcsname18", b"\\csname write\\endcsname 18"];

/// Where a command stands that runs something or names a file outside of the document's own.
fn tex(text: &[u8]) -> Option<usize> {
    if let Some(at) = DISGUISED.iter().filter_map(|spelling| memmem::find(text, spelling)).min() {
        return Some(at);
    }
    let mut at = 0_usize;
    while let Some(found) = text.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        let start = at.saturating_add(found);
        at = start.saturating_add(1);
        let rest = text.get(at..).unwrap_or_default();
        let letters = rest.iter().take(24).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'@').count();
        let name = rest.get(..letters).unwrap_or_default();
        let behind = rest.get(letters..).unwrap_or_default();
        let argument =
            || behind.trim_ascii_start().trim_ascii_start().strip_prefix(b"{").unwrap_or(behind).trim_ascii_start();
        let acts = match name {
            b"write" => behind.trim_ascii_start().starts_with(b"18"),
            b"ShellEscape" | b"directlua" | b"latelua" | b"luaexec" | b"luadirect" => !behind.is_empty(),
            b"input" | b"include" | b"verbatiminput" | b"lstinputlisting" | b"includegraphics" | b"usepackage" => {
                let argument = argument();
                // A bar begins a command; an absolute path or a way up is no part of the document.
                argument.starts_with(b"|")
                    || argument.starts_with(b"\"|")
                    || (name != b"includegraphics"
                        && (argument.starts_with(b"/etc")
                            || argument.starts_with(b"/proc")
                            || argument.starts_with(b"/home")
                            || argument.starts_with(b"/root")))
            }
            b"openout" | b"openin" => {
                memmem::find(behind.get(..64).unwrap_or(behind), b"=/").is_some()
                    || memmem::find(behind.get(..64).unwrap_or(behind), b"|").is_some()
            }
            _ => false,
        };
        if acts {
            return Some(start);
        }
    }
    None
}

/// What a program in PostScript does worst, by its operators.
fn postscript(text: &[u8]) -> (&'static Rule, usize, &'static str) {
    let operators: [(&[u8], &str); 6] = [
        (b"%pipe%", "it starts another program"),
        (b"deletefile", "it deletes files"),
        (b"renamefile", "it renames files"),
        (b" file", "it opens files"),
        (b" run", "it runs files"),
        (b"systemdict", "it changes what operators mean"),
    ];
    for (operator, message) in operators {
        if let Some(at) = memmem::find(text, operator) {
            return (&POSTSCRIPT, at, message);
        }
    }
    (&POSTSCRIPT, 0, "showing it runs it")
}

#[cfg(test)]
mod tests {
    use crate::format::{testing::look, text};

    fn facts(label: &'static str, content: &str) -> Vec<String> {
        look(&text::FORMAT, label, content.as_bytes()).facts()
    }

    #[test]
    fn tex_that_runs() {
        for content in [
            "\\immediate\\write18{true}",
            "\\immediate\\^^77rite18{true}",
            "\\csname write\\endcsname18{true}",
            "a \\input{|id}",
            "\\input|id ",
            "\\directlua{os.execute('id')}",
            "\\openin5=/etc/passwd",
            "\\verbatiminput{/etc/passwd}",
        ] {
            assert_eq!(facts("latex", content).len(), 1, "{content}");
        }
        assert_eq!(facts("latex", "\\documentclass{article}\\input{part}\\write1{x}\\usepackage{amsmath}"), [""; 0]);
    }

    #[test]
    fn postscript_is_a_program() {
        assert_eq!(facts("ps", "%!PS\n0 0 moveto\n"), ["medium script.postscript 0..1"]);
        assert_eq!(facts("ps", "%!PS\n(a) (r) file\n"), ["medium script.postscript 12..13"]);
    }
}
