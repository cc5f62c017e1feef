//! What all workers of a front share.

use std::sync::{Arc, OnceLock};

use scanner_core::{Picture, RuleSet};

use crate::{
    answer::Answer,
    bench::Bench,
    job::Job,
    setup::{Setup, SetupError},
    shown::Said,
};

/// A setup, and the bench made of it in the front's own process: for deaths, which parse nothing, and for
/// `--no-isolation`. A counted hold: all workers share one.
#[derive(Clone, Debug)]
pub struct Kit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    setup: Setup,
    /// Made when it is first needed, or by [`Kit::rules`].
    bench: OnceLock<Result<Bench, SetupError>>,
}

impl Kit {
    /// A kit from that setup. Nothing is read yet.
    pub fn new(setup: Setup) -> Self {
        Self(Arc::new(Inner { setup, bench: OnceLock::new() }))
    }

    /// Reads rules and policies, if that was not done yet: the first death does not wait for it then. The rules.
    ///
    /// # Errors
    /// The first mistake of the operator's files, with line and column.
    pub fn rules(&self) -> Result<RuleSet, SetupError> {
        self.bench().map(Bench::rules).map_err(Clone::clone)
    }

    /// What it is made from.
    pub fn setup(&self) -> &Setup {
        &self.0.setup
    }

    /// Whether both are holds on the same kit.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn bench(&self) -> Result<&Bench, &SetupError> {
        self.0.bench.get_or_init(|| Bench::new(&self.0.setup)).as_ref()
    }

    /// Does the work in this process.
    pub(crate) fn run(&self, job: &Job, engines: impl FnOnce(&[Picture]) -> Said) -> Answer {
        match self.bench() {
            Ok(bench) => bench.run(job, engines),
            Err(error) => Answer::refused("bad_setup", error.to_string()),
        }
    }
}
