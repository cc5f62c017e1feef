//! Fields of a header at fixed offsets. `None` means that the bytes end before it: a truncated file is not refuted by
//! what it no longer has.

use crate::reader::Reader;

/// A [`Reader`] that is asked by offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peek<'a>(pub(super) &'a [u8]);

impl<'a> Peek<'a> {
    fn at(self, offset: usize) -> Option<Reader<'a>> {
        let mut reader = Reader::new(self.0);
        reader.seek(u64::try_from(offset).ok()?).ok()?;
        Some(reader)
    }

    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// Whether those bytes stand there.
    pub(super) fn has(self, offset: usize, want: &[u8]) -> bool {
        self.0.get(offset..).is_some_and(|rest| rest.starts_with(want))
    }

    pub(super) fn slice(self, offset: usize, count: usize) -> Option<&'a [u8]> {
        self.at(offset)?.take(u64::try_from(count).ok()?).ok()
    }

    /// Everything from there on; empty past the end.
    pub(super) fn from(self, offset: usize) -> &'a [u8] {
        self.0.get(offset..).unwrap_or_default()
    }

    /// At most that many bytes from the start.
    pub(super) fn head(self, count: usize) -> &'a [u8] {
        self.0.get(..count).unwrap_or(self.0)
    }

    /// At most that many bytes from the end.
    pub(super) fn tail(self, count: usize) -> &'a [u8] {
        self.from(self.len().saturating_sub(count))
    }

    pub(super) fn u8(self, offset: usize) -> Option<u8> {
        self.0.get(offset).copied()
    }

    pub(super) fn u16_le(self, offset: usize) -> Option<u16> {
        self.at(offset)?.u16_le().ok()
    }

    pub(super) fn u16_be(self, offset: usize) -> Option<u16> {
        self.at(offset)?.u16_be().ok()
    }

    pub(super) fn u32_le(self, offset: usize) -> Option<u32> {
        self.at(offset)?.u32_le().ok()
    }

    pub(super) fn u32_be(self, offset: usize) -> Option<u32> {
        self.at(offset)?.u32_be().ok()
    }

    pub(super) fn u64_le(self, offset: usize) -> Option<u64> {
        self.at(offset)?.u64_le().ok()
    }

    /// A 32 bit offset or length, as an index.
    pub(super) fn index_le(self, offset: usize) -> Option<usize> {
        usize::try_from(self.u32_le(offset)?).ok()
    }

    /// A 32 bit offset or length, as an index.
    pub(super) fn index_be(self, offset: usize) -> Option<usize> {
        usize::try_from(self.u32_be(offset)?).ok()
    }
}

/// A byte that no text holds (WHATWG MIME Sniffing section 3, "binary data byte").
pub(super) const fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

/// Whether any of some bytes is one that no text holds. Most texts have none, and without a way out in the middle that
/// is known at memory speed.
pub(super) fn has_binary(bytes: &[u8]) -> bool {
    let is_odd = |byte: u8| {
        (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r') & (byte != 0x0c) & (byte != 0x1b)
    };
    bytes.chunks(512).any(|block| block.iter().fold(false, |odd, byte| odd | is_odd(*byte)))
        && bytes.iter().copied().any(is_binary)
}

/// Where a word first stands.
pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}
