//! 7z archives: one member, stored.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset, Sum},
    },
    defect::Kind,
    sums::crc32,
};

const SEVENZ: Kind = Kind::new("sevenz", "7z", archive).paths(&["name"]);

pub(super) fn make(cases: &mut Cases) {
    SEVENZ.make(cases);
}

/// The header at the end of the archive: where the streams stand, how they are packed, what the members are called.
fn header(b: &mut Build, name: &[u8], content: &[u8]) {
    b.part("streams");
    b.raw([0x01, 0x04, 0x06]);
    b.le("place of the streams", Offset, 1, 0);
    b.le("streams", Count, 1, 1);
    b.raw([0x09]);
    b.le("packed size", Length, 1, content.len());
    b.raw([0x00]);
    b.part("folders");
    b.raw([0x07, 0x0b]);
    b.le("folders", Count, 1, 1);
    b.raw([0]);
    b.le("coders", Count, 1, 1);
    b.le("flags of the coder", Choice, 1, 0x01);
    b.le("method", Choice, 1, 0);
    b.raw([0x0c]);
    b.le("size", Length, 1, content.len());
    b.raw([0x0a, 0x01]);
    b.le("sum of the member", Sum, 4, crc32(content) as usize);
    b.raw([0, 0]);
    b.part("files");
    b.raw([0x05]);
    b.le("files", Count, 1, 1);
    b.raw([0x11]);
    let wide: Vec<u8> = String::from_utf8_lossy(name).encode_utf16().flat_map(u16::to_le_bytes).collect();
    // Lengths over 127 are written in more bytes.
    let length = wide.len() + 3;
    if length < 128 {
        b.le("length of the names", Length, 1, length);
    } else {
        b.raw([0x80, u8::try_from(length).unwrap_or(u8::MAX)]);
    }
    b.raw([0]);
    b.raw(wide);
    b.raw([0, 0, 0, 0]);
}

fn archive(b: &mut Build) {
    let name = b.says("name", "words.txt");
    let content = b.says("member", "the same words\n");
    // The sums in front cover what stands behind, so that is written first, aside.
    b.part("signature");
    b.raw(b"7z\xbc\xaf\x27\x1c");
    b.le("major version", Choice, 1, 0);
    b.raw([4]);
    let start_sum = b.hole("sum of the start", Sum, 4, super::build::Style::Little);
    let start = b.at();
    b.le("header offset", Offset, 8, content.len());
    let size = b.hole("header size", Length, 8, super::build::Style::Little);
    let sum = b.hole("sum of the header", Sum, 4, super::build::Style::Little);
    b.part("member");
    b.raw(&content);
    let from = b.at();
    header(b, &name, &content);
    let length = b.at() - from;
    let header_sum = crc32(&b.bytes[from..]);
    b.fill(size, length);
    b.fill(sum, header_sum as usize);
    let start = crc32(&b.bytes[start..start + 20]);
    b.fill(start_sum, start as usize);
}
