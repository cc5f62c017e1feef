//! What is given to a scan.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Letters, Review};
use crate::{bundle::Bundle, envelope::Attachment, finding::Reason};

/// What an input is, as far as the caller knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// An envelope if it is a known one, otherwise a file.
    Auto,
    /// One file, whatever it looks like: an envelope inside is not taken for one.
    File,
    /// One text.
    Text,
    /// The envelope of that system, by the name used with `--as`.
    Envelope(String),
    /// A bundle that the caller built; the bytes of the input are ignored.
    Bundle(Bundle),
}

impl Kind {
    /// The word of `--as`.
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::File => "file",
            Self::Text => "text",
            Self::Envelope(system) => system,
            Self::Bundle(_) => "bundle",
        }
    }

    /// What that word of `--as` means.
    pub fn named(word: &str) -> Self {
        match word {
            "auto" => Self::Auto,
            "file" => Self::File,
            "text" => Self::Text,
            system => Self::Envelope(system.to_owned()),
        }
    }
}

/// What only the world outside can know, recorded so that the same facts give the same verdict again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The worker that parsed this input died: why, and in words.
    pub death: Option<(Reason, String)>,
    /// What external engines said.
    pub engines: Vec<EngineAnswer>,
    /// What an engine read in pictures. It is never recorded: whoever repeats a scan gives it again, and it counts only
    /// where the engine's recorded answer is about these very words.
    pub letters: Vec<Letters>,
    /// What people said, in statements whose signatures were checked. The one that counts is recorded.
    pub reviews: Vec<Review>,
}

impl Facts {
    /// The worker that parsed this input died.
    pub fn of_death(reason: Reason, detail: impl Into<String>) -> Self {
        Self { death: Some((reason, detail.into())), ..Self::default() }
    }
}

/// What an external engine said about one input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineAnswer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Version of its database.
    pub database: String,
    /// When its database was made.
    pub database_time: String,
    /// What it said: `clean`, `found: NAME`, `unavailable: WHY`, or what [`letters_answer`](super::letters_answer) makes
    /// of pictures that were read. Anything else counts as the third.
    pub answer: String,
}

impl EngineAnswer {
    /// What an engine of that name said. Version and database may be filled in.
    pub fn of(name: impl Into<String>, answer: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: String::new(),
            database: String::new(),
            database_time: String::new(),
            answer: answer.into(),
        }
    }
}

/// One thing to scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Input {
    /// Its bytes.
    pub bytes: Bytes,
    /// What it is.
    pub kind: Kind,
    /// The name that came with it. Untrusted.
    pub name: Option<String>,
    /// The media type that came with it. Untrusted.
    pub declared: Option<String>,
    /// What the caller fetched for references.
    pub attachments: Vec<Attachment>,
    /// Literal strings that must not appear anywhere.
    pub watch: Vec<String>,
    /// Bound into the receipt, never interpreted.
    pub context: BTreeMap<String, String>,
    /// What only the world outside can know.
    pub facts: Facts,
}

impl Input {
    fn of(kind: Kind, bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            kind,
            name: None,
            declared: None,
            attachments: Vec::new(),
            watch: Vec::new(),
            context: BTreeMap::new(),
            facts: Facts::default(),
        }
    }

    /// An envelope if it is a known one, otherwise a file.
    pub fn auto(bytes: impl Into<Bytes>) -> Self {
        Self::of(Kind::Auto, bytes)
    }

    /// One file under an untrusted name.
    pub fn file(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { name: Some(name.into()), ..Self::of(Kind::File, bytes) }
    }

    /// One text, such as the standard output of a run.
    pub fn text(text: impl Into<Bytes>) -> Self {
        Self::of(Kind::Text, text)
    }

    /// The envelope of a system, by the name used with `--as`: `openai`, `bundle`, ….
    pub fn envelope(system: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self::of(Kind::Envelope(system.into()), bytes)
    }

    /// A bundle that the caller built.
    pub fn bundle(bundle: Bundle) -> Self {
        Self::of(Kind::Bundle(bundle), Bytes::new())
    }
}
