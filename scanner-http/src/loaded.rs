//! Rules, policies and callers: read from the operator's files at the start, and again whenever those change.

use std::path::{Path, PathBuf};

use scanner_core::{Decision, RuleSet};
use scanner_worker::{Kit, LetterReader, ScanJob, Setup, Worker};

use crate::{
    auth::Callers,
    config::{Config, ConfigError},
    policies::Policies,
};

/// What the operator's files come to.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) policies: Policies,
    pub(crate) callers: Callers,
    pub(crate) rules: RuleSet,
    /// The same, for the workers.
    pub(crate) kit: Kit,
}

/// The same before rules are compiled, which takes a thousand times longer than reading them.
pub(crate) struct Files {
    policies: Policies,
    callers: Callers,
    setup: Setup,
}

/// Inputs about which everybody agrees: a rule that finds something in the first, or a policy under which the second
/// passes, is a mistake, whatever it was meant for.
const HARMLESS: &[&[u8]] = &[b"", b"3 rows\n", b"x,y\n1,2\n"];
const HARMFUL: &[&[u8]] = &[b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"];

impl Files {
    pub(crate) fn read(config: &Config, letters: Option<LetterReader>) -> Result<Self, ConfigError> {
        let policies = Policies::read(&config.policies)?;
        let callers = Callers::new(config, &policies)?;
        let setup = Setup {
            limits: config.limits(),
            rules: rule_files(&config.rules)?,
            policies: policies.own.clone(),
            executable: config.workers.executable.clone(),
            letters,
            strict: config.workers.strict,
            ..Setup::default()
        };
        Ok(Self { policies, callers, setup })
    }

    /// Whether those were read from the same texts.
    pub(crate) fn are_as(&self, other: &Loaded) -> bool {
        let (ours, theirs) = (&self.setup, other.kit.setup());
        ours.rules == theirs.rules && ours.policies == theirs.policies
    }

    pub(crate) fn load(self) -> Result<Loaded, ConfigError> {
        let Self { policies, callers, setup } = self;
        let kit = Kit::new(setup);
        let rules = kit.rules().map_err(|error| ConfigError(error.to_string()))?;
        Ok(Loaded { policies, callers, rules, kit })
    }
}

impl Loaded {
    pub(crate) fn read(config: &Config, letters: Option<LetterReader>) -> Result<Self, ConfigError> {
        Files::read(config, letters)?.load()
    }

    /// Lets a worker judge, by the default policy, what everybody agrees about. Blocks.
    ///
    /// # Errors
    /// What it says otherwise.
    pub(crate) fn try_out(&self) -> Result<(), ConfigError> {
        let mut worker = Worker::of(self.kit.clone());
        for (inputs, harmless) in [(HARMLESS, true), (HARMFUL, false)] {
            for input in inputs {
                let mut job = ScanJob::new(*input);
                job.kind = "file".to_owned();
                job.audiences = vec!["page".to_owned(), "model".to_owned()];
                let answer = worker.scan(job);
                if let Some(death) = answer.death {
                    return Err(ConfigError(format!("with these rules no worker can be used: {}", death.detail)));
                }
                if (answer.decision == Some(Decision::Allow)) != harmless {
                    let said = answer.decision.map_or("nothing", Decision::name);
                    let what = if harmless { "a harmless text" } else { "the EICAR test file" };
                    return Err(ConfigError(format!("with these rules the decision on {what} is {said}")));
                }
            }
        }
        Ok(())
    }
}

/// The rule files, and those of folders, by name.
fn rule_files(paths: &[PathBuf]) -> Result<Vec<(String, String)>, ConfigError> {
    let mut files = Vec::new();
    for path in paths {
        let wrong =
            |error: std::io::Error| ConfigError(format!("{}: {error}", scanner_core::visible(&path.to_string_lossy())));
        let mut below = vec![path.clone()];
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(wrong)?;
            below = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(wrong)?;
            below.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
            below.sort();
        }
        for file in below {
            files.push((file.to_string_lossy().into_owned(), read(&file)?));
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map_err(|error| ConfigError(format!("{}: {error}", scanner_core::visible(&path.to_string_lossy()))))
}
