//! Checksums and packing, as far as small cases need them.

/// CRC-32 of zip, gzip, PNG, 7z and xz.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    })
}

/// Adler-32 of zlib.
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

/// Deflate with the fixed codes: literals, and runs of one byte as copies of what stands one back.
pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.low(0b011, 3); // the last block, fixed codes
    let mut rest = bytes;
    let mut last = None;
    while let Some((first, tail)) = rest.split_first() {
        let run = rest.iter().take(258).take_while(|byte| Some(**byte) == last).count();
        if run == 258 {
            bits.high(0b1100_0101, 8); // 285: 258 bytes
            bits.high(0, 5); // from one back
            rest = &rest[run..];
            continue;
        }
        let literal = u32::from(*first);
        if literal < 144 {
            bits.high(0x30 + literal, 8)
        } else {
            bits.high(0x190 + literal - 144, 9)
        }
        last = Some(*first);
        rest = tail;
    }
    bits.high(0, 7); // the end of the block
    bits.done()
}

/// What [`deflate`] makes, in zlib's frame.
pub(super) fn zlib(bytes: &[u8]) -> Vec<u8> {
    [&[0x78, 0x9c][..], &deflate(bytes), &adler32(bytes).to_be_bytes()].concat()
}

/// Bits that are written from the low end of each byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn bit(&mut self, bit: u32) {
        if self.used.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(byte) = self.bytes.last_mut() {
            *byte |= u8::from(bit & 1 == 1) << (self.used % 8);
        }
        self.used += 1;
    }

    fn low(&mut self, value: u32, width: u32) {
        (0..width).for_each(|at| self.bit(value >> at));
    }

    fn high(&mut self, value: u32, width: u32) {
        (0..width).rev().for_each(|at| self.bit(value >> at));
    }

    fn done(self) -> Vec<u8> {
        self.bytes
    }
}
