//! Where a text or bytes stand in the input, and how they are written there: what a release needs to put other bytes in
//! their place and leave everything else as it came.

use std::{ops::Range, sync::Arc};

use bytes::Bytes;

/// What a range of bytes is a range of.
#[derive(Clone, Debug)]
pub(crate) enum Ground {
    /// A document cut from the input. Runs: from document offset `.0` on, byte `d` is input byte `.1 + (d - .0)`, up to
    /// the next run; one run for nearly all, one a line for events whose data stand on several.
    Input(Arc<[(usize, usize)]>),
    /// Text that is itself written in a string: JSON in JSON.
    Text(Arc<Written>),
}

impl Ground {
    /// A document that begins at that offset of the input.
    pub(crate) fn at(offset: usize) -> Self {
        Self::Input(Arc::from([(0, offset)]))
    }
}

/// One string, or a part of a text that several strings make together.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// What it stands in.
    pub(crate) ground: Ground,
    /// Where: quotes excluded.
    pub(crate) raw: Range<usize>,
    /// The bytes as they are written.
    pub(crate) bytes: Bytes,
}

/// How pieces make the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As they are.
    Plain,
    /// JSON strings, put together before their escapes are undone: a stream cuts anywhere.
    Json,
    /// JSON strings each with its own escapes, and these characters between them.
    Lines(&'static str),
}

/// What the text is to the artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// Its bytes.
    Text,
    /// Its bytes in base64 or a data URL.
    Encoded,
}

/// An artifact as it is written in the input.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// The strings it is made of, in order.
    pub(crate) pieces: Vec<Piece>,
    /// How they make a text.
    pub(crate) spelling: Spelling,
    /// What that text is.
    pub(crate) carrier: Carrier,
}

impl Written {
    /// Bytes that stand as they are.
    pub(crate) fn plain(ground: Ground, raw: Range<usize>, bytes: Bytes) -> Self {
        Self { pieces: vec![Piece { ground, raw, bytes }], spelling: Spelling::Plain, carrier: Carrier::Text }
    }

    /// JSON strings that make a text.
    pub(crate) fn strings(pieces: Vec<Piece>, spelling: Spelling) -> Self {
        Self { pieces, spelling, carrier: Carrier::Text }
    }

    /// The same, when the text carries bytes.
    pub(crate) fn encoded(self) -> Self {
        Self { carrier: Carrier::Encoded, ..self }
    }
}
