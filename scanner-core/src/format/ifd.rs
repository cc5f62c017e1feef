//! TIFF directories: lists of tagged values, in pictures of that format and in the camera data of all others.
//!
//! TIFF 6.0 section 2; `BigTIFF` for those whose counts and offsets have eight bytes.

use std::ops::Range;

use crate::reader::{Reader, Short, count};

/// Data that directories stand in, and how their numbers are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data<'a> {
    pub(super) bytes: &'a [u8],
    is_big_endian: bool,
    /// `BigTIFF`.
    is_wide: bool,
}

/// One directory as far as it is there.
#[derive(Debug)]
pub(super) struct Directory<'a> {
    data: Data<'a>,
    reader: Reader<'a>,
    /// Entries that are still to come.
    pub(super) left: u64,
}

/// One value of a directory.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) tag: u16,
    pub(super) kind: u16,
    /// The value where it is one number that fits.
    pub(super) number: u64,
    /// The bytes of the value; `None` when they lie outside the data.
    pub(super) value: Option<&'a [u8]>,
    /// Where they stand in the data.
    pub(super) at: usize,
    /// Where the entry itself stands.
    pub(super) entry_at: usize,
}

impl Entry<'_> {
    /// The range of the value in the data.
    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.at.saturating_add(self.value.unwrap_or_default().len())
    }
}

impl<'a> Data<'a> {
    /// Data that begin with the header of a TIFF, and where the first directory is said to be.
    pub(super) fn open(bytes: &'a [u8]) -> Option<(Self, Result<u64, Short>)> {
        let (is_big_endian, is_wide) = match bytes {
            [b'M', b'M', 0, 42, ..] => (true, false),
            [b'I', b'I', 42, 0, ..] => (false, false),
            [b'M', b'M', 0, 43, 0, 8, 0, 0, ..] => (true, true),
            [b'I', b'I', 43, 0, 8, 0, 0, 0, ..] => (false, true),
            _ => return None,
        };
        let data = Self { bytes, is_big_endian, is_wide };
        let first = data.reader_at(if is_wide { 8 } else { 4 }).and_then(|mut reader| data.offset(&mut reader));
        Some((data, first))
    }

    /// The same data, whatever header they have.
    pub(super) fn assume(bytes: &'a [u8], is_big_endian: bool) -> Self {
        Self { bytes, is_big_endian, is_wide: false }
    }

    /// A cursor at an offset.
    pub(super) fn reader_at(&self, offset: u64) -> Result<Reader<'a>, Short> {
        let mut reader = Reader::new(self.bytes);
        reader.seek(offset)?;
        Ok(reader)
    }

    /// The directory at an offset.
    pub(super) fn directory(&self, offset: u64) -> Result<Directory<'a>, Short> {
        let mut reader = self.reader_at(offset)?;
        let left = if self.is_wide { self.u64(&mut reader)? } else { self.u16(&mut reader)?.into() };
        Ok(Directory { data: *self, reader, left })
    }

    /// The numbers of a value, lazily: of the integer kinds, as many as its bytes hold.
    pub(super) fn numbers(self, entry: &Entry<'a>) -> impl Iterator<Item = u64> + use<'a> {
        let width = match entry.kind {
            1 | 7 => 1_u8,
            3 => 2,
            4 | 13 => 4,
            16 | 18 => 8,
            _ => 0,
        };
        let mut reader = Reader::new(entry.value.unwrap_or_default());
        std::iter::from_fn(move || match width {
            1 => reader.u8().ok().map(u64::from),
            2 => self.u16(&mut reader).ok().map(u64::from),
            4 => self.u32(&mut reader).ok(),
            8 => self.u64(&mut reader).ok(),
            _ => None,
        })
    }

    /// Two numbers of four bytes.
    pub(super) fn pair(&self, first: [u8; 4], second: [u8; 4]) -> (u32, u32) {
        let number = if self.is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        (number(first), number(second))
    }

    fn u16(&self, reader: &mut Reader<'_>) -> Result<u16, Short> {
        if self.is_big_endian { reader.u16_be() } else { reader.u16_le() }
    }

    fn u32(&self, reader: &mut Reader<'_>) -> Result<u64, Short> {
        if self.is_big_endian { reader.u32_be() } else { reader.u32_le() }.map(u64::from)
    }

    fn u64(&self, reader: &mut Reader<'_>) -> Result<u64, Short> {
        if self.is_big_endian { reader.u64_be() } else { reader.u64_le() }
    }

    fn offset(&self, reader: &mut Reader<'_>) -> Result<u64, Short> {
        if self.is_wide { self.u64(reader) } else { self.u32(reader) }
    }
}

impl<'a> Directory<'a> {
    /// Where the next entry stands.
    pub(super) fn position(&self) -> usize {
        self.reader.position()
    }

    /// The next entry, if there is another.
    pub(super) fn entry(&mut self) -> Option<Result<Entry<'a>, Short>> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }

    fn read(&mut self) -> Result<Entry<'a>, Short> {
        let data = self.data;
        let entry_at = self.reader.position();
        let tag = data.u16(&mut self.reader)?;
        let kind = data.u16(&mut self.reader)?;
        let values = data.offset(&mut self.reader)?;
        let inline = self.reader.position();
        let room = if data.is_wide { 8 } else { 4 };
        let mut field = Reader::new(self.reader.take(room)?);
        let number = match kind {
            1 | 7 => u64::from(field.u8()?),
            3 => u64::from(data.u16(&mut field)?),
            16..=18 => data.offset(&mut field)?,
            4 | 13 => data.u32(&mut field)?,
            _ => data.offset(&mut field)?,
        };
        let size = match kind {
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16 | 17 | 18 => 8,
            _ => 1,
        };
        let length = values.saturating_mul(size);
        let at = if length <= room {
            count(inline)
        } else {
            let mut field = data.reader_at(count(inline))?;
            data.offset(&mut field)?
        };
        let value = data.reader_at(at).and_then(|mut reader| reader.take(length)).ok();
        Ok(Entry { tag, kind, number, value, at: usize::try_from(at).unwrap_or(usize::MAX), entry_at })
    }

    /// The link to the next directory, behind the last entry.
    pub(super) fn next(&mut self) -> Result<u64, Short> {
        self.data.offset(&mut self.reader)
    }
}

/// Files of directories built by hand.
#[cfg(test)]
pub(super) mod testing {
    /// One entry: tag, type, number of values, and the four bytes of the value or its offset.
    pub(crate) type Row = (u16, u16, u32, u32);

    /// Little end first: directories at the offsets given, values put at theirs.
    pub(crate) fn tiff(first: u32, directories: &[(usize, &[Row], u32)], values: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = b"II*\0".to_vec();
        bytes.extend_from_slice(&first.to_le_bytes());
        let mut put = |at: usize, part: &[u8]| {
            if bytes.len() < at + part.len() {
                bytes.resize(at + part.len(), 0);
            }
            bytes[at..at + part.len()].copy_from_slice(part);
        };
        for (at, rows, next) in directories {
            let mut part = (rows.len() as u16).to_le_bytes().to_vec();
            for (tag, kind, number, value) in *rows {
                part.extend_from_slice(&tag.to_le_bytes());
                part.extend_from_slice(&kind.to_le_bytes());
                part.extend_from_slice(&number.to_le_bytes());
                part.extend_from_slice(&value.to_le_bytes());
            }
            part.extend_from_slice(&next.to_le_bytes());
            put(*at, &part);
        }
        for (at, value) in values {
            put(*at, value);
        }
        bytes
    }
}
