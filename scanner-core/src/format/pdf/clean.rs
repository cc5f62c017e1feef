//! The safe version of a PDF: pages as the judge sees them, written anew. From the catalogue down only what is listed is
//! followed, so scripts, forms, attachments, metadata, older versions and whatever nothing shows are not in it. Streams
//! are copied as they are packed.
//!
//! Written over our own objects and not with a library: a second reader would find other pages in a broken file than
//! the judge does, and what it found would be what is released.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    content,
    document::{Document, Lock},
    load::{self, Loaded},
    notes::Notes,
    object::Object,
    pages::{self, Page},
    rules, start,
};
use crate::{
    bundle::ArtifactId,
    finding::Findings,
    format::{
        Out, Subject,
        cleaning::{Cleaning, Uncleanable},
    },
    limits::{Budget, Resource},
};

mod annotation;
mod kind;
mod outline;
mod places;
mod writer;

use kind::Kind;
use places::Places;
use writer::Writer;

/// What a catalogue has that is left out, and what is said about it.
const LEFT_OUT: &[(&str, &str)] = &[
    ("OpenAction", "removed action at opening"),
    ("AA", "removed automatic actions"),
    ("AcroForm", "removed form"),
    ("Metadata", "removed metadata"),
    ("URI", "removed base address"),
    ("StructTreeRoot", "removed structure tree"),
    ("AF", "removed attachment"),
    ("Collection", "removed attachment"),
];
/// The same of the tree of names.
const NAMES_LEFT_OUT: &[(&str, &str)] = &[("JavaScript", "removed script"), ("EmbeddedFiles", "removed attachment")];

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let written = with_document(subject.bytes, budget, |document, budget| {
        if document.items.iter().any(is_signature) {
            return Err("the document is signed, and any change would break the signature".into());
        }
        let pages = shown(document, budget)?;
        if pages.is_empty() {
            return Err("the document has no pages".into());
        }
        write(document, &pages, cleaning, budget)
    })?;
    // What is left is read as the judge will read it: words on pages cannot be taken out.
    with_document(&written, budget, |document, budget| {
        check(document, &Subject { bytes: &written, kind: subject.kind }, cleaning, budget)
    })?;
    Ok(written)
}

/// Does something with a document that could be read to its end.
fn with_document<T>(
    bytes: &Bytes,
    budget: &mut Budget,
    then: impl FnOnce(&Document<'_>, &mut Budget) -> Result<T, Uncleanable>,
) -> Result<T, Uncleanable> {
    let mut reading = start(bytes);
    let found = load::find(&mut reading, budget)?;
    let (packed, containers) = found.unlock(bytes, &mut reading, budget)?;
    let Loaded { document, stop, .. } = packed.unpack(&containers, &mut reading, budget);
    if let Some(stop) = stop {
        return Err(stop.into());
    }
    if !matches!(document.lock, Lock::None) {
        return Err("the document is encrypted".into());
    }
    if reading.notes.has(&rules::TRUNCATED) {
        return Err("the document ends early".into());
    }
    if let Some(gap) = reading.notes.unread() {
        return Err(Uncleanable(Cow::Owned(gap.to_owned())));
    }
    then(&document, budget)
}

/// Whether an object belongs to a signature (§12.8).
fn is_signature(item: &super::file::Item<'_>) -> bool {
    item.dict().is_some_and(|dict| {
        dict.has("ByteRange")
            || dict.is("Type", "Sig")
            || dict.is("Type", "DocTimeStamp")
            || dict.is("FT", "Sig") && dict.has("V")
            || dict.is("Type", "Catalog") && dict.has("Perms")
    })
}

fn shown<'d, 'a>(document: &'d Document<'a>, budget: &mut Budget) -> Result<Vec<Page<'d, 'a>>, Uncleanable> {
    let mut pages = pages::walk(document, &mut Notes::default(), budget)?;
    pages.retain(|page| page.is_shown);
    Ok(pages)
}

fn write<'d, 'a>(
    document: &'d Document<'a>,
    pages: &[Page<'d, 'a>],
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    if document.trailers.iter().any(|trailer| trailer.has("Info")) {
        cleaning.did("removed metadata");
    }
    let mut writer = Writer::new(document, cleaning);
    let (root, tree) = (writer.number(), writer.number());
    let numbers: Vec<u32> = pages.iter().map(|_| writer.number()).collect();
    let Some(catalogue) = document.root().or_else(|| document.some_root()) else {
        return Err("nothing says where the document begins".into());
    };
    for (key, action) in LEFT_OUT {
        if catalogue.has(key) {
            writer.cleaning.did(action);
        }
    }
    for (key, action) in NAMES_LEFT_OUT {
        if document.get(catalogue, "Names").dict().is_some_and(|names| names.has(key)) {
            writer.cleaning.did(action);
        }
    }
    let places = Places::of(catalogue, document, pages, &numbers, budget)?;
    let outline = outline::write(catalogue, &places, &mut writer, budget)?;
    writer.open(root);
    writer.raw("<</Type/Catalog/Pages ");
    writer.reference(tree);
    if let Some(outline) = outline {
        writer.raw("/Outlines ");
        writer.reference(outline);
        if matches!(document.get(catalogue, "PageMode").name(), Some(b"UseOutlines")) {
            writer.raw("/PageMode/UseOutlines");
        }
    }
    if let Some(lang) = document.get(catalogue, "Lang").string() {
        writer.raw("/Lang");
        writer.text(&lang, budget)?;
    }
    places::labels(catalogue, &mut writer, budget)?;
    if let Some(layers) = document.get(catalogue, "OCProperties").dict() {
        writer.raw("/OCProperties<<");
        writer.entries(layers, Kind::LayerSets, budget)?;
        writer.raw(">>");
    }
    writer.raw(">>");
    writer.close();
    writer.open(tree);
    writer.raw("<</Type/Pages/Kids[");
    for number in &numbers {
        writer.raw(" ");
        writer.reference(*number);
    }
    writer.raw(&format!("]/Count {}>>", numbers.len()));
    writer.close();
    for (page, number) in pages.iter().zip(&numbers) {
        budget.spend(Resource::Objects, 1)?;
        writer.open(*number);
        writer.raw("<</Type/Page/Parent ");
        writer.reference(tree);
        write_page(page, &places, &mut writer, budget)?;
        writer.raw(">>");
        writer.close();
    }
    writer.rest(budget)?;
    Ok(writer.finish(root))
}

fn write_page<'d, 'a>(
    page: &Page<'d, 'a>,
    places: &Places<'d, 'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<(), Uncleanable> {
    let document = writer.document;
    for (key, rectangle) in [("/MediaBox", Some(page.media)), ("/CropBox", page.crop)] {
        let Some(rectangle) = rectangle else { continue };
        writer.raw(key);
        writer.raw("[");
        for side in rectangle {
            writer.real(side);
        }
        writer.raw("]");
    }
    // Readers turn by right angles only.
    match page.turned.rem_euclid(360) {
        0 => {}
        turned => writer.raw(&format!("/Rotate {turned}")),
    }
    if let Some(unit) = document.get(page.dict, "UserUnit").real() {
        writer.raw("/UserUnit");
        writer.real(unit);
    }
    if let Some(resources) = page.resources {
        writer.raw("/Resources ");
        let number = writer.number_of_dict(resources, Kind::Resources);
        writer.reference(number);
    }
    if let Some(group) = document.get(page.dict, "Group").dict() {
        writer.raw("/Group<<");
        writer.entries(group, Kind::Group, budget)?;
        writer.raw(">>");
    }
    if let Some(contents) = page.dict.get("Contents") {
        let several = document.resolve(contents).array();
        writer.raw("/Contents[");
        for stream in several.unwrap_or(std::slice::from_ref(contents)) {
            budget.spend(Resource::Steps, 20)?;
            if let Some(number) = writer.number_of(stream, Kind::Data) {
                writer.raw(" ");
                writer.reference(number);
            }
        }
        writer.raw("]");
    }
    if page.dict.has("AA") {
        writer.cleaning.did("removed automatic actions");
    }
    annotation::write(page, places, writer, budget)
}

/// Whether all words that are left on pages may stay.
fn check(
    document: &Document<'_>,
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<(), Uncleanable> {
    let pages = shown(document, budget)?;
    let (mut findings, mut gaps) = (Findings::keeping(0), Vec::new());
    let mut out = Out::new(ArtifactId(0), subject, &mut findings, &mut gaps);
    let mut notes = Notes::default();
    content::read(document, &pages, &mut notes, &mut std::collections::BTreeSet::new(), &mut out, budget)?;
    if let Some(gap) = notes.unread() {
        return Err(Uncleanable(Cow::Owned(gap.to_owned())));
    }
    for view in std::mem::take(&mut out.texts) {
        if view.hidden.is_some_and(|rule| cleaning.must_go(&rule.category)) {
            return Err("a hidden text is part of a page".into());
        }
        if matches!(cleaning.text(&view.text, budget)?, Cow::Owned(_)) {
            return Err("a text that must not leave as it is is part of a page".into());
        }
    }
    Ok(())
}

/// A number of four that is written as it is: a rectangle.
fn is_rectangle(document: &Document<'_>, value: &Object<'_>) -> bool {
    pages::rectangle(document, value).is_some()
}

#[cfg(test)]
mod tests;
