//! The safe version of a TIFF: its pages written anew, each with the entries that say how it looks and its packed pixels
//! as they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        ifd::{Data, Entry},
    },
    limits::{Budget, Resource},
    reader::count,
};

use super::STEPS_PER_ENTRY;

/// Copying runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;
const CUT: &str = "the picture is cut off";
const TOO_LARGE: &str = "the picture is too large";
const LONG: u16 = 4;

/// Entries that stay: tag, types as bits, and the most bytes of the value (TIFF 6.0 sections 8, 10, 11, 14, 15, 18 to 21).
const KEPT: [(u16, u16, usize); 27] = [
    (0x00fe, INTEGER, 4),
    (0x0100, INTEGER, 4),
    (0x0101, INTEGER, 4),
    (0x0102, INTEGER, 64),
    (0x0103, INTEGER, 4),
    (0x0106, INTEGER, 4),
    (0x010a, INTEGER, 4),
    (0x0112, INTEGER, 4),
    (0x0115, INTEGER, 4),
    (0x0116, INTEGER, 4),
    (0x011a, RATIONAL, 8),
    (0x011b, RATIONAL, 8),
    (0x011c, INTEGER, 4),
    (0x0124, INTEGER, 4),
    (0x0125, INTEGER, 4),
    (0x0128, INTEGER, 4),
    (0x0129, INTEGER, 4),
    (0x013d, INTEGER, 4),
    // Three times as many colours as sixteen bits can tell apart.
    (0x0140, INTEGER, 3 * 2 * 65_536),
    (0x0142, INTEGER, 4),
    (0x0143, INTEGER, 4),
    (0x0152, INTEGER, 32),
    (0x0153, INTEGER, 64),
    (0x0211, RATIONAL, 24),
    (0x0212, INTEGER, 4),
    (0x0213, INTEGER, 4),
    (0x0214, RATIONAL, 48),
];
/// `SHORT` and `LONG`, and `RATIONAL`, as bits.
const INTEGER: u16 = 1 << 3 | 1 << 4;
const RATIONAL: u16 = 1 << 5;
/// Ways to pack pixels that say nothing beside them: none, the three of faxes, LZW, deflate twice, runs. Not JPEG, which
/// has notes of its own.
const PACKINGS: [u64; 8] = [1, 2, 3, 4, 5, 8, 32_773, 32_946];

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let bytes = subject.bytes;
    let (data, first, order) = match (Data::open(bytes), bytes.first_chunk()) {
        (Some((data, first)), Some(order @ ([b'I', b'I', 42, 0] | [b'M', b'M', 0, 42]))) => (data, first, *order),
        _ => return Err("this kind of TIFF cannot be written again".into()),
    };
    // What is copied is paid at once.
    budget.spend(Resource::Steps, count(bytes.len()).saturating_mul(2).div_ceil(BYTES_PER_STEP))?;
    let mut file = Pages { out: order.to_vec(), is_big_endian: order.starts_with(b"M"), link: 4 };
    file.out.extend([0; 4]);
    let (mut offset, mut seen) = (first.map_err(|_| CUT)?, BTreeSet::new());
    if offset == 0 {
        return Err("there is no page in the picture".into());
    }
    // Pages share no bytes: together their pixels are no longer than the file, and neither are their values.
    let (mut pixels, mut values) = (bytes.len(), bytes.len());
    while offset != 0 {
        if !seen.insert(offset) {
            return Err("the list of pages leads back to a page that was there before".into());
        }
        budget.spend(Resource::Frames, 1)?;
        let mut directory = data.directory(offset).map_err(|_| CUT)?;
        let mut page = Page::default();
        while let Some(entry) = directory.entry() {
            budget.spend(Resource::Objects, 1)?;
            budget.spend(Resource::Steps, STEPS_PER_ENTRY)?;
            page.entry(entry.map_err(|_| CUT)?, cleaning)?;
        }
        // Many writers leave the last link out.
        offset = directory.next().unwrap_or(0);
        let pieces = page.pieces(data, bytes.len(), budget)?;
        for piece in &pieces {
            pixels = pixels.checked_sub(piece.len()).ok_or("pages share the same packed pixels")?;
        }
        for entry in page.kept.values() {
            values = values.checked_sub(entry.range().len()).ok_or("pages share the same values")?;
        }
        file.page(&page, bytes, &pieces)?;
    }
    cleaning::proved(super::inspect, subject.kind, file.out.into(), budget)
}

/// One directory: what stays of it, by tag.
#[derive(Debug, Default)]
struct Page<'a> {
    kept: BTreeMap<u16, Entry<'a>>,
    offsets: Option<Entry<'a>>,
    lengths: Option<Entry<'a>>,
}

impl<'a> Page<'a> {
    fn entry(&mut self, entry: Entry<'a>, cleaning: &mut Cleaning<'_>) -> Result<(), Uncleanable> {
        let value = entry.value.ok_or("a value of a page lies outside the file")?;
        let is_again = match entry.tag {
            0x0111 | 0x0144 => self.offsets.replace(entry).is_some(),
            0x0117 | 0x0145 => self.lengths.replace(entry).is_some(),
            tag => {
                let bit = 1_u16.checked_shl(entry.kind.into()).unwrap_or(0);
                let is_kept = KEPT.iter().any(|(kept, kinds, most)| {
                    *kept == tag && kinds & bit != 0 && value.len() <= *most && !value.is_empty()
                });
                if is_kept {
                    self.kept.insert(tag, entry).is_some()
                } else {
                    cleaning.did(match (tag, entry.kind) {
                        (0x8769 | 0x8825 | 0xa005, _) => "removed camera data",
                        (0x8773, _) => "removed a colour profile",
                        (_, 2) | (0x02bc, _) => "removed a text",
                        _ => "removed a part that no viewer needs",
                    });
                    false
                }
            }
        };
        if is_again { Err("a page says the same thing twice".into()) } else { Ok(()) }
    }

    /// Where its packed pixels lie, piece by piece.
    fn pieces(&self, data: Data<'a>, length: usize, budget: &mut Budget) -> Result<Vec<Range<usize>>, Uncleanable> {
        let packing = self.kept.get(&0x0103).map_or(1, |entry| entry.number);
        if !PACKINGS.contains(&packing) {
            return Err("the pixels are packed in a way that cannot be looked through".into());
        }
        let (Some(offsets), Some(lengths)) = (&self.offsets, &self.lengths) else {
            return Err("a page does not say where its pixels are".into());
        };
        if (offsets.tag, lengths.tag) != (0x0111, 0x0117) && (offsets.tag, lengths.tag) != (0x0144, 0x0145) {
            return Err("a page says in two ways where its pixels are".into());
        }
        let listed = offsets.range().len().saturating_add(lengths.range().len());
        budget.spend(Resource::Steps, count(listed))?;
        let (mut starts, mut sizes) = (data.numbers(offsets), data.numbers(lengths));
        let mut pieces = Vec::new();
        loop {
            let (start, size) = match (starts.next(), sizes.next()) {
                (Some(start), Some(size)) => (usize::try_from(start), usize::try_from(size)),
                (None, None) => return Ok(pieces),
                _ => return Err("a page does not say how long each piece of its pixels is".into()),
            };
            let end = start.ok().zip(size.ok()).and_then(|(start, size)| Some((start, start.checked_add(size)?)));
            let (start, end) = end.filter(|(_, end)| *end <= length).ok_or(CUT)?;
            pieces.push(start..end);
        }
    }
}

/// A file being written, page after page: pixels, long values, directory.
struct Pages {
    out: Vec<u8>,
    is_big_endian: bool,
    /// Where the offset of the next directory has to be put.
    link: usize,
}

impl Pages {
    fn page(&mut self, page: &Page<'_>, bytes: &Bytes, pieces: &[Range<usize>]) -> Result<(), Uncleanable> {
        let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
        for piece in pieces {
            offsets.extend(self.u32(self.out.len())?);
            lengths.extend(self.u32(piece.len())?);
            self.out.extend_from_slice(bytes.get(piece.clone()).unwrap_or_default());
        }
        let (Some(offsets_at), Some(lengths_at)) = (&page.offsets, &page.lengths) else { return Ok(()) };
        let mut rows: BTreeMap<u16, (u16, usize, &[u8])> = BTreeMap::new();
        for (tag, entry) in &page.kept {
            let size = match entry.kind {
                3 => 2_usize,
                LONG => 4,
                _ => 8,
            };
            let value = entry.value.unwrap_or_default();
            rows.insert(*tag, (entry.kind, value.len().checked_div(size).unwrap_or(0), value));
        }
        rows.insert(offsets_at.tag, (LONG, pieces.len(), &offsets));
        rows.insert(lengths_at.tag, (LONG, pieces.len(), &lengths));
        let mut directory = self.u16(rows.len())?.to_vec();
        for (tag, (kind, values, value)) in rows {
            directory.extend(self.u16(tag.into())?);
            directory.extend(self.u16(kind.into())?);
            directory.extend(self.u32(values)?);
            if value.len() <= 4 {
                directory.extend_from_slice(value);
                directory.extend_from_slice([0; 4].get(value.len()..).unwrap_or_default());
            } else {
                self.even();
                directory.extend(self.u32(self.out.len())?);
                self.out.extend_from_slice(value);
            }
        }
        self.even();
        let at = self.u32(self.out.len())?;
        if let Some(link) = self.out.get_mut(self.link..self.link.saturating_add(4)) {
            link.copy_from_slice(&at);
        }
        self.out.extend(directory);
        self.link = self.out.len();
        self.out.extend([0; 4]);
        Ok(())
    }

    /// Values begin at even offsets.
    fn even(&mut self) {
        if self.out.len() % 2 == 1 {
            self.out.push(0);
        }
    }

    fn u16(&self, value: usize) -> Result<[u8; 2], Uncleanable> {
        let value = u16::try_from(value).map_err(|_| TOO_LARGE)?;
        Ok(if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() })
    }

    fn u32(&self, value: usize) -> Result<[u8; 4], Uncleanable> {
        let value = u32::try_from(value).map_err(|_| TOO_LARGE)?;
        Ok(if self.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() })
    }
}
