//! Packed RTF (MS-OXRTFCP): references into a ring of 4096 bytes that begins with the words every RTF has.

use crate::{
    finding::Stop,
    inflate::Output,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// What the ring holds at the start (MS-OXRTFCP 2.2.2.1).
const START: &[u8] =
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \
\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
const RING: usize = 4096;
const PACKED: u32 = 0x7546_5a4c;
const STORED: u32 = 0x414c_454d;
/// Output kept at once.
const BLOCK: usize = 4096;

/// What the bytes hold; `None` when they are not packed so, or damaged.
///
/// # Errors
/// When the budget is used up.
pub(super) fn unpack(bytes: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, Stop> {
    let mut reader = Reader::new(bytes);
    let (Ok(_), Ok(_), Ok(kind), Ok(_)) = (reader.u32_le(), reader.u32_le(), reader.u32_le(), reader.u32_le()) else {
        return Ok(None);
    };
    let mut plain = Output::of(count(bytes.len()));
    match kind {
        STORED => plain.keep(reader.rest(), budget)?,
        PACKED => {
            if !references(&mut reader, &mut plain, budget)? {
                return Ok(None);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(plain.into_bytes()))
}

/// Whether the end was reached.
fn references(reader: &mut Reader<'_>, plain: &mut Output, budget: &mut Budget) -> Result<bool, Stop> {
    let mut ring = [0_u8; RING];
    for (slot, byte) in ring.iter_mut().zip(START) {
        *slot = *byte;
    }
    let mut at = START.len();
    let mut block = Vec::with_capacity(BLOCK);
    let wrap = |at: usize| at & RING.saturating_sub(1);
    let is_complete = loop {
        let Ok(flags) = reader.u8() else { break false };
        budget.spend(Resource::Steps, 30)?;
        let mut is_end = false;
        for bit in 0..8_u32 {
            if flags & 1_u8.wrapping_shl(bit) == 0 {
                let Ok(byte) = reader.u8() else { break };
                block.push(byte);
                if let Some(slot) = ring.get_mut(at) {
                    *slot = byte;
                }
                at = wrap(at.saturating_add(1));
                continue;
            }
            let Ok(reference) = reader.u16_be() else { break };
            let (mut from, length) = (usize::from(reference >> 4), usize::from(reference & 0x0f).saturating_add(2));
            if from == at {
                is_end = true;
                break;
            }
            for _ in 0..length {
                let byte = ring.get(from).copied().unwrap_or(0);
                from = wrap(from.saturating_add(1));
                block.push(byte);
                if let Some(slot) = ring.get_mut(at) {
                    *slot = byte;
                }
                at = wrap(at.saturating_add(1));
            }
        }
        if block.len() >= BLOCK || is_end {
            plain.keep(&block, budget)?;
            block.clear();
        }
        if is_end {
            break true;
        }
    };
    plain.keep(&block, budget)?;
    Ok(is_complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn the_example_of_the_specification() {
        // MS-OXRTFCP 4.1.1.
        let packed = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x42\x32\x0a\xf3 hel\x09\0 bw\x05\xb0ld}\x0a\x80\x0f\xa0";
        let plain = unpack(packed, &mut Budget::new(Limits::default())).unwrap().unwrap();
        assert_eq!(plain, b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
    }

    #[test]
    fn damage_is_no_text() {
        let mut budget = Budget::new(Limits::default());
        assert_eq!(unpack(b"", &mut budget).unwrap(), None);
        assert_eq!(unpack(b"\0\0\0\0\0\0\0\0LZFuxxxx\x01", &mut budget).unwrap(), None);
        assert_eq!(unpack(b"\0\0\0\0\0\0\0\0MELAxxxx{\\rtf1}", &mut budget).unwrap().unwrap(), b"{\\rtf1}");
    }
}
