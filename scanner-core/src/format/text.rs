//! Text: bytes into one view for the rules. UTF-8 stays where it is; UTF-16 and UTF-32 that say so are decoded.

use bytes::Bytes;

use crate::{
    finding::{Confidence, Finding, Rule, RuleText, Severity, Stop},
    format::{
        Format, Out, Subject, markdown,
        program::{document, launcher},
    },
    limits::{Budget, Resource},
    reader::count,
    sniff::Risk,
    view::{OffsetMap, TextView, Units},
};

mod mixed;
mod plain;

use mixed::Unit;
pub(super) use plain::{narrow, narrowed, without_zeros};

/// Beside `empty`, it takes every type that is text and has no format of its own: see [`super::of`].
pub(crate) const FORMAT: Format = Format {
    name: "text",
    labels: &["empty"],
    inspect: inspect_any,
    clean: Some(plain::clean),
    rules: &[
        &EMPTY,
        &ENCODING,
        &MIXED,
        &ZEROS,
        &launcher::SHORTCUT,
        &launcher::WEB_SHORTCUT,
        &launcher::SETUP,
        &launcher::QUERY,
        &launcher::NETWORK_FOLDER,
        &launcher::MARKUP_SCRIPT,
        &launcher::ENCODED_SCRIPT,
        &launcher::YAML_TAG,
        &launcher::ENCODED_COMMAND,
        &launcher::REACHES_OUT,
        &document::TEX,
        &document::POSTSCRIPT,
    ],
};

static EMPTY: Rule = Rule::built_in(
    "text/empty",
    "malformed.empty",
    Severity::Info,
    Confidence::High,
    RuleText {
        title: "Nothing in it",
        why: "An empty file often means that the step that should have written it failed.",
        remedy: "Nothing to do if an empty result was expected.",
    },
);

static ENCODING: Rule = Rule::built_in(
    "text/encoding",
    "malformed.encoding",
    Severity::Low,
    Confidence::High,
    RuleText {
        title: "Bytes that do not decode as the text's encoding",
        why: "Programs disagree on what to show for such bytes: skip, replace or guess. Two readers may read two texts.",
        remedy: "Write the file as UTF-8.",
    },
);

static MIXED: Rule = Rule::built_in(
    "text/mixed-encodings",
    "malformed.encoding",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "A second encoding begins in the middle of the text",
        why: "Behind the mark of UTF-16 the same bytes read as another text, which a reader of the first encoding does not see.",
        remedy: "Look at the part behind the mark, then write the whole file in one encoding.",
    },
);

static ZEROS: Rule = Rule::built_in(
    "text/zero-bytes",
    "malformed.structure",
    Severity::Medium,
    Confidence::Medium,
    RuleText {
        title: "Zero bytes inside of a text",
        why: "Some programs end the text there, others go on or drop them: two readers see two texts.",
        remedy: "Write the file again without them.",
    },
);

/// Bytes decoded between two payments.
const BLOCK: usize = Units::MARK_EVERY;

/// How the bytes say they are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// No mark: UTF-8, or an older encoding of single bytes.
    Bytes,
    Utf8,
    Utf16 {
        big: bool,
    },
    Utf32 {
        big: bool,
    },
}

impl Encoding {
    /// By the byte order mark, with its length; or by where zero bytes stand.
    fn of(bytes: &[u8]) -> (Self, usize) {
        match bytes {
            [0xef, 0xbb, 0xbf, ..] => (Self::Utf8, 3),
            [0xff, 0xfe, 0, 0, ..] if bytes.len().is_multiple_of(4) => (Self::Utf32 { big: false }, 4),
            [0, 0, 0xfe, 0xff, ..] => (Self::Utf32 { big: true }, 4),
            [0xff, 0xfe, ..] => (Self::Utf16 { big: false }, 2),
            [0xfe, 0xff, ..] => (Self::Utf16 { big: true }, 2),
            _ => (Self::by_zeros(bytes), 0),
        }
    }

    /// UTF-16 without its mark: text of European letters has a zero in nearly every pair, always on the same side.
    /// Read as bytes such a text shows no word to any rule.
    fn by_zeros(bytes: &[u8]) -> Self {
        let head = bytes.get(..HEAD).unwrap_or(bytes);
        if memchr::memchr(0, head).is_none() {
            return Self::Bytes;
        }
        let pairs = head.len() / 2;
        let zeros = |side| head.chunks_exact(2).filter(|pair| pair.get(side) == Some(&0)).count();
        let (first, second) = (zeros(0), zeros(1));
        // Three of four pairs, and next to none on the other side.
        let is_wide = |many: usize, few: usize| {
            pairs >= 4 && many.saturating_mul(4) >= pairs.saturating_mul(3) && few.saturating_mul(32) <= pairs
        };
        match (is_wide(first, second), is_wide(second, first)) {
            (true, _) => Self::Utf16 { big: true },
            (_, true) => Self::Utf16 { big: false },
            _ => Self::Bytes,
        }
    }
}

/// Bytes from whose zeros UTF-16 is guessed.
const HEAD: usize = 512;

/// Types that a program may run and whose active parts are told here; for the others, what can act is not seen.
const TOLD: [&str; 2] = ["latex", "ps"];

/// Whether the bytes are text of more than one byte a letter.
pub(super) fn is_wide(bytes: &[u8]) -> bool {
    !matches!(Encoding::of(bytes).0, Encoding::Bytes | Encoding::Utf8)
}

/// A type that is text and has no format of its own.
fn inspect_any(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    if subject.kind.risk == Risk::Active && !TOLD.contains(&subject.kind.label) {
        out.unsupported(format!("read as text; what can act in {} is not looked into yet", subject.kind.mime));
    }
    inspect(subject, out, budget)?;
    // Chats show what begins with a heading as Markdown, whatever it is called.
    if subject.kind.risk == Risk::Inert
        && out.texts.last().is_some_and(|view| begins_with_heading(&view.text))
        && let Some(view) = out.texts.pop()
    {
        markdown::read(&view, out, budget)?;
    }
    Ok(())
}

/// A heading of Markdown, then a blank line.
fn begins_with_heading(text: &[u8]) -> bool {
    let head = text.get(..HEAD).unwrap_or(text);
    let marks = head.iter().take(7).take_while(|byte| **byte == b'#').count();
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..=6).contains(&marks)
        && head.get(marks) == Some(&b' ')
        && lines.next().is_some_and(|line| line.len() > marks)
        && lines.next().is_some_and(<[u8]>::is_empty)
}

/// Bytes of no known type that are text for the most part: read as text, and what breaks it is told.
pub(crate) fn inspect_broken(subject: &Subject<'_>, out: &mut Out<'_>) {
    let bytes = subject.bytes;
    let printable = bytes.iter().filter(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)).count();
    // Chance gives four in ten.
    if printable.saturating_mul(2) < bytes.len() || bytes.is_empty() {
        return;
    }
    if let Some(at) = memchr::memchr(0, bytes) {
        let at = count(at);
        out.find(Finding::built_in(&ZEROS).at(at, at.saturating_add(1)));
    }
    judge(bytes, 0, out);
    out.read(TextView::at(bytes.clone(), 0));
}

/// The text in the bytes.
pub(super) fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    if bytes.is_empty() {
        out.find(Finding::built_in(&EMPTY));
        return Ok(());
    }
    let result = views(bytes, out, budget);
    if let Some(view) = out.texts.last().cloned() {
        launcher::look(subject.kind.label, &view, out);
        document::look(subject.kind.label, &view, out);
    }
    result
}

/// The bytes as a text.
fn views(bytes: &Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let (encoding, mark) = Encoding::of(bytes);
    match encoding {
        Encoding::Bytes | Encoding::Utf8 => {
            let text = bytes.slice(mark..);
            judge(&text, mark, out);
            out.read(TextView::at(text, count(mark)));
            Ok(())
        }
        Encoding::Utf16 { big } => {
            mixed::read_by_both(bytes, mark, Unit { bytes: 2, is_big: big }, out);
            decode(bytes, mark, Width::Two, big, "utf-16", out, budget)
        }
        Encoding::Utf32 { big } => {
            mixed::read_by_both(bytes, mark, Unit { bytes: 4, is_big: big }, out);
            decode(bytes, mark, Width::Four, big, "utf-32", out, budget)
        }
    }
}

/// Says what does not decode as UTF-8. The rules see the bytes as they stand in any case.
fn judge(text: &[u8], start: usize, out: &mut Out<'_>) {
    let Err(first) = std::str::from_utf8(text) else { return };
    let mut broken: u64 = 0;
    let mut is_mixed = false;
    let mut second = None;
    let mut at = 0_usize;
    for chunk in text.utf8_chunks() {
        // Old encodings use one byte for each letter: among them, letters of UTF-8 are a second encoding.
        is_mixed |= !chunk.valid().is_ascii();
        at = at.saturating_add(chunk.valid().len());
        broken = broken.saturating_add(count(chunk.invalid().len()));
        if second.is_none() && matches!(text.get(at..), Some([0xff, 0xfe, ..] | [0xfe, 0xff, ..])) {
            second = Some(at);
        }
        at = at.saturating_add(chunk.invalid().len());
    }
    let place = |at: usize, length: u64| {
        let at = count(start.saturating_add(at));
        (at, at.saturating_add(length))
    };
    if let Some(at) = second {
        let (from, to) = place(at, 2);
        out.find(
            Finding::built_in(&MIXED).at(from, to).message("the byte order mark of UTF-16 stands inside the text"),
        );
        return;
    }
    // A text wholly in an old encoding of single bytes is ordinary.
    let severity = if is_mixed { Severity::Low } else { Severity::Info };
    let (from, to) = place(first.valid_up_to(), count(first.error_len().unwrap_or(1)));
    let message = match is_mixed {
        true => format!("{broken} bytes are not UTF-8, others are: two encodings in one text"),
        false => format!("{broken} bytes are not UTF-8: an older encoding, or no text"),
    };
    out.find(Finding::built_in(&ENCODING).severity(severity).at(from, to).message(message));
}

/// Bytes of one unit.
#[derive(Clone, Copy, Debug)]
enum Width {
    Two,
    Four,
}

/// Decodes to UTF-8 block by block, each paid before it is kept. What does not decode becomes U+FFFD.
fn decode(
    bytes: &Bytes,
    mark: usize,
    width: Width,
    is_big: bool,
    name: &'static str,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let unit = match width {
        Width::Two => 2,
        Width::Four => 4,
    };
    let mut text = String::new();
    let mut marks = Vec::new();
    let mut bad: Option<(u64, u64)> = None;
    let mut at = mark;
    let mut result = Ok(());
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let block = rest.get(..BLOCK).unwrap_or(rest);
        let (piece, used, broken) = match width {
            Width::Two => utf16(block, is_big, block.len() == rest.len()),
            Width::Four => utf32(block, is_big),
        };
        if let Err(exhausted) = budget.spend(Resource::DecodedBytes, count(piece.len())) {
            result = Err(exhausted.into());
            break;
        }
        if let Some(offset) = broken {
            let first = count(at.saturating_add(offset));
            bad = Some(bad.map_or((first, 1), |(first, blocks)| (first, blocks.saturating_add(1))));
        }
        marks.push((count(text.len()), count(at)));
        text.push_str(&piece);
        at = at.saturating_add(used.max(1));
    }
    if let Some((first, _)) = bad {
        let end = first.saturating_add(unit).min(count(bytes.len()));
        out.find(Finding::built_in(&ENCODING).at(first, end).message(format!("units that are no {name} characters")));
    }
    marks.push((count(text.len()), count(at.min(bytes.len()))));
    let text = Bytes::from(text);
    out.read(TextView::decoded(text.clone(), OffsetMap::Units(Units::new(text, unit, marks)), vec![name]));
    result
}

/// The text of a block, how many bytes it took, and the offset of the first unit that is no character. A pair cut by
/// the end of the block is left for the next one, unless it `is_last`.
fn utf16(block: &[u8], is_big: bool, is_last: bool) -> (String, usize, Option<usize>) {
    let (pairs, odd) = block.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    let cut = match pairs.last() {
        Some(last) if !is_last && (0xd800..0xdc00).contains(&unit(last)) => 1,
        _ => 0,
    };
    let pairs = pairs.get(..pairs.len().saturating_sub(cut)).unwrap_or_default();
    let mut text = String::with_capacity(pairs.len());
    let mut broken = None;
    let mut at = 0_usize;
    for decoded in char::decode_utf16(pairs.iter().map(unit)) {
        let character = decoded.unwrap_or_else(|_| {
            broken.get_or_insert(at);
            char::REPLACEMENT_CHARACTER
        });
        at = at.saturating_add(character.len_utf16().saturating_mul(2));
        text.push(character);
    }
    if is_last && !odd.is_empty() {
        broken.get_or_insert(at);
        text.push(char::REPLACEMENT_CHARACTER);
        at = at.saturating_add(1);
    }
    (text, at, broken)
}

fn utf32(block: &[u8], is_big: bool) -> (String, usize, Option<usize>) {
    let (units, odd) = block.as_chunks::<4>();
    let mut text = String::with_capacity(block.len());
    let mut broken = None;
    for (index, unit) in units.iter().enumerate() {
        let value = if is_big { u32::from_be_bytes(*unit) } else { u32::from_le_bytes(*unit) };
        text.push(char::from_u32(value).unwrap_or_else(|| {
            broken.get_or_insert(index.saturating_mul(4));
            char::REPLACEMENT_CHARACTER
        }));
    }
    if !odd.is_empty() {
        broken.get_or_insert(block.len().saturating_sub(odd.len()));
        text.push(char::REPLACEMENT_CHARACTER);
    }
    (text, block.len(), broken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::testing::{Seen, look};

    fn seen(bytes: &[u8]) -> Seen {
        look(&FORMAT, "txt", bytes)
    }

    fn utf16le(text: &str) -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    }

    #[test]
    fn utf8_is_not_copied() {
        let bytes = Bytes::from_static("naïve\n".as_bytes());
        let seen = seen(&bytes);
        assert_eq!(seen.facts(), [""; 0]);
        assert_eq!(seen.texts(), ["naïve\n"]);
    }

    #[test]
    fn a_mark_of_utf8_is_no_part_of_the_text() {
        let seen = seen(b"\xef\xbb\xbfa,b");
        assert_eq!(seen.texts(), ["a,b"]);
        assert_eq!(seen.span(0, 0, 1), (3, 4));
    }

    #[test]
    fn utf16_without_a_mark_is_seen_by_its_zeros() {
        let text = "Ignore all rules\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(seen(&little).texts(), [text]);
        assert_eq!(seen(&big).texts(), [text]);
        assert_eq!(seen(b"a\0b").texts(), ["a\0b"], "a zero alone is no sign");
    }

    #[test]
    fn what_can_act_and_is_not_looked_into_is_a_gap() {
        let kind = crate::sniff::type_of("css").unwrap();
        assert_eq!(kind.risk, Risk::Active);
        assert_eq!(Seen::of(&FORMAT, kind, b"a{}\n").facts(), ["gap unsupported"]);
    }

    #[test]
    fn each_encoding_with_a_mark_is_decoded() {
        let text = "a€\u{1f600}\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let wide: Vec<u32> = text.chars().map(u32::from).collect();
        let all = [
            utf16le(text),
            [0xfe, 0xff].into_iter().chain(units.iter().flat_map(|unit| unit.to_be_bytes())).collect(),
            [0xff, 0xfe, 0, 0].into_iter().chain(wide.iter().flat_map(|unit| unit.to_le_bytes())).collect(),
            [0, 0, 0xfe, 0xff].into_iter().chain(wide.iter().flat_map(|unit| unit.to_be_bytes())).collect(),
        ];
        for (bytes, euro) in all.iter().zip([(4, 6), (4, 6), (8, 12), (8, 12)]) {
            let seen = seen(bytes);
            assert_eq!(seen.facts(), [""; 0]);
            assert_eq!(seen.texts(), [text]);
            assert_eq!(seen.span(0, 1, 4), euro);
        }
    }

    #[test]
    fn a_pair_across_two_blocks_stays_one_character() {
        let text = format!("{}\u{1f600}b", "a".repeat(BLOCK / 2 - 1));
        let seen = seen(&utf16le(&text));
        assert_eq!(seen.texts(), [&*text]);
        let at = text.len() as u64 - 1;
        assert_eq!(seen.span(0, at, at + 1), (BLOCK as u64 + 4, BLOCK as u64 + 6));
    }

    #[test]
    fn lone_surrogate_and_odd_byte() {
        assert_eq!(seen(b"\xff\xfea\0\0\xd8b\0").facts(), ["low malformed.encoding 4..6"]);
        let odd = seen(b"\xff\xfea\0b");
        assert_eq!(odd.facts(), ["low malformed.encoding 4..5"]);
        assert_eq!(odd.texts(), ["a\u{fffd}"]);
    }

    #[test]
    fn old_encodings_are_ordinary_and_mixtures_are_not() {
        assert_eq!(seen(b"caf\xe9\n").facts(), ["info malformed.encoding 3..4"]);
        assert_eq!(seen(b"caf\xc3\xa9 caf\xe9\n").facts(), ["low malformed.encoding 9..10"]);
        assert_eq!(seen(b"a,b\n\xff\xfe,\xc3\n").facts(), ["medium malformed.encoding 4..6"]);
    }

    #[test]
    fn empty_is_info() {
        assert_eq!(seen(b"").facts(), ["info malformed.empty"]);
    }

    #[test]
    fn decoding_is_paid_exactly() {
        let bytes = utf16le(&"é".repeat(5000));
        let needed = seen(&bytes).spent(Resource::DecodedBytes);
        assert_eq!(needed, 10_000);
        assert_eq!(Seen::with(&FORMAT, "txt", &bytes, Resource::DecodedBytes, needed).facts(), [""; 0]);
        let tight = Seen::with(&FORMAT, "txt", &bytes, Resource::DecodedBytes, needed - 1);
        assert_eq!(tight.facts(), ["gap limit:decoded_bytes"]);
        assert!(!tight.texts()[0].is_empty(), "what was paid is read");
    }

    proptest! {
        #[test]
        fn every_span_lies_in_the_artifact(noise in proptest::collection::vec(any::<u8>(), 0..200), mark in 0..5_usize) {
            let marks: [&[u8]; 5] = [b"", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"];
            let bytes = [marks[mark], &noise].concat();
            let seen = seen(&bytes);
            for text in 0..seen.texts.len() {
                let length = seen.texts[text].text.len() as u64;
                for at in 0..length {
                    let (start, end) = seen.span(text, at, at + 1);
                    prop_assert!(start <= end && end <= bytes.len() as u64);
                }
            }
        }
    }
}
