//! JPEG XL: the size in the code stream, and the boxes around it where there are any.

use std::ops::Range;

use crate::{
    finding::Stop,
    format::{
        Format, Out, Subject,
        boxes::{self, Part},
        exif,
        picture::{self, Size, Walk, say},
    },
    limits::Budget,
    reader::count,
};

pub(crate) const FORMAT: Format = Format {
    name: "jxl",
    labels: &["jxl"],
    inspect,
    clean: None,
    rules: &[
        &picture::STRUCTURE,
        &picture::DIMENSIONS,
        &picture::TRUNCATED,
        &picture::FRAMES,
        &picture::TRAILING,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::NOTE,
        &exif::GPS,
        &exif::BROKEN,
    ],
};

/// The first two bytes of a code stream (ISO 18181-1 annex D).
const START: &[u8] = b"\xff\x0a";

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut file = File { walk: Walk::over(subject.bytes), at: 0, has_stream: false };
    let walked = if subject.bytes.starts_with(START) {
        file.stream(0..subject.bytes.len(), out, budget)
    } else {
        file.boxes(out, budget)
    };
    file.walk.unread(&walked, file.at, !file.has_stream, out, budget);
    file.walk.finish(0..0, out);
    walked
}

/// One file being walked.
struct File<'a> {
    walk: Walk<'a>,
    /// The box that begins here is not read yet.
    at: usize,
    has_stream: bool,
}

impl File<'_> {
    /// ISO 18181-2: boxes, one of them or several with the code stream.
    fn boxes(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let length = self.walk.bytes.len();
        while self.at < length {
            let part = match boxes::next(self.walk.bytes, &(self.at..length), budget) {
                Ok(Some(part)) if part.is_named() && (!part.is_cut || is_known(&part.name)) => part,
                Err(stop @ Stop::Limit(_)) => return Err(stop),
                // What does not look like a box stands behind the last one.
                _ => break,
            };
            self.part(&part, out, budget)?;
            if part.is_cut {
                return Err(part.cut());
            }
            self.at = part.range.end;
        }
        if !self.has_stream {
            say(out, &picture::STRUCTURE, 0..self.at, "there is no picture in it");
        }
        self.walk.behind(self.at, out, budget);
        Ok(())
    }

    fn part(&mut self, part: &Part, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        match &part.name {
            b"jxlc" if !self.has_stream => self.stream(part.range.clone(), out, budget),
            // The number of the piece stands before it.
            b"jxlp" if !self.has_stream => self.stream(part.from(4), out, budget),
            b"Exif" => {
                let range = boxes::behind_distance(self.walk.bytes, &part.range)..part.range.end;
                if let Err(stop) = exif::read(self.walk.bytes, range, &part.place(), out, budget) {
                    self.walk.account.not_read(stop);
                }
                Ok(())
            }
            b"xml " => {
                self.walk.xmp(part.range.clone(), &part.place(), out);
                Ok(())
            }
            b"brob" => {
                out.unsupported("a note beside the pixels, packed with brotli");
                Ok(())
            }
            name if is_known(name) => Ok(()),
            _ => {
                self.walk.opaque(part.range.clone(), &part.place(), out, budget);
                Ok(())
            }
        }
    }

    /// The size that a code stream begins with.
    fn stream(&mut self, range: Range<usize>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        self.has_stream = true;
        let at = count(range.start);
        let stream = self.walk.bytes.get(range.clone()).unwrap_or_default();
        let Some(head) = stream.strip_prefix(START) else {
            return Err(Stop::malformed("the code stream does not begin as it must", at));
        };
        let size = size(head).ok_or_else(|| Stop::malformed("the code stream ends in the size of the picture", at))?;
        self.walk.size(size, range, None, out, budget);
        Ok(())
    }
}

/// The size header (ISO 18181-1 D.2).
fn size(head: &[u8]) -> Option<Size> {
    let mut bits = Bits { bytes: head, at: 0 };
    let is_small = bits.take(1)? == 1;
    let side = |bits: &mut Bits<'_>| {
        if is_small {
            return bits.take(5)?.checked_add(1)?.checked_mul(8);
        }
        let width = match bits.take(2)? {
            0 => 9,
            1 => 13,
            2 => 18,
            _ => 30,
        };
        bits.take(width)?.checked_add(1)
    };
    let height = side(&mut bits)?;
    let (times, by) = match bits.take(3)? {
        0 => return Some(Size::new(side(&mut bits)?, height)),
        1 => (1, 1),
        2 => (12, 10),
        3 => (4, 3),
        4 => (3, 2),
        5 => (16, 9),
        6 => (5, 4),
        _ => (2, 1),
    };
    let width = u64::from(height).checked_mul(times)?.checked_div(by)?;
    Some(Size::new(u32::try_from(width).unwrap_or(u32::MAX), height))
}

/// Bits, the lowest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, number: u32) -> Option<u32> {
        let mut value = 0;
        for bit in 0..number {
            let byte = *self.bytes.get(self.at / 8)?;
            value |= u32::from(byte >> (self.at % 8) & 1) << bit;
            self.at = self.at.checked_add(1)?;
        }
        Some(value)
    }
}

/// Boxes of this format that hold no notes.
fn is_known(name: &[u8; 4]) -> bool {
    const KNOWN: [&[u8; 4]; 9] = [b"JXL ", b"ftyp", b"jxll", b"jxlc", b"jxlp", b"jxli", b"jbrd", b"jhgm", b"Exif"];
    KNOWN.contains(&name)
}

#[cfg(test)]
mod tests;
