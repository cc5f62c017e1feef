//! Files and envelopes made of bytes without structure: lengths, checksums and offsets are right unless the bytes say
//! otherwise, so that what is fuzzed lies behind them.

pub mod envelope;
pub mod zip;

use flate2::{Compression, Crc, write::DeflateEncoder, write::ZlibEncoder};
use std::io::Write;

/// CRC-32 as gzip, zip and PNG have it.
pub fn crc32(parts: &[&[u8]]) -> u32 {
    let mut crc = Crc::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.sum()
}

/// RFC 1950.
pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a vector takes everything")
}

/// RFC 1951.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a vector takes everything")
}
