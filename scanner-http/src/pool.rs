//! Workers on threads of their own, and places for what waits. When all are taken the answer is "not now".

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

use scanner_worker::{Answer, ScanJob, Setup, Worker};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{
    config,
    error::{ApiError, Code},
};

/// Some workers and a queue before them, both bounded.
#[derive(Debug)]
pub struct Pool {
    tasks: Sender<Task>,
    places: Arc<Semaphore>,
    counts: Arc<Counts>,
    workers: usize,
}

/// How the pool is doing.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Workers that have answered at least once.
    ready: AtomicUsize,
    waiting: AtomicUsize,
    running: AtomicUsize,
}

/// A right to be scanned: held until the answer is made.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

type Make = Box<dyn FnOnce() -> Result<ScanJob, ApiError> + Send>;
type Outcome = Result<Answer, Failure>;

struct Task {
    make: Make,
    answer: oneshot::Sender<Outcome>,
    since: Instant,
    place: Place,
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
    /// Starts the threads, and on each a worker.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(setup: &Setup, settings: &config::Workers) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let counts = Arc::new(Counts::default());
        let wait = settings.wait.0;
        for number in 0..settings.count {
            let (receiver, counts, worker) = (receiver.clone(), counts.clone(), Worker::new(setup.clone()));
            // It ends with the pool, when there is nobody left to send tasks.
            thread::Builder::new()
                .name(format!("worker-{number}"))
                .spawn(move || run(worker, &receiver, &counts, wait))?;
        }
        Ok(Self {
            tasks: sender,
            places: Arc::new(Semaphore::new(settings.count.saturating_add(settings.queue))),
            counts,
            workers: settings.count,
        })
    }

    /// A place, if one is free.
    pub(crate) fn place(&self) -> Result<Place, ApiError> {
        self.places.clone().try_acquire_owned().map(|_permit| Place { _permit }).map_err(|_| overloaded())
    }

    /// Whether a place is free now. It may be gone when it is asked for.
    pub(crate) fn has_place(&self) -> bool {
        self.places.available_permits() > 0
    }

    /// Scans what `make` makes; that runs on the worker's thread and may block.
    pub(crate) async fn scan(
        &self,
        place: Place,
        make: impl FnOnce() -> Result<ScanJob, ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        let (answer, outcome) = oneshot::channel();
        let task = Task { make: Box::new(make), answer, since: Instant::now(), place };
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        if self.tasks.send(task).is_err() {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(ApiError::internal("every pool thread has ended"));
        }
        match outcome.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Failure::Late)) => Err(overloaded().inside("waited too long in the queue")),
            Ok(Err(Failure::Refused(error))) => Err(error),
            Ok(Err(Failure::Panicked)) | Err(_) => Err(ApiError::internal("a pool thread panicked")),
        }
    }

    /// Whether some worker has answered.
    pub fn is_ready(&self) -> bool {
        self.counts.ready.load(Ordering::Relaxed) > 0
    }

    /// Workers, tasks waiting, tasks running.
    pub(crate) fn numbers(&self) -> (usize, usize, usize) {
        (self.workers, self.counts.waiting.load(Ordering::Relaxed), self.counts.running.load(Ordering::Relaxed))
    }
}

/// A panic elsewhere does not make the value wrong: each is changed in one step.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(mut worker: Worker, tasks: &Mutex<Receiver<Task>>, counts: &Counts, wait: Duration) {
    // The first job pays for the start of the process and for reading the rules: it shall not be a caller's.
    let first = worker.scan(ScanJob::new(&b"ready"[..]));
    let mut ready = first.complete && first.refusal.is_none();
    if ready {
        counts.ready.fetch_add(1, Ordering::Relaxed);
    } else {
        let why = first.refusal.map_or(first.output, |(_, message)| message);
        tracing::error!(why, "a worker does not answer");
    }
    loop {
        let task = lock(tasks).recv();
        let Ok(Task { make, answer, since, place }) = task else { return };
        counts.waiting.fetch_sub(1, Ordering::Relaxed);
        // Nobody waits for it any more.
        if answer.is_closed() {
            continue;
        }
        if since.elapsed() > wait {
            drop(place);
            let _ = answer.send(Err(Failure::Late));
            continue;
        }
        counts.running.fetch_add(1, Ordering::Relaxed);
        let outcome = catch_unwind(AssertUnwindSafe(|| Ok(worker.scan(make().map_err(Failure::Refused)?))));
        counts.running.fetch_sub(1, Ordering::Relaxed);
        if !ready && outcome.as_ref().is_ok_and(|outcome| outcome.as_ref().is_ok_and(|answer| answer.complete)) {
            ready = true;
            counts.ready.fetch_add(1, Ordering::Relaxed);
        }
        // First the place, then the answer: who has it may ask again at once.
        drop(place);
        let _ = answer.send(outcome.unwrap_or(Err(Failure::Panicked)));
    }
}
