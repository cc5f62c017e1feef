//! TIFFs whose directories are where they are said to be, in either order of bytes, small and large. An order in a
//! description is found, or the report says that the picture is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, scan, tells};

#[derive(Arbitrary, Debug)]
struct Field<'a> {
    tag: Tag,
    kind: u8,
    /// The value; numbers are cut from it.
    value: &'a [u8],
    /// What its count and its place are said to be.
    count: Option<u32>,
    at: Option<u32>,
}

#[derive(Arbitrary, Debug)]
enum Tag {
    Known(u8),
    Other(u16),
    Order,
}

/// TIFF 6.0, EXIF, GPS, DNG: sizes, strips, tiles, texts, directories within.
const TAGS: &[u16] = &[
    254, 256, 257, 258, 259, 262, 266, 269, 270, 271, 272, 273, 277, 278, 279, 282, 284, 292, 296, 305, 306, 315, 316,
    317, 320, 322, 323, 324, 325, 330, 338, 339, 347, 513, 514, 700, 33432, 33434, 33723, 34377, 34665, 34675, 34853,
    37500, 37510, 40965, 50706, 50740,
];

/// Bytes of one value of each type: BYTE to IFD, then those of BigTIFF.
const SIZES: [usize; 19] = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8];

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    is_big_end: bool,
    is_large: bool,
    directories: Vec<Vec<Field<'a>>>,
    data: &'a [u8],
    /// Where the last directory leads.
    next: Option<u32>,
    after: &'a [u8],
}

struct Out {
    bytes: Vec<u8>,
    is_big_end: bool,
    is_large: bool,
}

impl Out {
    fn number(&mut self, value: u64, width: usize) {
        let bytes = if self.is_big_end { value.to_be_bytes() } else { value.to_le_bytes() };
        let bytes = if self.is_big_end { &bytes[8 - width..] } else { &bytes[..width] };
        self.bytes.extend_from_slice(bytes);
    }

    /// An offset, or the room for a value.
    fn word(&self) -> usize {
        if self.is_large { 8 } else { 4 }
    }
}

fuzz_target!(|made: Made<'_>| {
    let mut out = Out { bytes: Vec::new(), is_big_end: made.is_big_end, is_large: made.is_large };
    out.bytes.extend_from_slice(if made.is_big_end { b"MM" } else { b"II" });
    out.number(if made.is_large { 43 } else { 42 }, 2);
    if made.is_large {
        out.number(8, 2);
        out.number(0, 2);
    }
    let word = out.word();
    // The data first, so that the first directory is where the header says.
    let head = out.bytes.len() + word;
    let mut data = made.data.get(..4096).unwrap_or(made.data).to_vec();
    data.resize(data.len().next_multiple_of(2), 0);
    out.number((head + data.len()) as u64, word);
    out.bytes.extend_from_slice(&data);
    let mut has_order = false;
    let directories = &made.directories[..made.directories.len().min(6)];
    for (number, fields) in directories.iter().enumerate() {
        let fields = &fields[..fields.len().min(30)];
        let start = out.bytes.len();
        let (count_width, entry) = if made.is_large { (8, 20) } else { (2, 12) };
        // Values that do not fit their entry follow the directory.
        let mut far = start + count_width + fields.len() * entry + word;
        let mut values = Vec::new();
        out.number(fields.len() as u64, count_width);
        for field in fields {
            let (tag, kind, value) = match field.tag {
                Tag::Known(at) => (TAGS[usize::from(at) % TAGS.len()], 1 + field.kind % 18, field.value),
                Tag::Other(tag) => (tag, 1 + field.kind % 18, field.value),
                Tag::Order => (270, 2, ORDER.as_bytes()),
            };
            has_order |= matches!(field.tag, Tag::Order) && field.count.is_none() && field.at.is_none();
            let size = SIZES[usize::from(kind) % SIZES.len()];
            out.number(tag.into(), 2);
            out.number(kind.into(), 2);
            out.number(field.count.map_or((value.len() / size) as u64, u64::from), word);
            match field.at {
                Some(at) => out.number(at.into(), word),
                None if value.len() <= word => {
                    let mut room = value.to_vec();
                    room.resize(word, 0);
                    out.bytes.extend_from_slice(&room);
                }
                None => {
                    out.number((far + values.len()) as u64, word);
                    values.extend_from_slice(value);
                    values.resize(values.len().next_multiple_of(2), 0);
                }
            }
        }
        far += values.len();
        let is_last = number + 1 == directories.len();
        out.number(if is_last { made.next.map_or(0, u64::from) } else { far as u64 }, word);
        out.bytes.extend_from_slice(&values);
    }
    out.bytes.extend_from_slice(made.after);
    if out.bytes.len() > 64 << 10 {
        return;
    }
    let input = Input::file("a.tif", out.bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!has_order || tells(&report, "injection.") || is_warned(&report));
});
