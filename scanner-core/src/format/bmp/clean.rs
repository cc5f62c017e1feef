//! The safe version of a BMP: headers, colours and pixels, one right behind the other, and nothing between them.

use bytes::Bytes;

use crate::{
    format::{
        Subject,
        cleaning::{self, Cleaning, Uncleanable},
        dib::{self, Dib, Packing},
    },
    limits::{Budget, Resource},
    reader::{Reader, count},
};

use super::FILE_HEADER;

const CUT: &str = "the picture is cut off";
/// Colours as every screen shows them (`LCS_sRGB`).
const SRGB: &[u8; 4] = b"BGRs";

pub(super) fn clean(
    subject: &Subject<'_>,
    cleaning: &mut Cleaning<'_>,
    budget: &mut Budget,
) -> Result<Bytes, Uncleanable> {
    cleaning::pay_to_copy(subject.bytes.len(), budget)?;
    let dib = Dib::read(subject.bytes, FILE_HEADER)?;
    if let Some(wrong) = dib.wrong {
        return Err(wrong.into());
    }
    let mut reader = Reader::new(subject.bytes);
    let (Ok(b"BM"), Ok(_), Ok(start)) = (reader.take(2), reader.take(8), reader.u32_le()) else {
        return Err("the picture does not begin as it must".into());
    };
    let header = reader.take(dib.header_bytes.into()).map_err(|_| CUT)?;
    let table = reader.take(dib.table_bytes).map_err(|_| CUT)?;
    // Beyond eight bits, colours in a table are advice for screens of few colours; masks are not.
    let shown = if dib.bits <= 8 { dib.table_bytes } else { dib.mask_bytes };
    let most = dib.mask_bytes.saturating_add(4_u64.checked_shl(dib.bits.into()).unwrap_or(0));
    if dib.bits <= 8 && dib.table_bytes > most {
        return Err("the picture has more colours than it can show".into());
    }
    let table = usize::try_from(shown).ok().and_then(|shown| table.get(..shown)).ok_or(CUT)?;
    let start = usize::try_from(start).map_err(|_| CUT)?;
    if start < FILE_HEADER.saturating_add(header.len()) {
        return Err("the pixels are said to begin in the header".into());
    }
    let (pixels, end) = pixels(&dib, subject.bytes, start, budget)?;
    if end < subject.bytes.len() {
        cleaning.did("removed data behind the pixels");
    }
    let header = rewritten(&dib, header, pixels.len())?;
    let start = FILE_HEADER.saturating_add(header.len()).saturating_add(table.len());
    let mut out = b"BM".to_vec();
    out.extend(small(start.saturating_add(pixels.len()))?.to_le_bytes());
    out.extend([0; 4]);
    out.extend(small(start)?.to_le_bytes());
    out.extend(header);
    out.extend_from_slice(table);
    out.extend(pixels);
    cleaning::proved(super::inspect, subject.kind, out.into(), budget)
}

/// The pixels, and where they end in the file.
fn pixels(dib: &Dib, bytes: &Bytes, start: usize, budget: &mut Budget) -> Result<(Vec<u8>, usize), Uncleanable> {
    let data = bytes.get(start..).ok_or(CUT)?;
    match dib.packing {
        Packing::Rows => {
            // Some writers leave the last padding out.
            let needed = usize::try_from(dib.rows_bytes()).map_err(|_| CUT)?;
            if data.len().saturating_add(3) < needed {
                return Err(CUT.into());
            }
            let there = data.get(..needed).unwrap_or(data);
            let row = usize::try_from(dib::row_bytes(dib.size.width, dib.bits)).map_err(|_| CUT)?;
            let used = u64::from(dib.size.width).saturating_mul(dib.bits.into()).div_ceil(8);
            let used = usize::try_from(used).map_err(|_| CUT)?;
            // What fills a row up says nothing.
            let mut pixels = Vec::with_capacity(needed);
            for line in there.chunks(row.max(1)) {
                pixels.extend_from_slice(line.get(..used).unwrap_or(line));
                pixels.resize(pixels.len().checked_next_multiple_of(4).ok_or(CUT)?, 0);
            }
            Ok((pixels, start.saturating_add(there.len())))
        }
        Packing::Runs(bits) => {
            budget.spend(Resource::Steps, count(data.len()))?;
            let found = dib::runs(bytes, start..bytes.len(), bits, dib.size);
            if found.is_beyond || !found.is_ended {
                return Err("the runs of pixels leave the picture, or have no end".into());
            }
            Ok((bytes.get(start..found.end).unwrap_or_default().to_vec(), found.end))
        }
        Packing::Picture | Packing::Fax => Err("the pixels are packed as no viewer expects it".into()),
    }
}

/// The header without advice and without a colour profile. Fields by offset, as in `BITMAPV5HEADER`.
fn rewritten(dib: &Dib, header: &[u8], pixels: usize) -> Result<Vec<u8>, Uncleanable> {
    let mut header = header.to_vec();
    let mut put = |at: usize, value: &[u8]| {
        if let Some(field) = header.get_mut(at..at.saturating_add(value.len())) {
            field.copy_from_slice(value);
        }
    };
    if dib.header_bytes >= 40 {
        put(20, &small(pixels)?.to_le_bytes());
        if dib.bits > 8 {
            put(32, &[0; 4]);
        }
        // Which colours matter most.
        put(36, &[0; 4]);
    }
    match dib.header_bytes {
        // OS/2: units, ways to draw, and what a program notes for itself.
        64 => put(40, &[0; 24]),
        108 => {
            put(56, SRGB);
            put(60, &[0; 48]);
        }
        124 => {
            put(56, SRGB);
            put(60, &[0; 64]);
        }
        _ => {}
    }
    Ok(header)
}

fn small(size: usize) -> Result<u32, Uncleanable> {
    u32::try_from(size).map_err(|_| "the picture is too large".into())
}
