//! A picture in shades of grey, and which of its pixels are dark.

use crate::{
    finding::Span,
    format::{
        letters::{self, Plane},
        picture::Size,
    },
    limits::{Budget, Exhausted, Resource},
};

/// Pixels that are looked through. Of a larger picture every second row and column is, or fewer: a code that a camera
/// reads off a screen survives that.
const MOST_PIXELS: u64 = 4 * 1024 * 1024;
/// Modules of a side of the smallest code.
const SMALLEST: u32 = 21;
/// Pixels made dark or light, and looked through row by row, in one step.
const PIXELS_PER_STEP: u64 = 2;
/// Side of a block that has one threshold.
const BLOCK: usize = 8;
/// Blocks around a block, to each side, whose shades count for its threshold.
const AROUND: usize = 2;
/// Differences of shade that no camera tells from noise.
const FLAT: u8 = 16;

/// A picture in shades of grey, row by row.
#[derive(Debug)]
pub(in crate::format) struct Grey {
    /// Every so many rows and columns one is kept.
    step: usize,
    width: usize,
    height: usize,
    shades: Vec<u8>,
    /// Every so many rows and columns codes are looked for; zero where nobody looks for any.
    codes_step: usize,
    /// Whether its letters are to be read.
    is_for_letters: bool,
}

/// Whether anybody looks at pixels in this scan.
pub(in crate::format) fn is_wanted(budget: &Budget) -> bool {
    [Resource::CodePixels, Resource::LetterPixels].iter().any(|resource| budget.limits().get(*resource) > 0)
}

impl Grey {
    /// A white picture, paid for: its memory, and that it is looked through. `None` where nobody wants that. Where a
    /// picture has no room for a code, or for a letter, nothing is kept of it.
    pub(in crate::format) fn of(size: Size, budget: &mut Budget) -> Result<Option<Self>, Exhausted> {
        let shorter = size.width.min(size.height);
        let limits = *budget.limits();
        let is_for_codes = limits.get(Resource::CodePixels) > 0 && shorter >= SMALLEST;
        let wants_letters = limits.get(Resource::LetterPixels) > 0;
        let is_for_letters = wants_letters && letters::have_room(size);
        if !is_for_codes && !wants_letters {
            return Ok(None);
        }
        let sides = |step: u32| (size.width.div_ceil(step), size.height.div_ceil(step));
        let area = |(width, height): (u32, u32)| u64::from(width).saturating_mul(height.into());
        let mut step = 1_u32;
        while area(sides(step)) > MOST_PIXELS {
            step = step.saturating_add(1);
        }
        if is_for_codes {
            budget.spend(Resource::CodePixels, area(sides(step)))?;
            budget.spend(Resource::Steps, area(sides(step)).div_ceil(PIXELS_PER_STEP))?;
        }
        if is_for_letters {
            // Letters are small: all of the picture is kept.
            budget.spend(Resource::LetterPixels, size.area())?;
            budget.spend(Resource::Steps, size.area().div_ceil(PIXELS_PER_STEP))?;
        }
        let whole = |number| usize::try_from(number).unwrap_or(0);
        let codes_step = if is_for_codes { whole(step).max(1) } else { 0 };
        let (width, height, step) = match (is_for_letters, is_for_codes) {
            (true, _) => (size.width, size.height, 1),
            (false, true) => (sides(step).0, sides(step).1, codes_step),
            (false, false) => (0, 0, 1),
        };
        let (width, height) = (whole(width), whole(height));
        let shades = vec![255; width.saturating_mul(height)];
        Ok(Some(Self { step, width, height, shades, codes_step, is_for_letters }))
    }

    /// The picture as a person sees it, where its letters are to be read.
    pub(super) fn plane(&self, at: Span) -> Option<Plane> {
        let side = |length: usize| u32::try_from(length).unwrap_or(0);
        let shades = self.is_for_letters.then(|| self.shades.clone().into())?;
        Some(Plane { width: side(self.width), height: side(self.height), shades, at })
    }

    /// What codes are looked for in, where they are.
    pub(super) fn for_codes(self) -> Option<Self> {
        if self.codes_step == self.step {
            return Some(self);
        }
        let step = self.codes_step;
        let rows = self.shades.chunks(self.width.max(1)).step_by(step.max(1));
        (step > 0).then(|| Self {
            step,
            width: self.width.div_ceil(step),
            height: self.height.div_ceil(step),
            shades: rows.flat_map(|row| row.iter().step_by(step)).copied().collect(),
            ..self
        })
    }

    /// Rows that came from the bottom, the right way up.
    pub(in crate::format) fn turn_over(&mut self) {
        let rows: Vec<&[u8]> = self.shades.chunks(self.width.max(1)).rev().collect();
        self.shades = rows.concat();
    }

    /// Takes a row of the picture, from its left.
    pub(in crate::format) fn row(&mut self, y: usize, shades: impl Iterator<Item = u8>) {
        self.pixels(y, 0, 1, shades);
    }

    /// Takes pixels of a row: from column `x` on, one each `every` columns.
    pub(in crate::format) fn pixels(&mut self, y: usize, x: usize, every: usize, shades: impl Iterator<Item = u8>) {
        if !self.keeps(y) {
            return;
        }
        let start = y.checked_div(self.step).unwrap_or(0).saturating_mul(self.width);
        let row = self.shades.get_mut(start..start.saturating_add(self.width)).unwrap_or_default();
        if (self.step, x, every) == (1, 0, 1) {
            row.iter_mut().zip(shades).for_each(|(kept, shade)| *kept = shade);
            return;
        }
        let mut column = x;
        for shade in shades {
            if column.is_multiple_of(self.step)
                && let Some(kept) = column.checked_div(self.step).and_then(|at| row.get_mut(at))
            {
                *kept = shade;
            }
            column = column.saturating_add(every);
        }
    }

    /// Whether a row is one of those kept.
    pub(in crate::format) fn keeps(&self, y: usize) -> bool {
        y.is_multiple_of(self.step)
    }

    /// Which pixels are dark, each beside those around it: a picture may be lit from one side.
    pub(super) fn darkness(mut self) -> Dark {
        let across = self.width.div_ceil(BLOCK).max(1);
        let extremes = self.extremes(across);
        let whole = extremes.iter().fold((255, 0), wider);
        let thresholds = thresholds(extremes, across, whole);
        if self.width > 0 {
            let bands = self.shades.chunks_mut(self.width.saturating_mul(BLOCK)).zip(thresholds.chunks(across));
            for (band, thresholds) in bands {
                for row in band.chunks_mut(self.width) {
                    for (pixels, threshold) in row.chunks_mut(BLOCK).zip(thresholds) {
                        pixels.iter_mut().for_each(|pixel| *pixel = u8::from(*pixel < *threshold));
                    }
                }
            }
        }
        Dark { width: self.width, height: self.height, cells: self.shades }
    }

    /// The darkest and the lightest shade of each block.
    fn extremes(&self, across: usize) -> Vec<(u8, u8)> {
        let mut extremes = Vec::with_capacity(across.saturating_mul(self.height.div_ceil(BLOCK)));
        for band in self.shades.chunks(self.width.max(1).saturating_mul(BLOCK)) {
            let start = extremes.len();
            extremes.resize(start.saturating_add(across), (255, 0));
            for row in band.chunks(self.width.max(1)) {
                let blocks = extremes.get_mut(start..).unwrap_or_default();
                let (whole, rest) = row.as_chunks::<BLOCK>();
                for (block, pixels) in blocks.iter_mut().zip(whole) {
                    let (darkest, lightest) =
                        pixels.iter().fold(*block, |(low, high), pixel| (low.min(*pixel), high.max(*pixel)));
                    *block = (darkest, lightest);
                }
                if let Some(block) = blocks.get_mut(whole.len()) {
                    *block = rest.iter().fold(*block, |(low, high), pixel| (low.min(*pixel), high.max(*pixel)));
                }
            }
        }
        extremes
    }
}

fn wider(one: (u8, u8), other: &(u8, u8)) -> (u8, u8) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Half way between the darkest and the lightest shade around each block; of the whole picture where all are alike: a
/// module of a large code is larger than what is around a block.
fn thresholds(extremes: Vec<(u8, u8)>, across: usize, whole: (u8, u8)) -> Vec<u8> {
    let half = |(low, high): (u8, u8)| (high.saturating_sub(low) >= FLAT).then(|| low.midpoint(high).saturating_add(1));
    let overall = half(whole).unwrap_or(0);
    let window = |at: usize| at.saturating_sub(AROUND)..at.saturating_add(AROUND).saturating_add(1);
    // First along the rows of blocks, then across them.
    let along: Vec<(u8, u8)> = extremes
        .chunks(across)
        .flat_map(|row| {
            (0..row.len()).map(move |at| {
                let range = window(at).start..window(at).end.min(row.len());
                row.get(range).unwrap_or_default().iter().fold((255, 0), wider)
            })
        })
        .collect();
    let rows: Vec<&[(u8, u8)]> = along.chunks(across).collect();
    let mut thresholds = Vec::with_capacity(along.len());
    for y in 0..rows.len() {
        let near = rows.get(window(y).start..window(y).end.min(rows.len())).unwrap_or_default();
        for x in 0..across {
            let around = near.iter().filter_map(|row| row.get(x)).fold((255, 0), wider);
            thresholds.push(half(around).unwrap_or(overall));
        }
    }
    thresholds
}

/// Which pixels are dark: one byte each, one or zero.
#[derive(Debug)]
pub(super) struct Dark {
    pub(super) width: usize,
    pub(super) height: usize,
    cells: Vec<u8>,
}

impl Dark {
    /// The pixels of a row.
    pub(super) fn row(&self, y: usize) -> &[u8] {
        let start = y.saturating_mul(self.width);
        self.cells.get(start..start.saturating_add(self.width)).unwrap_or_default()
    }

    /// One pixel; `None` outside the picture.
    pub(super) fn at(&self, x: usize, y: usize) -> Option<bool> {
        if x >= self.width {
            return None;
        }
        self.cells.get(y.saturating_mul(self.width).saturating_add(x)).map(|cell| *cell == 1)
    }
}
