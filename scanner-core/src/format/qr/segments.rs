//! What the codewords say: segments, each in a coding of its own (ISO/IEC 18004 §7.4).

use encoding_rs::{Encoding, SHIFT_JIS, UTF_8, UTF_16BE, WINDOWS_1252};

const LETTERS: &[u8; 45] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";

/// The text, as far as it goes; `None` when there is none.
pub(super) fn text(data: &[u8], version: usize) -> Option<Vec<u8>> {
    let mut bits = Bits { data, at: 0 };
    let mut written = Written::default();
    // A segment that is cut ends it: what came before is true.
    while segment(&mut bits, version, &mut written).is_some() {}
    written.flush();
    (!written.text.is_empty()).then_some(written.text)
}

/// One segment; `None` at the end.
fn segment(bits: &mut Bits<'_>, version: usize, written: &mut Written) -> Option<()> {
    let mode = bits.take(4)?;
    // How many bits the count has grows with the code (ISO/IEC 18004 table 3).
    let size = |counts: [u8; 3]| match version {
        ..=9 => counts.first().copied(),
        10..=26 => counts.get(1).copied(),
        _ => counts.last().copied(),
    };
    match mode {
        0b0001 => {
            let mut count = bits.take(size([10, 12, 14])?)?;
            while count > 0 {
                let digits = count.min(3);
                let number = bits.take([0, 4, 7, 10].get(usize::from(digits)).copied()?)?;
                let hundred = [number / 100, number / 10 % 10, number % 10];
                for digit in hundred.iter().skip(3_usize.saturating_sub(digits.into())) {
                    written.plain(b'0'.saturating_add(u8::try_from(*digit).ok().filter(|digit| *digit < 10)?));
                }
                count = count.saturating_sub(digits);
            }
        }
        0b0010 => {
            let mut count = bits.take(size([9, 11, 13])?)?;
            while count > 0 {
                let letters = count.min(2);
                let number = usize::from(bits.take(if letters == 2 { 11 } else { 6 })?);
                if letters == 2 {
                    written.plain(*LETTERS.get(number / 45)?);
                }
                written.plain(*LETTERS.get(number % 45)?);
                count = count.saturating_sub(letters);
            }
        }
        0b0100 => {
            for _ in 0..bits.take(size([8, 16, 16])?)? {
                let byte = u8::try_from(bits.take(8)?).ok()?;
                written.bytes.push(byte);
            }
        }
        0b1000 => {
            for _ in 0..bits.take(size([8, 10, 12])?)? {
                // The letters of Shift JIS between 8140 and 9FFC and between E040 and EBBF, packed.
                let packed = bits.take(13)?;
                let double = ((packed / 0xc0) << 8) | (packed % 0xc0);
                let double = double.wrapping_add(if double < 0x1f00 { 0x8140 } else { 0xc140 });
                written.charset(Some(SHIFT_JIS));
                written.bytes.extend_from_slice(&double.to_be_bytes());
            }
            written.charset(None);
        }
        // The charset of what follows, as a number of one, two or three bytes (AIM ECI).
        0b0111 => {
            let first = bits.take(8)?;
            let number = match first {
                0..=0x7f => first,
                0x80..=0xbf => (first & 0x3f) << 8 | bits.take(8)?,
                _ => bits.take(16)?,
            };
            written.charset(match number {
                1 | 3 => Some(WINDOWS_1252),
                20 => Some(SHIFT_JIS),
                25 => Some(UTF_16BE),
                26 => Some(UTF_8),
                _ => None,
            });
        }
        // One of several codes that make one text: which, of how many, and their parity.
        0b0011 => {
            bits.take(16)?;
        }
        // Marks of trade numbers, the second with one of its own.
        0b0101 => {}
        0b1001 => {
            bits.take(8)?;
        }
        // The end, and what nobody knows.
        _ => return None,
    }
    Some(())
}

/// Text in the making.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    /// Bytes whose charset is applied once all of them are there.
    bytes: Vec<u8>,
    charset: Option<&'static Encoding>,
}

impl Written {
    fn plain(&mut self, letter: u8) {
        self.flush();
        self.text.push(letter);
    }

    fn charset(&mut self, charset: Option<&'static Encoding>) {
        if charset != self.charset {
            self.flush();
            self.charset = charset;
        }
    }

    /// Where no charset is told, readers take UTF-8 for it if it is, and Latin letters if not.
    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let told = if std::str::from_utf8(&bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
        let (text, _) = self.charset.unwrap_or(told).decode_without_bom_handling(&bytes);
        self.text.extend_from_slice(text.as_bytes());
    }
}

/// Bits, the highest of each byte first.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// At most sixteen bits as a number; `None` when so many are not left.
    fn take(&mut self, count: u8) -> Option<u16> {
        let end = self.at.checked_add(count.into())?;
        if end > self.data.len().checked_mul(8)? {
            return None;
        }
        let number = (self.at..end).fold(0_u16, |number, bit| {
            let byte = self.data.get(bit / 8).copied().unwrap_or(0);
            number << 1 | u16::from(byte >> (7_usize.saturating_sub(bit % 8)) & 1)
        });
        self.at = end;
        Some(number)
    }
}
