//! Objects in object streams.

use super::{BYTES_PER_STEP, Item, Reading, value};
use crate::format::pdf::{
    lex::{Lexer, Token},
    object::Object,
    rules,
};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

/// The objects in one object stream (§7.5.7).
pub(in crate::format::pdf) fn unpack<'a>(
    reading: &mut Reading<'_>,
    container: &Item<'_>,
    data: &'a [u8],
    items: &mut Vec<Item<'a>>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let span = container.at..container.end;
    let wanted = |key| container.dict().and_then(|dict| dict.get(key)).and_then(Object::int).unwrap_or(-1);
    let (number, first) = (wanted("N"), wanted("First"));
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    if first > data.len() || number < 0 {
        reading.notes.add(&rules::STRUCTURE, span, "an object stream does not say what is in it");
        return Ok(());
    }
    budget.spend(Resource::Steps, count(data.len().div_ceil(BYTES_PER_STEP)))?;
    let mut table = Lexer::new(data.get(..first).unwrap_or_default(), 0);
    let mut read = 0_usize;
    let mut inner = Reading::of(data, 0);
    inner.within = Some(span.clone());
    std::mem::swap(&mut inner.notes, &mut reading.notes);
    let mut stop = None;
    for _ in 0..number {
        let (Token::Int(number), Token::Int(offset)) = (table.next(), table.next()) else {
            inner.notes.add(&rules::STRUCTURE, span.clone(), "an object stream holds fewer objects than it says");
            break;
        };
        let at = usize::try_from(offset).ok().and_then(|offset| first.checked_add(offset));
        let (Some(at), Ok(number)) = (at.filter(|at| *at < data.len()), u32::try_from(number)) else {
            inner.notes.add(&rules::STRUCTURE, span.clone(), "an object of an object stream is not in it");
            continue;
        };
        let mut lexer = Lexer::new(data, at);
        let object =
            budget.spend(Resource::Objects, 1).map_err(Stop::from).and_then(|()| value(&mut inner, &mut lexer, budget));
        let object = match object {
            Ok(object) => object,
            Err(early) => {
                stop = Some(early);
                break;
            }
        };
        // Objects may overlap; read over and over they may not.
        read = read.saturating_add(lexer.position().saturating_sub(at));
        items.push(Item {
            number,
            generation: 0,
            at: container.at,
            end: container.end,
            object,
            stream: None,
            is_packed: true,
        });
        if read > data.len().saturating_mul(2).saturating_add(4096) {
            stop = Some(Stop::malformed("the objects of an object stream lie over each other", count(container.at)));
            break;
        }
    }
    std::mem::swap(&mut inner.notes, &mut reading.notes);
    stop.map_or(Ok(()), Err)
}
