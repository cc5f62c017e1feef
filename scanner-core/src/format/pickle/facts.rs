//! What a walk found.

use std::{collections::BTreeMap, ops::Range};

use super::globals::Reach;

/// A name that was loaded.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) module: String,
    pub(super) name: String,
    /// The opcode that loaded it first.
    pub(super) at: usize,
    pub(super) reach: Reach,
    /// It is called while loading.
    pub(super) is_called: bool,
    /// It is itself changed while loading.
    pub(super) is_changed: bool,
    /// How often it came onto the stack, and how often it was used in the one harmless way.
    pub(super) pushed: u64,
    pub(super) harmless: u64,
}

impl Name {
    /// Whether it runs code, or finds what does.
    pub(super) fn is_dangerous(&self) -> bool {
        match self.reach {
            Reach::Dangerous => true,
            Reach::Function => self.is_called || self.is_changed,
            Reach::Attribute | Reach::Partial | Reach::Loads => self.pushed != self.harmless || self.is_changed,
            Reach::Known | Reach::RawArray | Reach::ElementType | Reach::Unknown => self.is_changed,
        }
    }
}

/// Something that is not as it should be, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    Structure,
    Truncated,
    Memo,
    Depth,
    Expansion,
    /// A call of something that is not known, and no name either.
    Call,
    /// A name that is made while loading.
    MadeName,
    /// A number of the extension registry.
    Extension,
    /// An id that only the loading program understands.
    Persistent,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) names: Vec<Name>,
    /// Of each kind the first: where, and in words.
    pub(super) wrong: BTreeMap<Wrong, (Range<usize>, &'static str)>,
    /// Operands that begin like a pickle.
    pub(super) inner: Vec<Range<usize>>,
    /// Operands that begin like packed bytes.
    pub(super) packed: Vec<Range<usize>>,
    /// Texts long enough to be packed bytes in base64.
    pub(super) encoded: Vec<Range<usize>>,
    /// Bytes that are loaded as a file of torch, by where they begin.
    pub(super) loaded: BTreeMap<usize, Range<usize>>,
    /// It reached its end.
    pub(super) is_whole: bool,
    /// It is the number that begins an old file of torch.
    pub(super) is_torch_magic: bool,
    /// Something is called.
    pub(super) calls: bool,
}
