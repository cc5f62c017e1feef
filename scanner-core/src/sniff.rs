//! What are these bytes: type by content, never by name.
//!
//! [`sniff`] asks in an order in which each question relies on the silence of those before: the browser's view for
//! itself; zip and what is built on it; binary signatures, each with a second field; OLE; pickles; PDF behind junk;
//! text by what it parses as and by scores; headers without signature. Then it looks for a second type: bytes that
//! are valid as two things are how a file passes one inspector and reaches another program.

mod browser;
mod magic;
mod mismatch;
mod ole;
mod peek;
mod pickle;
mod second;
mod table;
mod text;
mod zip;

pub use mismatch::{Mismatch, Promise, declared_type, mismatch};
pub use table::{type_of, types};

use peek::Peek;
use table::{UNKNOWN, named};

/// What a type can do to whoever opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Nothing by itself.
    Inert,
    /// Its viewer may run what is in it.
    Active,
    /// Holds other files.
    Container,
    /// Runs.
    Executable,
    /// Nobody knows.
    Unknown,
}

impl Risk {
    /// All.
    pub const ALL: [Self; 5] = [Self::Inert, Self::Active, Self::Container, Self::Executable, Self::Unknown];

    /// The word used in verdicts and policies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inert => "inert",
            Self::Active => "active",
            Self::Container => "container",
            Self::Executable => "executable",
            Self::Unknown => "unknown",
        }
    }

    /// How bad it is to meet it unprepared: what runs is worse than what its viewer may run, that than what hides
    /// others; nobody-knows counts as hiding.
    pub(crate) const fn danger(self) -> u8 {
        match self {
            Self::Inert => 0,
            Self::Container | Self::Unknown => 1,
            Self::Active => 2,
            Self::Executable => 3,
        }
    }

    /// The risk of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.name() == name)
    }
}

/// One row of the table of types.
#[derive(Debug, PartialEq, Eq)]
pub struct Type {
    /// Short name.
    pub label: &'static str,
    /// Media type.
    pub mime: &'static str,
    /// Other media types that honestly mean the same.
    pub aliases: &'static [&'static str],
    /// File name extensions that honestly hold it, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// What it can do.
    pub risk: Risk,
    /// Whether its bytes are text that a person or a model reads as it stands.
    pub is_text: bool,
}

impl Type {
    /// Whether it is media or data that nothing acts in and of which only the header is proved: audio, video, fonts
    /// and tables in columns. Its bytes count as seen; shown in place it is not.
    pub fn is_opaque(&self) -> bool {
        // Not npy, mat and hdf5: they hold pickles, objects and links to other files.
        const DATA: [&str; 5] = ["arrow", "arrowstream", "avro", "feather1", "parquet"];
        let is_media = ["audio/", "video/", "font/"].iter().any(|family| self.mime.starts_with(family));
        self.risk == Risk::Inert && !self.is_text && (is_media || DATA.contains(&self.label))
    }
}

/// What the sniffer says of some bytes.
#[derive(Clone, Debug)]
pub struct Sniffed {
    /// The type.
    pub kind: &'static Type,
    /// What a browser would take them for, were no type declared (WHATWG MIME Sniffing, section 7.1).
    pub browser: &'static str,
    /// Other types the same bytes are valid as, worst first; `kind` is not among them.
    pub also: Vec<&'static Type>,
    /// Bytes of junk before that which made the type known: 0 for nearly every file.
    pub prefix: u64,
    /// Offset at which data after the end of the format begins, where that is cheap to know.
    pub trailing: Option<u64>,
}

impl Sniffed {
    /// What is said of bytes that nobody looked at.
    pub(crate) fn unknown() -> Self {
        Self { kind: unknown(), browser: "", also: Vec::new(), prefix: 0, trailing: None }
    }
}

/// What one call of [`sniff`] costs, in the unit of `Resource::Steps`: bounded whatever the bytes.
pub(crate) const STEPS: u64 = 10_000;

/// The type of bytes that nobody knows.
pub(crate) fn unknown() -> &'static Type {
    &UNKNOWN
}

/// The type of text of no telling shape.
pub(crate) fn plain_text() -> &'static Type {
    named("txt")
}

/// PDF readers look for the header in so many bytes (ISO 32000-1 annex H, implementation note 13).
const PDF_HEADER_BYTES: usize = 1024;

/// What these bytes are. Total, linear and bounded: a head, a tail and the structure between are read.
///
/// ```
/// use scanner_core::{Risk, sniff};
/// let sniffed = sniff(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>");
/// assert_eq!(sniffed.kind.label, "svg");
/// assert_eq!(sniffed.kind.risk, Risk::Active);
/// assert_eq!(sniffed.browser, "text/plain");
/// ```
pub fn sniff(bytes: &[u8]) -> Sniffed {
    let browser = browser::browser_type(bytes);
    let archive = zip::find_archive(bytes);
    let found = find(bytes, archive);
    let trailing = second::trailing(bytes, found.label, archive);
    let mut also: Vec<&'static Type> = Vec::new();
    let labels = found.also.into_iter().chain(second::types(bytes, found.label, archive, trailing));
    for kind in labels.map(named) {
        if kind.label != found.label && !also.contains(&kind) {
            also.push(kind);
        }
    }
    also.sort_by_key(|kind| std::cmp::Reverse(kind.risk.danger()));
    Sniffed { kind: named(found.label), browser, also, prefix: wide(found.prefix), trailing: trailing.map(wide) }
}

/// What is said of bytes that are shown as text whatever they look like: a stream, a message. Which kind of text they
/// resemble is not asked, that is most of the work and nothing follows from it.
pub(crate) fn sniff_stream(bytes: &[u8]) -> Sniffed {
    if text::decode(bytes).is_none() {
        return Sniffed { kind: plain_text(), ..sniff(bytes) };
    }
    let archive = zip::find_archive(bytes);
    let kind = plain_text();
    let mut also: Vec<&'static Type> = Vec::new();
    for other in second::types(bytes, kind.label, archive, None).into_iter().map(named) {
        if other != kind && !also.contains(&other) {
            also.push(other);
        }
    }
    also.sort_by_key(|kind| std::cmp::Reverse(kind.risk.danger()));
    Sniffed { kind, browser: browser::browser_type(bytes), also, prefix: 0, trailing: None }
}

/// The first answer.
struct Found {
    label: &'static str,
    prefix: usize,
    /// A type that the first answer stands before or behind.
    also: Option<&'static str>,
}

impl Found {
    const fn at_start(label: &'static str) -> Self {
        Self { label, prefix: 0, also: None }
    }
}

fn find(bytes: &[u8], archive: Option<zip::Found>) -> Found {
    let peek = Peek(bytes);
    if bytes.is_empty() {
        return Found::at_start("empty");
    }
    if [&b"PK\x03\x04"[..], b"PK\x05\x06", b"PK\x07\x08PK\x03\x04", b"PK00PK\x03\x04"]
        .iter()
        .any(|start| peek.has(0, start))
    {
        return Found::at_start(zip::kind(bytes, archive));
    }
    if let Some(label) = magic::signed(bytes).or_else(|| ole::kind(bytes)) {
        return Found::at_start(label);
    }
    if peek.has(0, b"%PDF-") {
        return Found::at_start("pdf");
    }
    if pickle::find_pickle(bytes).is_some() {
        return Found::at_start("pickle");
    }
    if let Some(found) = behind_pdf_junk(bytes).or_else(|| behind_zip_junk(bytes, archive)) {
        return found;
    }
    if let Some(text) = text::decode(bytes) {
        return Found::at_start(text::kind(&text));
    }
    let rest = magic::unsigned(bytes).or_else(|| text::decode_soiled(bytes));
    Found::at_start(rest.unwrap_or(UNKNOWN.label))
}

/// A PDF whose header comes late. A program that holds one in a string is a program.
fn behind_pdf_junk(bytes: &[u8]) -> Option<Found> {
    let peek = Peek(bytes);
    let at = peek::find(peek.head(PDF_HEADER_BYTES.saturating_add(8)), b"%PDF")?;
    let rest = peek.from(at);
    let rest = rest.get(..4096).unwrap_or(rest);
    let has = |word: &[u8]| peek::find(rest, word).is_some();
    let versioned =
        peek.has(at.checked_add(4)?, b"-") && peek.u8(at.checked_add(5)?).is_some_and(|major| major.is_ascii_digit());
    // A reader of some browsers wants four letters and a trailer.
    if !has(b"obj") || !(versioned || (has(b"trailer") && has(b"/Root"))) {
        return None;
    }
    let before = bytes.get(..at)?;
    match text::decode(before).map(|text| text::kind(&text)) {
        None | Some("txt") => {
            let quoted = matches!(before.last(), Some(b'"' | b'\'' | b'`' | b'='));
            (!quoted || text::decode(before).is_none()).then_some(Found { label: "pdf", prefix: at, also: None })
        }
        Some(label) => {
            let at_line = matches!(before.last(), Some(b'\n' | b'\r' | b'>'));
            at_line.then_some(Found { label, prefix: 0, also: Some("pdf") })
        }
    }
}

/// A zip behind something else: what stands before is the type when it runs, else it is junk.
fn behind_zip_junk(bytes: &[u8], archive: Option<zip::Found>) -> Option<Found> {
    let archive = archive.filter(|archive| archive.prefix > 0)?;
    let inside = zip::kind(bytes, Some(archive));
    let before = text::decode(bytes.get(..archive.prefix)?).map(|text| text::kind(&text));
    Some(match before {
        Some(label) if !matches!(named(label).risk, Risk::Inert | Risk::Unknown) => {
            Found { label, prefix: 0, also: Some(inside) }
        }
        _ => Found { label: inside, prefix: archive.prefix, also: None },
    })
}

/// Whether the bytes begin with a pickle.
pub(crate) fn begins_pickle(bytes: &[u8]) -> bool {
    pickle::find_pickle(bytes).is_some()
}

fn wide(offset: usize) -> u64 {
    u64::try_from(offset).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Starts that lead deep into the walks.
    const STARTS: &[&[u8]] = &[
        b"",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"GIF89a",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"\x80\x04",
        b"(dp0\n",
        b"\0\0\0\x20ftyp",
        b"\x1a\x45\xdf\xa3",
        b"RIFF",
        b"\xff\xfb\x90\x64",
        b"\xff\xff\xff\xff",
        b"\xff\xfe",
        b"<",
        b"<?xml ",
        b"<svg ",
        b"{\"a\":",
        b"[",
        b"From ",
        b"a,b\n",
        b"#!/",
        b"%PDF-1.4",
        b"\0\0\x02\0",
        b"II*\0",
        b"MZ",
    ];

    proptest! {
        #[test]
        fn no_bytes_panic(start in 0..STARTS.len(), rest in proptest::collection::vec(any::<u8>(), 0..300), text in "[ -~\n]{0,200}") {
            for tail in [rest.as_slice(), text.as_bytes()] {
                let bytes = [STARTS[start], tail].concat();
                let sniffed = sniff(&bytes);
                prop_assert!(type_of(sniffed.kind.label).is_some());
                prop_assert!(sniffed.trailing.is_none_or(|at| at < bytes.len() as u64));
                prop_assert!(sniffed.prefix < bytes.len().max(1) as u64);
                let _ = mismatch(&sniffed, Some(&text), Some(&text));
            }
        }
    }

    #[test]
    fn nothing_is_a_type() {
        let empty = sniff(b"");
        assert_eq!((empty.kind.label, empty.kind.mime, empty.kind.risk), ("empty", "application/x-empty", Risk::Inert));
        assert_eq!(sniff(b"\x8e\x3a").kind.label, "unknown");
    }

    #[test]
    fn a_pdf_behind_junk() {
        let sniffed = sniff(b"junk\n%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
        assert_eq!((sniffed.kind.label, sniffed.prefix, sniffed.browser), ("pdf", 5, "text/plain"));
        let program = sniff(b"import os\nx = b\"%PDF-1.4\\n1 0 obj\"\nprint(x)\n");
        assert_eq!(program.kind.label, "python");
    }
}
