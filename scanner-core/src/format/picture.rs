//! Parts that every kind of picture has: a size that bytes must back, notes beside the pixels, something behind the end.

use std::{collections::BTreeMap, ops::Range};

use bytes::Bytes;
use memchr::memmem;

use crate::{
    bundle::Source,
    finding::{Finding, Gap, Place, Reason, Rule, Severity, Span, Stop},
    format::{Out, exif, strings},
    limits::{Budget, Exhausted, Resource},
    reader::count,
    sniff::{self, Risk},
    view::{OffsetMap, TextView},
};

mod rules;

pub(super) use rules::{
    AFTER_PIXELS, DIMENSIONS, DISGUISE, EXCESS, FRAMES, METADATA, NOTE, PROGRAM, RATIO, STRUCTURE, TRAILING, TRUNCATED,
};

/// A line end behind the picture hides nothing.
const HARMLESS_PADDING: usize = 16;
/// Bytes that nobody knows without enough room to hide something.
const TOO_SHORT_TO_HIDE: usize = 64;
/// Bytes of a note looked at in one step.
const BYTES_PER_STEP: u64 = 2;
/// All frames together may be so many times the pixels that one scan looks at: a screencast of ten minutes.
const COMPOSED: u64 = 16;
/// Pixels of all frames for one byte of the file that no camera and no screen yields.
const COMPOSED_PER_BYTE: u64 = 4096;

/// What was not read, each reason once; and how much text waits to be read.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Limits that refused something, in words for the gap.
    limits: BTreeMap<Resource, String>,
    /// The first place where something packed was damaged, and how many there are.
    damaged: Option<(String, u64, u64)>,
    /// Bytes of unpacked text.
    pub(super) waiting: u64,
}

impl Account {
    pub(super) fn not_read(&mut self, stop: Stop) {
        match stop {
            Stop::Limit(Exhausted(resource)) => {
                self.refused(resource, format!("the limit on {resource} was reached: the rest was not read"));
            }
            Stop::Malformed { what, at } => {
                let (_, _, places) = self.damaged.get_or_insert_with(|| (what.into_owned(), at, 0));
                *places = places.saturating_add(1);
            }
        }
    }

    pub(super) fn refused(&mut self, resource: Resource, detail: String) {
        self.limits.entry(resource).or_insert(detail);
    }

    /// Pixels were not looked through for what stands in them, or not all of them.
    pub(super) fn not_looked_through(&mut self, Exhausted(resource): Exhausted) {
        self.refused(resource, format!("the limit on {resource} was reached: not all pixels were looked through"));
    }

    pub(super) fn into_gaps(self, out: &mut Out<'_>) {
        for (resource, detail) in self.limits {
            out.gap(Gap::new(Reason::Limit(resource), detail));
        }
        if let Some((what, at, places)) = self.damaged {
            let detail = if places > 1 { format!("{what}; so are {} more", places.saturating_sub(1)) } else { what };
            out.gap(Gap::new(Reason::Malformed, detail).at_offset(at));
        }
    }
}

/// Width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Size {
    pub(super) const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// Pixels.
    pub(super) fn area(self) -> u64 {
        u64::from(self.width).saturating_mul(self.height.into())
    }

    /// The longer side.
    pub(super) fn side(self) -> u64 {
        self.width.max(self.height).into()
    }

    /// Whether it is beyond what this program takes by default, whatever this scan allows: the mark of a lie that wants
    /// memory.
    pub(super) fn is_gigantic(self) -> bool {
        self.area() > Resource::Pixels.default_limit() || self.side() > Resource::Side.default_limit()
    }

    /// Pays for a picture of that size.
    pub(super) fn pay(self, budget: &mut Budget) -> Result<(), Exhausted> {
        budget.reach(Resource::Side, self.side())?;
        budget.spend(Resource::Pixels, self.area())
    }

    /// Holds a picture of that size to the limits alone: a page of many, which are shown one at a time.
    pub(super) fn pay_alone(self, budget: &mut Budget) -> Result<(), Exhausted> {
        budget.reach(Resource::Side, self.side())?;
        budget.reach(Resource::Pixels, self.area())
    }
}

/// What is known of a picture while its parts go by.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) bytes: &'a Bytes,
    pub(super) account: Account,
    /// A limit refused pixels: no more are asked for.
    is_refused: bool,
    /// Frames that were there, and the pixels of the canvas drawn anew for each.
    frames: u64,
    composed: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn over(bytes: &'a Bytes) -> Self {
        Self { bytes, account: Account::default(), is_refused: false, frames: 0, composed: 0 }
    }

    /// Takes the size of a picture or a frame, stated in `at`. `backed` is how many pixels its packed bytes can yield at
    /// most, where that has a bound. A lie is told and not paid for: `false`.
    pub(super) fn size(
        &mut self,
        size: Size,
        at: Range<usize>,
        backed: Option<u64>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> bool {
        self.sized(size, at, backed, Size::pay, out, budget)
    }

    /// The same, paid in another way.
    pub(super) fn sized(
        &mut self,
        size: Size,
        at: Range<usize>,
        backed: Option<u64>,
        pay: fn(Size, &mut Budget) -> Result<(), Exhausted>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> bool {
        if let Some(backed) = backed.filter(|backed| *backed < size.area()) {
            let promise = format!("{} × {} pixels, and bytes for {backed} at most", size.width, size.height);
            if size.is_gigantic() {
                say(out, &DIMENSIONS, at.clone(), format!("the header promises {promise}"));
            }
            say(out, &TRUNCATED, at, format!("{promise}: most of the picture is missing"));
            return false;
        }
        if self.is_refused {
            return true;
        }
        if let Err(Exhausted(resource)) = pay(size, budget) {
            self.is_refused = true;
            let size = format!("{} × {} pixels", size.width, size.height);
            self.account.refused(resource, format!("{size} are more than the limit on {resource} leaves"));
        }
        true
    }

    /// Counts a frame drawn on a canvas. Beyond the limit they are counted no more.
    pub(super) fn frame(&mut self, canvas: Size, budget: &mut Budget) {
        self.drawn(canvas, 1);
        if let Err(exhausted) = budget.spend(Resource::Frames, 1) {
            self.account.not_read(exhausted.into());
        }
    }

    /// Notes that a canvas is drawn so many times.
    pub(super) fn drawn(&mut self, canvas: Size, times: u64) {
        self.frames = self.frames.saturating_add(times);
        self.composed = self.composed.saturating_add(canvas.area().saturating_mul(times));
    }

    /// Frames so far.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Where something could not be followed, what is left is read as far as it is text. A file that `is_blank` up to there
    /// and goes on in words is no picture.
    pub(super) fn unread(
        &mut self,
        walked: &Result<(), Stop>,
        from: usize,
        is_blank: bool,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) {
        if matches!(walked, Err(Stop::Malformed { .. })) {
            let rest = from.min(self.bytes.len())..self.bytes.len();
            if is_blank {
                disguise(self.bytes, rest.clone(), out);
            }
            self.note(rest, &Place::default().name("part", "not followed"), out, budget);
        }
    }

    /// Ends the walk: what only the whole shows, and the gaps.
    pub(super) fn finish(self, canvas: Range<usize>, out: &mut Out<'_>) {
        let most = Resource::Pixels.default_limit().saturating_mul(COMPOSED);
        let is_flood = self.frames > 1
            && self.composed > most
            && self.composed > count(self.bytes.len()).saturating_mul(COMPOSED_PER_BYTE);
        if is_flood {
            let message =
                format!("{} frames draw {} pixels anew, from {} bytes", self.frames, self.composed, self.bytes.len());
            say(out, &FRAMES, canvas, message);
        }
        self.account.into_gaps(out);
    }

    /// A text that stands in the file as it is, without the zero bytes at its end.
    pub(super) fn text(&self, range: Range<usize>, place: &Place, out: &mut Out<'_>) {
        text(self.bytes, range, place, out);
    }

    /// XMP that stands in the file as it is.
    pub(super) fn xmp(&self, range: Range<usize>, place: &Place, out: &mut Out<'_>) {
        xmp(self.bytes, range, place, out);
    }

    /// Bytes of which only the runs of characters can be read.
    pub(super) fn runs(&mut self, range: Range<usize>, place: &Place, out: &mut Out<'_>, budget: &mut Budget) {
        if let Err(stop) = runs(self.bytes, range, place, out, budget) {
            self.account.not_read(stop);
        }
    }

    /// Bytes that no viewer looks at: read as text if they are, as runs of characters if not.
    pub(super) fn note(&mut self, range: Range<usize>, place: &Place, out: &mut Out<'_>, budget: &mut Budget) {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        if let Err(exhausted) = budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP)) {
            self.account.not_read(exhausted.into());
        } else if is_text(bytes) {
            self.text(range, place, out);
        } else {
            self.runs(range, place, out, budget);
        }
    }

    /// Bytes that no viewer looks at and where something may be hidden: read, and a file in them is a child.
    pub(super) fn opaque(&mut self, range: Range<usize>, place: &Place, out: &mut Out<'_>, budget: &mut Budget) {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        if bytes.iter().all(|byte| *byte == 0) {
            return;
        }
        self.note(range.clone(), place, out, budget);
        if bytes.len() <= TOO_SHORT_TO_HIDE || is_text(bytes) {
            return;
        }
        if let Err(exhausted) = budget.spend(Resource::Steps, sniff::STEPS) {
            return self.account.not_read(exhausted.into());
        }
        let kind = sniff::sniff(bytes).kind;
        if kind != sniff::unknown() && !kind.is_text {
            if runs_by_itself(kind) {
                say(out, &PROGRAM, range.clone(), format!("a program ({}) inside the picture's file", kind.mime));
            }
            out.child(Source::stored(self.bytes.slice(range)), None);
        }
    }

    /// What stands behind the end of the picture.
    pub(super) fn behind(&mut self, end: usize, out: &mut Out<'_>, budget: &mut Budget) {
        if let Err(exhausted) = behind(self.bytes, end..self.bytes.len(), out, budget) {
            self.account.not_read(exhausted.into());
        }
    }
}

/// What stands in a range behind the end of a picture: told and, unless it is padding, looked into.
pub(super) fn behind(
    bytes: &Bytes,
    range: Range<usize>,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let rest = bytes.get(range.clone()).unwrap_or_default();
    if rest.is_empty() {
        return Ok(());
    }
    let finding = Finding::built_in(&TRAILING)
        .at(count(range.start), count(range.end))
        .message(format!("{} bytes behind the end of the picture", rest.len()));
    if is_padding(rest) {
        out.find(finding.severity(Severity::Info));
        return Ok(());
    }
    out.find(finding);
    out.child(Source::stored(bytes.slice(range.clone())), None);
    budget.spend(Resource::Steps, sniff::STEPS)?;
    let kind = sniff::sniff(rest).kind;
    if runs_by_itself(kind) {
        say(out, &PROGRAM, range, format!("a program ({}) behind the end of the picture", kind.mime));
    }
    Ok(())
}

/// Words where the signature promises pixels: told.
pub(super) fn disguise(bytes: &Bytes, rest: Range<usize>, out: &mut Out<'_>) {
    let words = bytes.get(rest.clone()).unwrap_or_default();
    if words.len() >= HARMLESS_PADDING && is_text(words) {
        say(out, &DISGUISE, rest, "behind the signature of a picture stands a text");
    }
}

/// Zero bytes, or a line end: nothing is hidden there.
pub(super) fn is_padding(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
        || bytes.len() <= HARMLESS_PADDING && bytes.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}

/// Machine code and archives of it: a script is read as the text it is.
fn runs_by_itself(kind: &sniff::Type) -> bool {
    kind.risk == Risk::Executable && !kind.is_text
}

/// Whether a person could read the bytes as they are.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| !text.chars().any(|letter| letter.is_control() && !letter.is_whitespace()))
}

/// A text that stands in the file as it is, without the zero bytes at its end. No viewer shows it.
pub(super) fn text(bytes: &Bytes, range: Range<usize>, place: &Place, out: &mut Out<'_>) {
    let text = bytes.get(range.clone()).unwrap_or_default();
    let length = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
    if length > 0 {
        let text = bytes.slice(range.start..range.start.saturating_add(length));
        out.read(TextView::at(text, count(range.start)).place(place.clone()).hidden(&NOTE));
    }
}

/// XMP: a text that stands in the file as it is, and may say where the picture was taken.
pub(super) fn xmp(bytes: &Bytes, range: Range<usize>, place: &Place, out: &mut Out<'_>) {
    if says_where(bytes.get(range.clone()).unwrap_or_default()) {
        let (from, to) = (count(range.start), count(range.end));
        let finding = Finding::built_in(&exif::GPS).at(from, to).place(place.clone());
        out.find(finding.message("coordinates in the XMP data"));
    }
    text(bytes, range, place, out);
}

/// Whether XMP has coordinates (XMP part 2 §3.1, Exif schema): as an attribute or as an element, with a number.
pub(super) fn says_where(xmp: &[u8]) -> bool {
    const NAME: &[u8] = b"exif:GPSLatitude";
    memmem::find_iter(xmp, NAME).any(|at| {
        let value = xmp.get(at.saturating_add(NAME.len())..).unwrap_or_default();
        matches!(value, [b'=', b'"' | b'\'', digit, ..] | [b'>', digit, ..] if digit.is_ascii_digit())
    })
}

/// The runs of characters in a range that is no text as a whole.
fn runs(bytes: &Bytes, range: Range<usize>, place: &Place, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let data = bytes.get(range.clone()).unwrap_or_default();
    budget.spend(Resource::Steps, count(data.len()).div_ceil(BYTES_PER_STEP))?;
    let runs = strings::runs(data);
    budget.spend(Resource::DecodedBytes, count(runs.len()))?;
    if !runs.is_empty() {
        let map = OffsetMap::Within(Span { start: count(range.start), end: count(range.end) });
        out.read(TextView::decoded(runs.into(), map, Vec::new()).place(place.clone()).hidden(&NOTE));
    }
    Ok(())
}

/// The shade of a colour, as an eye weighs it (ITU-R BT.709, in 256ths).
pub(super) fn luma(red: u8, green: u8, blue: u8) -> u8 {
    let weighed = |part: u8, weight: u16| u16::from(part).saturating_mul(weight);
    let sum = weighed(red, 54).saturating_add(weighed(green, 183)).saturating_add(weighed(blue, 19));
    let [shade, _] = sum.to_be_bytes();
    shade
}

/// The shades of a table of colours, red before green before blue.
pub(super) fn shades(colours: &[u8]) -> Vec<u8> {
    colours.as_chunks::<3>().0.iter().map(|[red, green, blue]| luma(*red, *green, *blue)).collect()
}

/// Samples of at most eight bits, the first in the highest bits of a byte. The last byte may hold more than the row has.
pub(super) fn samples(row: &[u8], bits: u8) -> impl Iterator<Item = u8> {
    let mask = u8::MAX >> 8_u8.saturating_sub(bits);
    row.iter().flat_map(move |byte| {
        let shifts = (0..8_u8).step_by(bits.max(1).into());
        shifts.map(move |shift| byte >> 8_u8.saturating_sub(bits).saturating_sub(shift) & mask)
    })
}

/// A finding over a range of the file about something that viewers agree on all the same.
pub(super) fn mild(out: &mut Out<'_>, rule: &'static Rule, range: Range<usize>, message: impl Into<String>) {
    let (from, to) = (count(range.start), count(range.end));
    let place = Place::default().number("offset", from);
    out.find(Finding::built_in(rule).at(from, to).place(place).message(message).severity(Severity::Low));
}

/// A finding over a range of the file.
pub(super) fn say(out: &mut Out<'_>, rule: &'static Rule, range: Range<usize>, message: impl Into<String>) {
    let (from, to) = (count(range.start), count(range.end));
    out.find(Finding::built_in(rule).at(from, to).place(Place::default().number("offset", from)).message(message));
}
