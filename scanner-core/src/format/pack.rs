//! Packs bytes, with deflate or as bzip2, for what is written again. The same bytes always give the same packed ones.

use std::io::Write;

use bzip2::write::BzEncoder;
use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};

use crate::{
    format::cleaning::Uncleanable,
    limits::{Budget, Resource},
    reader::count,
};

/// Packing runs at 40 MB/s, where it finds the least.
pub(super) const STEPS_PER_BYTE: u64 = 3;
/// Sorting blocks, as bzip2 does, runs at 10 MB/s.
const STEPS_PER_SORTED_BYTE: u64 = 10;
/// Setting up an engine.
pub(super) const STEPS_PER_STREAM: u64 = 2_000;

/// A stream of RFC 1951.
pub(super) fn deflate(bytes: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    pay(bytes, budget)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    packed(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// A stream of RFC 1950.
pub(super) fn zlib(bytes: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    pay(bytes, budget)?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    packed(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// A member of RFC 1952, without a name, a time or a comment.
pub(super) fn gzip(bytes: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    pay(bytes, budget)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    packed(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

/// A stream of bzip2.
pub(super) fn bzip2(bytes: &[u8], budget: &mut Budget) -> Result<Vec<u8>, Uncleanable> {
    budget.spend(Resource::Steps, count(bytes.len()).saturating_mul(STEPS_PER_SORTED_BYTE))?;
    pay(bytes, budget)?;
    let mut encoder = BzEncoder::new(Vec::new(), bzip2::Compression::best());
    packed(encoder.write_all(bytes).and_then(|()| encoder.finish()))
}

fn pay(bytes: &[u8], budget: &mut Budget) -> Result<(), Uncleanable> {
    let steps = count(bytes.len()).saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS_PER_STREAM);
    Ok(budget.spend(Resource::Steps, steps)?)
}

fn packed(packed: std::io::Result<Vec<u8>>) -> Result<Vec<u8>, Uncleanable> {
    packed.map_err(|_| "it could not be packed again".into())
}
