//! The bounds-checked cursor: the only way to touch raw bytes of a binary format.
//!
//! No indexing, no `as`, no bare arithmetic: every read says where it stood when the bytes ran out.

use crate::finding::Stop;

/// The bytes ended before what was to be read. Readable-but-wrong is the caller's finding; this is the gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// Offset at which the read began.
    pub at: u64,
    /// How many bytes were wanted.
    pub wanted: u64,
}

impl From<Short> for Stop {
    fn from(short: Short) -> Self {
        Self::malformed("the bytes end in the middle of it", short.at)
    }
}

/// A cursor over bytes that cannot leave them.
///
/// ```
/// use scanner_core::Reader;
/// let mut reader = Reader::new(b"\x00\x00\x00\x0dIHDR");
/// assert_eq!(reader.u32_be(), Ok(13));
/// assert_eq!(reader.take(4), Ok(&b"IHDR"[..]));
/// assert!(reader.u8().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Where the cursor stands.
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    /// Everything not yet read; the cursor stays.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Moves to an offset from the start.
    ///
    /// # Errors
    /// [`Short`] past the end; the end itself is allowed.
    pub fn seek(&mut self, offset: u64) -> Result<(), Short> {
        match usize::try_from(offset) {
            Ok(at) if at <= self.bytes.len() => {
                self.at = at;
                Ok(())
            }
            _ => Err(Short { at: offset, wanted: 0 }),
        }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`Short`] when fewer are left; the cursor stays.
    pub fn take(&mut self, count: u64) -> Result<&'a [u8], Short> {
        let short = Short { at: self::count(self.at), wanted: count };
        let count = usize::try_from(count).map_err(|_| short)?;
        let end = self.at.checked_add(count).ok_or(short)?;
        let taken = self.bytes.get(self.at..end).ok_or(short)?;
        self.at = end;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let short = Short { at: count(self.at), wanted: count(N) };
        let taken = self.take(count(N))?;
        taken.try_into().map_err(|_| short)
    }

    /// One byte.
    ///
    /// # Errors
    /// [`Short`] at the end.
    pub fn u8(&mut self) -> Result<u8, Short> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Two bytes, big end first.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn u16_be(&mut self) -> Result<u16, Short> {
        self.array().map(u16::from_be_bytes)
    }

    /// Two bytes, little end first.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn u16_le(&mut self) -> Result<u16, Short> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes, big end first.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn u32_be(&mut self) -> Result<u32, Short> {
        self.array().map(u32::from_be_bytes)
    }

    /// Four bytes, little end first.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn u32_le(&mut self) -> Result<u32, Short> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes, big end first.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn u64_be(&mut self) -> Result<u64, Short> {
        self.array().map(u64::from_be_bytes)
    }

    /// Eight bytes, little end first.
    ///
    /// # Errors
    /// [`Short`] when fewer are left.
    pub fn u64_le(&mut self) -> Result<u64, Short> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes up to a delimiter, which is consumed and not returned. `None` when it does not occur: the cursor stays.
    pub fn until(&mut self, delimiter: u8) -> Option<&'a [u8]> {
        let rest = self.rest();
        let length = memchr::memchr(delimiter, rest)?;
        self.at = self.at.checked_add(length)?.checked_add(1)?;
        rest.get(..length)
    }
}

/// A count of bytes in memory as budgets and spans count: the one widening conversion.
pub(crate) fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn until_leaves_the_delimiter_behind() {
        let mut reader = Reader::new(b"Title\0rest");
        assert_eq!(reader.until(0), Some(&b"Title"[..]));
        assert_eq!(reader.rest(), b"rest");
        assert_eq!(reader.until(0), None);
        assert_eq!(reader.rest(), b"rest");
    }

    proptest! {
        #[test]
        fn never_leaves_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..64), reads in proptest::collection::vec(any::<(u8, u64)>(), 0..32)) {
            let mut reader = Reader::new(&bytes);
            for (kind, count) in reads {
                let before = reader.position();
                match kind % 5 {
                    0 => match reader.take(count % 80) {
                        Ok(taken) => prop_assert_eq!(taken.len() as u64, count % 80),
                        Err(_) => prop_assert_eq!(reader.position(), before),
                    },
                    1 => drop(reader.u32_be()),
                    2 => drop(reader.seek(count)),
                    3 => drop(reader.take(count)),
                    _ => drop(reader.until(b'a')),
                }
                prop_assert!(reader.position() <= bytes.len());
                prop_assert_eq!(reader.left(), bytes.len() - reader.position());
            }
        }
    }
}
