//! GIF, down to the blocks: screen, frames and their codes counted, comments, extensions, what is behind the trailer.

use std::ops::Range;

use bytes::Bytes;

use crate::{
    finding::{Place, Stop},
    format::{
        Format, Out, Subject, exif, letters,
        picture::{self, Size, Walk, mild, say},
        qr::{self, Grey},
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::{OffsetMap, TextView},
};

mod clean;
mod codes;

use codes::Codes;

pub(crate) const FORMAT: Format = Format {
    name: "gif",
    labels: &["gif"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &picture::STRUCTURE,
        &picture::TRUNCATED,
        &picture::DIMENSIONS,
        &picture::FRAMES,
        &picture::EXCESS,
        &picture::AFTER_PIXELS,
        &picture::TRAILING,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::METADATA,
        &picture::NOTE,
        &exif::GPS,
        &qr::CODE,
        &qr::SCRIPT_URL,
        &qr::PROTOCOL,
    ],
};

/// Beside its bytes, a block costs its turn.
const STEPS_PER_BLOCK: u64 = 10;
/// A sub-block of one byte costs as much as ten bytes of a long one.
const STEPS_PER_SUB_BLOCK: u64 = 2;
/// Frames of an animation whose pixels are looked at: what is held before a camera stands still.
const LOOKED_THROUGH: u64 = 4;
/// The screen's header: signature, size, flags, two bytes.
const SCREEN: Range<usize> = 6..13;
/// The longest string of the coder has fewer pixels, and no code fewer bits than three.
const MOST_PIXELS_PER_BYTE: u64 = 4096;
/// The end of XMP packed as if it were no sub-blocks: 0x01, then all bytes from 0xff down to zero (XMP part 3 §1.1.2).
const XMP_TRAILER: usize = 257;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut picture = Picture {
        walk: Walk::over(subject.bytes),
        screen: Size::default(),
        palette: Vec::new(),
        at: 0,
        is_drawn: false,
        is_unread: false,
        end: None,
    };
    let walked = picture.walk(out, budget);
    picture.finish(&walked, out, budget);
    walked
}

/// One picture being walked.
struct Picture<'a> {
    walk: Walk<'a>,
    screen: Size,
    /// The shades of the colours that frames have in common.
    palette: Vec<u8>,
    /// Where the walk stands: the block that begins here is not read yet.
    at: usize,
    /// There was a frame.
    is_drawn: bool,
    /// It was told that frames are not read.
    is_unread: bool,
    /// One behind the trailer.
    end: Option<usize>,
}

/// Sub-blocks: one after the other, up to an empty one.
struct SubBlocks {
    /// Of each, the range of its content.
    ranges: Vec<Range<usize>>,
    /// From the length of the first to the empty one, which is not part of it.
    whole: Range<usize>,
}

impl Picture<'_> {
    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(self.walk.bytes);
        reader.take(6)?;
        let (width, height) = (reader.u16_le()?, reader.u16_le()?);
        self.screen = Size::new(width.into(), height.into());
        let flags = reader.u8()?;
        reader.take(2)?;
        self.palette = picture::shades(colours(flags, &mut reader)?);
        self.walk.size(self.screen, SCREEN, None, out, budget);
        loop {
            self.at = reader.position();
            budget.spend(Resource::Objects, 1)?;
            budget.spend(Resource::Steps, STEPS_PER_BLOCK)?;
            match reader.u8() {
                Ok(0x3b) => {
                    self.end = Some(reader.position());
                    return Ok(());
                }
                Ok(0x2c) => self.image(&mut reader, out, budget)?,
                Ok(0x21) => self.extension(&mut reader, out, budget)?,
                // Some writers leave an empty sub-block too many.
                Ok(0) => {}
                Ok(_) => return Err(Stop::malformed("a block should begin here, and does not", count(self.at))),
                Err(_) => return Ok(()),
            }
        }
    }

    /// A frame: place, size, colours, codes (`GIF89a` §20 to 22).
    fn image(&mut self, reader: &mut Reader<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let at = reader.position();
        let (left, top) = (reader.u16_le()?, reader.u16_le()?);
        let (width, height) = (reader.u16_le()?, reader.u16_le()?);
        let flags = reader.u8()?;
        let here = at..reader.position();
        let size = Size::new(width.into(), height.into());
        self.walk.frame(self.screen, budget);
        let fits = u32::from(left).saturating_add(size.width) <= self.screen.width
            && u32::from(top).saturating_add(size.height) <= self.screen.height;
        if !fits {
            mild(out, &picture::STRUCTURE, here.clone(), "a frame reaches beyond the screen");
        }
        let own = picture::shades(colours(flags, reader)?);
        let least = reader.u8()?;
        let pixels_at = reader.position();
        let blocks = sub_blocks(reader, budget)?;
        let packed = count(blocks.whole.len());
        let is_first = !std::mem::replace(&mut self.is_drawn, true);
        let most = packed.saturating_mul(MOST_PIXELS_PER_BYTE);
        // The screen is paid already: the frame that fills it costs nothing more.
        let is_paid = is_first && fits && size.area() <= most;
        if !is_paid && !self.walk.size(size, here.clone(), Some(most), out, budget) {
            return Ok(());
        }
        let Some(mut codes) = Codes::of(least) else {
            say(out, &picture::STRUCTURE, here, format!("codes of {least} bits do not exist"));
            self.walk.opaque(blocks.whole, &place("pixels", pixels_at), out, budget);
            return Ok(());
        };
        let is_late = self.walk.frames() > LOOKED_THROUGH;
        if letters::have_room(size) && (is_late || size != self.screen) && !self.is_unread {
            self.is_unread = true;
            letters::unread(
                "frames beyond the first four, or drawn into another, are not read for letters",
                out,
                budget,
            );
        }
        let grey = if is_late { Ok(None) } else { Grey::of(size, budget) };
        let mut grey = grey.unwrap_or_else(|exhausted| {
            self.walk.account.not_looked_through(exhausted);
            None
        });
        if grey.is_some() {
            codes.keep(usize::try_from(size.area()).unwrap_or(0));
        }
        self.pixels(size, &mut codes, &blocks, out, budget)?;
        if let Some(mut grey) = grey.take() {
            let palette = if own.is_empty() { &self.palette } else { &own };
            let width = usize::from(width).max(1);
            let rows = codes.kept().chunks(width).zip(order(usize::from(height), flags & 0x40 != 0));
            rows.for_each(|(row, y)| {
                grey.row(y, row.iter().map(|index| palette.get(usize::from(*index)).copied().unwrap_or(0)));
            });
            if let Err(exhausted) = qr::read(grey, blocks.whole, out, budget) {
                self.walk.account.not_looked_through(exhausted);
            }
        }
        Ok(())
    }

    /// Counts the pixels that the codes of a frame yield.
    fn pixels(
        &mut self,
        size: Size,
        codes: &mut Codes,
        blocks: &SubBlocks,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let mut unused = None;
        for range in &blocks.ranges {
            // A code has at least three bits.
            budget.spend(Resource::Steps, count(range.len()))?;
            let used = codes.feed(self.walk.bytes.get(range.clone()).unwrap_or_default());
            if codes.is_over() {
                unused = Some(range.start.saturating_add(used)..blocks.whole.end);
                break;
            }
        }
        let whole = blocks.whole.clone();
        if codes.is_broken() {
            let at = unused.map_or(whole.end, |unused| unused.start);
            self.walk.account.not_read(Stop::malformed("a code of the pixels has no meaning", count(at)));
            self.walk.opaque(at..whole.end, &place("pixels", whole.start), out, budget);
            return Ok(());
        }
        let (needed, there) = (size.area(), codes.pixels());
        if there < needed {
            let message = format!("{there} of {needed} pixels of a frame are there");
            say(out, &picture::TRUNCATED, whole.clone(), message);
        } else if there > needed {
            let message = format!("{} pixels more than the frame has room for", there.saturating_sub(needed));
            say(out, &picture::EXCESS, whole.clone(), message);
        }
        if let Some(unused) =
            unused.filter(|unused| !picture::is_padding(self.walk.bytes.get(unused.clone()).unwrap_or_default()))
        {
            // The rest of a byte, or a length and a byte, are slips of an encoder.
            if unused.len() > 2 {
                let message = format!("{} bytes behind the last code of a frame", unused.len());
                say(out, &picture::AFTER_PIXELS, unused.clone(), message);
                self.walk.opaque(unused, &place("pixels", whole.start), out, budget);
            }
        }
        Ok(())
    }

    /// An extension: what is said of a frame, a comment, a text, or what a program keeps for itself (`GIF89a` §23 to 26).
    fn extension(&mut self, reader: &mut Reader<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let at = reader.position();
        let label = reader.u8()?;
        let blocks = sub_blocks(reader, budget)?;
        let (head, rest) = match blocks.ranges.split_first() {
            Some((head, rest)) => (self.walk.bytes.get(head.clone()).unwrap_or_default(), rest),
            None => return Ok(()),
        };
        match (label, head) {
            (0xfe, _) => self.words(&blocks.ranges, &place("comment", at), out, budget)?,
            (0xf9, _) if head.len() == 4 && rest.is_empty() => {}
            (0x01, _) if head.len() == 12 => self.words(rest, &place("text", at), out, budget)?,
            (0xff, b"XMP DataXMP") => {
                let start = rest.first().map_or(blocks.whole.end, |first| first.start.saturating_sub(1));
                let end = blocks.whole.end.saturating_sub(XMP_TRAILER).max(start);
                self.walk.xmp(start..end, &place("XMP", at), out);
            }
            (0xff, b"NETSCAPE2.0" | b"ANIMEXTS1.0") if rest.iter().all(|range| range.len() == 3) && rest.len() < 3 => {}
            _ => self.words(&blocks.ranges, &place("extension", at), out, budget)?,
        }
        Ok(())
    }

    /// What sub-blocks say together: read as it is if it is text, and looked into if something could be hidden there.
    fn words(
        &mut self,
        ranges: &[Range<usize>],
        place: &Place,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(()) };
        let total = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(count(range.len())));
        budget.spend(Resource::DecodedBytes, total)?;
        let mut text = Vec::new();
        let mut runs = Vec::with_capacity(ranges.len().saturating_add(1));
        for range in ranges {
            runs.push((count(text.len()), count(range.start)));
            text.extend_from_slice(self.walk.bytes.get(range.clone()).unwrap_or_default());
        }
        runs.push((count(text.len()), count(last.end)));
        if !picture::is_text(&text) {
            self.walk.opaque(first.start..last.end, place, out, budget);
        } else if !text.is_empty() {
            let view = TextView::decoded(Bytes::from(text), OffsetMap::Runs(runs), Vec::new());
            out.read(view.place(place.clone()).hidden(&picture::NOTE));
        }
        Ok(())
    }

    /// Everything that can be said only once all blocks were seen.
    fn finish(mut self, walked: &Result<(), Stop>, out: &mut Out<'_>, budget: &mut Budget) {
        // Without a frame, even the screen's size may be words.
        let from = if self.is_drawn { self.at } else { SCREEN.start };
        self.walk.unread(walked, from, !self.is_drawn, out, budget);
        let length = self.walk.bytes.len();
        match self.end {
            Some(end) => {
                if !self.is_drawn {
                    say(out, &picture::STRUCTURE, 0..end, "there is no frame in it");
                }
                self.walk.behind(end, out, budget);
            }
            None if walked.is_ok() => say(out, &picture::TRUNCATED, length..length, "the trailer is missing"),
            None => {}
        }
        self.walk.finish(SCREEN, out);
    }
}

/// The sub-blocks from the cursor on.
fn sub_blocks(reader: &mut Reader<'_>, budget: &mut Budget) -> Result<SubBlocks, Stop> {
    let start = reader.position();
    let mut ranges = Vec::new();
    loop {
        budget.spend(Resource::Steps, STEPS_PER_SUB_BLOCK)?;
        let end = reader.position();
        let length = reader.u8()?;
        if length == 0 {
            return Ok(SubBlocks { ranges, whole: start..end });
        }
        let from = reader.position();
        reader.take(length.into())?;
        ranges.push(from..reader.position());
    }
}

/// The table of colours, if the flags announce one.
fn colours<'a>(flags: u8, reader: &mut Reader<'a>) -> Result<&'a [u8], Stop> {
    Ok(reader.take(if flags & 0x80 == 0 { 0 } else { 6_u64 << (flags & 7) })?)
}

/// The rows of a frame in the order in which they come (`GIF89a` appendix E).
fn order(height: usize, is_interlaced: bool) -> impl Iterator<Item = usize> {
    let passes: &[(usize, usize)] = if is_interlaced { &[(0, 8), (4, 8), (2, 4), (1, 2)] } else { &[(0, 1)] };
    passes.iter().flat_map(move |(first, every)| (*first..height).step_by(*every))
}

fn place(what: &str, at: usize) -> Place {
    Place::default().name("chunk", what).number("offset", count(at))
}

#[cfg(test)]
mod tests;
