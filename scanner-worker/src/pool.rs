//! Workers that are started before they are needed. One serves one tenant until it is thrown away, so that what an
//! input did to it can reach nobody else's.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use scanner_core::sha256_hex;

use crate::{
    answer::Answer,
    confine::Isolation,
    deaths::{Deaths, Key},
    front::Worker,
    job::{Death, Engine, ScanJob},
    kit::Kit,
};

/// How often idle workers are looked after. A pool is whole again within a second.
const ROUND: Duration = Duration::from_millis(200);
/// How long to wait after a worker that did not start.
const BREATH: Duration = Duration::from_millis(500);

/// How many workers, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct PoolSize {
    /// Jobs that are done at once.
    pub workers: usize,
    /// Fresh workers beside those, for the tenant that comes next and in place of one that dies.
    pub spare: usize,
    /// Jobs of one worker; then it is thrown away, and with it whatever they left in it.
    pub jobs: u32,
}

/// A pool of workers. Calls block until there is an answer; whatever happens to a worker, there is one.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something has changed that the keeper should look at.
    changed: Condvar,
    size: PoolSize,
}

#[derive(Debug)]
struct State {
    kit: Kit,
    /// Least recently used first.
    idle: Vec<Member>,
    /// Workers at work.
    out: usize,
    deaths: Deaths,
    last_start: Option<Result<Isolation, Death>>,
    closed: bool,
}

/// What a pool is short of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lack {
    Nothing,
    /// There is room for one more.
    Worker,
    /// There is no room, and no worker for the tenant that comes next.
    Fresh,
}

#[derive(Debug)]
struct Member {
    worker: Worker,
    /// Whose inputs it has seen.
    tenant: Option<String>,
    jobs: u32,
}

impl Member {
    /// Starts a worker and lets it do one job, so that the first of a caller finds everything in place.
    fn start(kit: Kit) -> (Self, Result<Isolation, Death>) {
        let mut worker = Worker::of(kit);
        let started = worker.start().and_then(|isolation| {
            let warm = worker.scan(ScanJob::new(&b"ready"[..]));
            match (warm.death, warm.refusal) {
                (None, None) => Ok(isolation),
                (Some(death), _) => Err(death),
                (None, Some((reason, detail))) => Err(Death { reason, detail }),
            }
        });
        (Self { worker, tenant: None, jobs: 0 }, started)
    }
}

impl State {
    fn fresh(&self) -> usize {
        self.idle.iter().filter(|member| member.tenant.is_none()).count()
    }

    /// Whether the keeper has something to start: there is room, or none is fresh and one that serves a tenant can make
    /// room. Each call of the keeper is a thread that wakes, so it is called for this alone; what dies while it is idle
    /// is found by its rounds.
    fn lacks(&self, size: PoolSize) -> Lack {
        if self.idle.len().saturating_add(self.out) < size.workers.saturating_add(size.spare) {
            Lack::Worker
        } else if self.fresh() == 0 && size.spare > 0 && !self.idle.is_empty() {
            Lack::Fresh
        } else {
            Lack::Nothing
        }
    }

    /// Takes the idle workers out that are to be thrown away: those that died, and those of another kit.
    fn spoilt(&mut self) -> Vec<Member> {
        let kit = self.kit.clone();
        let is_good = |member: &Member| member.worker.kit().is(&kit) && member.worker.is_alive();
        self.idle.extract_if(.., |member| !is_good(member)).collect()
    }

    /// The idle worker for that tenant: its own, or a fresh one.
    fn take(&mut self, tenant: &str) -> Option<Member> {
        let own = self.idle.iter().rposition(|member| member.tenant.as_deref() == Some(tenant));
        let at = own.or_else(|| self.idle.iter().position(|member| member.tenant.is_none()))?;
        Some(self.idle.remove(at))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere does not make the value wrong: each is changed in one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call_keeper(&self, lack: Lack) {
        if lack != Lack::Nothing {
            self.changed.notify_one();
        }
    }
}

impl Pool {
    /// Starts the workers, in a thread of its own.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(kit: Kit, size: PoolSize) -> std::io::Result<Self> {
        let state = State { kit, idle: Vec::new(), out: 0, deaths: Deaths::default(), last_start: None, closed: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), size });
        let kept = shared.clone();
        thread::Builder::new().name("worker-keeper".to_owned()).spawn(move || keep(&kept))?;
        Ok(Self { shared })
    }

    /// Works with another kit from now on. Scans under way end with the old one; each verdict is of one alone.
    pub fn change(&self, kit: Kit) {
        let mut state = self.shared.state();
        state.kit = kit;
        state.deaths.clear();
        drop(state);
        self.shared.changed.notify_one();
    }

    /// What holds the worker that was started last, or why it did not start; `None` before the first.
    pub fn isolation(&self) -> Option<Result<Isolation, Death>> {
        self.shared.state().last_start.clone()
    }

    /// Workers there are, idle or at work.
    pub fn workers(&self) -> usize {
        let state = self.shared.state();
        state.idle.len().saturating_add(state.out)
    }

    /// Scans and decides, for that tenant, beside engines where there are any.
    pub fn scan<E: FnOnce() -> Vec<Engine>>(&self, tenant: &str, job: ScanJob, engines: Option<E>) -> Answer {
        // Digests cost time: nobody is looked for while nobody has died.
        let any = !self.shared.state().deaths.is_empty();
        let key = any.then(|| key(tenant, &job));
        let mut state = self.shared.state();
        if let Some(death) = key.as_ref().and_then(|key| state.deaths.of(key, Instant::now())) {
            let kit = state.kit.clone();
            drop(state);
            return Worker::of(kit).scan(ScanJob { death: Some(death), ..job });
        }
        let spoilt = state.spoilt();
        let member = state.take(tenant);
        let kit = state.kit.clone();
        // Room for one more is made by the tenant that came longest ago.
        let full = member.is_none() && state.lacks(self.shared.size) != Lack::Worker;
        let given_up = (full && !state.idle.is_empty()).then(|| state.idle.remove(0));
        state.out = state.out.saturating_add(1);
        let lack = state.lacks(self.shared.size);
        drop(state);
        self.shared.call_keeper(lack);
        drop((spoilt, given_up));
        let mut back = Back { shared: &self.shared, member: None };
        let member =
            back.member.insert(member.unwrap_or_else(|| Member { worker: Worker::of(kit), tenant: None, jobs: 0 }));
        member.tenant = Some(tenant.to_owned());
        member.jobs = member.jobs.saturating_add(1);
        let again = job.clone();
        let answer = match engines {
            Some(engines) => member.worker.scan_beside(job, engines),
            None => member.worker.scan(job),
        };
        match (&answer.death, key) {
            (Some(death), key) => {
                let key = key.unwrap_or_else(|| self::key(tenant, &again));
                self.shared.state().deaths.add(key, death.clone(), Instant::now());
            }
            (None, Some(key)) => self.shared.state().deaths.forget(&key),
            (None, None) => {}
        }
        answer
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.closed = true;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        self.shared.changed.notify_one();
        drop(idle);
    }
}

/// Brings a worker back, whatever became of the scan.
struct Back<'a> {
    shared: &'a Shared,
    member: Option<Member>,
}

impl Drop for Back<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.out = state.out.saturating_sub(1);
        let stays = |member: &Member| {
            member.jobs < self.shared.size.jobs && member.worker.is_alive() && member.worker.kit().is(&state.kit)
        };
        let member = self.member.take();
        let (kept, gone) = match member {
            Some(member) if stays(&member) && !state.closed => (Some(member), None),
            member => (None, member),
        };
        state.idle.extend(kept);
        let lack = state.lacks(self.shared.size);
        drop(state);
        self.shared.call_keeper(lack);
        // It may take a moment to end: not while others wait for the pool.
        drop(gone);
    }
}

/// Which input it was, to this tenant.
fn key(tenant: &str, job: &ScanJob) -> Key {
    let attached = job.attachments.iter().map(|attached| sha256_hex(&attached.bytes));
    let parts: Vec<String> = std::iter::once(sha256_hex(&job.bytes)).chain(attached).collect();
    (tenant.to_owned(), format!("{} {}", job.kind, parts.join(" ")))
}

/// Keeps the pool whole, until it is closed.
fn keep(shared: &Shared) {
    loop {
        let mut state = shared.state();
        if state.closed {
            return;
        }
        let spoilt = state.spoilt();
        let lack = state.lacks(shared.size);
        // One that serves a tenant makes room for a fresh one when there is none.
        let given_up = (lack == Lack::Fresh).then(|| state.idle.remove(0));
        let start = lack != Lack::Nothing;
        if !start && spoilt.is_empty() {
            drop(shared.changed.wait_timeout(state, ROUND));
            continue;
        }
        let kit = state.kit.clone();
        drop(state);
        drop((spoilt, given_up));
        if start {
            let (member, started) = Member::start(kit);
            let failed = started.is_err();
            let mut state = shared.state();
            state.last_start = Some(started);
            if !failed && !state.closed {
                state.idle.push(member);
            } else if failed && !state.closed {
                drop(shared.changed.wait_timeout(state, BREATH));
            }
        }
    }
}
