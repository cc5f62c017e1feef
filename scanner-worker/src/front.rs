//! The front's side: start a worker, give it a job, and turn its death into an answer.

use std::{
    io::{self, Read},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use scanner_core::{Reason, Resource};

use crate::{
    bench::{Bench, lines},
    job::{Answer, Death, Job, ScanJob, SniffJob, TextJob},
    serve::{OUT_OF_MEMORY, READY, WORKER_ARGUMENT},
    setup::{Setup, SetupError},
    wire::{Timed, read_frame, write_frame},
};

/// How long a worker that closed its pipe may take to be gone.
const GONE_WITHIN: Duration = Duration::from_millis(100);

/// A worker process, started when the first job comes and again when it died.
#[derive(Debug)]
pub struct Worker {
    setup: Setup,
    process: Option<Process>,
    isolated: bool,
    /// Scans in this process: for deaths, which parse nothing, and for `--no-isolation`.
    bench: Option<Result<Bench, SetupError>>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    /// Open as long as the worker may get jobs.
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: ChildStderr,
    /// Whether it has read its setup.
    ready: bool,
}

impl Worker {
    /// A worker with that setup. Nothing is started yet.
    pub fn new(setup: Setup) -> Self {
        Self { setup, process: None, isolated: true, bench: None }
    }

    /// The same jobs in this very process: for tests, and where no process can be started. Nothing contains a crash.
    pub fn without_isolation(setup: Setup) -> Self {
        Self { isolated: false, ..Self::new(setup) }
    }

    /// Scans and decides. Whatever happens to the worker, there is a verdict.
    pub fn scan(&mut self, job: ScanJob) -> Answer {
        if job.death.is_some() {
            return self.here(&Job::Scan(Box::new(job)));
        }
        let whole = Job::Scan(Box::new(job));
        match (self.run(&whole), whole) {
            (Ok(answer), _) => answer,
            (Err(death), Job::Scan(mut job)) => {
                job.death = Some(death);
                self.scan(*job)
            }
            (Err(death), _) => Answer::refused(&death.reason, death.detail),
        }
    }

    /// Tells the type of some bytes.
    pub fn sniff(&mut self, job: SniffJob) -> Answer {
        self.run(&Job::Sniff(job)).unwrap_or_else(|death| Answer::refused(&death.reason, death.detail))
    }

    /// Reads JSON lines of texts. When the worker dies the lines are given to it again one by one, so that only the
    /// line that kills it goes unread.
    pub fn texts(&mut self, job: TextJob) -> Answer {
        match self.run(&Job::Text(job.clone())) {
            Ok(answer) => answer,
            Err(_) => {
                let mut all = Answer { complete: true, ..Answer::default() };
                for (first, lines) in (job.first..).zip(lines(&job.lines)) {
                    let answer = self.line(TextJob { lines, first, ..job.clone() });
                    all.decision = all.decision.max(answer.decision);
                    all.complete &= answer.complete;
                    all.refusal = all.refusal.or(answer.refusal);
                    all.output.push_str(&answer.output);
                }
                all
            }
        }
    }

    /// One line; when it kills the worker, the answer to that.
    fn line(&mut self, job: TextJob) -> Answer {
        match self.run(&Job::Text(job.clone())) {
            Ok(answer) => answer,
            Err(death) => match self.bench() {
                Ok(bench) => bench.texts(&job, Some(&death)).unwrap_or_else(|refused| *refused),
                Err(refused) => *refused,
            },
        }
    }

    fn run(&mut self, job: &Job) -> Result<Answer, Death> {
        if !self.isolated {
            return Ok(self.here(job));
        }
        self.try_run(job).map_err(|error| self.bury(&error))
    }

    /// Does the work in this process.
    fn here(&mut self, job: &Job) -> Answer {
        self.bench().map_or_else(|refused| *refused, |bench| bench.run(job))
    }

    fn bench(&mut self) -> Result<&Bench, Box<Answer>> {
        let setup = &self.setup;
        self.bench
            .get_or_insert_with(|| Bench::new(setup))
            .as_ref()
            .map_err(|error| Answer::boxed("bad_setup", error.to_string()))
    }

    /// What to start: the executable of the setup, or this very one.
    fn executable(&self) -> io::Result<PathBuf> {
        self.setup.executable.clone().map_or_else(std::env::current_exe, Ok)
    }

    fn try_run(&mut self, job: &Job) -> io::Result<Answer> {
        let wall = Duration::from_secs(self.setup.limits.get(Resource::Wall));
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start()?,
        };
        let deadline = Instant::now() + wall;
        let (head, parts) = job.to_frame();
        let answer = process
            .timed_input(deadline)
            .and_then(|mut input| write_frame(&mut input, &head, &parts))
            .and_then(|()| read_frame(&mut Timed { pipe: &mut process.output, deadline }))
            .and_then(|frame| frame.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()))
            .and_then(Answer::from_frame);
        self.process = Some(process);
        answer
    }

    /// A worker that said that it is ready.
    fn start(&mut self) -> io::Result<Process> {
        let mut process = Process::spawn(&self.executable()?)?;
        match process.set_up(&self.setup) {
            Ok(()) => Ok(process),
            Err(error) => {
                // There was a process, so how it ended is told like any other death.
                self.process = Some(process);
                Err(error)
            }
        }
    }

    /// Ends what is left of the worker and says how it died.
    fn bury(&mut self, error: &io::Error) -> Death {
        let Some(process) = self.process.take() else {
            return death(Reason::WorkerDied, format!("no worker could be started: {error}"));
        };
        process.end(error.kind() == io::ErrorKind::TimedOut, &self.setup)
    }
}

impl Process {
    fn spawn(executable: &Path) -> io::Result<Self> {
        let mut child = Command::new(executable)
            .arg(WORKER_ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        never_block(&input)?;
        never_block(&output)?;
        never_block(&errors)?;
        Ok(Self { child, input: Some(input), output, errors, ready: false })
    }

    /// Sends the setup and waits until the worker has read it.
    fn set_up(&mut self, setup: &Setup) -> io::Result<()> {
        let deadline = Instant::now() + setup.start;
        write_frame(&mut self.timed_input(deadline)?, &setup.to_head(), &[])?;
        match read_frame(&mut Timed { pipe: &mut self.output, deadline })? {
            Some(frame) if frame.head == READY => {
                self.ready = true;
                Ok(())
            }
            Some(_) => Err(io::ErrorKind::InvalidData.into()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn timed_input(&mut self, deadline: Instant) -> io::Result<Timed<&mut ChildStdin>> {
        let pipe = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Timed { pipe, deadline })
    }

    /// Waits until the process is gone, and kills it when it does not go. Its status, and whether it was killed.
    fn reap(&mut self, within: Duration) -> (Option<ExitStatus>, bool) {
        // The end of its input is what a worker waits for.
        self.input = None;
        let deadline = Instant::now() + within;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return (Some(status), false);
            }
            thread::sleep(Duration::from_millis(1));
        }
        // It may be gone by now; both calls are harmless then.
        let _ = self.child.kill();
        (self.child.wait().ok(), true)
    }

    fn end(mut self, out_of_time: bool, setup: &Setup) -> Death {
        let (status, killed) = self.reap(if out_of_time { Duration::ZERO } else { GONE_WITHIN });
        let mut said = Vec::new();
        let _ = self.errors.by_ref().take(64 * 1024).read_to_end(&mut said);
        let wall = setup.limits.get(Resource::Wall);
        let cpu = setup.limits.get(Resource::Cpu);
        let (reason, detail) = if out_of_time && !self.ready {
            (Reason::Timeout, format!("the worker was not ready within {} s of its start", setup.start.as_secs()))
        } else if out_of_time {
            (Reason::Timeout, format!("no answer within {wall} s: the worker was killed"))
        } else if String::from_utf8_lossy(&said).contains(OUT_OF_MEMORY) {
            (Reason::Limit(Resource::Memory), "the worker ran out of memory".to_owned())
        } else if status.and_then(|status| status.signal()) == Some(SIGXCPU) {
            (Reason::Timeout, format!("the worker used more than {cpu} s of CPU time"))
        } else if killed {
            (Reason::WorkerDied, "the worker broke the protocol and was killed".to_owned())
        } else {
            (Reason::WorkerDied, format!("the worker died: {}", status.map_or_else(String::new, in_words)))
        };
        death(reason, detail)
    }
}

impl Drop for Process {
    /// Nothing is left behind: the time of a worker counts as the front's own.
    fn drop(&mut self) {
        if self.input.is_some() {
            self.reap(GONE_WITHIN);
        }
    }
}

fn death(reason: Reason, detail: String) -> Death {
    Death { reason: reason.to_string(), detail }
}

/// The same number on every Linux architecture but MIPS and PA-RISC (signal(7)).
const SIGXCPU: i32 = 24;

/// Without the core-dump note of std, which depends on the machine.
fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "for no stated reason".to_owned(),
    }
}

fn never_block(fd: &impl std::os::fd::AsFd) -> io::Result<()> {
    Ok(fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?)
}
