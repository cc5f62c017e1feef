//! The artifacts of a case as conditions see them, and what they are inside of.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Case, CaseArtifact};
use crate::{
    bundle::{ArtifactId, Trust},
    sniff::Risk,
};

/// The artifacts of a case and what they are inside of.
pub(super) struct Tree<'a> {
    artifacts: &'a [CaseArtifact],
    hosts: Vec<Host>,
    /// Always an earlier position.
    parents: Vec<Option<usize>>,
    positions: BTreeMap<ArtifactId, usize>,
}

impl<'a> Tree<'a> {
    /// A parent that is not an earlier artifact of the case is none.
    pub(super) fn of(case: &'a Case) -> Self {
        let mut tree = Self {
            artifacts: &case.artifacts,
            hosts: Vec::with_capacity(case.artifacts.len()),
            parents: Vec::with_capacity(case.artifacts.len()),
            positions: BTreeMap::new(),
        };
        for (at, artifact) in case.artifacts.iter().enumerate() {
            let parent = tree.find(artifact.parent);
            tree.hosts.push(Host::of(artifact, parent.and_then(|parent| tree.hosts.get(parent))));
            tree.parents.push(parent);
            tree.positions.entry(artifact.id).or_insert(at);
        }
        tree
    }

    pub(super) fn find(&self, id: Option<ArtifactId>) -> Option<usize> {
        id.and_then(|id| self.positions.get(&id)).copied()
    }

    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten()
    }

    pub(super) fn host(&self, at: Option<usize>) -> &Host {
        at.and_then(|at| self.hosts.get(at)).unwrap_or(const { &Host::ENVELOPE })
    }

    /// Digests of an artifact and of everything it is inside of.
    pub(super) fn digests(&self, at: Option<usize>) -> impl Iterator<Item = &'a str> {
        std::iter::successors(at, |at| self.parent(*at))
            .filter_map(|at| self.artifacts.get(at))
            .map(|artifact| artifact.sha256.as_str())
    }
}

/// The artifact that a finding or gap is in, as conditions see it.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) trust: Trust,
    pub(super) risk: Risk,
    pub(super) label: Cow<'static, str>,
    pub(super) mime: Cow<'static, str>,
    /// It is text, and so is everything it is inside of: who delivers it delivers text.
    pub(super) as_text: bool,
}

impl Host {
    /// What is in no artifact is in the envelope: not the caller's words, of no known type, no text.
    const ENVELOPE: Self = Self {
        trust: Trust::Tool,
        risk: Risk::Unknown,
        label: Cow::Borrowed(""),
        mime: Cow::Borrowed(""),
        as_text: false,
    };

    fn of(artifact: &CaseArtifact, parent: Option<&Self>) -> Self {
        Self {
            trust: artifact.trust,
            risk: artifact.risk,
            label: artifact.label.clone(),
            mime: artifact.mime.clone(),
            as_text: artifact.is_text && parent.is_none_or(|parent| parent.as_text),
        }
    }
}
