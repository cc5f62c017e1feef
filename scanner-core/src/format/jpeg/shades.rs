//! The pixels of a sequential picture, in shades of grey: of its channels the first alone (ITU T.81 annex A and F).
//!
//! Pictures that come in passes are not looked at.

use super::{
    coding::{Component, Frame, Scan},
    huffman::{Bits, Codes},
};
use crate::{
    format::{picture::Size, qr::Grey},
    limits::{Budget, Exhausted, Resource},
    reader::Reader,
};

/// Steps of one block of 64 samples: its codes, and its pixels.
const STEPS_PER_BLOCK: u64 = 40;
/// Samples beyond what eight bits can be transformed to are a lie.
const LARGEST: i32 = 1 << 14;
/// Bits behind the point of [`WAVES`].
const POINT: u8 = 10;
/// Half a cosine of `(2 x + 1) u π / 16`, for each frequency `u` and place `x`; the first by the root of two less
/// (ITU T.81 A.3.3).
const WAVES: [[i32; 8]; 8] = [
    [362, 362, 362, 362, 362, 362, 362, 362],
    [502, 426, 284, 100, -100, -284, -426, -502],
    [473, 196, -196, -473, -473, -196, 196, 473],
    [426, -100, -502, -284, 284, 502, 100, -426],
    [362, -362, -362, 362, 362, -362, -362, 362],
    [284, -502, 100, 426, -426, -100, 502, -284],
    [196, -473, 473, -196, -196, 473, -473, 196],
    [100, -284, 426, -502, 502, -426, 284, -100],
];
/// The order of the coefficients: the place of each, row by row (ITU T.81 figure A.6).
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
];

/// What a decoder needs beside the frame: tables as they were when the scan began.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Four for the first coefficient of a block, four for the others.
    codes: [Option<Codes>; 8],
    /// Factors, in the order of the coefficients.
    factors: [Option<[u16; 64]>; 4],
    /// Units between restart markers; zero for none.
    restart: u16,
}

impl Store {
    /// Huffman tables, as far as they can be read.
    pub(super) fn huffman(&mut self, content: &[u8]) {
        let mut reader = Reader::new(content);
        while let Ok(name) = reader.u8() {
            let Some(codes) = Codes::read(&mut reader) else { return };
            if let Some(slot) = self.codes.get_mut(usize::from(name & 3 | (name & 0x10) >> 2)) {
                *slot = Some(codes);
            }
        }
    }

    /// Quantization tables, as far as they can be read.
    pub(super) fn quantization(&mut self, content: &[u8]) {
        let mut reader = Reader::new(content);
        while let Ok(name) = reader.u8() {
            let mut factors = [0; 64];
            for factor in &mut factors {
                let read = if name >> 4 == 0 { reader.u8().map(u16::from) } else { reader.u16_be() };
                let Ok(read) = read else { return };
                *factor = read;
            }
            if let Some(slot) = self.factors.get_mut(usize::from(name & 15)) {
                *slot = Some(factors);
            }
        }
    }

    pub(super) fn restarts(&mut self, content: &[u8]) {
        self.restart = Reader::new(content).u16_be().unwrap_or(0);
    }
}

/// A channel of a scan.
struct Channel<'a> {
    component: Component,
    first: &'a Codes,
    others: &'a Codes,
    /// The first coefficient of the block before.
    before: i32,
    /// Factors of the channel that is looked at.
    factors: Option<&'a [u16; 64]>,
}

/// The first channel of a picture, from the scan that has it. `None` where it cannot be had, or nobody wants it.
pub(super) fn grey(
    store: &Store,
    frame: &Frame,
    scan: &Scan,
    data: &[u8],
    budget: &mut Budget,
) -> Result<Option<Grey>, Exhausted> {
    let Some(mut channels) = channels(store, frame, scan) else { return Ok(None) };
    let Some(&[looked_at, ..]) = frame.components.first_chunk::<1>() else { return Ok(None) };
    let most = |side: fn(&Component) -> u8| frame.components.iter().map(side).max().unwrap_or(1).max(1);
    let (across, down) = (most(|component| component.across), most(|component| component.down));
    let part = |length: u32, of: u8, most: u8| length.saturating_mul(of.into()).div_ceil(most.into());
    let size =
        Size::new(part(frame.size.width, looked_at.across, across), part(frame.size.height, looked_at.down, down));
    let Some(mut grey) = Grey::of(size, budget)? else { return Ok(None) };
    // A channel alone is packed block by block (ITU T.81 A.2.2), several in units that hold some of each.
    let is_alone = channels.len() == 1;
    let (units, rows, blocks) = if is_alone {
        (size.width.div_ceil(8), size.height.div_ceil(8), (1, 1))
    } else {
        let unit = |length: u32, most: u8| length.div_ceil(u32::from(most).saturating_mul(8));
        let blocks = (looked_at.across, looked_at.down);
        (unit(frame.size.width, across), unit(frame.size.height, down), blocks)
    };
    let per_unit = channels.iter().fold(0_u64, |sum, channel| {
        let Component { across, down, .. } = channel.component;
        sum.saturating_add(if is_alone { 1 } else { u64::from(across).saturating_mul(down.into()) })
    });
    let whole = |number: u32| usize::try_from(number).unwrap_or(0);
    let stride = whole(units).saturating_mul(usize::from(blocks.0)).saturating_mul(8);
    let mut band = vec![255_u8; stride.saturating_mul(usize::from(blocks.1)).saturating_mul(8)];
    let mut bits = Bits::of(data);
    let mut until_restart = store.restart;
    for row in 0..whole(rows) {
        budget.spend(Resource::Steps, per_unit.saturating_mul(units.into()).saturating_mul(STEPS_PER_BLOCK))?;
        for unit in 0..whole(units) {
            if store.restart > 0 && until_restart == 0 {
                if bits.restart().is_none() {
                    return Ok(Some(grey));
                }
                until_restart = store.restart;
                channels.iter_mut().for_each(|channel| channel.before = 0);
            }
            until_restart = until_restart.saturating_sub(1);
            for channel in &mut channels {
                let (columns, lines) =
                    if is_alone { (1, 1) } else { (channel.component.across, channel.component.down) };
                for block in 0..usize::from(columns).saturating_mul(usize::from(lines)) {
                    let Some(samples) = channel.block(&mut bits).filter(|_| !bits.is_over()) else {
                        return Ok(Some(grey));
                    };
                    let Some(samples) = samples else { continue };
                    let columns = usize::from(columns);
                    let (column, line) = block.checked_rem(columns).zip(block.checked_div(columns)).unwrap_or((0, 0));
                    let x = unit.saturating_mul(columns).saturating_add(column).saturating_mul(8);
                    let y = line.saturating_mul(8);
                    for (line, pixels) in samples.iter().enumerate() {
                        let start = y.saturating_add(line).saturating_mul(stride).saturating_add(x);
                        if let Some(place) = band.get_mut(start..start.saturating_add(8)) {
                            place.copy_from_slice(pixels);
                        }
                    }
                }
            }
        }
        let first = row.saturating_mul(usize::from(blocks.1)).saturating_mul(8);
        for (line, pixels) in band.chunks(stride.max(1)).enumerate() {
            grey.row(first.saturating_add(line), pixels.iter().copied().take(whole(size.width)));
        }
    }
    Ok(Some(grey))
}

/// The channels of a scan that holds whole blocks, the first of the picture among them.
fn channels<'a>(store: &'a Store, frame: &Frame, scan: &Scan) -> Option<Vec<Channel<'a>>> {
    let is_plain = frame.is_sequential() && frame.size.height > 0;
    let first = frame.components.first()?.name;
    if !is_plain || !scan.channels.iter().any(|(name, _)| *name == first) {
        return None;
    }
    let codes = |at: u8| store.codes.get(usize::from(at))?.as_ref();
    let channel = |(name, chosen): &(u8, u8)| {
        let component = *frame.components.iter().find(|component| component.name == *name)?;
        let factors = store.factors.get(usize::from(component.table)).and_then(Option::as_ref);
        Some(Channel {
            component,
            first: codes(chosen >> 4 & 3)?,
            others: codes(chosen & 3 | 4)?,
            before: 0,
            factors: if *name == first { Some(factors?) } else { None },
        })
    };
    scan.channels.iter().map(channel).collect()
}

impl Channel<'_> {
    /// The next block; `Some(None)` when it is of a channel that is not looked at, `None` when it is none.
    fn block(&mut self, bits: &mut Bits<'_>) -> Option<Option<[[u8; 8]; 8]>> {
        let mut block = [[0_i32; 8]; 8];
        let mut put = |at: usize, value: i32| {
            if let (Some(factors), Some(place)) = (self.factors, ZIGZAG.get(at)) {
                let value = value.saturating_mul(factors.get(at).copied().unwrap_or(1).into()).clamp(-LARGEST, LARGEST);
                let row = block.get_mut(usize::from(place / 8));
                row.and_then(|row| row.get_mut(usize::from(place % 8))).into_iter().for_each(|slot| *slot = value);
            }
        };
        let size = self.first.next(bits)?;
        self.before = self.before.saturating_add(bits.number(size)).clamp(-LARGEST, LARGEST);
        put(0, self.before);
        let mut at = 1_usize;
        while at < 64 {
            // How many zeros come before, and how many bits the coefficient has.
            let pair = self.others.next(bits)?;
            let (zeros, size) = (usize::from(pair >> 4), pair & 15);
            if size == 0 && zeros < 15 {
                break;
            }
            at = at.saturating_add(zeros);
            let value = bits.number(size);
            put(at, value);
            at = at.saturating_add(1);
        }
        Some(self.factors.map(|_| samples(&block)))
    }
}

/// From frequencies to samples: first down the columns, then along the rows.
fn samples(block: &[[i32; 8]; 8]) -> [[u8; 8]; 8] {
    let mut halfway = [[0_i32; 8]; 8];
    for (frequencies, wave) in block.iter().zip(&WAVES) {
        if frequencies.iter().all(|frequency| *frequency == 0) {
            continue;
        }
        for (line, height) in halfway.iter_mut().zip(wave) {
            for (sum, frequency) in line.iter_mut().zip(frequencies) {
                *sum = sum.wrapping_add(frequency.wrapping_mul(*height));
            }
        }
    }
    let mut samples = [[0_u8; 8]; 8];
    for (line, pixels) in halfway.iter().zip(&mut samples) {
        let mut sums = [0_i32; 8];
        for (frequency, wave) in line.iter().zip(&WAVES) {
            let frequency = frequency >> POINT;
            for (sum, height) in sums.iter_mut().zip(wave) {
                *sum = sum.wrapping_add(frequency.wrapping_mul(*height));
            }
        }
        for (pixel, sum) in pixels.iter_mut().zip(sums) {
            *pixel = u8::try_from((sum >> POINT).saturating_add(128).clamp(0, 255)).unwrap_or(0);
        }
    }
    samples
}
