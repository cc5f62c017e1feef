//! The picture's size and shape, and how many bytes its rows are.

use crate::{format::picture::Size, inflate};

/// The header chunk (PNG §11.2.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) depth: u8,
    pub(super) color: u8,
    pub(super) is_interlaced: bool,
}

/// Some of the rows, and some of the pixels of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pass {
    /// First column and row.
    pub(super) x: u64,
    pub(super) y: u64,
    /// From a pixel to the next, and from a row to the next.
    pub(super) right: u64,
    pub(super) down: u64,
    /// Bytes of a row without its filter byte.
    pub(super) row_bytes: u64,
    pub(super) rows: u64,
}

impl Header {
    /// The header, or what is wrong with it. A size that is no size leaves nothing to go on with.
    pub(super) fn read(data: &[u8]) -> Result<Self, &'static str> {
        let Ok([w0, w1, w2, w3, h0, h1, h2, h3, depth, color, method, filter, interlace]) = <[u8; 13]>::try_from(data)
        else {
            return Err("the header does not have thirteen bytes");
        };
        let width = u32::from_be_bytes([w0, w1, w2, w3]);
        let height = u32::from_be_bytes([h0, h1, h2, h3]);
        match (color, depth) {
            (0, 1 | 2 | 4 | 8 | 16) | (3, 1 | 2 | 4 | 8) | (2 | 4 | 6, 8 | 16) => {}
            _ => return Err("no picture has this colour type with this bit depth"),
        }
        if !(1..=0x7fff_ffff).contains(&width) || !(1..=0x7fff_ffff).contains(&height) {
            return Err("the width or the height is outside what a picture may have");
        }
        if method != 0 || filter != 0 {
            return Err("there is only one compression and one filter method, and this names another");
        }
        match interlace {
            0 | 1 => Ok(Self { width, height, depth, color, is_interlaced: interlace == 1 }),
            _ => Err("there is no such interlace method"),
        }
    }

    /// The same picture in another size: a frame of an animation.
    pub(super) fn sized(self, width: u32, height: u32) -> Self {
        Self { width, height, ..self }
    }

    /// Width and height.
    pub(super) fn size(&self) -> Size {
        Size::new(self.width, self.height)
    }

    /// Bits of one pixel (PNG §6.1).
    pub(super) fn bits(&self) -> u64 {
        let channels = match self.color {
            2 => 3,
            4 => 2,
            6 => 4,
            _ => 1,
        };
        u64::from(self.depth).saturating_mul(channels)
    }

    /// The passes in which the rows come (PNG §8.2: Adam7).
    pub(super) fn passes(&self) -> impl Iterator<Item = Pass> {
        /// First column, first row, and the distances to the next, of each pass.
        const ADAM7: [(u32, u32, u32, u32); 7] =
            [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];
        const WHOLE: [(u32, u32, u32, u32); 1] = [(0, 0, 1, 1)];
        let passes: &[_] = if self.is_interlaced { &ADAM7 } else { &WHOLE };
        let (width, height, bits) = (self.width, self.height, self.bits());
        passes.iter().filter_map(move |(x, y, right, down)| {
            let columns = u64::from(width.saturating_sub(*x).div_ceil(*right));
            let rows = u64::from(height.saturating_sub(*y).div_ceil(*down));
            let (x, y, right, down) = ((*x).into(), (*y).into(), (*right).into(), (*down).into());
            let row_bytes = columns.saturating_mul(bits).div_ceil(8);
            (columns > 0 && rows > 0).then_some(Pass { x, y, right, down, row_bytes, rows })
        })
    }

    /// Bytes of all rows with their filter bytes: what the packed data must yield.
    pub(super) fn unpacked_bytes(&self) -> u64 {
        self.passes()
            .fold(0, |sum, pass| sum.saturating_add(pass.row_bytes.saturating_add(1).saturating_mul(pass.rows)))
    }

    /// Whether that many packed bytes could yield the picture at all.
    pub(super) fn fits_in(&self, packed: u64) -> bool {
        packed.saturating_mul(inflate::MOST_PER_BYTE) >= self.unpacked_bytes()
    }
}
