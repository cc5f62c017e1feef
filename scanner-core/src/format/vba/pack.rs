//! The packing of sources (MS-OVBA 2.4.1): chunks of at most 4096 bytes, each with references into itself.

use memchr::memmem;

use crate::{
    finding::Stop,
    inflate::Output,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// Bytes that a chunk unpacks to at most.
const CHUNK: usize = 4096;
/// Output bytes of one step.
const OUTPUT_PER_STEP: u64 = 2;
/// Steps of a chunk beside its output.
const STEPS_PER_CHUNK: u64 = 10;

/// Whether packed data may begin there.
pub(super) fn begins(bytes: Option<&[u8]>) -> bool {
    matches!(bytes, Some([1, _, high, ..]) if high & 0x70 == 0x30)
}

/// Where packed source begins in a stream, by the word that every source begins with: `Attribut`, eight characters as
/// they are, before the first reference.
pub(super) fn find(bytes: &[u8]) -> Option<usize> {
    memmem::find_iter(bytes, b"\0Attribut").filter_map(|at| at.checked_sub(3)).find(|at| begins(bytes.get(*at..)))
}

/// Unpacks as far as it goes; what is wrong where it ends.
///
/// # Errors
/// When the budget is used up.
pub(super) fn unpack(packed: &[u8], plain: &mut Output, budget: &mut Budget) -> Result<Option<&'static str>, Stop> {
    let mut reader = Reader::new(packed);
    if reader.u8() != Ok(1) {
        return Ok(Some("packed data that do not begin like it"));
    }
    let mut chunk = Vec::with_capacity(CHUNK);
    while !reader.is_at_end() {
        let Ok(header) = reader.u16_le() else { return Ok(None) };
        if header & 0x7000 != 0x3000 {
            // Streams are padded; what follows is no chunk.
            return Ok((header != 0).then_some("packed data that go on in another way"));
        }
        let length = u64::from(header & 0x0fff).saturating_add(1);
        let whole = reader.left();
        let data = match reader.take(length) {
            Ok(data) => data,
            Err(_) => reader.take(count(whole)).unwrap_or_default(),
        };
        let is_cut = count(data.len()) < length;
        budget.spend(Resource::Steps, STEPS_PER_CHUNK.saturating_add(count(data.len())))?;
        chunk.clear();
        let broken = if header & 0x8000 == 0 {
            chunk.extend_from_slice(data.get(..CHUNK).unwrap_or(data));
            None
        } else {
            tokens(data, &mut chunk)
        };
        budget.spend(Resource::Steps, count(chunk.len()).div_ceil(OUTPUT_PER_STEP))?;
        plain.keep(&chunk, budget)?;
        if broken.is_some() || is_cut {
            return Ok(broken.or(Some("packed data that end too early")));
        }
    }
    Ok(None)
}

/// One chunk: a byte of flags, then eight characters or references (MS-OVBA 2.4.1.3.5).
fn tokens(data: &[u8], chunk: &mut Vec<u8>) -> Option<&'static str> {
    let mut reader = Reader::new(data);
    while let Ok(flags) = reader.u8() {
        for bit in 0..8_u32 {
            if reader.is_at_end() {
                return None;
            }
            if flags & 1_u8.wrapping_shl(bit) == 0 {
                if chunk.len() >= CHUNK {
                    return Some("a packed chunk that is longer than any may be");
                }
                chunk.extend(reader.u8());
                continue;
            }
            let Ok(token) = reader.u16_le() else { return Some("packed data that end too early") };
            let (offset, length) = reference(token, chunk.len());
            let Some(start) = chunk.len().checked_sub(offset) else {
                return Some("packed data that refer to before their beginning");
            };
            if chunk.len().saturating_add(length) > CHUNK {
                return Some("a packed chunk that is longer than any may be");
            }
            // The copy may reach into what it writes: byte by byte.
            for at in start..start.saturating_add(length) {
                let Some(byte) = chunk.get(at).copied() else { break };
                chunk.push(byte);
            }
        }
    }
    None
}

/// How far back, and how many bytes: the more there is in the chunk, the more bits say how far (2.4.1.3.19.1).
fn reference(token: u16, have: usize) -> (usize, usize) {
    let bits = usize::BITS.saturating_sub(have.saturating_sub(1).leading_zeros()).clamp(4, 12);
    let length_bits = 16_u32.saturating_sub(bits);
    let length = u32::from(token) & 1_u32.wrapping_shl(length_bits).saturating_sub(1);
    let offset = u32::from(token).wrapping_shr(length_bits);
    let wide = |number: u32, more: u32| usize::try_from(number.saturating_add(more)).unwrap_or(usize::MAX);
    (wide(offset, 1), wide(length, 3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{format::vba::build, limits::Limits};

    fn plain(packed: &[u8]) -> (Vec<u8>, Option<&'static str>) {
        let mut plain = Output::of(packed.len() as u64);
        let broken = unpack(packed, &mut plain, &mut Budget::new(Limits::default())).unwrap();
        (plain.into_bytes(), broken)
    }

    #[test]
    fn the_examples_of_the_specification() {
        // MS-OVBA 3.2.1, 3.2.2 and 3.2.3: nothing to pack, some, and the most.
        let none = b"\x01\x19\xb0\0abcdefgh\0ijklmnop\0qrstuv.";
        assert_eq!(plain(none), (b"abcdefghijklmnopqrstuv.".to_vec(), None));
        let some =
            b"\x01\x2f\xb0\0#aaabcde\x82f\0\x70aghij\x01\x38\x08akl\0\x30mnop\x06q\x02\x70\x04\x10rstuv\x10wxyz\0\x3c";
        assert_eq!(plain(some).0, b"#aaabcdefaaaaghijaaaaaklaaamnopqaaaaaaaaaaaarstuvwxyzaaa");
        assert_eq!(plain(b"\x01\x03\xb0\x02aE\0"), (vec![b'a'; 73], None));
    }

    #[test]
    fn what_is_wrong_is_said_and_what_came_before_stays() {
        assert_eq!(plain(b"\x02").1, Some("packed data that do not begin like it"));
        assert_eq!(plain(b"\x01\x03\xb0\x01\x00\x10").1, Some("packed data that refer to before their beginning"));
        assert_eq!(plain(b"\x01\x19\xb0\0abc"), (b"abc".to_vec(), Some("packed data that end too early")));
        assert_eq!(
            plain(b"\x01\x03\xb0\x02aE\0\x01\x10"),
            (vec![b'a'; 73], Some("packed data that go on in another way"))
        );
        assert_eq!(plain(b"\x01\x03\xb0\x02aE\0\0\0\0\0"), (vec![b'a'; 73], None));
        let long = [&b"\x01\x05\xb0\x06a"[..], &[0xff, 0x0f], &[0xff, 0xff]].concat();
        assert_eq!(plain(&long).1, Some("a packed chunk that is longer than any may be"));
    }

    #[test]
    fn a_bomb_is_paid_and_stopped() {
        let chunk = b"\x03\xb0\x02a\xfc\x0f";
        let bomb = [&b"\x01"[..], &chunk.repeat(1000)].concat();
        let mut kept = Output::of(bomb.len() as u64);
        let stop = unpack(&bomb, &mut kept, &mut Budget::new(Limits::default())).unwrap_err();
        assert_eq!(stop, Stop::from(crate::limits::Exhausted(Resource::Ratio)));
        assert!(kept.into_bytes().len() <= bomb.len() * 200);
    }

    proptest! {
        #[test]
        fn comes_back_as_it_went_in(text in proptest::collection::vec(0_u8..4, 0..9000)) {
            let packed = build::pack(&text);
            prop_assert_eq!(plain(&packed), (text, None));
        }

        #[test]
        fn noise_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = plain(&[&b"\x01\xff\xbf"[..], &noise].concat());
        }
    }
}
