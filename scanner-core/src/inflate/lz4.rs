//! LZ4 frames (the frame and block formats of lz4.org): copies of what was just seen, and literals between.

use super::{Gather, STEPS_PER_STREAM};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

const MAGIC: u32 = 0x184d_2204;
/// Frames that carry something else, by the upper bits of their magic.
const SKIPPABLE: u32 = 0x0184_d2a5;
/// How far back a copy may reach.
const WINDOW: usize = 64 * 1024;
/// Flags of a frame.
const INDEPENDENT: u8 = 0x20;
const BLOCK_CHECKSUM: u8 = 0x10;
const CONTENT_SIZE: u8 = 0x08;
const CONTENT_CHECKSUM: u8 = 0x04;
const DICTIONARY: u8 = 0x01;
/// The bit of a block's length that says it is not packed.
const AS_IT_IS: u32 = 0x8000_0000;
/// Steps of one packed byte, and output bytes of one step.
const STEPS_PER_INPUT: u64 = 2;
const OUTPUT_PER_STEP: u64 = 8;

/// All frames, from where the cursor stands.
pub(super) fn frames(gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Stop> {
    loop {
        budget.spend(Resource::Steps, STEPS_PER_STREAM)?;
        let at = gathered.offset();
        let magic = gathered.packed.u32_le()?;
        if magic >> 4 == SKIPPABLE {
            let length = gathered.packed.u32_le()?;
            gathered.packed.take(length.into())?;
        } else if magic == MAGIC {
            frame(gathered, budget)?;
        } else {
            return Err(Stop::malformed("this is no LZ4 frame", at));
        }
        let rest = gathered.packed.rest().first_chunk::<4>().map_or(0, |word| u32::from_le_bytes(*word));
        if rest != MAGIC && rest >> 4 != SKIPPABLE {
            return Ok(());
        }
    }
}

/// One frame: flags, perhaps a size and the number of a dictionary, a checksum; blocks; an end mark.
fn frame(gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let flags = gathered.packed.u8()?;
    let sizes = gathered.packed.u8()?;
    let header = if flags & CONTENT_SIZE == 0 { 0 } else { 8 };
    gathered.packed.take(if flags & DICTIONARY == 0 { header } else { 12 })?;
    gathered.packed.u8()?;
    let most = match sizes >> 4 & 7 {
        4 => 64 * 1024,
        5 => 256 * 1024,
        6 => 1024 * 1024,
        7 => 4 * 1024 * 1024,
        _ => return Err(Stop::malformed("the frame has blocks of no known size", gathered.offset())),
    };
    // What earlier blocks of the frame left, and behind it the block being unpacked.
    let mut window: Vec<u8> = Vec::new();
    loop {
        let at = gathered.offset();
        let length = gathered.packed.u32_le()?;
        if length == 0 {
            break;
        }
        let packed = gathered.packed.take(u64::from(length & !AS_IT_IS))?;
        budget.spend(Resource::Steps, u64::from(length & !AS_IT_IS).saturating_mul(STEPS_PER_INPUT))?;
        let start = if flags & INDEPENDENT == 0 { window.len().min(WINDOW) } else { 0 };
        window.drain(..window.len().saturating_sub(start));
        if length & AS_IT_IS == 0 {
            if !block(packed, &mut window, start.saturating_add(most)) {
                return Err(Stop::malformed("the packed data are damaged", at));
            }
        } else if packed.len() <= most {
            window.extend_from_slice(packed);
        } else {
            return Err(Stop::malformed("a block is longer than its frame allows", at));
        }
        let unpacked = window.get(start..).unwrap_or_default();
        budget.spend(Resource::Steps, count(unpacked.len()).div_ceil(OUTPUT_PER_STEP))?;
        gathered.out.keep(unpacked, budget)?;
        if flags & BLOCK_CHECKSUM != 0 {
            gathered.packed.u32_le()?;
        }
    }
    if flags & CONTENT_CHECKSUM != 0 {
        gathered.packed.u32_le()?;
    }
    Ok(())
}

/// One block, behind what stands in the window, which may grow to `most` bytes. Whether it could be followed.
fn block(packed: &[u8], window: &mut Vec<u8>, most: usize) -> bool {
    let mut reader = Reader::new(packed);
    loop {
        let Ok(token) = reader.u8() else { return false };
        let Ok(literals) = length(&mut reader, token >> 4) else { return false };
        let Ok(bytes) = reader.take(literals) else { return false };
        if window.len().saturating_add(bytes.len()) > most {
            return false;
        }
        window.extend_from_slice(bytes);
        // The last sequence has no copy.
        if reader.is_at_end() {
            return true;
        }
        let (Ok(back), Ok(more)) = (reader.u16_le(), length(&mut reader, token & 15)) else { return false };
        let copied = usize::try_from(more.saturating_add(4)).unwrap_or(usize::MAX);
        let from = window.len().checked_sub(usize::from(back)).filter(|_| back > 0);
        let Some(from) = from.filter(|_| window.len().saturating_add(copied) <= most) else { return false };
        // A copy may read what it has just written: in pieces of what there is.
        let mut left = copied;
        while left > 0 {
            let piece = left.min(window.len().saturating_sub(from));
            window.extend_from_within(from..from.saturating_add(piece));
            left = left.saturating_sub(piece);
        }
    }
}

/// A length of four bits, which 15 says goes on in bytes up to one that is not 255.
fn length(reader: &mut Reader<'_>, nibble: u8) -> Result<u64, Short> {
    let mut length = u64::from(nibble);
    if nibble == 15 {
        loop {
            let byte = reader.u8()?;
            length = length.saturating_add(byte.into());
            if byte != 255 {
                break;
            }
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::{
        bundle::{Codec, Source},
        inflate::unpack,
        limits::{Budget, Limits},
    };

    fn unpacked(bytes: &[u8]) -> (Vec<u8>, bool) {
        let source = Source { packed: Bytes::copy_from_slice(bytes), codec: Codec::Lz4 };
        let unpacked = unpack(&source, &mut Budget::new(Limits::default()));
        (unpacked.bytes.to_vec(), unpacked.stop.is_none())
    }

    #[test]
    fn frames_blocks_and_copies() {
        let packed = b"\x04\x22\x4d\x18\x60\x40\x82\x09\0\0\0\x43abcd\x02\0\x10!\0\0\0\0";
        assert_eq!(unpacked(packed), (b"abcdcdcdcdc!".to_vec(), true));
        let plain = b"\x04\x22\x4d\x18\x60\x40\x82\x03\0\0\x80abc\0\0\0\0";
        assert_eq!(unpacked(plain), (b"abc".to_vec(), true));
        assert_eq!(unpacked(&[b"\x50\x2a\x4d\x18\x02\0\0\0xx".as_slice(), plain, plain].concat()).0, b"abcabc");
        for end in 0..packed.len() {
            assert!(!unpacked(&packed[..end]).1, "cut at {end}");
        }
    }

    #[test]
    fn copies_reach_no_further_than_the_window() {
        assert!(!unpacked(b"\x04\x22\x4d\x18\x60\x40\x82\x09\0\0\0\x43abcd\x05\0\x10!\0\0\0\0").1);
        assert!(!unpacked(b"\x04\x22\x4d\x18\x60\x40\x82\x09\0\0\0\x43abcd\0\0\x10!\0\0\0\0").1);
        // A copy of a mebibyte in a block of 64 KiB.
        let bomb = [
            b"\x04\x22\x4d\x18\x60\x40\x82".as_slice(),
            &4111_u32.to_le_bytes(),
            b"\x1fa\x01\0",
            &[255; 4106],
            b"\0",
            &[0; 4],
        ];
        assert!(!unpacked(&bomb.concat()).1);
    }
}
