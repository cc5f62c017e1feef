//! What stands on the stack: twelve bytes for a thing, whatever it stands for.

/// What a thing on the stack is, as far as anybody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Not asked about.
    Other,
    /// A place of the memo that holds nothing.
    Vacant,
    /// A text, written by the opcode at `at`.
    Text,
    /// Bytes, written by the opcode at `at`.
    Bytes,
    /// The name `at` of those loaded.
    Name,
    /// The whole number `at`.
    Number,
    /// A tuple of whole numbers, whose product is `at`.
    Numbers,
    /// A tuple that begins with such a text.
    OfText,
    /// A tuple that begins with such bytes.
    OfBytes,
    /// A tuple that begins with such a name.
    OfName,
    /// A known class and the name of what restores or makes it, to be asked of `getattr`.
    Restorer,
    /// A tuple that begins with a function that is known to be harmless.
    OfHarmless,
    /// What a known name made.
    Made,
    /// Such a thing and the name of an attribute of it, to be asked of `getattr`.
    Lookup,
    /// The attribute, most likely a method: it may be kept, not called.
    Method,
    /// A function that is known to be harmless.
    Harmless,
    /// A type of array elements, whose text is at `at`.
    ElementType,
    /// Announces raw bytes of an array.
    RawArray,
    /// A list or dictionary, kept in the memo at `at` less one, if not zero.
    Container,
}

/// One thing on the stack or in the memo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thing {
    pub(super) kind: Kind,
    pub(super) depth: u16,
    pub(super) at: u32,
    /// Things in it and in those, each counted as often as it is referred to.
    pub(super) size: f32,
}

impl Thing {
    pub(super) const OTHER: Self = Self::of(Kind::Other, 0);

    pub(super) const fn of(kind: Kind, at: u32) -> Self {
        Self { kind, depth: 0, at, size: 1.0 }
    }

    /// A container takes it in.
    pub(super) fn holds(&mut self, other: Self) {
        self.depth = self.depth.max(other.depth.saturating_add(1));
        self.size += other.size;
    }
}
