//! The safe version of a document, workbook or deck: from the package down the relationships that are listed are
//! followed, and what they lead to is kept. Macros, controls, embedded objects, data connections and what nothing
//! refers to are not reached. What refers to something that is gone goes too, so that programs open the rest.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;

use super::package;
use crate::{
    finding::Stop,
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        office::{
            self,
            edit::edit,
            link,
            parts::{self, Part},
        },
        pull::{Event, Pull, Tag},
        zip::Repack,
    },
    limits::Budget,
};

mod list;
mod markup;

use list::{RelsEditor, TypesEditor};
use markup::Markup;

/// Relationships to parts that are XML and are kept, by the last word of their types.
const KEPT: &[&str] = &[
    "chart",
    "chartcolorstyle",
    "chartex",
    "chartsheet",
    "chartstyle",
    "chartusershapes",
    "commentauthors",
    "comments",
    "commentsextended",
    "commentsextensible",
    "commentsids",
    "core-properties",
    "diagramcolors",
    "diagramdata",
    "diagramdrawing",
    "diagramlayout",
    "diagramquickstyle",
    "drawing",
    "endnotes",
    "extended-properties",
    "fonttable",
    "footer",
    "footnotes",
    "glossarydocument",
    "handoutmaster",
    "header",
    "notesmaster",
    "notesslide",
    "numbering",
    "officedocument",
    "people",
    "person",
    "pivotcachedefinition",
    "pivotcacherecords",
    "pivottable",
    "presprops",
    "settings",
    "sharedstrings",
    "sheetmetadata",
    "slicer",
    "slicercache",
    "slide",
    "slidelayout",
    "slidemaster",
    "styles",
    "styleswitheffects",
    "table",
    "tablesinglecells",
    "tablestyles",
    "theme",
    "themeoverride",
    "threadedcomment",
    "timeline",
    "timelinecache",
    "viewprops",
    "vmldrawing",
    "websettings",
    "worksheet",
];
/// Relationships to files of other types.
const MEDIA: &[&str] = &["audio", "hdphoto", "image", "media", "thumbnail", "video"];
/// First elements of parts that run.
const RUNNING: &[&[u8]] = &[b"macrosheet", b"dialogsheet"];
const TYPES: &str = "[content_types].xml";

/// What a relationship says.
struct Relationship {
    id: Vec<u8>,
    kind: String,
    target: String,
    is_outside: bool,
}

/// A package of which it is being found out what stays.
struct Package {
    parts: BTreeMap<String, Part>,
    /// Parts that stay, in lower case.
    kept: BTreeSet<String>,
    /// Those of them that are no XML.
    media: BTreeSet<String>,
    /// Relationships by source and id: whether they stay.
    ids: BTreeMap<String, BTreeMap<Vec<u8>, bool>>,
    /// Sources of which sheets are gone.
    lacking_sheets: BTreeSet<String>,
}

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    parts::refuse_hidden(cleaning)?;
    let parts = parts::read(subject, cleaning, budget)?;
    let order: Vec<String> = parts.iter().map(|part| part.lower.clone()).collect();
    let mut package = Package {
        parts: parts.into_iter().map(|part| (part.lower.clone(), part)).collect(),
        kept: BTreeSet::new(),
        media: BTreeSet::new(),
        ids: BTreeMap::new(),
        lacking_sheets: BTreeSet::new(),
    };
    package.follow(cleaning, budget)?;
    package.write(&order, cleaning, budget)
}

impl Package {
    /// Follows the relationships from the package down.
    fn follow(&mut self, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        let mut waiting = VecDeque::from([String::new()]);
        let mut has_main = false;
        while let Some(source) = waiting.pop_front() {
            let found = self.relationships(&source, budget)?;
            // A part may be left with an empty list.
            self.ids.entry(source.clone()).or_default();
            for relationship in found {
                if relationship.kind == "origin" {
                    return Err("it is signed, and any change would break the signature".into());
                }
                let part = self.target(&source, &relationship, cleaning, budget)?;
                let is_kept = part.is_some();
                if !is_kept && relationship.kind.ends_with("sheet") {
                    self.lacking_sheets.insert(source.clone());
                }
                let ids = self.ids.entry(source.clone()).or_default();
                let known = ids.entry(relationship.id).or_insert(true);
                *known &= is_kept;
                let Some(part) = part.filter(|part| !part.is_empty()) else { continue };
                has_main |= source.is_empty() && relationship.kind == "officedocument";
                if self.kept.insert(part.clone()) {
                    waiting.push_back(part);
                }
            }
        }
        if has_main { Ok(()) } else { Err("its main part is missing, or is no XML".into()) }
    }

    /// The relationships of a part, or of the package.
    fn relationships(&self, source: &str, budget: &mut Budget) -> Result<Vec<Relationship>, Uncleanable> {
        let (folder, file) = source.rsplit_once('/').unwrap_or(("", source));
        let slash = if folder.is_empty() { "" } else { "/" };
        let Some(part) = self.parts.get(&format!("{folder}{slash}_rels/{file}.rels")) else { return Ok(Vec::new()) };
        let text = part.text(budget)?;
        let mut pull = Pull::new(&text);
        let mut found = Vec::new();
        while let Some(event) = pull.next(budget).map_err(Stop::from)? {
            match event {
                Event::Start(tag) if tag.local() == b"Relationship" => found.push(relationship(&tag)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// The part that a relationship leads to; empty where it is a link that leads to none. Nothing where it goes.
    fn target(
        &mut self,
        source: &str,
        relationship: &Relationship,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<Option<String>, Uncleanable> {
        let Relationship { kind, target, is_outside, .. } = relationship;
        if *is_outside {
            let is_plain = kind == "hyperlink" && link::is_plain(target.as_bytes());
            let stays = is_plain && matches!(cleaning.text(target.as_bytes(), budget)?, std::borrow::Cow::Borrowed(_));
            if !stays {
                cleaning.did("removed link to elsewhere");
            }
            return Ok(stays.then(String::new));
        }
        if kind == "hyperlink" && target.starts_with('#') {
            return Ok(Some(String::new()));
        }
        let name = package::resolve(source, target);
        let is_media = MEDIA.contains(&kind.as_str());
        let is_listed = is_media || kind == "font" || KEPT.contains(&kind.as_str());
        let Some(part) = self.parts.get(&name).filter(|_| is_listed && name != TYPES) else { return Ok(None) };
        if self.kept.contains(&name) {
            return Ok(Some(name));
        }
        let root = if kind == "font" { None } else { office::root_of(&part.text(budget).unwrap_or_default(), budget)? };
        let is_xml = root.as_ref().is_some_and(|root| !matches!(root.as_slice(), b"svg" | b"html" | b""));
        if is_xml {
            let runs = root.is_some_and(|root| RUNNING.contains(&root.as_slice()));
            // Drawings of old are written as HTML is: those that are no XML cannot be followed.
            let is_read = kind != "vmldrawing" || is_well_formed(part, budget)?;
            return Ok((!runs && is_read && KEPT.contains(&kind.as_str())).then_some(name));
        }
        // Scrambled fonts are bytes that only the program itself reads.
        if kind != "font" {
            if !is_media {
                return Ok(None);
            }
            let (bytes, shown) = (part.bytes.clone(), part.name.clone());
            match cleaning.part(&bytes, Some(&shown), budget)? {
                cleaning::Part::Keep => {}
                cleaning::Part::Changed(bytes) => {
                    self.parts.get_mut(&name).into_iter().for_each(|part| part.bytes = bytes.clone());
                }
                cleaning::Part::Gone(_) => return Ok(None),
            }
        }
        self.media.insert(name.clone());
        Ok(Some(name))
    }

    fn write(
        mut self,
        order: &[String],
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<Bytes, Uncleanable> {
        let nothing = BTreeMap::new();
        let mut repack = Repack::new();
        for name in order {
            let Some(mut part) = self.parts.remove(name) else { continue };
            let edited = if let Some(source) = package::source_of(name) {
                let Some(ids) = self.ids.get(&source) else { continue };
                edit(&part.text(budget)?, &mut RelsEditor { ids }, cleaning, budget)?
            } else if name == TYPES {
                edit(&part.text(budget)?, &mut TypesEditor { kept: &self.kept }, cleaning, budget)?
            } else if self.media.contains(name) {
                None
            } else if self.kept.contains(name) {
                let ids = self.ids.get(name).unwrap_or(&nothing);
                let mut markup = Markup::new(ids, self.lacking_sheets.contains(name));
                let edited = edit(&part.text(budget)?, &mut markup, cleaning, budget)?;
                for action in markup.actions {
                    cleaning.did(action);
                }
                edited
            } else {
                cleaning.did("removed part");
                continue;
            };
            if let Some(edited) = edited {
                part.bytes = edited.into();
            }
            part.pack(&mut repack, budget)?;
        }
        repack.finish()
    }
}

fn relationship(tag: &Tag<'_>) -> Relationship {
    let value = |name: &[u8]| String::from_utf8_lossy(&tag.value(name).unwrap_or_default()).into_owned();
    let kind = value(b"Type").to_ascii_lowercase();
    let target = value(b"Target");
    let reached = link::reach(target.as_bytes());
    let is_outside = value(b"TargetMode").eq_ignore_ascii_case("External")
        || !matches!(reached, link::Reach::Inside | link::Reach::Beside | link::Reach::Local);
    Relationship {
        id: tag.value(b"Id").unwrap_or_default().into_owned(),
        kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
        target,
        is_outside,
    }
}

fn is_well_formed(part: &Part, budget: &mut Budget) -> Result<bool, Uncleanable> {
    let text = part.text(budget)?;
    let mut pull = Pull::new(&text);
    loop {
        match pull.next(budget) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(true),
            Err(crate::format::pull::Fault::Limit(exhausted)) => return Err(exhausted.into()),
            Err(_) => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests;
