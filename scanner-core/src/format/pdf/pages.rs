//! The tree of pages (ISO 32000-1 §7.7.3), walked without believing what it says of itself.

use std::collections::BTreeSet;

use super::{
    document::Document,
    notes::Notes,
    object::{Dict, Object},
    rules,
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
};

/// One page, with what it takes from the nodes above it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'d, 'a> {
    /// Position of its object.
    pub(super) index: usize,
    pub(super) dict: &'d Dict<'a>,
    pub(super) resources: Option<&'d Dict<'a>>,
    /// The sheet, and what is to be shown of it where that is said: left, bottom, right, top.
    pub(super) media: [f64; 4],
    pub(super) crop: Option<[f64; 4]>,
    /// Degrees it is turned by.
    pub(super) turned: i64,
    /// It is in the tree; one that is not is never shown.
    pub(super) is_shown: bool,
}

/// A sheet of A4 and US letter together, where a page does not say how large it is.
const PAPER: [f64; 4] = [0.0, 0.0, 612.0, 842.0];

#[derive(Clone, Copy)]
struct Inherited<'d, 'a> {
    resources: Option<&'d Dict<'a>>,
    media: [f64; 4],
    crop: Option<[f64; 4]>,
    turned: i64,
}

impl Page<'_, '_> {
    /// What is shown of it: left, bottom, right, top.
    pub(super) fn shown(&self) -> [f64; 4] {
        self.crop.map_or(self.media, |crop| crossing(crop, self.media))
    }
}

/// All pages, those of the tree in its order, then those that nothing shows.
pub(super) fn walk<'d, 'a>(
    document: &'d Document<'a>,
    notes: &mut Notes,
    budget: &mut Budget,
) -> Result<Vec<Page<'d, 'a>>, Stop> {
    let end = document.bytes.len();
    let mut pages = Vec::new();
    let mut seen = vec![false; document.items.len()];
    let root = document.root().or_else(|| {
        notes.add(&rules::STRUCTURE, end..end, "nothing says where the document begins");
        document.some_root()
    });
    let mut leaves = 0_u64;
    let mut is_shared = false;
    let mut lists = BTreeSet::new();
    let top = root.and_then(|root| root.get("Pages"));
    let first = Inherited { resources: None, media: PAPER, crop: None, turned: 0 };
    let mut waiting: Vec<(&'d Object<'a>, Inherited<'d, 'a>)> = top.map(|top| (top, first)).into_iter().collect();
    while let Some((reference, inherited)) = waiting.pop() {
        budget.spend(Resource::Steps, 20)?;
        let Some(index) = document.target(reference) else { continue };
        let Some(dict) = document.item(index).and_then(|item| item.dict()) else { continue };
        let kids = document.get(dict, "Kids").array();
        let was_seen = seen.get_mut(index).is_none_or(|seen| std::mem::replace(seen, true));
        if was_seen {
            is_shared |= kids.is_some();
            leaves = leaves.saturating_add(u64::from(kids.is_none()));
            continue;
        }
        let inherited = inherit(document, dict, inherited);
        if kids.is_some() && document.get(dict, "Type").name() == Some(b"Page") {
            // Readers differ: to some a page is what says so, to others what has no kids. It is both.
            notes.add(&rules::STRUCTURE, end..end, "a page has pages below it");
            leaves = leaves.saturating_add(1);
            pages.push(page(index, dict, inherited, true));
        }
        match kids {
            // Nodes that share one list of kids: the list is followed once.
            Some(kids) if !lists.insert(std::ptr::from_ref(kids).addr()) => is_shared = true,
            Some(kids) => waiting.extend(kids.iter().rev().map(|kid| (kid, inherited))),
            None => {
                leaves = leaves.saturating_add(1);
                pages.push(page(index, dict, inherited, true));
            }
        }
    }
    let claimed = top.and_then(|top| document.resolve(top).dict()).map(|top| document.get(top, "Count"));
    if let Some(Object::Int(claimed)) = claimed
        && !is_shared
        && u64::try_from(*claimed) != Ok(leaves)
    {
        notes.add(&rules::STRUCTURE, end..end, format!("the document claims {claimed} pages and has {leaves}"));
    }
    if top.is_some() && claimed.is_none() {
        notes.add(&rules::STRUCTURE, end..end, "the tree of pages is missing");
    }
    for (index, item) in document.items.iter().enumerate() {
        let Some(dict) = item.dict().filter(|dict| dict.is("Type", "Page") && seen.get(index) == Some(&false)) else {
            continue;
        };
        budget.spend(Resource::Steps, 20)?;
        pages.push(page(index, dict, inherit(document, dict, first), false));
    }
    Ok(pages)
}

fn page<'d, 'a>(index: usize, dict: &'d Dict<'a>, inherited: Inherited<'d, 'a>, is_shown: bool) -> Page<'d, 'a> {
    let Inherited { resources, media, crop, turned } = inherited;
    Page { index, dict, resources, media, crop, turned, is_shown }
}

fn inherit<'d, 'a>(document: &'d Document<'a>, dict: &'d Dict<'a>, above: Inherited<'d, 'a>) -> Inherited<'d, 'a> {
    Inherited {
        resources: document.get(dict, "Resources").dict().or(above.resources),
        media: rectangle(document, document.get(dict, "MediaBox")).unwrap_or(above.media),
        crop: rectangle(document, document.get(dict, "CropBox")).or(above.crop),
        turned: document.get(dict, "Rotate").int().unwrap_or(above.turned),
    }
}

/// Four numbers, put in order.
pub(super) fn rectangle(document: &Document<'_>, value: &Object<'_>) -> Option<[f64; 4]> {
    let [a, b, c, d] = value.array()? else { return None };
    let number = |value: &Object<'_>| match value {
        Object::Ref(number) => document.find(*number).and_then(|index| document.item(index)?.object.real()),
        value => value.real(),
    };
    let (a, b, c, d) = (number(a)?, number(b)?, number(c)?, number(d)?);
    Some([a.min(c), b.min(d), a.max(c), b.max(d)])
}

/// What two rectangles share.
pub(super) fn crossing(one: [f64; 4], other: [f64; 4]) -> [f64; 4] {
    let ([a, b, c, d], [e, f, g, h]) = (one, other);
    [a.max(e), b.max(f), c.min(g), d.min(h)]
}
