//! The picture's size, and whether its packed data yield exactly that: rows counted as they come, never kept.

use std::ops::Range;

use crate::{
    finding::Stop,
    inflate::{self, Block, Inflate, Output},
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, count},
};

/// The header chunk (PNG §11.2.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) depth: u8,
    pub(super) color: u8,
    pub(super) is_interlaced: bool,
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

    /// Pixels.
    pub(super) fn area(&self) -> u64 {
        u64::from(self.width).saturating_mul(self.height.into())
    }

    /// The longer side.
    pub(super) fn side(&self) -> u64 {
        self.width.max(self.height).into()
    }

    /// Bits of one pixel (PNG §6.1).
    fn bits(&self) -> u64 {
        let channels = match self.color {
            2 => 3,
            4 => 2,
            6 => 4,
            _ => 1,
        };
        u64::from(self.depth).saturating_mul(channels)
    }

    /// Bytes of one row without its filter byte, and the number of rows, for each pass (PNG §8.2: Adam7).
    fn passes(&self) -> impl Iterator<Item = (u64, u64)> {
        /// First column, first row, and the distances to the next, of each pass.
        const ADAM7: [(u32, u32, u32, u32); 7] =
            [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)];
        const WHOLE: [(u32, u32, u32, u32); 1] = [(0, 0, 1, 1)];
        let passes: &[_] = if self.is_interlaced { &ADAM7 } else { &WHOLE };
        let (width, height, bits) = (self.width, self.height, self.bits());
        passes.iter().filter_map(move |(x, y, dx, dy)| {
            let columns = u64::from(width.saturating_sub(*x).div_ceil(*dx));
            let rows = u64::from(height.saturating_sub(*y).div_ceil(*dy));
            (columns > 0 && rows > 0).then(|| (columns.saturating_mul(bits).div_ceil(8), rows))
        })
    }

    /// Bytes of all rows with their filter bytes: what the packed data must yield.
    pub(super) fn unpacked_bytes(&self) -> u64 {
        self.passes().fold(0, |sum, (row, rows)| sum.saturating_add(row.saturating_add(1).saturating_mul(rows)))
    }
}

/// What the packed data of a picture turned out to be.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The first row whose filter byte is none of the five, counted from zero.
    pub(super) bad_filter: Option<u64>,
    /// How the stream compares with the picture.
    pub(super) end: End,
    /// Where in the file the stream ended or broke.
    pub(super) at: usize,
    /// What came out behind the last row.
    pub(super) excess: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum End {
    /// Exactly the rows, and the checksum is right.
    Complete,
    /// All the rows, but then no proper end.
    Checksum,
    /// The data ended before the last row; with the bytes that came.
    Short(u64),
    /// The stream breaks off.
    Corrupt,
    /// Something is left over when the rows are complete; a stop, if keeping it was stopped.
    Excess(Option<Stop>),
}

/// Unpacks the pieces of a stream and counts rows. Needs no memory but a window; pays steps, and for excess only
/// unpacked bytes.
pub(super) fn check(
    header: &Header,
    bytes: &[u8],
    pieces: &[Range<usize>],
    budget: &mut Budget,
) -> Result<Outcome, Exhausted> {
    let packed = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(count(piece.len())));
    let needed = header.unpacked_bytes();
    let mut rows = Rows { passes: header.passes(), left: 0, rows: 0, row: 0, seen: 0, bad_filter: None };
    let mut engine = Inflate::zlib();
    let mut excess = Output::of(packed);
    let mut at = pieces.first().map_or(0, |piece| piece.start);
    let mut end = End::Short(0);
    'pieces: for piece in pieces {
        let mut reader = Reader::new(bytes.get(piece.clone()).unwrap_or_default());
        loop {
            let block = engine.block(&mut reader, budget)?;
            at = piece.start.saturating_add(reader.position());
            match block {
                Block::Output(block) => {
                    let beyond = rows.take(block);
                    if !beyond.is_empty()
                        && let Err(stop) = excess.keep(beyond, budget)
                    {
                        end = End::Excess(Some(stop));
                        break 'pieces;
                    }
                }
                Block::Short => break,
                Block::End => {
                    end = if rows.seen < needed { End::Short(rows.seen) } else { End::Complete };
                    break 'pieces;
                }
                Block::Corrupt => {
                    end = if rows.seen < needed { End::Corrupt } else { End::Checksum };
                    break 'pieces;
                }
            }
        }
        // A stream that stops right behind the last row lacks its end and its checksum.
        end = if rows.seen < needed { End::Short(rows.seen) } else { End::Checksum };
    }
    let excess = excess.into_bytes();
    if !excess.is_empty() && !matches!(end, End::Excess(_)) {
        end = End::Excess(None);
    }
    Ok(Outcome { bad_filter: rows.bad_filter, end, at, excess })
}

/// Rows going by.
struct Rows<P> {
    passes: P,
    /// Bytes left of the current row.
    left: u64,
    /// Rows left in the pass.
    rows: u64,
    /// Bytes of a row of the pass.
    row: u64,
    seen: u64,
    bad_filter: Option<u64>,
}

impl<P: Iterator<Item = (u64, u64)>> Rows<P> {
    /// Counts a block; returns what is behind the last row.
    fn take<'a>(&mut self, block: &'a [u8]) -> &'a [u8] {
        let mut reader = Reader::new(block);
        loop {
            if self.left == 0 {
                if self.rows == 0 {
                    match self.passes.next() {
                        Some((row, rows)) => (self.row, self.rows) = (row, rows),
                        None => return reader.rest(),
                    }
                }
                let Ok(filter) = reader.u8() else { return &[] };
                if filter > 4 && self.bad_filter.is_none() {
                    self.bad_filter = Some(self.seen);
                }
                self.rows = self.rows.saturating_sub(1);
                self.left = self.row;
                self.seen = self.seen.saturating_add(1);
            }
            let taken = self.left.min(count(reader.left()));
            if taken == 0 || reader.take(taken).is_err() {
                return &[];
            }
            self.left = self.left.saturating_sub(taken);
            self.seen = self.seen.saturating_add(taken);
        }
    }
}

/// Whether the packed bytes could yield the picture at all.
pub(super) fn can_yield(header: &Header, packed: u64) -> bool {
    packed.saturating_mul(inflate::MOST_PER_BYTE) >= header.unpacked_bytes()
}

/// Whether the size is beyond what this program takes by default, whatever this scan allows: the mark of a lie that
/// wants memory.
pub(super) fn is_gigantic(header: &Header) -> bool {
    header.area() > Resource::Pixels.default_limit() || header.side() > Resource::Side.default_limit()
}
