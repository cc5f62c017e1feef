//! Streams of one packed file: gzip, zlib, bzip2, xz, LZMA, LZ4 and Zstandard. What comes out is a child; here only what stands
//! around it is read.

use memchr::memmem;

use crate::{
    bundle::{Artifact, Codec, Origin, Source},
    finding::{Confidence, Finding, Place, Rule, RuleText, Severity, Stop},
    format::{Format, Out, Subject, path, strings},
    inflate::{Frame, WINDOW_BYTES, zstd_frame},
    limits::{Budget, Resource},
    reader::{Reader, count},
    view::TextView,
};

pub(crate) const FORMAT: Format = Format {
    name: "compressed",
    labels: &["gzip", "zlib", "bzip2", "xz", "lzma", "lz4", "zstd"],
    inspect,
    clean: Some(clean::clean),
    rules: &[&WINDOW, &EMPTY_MEMBERS, &path::TRAVERSAL, &path::ABSOLUTE, &path::SPECIAL, &path::DISGUISED],
};

static WINDOW: Rule = Rule::built_in(
    "compressed/window",
    "bomb.ratio",
    Severity::High,
    Confidence::High,
    RuleText {
        title: "A stream that asks for more memory than any program packs with",
        why: "The window is reserved before the first byte comes out: a few bytes take all memory of the machine.",
        remedy: "Do not unpack it.",
    },
);

static EMPTY_MEMBERS: Rule = Rule::built_in(
    "compressed/empty-members",
    "bomb.entries",
    Severity::Medium,
    Confidence::High,
    RuleText {
        title: "A stream of members that hold nothing",
        why: "Each is set up and checked for no byte of output: the time grows with the file and limits on output never \
              stop it.",
        remedy: "Have the file packed again with an ordinary program.",
    },
);

mod clean;

/// Empty members that are odd: programs that write line by line leave one or two.
const MANY_EMPTY: usize = 100;
/// Searching runs at several bytes a nanosecond.
const BYTES_PER_STEP: u64 = 32;

fn inspect(subject: &Subject<'_>, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let bytes = subject.bytes;
    let mut name = None;
    let codec = codec_of(subject.kind.label);
    match codec {
        Codec::Gzip => {
            empty_members(bytes, out, budget)?;
            name = header(bytes, out, budget)?;
        }
        Codec::Zstd => window(bytes, out, budget)?,
        _ => {}
    }
    let mut child = Artifact::new(Origin::Member, Source { packed: bytes.clone(), codec });
    child.name = name;
    out.children.push(child);
    Ok(())
}

/// What a file is called once it is unpacked: some writers note the name of the packed one, which says nothing of what
/// is in it (gzip(1) renames as much).
fn unpacked(name: String) -> String {
    const ENDINGS: [(&str, &str); 6] =
        [(".gz", ""), (".tgz", ".tar"), (".taz", ".tar"), (".svgz", ".svg"), (".emz", ".emf"), (".wmz", ".wmf")];
    let lower = name.to_ascii_lowercase();
    let plain = ENDINGS.iter().find_map(|(packed, plain)| {
        let stem = name.get(..lower.strip_suffix(packed)?.len())?;
        Some(format!("{stem}{plain}"))
    });
    plain.filter(|plain| !plain.is_empty()).unwrap_or(name)
}

/// How a file of that type is packed.
fn codec_of(label: &str) -> Codec {
    match label {
        "gzip" => Codec::Gzip,
        "zlib" => Codec::Zlib,
        "bzip2" => Codec::Bzip2,
        "xz" => Codec::Xz,
        "lzma" => Codec::Lzma,
        "lz4" => Codec::Lz4,
        _ => Codec::Zstd,
    }
}

/// Name and comment of the first member (RFC 1952 §2.3.1): Latin-1, up to a zero byte.
fn header(bytes: &bytes::Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<Option<String>, Stop> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let mut reader = Reader::new(bytes);
    let [_, _, _, flags, ..] = reader.array::<10>()?;
    if flags & EXTRA != 0 {
        // Subfields of programs of their own (RFC 1952 §2.3.1.1): read like a comment.
        let length = reader.u16_le()?;
        let at = reader.position();
        reader.take(length.into())?;
        strings::read(bytes, at..reader.position(), out, budget)?;
    }
    let mut name = None;
    for (flag, part) in [(NAME, "name"), (COMMENT, "comment")] {
        if flags & flag == 0 {
            continue;
        }
        let at = reader.position();
        // A name without an end: unpacking says so.
        let Some(words) = reader.until(0) else { break };
        let end = at.saturating_add(words.len());
        budget.spend(Resource::Steps, count(words.len()))?;
        if flag == NAME {
            // Written as Latin-1 by the book, as UTF-8 by most.
            let decoded = std::str::from_utf8(words)
                .map_or_else(|_| words.iter().copied().map(char::from).collect(), str::to_owned);
            let place = Place::default().name("part", part);
            path::judge(&decoded, (count(at), count(end)), &place, out, budget)?;
            // The child carries it, and is where it is read.
            name = Some(unpacked(decoded));
        } else {
            let view = TextView::at(bytes.slice(at..end), count(at));
            out.read(view.place(Place::default().name("part", part)));
        }
    }
    Ok(name)
}

/// The deflate stream of nothing, with the checksum and the length of nothing behind it.
fn empty_members(bytes: &[u8], out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    const NOTHING: &[u8] = b"\x03\0\0\0\0\0\0\0\0\0";
    budget.spend(Resource::Steps, count(bytes.len()).div_ceil(BYTES_PER_STEP))?;
    let empty = memmem::find_iter(bytes, NOTHING).count();
    if empty > MANY_EMPTY {
        let message = format!("{empty} members that hold nothing");
        out.find(Finding::built_in(&EMPTY_MEMBERS).at(0, count(bytes.len())).message(message));
    }
    Ok(())
}

/// The frames in front that are skipped, and the window of the first one with data.
fn window(bytes: &bytes::Bytes, out: &mut Out<'_>, budget: &mut Budget) -> Result<(), Stop> {
    let mut reader = Reader::new(bytes);
    loop {
        budget.spend(Resource::Objects, 1)?;
        let at = reader.position();
        match zstd_frame(&mut reader) {
            // What a decoder skips, whoever looks into the file reads.
            Some(Frame::Skipped(length)) if reader.take(length.into()).is_ok() => {
                let end = reader.position();
                strings::read(bytes, at.saturating_add(8)..end, out, budget)?;
            }
            Some(Frame::Data { window }) if window > WINDOW_BYTES => {
                let message = format!("{} bytes ask for a window of {window} bytes", bytes.len());
                let finding = Finding::built_in(&WINDOW).at(count(at), count(reader.position()));
                // What a decoder has to keep is no more than what comes out, where the file has the bytes for it.
                let severity = if window > WINDOW_BYTES.saturating_mul(8) { WINDOW.severity } else { Severity::Medium };
                out.find(finding.severity(severity).message(message));
                return Ok(());
            }
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
