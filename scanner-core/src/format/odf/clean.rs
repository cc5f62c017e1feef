//! The safe version of an OpenDocument package: content, styles, properties, settings and pictures, without scripts,
//! events, plug-ins, links to data and whatever is loaded from elsewhere (ODF 1.3 parts 2 and 3).

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        office::{
            edit::{Editor, Edits, Fate, edit},
            formula, link,
            parts::{self, Part},
        },
        pull::{Name, Tag},
        zip::Repack,
    },
    limits::Budget,
};

/// Parts that are XML: of the document and of each object in it.
const DOCUMENT: &[&str] = &["content.xml", "styles.xml", "meta.xml", "settings.xml"];
/// Folders of files of other types.
const MEDIA: &[&str] = &["pictures/", "thumbnails/", "media/", "objectreplacements/", "fonts/"];
const MANIFEST: &str = "meta-inf/manifest.xml";
const MIMETYPE: &str = "mimetype";
/// Elements that go wherever they stand.
const GONE: &[&[u8]] = &[
    b"applet",
    b"auto-reload",
    b"binary-data",
    b"cell-range-source",
    b"command",
    b"connection-resource",
    b"control",
    b"database-source-query",
    b"database-source-sql",
    b"database-source-table",
    b"dde-connection-decls",
    b"dde-link",
    b"dde-links",
    b"dde-source",
    b"event-listener",
    b"event-listeners",
    b"floating-frame",
    b"forms",
    b"hyperlink-behaviour",
    b"object-ole",
    b"plugin",
    b"script",
    b"scripts",
    b"section-source",
    b"source-service",
    b"table-source",
    b"template",
    b"user-defined",
];
/// Elements of which the content stays.
const UNWRAPPED: &[&[u8]] = &[b"dde-connection", b"execute-macro"];

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    parts::refuse_hidden(cleaning)?;
    let mut parts = parts::read(subject, cleaning, budget)?;
    let has = |name: &str| parts.iter().any(|part| part.lower == name);
    if has("meta-inf/documentsignatures.xml") {
        return Err("it is signed, and any change would break the signature".into());
    }
    for (name, missing) in [
        (MIMETYPE, "nothing says what it is"),
        (MANIFEST, "the list of its parts is missing"),
        ("content.xml", "its content is missing"),
    ] {
        if !has(name) {
            return Err(missing.into());
        }
    }
    let mut kept = BTreeSet::new();
    for part in &mut parts {
        if keep(part, cleaning, budget)? {
            kept.insert(part.lower.clone());
        } else {
            cleaning.did("removed part");
        }
    }
    // Its type is read from a fixed place, without unpacking.
    parts.sort_by_key(|part| part.lower != MIMETYPE);
    let mut repack = Repack::new();
    for mut part in parts.into_iter().filter(|part| kept.contains(&part.lower)) {
        let edited = if part.lower == MIMETYPE {
            part.store();
            None
        } else if part.lower == MANIFEST {
            let mut manifest = Manifest { kept: &kept, is_locked: false };
            let edited = edit(&part.text(budget)?, &mut manifest, cleaning, budget)?;
            if manifest.is_locked {
                return Err("it is encrypted".into());
            }
            edited
        } else if is_document(&part.lower) {
            let folder = part.lower.rsplit_once('/').map_or("", |(folder, _)| folder);
            let mut body = Body { kept: &kept, folder, actions: Vec::new() };
            let edited = edit(&part.text(budget)?, &mut body, cleaning, budget)?;
            for action in body.actions {
                cleaning.did(action);
            }
            edited
        } else {
            None
        };
        if let Some(edited) = edited {
            part.bytes = edited.into();
        }
        part.pack(&mut repack, budget)?;
    }
    repack.finish()
}

/// Whether a part stays; files of other types as they may.
fn keep(part: &mut Part, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<bool, Uncleanable> {
    let name = part.lower.as_str();
    if matches!(name, MIMETYPE | MANIFEST) || is_document(name) {
        return Ok(true);
    }
    if !MEDIA.iter().any(|folder| name.starts_with(folder)) || part.bytes.is_empty() {
        return Ok(false);
    }
    Ok(match cleaning.part(&part.bytes, Some(&part.name), budget)? {
        cleaning::Part::Keep => true,
        cleaning::Part::Changed(bytes) => {
            part.bytes = bytes;
            true
        }
        cleaning::Part::Gone(_) => false,
    })
}

/// Whether a part is one of a document, or of an object in it: `Object 1/content.xml`.
fn is_document(name: &str) -> bool {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let is_object = |folder: &str| folder.strip_prefix("object ").is_some_and(|number| number.parse::<u32>().is_ok());
    DOCUMENT.contains(&file) && (folder.is_empty() || folder.split('/').all(is_object))
}

/// Edits the list of parts.
struct Manifest<'k> {
    kept: &'k BTreeSet<String>,
    is_locked: bool,
}

impl Editor for Manifest<'_> {
    fn start(&mut self, tag: &Tag<'_>) -> Fate {
        self.is_locked |= tag.local() == b"encryption-data";
        if tag.local() != b"file-entry" {
            return Fate::Keep;
        }
        let path = String::from_utf8_lossy(&tag.value(b"full-path").unwrap_or_default()).to_ascii_lowercase();
        let path = path.strip_prefix("./").unwrap_or(&path);
        let stays = path == "/"
            || self.kept.contains(path)
            || path.ends_with('/') && self.kept.iter().any(|name| name.starts_with(path));
        if stays { Fate::Keep } else { Fate::Drop }
    }

    fn text(&mut self, _: &[u8]) {}

    fn end(&mut self, _: Name<'_>, _: Range<usize>, _: &mut Edits) {}
}

/// Edits a part of the document.
struct Body<'k> {
    kept: &'k BTreeSet<String>,
    /// The folder that it is in.
    folder: &'k str,
    actions: Vec<&'static str>,
}

impl Body<'_> {
    fn gone(&mut self, action: &'static str, fate: Fate) -> Fate {
        self.actions.push(action);
        fate
    }

    /// Whether an address is that of a part that stays, or of an object.
    fn is_inside(&self, target: &str) -> bool {
        let target = target.strip_prefix("./").unwrap_or(target).to_ascii_lowercase();
        let target = target.trim_end_matches('/');
        let whole = if self.folder.is_empty() { target.to_owned() } else { format!("{}/{target}", self.folder) };
        self.kept.contains(&whole) || self.kept.contains(&format!("{whole}/content.xml"))
    }
}

impl Editor for Body<'_> {
    fn start(&mut self, tag: &Tag<'_>) -> Fate {
        let name = tag.local();
        if GONE.contains(&name) {
            return self.gone("removed element that acts", Fate::Drop);
        }
        if UNWRAPPED.contains(&name) {
            return self.gone("removed field", Fate::Unwrap);
        }
        let mut changes = Vec::new();
        for attribute in tag.attributes() {
            let value = attribute.value();
            match attribute.name.local() {
                b"href" => {
                    let target = String::from_utf8_lossy(&value);
                    let is_place = target.is_empty() || target.starts_with('#');
                    match name {
                        b"a" if is_place || link::is_plain(&value) => {}
                        b"a" => return self.gone("removed link", Fate::Unwrap),
                        _ if is_place || self.is_inside(&target) => {}
                        _ => return self.gone("removed reference to what is gone", Fate::Drop),
                    }
                }
                b"formula" | b"condition" if acts(&value) => {
                    self.actions.push("removed formula");
                    changes.push((attribute.name.0.to_vec(), None));
                }
                _ => {}
            }
        }
        if changes.is_empty() { Fate::Keep } else { Fate::Change(changes) }
    }

    fn text(&mut self, _: &[u8]) {}

    fn end(&mut self, _: Name<'_>, _: Range<usize>, _: &mut Edits) {}
}

/// Whether a formula reaches outside its document.
fn acts(formula: &[u8]) -> bool {
    // Sheets of another file: `'file:///a.ods'#$Sheet1.A1`.
    formula::reaches_out(formula) || memchr::memmem::find(formula, b"'#").is_some()
}

#[cfg(test)]
mod tests;
