//! The outline (ISO 32000-1 §12.3.3), with the links between its entries made anew.

use std::collections::BTreeSet;

use super::{
    Kind, Places, Writer,
    annotation::{Action, action, pay},
};
use crate::{
    format::{cleaning::Uncleanable, pdf::object::Dict},
    limits::{Budget, Resource},
    reader::count,
};

#[derive(Default)]
struct Links {
    parent: Option<usize>,
    previous: Option<usize>,
    next: Option<usize>,
    first: Option<usize>,
    last: Option<usize>,
    /// Entries to be seen below it.
    below: u64,
}

/// Writes it; the number of its top, where there is an outline.
pub(super) fn write<'d, 'a>(
    catalogue: &'d Dict<'a>,
    places: &Places<'d, 'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<Option<u32>, Uncleanable> {
    let document = writer.document;
    let Some(top) = document.get(catalogue, "Outlines").dict() else { return Ok(None) };
    // The top first, then its entries level by level.
    let mut entries: Vec<(&Dict<'a>, Links)> = vec![(top, Links::default())];
    let mut seen = BTreeSet::new();
    let mut at = 0;
    while let Some((parent, _)) = entries.get(at) {
        let mut next = parent.get("First");
        let mut previous: Option<usize> = None;
        while let Some(index) = next.and_then(|next| document.target(next)).filter(|index| seen.insert(*index)) {
            budget.spend(Resource::Objects, 1)?;
            let Some(entry) = document.item(index).and_then(|item| item.dict()) else { break };
            let here = entries.len();
            entries.push((entry, Links { parent: Some(at), previous, ..Links::default() }));
            match previous.and_then(|previous| entries.get_mut(previous)) {
                Some((_, links)) => links.next = Some(here),
                None => entries.get_mut(at).into_iter().for_each(|(_, links)| links.first = Some(here)),
            }
            entries.get_mut(at).into_iter().for_each(|(_, links)| links.last = Some(here));
            previous = Some(here);
            next = entry.get("Next");
        }
        at = at.saturating_add(1);
    }
    if entries.len() == 1 {
        return Ok(None);
    }
    for at in (1..entries.len()).rev() {
        let Some((entry, links)) = entries.get(at) else { continue };
        let shown = if is_closed(entry, writer) { 0 } else { links.below };
        let (parent, shown) = (links.parent, shown.saturating_add(1));
        if let Some((_, above)) = parent.and_then(|parent| entries.get_mut(parent)) {
            above.below = above.below.saturating_add(shown);
        }
    }
    let numbers: Vec<u32> = entries.iter().map(|_| writer.number()).collect();
    for ((entry, links), number) in entries.iter().zip(&numbers) {
        budget.spend(Resource::Steps, count(numbers.len().min(20)))?;
        writer.open(*number);
        writer.raw("<<");
        if links.parent.is_none() {
            writer.raw("/Type/Outlines");
        } else {
            write_entry(entry, places, writer, budget)?;
        }
        let others = [
            ("/Parent ", links.parent),
            ("/Prev ", links.previous),
            ("/Next ", links.next),
            ("/First ", links.first),
            ("/Last ", links.last),
        ];
        for (key, other) in others {
            if let Some(other) = other.and_then(|other| numbers.get(other)) {
                writer.raw(key);
                writer.reference(*other);
            }
        }
        if links.below > 0 {
            let sign = if is_closed(entry, writer) { "-" } else { "" };
            writer.raw(&format!("/Count {sign}{}", links.below));
        }
        writer.raw(">>");
        writer.close();
    }
    Ok(numbers.first().copied())
}

fn is_closed(entry: &Dict<'_>, writer: &Writer<'_, '_, '_, '_>) -> bool {
    writer.document.get(entry, "Count").int().is_some_and(|count| count < 0)
}

fn write_entry<'d, 'a>(
    entry: &'d Dict<'a>,
    places: &Places<'d, 'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<(), Uncleanable> {
    let document = writer.document;
    pay(document, entry, &["A", "Dest"], budget)?;
    writer.raw("/Title");
    writer.text(&document.get(entry, "Title").string().unwrap_or_default(), budget)?;
    match action(document, entry) {
        Some(Action::GoTo(place)) if places.knows(document, place) => places.write(place, writer, budget)?,
        None => {}
        Some(_) => writer.cleaning.did("removed action of an outline entry"),
    }
    for key in ["C", "F"] {
        if let Some(value) = entry.get(key).filter(|value| document.resolve(value).dict().is_none()) {
            writer.raw(&format!("/{key}"));
            writer.value(value, Kind::Inert, budget)?;
        }
    }
    Ok(())
}
