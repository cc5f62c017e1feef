//! Zips (APPNOTE): members, headers before them and the directory, which agree unless it is said where they do not.

use arbitrary::Arbitrary;

use super::{crc32, deflate};

/// A member.
#[derive(Arbitrary, Clone, Debug)]
pub struct Member<'a> {
    pub name: &'a str,
    pub bytes: &'a [u8],
    /// Packed or stored.
    pub is_packed: bool,
    /// Its sizes follow its data.
    pub has_descriptor: bool,
    pub extra: &'a [u8],
    pub mode: u16,
}

/// Where the parts of an archive do not agree: a number of the member, and what.
#[derive(Arbitrary, Clone, Debug)]
pub enum Lie<'a> {
    LocalName(&'a str),
    LocalSize(u32),
    LocalPacked(u32),
    LocalCrc(u32),
    LocalMethod(u16),
    LocalFlags(u16),
    Size(u32),
    Packed(u32),
    Crc(u32),
    Method(u16),
    Flags(u16),
    Offset(u32),
    /// It is listed twice, or not at all.
    Twice,
    Unlisted,
    /// Bytes before its header.
    Gap(&'a [u8]),
}

/// A whole archive.
#[derive(Arbitrary, Clone, Debug, Default)]
pub struct Zip<'a> {
    pub members: Vec<Member<'a>>,
    pub lies: Vec<(u8, Lie<'a>)>,
    pub before: &'a [u8],
    pub after: &'a [u8],
    pub comment: &'a [u8],
    /// What the end says: entries, size and offset of the directory.
    pub end: Option<(u16, u32, u32)>,
}

struct Header {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
}

impl Header {
    fn write(&self, out: &mut Vec<u8>) {
        for word in [20, self.flags, self.method, 0, 0x21] {
            out.extend_from_slice(&u16::to_le_bytes(word));
        }
        for word in [self.crc, self.packed, self.size] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

fn length(bytes: &[u8]) -> u16 {
    u16::try_from(bytes.len()).unwrap_or(u16::MAX)
}

fn here(out: &[u8]) -> u32 {
    u32::try_from(out.len()).unwrap_or(u32::MAX)
}

/// As many bytes as a length of two bytes says.
fn cut(bytes: &[u8]) -> &[u8] {
    bytes.get(..usize::from(length(bytes))).unwrap_or(bytes)
}

impl Zip<'_> {
    pub fn write(&self) -> Vec<u8> {
        let mut out = self.before.to_vec();
        let mut directory = Vec::new();
        let mut entries = 0_u16;
        for (number, member) in (0_u8..).zip(&self.members) {
            let lies = || self.lies.iter().filter(move |(of, _)| *of == number).map(|(_, lie)| lie);
            let data = if member.is_packed { deflate(member.bytes) } else { member.bytes.to_vec() };
            let (name, extra) = (cut(member.name.as_bytes()), cut(member.extra));
            let mut told = Header {
                flags: 0x800 | if member.has_descriptor { 8 } else { 0 },
                method: if member.is_packed { 8 } else { 0 },
                crc: crc32(&[member.bytes]),
                packed: here(&data),
                size: here(member.bytes),
            };
            let mut local = Header { ..told };
            if member.has_descriptor {
                (local.crc, local.packed, local.size) = (0, 0, 0);
            }
            let mut local_name = name;
            for lie in lies() {
                match lie {
                    Lie::Gap(bytes) => out.extend_from_slice(bytes),
                    Lie::LocalName(other) => local_name = cut(other.as_bytes()),
                    Lie::LocalSize(size) => local.size = *size,
                    Lie::LocalPacked(packed) => local.packed = *packed,
                    Lie::LocalCrc(crc) => local.crc = *crc,
                    Lie::LocalMethod(method) => local.method = *method,
                    Lie::LocalFlags(flags) => local.flags = *flags,
                    _ => {}
                }
            }
            let mut offset = here(&out) - here(self.before).min(here(&out));
            out.extend_from_slice(b"PK\x03\x04");
            local.write(&mut out);
            out.extend_from_slice(&length(local_name).to_le_bytes());
            out.extend_from_slice(&length(extra).to_le_bytes());
            out.extend_from_slice(local_name);
            out.extend_from_slice(extra);
            out.extend_from_slice(&data);
            if member.has_descriptor {
                out.extend_from_slice(b"PK\x07\x08");
                for word in [told.crc, told.packed, told.size] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
            }
            let mut times = 1;
            for lie in lies() {
                match lie {
                    Lie::Size(size) => told.size = *size,
                    Lie::Packed(packed) => told.packed = *packed,
                    Lie::Crc(crc) => told.crc = *crc,
                    Lie::Method(method) => told.method = *method,
                    Lie::Flags(flags) => told.flags = *flags,
                    Lie::Offset(other) => offset = *other,
                    Lie::Twice => times = 2,
                    Lie::Unlisted => times = 0,
                    _ => {}
                }
            }
            for _ in 0..times {
                entries = entries.saturating_add(1);
                directory.extend_from_slice(b"PK\x01\x02\x14\x03");
                told.write(&mut directory);
                for field in [length(name), length(extra), 0, 0, 0] {
                    directory.extend_from_slice(&field.to_le_bytes());
                }
                directory.extend_from_slice(&(u32::from(member.mode) << 16).to_le_bytes());
                directory.extend_from_slice(&offset.to_le_bytes());
                directory.extend_from_slice(name);
                directory.extend_from_slice(extra);
            }
        }
        let start = here(&out) - here(self.before).min(here(&out));
        let end = self.end.unwrap_or((entries, here(&directory), start));
        out.extend_from_slice(&directory);
        out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        out.extend_from_slice(&end.0.to_le_bytes());
        out.extend_from_slice(&end.0.to_le_bytes());
        out.extend_from_slice(&end.1.to_le_bytes());
        out.extend_from_slice(&end.2.to_le_bytes());
        let comment = cut(self.comment);
        out.extend_from_slice(&length(comment).to_le_bytes());
        out.extend_from_slice(comment);
        out.extend_from_slice(self.after);
        out
    }
}
