//! One entry of a zip, as its record in the directory says, and the header before its data (APPNOTE 4.3.7, 4.3.12).

use std::ops::Range;

use bytes::Bytes;
use flate2::Crc;

use super::end::{CENTRAL, LOCAL};
use crate::reader::{Reader, Short, count};

/// APPNOTE 4.4.4: bits of the general purpose flags.
pub(super) const ENCRYPTED: u16 = 1;
/// For LZMA: a mark stands at the end.
pub(super) const ENDS_BY_MARK: u16 = 2;
pub(super) const DESCRIPTOR: u16 = 8;
const STRONG: u16 = 0x40;
const UTF8: u16 = 0x800;
const MASKED: u16 = 0x2000;

/// Info-ZIP's extra field for a name in UTF-8 (APPNOTE 4.6.9), and for large sizes (4.5.3).
const UNICODE_PATH: u16 = 0x7075;
const LARGE: u16 = 1;
const TIMES: u16 = 0x5455;

/// What an entry becomes when it is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Symlink,
    /// A device, pipe or socket.
    Device,
}

/// One entry of the directory.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where its record begins, and where the name stands in it.
    pub(crate) at: usize,
    pub(super) name_at: Range<usize>,
    /// The name as it stands.
    pub(crate) raw: Bytes,
    /// The name, decoded: UTF-8, or code page 437.
    pub(crate) name: String,
    /// Another name that some programs go by: that of the local header, or of an extra field.
    pub(super) other_name: Option<String>,
    /// Whether the other name is not the same name in another encoding.
    pub(super) is_renamed: bool,
    /// How it is packed (APPNOTE 4.4.5).
    pub(crate) method: u16,
    /// General purpose flags.
    pub(crate) flags: u16,
    /// Checksum of the unpacked bytes.
    pub(crate) crc: u32,
    /// Packed and unpacked size, as the directory says.
    pub(crate) packed: u64,
    pub(crate) size: u64,
    /// Type and rights, where the record carries those of Unix.
    pub(crate) mode: u32,
    /// What it becomes.
    pub(crate) kind: Kind,
    /// Its comment.
    pub(super) comment: Range<usize>,
    /// Where its local header is said to be.
    pub(super) offset: u64,
    /// Where the packed bytes lie, once the local header was found.
    pub(crate) data: Option<Range<usize>>,
    /// Its data are also those of another entry.
    pub(super) is_shared: bool,
    /// Nothing says what comes out: its header was written before its data.
    pub(super) is_unclaimed: bool,
    /// Its place among the entries, from zero.
    pub(super) number: usize,
    /// What is wrong with its record.
    pub(super) faults: Vec<&'static str>,
}

impl Entry {
    /// Where its name stands.
    pub(crate) const fn name_start(&self) -> usize {
        self.name_at.start
    }

    /// Whether a key is needed.
    pub(crate) const fn is_encrypted(&self) -> bool {
        self.flags & (ENCRYPTED | STRONG | MASKED) != 0 || self.method == 99
    }

    /// Whether there is nothing in it: two bytes are what deflate makes of nothing.
    pub(crate) const fn is_empty(&self) -> bool {
        self.size == 0 && self.packed <= 2
    }
}

/// The directory record at the cursor. `None` when none begins there.
pub(super) fn central(bytes: &Bytes, reader: &mut Reader<'_>) -> Result<Option<Entry>, Short> {
    if !reader.rest().starts_with(CENTRAL) {
        return Ok(None);
    }
    let at = reader.position();
    reader.take(4)?;
    let (_made, _needed) = (reader.u16_le()?, reader.u16_le()?);
    let (flags, method) = (reader.u16_le()?, reader.u16_le()?);
    reader.take(4)?;
    let crc = reader.u32_le()?;
    let (packed, size) = (reader.u32_le()?, reader.u32_le()?);
    let (name, extra, comment) = (reader.u16_le()?, reader.u16_le()?, reader.u16_le()?);
    reader.take(4)?;
    let (outer, offset) = (reader.u32_le()?, reader.u32_le()?);
    let name_from = reader.position();
    let raw = reader.take(name.into())?;
    let name_at = name_from..reader.position();
    let fields = reader.take(extra.into())?;
    let comment_from = reader.position();
    reader.take(comment.into())?;
    let mut entry = Entry {
        at,
        name: decode(raw, flags),
        raw: bytes.slice(name_at.clone()),
        name_at,
        other_name: None,
        is_renamed: false,
        method,
        flags,
        crc,
        packed: packed.into(),
        size: size.into(),
        mode: outer >> 16,
        kind: Kind::File,
        comment: comment_from..reader.position(),
        offset: offset.into(),
        data: None,
        is_shared: false,
        is_unclaimed: false,
        number: 0,
        faults: Vec::new(),
    };
    entry.extra(fields, Sizes { size, packed, offset });
    entry.kind = kind(&entry.name, entry.mode, outer);
    Ok(Some(entry))
}

/// Bits of the mode (`stat.h`); a name that ends in a slash is a folder.
fn kind(name: &str, mode: u32, outer: u32) -> Kind {
    const DOS_DIRECTORY: u32 = 0x10;
    match mode & 0o170_000 {
        0o120_000 => Kind::Symlink,
        0o020_000 | 0o060_000 | 0o010_000 | 0o140_000 => Kind::Device,
        0o040_000 => Kind::Directory,
        _ if name.ends_with('/') || name.ends_with('\\') && outer & DOS_DIRECTORY != 0 => Kind::Directory,
        _ => Kind::File,
    }
}

/// The fields that a large value may have moved out of.
struct Sizes {
    size: u32,
    packed: u32,
    offset: u32,
}

impl Entry {
    fn fault(&mut self, what: &'static str) {
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
    }

    /// The name of an extra field. It is there for names in an old code page; of any other it can say nothing new.
    fn rename(&mut self, path: String) {
        self.is_renamed = is_rename(&self.raw, &path);
        if path != self.name {
            self.other_name = Some(std::mem::replace(&mut self.name, path));
        }
    }

    /// Extra fields: a number, a length, data (APPNOTE 4.5).
    fn extra(&mut self, fields: &[u8], sizes: Sizes) {
        let mut wants_large = [sizes.size, sizes.packed, sizes.offset].contains(&u32::MAX);
        let mut has_path = false;
        let is_whole = each_extra(fields, |id, data| match id {
            LARGE => {
                let mut large = Reader::new(data);
                let mut moved = |told: u32| {
                    if told == u32::MAX { large.u64_le().ok() } else { Some(told.into()) }
                };
                if let (Some(size), Some(packed), Some(offset)) =
                    (moved(sizes.size), moved(sizes.packed), moved(sizes.offset))
                {
                    (self.size, self.packed, self.offset, wants_large) = (size, packed, offset, false);
                }
            }
            UNICODE_PATH => match unicode_path(data, &self.raw) {
                Some(_) if has_path => self.fault("it has more than one name in UTF-8"),
                Some(path) => {
                    has_path = true;
                    self.rename(path);
                }
                None => {}
            },
            // Info-ZIP: flags say which times follow; a directory record carries the first only.
            TIMES if data.first().is_none_or(|flags| flags & 1 != 0 && data.len() < 5) => {
                self.fault("an extra field with times is too short");
            }
            _ => {}
        });
        if !is_whole {
            self.fault("its extra fields do not fit their room");
        }
        if wants_large {
            self.fault("a size or offset that needs the extra field for large values, which is missing");
        }
    }
}

/// Hands out each extra field. Whether they fill their room exactly, but for padding of zeros.
fn each_extra(fields: &[u8], mut each: impl FnMut(u16, &[u8])) -> bool {
    let mut reader = Reader::new(fields);
    while !reader.is_at_end() {
        let rest = reader.rest();
        let (Ok(id), Ok(length)) = (reader.u16_le(), reader.u16_le()) else {
            return rest.iter().all(|byte| *byte == 0);
        };
        let Ok(data) = reader.take(length.into()) else {
            return rest.iter().all(|byte| *byte == 0);
        };
        each(id, data);
    }
    true
}

/// A version, a checksum of the name it replaces, and the name. One whose checksum is wrong is old and does not count.
fn unicode_path(data: &[u8], raw: &[u8]) -> Option<String> {
    let mut reader = Reader::new(data);
    let (version, told) = (reader.u8().ok()?, reader.u32_le().ok()?);
    let mut crc = Crc::new();
    crc.update(raw);
    (version == 1 && told == crc.sum()).then(|| String::from_utf8_lossy(reader.rest()).into_owned())
}

/// Whether a name in UTF-8 is another name than the raw one, and not the same one in another encoding.
pub(super) fn is_rename(raw: &[u8], path: &str) -> bool {
    let has_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    std::str::from_utf8(raw).is_ok_and(|raw| raw != path)
        || raw
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .ne(path.as_bytes().iter().filter(|byte| byte.is_ascii_alphanumeric()))
            && raw.iter().any(has_slash) != path.bytes().any(|byte| has_slash(&byte))
}

/// The local header of an entry.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) name_at: Range<usize>,
    pub(super) raw: Bytes,
    pub(super) other_name: Option<String>,
    /// Where the data begin.
    pub(super) data: usize,
    /// Whether its extra fields are sound.
    pub(super) is_sound: bool,
}

/// The local header at an offset. `None` when none is there.
pub(super) fn local(bytes: &Bytes, at: usize) -> Option<Local> {
    let rest = bytes.get(at..)?;
    let mut reader = Reader::new(rest);
    if reader.take(4).ok()? != LOCAL {
        return None;
    }
    reader.u16_le().ok()?;
    let (flags, method) = (reader.u16_le().ok()?, reader.u16_le().ok()?);
    reader.take(4).ok()?;
    let crc = reader.u32_le().ok()?;
    let (packed, size) = (reader.u32_le().ok()?, reader.u32_le().ok()?);
    let (name, extra) = (reader.u16_le().ok()?, reader.u16_le().ok()?);
    let from = at.checked_add(reader.position())?;
    let raw = reader.take(name.into()).ok()?;
    let to = at.checked_add(reader.position())?;
    // Fields that the end of the file cuts: the data then begin there.
    let fields = reader.take(extra.into()).unwrap_or_else(|_| reader.rest());
    let data = to.checked_add(fields.len())?;
    let mut local = Local {
        flags,
        method,
        crc,
        packed: packed.into(),
        size: size.into(),
        name_at: from..to,
        raw: bytes.slice(from..to),
        other_name: None,
        data,
        is_sound: true,
    };
    let mut has_times = true;
    local.is_sound = each_extra(fields, |id, data| match id {
        LARGE if size == u32::MAX || packed == u32::MAX => {
            let mut large = Reader::new(data);
            if let (Ok(size), Ok(packed)) = (large.u64_le(), large.u64_le()) {
                (local.size, local.packed) = (size, packed);
            }
        }
        UNICODE_PATH => local.other_name = unicode_path(data, raw),
        TIMES => {
            let flags = data.first().copied().unwrap_or(0xff);
            has_times &= count(data.len()) > 4 * u64::from((flags & 7).count_ones());
        }
        _ => {}
    }) && has_times
        && fields.len() == usize::from(extra);
    Some(local)
}

/// An entry made of its local header alone, for archives whose directory is lost.
pub(super) fn of_local(at: usize, local: &Local, packed: u64) -> Entry {
    let name = decode(&local.raw, local.flags);
    Entry {
        at,
        name_at: local.name_at.clone(),
        raw: local.raw.clone(),
        kind: kind(&name, 0, 0),
        other_name: local.other_name.clone().filter(|other| *other != name),
        is_renamed: local.other_name.as_ref().is_some_and(|other| is_rename(&local.raw, other)),
        name,
        method: local.method,
        flags: local.flags,
        crc: local.crc,
        packed,
        size: local.size,
        mode: 0,
        comment: 0..0,
        offset: count(at),
        data: None,
        is_shared: false,
        // The true values come behind the data.
        is_unclaimed: local.flags & DESCRIPTOR != 0,
        number: 0,
        faults: Vec::new(),
    }
}

/// A name in UTF-8 where it is that, whatever the flag says; else in code page 437 (APPNOTE appendix D).
pub(super) fn decode(raw: &[u8], flags: u16) -> String {
    match std::str::from_utf8(raw) {
        Ok(name) => name.to_owned(),
        Err(_) if flags & UTF8 != 0 => {
            // Overlong dots and slashes are what such bytes are for: they stay visible.
            raw.iter().copied().map(char::from).collect()
        }
        Err(_) => raw
            .iter()
            .map(|byte| HIGH.get(usize::from(*byte).wrapping_sub(128)).copied().unwrap_or(char::from(*byte)))
            .collect(),
    }
}

/// Code page 437 from 0x80 on.
#[rustfmt::skip]
const HIGH: [char; 128] = [
    'Ç', 'ü', 'é', 'â', 'ä', 'à', 'å', 'ç', 'ê', 'ë', 'è', 'ï', 'î', 'ì', 'Ä', 'Å',
    'É', 'æ', 'Æ', 'ô', 'ö', 'ò', 'û', 'ù', 'ÿ', 'Ö', 'Ü', '¢', '£', '¥', '₧', 'ƒ',
    'á', 'í', 'ó', 'ú', 'ñ', 'Ñ', 'ª', 'º', '¿', '⌐', '¬', '½', '¼', '¡', '«', '»',
    '░', '▒', '▓', '│', '┤', '╡', '╢', '╖', '╕', '╣', '║', '╗', '╝', '╜', '╛', '┐',
    '└', '┴', '┬', '├', '─', '┼', '╞', '╟', '╚', '╔', '╩', '╦', '╠', '═', '╬', '╧',
    '╨', '╤', '╥', '╙', '╘', '╒', '╓', '╫', '╪', '┘', '┌', '█', '▄', '▌', '▐', '▀',
    'α', 'ß', 'Γ', 'π', 'Σ', 'σ', 'µ', 'τ', 'Φ', 'Θ', 'Ω', 'δ', '∞', 'φ', 'ε', '∩',
    '≡', '±', '≥', '≤', '⌠', '⌡', '÷', '≈', '°', '∙', '·', '√', 'ⁿ', '²', '■', '\u{a0}',
];
