//! ICO and CUR: the directory against the file, and each picture in it.

use std::ops::Range;

use crate::{
    bundle::Source,
    finding::{Place, Stop},
    format::{
        Format, Out, Subject,
        dib::{self, Dib, Packing},
        letters,
        picture::{self, Size, Walk, mild, say},
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

mod clean;

pub(crate) const FORMAT: Format = Format {
    name: "ico",
    labels: &["ico", "cur"],
    inspect,
    clean: Some(clean::clean),
    rules: &[
        &picture::STRUCTURE,
        &picture::TRUNCATED,
        &picture::DIMENSIONS,
        &picture::FRAMES,
        &picture::TRAILING,
        &picture::DISGUISE,
        &picture::PROGRAM,
        &picture::NOTE,
    ],
};

/// Reserved, kind, number of pictures.
const HEADER: usize = 6;
/// Width, height, colours, reserved, two fields of the kind, length, offset.
const ENTRY: usize = 16;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    // Each of its pictures is looked at, or told of.
    out.is_looked_at = true;
    let mut walk = Walk::over(subject.bytes);
    let walked = directory(&mut walk, out, budget);
    walk.unread(&walked, HEADER, true, out, budget);
    walk.finish(0..0, out);
    walked
}

/// A line of the directory.
struct Entry {
    /// What it says of the size; a zero stands for 256 and more.
    size: Size,
    /// Where it stands.
    at: Range<usize>,
    /// Where the picture stands.
    range: Range<usize>,
}

fn directory(walk: &mut Walk<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(walk.bytes);
    reader.take(4)?;
    let number = reader.u16_le()?;
    if number == 0 {
        say(out, &picture::STRUCTURE, 0..HEADER, "there is no picture in it");
    }
    let first = HEADER.saturating_add(ENTRY.saturating_mul(number.into()));
    let mut entries = Vec::new();
    for _ in 0..number {
        budget.spend(Resource::Objects, 1)?;
        let at = reader.position();
        let [width, height, ..] = reader.array::<8>()?;
        let (length, offset) = (reader.u32_le()?, reader.u32_le()?);
        let here = at..reader.position();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        if end > walk.bytes.len() || start < HEADER {
            let message = format!("a picture of {length} bytes at byte {offset} lies outside the file");
            say(out, &picture::STRUCTURE, here.clone(), message);
        }
        let end = end.min(walk.bytes.len());
        if start < end && start >= HEADER {
            entries.push(Entry { size: Size::new(width.into(), height.into()), at: here, range: start..end });
        }
    }
    // By their place: what lies between them, and what two of them share, shows.
    entries.sort_by_key(|entry| (entry.range.start, entry.range.end));
    let mut end = first.min(walk.bytes.len());
    let mut before: Option<Range<usize>> = None;
    for entry in entries {
        if before.as_ref() == Some(&entry.range) {
            mild(out, &picture::STRUCTURE, entry.at, "two entries share one picture");
            continue;
        }
        if entry.range.start < end {
            say(out, &picture::STRUCTURE, entry.at.clone(), "a picture begins inside the directory or another picture");
            end = end.max(entry.range.end);
            continue;
        }
        walk.opaque(end..entry.range.start, &Place::default().name("part", "between the pictures"), out, budget);
        end = entry.range.end;
        before = Some(entry.range.clone());
        one(walk, &entry, out, budget);
    }
    walk.behind(end, out, budget);
    Ok(())
}

/// One picture: a PNG is looked into on its own, a bitmap is measured here.
fn one(walk: &mut Walk<'_>, entry: &Entry, out: &mut Out<'_>, budget: &mut Budget) {
    let bytes = walk.bytes.get(entry.range.clone()).unwrap_or_default();
    if bytes.starts_with(b"\x89PNG") {
        let side = |at: usize| {
            let side = bytes.get(at..)?.first_chunk::<4>()?;
            Some(u32::from_be_bytes(*side))
        };
        if let (Some(width), Some(height)) = (side(16), side(20)) {
            compare(entry, Size::new(width, height), out);
        }
        out.child(Source::stored(walk.bytes.slice(entry.range.clone())), None);
        return;
    }
    if let Err(stop) = bitmap(walk, entry, out, budget) {
        walk.opaque(entry.range.clone(), &Place::default().number("offset", count(entry.range.start)), out, budget);
        walk.account.not_read(stop);
    }
}

/// A bitmap without a file header; its height counts the mask below the colours.
fn bitmap(walk: &mut Walk<'_>, entry: &Entry, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let whole = walk.bytes.get(..entry.range.end).unwrap_or_default();
    let mut dib = Dib::read(whole, entry.range.start)?;
    let start = entry.range.start;
    let header =
        start..start.saturating_add(usize::try_from(dib.header_bytes).unwrap_or(usize::MAX)).min(entry.range.end);
    if let Some(wrong) = dib.wrong {
        say(out, &picture::STRUCTURE, header.clone(), wrong);
        return Ok(());
    }
    dib.size.height = dib.size.height.div_ceil(2);
    if letters::have_room(dib.size) {
        letters::unread("the letters of a bitmap in an icon are not read", out, budget);
    }
    compare(entry, dib.size, out);
    let before = count(header.len()).saturating_add(dib.table_bytes);
    let room = count(entry.range.len()).saturating_sub(before);
    let colours = dib.rows_bytes();
    let is_short = dib.packing == Packing::Rows && room.saturating_add(3) < colours;
    let row = dib::row_bytes(dib.size.width, dib.bits).max(1);
    let backed = room.checked_div(row).unwrap_or(0).saturating_mul(dib.size.width.into());
    walk.size(dib.size, header, is_short.then_some(backed), out, budget);
    if dib.packing == Packing::Rows && !is_short {
        let mask = dib::row_bytes(dib.size.width, 1).saturating_mul(dib.size.height.into());
        let used = before.saturating_add(colours).saturating_add(mask);
        let rest = usize::try_from(used).unwrap_or(usize::MAX).saturating_add(start)..entry.range.end;
        if rest.start < rest.end {
            walk.opaque(rest, &Place::default().name("part", "behind a picture"), out, budget);
        }
    }
    Ok(())
}

/// The directory's size is what a viewer chooses by, the picture's what it shows.
fn compare(entry: &Entry, size: Size, out: &mut Out<'_>) {
    let agree = |said: u32, is: u32| said == is || said == 0 && is >= 256;
    if !agree(entry.size.width, size.width) || !agree(entry.size.height, size.height) {
        let message = format!(
            "the directory says {} × {} pixels, the picture {} × {}",
            entry.size.width, entry.size.height, size.width, size.height
        );
        mild(out, &picture::STRUCTURE, entry.at.clone(), message);
    }
}

#[cfg(test)]
mod tests;
