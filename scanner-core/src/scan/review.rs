//! What a person said of an input: a fact, given by the front after it checked the signature.

use super::{Kind, Report};
use crate::{binding::Digest, bundle::ArtifactId};

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It may pass where it was held for them.
    Approve,
    /// Nothing of it may leave.
    Reject,
}

impl Ruling {
    /// The word used in statements and verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }

    /// The ruling of that word.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Approve, Self::Reject].into_iter().find(|ruling| ruling.name() == word)
    }
}

/// A decision of a person about one receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Review {
    /// What they decided.
    pub ruling: Ruling,
    /// Who.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When, as the front's clock had it.
    pub at: String,
    /// Id of the key that signed the statement; empty before it is signed.
    pub key: String,
    /// SHA-256 of the receipt they looked at.
    pub receipt: String,
    /// The audiences that the receipt held for them. An approval is about no other.
    pub audiences: Vec<String>,
    /// What they looked at.
    pub about: About,
}

/// What a review is about. It counts where all of this is the same: other attachments, another reading of the same
/// bytes, other rules or another policy are something that nobody has looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// Digest of the input.
    pub input: Digest,
    /// What the caller said the input is: the word of `--as`.
    pub asked: String,
    /// What was attached: reference and digest.
    pub attachments: Vec<(String, Digest)>,
    /// Digest over the watch list.
    pub watch: Option<String>,
    /// Digest of the policy.
    pub policy: String,
    /// Digest over the rules.
    pub rules: String,
}

impl About {
    /// The first thing that is not the same, in words.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            (self.input != other.input, "another input"),
            (self.policy != other.policy, "another policy"),
            (self.rules != other.rules, "other rules"),
            (self.asked != other.asked, "another --as"),
            (self.attachments != other.attachments, "other attachments"),
            (self.watch != other.watch, "another watch list"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }
}

impl Report {
    /// What a review has to be about to count here; `None` where there are no bytes to have a digest of.
    pub(crate) fn about(&self, policy: &str) -> Option<About> {
        if matches!(self.input.kind, Kind::Bundle(_)) {
            return None;
        }
        Some(About {
            input: self.source_digest(),
            asked: self.source.asked.clone(),
            attachments: self.attachment_digests(),
            watch: self.watch.clone(),
            policy: policy.to_owned(),
            rules: self.rules.clone(),
        })
    }

    /// Digest of the input, as receipts write it.
    pub(crate) fn source_digest(&self) -> Digest {
        self.digest(&self.source.sha256, self.source.size, self.has_secret())
    }

    /// What was attached, as receipts write it.
    pub(crate) fn attachment_digests(&self) -> Vec<(String, Digest)> {
        let sizes =
            self.input.attachments.iter().map(|attached| u64::try_from(attached.bytes.len()).unwrap_or(u64::MAX));
        let has_secret = self.has_secret();
        self.attachments
            .iter()
            .zip(sizes)
            .map(|((reference, sha256), size)| (reference.clone(), self.digest(sha256, size, has_secret)))
            .collect()
    }

    /// A digest as receipts write it.
    pub(crate) fn digest(&self, sha256: &str, size: u64, has_secret: bool) -> Digest {
        Digest::new(sha256, size, has_secret, self.scanner.binding())
    }

    /// The artifacts with a secret in them, or in something inside of them.
    pub(crate) fn secretive(&self) -> Vec<bool> {
        let mut marked = vec![false; self.artifacts.len()];
        let at = |id: ArtifactId| usize::try_from(id.0).unwrap_or(usize::MAX);
        for id in self.secrets().flatten() {
            if let Some(mark) = marked.get_mut(at(id)) {
                *mark = true;
            }
        }
        // A parent comes before what is inside it: backwards, each is complete when its turn comes.
        for (position, record) in self.artifacts.iter().enumerate().rev() {
            let is_marked = marked.get(position).copied().unwrap_or(false);
            if let (true, Some(mark)) = (is_marked, record.parent.and_then(|parent| marked.get_mut(at(parent)))) {
                *mark = true;
            }
        }
        marked
    }

    fn has_secret(&self) -> bool {
        self.secrets().next().is_some()
    }

    /// Where secrets were found, kept or only counted.
    fn secrets(&self) -> impl Iterator<Item = Option<ArtifactId>> {
        let kept = self.findings.iter().map(|finding| (&finding.rule.category, finding.artifact));
        let counted = self.counted.iter().map(|tally| (&tally.category, tally.artifact));
        kept.chain(counted).filter(|(category, _)| is_secret(category)).map(|(_, artifact)| artifact)
    }
}

/// Whether findings of that category are of something that must not be guessed.
pub(crate) fn is_secret(category: &str) -> bool {
    category.starts_with("secret.")
}
