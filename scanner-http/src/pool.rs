//! Threads that wait on workers, and places for what waits for a thread. When all are taken the answer is "not now".

use std::{
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use scanner_worker::{Answer, Death, Engine, Isolation, Kit, PoolSize, ScanJob};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
};

use crate::{
    clamav::{self, ClamAv},
    config,
    error::{ApiError, Code},
};

/// Workers, threads that wait on them, and a queue before those; all bounded.
#[derive(Debug)]
pub struct Pool {
    tasks: Sender<Task>,
    places: Arc<Semaphore>,
    shared: Arc<Shared>,
}

/// What all threads share.
#[derive(Debug)]
struct Shared {
    workers: scanner_worker::Pool,
    clamav: Option<ClamAv>,
    wait: Duration,
    waiting: AtomicUsize,
    running: AtomicUsize,
}

/// A right to be scanned: held until the answer is made.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

/// An input, and the files of it that other engines are shown.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) job: ScanJob,
    pub(crate) files: Vec<Bytes>,
}

type Make = Box<dyn FnOnce() -> Result<Work, ApiError> + Send>;
type Outcome = Result<Answer, Failure>;

struct Task {
    tenant: String,
    make: Make,
    answer: oneshot::Sender<Outcome>,
    since: Instant,
    place: Place,
    /// Where engines are waited for.
    runtime: Handle,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("since", &self.since).finish_non_exhaustive()
    }
}

/// Why a task had no answer.
#[derive(Debug)]
enum Failure {
    /// It waited too long.
    Late,
    /// There is nothing to scan.
    Refused(ApiError),
    /// A bug in this process.
    Panicked,
}

fn overloaded() -> ApiError {
    ApiError::new(Code::Overloaded, "as many scans as fit are under way: nothing was scanned, try again")
}

impl Pool {
    /// Starts the threads, and the workers.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(kit: Kit, workers: &config::Workers, clamav: &config::ClamAv) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let size = PoolSize { workers: workers.count, spare: workers.spare, jobs: workers.jobs };
        let shared = Arc::new(Shared {
            workers: scanner_worker::Pool::start(kit, size)?,
            clamav: ClamAv::of(clamav),
            wait: workers.wait.0,
            waiting: 0.into(),
            running: 0.into(),
        });
        for number in 0..workers.count {
            let (receiver, shared) = (receiver.clone(), shared.clone());
            // It ends with the pool, when there is nobody left to send tasks.
            thread::Builder::new().name(format!("scan-{number}")).spawn(move || run(&receiver, &shared))?;
        }
        let places = Arc::new(Semaphore::new(workers.count.saturating_add(workers.queue)));
        Ok(Self { tasks: sender, places, shared })
    }

    /// A place, if one is free.
    pub(crate) fn place(&self) -> Result<Place, ApiError> {
        self.places.clone().try_acquire_owned().map(|_permit| Place { _permit }).map_err(|_| overloaded())
    }

    /// Whether a place is free now. It may be gone when it is asked for.
    pub(crate) fn has_place(&self) -> bool {
        self.places.available_permits() > 0
    }

    /// Scans what `make` makes, for that tenant; `make` runs on the thread that waits for the worker and may block.
    pub(crate) async fn scan(
        &self,
        place: Place,
        tenant: &str,
        make: impl FnOnce() -> Result<Work, ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        let (answer, outcome) = oneshot::channel();
        let task = Task {
            tenant: tenant.to_owned(),
            make: Box::new(make),
            answer,
            since: Instant::now(),
            place,
            runtime: Handle::current(),
        };
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        if self.tasks.send(task).is_err() {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(ApiError::internal("every pool thread has ended"));
        }
        match outcome.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Failure::Late)) => Err(overloaded().inside("waited too long in the queue")),
            Ok(Err(Failure::Refused(error))) => Err(error),
            Ok(Err(Failure::Panicked)) | Err(_) => Err(ApiError::internal("a pool thread panicked")),
        }
    }

    /// Works with another kit from the next scan on.
    pub(crate) fn change(&self, kit: Kit) {
        self.shared.workers.change(kit);
    }

    /// Whether workers start, and answer.
    pub fn is_ready(&self) -> bool {
        matches!(self.isolation(), Some(Ok(_))) && self.shared.workers.workers() > 0
    }

    /// What holds the workers, or why there are none; `None` before the first has started.
    pub fn isolation(&self) -> Option<Result<Isolation, Death>> {
        self.shared.workers.isolation()
    }

    /// The engines beside our own scan.
    pub(crate) fn engines(&self) -> Vec<&'static str> {
        self.shared.clamav.iter().map(|_| clamav::NAME).collect()
    }

    /// Workers, tasks waiting, tasks running.
    pub(crate) fn numbers(&self) -> (usize, usize, usize) {
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (self.shared.workers.workers(), of(&self.shared.waiting), of(&self.shared.running))
    }
}

/// A panic elsewhere does not make the value wrong: each is changed in one step.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(tasks: &Mutex<Receiver<Task>>, shared: &Arc<Shared>) {
    loop {
        let task = lock(tasks).recv();
        let Ok(Task { tenant, make, answer, since, place, runtime }) = task else { return };
        shared.waiting.fetch_sub(1, Ordering::Relaxed);
        // Nobody waits for it any more.
        if answer.is_closed() {
            continue;
        }
        if since.elapsed() > shared.wait {
            drop(place);
            let _ = answer.send(Err(Failure::Late));
            continue;
        }
        shared.running.fetch_add(1, Ordering::Relaxed);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Work { job, files } = make().map_err(Failure::Refused)?;
            Ok(scan(shared, &tenant, job, files, &runtime))
        }));
        shared.running.fetch_sub(1, Ordering::Relaxed);
        // First the place, then the answer: who has it may ask again at once.
        drop(place);
        let _ = answer.send(outcome.unwrap_or(Err(Failure::Panicked)));
    }
}

/// Scans here and, meanwhile, there.
fn scan(shared: &Arc<Shared>, tenant: &str, job: ScanJob, files: Vec<Bytes>, runtime: &Handle) -> Answer {
    let asked = shared.clamav.is_some().then(|| {
        let shared = shared.clone();
        runtime.spawn(async move {
            match &shared.clamav {
                Some(clamav) => vec![clamav.look(files).await],
                None => Vec::new(),
            }
        })
    });
    let engines = asked.map(|asked| {
        move || {
            runtime.block_on(asked).unwrap_or_else(|_| {
                let answer = "unavailable: something is broken in the service".to_owned();
                vec![Engine { name: clamav::NAME.to_owned(), answer, ..Engine::default() }]
            })
        }
    });
    shared.workers.scan(tenant, job, engines)
}
