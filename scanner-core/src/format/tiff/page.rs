//! One directory as a page: its size, how its pixels are packed, and whether they are there.

use std::ops::Range;

use crate::{
    finding::Stop,
    format::{
        Out,
        ifd::{Data, Entry},
        picture::{self, Size, Walk, say},
    },
    inflate,
    limits::{Budget, Resource},
    reader::count,
};

/// What a directory says of its pixels (TIFF 6.0 sections 3, 14 and 15).
#[derive(Debug)]
pub(super) struct Page<'a> {
    at: Range<usize>,
    width: u64,
    height: u64,
    /// Bits of each sample.
    bits: Option<Entry<'a>>,
    samples: u64,
    packing: u64,
    colours: u64,
    is_planar: bool,
    rows: u64,
    tile: Option<(u64, u64)>,
    offsets: Option<Entry<'a>>,
    lengths: Option<Entry<'a>>,
    /// A whole JPEG that stands for the pixels: offset and length.
    whole: (Option<u64>, u64),
}

impl<'a> Page<'a> {
    pub(super) fn at(at: Range<usize>) -> Self {
        Self {
            at,
            width: 0,
            height: 0,
            bits: None,
            samples: 1,
            packing: 1,
            colours: 0,
            is_planar: false,
            rows: u64::MAX,
            tile: None,
            offsets: None,
            lengths: None,
            whole: (None, 0),
        }
    }

    /// Takes an entry of the directory.
    pub(super) fn take(&mut self, entry: Entry<'a>) {
        let number = entry.number;
        match entry.tag {
            0x0100 => self.width = number,
            0x0101 => self.height = number,
            0x0102 => self.bits = Some(entry),
            0x0103 => self.packing = number,
            0x0106 => self.colours = number,
            0x0111 | 0x0144 => self.offsets = Some(entry),
            0x0115 => self.samples = number.max(1),
            0x0116 => self.rows = number.max(1),
            0x0117 | 0x0145 => self.lengths = Some(entry),
            0x011c => self.is_planar = number == 2,
            0x0142 => self.tile = Some((number.max(1), self.tile.map_or(1, |(_, height)| height))),
            0x0143 => self.tile = Some((self.tile.map_or(1, |(width, _)| width), number.max(1))),
            0x0201 => self.whole.0 = Some(number),
            0x0202 => self.whole.1 = number,
            _ => {}
        }
    }

    /// Compares the page with the file; returns one behind the last byte of its pixels.
    pub(super) fn judge(
        self,
        data: Data<'a>,
        is_first: bool,
        walk: &mut Walk<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<usize, Stop> {
        let Some(offsets) = &self.offsets else {
            let end = self.whole.0.map(|offset| offset.saturating_add(self.whole.1));
            if self.width > 0 && self.height > 0 && end.is_none() {
                say(out, &picture::STRUCTURE, self.at, "a page does not say where its pixels are");
            }
            return Ok(usize::try_from(end.unwrap_or(0)).unwrap_or(usize::MAX).min(walk.bytes.len()));
        };
        if self.width == 0 || self.height == 0 {
            say(out, &picture::STRUCTURE, self.at, "a page has pixels and no size");
            return Ok(0);
        }
        let listed = count(offsets.range().len())
            .saturating_add(count(self.lengths.as_ref().map_or(0, |lengths| lengths.range().len())));
        budget.spend(Resource::Steps, listed)?;
        let length = count(walk.bytes.len());
        let mut lengths = self.lengths.as_ref().map(|lengths| data.numbers(lengths));
        let (mut packed, mut pieces, mut cut, mut end) = (0_u64, 0_u64, 0_u64, 0_u64);
        for offset in data.numbers(offsets) {
            // Old writers leave the lengths out.
            let bytes = match &mut lengths {
                Some(lengths) => lengths.next().unwrap_or(0),
                None => length.saturating_sub(offset),
            };
            let there = length.saturating_sub(offset).min(bytes);
            packed = packed.saturating_add(there);
            pieces = pieces.saturating_add(1);
            if there < bytes {
                cut = cut.saturating_add(1);
            }
            end = end.max(offset.saturating_add(there).min(length));
        }
        let size = self.size();
        let backed = self.most_pixels(data, packed);
        let pay = if is_first { Size::pay } else { Size::pay_alone };
        let is_true = walk.sized(size, self.at.clone(), backed, pay, out, budget);
        walk.drawn(size, u64::from(is_true));
        let needed = self.pieces();
        if is_true && cut > 0 {
            let message =
                format!("{cut} of {pieces} pieces of the pixels lie outside the file, or reach beyond its end");
            say(out, &picture::TRUNCATED, self.at.clone(), message);
        } else if is_true && pieces < needed {
            let message = format!("{pieces} of {needed} pieces of the pixels are listed");
            say(out, &picture::TRUNCATED, self.at.clone(), message);
        }
        let unpacked = self.unpacked(data).0;
        let ratio = Resource::Ratio.default_limit();
        if is_true && size.is_gigantic() && unpacked.checked_div(packed.max(1)).unwrap_or(0) > ratio {
            let message = format!("{packed} packed bytes promise {unpacked}");
            say(out, &picture::RATIO, self.at, message);
        }
        Ok(usize::try_from(end).unwrap_or(usize::MAX))
    }

    fn size(&self) -> Size {
        let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
        Size::new(side(self.width), side(self.height))
    }

    /// Strips or tiles that the size needs.
    fn pieces(&self) -> u64 {
        let planes = if self.is_planar { self.samples } else { 1 };
        let one = match self.tile {
            Some((width, height)) => self.width.div_ceil(width).saturating_mul(self.height.div_ceil(height)),
            None => self.height.div_ceil(self.rows),
        };
        one.saturating_mul(planes)
    }

    /// Bytes of all rows unpacked, and bits of a pixel.
    fn unpacked(&self, data: Data<'a>) -> (u64, u64) {
        let listed: Vec<u64> = self.bits.iter().flat_map(|bits| data.numbers(bits).take(64)).collect();
        let first = listed.first().copied().unwrap_or(1);
        let bits = if count(listed.len()) == self.samples {
            listed.iter().fold(0_u64, |sum, bits| sum.saturating_add(*bits))
        } else {
            first.saturating_mul(self.samples)
        };
        (self.width.saturating_mul(bits).div_ceil(8).saturating_mul(self.height), bits.max(1))
    }

    /// How many pixels so many packed bytes yield at most, where that is too few.
    fn most_pixels(&self, data: Data<'a>, packed: u64) -> Option<u64> {
        // Halved colours need fewer bits.
        const HALVED_COLOURS: u64 = 6;
        let most_per_byte = match self.packing {
            1 if self.colours != HALVED_COLOURS => 1,
            // A string of the coder has fewer bytes than it has codes, of nine bits at least.
            5 => 4096,
            8 | 32946 => inflate::MOST_PER_BYTE,
            // A run is 128 bytes of two.
            32773 => 64,
            _ => return None,
        };
        let (needed, bits) = self.unpacked(data);
        let there = packed.saturating_mul(most_per_byte);
        (there < needed).then(|| there.saturating_mul(8).checked_div(bits).unwrap_or(0))
    }
}
