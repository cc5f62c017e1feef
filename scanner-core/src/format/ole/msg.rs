//! Messages of Outlook (MS-OXMSG): a property is a stream that has its number and type in its name.

use crate::{
    bundle::Source,
    finding::{Place, Stop},
    format::{
        Out,
        cfb::{Compound, Stream},
        charset,
    },
    limits::Budget,
    reader::count,
    view::TextView,
};

mod packed;

/// Names of properties begin so; eight digits follow.
const PREFIX: &str = "__substg1.0_";

const NARROW: u16 = 0x001e;
const WIDE: u16 = 0x001f;
const BINARY: u16 = 0x0102;

const PACKED_RTF: u16 = 0x1009;
const HTML: u16 = 0x1013;
const ATTACHED: u16 = 0x3701;
const ATTACHED_NAMES: [u16; 3] = [0x3707, 0x3704, 0x3001];
/// Texts that are not the sender's words: addresses of servers, ids, sort keys.
const NOT_READ: [u16; 4] = [0x300b, 0x0c1e, 0x0064, 0x1035];

/// A property of a message.
struct Property {
    number: u16,
    kind: u16,
    at: usize,
}

fn property(compound: &Compound, at: usize) -> Option<Property> {
    let entry = compound.entries().get(at).filter(|entry| !entry.is_storage())?;
    let digits = entry.name.get(PREFIX.len()..).filter(|_| entry.name.starts_with(PREFIX))?;
    let number = u32::from_str_radix(digits.get(..8)?, 16).ok()?;
    let [high, low] = [number >> 16, number & 0xffff].map(|half| u16::try_from(half).unwrap_or(0));
    Some(Property { number: high, kind: low, at })
}

/// Whether a storage is a message, an attachment or a recipient. The one that lists names has streams that look like
/// properties, and are none (MS-OXMSG 2.2.3).
pub(super) fn is_part(compound: &Compound, storage: usize) -> bool {
    if compound.entries().get(storage).is_some_and(|entry| entry.is_named("__nameid_version1.0")) {
        return false;
    }
    compound.inside(storage).any(|at| property(compound, at).is_some())
}

/// Reads one storage: its texts, its body, what is attached. Messages in messages are storages of their own.
pub(super) fn read(
    compound: &Compound,
    storage: usize,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let properties: Vec<Property> = compound.inside(storage).filter_map(|at| property(compound, at)).collect();
    let mut texts = String::new();
    let mut first: Option<Stream> = None;
    let mut names: Vec<(u16, String)> = Vec::new();
    let mut attached = None;
    for Property { number, kind, at } in properties {
        if NOT_READ.contains(&number) {
            continue;
        }
        match (number, kind) {
            (ATTACHED, BINARY) => attached = Some(compound.stream(at, budget)?.bytes),
            (HTML, _) => {
                let stream = compound.stream(at, budget)?;
                let body = match kind {
                    WIDE => charset::utf16(&stream.bytes, budget)?.into(),
                    _ => stream.bytes,
                };
                out.child(Source::stored(body), Some("body.html".to_owned()));
            }
            (PACKED_RTF, BINARY) => {
                let stream = compound.stream(at, budget)?;
                let plain = packed::unpack(&stream.bytes, budget)?;
                match plain {
                    Some(plain) => out.child(Source::stored(plain), Some("body.rtf".to_owned())),
                    None => {
                        return Err(Stop::malformed("the packed text of the message is damaged", stream.whole().start));
                    }
                }
            }
            (_, NARROW | WIDE) => {
                let stream = compound.stream(at, budget)?;
                let text = match kind {
                    WIDE => charset::utf16(&stream.bytes, budget)?,
                    _ => charset::decode(&stream.bytes, charset::WESTERN, budget)?,
                };
                let text = text.trim_matches('\0');
                if ATTACHED_NAMES.contains(&number) {
                    names.push((number, text.to_owned()));
                }
                texts.push_str(text);
                texts.push('\n');
                first.get_or_insert(stream);
            }
            _ => {}
        }
    }
    if let Some(bytes) = attached.filter(|bytes| count(bytes.len()) > 0) {
        let name = ATTACHED_NAMES.iter().find_map(|wanted| names.iter().find(|(number, _)| number == wanted));
        out.child(Source::stored(bytes), name.map(|(_, name)| name.clone()));
    }
    if let Some(stream) = first
        && !texts.trim().is_empty()
    {
        out.read(TextView::decoded(texts.into(), stream.map(), vec!["msg"]).place(place.clone()));
    }
    Ok(())
}
