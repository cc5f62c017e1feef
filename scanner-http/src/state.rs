//! What all requests share.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use scanner_core::Limits;
use scanner_worker::{LETTERS_ENGINE, LetterReader, Worker};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    config::{Config, ConfigError},
    error::{ApiError, Code},
    journal::Journal,
    loaded::{Files, Loaded},
    metrics::Metrics,
    observe::Ids,
    pool::Pool,
};

/// What all requests share.
#[derive(Debug)]
pub struct State {
    pub(crate) config: Config,
    pub(crate) limits: Limits,
    /// Rules, policies and callers, as they are now. A request looks once.
    loaded: RwLock<Arc<Loaded>>,
    pub(crate) journal: Option<Journal>,
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
        let loaded = Loaded::read(&config, letters(&config)?)?;
        let wrong = |error: std::io::Error| ConfigError(error.to_string());
        if config.workers.strict {
            Worker::of(loaded.kit.clone()).start().map_err(|death| ConfigError(death.detail))?;
        }
        let journal =
            Journal::open(&config.journal).map_err(|error| ConfigError(format!("journal.folder: {error}")))?;
        let pool = Pool::start(loaded.kit.clone(), &config.workers, &config.clamav).map_err(wrong)?;
        Ok(Self {
            limits: config.limits(),
            loaded: RwLock::new(Arc::new(loaded)),
            journal,
            metrics: Metrics::default(),
            ids: Ids::default(),
            connections: Arc::default(),
            pool,
            uploads: Arc::new(Semaphore::new(config.body.uploads)),
            closing: AtomicBool::new(false),
            config,
        })
    }

    /// Rules, policies and callers, as they are now.
    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        // A panic elsewhere does not make the value wrong: it is exchanged whole.
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the operator's files again. Blocks. What is wrong with them, or different in what they say about things
    /// everybody agrees on, leaves everything as it was; otherwise scans that begin from now on go by the new ones.
    /// The digest of the rules in force, and whether anything has changed.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn reload(&self) -> Result<(String, bool), ConfigError> {
        let before = self.loaded();
        let letters = before.kit.setup().letters.clone();
        let read = Files::read(&self.config, letters).and_then(|files| {
            if files.are_as(&before) {
                return Ok(None);
            }
            let mut loaded = files.load()?;
            loaded.try_out()?;
            loaded.callers.keep_rates(&before.callers);
            Ok(Some(loaded))
        });
        self.metrics.reload(match &read {
            Ok(None) => "unchanged",
            Ok(Some(_)) => "changed",
            Err(_) => "refused",
        });
        let Some(loaded) = read? else { return Ok((before.rules.digest().to_owned(), false)) };
        let digest = loaded.rules.digest().to_owned();
        let kit = loaded.kit.clone();
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        self.pool.change(kit);
        Ok((digest, true))
    }

    /// Reads the operator's files, and nothing more.
    ///
    /// # Errors
    /// The first mistake in them.
    pub fn check(config: &Config) -> Result<(), ConfigError> {
        Loaded::read(config, letters(config)?)?.try_out()
    }

    /// The engines beside our own scan.
    pub(crate) fn engines(&self) -> Vec<&'static str> {
        let letters = self.loaded().kit.setup().letters.as_ref().map(|_| LETTERS_ENGINE);
        self.pool.engines().into_iter().chain(letters).collect()
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

/// Who reads letters, where the configuration names a program. It is asked once for its version.
fn letters(config: &Config) -> Result<Option<LetterReader>, ConfigError> {
    let settings = config.letters.settings(&config.workers);
    settings.map(LetterReader::new).transpose().map_err(|why| ConfigError(format!("letters.program: {why}")))
}
