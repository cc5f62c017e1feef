//! What a worker knows before its first job.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use scanner_core::{Binding, Limits, Resource, SettingsError};
use serde::{Deserialize, Serialize};

use crate::{
    bench::{read_policy, rule_set},
    letters::LetterReader,
};

/// A policy file and the name it goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPolicy {
    /// The name that jobs ask for: `default`, or the path of a file.
    pub name: String,
    /// The text of the file.
    pub text: String,
}

/// What a worker knows before its first job.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Limits of every scan, and of the process.
    pub limits: Limits,
    /// Rule files beside the built-in ones: name and text.
    pub rules: Vec<(String, String)>,
    /// The policies that jobs may ask for, beside the built-in ones.
    pub policies: Vec<NamedPolicy>,
    /// The key that receipts bind guessable content with. Unlike a key that signs, it is given to the worker.
    pub binding: Option<Binding>,
    /// The executable to start as a worker, if it is not the front's own. It must call [`serve`](fn@crate::serve) when its
    /// first argument is [`WORKER_ARGUMENT`](crate::WORKER_ARGUMENT).
    pub executable: Option<PathBuf>,
    /// How long a process may take from its start until it has read rules and policies. The wall clock of a job starts
    /// after that: a busy machine that starts processes slowly shall not cost an input its verdict.
    pub start: Duration,
    /// Who reads the letters of pictures, where the limit `letter_pixels` asks for that.
    pub letters: Option<LetterReader>,
    /// Whether nothing is scanned where the kernel lacks landlock or seccomp.
    pub strict: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            rules: Vec::new(),
            policies: Vec::new(),
            binding: None,
            executable: None,
            start: Duration::from_secs(30),
            letters: None,
            strict: false,
        }
    }
}

impl Setup {
    /// Whether rules and policies can be read; a front asks before its first job.
    ///
    /// # Errors
    /// The first mistake of the operator's files, with line and column.
    pub fn check(&self) -> Result<(), SetupError> {
        if !self.rules.is_empty() {
            rule_set(&self.rules)?;
        }
        for policy in &self.policies {
            read_policy(&policy.name, &policy.text)?;
        }
        Ok(())
    }

    pub(crate) fn to_head(&self) -> Vec<u8> {
        let head = SetupHead {
            limits: Resource::ALL
                .into_iter()
                .map(|resource| (resource.name().to_owned(), self.limits.get(resource)))
                .collect(),
            rules: self.rules.clone(),
            policies: self.policies.clone(),
            binding: self.binding.as_ref().map(|binding| binding.as_bytes().to_vec()),
        };
        // Strings and numbers only: this cannot fail.
        serde_json::to_vec(&head).unwrap_or_default()
    }
}

/// What the operator's files have wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError(SettingsError);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SetupError {}

impl From<SettingsError> for SetupError {
    fn from(error: SettingsError) -> Self {
        Self(error)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SetupHead {
    limits: BTreeMap<String, u64>,
    rules: Vec<(String, String)>,
    policies: Vec<NamedPolicy>,
    binding: Option<Vec<u8>>,
}

impl SetupHead {
    pub(crate) fn memory(&self) -> u64 {
        self.limits.get(Resource::Memory.name()).copied().unwrap_or(0)
    }

    pub(crate) fn into_setup(self) -> Setup {
        let limits = Resource::ALL.into_iter().fold(Limits::NOTHING, |limits, resource| {
            limits.with(resource, self.limits.get(resource.name()).copied().unwrap_or(0))
        });
        let binding = self.binding.and_then(Binding::new);
        Setup { limits, rules: self.rules, policies: self.policies, binding, ..Setup::default() }
    }
}
