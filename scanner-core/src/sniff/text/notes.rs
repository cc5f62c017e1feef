//! Texts that people write and that tools print: Markdown, reStructuredText, LaTeX, man pages, graphs, subtitles,
//! patches.

use super::lines;
use crate::sniff::peek::find;

/// Lines looked at.
const LINES: usize = 400;

/// Patches: unified, context and normal diffs, with what version control writes above them.
pub(super) fn patch(start: &[u8]) -> Option<&'static str> {
    let mut before = [&b""[..], b""];
    for (at, line) in lines(start).take(80).enumerate() {
        let [older, old] = before;
        let unified = line.starts_with(b"@@ -")
            && find(line.get(4..).unwrap_or_default(), b" @@").is_some()
            && old.starts_with(b"+++ ");
        let git = line.starts_with(b"diff --git ")
            || (at == 0 && line.starts_with(b"diff -"))
            || (at == 0 && line.starts_with(b"Index: "));
        let pair = line.starts_with(b"+++ ") && old.starts_with(b"--- ") && at < 40;
        let context = line.starts_with(b"***************") && old.starts_with(b"--- ") && older.starts_with(b"*** ");
        let normal = at == 1 && (line.starts_with(b"< ") || line.starts_with(b"> ")) && is_normal_command(old);
        if unified || git || pair || context || normal {
            return Some("diff");
        }
        before = [old, line];
    }
    None
}

/// `1,2c3` and the like.
fn is_normal_command(line: &[u8]) -> bool {
    let commands = line.iter().filter(|byte| matches!(byte, b'a' | b'c' | b'd')).count();
    commands == 1
        && line.first().is_some_and(u8::is_ascii_digit)
        && line.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'a' | b'c' | b'd'))
}

pub(super) fn kind(head: &[u8]) -> Option<&'static str> {
    if is_subtitles(head) {
        return Some("srt");
    }
    if is_graph(head) {
        return Some("dot");
    }
    // A manual page that is another's.
    if head.starts_with(b".so man") && head.trim_ascii_end().len() < 128 {
        return Some("roff");
    }
    let mut scores = Scores::default();
    scores.read(lines(head));
    scores.kind()
}

/// Number, times, text.
fn is_subtitles(head: &[u8]) -> bool {
    let mut lines = lines(head).skip_while(|line| line.trim_ascii().is_empty());
    let number = lines.next().unwrap_or_default().trim_ascii();
    let times = lines.next().unwrap_or_default();
    !number.is_empty()
        && number.iter().all(u8::is_ascii_digit)
        && find(times, b" --> ").is_some()
        && times.first().is_some_and(u8::is_ascii_digit)
        && memchr::memchr(b',', times).or(memchr::memchr(b'.', times)).is_some()
}

/// `strict digraph name {`, behind comments.
fn is_graph(head: &[u8]) -> bool {
    let code = |line: &&[u8]| {
        !(line.is_empty()
            || line.starts_with(b"//")
            || line.starts_with(b"#")
            || line.starts_with(b"/*")
            || line.starts_with(b"*"))
    };
    let Some(first) = lines(head).take(40).map(<[u8]>::trim_ascii).find(code) else { return false };
    let mut words = first.split(|byte| byte.is_ascii_whitespace() || *byte == b'{').filter(|word| !word.is_empty());
    let mut word = words.next().unwrap_or_default();
    if word.eq_ignore_ascii_case(b"strict") {
        word = words.next().unwrap_or_default();
    }
    let opens = first.contains(&b'{') || (words.count() <= 1 && find(head, b"{").is_some());
    (word.eq_ignore_ascii_case(b"digraph") || word.eq_ignore_ascii_case(b"graph"))
        && opens
        && (find(head, b"->").is_some()
            || find(head, b"--").is_some()
            || find(head, b"[").is_some()
            || find(head, b"}").is_some())
}

/// What programs print of themselves: lines with a level, traces, test runs.
pub(super) fn log(start: &[u8]) -> Option<&'static str> {
    const LEVELS: &[&[u8]] =
        &[b"INFO", b"WARN", b"WARNING", b"ERROR", b"DEBUG", b"TRACE", b"CRITICAL", b"FATAL", b"NOTICE", b"SEVERE"];
    if start.starts_with(b"Traceback (most recent call last)")
        || start.starts_with(b"=====") && find(start.get(..128).unwrap_or(start), b"test session starts ====").is_some()
    {
        return Some("log");
    }
    let (mut all, mut levelled) = (0_u32, 0_u32);
    for line in lines(start).filter(|line| !line.trim_ascii().is_empty()).take(20) {
        let head = line.get(..120).unwrap_or(line);
        let mut words = head.split(|byte| matches!(byte, b' ' | b'[' | b']' | b':' | b'|' | b'(' | b')' | b'<' | b'>'));
        all = all.saturating_add(1);
        levelled = levelled.saturating_add(u32::from(words.any(|word| LEVELS.contains(&word))));
    }
    (levelled >= 2 && levelled.saturating_mul(5) >= all.saturating_mul(3)).then_some("log")
}

/// How much a text looks like a written document.
pub(super) fn strength<'a>(lines: impl Iterator<Item = &'a [u8]>) -> u32 {
    let mut scores = Scores::default();
    scores.read(lines);
    scores.kind().map_or(0, |_| scores.markdown.max(scores.rst).max(scores.latex).max(scores.roff))
}

#[derive(Debug, Default)]
struct Scores {
    markdown: u32,
    /// Whether a mark was seen that no other way of writing has.
    is_markdown: bool,
    rst: u32,
    /// Whether a mark was seen that only reStructuredText has.
    is_rst: bool,
    latex: u32,
    roff: u32,
    lines: u32,
}

impl Scores {
    fn add(score: &mut u32, points: u32) {
        *score = score.saturating_add(points);
    }

    fn read<'a>(&mut self, lines: impl Iterator<Item = &'a [u8]>) {
        let mut before: &[u8] = b"";
        let mut older: &[u8] = b"";
        // A heading stands alone: comments behind a hash have code right below.
        let mut heading = false;
        let mut fenced = false;
        // Settings between two lines of dashes stand above what static sites and notebooks publish.
        let mut front = None;
        for (at, line) in lines.take(LINES).enumerate() {
            match (front, line.trim_ascii_end() == b"---") {
                (None, true) if at == 0 => front = Some(true),
                (Some(true), true) => {
                    front = Some(false);
                    Self::add(&mut self.markdown, 3);
                }
                _ => {}
            }
            if front == Some(true) {
                continue;
            }
            let trimmed = line.trim_ascii();
            if !trimmed.is_empty() {
                Self::add(&mut self.lines, 1);
            }
            if heading && trimmed.is_empty() {
                self.is_markdown = true;
                Self::add(&mut self.markdown, 2);
            }
            let hashes = line.iter().take_while(|byte| **byte == b'#').count();
            heading = (1..=6).contains(&hashes)
                && line.get(hashes) == Some(&b' ')
                && line.len() > hashes.saturating_add(1)
                && before.trim_ascii().is_empty()
                && !fenced;
            if trimmed.starts_with(b"```") || trimmed.starts_with(b"~~~") && trimmed.iter().any(|byte| *byte != b'~') {
                Self::add(&mut self.markdown, 2);
                self.is_markdown = true;
                fenced = !fenced;
            } else if !fenced {
                self.markdown(line, before);
                self.rst(line, before);
                self.latex(trimmed);
                self.roff(line);
            }
            // A title between two lines of the same mark: no Markdown heading is drawn above.
            let drawn = line.len() >= 4
                && line == older
                && line.first().is_some_and(|mark| b"=-~*#".contains(mark) && line.iter().all(|byte| byte == mark));
            if drawn && before.len() <= line.len() && before.trim_ascii().first().is_some_and(u8::is_ascii_alphanumeric)
            {
                self.is_rst = true;
                Self::add(&mut self.rst, 3);
            }
            (older, before) = (before, line);
        }
    }

    fn markdown(&mut self, line: &[u8], before: &[u8]) {
        let trimmed = line.trim_ascii();
        let table = trimmed.contains(&b'|')
            && trimmed.len() >= 3
            && find(trimmed, b"--").is_some()
            && trimmed.iter().all(|byte| b"|-: ".contains(byte));
        let link = find(line, b"](").is_some();
        let image = trimmed.starts_with(b"![") || trimmed.starts_with(b"[![");
        let bold = trimmed.iter().filter(|byte| **byte == b'*').count() >= 4
            && find(trimmed, b"**").is_some()
            && !trimmed.starts_with(b"/*")
            && !trimmed.starts_with(b"***");
        self.is_markdown |= table || link || image || bold;
        let points = u32::from(table)
            .saturating_mul(3)
            .saturating_add(u32::from(link && line.contains(&b'[')).saturating_mul(2))
            .saturating_add(u32::from(image))
            .saturating_add(u32::from(bold));
        let item = (trimmed.starts_with(b"- ") || trimmed.starts_with(b"* ") || trimmed.starts_with(b"> "))
            && trimmed.len() > 3;
        let code = trimmed.iter().filter(|byte| **byte == b'`').count() >= 2;
        Self::add(&mut self.markdown, points.saturating_add(u32::from(item && code)));
        let underline = line.len() >= 3
            && (line.iter().all(|byte| *byte == b'=') || line.iter().all(|byte| *byte == b'-'))
            && !before.trim_ascii().is_empty()
            && line.len() >= before.len() / 2;
        if underline && !before.contains(&b'|') {
            Self::add(&mut self.markdown, 1);
        }
    }

    fn rst(&mut self, line: &[u8], before: &[u8]) {
        let trimmed = line.trim_ascii();
        let directive = trimmed.starts_with(b".. ")
            && (find(trimmed, b"::").is_some() || trimmed.starts_with(b".. _") || trimmed.starts_with(b".. ["));
        let role = [
            &b":ref:`"[..],
            b":class:`",
            b":func:`",
            b":meth:`",
            b":doc:`",
            b":mod:`",
            b":attr:`",
            b":term:`",
            b":option:`",
            b":data:`",
            b":exc:`",
            b":pep:`",
            b":issue:`",
            b":gh:`",
        ]
        .iter()
        .any(|role| find(line, role).is_some());
        // TeX writes ``quotes'' so.
        let literal = find(line, b"``").and_then(|at| find(line.get(at.checked_add(2)?..)?, b"``")).is_some()
            && !trimmed.starts_with(b"```");
        let link = find(line, b"`_").is_some() || find(line, b">`_").is_some();
        let field = trimmed.starts_with(b":")
            && find(trimmed.get(1..).unwrap_or_default(), b": ").is_some_and(|at| at < 30)
            && line.starts_with(b":");
        let underline = line.len() >= 3
            && line
                .first()
                .is_some_and(|first| b"=-~^\"'*+#`".contains(first) && line.iter().all(|byte| byte == first))
            && before.len() >= 2
            && line.len() >= before.len()
            && line.len() <= before.len().saturating_add(4)
            && before.first().is_some_and(u8::is_ascii_alphanumeric);
        self.is_rst |= directive || role || link || (literal && !line.contains(&b'#'));
        let points = u32::from(directive)
            .saturating_mul(4)
            .saturating_add(u32::from(role).saturating_mul(3))
            .saturating_add(u32::from(underline).saturating_mul(2))
            .saturating_add(u32::from(link).saturating_mul(2))
            .saturating_add(u32::from(literal))
            .saturating_add(u32::from(field))
            .saturating_add(u32::from(line.ends_with(b"::") && line.len() > 3));
        Self::add(&mut self.rst, points);
    }

    fn latex(&mut self, trimmed: &[u8]) {
        const COMMANDS: &[&[u8]] = &[
            b"documentclass",
            b"immediate\\",
            b"write18",
            b"documentstyle",
            b"usepackage",
            b"begin{",
            b"end{",
            b"section",
            b"subsection",
            b"chapter",
            b"newcommand",
            b"renewcommand",
            b"providecommand",
            b"title",
            b"author",
            b"maketitle",
            b"input{",
            b"include{",
            b"bibliography",
            b"def\\",
            b"label{",
            b"item",
            b"caption{",
            b"centering",
            b"includegraphics",
            b"paragraph{",
            b"cite{",
            b"newtheorem",
            b"RequirePackage",
            b"ProvidesPackage",
            b"ProvidesClass",
            b"NeedsTeXFormat",
            b"setlength",
            b"pagestyle",
            b"tableofcontents",
            b"newenvironment",
            b"DeclareMathOperator",
            b"toprule",
            b"hline",
            b"midrule",
            b"bottomrule",
            b"let\\",
            b"gdef\\",
            b"makeatletter",
            b"usetheme",
            b"usetikzlibrary",
            b"tikzset",
            b"frametitle",
            b"abstract",
            b"footnote{",
            b"emph{",
            b"textbf{",
            b"noindent",
            b"vspace",
            b"newpage",
            b"setcounter",
            b"bibitem",
            b"relax",
            b"expandafter",
            b"ifx",
            b"catcode",
            b"newif",
            b"draw",
            b"addplot",
            b"pgfplotsset",
            b"date{",
            b"DeclareOption",
            b"LoadClass",
            b"newcounter",
            b"newlength",
            b"AtBeginDocument",
            b"resumeSection",
            b"part{",
        ];
        if let Some(rest) = trimmed.strip_prefix(b"\\")
            && let Some(command) = COMMANDS.iter().find(|command| rest.starts_with(command))
        {
            let strong = matches!(
                *command,
                b"documentclass"
                    | b"immediate\\"
                    | b"write18"
                    | b"usepackage"
                    | b"begin{"
                    | b"section"
                    | b"newcommand"
                    | b"documentstyle"
                    | b"chapter"
                    | b"ProvidesPackage"
                    | b"def\\"
            );
            Self::add(&mut self.latex, if strong { 3 } else { 2 });
        } else if trimmed.starts_with(b"%") && !trimmed.starts_with(b"%%%%") {
            Self::add(
                &mut self.latex,
                u32::from(
                    find(trimmed, b"LaTeX").is_some()
                        || find(trimmed, b"!TEX").is_some()
                        || find(trimmed, b"!TeX").is_some(),
                )
                .saturating_mul(2),
            );
        } else if find(trimmed, b"\\begin{").is_some()
            || find(trimmed, b"\\end{").is_some()
            || find(trimmed, b"\\mathbb").is_some()
            || find(trimmed, b"\\frac{").is_some()
        {
            Self::add(&mut self.latex, 2);
        }
    }

    fn roff(&mut self, line: &[u8]) {
        const REQUESTS: &[&[u8]] = &[
            b"TH", b"SH", b"SS", b"PP", b"TP", b"IP", b"B", b"I", b"BR", b"RB", b"BI", b"IR", b"RI", b"IB", b"RS",
            b"RE", b"nf", b"fi", b"br", b"sp", b"Dd", b"Dt", b"Os", b"Sh", b"Nm", b"Nd", b"Op", b"Pp", b"It", b"El",
            b"Bl", b"Xr", b"de", b"ds", b"if", b"ie", b"el", b"ft", b"ad", b"na", b"hy", b"nh", b"so", b"LP", b"P",
            b"Fl", b"Ar", b"Ql", b"Sx", b"Em", b"An", b"Ss", b"Bd", b"Ed", b"in", b"ti", b"ce", b"nr", b"ll", b"pl",
            b"UR", b"UE", b"EX", b"EE", b"SM", b"AU", b"TL", b"AB", b"AE", b"NH", b"QP", b"Va", b"Li", b"Pa", b"Ev",
            b"Ft", b"Fn", b"Fa", b"Fo", b"Fc", b"Fx", b"Ns", b"Vt", b"In", b"Dl", b"D1", b"St", b"Ic", b"Cm", b"Tn",
        ];
        let Some(rest) = line.strip_prefix(b".").or_else(|| line.strip_prefix(b"'")) else { return };
        let word = rest.get(..rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()).unwrap_or_default();
        if rest.starts_with(b"\\\"")
            || REQUESTS.contains(&word) && rest.get(word.len()).is_none_or(u8::is_ascii_whitespace)
        {
            Self::add(&mut self.roff, if matches!(word, b"TH" | b"Dd" | b"SH" | b"Sh" | b"Dt") { 3 } else { 1 });
        }
    }

    fn kind(&self) -> Option<&'static str> {
        let best = [
            ("roff", self.roff, 3),
            ("latex", self.latex, 3),
            ("rst", if self.is_rst { self.rst } else { 0 }, 5),
            ("markdown", if self.is_markdown { self.markdown } else { 0 }, 4),
        ];
        let (label, score, _) =
            best.into_iter().filter(|(_, score, least)| score >= least).max_by_key(|(label, score, _)| {
                // Their marks mean little elsewhere; ties go to the rarer kind.
                (*score, *label != "markdown")
            })?;
        // A lone mark in a long text is an accident.
        (score.saturating_mul(60) >= self.lines).then_some(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(patch(text.as_bytes()).or_else(|| kind(text.as_bytes())), want, "{text}");
    }

    #[test]
    fn marks_in_prose() {
        check("#1 in sales\n## is our tag\nnot markdown really\n", None);
        check("---\nletters and dashes\n---\n", None);
        check("a graph { of words\n", None);
    }

    #[test]
    fn kinds() {
        check("# Title\n\nText.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", Some("markdown"));
        check("Title\n=====\n\n.. code-block:: python\n\n   x = 1\n\n:ref:`a`\n", Some("rst"));
        check("\\input{a}\n\\newcommand{\\R}{\\mathbb{R}}\n", Some("latex"));
        check(".TH LS 1\n.SH NAME\nls\n", Some("roff"));
        check("strict digraph \"t\" {\nx;\n}\n", Some("dot"));
        check("1\n00:00:01,000 --> 00:00:02,000\nhi\n", Some("srt"));
        check("1c1\n< a\n---\n> b\n", Some("diff"));
        check("--- a\n+++ b\n@@ -1 +1 @@\n", Some("diff"));
    }
}
