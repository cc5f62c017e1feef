//! The bench: rules and policies ready, where jobs are done, in whichever process.

use std::{borrow::Cow, cell::OnceCell, collections::BTreeMap};

use bytes::Bytes;
use scanner_core::{
    Attachment, Audience, Date, Facts, Input, Kind, Policy, Reason, Resource, Review, RuleSet, Scanner, SettingsError,
    Verdict, human, manifest, packet, sarif, sniff_human, sniff_json, sniff_tsv, text_line, verdict_json_with,
};

use crate::{
    job::{Answer, Counts, Death, Job, Kept, Released, ScanFormat, ScanJob, SniffFormat, SniffJob, TextJob},
    setup::{Setup, SetupError},
};

/// Rules and policies, read and ready.
#[derive(Debug)]
pub struct Bench {
    scanner: Scanner,
    policies: Vec<(String, Policy)>,
    /// Those that ship, read when they are first asked for: reading one takes longer than many a scan.
    built_in: Vec<(&'static str, OnceCell<Policy>)>,
}

/// The built-in rules and those of the operator.
pub(crate) fn rule_set(extra: &[(String, String)]) -> Result<RuleSet, SettingsError> {
    let extra: Vec<(&str, &str)> = extra.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    RuleSet::built_in(scanner_rules::FILES)?.with(&extra)
}

pub(crate) fn read_policy(name: &str, text: &str) -> Result<Policy, SettingsError> {
    Policy::parse(name, text, &|name| built_in_policy(name).map(Cow::Borrowed))
}

/// The text of a policy that ships with the scanner.
pub(crate) fn built_in_policy(name: &str) -> Option<&'static str> {
    scanner_rules::POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The audiences of these names, if the policy knows them all.
fn audiences(policy: &Policy, names: &[String]) -> Result<Vec<Audience>, Box<Answer>> {
    names
        .iter()
        .map(|name| policy.audience(name).map_err(|unknown| Answer::boxed("unknown_audience", unknown.to_string())))
        .collect()
}

impl Bench {
    /// Reads rules and policies.
    ///
    /// # Errors
    /// The first mistake of the operator's files, with line and column.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        let policies = setup
            .policies
            .iter()
            .map(|policy| Ok((policy.name.clone(), read_policy(&policy.name, &policy.text)?)))
            .collect::<Result<_, SettingsError>>()?;
        let built_in = scanner_rules::POLICIES.iter().map(|(name, _)| (*name, OnceCell::new())).collect();
        let scanner = Scanner::new(rule_set(&setup.rules)?, setup.limits).bound_by(setup.binding.clone());
        Ok(Self { scanner, policies, built_in })
    }

    /// CPU seconds that one job may use.
    pub(crate) fn cpu_seconds(&self) -> u64 {
        self.scanner.limits().get(Resource::Cpu)
    }

    pub(crate) fn run(&self, job: &Job) -> Answer {
        let answer = match job {
            Job::Scan(job) => self.scan(job),
            Job::Sniff(job) => Ok(sniff(job)),
            Job::Text(job) => self.texts(job, None),
        };
        answer.unwrap_or_else(|refused| *refused)
    }

    fn policy(&self, name: &str) -> Result<&Policy, Box<Answer>> {
        if let Some((_, policy)) = self.policies.iter().find(|(known, _)| known == name) {
            return Ok(policy);
        }
        let known = self.built_in.iter().find(|(known, _)| *known == name);
        let (Some((_, read)), Some(text)) = (known, built_in_policy(name)) else {
            return Err(Answer::boxed("unknown_policy", format!("there is no policy \"{name}\"")));
        };
        if let Some(policy) = read.get() {
            return Ok(policy);
        }
        let policy = read_policy(name, text).map_err(|error| Answer::boxed("bad_policy", error.to_string()))?;
        Ok(read.get_or_init(|| policy))
    }

    /// Scans and decides. With a death in the job nothing is parsed.
    fn scan(&self, job: &ScanJob) -> Result<Answer, Box<Answer>> {
        let policy = self.policy(&job.policy)?;
        let audiences = audiences(policy, &job.audiences)?;
        let mut input = Input::auto(job.bytes.clone());
        input.kind = Kind::named(&job.kind);
        input.name.clone_from(&job.name);
        input.declared.clone_from(&job.declared);
        input.attachments = job
            .attachments
            .iter()
            .map(|attached| Attachment { reference: attached.reference.clone(), bytes: attached.bytes.clone() })
            .collect();
        input.watch.clone_from(&job.watch);
        input.context.clone_from(&job.context);
        input.facts = facts(job.death.as_ref());
        input.facts.reviews = reviews(&job.reviews)?;
        let report = self.scanner.scan(input);
        let now = today(job.now.as_deref());
        let verdict = report.decide(policy, &audiences, now);
        let receipt = verdict.receipt();
        Ok(Answer {
            decision: Some(verdict.decision()),
            complete: report.is_complete(),
            refusal: report.refusal.as_ref().map(|refusal| (refusal.code.to_owned(), refusal.message.clone())),
            wants: report
                .references
                .iter()
                .filter(|(reference, artifact)| reference.kind == "file" && artifact.is_none())
                .map(|(reference, _)| reference.id.clone())
                .collect(),
            output: match job.format {
                ScanFormat::Json => verdict_json_with(&verdict, &receipt),
                ScanFormat::Human { color } => human(&verdict, color),
                ScanFormat::Sarif => sarif(&verdict),
                ScanFormat::Packet => packet(&verdict, &report.if_approved(policy, &audiences, now), &receipt),
            },
            receipt: receipt.as_str().to_owned(),
            counts: counts(&verdict),
            releases: releases(&verdict, &audiences, &job.release),
        })
    }

    /// One answer for each line that is not blank. With a death nothing is parsed.
    pub(crate) fn texts(&self, job: &TextJob, death: Option<&Death>) -> Result<Answer, Box<Answer>> {
        let policy = self.policy(&job.policy)?;
        let audiences = audiences(policy, &job.audiences)?;
        let now = today(job.now.as_deref());
        let mut answer = Answer { complete: true, ..Answer::default() };
        for (number, line) in (job.first..).zip(lines(&job.lines)) {
            if let Some(line) = text_line(&self.scanner, policy, &audiences, now, (number, &line), facts(death)) {
                answer.decision = answer.decision.max(line.decision);
                answer.complete &= line.complete;
                answer.output.push_str(&line.json);
                answer.output.push('\n');
            }
        }
        Ok(answer)
    }
}

/// What may leave for the audiences whose release is wanted.
fn releases(verdict: &Verdict, audiences: &[Audience], wanted: &[String]) -> Vec<Released> {
    let wanted = audiences.iter().filter(|audience| wanted.iter().any(|name| name == audience.name()));
    wanted
        .filter_map(|audience| {
            let manifest = manifest(verdict, audience)?;
            Some(Released {
                audience: audience.name().to_owned(),
                manifest: manifest.json,
                whole: manifest.whole.map(Kept::of),
                files: manifest.files.into_iter().map(Kept::of).collect(),
            })
        })
        .collect()
}

fn counts(verdict: &Verdict) -> Counts {
    let report = verdict.report();
    let mut findings = BTreeMap::<(&str, &str), u64>::new();
    for finding in &report.findings {
        *findings.entry((&finding.rule.category, finding.severity.name())).or_default() += 1;
    }
    let mut gaps = BTreeMap::<String, u64>::new();
    for gap in &report.gaps {
        *gaps.entry(gap.reason.to_string()).or_default() += 1;
    }
    let would_be = verdict.audiences().iter().filter_map(|audience| audience.would_be).max();
    Counts {
        provider: report.source.provider.map(str::to_owned),
        would_be: would_be.map(|decision| decision.name().to_owned()),
        findings: findings
            .into_iter()
            .map(|((category, severity), count)| (category.to_owned(), severity.to_owned(), count))
            .collect(),
        gaps: gaps.into_iter().collect(),
    }
}

fn today(date: Option<&str>) -> Option<Date> {
    date?.parse().ok()
}

fn facts(death: Option<&Death>) -> Facts {
    death.map_or_else(Facts::default, |death| {
        Facts::of_death(Reason::named(&death.reason).unwrap_or(Reason::WorkerDied), death.detail.clone())
    })
}

/// Reviews as the front read them.
fn reviews(given: &[(String, String)]) -> Result<Vec<Review>, Box<Answer>> {
    let read = |(key, json): &(String, String)| Review::from_json(&serde_json::from_str(json).ok()?, key);
    let reviews: Option<_> = given.iter().map(read).collect();
    reviews.ok_or_else(|| Answer::boxed("bad_review", "a review is not whole"))
}

fn sniff(job: &SniffJob) -> Answer {
    let row = match job.format {
        SniffFormat::Human => sniff_human,
        SniffFormat::Tsv => sniff_tsv,
        SniffFormat::Json => sniff_json,
    };
    Answer { complete: true, output: row(&job.name, &job.bytes), ..Answer::default() }
}

/// Lines with their ends, as counted slices.
pub(crate) fn lines(bytes: &Bytes) -> impl Iterator<Item = Bytes> {
    let mut rest = bytes.clone();
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |newline| newline + 1);
        (end > 0).then(|| rest.split_to(end))
    })
}
