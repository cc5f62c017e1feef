//! The stream `dir`: which modules there are, and where the source of each begins (MS-OVBA 2.3.4.2).

use std::collections::BTreeMap;

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::Reader,
};

/// The version of the project: its length leaves out two bytes (2.3.4.2.1.11).
const VERSION: u16 = 0x09;
const MODULE_NAME: u16 = 0x19;
const STREAM_NAME: u16 = 0x1a;
/// The name of the stream again, in UTF-16.
const STREAM_NAME_WIDE: u16 = 0x32;
const OFFSET: u16 = 0x31;
const TERMINATOR: u16 = 0x10;

/// What is listed.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Names of streams, in small letters, and where the source begins in each.
    modules: BTreeMap<String, usize>,
    /// What is wrong where the listing ended.
    pub(super) broken: Option<&'static str>,
}

impl Listing {
    /// Where the source begins in the stream of that name.
    pub(super) fn source_of(&self, stream: &str) -> Option<usize> {
        self.modules.get(&stream.to_ascii_lowercase()).copied()
    }
}

/// Reads the records one after the other. All of them say how long they are, and order does not matter here.
pub(super) fn read(plain: &[u8], budget: &mut Budget) -> Result<Listing, Stop> {
    let mut listing = Listing::default();
    let mut reader = Reader::new(plain);
    let mut narrow = String::new();
    let mut wide: Option<String> = None;
    while !reader.is_at_end() {
        budget.spend(Resource::Steps, 4)?;
        let (Ok(kind), Ok(length)) = (reader.u16_le(), reader.u32_le()) else {
            listing.broken = Some("the list of modules ends too early");
            break;
        };
        let length = if kind == VERSION { 6 } else { u64::from(length) };
        let Ok(data) = reader.take(length) else {
            listing.broken = Some("the list of modules ends too early");
            break;
        };
        match kind {
            MODULE_NAME => (narrow, wide) = (single_bytes(data), None),
            STREAM_NAME => narrow = single_bytes(data),
            STREAM_NAME_WIDE => {
                let units = data.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
                wide =
                    Some(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect());
            }
            OFFSET => {
                budget.spend(Resource::Objects, 1)?;
                let offset = Reader::new(data).u32_le().ok().and_then(|offset| usize::try_from(offset).ok());
                let name = wide.take().unwrap_or_else(|| narrow.clone());
                listing.modules.insert(name.to_ascii_lowercase(), offset.unwrap_or(0));
            }
            TERMINATOR => break,
            _ => {}
        }
    }
    Ok(listing)
}

/// Letters outside of ASCII depend on the code page; streams are found by their names in UTF-16 then.
fn single_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
