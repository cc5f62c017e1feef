//! What all requests share.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use scanner_core::{Limits, RuleSet};
use scanner_worker::Setup;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    auth::Callers,
    config::{Config, ConfigError},
    error::{ApiError, Code},
    metrics::Metrics,
    observe::Ids,
    policies::Policies,
    pool::Pool,
};

/// What all requests share.
#[derive(Debug)]
pub struct State {
    pub(crate) config: Config,
    pub(crate) limits: Limits,
    pub(crate) rules: RuleSet,
    pub(crate) policies: Policies,
    pub(crate) callers: Callers,
    pub(crate) metrics: Metrics,
    pub(crate) ids: Ids,
    /// The workers.
    pub pool: Pool,
    uploads: Arc<Semaphore>,
    connections: Arc<AtomicUsize>,
    closing: AtomicBool,
}

impl State {
    /// Reads the operator's files and starts the workers.
    ///
    /// # Errors
    /// The first mistake in those files, or what keeps the workers from starting.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let Files { policies, callers, rules, setup } = Files::read(&config)?;
        let pool = Pool::start(&setup, &config.workers).map_err(|error| ConfigError(error.to_string()))?;
        Ok(Self {
            limits: setup.limits,
            rules,
            policies,
            callers,
            metrics: Metrics::default(),
            ids: Ids::default(),
            connections: Arc::default(),
            pool,
            uploads: Arc::new(Semaphore::new(config.body.uploads)),
            closing: AtomicBool::new(false),
            config,
        })
    }

    /// Reads the operator's files, and nothing more.
    ///
    /// # Errors
    /// The first mistake in them.
    pub fn check(config: &Config) -> Result<(), ConfigError> {
        Files::read(config).map(drop)
    }

    /// A right to send a body.
    pub(crate) fn upload(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let free = if self.pool.has_place() { self.uploads.clone().try_acquire_owned().ok() } else { None };
        free.ok_or_else(|| {
            ApiError::new(Code::Overloaded, "as many requests as fit are under way: nothing was scanned, try again")
        })
    }

    /// Bodies on their way in.
    pub(crate) fn uploads(&self) -> usize {
        self.config.body.uploads.saturating_sub(self.uploads.available_permits())
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Where servers count their connections.
    pub fn open_connections(&self) -> Arc<AtomicUsize> {
        self.connections.clone()
    }

    /// From now on `/readyz` says no.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Whether requests should be sent here.
    pub fn is_ready(&self) -> bool {
        !self.closing.load(Ordering::Relaxed) && self.pool.is_ready()
    }
}

/// What the operator's files come to.
struct Files {
    policies: Policies,
    callers: Callers,
    rules: RuleSet,
    setup: Setup,
}

impl Files {
    fn read(config: &Config) -> Result<Self, ConfigError> {
        let policies = Policies::read(&config.policies)?;
        let callers = Callers::new(config, &policies)?;
        let files = rule_files(&config.rules)?;
        let borrowed: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let rules = RuleSet::built_in(scanner_rules::FILES)
            .and_then(|rules| rules.with(&borrowed))
            .map_err(|error| ConfigError(error.to_string()))?;
        let setup = Setup {
            limits: config.limits(),
            rules: files,
            policies: policies.own.clone(),
            executable: config.workers.executable.clone(),
            ..Setup::default()
        };
        Ok(Self { policies, callers, rules, setup })
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
