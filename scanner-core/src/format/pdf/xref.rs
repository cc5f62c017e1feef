//! The tables that say where objects stand (ISO 32000-1 §7.5.4, §7.5.8): followed from the end of the file, newest
//! first, through updates, streams and both at once. What they say is checked against the objects that are there.

use std::{collections::BTreeSet, ops::Range};

use memchr::memmem;

use super::{
    file::{self, Item, Reading},
    filter,
    lex::{Lexer, Token},
    object::{self, Dict},
    rules,
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::Reader,
};

/// Objects a reader must be able to number (annex C.2). No honest file has more.
const MOST_OBJECTS: i64 = 8_388_607;
/// Steps of an entry.
const STEPS_PER_ENTRY: u64 = 6;

/// Pays for one entry; several of them are as much as an object.
fn pay(entries: &mut u64, budget: &mut Budget) -> Result<(), Stop> {
    *entries = entries.saturating_add(1);
    budget.spend(Resource::Steps, STEPS_PER_ENTRY)?;
    budget.spend(Resource::Objects, u64::from(entries.is_multiple_of(file::VALUES_PER_OBJECT)))?;
    Ok(())
}

/// Where an object is said to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Free,
    /// Offset in the file, and generation.
    At(usize, i64),
    /// In that object stream.
    Packed(u32),
}

/// All tables of a file.
#[derive(Debug, Default)]
pub(super) struct Xref<'a> {
    /// Sorted by number; for each the newest.
    pub(super) spots: Vec<(u32, Spot)>,
    /// Newest first.
    pub(super) trailers: Vec<Dict<'a>>,
    /// Where the tables stand.
    pub(super) sections: Vec<Range<usize>>,
    /// Every table could be followed.
    pub(super) is_whole: bool,
}

impl Xref<'_> {
    pub(super) fn spot(&self, number: u32) -> Option<Spot> {
        let at = self.spots.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.spots.get(at).map(|(_, spot)| *spot)
    }
}

/// Follows the tables. Never fails on what they say: that is noted.
pub(super) fn walk<'a>(reading: &mut Reading<'a>, budget: &mut Budget) -> Result<Xref<'a>, Stop> {
    let bytes = reading.bytes;
    let mut xref = Xref { is_whole: true, ..Xref::default() };
    let Some(keyword) = memmem::rfind(bytes, b"startxref") else {
        reading.notes.add(&rules::XREF, bytes.len()..bytes.len(), "nothing says where the table of objects is");
        xref.is_whole = false;
        return Ok(xref);
    };
    let mut lexer = Lexer::new(bytes, keyword.saturating_add(9));
    let at = keyword..lexer.position();
    let start = match lexer.next() {
        Token::Int(start) => usize::try_from(start).ok(),
        _ => None,
    };
    let mut waiting = Vec::new();
    match start.and_then(|start| section_at(reading, start)) {
        Some(start) => waiting.push(start),
        None => {
            xref.is_whole = false;
            reading.notes.add(&rules::XREF, at, "the end of the file does not say where the table of objects is");
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(start) = waiting.pop() {
        if !seen.insert(start) {
            reading.notes.add(&rules::XREF, start..start, "the tables of objects lead in a circle");
            continue;
        }
        budget.spend(Resource::Objects, 1)?;
        let Some(trailer) = section(reading, start, &mut xref, budget)? else {
            xref.is_whole = false;
            continue;
        };
        // The hybrid table is newer than what came before (§7.5.8.4): it is taken from the end of the list first.
        for key in ["Prev", "XRefStm"] {
            let Some(value) = trailer.get(key) else { continue };
            let offset = value.int().and_then(|value| usize::try_from(value).ok());
            match offset.and_then(|offset| section_at(reading, offset)) {
                Some(offset) => waiting.push(offset),
                // Some writers leave a zero there.
                None if offset == Some(0) => {}
                None => {
                    xref.is_whole = false;
                    reading.notes.add(
                        &rules::XREF,
                        start..start,
                        "an older table of objects is not where it should be",
                    );
                }
            }
        }
        check_size(reading, &trailer, start);
        xref.trailers.push(trailer);
    }
    // The newest of each number was found first; a stable sort keeps it in front.
    xref.spots.sort_by_key(|(number, _)| *number);
    xref.spots.dedup_by_key(|(number, _)| *number);
    Ok(xref)
}

fn check_size(reading: &mut Reading<'_>, trailer: &Dict<'_>, at: usize) {
    let is_possible = |size: i64| (0..=MOST_OBJECTS).contains(&size);
    if trailer.get("Size").is_some_and(|size| size.int().is_some_and(|size| !is_possible(size))) {
        reading.notes.add(&rules::XREF, at..at, "the table of objects claims an impossible size");
    }
}

/// A table stands at an offset, counted from the start of the file or of its header.
fn section_at(reading: &Reading<'_>, offset: usize) -> Option<usize> {
    [reading.header, 0].into_iter().find_map(|base| {
        let at = base.checked_add(offset).filter(|at| *at < reading.bytes.len())?;
        // A table is one word or three; comments before it are not looked through.
        let window = reading.bytes.get(..at.saturating_add(64)).unwrap_or(reading.bytes);
        let mut lexer = Lexer::new(window, at);
        lexer.skip_white();
        let start = lexer.position();
        let is_table = lexer.rest().starts_with(b"xref");
        (is_table || file::header_at(window, start).is_some()).then_some(start)
    })
}

/// One table. Nothing comes back when it cannot be followed.
fn section<'a>(
    reading: &mut Reading<'a>,
    start: usize,
    xref: &mut Xref<'a>,
    budget: &mut Budget,
) -> Result<Option<Dict<'a>>, Stop> {
    if reading.bytes.get(start..).is_some_and(|rest| rest.starts_with(b"xref")) {
        return table(reading, start, xref, budget);
    }
    let Some(item) = file::item_at(reading, start, budget)? else { return Ok(None) };
    xref.sections.push(start..item.end);
    let odd = stream(reading, &item, xref, budget)?;
    if let Some(message) = odd {
        reading.notes.add(&rules::XREF, start..item.end, message);
        xref.is_whole = false;
    }
    Ok(match item.object {
        object::Object::Dict(dict) => Some(dict),
        _ => None,
    })
}

/// A table in words: `first count`, then `offset generation n` for each.
fn table<'a>(
    reading: &mut Reading<'a>,
    start: usize,
    xref: &mut Xref<'a>,
    budget: &mut Budget,
) -> Result<Option<Dict<'a>>, Stop> {
    let mut lexer = Lexer::new(reading.bytes, start.saturating_add(4));
    let mut odd = None;
    let mut paid = 0;
    let trailer = loop {
        let before = lexer.position();
        let (first, entries) = match (lexer.next(), lexer.next()) {
            (Token::Int(first), Token::Int(entries)) => (first, entries),
            (Token::Word(b"trailer"), _) => {
                lexer.seek(before);
                lexer.next();
                break true;
            }
            _ => {
                odd = odd.or(Some("the table of objects has no end"));
                break false;
            }
        };
        if first < 0 || !(0..=MOST_OBJECTS).contains(&entries) {
            odd = odd.or(Some("the table of objects claims an impossible size"));
        }
        for number in first..first.saturating_add(entries) {
            pay(&mut paid, budget)?;
            let before = lexer.position();
            let (Token::Int(offset), Token::Int(generation), Token::Word(kind)) =
                (lexer.next(), lexer.next(), lexer.next())
            else {
                odd = odd.or(Some("the table of objects has fewer entries than it claims"));
                lexer.seek(before);
                break;
            };
            if kind.starts_with(b"n") && generation >= 65_535 {
                odd = odd.or(Some("the table of objects has an impossible generation"));
            }
            let spot = match usize::try_from(offset) {
                Ok(offset @ 1..) if kind.starts_with(b"n") => Spot::At(offset, generation),
                _ => Spot::Free,
            };
            xref.spots.extend(u32::try_from(number).ok().map(|number| (number, spot)));
        }
    };
    let trailer = if trailer { Some(file::value(reading, &mut lexer, budget)?) } else { None };
    xref.sections.push(start..lexer.position());
    if let Some(odd) = odd {
        reading.notes.add(&rules::XREF, start..lexer.position(), odd);
    }
    Ok(trailer.and_then(|trailer| match trailer {
        object::Object::Dict(dict) => Some(dict),
        _ => None,
    }))
}

/// A table in a stream: three numbers for each entry, as wide as `/W` says. Comes back with what is wrong.
fn stream<'a>(
    reading: &mut Reading<'a>,
    item: &Item<'a>,
    xref: &mut Xref<'a>,
    budget: &mut Budget,
) -> Result<Option<&'static str>, Stop> {
    let Some(dict) = item.object.dict().filter(|dict| dict.is("Type", "XRef")) else {
        return Ok(Some("what should be the table of objects is none"));
    };
    let Some(data) = item.stream.clone().and_then(|range| reading.bytes.get(range)) else {
        return Ok(Some("the table of objects has no content"));
    };
    let widths: Vec<u64> = dict
        .get("W")
        .and_then(object::Object::array)
        .unwrap_or_default()
        .iter()
        .map(|width| width.int().and_then(|width| u64::try_from(width).ok()).unwrap_or(u64::MAX))
        .collect();
    let [kind_width, second_width, third_width] = *widths.as_slice() else {
        return Ok(Some("the table of objects does not say how wide its columns are"));
    };
    if widths.iter().any(|width| *width > 8) || second_width == 0 {
        return Ok(Some("the columns of the table of objects have an impossible width"));
    }
    let decoded = filter::decode_plain(dict, data, budget);
    // A table that is not paid for is no damaged one.
    if let Some(limit @ Stop::Limit(_)) = decoded.stop {
        return Err(limit);
    }
    let mut odd = decoded.stop.is_some().then_some("the table of objects is damaged");
    let mut paid = 0;
    let mut rows = Reader::new(&decoded.bytes);
    let size = dict.get("Size").and_then(object::Object::int).unwrap_or(0);
    let whole = [object::Object::Int(0), object::Object::Int(size)];
    let index = dict.get("Index").and_then(object::Object::array).unwrap_or(&whole);
    let (pairs, _) = index.as_chunks::<2>();
    'sections: for [first, entries] in pairs {
        let (Some(first), Some(entries)) = (first.int(), entries.int()) else {
            odd = odd.or(Some("the table of objects is damaged"));
            break;
        };
        for number in first..first.saturating_add(entries) {
            pay(&mut paid, budget)?;
            let row = (field(&mut rows, kind_width), field(&mut rows, second_width), field(&mut rows, third_width));
            let (Some(kind), Some(second), Some(third)) = row else {
                odd = odd.or(Some("the table of objects has fewer entries than it claims"));
                break 'sections;
            };
            // A missing kind is a plain object (table 17).
            let spot = match if kind_width == 0 { 1 } else { kind } {
                1 => usize::try_from(second)
                    .map_or(Spot::Free, |offset| Spot::At(offset, i64::try_from(third).unwrap_or(i64::MAX))),
                2 => u32::try_from(second).map_or(Spot::Free, Spot::Packed),
                _ => Spot::Free,
            };
            xref.spots.extend(u32::try_from(number).ok().map(|number| (number, spot)));
        }
    }
    Ok(odd)
}

fn field(rows: &mut Reader<'_>, width: u64) -> Option<u64> {
    let bytes = rows.take(width).ok()?;
    Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Compares what the tables say with the objects that are there.
pub(super) fn check(reading: &mut Reading<'_>, xref: &Xref<'_>, items: &[Item<'_>], missing: &[(u32, usize)]) {
    if let Some((_, at)) = missing.first() {
        let at = (*at).min(reading.bytes.len());
        reading.notes.add(
            &rules::XREF,
            at..at,
            format!("{} objects are not where the table of objects says", missing.len()),
        );
    }
    let wrong = items.iter().find(|item| {
        matches!(xref.spot(item.number), Some(Spot::At(at, generation))
            if (at == item.at || at.saturating_add(reading.header) == item.at) && generation != item.generation)
    });
    if let Some(item) = wrong {
        reading.notes.add(
            &rules::XREF,
            item.at..item.end,
            "an object has another generation than the table of objects says",
        );
    }
}
