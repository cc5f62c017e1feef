//! One header of 512 bytes (POSIX.1-1988 ustar; GNU tar's own layout).

use crate::{
    finding::Stop,
    reader::{Reader, count},
};

/// Whose layout it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Before POSIX.
    Old,
    Ustar,
    Gnu,
}

/// What a header stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Hardlink,
    Symlink,
    /// Character and block devices, and pipes.
    Device,
    Folder,
    GnuSparse,
    /// The name of the next one, and the target of the next one.
    LongName,
    LongLink,
    /// PAX records for the next one, and for all that follow.
    Extended,
    Global,
    /// A volume label, a part of a file from another tape, or what nobody knows.
    Other,
}

/// One header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) at: usize,
    pub(super) kind: Kind,
    name: Vec<u8>,
    prefix: Vec<u8>,
    pub(super) target: String,
    pub(super) mode: u64,
    /// Bytes that follow it.
    pub(super) size: u64,
    /// Size of a sparse file with its holes.
    pub(super) real_size: Option<u64>,
    /// Whether the map of a sparse file goes on in the next block.
    pub(super) is_extended: bool,
    /// Whether the checksum matches.
    pub(super) is_sound: bool,
    pub(super) faults: Vec<&'static str>,
}

/// Where the checksum stands; it counts as blanks.
const CHECKSUM_AT: std::ops::Range<usize> = 148..156;

impl Header {
    /// Reads a block. One that says neither who it is nor matches its checksum is no header.
    pub(super) fn read(block: &[u8], at: usize) -> Result<Self, Stop> {
        let mut faults = Vec::new();
        let mut reader = Reader::new(block);
        let name = text(reader.take(100)?);
        let mode = number(reader.take(8)?);
        reader.take(16)?;
        let size = number(reader.take(12)?);
        reader.take(12)?;
        let stored = number(reader.take(8)?);
        let flag = reader.u8()?;
        let target = text(reader.take(100)?);
        let dialect = match reader.take(8)? {
            b"ustar  \0" => Dialect::Gnu,
            magic if magic.starts_with(b"ustar") => Dialect::Ustar,
            _ => Dialect::Old,
        };
        reader.take(32 + 32 + 8 + 8)?;
        let prefix = text(reader.take(155)?);
        let is_sound = matches!(stored, Some(Number::Is(told)) if is_sum(block, told));
        if !is_sound && dialect == Dialect::Old {
            return Err(Stop::malformed("a header should begin here, and does not", count(at)));
        }
        let kind = match flag {
            b'1' => Kind::Hardlink,
            b'2' => Kind::Symlink,
            b'3' | b'4' | b'6' => Kind::Device,
            b'5' => Kind::Folder,
            b'L' => Kind::LongName,
            b'K' => Kind::LongLink,
            b'x' | b'X' => Kind::Extended,
            b'g' => Kind::Global,
            b'S' => Kind::GnuSparse,
            // A folder from before there was a type for it.
            0 | b'0' if name.ends_with(b"/") => Kind::Folder,
            0 | b'0' | b'7' => Kind::File,
            _ => Kind::Other,
        };
        let size = match size {
            Some(Number::Is(size)) => size,
            Some(Number::Negative) => {
                faults.push("a size below zero");
                0
            }
            None => {
                faults.push("a size that is no number");
                0
            }
        };
        let (mut real_size, mut is_extended) = (None, false);
        if kind == Kind::GnuSparse {
            is_extended = block.get(482).is_some_and(|byte| *byte != 0);
            match block.get(483..495).and_then(number) {
                Some(Number::Is(real)) => real_size = Some(real),
                _ => faults.push("a sparse file whose size is no number"),
            }
        }
        Ok(Self {
            at,
            kind,
            name: name.to_vec(),
            prefix: if dialect == Dialect::Ustar { prefix.to_vec() } else { Vec::new() },
            target: String::from_utf8_lossy(target).into_owned(),
            mode: match mode {
                Some(Number::Is(mode)) => mode,
                _ => 0,
            },
            size,
            real_size,
            is_extended,
            is_sound,
            faults,
        })
    }

    /// Its own name: ustar splits a long one in two.
    pub(super) fn name(&self) -> String {
        let name = String::from_utf8_lossy(&self.name);
        if self.prefix.is_empty() {
            name.into_owned()
        } else {
            format!("{}/{name}", String::from_utf8_lossy(&self.prefix))
        }
    }

    /// Whether it only says something of those that follow.
    pub(super) const fn is_description(&self) -> bool {
        matches!(self.kind, Kind::LongName | Kind::LongLink | Kind::Extended | Kind::Global)
    }

    /// Whether nothing follows it, whatever size it gives.
    pub(super) const fn has_no_data(&self) -> bool {
        matches!(self.kind, Kind::Symlink | Kind::Device | Kind::Folder)
            || matches!(self.kind, Kind::Hardlink) && self.size == 0
    }

    /// Where it stands.
    pub(super) fn span(&self) -> (u64, u64) {
        (count(self.at), count(self.at.saturating_add(512)))
    }
}

/// A field of text: up to a zero byte, or all of it.
fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or(field)
}

/// A field with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Is(u64),
    Negative,
}

/// Octal digits between blanks and zero bytes, or, with the first bit set, a number in big-endian bytes (GNU tar).
fn number(field: &[u8]) -> Option<Number> {
    let (first, rest) = field.split_first()?;
    match first {
        0xff => Some(Number::Negative),
        0x80..=0xfe => {
            let mut value = u64::from(first & 0x7f);
            for byte in rest {
                value = value.checked_mul(256)?.checked_add(u64::from(*byte))?;
            }
            Some(Number::Is(value))
        }
        _ => {
            let digits = text(field).trim_ascii();
            if digits.starts_with(b"-") {
                return Some(Number::Negative);
            }
            let mut value = 0_u64;
            for digit in digits {
                let digit = digit.checked_sub(b'0').filter(|digit| *digit < 8)?;
                value = value.checked_mul(8)?.checked_add(u64::from(digit))?;
            }
            Some(Number::Is(value))
        }
    }
}

/// The sum of all bytes, the checksum itself counted as blanks; old programs summed signed bytes.
fn is_sum(block: &[u8], told: u64) -> bool {
    let (mut sum, mut signed) = (0_i64, 0_i64);
    for (at, byte) in block.iter().enumerate() {
        let byte = if CHECKSUM_AT.contains(&at) { b' ' } else { *byte };
        sum = sum.saturating_add(i64::from(byte));
        signed = signed.saturating_add(i64::from(i8::from_be_bytes([byte])));
    }
    i64::try_from(told).is_ok_and(|told| told == sum || told == signed)
}
