//! The safe version of a tape archive: its files and folders, washed, under safe names, written as plain ustar.

use bytes::Bytes;

use super::{BLOCK_BYTES, Tape, header::Kind};
use crate::{
    bundle::ArtifactId,
    finding::Findings,
    format::{
        Out, Subject,
        cleaning::{Cleaning, Part, Uncleanable},
        path::SafeNames,
    },
    limits::{Budget, Resource},
    reader::count,
};

/// Copying runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;
/// Writing and summing a header.
const STEPS_PER_MEMBER: u64 = 100;
/// Fields of a header (POSIX.1-1988): a name, and what stands before it where it is split.
const NAME_BYTES: usize = 100;
const PREFIX_BYTES: usize = 155;
const TOO_LARGE: &str = "the archive is too large to be written again";

/// One member as it was found.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) data: Bytes,
    /// A file with holes, whose data begin with a map of them.
    pub(super) is_sparse: bool,
    /// Its header says one thing, and matches its checksum.
    pub(super) is_sound: bool,
}

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    let mut pack = Pack::default();
    let mut names = SafeNames::default();
    // More than folders: what they had in them, and what is left of it.
    let (mut had_more, mut has_files) = (false, false);
    for member in members(subject, cleaning, budget)? {
        if !member.is_sound {
            return Err("a header in the archive is damaged".into());
        }
        had_more |= member.kind != Kind::Folder;
        match member.kind {
            Kind::Hardlink | Kind::Symlink => cleaning.did("removed a link"),
            Kind::Device => cleaning.did("removed a device"),
            Kind::Folder => {
                if let Some(name) = names.folder(&member.name, cleaning, budget)? {
                    pack.add(&name, b'5', &[], budget)?;
                }
            }
            Kind::File if !member.is_sparse => {
                let Some(name) = names.file(&member.name, cleaning, budget)? else { continue };
                let mut bytes = member.data;
                if !bytes.is_empty() {
                    match cleaning.part(&bytes, Some(&name), budget)? {
                        Part::Keep => {}
                        Part::Changed(changed) => bytes = changed,
                        Part::Gone(_) => continue,
                    }
                }
                pack.add(&name, b'0', &bytes, budget)?;
                has_files = true;
            }
            Kind::File | Kind::GnuSparse => return Err("a file in the archive has holes".into()),
            // A label of the tape, or what nobody knows.
            _ => cleaning.did("removed what is no file"),
        }
    }
    if had_more && !has_files {
        return Err("nothing in the archive may stay".into());
    }
    Ok(pack.finish())
}

/// Every member, from the first header to the empty block that ends the archive.
fn members(subject: &Subject<'_>, cleaning: &mut Cleaning<'_>, budget: &mut Budget) -> Result<Vec<Kept>, Uncleanable> {
    // What is wrong with it was said when it was inspected.
    let (mut findings, mut gaps) = (Findings::keeping(0), Vec::new());
    let mut out = Out::new(ArtifactId(0), subject, &mut findings, &mut gaps);
    let mut tape = Tape { kept: Some(Vec::new()), ..Tape::over(subject.bytes) };
    tape.walk(&mut out, budget)?;
    if !out.texts.is_empty() {
        cleaning.did("removed what is said beside the files");
    }
    if !out.children.is_empty() {
        cleaning.did("removed data behind the end");
    }
    Ok(tape.kept.unwrap_or_default())
}

/// An archive being written.
#[derive(Debug, Default)]
struct Pack {
    bytes: Vec<u8>,
}

impl Pack {
    fn add(&mut self, name: &str, flag: u8, data: &[u8], budget: &mut Budget) -> Result<(), Uncleanable> {
        budget.spend(Resource::Steps, STEPS_PER_MEMBER.saturating_add(count(data.len()).div_ceil(BYTES_PER_STEP)))?;
        match split(name) {
            Some((prefix, name)) => self.header(prefix, name, flag, data.len())?,
            None => {
                let record = record(name)?;
                self.header("", "description", b'x', record.len())?;
                self.data(record.as_bytes())?;
                // What programs that know no descriptions call it.
                self.header("", "long-name", flag, data.len())?;
            }
        }
        self.data(data)
    }

    fn header(&mut self, prefix: &str, name: &str, flag: u8, size: usize) -> Result<(), Uncleanable> {
        // Eleven octal digits.
        let size = u64::try_from(size).ok().filter(|size| *size < 1 << 33).ok_or(TOO_LARGE)?;
        let mode = if flag == b'5' { "0000755\0" } else { "0000644\0" };
        let mut block = Vec::with_capacity(512);
        field(&mut block, name.as_bytes(), NAME_BYTES);
        block.extend(mode.as_bytes());
        // Owner and group.
        block.extend(b"0000000\x000000000\0");
        block.extend(format!("{size:011o}\0").as_bytes());
        // The time: none.
        block.extend(b"00000000000\0");
        // The checksum counts as blanks.
        block.extend(b"        ");
        block.push(flag);
        field(&mut block, b"", NAME_BYTES);
        block.extend(b"ustar\x0000");
        field(&mut block, b"", 64);
        block.extend(b"0000000\x000000000\0");
        field(&mut block, prefix.as_bytes(), PREFIX_BYTES);
        field(&mut block, b"", 12);
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        if let Some(field) = block.get_mut(148..156) {
            field.copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
        self.bytes.extend(block);
        Ok(())
    }

    /// The data, filled up to a whole block.
    fn data(&mut self, data: &[u8]) -> Result<(), Uncleanable> {
        self.bytes.extend_from_slice(data);
        let block = usize::try_from(BLOCK_BYTES).map_err(|_| TOO_LARGE)?;
        let length = self.bytes.len().checked_next_multiple_of(block).ok_or(TOO_LARGE)?;
        self.bytes.resize(length, 0);
        Ok(())
    }

    /// Two empty blocks end it.
    fn finish(mut self) -> Bytes {
        self.bytes.extend([0; 1024]);
        self.bytes.into()
    }
}

/// A field of text, filled up with zeros.
fn field(block: &mut Vec<u8>, text: &[u8], bytes: usize) {
    let end = block.len().saturating_add(bytes);
    block.extend_from_slice(text.get(..bytes).unwrap_or(text));
    block.resize(end, 0);
}

/// The name split at a slash such that both parts fit their fields; `None` where there is no such slash.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME_BYTES {
        return Some(("", name));
    }
    name.match_indices('/').find_map(|(at, _)| {
        let (prefix, rest) = (name.get(..at)?, name.get(at.checked_add(1)?..)?);
        (prefix.len() <= PREFIX_BYTES && rest.len() <= NAME_BYTES && !rest.is_empty()).then_some((prefix, rest))
    })
}

/// A record of a PAX header: its own length, a key and a value (POSIX.1-2001).
pub(super) fn record(name: &str) -> Result<String, Uncleanable> {
    let rest = format!(" path={name}\n");
    // The length counts its own digits: one more of them can make it one longer, and no more than that.
    let mut length = rest.len();
    for _ in 0..2 {
        length = rest.len().checked_add(length.to_string().len()).ok_or(TOO_LARGE)?;
    }
    Ok(format!("{length}{rest}"))
}
