//! Device-independent bitmaps: the headers and rows that BMP files and icons share.

use std::ops::Range;

use crate::{
    finding::Stop,
    format::picture::Size,
    reader::{Reader, count},
};

/// How rows are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// As they are, with or without masks.
    Rows,
    /// Runs of pixels of so many bits.
    Runs(u16),
    /// A whole JPEG or PNG.
    Picture,
    /// Fax lines of OS/2.
    Fax,
}

/// A header with what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Dib {
    /// Bytes of the header itself.
    pub(super) header_bytes: u32,
    pub(super) size: Size,
    /// The first row is the one at the top.
    pub(super) is_from_top: bool,
    pub(super) bits: u16,
    pub(super) packing: Packing,
    /// Bytes of pixels that the header tells; zero when it does not.
    pub(super) told_bytes: u32,
    /// Bytes of colours and masks between header and pixels.
    pub(super) table_bytes: u64,
    /// Of these, the masks.
    pub(super) mask_bytes: u64,
    /// A colour profile: offset from the header, length, and whether it is the name of a file instead.
    pub(super) profile: Option<(u32, u32, bool)>,
    /// What is wrong with the header though it can be followed.
    pub(super) wrong: Option<&'static str>,
    /// There is one plane of pixels, as everywhere.
    pub(super) is_flat: bool,
}

/// Header sizes: OS/2 1, OS/2 2 short and long, Windows 3, with masks (two), 4 and 5.
const SIZES: [u32; 8] = [12, 16, 40, 52, 56, 64, 108, 124];
/// `PROFILE_EMBEDDED` and `PROFILE_LINKED`, as stored.
const EMBEDDED: &[u8; 4] = b"DEBM";
const LINKED: &[u8; 4] = b"KNIL";

impl Dib {
    /// The header that begins at an offset of the file.
    pub(super) fn read(bytes: &[u8], at: usize) -> Result<Self, Stop> {
        let mut reader = Reader::new(bytes);
        reader.seek(count(at))?;
        let header_bytes = reader.u32_le()?;
        if !SIZES.contains(&header_bytes) {
            return Err(Stop::malformed(format!("no bitmap has a header of {header_bytes} bytes"), count(at)));
        }
        // A header that is cut is one that is not there.
        let mut reader = Reader::new(bytes);
        reader.seek(count(at))?;
        let mut reader = Reader::new(reader.take(header_bytes.into())?);
        reader.take(4)?;
        if header_bytes == 12 {
            let (width, height) = (reader.u16_le()?, reader.u16_le()?);
            let (planes, bits) = (reader.u16_le()?, reader.u16_le()?);
            let dib = Self {
                header_bytes,
                size: Size::new(width.into(), height.into()),
                is_from_top: false,
                bits,
                packing: Packing::Rows,
                told_bytes: 0,
                table_bytes: if bits <= 8 { 3_u64 << bits } else { 0 },
                mask_bytes: 0,
                profile: None,
                wrong: None,
                is_flat: planes == 1,
            };
            return Ok(dib.checked());
        }
        let (width, height) = (reader.u32_le()?.cast_signed(), reader.u32_le()?.cast_signed());
        let (planes, bits) = (reader.u16_le()?, reader.u16_le()?);
        // The short header of OS/2 ends here: what it leaves out is zero.
        let method = reader.u32_le().unwrap_or(0);
        let told_bytes = reader.u32_le().unwrap_or(0);
        reader.take(count(reader.left().min(8)))?;
        let colours = reader.u32_le().unwrap_or(0);
        let is_os2 = matches!(header_bytes, 16 | 64);
        let (packing, is_known) = match (method, bits) {
            (0, _) => (Packing::Rows, true),
            (1, _) => (Packing::Runs(8), bits == 8),
            (2, _) => (Packing::Runs(4), bits == 4),
            (3, 1) if is_os2 => (Packing::Fax, true),
            (4, 24) if is_os2 => (Packing::Runs(24), true),
            (3, 16 | 32) => (Packing::Rows, true),
            (6, 16 | 32) => (Packing::Rows, true),
            (4 | 5, _) => (Packing::Picture, true),
            // CMYK, plain and in runs.
            (11, _) => (Packing::Rows, true),
            (12, 8) => (Packing::Runs(8), true),
            (13, 4) => (Packing::Runs(4), true),
            _ => (Packing::Rows, false),
        };
        let masks = match (method, header_bytes) {
            (3, 40) if !is_os2 => 12,
            (6, 40) => 16,
            _ => 0,
        };
        let most = if (1..=8).contains(&bits) { 1_u64 << bits } else { 0 };
        let listed = if colours == 0 { most } else { colours.into() };
        let mut wrong = None;
        if width <= 0 || height == 0 || height == i32::MIN {
            wrong = Some("the width or the height is none");
        } else if !is_known {
            wrong = Some("these bits are never packed in this way");
        } else if height < 0 && matches!(packing, Packing::Runs(_)) {
            wrong = Some("runs are never told from the top");
        }
        let dib = Self {
            header_bytes,
            size: Size::new(width.unsigned_abs(), height.unsigned_abs()),
            is_from_top: height < 0,
            bits,
            packing,
            told_bytes,
            table_bytes: listed.saturating_mul(4).saturating_add(masks),
            mask_bytes: masks,
            profile: profile(bytes, at, header_bytes)?,
            wrong,
            is_flat: planes == 1 || packing == Packing::Picture,
        };
        Ok(dib.checked())
    }

    fn checked(mut self) -> Self {
        let is_depth = matches!(self.bits, 1 | 2 | 4 | 8 | 16 | 24 | 32 | 64) || self.packing == Packing::Picture;
        if self.wrong.is_none() && !is_depth {
            self.wrong = Some("no bitmap has pixels of so many bits");
        } else if self.wrong.is_none() && self.size.area() == 0 {
            self.wrong = Some("the width or the height is none");
        }
        self
    }

    /// Bytes of rows, each filled up to four, where they are not packed.
    pub(super) fn rows_bytes(&self) -> u64 {
        row_bytes(self.size.width, self.bits).saturating_mul(self.size.height.into())
    }
}

/// Bytes of one row.
pub(super) fn row_bytes(width: u32, bits: u16) -> u64 {
    u64::from(width).saturating_mul(bits.into()).div_ceil(32).saturating_mul(4)
}

/// The colour profile of the longest header.
fn profile(bytes: &[u8], at: usize, header_bytes: u32) -> Result<Option<(u32, u32, bool)>, Stop> {
    const SPACE: u64 = 56;
    const PROFILE: u64 = 112;
    if header_bytes != 124 {
        return Ok(None);
    }
    let mut reader = Reader::new(bytes);
    reader.seek(count(at).saturating_add(SPACE))?;
    let space: [u8; 4] = reader.array()?;
    reader.seek(count(at).saturating_add(PROFILE))?;
    let (offset, length) = (reader.u32_le()?, reader.u32_le()?);
    Ok((space == *EMBEDDED || space == *LINKED).then_some((offset, length, space == *LINKED)))
}

/// What runs of pixels turned out to be.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    /// One behind the last byte used.
    pub(super) end: usize,
    /// There was an end mark.
    pub(super) is_ended: bool,
    /// The rows that were begun.
    pub(super) rows: u64,
    /// A run leaves its row, or the picture.
    pub(super) is_beyond: bool,
}

/// Follows runs of pixels (`BI_RLE8` and the like) without keeping a pixel. Linear in the bytes.
pub(super) fn runs(bytes: &[u8], range: Range<usize>, bits: u16, size: Size) -> Runs {
    let data = bytes.get(range.clone()).unwrap_or_default();
    let mut reader = Reader::new(data);
    let mut found = Runs::default();
    let (mut column, mut row) = (0_u64, 0_u64);
    let pixel_bytes = if bits == 24 { 3 } else { 1 };
    while let Ok(length) = reader.u8() {
        let Ok(second) = reader.u8() else { break };
        if length > 0 {
            column = column.saturating_add(length.into());
            if bits == 24 && reader.take(2).is_err() {
                break;
            }
        } else {
            match second {
                0 => (column, row) = (0, row.saturating_add(1)),
                1 => {
                    found.is_ended = true;
                    break;
                }
                2 => {
                    let Ok([right, up]) = reader.array() else { break };
                    column = column.saturating_add(right.into());
                    row = row.saturating_add(up.into());
                }
                _ => {
                    let length = u64::from(second);
                    let stored = if bits == 4 { length.div_ceil(2) } else { length.saturating_mul(pixel_bytes) };
                    column = column.saturating_add(length);
                    if reader.take(stored.saturating_add(stored & 1)).is_err() {
                        break;
                    }
                }
            }
        }
        // The end of the last row may be said before the end of all.
        let is_beyond =
            column > size.width.into() || row >= size.height.into() && column > 0 || row > size.height.into();
        found.is_beyond |= is_beyond;
        if column > 0 {
            found.rows = found.rows.max(row.saturating_add(1));
        }
    }
    found.end = range.start.saturating_add(reader.position());
    found
}
