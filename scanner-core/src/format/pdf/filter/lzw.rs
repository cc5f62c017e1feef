//! LZW with codes of nine to twelve bits, high bit first (ISO 32000-1 §7.4.4).

use super::Kept;
use crate::{finding::Stop, limits::Budget, reader::count};

const CLEAR: usize = 256;
const END: usize = 257;
const MOST_CODES: usize = 4096;

/// Undoes it. `early`: codes get longer one code before they must.
pub(super) fn decode(packed: &[u8], early: bool, out: &mut Kept, budget: &mut Budget) -> Result<(), Stop> {
    // For each code above 257: the code before its last byte, and that byte.
    let mut table: Vec<(usize, u8)> = Vec::with_capacity(MOST_CODES);
    let mut width = 9_u32;
    let (mut bits, mut held) = (0_u32, 0_u32);
    let mut previous: Option<usize> = None;
    let mut word = Vec::new();
    for (at, byte) in packed.iter().enumerate() {
        bits = bits << 8 | u32::from(*byte);
        held = held.saturating_add(8);
        if held < width {
            continue;
        }
        held = held.saturating_sub(width);
        let code = usize::try_from(bits >> held & (1_u32 << width).wrapping_sub(1)).unwrap_or(END);
        bits &= (1_u32 << held).wrapping_sub(1);
        match code {
            CLEAR => {
                table.clear();
                width = 9;
                previous = None;
                continue;
            }
            END => break,
            _ => {}
        }
        let next = table.len().saturating_add(258);
        word.clear();
        let known = if code < next { code } else { previous.unwrap_or(code) };
        if !spell(&table, known, &mut word) || code > next {
            out.flush(budget)?;
            return Err(Stop::malformed("the packed data are damaged", count(at)));
        }
        let first = word.first().copied().unwrap_or(0);
        if code == next {
            word.push(first);
        }
        out.push(&word, budget)?;
        if let Some(previous) = previous
            && next < MOST_CODES
        {
            table.push((previous, first));
        }
        previous = Some(code);
        let grown = table.len().saturating_add(258).saturating_add(usize::from(early));
        width = match grown {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    out.flush(budget)
}

/// The bytes of a code, last to first and turned round. The table only points back, so it ends.
fn spell(table: &[(usize, u8)], code: usize, word: &mut Vec<u8>) -> bool {
    let mut at = code;
    loop {
        if let Ok(byte) = u8::try_from(at) {
            word.push(byte);
            break;
        }
        let Some((before, byte)) = at.checked_sub(258).and_then(|at| table.get(at)) else { return false };
        word.push(*byte);
        at = *before;
    }
    word.reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{inflate::Output, limits::Limits};

    fn undo(packed: &[u8]) -> Vec<u8> {
        let mut kept = Kept { out: Output::of(100), block: Vec::new() };
        decode(packed, true, &mut kept, &mut Budget::new(Limits::default())).unwrap();
        kept.out.into_bytes()
    }

    #[test]
    fn the_example_of_the_standard() {
        // ISO 32000-1 §7.4.4.2, example 2.
        assert_eq!(
            undo(&[0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01]),
            [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]
        );
    }

    #[test]
    fn damage_is_told() {
        let mut kept = Kept { out: Output::of(100), block: Vec::new() };
        let broken = decode(&[0xff; 4], true, &mut kept, &mut Budget::new(Limits::default()));
        assert!(matches!(broken, Err(Stop::Malformed { .. })));
    }
}
