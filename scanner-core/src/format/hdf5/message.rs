//! Messages in the header of an object (format specification, IV.A): how each is framed, and the few that say more
//! than numbers.

use std::ops::Range;

use crate::reader::{Reader, Short, count};

/// How messages are framed: the first version of the format, or the second with or without an order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    First,
    Second { is_ordered: bool },
}

/// A stretch of the file that is messages.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) range: Range<usize>,
    pub(super) style: Style,
}

/// One message.
pub(super) struct Message<'a> {
    kind: u16,
    data: &'a [u8],
}

/// The first block of the object at the cursor.
pub(super) fn first_block(mut reader: Reader<'_>) -> Result<Block, Short> {
    if !reader.rest().starts_with(b"OHDR") {
        reader.take(8)?;
        let size = reader.u32_le()?;
        reader.take(4)?;
        let start = reader.position();
        reader.take(size.into())?;
        return Ok(Block { range: start..reader.position(), style: Style::First });
    }
    reader.take(5)?;
    let flags = reader.u8()?;
    if flags & 0x20 != 0 {
        reader.take(16)?;
    }
    if flags & 0x10 != 0 {
        reader.take(4)?;
    }
    let mut size = 0_u64;
    for byte in 0..1_u32.wrapping_shl(u32::from(flags & 3)) {
        size |= u64::from(reader.u8()?).wrapping_shl(byte.saturating_mul(8));
    }
    let start = reader.position();
    reader.take(size)?;
    Ok(Block { range: start..reader.position(), style: Style::Second { is_ordered: flags & 4 != 0 } })
}

impl Block {
    /// Where a block goes on: bare messages, or messages with a signature before and a checksum behind them.
    pub(super) fn follow(&self, bytes: &[u8], address: u64, length: u64) -> Option<Self> {
        let start = usize::try_from(address).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let whole = bytes.get(start..end)?;
        let range = match self.style {
            Style::First => start..end,
            Style::Second { .. } if whole.starts_with(b"OCHK") => start.checked_add(4)?..end.checked_sub(4)?,
            Style::Second { .. } => return None,
        };
        Some(Self { range, style: self.style })
    }
}

/// The next message; what is shorter than one is padding.
pub(super) fn next<'a>(reader: &mut Reader<'a>, style: Style) -> Option<Message<'a>> {
    let (kind, length) = match style {
        Style::First => {
            let kind = reader.u16_le().ok()?;
            let length = reader.u16_le().ok()?;
            reader.take(4).ok()?;
            (kind, length)
        }
        Style::Second { is_ordered } => {
            let kind = reader.u8().ok()?;
            let length = reader.u16_le().ok()?;
            reader.take(if is_ordered { 3 } else { 1 }).ok()?;
            (u16::from(kind), length)
        }
    };
    Some(Message { kind, data: reader.take(length.into()).ok()? })
}

/// What the messages of one object say.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Objects it links to.
    pub(super) links: Vec<u64>,
    /// Trees of links, of the old kind.
    pub(super) groups: Vec<u64>,
    elements: Option<u64>,
    element: u64,
    is_packed: bool,
    is_dense: bool,
    elsewhere: Option<(usize, &'static str)>,
}

/// What all objects say.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) elsewhere: Option<(usize, &'static str)>,
    pub(super) odd: Option<(usize, &'static str)>,
    /// Bytes that packed data sets unpack to.
    pub(super) packed: u64,
    /// Links are kept where nothing here looks.
    pub(super) dense: bool,
}

impl Found {
    pub(super) fn take(&mut self, header: &Header) {
        self.elsewhere = self.elsewhere.or(header.elsewhere);
        self.dense |= header.is_dense;
        if header.is_packed {
            let bytes = header.elements.unwrap_or(0).saturating_mul(header.element);
            self.packed = self.packed.saturating_add(bytes);
        }
    }
}

impl Header {
    /// Reads one message. What it says where the header goes on is returned: an address and a length.
    pub(super) fn read(&mut self, message: &Message<'_>, at: usize) -> Result<Option<(u64, u64)>, Short> {
        let mut reader = Reader::new(message.data);
        match message.kind {
            // Data space: version, sides, flags; five reserved bytes in the first version, one in the second.
            1 => {
                let version = reader.u8()?;
                let sides = reader.u8()?;
                reader.take(if version == 1 { 6 } else { 2 })?;
                let mut elements = 1_u64;
                for _ in 0..sides {
                    elements = elements.saturating_mul(reader.u64_le()?);
                }
                self.elements = Some(elements);
            }
            // Links in a heap: flags, perhaps the highest order, the address of the heap.
            2 => {
                reader.u8()?;
                let flags = reader.u8()?;
                reader.take(if flags & 1 == 0 { 0 } else { 8 })?;
                self.is_dense |= reader.u64_le()? != u64::MAX;
            }
            // Type of data: class, three bytes, size of an element.
            3 => {
                reader.take(4)?;
                self.element = u64::from(reader.u32_le()?);
            }
            6 => self.link(&mut reader, at)?,
            7 => {
                self.elsewhere.get_or_insert((at, "the numbers of a data set stand in another file"));
            }
            // Layout: version, class. The fourth class maps parts of other files.
            8 => {
                let version = reader.u8()?;
                let class = reader.u8()?;
                if version == 4 && class == 3 {
                    self.elsewhere.get_or_insert((at, "a data set is made of parts of other files"));
                }
            }
            11 => self.is_packed = true,
            16 => return Ok(Some((reader.u64_le()?, reader.u64_le()?))),
            17 => self.groups.push(reader.u64_le()?),
            _ => {}
        }
        Ok(None)
    }

    /// A link: version, flags, perhaps type, order and character set, the length of its name, the name, where it leads.
    fn link(&mut self, reader: &mut Reader<'_>, at: usize) -> Result<(), Short> {
        reader.u8()?;
        let flags = reader.u8()?;
        let kind = if flags & 8 == 0 { 0 } else { reader.u8()? };
        reader.take(if flags & 4 == 0 { 0 } else { 8 })?;
        reader.take(if flags & 16 == 0 { 0 } else { 1 })?;
        let mut length = 0_u64;
        for byte in 0..1_u32.wrapping_shl(u32::from(flags & 3)) {
            length |= u64::from(reader.u8()?).wrapping_shl(byte.saturating_mul(8));
        }
        reader.take(length)?;
        match kind {
            0 => self.links.push(reader.u64_le()?),
            1 => {}
            64 => {
                self.elsewhere.get_or_insert((at, "a link leads into another file"));
            }
            _ => return Err(Short { at: count(at), wanted: 0 }),
        }
        Ok(())
    }
}
