//! Names of members, as the paths that an unpacking program makes of them. A part of every archive format.

use std::{borrow::Cow, collections::BTreeSet};

use icu_normalizer::ComposingNormalizerBorrowed;
use memchr::memmem;

use crate::{
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity},
    format::Out,
    limits::{Budget, Exhausted, Resource},
    reader::count,
};

mod safe;

pub(super) use safe::SafeNames;

/// Longest part of a path on every common file system, in bytes; and of a whole path (`PATH_MAX`).
const LONGEST_PART_BYTES: usize = 255;
const LONGEST_PATH_BYTES: usize = 4096;
/// Parts of a path that are looked at for links; an honest tree is not so deep.
pub(super) const DEEPEST: usize = 64;
/// Steps of one byte of a name: several passes over its parts.
const STEPS_PER_BYTE: u64 = 4;

pub(super) static TRAVERSAL: Rule = Rule::built_in(
    "path/traversal",
    "path.traversal",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A name that climbs out of the folder it is unpacked in",
        why: "A program that unpacks by name writes it over files that belong to somebody else (Zip Slip).",
        remedy: "Do not unpack it; have the archive written again with plain names.",
    },
);

pub(super) static ABSOLUTE: Rule = Rule::built_in(
    "path/absolute",
    "path.absolute",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A name that says from the root, a drive or another machine where it belongs",
        why: "A program that unpacks by name writes it there, whatever folder was chosen.",
        remedy: "Do not unpack it; have the archive written again with plain names.",
    },
);

pub(super) static SPECIAL: Rule = Rule::built_in(
    "path/special-name",
    "path.special_name",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A name that another system takes for something else",
        why: "Devices, streams, control characters and letters that only look like dots turn one name into two: the one \
              that is checked and the one that is written.",
        remedy: "Rename the member before it is unpacked.",
    },
);

pub(super) static DISGUISED: Rule = Rule::built_in(
    "path/disguised-program",
    "exec.name",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A program under a name that looks like a document's",
        why: "The person sees a document, double clicks it, and runs a program.",
        remedy: "Do not deliver it.",
    },
);

pub(super) static SYMLINK: Rule = Rule::built_in(
    "path/symlink",
    "path.symlink",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A symbolic link in an archive",
        why: "What is unpacked after it may be written through it, and what is read through it may be any file of the \
              machine.",
        remedy: "Have the archive written again with the files themselves.",
    },
);

pub(super) static HARDLINK: Rule = Rule::built_in(
    "path/hardlink",
    "path.hardlink",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A hard link in an archive",
        why: "It names a file that is not in the archive: what is written to the link later is written to that file.",
        remedy: "Have the archive written again with the files themselves.",
    },
);

pub(super) static DEVICE: Rule = Rule::built_in(
    "path/device",
    "path.device",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A device, pipe or socket in an archive",
        why: "Unpacked with enough rights it gives access to the disk itself, or blocks whoever reads it.",
        remedy: "Do not unpack it; no result needs one.",
    },
);

pub(super) static SPECIAL_MODE: Rule = Rule::built_in(
    "path/special-mode",
    "path.special_mode",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A file that runs with the rights of its owner",
        why: "The bits setuid and setgid give whoever starts it the rights of whoever unpacked it.",
        remedy: "Unpack without these bits, or have the archive written again.",
    },
);

/// What a path is found to be: a rule and what makes it so.
pub(super) type Fault = (&'static Rule, &'static str);

/// Says what is wrong with a name, and pays for it.
pub(super) fn judge(
    name: &str,
    at: (u64, u64),
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    budget.spend(Resource::Steps, count(name.len()).saturating_mul(STEPS_PER_BYTE))?;
    for (rule, what) in faults(name) {
        let finding = Finding::built_in(rule).at(at.0, at.1).place(place.clone());
        out.find(finding.message(format!("{}: {what}", rule.title)));
    }
    Ok(())
}

/// What is wrong with a name that an archive gives. Each rule at most once.
pub(super) fn faults(name: &str) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    // Nearly every name is made of these, and only dots and slashes can make it dangerous.
    let is_ordinary =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b' '));
    if let Some(what) = absolute(name) {
        faults.push((&ABSOLUTE, what));
    }
    let does_climb = climbs(name);
    if does_climb {
        faults.push((&TRAVERSAL, "a part of it is two dots"));
    }
    let is_disguised = || {
        !does_climb
            && !is_ordinary
            && spelled_otherwise(name).is_some_and(|plain| climbs(&plain) || absolute(&plain).is_some())
    };
    if is_disguised() {
        faults.push((&SPECIAL, "letters that some programs take for dots and slashes"));
    } else if let Some(what) = special(name, is_ordinary) {
        faults.push((&SPECIAL, what));
    }
    if let Some(what) = disguised(name) {
        faults.push((&DISGUISED, what));
    }
    faults
}

/// A slash, a drive or a machine at the start.
pub(super) fn absolute(name: &str) -> Option<&'static str> {
    let mut bytes = name.bytes().map(|byte| if byte == b'\\' { b'/' } else { byte });
    match (bytes.next(), bytes.next(), bytes.next()) {
        (Some(b'/'), Some(b'/'), Some(b'.' | b'?')) => Some("it names a device of Windows"),
        (Some(b'/'), Some(b'/'), _) => Some("it names another machine"),
        (Some(b'/'), _, _) => Some("it begins at the root"),
        (Some(letter), Some(b':'), _) if letter.is_ascii_alphabetic() => Some("it names a drive"),
        _ => None,
    }
}

/// Parts, whichever slash parts them.
fn parts(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(['/', '\\'])
}

/// The same, byte by byte.
fn byte_parts(name: &str) -> impl Iterator<Item = &[u8]> {
    name.as_bytes().split(|byte| matches!(byte, b'/' | b'\\'))
}

/// Whether a part is two dots; Windows drops blanks behind them.
pub(super) fn climbs(name: &str) -> bool {
    memmem::find(name.as_bytes(), b"..").is_some() && byte_parts(name).any(|part| part.trim_ascii() == b"..")
}

/// Whether a link's target, seen from the folder the link lies in, leaves the tree.
pub(super) fn leaves(link: &str, target: &str) -> bool {
    let mut depth: usize = parts(link).filter(|part| !matches!(*part, "" | ".")).count().saturating_sub(1);
    for part in parts(target) {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            _ => depth = depth.saturating_add(1),
        }
    }
    absolute(target).is_some()
}

/// The name with look-alike, overlong and percent-coded dots and slashes made plain; `None` when it has none.
fn spelled_otherwise(name: &str) -> Option<String> {
    let mut plain = name.to_owned();
    if !name.is_ascii() {
        for (odd, dot) in [
            ('\u{2024}', "."),
            ('\u{fe52}', "."),
            ('\u{ff0e}', "."),
            ('\u{2025}', ".."),
            ('\u{2215}', "/"),
            ('\u{2044}', "/"),
            ('\u{29f8}', "/"),
            ('\u{ff0f}', "/"),
            ('\u{ff3c}', "\\"),
            ('\u{fe68}', "\\"),
            // What the overlong bytes c0 ae, c0 af and c1 9c are in code page 437 and as Latin-1.
            ('\u{2514}', ""),
            ('\u{2534}', ""),
            ('\u{c0}', ""),
            ('\u{c1}', ""),
        ] {
            if plain.contains(odd) {
                plain = plain.replace(odd, dot);
            }
        }
        if plain != name {
            plain = plain.replace(['\u{ab}', '\u{ae}'], ".").replace(['\u{bb}', '\u{af}'], "/").replace('\u{a3}', "\\");
        }
    }
    if plain.contains('%') {
        let lower = plain.to_ascii_lowercase();
        plain = lower
            .replace("%25", "%")
            .replace("%c0%ae", ".")
            .replace("%2e", ".")
            .replace("%2f", "/")
            .replace("%5c", "\\");
    }
    (plain != name).then_some(plain)
}

/// What a file system other than the writer's makes of it.
fn special(name: &str, is_ordinary: bool) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if !is_ordinary && let Some(what) = odd_characters(name) {
        return Some(what);
    }
    if name.len() > LONGEST_PATH_BYTES {
        return Some("it is longer than file systems allow");
    }
    let folder = name.strip_suffix('/');
    let mut all = byte_parts(folder.unwrap_or(name)).peekable();
    while let Some(part) = all.next() {
        let is_last = all.peek().is_none() && folder.is_none();
        match part {
            _ if part.len() > LONGEST_PART_BYTES => return Some("a part of it is longer than file systems allow"),
            [b'.'] if is_last => return Some("it is the folder itself"),
            [] | b"." | b".." => {}
            _ if part.len() > 2 && part.iter().all(|byte| *byte == b'.') => return Some("a part of nothing but dots"),
            [.., b' '] => return Some("a blank at the end, which Windows drops"),
            [.., b'.'] if is_last => return Some("a dot at the end, which Windows drops"),
            _ if is_device(part) => return Some("it is a device on Windows"),
            _ if !is_ordinary && is_stream(part) => {
                return Some("a colon, behind which Windows writes a hidden stream");
            }
            _ => {}
        }
    }
    None
}

/// Characters that mean something to some system.
fn odd_characters(name: &str) -> Option<&'static str> {
    if name.bytes().any(|byte| byte == 0) {
        return Some("a zero byte, at which some programs stop reading it");
    }
    if name.chars().any(char::is_control) {
        return Some("control characters");
    }
    if !name.is_ascii() && name.chars().any(turns_or_hides) {
        return Some("characters that turn or hide what stands beside them");
    }
    if name.contains('\\') {
        return Some("a backslash, which parts folders on Windows and nowhere else");
    }
    (name.starts_with('~') && name.contains('/') && !name.starts_with("~$")).then_some("it begins at somebody's home")
}

/// Controls of direction, and characters without width.
const fn turns_or_hides(character: char) -> bool {
    matches!(
        character,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// Names that Windows gives to devices in every folder, with or without an extension.
pub(crate) fn is_device(part: &[u8]) -> bool {
    const LONGEST: usize = 7;
    if !matches!(part, [b'c' | b'C' | b'p' | b'P' | b'a' | b'A' | b'n' | b'N' | b'l' | b'L', _, _, ..]) {
        return false;
    }
    let head = part.get(..LONGEST.saturating_add(1)).unwrap_or(part);
    let stem = head.split(|byte| matches!(byte, b'.' | b':')).next().unwrap_or(head).trim_ascii_end();
    let stem = stem.to_ascii_lowercase();
    if matches!(&*stem, b"con" | b"prn" | b"aux" | b"nul" | b"conin$" | b"conout$" | b"clock$") {
        return true;
    }
    // The digits 1, 2 and 3 count as superscripts too.
    match stem.strip_prefix(b"com").or_else(|| stem.strip_prefix(b"lpt")) {
        Some([digit]) => digit.is_ascii_digit(),
        Some(rest) => ["¹", "²", "³"].iter().any(|digit| digit.as_bytes() == rest),
        None => false,
    }
}

/// `file:stream`, but not the time 12:30 and not `Title: words`.
fn is_stream(part: &[u8]) -> bool {
    part.windows(2).enumerate().any(|(at, pair)| {
        let opens =
            matches!(pair, [b':', next] if next.is_ascii_alphabetic() || matches!(next, b'$' | b':' | b'_' | b'.'));
        opens && at > 0
    })
}

/// Extensions that run at a double click, or are run by what unpacks them.
const RUNS: &[&str] = &[
    "exe",
    "scr",
    "com",
    "pif",
    "bat",
    "cmd",
    "vbs",
    "vbe",
    "js",
    "jse",
    "wsf",
    "wsh",
    "hta",
    "msi",
    "msp",
    "cpl",
    "lnk",
    "ps1",
    "jar",
    "dll",
    "reg",
    "chm",
    "scf",
    "inf",
    "app",
    "command",
    "desktop",
    "gadget",
    "appref-ms",
    "url",
    "sh",
    "apk",
    "dmg",
    "pkg",
];
/// Extensions under which a program is disguised.
const SHOWS: &[&str] = &[
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "rtf", "txt", "csv", "odt", "ods", "jpg", "jpeg", "png", "gif",
    "bmp", "webp", "tif", "tiff", "svg", "mp3", "mp4", "avi", "mov", "mkv", "wav", "zip", "rar", "7z", "html", "htm",
    "xml", "json", "md", "log", "eml",
];

/// A program whose name is made to look like a document's.
fn disguised(name: &str) -> Option<&'static str> {
    let last = parts(name.trim_end_matches(['/', '\\'])).next_back()?;
    let hidden = last.chars().any(turns_or_hides);
    let plain: String = last.chars().filter(|character| !turns_or_hides(*character) && *character != '\0').collect();
    let trimmed = plain.trim_end_matches(['.', ' ', '\u{a0}', '\t']);
    let (stem, extension) = trimmed.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    if !RUNS.contains(&&*extension) {
        return None;
    }
    if hidden {
        return Some("it is written so that its last letters are not shown last");
    }
    if trimmed.len() != plain.len() {
        return Some("dots or blanks behind its extension");
    }
    let shown = stem.trim_end();
    if stem.len().saturating_sub(shown.len()) > 3 {
        return Some("blanks push its extension out of sight");
    }
    // A script of that name is honest: index.html.js, data.json.sh.
    let is_source = matches!(&*extension, "js" | "sh" | "command" | "desktop" | "url" | "inf" | "reg");
    let (_, second) = shown.rsplit_once('.')?;
    let second = second.to_ascii_lowercase();
    (!is_source && SHOWS.contains(&&*second)).then_some("two extensions, of which only the first is shown")
}

/// What is wrong with the target of a link that lies at `link`.
pub(super) fn link_faults(link: &str, target: &str) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    if absolute(target).is_some() {
        faults.push((&ABSOLUTE, "a link to an absolute path"));
    } else if leaves(link, target) {
        faults.push((&TRAVERSAL, "a link that climbs out of the folder it is unpacked in"));
    }
    faults
}

/// The path without what means nothing: `./`, doubled and trailing slashes.
pub(super) fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for part in parts(name).filter(|part| !matches!(*part, "" | ".")) {
        if !plain.is_empty() {
            plain.push('/');
        }
        plain.push_str(part);
    }
    plain
}

/// Whether one of the folders on the way to it is among the links.
pub(super) fn goes_through(name: &str, links: &BTreeSet<String>) -> bool {
    let name = plain(name);
    name.match_indices('/').take(DEEPEST).any(|(at, _)| name.get(..at).is_some_and(|folder| links.contains(folder)))
}

/// The path as the least discerning file system sees it: composed, in one case, without what Windows drops.
pub(super) fn folded(name: &str) -> String {
    let composed =
        if name.is_ascii() { Cow::Borrowed(name) } else { ComposingNormalizerBorrowed::new_nfc().normalize(name) };
    plain(&composed).trim_end_matches(['.', ' ']).to_lowercase()
}
