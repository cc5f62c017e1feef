//! Frames, scans and tables: what a decoder needs to know before it meets the first pixel.

use std::ops::Range;

use crate::{format::picture::Size, reader::Reader};

/// The tables that scans name (ITU T.81 B.2.4).
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Bits of the shortest code of each Huffman table: four for the first coefficient of a block, four for the others.
    shortest: [Option<u8>; 8],
    has_any: bool,
}

impl Tables {
    /// Huffman tables: sixteen counts and as many values as they add up to.
    pub(super) fn huffman(&mut self, content: &[u8]) -> Result<(), &'static str> {
        let mut reader = Reader::new(content);
        while let Ok(name) = reader.u8() {
            let counts: [u8; 16] = reader.array().map_err(|_| "a Huffman table is cut")?;
            let values: u64 = counts.iter().map(|count| u64::from(*count)).sum();
            if name & 0xef > 3 {
                return Err("there is no such Huffman table");
            }
            // Codes of one more bit are twice as many: what is not used up goes on.
            let mut room = 1_u32;
            let mut shortest = None;
            for (bits, count) in (1_u8..).zip(counts) {
                room = room.saturating_mul(2);
                room = room.checked_sub(count.into()).ok_or("a Huffman table has more codes than fit")?;
                if count > 0 {
                    shortest = shortest.or(Some(bits));
                }
            }
            reader.take(values).map_err(|_| "a Huffman table has fewer values than codes")?;
            let slot = usize::from(name & 3 | (name & 0x10) >> 2);
            if let Some(slot) = self.shortest.get_mut(slot) {
                *slot = shortest;
            }
            self.has_any = true;
        }
        Ok(())
    }

    /// The distance between restart markers.
    pub(super) fn restarts(&self, content: &[u8]) -> Result<(), &'static str> {
        if content.len() == 2 { Ok(()) } else { Err("a restart interval is a number of two bytes") }
    }

    fn first(&self, table: u8) -> Option<u8> {
        self.shortest.get(usize::from(table & 3)).copied().flatten()
    }

    fn others(&self, table: u8) -> Option<u8> {
        self.shortest.get(usize::from(table & 3 | 4)).copied().flatten()
    }
}

/// Quantization tables: sixty-four numbers of one or two bytes each.
pub(super) fn quantization(content: &[u8]) -> Result<(), &'static str> {
    let mut reader = Reader::new(content);
    while let Ok(name) = reader.u8() {
        let bytes = match name >> 4 {
            0 => 64,
            1 => 128,
            _ => return Err("there is no such precision of a quantization table"),
        };
        if name & 15 > 3 {
            return Err("there is no such quantization table");
        }
        reader.take(bytes).map_err(|_| "a quantization table is cut")?;
    }
    Ok(())
}

/// How the pixels are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    /// Huffman codes, block by block.
    Sequential,
    /// Huffman codes, in scans that add to each other.
    Progressive,
    /// Arithmetic, lossless, hierarchical: the bytes have no bound that is easy to tell.
    Other,
}

/// A colour channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    pub(super) name: u8,
    pub(super) across: u8,
    pub(super) down: u8,
    /// Its quantization table.
    pub(super) table: u8,
}

/// The frame header (ITU T.81 B.2.2).
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) size: Size,
    /// Where it stands.
    pub(super) at: Range<usize>,
    coding: Coding,
    /// Samples have eight bits.
    is_plain: bool,
    pub(super) components: Vec<Component>,
}

impl Frame {
    /// The frame, or what is wrong with it.
    pub(super) fn read(marker: u8, at: Range<usize>, content: &[u8]) -> Result<Self, &'static str> {
        let Some((&[precision, h0, h1, w0, w1, channels], list)) = content.split_first_chunk::<6>() else {
            return Err("the frame header is cut");
        };
        let size = Size::new(u16::from_be_bytes([w0, w1]).into(), u16::from_be_bytes([h0, h1]).into());
        let (triples, odd) = list.as_chunks::<3>();
        if channels == 0 || triples.len() != usize::from(channels) || !odd.is_empty() {
            return Err("the number of channels is not that of their descriptions");
        }
        if size.width == 0 {
            return Err("the picture has no width");
        }
        let coding = match marker {
            0xc0 | 0xc1 => Coding::Sequential,
            0xc2 => Coding::Progressive,
            _ => Coding::Other,
        };
        let is_lossless = matches!(marker, 0xc3 | 0xc7 | 0xcb | 0xcf);
        if !is_lossless && !matches!(precision, 8 | 12) || !(2..=16).contains(&precision) {
            return Err("no picture has samples of so many bits");
        }
        let mut components = Vec::with_capacity(triples.len());
        for [name, sampling, table] in triples.iter().copied() {
            let component = Component { name, across: sampling >> 4, down: sampling & 15, table };
            if !(1..=4).contains(&component.across) || !(1..=4).contains(&component.down) || table > 3 {
                return Err("a channel has a sampling or a table that does not exist");
            }
            components.push(component);
        }
        Ok(Self { size, at, coding, is_plain: precision == 8, components })
    }

    /// Whether each scan holds whole blocks, of samples of eight bits.
    pub(super) fn is_sequential(&self) -> bool {
        self.coding == Coding::Sequential && self.is_plain
    }

    /// Whether a scan header fits the frame and the tables so far.
    pub(super) fn scan(&self, content: &[u8], tables: &Tables) -> Result<(), &'static str> {
        let scan = Scan::read(content).ok_or("the scan header is cut, or longer than its channels need")?;
        if !(1..=4).contains(&scan.channels.len()) {
            return Err("a scan has one to four channels");
        }
        for (at, (name, chosen)) in scan.channels.iter().enumerate() {
            if !self.components.iter().any(|component| component.name == *name) {
                return Err("it names a channel that the picture does not have");
            }
            if scan.channels.iter().take(at).any(|(other, _)| other == name) {
                return Err("it names a channel twice");
            }
            // Frames cut out of films have no tables at all: everybody knows those.
            if !tables.has_any {
                continue;
            }
            let needs_first = scan.from == 0 && scan.high == 0;
            let needs_others = self.coding == Coding::Sequential || scan.from > 0;
            if self.coding != Coding::Other
                && (needs_first && tables.first(chosen >> 4).is_none()
                    || needs_others && tables.others(*chosen).is_none())
            {
                return Err("it needs a Huffman table that was not given");
            }
        }
        match self.coding {
            Coding::Progressive
                if scan.from > scan.to
                    || scan.to > 63
                    || scan.from == 0 && scan.to != 0
                    || scan.from > 0 && scan.channels.len() > 1
                    || scan.low > 13
                    || scan.high > 0 && scan.high != scan.low.saturating_add(1) =>
            {
                Err("its part of the coefficients does not exist")
            }
            _ => Ok(()),
        }
    }

    /// How many pixels a scan of so many bytes can yield at most, if it must hold the whole picture.
    pub(super) fn most_pixels(&self, content: &[u8], tables: &Tables, bytes: u64) -> Option<u64> {
        let scan = Scan::read(content)?;
        let widest = u64::from(self.components.iter().map(|component| component.across).max()?);
        let highest = u64::from(self.components.iter().map(|component| component.down).max()?);
        // The shortest codes that a unit of the scan can be made of, and the pixels under it.
        let mut bits = 0_u64;
        let mut pixels = widest.checked_mul(highest)?.checked_mul(64)?;
        for (name, chosen) in &scan.channels {
            let component = self.components.iter().find(|component| component.name == *name)?;
            let first = u64::from(tables.first(chosen >> 4)?);
            let block = match self.coding {
                Coding::Sequential => first.checked_add(tables.others(*chosen)?.into())?,
                Coding::Progressive if scan.from == 0 && scan.high == 0 => first,
                _ => return None,
            };
            let blocks = u64::from(component.across).checked_mul(component.down.into())?;
            if let [_] = scan.channels.as_slice() {
                // Alone, a channel is packed block by block.
                pixels = pixels.checked_div(blocks)?;
                bits = block;
            } else {
                bits = bits.checked_add(blocks.checked_mul(block)?)?;
            }
        }
        // Units at the borders stand for fewer pixels, never for more.
        let most = bytes.saturating_mul(8).checked_div(bits)?.saturating_mul(pixels);
        (most < self.size.area()).then_some(most)
    }
}

/// A scan header.
pub(super) struct Scan {
    /// Of each channel, its name and the tables it chooses.
    pub(super) channels: Vec<(u8, u8)>,
    /// The first and the last coefficient, and the bits of precision.
    from: u8,
    to: u8,
    high: u8,
    low: u8,
}

impl Scan {
    pub(super) fn read(content: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(content);
        let number = reader.u8().ok()?;
        let (pairs, _) = reader.take(u64::from(number).saturating_mul(2)).ok()?.as_chunks::<2>();
        let channels = pairs.iter().map(|[name, chosen]| (*name, *chosen)).collect();
        let [from, to, precision] = reader.array().ok()?;
        reader.is_at_end().then_some(Self { channels, from, to, high: precision >> 4, low: precision & 15 })
    }
}
