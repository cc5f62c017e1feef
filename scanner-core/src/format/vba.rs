//! Projects of Visual Basic for Applications (MS-OVBA): what is in them, and their source as text. Not a format of its
//! own: a part of others.

use bytes::Bytes;

use crate::{
    finding::{Finding, Place, Span, Stop},
    format::{Out, cfb, cfb::Compound, strings},
    inflate::Output,
    limits::{Budget, Resource},
    reader::count,
    view::{OffsetMap, TextView},
};

mod listing;
mod pack;
mod rules;
mod source;

pub(crate) use rules::{AUTOEXEC, CALLS_OUT, PROJECT, STOMPED, STRUCTURE};

/// Bytes of compiled code that a module without any source has: the header of an empty one is far shorter.
const COMPILED: usize = 64;
/// Bytes looked at in one step.
const BYTES_PER_STEP: u64 = 4;

/// Looks into the part of a document that says it is a project: a compound file, `vbaProject.bin`. The part is reported
/// even when it cannot be read. `within` is where the part stands when `bytes` are not the artifact's own.
///
/// # Errors
/// When the part cannot be followed, or the budget is used up; what was seen is told.
pub(crate) fn inspect(
    bytes: &Bytes,
    within: Option<Span>,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let opened = Compound::open(bytes, within, place, out, budget);
    let mut is_found = false;
    if let Ok(compound) = &opened {
        for storage in compound.storages() {
            if is_project(compound, storage) {
                is_found = true;
                project(compound, storage, place, out, budget)?;
            }
        }
    }
    if !is_found {
        let span = within.unwrap_or(Span { start: 0, end: count(bytes.len().min(cfb::SIGNATURE.len())) });
        let finding = Finding::built_in(&PROJECT).at(span.start, span.end).place(place.clone());
        out.find(finding.message("a part that says it holds macros"));
    }
    opened.map(drop)
}

/// Whether a storage is the one that holds the modules of a project.
pub(crate) fn is_project(compound: &Compound, storage: usize) -> bool {
    let has = |name| compound.find(storage, name).is_some();
    has("_VBA_PROJECT") || has("dir") && compound.entries().get(storage).is_some_and(|entry| entry.is_named("VBA"))
}

/// Looks into the storage that holds the modules of a project.
///
/// # Errors
/// When the budget is used up; what was seen is told.
pub(crate) fn project(
    compound: &Compound,
    storage: usize,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let path = compound.path(storage);
    let here = |name: &str| {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        place.clone().name("entry", path)
    };
    let stream_of = |name: &str, budget: &mut Budget| {
        compound.find(storage, name).map(|at| compound.stream(at, budget)).transpose()
    };
    let mark = compound.inside(storage).find(|at| {
        ["dir", "_VBA_PROJECT"].iter().any(|name| compound.entries().get(*at).is_some_and(|e| e.is_named(name)))
    });
    let span = mark.map(|at| compound.stream(at, budget)).transpose()?.map(|stream| stream.span(0..stream.bytes.len()));
    let span = span.unwrap_or(Span { start: 0, end: 0 });
    out.find(Finding::built_in(&PROJECT).at(span.start, span.end).place(here("")));
    let mut listing = listing::Listing::default();
    if let Some(packed) = stream_of("dir", budget)? {
        let (plain, broken) = unpack(&packed.bytes, budget)?;
        listing = listing::read(&plain, budget)?;
        if let Some(message) = broken.or(listing.broken) {
            let span = packed.span(0..packed.bytes.len());
            out.find(Finding::built_in(&STRUCTURE).at(span.start, span.end).place(here("dir")).message(message));
        }
    }
    let mut judged = source::Judged::default();
    for at in compound.inside(storage).collect::<Vec<_>>() {
        let Some(entry) = compound.entries().get(at) else { continue };
        let is_own = ["dir", "_VBA_PROJECT"].iter().any(|name| entry.is_named(name));
        if entry.is_storage() || is_own || entry.name.starts_with("__SRP_") {
            continue;
        }
        let stream = compound.stream(at, budget)?;
        let place = here(&cfb::readable(&entry.name));
        budget.spend(Resource::Steps, count(stream.bytes.len()).div_ceil(BYTES_PER_STEP))?;
        let start = listing.source_of(&entry.name).filter(|start| pack::begins(stream.bytes.get(*start..)));
        // A listing may lie about where the source is, or not name the module at all: it is found by how it begins.
        let Some(start) = start.or_else(|| pack::find(&stream.bytes)) else {
            if stream.bytes.len() > COMPILED && listing.source_of(&entry.name).is_some() {
                let span = stream.span(0..stream.bytes.len());
                let finding = Finding::built_in(&STOMPED).at(span.start, span.end).place(place);
                out.find(finding.message("a module has compiled code and no source"));
            }
            continue;
        };
        let packed = stream.bytes.slice(start..);
        let span = stream.span(start..stream.bytes.len());
        let (plain, broken) = unpack(&packed, budget)?;
        if let Some(message) = broken {
            out.find(Finding::built_in(&STRUCTURE).at(span.start, span.end).place(place.clone()).message(message));
        }
        budget.spend(Resource::Steps, count(plain.len()))?;
        judged.module(&entry.name, &plain);
        if start > COMPILED && !source::has_words(&plain) {
            let finding = Finding::built_in(&STOMPED).at(span.start, span.end).place(place.clone());
            out.find(finding.message("a module has compiled code and no source"));
        }
        judged.tell(span, &place, out);
        let map = OffsetMap::Within(span);
        out.read(TextView::decoded(plain.into(), map, vec!["vba"]).place(place));
    }
    // Names that only the compiled code has: the source was taken away or replaced.
    if let Some(stream) = stream_of("_VBA_PROJECT", budget)? {
        budget.spend(Resource::Steps, count(stream.bytes.len()))?;
        if let Some(name) = judged.missing(&strings::runs(&stream.bytes)) {
            let span = stream.span(0..stream.bytes.len());
            let message = format!("the compiled code names {name}, and no source does");
            out.find(Finding::built_in(&STOMPED).at(span.start, span.end).place(here("_VBA_PROJECT")).message(message));
        }
    }
    forms(compound, storage, place, out, budget)
}

/// What the forms of a project show and hide: their captions and values, where code likes to keep its strings.
fn forms(
    compound: &Compound,
    storage: usize,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let Some(parent) = compound.entries().get(storage).map(|entry| entry.parent) else { return Ok(()) };
    let mut streams = Vec::new();
    for at in compound.inside(parent) {
        match compound.entries().get(at) {
            Some(entry) if entry.is_storage() && at != storage && parent != storage => streams.extend(
                compound.inside(at).filter(|at| compound.entries().get(*at).is_some_and(|entry| !entry.is_storage())),
            ),
            _ => {}
        }
    }
    let is_form = |at: &usize| {
        compound
            .entries()
            .get(*at)
            .is_some_and(|entry| ["f", "o", "\u{3}VBFrame"].iter().any(|name| entry.is_named(name)))
    };
    for at in streams.into_iter().filter(is_form) {
        let stream = compound.stream(at, budget)?;
        budget.spend(Resource::Steps, count(stream.bytes.len()))?;
        let text = strings::runs(&stream.bytes);
        if !text.is_empty() {
            let map = OffsetMap::Within(stream.span(0..stream.bytes.len()));
            let place = place.clone().name("entry", compound.path(at));
            out.read(TextView::decoded(text.into(), map, vec!["strings"]).place(place));
        }
    }
    Ok(())
}

/// What a packed container holds, and what is wrong with it.
fn unpack(packed: &[u8], budget: &mut Budget) -> Result<(Vec<u8>, Option<&'static str>), Stop> {
    let mut plain = Output::of(count(packed.len()));
    let broken = pack::unpack(packed, &mut plain, budget)?;
    Ok((plain.into_bytes(), broken))
}

#[cfg(test)]
pub(super) mod build;
#[cfg(test)]
mod tests;
