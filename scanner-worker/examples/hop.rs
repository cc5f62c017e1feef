//! What the way to a worker and back costs: CPU time of a scan in this process, and of the same scan in a worker, of both
//! processes together. `hop FILE...` prints a line each, in microseconds: `FILE in-process N worker N hop N`.

use std::{fs, io, io::Write, time::Duration};

use rustix::time::{ClockId, clock_gettime};
use scanner_worker::{ScanJob, Setup, Worker};

/// Scans of each file, in rounds that take turns, so that a busy minute falls on both.
const ROUNDS: u32 = 20;
const EACH: u32 = 100;

/// CPU time of this process.
fn own() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}

/// CPU time of the processes that this one has started: schedstat counts nanoseconds.
fn workers() -> io::Result<Duration> {
    let mut sum = 0;
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        let stat = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        if parent == Some(std::process::id()) {
            let times = fs::read_to_string(path.join("schedstat"))?;
            sum += times.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or(0);
        }
    }
    Ok(Duration::from_nanos(sum))
}

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some(scanner_worker::WORKER_ARGUMENT) {
        return scanner_worker::serve();
    }
    let (mut here, mut there) = (Worker::without_isolation(Setup::default()), Worker::new(Setup::default()));
    for file in std::env::args().skip(1) {
        let mut job = ScanJob::new(fs::read(&file)?);
        job.kind = "file".to_owned();
        job.audiences = vec!["page".to_owned(), "model".to_owned()];
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let before = own();
            (0..EACH).for_each(|_| drop(here.scan(job.clone())));
            let (between, worker) = (own(), workers()?);
            (0..EACH).for_each(|_| drop(there.scan(job.clone())));
            inside.push((between - before) / EACH);
            outside.push((own() - between + workers()?.saturating_sub(worker)) / EACH);
        }
        // The median: a start, a page fault or another program's turn falls on single rounds.
        let median = |times: &mut Vec<Duration>| {
            times.sort();
            times.get(times.len() / 2).map_or(0, Duration::as_micros)
        };
        let (inside, outside) = (median(&mut inside), median(&mut outside));
        let hop = outside.saturating_sub(inside);
        writeln!(io::stdout(), "{file} in-process {inside} worker {outside} hop {hop}")?;
    }
    Ok(())
}
