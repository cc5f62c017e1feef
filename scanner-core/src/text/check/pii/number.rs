//! A run of digits, and how a number may be written from it on.

use std::ops::Range;

/// Digits of the longest number known here.
const DIGITS_MOST: usize = 20;

/// Digits of the shortest number that is one without a letter or another group behind it: those of the Netherlands.
const SHORTEST_ALONE: usize = 9;
/// Bytes looked at in one go for a digit.
const STRIDE: usize = 32;

/// A maximal run of ASCII digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) length: usize,
}

/// The digits of a number, without what stands between them.
#[derive(Debug)]
pub(super) struct Number {
    digits: [u8; DIGITS_MOST],
    count: usize,
    /// Where it stands.
    pub(super) range: Range<usize>,
}

impl Number {
    /// The digits, as numbers from 0 to 9.
    pub(super) fn digits(&self) -> &[u8] {
        self.digits.get(..self.count).unwrap_or_default()
    }

    /// The first so many digits as a number.
    pub(super) fn leading(&self, count: usize) -> u64 {
        value(self.digits().get(..count).unwrap_or_default())
    }
}

/// Digits as a number; twenty at most.
pub(super) fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |value: u64, digit| value.saturating_mul(10).saturating_add(u64::from(*digit)))
}

/// Each digit times its weight, added up. The shorter of both ends it.
pub(super) fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits
        .iter()
        .zip(weights)
        .fold(0, |sum: u32, (digit, weight)| sum.saturating_add(u32::from(*digit).saturating_mul(*weight)))
}

/// The check of ISO/IEC 7812-1, Annex B (Luhn).
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum = digits.iter().rev().enumerate().fold(0_u32, |sum, (place, digit)| {
        let doubled = if place % 2 == 1 { u32::from(*digit).saturating_mul(2) } else { u32::from(*digit) };
        sum.saturating_add(if doubled > 9 { doubled.saturating_sub(9) } else { doubled })
    });
    sum % 10 == 0
}

/// Whether day and month may be those of a birth.
pub(super) fn is_date(month: u64, day: u64) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn first_digit(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    // Prose has few digits: whole strides without one are passed without a branch for each byte.
    let has_none = |stride: &[u8]| stride.iter().fold(true, |none, byte| none & !byte.is_ascii_digit());
    let free = rest.chunks_exact(STRIDE).take_while(|stride| has_none(stride)).count().saturating_mul(STRIDE);
    let near = rest.get(free..)?.iter().position(u8::is_ascii_digit)?;
    Some(from.saturating_add(free).saturating_add(near))
}

impl<'a> Run<'a> {
    /// The next run from there on.
    pub(super) fn next(text: &'a [u8], from: usize) -> Option<Self> {
        let start = first_digit(text, from)?;
        let length = text.get(start..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        Some(Self { text, start, length })
    }

    pub(super) fn end(&self) -> usize {
        self.start.saturating_add(self.length)
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The byte that many bytes in front of the run.
    pub(super) fn before(&self, back: usize) -> Option<u8> {
        self.start.checked_sub(back).and_then(|at| self.byte(at))
    }

    /// Whether it goes on with a number or a name: what begins there is no word of its own, see
    /// [`is_bounded`](Self::is_bounded). Most digits of honest output are such parts of a time, a version, a path.
    pub(super) fn goes_on(&self) -> bool {
        match self.before(1) {
            Some(b'_' | b'.' | b'/' | b'+') => true,
            Some(b'-') => self.before(2).is_some_and(|byte| byte.is_ascii_digit()),
            _ => false,
        }
    }

    /// Whether a number may begin here, told by what stands behind the run: a short run is none by itself, so it must go
    /// on with a letter, or with one sign and the next group. Most runs of a table end with their cell.
    pub(super) fn may_begin(&self) -> bool {
        let next = |ahead: usize| self.byte(self.end().saturating_add(ahead));
        self.length >= SHORTEST_ALONE
            || match next(0) {
                Some(b':') => true,
                Some(b' ' | b'-' | b'.' | b'/' | b'+') => match next(1) {
                    // Accounts may have more than one blank between their groups, behind the letters of the country.
                    Some(b' ') => self.before(1).is_some_and(|byte| byte.is_ascii_uppercase()),
                    Some(byte) => byte.is_ascii_alphanumeric(),
                    None => false,
                },
                Some(byte) => byte.is_ascii_alphabetic(),
                None => false,
            }
    }

    /// Whether the range is a word of its own: not a part of an identifier, of a decimal fraction or of a longer number.
    pub(super) fn is_bounded(&self, range: &Range<usize>) -> bool {
        let joins = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/' | b'+' | b'=');
        let before = range.start.checked_sub(1).and_then(|at| self.byte(at));
        let ahead = |at: usize| self.byte(range.end.saturating_add(at));
        let goes_on = match ahead(0) {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => true,
            // A full stop ends a sentence; a digit behind it makes a fraction.
            Some(b'.' | b'-') => ahead(1).is_some_and(|next| next.is_ascii_alphanumeric()),
            _ => false,
        };
        // `key=4111…` is a number, `a=b=4111…` in a token is rare enough.
        !goes_on && !before.is_some_and(|byte| joins(byte) && byte != b'=')
    }

    /// The number written in groups of these lengths, with one and the same of `between` between all of them; the first
    /// group is this run.
    pub(super) fn groups(&self, lengths: &[usize], between: &[u8]) -> Option<Number> {
        let (first, others) = lengths.split_first()?;
        let separator = self.byte(self.end());
        let is_separated = || separator.is_some_and(|byte| between.contains(&byte));
        if self.length != *first || !others.is_empty() && !is_separated() {
            return None;
        }
        let mut number = Number { digits: [0; DIGITS_MOST], count: 0, range: self.start..self.end() };
        let put = |number: &mut Number, from: usize, length: usize| -> Option<()> {
            for byte in self.text.get(from..from.checked_add(length)?)? {
                let digit = byte.is_ascii_digit().then(|| byte.wrapping_sub(b'0'))?;
                *number.digits.get_mut(number.count)? = digit;
                number.count = number.count.saturating_add(1);
            }
            Some(())
        };
        put(&mut number, self.start, self.length)?;
        for length in others {
            let at = number.range.end;
            if self.byte(at) != separator {
                return None;
            }
            let from = at.saturating_add(1);
            put(&mut number, from, *length)?;
            number.range.end = from.saturating_add(*length);
        }
        self.is_bounded(&number.range).then_some(number)
    }

    /// The number written exactly so: `d` is a digit, everything else itself.
    pub(super) fn shaped(&self, shape: &[u8]) -> Option<Number> {
        let range = self.start..self.start.checked_add(shape.len())?;
        let text = self.text.get(range.clone())?;
        let mut number = Number { digits: [0; DIGITS_MOST], count: 0, range };
        for (byte, shape) in text.iter().zip(shape) {
            if *shape != b'd' {
                if byte != shape {
                    return None;
                }
            } else if byte.is_ascii_digit() {
                *number.digits.get_mut(number.count)? = byte.wrapping_sub(b'0');
                number.count = number.count.saturating_add(1);
            } else {
                return None;
            }
        }
        self.is_bounded(&number.range).then_some(number)
    }
}
