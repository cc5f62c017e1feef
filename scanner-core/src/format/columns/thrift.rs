//! The compact protocol of Thrift, walked without recursion. Values are told with the numbers of the fields that lead
//! to them; lists do not count.

use std::ops::Range;

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// Structures in structures; Parquet needs ten.
const DEEPEST: usize = 32;

/// A value that is no container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(i64),
    Text(Range<usize>),
}

/// A container that is being read.
enum Open {
    /// A structure, and the number of its last field.
    Struct(i64),
    /// A list: how many elements are left, and their type.
    List(u64, u8),
}

/// Tells every value of the structure at the cursor. What is not built so is `Ok(Err)`.
pub(super) fn walk(
    reader: &mut Reader<'_>,
    budget: &mut Budget,
    mut tell: impl FnMut(&[i64], Value),
) -> Result<Result<(), &'static str>, Stop> {
    let mut open = vec![Open::Struct(0)];
    let mut path: Vec<i64> = vec![0];
    while let Some(top) = open.last_mut() {
        budget.spend(Resource::Steps, 4)?;
        let kind = match top {
            Open::List(0, _) => {
                open.pop();
                continue;
            }
            Open::List(left, kind) => {
                *left = left.saturating_sub(1);
                // Truth values in lists take a byte.
                if matches!(*kind, 1 | 2) { 3 } else { *kind }
            }
            Open::Struct(last) => {
                let Ok(head) = reader.u8() else { return Ok(Err("the description ends early")) };
                if head == 0 {
                    open.pop();
                    path.pop();
                    continue;
                }
                *last = match head >> 4 {
                    0 => match number(reader) {
                        Some(field) => field,
                        None => return Ok(Err("the description ends early")),
                    },
                    step => last.saturating_add(i64::from(step)),
                };
                if let Some(end) = path.last_mut() {
                    *end = *last;
                }
                head & 15
            }
        };
        let told = match kind {
            1 | 2 => true,
            3 => reader.u8().is_ok(),
            4..=6 => number(reader).map(|value| tell(&path, Value::Number(value))).is_some(),
            7 => reader.take(8).is_ok(),
            8 => text(reader).map(|range| tell(&path, Value::Text(range))).is_some(),
            9 | 10 => {
                let Ok(head) = reader.u8() else { return Ok(Err("the description ends early")) };
                let length = match head >> 4 {
                    15 => varint(reader),
                    short => Some(u64::from(short)),
                };
                // Every element takes a byte at least.
                let Some(length) = length.filter(|length| *length <= count(reader.left())) else {
                    return Ok(Err("a list says that it is longer than the file"));
                };
                if open.len() >= DEEPEST {
                    return Ok(Err("descriptions in descriptions without end"));
                }
                open.push(Open::List(length, head & 15));
                true
            }
            12 => {
                if open.len() >= DEEPEST {
                    return Ok(Err("descriptions in descriptions without end"));
                }
                budget.spend(Resource::Objects, 1)?;
                open.push(Open::Struct(0));
                path.push(0);
                true
            }
            _ => return Ok(Err("a value of no known type")),
        };
        if !told {
            return Ok(Err("a value reaches past the end"));
        }
    }
    Ok(Ok(()))
}

fn text(reader: &mut Reader<'_>) -> Option<Range<usize>> {
    let length = varint(reader)?;
    let from = reader.position();
    reader.take(length).ok()?;
    Some(from..reader.position())
}

/// A signed number, small ones short.
fn number(reader: &mut Reader<'_>) -> Option<i64> {
    let value = varint(reader)?;
    let magnitude = i64::try_from(value >> 1).ok()?;
    Some(if value & 1 == 0 { magnitude } else { magnitude.checked_neg()?.checked_sub(1)? })
}

/// Seven bits a byte, the lowest first.
fn varint(reader: &mut Reader<'_>) -> Option<u64> {
    let mut value = 0_u64;
    for group in 0..10_u32 {
        let byte = reader.u8().ok()?;
        value |= u64::from(byte & 0x7f).checked_shl(group.saturating_mul(7))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
