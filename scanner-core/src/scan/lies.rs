//! Names, types and bytes that do not agree.

use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity},
    format::{self, Out},
    sniff::{self, Promise, Risk, Sniffed},
};

static MISMATCH: Rule = Rule::built_in(
    "type/mismatch",
    "type.mismatch",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "The content is not what the name or the declared type says",
        why: "Whoever trusts the name opens it with the wrong program, and a filter that goes by the name never looks inside.",
        remedy: "Serve it under the type that was found, or ask the producer for the right one.",
    },
);

static POLYGLOT: Rule = Rule::built_in(
    "type/polyglot",
    "type.polyglot",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The same bytes are valid as two types",
        why: "One reader sees a harmless file, the next one runs or unpacks something else from the same bytes.",
        remedy: "Do not pass it on; re-encode it to the one type that is wanted.",
    },
);

static PREFIX: Rule = Rule::built_in(
    "type/prefix-data",
    "type.prefix_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands before the file begins",
        why: "Readers that search for the beginning open the file all the same; those that do not, and filters, see the \
              junk. What it is for is hidden.",
        remedy: "Have a person look, or take only the part that is the file.",
    },
);

pub(super) static TRAILING: Rule = Rule::built_in(
    "type/trailing-data",
    "type.trailing_data",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "Something stands behind the end of the file",
        why: "Viewers stop at the end and show nothing of it: a place to carry data out, or a second file in.",
        remedy: "Cut the file at its end before it is passed on.",
    },
);

static RUN_BY_NAME: Rule = Rule::built_in(
    "type/run-by-name",
    "exec.script",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A text that Windows runs because of its name",
        why: "A double click does not open it: every line of it is a command, with all rights of the person who clicks.",
        remedy: "Let a person read it before it goes on, or give it a name that opens as text.",
    },
);

static INSTALLED_BY_NAME: Rule = Rule::built_in(
    "type/installed-by-name",
    "exec.package",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "An archive that is installed because of its name",
        why: "A browser, an editor or the system takes it for an extension or an app, and runs what is in it from then on.",
        remedy: "Do not deliver it unless an extension was asked for.",
    },
);

/// Every rule about it.
pub(crate) const RULES: &[&Rule] = &[&MISMATCH, &POLYGLOT, &PREFIX, &TRAILING, &RUN_BY_NAME, &INSTALLED_BY_NAME];

/// Endings of texts that Windows runs, whatever is in them.
const RUN: [&str; 10] = ["bat", "cmd", "hta", "jse", "ps1", "vbe", "vbs", "wsc", "wsf", "wsh"];
/// Endings of archives that are installed.
const INSTALLED: [&str; 8] = ["appx", "appxbundle", "ipa", "msix", "msixbundle", "nupkg", "vsix", "xpi"];

/// What its name makes of it, where its bytes are nothing that acts.
fn by_name(sniffed: &Sniffed, name: &str) -> Option<&'static Rule> {
    // Blanks and dots at the end do not count for Windows.
    let (_, ending) = name.trim_end_matches(['.', ' ']).rsplit_once('.')?;
    let is = |endings: &[&str]| endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    let is_program = format::of(sniffed.kind).is_some_and(|format| format.name == "program");
    if sniffed.kind.is_text && !is_program && is(&RUN) {
        Some(&RUN_BY_NAME)
    } else if sniffed.kind.label == "zip" && is(&INSTALLED) {
        Some(&INSTALLED_BY_NAME)
    } else {
        None
    }
}

/// Documents that are zips, beside those that may hold macros by their name.
const PACKED: [&str; 7] = ["docx", "epub", "odp", "ods", "odt", "pptx", "xlsx"];

/// A lying name or declared type, bytes that are two things at once, and what stands before or behind.
pub(super) fn compare_types(
    sniffed: &Sniffed,
    name: Option<&str>,
    declared: Option<&str>,
    size: u64,
    out: &mut Out<'_>,
) {
    let mime = sniffed.kind.mime;
    if let Some(rule) = name.and_then(|name| by_name(sniffed, name)) {
        out.find(Finding::built_in(rule));
    }
    if let Some(mismatch) = sniff::mismatch(sniffed, name, declared) {
        // One kind of text under the name of another misleads nobody: a log called .csv, JSON lines called .json.
        let texts =
            sniffed.kind.is_text && sniff::types().iter().any(|kind| kind.mime == mismatch.declared && kind.is_text);
        // What a document is packed as is no lie about it: whoever opens it by that name sees its parts.
        let is_packing = mismatch.declared == "application/zip" && PACKED.contains(&sniffed.kind.label);
        // Bytes that nobody knows are a gap already; what they are worse than is not known.
        let is_known = sniffed.kind != sniff::unknown();
        // Nor does anything run a program by the name of a note: listings, manuals and logs are full of its words. What a
        // browser acts on is another matter, it looks at the bytes.
        let is_source = texts && sniffed.kind.risk == Risk::Executable;
        let severity = match (mismatch.more_dangerous && is_known && !is_source, texts || is_packing) {
            (true, _) => Severity::High,
            (false, false) => Severity::Medium,
            (false, true) => Severity::Low,
        };
        let promise = match mismatch.promise {
            Promise::Name => "its name says",
            Promise::Declared => "it was declared as",
        };
        out.find(
            Finding::built_in(&MISMATCH)
                .severity(severity)
                .message(format!("{promise} {}, the bytes are {mime}", mismatch.declared)),
        );
    }
    // A text behind the end is only what stands behind the end; an archive there opens as one.
    let second = sniffed.also.first().filter(|second| !(sniffed.trailing.is_some() && second.is_text));
    // Labels of a diagram are HTML inside of SVG: its format looks into them.
    let second = second.filter(|second| !(sniffed.kind.label == "svg" && second.label == "html"));
    if let Some(second) = second {
        // Markup in a note of a picture is read there, and a picture that is none is told there: a browser shows the
        // picture.
        let in_a_note = mime.starts_with("image/")
            && !sniffed.kind.is_text
            && matches!(second.label, "html" | "php")
            && looks_closer(sniffed);
        let severity = if in_a_note || sniffed.trailing.is_some() { Severity::Medium } else { POLYGLOT.severity };
        let message = format!("the bytes are {mime} and {} at once", second.mime);
        out.find(Finding::built_in(&POLYGLOT).severity(severity).message(message));
    }
    if sniffed.prefix > 0 {
        out.find(
            Finding::built_in(&PREFIX)
                .at(0, sniffed.prefix)
                .message(format!("{} bytes stand before the {mime} begins", sniffed.prefix)),
        );
    }
    if let Some(trailing) = sniffed.trailing.filter(|_| !looks_closer(sniffed)) {
        out.find(
            Finding::built_in(&TRAILING)
                .at(trailing, size)
                .message(format!("{} bytes stand behind the end of the {mime}", size.saturating_sub(trailing))),
        );
    }
}

/// Whether the format finds by itself what stands where it should not: it has a rule for what is behind the end.
fn looks_closer(sniffed: &Sniffed) -> bool {
    format::of(sniffed.kind).is_some_and(|format| format.rules.iter().any(|rule| rule.category == TRAILING.category))
}
