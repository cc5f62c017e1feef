//! The safe version of a GIF: screen, colours, frames with what is said of them, and how often they repeat.

use std::ops::Range;

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        picture::Size,
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{Codes, MOST_PIXELS_PER_BYTE, STEPS_PER_BLOCK, SubBlocks, colours, sub_blocks};

const CUT: &str = "the picture is cut off";

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    cleaning::pay_to_copy(subject.bytes.len(), budget)?;
    let mut reader = Reader::new(subject.bytes);
    let head: [u8; 13] = reader.array().map_err(|_| CUT)?;
    let [_, _, _, _, _, _, w0, w1, h0, h1, flags, ..] = head;
    if !matches!(head.get(..6), Some(b"GIF87a" | b"GIF89a")) {
        return Err("the picture does not begin as it must".into());
    }
    let screen = Size::new(u16::from_le_bytes([w0, w1]).into(), u16::from_le_bytes([h0, h1]).into());
    screen.pay(budget)?;
    let mut out = head.to_vec();
    out.extend_from_slice(colours(flags, &mut reader)?);
    let mut picture = Rewrite { bytes: subject.bytes, out, screen, control: None, is_drawn: false, is_looped: false };
    loop {
        budget.spend(Resource::Objects, 1)?;
        budget.spend(Resource::Steps, STEPS_PER_BLOCK)?;
        match reader.u8() {
            Ok(0x3b) => break,
            Ok(0x2c) => picture.image(&mut reader, cleaning, budget)?,
            Ok(0x21) => picture.extension(&mut reader, cleaning, budget)?,
            // Some writers leave an empty sub-block too many.
            Ok(0) => {}
            Ok(_) => return Err("a block of the picture does not begin as it must".into()),
            Err(_) => return Err("the end of the picture is missing".into()),
        }
    }
    if !picture.is_drawn {
        return Err("there is no frame in the picture".into());
    }
    if !reader.is_at_end() {
        cleaning.did("removed data behind the end");
    }
    picture.out.push(0x3b);
    Ok(picture.out.into())
}

/// A picture being written again.
struct Rewrite<'a> {
    bytes: &'a Bytes,
    out: Vec<u8>,
    screen: Size,
    /// What is said of the next frame.
    control: Option<[u8; 4]>,
    is_drawn: bool,
    is_looped: bool,
}

impl Rewrite<'_> {
    /// A frame: place, size, colours, codes (`GIF89a` §20 to 22).
    fn image(
        &mut self,
        reader: &mut Reader<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let place: [u8; 9] = reader.array().map_err(|_| CUT)?;
        let [_, _, _, _, w0, w1, h0, h1, flags] = place;
        let size = Size::new(u16::from_le_bytes([w0, w1]).into(), u16::from_le_bytes([h0, h1]).into());
        let table = colours(flags, reader)?;
        let least = reader.u8().map_err(|_| CUT)?;
        let blocks = sub_blocks(reader, budget)?;
        budget.spend(Resource::Frames, 1)?;
        if size.area() > count(blocks.whole.len()).saturating_mul(MOST_PIXELS_PER_BYTE) {
            return Err("most of a frame is missing".into());
        }
        // The screen is paid already: the first frame costs nothing more than what it has beyond it.
        if self.is_drawn || size.area() > self.screen.area() {
            size.pay(budget)?;
        }
        if let Some([flags, d0, d1, index]) = self.control.take() {
            // Three bits are kept for later.
            self.out.extend([0x21, 0xf9, 4, flags & 0x1f, d0, d1, index, 0]);
        }
        self.out.push(0x2c);
        self.out.extend(place);
        self.out.extend_from_slice(table);
        self.out.push(least);
        let kept = self.used(size, least, &blocks, cleaning, budget)?;
        for range in kept {
            let block = self.bytes.get(range).unwrap_or_default();
            if let (Ok(length @ 1..), false) = (u8::try_from(block.len()), block.is_empty()) {
                self.out.push(length);
                self.out.extend_from_slice(block);
            }
        }
        self.out.push(0);
        self.is_drawn = true;
        Ok(())
    }

    /// The sub-blocks of a frame up to its last code; they must yield exactly its pixels.
    fn used(
        &self,
        size: Size,
        least: u8,
        blocks: &SubBlocks,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<Vec<Range<usize>>, Uncleanable> {
        let mut codes = Codes::of(least).ok_or("the pixels of a frame have codes that do not exist")?;
        let mut kept = Vec::with_capacity(blocks.ranges.len());
        for range in &blocks.ranges {
            // A code has at least three bits.
            budget.spend(Resource::Steps, count(range.len()))?;
            let used = codes.feed(self.bytes.get(range.clone()).unwrap_or_default());
            let end = range.start.saturating_add(used).min(range.end);
            kept.push(range.start..end);
            if codes.is_over() {
                if end < blocks.whole.end {
                    cleaning.did("removed data behind the pixels");
                }
                break;
            }
        }
        if codes.is_broken() {
            return Err("the pixels of a frame are damaged".into());
        }
        match codes.pixels().cmp(&size.area()) {
            std::cmp::Ordering::Less => Err("a frame is cut off".into()),
            std::cmp::Ordering::Greater => Err("a frame has more pixels than it shows".into()),
            std::cmp::Ordering::Equal => Ok(kept),
        }
    }

    /// What is said of the next frame, and how often all repeat; nothing else (`GIF89a` §23 to 26).
    fn extension(
        &mut self,
        reader: &mut Reader<'_>,
        cleaning: &mut Cleaning<'_>,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        let label = reader.u8().map_err(|_| CUT)?;
        let blocks = sub_blocks(reader, budget)?;
        let mut all = blocks.ranges.iter().map(|range| self.bytes.get(range.clone()).unwrap_or_default());
        match (label, all.next(), all.next(), all.next()) {
            (0xf9, Some(&[flags, d0, d1, index]), None, None) => self.control = Some([flags, d0, d1, index]),
            (0xff, Some(name @ (b"NETSCAPE2.0" | b"ANIMEXTS1.0")), Some(&[1, low, high]), rest) if !self.is_looped => {
                if rest.is_some() {
                    cleaning.did("removed data of a program");
                }
                self.is_looped = true;
                self.out.extend([0x21, 0xff, 11]);
                self.out.extend_from_slice(name);
                self.out.extend([3, 1, low, high, 0]);
            }
            (0xfe, ..) => cleaning.did("removed a comment"),
            (0x01, ..) => {
                // What is said of the next frame was said of this text.
                self.control = None;
                cleaning.did("removed a text");
            }
            _ => cleaning.did("removed data of a program"),
        }
        Ok(())
    }
}
