//! Writes a zip anew. What it writes is plain and always the same: no extra fields, no comments, no descriptors, no
//! times, no rights. Nothing of the sender's container is left, not even his packed bytes.
//!
//! Written here and not by a crate: it is a page, and the same members give the same bytes whatever version of a crate
//! is about.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, Crc, write::DeflateEncoder};

use super::end::{CENTRAL, END, LOCAL};
use crate::{
    format::cleaning::Uncleanable,
    limits::{Budget, Resource},
    reader::count,
};

/// Packing runs at 40 MB/s, where it finds the least.
const STEPS_PER_PACKED_BYTE: u64 = 3;
/// Checksum and copy run at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;
/// Two headers and an engine that is set up.
const STEPS_PER_MEMBER: u64 = 2_000;
/// Version 2.0 of the format: folders and deflate (APPNOTE 4.4.3.2).
const VERSION: u16 = 20;
/// Bit 11 of the flags: the name is in UTF-8 (APPNOTE 4.4.4). Only where it makes a difference.
const UTF8: u16 = 0x800;
/// The first day that a date of MS-DOS can say, 1980-01-01.
const FIRST_DAY: u16 = 0x21;
/// The attribute of MS-DOS for a folder.
const FOLDER: u32 = 0x10;

/// How a member is packed. What does not get smaller is stored all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Stored,
    Deflate,
}

impl Packing {
    /// That of a member which is read: stored where it was stored, deflate for every other method (APPNOTE 4.4.5).
    pub(crate) const fn like(method: u16) -> Self {
        if method == 0 { Self::Stored } else { Self::Deflate }
    }

    const fn method(self) -> u16 {
        match self {
            Self::Stored => 0,
            Self::Deflate => 8,
        }
    }
}

/// A zip being written, member after member, in the order of the calls.
#[derive(Debug, Default)]
pub(crate) struct Repack {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    members: u16,
}

impl Repack {
    /// An archive with nothing in it.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or a folder where the name ends in a slash and there are no data. The name is written as it is: that
    /// it is safe and there once is for the caller to see to.
    ///
    /// # Errors
    /// When the budget is used up, or it is more than a zip without large sizes can hold.
    pub(crate) fn add(
        &mut self,
        name: &str,
        data: &[u8],
        packing: Packing,
        budget: &mut Budget,
    ) -> Result<(), Uncleanable> {
        budget.spend(Resource::Steps, STEPS_PER_MEMBER.saturating_add(count(data.len()).div_ceil(BYTES_PER_STEP)))?;
        let packed = match packing {
            Packing::Deflate => deflate(data, budget)?.filter(|packed| packed.len() < data.len()),
            Packing::Stored => None,
        };
        let packing = if packed.is_some() { Packing::Deflate } else { Packing::Stored };
        let packed = packed.as_deref().unwrap_or(data);
        let mut crc = Crc::new();
        crc.update(data);
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        let is_folder = name.ends_with('/') && data.is_empty();

        // What both headers say (APPNOTE 4.3.7, 4.3.12): version, flags, method, time, date, checksum, sizes, lengths.
        let mut said = Vec::with_capacity(26);
        for value in [VERSION, flags, packing.method(), 0, FIRST_DAY] {
            said.extend(value.to_le_bytes());
        }
        said.extend(crc.sum().to_le_bytes());
        said.extend(small(packed.len())?.to_le_bytes());
        said.extend(small(data.len())?.to_le_bytes());
        said.extend(u16::try_from(name.len()).map_err(|_| TOO_LARGE)?.to_le_bytes());
        said.extend([0; 2]);

        let offset = small(self.bytes.len())?;
        self.members = self.members.checked_add(1).ok_or(TOO_LARGE)?;
        self.bytes.extend(LOCAL);
        self.bytes.extend(&said);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(packed);

        self.directory.extend(CENTRAL);
        // Made on MS-DOS: a reader finds no rights there, and gives those it gives to new files.
        self.directory.extend(VERSION.to_le_bytes());
        self.directory.extend(&said);
        // No comment, the first disk, no inner attributes.
        self.directory.extend([0; 6]);
        self.directory.extend(if is_folder { FOLDER } else { 0 }.to_le_bytes());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        Ok(())
    }

    /// The archive.
    ///
    /// # Errors
    /// When it is more than a zip without large sizes can hold.
    pub(crate) fn finish(self) -> Result<Bytes, Uncleanable> {
        let Self { mut bytes, directory, members } = self;
        let (offset, length) = (small(bytes.len())?, small(directory.len())?);
        bytes.extend(directory);
        bytes.extend(END);
        bytes.extend([0; 4]);
        bytes.extend(members.to_le_bytes());
        bytes.extend(members.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend([0; 2]);
        Ok(bytes.into())
    }
}

const TOO_LARGE: &str = "the archive is too large to be written again";

/// A size or an offset of four bytes; the highest value means that the true one is elsewhere (APPNOTE 4.4.1.4).
fn small(size: usize) -> Result<u32, Uncleanable> {
    u32::try_from(size).ok().filter(|size| *size < u32::MAX).ok_or_else(|| TOO_LARGE.into())
}

/// The bytes packed; `None` where there is nothing to pack.
fn deflate(data: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, Uncleanable> {
    if data.is_empty() {
        return Ok(None);
    }
    budget.spend(Resource::Steps, count(data.len()).saturating_mul(STEPS_PER_PACKED_BYTE))?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(data).and_then(|()| encoder.finish());
    packed.map(Some).map_err(|_| "a member could not be packed again".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        format::{testing::look, zip},
        limits::Limits,
    };

    fn budget() -> Budget {
        Budget::new(Limits::default())
    }

    /// Name, content and method as a reader that is not ours sees them.
    fn read(bytes: &Bytes) -> Vec<(String, Vec<u8>, u16)> {
        let mut archive = ::zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        (0..archive.len())
            .map(|at| {
                let mut file = archive.by_index(at).unwrap();
                let mut content = Vec::new();
                std::io::Read::read_to_end(&mut file, &mut content).unwrap();
                let method = if file.compression() == ::zip::CompressionMethod::Stored { 0 } else { 8 };
                (file.name().unwrap().into_owned(), content, method)
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_and_nothing_is_wrong_with_it() {
        let mut pack = Repack::new();
        let long = b"word ".repeat(300);
        pack.add("mimetype", b"application/epub+zip", Packing::Stored, &mut budget()).unwrap();
        pack.add("folder/", b"", Packing::Stored, &mut budget()).unwrap();
        pack.add("folder/größe.txt", &long, Packing::Deflate, &mut budget()).unwrap();
        pack.add("empty", b"", Packing::Deflate, &mut budget()).unwrap();
        pack.add("grows", b"ab", Packing::Deflate, &mut budget()).unwrap();
        let bytes = pack.finish().unwrap();
        let expected = [
            ("mimetype", &b"application/epub+zip"[..], 0),
            ("folder/", b"", 0),
            ("folder/größe.txt", &long, 8),
            ("empty", b"", 0),
            ("grows", b"ab", 0),
        ];
        assert_eq!(read(&bytes), expected.map(|(name, data, method)| (name.to_owned(), data.to_vec(), method)));
        // The type of a package is read at this place, without unpacking (OCF 3.3, ODF part 2 §3.3).
        assert_eq!(&bytes[30..58], b"mimetypeapplication/epub+zip");
        assert_eq!(look(&zip::FORMAT, "zip", &bytes).facts(), [""; 0]);
    }

    #[test]
    fn an_archive_of_nothing_is_an_archive() {
        let bytes = Repack::new().finish().unwrap();
        assert!(read(&bytes).is_empty());
    }

    #[test]
    fn the_work_is_paid_before_it_is_done() {
        let data = vec![b'a'; 4096];
        let need = STEPS_PER_MEMBER + 4096 / BYTES_PER_STEP + 4096 * STEPS_PER_PACKED_BYTE;
        let add = |steps| {
            let mut budget = Budget::new(Limits::default().with(Resource::Steps, steps));
            Repack::new().add("a", &data, Packing::Deflate, &mut budget)
        };
        assert_eq!(add(need), Ok(()));
        assert_eq!(add(need - 1), Err(Uncleanable("the limit on steps was reached while cleaning".into())));
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let name = |length| Repack::new().add(&"a".repeat(length), b"", Packing::Stored, &mut budget());
        assert_eq!(name(65_535), Ok(()));
        assert_eq!(name(65_536), Err(TOO_LARGE.into()));
    }

    #[test]
    fn more_members_than_can_be_counted_are_refused() {
        let mut pack = Repack { members: u16::MAX - 1, ..Repack::new() };
        assert_eq!(pack.add("a", b"", Packing::Stored, &mut budget()), Ok(()));
        assert_eq!(pack.add("b", b"", Packing::Stored, &mut budget()), Err(TOO_LARGE.into()));
    }
}
