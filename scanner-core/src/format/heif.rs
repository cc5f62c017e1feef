//! HEIF and AVIF: the boxes, the sizes that items state, where items stand, notes among them, what is behind.

use std::ops::Range;

use bytes::Bytes;

use crate::{
    finding::{Place, Stop},
    format::{
        Format, Out, Subject,
        boxes::{self, Part},
        exif,
        picture::{self, Size, Walk, say},
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

mod items;

use items::Items;

pub(crate) const FORMAT: Format = Format {
    name: "heif",
    labels: &["avif", "heic"],
    inspect,
    clean: None,
    rules: &[
        &picture::STRUCTURE,
        &picture::TRUNCATED,
        &picture::DIMENSIONS,
        &picture::FRAMES,
        &picture::TRAILING,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::NOTE,
        &exif::GPS,
        &exif::BROKEN,
    ],
};

/// Boxes that hold boxes, and how many bytes of their own stand before those.
const HOLDERS: [(&[u8; 4], usize); 8] =
    [(b"meta", 4), (b"iprp", 0), (b"ipco", 0), (b"moov", 0), (b"trak", 0), (b"mdia", 0), (b"minf", 0), (b"stbl", 0)];
/// No file of this format nests deeper than a sequence of pictures in a track.
const DEEPEST: u8 = 8;
/// The longest side of a picture that either codec knows.
const LONGEST_SIDE: u64 = 65_536;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut file = File::of(subject.bytes);
    let walked = file.walk(out, budget);
    file.finish(&walked, out, budget)?;
    walked
}

/// One file being walked.
struct File<'a> {
    walk: Walk<'a>,
    /// Where the walk stands among the outermost boxes.
    at: usize,
    /// The largest size stated, and where.
    largest: Option<(Size, Range<usize>)>,
    items: Items,
    /// Pictures of the longest track.
    samples: u64,
    /// Whether any size was stated.
    has_size: bool,
    end: Option<usize>,
}

impl<'a> File<'a> {
    fn of(bytes: &'a Bytes) -> Self {
        Self {
            walk: Walk::over(bytes),
            at: 0,
            largest: None,
            items: Items::default(),
            samples: 0,
            has_size: false,
            end: None,
        }
    }

    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let length = self.walk.bytes.len();
        while self.at < length {
            let part = boxes::next(self.walk.bytes, &(self.at..length), budget);
            // What does not look like a box stands behind the last one.
            let known = |part: &Part| part.is_named() && (!part.is_cut || is_known(&part.name));
            let part = match part {
                Ok(Some(part)) if known(&part) || self.at == 0 => part,
                Err(stop @ Stop::Limit(_)) => return Err(stop),
                Err(stop) if self.at == 0 => return Err(stop),
                _ => break,
            };
            if part.is_cut {
                self.inside(&part, out, budget)?;
                return Err(part.cut());
            }
            self.inside(&part, out, budget)?;
            self.at = part.range.end;
        }
        self.end = Some(self.at);
        Ok(())
    }

    /// A box and those in it: a stack, so that nesting costs no call.
    fn inside(&mut self, outer: &Part, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut stack: Vec<(Range<usize>, u8)> = Vec::new();
        let mut part = outer.clone();
        let mut depth = 0_u8;
        loop {
            match HOLDERS.iter().find(|(name, _)| **name == part.name) {
                Some(_) if depth >= DEEPEST => {
                    say(out, &picture::STRUCTURE, part.range.clone(), "boxes in boxes, deeper than any picture needs");
                }
                Some((_, own)) => stack.push((part.from(*own), depth.saturating_add(1))),
                None => self.leaf(&part, depth, out, budget)?,
            }
            part = loop {
                let Some((range, level)) = stack.pop() else { return Ok(()) };
                if let Some(next) = boxes::next(self.walk.bytes, &range, budget)? {
                    if next.is_cut && !outer.is_cut {
                        return Err(next.cut());
                    }
                    stack.push((next.range.end..range.end, level));
                    depth = level;
                    break next;
                }
            };
        }
    }

    fn leaf(&mut self, part: &Part, depth: u8, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let content = self.walk.bytes.get(part.range.clone()).unwrap_or_default();
        let mut reader = Reader::new(content);
        match &part.name {
            b"ispe" => {
                reader.take(4)?;
                let size = Size::new(reader.u32_be()?, reader.u32_be()?);
                self.state(size, part.range.clone());
            }
            // Sixteen bits of each side stand behind the point.
            b"tkhd" => {
                let at = if content.first() == Some(&1) { 88 } else { 76 };
                reader.seek(at)?;
                self.state(Size::new(reader.u32_be()? >> 16, reader.u32_be()? >> 16), part.range.clone());
            }
            b"stsz" => {
                reader.take(8)?;
                self.samples = self.samples.max(reader.u32_be()?.into());
            }
            b"iloc" => self.items.locations(&mut reader, budget)?,
            b"iinf" => {
                self.items.kinds(self.walk.bytes, part, budget)?;
                // Items have names and types, which are words of whoever wrote the file.
                for words in std::mem::take(&mut self.items.words) {
                    self.walk.opaque(words, &part.place(), out, budget);
                }
            }
            b"idat" => self.items.data = Some(part.range.clone()),
            _ if is_known(&part.name) && depth == 0 => {
                if matches!(&part.name, b"free" | b"skip" | b"uuid" | b"wide") {
                    self.walk.opaque(part.range.clone(), &part.place(), out, budget);
                }
            }
            _ if depth == 0 => self.walk.opaque(part.range.clone(), &part.place(), out, budget),
            b"free" | b"skip" | b"uuid" => self.walk.opaque(part.range.clone(), &part.place(), out, budget),
            _ => {}
        }
        Ok(())
    }

    fn state(&mut self, size: Size, at: Range<usize>) {
        self.has_size = true;
        if self.largest.as_ref().is_none_or(|(largest, _)| largest.area() < size.area()) {
            self.largest = Some((size, at));
        }
    }

    /// Everything that can be said only once all boxes were seen.
    fn finish(mut self, walked: &Result<(), Stop>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        self.walk.unread(walked, self.at, self.largest.is_none(), out, budget);
        if let Some((size, at)) = self.largest.take() {
            if size.side() > LONGEST_SIDE && size.is_gigantic() && !self.items.has_grid {
                let message = format!("{} × {} pixels, more than the codec can hold", size.width, size.height);
                say(out, &picture::DIMENSIONS, at.clone(), message);
            }
            self.walk.size(size, at, None, out, budget);
            self.walk.drawn(size, self.samples);
        }
        if let Err(exhausted) = budget.spend(Resource::Frames, self.samples) {
            self.walk.account.not_read(exhausted.into());
        }
        self.notes(out, budget);
        if let Some(end) = self.end {
            if !self.has_size {
                say(out, &picture::STRUCTURE, 0..end, "nothing says how large the picture is");
            }
            if self.items.cut > 0 {
                let message = format!("items outside the file, or beyond its end: {}", self.items.cut);
                say(out, &picture::TRUNCATED, end..end, message);
            }
            self.walk.behind(end, out, budget);
        }
        self.walk.finish(0..0, out);
        Ok(())
    }

    /// Items that are no pictures: camera data, XMP, whatever else.
    fn notes(&mut self, out: &mut Out<'_>, budget: &mut Budget) {
        for (kind, range) in self.items.notes(self.walk.bytes.len()) {
            let place = Place::default().name("entry", kind.as_str()).number("offset", count(range.start));
            let content = self.walk.bytes.get(range.clone()).unwrap_or_default();
            if kind != "Exif" && picture::is_text(content) {
                self.walk.xmp(range, &place, out);
                continue;
            }
            if kind != "Exif" {
                self.walk.note(range, &place, out, budget);
                continue;
            }
            let start = boxes::behind_distance(self.walk.bytes, &range);
            if let Err(stop) = exif::read(self.walk.bytes, start..range.end, &place, out, budget) {
                self.walk.account.not_read(stop);
            }
        }
    }
}

/// Boxes that stand outermost in such files.
fn is_known(name: &[u8; 4]) -> bool {
    const KNOWN: [&[u8; 4]; 14] = [
        b"ftyp", b"styp", b"meta", b"moov", b"mdat", b"free", b"skip", b"wide", b"uuid", b"moof", b"mfra", b"sidx",
        b"pdin", b"mpvd",
    ];
    KNOWN.contains(&name)
}

#[cfg(test)]
mod tests;
