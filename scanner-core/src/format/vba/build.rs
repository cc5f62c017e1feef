//! Projects for tests.

use crate::format::cfb::build::Build;

/// Packs as the specification does, greedily: the longest reference, or the character.
pub(crate) fn pack(plain: &[u8]) -> Vec<u8> {
    let mut packed = vec![1];
    for chunk in plain.chunks(4096) {
        let mut data = Vec::new();
        let mut at = 0;
        while at < chunk.len() {
            let flags = data.len();
            data.push(0);
            for bit in 0..8 {
                if at >= chunk.len() {
                    break;
                }
                let bits = (usize::BITS - at.saturating_sub(1).leading_zeros()).clamp(4, 12);
                let longest = (0xffff_usize >> bits) + 3;
                let found = (at.saturating_sub(64)..at)
                    .map(|from| (chunk[from..].iter().zip(&chunk[at..]).take_while(|(a, b)| a == b).count(), at - from))
                    .max()
                    .filter(|(length, _)| *length >= 3);
                if let Some((length, offset)) = found {
                    let length = length.min(longest);
                    data[flags] |= 1 << bit;
                    data.extend((((offset - 1) << (16 - bits) | (length - 3)) as u16).to_le_bytes());
                    at += length;
                } else {
                    data.push(chunk[at]);
                    at += 1;
                }
            }
        }
        packed.extend((0xb000 | (data.len() as u16 - 1)).to_le_bytes());
        packed.extend(data);
    }
    packed
}

fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(data.len() as u32).to_le_bytes(), data].concat()
}

/// The list of modules: names, and where the source begins in each.
pub(crate) fn listing(modules: &[(&str, u32)]) -> Vec<u8> {
    let mut plain = [record(1, &3_u32.to_le_bytes()), record(3, &1252_u16.to_le_bytes())].concat();
    plain.extend(b"\x09\0\x04\0\0\0\x01\0\0\0\x02\0");
    for (name, offset) in modules {
        plain.extend(record(0x19, name.as_bytes()));
        plain.extend(record(0x1a, name.as_bytes()));
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        plain.extend(record(0x32, &wide));
        plain.extend(record(0x31, &offset.to_le_bytes()));
        plain.extend(record(0x2b, b""));
    }
    plain.extend(record(0x10, b""));
    plain
}

/// A project in a storage of a compound file: modules with as many bytes of compiled code as said.
pub(crate) fn project(build: Build, storage: &str, modules: &[(&str, &str, usize)]) -> Build {
    let list: Vec<(&str, u32)> = modules.iter().map(|(name, _, compiled)| (*name, *compiled as u32)).collect();
    let mut build = build
        .stream(&format!("{storage}/_VBA_PROJECT"), b"\xcc\x61\xff\xff\0\0\0")
        .stream(&format!("{storage}/dir"), &pack(&listing(&list)));
    for (name, source, compiled) in modules {
        let stream = [&vec![0xcc; *compiled][..], &pack(source.as_bytes())].concat();
        build = build.stream(&format!("{storage}/{name}"), &stream);
    }
    build
}
