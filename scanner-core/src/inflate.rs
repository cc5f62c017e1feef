//! The one place that decompresses. Output is paid for as it grows and never sized by a declared number.
//!
//! A stream that breaks, or that the budget stops, is not an error: what came out until then is returned with the
//! reason, so that nothing seen is lost.

use std::{cell::Cell, fmt};

use bytes::Bytes;
use flate2::{Crc, Decompress, FlushDecompress, Status};

mod coded;
mod lz4;

pub(crate) use coded::{Coding, Frame, WINDOW_BYTES, zstd_frame};
use lzma_rust2::FilterConfig;

use crate::{
    bundle::{Codec, Source},
    finding::Stop,
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, Short, count},
};

/// deflate cannot produce more than that for one byte of input (RFC 1951: 258 bytes for two bits, and headers).
pub(crate) const MOST_PER_BYTE: u64 = 1032;

/// Bytes between two looks at the budget, in and out. The engine's own window, so that no output waits inside it.
const BLOCK: usize = 32 * 1024;
/// Output below which [`Resource::Ratio`] is not asked: a page of blanks is no bomb.
const RATIO_FROM_BYTES: u64 = 1024 * 1024;
/// Output bytes of one step of ten nanoseconds, at about 400 MB/s.
const OUTPUT_PER_STEP: u64 = 4;
/// Steps of one packed byte that yields something.
const STEPS_PER_INPUT: u64 = 2;
/// More steps of one packed byte that yields nothing: a block that builds two tables and ends takes 2.2 µs for twelve
/// bytes. No honest stream is longer packed than not, but for a few bytes.
const STEPS_PER_VAIN_INPUT: u64 = 18;
/// Steps of one stream beside its bytes: 75 KiB of state to clear.
const STEPS_PER_STREAM: u64 = 250;

/// What came out of packed bytes, and how that ended.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// The output, up to where it ended or broke.
    pub(crate) bytes: Bytes,
    /// How many packed bytes belong to it. What is behind them is not part of the stream.
    pub(crate) used: u64,
    /// Why it ended before its end; offsets count in the packed bytes.
    pub(crate) stop: Option<Stop>,
}

/// Unpacks a handle. Zero copy when nothing is packed.
pub(crate) fn unpack(source: &Source, budget: &mut Budget) -> Unpacked {
    let packed = &source.packed;
    match source.codec {
        Codec::Stored => {
            let stop = budget.reach(Resource::ArtifactBytes, count(packed.len())).err().map(Stop::from);
            let bytes = if stop.is_none() { packed.clone() } else { Bytes::new() };
            Unpacked { bytes, used: count(packed.len()), stop }
        }
        Codec::Zlib => gather(packed, None, budget, |gathered, budget| gathered.stream(&mut Inflate::zlib(), budget)),
        Codec::Deflate => {
            gather(packed, None, budget, |gathered, budget| gathered.stream(&mut Inflate::deflate(), budget))
        }
        Codec::Gzip => gather(packed, None, budget, gzip),
        Codec::Bzip2 => {
            gather(packed, None, budget, |gathered, budget| coded::streams(Coding::Bzip2, b"BZh", gathered, budget))
        }
        Codec::Xz => {
            gather(packed, None, budget, |gathered, budget| coded::streams(Coding::Xz, b"\xfd7zXZ\0", gathered, budget))
        }
        Codec::Lzma => raw(packed, Coding::LzmaAlone, None, budget),
        Codec::ZipLzma { size } => {
            gather(packed, None, budget, |gathered, budget| coded::zip_lzma(size, gathered, budget))
        }
        Codec::Deflate64 => raw(packed, Coding::Deflate64, None, budget),
        Codec::Zstd => gather(packed, None, budget, coded::zstd),
        Codec::Lz4 => gather(packed, None, budget, lz4::frames),
    }
}

/// Unpacks one stream of a coding whose parameters the container knows, through a filter of branch addresses or deltas.
pub(crate) fn raw(packed: &[u8], coding: Coding, filter: Option<&FilterConfig>, budget: &mut Budget) -> Unpacked {
    gather(packed, None, budget, |gathered, budget| coded::stream(coding, filter, gathered, budget))
}

/// Whether bytes are the start of an RFC 1950 stream: two bytes of header that add up, and a first block that unpacks.
/// What it costs is bounded by the bytes given.
pub(crate) fn begins_zlib(head: &[u8]) -> bool {
    // Method 8, a window that exists, and a preset dictionary, which nobody has.
    let [method, flags, ..] = head else { return false };
    let sums = u16::from_be_bytes([*method, *flags]).is_multiple_of(31);
    if method & 0x0f != 8 || *method > 0x78 || flags & 0x20 != 0 || !sums {
        return false;
    }
    let mut out = [0; 4096];
    let mut engine = Decompress::new(true);
    let unpacked = engine.decompress(head, &mut out, FlushDecompress::None);
    unpacked.is_ok() && engine.total_out() > 0
}

/// Unpacks a small zlib stream inside a format (a compressed text, a colour profile): at most `most.1` bytes, which
/// is what is left of `most.0`.
pub(crate) fn zlib(packed: &[u8], most: (Resource, u64), budget: &mut Budget) -> Unpacked {
    gather(packed, Some(most), budget, |gathered, budget| gathered.stream(&mut Inflate::zlib(), budget))
}

/// Unpacks a zlib or deflate stream that is itself the output of another filter: the ratio counts from the `first`
/// bytes, those in the file.
pub(crate) fn chained(codec: Codec, packed: &[u8], first: u64, spare: &Spare, budget: &mut Budget) -> Unpacked {
    let mut engine = spare.take(codec != Codec::Deflate);
    let mut gathered = Gather { packed: Reader::new(packed), out: Output::of(first) };
    let stop = gathered.stream(&mut engine, budget).err();
    spare.keep(engine);
    Unpacked { used: gathered.offset(), bytes: gathered.out.bytes.into(), stop }
}

fn gather(
    packed: &[u8],
    most: Option<(Resource, u64)>,
    budget: &mut Budget,
    work: impl FnOnce(&mut Gather<'_>, &mut Budget) -> Result<(), Stop>,
) -> Unpacked {
    let mut gathered = Gather { packed: Reader::new(packed), out: Output { most, ..Output::of(count(packed.len())) } };
    let stop = work(&mut gathered, budget).err();
    Unpacked { used: gathered.offset(), bytes: gathered.out.bytes.into(), stop }
}

/// Output being collected from one piece of packed bytes.
#[derive(Debug)]
struct Gather<'a> {
    packed: Reader<'a>,
    out: Output,
}

impl Gather<'_> {
    /// One stream, from where the cursor stands to its end.
    fn stream(&mut self, engine: &mut Inflate, budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Steps, STEPS_PER_STREAM)?;
        loop {
            match engine.block(&mut self.packed, budget)? {
                Block::Output(block) => self.out.keep(block, budget)?,
                Block::End => return Ok(()),
                Block::Short => return Err(Stop::malformed("the packed data end too early", self.offset())),
                Block::Corrupt => return Err(Stop::malformed("the packed data are damaged", self.offset())),
            }
        }
    }

    fn offset(&self) -> u64 {
        count(self.packed.position())
    }
}

/// Output that is kept: it grows with what is paid.
#[derive(Debug)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// Bytes it comes from.
    packed: u64,
    /// A limit of the caller's own, and how much is left of it.
    most: Option<(Resource, u64)>,
}

impl Output {
    /// Nothing yet, from that many packed bytes.
    pub(crate) fn of(packed: u64) -> Self {
        Self { bytes: Vec::new(), packed: packed.max(1), most: None }
    }

    /// What was kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Keeps a block once it is paid for; of a block that cannot be paid in full, what can.
    pub(crate) fn keep(&mut self, block: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        let have = count(self.bytes.len());
        let mut fits = have.saturating_add(count(block.len()));
        let mut refused = None;
        // The ratio first: where it stopped a scan, a second one that has just what the first spent must say the same.
        for (resource, most) in self.most.into_iter().chain([
            (Resource::Ratio, self.packed.saturating_mul(budget.limits().get(Resource::Ratio)).max(RATIO_FROM_BYTES)),
            (Resource::UnpackedBytes, have.saturating_add(budget.left(Resource::UnpackedBytes))),
            (Resource::ArtifactBytes, budget.limits().get(Resource::ArtifactBytes)),
        ]) {
            if fits > most {
                (fits, refused) = (most, Some(Exhausted(resource)));
            }
        }
        let kept = usize::try_from(fits.saturating_sub(have)).unwrap_or(usize::MAX);
        budget.spend(Resource::UnpackedBytes, count(kept))?;
        budget.reach(Resource::ArtifactBytes, fits)?;
        if fits > RATIO_FROM_BYTES {
            budget.reach(Resource::Ratio, fits.div_ceil(self.packed))?;
        }
        self.bytes.extend_from_slice(block.get(..kept).unwrap_or(block));
        refused.map_or(Ok(()), |exhausted| Err(exhausted.into()))
    }
}

/// RFC 1952: members one after the other. What follows the last one is left for the caller, who sees `used`.
fn gzip(gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Stop> {
    const MAGIC: &[u8] = &[0x1f, 0x8b];
    loop {
        budget.spend(Resource::Objects, 1)?;
        gzip_header(&mut gathered.packed)?;
        let before = gathered.out.bytes.len();
        gathered.stream(&mut Inflate::deflate(), budget)?;
        let at = gathered.offset();
        let mut crc = Crc::new();
        crc.update(gathered.out.bytes.get(before..).unwrap_or_default());
        if gathered.packed.u32_le()? != crc.sum() {
            return Err(Stop::malformed("the gzip checksum does not match", at));
        }
        if gathered.packed.u32_le()? != crc.amount() {
            return Err(Stop::malformed("the gzip length does not match", at.saturating_add(4)));
        }
        if !gathered.packed.rest().starts_with(MAGIC) {
            return Ok(());
        }
    }
}

/// RFC 1952 §2.3: fixed part, then the optional fields that the flags announce.
fn gzip_header(packed: &mut Reader<'_>) -> Result<(), Stop> {
    const HEADER_CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const RESERVED: u8 = 0xe0;
    let at = count(packed.position());
    let [id1, id2, method, flags, ..] = packed.array::<10>()?;
    if [id1, id2, method] != [0x1f, 0x8b, 8] || flags & RESERVED != 0 {
        return Err(Stop::malformed("this is no gzip header", at));
    }
    if flags & EXTRA != 0 {
        let length = packed.u16_le()?;
        packed.take(length.into())?;
    }
    for field in [NAME, COMMENT] {
        if flags & field != 0 && packed.until(0).is_none() {
            return Err(Short { at: count(packed.position()), wanted: 1 }.into());
        }
    }
    if flags & HEADER_CRC != 0 {
        packed.u16_le()?;
    }
    Ok(())
}

/// A stream unpacked block by block, for those who look at the output and let it go. Pays [`Resource::Steps`] only:
/// nothing is kept.
pub(crate) struct Inflate {
    engine: Decompress,
    block: Vec<u8>,
    over: Option<Over>,
}

/// The engine of the stream before, for the next: the memory of a fresh one costs more than a page of text to unpack.
#[derive(Default)]
pub(crate) struct Spare(Cell<Option<Inflate>>);

impl fmt::Debug for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

impl Spare {
    fn take(&self, is_zlib: bool) -> Inflate {
        match self.0.take() {
            Some(mut used) => {
                used.engine.reset(is_zlib);
                Inflate { over: None, ..used }
            }
            None if is_zlib => Inflate::zlib(),
            None => Inflate::deflate(),
        }
    }

    fn keep(&self, engine: Inflate) {
        self.0.set(Some(engine));
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug)]
enum Over {
    Complete,
    Corrupt,
}

/// The next piece of a stream.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    /// Some output, never empty.
    Output(&'a [u8]),
    /// The stream is complete; the cursor stands behind it.
    End,
    /// The input given so far is used up.
    Short,
    /// The stream cannot be followed; what came out before was true. A wrong checksum of the stream ends here too.
    Corrupt,
}

impl Inflate {
    /// RFC 1950.
    pub(crate) fn zlib() -> Self {
        Self { engine: Decompress::new(true), block: vec![0; BLOCK], over: None }
    }

    /// RFC 1951.
    pub(crate) fn deflate() -> Self {
        Self { engine: Decompress::new(false), block: vec![0; BLOCK], over: None }
    }

    /// Output so far, bytes.
    pub(crate) fn total_out(&self) -> u64 {
        self.engine.total_out()
    }

    /// The next block of output. After `Short` it goes on with another `packed`.
    ///
    /// # Errors
    /// [`Exhausted`] when the steps are used up.
    pub(crate) fn block(&mut self, packed: &mut Reader<'_>, budget: &mut Budget) -> Result<Block<'_>, Exhausted> {
        loop {
            match self.over {
                Some(Over::Complete) => return Ok(Block::End),
                Some(Over::Corrupt) => return Ok(Block::Corrupt),
                None => {}
            }
            let rest = packed.rest();
            let input = rest.get(..BLOCK).unwrap_or(rest);
            let (before_in, before_out) = (self.engine.total_in(), self.engine.total_out());
            let status = self.engine.decompress(input, &mut self.block, FlushDecompress::None);
            let used = self.engine.total_in().saturating_sub(before_in);
            let out = self.engine.total_out().saturating_sub(before_out);
            // At most one block of work is done before it is paid.
            let vain = used.saturating_sub(out).saturating_mul(STEPS_PER_VAIN_INPUT);
            let steps = used.saturating_mul(STEPS_PER_INPUT).saturating_add(out.div_ceil(OUTPUT_PER_STEP));
            budget.spend(Resource::Steps, steps.saturating_add(vain))?;
            self.over = match status {
                Err(_) => Some(Over::Corrupt),
                Ok(Status::StreamEnd) => Some(Over::Complete),
                Ok(_) if used == 0 && out == 0 && !input.is_empty() => Some(Over::Corrupt),
                Ok(_) => None,
            };
            // The engine never counts more than it was given.
            if packed.take(used).is_err() {
                self.over = Some(Over::Corrupt);
            }
            if let Ok(produced @ 1..) = usize::try_from(out) {
                return Ok(Block::Output(self.block.get(..produced).unwrap_or_default()));
            }
            if self.over.is_none() && input.is_empty() {
                return Ok(Block::Short);
            }
        }
    }
}

impl fmt::Debug for Inflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflate").field("total_out", &self.total_out()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
