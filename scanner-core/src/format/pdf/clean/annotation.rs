//! What is kept of the annotations of a page (ISO 32000-1 §12.5): links to the web and into the document, what others
//! look like, and marks and notes that a reader draws by itself. A look without its annotation is a stamp: it does
//! nothing.

use super::{Kind, Page, Places, Writer, is_rectangle, writer::weight};
use crate::{
    format::{
        cleaning::Uncleanable,
        pdf::{
            document::Document,
            object::{Dict, Object},
            strings,
        },
    },
    limits::{Budget, Resource},
};

/// Schemes of links that a viewer hands to a browser or a mail program, and to nothing else.
const SCHEMES: &[&str] = &["http", "https", "mailto"];
/// Marks and notes that are drawn from numbers where they have no look.
const MARKS: &[&str] = &[
    "Circle",
    "FreeText",
    "Highlight",
    "Ink",
    "Line",
    "PolyLine",
    "Polygon",
    "Square",
    "Squiggly",
    "StrikeOut",
    "Text",
    "Underline",
];
/// Flags of table 165: not shown at all, or only on paper.
const UNSEEN: i64 = 0b10_0010;
/// To be printed.
const PRINTED: i64 = 0b100;
/// Nothing about it can be changed or moved.
const FIXED: i64 = 0b1100_0000;

/// Writes the list of those that are kept.
pub(super) fn write<'d, 'a>(
    page: &Page<'d, 'a>,
    places: &Places<'d, 'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<(), Uncleanable> {
    let document = writer.document;
    let Some(notes) = document.get(page.dict, "Annots").array().filter(|notes| !notes.is_empty()) else {
        return Ok(());
    };
    let start = writer.length();
    writer.raw("/Annots[");
    let mut has_any = false;
    for note in notes {
        budget.spend(Resource::Objects, 1)?;
        budget.spend(Resource::Steps, weight(document, note).saturating_mul(4))?;
        let Some(note) = document.resolve(note).dict() else { continue };
        pay(document, note, &["A", "AP", "Dest"], budget)?;
        let place = note.get("Rect").filter(|place| is_rectangle(document, place));
        let is_kept = match place {
            Some(place) if note.is("Subtype", "Link") => link(note, place, places, writer, budget)?,
            // Not shown at all, or the window of another one.
            Some(_) if flags(document, note) & UNSEEN != 0 || note.is("Subtype", "Popup") => false,
            Some(place) => look(note, place, writer, budget)? || mark(note, writer, budget)?,
            None => false,
        };
        has_any |= is_kept;
        if !is_kept {
            writer.cleaning.did("removed annotation");
        }
    }
    if has_any {
        writer.raw("]");
    } else {
        writer.cut(start);
    }
    Ok(())
}

/// Pays for looking into values that many may share, and for the values of the same keys as an action has them.
pub(super) fn pay<'a>(
    document: &Document<'a>,
    holder: &Dict<'a>,
    keys: &[&str],
    budget: &mut Budget,
) -> Result<(), Uncleanable> {
    for value in keys.iter().filter_map(|key| holder.get(key)) {
        budget.spend(Resource::Steps, weight(document, value).saturating_mul(4))?;
        let inner = document.resolve(value).dict();
        for value in inner.into_iter().flat_map(|inner| [inner.get("D"), inner.get("N")]).flatten() {
            budget.spend(Resource::Steps, weight(document, value).saturating_mul(4))?;
        }
    }
    Ok(())
}

fn link<'d, 'a>(
    note: &'d Dict<'a>,
    place: &'d Object<'a>,
    places: &Places<'d, 'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<bool, Uncleanable> {
    let document = writer.document;
    let target = match action(document, note) {
        Some(Action::Address(address)) if is_washed(&address, writer, budget)? => Target::Address(address),
        Some(Action::GoTo(destination)) if places.knows(document, destination) => Target::Place(destination),
        _ => return Ok(false),
    };
    writer.raw("<</Type/Annot/Subtype/Link/Rect");
    writer.value(place, Kind::Inert, budget)?;
    for key in ["Border", "C", "H", "QuadPoints"] {
        if let Some(value) = note.get(key).filter(|value| !matches!(document.resolve(value), Object::Dict(_))) {
            writer.raw(&format!("/{key}"));
            writer.value(value, Kind::Inert, budget)?;
        }
    }
    if let Some(border) = document.get(note, "BS").dict() {
        writer.raw("/BS<<");
        writer.entries(border, Kind::Border, budget)?;
        writer.raw(">>");
    }
    if let Some(flags) = document.get(note, "F").int() {
        writer.raw(&format!("/F {flags}"));
    }
    match target {
        Target::Place(destination) => places.write(destination, writer, budget)?,
        Target::Address(address) => {
            writer.raw("/A<</S/URI/URI");
            writer.text(address.as_bytes(), budget)?;
            writer.raw(">>");
        }
    }
    writer.raw(">>");
    Ok(true)
}

enum Target<'d, 'a> {
    Place(&'d Object<'a>),
    Address(String),
}

/// What a click does, where that is kept.
pub(super) enum Action<'d, 'a> {
    GoTo(&'d Object<'a>),
    Address(String),
}

/// The action of a link or of an entry of the outline.
pub(super) fn action<'d, 'a>(document: &'d Document<'a>, holder: &'d Dict<'a>) -> Option<Action<'d, 'a>> {
    if let Some(destination) = holder.get("Dest") {
        return Some(Action::GoTo(destination));
    }
    let action = document.get(holder, "A").dict()?;
    match document.get(action, "S").name()? {
        b"GoTo" => action.get("D").map(Action::GoTo),
        b"URI" => {
            let address = document.get(action, "URI").string()?;
            let address = strings::decode(&address).into_owned();
            let (scheme, rest) = address.split_once(':')?;
            let is_plain = !rest.is_empty() && !address.chars().any(char::is_control);
            let is_known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
            (is_plain && is_known).then_some(Action::Address(address))
        }
        _ => None,
    }
}

/// Whether an address may stay as it is. One in which something was replaced leads nowhere.
fn is_washed(address: &str, writer: &mut Writer<'_, '_, '_, '_>, budget: &mut Budget) -> Result<bool, Uncleanable> {
    Ok(matches!(writer.cleaning.text(address.as_bytes(), budget)?, std::borrow::Cow::Borrowed(_)))
}

/// The look of an annotation in the state it is in.
fn look<'d, 'a>(
    note: &'d Dict<'a>,
    place: &'d Object<'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<bool, Uncleanable> {
    let document = writer.document;
    let Some(looks) = document.get(note, "AP").dict().and_then(|looks| looks.get("N")) else { return Ok(false) };
    let state = document.get(note, "AS").name().and_then(|state| std::str::from_utf8(state).ok());
    let is_form = |look: &Object<'a>| {
        document.target(look).and_then(|at| document.item(at)).is_some_and(|item| item.stream.is_some())
    };
    let chosen = match document.resolve(looks).dict() {
        Some(states) if !is_form(looks) => state.and_then(|state| states.get(state)),
        _ => Some(looks),
    };
    let form = chosen.filter(|look| is_form(look)).and_then(|look| document.target(look));
    let Some(form) = form.and_then(|at| document.item(at)).and_then(|item| Some((item.dict()?, chosen?))) else {
        return Ok(false);
    };
    // Some writers leave out that a look is a form.
    let (dict, chosen) = form;
    if dict.has("Subtype") && !dict.is("Subtype", "Form") {
        return Ok(false);
    }
    let Some(number) = writer.number_of(chosen, Kind::Form) else { return Ok(false) };
    if !note.is("Subtype", "Stamp") {
        writer.cleaning.did("kept the look of an annotation only");
    }
    writer.raw("<</Type/Annot/Subtype/Stamp/Rect");
    writer.value(place, Kind::Inert, budget)?;
    writer.raw(&format!("/F {}/AP<</N ", flags(document, note) & PRINTED | FIXED));
    writer.reference(number);
    writer.raw(">>>>");
    Ok(true)
}

/// A mark or a note without a look.
fn mark<'d, 'a>(
    note: &'d Dict<'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<bool, Uncleanable> {
    let Some(kind) = MARKS.iter().find(|kind| note.is("Subtype", kind)) else { return Ok(false) };
    writer.raw(&format!("<</Type/Annot/Subtype/{kind}/F {}", flags(writer.document, note) & PRINTED | FIXED));
    writer.entries(note, Kind::Mark, budget)?;
    writer.raw(">>");
    Ok(true)
}

fn flags(document: &Document<'_>, note: &Dict<'_>) -> i64 {
    document.get(note, "F").int().unwrap_or(0)
}
