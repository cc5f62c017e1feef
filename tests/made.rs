//! Cases made by a program: an honest file of each format, then the same file with one thing wrong.
//!
//! A format is one function that writes an honest file through a `Build`, naming its parts, its numbers
//! and its texts. From that `defect` derives the defects that every format can have: cut at each border and inside
//! each part, each number lying in each way that its meaning allows, each text saying what a text should not, things
//! before the head and behind the end. What only one format can have is written by hand beside it.
//!
//! `cargo run -p scanner-tests --bin make-corpus` writes them; [`LIST`] says which files of the corpus are made, and
//! what is wrong with each. Nothing here reads a clock or throws dice.

use std::{collections::BTreeMap, fmt::Write};

pub(crate) mod build;
mod books;
mod calls;
mod columns;
mod defect;
mod documents;
mod json;
mod mail;
mod markup;
mod models;
mod notebooks;
mod ole;
mod packed;
mod pdf;
mod photos;
mod pictures;
mod programs;
mod rtf;
mod sevenz;
mod sums;
mod tables;
mod tar;
mod zip;

/// What lists the made cases: a line each, `<area>/<file>`, a tab, what is wrong with it.
pub const LIST: &str = "corpus/made.tsv";

/// One case that a program made.
#[derive(Clone, Debug)]
pub struct Made {
    /// `<area>/<file>`.
    pub name: String,
    /// What is wrong with it, in a sentence.
    pub why: String,
    /// The file as it stands in the corpus: the bytes of the case, or commented hexadecimal.
    pub file: Vec<u8>,
}

/// Every area that has made cases, in the order of the list.
const ALL: &[fn(&mut Cases)] = &[
    books::make,
    calls::make,
    columns::make,
    documents::make,
    json::make,
    mail::make,
    markup::make,
    models::make,
    notebooks::make,
    ole::make,
    packed::make,
    pdf::make,
    photos::make,
    pictures::make,
    programs::make,
    rtf::make,
    sevenz::make,
    tables::make,
    tar::make,
    zip::make,
];

/// Defects that are derived for every format and that a case written by hand already is.
const BY_HAND: &[&str] = &[
    "webp/honest-made.webp.hex",
    "safetensors/honest-made.safetensors.hex",
    "png/cut-before-ihdr.png.hex",
    "pdf/cut-before-catalog.pdf.hex",
    "jxl/without-exif.jxl.hex",
    "jxl/cut-before-xml.jxl.hex",
    "gguf/attack-in-key.gguf.hex",
    "gif/archive-behind-the-end.gif.hex",
    "gif/attack-in-comment.gif.hex",
    "gif/cut-in-frame.gif.hex",
    "heif/attack-in-xmp.avif.hex",
    "jpeg/attack-in-comment.jpg.hex",
    "jxl/attack-in-xmp.jxl.hex",
    "pickle/attack-in-text.pkl.hex",
    "safetensors/twice.safetensors.hex",
    "sqlite/attack-in-cell.db.hex",
    "tar/cut-in-member.tar.hex",
    "tar/size-past-the-end.tar.hex",
    "tiff/attack-in-description.tif.hex",
    "webp/attack-in-xmp.webp.hex",
    "zip/attack-in-comment.zip.hex",
    "zip/attack-in-member.zip.hex",
    "zip/cut-in-member.zip.hex",
];

/// Every case that is made, sorted by name.
///
/// # Panics
/// When two cases share a name or their bytes: then one of them proves nothing.
pub fn all() -> Vec<Made> {
    let mut cases = Cases::default();
    for make in ALL {
        make(&mut cases);
    }
    cases.made.into_values().collect()
}

/// The list as it stands in the corpus.
#[allow(clippy::expect_used, reason = "writing to a string does not fail")]
pub fn list(made: &[Made]) -> String {
    let mut list = String::new();
    for case in made {
        writeln!(list, "{}\t{}", case.name, case.why).expect("write");
    }
    list
}

/// The cases made so far.
#[derive(Default)]
struct Cases {
    made: BTreeMap<String, Made>,
    /// Area and bytes of each, and its name.
    seen: BTreeMap<(String, Vec<u8>), String>,
}

impl Cases {
    /// A case whose bytes are a text that a reviewer can read as it stands.
    fn text(&mut self, area: &str, name: &str, why: &str, text: impl Into<Vec<u8>>) {
        let text = text.into();
        self.add(area, name, why, text.clone(), text);
    }

    /// A case of bytes, written as hexadecimal, a line for each part.
    fn bytes(&mut self, area: &str, name: &str, why: &str, bytes: &[u8], parts: &[(&str, usize)]) {
        let file = hex(why, bytes, parts);
        self.add(area, &format!("{name}.hex"), why, bytes.to_vec(), file.into_bytes());
    }

    fn add(&mut self, area: &str, file_name: &str, why: &str, bytes: Vec<u8>, file: Vec<u8>) {
        let name = format!("{area}/{file_name}");
        if BY_HAND.contains(&name.as_str()) {
            return;
        }
        let twin = self.seen.insert((area.to_owned(), bytes), name.clone());
        assert!(twin.is_none(), "{name} is the same as {twin:?}");
        let made = Made { name: name.clone(), why: why.to_owned(), file };
        assert!(self.made.insert(name.clone(), made).is_none(), "{name} is made twice");
    }

    /// Whether the area has a case of these bytes.
    fn has(&self, area: &str, bytes: &[u8]) -> bool {
        self.seen.contains_key(&(area.to_owned(), bytes.to_vec()))
    }
}

/// Commented hexadecimal: what is wrong, then 32 bytes a line, and a new line where a part begins.
#[allow(clippy::expect_used, reason = "writing to a string does not fail")]
fn hex(why: &str, bytes: &[u8], parts: &[(&str, usize)]) -> String {
    let mut out = format!("# {why}\n");
    let mut borders: Vec<(&str, usize)> = parts.iter().copied().filter(|(_, at)| *at < bytes.len()).collect();
    if borders.first().is_none_or(|(_, at)| *at > 0) {
        borders.insert(0, ("", 0));
    }
    for (index, (name, at)) in borders.iter().enumerate() {
        let end = borders.get(index + 1).map_or(bytes.len(), |(_, next)| *next);
        for (line, piece) in bytes.get(*at..end).unwrap_or_default().chunks(32).enumerate() {
            let note = if line == 0 && !name.is_empty() { format!("  # {name}") } else { String::new() };
            writeln!(out, "{}{note}", data_encoding::HEXLOWER.encode(piece)).expect("write");
        }
    }
    out
}
