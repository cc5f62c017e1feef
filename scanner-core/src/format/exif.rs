//! EXIF: the TIFF directories that cameras and editors leave in pictures. Not a format of its own: a part of others.

use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
};

use bytes::Bytes;

use crate::{
    bundle::Source,
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Span, Stop},
    format::{
        Out,
        ifd::{Data, Entry},
        picture, strings,
    },
    limits::{Budget, Exhausted, Resource},
    reader::{Short, count},
    view::{OffsetMap, TextView},
};

pub(super) static GPS: Rule = Rule::built_in(
    "exif/gps",
    "privacy.gps",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "The picture says where it was taken",
        why: "Coordinates in a photograph give away a home or a place of work to everybody who gets the file.",
        remedy: "Strip the metadata before the picture leaves.",
    },
);

pub(super) static BROKEN: Rule = Rule::built_in(
    "exif/structure",
    "malformed.structure",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "The camera data of the picture are damaged",
        why: "The picture looks the same; programs that read the camera data may trip over them.",
        remedy: "Strip the metadata if it is not needed.",
    },
);

/// Steps of one entry.
const STEPS_PER_ENTRY: u64 = 10;
/// Bytes of a value looked at in one step.
const BYTES_PER_STEP: u64 = 2;
/// Shorter undefined fields hold numbers.
const LONG_FIELD: usize = 32;

/// Reads the EXIF data in a range of the artifact: its texts, its thumbnail, whether it has coordinates.
pub(super) fn read(
    bytes: &Bytes,
    range: Range<usize>,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    read_decoded(bytes, range, None, place, out, budget)
}

/// Reads EXIF data that stand in the artifact `within` a span, in another form: `bytes` are decoded from it.
pub(super) fn read_decoded(
    bytes: &Bytes,
    range: Range<usize>,
    within: Option<Span>,
    place: &Place,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let mut data = bytes.get(range.clone()).unwrap_or_default();
    let mut start = range.start;
    // JPEG puts these six bytes before it, and some programs copy them along.
    if let Some(rest) = data.strip_prefix(b"Exif\0\0") {
        (data, start) = (rest, start.saturating_add(6));
    }
    let exif = |data| Exif { bytes, data, start, within, place, has_gps: false, is_broken: None };
    match Data::open(data) {
        Some((data, first)) => exif(data).walk(first, out, budget),
        None => {
            let exif = exif(Data::assume(data, true));
            exif.say(&BROKEN, 0, data.len(), "what should be EXIF data does not begin like it", out);
            exif.stands(range, out);
            Ok(())
        }
    }
}

/// How the picture has to be turned to be seen as it was taken, 2 to 8 (TIFF 6.0 section 8, Orientation), where the
/// camera says so and it is not as it stands.
pub(super) fn orientation(data: &[u8], budget: &mut Budget) -> Result<Option<u8>, Exhausted> {
    budget.spend(Resource::Steps, count(data.len()).saturating_add(STEPS_PER_ENTRY))?;
    let data = data.strip_prefix(b"Exif\0\0").unwrap_or(data);
    let Some((data, Ok(first))) = Data::open(data) else { return Ok(None) };
    let Ok(mut directory) = data.directory(first) else { return Ok(None) };
    while let Some(Ok(entry)) = directory.entry() {
        if (entry.tag, entry.kind) == (0x0112, 3) {
            return Ok(u8::try_from(entry.number).ok().filter(|turned| (2..=8).contains(turned)));
        }
    }
    Ok(None)
}

/// EXIF data that say how the picture has to be turned, and nothing else.
pub(super) fn turned(orientation: u8) -> [u8; 26] {
    let mut data = *b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0";
    if let Some(value) = data.get_mut(18) {
        *value = orientation;
    }
    data
}

/// The data being walked.
struct Exif<'a> {
    bytes: &'a Bytes,
    data: Data<'a>,
    /// Where they begin in the artifact.
    start: usize,
    /// Where all of it stands, when `bytes` are not the artifact's own.
    within: Option<Span>,
    place: &'a Place,
    has_gps: bool,
    /// Offset in the data of the first thing that does not fit.
    is_broken: Option<u64>,
}

/// What a directory is about: the same numbers mean other things in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The picture, the thumbnail, the camera.
    Main,
    /// Coordinates.
    Gps,
}

impl<'a> Exif<'a> {
    /// Directories in a queue, each offset once: loops end, whatever they point at.
    fn walk(mut self, first: Result<u64, Short>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        let mut queue = VecDeque::from([(first, Kind::Main)]);
        let mut seen = BTreeSet::new();
        let mut result = Ok(());
        while let Some((offset, kind)) = queue.pop_front() {
            let Ok(offset) = offset else {
                self.is_broken.get_or_insert(4);
                continue;
            };
            if offset == 0 || !seen.insert((offset, kind)) {
                continue;
            }
            if let Err(stop) = self.directory(offset, kind, &mut queue, out, budget) {
                result = Err(stop);
                break;
            }
        }
        let length = self.data.bytes.len();
        if self.has_gps {
            self.say(&GPS, 0, length, "coordinates in the EXIF data", out);
        }
        if let Some(at) = self.is_broken {
            let at = usize::try_from(at).unwrap_or(usize::MAX).min(length);
            self.say(&BROKEN, at, at, "a directory or a value lies outside the EXIF data", out);
        }
        result
    }

    fn directory(
        &mut self,
        offset: u64,
        kind: Kind,
        queue: &mut VecDeque<(Result<u64, Short>, Kind)>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let Ok(mut directory) = self.data.directory(offset) else {
            self.is_broken.get_or_insert(offset);
            return Ok(());
        };
        // A thumbnail is where two entries together say.
        let (mut thumbnail_at, mut thumbnail_length) = (None, None);
        loop {
            let at = count(directory.position());
            let Some(entry) = directory.entry() else { break };
            budget.spend(Resource::Objects, 1)?;
            budget.spend(Resource::Steps, STEPS_PER_ENTRY)?;
            let Ok(entry) = entry else {
                self.is_broken.get_or_insert(at);
                return Ok(());
            };
            let Some(value) = entry.value else {
                self.is_broken.get_or_insert(at);
                continue;
            };
            match (kind, entry.tag) {
                (Kind::Main, 0x8825) => queue.push_back((Ok(entry.number), Kind::Gps)),
                (Kind::Main, 0x8769 | 0xa005) => queue.push_back((Ok(entry.number), Kind::Main)),
                (Kind::Main, 0x014a) => {
                    budget.spend(Resource::Steps, count(value.len()))?;
                    queue.extend(self.data.numbers(&entry).map(|offset| (Ok(offset), Kind::Main)));
                }
                (Kind::Main, 0x0201) => thumbnail_at = Some(entry.number),
                (Kind::Main, 0x0202) => thumbnail_length = Some(entry.number),
                // Latitude and longitude, of the camera or of what it was pointed at.
                (Kind::Gps, 0x0002 | 0x0004 | 0x0014 | 0x0016) => self.has_gps = true,
                _ => self.texts(&entry, value, out, budget)?,
            }
        }
        if let (Some(at), Some(length)) = (thumbnail_at, thumbnail_length) {
            self.thumbnail(at, length, out);
        }
        // Many writers leave the last link out.
        if let Ok(next) = directory.next() {
            queue.push_back((Ok(next), kind));
        }
        Ok(())
    }

    fn texts(&self, entry: &Entry<'a>, value: &[u8], out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
        // Before the work: many entries may point at the same long value.
        budget.spend(Resource::Steps, count(value.len()).div_ceil(BYTES_PER_STEP))?;
        let at = self.start.saturating_add(entry.at);
        let range = at..at.saturating_add(value.len());
        match (entry.tag, entry.kind) {
            // Windows' title, comment, author, keywords, subject: UTF-16.
            (0x9c9b..=0x9c9f, _) => {
                let (pairs, _) = value.as_chunks::<2>();
                let text = from_units(pairs.iter().map(|pair| u16::from_le_bytes(*pair)));
                self.decoded(text, range, Some("utf-16"), out, budget)
            }
            // Comment of the user and the like: eight bytes name the encoding.
            (0x9286 | 0x001b | 0x001c, 7) if value.starts_with(b"UNICODE\0") => {
                let text = utf_16(value.get(8..).unwrap_or_default());
                self.decoded(text, range, Some("utf-16"), out, budget)
            }
            (0x9286 | 0x001b | 0x001c, 7) if value.len() > 8 => {
                self.stands(range.start.saturating_add(8)..range.end, out);
                Ok(())
            }
            (0x02bc, _) => {
                if picture::says_where(value) {
                    self.say(&GPS, entry.at, entry.range().end, "coordinates in the XMP data", out);
                }
                self.stands(range, out);
                Ok(())
            }
            (_, 2) => {
                self.stands(range, out);
                Ok(())
            }
            (_, 1 | 7) if value.len() >= LONG_FIELD => self.decoded(strings::runs(value), range, None, out, budget),
            _ => Ok(()),
        }
    }

    /// A finding over offsets in the data.
    fn say(&self, rule: &'static Rule, from: usize, to: usize, message: &str, out: &mut Out<'_>) {
        let Span { start, end } = self.span(self.start.saturating_add(from)..self.start.saturating_add(to));
        out.find(Finding::built_in(rule).at(start, end).place(self.place.clone()).message(message));
    }

    /// Where a range of the bytes stands in the artifact.
    fn span(&self, range: Range<usize>) -> Span {
        self.within.unwrap_or(Span { start: count(range.start), end: count(range.end) })
    }

    /// A text that stands in the bytes as it is, without the zero bytes at its end.
    fn stands(&self, range: Range<usize>, out: &mut Out<'_>) {
        let Some(span) = self.within else { return picture::text(self.bytes, range, self.place, out) };
        let text = self.bytes.get(range.clone()).unwrap_or_default();
        let length = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
        if length > 0 {
            let text = self.bytes.slice(range.start..range.start.saturating_add(length));
            let view = TextView::decoded(text, OffsetMap::Within(span), Vec::new());
            out.read(view.place(self.place.clone()).hidden(&picture::NOTE));
        }
    }

    fn decoded(
        &self,
        text: String,
        range: Range<usize>,
        layer: Option<&'static str>,
        out: &mut Out<'_>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        budget.spend(Resource::DecodedBytes, count(text.len()))?;
        if !text.is_empty() {
            let map = OffsetMap::Within(self.span(range));
            let view = TextView::decoded(text.into(), map, layer.into_iter().collect());
            out.read(view.place(self.place.clone()).hidden(&picture::NOTE));
        }
        Ok(())
    }

    fn thumbnail(&mut self, at: u64, length: u64, out: &mut Out<'_>) {
        let Some(range) = self.data.reader_at(at).ok().and_then(|mut reader| {
            let from = self.start.saturating_add(reader.position());
            reader.take(length).ok().map(|thumbnail| from..from.saturating_add(thumbnail.len()))
        }) else {
            self.is_broken.get_or_insert(at);
            return;
        };
        if !range.is_empty() {
            out.child(Source::stored(self.bytes.slice(range)), None);
        }
    }
}

/// UTF-16 of either order, which nothing tells: most words have letters of the first 256 characters.
fn utf_16(value: &[u8]) -> String {
    let (pairs, _) = value.as_chunks::<2>();
    let high_first = pairs.iter().filter(|[first, _]| *first == 0).count();
    let high_last = pairs.iter().filter(|[_, last]| *last == 0).count();
    let number = if high_first > high_last { u16::from_be_bytes } else { u16::from_le_bytes };
    from_units(pairs.iter().map(|pair| number(*pair)))
}

fn from_units(units: impl Iterator<Item = u16>) -> String {
    let text: String = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{
        Format,
        ifd::testing::{Row, tiff as exif},
        testing::{Seen, look},
    };

    /// EXIF data alone, as if they were a format.
    static ALONE: Format = Format {
        name: "exif",
        labels: &[],
        inspect: |subject, out, budget| read(subject.bytes, 0..subject.bytes.len(), &Place::default(), out, budget),
        clean: None,
        rules: &[&GPS, &BROKEN, &picture::NOTE],
    };

    fn seen(bytes: &[u8]) -> Seen {
        look(&ALONE, "exif", bytes)
    }

    #[test]
    fn texts_of_every_kind() {
        let comment: Vec<u8> = "Hi ü".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let rows: &[Row] = &[
            (0x010e, 2, 6, 100),
            (0x9286, 7, 13, 110),
            (0x9c9c, 1, 8, 130),
            (0x02bc, 1, 5, 140),
            (0x927c, 7, 40, 150),
            (0x0110, 2, 3, u32::from_le_bytes(*b"abc\0")),
        ];
        let mut maker = [0xff; 40];
        maker[4..20].copy_from_slice(b"words of a maker");
        let bytes = exif(
            8,
            &[(8, rows, 0)],
            &[(100, b"house\0"), (110, b"ASCII\0\0\0words"), (130, &comment), (140, b"<x/>\0"), (150, &maker)],
        );
        let seen = seen(&bytes);
        assert_eq!(seen.facts(), [""; 0]);
        assert_eq!(seen.texts(), ["house", "words", "Hi ü", "<x/>", "words of a maker", "abc"]);
        assert_eq!(seen.span(0, 0, 5), (100, 105));
        assert_eq!(seen.span(2, 0, 2), (130, 138));
    }

    #[test]
    fn comments_in_either_order() {
        for order in [u16::to_be_bytes, u16::to_le_bytes] {
            let words: Vec<u8> = "a comment".encode_utf16().flat_map(order).collect();
            let value = [b"UNICODE\0", &words[..]].concat();
            let bytes = exif(8, &[(8, &[(0x9286, 7, value.len() as u32, 100)], 0)], &[(100, &value)]);
            assert_eq!(seen(&bytes).texts(), ["a comment"]);
        }
    }

    #[test]
    fn coordinates_in_xmp() {
        for (xmp, found) in [
            (&b"<x exif:GPSLatitude='52,31.2N'/>"[..], true),
            (b"<exif:GPSLatitude>52,31.2N<", true),
            (b"<exif:GPSLatitude><", false),
            (b"exif:GPSLatitude is a name", false),
        ] {
            let bytes = exif(8, &[(8, &[(0x02bc, 1, xmp.len() as u32, 100)], 0)], &[(100, xmp)]);
            assert_eq!(seen(&bytes).facts().len(), usize::from(found), "{}", xmp.escape_ascii());
        }
    }

    #[test]
    fn coordinates_and_a_thumbnail() {
        let bytes = exif(
            8,
            &[
                (8, &[(0x8825, 4, 1, 60)], 90),
                (60, &[(2, 5, 0, 0)], 0),
                (90, &[(0x0201, 4, 1, 130), (0x0202, 4, 1, 3)], 0),
            ],
            &[(130, b"\xff\xd8\xff")],
        );
        let looked = seen(&bytes);
        assert_eq!(looked.facts(), [format!("medium privacy.gps 0..{}", bytes.len())]);
        assert_eq!(&looked.children[0].source.packed[..], b"\xff\xd8\xff");
        let version_only = exif(8, &[(8, &[(0x8825, 4, 1, 60)], 0), (60, &[(0, 1, 4, 2)], 0)], &[]);
        assert_eq!(seen(&version_only).facts(), [""; 0], "a version is no coordinate");
    }

    #[test]
    fn loops_end() {
        let bytes = exif(8, &[(8, &[(0x8769, 4, 1, 8), (0xa005, 4, 1, 8)], 8)], &[]);
        let seen = seen(&bytes);
        assert_eq!(seen.facts(), [""; 0]);
        assert_eq!(seen.spent(Resource::Objects), 2);
    }

    #[test]
    fn what_lies_outside_is_damage() {
        for (name, bytes) in [
            ("first directory", exif(5000, &[], &[])),
            ("directory cut", exif(8, &[], &[(8, b"\x09\0abc")])),
            ("value", exif(8, &[(8, &[(0x010e, 2, 6, 5000)], 0)], &[])),
            ("number of values", exif(8, &[(8, &[(0x010e, 12, u32::MAX, 8)], 0)], &[])),
            ("thumbnail", exif(8, &[(8, &[(0x0201, 4, 1, 8), (0x0202, 4, 1, 5000)], 0)], &[])),
        ] {
            let facts = seen(&bytes).facts();
            assert!(facts.len() == 1 && facts[0].starts_with("low malformed.structure"), "{name}: {facts:?}");
        }
    }

    #[test]
    fn many_entries_for_one_long_value_are_paid_each() {
        let rows = vec![(0x010e_u16, 2_u16, 1_000_000_u32, 8_u32); 1000];
        let bytes = exif(8, &[(8, &rows, 0)], &[(1_000_007, b"\0")]);
        let steps = Seen::with(&ALONE, "exif", &bytes, Resource::Steps, 5_000_000);
        assert_eq!(steps.facts(), ["gap limit:steps"]);
        assert!(steps.texts.len() < 11);
    }
}
