//! What stands beside the pixels: texts, EXIF, colour profile, and chunks that a viewer may skip.

use std::ops::Range;

use bytes::Bytes;
use data_encoding::HEXLOWER_PERMISSIVE;

use crate::{
    bundle::Source,
    finding::{Finding, Span, Stop},
    format::{
        Out, exif,
        picture::{self, Account, METADATA, NOTE},
        strings,
    },
    inflate,
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::{OffsetMap, TextView},
};

use super::chunk::Chunk;

/// Bytes in a chunk that nobody knows without enough room to hide something.
const TOO_SHORT_TO_HIDE: usize = 64;

/// Chunks of numbers, with the lengths they may have (PNG §11.3 and the registered extensions; the last two are of
/// Apple and of `ImageMagick`). Nothing to read there.
const NUMBERS: [(&[u8; 4], &[usize]); 16] = [
    (b"gAMA", &[4]),
    (b"cHRM", &[32]),
    (b"sRGB", &[1]),
    (b"cICP", &[4]),
    (b"mDCV", &[24]),
    (b"cLLI", &[8]),
    (b"sBIT", &[1, 2, 3, 4]),
    (b"bKGD", &[1, 2, 6]),
    (b"pHYs", &[9]),
    (b"tIME", &[7]),
    (b"oFFs", &[9]),
    (b"gIFg", &[4]),
    (b"sTER", &[1]),
    (b"orNT", &[1]),
    (b"iDOT", &[28]),
    (b"vpAg", &[9]),
];

/// Keywords with a meaning of their own (PNG §11.3.3.2, XMP, `ImageMagick`): the rules have nothing to find in them.
const KEYWORDS: [&[u8]; 13] = [
    b"Title",
    b"Author",
    b"Description",
    b"Copyright",
    b"Creation Time",
    b"Software",
    b"Disclaimer",
    b"Warning",
    b"Source",
    b"Comment",
    b"XML:com.adobe.xmp",
    b"date:create",
    b"date:modify",
];

/// One chunk that is no part of the picture itself.
pub(super) fn read(bytes: &Bytes, chunk: &Chunk<'_>, account: &mut Account, out: &mut Out<'_>, budget: &mut Budget) {
    let mut note = Note { bytes, chunk, reader: Reader::new(chunk.data), account, out };
    match &chunk.kind {
        b"tEXt" => note.text(budget),
        b"zTXt" => note.packed_text(budget),
        b"iTXt" => note.international_text(budget),
        b"iCCP" => note.profile(budget),
        b"eXIf" => exif::read(bytes, note.range(0), &chunk.place(), note.out, budget)
            .unwrap_or_else(|stop| note.account.not_read(stop)),
        b"caBX" => note.claims(),
        b"sPLT" => note.suggested_palette(),
        // Two bytes or one for each colour: too many for a look, and nothing but text could be meant to be read there.
        b"hIST" | b"tRNS" if chunk.data.len() <= 512 => {
            note.if_text();
        }
        kind => match NUMBERS.iter().find(|(name, _)| *name == kind) {
            Some((_, lengths)) if lengths.contains(&chunk.data.len()) => {}
            Some(_) => {
                note.odd("it does not have the length that its kind has");
                note.opaque();
            }
            None => note.opaque(),
        },
    }
}

/// A chunk beside the pixels being read.
struct Note<'a, 'c, 'o> {
    bytes: &'a Bytes,
    chunk: &'a Chunk<'c>,
    reader: Reader<'c>,
    account: &'a mut Account,
    out: &'a mut Out<'o>,
}

impl Note<'_, '_, '_> {
    /// The rest of the chunk from an offset on, as a range of the file.
    fn range(&self, offset: usize) -> Range<usize> {
        let end = self.chunk.from.saturating_add(self.chunk.data.len());
        self.chunk.from.saturating_add(offset).min(end)..end
    }

    /// Something is not as it should be. What is there is read all the same. A cut chunk is a gap already.
    fn odd(&mut self, what: &str) {
        if self.chunk.is_whole {
            let (from, to) = self.chunk.span();
            let message = format!("chunk {}: {what}", self.chunk.name());
            self.out.find(Finding::built_in(&METADATA).at(from, to).place(self.chunk.place()).message(message));
        }
    }

    /// Reads a stretch of the file as it stands.
    fn as_it_stands(&mut self, range: Range<usize>) {
        if !range.is_empty() && range.end <= self.bytes.len() {
            let at = count(range.start);
            self.out.read(TextView::at(self.bytes.slice(range), at).place(self.chunk.place()).hidden(&NOTE));
        }
    }

    /// Everything from the cursor on.
    fn rest(&mut self) {
        self.as_it_stands(self.range(self.reader.position()));
    }

    /// A field that ends with a zero byte; without one the whole rest is read and nothing comes back.
    fn field(&mut self) -> Option<()> {
        let from = self.reader.position();
        let Some(field) = self.reader.until(0) else {
            self.odd("a text in it has no end");
            self.rest();
            return None;
        };
        if !KEYWORDS.contains(&field) {
            let range = self.range(from);
            self.as_it_stands(range.start..range.start.saturating_add(field.len()));
        }
        Some(())
    }

    /// Keyword, zero, text (PNG §11.3.3.3).
    fn text(&mut self, budget: &mut Budget) {
        if self.field().is_some() {
            self.raw_profile(self.reader.rest(), budget);
            self.rest();
        }
    }

    /// `ImageMagick` keeps what a JPEG had beside its pixels as hexadecimal text: a name, a length, digits.
    fn raw_profile(&mut self, text: &[u8], budget: &mut Budget) {
        if !self.chunk.data.starts_with(b"Raw profile type ") {
            return;
        }
        let digits = text.trim_ascii_start().splitn(3, |byte| *byte == b'\n').nth(2).unwrap_or_default();
        let digits: Vec<u8> = digits.iter().copied().filter(u8::is_ascii_hexdigit).collect();
        let (pairs, _) = digits.as_chunks::<2>();
        if let Err(exhausted) = budget.spend(Resource::DecodedBytes, count(pairs.len())) {
            return self.account.not_read(exhausted.into());
        }
        let profile = HEXLOWER_PERMISSIVE.decode(pairs.as_flattened()).unwrap_or_default();
        let profile = Bytes::from(profile);
        let (start, end) = self.chunk.span();
        let within = Span { start, end };
        let place = self.chunk.place();
        if profile.starts_with(b"Exif\0\0") || profile.starts_with(b"II*\0") || profile.starts_with(b"MM\0*") {
            let range = 0..profile.len();
            if let Err(stop) = exif::read_decoded(&profile, range, Some(within), &place, self.out, budget) {
                self.account.not_read(stop);
            }
            return;
        }
        let text = strings::runs(&profile);
        if !text.is_empty() {
            let map = OffsetMap::Within(within);
            self.out.read(TextView::decoded(text.into(), map, vec!["hex"]).place(place).hidden(&NOTE));
        }
    }

    /// Keyword, zero, method, packed text (PNG §11.3.3.4).
    fn packed_text(&mut self, budget: &mut Budget) {
        if self.field().is_none() {
            return;
        }
        match self.reader.u8() {
            Ok(0) => self.unpack_text(budget),
            _ => {
                self.odd("its text is packed in an unknown way");
                self.rest();
            }
        }
    }

    /// Keyword, zero, flag, method, language, zero, translated keyword, zero, text (PNG §11.3.3.5).
    fn international_text(&mut self, budget: &mut Budget) {
        if self.field().is_none() {
            return;
        }
        let packing = (self.reader.u8(), self.reader.u8());
        if self.field().is_none() || self.field().is_none() {
            return;
        }
        match packing {
            (Ok(0), _) => {
                self.coordinates(self.reader.rest());
                self.rest();
            }
            (Ok(1), Ok(0)) => self.unpack_text(budget),
            _ => {
                self.odd("its text is packed in an unknown way");
                self.rest();
            }
        }
    }

    /// XMP may say where the picture was taken.
    fn coordinates(&mut self, text: &[u8]) {
        if self.chunk.data.starts_with(b"XML:com.adobe.xmp") && picture::says_where(text) {
            let (from, to) = self.chunk.span();
            let finding = Finding::built_in(&exif::GPS).at(from, to).place(self.chunk.place());
            self.out.find(finding.message("coordinates in the XMP data"));
        }
    }

    fn unpack_text(&mut self, budget: &mut Budget) {
        // Texts wait until the rules read them, so together they may be as long as those will still read.
        let left = budget.left(Resource::TextBytes).saturating_sub(self.account.waiting);
        let text = self.unpack((Resource::TextBytes, left), budget);
        self.account.waiting = self.account.waiting.saturating_add(count(text.len()));
        self.raw_profile(&text, budget);
        self.coordinates(&text);
        self.read_within(text);
    }

    /// A text that has no byte-to-byte relation to the chunk.
    fn read_within(&mut self, text: Bytes) {
        if !text.is_empty() {
            let range = self.range(self.reader.position());
            let map = OffsetMap::Within(Span { start: count(range.start), end: count(range.end) });
            self.out.read(TextView::decoded(text, map, vec!["zlib"]).place(self.chunk.place()).hidden(&NOTE));
        }
    }

    /// Unpacks from the cursor on, at most so much.
    fn unpack(&mut self, most: (Resource, u64), budget: &mut Budget) -> Bytes {
        let unpacked = inflate::zlib(self.reader.rest(), most, budget);
        match unpacked.stop {
            Some(Stop::Malformed { what, at }) if self.chunk.is_whole => {
                let at = at.saturating_add(count(self.range(self.reader.position()).start));
                self.account.not_read(Stop::Malformed { what, at });
            }
            Some(stop @ Stop::Limit(_)) => self.account.not_read(stop),
            _ => {}
        }
        unpacked.bytes
    }

    /// Name, zero, method, packed ICC profile (PNG §11.3.2.3).
    fn profile(&mut self, budget: &mut Budget) {
        if self.field().is_none() {
            return;
        }
        if self.reader.u8() != Ok(0) {
            self.odd("its profile is packed in an unknown way");
            self.rest();
            return;
        }
        // A profile is no text: what may be read of it does not depend on what texts there are.
        let most = (Resource::ArtifactBytes, budget.limits().get(Resource::ArtifactBytes));
        let profile = self.unpack(most, budget);
        // ICC.1 §7.2: the length first, the letters acsp at 36, 128 bytes of header.
        let mut header = Reader::new(&profile);
        let length = header.u32_be().map_or(0, u64::from);
        let is_profile = profile.get(36..40) == Some(b"acsp") && length == count(profile.len());
        if is_profile || profile.is_empty() {
            self.read_within(strings::runs(&profile).into());
            return;
        }
        self.odd("what should be a colour profile is none");
        self.out.child(Source::stored(profile), None);
    }

    /// Content credentials (C2PA): boxes of claims and signatures. Their texts are read.
    fn claims(&mut self) {
        if self.chunk.data.get(4..8) != Some(b"jumb") {
            self.opaque();
            return;
        }
        let (start, end) = self.chunk.span();
        let text = strings::runs(self.chunk.data);
        let map = OffsetMap::Within(Span { start, end });
        self.out.read(TextView::decoded(text.into(), map, Vec::new()).place(self.chunk.place()).hidden(&NOTE));
    }

    /// Name, zero, depth, colours of six or ten bytes (PNG §11.3.5.4).
    fn suggested_palette(&mut self) {
        if self.field().is_none() {
            return;
        }
        let colour = match self.reader.u8() {
            Ok(8) => 6,
            Ok(16) => 10,
            _ => 0,
        };
        if self.reader.left().checked_rem(colour) != Some(0) {
            self.odd("its colours do not come out even");
            self.opaque();
        }
    }

    /// Reads the content if it is text.
    fn if_text(&mut self) -> bool {
        let is_text = picture::is_text(self.chunk.data);
        if is_text {
            self.as_it_stands(self.range(0));
        }
        is_text
    }

    /// Content that no viewer looks at: read if it is text, looked into if something could be hidden there.
    fn opaque(&mut self) {
        if !self.if_text() && self.chunk.data.len() > TOO_SHORT_TO_HIDE {
            self.out.child(Source::stored(self.bytes.slice(self.range(0))), None);
        }
    }
}

/// Content that no viewer looks at, of a chunk that should not be there.
pub(super) fn opaque(bytes: &Bytes, chunk: &Chunk<'_>, account: &mut Account, out: &mut Out<'_>) {
    Note { bytes, chunk, reader: Reader::new(chunk.data), account, out }.opaque();
}
