//! `scanner policy`: print, check, and try a policy on verdicts that are already there.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::Path,
};

use scanner_core::{Audience, Because, Case, Cause, Date, Decision, Policy, visible};
use serde_json::Value;

use crate::{Exit, Failure, args::PolicyCommand, inputs, problem::Usage, scan};

/// The text of a policy that ships with the scanner.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    scanner_rules::POLICIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn read(name_or_path: &str) -> Result<Policy, Usage> {
    let text = match built_in(name_or_path) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(inputs::read_text(Path::new(name_or_path)).map_err(|problem| Usage(problem.to_string()))?),
    };
    Policy::parse(name_or_path, &text, &|name| built_in(name).map(Cow::Borrowed))
        .map_err(|error| Usage(error.to_string()))
}

pub(crate) fn run(command: &PolicyCommand) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    match command {
        PolicyCommand::Show { name } => {
            let names: Vec<&str> = scanner_rules::POLICIES.iter().map(|(name, _)| *name).collect();
            let text = built_in(name)
                .ok_or_else(|| Usage(format!("there is no policy \"{name}\", only {}", names.join(", "))))?;
            write!(out, "{text}")?;
            Ok(Exit::Good)
        }
        PolicyCommand::Check { file } => match read(&file.to_string_lossy()) {
            Ok(policy) => {
                let audiences: Vec<&str> = policy.audiences().map(|(audience, _)| audience.name()).collect();
                writeln!(out, "{}: good, for {}", visible(policy.name()), visible(&audiences.join(", ")))?;
                writeln!(out, "digest {}", policy.digest())?;
                Ok(Exit::Good)
            }
            Err(mistake) => {
                writeln!(out, "{mistake}")?;
                Ok(Exit::Unreadable)
            }
        },
        PolicyCommand::Try { file, verdicts } => {
            let policy = read(&file.to_string_lossy())?;
            let now = scan::today();
            let mut tried = Tried::default();
            for path in verdicts {
                let lines = BufReader::new(File::open(path)?).lines();
                for (number, line) in (1_u64..).zip(lines) {
                    let line = line?;
                    if line.trim().is_empty() {
                        continue;
                    }
                    let place = format!("{}:{number}", visible(&path.to_string_lossy()));
                    tried.line(&policy, now, &place, &line, &mut out)?;
                }
            }
            writeln!(
                out,
                "{} verdicts, {} would change, {} could not be read",
                tried.verdicts, tried.changed, tried.unread
            )?;
            Ok(if tried.unread > 0 { Exit::Unreadable } else { Exit::Good })
        }
    }
}

/// A reason, in words: the clause and what it was about.
fn in_words(because: &Because) -> String {
    match &because.cause {
        Cause::Finding(id) => format!("{}: finding {id}", because.clause),
        Cause::Gap(id) => format!("{}: gap {id}", because.clause),
        _ => because.clause.clone(),
    }
}

/// What trying a policy came to.
#[derive(Default)]
struct Tried {
    verdicts: u64,
    changed: u64,
    unread: u64,
}

impl Tried {
    /// One verdict: a line for each audience whose decision would change.
    fn line(&mut self, policy: &Policy, now: Date, place: &str, line: &str, out: &mut impl Write) -> io::Result<()> {
        self.verdicts += 1;
        let case = serde_json::from_str::<Value>(line)
            .map_err(|error| error.to_string())
            .and_then(|verdict| Case::from_verdict_json(&verdict).map(|replayed| (verdict, replayed)));
        let (verdict, replayed) = match case {
            Ok(read) => read,
            Err(message) => {
                self.unread += 1;
                return writeln!(out, "{place}: {}", visible(&message));
            }
        };
        let name = verdict["source"]["name"].as_str().map_or_else(String::new, |name| format!(" {}", visible(name)));
        let mut changed = false;
        let before = verdict["audiences"].as_object().into_iter().flatten();
        for (audience, was) in before {
            let decided = policy.decide(&replayed.case, &[Audience::named(audience)], Some(now));
            // A policy that only reports says in `would_be` what it really thinks.
            let would = decided.audiences.first().map(|answer| answer.would_be.unwrap_or(answer.decision));
            let was = was["would_be"].as_str().or(was["decision"].as_str()).and_then(Decision::named);
            if let (Some(was), Some(would)) = (was, would)
                && was != would
            {
                changed = true;
                writeln!(out, "{place}{name}: {} {} -> {}", visible(audience), was.name(), would.name())?;
                for because in decided.audiences.iter().flat_map(|answer| &answer.because).take(3) {
                    writeln!(out, "    {}", visible(&in_words(because)))?;
                }
            }
        }
        if replayed.unlisted_findings > 0 {
            writeln!(
                out,
                "{place}{name}: {} findings are counted but not listed: not tried",
                replayed.unlisted_findings
            )?;
        }
        self.changed += u64::from(changed);
        Ok(())
    }
}
