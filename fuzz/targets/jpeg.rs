//! JPEGs whose segments have right lengths: tables, frames, scans, and all that is no picture in between. An order in a
//! comment is found, or the report says that the picture is not what it seems.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use scanner_core::Input;
use scanner_fuzz::{ORDER, decide, is_warned, scan, tells};

#[derive(Arbitrary, Debug)]
enum Segment<'a> {
    Comment(&'a str),
    Order,
    Jfif { thumbnail: &'a [u8] },
    Exif(&'a [u8]),
    Xmp(&'a str),
    Profile { number: u8, of: u8, data: &'a [u8] },
    Photoshop { id: u16, data: &'a [u8] },
    Pictures(&'a [u8]),
    Frame { kind: u8, precision: u8, width: u16, height: u16, parts: Vec<[u8; 3]> },
    Huffman { class: u8, counts: [u8; 16], values: &'a [u8] },
    Quantisation(&'a [u8]),
    Restart(u16),
    Scan { parts: Vec<[u8; 2]>, data: &'a [u8] },
    Other { marker: u8, data: &'a [u8] },
    Fill(u8),
    Raw(&'a [u8]),
    End,
    Start,
}

#[derive(Arbitrary, Debug)]
struct Made<'a> {
    segments: Vec<Segment<'a>>,
    after: &'a [u8],
}

/// ITU-T T.81 B.1.1.4: a marker, a length that counts itself, data.
fn segment(marker: u8, data: &[u8], out: &mut Vec<u8>) {
    let data = data.get(..65_533).unwrap_or(data);
    out.extend([0xff, marker]);
    out.extend(u16::try_from(data.len() + 2).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(data);
}

impl Segment<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Comment(text) => segment(0xfe, text.as_bytes(), out),
            Self::Order => segment(0xfe, ORDER.as_bytes(), out),
            Self::Jfif { thumbnail } => segment(0xe0, &[b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0", *thumbnail].concat(), out),
            Self::Exif(bytes) => segment(0xe1, &[b"Exif\0\0II*\0\x08\0\0\0", *bytes].concat(), out),
            Self::Xmp(text) => segment(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0", text.as_bytes()].concat(), out),
            Self::Profile { number, of, data } => {
                segment(0xe2, &[&b"ICC_PROFILE\0"[..], &[*number, *of], data].concat(), out);
            }
            Self::Photoshop { id, data } => {
                let length = u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes();
                let block = [&b"Photoshop 3.0\0"[..], b"8BIM", &id.to_be_bytes(), b"\0\0", &length, data];
                segment(0xed, &block.concat(), out);
            }
            Self::Pictures(bytes) => segment(0xe2, &[b"MPF\0MM\0*", *bytes].concat(), out),
            Self::Frame { kind, precision, width, height, parts } => {
                let mut data = vec![if precision % 4 == 3 { 12 } else { 8 }];
                data.extend((height % 600).to_be_bytes());
                data.extend((width % 600).to_be_bytes());
                let parts = &parts[..parts.len().min(4)];
                data.push(u8::try_from(parts.len()).expect("four at most"));
                parts.iter().for_each(|part| data.extend(part));
                segment(0xc0 + [0, 1, 2, 9][usize::from(*kind) % 4], &data, out);
            }
            Self::Huffman { class, counts, values } => {
                let sum: usize = counts.iter().map(|count| usize::from(count % 8)).sum();
                let mut data = vec![class & 0x13];
                data.extend(counts.iter().map(|count| count % 8));
                data.extend(values.iter().copied().chain(std::iter::repeat(0)).take(sum));
                segment(0xc4, &data, out);
            }
            Self::Quantisation(bytes) => {
                let table = bytes.iter().copied().chain(std::iter::repeat(1)).take(65);
                segment(0xdb, &table.collect::<Vec<_>>(), out);
            }
            Self::Restart(every) => segment(0xdd, &every.to_be_bytes(), out),
            Self::Scan { parts, data } => {
                let parts = &parts[..parts.len().min(4)];
                let mut head = vec![u8::try_from(parts.len()).expect("four at most")];
                parts.iter().for_each(|part| head.extend(part));
                head.extend([0, 63, 0]);
                segment(0xda, &head, out);
                // In a scan, 0xff stands for itself only before 0.
                for byte in *data {
                    out.push(*byte);
                    out.extend((*byte == 0xff).then_some(0));
                }
            }
            Self::Other { marker, data } => segment(*marker, data, out),
            Self::Fill(count) => out.extend(std::iter::repeat_n(0xff, usize::from(count % 8))),
            Self::Raw(bytes) => out.extend_from_slice(bytes),
            Self::End => out.extend([0xff, 0xd9]),
            Self::Start => out.extend([0xff, 0xd8]),
        }
    }
}

fuzz_target!(|made: Made<'_>| {
    let mut bytes = vec![0xff, 0xd8];
    made.segments.iter().take(40).for_each(|segment| segment.write(&mut bytes));
    bytes.extend([0xff, 0xd9]);
    bytes.extend_from_slice(made.after);
    if bytes.len() > 64 << 10 {
        return;
    }
    let has_order = made.segments.iter().take(40).any(|segment| matches!(segment, Segment::Order));
    let input = Input::file("a.jpg", bytes);
    let report = scan(&input);
    decide(&report, &input);
    assert!(!has_order || tells(&report, "injection.") || is_warned(&report));
});
