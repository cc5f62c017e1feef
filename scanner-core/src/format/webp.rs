//! WebP, down to the chunks: the RIFF length, what the first chunk promises, frames, notes, what is behind.

use std::ops::Range;

use crate::{
    finding::{Place, Stop},
    format::{
        Format, Out, Subject, exif,
        picture::{self, Size, Walk, mild, say},
        qr::{self, Grey},
    },
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, count},
};

mod clean;
mod shades;

pub(crate) const FORMAT: Format = Format {
    name: "webp",
    labels: &["webp"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &picture::STRUCTURE,
        &picture::TRUNCATED,
        &picture::DIMENSIONS,
        &picture::FRAMES,
        &picture::TRAILING,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::METADATA,
        &picture::NOTE,
        &exif::GPS,
        &exif::BROKEN,
        &qr::CODE,
        &qr::SCRIPT_URL,
        &qr::PROTOCOL,
    ],
};

/// Beside its bytes, a chunk costs its turn.
const STEPS_PER_CHUNK: u64 = 10;
/// `RIFF`, length, `WEBP`.
const HEAD: usize = 12;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut picture =
        Picture { walk: Walk::over(subject.bytes), at: 0, canvas: None, is_animated: false, image: None, end: None };
    let walked = picture.walk(out, budget);
    picture.finish(&walked, out, budget);
    walked
}

/// One picture being walked.
struct Picture<'a> {
    walk: Walk<'a>,
    /// Where the walk stands: the chunk that begins here is not read yet.
    at: usize,
    /// What the first chunk promises, and where.
    canvas: Option<(Size, Range<usize>)>,
    is_animated: bool,
    /// The size of the picture that is no frame.
    image: Option<Size>,
    /// Where the RIFF ends, once all of it was seen.
    end: Option<usize>,
}

/// One chunk.
struct Chunk {
    name: [u8; 4],
    /// Of its content.
    range: Range<usize>,
}

impl Chunk {
    fn place(&self) -> Place {
        let name: String = self.name.iter().copied().map(char::from).collect();
        Place::default().name("chunk", name.trim_end()).number("offset", count(self.range.start))
    }
}

impl Picture<'_> {
    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(self.walk.bytes);
        reader.take(4)?;
        let length = reader.u32_le()?;
        reader.take(4)?;
        let whole = u64::from(length).saturating_add(8);
        let end = usize::try_from(whole).unwrap_or(usize::MAX).min(self.walk.bytes.len());
        while reader.position() < end {
            self.at = reader.position();
            let chunk = next(&mut reader, budget)?;
            self.chunk(&chunk, out, budget)?;
        }
        if whole > count(self.walk.bytes.len()) {
            let message = format!("the file says it has {whole} bytes, {} are there", self.walk.bytes.len());
            say(out, &picture::TRUNCATED, 4..8, message);
        }
        if reader.position() > end.saturating_add(1) {
            say(
                out,
                &picture::STRUCTURE,
                self.at..reader.position(),
                "the last part is longer than the file says it is",
            );
        }
        // The last chunk may be one byte longer than the file says: the padding.
        self.end = Some(reader.position().max(end));
        Ok(())
    }

    fn chunk(&mut self, chunk: &Chunk, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let content = self.walk.bytes.get(chunk.range.clone()).unwrap_or_default();
        let is_first = chunk.range.start == HEAD.saturating_add(8);
        if is_first && !matches!(&chunk.name, b"VP8 " | b"VP8L" | b"VP8X") {
            say(out, &picture::STRUCTURE, chunk.range.clone(), "the picture does not begin with its size");
        }
        match &chunk.name {
            b"VP8X" => {
                let Some(&[flags, _, _, _, w0, w1, w2, h0, h1, h2]) = content.first_chunk::<10>() else {
                    return Err(Stop::malformed("the chunk that promises the size is cut", count(self.at)));
                };
                if self.canvas.is_some() || !is_first {
                    say(out, &picture::STRUCTURE, chunk.range.clone(), "the size is promised twice, or late");
                    return Ok(());
                }
                let size = Size::new(one_more([w0, w1, w2]), one_more([h0, h1, h2]));
                self.canvas = Some((size, chunk.range.clone()));
                self.is_animated = flags & 2 != 0;
                self.walk.size(size, chunk.range.clone(), None, out, budget);
            }
            b"VP8 " | b"VP8L" => {
                let size = self.bitstream(chunk, content, out)?;
                if self.image.replace(size).is_some() {
                    say(out, &picture::STRUCTURE, chunk.range.clone(), "there is a second picture");
                }
                match &self.canvas {
                    None => {
                        self.walk.size(size, chunk.range.clone(), None, out, budget);
                    }
                    Some((canvas, _)) if *canvas != size => {
                        let message = format!(
                            "{} × {} pixels are promised, {} × {} are there",
                            canvas.width, canvas.height, size.width, size.height
                        );
                        say(out, &picture::STRUCTURE, chunk.range.clone(), message);
                    }
                    Some(_) => {}
                }
            }
            b"ANMF" => self.frame(chunk, out, budget)?,
            b"ANIM" | b"ALPH" => {}
            b"EXIF" => {
                if let Err(stop) = exif::read(self.walk.bytes, chunk.range.clone(), &chunk.place(), out, budget) {
                    self.walk.account.not_read(stop);
                }
            }
            b"XMP " => self.walk.xmp(chunk.range.clone(), &chunk.place(), out),
            b"ICCP" => self.walk.runs(chunk.range.clone(), &chunk.place(), out, budget),
            _ => self.walk.opaque(chunk.range.clone(), &chunk.place(), out, budget),
        }
        Ok(())
    }

    /// A frame: place, size, and chunks of its own.
    fn frame(&mut self, chunk: &Chunk, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(self.walk.bytes);
        reader.seek(count(chunk.range.start))?;
        let [x0, x1, x2, y0, y1, y2, w0, w1, w2, h0, h1, h2, ..] = reader.array::<16>()?;
        let size = Size::new(one_more([w0, w1, w2]), one_more([h0, h1, h2]));
        let (canvas, _) = self.canvas.clone().unwrap_or((size, 0..0));
        self.walk.frame(canvas, budget);
        let beyond = |start: [u8; 3], length: u32, room: u32| {
            u64::from(one_more(start).saturating_sub(1)).saturating_mul(2).saturating_add(length.into()) > room.into()
        };
        if beyond([x0, x1, x2], size.width, canvas.width) || beyond([y0, y1, y2], size.height, canvas.height) {
            say(out, &picture::STRUCTURE, chunk.range.clone(), "a frame reaches beyond the canvas");
        }
        // The canvas is paid already: the first frame costs nothing more.
        if self.walk.frames() > 1 {
            self.walk.size(size, chunk.range.clone(), None, out, budget);
        }
        let mut is_drawn = false;
        while reader.position() < chunk.range.end {
            let at = reader.position();
            let inner = next(&mut reader, budget)?;
            if inner.range.end > chunk.range.end {
                return Err(Stop::malformed("a part of a frame is longer than the frame", count(at)));
            }
            let content = self.walk.bytes.get(inner.range.clone()).unwrap_or_default();
            match &inner.name {
                b"VP8 " | b"VP8L" => {
                    let drawn = self.bitstream(&inner, content, out)?;
                    if drawn != size || is_drawn {
                        say(out, &picture::STRUCTURE, inner.range.clone(), "a frame is not the picture it promises");
                    }
                    is_drawn = true;
                }
                b"ALPH" => {}
                _ => self.walk.opaque(inner.range.clone(), &inner.place(), out, budget),
            }
        }
        if !is_drawn {
            say(out, &picture::STRUCTURE, chunk.range.clone(), "a frame has no pixels");
        }
        Ok(())
    }

    /// The size that the packed pixels themselves begin with (RFC 6386 §9.1; `WebP` lossless §3).
    fn bitstream(&self, chunk: &Chunk, content: &[u8], out: &mut Out<'_>) -> Result<Size, Stop> {
        let at = count(chunk.range.start);
        if chunk.name == *b"VP8L" {
            let Some(&[0x2f, b0, b1, b2, b3]) = content.first_chunk::<5>() else {
                return Err(Stop::malformed("the lossless pixels do not begin as they must", at));
            };
            let bits = u32::from_le_bytes([b0, b1, b2, b3]);
            if bits >> 29 != 0 {
                say(out, &picture::STRUCTURE, chunk.range.clone(), "there is no such version of lossless pixels");
            }
            let size = Size::new((bits & 0x3fff).saturating_add(1), (bits >> 14 & 0x3fff).saturating_add(1));
            return Ok(size);
        }
        let Some(&[t0, t1, t2, 0x9d, 0x01, 0x2a, w0, w1, h0, h1]) = content.first_chunk::<10>() else {
            return Err(Stop::malformed("the lossy pixels do not begin as they must", at));
        };
        let tag = u32::from_le_bytes([t0, t1, t2, 0]);
        if tag & 1 != 0 || tag >> 1 & 7 > 3 {
            say(out, &picture::STRUCTURE, chunk.range.clone(), "the lossy pixels are no picture of their own");
        }
        if count(content.len()) < u64::from(tag >> 5).saturating_add(10) {
            say(out, &picture::TRUNCATED, chunk.range.clone(), "the lossy pixels end within their first part");
        }
        let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
        let size = Size::new(side(w0, w1), side(h0, h1));
        if size.area() == 0 {
            say(out, &picture::STRUCTURE, chunk.range.clone(), "the lossy pixels have no size");
        }
        Ok(size)
    }

    /// Everything that can be said only once all chunks were seen.
    fn finish(mut self, walked: &Result<(), Stop>, out: &mut Out<'_>, budget: &mut Budget) {
        self.walk.unread(walked, self.at, self.image.is_none() && self.walk.frames() == 0, out, budget);
        if let Some(end) = self.end {
            let frames = self.walk.frames();
            if self.image.is_none() && frames == 0 && self.canvas.is_some() {
                say(out, &picture::TRUNCATED, end..end, "there are no pixels in it");
            } else if self.image.is_none() && frames == 0 {
                say(out, &picture::STRUCTURE, 0..end, "there is no picture in it");
            } else if self.is_animated != (frames > 0) {
                mild(out, &picture::STRUCTURE, HEAD..end, "its first part and its frames disagree on whether it moves");
            }
            self.walk.behind(end, out, budget);
            self.codes(end, out, budget);
        }
        let canvas = self.canvas.map_or(0..0, |(_, at)| at);
        self.walk.finish(canvas, out);
    }
}

impl Picture<'_> {
    /// Looks for codes and letters in a picture that does not move.
    fn codes(&mut self, end: usize, out: &mut Out<'_>, budget: &mut Budget) {
        let Some(size) = self.image.filter(|_| self.walk.frames() == 0) else { return };
        if qr::is_wanted(budget) && size.area() > shades::MOST_PIXELS {
            return out.unsupported("nothing here looks through the pixels of so large a picture of this kind");
        }
        let file = self.walk.bytes.get(..end).unwrap_or_default();
        if let Err(exhausted) = look_through(file, size, out, budget) {
            self.walk.account.not_looked_through(exhausted);
        }
    }
}

fn look_through(file: &[u8], size: Size, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Exhausted> {
    let Some(blank) = Grey::of(size, budget)? else { return Ok(()) };
    match shades::drawn(file, size, blank, budget)? {
        Some(grey) => qr::read(grey, HEAD..file.len(), out, budget),
        None => {
            out.unsupported("nothing here unpacks the pixels of this picture: what they show was not read");
            Ok(())
        }
    }
}

/// The next chunk: name, length, content, and a byte more where that is odd.
fn next(reader: &mut Reader<'_>, budget: &mut Budget) -> Result<Chunk, Stop> {
    budget.spend(Resource::Objects, 1)?;
    budget.spend(Resource::Steps, STEPS_PER_CHUNK)?;
    let at = reader.position();
    let cut = |_| Stop::malformed("the file ends in the head of a chunk", count(at));
    let name: [u8; 4] = reader.array().map_err(cut)?;
    let length = reader.u32_le().map_err(cut)?;
    let left = reader.left();
    let start = reader.position();
    if reader.take(length.into()).is_err() {
        let what = format!("a chunk says it has {length} bytes, {left} are left");
        return Err(Stop::malformed(what, count(at)));
    }
    let range = start..reader.position();
    // Some writers leave the last padding out.
    if length % 2 == 1 && !reader.is_at_end() {
        reader.take(1)?;
    }
    Ok(Chunk { name, range })
}

/// Three bytes, little end first, of a number less one.
fn one_more([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0]).saturating_add(1)
}

#[cfg(test)]
mod tests;
