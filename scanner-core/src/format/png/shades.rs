//! Rows of pixels, unfiltered and in shades of grey (PNG §9, §11.2.1).

use super::header::{Header, Pass};
use crate::{
    format::{
        picture::{self, luma, samples},
        qr::Grey,
    },
    limits::{Budget, Exhausted, Resource},
};

/// Bytes of rows unfiltered in one step.
const BYTES_PER_STEP: u64 = 8;

/// What turns rows into a picture.
#[derive(Debug)]
pub(super) struct Shades {
    header: Header,
    /// The shade of each colour of the table.
    palette: Vec<u8>,
    /// Bytes from a pixel to the next, one at least.
    pixel: usize,
    /// The row before, unfiltered.
    before: Vec<u8>,
    /// The row that is coming in, behind its filter.
    row: Vec<u8>,
    grey: Grey,
}

impl Shades {
    /// Nothing yet, and paid for; `None` where nobody looks at pixels.
    pub(super) fn of(header: &Header, colours: &[u8], budget: &mut Budget) -> Result<Option<Self>, Exhausted> {
        let Some(grey) = Grey::of(header.size(), budget)? else { return Ok(None) };
        budget.spend(Resource::Steps, header.unpacked_bytes().div_ceil(BYTES_PER_STEP))?;
        let palette = picture::shades(colours);
        let pixel = usize::try_from(header.bits().div_ceil(8)).unwrap_or(1);
        Ok(Some(Self { header: *header, palette, pixel, before: Vec::new(), row: Vec::new(), grey }))
    }

    /// The first row of a pass has none before it.
    pub(super) fn pass(&mut self) {
        self.before.clear();
    }

    /// More bytes of a row.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.row.extend_from_slice(bytes);
    }

    /// The row is complete: the one of that number in a pass.
    pub(super) fn end(&mut self, filter: u8, pass: &Pass, number: u64) {
        self.before.resize(self.row.len(), 0);
        unfilter(filter, self.pixel, &mut self.row, &self.before);
        let y = usize::try_from(number.saturating_mul(pass.down).saturating_add(pass.y)).unwrap_or(usize::MAX);
        let (x, every) = (usize::try_from(pass.x).unwrap_or(0), usize::try_from(pass.right).unwrap_or(1));
        if self.grey.keeps(y) {
            // One call for each way to pack a pixel: a pixel costs a few instructions, and not a call of its own.
            let (row, grey) = (self.row.as_slice(), &mut self.grey);
            match (self.header.color, self.header.depth) {
                (0, 8) => grey.pixels(y, x, every, row.iter().copied()),
                (0, 16) => grey.pixels(y, x, every, each(row, |[shade, _]| shade)),
                (2, 8) => grey.pixels(y, x, every, each(row, |[r, g, b]| luma(r, g, b))),
                (2, _) => grey.pixels(y, x, every, each(row, |[r, _, g, _, b, _]| luma(r, g, b))),
                (4, 8) => grey.pixels(y, x, every, each(row, |[shade, alpha]| on_white(shade, alpha))),
                (4, _) => grey.pixels(y, x, every, each(row, |[shade, _, alpha, _]| on_white(shade, alpha))),
                (6, 8) => grey.pixels(y, x, every, each(row, |[r, g, b, a]| on_white(luma(r, g, b), a))),
                (6, _) => grey.pixels(y, x, every, each(row, |[r, _, g, _, b, _, a, _]| on_white(luma(r, g, b), a))),
                (3, depth) => {
                    let shade = |index: u8| self.palette.get(usize::from(index)).copied().unwrap_or(0);
                    grey.pixels(y, x, every, samples(row, depth).map(shade));
                }
                (_, depth) => {
                    let white = u8::MAX.checked_div(u8::MAX >> 8_u8.saturating_sub(depth)).unwrap_or(1);
                    grey.pixels(y, x, every, samples(row, depth).map(|sample| sample.saturating_mul(white)));
                }
            }
        }
        std::mem::swap(&mut self.before, &mut self.row);
        self.row.clear();
    }

    pub(super) fn into_grey(self) -> Grey {
        self.grey
    }
}

/// The shade of each pixel of so many bytes.
fn each<const BYTES: usize>(row: &[u8], shade: impl Fn([u8; BYTES]) -> u8) -> impl Iterator<Item = u8> {
    row.as_chunks::<BYTES>().0.iter().map(move |pixel| shade(*pixel))
}

/// What is seen through a pixel that is not opaque: a page.
fn on_white(shade: u8, alpha: u8) -> u8 {
    match alpha {
        255 => shade,
        0 => 255,
        _ => {
            let [over, _] = u16::from(shade).saturating_mul(u16::from(alpha).saturating_add(1)).to_be_bytes();
            over.saturating_add(u8::MAX.saturating_sub(alpha))
        }
    }
}

/// Adds to a row what its filter took away (PNG §9.2).
fn unfilter(filter: u8, pixel: usize, row: &mut [u8], before: &[u8]) {
    match (filter, pixel) {
        (2, _) => row.iter_mut().zip(before).for_each(|(byte, up)| *byte = byte.wrapping_add(*up)),
        (1 | 3 | 4, 1) => from_left::<1>(filter, row, before),
        (1 | 3 | 4, 2) => from_left::<2>(filter, row, before),
        (1 | 3 | 4, 3) => from_left::<3>(filter, row, before),
        (1 | 3 | 4, 4) => from_left::<4>(filter, row, before),
        (1 | 3 | 4, 6) => from_left::<6>(filter, row, before),
        (1 | 3 | 4, 8) => from_left::<8>(filter, row, before),
        _ => {}
    }
}

/// The filters that look to the left, pixel by pixel.
fn from_left<const PIXEL: usize>(filter: u8, row: &mut [u8], before: &[u8]) {
    let pixels = row.as_chunks_mut::<PIXEL>().0.iter_mut().zip(before.as_chunks::<PIXEL>().0);
    let mut left = [0_u8; PIXEL];
    match filter {
        1 => pixels.for_each(|(pixel, _)| {
            pixel.iter_mut().zip(&left).for_each(|(byte, left)| *byte = byte.wrapping_add(*left));
            left = *pixel;
        }),
        3 => pixels.for_each(|(pixel, up)| {
            for ((byte, left), up) in pixel.iter_mut().zip(&left).zip(up) {
                *byte = byte.wrapping_add(left.midpoint(*up));
            }
            left = *pixel;
        }),
        _ => {
            let mut corner = [0_u8; PIXEL];
            pixels.for_each(|(pixel, up)| {
                for (((byte, left), up), corner) in pixel.iter_mut().zip(&left).zip(up).zip(&corner) {
                    *byte = byte.wrapping_add(paeth(*left, *up, *corner));
                }
                (left, corner) = (*pixel, *up);
            });
        }
    }
}

/// Of the three, the nearest to where the plane through them would be (PNG §9.4).
fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let (along, across) = (b.wrapping_sub(c), a.wrapping_sub(c));
    let (far_left, far_up, far_corner) = (along.abs(), across.abs(), along.wrapping_add(across).abs());
    if far_left <= far_up && far_left <= far_corner {
        left
    } else if far_up <= far_corner {
        up
    } else {
        corner
    }
}
