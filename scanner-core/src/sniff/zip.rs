//! Zip and what is built on it: told apart by member names of the central directory and of the local headers, and by
//! the stored `mimetype` member of OpenDocument and EPUB. Offsets and signatures: APPNOTE 6.3.10, section 4.3.

use std::borrow::Cow;

use super::peek::{Peek, find};

/// How much of the tail may hold the end record: its 22 bytes and the longest comment, and some room for junk.
const TAIL_BYTES: usize = 0x1_0000 + 22 + 1024;
/// The signature of the end record.
const END_RECORD: &[u8] = b"PK\x05\x06";
/// Members looked at; the parts that tell types apart come among the first in any honest file.
const MEMBERS: usize = 2000;
/// How far a scan for the next local header goes when a header does not say how long its member is.
const SCAN_BYTES: usize = 0x4_0000;

/// Where a zip lies in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Bytes before the first local header.
    pub(super) prefix: usize,
    /// Where the central directory begins.
    directory: usize,
    /// Where the archive ends, its comment included.
    pub(super) end: usize,
    /// Members that the end record counts.
    members: u16,
}

/// The archive whose end record lies in the tail and whose central directory is where that record says.
pub(super) fn find_archive(bytes: &[u8]) -> Option<Found> {
    let peek = Peek(bytes);
    let tail = peek.tail(TAIL_BYTES);
    let start = bytes.len().saturating_sub(tail.len());
    // Searching backwards is slow, and nearly every file has no such record at all.
    memchr::memchr(0x06, tail)?;
    memchr::memmem::find(tail, END_RECORD)?;
    let mut until = tail.len();
    // A bounded number of false end records, lest their count times the tail be the cost.
    for _ in 0..64 {
        let at = memchr::memmem::rfind(tail.get(..until)?, END_RECORD)?;
        if let Some(found) = end_record(peek, start.saturating_add(at)) {
            return Some(found);
        }
        until = at;
    }
    None
}

fn end_record(peek: Peek<'_>, at: usize) -> Option<Found> {
    let members = peek.u16_le(at.checked_add(10)?)?;
    let size = peek.index_le(at.checked_add(12)?)?;
    let offset = peek.index_le(at.checked_add(16)?)?;
    let comment = usize::from(peek.u16_le(at.checked_add(20)?)?);
    let end = at.checked_add(22)?.checked_add(comment)?.min(peek.len());
    if size == 0xffff_ffff || offset == 0xffff_ffff || members == 0xffff {
        // Zip64: the locator before this record knows where its end record is.
        let locator = at.checked_sub(20)?;
        let told = usize::try_from(peek.u64_le(locator.checked_add(8)?)?).ok()?;
        // The usual record has 56 bytes and ends where the locator begins; what it tells is off by the junk before.
        let usual = locator.checked_sub(56)?;
        let record = if peek.has(told, b"PK\x06\x06") { told } else { usual };
        let prefix = record.checked_sub(told)?;
        let directory = usize::try_from(peek.u64_le(record.checked_add(48)?)?).ok()?.checked_add(prefix)?;
        let signed = peek.has(locator, b"PK\x06\x07") && peek.has(record, b"PK\x06\x06");
        return (signed && peek.has(directory, b"PK\x01\x02")).then_some(Found {
            prefix,
            directory,
            end,
            members: u16::MAX,
        });
    }
    if size == 0 {
        return (members == 0 && offset <= at).then_some(Found {
            prefix: at.checked_sub(offset)?,
            directory: at,
            end,
            members,
        });
    }
    let directory = at.checked_sub(size)?;
    if !peek.has(directory, b"PK\x01\x02") {
        return None;
    }
    // What lies before is not counted by the offset, unless the writer fixed all of them up.
    let prefix = directory.checked_sub(offset)?;
    let prefix = if prefix == 0 { first_local(peek, directory)? } else { prefix };
    Some(Found { prefix, directory, end, members })
}

/// Where the member of the first directory record lies: the lowest offset of the first few.
fn first_local(peek: Peek<'_>, directory: usize) -> Option<usize> {
    let mut at = directory;
    let mut lowest = peek.index_le(at.checked_add(42)?)?;
    for _ in 0..MEMBERS {
        if !peek.has(at, b"PK\x01\x02") {
            break;
        }
        lowest = lowest.min(peek.index_le(at.checked_add(42)?)?);
        at = next_record(peek, at)?;
    }
    Some(if lowest <= directory { lowest } else { 0 })
}

fn next_record(peek: Peek<'_>, at: usize) -> Option<usize> {
    let name = usize::from(peek.u16_le(at.checked_add(28)?)?);
    let extra = usize::from(peek.u16_le(at.checked_add(30)?)?);
    let comment = usize::from(peek.u16_le(at.checked_add(32)?)?);
    at.checked_add(46)?.checked_add(name)?.checked_add(extra)?.checked_add(comment)
}

/// What kind of zip, given where it was found, or by its local headers alone when it is cut.
pub(super) fn kind(bytes: &[u8], found: Option<Found>) -> &'static str {
    let mut seen = Seen::default();
    match found {
        Some(found) if found.members > 0 => {
            directory(bytes, found, &mut seen);
        }
        Some(_) => {}
        None => locals(bytes, 0, MEMBERS, &mut seen),
    }
    seen.kind()
}

fn directory(bytes: &[u8], found: Found, seen: &mut Seen) {
    let peek = Peek(bytes);
    let mut at = found.directory;
    for _ in 0..MEMBERS {
        let fields = || {
            let name = peek.slice(at.checked_add(46)?, usize::from(peek.u16_le(at.checked_add(28)?)?))?;
            let local = peek.index_le(at.checked_add(42)?)?.checked_add(found.prefix);
            // Offsets of a fixed-up archive count from the start of the file.
            let local = local.filter(|local| peek.has(*local, b"PK\x03\x04")).or(peek.index_le(at.checked_add(42)?));
            Some((name, local?))
        };
        let (true, Some((name, local))) = (peek.has(at, b"PK\x01\x02"), fields()) else { break };
        seen.name(name);
        if name == b"mimetype" {
            seen.mimetype(content(peek, local).as_deref());
        }
        let Some(next) = next_record(peek, at) else { break };
        at = next;
    }
}

/// The first bytes of a member, by its local header. It should be stored; some writers deflate it all the same, and
/// 128 bytes of output are no bomb.
fn content(peek: Peek<'_>, local: usize) -> Option<Cow<'_, [u8]>> {
    let method = peek.u16_le(local.checked_add(8)?)?;
    let size = peek.index_le(local.checked_add(18)?)?.min(128);
    let name = usize::from(peek.u16_le(local.checked_add(26)?)?);
    let extra = usize::from(peek.u16_le(local.checked_add(28)?)?);
    let data = local.checked_add(30)?.checked_add(name)?.checked_add(extra)?;
    let rest = peek.from(data);
    match method {
        _ if !peek.has(local, b"PK\x03\x04") => None,
        0 => Some(Cow::Borrowed(rest.get(..size).unwrap_or(rest))),
        8 => {
            let mut out = [0_u8; 128];
            let mut inflater = flate2::Decompress::new(false);
            inflater.decompress(rest.get(..256).unwrap_or(rest), &mut out, flate2::FlushDecompress::Sync).ok()?;
            let length = usize::try_from(inflater.total_out()).ok()?;
            Some(Cow::Owned(out.get(..length)?.to_vec()))
        }
        _ => None,
    }
}

fn locals(bytes: &[u8], from: usize, count: usize, seen: &mut Seen) {
    let peek = Peek(bytes);
    let mut at = from;
    for _ in 0..count {
        let header = || {
            let name = usize::from(peek.u16_le(at.checked_add(26)?)?);
            let extra = usize::from(peek.u16_le(at.checked_add(28)?)?);
            let name_at = at.checked_add(30)?;
            let rest = peek.from(name_at);
            let data = name_at.checked_add(name)?.checked_add(extra)?;
            let (flags, size) = (peek.u16_le(at.checked_add(6)?)?, peek.index_le(at.checked_add(18)?)?);
            // A cut name still tells more than none.
            let known = (flags & 8 == 0 || size > 0).then_some(size);
            // A stored member of unknown length may itself be a zip: its headers are not ours.
            let stop = known.is_none() && peek.u16_le(at.checked_add(8)?)? == 0;
            Some((rest.get(..name).unwrap_or(rest), data, known, stop))
        };
        let (true, Some((name, data, size, stop))) = (peek.has(at, b"PK\x03\x04"), header()) else { break };
        seen.name(name);
        if name == b"mimetype" {
            seen.mimetype(content(peek, at).as_deref());
        }
        if stop {
            break;
        }
        let next = match size {
            Some(size) => data.checked_add(size),
            None => {
                let rest = peek.from(data);
                find(rest.get(..SCAN_BYTES).unwrap_or(rest), b"PK\x03\x04").and_then(|skip| data.checked_add(skip))
            }
        };
        let Some(next) = next else { break };
        at = next;
    }
}

/// The telling members that were seen.
#[derive(Debug, Default)]
struct Seen {
    mimetype: Option<&'static str>,
    members: u32,
    content_types: bool,
    word: bool,
    sheet: bool,
    slides: bool,
    only_directory: Option<&'static str>,
    android: bool,
    manifest: bool,
    classes: bool,
    wheel: bool,
    pickle: bool,
    torch: bool,
    keras: bool,
    arrays: u32,
    container_xml: bool,
    odf_manifest: bool,
}

impl Seen {
    fn name(&mut self, name: &[u8]) {
        self.members = self.members.saturating_add(1);
        let lower = |name: &[u8], prefix: &[u8]| {
            name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        self.content_types |= name.eq_ignore_ascii_case(b"[Content_Types].xml") || lower(name, b"_rels/.rels");
        self.word |= lower(name, b"word/") && name.len() > 5;
        self.sheet |= lower(name, b"xl/") && name.len() > 3;
        self.slides |= lower(name, b"ppt/") && name.len() > 4;
        self.only_directory = match name {
            b"word/" => Some("docx"),
            b"xl/" => Some("xlsx"),
            b"ppt/" => Some("pptx"),
            _ => None,
        };
        self.android |= name == b"AndroidManifest.xml"
            || name.starts_with(b"META-INF/com/android/")
            || name.ends_with(b".apk")
            || (name.starts_with(b"classes") && name.ends_with(b".dex"));
        self.manifest |= name == b"META-INF/MANIFEST.MF" || (name == b"META-INF/" && self.members == 1);
        self.classes |= name.ends_with(b".class");
        self.wheel |= find(name, b".dist-info/").is_some_and(|at| at > 0)
            && (name.ends_with(b"/WHEEL") || name.ends_with(b"/METADATA") || name.ends_with(b"/RECORD"));
        self.pickle |= name.ends_with(b"/data.pkl") || name == b"data.pkl" || name.ends_with(b"/constants.pkl");
        self.torch |= find(name, b"/data/").is_some()
            || name.ends_with(b"/version")
            || name.ends_with(b"/byteorder")
            || name.ends_with(b"/.format_version")
            || find(name, b"/.data/").is_some();
        self.keras |= name == b"model.weights.h5" || name == b"config.json" && self.members <= 2;
        self.arrays = self.arrays.saturating_add(u32::from(name.ends_with(b".npy")));
        self.container_xml |= name == b"META-INF/container.xml";
        self.odf_manifest |= name == b"META-INF/manifest.xml";
    }

    fn mimetype(&mut self, content: Option<&[u8]>) {
        let Some(content) = content else { return };
        let starts = |prefix: &[u8]| content.starts_with(prefix);
        self.mimetype = if starts(b"application/epub+zip") {
            Some("epub")
        } else if starts(b"application/vnd.oasis.opendocument.text") || starts(b"application/vnd.sun.xml.writer") {
            Some("odt")
        } else if starts(b"application/vnd.oasis.opendocument.spreadsheet") || starts(b"application/vnd.sun.xml.calc") {
            Some("ods")
        } else if starts(b"application/vnd.oasis.opendocument.presentation")
            || starts(b"application/vnd.sun.xml.impress")
        {
            Some("odp")
        } else {
            self.mimetype
        };
    }

    fn kind(&self) -> &'static str {
        let all_arrays = self.arrays > 0 && self.arrays == self.members;
        match self {
            Self { mimetype: Some(kind), .. } => kind,
            Self { content_types: true, word: true, .. } => "docx",
            Self { content_types: true, sheet: true, .. } => "xlsx",
            Self { content_types: true, slides: true, .. } => "pptx",
            Self { only_directory: Some(kind), members: 1, .. } => kind,
            Self { container_xml: true, odf_manifest: false, manifest: false, classes: false, .. } => "epub",
            Self { android: true, .. } => "apk",
            Self { manifest: true, .. } => "jar",
            Self { pickle: true, torch: true, .. } | Self { pickle: true, members: 1, .. } => "pytorch",
            Self { wheel: true, .. } => "whl",
            Self { keras: true, members: 2..=8, .. } => "keras",
            _ if all_arrays => "npz",
            _ => "zip",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip of stored members.
    pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut out, mut central) = (Vec::new(), Vec::new());
        for (name, data) in members {
            let offset = out.len() as u32;
            let mut sizes = Vec::new();
            sizes.extend([0; 4]);
            sizes.extend((data.len() as u32).to_le_bytes());
            sizes.extend((data.len() as u32).to_le_bytes());
            sizes.extend((name.len() as u16).to_le_bytes());
            sizes.extend([0, 0]);
            out.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
            out.extend(&sizes);
            out.extend(name.as_bytes());
            out.extend(*data);
            central.extend(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0");
            central.extend(&sizes);
            central.extend([0; 10]);
            central.extend(offset.to_le_bytes());
            central.extend(name.as_bytes());
        }
        let at = out.len() as u32;
        out.extend(&central);
        out.extend(b"PK\x05\x06\0\0\0\0");
        out.extend((members.len() as u16).to_le_bytes());
        out.extend((members.len() as u16).to_le_bytes());
        out.extend((central.len() as u32).to_le_bytes());
        out.extend(at.to_le_bytes());
        out.extend([0, 0]);
        out
    }

    #[track_caller]
    fn check(members: &[(&str, &[u8])], want: &str) {
        let bytes = zip(members);
        assert_eq!(kind(&bytes, find_archive(&bytes)), want);
        let prefixed = [b"#!/bin/sh\nexit\n", bytes.as_slice()].concat();
        let found = find_archive(&prefixed);
        assert_eq!(found.map(|found| found.prefix), Some(15));
        assert_eq!(kind(&prefixed, found), want);
    }

    #[test]
    fn members_tell() {
        check(&[("a.txt", b"a")], "zip");
        check(&[("content.xml", b""), ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet")], "ods");
        check(&[("xl/workbook.xml", b""), ("[Content_Types].xml", b"")], "xlsx");
        check(&[("a.npy", b""), ("b.npy", b"")], "npz");
        check(&[("a.npy", b""), ("b.txt", b"")], "zip");
        check(&[("archive/data.pkl", b""), ("archive/version", b"3")], "pytorch");
        check(&[("x/A.class", b""), ("META-INF/MANIFEST.MF", b"")], "jar");
        check(&[("p/__init__.py", b""), ("p-1.dist-info/WHEEL", b"")], "whl");
    }

    #[test]
    fn a_directory_called_word_is_no_document() {
        check(&[("word/notes.txt", b"a")], "zip");
    }

    #[test]
    fn an_end_record_without_a_directory_is_none() {
        assert_eq!(find_archive(b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x09\0\0\0\0\0\0\0\0\0"), None);
    }
}
