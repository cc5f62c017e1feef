//! Formats: one file each, one line in [`ALL`]. An inspector states facts: findings, texts to read, children.

use bytes::Bytes;

use crate::{
    bundle::{Artifact, ArtifactId, Origin, Source},
    finding::{Finding, Findings, Gap, Reason, Rule, Stop},
    limits::Budget,
    sniff::Type,
    view::TextView,
};

/// One format the scanner looks into.
#[derive(Debug)]
pub(crate) struct Format {
    /// Name of the file it lives in.
    pub(crate) name: &'static str,
    /// Labels of the types it takes, as in the sniffer's table.
    pub(crate) labels: &'static [&'static str],
    /// States what is in the bytes. An early stop becomes a gap; what was written stays.
    pub(crate) inspect: fn(&Subject<'_>, &mut Out<'_>, &mut Budget) -> Result<(), Stop>,
    /// Every rule it can find.
    pub(crate) rules: &'static [&'static Rule],
}

/// Every format. The first that lists a label takes it.
pub(crate) const ALL: &[&Format] = &[&png::FORMAT, &program::FORMAT, &text::FORMAT];

mod png;
mod program;
mod text;

/// The format that looks into a type, if there is one.
pub(crate) fn of(kind: &Type) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.labels.contains(&kind.label))
}

/// What an inspector is given.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    /// The unpacked bytes.
    pub(crate) bytes: &'a Bytes,
    /// What the sniffer says they are.
    pub(crate) kind: &'static Type,
}

/// What an inspector writes into. It is the artifact's own: nothing written can name another artifact.
#[derive(Debug)]
pub(crate) struct Out<'a> {
    artifact: ArtifactId,
    findings: &'a mut Findings,
    gaps: &'a mut Vec<Gap>,
    /// Texts to read.
    pub(crate) texts: Vec<TextView>,
    /// Things inside, looked at when their turn comes.
    pub(crate) children: Vec<Artifact>,
}

impl<'a> Out<'a> {
    pub(crate) fn new(artifact: ArtifactId, findings: &'a mut Findings, gaps: &'a mut Vec<Gap>) -> Self {
        Self { artifact, findings, gaps, texts: Vec::new(), children: Vec::new() }
    }

    /// Something seen. Its fingerprint is made later, from the bytes under its span.
    pub(crate) fn find(&mut self, mut finding: Finding) {
        finding.artifact = Some(self.artifact);
        self.findings.add(finding);
    }

    /// Something not seen.
    pub(crate) fn gap(&mut self, mut gap: Gap) {
        gap.artifact = Some(self.artifact);
        self.gaps.push(gap);
    }

    /// A part that nothing here can look into.
    pub(crate) fn unsupported(&mut self, what: impl Into<String>) {
        self.gap(Gap::new(Reason::Unsupported, what));
    }

    /// A text to read.
    pub(crate) fn read(&mut self, text: TextView) {
        self.texts.push(text);
    }

    /// Something inside, with the name it has there.
    pub(crate) fn child(&mut self, source: Source, name: Option<String>) {
        let mut child = Artifact::new(Origin::Member, source);
        child.name = name;
        self.children.push(child);
    }
}
