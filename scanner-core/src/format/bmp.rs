//! BMP: the file's header against the picture's, the rows counted or their runs followed, what is behind.

use std::ops::Range;

use crate::{
    bundle::Source,
    finding::{Place, Stop},
    format::{
        Format, Out, Subject,
        dib::{self, Dib, Packing},
        picture::{self, Walk, luma, mild, say},
        qr::{self, Grey},
    },
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, count},
};

mod clean;

pub(crate) const FORMAT: Format = Format {
    name: "bmp",
    labels: &["bmp"],
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
        &qr::CODE,
        &qr::SCRIPT_URL,
        &qr::PROTOCOL,
    ],
};

/// Signature, size of the file, two reserved fields, offset of the pixels.
const FILE_HEADER: usize = 14;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut walk = Walk::over(subject.bytes);
    let walked = picture(&mut walk, out, budget);
    walk.unread(&walked, FILE_HEADER, true, out, budget);
    walk.finish(0..0, out);
    walked
}

fn picture(walk: &mut Walk<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(walk.bytes);
    reader.seek(10)?;
    let pixels_at = reader.u32_le()?;
    let dib = Dib::read(walk.bytes, FILE_HEADER)?;
    let length = walk.bytes.len();
    let header_end = FILE_HEADER.saturating_add(usize::try_from(dib.header_bytes).unwrap_or(usize::MAX)).min(length);
    let header = FILE_HEADER..header_end;
    if let Some(wrong) = dib.wrong {
        say(out, &picture::STRUCTURE, header.clone(), wrong);
    }
    if !dib.is_flat {
        say(out, &picture::STRUCTURE, header.clone(), "a bitmap has one plane of pixels, and this has more or none");
    }
    let table_end = count(header_end).saturating_add(dib.table_bytes);
    if table_end > count(length) {
        say(out, &picture::STRUCTURE, header.clone(), "the table of colours is longer than the file");
    }
    let start = usize::try_from(pixels_at).unwrap_or(usize::MAX).min(length);
    if start < header_end || count(start) < u64::from(pixels_at) {
        say(out, &picture::STRUCTURE, 10..FILE_HEADER, format!("the pixels are said to begin at byte {pixels_at}"));
    } else if let Ok(table_end) = usize::try_from(table_end) {
        // Some writers leave room for more colours than they use.
        let profile = profile_range(&dib, length);
        let between = table_end..profile.map_or(start, |profile| profile.start.min(start));
        if between.start < between.end {
            walk.opaque(between, &Place::default().name("part", "before the pixels"), out, budget);
        }
    }
    let end = match dib.packing {
        _ if dib.wrong.is_some() || start < header_end => {
            // What cannot be measured has no end: only the size is judged, by the bytes of rows that could be there.
            let room = count(length.saturating_sub(start)).saturating_mul(8);
            walk.size(dib.size, header, Some(room), out, budget);
            length
        }
        Packing::Rows => {
            let end = rows(walk, &dib, start, header, out, budget);
            if let Err(exhausted) = look_through(walk.bytes, &dib, header_end, start..end, out, budget) {
                walk.account.not_looked_through(exhausted);
            }
            end
        }
        Packing::Runs(bits) => runs(walk, &dib, bits, start, header, out, budget)?,
        Packing::Picture => {
            walk.size(dib.size, header, None, out, budget);
            let end = start.saturating_add(usize::try_from(dib.told_bytes).unwrap_or(usize::MAX)).min(length);
            out.child(Source::stored(walk.bytes.slice(start..end)), None);
            // Its pixels are those of the picture in it.
            out.is_looked_at = true;
            end
        }
        Packing::Fax => {
            walk.size(dib.size, header, None, out, budget);
            start.saturating_add(usize::try_from(dib.told_bytes).unwrap_or(usize::MAX)).min(length)
        }
    };
    let end = colours(walk, &dib, end, out, budget);
    walk.behind(end, out, budget);
    Ok(())
}

/// Rows that are not packed: as many bytes as the size says. Where they end.
fn rows(
    walk: &mut Walk<'_>,
    dib: &Dib,
    start: usize,
    header: Range<usize>,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> usize {
    let length = walk.bytes.len();
    let there = count(length.saturating_sub(start));
    let needed = dib.rows_bytes();
    let row = dib::row_bytes(dib.size.width, dib.bits).max(1);
    let whole_rows = there.checked_div(row).unwrap_or(0);
    let backed = whole_rows.saturating_mul(dib.size.width.into());
    // Some writers leave the last padding out.
    let is_short = there.saturating_add(3) < needed;
    walk.size(dib.size, header, is_short.then_some(backed), out, budget);
    start.saturating_add(usize::try_from(needed).unwrap_or(usize::MAX)).min(length)
}

/// Looks through rows that are not packed. Most come from the bottom.
fn look_through(
    bytes: &[u8],
    dib: &Dib,
    colours: usize,
    rows: Range<usize>,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<(), Exhausted> {
    let Some(mut grey) = Grey::of(dib.size, budget)? else { return Ok(()) };
    let row_bytes = usize::try_from(dib::row_bytes(dib.size.width, dib.bits)).unwrap_or(usize::MAX).max(1);
    let colours = colours.saturating_add(usize::try_from(dib.mask_bytes).unwrap_or(0));
    let table = bytes.get(colours..rows.start).unwrap_or_default();
    // The first headers have colours of three bytes.
    let palette: Vec<u8> = match dib.header_bytes {
        12 => table.as_chunks::<3>().0.iter().map(|[blue, green, red]| luma(*red, *green, *blue)).collect(),
        _ => table.as_chunks::<4>().0.iter().map(|[blue, green, red, _]| luma(*red, *green, *blue)).collect(),
    };
    let shade = |index: u8| palette.get(usize::from(index)).copied().unwrap_or(0);
    for (y, row) in bytes.get(rows.clone()).unwrap_or_default().chunks(row_bytes).enumerate() {
        match dib.bits {
            24 => grey.row(y, row.as_chunks::<3>().0.iter().map(|[b, g, r]| luma(*r, *g, *b))),
            32 => grey.row(y, row.as_chunks::<4>().0.iter().map(|[b, g, r, _]| luma(*r, *g, *b))),
            // Five bits each; green is the middle, and has the largest part in what an eye sees.
            16 => grey.row(
                y,
                row.as_chunks::<2>().0.iter().map(|pair| {
                    let [green, _] = (u16::from_le_bytes(*pair) << 6).to_be_bytes();
                    green
                }),
            ),
            bits => grey.row(y, picture::samples(row, u8::try_from(bits).unwrap_or(8).min(8)).map(shade)),
        }
    }
    if !dib.is_from_top {
        grey.turn_over();
    }
    qr::read(grey, rows, out, budget)
}

/// Runs of pixels. Where they end.
fn runs(
    walk: &mut Walk<'_>,
    dib: &Dib,
    bits: u16,
    start: usize,
    header: Range<usize>,
    out: &mut Out<'_>,
    budget: &mut Budget,
) -> Result<usize, Stop> {
    // Skips reach 255 pixels and rows in four bytes: runs have no bound that would show a lie.
    walk.size(dib.size, header, None, out, budget);
    let data = start..walk.bytes.len();
    budget.spend(Resource::Steps, count(data.len()))?;
    let found = dib::runs(walk.bytes, data.clone(), bits, dib.size);
    if found.is_beyond {
        say(out, &picture::STRUCTURE, start..found.end, "a run of pixels leaves the picture");
    }
    if !found.is_ended {
        if found.rows < dib.size.height.into() {
            let message = format!("{} of {} rows are there", found.rows, dib.size.height);
            say(out, &picture::TRUNCATED, start..found.end, message);
        } else {
            mild(out, &picture::STRUCTURE, start..found.end, "the runs of pixels have no end mark");
        }
    }
    Ok(found.end)
}

/// Where the colour profile stands, if it is in the file.
fn profile_range(dib: &Dib, length: usize) -> Option<Range<usize>> {
    let (offset, bytes, _) = dib.profile?;
    let start = FILE_HEADER.checked_add(usize::try_from(offset).ok()?)?;
    let end = start.checked_add(usize::try_from(bytes).ok()?)?;
    (end <= length).then_some(start..end)
}

/// Reads the colour profile; returns where the file ends.
fn colours(walk: &mut Walk<'_>, dib: &Dib, end: usize, out: &mut Out<'_>, budget: &mut Budget) -> usize {
    let place = Place::default().name("part", "colour profile");
    match profile_range(dib, walk.bytes.len()) {
        Some(range) => {
            walk.runs(range.clone(), &place, out, budget);
            if range.start < end {
                return end.max(range.end);
            }
            walk.opaque(end..range.start, &Place::default().name("part", "behind the pixels"), out, budget);
            range.end
        }
        None => {
            if dib.profile.is_some() {
                mild(out, &picture::STRUCTURE, 0..0, "the colour profile lies outside the file");
            }
            end
        }
    }
}

#[cfg(test)]
mod tests;
