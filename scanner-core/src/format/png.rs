//! PNG and APNG, down to the chunks: order, lengths, checksums, size, pixels counted, frames, texts, what is behind.

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;
use memchr::memmem;

use crate::{
    finding::{Finding, Place, Rule, Stop},
    format::{
        Format, Out, Subject, exif,
        picture::{self, Account},
        qr,
    },
    limits::Budget,
    reader::{Reader, count},
};

mod animation;
mod chunk;
mod clean;
mod header;
mod metadata;
mod pixels;
mod rules;
mod shades;

use animation::Animation;
use chunk::{Checksum, Chunk};
use header::Header;

pub(crate) const FORMAT: Format = Format {
    name: "png",
    labels: &["png"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &rules::SIGNATURE,
        &rules::HEADER,
        &rules::ORDER,
        &rules::CRITICAL,
        &rules::PALETTE,
        &rules::CRC,
        &rules::ADLER,
        &picture::TRUNCATED,
        &picture::DIMENSIONS,
        &rules::FILTER,
        &picture::EXCESS,
        &picture::AFTER_PIXELS,
        &picture::TRAILING,
        &rules::ANIMATION,
        &picture::METADATA,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::NOTE,
        &qr::CODE,
        &qr::SCRIPT_URL,
        &qr::PROTOCOL,
        &exif::GPS,
        &exif::BROKEN,
    ],
};

/// Where a damaged signature may end at the latest: line ends rewritten add or drop a byte or two.
const SIGNATURE_WITHIN: usize = 32;
/// Chunks that may occur once (PNG §5.6), beside those whose order matters here.
const ONCE: [&[u8; 4]; 14] = [
    b"cHRM", b"cICP", b"gAMA", b"iCCP", b"mDCV", b"cLLI", b"sBIT", b"sRGB", b"bKGD", b"hIST", b"tRNS", b"eXIf",
    b"pHYs", b"tIME",
];

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut picture = Picture::of(subject.bytes);
    let walked = picture.walk(out, budget);
    picture.finish(walked.is_err(), out, budget);
    walked
}

/// One picture being walked.
struct Picture<'a> {
    bytes: &'a Bytes,
    header: Option<(Header, Range<usize>)>,
    /// A header was there, good or bad.
    has_header: bool,
    has_palette: bool,
    /// The table of colours.
    colours: Range<usize>,
    data: Data,
    /// Ranges of the packed pixels.
    pieces: Vec<Range<usize>>,
    animation: Option<Animation>,
    /// It was told that frames are not read.
    is_unread: bool,
    /// Said once that there are frames and no animation.
    is_stray_reported: bool,
    /// A limit refused pixels or frames: no more are looked at.
    is_refused: bool,
    is_ended: bool,
    once: BTreeSet<[u8; 4]>,
    account: Account,
}

/// Where the walk stands with the packed pixels, which must be in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    Before,
    Within,
    After,
}

impl<'a> Picture<'a> {
    fn of(bytes: &'a Bytes) -> Self {
        Self {
            bytes,
            header: None,
            has_header: false,
            has_palette: false,
            colours: 0..0,
            data: Data::Before,
            pieces: Vec::new(),
            animation: None,
            is_unread: false,
            is_stray_reported: false,
            is_refused: false,
            is_ended: false,
            once: BTreeSet::new(),
            account: Account::default(),
        }
    }

    fn walk(&mut self, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut reader = Reader::new(self.bytes);
        self.signature(&mut reader, out)?;
        while !self.is_ended {
            let (chunk, stop) = chunk::next(&mut reader, budget)?;
            if let Some(chunk) = chunk {
                self.chunk(&chunk, out, budget);
            }
            if let Some(stop) = stop {
                return Err(stop);
            }
            if chunk.is_none() {
                return Ok(());
            }
        }
        Ok(picture::behind(self.bytes, reader.position()..self.bytes.len(), out, budget)?)
    }

    /// Eight bytes; damaged ones are stepped over when the header chunk is found behind them.
    fn signature(&self, reader: &mut Reader<'_>, out: &mut Out<'_>) -> Result<(), Stop> {
        if reader.rest().starts_with(chunk::SIGNATURE) {
            return Ok(reader.seek(count(chunk::SIGNATURE.len()))?);
        }
        if chunk::SIGNATURE.starts_with(reader.rest()) {
            return Err(Stop::malformed("the file ends in the signature", 0));
        }
        let head = self.bytes.get(..SIGNATURE_WITHIN).unwrap_or(self.bytes);
        // The length of the header chunk stands before its name.
        let start = memmem::find(head, b"IHDR").and_then(|name| name.checked_sub(4));
        let Some(start) = start else { return Err(Stop::malformed("this is no PNG signature", 0)) };
        out.find(Finding::built_in(&rules::SIGNATURE).at(0, count(start)));
        Ok(reader.seek(count(start))?)
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>, budget: &mut Budget) {
        if chunk.checksum == Checksum::Wrong {
            let end = chunk.span().1;
            let message = format!("chunk {} does not match its checksum", chunk.name());
            out.find(
                Finding::built_in(&rules::CRC).at(end, end.saturating_add(4)).place(chunk.place()).message(message),
            );
        }
        if !self.has_header && chunk.kind != *b"IHDR" {
            say(out, &rules::ORDER, chunk, "the picture does not begin with its header");
            // Once is enough.
            self.has_header = true;
        }
        if self.data == Data::Within && chunk.kind != *b"IDAT" {
            self.data = Data::After;
        }
        match &chunk.kind {
            b"IHDR" => self.header(chunk, out),
            b"PLTE" => self.palette(chunk, out),
            b"IDAT" => self.pixels(chunk, out),
            b"IEND" => {
                self.is_ended = true;
                if !chunk.data.is_empty() {
                    say(out, &rules::ORDER, chunk, "the end chunk carries data");
                    metadata::opaque(self.bytes, chunk, &mut self.account, out);
                }
            }
            b"acTL" => self.animation(chunk, out),
            b"fcTL" => self.frame(chunk, out, budget),
            b"fdAT" => self.frame_data(chunk, out),
            _ if chunk.is_critical() => {
                let message = format!("chunk {} says that it is essential, and no standard knows it", chunk.name());
                say(out, &rules::CRITICAL, chunk, message);
                metadata::opaque(self.bytes, chunk, &mut self.account, out);
            }
            kind => {
                if ONCE.contains(&kind) && !self.once.insert(chunk.kind) {
                    say(out, &picture::METADATA, chunk, format!("there is more than one chunk {}", chunk.name()));
                }
                metadata::read(self.bytes, chunk, &mut self.account, out, budget);
            }
        }
    }

    fn header(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>) {
        if self.header.is_some() {
            say(out, &rules::ORDER, chunk, "there is a second header");
            return;
        }
        self.has_header = true;
        if !chunk.is_whole {
            return;
        }
        match Header::read(chunk.data) {
            Ok(header) => self.header = Some((header, range_of(chunk))),
            Err(what) => say(out, &rules::HEADER, chunk, what),
        }
    }

    fn palette(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>) {
        if self.has_palette || self.data != Data::Before {
            say(out, &rules::ORDER, chunk, "the colour table is doubled, or comes behind the pixels");
        }
        self.has_palette = true;
        self.colours = range_of(chunk);
        let Some((header, _)) = &self.header else { return };
        let (colours, odd) = chunk.data.as_chunks::<3>();
        let most = if header.color == 3 { 1_usize.checked_shl(header.depth.into()).unwrap_or(0) } else { 256 };
        if !chunk.is_whole {
            // What was cut off is the gap already.
        } else if matches!(header.color, 0 | 4) {
            say(out, &rules::PALETTE, chunk, "a grey picture has no colour table");
        } else if !odd.is_empty() || colours.is_empty() || colours.len() > most {
            let message =
                format!("a colour table of {} bytes, where there is room for {most} colours", chunk.data.len());
            say(out, &rules::PALETTE, chunk, message);
        }
    }

    fn pixels(&mut self, chunk: &Chunk<'_>, out: &mut Out<'_>) {
        match self.data {
            Data::Before if self.header.as_ref().is_some_and(|(header, _)| header.color == 3) && !self.has_palette => {
                say(out, &rules::PALETTE, chunk, "the picture needs a colour table and has none before its pixels");
            }
            Data::After => say(out, &rules::ORDER, chunk, "other parts stand between the pixels"),
            Data::Before | Data::Within => {}
        }
        self.data = Data::Within;
        self.pieces.push(range_of(chunk));
    }

    /// Everything that can be said only once all chunks were seen.
    fn finish(mut self, is_stopped: bool, out: &mut Out<'_>, budget: &mut Budget) {
        let is_cut = is_stopped || !self.is_ended;
        self.end_frame(is_cut, out, budget);
        if is_stopped && !self.has_header {
            picture::disguise(self.bytes, chunk::SIGNATURE.len().min(self.bytes.len())..self.bytes.len(), out);
        }
        if !is_stopped && !self.is_ended {
            let end = count(self.bytes.len());
            out.find(Finding::built_in(&picture::TRUNCATED).at(end, end).message("the end chunk is missing"));
        }
        if let Some(animation) = self.animation.as_ref().filter(|_| !is_cut)
            && animation.frames != animation.declared
        {
            let message = format!("{} frames are announced, {} are there", animation.declared, animation.frames);
            let (from, to) = (count(animation.at.start), count(animation.at.end));
            let place = Place::default().name("chunk", "acTL");
            out.find(Finding::built_in(&rules::ANIMATION).at(from, to).place(place).message(message));
        }
        if let Some((header, at)) = self.header.take() {
            let pieces = std::mem::take(&mut self.pieces);
            self.judge(&header, &at, &pieces, is_cut, out, budget);
        }
        self.account.into_gaps(out);
    }
}

fn range_of(chunk: &Chunk<'_>) -> Range<usize> {
    chunk.from..chunk.from.saturating_add(chunk.data.len())
}

fn say(out: &mut Out<'_>, rule: &'static Rule, chunk: &Chunk<'_>, message: impl Into<String>) {
    let (from, to) = chunk.span();
    out.find(Finding::built_in(rule).at(from, to).place(chunk.place()).message(message));
}

#[cfg(test)]
mod tests;
