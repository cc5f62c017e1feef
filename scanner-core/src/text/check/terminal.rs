//! Terminal escapes: a small state machine over ESC, CSI, OSC, DCS, SOS, PM and APC with their C1 forms.
//!
//! Colours, erasing to the end of a line, hiding the cursor and a carriage return that redraws a progress bar are what
//! honest programs print. Everything that moves over written text, talks to the terminal, writes its title or
//! clipboard, or hides text is a finding.

use std::{borrow::Cow, ops::Range};

use super::{About, Check, Said, Sink, saying};
use crate::{
    finding::{Confidence, Rule, RuleText, Severity},
    sequence::{holds_control, introduced, is_done_at_once},
};

pub(super) const CHECK: Check =
    Check { rules: &[&CLIPBOARD, &CONCEAL, &CONTROL, &CURSOR, &DEVICE, &HYPERLINK, &TITLE], about: About::Shown, run };

static CLIPBOARD: Rule = Rule::built_in(
    "terminal/clipboard",
    "terminal.clipboard",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "Writes or reads the clipboard of the terminal",
        why: "OSC 52 puts a command into the clipboard of whoever looks at the output, to be pasted into a shell.",
        remedy: "Remove the escape sequence before the text reaches a terminal.",
    },
);
static CONCEAL: Rule = Rule::built_in(
    "terminal/conceal",
    "terminal.conceal",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Text that the terminal does not show",
        why: "Concealed or same-coloured text is invisible to a person and plain to a model that reads the output.",
        remedy: "Remove the escape sequences; look at the text that was hidden.",
    },
);
static CONTROL: Rule = Rule::built_in(
    "terminal/control",
    "terminal.control",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Changes how the terminal works",
        why: "Modes, resets, key definitions, character sets and private strings outlive the output and change what \
              the person sees or types afterwards.",
        remedy: "Remove the escape sequence before the text reaches a terminal.",
    },
);
static CURSOR: Rule = Rule::built_in(
    "terminal/cursor",
    "terminal.cursor",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "Writes over what was already written",
        why: "After moving the cursor or erasing, the person sees another text than the one that a model or a log \
              reads.",
        remedy: "Remove the escape sequences; look at the text that was written over.",
    },
);
static DEVICE: Rule = Rule::built_in(
    "terminal/device",
    "terminal.device",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Asks the terminal to answer",
        why: "The answer arrives as if the person had typed it: into a shell, a command of the sender's choice.",
        remedy: "Remove the escape sequence before the text reaches a terminal.",
    },
);
static HYPERLINK: Rule = Rule::built_in(
    "terminal/hyperlink",
    "terminal.hyperlink",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "A link whose text does not say where it leads",
        why: "OSC 8 shows any text as a link to any address: a person clicks what looks like something else.",
        remedy: "Remove the link, or show its address.",
    },
);
static TITLE: Rule = Rule::built_in(
    "terminal/title",
    "terminal.title",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Sets the title of the terminal window",
        why: "A title can imitate another program or host, and some terminals can be asked to type it back.",
        remedy: "Remove the escape sequence before the text reaches a terminal.",
    },
);

/// A control string without its end is taken this far.
const STRING_LONGEST: usize = 4096;

fn run(text: &[u8], sink: &mut Sink<'_>) {
    let mut at = 0_usize;
    let mut link: Option<Link> = None;
    while let Some(found) = next_control(text, at) {
        at = sequence(text, found, &mut link, sink).max(found.saturating_add(1));
    }
    overwritten(text, sink);
}

/// A link that was opened.
#[derive(Debug)]
struct Link {
    start: usize,
    label_start: usize,
    address: Range<usize>,
}

/// Where the next ESC, C1 introducer, shift or backspace stands.
fn next_control(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let first = memchr::memchr3(0x1b, 0x0e, 0x0f, rest);
    let window = first.and_then(|end| rest.get(..end)).unwrap_or(rest);
    let c1 = memchr::memchr_iter(0xc2, window)
        .find(|at| window.get(at.saturating_add(1)).is_some_and(|byte| is_introducer(*byte)));
    let raw = if window.is_ascii() { None } else { raw_c1(window) };
    [first, c1, raw].into_iter().flatten().min().map(|at| from.saturating_add(at))
}

/// C1 controls as single bytes, where the bytes are not UTF-8.
fn raw_c1(window: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    for chunk in window.utf8_chunks() {
        at = at.saturating_add(chunk.valid().len());
        if let Some(first) = chunk.invalid().first()
            && is_introducer(*first)
        {
            return Some(at);
        }
        at = at.saturating_add(chunk.invalid().len());
    }
    None
}

fn is_introducer(byte: u8) -> bool {
    matches!(byte, 0x84..=0x85 | 0x8d | 0x90 | 0x98 | 0x9a..=0x9b | 0x9d..=0x9f)
}

/// Judges the sequence at `start`; returns where it ends.
fn sequence(text: &[u8], start: usize, link: &mut Option<Link>, sink: &mut Sink<'_>) -> usize {
    let byte = |at: usize| text.get(at).copied();
    // ESC [ and its C1 forms (U+009B as C2 9B, or the bare byte 9B) are one thing.
    let (kind, body) = match byte(start) {
        Some(0x1b) => {
            let about = introduced(text, start.saturating_add(1));
            if holds_control(text.get(start.saturating_add(1)..about).unwrap_or_default()) {
                sink.find(&CONTROL, text, start..about, saying("has a control inside of a sequence"));
            }
            match byte(about) {
                // Another sequence, or the end of this one: what follows is looked at by itself.
                Some(0x18 | 0x1a | 0x1b | 0x80..) => return about,
                kind => (kind, about.saturating_add(1)),
            }
        }
        Some(0xc2) => (byte(start.saturating_add(1)).map(|c1| c1.wrapping_sub(0x40)), start.saturating_add(2)),
        Some(c1 @ 0x80..=0x9f) => (Some(c1.wrapping_sub(0x40)), start.saturating_add(1)),
        Some(_) => {
            let end = start.saturating_add(1);
            sink.find(&CONTROL, text, start..end, saying("switches to another character set"));
            return end;
        }
        None => return start,
    };
    match kind {
        Some(b'[') => csi(text, start, body, sink),
        Some(b']') => osc(text, start, body, link, sink),
        Some(b'P') => {
            let (end, range) = string(text, body);
            // DECRQSS and XTGETTCAP ask; others define keys, fonts, pictures.
            let asks = text.get(range.clone()).is_some_and(|body| body.starts_with(b"$q") || body.starts_with(b"+q"));
            let (rule, what) =
                if asks { (&DEVICE, "asks the terminal for a setting") } else { (&CONTROL, "a device control string") };
            sink.find(rule, text, start..end, saying(what));
            end
        }
        Some(b'X' | b'^' | b'_') => {
            let (end, _) = string(text, body);
            sink.find(&CONTROL, text, start..end, saying("a private string for the terminal"));
            end
        }
        Some(b'c') => {
            sink.find(&CONTROL, text, start..body, saying("resets the terminal"));
            body
        }
        Some(b'Z') => {
            sink.find(&DEVICE, text, start..body, saying("asks what the terminal is"));
            body
        }
        Some(b'D' | b'E' | b'M' | b'7' | b'8') => {
            sink.find(&CURSOR, text, start..body, Said::default());
            body
        }
        Some(b'=' | b'>' | b'n' | b'o' | b'|' | b'}' | b'~' | b'N' | b'O' | b'6' | b'9' | b'#') => {
            sink.find(&CONTROL, text, start..body, saying("changes the mode of keys or characters"));
            body
        }
        Some(b' ') => {
            let end = body.saturating_add(1).min(text.len());
            sink.find(&CONTROL, text, start..end, saying("changes how controls are written"));
            end
        }
        Some(b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'%') => {
            // ESC ( B selects ASCII: tput sgr0 ends every colour with it.
            let set = byte(body);
            let end = body.saturating_add(1).min(text.len());
            if set != Some(b'B') {
                sink.find(&CONTROL, text, start..end, saying("selects another character set"));
            }
            end
        }
        _ => body.min(text.len()),
    }
}

/// A control string: where the sequence ends, and its body.
fn string(text: &[u8], body: usize) -> (usize, Range<usize>) {
    let limit = body.saturating_add(STRING_LONGEST).min(text.len());
    let window = text.get(body..limit).unwrap_or_default();
    for (at, byte) in window.iter().enumerate() {
        let here = body.saturating_add(at);
        let next = window.get(at.saturating_add(1)).copied();
        match byte {
            0x07 => return (here.saturating_add(1), body..here),
            0x1b if next == Some(b'\\') => return (here.saturating_add(2), body..here),
            0x1b => return (here, body..here),
            0xc2 if next == Some(0x9c) => return (here.saturating_add(2), body..here),
            0x9c if at.checked_sub(1).and_then(|last| window.get(last)).is_none_or(|last| *last < 0x80) => {
                return (here.saturating_add(1), body..here);
            }
            _ => {}
        }
    }
    // Never ended: the terminal would swallow the rest; one line of it stands for the finding.
    let line = memchr::memchr(b'\n', window).unwrap_or(window.len());
    (body.saturating_add(line), body..body.saturating_add(line))
}

fn csi(text: &[u8], start: usize, body: usize, sink: &mut Sink<'_>) -> usize {
    // However long: a terminal passes over the parameters that are too many for it, and does the rest.
    let window = text.get(body..).unwrap_or_default();
    let Some(length) = window.iter().position(|byte| !(0x20..=0x3f).contains(byte) && !is_done_at_once(*byte)) else {
        return text.len();
    };
    let inside = window.get(..length).unwrap_or_default();
    let mut parameters = Cow::Borrowed(inside);
    if inside.iter().any(u8::is_ascii_control) {
        parameters.to_mut().retain(|byte| !is_done_at_once(*byte));
        if holds_control(inside) {
            let end = body.saturating_add(length);
            sink.find(&CONTROL, text, start..end, saying("has a control inside of a sequence"));
        }
    }
    let parameters = &*parameters;
    let end = body.saturating_add(length).saturating_add(1);
    let private = parameters.first().is_some_and(|first| (b'<'..=b'?').contains(first));
    let intermediate = parameters.last().copied().filter(|last| (0x20..=0x2f).contains(last));
    let range = start..end;
    match (window.get(length).copied(), intermediate) {
        (Some(b'm'), None) if !private => {
            if conceals(parameters) {
                sink.find(&CONCEAL, text, range, Said::default());
            }
        }
        (Some(b'm'), _) => {}
        // Erasing to the end of a line is half of every coloured compiler message.
        (Some(b'K'), None) if !matches!(parameters, b"1" | b"2") => {}
        (Some(b'K'), None) => erases_line(text, range, sink),
        (Some(b'h' | b'l'), None) if matches!(parameters, b"?25") => {}
        (Some(b'h' | b'l'), None) => {
            sink.find(&CONTROL, text, range, saying("switches a mode of the terminal"));
        }
        (Some(b'n' | b'c'), None) => sink.find(&DEVICE, text, range, saying("asks the terminal for its state")),
        (Some(b't'), None) => sink.find(&DEVICE, text, range, saying("asks for or changes the window")),
        (Some(b'x' | b'i'), None) => sink.find(&DEVICE, text, range, saying("asks the terminal for its state")),
        (Some(b'p' | b'q' | b'y' | b'w' | b'u'), Some(_)) => {
            sink.find(&CONTROL, text, range, saying("resets or changes the terminal"));
        }
        (Some(b'r'), None) => sink.find(&CURSOR, text, range, saying("confines output to a part of the screen")),
        // Moving right writes over nothing; to a column only where something stands.
        (Some(b'C' | b'a'), None) => {}
        (
            Some(b'A'..=b'J' | b'L'..=b'M' | b'P' | b'S'..=b'T' | b'X' | b'@' | b'`' | b'd'..=b'f' | b's' | b'u'),
            None,
        ) => {
            sink.find(&CURSOR, text, range, Said::default());
        }
        (Some(0x40..=0x7e), _) => sink.find(&CONTROL, text, range, saying("changes the terminal")),
        _ => return body.saturating_add(length),
    }
    end
}

/// SGR 8, or a foreground set to the colour of the background in one sequence.
fn conceals(parameters: &[u8]) -> bool {
    let mut foreground: Option<&[u8]> = None;
    let mut background: Option<&[u8]> = None;
    let parts: Vec<&[u8]> = parameters.split(|byte| matches!(byte, b';' | b':')).collect();
    let mut rest = parts.as_slice();
    while let [part, after @ ..] = rest {
        rest = after;
        match *part {
            b"8" => return true,
            // 38;5;n and 38;2;r;g;b: the colour's own numbers are not attributes.
            b"38" | b"48" => {
                let takes = match after.first() {
                    Some(&b"5") => 2,
                    Some(&b"2") => 4,
                    _ => 0,
                };
                rest = after.get(takes..).unwrap_or_default();
            }
            [b'3', colour] => foreground = Some(std::slice::from_ref(colour)),
            [b'4', colour] => background = Some(std::slice::from_ref(colour)),
            _ => {}
        }
    }
    matches!((foreground, background), (Some(front), Some(back)) if front == back && front != b"9" && front != b"8")
}

/// ESC [ 2 K: innocent at the start of a line, or beside a carriage return that redraws what is alike.
fn erases_line(text: &[u8], range: Range<usize>, sink: &mut Sink<'_>) {
    let line = line_around(text, range.start);
    let before = text.get(line.start..range.start).unwrap_or_default();
    let before = trim(before);
    let after = text.get(range.end..line.end).unwrap_or_default();
    let after = after.split(|byte| matches!(byte, b'\r' | 0x1b)).next().unwrap_or_default();
    let last = before.rsplit(|byte| *byte == b'\r').find(|part| !trim(part).is_empty()).unwrap_or_default();
    if !last.is_empty() && !alike(last, after) {
        sink.find(&CURSOR, text, line.start..line.end.min(line.start.saturating_add(400)), Said::default());
    }
}

fn osc(text: &[u8], start: usize, body: usize, link: &mut Option<Link>, sink: &mut Sink<'_>) -> usize {
    let (end, range) = string(text, body);
    let content = text.get(range.clone()).unwrap_or_default();
    let (number, rest) = match memchr::memchr(b';', content) {
        Some(at) => (content.get(..at).unwrap_or_default(), content.get(at.saturating_add(1)..).unwrap_or_default()),
        None => (content, &b""[..]),
    };
    // Zeros and other controls in it are passed over.
    let mut number = Cow::Borrowed(number);
    if number.iter().any(u8::is_ascii_control) {
        number.to_mut().retain(|byte| !is_done_at_once(*byte));
    }
    let number = &*number;
    let whole = start..end;
    // CAN, SUB and the controls of C1 end a string early: what it seems to hold would be done.
    let is_odd = holds_control(content) || next_control(content, 0).is_some();
    if matches!(number, b"8" | b"133" | b"633") && is_odd {
        sink.find(&CONTROL, text, whole.clone(), saying("has a control inside of a sequence"));
    }
    match number {
        b"0" | b"1" | b"2" | b"l" | b"L" => sink.find(&TITLE, text, whole, Said::default()),
        b"52" => sink.find(&CLIPBOARD, text, whole, Said::default()),
        b"8" => {
            let skipped = memchr::memchr(b';', rest).map_or(rest.len(), |at| at.saturating_add(1));
            let address = range.end.saturating_sub(rest.len().saturating_sub(skipped))..range.end;
            if address.is_empty() {
                if let Some(open) = link.take() {
                    close(text, &open, start, end, sink);
                }
            } else {
                *link = Some(Link { start, label_start: end, address });
            }
        }
        // 133 and 633: marks of shell integration, without effect on what is shown.
        b"133" | b"633" => {}
        _ => sink.find(&CONTROL, text, whole, saying("changes colours or settings of the terminal")),
    }
    end
}

/// Judges a link whose label has ended.
fn close(text: &[u8], link: &Link, label_end: usize, end: usize, sink: &mut Sink<'_>) {
    let squeeze = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
    };
    let label = squeeze(text.get(link.label_start..label_end).unwrap_or_default());
    let address = squeeze(text.get(link.address.clone()).unwrap_or_default());
    let says_where = label.len() >= 3 && memchr::memmem::find(&address, &label).is_some();
    if !says_where {
        let end = end.min(link.start.saturating_add(STRING_LONGEST));
        sink.find(&HYPERLINK, text, link.start..end, Said::default());
    }
}

/// Carriage returns and backspaces that put another text over what was written.
fn overwritten(text: &[u8], sink: &mut Sink<'_>) {
    // Old files end lines with a carriage return alone: nothing is written over there.
    let has_newline = memchr::memchr(b'\n', text).is_some();
    let returns = memchr::memchr_iter(b'\r', text).count();
    let mut from = 0_usize;
    while let Some(at) = text.get(from..).and_then(|rest| memchr::memchr2(b'\r', 0x08, rest)) {
        let here = from.saturating_add(at);
        from = here.saturating_add(1);
        if text.get(here) == Some(&0x08) {
            from = backspaces(text, here, sink);
            continue;
        }
        let next = text.get(from).copied();
        if matches!(next, None | Some(b'\n' | b'\r')) || (!has_newline && returns > 3) {
            continue;
        }
        let line = line_around(text, here);
        let before = text.get(line.start..here).unwrap_or_default();
        let before = before.rsplit(|byte| *byte == b'\r').next().unwrap_or_default();
        let after = text.get(from..line.end).unwrap_or_default();
        let after = after.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let erases = after.starts_with(b"\x1b[");
        let (old, new) = (plain(before), plain(after));
        let covers = erases || new.len() >= old.len();
        if old.len() >= 3 && new.len() >= 3 && covers && !alike(&old, &new) {
            let start = here.saturating_sub(before.len());
            let end = from.saturating_add(after.len()).min(start.saturating_add(400));
            sink.find(&CURSOR, text, start..end.max(from), saying("a carriage return puts another text over a line"));
        }
    }
}

/// A run of backspaces: one after each letter is how manuals print bold; several in a row erase.
fn backspaces(text: &[u8], start: usize, sink: &mut Sink<'_>) -> usize {
    let run = text.get(start..).unwrap_or_default().iter().take_while(|byte| **byte == 0x08).count();
    let end = start.saturating_add(run);
    let after = text.get(end).copied().unwrap_or(b'\n');
    let before = start.checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b'\n');
    if run >= 3 && before > b' ' && after > b' ' && !before.is_ascii_digit() && before != b'%' {
        let from = start.saturating_sub(run);
        sink.find(
            &CURSOR,
            text,
            from..end.saturating_add(run).min(text.len()),
            saying("backspaces put another text over a word"),
        );
    }
    end
}

fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let from = at.saturating_sub(400);
    let before = text.get(from..at).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(from, |newline| from.saturating_add(newline).saturating_add(1));
    let to = at.saturating_add(400).min(text.len());
    let end =
        memchr::memchr(b'\n', text.get(at..to).unwrap_or_default()).map_or(to, |newline| at.saturating_add(newline));
    start..end
}

fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

/// The text without CSI sequences and blanks around it.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if *first == 0x1b && after.first() == Some(&b'[') {
            let length = after.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte)).unwrap_or(after.len());
            rest = after.get(length.saturating_add(2)..).unwrap_or_default();
            continue;
        }
        out.push(*first);
        rest = after;
    }
    trim(&out).to_vec()
}

/// Whether two states of one line belong to the same progress display: they begin alike, or both show numbers or a bar.
fn alike(old: &[u8], new: &[u8]) -> bool {
    let (old, new) = (trim(old), trim(new));
    if new.is_empty() {
        return true;
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let counts = |text: &[u8]| {
        memchr::memchr(b'%', text).is_some()
            || memchr::memmem::find(text, "█".as_bytes()).is_some()
            || memchr::memmem::find(text, b"##").is_some()
            || memchr::memmem::find(text, b"==").is_some()
            || text.iter().filter(|byte| byte.is_ascii_digit()).count() >= 3
    };
    same >= 4 || same == old.len().min(new.len()) || (counts(old) && counts(new))
}
