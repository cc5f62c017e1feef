//! Objects that documents carry: files in packages (OLE 1 and its stream `Ole10Native`), and what they are. Not a format
//! of its own: a part of others.

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span},
    format::{Out, fields},
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, Short},
    sniff::{self, Risk},
};

pub(super) static OBJECT: Rule = Rule::built_in(
    "embedded/object",
    "embed.ole",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The document carries an object of another program",
        why: "A double click opens it with that program, past every filter that only looks at the document.",
        remedy: "Take the object out, or deliver it as a file of its own.",
    },
);

pub(super) static EXECUTABLE: Rule = Rule::built_in(
    "embedded/executable",
    "embed.executable",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "The document carries a program",
        why: "It looks like a picture in the page and runs at a double click, with all rights of the person who reads it.",
        remedy: "Do not deliver it.",
    },
);

pub(super) static LINK: Rule = Rule::built_in(
    "embedded/link",
    "net.external_ref",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "An object that is fetched from elsewhere",
        why: "The program loads it when the document is opened or the link is updated: code from a place that the sender \
              chose, after every check.",
        remedy: "Take the link out.",
    },
);

pub(super) static EXPLOITED: Rule = Rule::built_in(
    "embedded/exploited",
    "embed.ole",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "An object of a class that is known for running what it is given",
        why: "Opening the document loads the program of that class, and holes in it were used to run code without a question.",
        remedy: "Do not deliver it.",
    },
);

/// Steps of sniffing one object.
const STEPS: u64 = sniff::STEPS;
/// Endings that are run by a double click, beside those of the types that are programs.
const RUNS: &[&str] = &[
    "application",
    "appref-ms",
    "bat",
    "chm",
    "cmd",
    "com",
    "cpl",
    "diagcab",
    "dll",
    "exe",
    "gadget",
    "hta",
    "htc",
    "inf",
    "iqy",
    "iso",
    "jar",
    "js",
    "jse",
    "library-ms",
    "lnk",
    "mht",
    "msc",
    "msh",
    "msi",
    "msp",
    "pif",
    "ps1",
    "ps1xml",
    "psc1",
    "py",
    "pyw",
    "reg",
    "scf",
    "scr",
    "sct",
    "search-ms",
    "settingcontent-ms",
    "sh",
    "shb",
    "sys",
    "theme",
    "url",
    "vb",
    "vbe",
    "vbs",
    "website",
    "wll",
    "ws",
    "wsc",
    "wsf",
    "wsh",
    "xll",
];

/// A file that is carried along, with its names.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) data: Bytes,
    /// It is not carried, only pointed at.
    pub(super) is_link: bool,
}

/// Reads a package: two bytes, a label, a path, how it is carried, a temporary path, the file. What is cut ends early.
///
/// # Errors
/// When the bytes are no package.
pub(super) fn package(native: &Bytes) -> Result<Package, Short> {
    let mut reader = Reader::new(native);
    reader.u16_le()?;
    let label = reader.until(0).ok_or(Short { at: 2, wanted: 1 })?;
    let path = reader.until(0).ok_or(Short { at: 2, wanted: 1 })?;
    reader.u16_le()?;
    let is_link = reader.u16_le()? == 1;
    let mut package = Package { name: single_bytes(label), path: single_bytes(path), data: Bytes::new(), is_link };
    if is_link {
        return Ok(package);
    }
    let length = reader.u32_le()?;
    reader.take(length.into())?;
    let length = reader.u32_le()?;
    let rest = reader.rest();
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
    package.data = native.slice_ref(rest.get(..length).unwrap_or_default());
    Ok(package)
}

/// Says what a package carries or points at, and hands it on.
pub(super) fn told(
    package: &Package,
    span: Span,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let names = [&*package.name, &*package.path].map(|name| name.rsplit(['\\', '/']).next().unwrap_or_default());
    if package.is_link {
        let severity = if fields::is_remote(&package.path) { Severity::High } else { Severity::Medium };
        out.find(Finding::built_in(&LINK).severity(severity).at(span.start, span.end).place(place.clone()));
    }
    // The label is what is shown, the path what is run: both endings count.
    let [label, path] = names;
    let name = if is_named_to_run(path) && !is_named_to_run(label) { path } else { label };
    let name = (!name.is_empty()).then(|| name.to_owned());
    if package.is_link {
        if name.as_deref().is_some_and(is_named_to_run) {
            out.find(Finding::built_in(&EXECUTABLE).at(span.start, span.end).place(place.clone()));
        }
        return Ok(());
    }
    carry(package.data.clone(), name, span, place, out, budget)
}

/// Letters of an unknown code page, one byte each.
pub(super) fn single_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Says what a file inside is when it is a program, and hands it on.
pub(super) fn carry(
    bytes: Bytes,
    name: Option<String>,
    span: Span,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    budget.spend(Resource::Steps, STEPS)?;
    if is_run(&bytes, name.as_deref()) {
        out.find(Finding::built_in(&EXECUTABLE).at(span.start, span.end).place(place.clone()));
    }
    if !bytes.is_empty() {
        out.child(Source::stored(bytes), name);
    }
    Ok(())
}

/// Whether it is run by a double click: by its bytes, or by the ending of its name.
pub(super) fn is_run(bytes: &Bytes, name: Option<&str>) -> bool {
    name.is_some_and(is_named_to_run) || sniff::sniff(bytes).kind.risk == Risk::Executable
}

fn is_named_to_run(name: &str) -> bool {
    // Blanks and dots at the end do not count for Windows.
    let name = name.trim_end_matches(['.', ' ', '\0']);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| RUNS.contains(&&*ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_read_to_its_end_or_to_the_cut() {
        let whole = Bytes::from_static(b"\x02\0a.txt\0C:\\a.txt\0\0\0\x03\0\x09\0\0\0C:\\a.txt\0\x05\0\0\0helloMORE");
        let read = package(&whole).unwrap();
        assert_eq!((&*read.name, &*read.path, &*read.data), ("a.txt", "C:\\a.txt", &b"hello"[..]));
        assert_eq!(&*package(&whole.slice(..whole.len() - 6)).unwrap().data, b"hel");
        for length in 0..36 {
            assert!(package(&whole.slice(..length)).is_err(), "{length}");
        }
    }

    #[test]
    fn what_runs_is_known_by_bytes_and_by_name() {
        let text = Bytes::from_static(b"hello, this is a text");
        assert!(is_run(&text, Some("invoice.pdf.VBS .")));
        assert!(!is_run(&text, Some("notes.txt")));
        assert!(!is_run(&text, None));
        assert!(is_run(&Bytes::from_static(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0"), None));
    }
}
