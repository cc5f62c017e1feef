//! What a document says about itself: title, author, comments (MS-OLEPS).

use crate::{
    finding::{Finding, Place, Stop},
    format::{Out, cfb::Stream, charset, fields, office},
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
    view::TextView,
};

const CODE_PAGE: u32 = 1;
const TEMPLATE: u32 = 7;
const NARROW: u16 = 0x1e;
const WIDE: u16 = 0x1f;
/// Lists of the same.
const LIST: u16 = 0x1000;

/// Steps of one property.
const STEPS_PER_PROPERTY: u64 = 10;

/// Reads every text of the property sets. They are notes: what cannot be followed is left out.
pub(super) fn read(stream: &Stream, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut notes = Notes { text: String::new(), left: count(stream.bytes.len()), has_template: false };
    notes.sets(&stream.bytes, budget)?;
    if notes.has_template {
        let span = stream.whole();
        out.find(Finding::built_in(&office::rules::REMOTE_TEMPLATE).at(span.start, span.end).place(place.clone()));
    }
    if !notes.text.is_empty() {
        out.read(TextView::decoded(notes.text.into(), stream.map(), vec!["properties"]).place(place.clone()));
    }
    Ok(())
}

struct Notes {
    text: String,
    /// Bytes that may still be read: properties that all point at one long text cost no more than the stream has.
    left: u64,
    has_template: bool,
}

impl Notes {
    fn sets(&mut self, bytes: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(bytes);
        if reader.u16_le() != Ok(0xfffe) || reader.seek(24).is_err() {
            return Ok(());
        }
        let Ok(amount) = reader.u32_le() else { return Ok(()) };
        for _ in 0..amount.min(2) {
            let (Ok(_), Ok(offset)) = (reader.take(16), reader.u32_le()) else { break };
            let set = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
            self.set(set, budget)?;
        }
        Ok(())
    }

    fn set(&mut self, set: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(set);
        let (Ok(_), Ok(amount)) = (reader.u32_le(), reader.u32_le()) else { return Ok(()) };
        let mut page = charset::WESTERN;
        for _ in 0..amount {
            budget.spend(Resource::Steps, STEPS_PER_PROPERTY)?;
            let (Ok(id), Ok(offset)) = (reader.u32_le(), reader.u32_le()) else { break };
            let mut value = Reader::new(set);
            if value.seek(offset.into()).is_err() {
                continue;
            }
            let (Ok(kind), Ok(_)) = (value.u16_le(), value.u16_le()) else { continue };
            if id == CODE_PAGE {
                page = value.u16_le().unwrap_or(page);
                continue;
            }
            let texts = match kind & LIST {
                0 => 1,
                _ => value.u32_le().unwrap_or(0),
            };
            for _ in 0..texts {
                let Ok(Some(text)) = self.text(&mut value, kind & !LIST, page, budget) else { break };
                self.has_template |= id == TEMPLATE && fields::is_remote(&text);
                let text = text.trim_matches(['\0', ' ']);
                if !text.is_empty() {
                    self.text.push_str(text);
                    self.text.push('\n');
                }
            }
        }
        Ok(())
    }

    fn text(
        &mut self,
        value: &mut Reader<'_>,
        kind: u16,
        page: u16,
        budget: &mut Budget,
    ) -> Result<Option<String>, Stop> {
        let mut bytes = |width: u64| -> Result<&[u8], Short> {
            let length = u64::from(value.u32_le()?).saturating_mul(width);
            value.take(length)
        };
        let bytes = match kind {
            NARROW => bytes(if page == 1200 { 2 } else { 1 })?,
            WIDE => bytes(2)?,
            _ => return Ok(None),
        };
        budget.spend(Resource::Steps, STEPS_PER_PROPERTY)?;
        let Some(left) = self.left.checked_sub(count(bytes.len()).saturating_add(4)) else { return Ok(None) };
        self.left = left;
        Ok(Some(match kind {
            NARROW if page != 1200 => charset::decode(bytes, page, budget)?,
            _ => charset::utf16(bytes, budget)?,
        }))
    }
}
