//! Binary formats by signature. A signature of few or printable bytes is proved by a second field of the header; a
//! field that a truncated file no longer has refutes nothing.

use super::peek::Peek;

mod archive;
mod data;
mod media;
mod picture;
mod program;

/// A proof of one format.
type Proof = (&'static str, fn(Peek<'_>) -> bool);

/// Everything with a signature at a fixed place, surest first: a later proof may rely on the earlier ones' silence.
const SURE: &[&[Proof]] =
    &[picture::PROOFS, archive::PROOFS, data::PROOFS, program::PROOFS, media::PROOFS, picture::WEAK_PROOFS];

/// Formats without a signature of their own, asked when nothing else knows.
const LAST: &[&[Proof]] = &[media::LAST_PROOFS, picture::LAST_PROOFS, data::LAST_PROOFS, program::LAST_PROOFS];

/// The format whose signature the bytes bear.
pub(super) fn signed(bytes: &[u8]) -> Option<&'static str> {
    if let Some(label) = media::boxed(Peek(bytes)).or_else(|| media::ebml(Peek(bytes))) {
        return Some(label);
    }
    first(SURE, bytes)
}

/// The format whose header fields make sense together, though it has no signature.
pub(super) fn unsigned(bytes: &[u8]) -> Option<&'static str> {
    first(LAST, bytes)
}

fn first(groups: &[&[Proof]], bytes: &[u8]) -> Option<&'static str> {
    groups.iter().flat_map(|group| group.iter()).find(|(_, proof)| proof(Peek(bytes))).map(|(label, _)| *label)
}

/// Whether a field holds, or is no longer there.
fn holds<T>(field: Option<T>, test: impl FnOnce(T) -> bool) -> bool {
    field.is_none_or(test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], want: &str) {
        let got = signed(bytes).or_else(|| unsigned(bytes)).unwrap_or_default();
        assert_eq!(got, want, "{bytes:?}");
    }

    #[test]
    fn printable_signatures_need_a_second_field() {
        for prose in [
            &b"BM is short for benchmark. Loss model price user quarter."[..],
            b"MZ is a pair of letters, nothing more than that, and goes on",
            b"FWS is a sentence that happens to begin with three letters",
            b"GIF89a is a version of a format that is older than the web",
            b"PAR1 is not a file of columns, it is the start of a sentence.",
            b"OTTO and friends went to the market to buy some vegetables",
            b"ID3 decision trees were invented by Quinlan a long time ago.",
            b"P1 5 10 is nothing",
            b"8BPS",
            b"070707 is a number",
            b"bplist00 is a format",
            b"MATLAB 5.0 MAT-file is a format",
            b"fLaC is lossless",
            b"true story, every word of it",
        ] {
            check(prose, "");
        }
    }

    #[test]
    fn cut_headers_are_enough() {
        check(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", "png");
        for damaged in [&b"\x89PNG\n\x1a\n"[..], b"\x89PNG\r\r\n\x1a\r\n", b"\x09PNG\r\n\x1a\n", b"\x89P\0G\r\n\x1a\n"]
        {
            check(&[damaged, b"\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0"].concat(), "png");
        }
        check(b"SQLite format 3\0", "sqlite");
        check(b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00", "zstd");
        check(b"\0asm\x01\0\0\0", "wasm");
        check(b"\0\0\0\x0cftyp3g2a", "3gp");
        check(b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81", "webm");
    }

    #[test]
    fn one_signature_two_formats() {
        check(b"\xca\xfe\xba\xbe\0\0\0\x02\x01\0\0\x07\0\0\0\x03", "macho");
        check(b"\xca\xfe\xba\xbe\0\0\0\x34\0\x1d\x0a\0", "class");
        check(b"\0\0\x02\0\x01\0\x20\x20\0\0\0\0\0\0\x68\x04\0\0\x16\0\0\0", "cur");
        check(b"\0\0\x02\0\0\0\0\0\0\0\0\0\x01\0\x01\0\x18\0abc", "tga");
    }
}
