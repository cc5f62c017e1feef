//! Makers of cases, and the tests by subject.

use super::*;
use crate::{
    bundle::{ArtifactId, Trust},
    finding::{Confidence, Evidence, Severity},
    sniff::Risk,
};

mod decide;
mod files;
mod guide;
mod laws;
mod lift;
mod replay;
mod table;

/// The text of a shipped policy.
fn shipped(name: &str) -> Option<Cow<'static, str>> {
    scanner_rules::POLICIES.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| (*text).into())
}

/// A shipped policy.
#[track_caller]
fn named(name: &str) -> Policy {
    Policy::parse(name, &shipped(name).unwrap(), &shipped).unwrap()
}

/// A policy with this under its head.
#[track_caller]
fn policy(body: &str) -> Policy {
    Policy::parse("policy.toml", &with_head(body), &shipped).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// Three lines, so that the body starts in the fourth.
fn with_head(body: &str) -> String {
    format!("schema = \"scanner.policy/v1\"\nname = \"test\"\n\n{body}")
}

/// A binary that can be cleaned.
fn artifact(id: u32) -> CaseArtifact {
    CaseArtifact {
        opaque: false,
        id: ArtifactId(id),
        parent: None,
        label: "png".into(),
        mime: "image/png".into(),
        risk: Risk::Active,
        trust: Trust::Tool,
        sha256: format!("{id:064x}"),
        is_text: false,
        cleanable: true,
    }
}

fn inside(id: u32, parent: u32) -> CaseArtifact {
    CaseArtifact { parent: Some(ArtifactId(parent)), ..artifact(id) }
}

fn finding(id: &str, artifact: Option<u32>, category: &str, severity: Severity) -> CaseFinding {
    CaseFinding {
        id: id.to_owned(),
        artifact: artifact.map(ArtifactId),
        rule: format!("test/{category}").into(),
        category: category.to_owned().into(),
        severity,
        confidence: Confidence::High,
        evidence: Evidence::Use,
        fingerprint: format!("{:032x}", 0xf),
    }
}

fn gap(id: &str, artifact: Option<u32>, reason: &str) -> CaseGap {
    CaseGap { id: id.to_owned(), artifact: artifact.map(ArtifactId), reason: reason.to_owned().into() }
}

/// A case that is complete when it has no gap.
fn case(artifacts: Vec<CaseArtifact>, findings: Vec<CaseFinding>, gaps: Vec<CaseGap>) -> Case {
    Case { complete: gaps.is_empty(), artifacts, findings, gaps, cleanable: false, by_person: None }
}

fn decide_for(policy: &Policy, case: &Case, audience: &Audience) -> ForAudience {
    policy.decide(case, std::slice::from_ref(audience), None).audiences.remove(0)
}

fn because(clause: &str, cause: Cause) -> Because {
    Because { clause: clause.to_owned(), cause }
}

fn of_finding(clause: &str, id: &str) -> Because {
    because(clause, Cause::Finding(id.to_owned()))
}

fn of_gap(clause: &str, id: &str) -> Because {
    because(clause, Cause::Gap(id.to_owned()))
}
