//! Languages that set pages and are programs: PostScript always, TeX where it reaches out of the document.

use memchr::memmem;

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, text},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

pub(crate) const FORMAT: Format =
    Format { name: "typeset", labels: &["ps", "latex"], inspect, rules: &[&POSTSCRIPT, &POSTSCRIPT_FILES, &TEX] };

static POSTSCRIPT: Rule = Rule::built_in(
    "typeset/postscript",
    "script.postscript",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A page that is a program",
        why: "PostScript is a language with loops and files; showing a page runs it. Interpreters had many ways out of their \
              sandbox.",
        remedy: "Ask for a PDF or a picture instead.",
    },
);

static POSTSCRIPT_FILES: Rule = Rule::built_in(
    "typeset/postscript-files",
    "script.postscript",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A page that opens files or starts commands",
        why: "It reads, deletes or runs what it names as soon as it is shown, wherever the interpreter lets it.",
        remedy: "Do not open it.",
    },
);

static TEX: Rule = Rule::built_in(
    "typeset/tex",
    "script.tex",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A document that runs commands or reads files outside when it is set",
        why: "TeX starts a shell for it where that is allowed, and copies any file that it can read into the page.",
        remedy: "Set it only with `-no-shell-escape` and in a place without secrets.",
    },
);

/// Operators of PostScript that touch files or leave the sandbox, each as it stands behind other words (PostScript
/// Language Reference, 8.1; the last four are of Ghostscript).
const OPERATORS: [&[u8]; 10] = [
    b") file",
    b") run",
    b"%pipe%",
    b" deletefile",
    b" renamefile",
    b" filenameforall",
    b".runexec",
    b".forceput",
    b".libfile",
    b"/OutputFile",
];

/// Commands of TeX that take the name of a file to be read into the page.
const READS: [&[u8]; 6] =
    [b"\\input", b"\\include", b"\\openin", b"\\lstinputlisting", b"\\verbatiminput", b"\\VerbatimInput"];

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    budget.spend(Resource::Steps, count(bytes.len()).div_euclid(4))?;
    let found = if subject.kind.label == "latex" {
        reaching(bytes).map(|at| (&TEX, at))
    } else {
        let operator = OPERATORS.iter().filter_map(|word| memmem::find(bytes, word)).min();
        Some(operator.map_or((&POSTSCRIPT, 0), |at| (&POSTSCRIPT_FILES, at)))
    };
    if let Some((rule, at)) = found {
        let place = Place::default().number("offset", count(at));
        let end = at.saturating_add(8).min(bytes.len());
        out.find(Finding::built_in(rule).at(count(at), count(end)).place(place));
    }
    text::inspect(subject, out, budget)
}

/// Where a document in TeX first reaches out of itself.
fn reaching(bytes: &[u8]) -> Option<usize> {
    let plain = plain(bytes);
    let commands = memchr::memchr_iter(b'\\', &plain).filter(|at| {
        let rest = plain.get(*at..).unwrap_or_default();
        writes_to_shell(rest) || reads_outside(rest)
    });
    // Where characters were spelled out the place is near.
    commands.map(|at| at.min(bytes.len())).next()
}

/// `\write18`, blanks and an equals sign allowed, and its other names.
fn writes_to_shell(command: &[u8]) -> bool {
    if let Some(rest) = command.strip_prefix(b"\\write") {
        let number = rest.iter().position(|byte| !matches!(byte, b' ' | b'=' | b'\n' | b'\r' | b'\t'));
        return number.and_then(|at| rest.get(at..)).is_some_and(|number| {
            number.starts_with(b"18") && !number.get(2).is_some_and(u8::is_ascii_digit)
        });
    }
    if let Some(code) = command.strip_prefix(b"\\directlua").or(command.strip_prefix(b"\\latelua")) {
        let code = code.get(..LOOKED_AT).unwrap_or(code);
        return [&b"os."[..], b"io.", b"lfs.", b"require"].iter().any(|word| memmem::find(code, word).is_some());
    }
    command.starts_with(b"\\ShellEscape") || command.starts_with(b"\\DeclareRobustCommand\\ShellEscape")
}

/// Code behind a command is looked at so far.
const LOOKED_AT: usize = 256;

/// A file named by an absolute path, or a command in place of one.
fn reads_outside(command: &[u8]) -> bool {
    let rest = READS.iter().find_map(|word| command.strip_prefix(*word));
    let Some(rest) = rest.filter(|rest| !rest.first().is_some_and(u8::is_ascii_alphabetic)) else { return false };
    // Options in brackets, a number of a stream, an equals sign.
    let rest = if rest.first() == Some(&b'[') {
        let options = rest.get(..LOOKED_AT).unwrap_or(rest);
        options.iter().position(|byte| *byte == b']').and_then(|end| rest.get(end.saturating_add(1)..)).unwrap_or(rest)
    } else {
        rest
    };
    let name = rest.iter().position(|byte| !matches!(byte, b' ' | b'{' | b'"' | b'=' | b'0'..=b'9'));
    let name = name.and_then(|at| rest.get(at..)).unwrap_or_default();
    [&b"/"[..], b"|", b"~/", b"../.."].iter().any(|start| name.starts_with(start))
}

/// The text with what is spelled out put in place: `^^77` is `w`, and `\csname write\endcsname` is `\write`.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut reader = Reader::new(bytes);
    while let Ok(byte) = reader.u8() {
        let rest = reader.rest();
        if byte == b'^' && rest.first() == Some(&b'^') {
            let digits = rest.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
            let code = digits.filter(|digits| digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
            if let Some(code) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                text.push(code);
                // They are there: they were just read.
                let _ = reader.take(3);
                continue;
            }
        }
        if byte == b'\\' && rest.starts_with(b"csname") {
            text.push(byte);
            let _ = reader.take(6);
            while reader.rest().first() == Some(&b' ') {
                let _ = reader.u8();
            }
        } else if byte == b'\\' && rest.starts_with(b"endcsname") {
            let _ = reader.take(9);
        } else {
            text.push(byte);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::testing::look;

    #[test]
    fn tex_that_reaches_out() {
        for text in [
            r"\immediate\write18{id}",
            r"\write 18 {id}",
            r"\write=18{id}",
            r"\^^77rite18{id}",
            r"\csname write\endcsname18{id}",
            r"\input{|id}",
            r"\input|id",
            r"\input{/etc/passwd}",
            r"\input /etc/passwd",
            r"\lstinputlisting[language=c]{/etc/passwd}",
            r"\openin5=/etc/passwd",
            r"\directlua{os.execute('id')}",
            r"\ShellEscape{id}",
        ] {
            let facts = look(&FORMAT, "latex", text.as_bytes()).facts();
            assert!(facts.len() == 1 && facts[0].starts_with("medium script.tex"), "{text}: {facts:?}");
        }
        for text in [
            r"\documentclass{article}\begin{document}x\end{document}",
            r"\input{chapters/one}",
            r"\input{../shared/head}",
            r"\write\file{x}",
            r"\write180{x}",
            r"\includegraphics{/tmp/a.png}",
            "x^^2 and 2^^n",
        ] {
            assert_eq!(look(&FORMAT, "latex", text.as_bytes()).facts(), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn postscript_is_a_program() {
        let look = |text: &str| look(&FORMAT, "ps", text.as_bytes()).facts();
        assert_eq!(look("%!PS\n0 0 moveto\n"), ["medium script.postscript 0..8"]);
        assert_eq!(look("%!PS\n(true) (r) file\n"), ["high script.postscript 15..21"]);
        assert_eq!(look("%!PS\n(%pipe%id) (w) file\n"), ["high script.postscript 6..14"]);
    }
}
