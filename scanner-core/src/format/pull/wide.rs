//! XML that is not written in UTF-8: UTF-16 and UTF-32, by their marks or by where the first `<` stands.

use bytes::Bytes;

use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::count,
};

/// The same document in UTF-8. Offsets into the result are not offsets into what was given, where that is wide.
///
/// # Errors
/// [`Stop`] when the budget does not cover it.
pub(crate) fn utf8(bytes: &Bytes, budget: &mut Budget) -> Result<Bytes, Stop> {
    let decode: fn(&[u8]) -> String = match bytes.get(..4) {
        Some([0xff, 0xfe, 0, 0]) => |bytes| units32(bytes, u32::from_le_bytes),
        Some([0, 0, 0xfe, 0xff] | [0, 0, 0, b'<']) => |bytes| units32(bytes, u32::from_be_bytes),
        Some([b'<', 0, 0, 0]) => |bytes| units32(bytes, u32::from_le_bytes),
        Some([0xff, 0xfe, ..] | [b'<', 0, ..]) => |bytes| units16(bytes, u16::from_le_bytes),
        Some([0xfe, 0xff, ..] | [0, b'<', ..]) => |bytes| units16(bytes, u16::from_be_bytes),
        _ => return Ok(bytes.clone()),
    };
    budget.spend(Resource::Steps, count(bytes.len()))?;
    // A unit of two bytes becomes three at most.
    budget.spend(Resource::DecodedBytes, count(bytes.len()).saturating_mul(3).div_ceil(2))?;
    Ok(decode(bytes).into())
}

fn units16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).filter(is_no_mark).collect()
}

fn units32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> String {
    let (quads, _) = bytes.as_chunks::<4>();
    let units = quads.iter().map(|quad| unit(*quad));
    units.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).filter(is_no_mark).collect()
}

fn is_no_mark(character: &char) -> bool {
    *character != '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn every_width_and_order() {
        let text = "<a>é\u{1f600}</a>";
        let wide = |big: bool| -> Vec<u8> {
            text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
        };
        let wider = |big: bool| -> Vec<u8> {
            let units = text.chars().map(u32::from);
            units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            wide(false),
            wide(true),
            [&[0xff, 0xfe], &*wide(false)].concat(),
            [&[0xfe, 0xff], &*wide(true)].concat(),
            wider(false),
            wider(true),
            [&[0xff, 0xfe, 0, 0], &*wider(false)].concat(),
        ] {
            let mut budget = Budget::new(Limits::default());
            assert_eq!(utf8(&bytes.into(), &mut budget), Ok(Bytes::from(text)));
        }
    }
}
