//! `scanner rules`: what texts are read with, and what formats are checked for.

use std::io::{self, Write};

use scanner_core::{Rule, RuleSet, rules_in_code};

use crate::{Exit, Failure, args::RulesCommand, problem::Usage, scan};

pub(crate) fn run(command: &RulesCommand) -> Result<Exit, Failure> {
    let built_in = || RuleSet::built_in(scanner_rules::FILES).map_err(|error| Usage(error.to_string()));
    let mut out = io::stdout().lock();
    match command {
        RulesCommand::List => {
            let set = built_in()?;
            let mut rules: Vec<&Rule> = all(&set).collect();
            rules.sort_by(|a, b| a.id.cmp(&b.id));
            for rule in rules {
                writeln!(out, "{:<40} {:<9} {:<26} {}", rule.id, rule.severity.name(), rule.category, rule.title)?;
            }
        }
        RulesCommand::Show { id } => {
            let set = built_in()?;
            let rule = all(&set)
                .find(|rule| rule.id == *id)
                .ok_or_else(|| Usage(format!("there is no rule \"{id}\": scanner rules list names them all")))?;
            writeln!(out, "{}\n  {}\n", rule.id, rule.title)?;
            writeln!(out, "category    {}", rule.category)?;
            writeln!(out, "severity    {}", rule.severity.name())?;
            writeln!(out, "confidence  {}", rule.confidence.name())?;
            writeln!(out, "why         {}\nremedy      {}", rule.why, rule.remedy)?;
            if let Some(text) = set.rules().find(|text| text.rule.id == *id) {
                for example in &text.examples {
                    writeln!(out, "finds       {}", scanner_core::visible(example))?;
                }
                for example in &text.counterexamples {
                    writeln!(out, "passes      {}", scanner_core::visible(example))?;
                }
            }
        }
        RulesCommand::Test { files } => {
            let set = if files.is_empty() {
                built_in()?
            } else {
                let files = scan::rule_files(files)?;
                let files: Vec<(&str, &str)> =
                    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
                RuleSet::parse(&files).map_err(|error| Usage(error.to_string()))?
            };
            let failures = set.test();
            for failure in &failures {
                writeln!(out, "{}: {}: {}", failure.rule, failure.what, scanner_core::visible(&failure.text))?;
            }
            let count = set.rules().count();
            writeln!(out, "{count} rules, {} failures", failures.len())?;
            if !failures.is_empty() {
                return Ok(Exit::Found);
            }
        }
    }
    Ok(Exit::Good)
}

/// The rules of files and those that live in code.
fn all(set: &RuleSet) -> impl Iterator<Item = &Rule> {
    let coded: Vec<&Rule> = rules_in_code().collect();
    set.rules().map(|text| &*text.rule).chain(coded)
}
