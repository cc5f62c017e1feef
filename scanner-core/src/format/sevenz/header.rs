//! The headers of a 7z, property by property (7-Zip, `7zFormat.txt`). Counts are believed only as far as there are
//! bytes for them.

use bytes::Bytes;

use super::folder::{Coder, Folder};
use crate::{
    finding::Stop,
    limits::{Budget, Resource},
    reader::{Reader, Short, count},
};

/// Numbers of properties.
mod id {
    pub(super) const END: u64 = 0x00;
    pub(super) const HEADER: u64 = 0x01;
    pub(super) const ARCHIVE: u64 = 0x02;
    pub(super) const ADDITIONAL: u64 = 0x03;
    pub(super) const MAIN: u64 = 0x04;
    pub(super) const FILES: u64 = 0x05;
    pub(super) const PACK: u64 = 0x06;
    pub(super) const UNPACK: u64 = 0x07;
    pub(super) const SUBSTREAMS: u64 = 0x08;
    pub(super) const SIZE: u64 = 0x09;
    pub(super) const CRC: u64 = 0x0a;
    pub(super) const FOLDER: u64 = 0x0b;
    pub(super) const UNPACK_SIZE: u64 = 0x0c;
    pub(super) const COUNT: u64 = 0x0d;
    pub(super) const EMPTY_STREAM: u64 = 0x0e;
    pub(super) const EMPTY_FILE: u64 = 0x0f;
    pub(super) const NAMES: u64 = 0x11;
    pub(super) const ATTRIBUTES: u64 = 0x15;
    pub(super) const PACKED_HEADER: u64 = 0x17;
}

/// Coders of a folder, and their streams: each is held against each other one.
const MOST_CODERS: u64 = 32;

/// What a header turns out to be.
pub(super) enum Layer {
    Contents(Contents),
    /// The true header is packed in there.
    Packed(Streams),
}

/// The whole of an archive.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) streams: Streams,
    pub(super) members: Vec<Member>,
}

/// Packed streams and the folders they are unpacked by.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// Where each packed stream begins, in the file, and how long it is.
    packed: Vec<(u64, u64)>,
    pub(super) folders: Vec<Folder>,
    /// Size and checksum of each member with content, folder by folder.
    substreams: Vec<Stream>,
}

/// The content of one member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) folder: usize,
    pub(super) size: u64,
    pub(super) crc: Option<u32>,
}

/// One file or folder.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) attributes: u32,
    pub(super) is_folder: bool,
    /// `None` when it has no content.
    pub(super) stream: Option<Stream>,
}

impl Streams {
    /// The packed bytes of a folder with one packed stream.
    pub(super) fn packed(&self, bytes: &Bytes, folder: &Folder) -> Result<Bytes, Stop> {
        let (start, size) = self.packed.get(folder.first_stream).copied().unwrap_or_default();
        let mut reader = Reader::new(bytes);
        let cut = |_| Stop::malformed("packed data are said to lie behind the end of the file", count(bytes.len()));
        reader.seek(start).map_err(cut)?;
        Ok(bytes.slice_ref(reader.take(size).map_err(cut)?))
    }
}

/// Reads a header.
pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Layer, Stop> {
    let mut header = Header { reader: Reader::new(bytes), budget };
    match header.number()? {
        id::PACKED_HEADER => Ok(Layer::Packed(header.streams()?)),
        id::HEADER => Ok(Layer::Contents(header.contents()?)),
        other => Err(Stop::malformed(format!("a header of kind {other:x}, which is none"), 0)),
    }
}

struct Header<'a, 'b> {
    reader: Reader<'a>,
    budget: &'b mut Budget,
}

impl Header<'_, '_> {
    fn wrong(&self, what: &'static str) -> Stop {
        Stop::malformed(what, count(self.reader.position()))
    }

    /// The leading ones of the first byte say how many bytes follow; its other bits are the highest.
    fn number(&mut self) -> Result<u64, Short> {
        let first = self.reader.u8()?;
        let mut value = 0_u64;
        let mut mask = 0x80_u8;
        for shift in (0..64).step_by(8) {
            if first & mask == 0 {
                let high = u64::from(first & mask.wrapping_sub(1));
                return Ok(value | high.checked_shl(shift).unwrap_or(0));
            }
            value |= u64::from(self.reader.u8()?).checked_shl(shift).unwrap_or(0);
            mask >>= 1;
        }
        Ok(value)
    }

    /// A count of things that take at least a byte each, or that are paid one by one.
    fn things(&mut self) -> Result<u64, Stop> {
        let things = self.number()?;
        self.budget.spend(Resource::Objects, things)?;
        self.budget.spend(Resource::Steps, things)?;
        Ok(things)
    }

    fn expect(&mut self, wanted: u64) -> Result<(), Stop> {
        if self.number()? == wanted { Ok(()) } else { Err(self.wrong("another property was expected here")) }
    }

    fn contents(&mut self) -> Result<Contents, Stop> {
        let mut contents = Contents::default();
        loop {
            match self.number()? {
                id::END => return Ok(contents),
                id::ARCHIVE => self.skip_properties()?,
                id::ADDITIONAL => drop(self.streams()?),
                id::MAIN => contents.streams = self.streams()?,
                id::FILES => contents.members = self.files(&contents.streams)?,
                _ => return Err(self.wrong("a part of the header that is not known")),
            }
        }
    }

    fn skip_properties(&mut self) -> Result<(), Stop> {
        while self.number()? != id::END {
            let size = self.number()?;
            self.reader.take(size)?;
        }
        Ok(())
    }

    fn streams(&mut self) -> Result<Streams, Stop> {
        let mut streams = Streams::default();
        let mut has_substreams = false;
        loop {
            match self.number()? {
                id::END => break,
                id::PACK => self.pack(&mut streams)?,
                id::UNPACK => self.folders(&mut streams)?,
                id::SUBSTREAMS => {
                    has_substreams = true;
                    self.substreams(&mut streams)?;
                }
                _ => return Err(self.wrong("a part of the streams that is not known")),
            }
        }
        if !has_substreams {
            streams.substreams = streams
                .folders
                .iter()
                .enumerate()
                .map(|(number, folder)| Stream { folder: number, size: folder.size, crc: folder.crc })
                .collect();
        }
        Ok(streams)
    }

    fn pack(&mut self, streams: &mut Streams) -> Result<(), Stop> {
        let mut start = self.number()?.saturating_add(32);
        let packed = self.things()?;
        loop {
            match self.number()? {
                id::END => return Ok(()),
                id::SIZE => {
                    for _ in 0..packed {
                        let size = self.number()?;
                        streams.packed.push((start, size));
                        start = start.saturating_add(size);
                    }
                }
                id::CRC => drop(self.digests(packed)?),
                _ => return Err(self.wrong("a part of the packed streams that is not known")),
            }
        }
    }

    fn folders(&mut self, streams: &mut Streams) -> Result<(), Stop> {
        self.expect(id::FOLDER)?;
        let folders = self.things()?;
        if self.reader.u8()? != 0 {
            return Err(self.wrong("folders that are described elsewhere"));
        }
        let mut first_stream = 0_usize;
        for _ in 0..folders {
            let folder = Folder { first_stream, ..self.folder()? };
            first_stream = first_stream.saturating_add(folder.packed.len());
            streams.folders.push(folder);
        }
        self.expect(id::UNPACK_SIZE)?;
        for folder in &mut streams.folders {
            let outputs = folder.coders.iter().fold(0_u64, |outputs, coder| outputs.saturating_add(coder.outputs));
            for _ in 0..outputs {
                folder.sizes.push(self.number()?);
            }
            folder.size = folder.sizes.get(folder.main_output()).copied().unwrap_or(0);
            folder.members = 1;
        }
        loop {
            match self.number()? {
                id::END => return Ok(()),
                id::CRC => {
                    let digests = self.digests(folders)?;
                    for (folder, digest) in streams.folders.iter_mut().zip(digests) {
                        folder.crc = digest;
                    }
                }
                _ => return Err(self.wrong("a part of the folders that is not known")),
            }
        }
    }

    fn folder(&mut self) -> Result<Folder, Stop> {
        let coders = self.number()?;
        if coders == 0 || coders > MOST_CODERS {
            return Err(self.wrong("a folder with no or very many coders"));
        }
        let mut folder = Folder::default();
        let (mut inputs, mut outputs) = (0_u64, 0_u64);
        for _ in 0..coders {
            let flags = self.reader.u8()?;
            let length = u64::from(flags & 15);
            if flags & 0x80 != 0 || length > 8 {
                return Err(self.wrong("a coder described in a way that is not known"));
            }
            let method = self.reader.take(length)?.iter().fold(0_u64, |method, byte| method << 8 | u64::from(*byte));
            let (mut ins, mut outs) = (1, 1);
            if flags & 0x10 != 0 {
                (ins, outs) = (self.number()?, self.number()?);
            }
            (inputs, outputs) = (inputs.saturating_add(ins), outputs.saturating_add(outs));
            if inputs > MOST_CODERS || outputs > MOST_CODERS {
                return Err(self.wrong("coders with very many streams"));
            }
            let props = if flags & 0x20 == 0 { 0 } else { self.number()? };
            let props = Bytes::copy_from_slice(self.reader.take(props)?);
            folder.coders.push(Coder { method, inputs: ins, outputs: outs, props });
        }
        let Some(bonds) = outputs.checked_sub(1) else { return Err(self.wrong("a folder without output")) };
        for _ in 0..bonds {
            folder.bonds.push((self.number()?, self.number()?));
        }
        let Some(packed) = inputs.checked_sub(bonds) else { return Err(self.wrong("a folder without input")) };
        if packed == 1 {
            let is_fed = |input: &u64| folder.bonds.iter().any(|(to, _)| to == input);
            folder.packed.extend((0..inputs).find(|input| !is_fed(input)));
        } else {
            for _ in 0..packed {
                folder.packed.push(self.number()?);
            }
        }
        Ok(folder)
    }

    fn substreams(&mut self, streams: &mut Streams) -> Result<(), Stop> {
        let mut part = self.number()?;
        if part == id::COUNT {
            for folder in &mut streams.folders {
                folder.members = self.number()?;
                self.budget.spend(Resource::Objects, folder.members)?;
                self.budget.spend(Resource::Steps, folder.members)?;
            }
            part = self.number()?;
        }
        let has_sizes = part == id::SIZE;
        let mut unknown = 0_u64;
        for (number, folder) in streams.folders.iter().enumerate() {
            let mut left = folder.size;
            for member in 0..folder.members {
                let is_last = member.saturating_add(1) == folder.members;
                let size = match (is_last, has_sizes) {
                    // The last one has the rest.
                    (true, _) => left,
                    (false, true) => self.number()?,
                    (false, false) => return Err(self.wrong("sizes of members are missing")),
                };
                left = left.saturating_sub(size);
                let crc = folder.crc.filter(|_| folder.members == 1);
                unknown = unknown.saturating_add(u64::from(crc.is_none()));
                streams.substreams.push(Stream { folder: number, size, crc });
            }
        }
        if has_sizes {
            part = self.number()?;
        }
        loop {
            match part {
                id::END => return Ok(()),
                id::CRC => {
                    let mut digests = self.digests(unknown)?.into_iter();
                    for stream in streams.substreams.iter_mut().filter(|stream| stream.crc.is_none()) {
                        stream.crc = digests.next().flatten();
                    }
                }
                _ => return Err(self.wrong("a part of the members' streams that is not known")),
            }
            part = self.number()?;
        }
    }

    /// Which of so many are there: all, or one bit each.
    fn defined(&mut self, things: u64) -> Result<Vec<bool>, Stop> {
        if self.reader.u8()? != 0 {
            // Each takes bytes of its own behind this.
            let things = usize::try_from(things).unwrap_or(usize::MAX).min(self.reader.left());
            return Ok(vec![true; things]);
        }
        self.bits(things)
    }

    fn bits(&mut self, things: u64) -> Result<Vec<bool>, Stop> {
        let bytes = self.reader.take(things.div_ceil(8))?;
        let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte & 0x80_u8.wrapping_shr(bit) != 0));
        Ok(bits.take(usize::try_from(things).unwrap_or(usize::MAX)).collect())
    }

    fn digests(&mut self, things: u64) -> Result<Vec<Option<u32>>, Stop> {
        let mut digests = Vec::new();
        for is_there in self.defined(things)? {
            digests.push(if is_there { Some(self.reader.u32_le()?) } else { None });
        }
        Ok(digests)
    }

    fn files(&mut self, streams: &Streams) -> Result<Vec<Member>, Stop> {
        let files = self.number()?;
        self.budget.spend(Resource::Entries, files)?;
        let mut names = Vec::new();
        let (mut empty, mut empty_files, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let kind = self.number()?;
            if kind == id::END {
                break;
            }
            let size = self.number()?;
            let data = self.reader.take(size)?;
            let mut inner = Header { reader: Reader::new(data), budget: &mut *self.budget };
            match kind {
                id::EMPTY_STREAM => empty = inner.bits(files)?,
                id::EMPTY_FILE => {
                    let count_of_empty = empty.iter().filter(|empty| **empty).count();
                    empty_files = inner.bits(count(count_of_empty))?;
                }
                id::NAMES if inner.reader.u8()? == 0 => names = inner.names(files)?,
                id::ATTRIBUTES => {
                    let defined = inner.defined(files)?;
                    if inner.reader.u8()? == 0 {
                        for is_there in defined {
                            attributes.push(if is_there { inner.reader.u32_le()? } else { 0 });
                        }
                    }
                }
                _ => {}
            }
        }
        let mut substreams = streams.substreams.iter();
        let mut empty_files = empty_files.into_iter();
        let mut names = names.into_iter();
        let mut members = Vec::new();
        for file in 0..usize::try_from(files).unwrap_or(usize::MAX) {
            let is_empty = empty.get(file).copied().unwrap_or(false);
            let is_folder = is_empty && !empty_files.next().unwrap_or(false);
            let stream = if is_empty { None } else { substreams.next().copied() };
            let attributes = attributes.get(file).copied().unwrap_or(0);
            members.push(Member { name: names.next().unwrap_or_default(), attributes, is_folder, stream });
        }
        Ok(members)
    }

    /// Names in UTF-16, little end first, each up to a zero.
    fn names(&mut self, files: u64) -> Result<Vec<String>, Stop> {
        let mut names = Vec::new();
        for _ in 0..files {
            let mut units = Vec::new();
            loop {
                match self.reader.u16_le()? {
                    0 => break,
                    unit => units.push(unit),
                }
            }
            self.budget.spend(Resource::Steps, count(units.len()))?;
            names.push(String::from_utf16_lossy(&units));
        }
        Ok(names)
    }
}
