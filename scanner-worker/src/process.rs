//! One worker process: its start, its pipes, and how it ended.

use std::{
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::process::ExitStatusExt,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
};
use scanner_core::{Reason, Resource};

use crate::{
    answer::Answer,
    confine::Isolation,
    job::{Awaits, Death, Engine, Job},
    letters::LetterReader,
    serve::{OUT_OF_MEMORY, WORKER_ARGUMENT},
    setup::Setup,
    shown::{Said, Shown},
    wire::{Timed, hold_a_piece, read_frame, read_frame_within, write_frame},
};

/// How long a worker that closed its pipe may take to be gone. A verdict about a death is there within 100 ms.
const GONE_WITHIN: Duration = Duration::from_millis(50);

/// A worker process.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Open as long as the worker may get jobs.
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: ChildStderr,
    /// What holds it; `None` before it has read its setup.
    isolation: Option<Isolation>,
    /// Jobs given to it.
    jobs: u64,
}

/// Who is asked while a worker scans.
pub(crate) struct Beside<'a> {
    /// Engines that look at the input.
    pub(crate) engines: Option<&'a mut dyn FnMut() -> Vec<Engine>>,
    /// Who reads letters, and how many pixels of all pictures a worker may show.
    pub(crate) letters: Option<(LetterReader, u64)>,
}

impl Beside<'_> {
    pub(crate) fn awaits(&self) -> Awaits {
        match (&self.engines, &self.letters) {
            (_, Some(_)) => Awaits::Letters,
            (Some(_), None) => Awaits::Engines,
            (None, None) => Awaits::Nothing,
        }
    }
}

/// Why there is no process to give jobs to.
#[derive(Debug)]
pub(crate) enum StartError {
    /// None could be started.
    None(io::Error),
    /// One was, and ended before it was ready.
    Ended(Death),
}

impl Process {
    /// A worker that said that it is ready.
    pub(crate) fn start(setup: &Setup) -> Result<Self, StartError> {
        let executable = setup.executable.clone().map_or_else(own_executable, Ok).map_err(StartError::None)?;
        let mut process = Self::spawn(&executable).map_err(StartError::None)?;
        match process.set_up(setup) {
            Ok(()) => Ok(process),
            // There was a process, so how it ended is told like any other death.
            Err(error) => Err(StartError::Ended(process.end(&error, setup))),
        }
    }

    fn spawn(executable: &Path) -> io::Result<Self> {
        let mut command = Command::new(executable);
        command
            .arg(WORKER_ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = start_lastingly(command)?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        never_block(&input)?;
        never_block(&output)?;
        never_block(&errors)?;
        hold_a_piece(&input);
        hold_a_piece(&output);
        Ok(Self { child, input: Some(input), output, errors, isolation: None, jobs: 0 })
    }

    /// Sends the setup and waits until the worker has read it.
    fn set_up(&mut self, setup: &Setup) -> io::Result<()> {
        let deadline = Instant::now() + setup.start;
        write_frame(&mut self.timed_input(deadline)?, &setup.to_head(), &[])?;
        let ready = read_frame(&mut Timed { pipe: &mut self.output, deadline })?;
        let isolation: Isolation = serde_json::from_slice(&ready.ok_or(io::ErrorKind::UnexpectedEof)?.head)?;
        if let (true, Some(lacking)) = (setup.strict, isolation.lacks()) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("this kernel lacks {lacking}, and isolation is strict"),
            ));
        }
        self.isolation = Some(isolation);
        Ok(())
    }

    /// What holds it.
    pub(crate) fn isolation(&self) -> Isolation {
        self.isolation.unwrap_or_default()
    }

    /// Whether it is alive and has nothing to say. What it said unasked could only be meant for the next job.
    pub(crate) fn is_quiet(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)], Some(&now))
            .is_ok_and(|ready| ready == 0)
    }

    /// Gives it a job and waits for the answer. Who is beside is asked once the worker has the job; the worker gets what
    /// they say when its own looking is done.
    pub(crate) fn ask(&mut self, job: &Job, wall: Duration, beside: Beside<'_>) -> io::Result<Answer> {
        let deadline = Instant::now() + wall;
        self.jobs += 1;
        let awaits = beside.awaits();
        let (head, parts) = job.to_frame(self.jobs, awaits);
        write_frame(&mut self.timed_input(deadline)?, &head, &parts)?;
        if awaits != Awaits::Nothing {
            let read = beside.letters.map(|(reader, most)| {
                let frame = read_frame_within(&mut Timed { pipe: &mut self.output, deadline }, most)?;
                let pictures = Shown::from_frame(frame.ok_or(io::ErrorKind::UnexpectedEof)?, self.jobs, most)?;
                Ok::<_, io::Error>(reader.look(&pictures, deadline))
            });
            let mut said = Said::default();
            said.engines.extend(beside.engines.map(|engines| engines()).into_iter().flatten());
            if let Some((engine, letters)) = read.transpose()? {
                said.engines.push(engine);
                said.letters = letters;
            }
            let (head, parts) = said.to_frame();
            write_frame(&mut self.timed_input(deadline)?, &head, &parts)?;
        }
        let frame = read_frame(&mut Timed { pipe: &mut self.output, deadline })?;
        Answer::from_frame(frame.ok_or(io::ErrorKind::UnexpectedEof)?, self.jobs, job)
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

    /// Ends what is left of the process and says how it died.
    pub(crate) fn end(mut self, error: &io::Error, setup: &Setup) -> Death {
        let out_of_time = error.kind() == io::ErrorKind::TimedOut;
        let (status, killed) = self.reap(if out_of_time { Duration::ZERO } else { GONE_WITHIN });
        let mut said = Vec::new();
        let _ = self.errors.by_ref().take(64 * 1024).read_to_end(&mut said);
        let wall = setup.limits.get(Resource::Wall);
        let cpu = setup.limits.get(Resource::Cpu);
        let (reason, detail) = if error.kind() == io::ErrorKind::Unsupported {
            (Reason::WorkerDied, error.to_string())
        } else if out_of_time && self.isolation.is_none() {
            (Reason::Timeout, format!("the worker was not ready within {} s of its start", setup.start.as_secs()))
        } else if out_of_time {
            (Reason::Timeout, format!("no answer within {wall} s: the worker was killed"))
        } else if String::from_utf8_lossy(&said).contains(OUT_OF_MEMORY) {
            (Reason::Limit(Resource::Memory), "the worker ran out of memory".to_owned())
        } else {
            match status.and_then(|status| status.signal()) {
                Some(SIGXCPU) => (Reason::Timeout, format!("the worker used more than {cpu} s of CPU time")),
                Some(SIGSYS) => {
                    (Reason::WorkerDied, "the worker made a system call that scanning does not need".to_owned())
                }
                _ if killed => (Reason::WorkerDied, "the worker broke the protocol and was killed".to_owned()),
                _ => (Reason::WorkerDied, format!("the worker died: {}", status.map_or_else(String::new, in_words))),
            }
        };
        Death { reason: reason.to_string(), detail }
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

/// The same numbers on every Linux architecture but MIPS, Alpha, SPARC and PA-RISC (signal(7)).
const SIGXCPU: i32 = 24;
pub(crate) const SIGSYS: i32 = 31;

/// Without the core-dump note of std, which depends on the machine.
pub(crate) fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "for no stated reason".to_owned(),
    }
}

pub(crate) fn never_block(fd: &impl AsFd) -> io::Result<()> {
    let fd: BorrowedFd<'_> = fd.as_fd();
    Ok(fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?)
}

/// This very program, even when its file was replaced or removed meanwhile: a worker of another build would not
/// understand the front.
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.to_owned()) } else { std::env::current_exe() }
}

type Order = (Command, SyncSender<io::Result<Child>>);

/// Starts a process from a thread that lasts as long as this process does. The signal that ends a worker with its front
/// is bound to the thread that started it (`PR_SET_PDEATHSIG`, prctl(2)): a worker outlives its caller's thread.
pub(crate) fn start_lastingly(command: Command) -> io::Result<Child> {
    static STARTER: OnceLock<Mutex<Sender<Order>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, orders): (Sender<Order>, Receiver<Order>) = channel();
        // Without the thread the channel is closed, and the caller is told.
        let _ = thread::Builder::new().name("worker-start".to_owned()).spawn(move || {
            for (mut command, started) in orders {
                let _ = started.send(command.spawn());
            }
        });
        Mutex::new(sender)
    });
    let (sender, started) = sync_channel(1);
    let gone = || io::Error::other("the thread that starts workers is gone");
    starter.lock().unwrap_or_else(PoisonError::into_inner).send((command, sender)).map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}
