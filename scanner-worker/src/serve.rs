//! The worker's side: read a setup, give up everything else, then jobs, one after the other, until the pipe ends.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use scanner_core::Picture;

use crate::{
    bench::Bench,
    confine::{Layer, confine},
    job::{Awaits, Job, Numbered},
    setup::SetupHead,
    shown::{Said, Shown},
    wire::{read_frame, write_frame},
};

/// The first argument with which a front starts its own executable as a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// Runs this process as a worker until its standard input ends. Standard output belongs to the protocol.
///
/// # Errors
/// When the pipe breaks or a frame of the front is not one: both mean that the front is gone or of another version.
pub fn serve() -> io::Result<()> {
    let served = answer_jobs();
    if served.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::OutOfMemory) {
        // An input that does not fit is told as an error, not as an abort; the front reads the same sign for both.
        let _ = writeln!(io::stderr(), "{OUT_OF_MEMORY}an input failed");
    }
    served
}

fn answer_jobs() -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let Some(frame) = read_frame(&mut input)? else { return Ok(()) };
    let setup: SetupHead = serde_json::from_slice(&frame.head)?;
    // The setup is the operator's; nothing hostile has been read yet.
    let isolation = confine(setup.memory(), &Layer::ALL)?;
    let bench = Bench::new(&setup.into_setup());
    // The first frame says that rules and policies are read, so that the clock of a job may start, and what holds.
    write_frame(&mut output, &serde_json::to_vec(&isolation)?, &[])?;
    while let Some(frame) = read_frame(&mut input)? {
        let bench = bench.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
        allow_seconds(bench.cpu_seconds())?;
        let Numbered { number, awaits, job } = Job::from_frame(frame)?;
        let mut awaited = awaits;
        let mut broken = Ok(());
        let mut engines = |pictures: &[Picture]| {
            let asked = ask_front(std::mem::take(&mut awaited), number, pictures, &mut input, &mut output);
            asked.unwrap_or_else(|error| {
                broken = Err(error);
                Said::default()
            })
        };
        let answer = bench.run(&job, &mut engines);
        // A job that was refused has asked nobody: what was sent for it is read all the same.
        engines(&[]);
        broken?;
        let (head, parts) = answer.to_frame(number);
        write_frame(&mut output, &head, &parts)?;
    }
    Ok(())
}

/// What the engines said that the front asked meanwhile, and what one of them read in these pictures.
fn ask_front(
    awaited: Awaits,
    number: u64,
    pictures: &[Picture],
    from: &mut impl Read,
    to: &mut impl Write,
) -> io::Result<Said> {
    if awaited == Awaits::Nothing {
        return Ok(Said::default());
    }
    if awaited == Awaits::Letters {
        let (head, parts) = Shown::to_frame(pictures, number);
        write_frame(to, &head, &parts)?;
    }
    Said::from_frame(read_frame(from)?.ok_or(io::ErrorKind::UnexpectedEof)?)
}

/// What std prints before it aborts for want of memory. The only sign there is: the exit is an ordinary abort.
pub(crate) const OUT_OF_MEMORY: &str = "memory allocation of ";

/// CPU time is counted over the life of the process: each job may use so many seconds more. The hard limit stays open,
/// so that the next job can be given its own; the soft one ends the process by SIGXCPU.
fn allow_seconds(seconds: u64) -> io::Result<()> {
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0);
    let current = Some(used.saturating_add(seconds).saturating_add(1));
    Ok(setrlimit(Resource::Cpu, Rlimit { current, maximum: None })?)
}
