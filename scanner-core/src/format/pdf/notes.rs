//! What is told about a document: each fact once, with the first place and how often.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use crate::{
    finding::{Finding, Gap, Reason, Rule, Severity, Stop},
    format::Out,
    limits::{Exhausted, Resource},
    reader::count,
};

/// Different facts of one document that are kept; a flood of them says no more.
const KEPT: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Notes {
    facts: BTreeMap<(&'static str, Cow<'static, str>), Fact>,
    /// What was not read, each reason once: in words, and where the first was.
    gaps: BTreeMap<Reason, (String, Option<u64>)>,
}

#[derive(Debug)]
struct Fact {
    rule: &'static Rule,
    severity: Severity,
    span: Range<usize>,
    times: u64,
}

impl Notes {
    /// A fact with its rule's own severity.
    pub(super) fn add(&mut self, rule: &'static Rule, span: Range<usize>, message: impl Into<Cow<'static, str>>) {
        self.add_as(rule, rule.severity, span, message);
    }

    /// A fact that is better or worse than usual.
    pub(super) fn add_as(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        span: Range<usize>,
        message: impl Into<Cow<'static, str>>,
    ) {
        let key = (&*rule.id, message.into());
        let is_full = self.facts.len() >= KEPT;
        if let Some(fact) = self.facts.get_mut(&key) {
            fact.times = fact.times.saturating_add(1);
            fact.severity = fact.severity.max(severity);
        } else if !is_full {
            self.facts.insert(key, Fact { rule, severity, span, times: 1 });
        }
    }

    /// Something was not read.
    pub(super) fn not_read(&mut self, stop: Stop, base: usize) {
        match stop {
            Stop::Limit(Exhausted(resource)) => self.refused(resource),
            Stop::Malformed { what, at } => {
                self.gap(Reason::Malformed, what.into_owned(), Some(at.saturating_add(count(base))));
            }
        }
    }

    pub(super) fn refused(&mut self, resource: Resource) {
        let detail = format!("the limit on {resource} was reached: the rest was not read");
        self.gap(Reason::Limit(resource), detail, None);
    }

    pub(super) fn gap(&mut self, reason: Reason, detail: impl Into<String>, at: Option<u64>) {
        self.gaps.entry(reason).or_insert_with(|| (detail.into(), at));
    }

    /// Why something was not read, in words, if something was not.
    pub(super) fn unread(&self) -> Option<&str> {
        self.gaps.values().next().map(|(detail, _)| detail.as_str())
    }

    pub(super) fn has(&self, rule: &Rule) -> bool {
        self.facts.keys().any(|(id, _)| **id == *rule.id)
    }

    pub(super) fn tell(self, out: &mut Out<'_>) {
        for ((_, message), fact) in self.facts {
            let message = match fact.times {
                1 => message.into_owned(),
                times => format!("{message} ({times} times)"),
            };
            let finding = Finding::built_in(fact.rule).severity(fact.severity).message(message);
            out.find(finding.at(count(fact.span.start), count(fact.span.end)));
        }
        for (reason, (detail, at)) in self.gaps {
            let gap = Gap::new(reason, detail);
            out.gap(match at {
                Some(at) => gap.at_offset(at),
                None => gap,
            });
        }
    }
}
