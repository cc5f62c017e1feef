//! The safe version of a PNG: the chunks that make the picture, and of its pixels what a viewer reads. Chunks are copied
//! as they are, pixels are not packed anew unless more is packed with them than the picture has room for.

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;
use flate2::Crc;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        exif, pack,
    },
    inflate::{Block, Inflate, Output},
    limits::Budget,
    reader::{Reader, count},
};

use super::{
    chunk::{self, Checksum, Chunk},
    header::Header,
    pixels::{self, End},
    range_of,
};

mod frames;

use frames::Animation;

const DAMAGED: &str = "the pixels of the picture are damaged";

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let mut reader = Reader::new(subject.bytes);
    if reader.take(count(chunk::SIGNATURE.len())) != Ok(chunk::SIGNATURE) {
        return Err("the signature of the picture is damaged".into());
    }
    let first = next(&mut reader, budget)?;
    if first.kind != *b"IHDR" {
        return Err("the picture does not begin with its header".into());
    }
    // The longest that comes out, but for pixels that are packed again.
    cleaning::pay_to_copy(subject.bytes.len(), budget)?;
    let mut picture = Rewrite::new(subject.bytes, Header::read(first.data)?);
    picture.copy(&first)?;
    loop {
        let chunk = next(&mut reader, budget)?;
        if chunk.kind == *b"IEND" {
            break;
        }
        picture.chunk(&chunk, cleaning, budget)?;
    }
    if !reader.is_at_end() {
        cleaning.did("removed data behind the end");
    }
    picture.finish(cleaning, budget)
}

/// The next chunk, which must be whole.
fn next<'a>(reader: &mut Reader<'a>, budget: &mut Budget) -> Result<Chunk<'a>, Uncleanable> {
    match chunk::next(reader, budget)? {
        (_, Some(stop)) => Err(stop.into()),
        (Some(chunk), None) => Ok(chunk),
        (None, None) => Err("the end of the picture is missing".into()),
    }
}

/// A picture being written again.
struct Rewrite<'a> {
    bytes: &'a Bytes,
    header: Header,
    out: Vec<u8>,
    /// Colours of the palette, once it was there.
    colours: Option<usize>,
    once: BTreeSet<[u8; 4]>,
    /// The packed pixels being gathered: those of the picture, or of the frame.
    pieces: Vec<Range<usize>>,
    frame: Option<Header>,
    /// The pixels of the picture itself were begun.
    has_pixels: bool,
    animation: Option<Animation>,
}

impl<'a> Rewrite<'a> {
    fn new(bytes: &'a Bytes, header: Header) -> Self {
        Self {
            bytes,
            header,
            out: chunk::SIGNATURE.to_vec(),
            colours: None,
            once: BTreeSet::new(),
            pieces: Vec::new(),
            frame: None,
            has_pixels: false,
            animation: None,
        }
    }

    fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        match &chunk.kind {
            b"PLTE" => self.palette(chunk, cleaning),
            b"IDAT" if self.frame.is_some() => Err("the pixels of the picture stand in two places".into()),
            b"IDAT" if chunk.checksum == Checksum::Right => {
                self.has_pixels = true;
                self.pieces.push(range_of(chunk));
                Ok(())
            }
            b"acTL" if !self.has_pixels && self.animation.is_none() => self.animation(chunk),
            b"fcTL" if self.animation.is_some() => self.frame(chunk, cleaning, budget),
            b"fdAT" if self.animation.is_some() => self.frame_data(chunk),
            _ if chunk.is_critical() => {
                Err(format!("chunk {} is essential, and unknown or damaged", chunk.name()).into())
            }
            kind => {
                let is_good = !self.has_pixels && chunk.checksum == Checksum::Right && self.is_number(chunk);
                if is_good && self.once.insert(*kind) {
                    return self.copy(chunk);
                }
                self.other(chunk, cleaning, budget)
            }
        }
    }

    /// A chunk that does not stay. Of the camera's data, how the picture is turned does.
    fn other(
        &mut self,
        chunk: &Chunk<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let turned = match &chunk.kind {
            b"eXIf" if !self.has_pixels => exif::orientation(chunk.data, budget)?,
            _ => None,
        };
        if let Some(turned) = turned.filter(|_| self.once.insert(chunk.kind)) {
            let minimal = exif::turned(turned);
            if chunk.data != minimal {
                cleaning.did("removed camera data");
            }
            return self.write(*b"eXIf", &[&minimal]);
        }
        cleaning.did(match &chunk.kind {
            b"tEXt" | b"zTXt" | b"iTXt" => "removed a text",
            b"eXIf" => "removed camera data",
            b"iCCP" => "removed a colour profile",
            b"tIME" => "removed a date",
            b"acTL" | b"fcTL" | b"fdAT" => "removed frames that nothing shows",
            _ => "removed a part that no viewer needs",
        });
        Ok(())
    }

    fn palette(&mut self, chunk: &Chunk<'_>, cleaning: &mut Cleaning<'_>) -> Result<(), Uncleanable> {
        if self.header.color != 3 {
            // Of any other picture it is advice for screens of few colours.
            cleaning.did("removed a part that no viewer needs");
            return Ok(());
        }
        let (colours, odd) = chunk.data.as_chunks::<3>();
        let most = 1_usize << self.header.depth;
        let is_good = self.colours.is_none() && !self.has_pixels && chunk.checksum == Checksum::Right;
        if !is_good || !odd.is_empty() || !(1..=most).contains(&colours.len()) {
            return Err("the colour table of the picture is damaged".into());
        }
        self.colours = Some(colours.len());
        self.copy(chunk)
    }

    /// Whether it is a chunk of a few numbers that say how the picture looks, each in the range that it has a meaning in:
    /// no room for a message.
    fn is_number(&self, chunk: &Chunk<'_>) -> bool {
        let Header { depth, color, .. } = self.header;
        let is_sample = |pair: &[u8; 2]| u32::from(u16::from_be_bytes(*pair)) < 1_u32 << depth;
        let are_samples = |samples: usize| {
            let (pairs, odd) = chunk.data.as_chunks::<2>();
            pairs.len() == samples && odd.is_empty() && pairs.iter().all(is_sample)
        };
        match (&chunk.kind, chunk.data) {
            (b"gAMA", [0, rest @ ..]) => rest.len() == 3,
            (b"cHRM", data) => data.len() == 32 && data.as_chunks::<4>().0.iter().all(|[high, ..]| *high == 0),
            (b"sRGB", [intent]) => *intent <= 3,
            // ITU-T H.273 tables 2 and 3; no PNG has another matrix than none.
            (b"cICP", [primaries, transfer, 0, range]) => *primaries <= 22 && *transfer <= 18 && *range <= 1,
            (b"pHYs", [0, _, _, _, 0, _, _, _, unit]) => *unit <= 1,
            (b"sBIT", bits) => {
                let (channels, most) = match color {
                    0 => (1, depth),
                    2 => (3, depth),
                    3 => (3, 8),
                    4 => (2, depth),
                    _ => (4, depth),
                };
                bits.len() == channels && bits.iter().all(|bits| (1..=most).contains(bits))
            }
            (b"bKGD", [index]) => color == 3 && self.colours.is_some_and(|colours| usize::from(*index) < colours),
            (b"bKGD", _) => matches!(color, 0 | 4) && are_samples(1) || matches!(color, 2 | 6) && are_samples(3),
            (b"tRNS", data) => match color {
                0 => are_samples(1),
                2 => are_samples(3),
                3 => self.colours.is_some_and(|colours| (1..=colours).contains(&data.len())),
                _ => false,
            },
            _ => false,
        }
    }

    /// The pixels of the picture or of a frame are complete: they go out as they are, up to where they end.
    fn flush(&mut self, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<(), Uncleanable> {
        let pieces = std::mem::take(&mut self.pieces);
        let header = self.frame.unwrap_or(self.header);
        let packed = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(count(piece.len())));
        if !header.fits_in(packed) {
            return Err("most of the picture is missing".into());
        }
        header.size().pay(budget)?;
        let outcome = pixels::check(&header, self.bytes, &pieces, None, budget)?;
        if outcome.bad_filter.is_some() {
            return Err(DAMAGED.into());
        }
        match outcome.end {
            End::Complete => {
                if pieces.iter().any(|piece| piece.start.max(outcome.at) < piece.end) {
                    cleaning.did("removed data behind the pixels");
                }
                for piece in pieces {
                    let kept = piece.start..piece.end.min(outcome.at);
                    if let Some(data) = self.bytes.get(kept).filter(|data| !data.is_empty()) {
                        self.pixels(data)?;
                    }
                }
                Ok(())
            }
            End::Excess(_) => {
                cleaning.did("removed pixels that the picture has no room for");
                let rows = rows(&header, self.bytes, &pieces, budget)?;
                let packed = pack::zlib(&rows, budget)?;
                cleaning::pay_to_copy(packed.len(), budget)?;
                self.pixels(&packed)
            }
            End::Short(_) => Err("the picture is cut off".into()),
            End::Checksum | End::Corrupt => Err(DAMAGED.into()),
        }
    }

    /// A piece of packed pixels, with a sequence number if they are those of a frame.
    fn pixels(&mut self, data: &[u8]) -> Result<(), Uncleanable> {
        match &mut self.animation {
            Some(animation) if self.frame.is_some() => {
                let number = animation.went.to_be_bytes();
                animation.went = animation.went.saturating_add(1);
                self.write(*b"fdAT", &[&number, data])
            }
            _ => self.write(*b"IDAT", &[data]),
        }
    }

    /// A chunk as it is, its checksum known to be right.
    fn copy(&mut self, chunk: &Chunk<'_>) -> Result<(), Uncleanable> {
        if chunk.checksum != Checksum::Right {
            return Err(format!("chunk {} does not match its checksum", chunk.name()).into());
        }
        self.write(chunk.kind, &[chunk.data])
    }

    fn write(&mut self, kind: [u8; 4], parts: &[&[u8]]) -> Result<(), Uncleanable> {
        let length = parts.iter().fold(0_usize, |sum, part| sum.saturating_add(part.len()));
        let length = u32::try_from(length).map_err(|_| "a part of the picture is too long")?;
        self.out.extend(length.to_be_bytes());
        self.out.extend(kind);
        let mut crc = Crc::new();
        crc.update(&kind);
        for part in parts {
            crc.update(part);
            self.out.extend_from_slice(part);
        }
        self.out.extend(crc.sum().to_be_bytes());
        Ok(())
    }

    fn finish(mut self, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Bytes, Uncleanable> {
        if self.header.color == 3 && self.colours.is_none() {
            return Err("the colour table of the picture is missing".into());
        }
        self.flush(cleaning, budget)?;
        if self.animation.as_ref().is_some_and(|animation| animation.frames != animation.declared) {
            return Err("there are not as many frames as are announced".into());
        }
        self.write(*b"IEND", &[])?;
        Ok(self.out.into())
    }
}

/// The rows that the picture has room for.
fn rows(header: &Header, bytes: &[u8], pieces: &[Range<usize>], budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    let packed = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(count(piece.len())));
    let mut left = usize::try_from(header.unpacked_bytes()).unwrap_or(usize::MAX);
    let (mut engine, mut out) = (Inflate::zlib(), Output::of(packed));
    for piece in pieces {
        let mut reader = Reader::new(bytes.get(piece.clone()).unwrap_or_default());
        while left > 0 {
            match engine.block(&mut reader, budget)? {
                Block::Output(block) => {
                    let kept = block.get(..left).unwrap_or(block);
                    left = left.saturating_sub(kept.len());
                    out.keep(kept, budget)?;
                }
                Block::Short => break,
                Block::End | Block::Corrupt => return Err(DAMAGED.into()),
            }
        }
    }
    Ok(out.into_bytes())
}
