//! Streams unpacked (ISO 32000-1 §7.4), one filter after the other, all of them paid from the one budget.

use bytes::Bytes;

use super::{
    document::Document,
    lex::{digit, is_white},
    object::{Dict, Object},
};
use crate::{
    bundle::Codec,
    finding::Stop,
    inflate::{self, Block, Inflate, Output, Spare},
    limits::{Budget, Exhausted, Resource},
    reader::{Reader, count},
};

mod lzw;

/// Filters in a row. Honest streams have one, sometimes two.
const MOST_FILTERS: usize = 8;
/// Output of our own filters between two looks at the budget.
const BLOCK: usize = 8 * 1024;
/// Output bytes of one step.
const OUTPUT_PER_STEP: usize = 2;
/// Bytes of one row of pixels that no honest picture has.
const LONGEST_ROW: usize = 64 * 1024 * 1024;
/// Below that much output no stream is a bomb.
const BOMB_FROM_BYTES: u64 = 1024 * 1024;

/// What came out of a stream.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) bytes: Bytes,
    /// Why it ended early; what came out until then is in `bytes`.
    pub(super) stop: Option<Stop>,
    /// What is wrong with how it says it is packed.
    pub(super) fault: Option<Fault>,
    /// A picture codec comes next: `bytes` are the picture as a file of its own.
    pub(super) is_picture: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// More filters than anybody needs.
    TooMany,
    /// A filter nobody knows.
    Unknown,
    /// Rows of an impossible width.
    Predictor,
    /// Rows that would fill the memory of a reader.
    HugeRow,
}

/// A filter and its parameters.
type Step<'x, 'a> = (&'x [u8], Option<&'x Dict<'a>>);

/// The filters of a stream, in the order they are undone.
pub(super) fn steps<'x, 'a>(dict: &'x Dict<'a>, document: Option<&'x Document<'a>>) -> Vec<Step<'x, 'a>> {
    let resolve = |object: &'x Object<'a>| document.map_or(object, |document| document.resolve(object));
    let key = |long: &str, short: &str| dict.get(long).or_else(|| dict.get(short)).map(resolve);
    let parameters = key("DecodeParms", "DP");
    let at = |index: usize| {
        let one = match parameters? {
            Object::Array(several) => several.get(index).map(resolve)?,
            one if index == 0 => one,
            _ => return None,
        };
        one.dict()
    };
    match dict.get("Filter").map(resolve) {
        Some(Object::Name(name)) => vec![(&**name, at(0))],
        Some(Object::Array(names)) => names
            .iter()
            .take(MOST_FILTERS.saturating_add(1))
            .enumerate()
            .filter_map(|(index, name)| Some((resolve(name).name()?, at(index))))
            .collect(),
        _ => Vec::new(),
    }
}

/// Unpacks a stream of which everything is written out in its dictionary.
pub(super) fn decode_plain(dict: &Dict<'_>, packed: &[u8], budget: &mut Budget) -> Decoded {
    decode(&steps(dict, None), Bytes::copy_from_slice(packed), &Spare::default(), budget)
}

/// Undoes the filters one after the other.
pub(super) fn decode(steps: &[Step<'_, '_>], packed: Bytes, spare: &Spare, budget: &mut Budget) -> Decoded {
    let first = count(packed.len());
    let mut decoded = Decoded { bytes: packed, ..Decoded::default() };
    if steps.len() > MOST_FILTERS {
        decoded.fault = Some(Fault::TooMany);
        return decoded;
    }
    for (name, parameters) in steps {
        let (bytes, stop) = match *name {
            b"FlateDecode" | b"Fl" => flate(&decoded.bytes, first, spare, budget),
            b"LZWDecode" | b"LZW" => {
                let early = parameters.and_then(|dict| dict.get("EarlyChange")).and_then(Object::int) != Some(0);
                gather(first, |out| lzw::decode(&decoded.bytes, early, out, budget))
            }
            b"ASCIIHexDecode" | b"AHx" => gather(first, |out| hex(&decoded.bytes, out, budget)),
            b"ASCII85Decode" | b"A85" => gather(first, |out| base85(&decoded.bytes, out, budget)),
            b"RunLengthDecode" | b"RL" => gather(first, |out| run_length(&decoded.bytes, out, budget)),
            b"Crypt" => continue,
            b"DCTDecode" | b"DCT" | b"JPXDecode" | b"CCITTFaxDecode" | b"CCF" | b"JBIG2Decode" => {
                decoded.is_picture = true;
                return decoded;
            }
            _ => {
                decoded.fault = Some(Fault::Unknown);
                return decoded;
            }
        };
        decoded.bytes = bytes;
        decoded.stop = decoded.stop.or(stop);
        if matches!(*name, b"FlateDecode" | b"Fl" | b"LZWDecode" | b"LZW")
            && let Some(parameters) = parameters
        {
            match unpredict(parameters, &decoded.bytes, budget) {
                Ok(Some(bytes)) => decoded.bytes = bytes,
                Ok(None) => {}
                Err(Trouble::Limit(exhausted)) => decoded.stop = Some(exhausted.into()),
                Err(Trouble::Fault(fault)) => decoded.fault = Some(fault),
            }
        }
        if matches!(decoded.stop, Some(Stop::Limit(_))) {
            return decoded;
        }
    }
    decoded
}

/// Whether a stream that nobody reads unpacks to far more than it is. Pays, keeps nothing.
pub(super) fn is_bomb(packed: &[u8], expected: u64, left: &mut u64, budget: &mut Budget) -> Result<bool, Exhausted> {
    let harmless = expected.saturating_add(BOMB_FROM_BYTES);
    let size = count(packed.len()).max(1);
    if size.saturating_mul(inflate::MOST_PER_BYTE) <= harmless {
        return Ok(false);
    }
    let mut engine = Inflate::zlib();
    let mut packed = Reader::new(packed);
    loop {
        let before = engine.total_out();
        match engine.block(&mut packed, budget)? {
            Block::Output(_) => {}
            _ => return Ok(false),
        }
        let out = engine.total_out();
        if out > harmless && budget.reach(Resource::Ratio, out.div_ceil(size)).is_err() {
            return Ok(true);
        }
        *left = left.saturating_sub(out.saturating_sub(before));
        if *left == 0 {
            return Ok(false);
        }
    }
}

fn flate(packed: &Bytes, first: u64, spare: &Spare, budget: &mut Budget) -> (Bytes, Option<Stop>) {
    // Some writers leave a line end before the data.
    let start = packed.iter().take(2).take_while(|byte| is_white(**byte)).count();
    let data = packed.get(start..).unwrap_or_default();
    let unpacked = inflate::chained(Codec::Zlib, data, first, spare, budget);
    if unpacked.bytes.is_empty() && matches!(unpacked.stop, Some(Stop::Malformed { .. })) {
        // Readers take the data without its header too.
        let bare = inflate::chained(Codec::Deflate, data, first, spare, budget);
        if !bare.bytes.is_empty() {
            return (bare.bytes, bare.stop);
        }
    }
    (unpacked.bytes, unpacked.stop)
}

fn gather(first: u64, work: impl FnOnce(&mut Kept) -> Result<(), Stop>) -> (Bytes, Option<Stop>) {
    let mut kept = Kept { out: Output::of(first), block: Vec::with_capacity(BLOCK) };
    let stop = work(&mut kept).err();
    (kept.out.into_bytes().into(), stop)
}

/// Output of a filter of ours, handed on in blocks.
pub(super) struct Kept {
    out: Output,
    block: Vec<u8>,
}

impl Kept {
    pub(super) fn push(&mut self, bytes: &[u8], budget: &mut Budget) -> Result<(), Stop> {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= BLOCK { self.flush(budget) } else { Ok(()) }
    }

    pub(super) fn flush(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(Resource::Steps, count(self.block.len().div_ceil(OUTPUT_PER_STEP)))?;
        self.out.keep(&self.block, budget)?;
        self.block.clear();
        Ok(())
    }
}

fn hex(packed: &[u8], out: &mut Kept, budget: &mut Budget) -> Result<(), Stop> {
    budget.spend(Resource::Steps, count(packed.len().div_ceil(OUTPUT_PER_STEP)))?;
    let data = packed.split(|byte| *byte == b'>').next().unwrap_or_default();
    let mut half = None;
    for value in data.iter().copied().filter_map(digit) {
        half = match half {
            None => Some(value << 4),
            Some(high) => {
                out.push(&[high | value], budget)?;
                None
            }
        };
    }
    if let Some(high) = half {
        out.push(&[high], budget)?;
    }
    out.flush(budget)
}

/// §7.4.3: five characters for four bytes, `z` for four zeros, `~>` at the end.
fn base85(packed: &[u8], out: &mut Kept, budget: &mut Budget) -> Result<(), Stop> {
    budget.spend(Resource::Steps, count(packed.len().div_ceil(OUTPUT_PER_STEP)))?;
    let data = packed.strip_prefix(b"<~").unwrap_or(packed);
    let data = data.split(|byte| *byte == b'~').next().unwrap_or_default();
    let (mut group, mut length) = (0_u32, 0_usize);
    for byte in data {
        match byte {
            b'z' if length == 0 => out.push(&[0; 4], budget)?,
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte.wrapping_sub(b'!')));
                length = length.saturating_add(1);
                if length == 5 {
                    out.push(&group.to_be_bytes(), budget)?;
                    (group, length) = (0, 0);
                }
            }
            _ => {}
        }
    }
    if length > 1 {
        for _ in length..5 {
            group = group.wrapping_mul(85).wrapping_add(84);
        }
        out.push(group.to_be_bytes().get(..length.saturating_sub(1)).unwrap_or_default(), budget)?;
    }
    out.flush(budget)
}

/// §7.4.5: a length and bytes, or a length and one byte many times, up to 128.
fn run_length(packed: &[u8], out: &mut Kept, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(packed);
    while let Ok(length) = reader.u8() {
        match length {
            0..=127 => {
                let wanted = count(usize::from(length).saturating_add(1));
                let bytes = reader.take(wanted.min(count(reader.left()))).unwrap_or_default();
                out.push(bytes, budget)?;
            }
            128 => break,
            129.. => {
                let Ok(byte) = reader.u8() else { break };
                let run = [byte; 128];
                let length = 257_usize.saturating_sub(usize::from(length));
                out.push(run.get(..length).unwrap_or_default(), budget)?;
            }
        }
    }
    out.flush(budget)
}

enum Trouble {
    Limit(Exhausted),
    Fault(Fault),
}

/// Undoes the differences between rows (§7.4.4.4). Nothing comes back when there are none.
fn unpredict(parameters: &Dict<'_>, data: &Bytes, budget: &mut Budget) -> Result<Option<Bytes>, Trouble> {
    let number = |key: &str, default: i64| parameters.get(key).and_then(Object::int).unwrap_or(default);
    let predictor = number("Predictor", 1);
    if predictor <= 1 {
        return Ok(None);
    }
    let (columns, colors, bits) = (number("Columns", 1), number("Colors", 1), number("BitsPerComponent", 8));
    let is_possible = columns >= 1 && (1..=64).contains(&colors) && matches!(bits, 1 | 2 | 4 | 8 | 16);
    if !is_possible {
        return Err(Trouble::Fault(Fault::Predictor));
    }
    let pixel_bits = colors.saturating_mul(bits);
    let row_bytes = columns.saturating_mul(pixel_bits).saturating_add(7) / 8;
    let row = usize::try_from(row_bytes).unwrap_or(usize::MAX);
    if row > LONGEST_ROW {
        return Err(Trouble::Fault(Fault::HugeRow));
    }
    budget.spend(Resource::Steps, count(data.len())).map_err(Trouble::Limit)?;
    let pixel = usize::try_from(pixel_bits.saturating_add(7) / 8).unwrap_or(1);
    if predictor == 2 {
        return Ok((bits == 8).then(|| tiff(data, row, pixel)));
    }
    let mut out = Vec::with_capacity(data.len());
    let mut previous = vec![0; row.min(data.len())];
    for line in data.chunks(row.saturating_add(1)) {
        let [filter, line @ ..] = line else { break };
        let start = out.len();
        for (at, byte) in line.iter().enumerate() {
            let left = at.checked_sub(pixel).and_then(|at| out.get(start.saturating_add(at))).copied().unwrap_or(0);
            let up: u8 = previous.get(at).copied().unwrap_or(0);
            let corner = at.checked_sub(pixel).and_then(|at| previous.get(at)).copied().unwrap_or(0);
            let guess = match filter {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => paeth(left, up, corner),
                _ => 0,
            };
            out.push(byte.wrapping_add(guess));
        }
        let done = out.get(start..).unwrap_or_default();
        for (old, new) in previous.iter_mut().zip(done) {
            *old = *new;
        }
    }
    Ok(Some(out.into()))
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left).saturating_add(i16::from(up)).saturating_sub(i16::from(corner));
    let far = |value: u8| guess.saturating_sub(i16::from(value)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}

fn tiff(data: &[u8], row: usize, pixel: usize) -> Bytes {
    let mut out = Vec::with_capacity(data.len());
    for line in data.chunks(row.max(1)) {
        let start = out.len();
        for (at, byte) in line.iter().enumerate() {
            let left: u8 = at.checked_sub(pixel).and_then(|at| out.get(start.saturating_add(at))).copied().unwrap_or(0);
            out.push(byte.wrapping_add(left));
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::limits::Limits;

    fn undo(names: &[&'static [u8]], packed: &[u8]) -> Decoded {
        let steps: Vec<Step<'_, '_>> = names.iter().map(|name| (*name, None)).collect();
        decode(&steps, Bytes::copy_from_slice(packed), &Spare::default(), &mut Budget::new(Limits::default()))
    }

    #[test]
    fn each_filter_is_undone() {
        assert_eq!(&undo(&[b"AHx"], b"48 65 6C6c 6>zz").bytes[..], b"Hell`");
        assert_eq!(&undo(&[b"ASCII85Decode"], b"<~87cURD]i,\"Ebo80~>").bytes[..], b"Hello World!");
        assert_eq!(&undo(&[b"A85"], b"z!!~>").bytes[..], b"\0\0\0\0\0");
        assert_eq!(&undo(&[b"RL"], b"\x01ab\xfec\x80zz").bytes[..], b"abccc");
        assert_eq!(&undo(&[b"AHx", b"RL"], b"0161 62 fe63>").bytes[..], b"abccc");
        assert!(undo(&[b"DCT"], b"\xff\xd8").is_picture);
        assert_eq!(undo(&[b"Quux"], b"").fault, Some(Fault::Unknown));
        assert_eq!(undo(&[&b"AHx"[..]; 9], b"").fault, Some(Fault::TooMany));
    }

    #[test]
    fn a_run_of_runs_is_a_bomb_by_the_bytes_in_the_file() {
        // Each pass multiplies by up to 64.
        let once = [0x81, 0x81].repeat(20_000);
        let decoded = undo(&[b"RL", b"RL"], &once);
        assert_eq!(decoded.stop, Some(Stop::Limit(Exhausted(Resource::Ratio))));
    }

    #[test]
    fn rows_are_added_up() {
        let key = |name: &'static str, value| (Cow::Borrowed(name.as_bytes()), Object::Int(value));
        let rows = |predictor, data: &[u8]| {
            let dict = Dict { entries: vec![key("Predictor", predictor), key("Columns", 3)] };
            unpredict(&dict, &Bytes::copy_from_slice(data), &mut Budget::new(Limits::default())).ok().flatten().unwrap()
        };
        assert_eq!(&rows(12, &[2, 1, 1, 1, 2, 1, 1, 1])[..], [1, 1, 1, 2, 2, 2]);
        assert_eq!(&rows(15, &[1, 1, 1, 1, 4, 1, 0, 0, 3, 1])[..], [1, 2, 3, 2, 2, 3, 2]);
        assert_eq!(&rows(2, &[1, 1, 1, 2, 1, 1])[..], [1, 2, 3, 2, 3, 4]);
    }
}
