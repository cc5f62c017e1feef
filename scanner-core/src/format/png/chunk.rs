//! The chunks of a PNG, one after the other: lengths, types, checksums.

use flate2::Crc;

use crate::{
    finding::{Place, Stop},
    limits::{Budget, Resource},
    reader::{Reader, count},
};

/// The first eight bytes of every PNG (PNG §5.2).
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// No chunk may be longer (PNG §5.3).
const LONGEST_BYTES: u32 = 0x7fff_ffff;
/// Beside its bytes, a chunk costs its turn.
const STEPS_PER_CHUNK: u64 = 10;
/// The checksum runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 16;

/// One chunk, or as much of it as is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'a> {
    /// Four letters.
    pub(super) kind: [u8; 4],
    /// Its bytes.
    pub(super) data: &'a [u8],
    /// Where the chunk begins: its length field.
    pub(super) start: usize,
    /// Where its data begin.
    pub(super) from: usize,
    /// Whether all of its data are there.
    pub(super) is_whole: bool,
    /// What its checksum is worth.
    pub(super) checksum: Checksum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    Right,
    Wrong,
    /// The bytes end before it.
    Missing,
}

impl Chunk<'_> {
    /// The type in letters.
    pub(super) fn name(&self) -> String {
        self.kind.iter().copied().map(char::from).collect()
    }

    /// Where a person looks.
    pub(super) fn place(&self) -> Place {
        Place::default().name("chunk", self.name()).number("offset", count(self.start))
    }

    /// The span of its data.
    pub(super) fn span(&self) -> (u64, u64) {
        (count(self.from), count(self.from.saturating_add(self.data.len())))
    }

    /// Whether a viewer that does not know it must give up (PNG §5.4: the first letter is a capital).
    pub(super) fn is_critical(&self) -> bool {
        let [first, ..] = self.kind;
        first.is_ascii_uppercase()
    }
}

/// The next chunk. A chunk that the end of the bytes cuts comes with what is there and the reason to stop after it.
pub(super) fn next<'a>(
    reader: &mut Reader<'a>,
    budget: &mut Budget,
) -> Result<(Option<Chunk<'a>>, Option<Stop>), Stop> {
    if reader.is_at_end() {
        return Ok((None, None));
    }
    budget.spend(Resource::Objects, 1)?;
    budget.spend(Resource::Steps, STEPS_PER_CHUNK)?;
    let start = reader.position();
    let cut = |_| Stop::malformed("the file ends in the head of a chunk", count(start));
    let length = reader.u32_be().map_err(cut)?;
    let kind: [u8; 4] = reader.array().map_err(cut)?;
    if !kind.iter().all(u8::is_ascii_alphabetic) {
        return Err(Stop::malformed("a chunk should begin here, and does not", count(start)));
    }
    let from = reader.position();
    let mut chunk = Chunk { kind, data: &[], start, from, is_whole: false, checksum: Checksum::Missing };
    let left = reader.left();
    let Ok(data) = reader.take(length.into()) else {
        chunk.data = reader.rest();
        let what = if length > LONGEST_BYTES {
            format!("chunk {} says it is longer than any chunk may be", chunk.name())
        } else {
            format!("chunk {} says it has {length} bytes, {left} are left", chunk.name())
        };
        return Ok((Some(chunk), Some(Stop::malformed(what, count(start)))));
    };
    (chunk.data, chunk.is_whole) = (data, true);
    let Ok(stored) = reader.u32_be() else {
        let stop = Stop::malformed(format!("the file ends in the checksum of chunk {}", chunk.name()), count(start));
        return Ok((Some(chunk), Some(stop)));
    };
    budget.spend(Resource::Steps, count(data.len()).div_ceil(BYTES_PER_STEP))?;
    // flate2 brings crc32fast: the one checksum in the house, and several times faster than a table of ours.
    let mut crc = Crc::new();
    crc.update(&kind);
    crc.update(data);
    chunk.checksum = if crc.sum() == stored { Checksum::Right } else { Checksum::Wrong };
    Ok((Some(chunk), None))
}
