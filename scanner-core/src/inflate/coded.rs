//! Streams that are not deflate: bzip2, xz and LZMA, Zstandard, deflate64. Each engine is fed in small pieces, so that
//! at most one piece of work is done before it is paid.

use std::fmt;

use deflate64::InflaterManaged;
use lzma_rust2::{Action, FilterConfig, Lzma2Stream, LzmaStream, Status, XzStream};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{BLOCK, Gather, STEPS_PER_STREAM};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// The largest dictionary of xz and LZMA, in KiB: that of `xz -9`, and the state beside it. It is memory that a stream
/// asks for, and that no output backs.
const DICTIONARY_KIB: u32 = 68 * 1024;
/// The largest window of Zstandard, in bytes.
pub(crate) const WINDOW_BYTES: u64 = 64 * 1024 * 1024;
/// An engine reserves up to four mebibytes before its first byte.
const STEPS_PER_ENGINE: u64 = 1_000;

/// How bytes are packed, with what the container says beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Bzip2,
    Xz,
    /// With a header of 13 bytes.
    LzmaAlone,
    /// Without; `u64::MAX` when a mark ends it.
    Lzma {
        props: u8,
        dictionary: u32,
        size: u64,
    },
    Lzma2 {
        dictionary: u32,
    },
    Deflate64,
}

impl Coding {
    /// What one packed byte costs, and how many bytes of output cost one step of ten nanoseconds.
    const fn cost(self) -> (u64, u64) {
        match self {
            // Sorting back takes 25 ns a byte, and more where everything is one byte.
            Self::Bzip2 => (4, 1),
            Self::Xz | Self::LzmaAlone | Self::Lzma { .. } | Self::Lzma2 { .. } => (5, 2),
            Self::Deflate64 => (3, 2),
        }
    }
}

/// More steps of one packed byte that yields nothing: blocks that set up tables or a dictionary, and end.
const STEPS_PER_VAIN_INPUT: u64 = 30;

enum Engine {
    Bzip2(bzip2::Decompress),
    Xz(Box<XzStream>),
    Lzma(Box<LzmaStream>),
    Lzma2(Box<Lzma2Stream>),
    Deflate64(Box<InflaterManaged>),
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// One piece of work.
#[derive(Clone, Copy, Debug)]
struct Step {
    used: usize,
    produced: usize,
    is_end: bool,
}

impl Engine {
    fn new(coding: Coding, filter: Option<&FilterConfig>) -> Option<Self> {
        let filters = filter.map(std::slice::from_ref).unwrap_or_default();
        Some(match coding {
            Coding::Bzip2 => Self::Bzip2(bzip2::Decompress::new(false)),
            Coding::Xz => Self::Xz(Box::new(XzStream::new_mem_limit(false, DICTIONARY_KIB))),
            Coding::LzmaAlone => Self::Lzma(Box::new(LzmaStream::new_mem_limit(DICTIONARY_KIB, None))),
            Coding::Lzma { props, dictionary, size } => {
                if dictionary.checked_div(1024)? > DICTIONARY_KIB {
                    return None;
                }
                let mut stream = LzmaStream::new_with_props(size, props, dictionary, None).ok()?;
                stream.set_filters(filters).ok()?;
                Self::Lzma(Box::new(stream))
            }
            Coding::Lzma2 { dictionary } => {
                let mut stream = Lzma2Stream::new_mem_limit(dictionary, DICTIONARY_KIB);
                stream.set_filters(filters).ok()?;
                Self::Lzma2(Box::new(stream))
            }
            Coding::Deflate64 => Self::Deflate64(Box::new(InflaterManaged::new())),
        })
    }

    /// `None` when the stream cannot be followed.
    fn step(&mut self, input: &[u8], is_last: bool, output: &mut [u8]) -> Option<Step> {
        let action = if is_last { Action::Finish } else { Action::Run };
        let result = match self {
            Self::Bzip2(engine) => {
                let before = (engine.total_in(), engine.total_out());
                let status = engine.decompress(input, output).ok()?;
                return Some(Step {
                    used: usize::try_from(engine.total_in().saturating_sub(before.0)).ok()?,
                    produced: usize::try_from(engine.total_out().saturating_sub(before.1)).ok()?,
                    is_end: status == bzip2::Status::StreamEnd,
                });
            }
            Self::Deflate64(engine) => {
                let result = engine.inflate(input, output);
                if result.data_error {
                    return None;
                }
                return Some(Step {
                    used: result.bytes_consumed,
                    produced: result.bytes_written,
                    is_end: engine.finished(),
                });
            }
            Self::Xz(engine) => engine.process(input, output, action),
            Self::Lzma(engine) => engine.process(input, output, action),
            Self::Lzma2(engine) => engine.process(input, output, action),
        };
        let result = result.ok()?;
        Some(Step {
            used: result.bytes_consumed,
            produced: result.bytes_produced,
            is_end: result.status == Status::StreamEnd,
        })
    }

    /// Bytes it took and did not need.
    fn unused(&self) -> usize {
        match self {
            Self::Lzma(engine) => engine.unused_input().len(),
            _ => 0,
        }
    }
}

/// One stream, from where the cursor stands to its end.
pub(super) fn stream(
    coding: Coding,
    filter: Option<&FilterConfig>,
    gathered: &mut Gather<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let start = gathered.packed.clone();
    let mut pass = Pass { coding, filter, by_byte_from: usize::MAX, known: 0 };
    let met = match pass.follow(gathered, budget) {
        Err(Damage::Met { from, written }) => (from, written),
        Err(Damage::Told(stop)) => return Err(stop),
        Ok(()) => return Ok(()),
    };
    // An engine that meets damage keeps what it wrote on the way there to itself. Other readers, which do not ask for a
    // sum or an index, show it: a damaged sum must not hide what stands before it. So once more, by single bytes.
    (pass.by_byte_from, pass.known) = met;
    gathered.packed = start;
    match pass.follow(gathered, budget) {
        Err(Damage::Told(stop)) => Err(stop),
        // Codes that say two things are told apart by the bits behind them: by single bytes an engine may come through
        // where it, and whoever gives it more, does not.
        Ok(()) | Err(Damage::Met { .. }) => {
            Err(Stop::malformed("the packed data are damaged or end too early", gathered.offset()))
        }
    }
}

/// Why a stream was not followed to its end.
enum Damage {
    /// Everything before it is gathered.
    Told(Stop),
    /// The engine gave up somewhere behind that position, where so many bytes were gathered of the stream.
    Met { from: usize, written: usize },
}

impl<E: Into<Stop>> From<E> for Damage {
    fn from(stop: E) -> Self {
        Self::Told(stop.into())
    }
}

/// One way through a stream.
struct Pass<'a> {
    coding: Coding,
    filter: Option<&'a FilterConfig>,
    /// From that position on the engine is given a single byte at a time.
    by_byte_from: usize,
    /// Bytes at the front of its output that are gathered already.
    known: usize,
}

impl Pass<'_> {
    fn follow(&self, gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Damage> {
        budget.spend(Resource::Steps, STEPS_PER_ENGINE)?;
        let Some(mut engine) = Engine::new(self.coding, self.filter) else {
            return Err(Stop::malformed("the packed data are damaged", gathered.offset()).into());
        };
        let (per_input, per_step) = self.coding.cost();
        let mut block = vec![0; BLOCK];
        let mut written: usize = 0;
        loop {
            let (from, rest) = (gathered.packed.position(), gathered.packed.rest());
            let most = if from < self.by_byte_from { BLOCK } else { 1 };
            let input = rest.get(..most).unwrap_or(rest);
            let is_last = input.len() == rest.len();
            let Some(step) = engine.step(input, is_last, &mut block) else {
                return Err(Damage::Met { from, written });
            };
            let vain = count(step.used.saturating_sub(step.produced)).saturating_mul(STEPS_PER_VAIN_INPUT);
            let steps =
                count(step.used).saturating_mul(per_input).saturating_add(count(step.produced).div_ceil(per_step));
            budget.spend(Resource::Steps, steps.saturating_add(vain))?;
            // An engine never takes more than it is given.
            gathered.packed.take(count(step.used))?;
            let new = self.known.saturating_sub(written);
            written = written.saturating_add(step.produced);
            if let Some(output @ [_, ..]) = block.get(new.min(step.produced)..step.produced) {
                gathered.out.keep(output, budget)?;
            }
            if step.is_end {
                let position = gathered.packed.position().saturating_sub(engine.unused());
                return Ok(gathered.packed.seek(count(position))?);
            }
            if step.used == 0 && step.produced == 0 {
                let what = if is_last { "the packed data end too early" } else { "the packed data are damaged" };
                return Err(Stop::malformed(what, gathered.offset()).into());
            }
        }
    }
}

/// Streams one after the other, as long as the next begins like the first.
pub(super) fn streams(
    coding: Coding,
    magic: &[u8],
    gathered: &mut Gather<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    loop {
        budget.spend(Resource::Objects, 1)?;
        stream(coding, None, gathered, budget)?;
        let rest = gathered.packed.rest();
        // xz pads with zeros in fours.
        let padding = if coding == Coding::Xz { rest.iter().take_while(|byte| **byte == 0).count() } else { 0 };
        let next = rest.get(padding..).unwrap_or_default();
        if !next.starts_with(magic) {
            return Ok(());
        }
        gathered.packed.take(count(padding))?;
    }
}

/// A member of a zip packed by method 14: a version, the length of the properties, the properties (APPNOTE 5.8).
pub(super) fn zip_lzma(size: u64, gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Stop> {
    gathered.packed.u16_le()?;
    let at = gathered.offset();
    if gathered.packed.u16_le()? != 5 {
        return Err(Stop::malformed("the properties of LZMA do not have five bytes", at));
    }
    let (props, dictionary) = (gathered.packed.u8()?, gathered.packed.u32_le()?);
    stream(Coding::Lzma { props, dictionary, size }, None, gathered, budget)
}

/// What a frame of Zstandard says before its blocks (RFC 8878 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Bytes to be stepped over, as many as it says.
    Skipped(u32),
    /// Packed data; the window a decoder has to keep.
    Data { window: u64 },
}

/// The frame header at the cursor, which moves behind what was read of it. `None` when none begins there.
pub(crate) fn zstd_frame(reader: &mut Reader<'_>) -> Option<Frame> {
    let magic = reader.u32_le().ok()?;
    if magic & 0xffff_fff0 == 0x184d_2a50 {
        return reader.u32_le().ok().map(Frame::Skipped);
    }
    if magic != 0xfd2f_b528 {
        return None;
    }
    let descriptor = reader.u8().ok()?;
    let is_single = descriptor & 0x20 != 0;
    if !is_single {
        let window = reader.u8().ok()?;
        let base = 1_u64.checked_shl(u32::from(window >> 3).checked_add(10)?)?;
        let eighth = base.checked_div(8)?.checked_mul(u64::from(window & 7))?;
        return Some(Frame::Data { window: base.checked_add(eighth)? });
    }
    let dictionary = [0_u64, 1, 2, 4].get(usize::from(descriptor & 3))?;
    reader.take(*dictionary).ok()?;
    let window = match descriptor >> 6 {
        0 => u64::from(reader.u8().ok()?),
        1 => u64::from(reader.u16_le().ok()?).checked_add(256)?,
        2 => u64::from(reader.u32_le().ok()?),
        _ => reader.u64_le().ok()?,
    };
    Some(Frame::Data { window })
}

/// RFC 8878: frames one after the other, some of them to be skipped.
pub(super) fn zstd(gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_BYTES);
    // Blocks that hold nothing are cheap, and all are stepped over in one go.
    budget.spend(Resource::Steps, count(gathered.packed.left()).saturating_mul(2))?;
    let mut is_first = true;
    loop {
        let at = gathered.offset();
        let mut head = gathered.packed.clone();
        let frame = match zstd_frame(&mut head) {
            Some(frame) => frame,
            None if is_first => return Err(Stop::malformed("this is no Zstandard frame", at)),
            None => return Ok(()),
        };
        is_first = false;
        budget.spend(Resource::Objects, 1)?;
        budget.spend(Resource::Steps, STEPS_PER_STREAM)?;
        match frame {
            Frame::Skipped(length) => {
                head.take(length.into())?;
                gathered.packed = head;
            }
            Frame::Data { window } if window > WINDOW_BYTES => {
                return Err(Stop::malformed(format!("the window of {window} bytes is larger than any in use"), at));
            }
            Frame::Data { .. } => zstd_blocks(&mut decoder, gathered, budget)?,
        }
        if gathered.packed.is_at_end() {
            return Ok(());
        }
    }
}

fn zstd_blocks(decoder: &mut FrameDecoder, gathered: &mut Gather<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let before = gathered.packed.rest();
    let mut rest = before;
    let damaged = |rest: &[u8]| {
        let what = if rest.is_empty() { "the packed data end too early" } else { "the packed data are damaged" };
        Stop::malformed(what, count(before.len().saturating_sub(rest.len())))
    };
    decoder.reset(&mut rest).map_err(|_| damaged(rest))?;
    let mut decoded = Ok(false);
    while !decoder.is_finished() && decoded.is_ok() {
        // A call produces so much, and the rest of the last block.
        budget.spend(Resource::Steps, count(BLOCK).div_ceil(2))?;
        decoded = decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(BLOCK)).map_err(|_| damaged(rest));
        if let Some(output) = decoder.collect() {
            gathered.out.keep(&output, budget)?;
        }
    }
    decoded?;
    gathered.packed.take(count(before.len().saturating_sub(rest.len())))?;
    let stored = decoder.get_checksum_from_data();
    if stored.is_some() && stored != decoder.get_calculated_checksum() {
        return Err(Stop::malformed("the Zstandard checksum does not match", gathered.offset()));
    }
    Ok(())
}
