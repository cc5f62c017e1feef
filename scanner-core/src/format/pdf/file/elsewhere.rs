//! Objects that only the tables lead to: inside of streams, behind comments.

use super::{BYTES_PER_STEP, Item, Reading, header_at, item_at};
use crate::format::pdf::{
    lex::{Lexer, is_white},
    xref::{Spot, Xref},
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

/// Reads what the tables point at and the walk did not find: objects inside of streams, behind comments.
pub(in crate::format::pdf) fn elsewhere<'a>(
    reading: &mut Reading<'a>,
    xref: &Xref<'a>,
    items: &mut Vec<Item<'a>>,
    budget: &mut Budget,
) -> Result<Vec<(u32, usize)>, Stop> {
    let mut missing = Vec::new();
    let known = items.len();
    for (number, spot) in &xref.spots {
        let Spot::At(offset, _) = *spot else { continue };
        budget.spend(Resource::Steps, 10)?;
        let found = [reading.header, 0].into_iter().find(|base| {
            let at = base.saturating_add(offset);
            let is_same = |at: usize| {
                let here = items.get(..known).unwrap_or_default().binary_search_by_key(&at, |item| item.at);
                here.is_ok_and(|here| items.get(here).is_some_and(|item| item.number == *number))
            };
            // Some writers count one line end too few.
            let white = reading
                .bytes
                .get(at..)
                .map_or(0, |rest| rest.iter().take(3).take_while(|byte| is_white(**byte)).count());
            is_same(at) || white > 0 && is_same(at.saturating_add(white))
        });
        if found.is_some() {
            continue;
        }
        let at = reading.header.saturating_add(offset);
        match item_elsewhere(reading, at, budget)? {
            Some(item) if item.number == *number => items.push(item),
            Some(item) => {
                missing.push((*number, offset));
                items.push(item);
            }
            None => missing.push((*number, offset)),
        }
    }
    items.sort_by_key(|item| item.at);
    Ok(missing)
}

fn item_elsewhere<'a>(reading: &mut Reading<'a>, at: usize, budget: &mut Budget) -> Result<Option<Item<'a>>, Stop> {
    if at >= reading.bytes.len() {
        return Ok(None);
    }
    let mut lexer = Lexer::new(reading.bytes, at);
    lexer.skip_white();
    let start = lexer.position();
    reading.wasted(start.saturating_sub(at), at)?;
    let window = reading.bytes.get(start..).map(|rest| rest.get(..256).unwrap_or(rest)).unwrap_or_default();
    if header_at(window, 0).is_none() {
        return Ok(None);
    }
    let item = item_at(reading, start, budget)?;
    let length = item.as_ref().map_or(0, |item| item.end.saturating_sub(start));
    reading.wasted(length, start)?;
    budget.spend(Resource::Steps, count(length.div_ceil(BYTES_PER_STEP)))?;
    Ok(item)
}
