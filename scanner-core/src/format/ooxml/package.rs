//! The package around the parts: content types, relationships, names (ECMA-376 part 2).

use std::collections::BTreeMap;

use crate::format::{
    office::{
        Page, Sight, Walk,
        link::{self, Reach},
    },
    pull::{Name, Tag},
};

/// What `[Content_Types].xml` says.
#[derive(Debug, Default)]
pub(super) struct ContentTypes {
    /// By ending, in lower case.
    defaults: BTreeMap<String, String>,
    /// By name of the part, in lower case, without the first slash.
    overrides: BTreeMap<String, String>,
}

impl ContentTypes {
    /// The type of a part, in lower case; empty where nothing says it.
    pub(super) fn of(&self, part: &str) -> &str {
        let part = part.to_ascii_lowercase();
        let ending = part.rsplit('.').next().unwrap_or_default();
        self.overrides.get(&part).or_else(|| self.defaults.get(ending)).map_or("", String::as_str)
    }
}

impl Walk for ContentTypes {
    fn start(&mut self, tag: &Tag<'_>, _: &mut Page<'_, '_>) {
        let value = |name: &[u8]| tag.value(name).map(|value| String::from_utf8_lossy(&value).to_ascii_lowercase());
        let Some(kind) = value(b"ContentType") else { return };
        match tag.local() {
            b"Default" => {
                if let Some(ending) = value(b"Extension") {
                    self.defaults.insert(ending, kind);
                }
            }
            b"Override" => {
                if let Some(part) = value(b"PartName") {
                    self.overrides.insert(part.trim_start_matches('/').to_owned(), kind);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, _: &[u8], _: &mut Page<'_, '_>) {}

    fn end(&mut self, _: Name<'_>, _: &mut Page<'_, '_>) {}

    fn has_words(&self) -> bool {
        false
    }
}

/// One relationship inside the package.
#[derive(Clone, Debug)]
pub(super) struct Relationship {
    /// Last word of its type, in lower case: `styles`, `vbaproject`.
    pub(super) kind: String,
    /// The part it leads to, in lower case; empty where it leads outside.
    pub(super) part: String,
}

/// All relationships of the package.
#[derive(Debug, Default)]
pub(super) struct Relationships {
    /// By the part they belong to, in lower case, and their id.
    by_source: BTreeMap<String, BTreeMap<Vec<u8>, Relationship>>,
    /// Kinds of relationships that lead to a part.
    by_target: BTreeMap<String, String>,
}

impl Relationships {
    /// The relationship of a part by its id.
    pub(super) fn of(&self, part: &str, id: &[u8]) -> Option<&Relationship> {
        self.by_source.get(part)?.get(id)
    }

    /// The kind of relationship by which a part is reached; empty where there is none.
    pub(super) fn kind(&self, part: &str) -> &str {
        self.by_target.get(part).map_or("", String::as_str)
    }

    /// The main part of the document, as the package's own relationships name it.
    pub(super) fn main(&self) -> Option<&str> {
        let package = self.by_source.get("")?;
        let main = package.values().find(|relationship| relationship.kind == "officedocument");
        main.map(|relationship| relationship.part.as_str())
    }
}

/// The part that a `.rels` part belongs to, in lower case; the package itself is the empty name.
pub(super) fn source_of(rels: &str) -> Option<String> {
    let lower = rels.to_ascii_lowercase();
    let (folder, file) = match lower.rsplit_once('/') {
        Some((folder, file)) => (folder, file),
        None => ("", lower.as_str()),
    };
    let folder = folder.strip_suffix("_rels")?;
    let file = file.strip_suffix(".rels")?;
    (folder.is_empty() || folder.ends_with('/')).then(|| format!("{folder}{file}"))
}

/// The part that a target leads to, seen from another part: absolute, relative, with `..`, blanks as `%20` and slashes
/// of either kind.
pub(super) fn resolve(source: &str, target: &str) -> String {
    let target = decode(target.split(['#', '?']).next().unwrap_or_default()).replace('\\', "/").to_ascii_lowercase();
    let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

fn decode(target: &str) -> String {
    let mut out = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let digits = (*byte == b'%').then(|| behind.get(..2)).flatten();
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value {
            Some(value) => {
                out.push(value);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads the relationships of one part.
#[derive(Debug)]
pub(super) struct RelsWalk<'a> {
    all: &'a mut Relationships,
    source: String,
}

impl<'a> RelsWalk<'a> {
    pub(super) fn new(all: &'a mut Relationships, source: String) -> Self {
        Self { all, source }
    }
}

impl Walk for RelsWalk<'_> {
    fn start(&mut self, tag: &Tag<'_>, page: &mut Page<'_, '_>) {
        if tag.local() != b"Relationship" {
            return;
        }
        let value = |name: &[u8]| tag.value(name).unwrap_or_default();
        let kind = kind(tag);
        let part = if judge_outside(tag, page) {
            String::new()
        } else {
            let part = resolve(&self.source, &String::from_utf8_lossy(&value(b"Target")));
            self.all.by_target.entry(part.clone()).or_insert_with(|| kind.clone());
            part
        };
        let id = value(b"Id").into_owned();
        self.all.by_source.entry(self.source.clone()).or_default().insert(id, Relationship { kind, part });
    }

    fn text(&mut self, _: &[u8], _: &mut Page<'_, '_>) {}

    fn end(&mut self, _: Name<'_>, _: &mut Page<'_, '_>) {}

    fn has_words(&self) -> bool {
        false
    }
}

/// The last word of a relationship's type, in lower case.
fn kind(tag: &Tag<'_>) -> String {
    let kind = String::from_utf8_lossy(&tag.value(b"Type").unwrap_or_default()).to_ascii_lowercase();
    kind.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Says what a relationship reaches outside; `false` when it stays inside.
pub(super) fn judge_outside(tag: &Tag<'_>, page: &mut Page<'_, '_>) -> bool {
    let target = tag.value(b"Target").unwrap_or_default();
    let mode = tag.value(b"TargetMode").unwrap_or_default();
    // Programs follow an address whatever the mode says.
    let is_outside = mode.eq_ignore_ascii_case(b"External")
        || !matches!(link::reach(&target), Reach::Inside | Reach::Beside | Reach::Local);
    if is_outside {
        judge(&kind(tag), &target, page);
        page.texts.part(Sight::Unseen, &target);
    }
    is_outside
}

/// A relationship that leads outside.
fn judge(kind: &str, target: &[u8], page: &mut Page<'_, '_>) {
    let used = match kind {
        "hyperlink" | "slide" => link::Use::Link,
        "attachedtemplate" | "stylesheet" => link::Use::Template,
        "oleobject"
        | "package"
        | "control"
        | "activexcontrolbinary"
        | "vbaproject"
        | "afchunk"
        | "subdocument"
        | "webextension"
        | "customui"
        | "extensibility"
        | "attachedtoolbars"
        | "wordvbadata"
        | "keymapcustomizations" => link::Use::Object,
        "frame" => link::Use::Frame,
        "image" | "video" | "audio" | "media" | "font" | "svgblip" | "hdphoto" | "model3d" => link::Use::Media,
        "externallinkpath"
        | "xlpathmissing"
        | "xlalternatestartup"
        | "mailmergesource"
        | "mailmergeheadersource"
        | "recipientdata"
        | "querytable"
        | "transform"
        | "connections" => link::Use::Data,
        _ => link::Use::Other,
    };
    page.link(used, target);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_resolve_as_programs_resolve_them() {
        assert_eq!(resolve("word/document.xml", "styles.xml"), "word/styles.xml");
        assert_eq!(resolve("xl/worksheets/sheet1.xml", "../drawings/d.xml"), "xl/drawings/d.xml");
        assert_eq!(resolve("word/document.xml", "/xl/Workbook.xml"), "xl/workbook.xml");
        assert_eq!(resolve("", "word/document.xml"), "word/document.xml");
        assert_eq!(resolve("word/document.xml", "./a%20b\\..\\c.bin"), "word/c.bin");
        assert_eq!(resolve("a.xml", "../../../x"), "x");
    }

    #[test]
    fn rels_belong_to_their_part() {
        assert_eq!(source_of("_rels/.rels").as_deref(), Some(""));
        assert_eq!(source_of("word/_rels/Document.xml.rels").as_deref(), Some("word/document.xml"));
        assert_eq!(source_of("word/x_rels/a.rels"), None);
        assert_eq!(source_of("word/document.xml"), None);
    }
}
