//! What was done so far, by where it was done: artifacts have other numbers in each scan, and the same places.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Action, round::Changes};
use crate::{
    bundle::ArtifactId,
    scan::{ArtifactRecord, Report},
};

/// The outermost artifacts of the input as it came, by where they stand: number and digest.
pub(super) type Roots = BTreeMap<String, (ArtifactId, String)>;

pub(super) fn roots(report: &Report) -> Roots {
    let outermost = report.artifacts.iter().filter(|record| record.parent.is_none());
    outermost.map(|record| (place_of(report, record), (record.id, record.sha256.clone()))).collect()
}

/// Where an artifact stands, whatever its number in this scan or that: the same shape has the same places.
pub(super) fn place_of(report: &Report, record: &ArtifactRecord) -> String {
    let reference = record.reference.and_then(|at| report.references.get(at));
    match (reference, &record.at) {
        (Some((reference, _)), _) => format!("@{}", reference.id),
        (None, Some(at)) => format!("{at} {}", record.origin.name()),
        (None, None) => record.id.to_string(),
    }
}

/// The sum of all rounds.
#[derive(Debug, Default)]
pub(super) struct Done {
    did: BTreeMap<(String, &'static str), u64>,
    /// Where something else stands now.
    replaced: Vec<String>,
}

impl Done {
    /// Adds what a round does.
    pub(super) fn note(&mut self, changes: &Changes) {
        for (place, did) in &changes.did {
            for (action, count) in did {
                let sum = self.did.entry((place.clone(), action)).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
        self.replaced.extend(changes.replaced.iter().cloned());
    }

    /// What was done, to the artifacts as they were numbered at first.
    pub(super) fn actions(&self, roots: &Roots) -> Vec<Action> {
        let named = |place: &String| roots.get(place).map(|(id, _)| *id);
        let did = self.did.iter();
        did.map(|((place, action), count)| Action { artifact: named(place), action, count: *count }).collect()
    }

    /// The bytes of each outermost artifact that is not what it was; `None` where something else stands in its place.
    /// They are those of the last scan, which allowed them: an artifact may change with another that it overlaps.
    pub(super) fn artifacts(&self, roots: &Roots, last: &Report) -> BTreeMap<ArtifactId, Option<Bytes>> {
        let mut artifacts = BTreeMap::new();
        for record in last.artifacts.iter().filter(|record| record.parent.is_none()) {
            let place = place_of(last, record);
            if let Some((id, _)) = roots.get(&place).filter(|(_, before)| *before != record.sha256) {
                artifacts.insert(*id, last.bytes_of(record.id));
            }
        }
        // What was emptied is no artifact any more.
        let replaced = self.replaced.iter().filter_map(|place| roots.get(place));
        artifacts.extend(replaced.map(|(id, _)| (*id, None)));
        artifacts
    }
}
