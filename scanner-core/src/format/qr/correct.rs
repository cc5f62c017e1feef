//! Reed–Solomon over bytes (ISO/IEC 18004 §7.5): the codewords of a block, put right.

/// The polynomial of the field, without its highest term.
const FIELD: u8 = 0x1d;

/// Puts a block right of which the last `check` bytes are there for that; `None` when too many are wrong.
pub(super) fn block(bytes: &mut [u8], check: usize) -> Option<()> {
    let syndromes = syndromes(bytes, check);
    if syndromes.iter().all(|syndrome| *syndrome == 0) {
        return Some(());
    }
    let locator = locator(&syndromes);
    let wrong = locator.len().checked_sub(1)?;
    if wrong > check.checked_div(2)? {
        return None;
    }
    // The values of the errors: the syndromes times the locator, and its derivative (Forney).
    let values: Vec<u8> = (0..check)
        .map(|at| {
            let terms =
                locator.iter().take(at.saturating_add(1)).zip(syndromes.iter().take(at.saturating_add(1)).rev());
            terms.fold(0, |sum, (one, other)| sum ^ times(*one, *other))
        })
        .collect();
    let derivative: Vec<u8> =
        locator.iter().enumerate().skip(1).map(|(at, term)| if at.is_multiple_of(2) { 0 } else { *term }).collect();
    let (mut place, mut found) = (1, 0_usize);
    for byte in bytes.iter_mut().rev() {
        let inverse = inverse(place);
        if value(&locator, inverse) == 0 {
            let slope = value(&derivative, inverse);
            *byte ^= times(place, times(value(&values, inverse), self::inverse(slope)));
            found = found.saturating_add(1);
        }
        place = times(place, 2);
    }
    let is_right = found == wrong && self::syndromes(bytes, check).iter().all(|syndrome| *syndrome == 0);
    is_right.then_some(())
}

/// The block as a polynomial, at the powers of two: all zero when nothing is wrong.
fn syndromes(bytes: &[u8], check: usize) -> Vec<u8> {
    let powers = std::iter::successors(Some(1), |power| Some(times(*power, 2)));
    powers.take(check).map(|power| bytes.iter().fold(0, |sum, byte| times(sum, power) ^ byte)).collect()
}

/// The polynomial whose zeros are the places of the errors, lowest term first (Berlekamp, Massey).
fn locator(syndromes: &[u8]) -> Vec<u8> {
    let (mut now, mut before) = (vec![1], vec![1]);
    let (mut length, mut shift, mut last) = (0_usize, 1_usize, 1);
    for (at, _) in syndromes.iter().enumerate() {
        let known = syndromes.iter().take(at.saturating_add(1)).rev();
        let off = now.iter().zip(known).fold(0, |sum, (term, syndrome)| sum ^ times(*term, *syndrome));
        if off == 0 {
            shift = shift.saturating_add(1);
            continue;
        }
        let scale = times(off, inverse(last));
        let mut next: Vec<u8> = now.clone();
        next.resize(now.len().max(before.len().saturating_add(shift)), 0);
        for (term, other) in next.iter_mut().skip(shift).zip(&before) {
            *term ^= times(scale, *other);
        }
        if length.saturating_mul(2) <= at {
            (before, length, last, shift) = (now, at.saturating_add(1).saturating_sub(length), off, 1);
        } else {
            shift = shift.saturating_add(1);
        }
        now = next;
    }
    now.truncate(length.saturating_add(1));
    now
}

/// A polynomial, lowest term first, at a point.
fn value(polynomial: &[u8], at: u8) -> u8 {
    polynomial.iter().rev().fold(0, |sum, term| times(sum, at) ^ term)
}

fn times(one: u8, other: u8) -> u8 {
    let (mut product, mut shifted) = (0, one);
    for bit in 0..8 {
        if other >> bit & 1 == 1 {
            product ^= shifted;
        }
        shifted = (shifted << 1) ^ if shifted & 0x80 == 0 { 0 } else { FIELD };
    }
    product
}

/// One divided by it: its power of 254. Zero has none and stays zero.
fn inverse(of: u8) -> u8 {
    let (mut product, mut power) = (1, of);
    for _ in 0..7 {
        power = times(power, power);
        product = times(product, power);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codewords behind which those that check them stand, and that add up to zero at every power.
    fn with_check(data: &[u8], check: usize) -> Vec<u8> {
        let mut generator = vec![1];
        let mut root = 1;
        for _ in 0..check {
            let mut next = generator.clone();
            next.push(0);
            for (at, term) in generator.iter().enumerate() {
                next[at + 1] ^= times(*term, root);
            }
            (generator, root) = (next, times(root, 2));
        }
        let mut rest = data.to_vec();
        rest.resize(data.len() + check, 0);
        for at in 0..data.len() {
            let factor = rest[at];
            for (offset, term) in generator.iter().enumerate() {
                rest[at + offset] ^= times(*term, factor);
            }
        }
        [data, &rest[data.len()..]].concat()
    }

    #[test]
    fn what_is_wrong_is_put_right_up_to_half_of_what_checks() {
        let data: Vec<u8> = (0..60_u8).map(|at| at.wrapping_mul(7)).collect();
        for check in [7, 10, 18, 30] {
            let whole = with_check(&data, check);
            for wrong in 0..=check / 2 {
                let mut bytes = whole.clone();
                (0..wrong).for_each(|at| bytes[at * 4 + 1] ^= 0x5a + u8::try_from(at).unwrap());
                assert_eq!(block(&mut bytes, check), Some(()), "{wrong} of {check}");
                assert_eq!(bytes, whole);
            }
            let mut bytes = whole.clone();
            (0..=check / 2).for_each(|at| bytes[at * 2] ^= 0x33);
            assert_ne!((block(&mut bytes, check), &bytes), (Some(()), &whole));
        }
    }

    #[test]
    fn an_inverse_is_one() {
        assert!((1..=255).all(|byte| times(byte, inverse(byte)) == 1));
        assert_eq!(inverse(0), 0);
    }
}
