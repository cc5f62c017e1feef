//! What cleaners ask: the texts and files inside an artifact, each made safe as an input of its own.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Tried, Work};
use crate::{
    finding::Finding,
    format::{
        self, Subject,
        cleaning::{Cleaning, Part, Uncleanable, Washer},
    },
    limits::Budget,
    scan::{ArtifactRecord, Input, Report},
};

/// Files in files that are cleaned one by one; the limit on depth stops the scan before that by default.
pub(super) const DEPTH: u8 = 6;

impl Work<'_> {
    /// The artifact as its format cleans it.
    pub(super) fn clean(
        &mut self,
        report: &Report,
        record: &ArtifactRecord,
        bytes: &Bytes,
        own: &[&Finding],
        did: &mut BTreeMap<&'static str, u64>,
    ) -> Result<Bytes, Uncleanable> {
        let clean = format::of(record.kind).and_then(|format| format.clean);
        let clean = clean.ok_or_else(|| Uncleanable(format!("nothing here cleans {}", record.kind.mime).into()))?;
        let findings: Vec<Finding> = own.iter().map(|finding| (*finding).clone()).collect();
        let mut budget = self.budget.clone();
        let mut wash = Wash { work: self, report };
        let mut cleaning = Cleaning::new(&mut wash, &findings);
        let cleaned = clean(&Subject { bytes, kind: record.kind }, &mut cleaning, &mut budget);
        let actions = cleaning.into_actions();
        // What a format leaves out because nothing refers to it is no step of its cleaner.
        if actions.is_empty() && cleaned.as_ref().is_ok_and(|cleaned| cleaned != bytes) {
            did.insert("wrote the file anew", 1);
        }
        did.extend(actions);
        self.budget = budget;
        cleaned
    }

    /// A part of an artifact as an input of its own.
    fn part(&mut self, input: Input) -> Tried {
        if self.depth >= DEPTH {
            return Err("files are nested too deep to be cleaned".into());
        }
        let ledger = std::mem::take(&mut self.ledger);
        let mut inner =
            Work { maker: self.maker, ledger, budget: self.budget.clone(), depth: self.depth.saturating_add(1) };
        let tried = inner.release(None, input);
        self.ledger = inner.ledger;
        self.budget = inner.budget;
        tried
    }
}

/// Asked by cleaners about what is inside an artifact.
#[derive(Debug)]
struct Wash<'a, 'b> {
    work: &'a mut Work<'b>,
    report: &'a Report,
}

impl Washer for Wash<'_, '_> {
    fn text(&mut self, text: &[u8], budget: &mut Budget) -> Result<Option<Vec<u8>>, Uncleanable> {
        // Most files have nothing in their texts: then no text is read again.
        if text.is_empty() || !self.report.findings.iter().any(is_of_words) {
            return Ok(None);
        }
        self.work.budget = budget.clone();
        let tried = self.work.part(Input::text(Bytes::copy_from_slice(text)));
        *budget = self.work.budget.clone();
        Ok(tried?.map(|released| released.bytes.to_vec()))
    }

    fn part(&mut self, bytes: &Bytes, name: Option<&str>, budget: &mut Budget) -> Result<Part, Uncleanable> {
        self.work.budget = budget.clone();
        let mut input = Input::file("", bytes.clone());
        input.name = name.map(str::to_owned);
        let tried = self.work.part(input);
        *budget = self.work.budget.clone();
        Ok(match tried {
            Ok(None) => Part::Keep,
            Ok(Some(released)) => Part::Changed(released.bytes),
            Err(Uncleanable(why)) => Part::Gone(why),
        })
    }
}

/// Whether a finding is about words, wherever they stand.
pub(super) fn is_of_words(finding: &Finding) -> bool {
    let family = finding.rule.category.split('.').next().unwrap_or_default();
    matches!(family, "secret" | "pii" | "injection" | "hidden" | "terminal" | "url")
}
