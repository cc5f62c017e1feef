//! The modules of a code: format, mask, codewords in their order, blocks (ISO/IEC 18004 §7).

use super::{correct, segments};
use crate::limits::{Budget, Exhausted, Resource};

/// The largest version.
pub(super) const VERSIONS: usize = 40;
/// Steps of one module: unmasked, gathered, and put right in its block.
const STEPS_PER_MODULE: usize = 12;
/// Bits of a format that may be wrong (ISO/IEC 18004 §7.9).
const WRONG_BITS: u32 = 3;

/// Codewords of a block that are there to put it right, for each version (ISO/IEC 18004 table 9): levels M, L, H, Q, in
/// the order of their two bits.
const CHECK: [[u8; VERSIONS]; 4] = [
    [
        10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28,
        28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    ],
    [
        7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30,
        30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ],
    [
        17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30, 30, 30, 30, 30, 30,
        30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ],
    [
        13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30, 30, 30, 28, 30, 30,
        30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ],
];
/// Blocks of a code (the same table).
const BLOCKS: [[u8; VERSIONS]; 4] = [
    [
        1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31,
        33, 35, 37, 38, 40, 43, 45, 47, 49,
    ],
    [
        1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18,
        19, 19, 20, 21, 22, 24, 25,
    ],
    [
        1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37, 40, 42, 45, 48,
        51, 54, 57, 60, 63, 66, 70, 74, 77, 81,
    ],
    [
        1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34, 34, 35, 38, 40,
        43, 45, 48, 51, 53, 56, 59, 62, 65, 68,
    ],
];

/// Modules in a square; those that are set stand for one.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    size: usize,
    modules: Vec<bool>,
}

/// What a square of modules turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// No code.
    Nothing,
    /// A code of which too many modules are wrong.
    Damaged,
    /// What the code says.
    Text(Vec<u8>),
}

impl Symbol {
    pub(super) fn of(size: usize, module: impl Fn(usize, usize) -> bool) -> Self {
        let module = &module;
        let modules = (0..size).flat_map(|y| (0..size).map(move |x| module(x, y))).collect();
        Self { size, modules }
    }

    /// The same code in a mirror.
    fn mirrored(&self) -> Self {
        Self::of(self.size, |x, y| self.is_set(y, x))
    }

    fn is_set(&self, x: usize, y: usize) -> bool {
        self.modules.get(y.saturating_mul(self.size).saturating_add(x)).copied().unwrap_or(false)
    }

    fn version(&self) -> usize {
        self.size.saturating_sub(17).checked_div(4).unwrap_or(0)
    }
}

/// Reads a code, as it is or mirrored.
pub(super) fn read(symbol: &Symbol, budget: &mut Budget) -> Result<Outcome, Exhausted> {
    let (mut is_code, area) = (false, symbol.size.saturating_mul(symbol.size));
    for symbol in [symbol, &symbol.mirrored()] {
        let Some((format, distance)) = format(symbol) else { continue };
        budget.spend(Resource::Steps, crate::reader::count(area.saturating_mul(STEPS_PER_MODULE)))?;
        if let Some(data) = data(symbol, format) {
            return Ok(segments::text(&data, symbol.version()).map_or(Outcome::Nothing, Outcome::Text));
        }
        // One format in thirty is this near to bits that mean nothing.
        is_code |= distance == 0;
    }
    Ok(if is_code { Outcome::Damaged } else { Outcome::Nothing })
}

/// Level and mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Format {
    level: usize,
    mask: usize,
}

/// The format, which stands in the code twice, and how many of its bits are wrong (ISO/IEC 18004 §7.9).
fn format(symbol: &Symbol) -> Option<(Format, u32)> {
    let last = symbol.size.checked_sub(1)?;
    let word = |place: &dyn Fn(usize) -> (usize, usize)| {
        (0..15).fold(0_u16, |word, bit| {
            let (x, y) = place(bit);
            word | u16::from(symbol.is_set(x, y)) << bit
        })
    };
    let beside = word(&|bit| match bit {
        0..=5 => (8, bit),
        6 | 7 => (8, bit.saturating_add(1)),
        8 => (7, 8),
        _ => (14_usize.saturating_sub(bit), 8),
    });
    let apart = word(&|bit| match bit {
        0..=7 => (last.saturating_sub(bit), 8),
        _ => (8, last.saturating_sub(14).saturating_add(bit)),
    });
    let nearest = (0..32_u16).map(|data| {
        // Ten bits check five.
        let check = (0..5)
            .rev()
            .fold(data << 10, |rest, bit| if rest >> bit & 0x400 == 0 { rest } else { rest ^ 0x537 << bit });
        let should = (data << 10 | check) ^ 0x5412;
        ((should ^ beside).count_ones().min((should ^ apart).count_ones()), data)
    });
    let (distance, data) = nearest.min()?;
    let format = Format { level: usize::from(data >> 3), mask: usize::from(data & 7) };
    (distance <= WRONG_BITS).then_some((format, distance))
}

/// The codewords that carry data, in their order; `None` when they cannot be put right.
fn data(symbol: &Symbol, format: Format) -> Option<Vec<u8>> {
    let version = symbol.version();
    let of = |table: &[[u8; VERSIONS]; 4]| Some(usize::from(*table.get(format.level)?.get(version.checked_sub(1)?)?));
    let (check, blocks) = (of(&CHECK)?, of(&BLOCKS)?);
    let words = codewords(symbol, format.mask);
    let shortest = words.len().checked_div(blocks)?.checked_sub(check)?;
    let longer = words.len().checked_rem(blocks)?;
    let shorter = blocks.checked_sub(longer)?;
    // One word of each block in turn; the last of the longer ones among themselves; then what checks them.
    let mut sorted: Vec<Vec<u8>> = vec![Vec::new(); blocks];
    let mut words = words.into_iter();
    for row in 0..shortest.checked_add(1)?.checked_add(check)? {
        let first = if row == shortest { shorter } else { 0 };
        for (block, word) in sorted.iter_mut().skip(first).zip(&mut words) {
            block.push(word);
        }
    }
    let mut data = Vec::new();
    for mut block in sorted {
        correct::block(&mut block, check)?;
        data.extend_from_slice(block.get(..block.len().checked_sub(check)?)?);
    }
    Some(data)
}

/// The codewords as they lie: two columns at a time, up and down, from the right (ISO/IEC 18004 §7.7.3).
fn codewords(symbol: &Symbol, mask: usize) -> Vec<u8> {
    let size = symbol.size;
    let aligned = alignment(symbol.version());
    let mut words = Vec::new();
    let (mut word, mut bits) = (0_u8, 0_u8);
    // The column of the timing pattern is passed over.
    let columns = (0..size).rev().filter(|x| *x != 6).step_by(2);
    for (pair, right) in columns.enumerate() {
        let left = if right == 7 { 5 } else { right.saturating_sub(1) };
        for row in 0..size {
            let y = if pair.is_multiple_of(2) { size.saturating_sub(1).saturating_sub(row) } else { row };
            for x in [right, left] {
                if is_pattern(x, y, size, &aligned) {
                    continue;
                }
                word = word << 1 | u8::from(symbol.is_set(x, y) != is_masked(mask, x, y));
                bits = bits.saturating_add(1);
                if bits == 8 {
                    words.push(word);
                    (word, bits) = (0, 0);
                }
            }
        }
    }
    words
}

/// Whether a module belongs to a pattern, to the format or to the version.
fn is_pattern(x: usize, y: usize, size: usize, aligned: &[usize]) -> bool {
    let far = size.saturating_sub(8);
    let is_corner = (x < 9 || x >= far) && y < 9 || x < 9 && y >= far;
    let is_version = size >= 45
        && (y < 6 && x >= far.saturating_sub(3) && x < far || x < 6 && y >= far.saturating_sub(3) && y < far);
    let near = |at: usize| aligned.iter().position(|middle| middle.abs_diff(at) <= 2);
    let last = aligned.len().saturating_sub(1);
    let is_aligned = near(x).zip(near(y)).is_some_and(|(column, row)| {
        !matches!((column, row), (0, 0)) && (column, row) != (0, last) && (column, row) != (last, 0)
    });
    x == 6 || y == 6 || is_corner || is_version || is_aligned
}

/// Middles of the alignment patterns, in both directions (ISO/IEC 18004 annex E): the last has the same distance to the
/// border as the first, those between are evenly spread.
fn alignment(version: usize) -> Vec<usize> {
    if version < 2 {
        return Vec::new();
    }
    let last = version.saturating_mul(4).saturating_add(10);
    let gaps = (version / 7).saturating_add(1);
    // Distances are even, rounded up; but for one, which the annex has smaller.
    let apart = match version {
        32 => 26,
        _ => last.saturating_sub(6).div_ceil(gaps.saturating_mul(2)).saturating_mul(2),
    };
    let others = (0..gaps).rev().map(|gap| last.saturating_sub(gap.saturating_mul(apart)));
    std::iter::once(6).chain(others).collect()
}

/// Whether the mask turns a module over (ISO/IEC 18004 table 10).
fn is_masked(mask: usize, x: usize, y: usize) -> bool {
    let (sum, product) = (x.saturating_add(y), x.saturating_mul(y));
    let value = match mask {
        0 => sum % 2,
        1 => y % 2,
        2 => x % 3,
        3 => sum % 3,
        4 => (y / 2).saturating_add(x / 3) % 2,
        5 => (product % 2).saturating_add(product % 3),
        6 => (product % 2).saturating_add(product % 3) % 2,
        _ => (sum % 2).saturating_add(product % 3) % 2,
    };
    value == 0
}
