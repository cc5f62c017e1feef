//! The safe version of an icon: its pictures, washed or measured, one right behind the other.

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Part, Uncleanable},
        dib::{self, Dib, Packing},
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::{ENTRY, HEADER};

const CUT: &str = "the picture is cut off";

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    cleaning::pay_to_copy(subject.bytes.len(), budget)?;
    let mut reader = Reader::new(subject.bytes);
    // An icon or a pointer.
    let kind @ (b"\0\0\x01\0" | b"\0\0\x02\0") = reader.take(4).map_err(|_| CUT)? else {
        return Err("the icon does not begin as it must".into());
    };
    let number = reader.u16_le().map_err(|_| CUT)?;
    let (mut entries, mut pictures) = (Vec::new(), Vec::new());
    let first = HEADER.saturating_add(ENTRY.saturating_mul(number.into()));
    // Pictures share no bytes: together they are no longer than the file.
    let mut left = subject.bytes.len();
    for _ in 0..number {
        budget.spend(Resource::Objects, 1)?;
        let [width, height, colours, _, a0, a1, b0, b1] = reader.array().map_err(|_| CUT)?;
        let (length, offset) = (reader.u32_le().map_err(|_| CUT)?, reader.u32_le().map_err(|_| CUT)?);
        let start = usize::try_from(offset).map_err(|_| CUT)?;
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let picture = end.filter(|end| *end <= subject.bytes.len() && start < *end).ok_or(CUT)?;
        let picture = subject.bytes.slice(start..picture);
        left = left.checked_sub(picture.len()).ok_or("pictures of the icon share the same bytes")?;
        let picture = if picture.starts_with(b"\x89PNG") {
            match cleaning.part(&picture, None, budget)? {
                Part::Keep => picture,
                Part::Changed(changed) => changed,
                Part::Gone(why) => return Err(Uncleanable(why)),
            }
        } else {
            picture.slice(..bitmap(&picture)?)
        };
        let offset = small(first.saturating_add(pictures.len()))?;
        entries.extend([width, height, colours, 0, a0, a1, b0, b1]);
        entries.extend(small(picture.len())?.to_le_bytes());
        entries.extend(offset.to_le_bytes());
        pictures.extend_from_slice(&picture);
    }
    let out = [kind, &number.to_le_bytes(), &entries, &pictures].concat();
    cleaning::proved(super::inspect, subject.kind, out.into(), budget)
}

/// How many bytes a bitmap without a file header has; its height counts the mask below the colours.
fn bitmap(picture: &[u8]) -> Result<usize, Uncleanable> {
    let mut dib = Dib::read(picture, 0)?;
    if let Some(wrong) = dib.wrong {
        return Err(wrong.into());
    }
    // Beyond eight bits there is no table of colours, but there may be masks.
    let most = dib.mask_bytes.saturating_add(if dib.bits <= 8 { 4_u64 << dib.bits } else { 0 });
    if dib.packing != Packing::Rows || dib.table_bytes > most {
        return Err("a picture of the icon is packed as no viewer expects it".into());
    }
    dib.size.height = dib.size.height.div_ceil(2);
    let mask = dib::row_bytes(dib.size.width, 1).saturating_mul(dib.size.height.into());
    let head = u64::from(dib.header_bytes).saturating_add(dib.table_bytes);
    let colours = head.saturating_add(dib.rows_bytes());
    // Some writers leave the mask out.
    let used = colours.saturating_add(mask).min(count(picture.len()));
    if used < colours {
        return Err(CUT.into());
    }
    usize::try_from(used).map_err(|_| CUT.into())
}

fn small(size: usize) -> Result<u32, Uncleanable> {
    u32::try_from(size).map_err(|_| "the picture is too large".into())
}
