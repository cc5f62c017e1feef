//! Where something was seen: in the bytes, and for a person.

use std::collections::BTreeMap;

/// A half-open range of byte offsets in the artifact as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// One coordinate of a [`Place`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coordinate {
    /// A position: counted from one for lines, columns, rows and pages.
    Number(u64),
    /// A name: a sheet, a chunk, an entry.
    Name(String),
}

/// Where a person looks: `line,column | page | sheet,cell | row,column | slide | cell,output | entry | chunk | event | offset`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub BTreeMap<&'static str, Coordinate>);

impl Place {
    /// The place with a number added under a key.
    #[must_use]
    pub fn number(mut self, key: &'static str, value: u64) -> Self {
        self.0.insert(key, Coordinate::Number(value));
        self
    }

    /// The place with a name added under a key.
    #[must_use]
    pub fn name(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.0.insert(key, Coordinate::Name(value.into()));
        self
    }
}
