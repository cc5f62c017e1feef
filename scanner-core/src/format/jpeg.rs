//! JPEG, down to the segments: order, lengths, tables, scans, notes, what is behind the end.

use std::ops::Range;

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Place, Stop},
    format::{
        Format, Out, Subject, exif,
        ifd::Data,
        picture::{self, Size, Walk, mild, say},
        qr,
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

mod clean;
mod coding;
mod huffman;
mod shades;

use coding::{Frame, Scan, Tables};
use shades::Store;

pub(crate) const FORMAT: Format = Format {
    name: "jpeg",
    labels: &["jpeg"],
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

/// Beside its bytes, a segment costs its turn.
const STEPS_PER_SEGMENT: u64 = 10;
/// Bytes of pixels passed over in one step.
const BYTES_PER_STEP: u64 = 16;
/// Encoders that look for the best scans end at about twenty; each scan beyond costs a viewer the whole picture anew.
const FREE_SCANS: u64 = 64;
/// Scans among which the first channel is, where each has one of its own.
const MOST_CHANNELS: u64 = 4;
/// Decoders that count give up here.
const MOST_SCANS: u64 = 100;

/// Markers (ITU T.81 table B.1).
const SOI: u8 = 0xd8;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;
const TEM: u8 = 0x01;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut picture = Picture::of(subject.bytes);
    picture.store = qr::is_wanted(budget).then(Store::default);
    let walked = picture.walk(out, budget);
    picture.finish(&walked, out, budget);
    walked
}

/// One picture being walked.
struct Picture<'a> {
    walk: Walk<'a>,
    /// Where the walk stands: the part that begins here is not read yet.
    at: usize,
    frame: Option<Frame>,
    tables: Tables,
    /// Tables for who looks at pixels, where anybody does.
    store: Option<Store>,
    scans: u64,
    /// The size was compared with the bytes of the first scan.
    is_weighed: bool,
    is_lie: bool,
    /// One behind the end marker.
    end: Option<usize>,
    /// Other pictures in the file that this one names (CIPA DC-007).
    others: Vec<Range<usize>>,
}

/// One marker and what belongs to it.
struct Segment {
    marker: u8,
    /// Of the marker's first byte.
    at: usize,
    /// Of its content.
    range: Range<usize>,
}

impl Segment {
    fn name(&self) -> String {
        match self.marker {
            0xe0..=0xef => format!("APP{}", self.marker & 15),
            0xfe => "COM".to_owned(),
            0xc4 => "DHT".to_owned(),
            0xc8 => "JPG".to_owned(),
            0xcc => "DAC".to_owned(),
            0xc0..=0xcf => format!("SOF{}", self.marker & 15),
            SOS => "SOS".to_owned(),
            0xdb => "DQT".to_owned(),
            0xdc => "DNL".to_owned(),
            0xdd => "DRI".to_owned(),
            marker => format!("{marker:02X}"),
        }
    }

    fn place(&self) -> Place {
        Place::default().name("chunk", self.name()).number("offset", count(self.at))
    }

    /// The content from an offset on.
    fn from(&self, offset: usize) -> Range<usize> {
        self.range.start.saturating_add(offset).min(self.range.end)..self.range.end
    }
}

impl<'a> Picture<'a> {
    fn of(bytes: &'a Bytes) -> Self {
        Self {
            walk: Walk::over(bytes),
            at: 0,
            frame: None,
            tables: Tables::default(),
            store: None,
            scans: 0,
            is_weighed: false,
            is_lie: false,
            end: None,
            others: Vec::new(),
        }
    }

    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(self.walk.bytes);
        // The sniffer saw the first marker.
        reader.take(2)?;
        loop {
            self.at = reader.position();
            let Some((marker, at)) = self.marker(&mut reader, out, budget)? else { return Ok(()) };
            match marker {
                EOI => {
                    self.end = Some(reader.position());
                    return Ok(());
                }
                SOI | TEM | 0xd0..=0xd7 => {
                    say(
                        out,
                        &picture::STRUCTURE,
                        at..reader.position(),
                        format!("a marker {marker:02X} between the parts"),
                    );
                }
                0xc0..=0xfe => self.segment(marker, at, &mut reader, out, budget)?,
                _ => return Err(Stop::malformed(format!("there is no marker {marker:02X}"), count(at))),
            }
        }
    }

    /// The next marker and where it begins; `None` at the end of the bytes.
    fn marker(
        &mut self,
        reader: &mut Reader<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<Option<(u8, usize)>, Stop> {
        budget.spend(Resource::Objects, 1)?;
        budget.spend(Resource::Steps, STEPS_PER_SEGMENT)?;
        let from = reader.position();
        let found = loop {
            let Some(passed) = reader.until(0xff) else {
                reader.seek(count(self.walk.bytes.len()))?;
                break None;
            };
            budget.spend(Resource::Steps, count(passed.len()).div_ceil(BYTES_PER_STEP).saturating_add(1))?;
            // Any number of 0xff may stand before a marker.
            let filled = reader.rest().iter().take_while(|byte| **byte == 0xff).count();
            reader.take(count(filled))?;
            match reader.u8() {
                Ok(0) => {}
                Ok(marker) => break Some((marker, reader.position().saturating_sub(2))),
                Err(_) => break None,
            }
        };
        let between = from..found.map_or(self.walk.bytes.len(), |(_, at)| at);
        let junk = self.walk.bytes.get(between.clone()).unwrap_or_default();
        if junk.iter().any(|byte| *byte != 0xff) {
            let message = format!("{} bytes stand where a part of the picture should begin", junk.len());
            say(out, &picture::STRUCTURE, between.clone(), message);
            self.walk.opaque(between, &Place::default().number("offset", count(from)), out, budget);
        }
        Ok(found)
    }

    fn segment(
        &mut self,
        marker: u8,
        at: usize,
        reader: &mut Reader<'_>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let length = reader.u16_be()?;
        let start = reader.position();
        let Some(length) = length.checked_sub(2) else {
            return Err(Stop::malformed("a segment says that it is shorter than its own length field", count(at)));
        };
        let left = reader.left();
        let taken = reader.take(length.into());
        let end = start.saturating_add(usize::from(length).min(left));
        let segment = Segment { marker, at, range: start..end };
        let content = self.walk.bytes.get(start..end).unwrap_or_default();
        if taken.is_err() {
            // What is there is read as far as it goes.
            self.at = start;
            let what = format!("segment {} says it has {length} bytes, {left} are left", segment.name());
            return Err(Stop::malformed(what, count(at)));
        }
        if let Some(store) = &mut self.store {
            match marker {
                0xc4 => store.huffman(content),
                0xdb => store.quantization(content),
                0xdd => store.restarts(content),
                _ => {}
            }
        }
        let wrong = match marker {
            0xc4 => self.tables.huffman(content).err(),
            0xc8 => Some("there is no such kind of picture"),
            0xcc => (content.len() % 2 != 0).then_some("a table of arithmetic coding does not come out even"),
            0xc0..=0xcf => self.frame(&segment, content),
            0xdb => coding::quantization(content).err(),
            0xdc => self.late_height(content).err(),
            0xdd => self.tables.restarts(content).err(),
            0xe0..=0xef | 0xfe => {
                self.note(&segment, content, out, budget);
                None
            }
            SOS => {
                let wrong = self.scan(content);
                let data = reader.position();
                let restarts = entropy(reader, budget)?;
                self.weigh(data..reader.position(), content, out, budget);
                self.codes(data..reader.position(), content, out, budget);
                wrong.or(restarts)
            }
            // Hierarchical pictures, and what the standard keeps for later.
            _ => {
                self.walk.note(segment.range.clone(), &segment.place(), out, budget);
                None
            }
        };
        if let Some(wrong) = wrong {
            say(out, &picture::STRUCTURE, segment.range.clone(), format!("segment {}: {wrong}", segment.name()));
        }
        Ok(())
    }

    /// A frame header: size and components (ITU T.81 B.2.2).
    fn frame(&mut self, segment: &Segment, content: &[u8]) -> Option<&'static str> {
        if self.frame.is_some() {
            return Some("there is a second frame header");
        }
        match Frame::read(segment.marker, segment.range.clone(), content) {
            Ok(frame) => {
                self.frame = Some(frame);
                None
            }
            Err(wrong) => Some(wrong),
        }
    }

    /// The number of lines, said behind the first scan (ITU T.81 B.2.5).
    fn late_height(&mut self, content: &[u8]) -> Result<(), &'static str> {
        let mut reader = Reader::new(content);
        match (reader.u16_be(), self.scans, &mut self.frame) {
            (Ok(lines @ 1..), 1, Some(frame)) if reader.is_at_end() && frame.size.height == 0 => {
                frame.size.height = lines.into();
                Ok(())
            }
            _ => Err("a number of lines where none is due"),
        }
    }

    /// A scan header against the frame (ITU T.81 B.2.3).
    fn scan(&mut self, content: &[u8]) -> Option<&'static str> {
        self.scans = self.scans.saturating_add(1);
        match &self.frame {
            Some(frame) => frame.scan(content, &self.tables).err(),
            None => Some("pixels come before the size of the picture"),
        }
    }

    /// The first scan says whether the size can be true; scans beyond what encoders write cost the picture each.
    fn weigh(&mut self, data: Range<usize>, content: &[u8], out: &mut Out<'_>, budget: &mut Budget) {
        let Some(frame) = &self.frame else { return };
        if !self.is_weighed && frame.size.height != 0 {
            self.is_weighed = true;
            let backed = frame.most_pixels(content, &self.tables, count(data.len()));
            self.is_lie = !self.walk.size(frame.size, frame.at.clone(), backed, out, budget);
        } else if self.scans > FREE_SCANS {
            self.walk.size(frame.size, frame.at.clone(), None, out, budget);
        }
    }

    /// Looks for codes in the pixels of a scan.
    fn codes(&mut self, data: Range<usize>, content: &[u8], out: &mut Out<'_>, budget: &mut Budget) {
        let (Some(store), Some(frame), Some(scan)) = (&self.store, &self.frame, Scan::read(content)) else { return };
        if self.is_lie || self.scans > MOST_CHANNELS {
            return;
        }
        let packed = self.walk.bytes.get(data.clone()).unwrap_or_default();
        let grey = shades::grey(store, frame, &scan, packed, budget);
        let read = grey.and_then(|grey| grey.map_or(Ok(()), |grey| qr::read(grey, data, out, budget)));
        if let Err(exhausted) = read {
            self.walk.account.not_looked_through(exhausted);
        }
    }

    /// Application data and comments.
    fn note(&mut self, segment: &Segment, content: &[u8], out: &mut Out<'_>, budget: &mut Budget) {
        const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
        const MORE_XMP: &[u8] = b"http://ns.adobe.com/xmp/extension/\0";
        let place = segment.place();
        match (segment.marker, content) {
            (0xe0, [b'J', b'F', b'I', b'F', 0, rest @ ..]) => {
                let thumbnail = match rest {
                    [_, _, _, _, _, _, _, width, height, ..] => {
                        3_usize.saturating_mul((*width).into()).saturating_mul((*height).into())
                    }
                    _ => usize::MAX,
                };
                let head = 14_usize.saturating_add(thumbnail);
                if head > content.len() {
                    mild(out, &picture::METADATA, segment.range.clone(), "segment APP0: its thumbnail is cut");
                }
                self.walk.opaque(segment.from(head.min(content.len())), &place, out, budget);
            }
            (0xe0, [b'J', b'F', b'X', b'X', 0, 0x10, ..]) => self.thumbnail(segment.from(6), out),
            (0xe1, [b'E', b'x', b'i', b'f', 0, ..]) => {
                if let Err(stop) = exif::read(self.walk.bytes, segment.range.clone(), &place, out, budget) {
                    self.walk.account.not_read(stop);
                }
            }
            (0xe1, _) if content.starts_with(XMP) => self.walk.xmp(segment.from(XMP.len()), &place, out),
            // A digest, a length and an offset stand before the piece.
            (0xe1, _) if content.starts_with(MORE_XMP) => {
                self.walk.xmp(segment.from(MORE_XMP.len().saturating_add(40)), &place, out);
            }
            (0xe2, [b'M', b'P', b'F', 0, ..]) => self.index_of_pictures(segment.from(4), budget),
            (0xe2, _) if content.starts_with(b"ICC_PROFILE\0") => self.walk.runs(segment.from(14), &place, out, budget),
            (0xee, _) if content.starts_with(b"Adobe") && content.len() == 12 => {}
            (0xfe, _) => self.walk.text(segment.range.clone(), &place, out),
            _ => self.walk.opaque(segment.range.clone(), &place, out, budget),
        }
    }

    fn thumbnail(&mut self, range: Range<usize>, out: &mut Out<'_>) {
        if !range.is_empty() {
            out.child(Source::stored(self.walk.bytes.slice(range)), None);
        }
    }

    /// The list of pictures in the file (CIPA DC-007 §5.2.3): sixteen bytes each, offsets from the header of the list.
    fn index_of_pictures(&mut self, range: Range<usize>, budget: &mut Budget) {
        let base = range.start;
        let list = self.walk.bytes.get(range).unwrap_or_default();
        let Some((data, Ok(first))) = Data::open(list) else { return };
        let Ok(mut directory) = data.directory(first) else { return };
        while let Some(Ok(entry)) = directory.entry() {
            if budget.spend(Resource::Steps, STEPS_PER_SEGMENT).is_err() {
                return;
            }
            if entry.tag != 0xb002 || self.others.len() > list.len() {
                continue;
            }
            let values = entry.value.unwrap_or_default();
            for picture in values.as_chunks::<16>().0 {
                let [_, _, _, _, s0, s1, s2, s3, o0, o1, o2, o3, ..] = *picture;
                let (length, offset) = data.pair([s0, s1, s2, s3], [o0, o1, o2, o3]);
                let start = usize::try_from(offset).ok().and_then(|offset| base.checked_add(offset));
                let range = start.and_then(|start| Some(start..start.checked_add(usize::try_from(length).ok()?)?));
                // One that is cut is still the picture it was.
                let length = self.walk.bytes.len();
                let range = range.filter(|range| offset > 0 && range.start < length);
                self.others.extend(range.map(|range| range.start..range.end.min(length)));
            }
        }
    }

    /// Everything that can be said only once all segments were seen.
    fn finish(mut self, walked: &Result<(), Stop>, out: &mut Out<'_>, budget: &mut Budget) {
        self.walk.unread(walked, self.at, self.scans == 0, out, budget);
        let length = self.walk.bytes.len();
        if let (Some(frame), false) = (&self.frame, self.is_weighed) {
            let lines = Size::new(frame.size.width, frame.size.height.max(1));
            self.is_lie = !self.walk.size(lines, frame.at.clone(), Some(0), out, budget);
        }
        if self.scans > MOST_SCANS
            && let Some(frame) = &self.frame
        {
            let message = format!("{} passes over {} × {} pixels", self.scans, frame.size.width, frame.size.height);
            say(out, &picture::FRAMES, frame.at.clone(), message);
        }
        match self.end {
            Some(end) => {
                if self.scans == 0 {
                    say(out, &picture::STRUCTURE, 0..end, "there are no pixels in it");
                }
                self.behind(end, out, budget);
            }
            None if walked.is_ok() && !self.is_lie => {
                say(out, &picture::TRUNCATED, length..length, "the end marker is missing");
            }
            None => {}
        }
        self.walk.finish(0..0, out);
    }

    /// What is behind the end: pictures that the list of pictures names, and what is not named.
    fn behind(&mut self, end: usize, out: &mut Out<'_>, budget: &mut Budget) {
        let mut end = end;
        let mut others = std::mem::take(&mut self.others);
        others.sort_by_key(|range| (range.start, range.end));
        for other in others.into_iter().filter(|range| !range.is_empty()) {
            if other.start < end {
                continue;
            }
            if let Err(exhausted) = picture::behind(self.walk.bytes, end..other.start, out, budget) {
                self.walk.account.not_read(exhausted.into());
            }
            end = other.end;
            self.thumbnail(other, out);
        }
        self.walk.behind(end, out, budget);
    }
}

/// Passes over the packed pixels of a scan, up to the next marker that is none of theirs; says if the restart markers
/// in it are not in their order.
fn entropy(reader: &mut Reader<'_>, budget: &mut Budget) -> Result<Option<&'static str>, Stop> {
    let mut wrong = None;
    let mut restart = 0xd0;
    loop {
        let before = reader.position();
        let Some(passed) = reader.until(0xff) else {
            let left = reader.left();
            budget.spend(Resource::Steps, count(left).div_ceil(BYTES_PER_STEP))?;
            reader.take(count(left))?;
            return Ok(wrong);
        };
        budget.spend(Resource::Steps, count(passed.len()).div_ceil(BYTES_PER_STEP).saturating_add(1))?;
        let here = before.saturating_add(passed.len());
        match reader.rest().first() {
            Some(0) => {
                reader.take(1)?;
            }
            Some(marker @ 0xd0..=0xd7) => {
                if *marker != restart {
                    wrong = Some("the restart marks in its pixels are out of order");
                }
                restart = 0xd0 | (marker.wrapping_add(1) & 7);
                reader.take(1)?;
            }
            // A fill byte: the next one is looked at as the first of a marker.
            Some(0xff) => {}
            _ => {
                reader.seek(count(here))?;
                return Ok(wrong);
            }
        }
    }
}

#[cfg(test)]
mod tests;
