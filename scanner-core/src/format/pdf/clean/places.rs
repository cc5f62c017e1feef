//! Places in the document (ISO 32000-1 §12.3.2): named ones are looked up and written out, so no tree of names is left.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Page, Writer, writer::weight};
use crate::{
    format::{
        cleaning::Uncleanable,
        pdf::{
            document::Document,
            object::{Dict, Object},
        },
    },
    limits::{Budget, Resource},
};

/// What comes behind the page of a place: how it is shown, and up to four numbers.
const MOST_DETAILS: usize = 5;

pub(super) struct Places<'d, 'a> {
    /// New numbers of pages, by the position of each.
    pages: BTreeMap<usize, u32>,
    named: BTreeMap<Vec<u8>, &'d Object<'a>>,
}

impl<'d, 'a> Places<'d, 'a> {
    pub(super) fn of(
        catalogue: &'d Dict<'a>,
        document: &'d Document<'a>,
        pages: &[Page<'d, 'a>],
        numbers: &[u32],
        budget: &mut Budget,
    ) -> Result<Self, Uncleanable> {
        let pages = pages.iter().map(|page| page.index).zip(numbers.iter().copied()).collect();
        let mut named = BTreeMap::new();
        if let Some(names) = document.get(catalogue, "Names").dict()
            && let Some(tree) = names.get("Dests")
        {
            for (name, place) in leaves(document, tree, "Names", budget)? {
                budget.spend(Resource::Steps, weight(document, place))?;
                if let Some(name) = document.resolve(name).string() {
                    named.insert(name.into_owned(), list_of(document, place));
                }
            }
        }
        // Of old, names stood in a plain dictionary.
        for (name, place) in document.get(catalogue, "Dests").dict().into_iter().flat_map(|dict| &dict.entries) {
            budget.spend(Resource::Steps, weight(document, place))?;
            named.insert(name.to_vec(), list_of(document, place));
        }
        Ok(Self { pages, named })
    }

    /// The page of a place, and the list that says it.
    fn find<'x>(&self, document: &'x Document<'a>, place: &'x Object<'a>) -> Option<(u32, &'x [Object<'a>])>
    where
        'd: 'x,
    {
        let mut place = document.resolve(place);
        let name = place.name().map(<[u8]>::to_vec).or_else(|| place.string().map(std::borrow::Cow::into_owned));
        if let Some(name) = name {
            place = document.resolve(self.named.get(&name)?);
        }
        let list = list_of(document, place).array()?;
        Some((*self.pages.get(&document.target(list.first()?)?)?, list))
    }

    pub(super) fn knows(&self, document: &Document<'a>, place: &Object<'a>) -> bool {
        self.find(document, place).is_some()
    }

    /// Writes a place that is known.
    pub(super) fn write(
        &self,
        place: &'d Object<'a>,
        writer: &mut Writer<'d, 'a, '_, '_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let document = writer.document;
        let Some((page, list)) = self.find(document, place) else { return Ok(()) };
        writer.raw("/Dest[");
        writer.reference(page);
        for detail in list.iter().skip(1).take(MOST_DETAILS).map(|detail| document.resolve(detail)) {
            if matches!(detail, Object::Int(_) | Object::Real(_) | Object::Name(_) | Object::Null) {
                writer.value(detail, Kind::Inert, budget)?;
            }
        }
        writer.raw("]");
        Ok(())
    }
}

/// The list that says a place, which may stand in a dictionary.
fn list_of<'x, 'a>(document: &'x Document<'a>, place: &'x Object<'a>) -> &'x Object<'a> {
    let place = document.resolve(place);
    place.dict().map_or(place, |dict| document.get(dict, "D"))
}

/// The pairs of a tree of names or numbers (§7.9.6), in order.
fn leaves<'d, 'a>(
    document: &'d Document<'a>,
    tree: &'d Object<'a>,
    key: &str,
    budget: &mut Budget,
) -> Result<Vec<(&'d Object<'a>, &'d Object<'a>)>, Uncleanable> {
    let mut pairs = Vec::new();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![tree];
    while let Some(node) = waiting.pop() {
        budget.spend(Resource::Steps, 20)?;
        let Some(node) = document.resolve(node).dict() else { continue };
        if !seen.insert(std::ptr::from_ref(node).addr()) {
            continue;
        }
        let (listed, _) = document.get(node, key).array().unwrap_or_default().as_chunks::<2>();
        let kids = document.get(node, "Kids").array().unwrap_or_default();
        let size = crate::reader::count(listed.len().saturating_add(kids.len()));
        budget.spend(Resource::Steps, size.saturating_mul(20))?;
        pairs.extend(listed.iter().map(|[name, value]| (name, value)));
        waiting.extend(kids.iter().rev());
    }
    Ok(pairs)
}

/// The labels of pages (§12.4.2), in one list.
pub(super) fn labels<'d, 'a>(
    catalogue: &'d Dict<'a>,
    writer: &mut Writer<'d, 'a, '_, '_>,
    budget: &mut Budget,
) -> Result<(), Uncleanable> {
    let document = writer.document;
    let Some(tree) = catalogue.get("PageLabels") else { return Ok(()) };
    let mut labels: BTreeMap<i64, &Dict<'a>> = BTreeMap::new();
    for (first, label) in leaves(document, tree, "Nums", budget)? {
        budget.spend(Resource::Steps, weight(document, label).saturating_mul(4))?;
        if let (Some(first), Some(label)) = (document.resolve(first).int(), document.resolve(label).dict()) {
            labels.insert(first, label);
        }
    }
    if labels.is_empty() {
        return Ok(());
    }
    writer.raw("/PageLabels<</Nums[");
    for (first, label) in labels {
        writer.raw(&format!(" {first}<<"));
        if let Some(style @ (b"D" | b"R" | b"r" | b"A" | b"a")) = document.get(label, "S").name() {
            writer.raw(&format!("/S/{}", String::from_utf8_lossy(style)));
        }
        if let Some(prefix) = document.get(label, "P").string() {
            writer.raw("/P");
            writer.text(&prefix, budget)?;
        }
        if let Some(start) = document.get(label, "St").int() {
            writer.raw(&format!("/St {start}"));
        }
        writer.raw(">>");
    }
    writer.raw("]>>");
    Ok(())
}
