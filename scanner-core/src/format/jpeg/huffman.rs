//! Huffman codes of pixels (ITU T.81 annex C and F.2.2.3).

use crate::reader::Reader;

/// Codes as short as that are looked up at once.
const FAST: u8 = 9;

/// One table: from codes to values.
#[derive(Debug)]
pub(super) struct Codes {
    /// Of the first bits of a code: its length and its value; a length of zero where it is longer.
    fast: Vec<(u8, u8)>,
    /// For each length: one behind its last code, filled up to sixteen bits; and what leads from a code to its value.
    lengths: [(u32, u32); 16],
    values: Vec<u8>,
}

impl Codes {
    /// Sixteen counts, and as many values as they add up to.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let counts: [u8; 16] = reader.array().ok()?;
        let values = reader.take(counts.iter().map(|count| u64::from(*count)).sum()).ok()?.to_vec();
        let mut fast = vec![(0, 0); 1 << FAST];
        let mut lengths = [(0, 0); 16];
        let (mut code, mut index) = (0_u32, 0_u32);
        for ((bits, count), length) in (1_u8..).zip(counts).zip(&mut lengths) {
            // Wrapping: added to a code it gives the place of a value.
            let to_value = index.wrapping_sub(code);
            for _ in 0..count {
                let value = *values.get(usize::try_from(index).ok()?)?;
                if let Some(room) = FAST.checked_sub(bits) {
                    let start = usize::try_from(code << room).ok()?;
                    fast.iter_mut().skip(start).take(1 << room).for_each(|slot| *slot = (bits, value));
                }
                (code, index) = (code.saturating_add(1), index.saturating_add(1));
            }
            *length = (code << 16_u8.saturating_sub(bits), to_value);
            code <<= 1;
        }
        Some(Self { fast, lengths, values })
    }

    /// The next value; `None` when the bits are no code.
    pub(super) fn next(&self, bits: &mut Bits<'_>) -> Option<u8> {
        let ahead = bits.peek(16);
        let (length, value) = *self.fast.get(usize::try_from(ahead >> 16_u8.saturating_sub(FAST)).ok()?)?;
        if length > 0 {
            bits.skip(length);
            return Some(value);
        }
        for (length, (end, to_value)) in (1_u8..).zip(&self.lengths).skip(FAST.into()) {
            if ahead < *end {
                bits.skip(length);
                let code = ahead >> 16_u8.saturating_sub(length);
                return self.values.get(usize::try_from(code.wrapping_add(*to_value)).ok()?).copied();
            }
        }
        None
    }
}

/// The bits of a scan. Behind their end, and at a marker, come zeros.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    /// Bits not used yet, at the low end, and how many.
    held: u64,
    count: u8,
    /// Of these, how many were never there.
    made_up: u8,
}

impl<'a> Bits<'a> {
    pub(super) fn of(data: &'a [u8]) -> Self {
        Self { data, at: 0, held: 0, count: 0, made_up: 0 }
    }

    /// Whether bits were used that were never there.
    pub(super) fn is_over(&self) -> bool {
        self.made_up > self.count
    }

    /// The next bits, at most sixteen, which stay.
    fn peek(&mut self, bits: u8) -> u32 {
        while self.count < 16 {
            let byte = match (self.data.get(self.at), self.data.get(self.at.saturating_add(1))) {
                (Some(0xff), Some(0)) => {
                    self.at = self.at.saturating_add(2);
                    0xff
                }
                (Some(byte @ 0..0xff), _) => {
                    self.at = self.at.saturating_add(1);
                    *byte
                }
                _ => {
                    self.made_up = self.made_up.saturating_add(8);
                    0
                }
            };
            (self.held, self.count) = (self.held << 8 | u64::from(byte), self.count.saturating_add(8));
        }
        let mask = (1_u64 << bits).saturating_sub(1);
        u32::try_from(self.held >> self.count.saturating_sub(bits) & mask).unwrap_or(0)
    }

    fn skip(&mut self, bits: u8) {
        self.count = self.count.saturating_sub(bits);
    }

    /// A number of so many bits, the smaller half of which are negative (ITU T.81 F.2.2.1).
    pub(super) fn number(&mut self, bits: u8) -> i32 {
        let bits = bits.min(15);
        if bits == 0 {
            return 0;
        }
        let number = i32::try_from(self.peek(bits)).unwrap_or(0);
        self.skip(bits);
        let half = 1_i32 << bits.saturating_sub(1);
        if number < half { number.saturating_sub(half.saturating_mul(2)).saturating_add(1) } else { number }
    }

    /// Passes over a restart marker; `None` where there is none.
    pub(super) fn restart(&mut self) -> Option<()> {
        (self.held, self.count, self.made_up) = (0, 0, 0);
        match self.data.get(self.at..)? {
            [0xff, 0xd0..=0xd7, ..] => {
                self.at = self.at.saturating_add(2);
                Some(())
            }
            _ => None,
        }
    }
}
