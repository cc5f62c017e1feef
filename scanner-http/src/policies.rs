//! The policies that requests may ask for, and which of two is the looser.

use std::{borrow::Cow, path::Path};

use scanner_core::{
    Audience, CATEGORIES, Case, CaseArtifact, CaseFinding, CaseGap, Confidence, Evidence, Policy, Reason, Risk,
    Severity, Trust,
};
use scanner_worker::NamedPolicy;

use crate::config::ConfigError;

/// Every policy by its name: those that ship, then the operator's.
#[derive(Debug)]
pub(crate) struct Policies {
    pub(crate) all: Vec<Policy>,
    /// The operator's, for the workers.
    pub(crate) own: Vec<NamedPolicy>,
}

fn shipped(name: &str) -> Option<Cow<'static, str>> {
    scanner_rules::POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| Cow::Borrowed(*text))
}

impl Policies {
    pub(crate) fn read<P: AsRef<Path>>(files: &[P]) -> Result<Self, ConfigError> {
        let wrong = |error: scanner_core::SettingsError| ConfigError(error.to_string());
        let mut all = scanner_rules::POLICIES
            .iter()
            .map(|(name, text)| Policy::parse(name, text, &shipped))
            .collect::<Result<Vec<_>, _>>()
            .map_err(wrong)?;
        let mut own = Vec::new();
        for path in files {
            let name = scanner_core::visible(&path.as_ref().to_string_lossy());
            let text = std::fs::read_to_string(path).map_err(|error| ConfigError(format!("{name}: {error}")))?;
            let policy = Policy::parse(&name, &text, &shipped).map_err(wrong)?;
            if all.iter().any(|known| known.name() == policy.name()) {
                return Err(ConfigError(format!("{name}: there already is a policy \"{}\"", policy.name())));
            }
            own.push(NamedPolicy { name: policy.name().to_owned(), text });
            all.push(policy);
        }
        Ok(Self { all, own })
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Policy> {
        self.all.iter().find(|policy| policy.name() == name)
    }
}

/// Where `policy` answers milder than `than` for some audience that both know: what was found, in words.
///
/// Every category is tried with every severity, confidence, evidence, trust and risk, and every gap with every risk.
/// Clauses on one rule, type or digest, and exceptions, are the operator's own word and are not tried.
pub(crate) fn looser(policy: &Policy, than: &Policy) -> Option<String> {
    if than.enforced() && !policy.enforced() {
        return Some("it is not enforced".to_owned());
    }
    let audiences: Vec<Audience> = than
        .audiences()
        .map(|(audience, _)| audience.clone())
        .filter(|audience| policy.settings(audience).is_some())
        .collect();
    let risks = Risk::ALL.into_iter().flat_map(|risk| Trust::ALL.into_iter().map(move |(trust, _)| (risk, trust)));
    risks.filter_map(|(risk, trust)| looser_on(policy, than, &audiences, &case(risk, trust))).next()
}

fn looser_on(policy: &Policy, than: &Policy, audiences: &[Audience], case: &Case) -> Option<String> {
    let (ours, theirs) = (policy.decide(case, audiences, None), than.decide(case, audiences, None));
    for (ours, theirs) in ours.audiences.iter().zip(&theirs.audiences) {
        for (position, (milder, stricter)) in ours.artifacts.iter().zip(&theirs.artifacts).enumerate() {
            if milder.decision < stricter.decision {
                let what =
                    match (case.findings.get(position), case.gaps.get(position.wrapping_sub(case.findings.len()))) {
                        (Some(finding), _) => format!("{} {}", finding.severity.name(), finding.category),
                        (None, Some(gap)) => format!("the gap {}", gap.reason),
                        (None, None) => "nothing found".to_owned(),
                    };
                let audience = &ours.audience;
                return Some(format!(
                    "it answers {} for {what} where {audience} had {}",
                    milder.decision.name(),
                    stricter.decision.name()
                ));
            }
        }
    }
    None
}

/// One artifact for each finding and each gap there can be, so that each is decided by itself.
fn case(risk: Risk, trust: Trust) -> Case {
    let mut case = Case { complete: true, ..Case::default() };
    let artifact = |id| CaseArtifact {
        opaque: false,
        id,
        parent: None,
        label: Cow::Borrowed("unknown"),
        mime: Cow::Borrowed("application/octet-stream"),
        risk,
        trust,
        sha256: String::new(),
        is_text: false,
        cleanable: true,
    };
    let mut next = 0;
    let mut id = || {
        next += 1;
        scanner_core::ArtifactId(next - 1)
    };
    for (family, members) in CATEGORIES {
        for member in *members {
            for severity in Severity::ALL {
                for confidence in Confidence::ALL {
                    for evidence in Evidence::ALL {
                        let id = id();
                        case.artifacts.push(artifact(id));
                        case.findings.push(CaseFinding {
                            id: String::new(),
                            artifact: Some(id),
                            rule: Cow::Borrowed(""),
                            category: Cow::Owned(format!("{family}.{member}")),
                            severity,
                            confidence,
                            evidence,
                            fingerprint: String::new(),
                        });
                    }
                }
            }
        }
    }
    for reason in Reason::all() {
        let id = id();
        case.artifacts.push(artifact(id));
        case.gaps.push(CaseGap { id: String::new(), artifact: Some(id), reason: Cow::Owned(reason.to_string()) });
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_policies_are_in_order() {
        let policies = Policies::read::<&str>(&[]).unwrap();
        let policy = |name: &str| policies.named(name).unwrap();
        assert_eq!(looser(policy("strict"), policy("default")), None);
        assert_eq!(looser(policy("default"), policy("default")), None);
        assert_eq!(looser(policy("default"), policy("permissive")), None);
        assert!(looser(policy("default"), policy("strict")).is_some());
        assert!(looser(policy("permissive"), policy("default")).is_some());
        assert_eq!(looser(policy("report-only"), policy("default")).unwrap(), "it is not enforced");
    }

    #[test]
    fn a_policy_of_the_operator_is_read_and_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ours.toml");
        let text = "schema = 'scanner.policy/v1'\nname = 'ours'\nextends = 'default'\n[[when]]\ncategory = 'secret.*'\nthen = 'allow'\n";
        std::fs::write(&path, text).unwrap();
        let policies = Policies::read(std::slice::from_ref(&path)).unwrap();
        let why = looser(policies.named("ours").unwrap(), policies.named("default").unwrap()).unwrap();
        assert!(why.contains("secret."), "{why}");
        assert!(
            Policies::read(&[&path, &path]).unwrap_err().to_string().contains("there already is a policy \"ours\"")
        );
        std::fs::write(&path, text.replace("category", "categori")).unwrap();
        assert!(Policies::read(&[&path]).unwrap_err().to_string().contains("ours.toml:5:1: unknown key"));
    }
}
