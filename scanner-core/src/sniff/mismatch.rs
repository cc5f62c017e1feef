//! Lies: content that is none of the types which a name's extension or a declared media type may honestly hold.

use super::{
    Sniffed, Type,
    table::{type_of, types},
};

/// Who promised a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The extension of the name.
    Name,
    /// The media type that came with the bytes.
    Declared,
}

/// A promise that the content does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Who promised.
    pub promise: Promise,
    /// The media type promised; `image/*` and the like when the table has no such type.
    pub declared: &'static str,
    /// What was found.
    pub found: &'static Type,
    /// Whether the content is more dangerous than anything that the promise may hold. Severity goes by this.
    pub more_dangerous: bool,
}

/// Extensions that promise nothing.
const OPEN: &[&str] = &["bin", "dat", "data", "tmp", "bak", "old", "orig", "part", "file", "raw", "blob", "out", "in"];

/// Extensions of several types, and the one that they promise first.
const FIRST: &[(&str, &str)] = &[
    ("ts", "typescript"),
    ("dot", "dot"),
    ("doc", "doc"),
    ("key", "pem"),
    ("m", "c"),
    ("a", "ar"),
    ("so", "elf"),
    ("o", "elf"),
    ("txt", "txt"),
    ("log", "log"),
    ("plist", "xml"),
    ("ai", "pdf"),
    ("feather", "arrow"),
    ("mat", "mat"),
    ("nc", "hdf5"),
    ("sav", "pickle"),
    ("pt", "pytorch"),
    ("pth", "pytorch"),
    ("ckpt", "pytorch"),
    ("keras", "keras"),
    ("h5", "hdf5"),
    ("db", "sqlite"),
    ("tex", "latex"),
    ("srt", "srt"),
    ("t", "perl"),
    ("conf", "ini"),
    ("cfg", "ini"),
    ("inc", "php"),
    ("asc", "pem"),
    ("mp4", "mp4"),
    ("ttf", "ttf"),
    ("tsv", "tsv"),
    ("pub", "pem"),
    ("schema", "json"),
    ("man", "roff"),
    ("vcf", "vcard"),
    ("lock", "toml"),
    ("cur", "cur"),
    ("joblib", "pickle"),
    ("ini", "ini"),
    ("inf", "ini"),
    ("url", "ini"),
    ("docx", "docx"),
    ("xlsx", "xlsx"),
    ("pptx", "pptx"),
    ("xlsm", "xlsx"),
    ("xlsb", "xlsx"),
    ("docm", "docx"),
    ("pptm", "pptx"),
];

/// The extension of a name, lower case: what follows the last dot of the last component. Only that one is compared:
/// `invoice.pdf.exe` promises a program, and is one.
fn extension(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next()?.trim_end_matches(['.', ' ']);
    let (stem, extension) = last.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty() && extension.len() <= 16).then(|| extension.to_ascii_lowercase())
}

/// The media type that a file name promises; empty when it promises none.
///
/// ```
/// use scanner_core::declared_type;
/// assert_eq!(declared_type("chart.PNG"), "image/png");
/// assert_eq!(declared_type("report.pdf.exe"), "application/vnd.microsoft.portable-executable");
/// assert_eq!(declared_type("notes"), "");
/// ```
pub fn declared_type(name: &str) -> &'static str {
    extension(name).and_then(|extension| promised(&extension)).map_or("", |kind| kind.mime)
}

fn promised(extension: &str) -> Option<&'static Type> {
    if OPEN.contains(&extension) {
        return None;
    }
    let first = FIRST.iter().find(|(known, _)| *known == extension).and_then(|(_, label)| type_of(label));
    first.or_else(|| types().iter().find(|kind| kind.extensions.contains(&extension)))
}

/// The lie in a name or in a declared media type, if there is one; the worse of two.
///
/// ```
/// use scanner_core::{mismatch, sniff};
/// let sniffed = sniff(b"#!/bin/sh\nrm -rf /\n");
/// assert!(mismatch(&sniffed, Some("data.csv"), None).is_some_and(|lie| lie.more_dangerous));
/// assert!(mismatch(&sniffed, Some("run.sh"), Some("text/x-shellscript")).is_none());
/// ```
pub fn mismatch(sniffed: &Sniffed, name: Option<&str>, declared: Option<&str>) -> Option<Mismatch> {
    let by_name = name.and_then(|name| lie_of_name(sniffed.kind, name));
    let by_type = declared.and_then(|declared| lie_of_type(sniffed.kind, declared));
    match (by_name, by_type) {
        (Some(name), Some(declared)) if declared.more_dangerous && !name.more_dangerous => Some(declared),
        (by_name, by_type) => by_name.or(by_type),
    }
}

fn lie_of_name(found: &'static Type, name: &str) -> Option<Mismatch> {
    let extension = extension(name)?;
    let first = promised(&extension)?;
    let honest = |kind: &&Type| kind.extensions.contains(&extension.as_str()) || kind.label == first.label;
    judge(found, first.mime, Promise::Name, honest)
}

fn lie_of_type(found: &'static Type, declared: &str) -> Option<Mismatch> {
    let essence = declared.split(';').next()?.trim().to_ascii_lowercase();
    let says = |kind: &&Type| kind.mime == essence || kind.aliases.contains(&essence.as_str());
    let Some(first) = types().iter().find(says) else {
        // A picture of an unknown kind is still no program.
        const CLASSES: &[(&str, &str)] =
            &[("image/", "image/*"), ("audio/", "audio/*"), ("video/", "video/*"), ("font/", "font/*")];
        let (_, class) = CLASSES.iter().find(|(class, _)| essence.starts_with(class))?;
        let other = !CLASSES.iter().any(|(class, _)| found.mime.starts_with(class))
            && found.label != "empty"
            && found.label != "unknown";
        return other.then_some(Mismatch {
            promise: Promise::Declared,
            declared: class,
            found,
            more_dangerous: found.risk.danger() > 0,
        });
    };
    if first.label == "unknown" {
        return None;
    }
    // Any XML dialect is XML; subtypes that share an alias share the promise.
    let xml = first.label == "xml" && matches!(found.label, "svg" | "html");
    let shared = found.aliases.contains(&essence.as_str());
    if xml || shared {
        return None;
    }
    judge(found, first.mime, Promise::Declared, says)
}

/// Whether `found` is outside of what a promise may hold.
fn judge(
    found: &'static Type,
    declared: &'static str,
    promise: Promise,
    honest: impl Fn(&&Type) -> bool,
) -> Option<Mismatch> {
    let held: Vec<&Type> = types().iter().filter(&honest).collect();
    let promises_text = held.iter().any(|kind| kind.is_text);
    let promises_plain = held.iter().any(|kind| kind.label == "txt");
    let kept = held.iter().any(|kind| kind.label == found.label)
        || found.label == "empty"
        // Text of no telling shape passes for any text.
        || (promises_text && matches!(found.label, "txt" | "log" | "text-other" | "source-other"))
        // Plain text may hold any text that nobody can run, and Markdown.
        || (promises_plain && found.is_text && (found.risk == super::Risk::Inert || found.label == "markdown"));
    if kept {
        return None;
    }
    // That a text file may hold an unlisted language excuses no listed one.
    let worst = held
        .iter()
        .filter(|kind| kind.label != "source-other")
        .map(|kind| kind.risk.danger())
        .max()
        .unwrap_or_default();
    Some(Mismatch { promise, declared, found, more_dangerous: found.risk.danger() > worst })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sniff;

    #[track_caller]
    fn check(bytes: &[u8], name: &str, want: Option<bool>) {
        assert_eq!(mismatch(&sniff(bytes), Some(name), None).map(|lie| lie.more_dangerous), want, "{name}");
    }

    #[test]
    fn only_the_last_extension_counts() {
        check(b"%PDF-1.4\n1 0 obj\n", "a.exe.PDF", None);
        check(b"%PDF-1.4\n1 0 obj\n", "dir.exe/a.pdf. ", None);
        check(b"%PDF-1.4\n1 0 obj\n", "a.pdf.exe", Some(false));
    }

    #[test]
    fn danger_decides() {
        check(b"<html><script>1</script></html>", "a.png", Some(true));
        check(b"GIF89a\x01\0\x01\0\0\0\0\x3b", "a.png", Some(false));
        check(b"#!/bin/sh\n", "a.txt", Some(true));
        check(b"{\"a\":1}", "a.txt", None);
        check(b"a,b\n1,2\n", "a.json", Some(false));
        check(b"hello", "a.csv", None);
        check(b"hello", "a.dat", None);
        check(b"", "a.png", None);
    }

    #[test]
    fn declared_types() {
        let svg = sniff(b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
        let lie = |declared: &str| mismatch(&svg, None, Some(declared)).map(|lie| (lie.declared, lie.more_dangerous));
        assert_eq!(lie("image/svg+xml; charset=utf-8"), None);
        assert_eq!(lie("text/xml"), None);
        assert_eq!(lie("application/octet-stream"), None);
        assert_eq!(lie("IMAGE/PNG"), Some(("image/png", true)));
        assert_eq!(lie("application/x-nobody-knows"), None);
        assert_eq!(
            mismatch(&sniff(b"\x7fELF\x02\x01\x01\0"), None, Some("image/x-new")).map(|lie| lie.declared),
            Some("image/*")
        );
    }
}
