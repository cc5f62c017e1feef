//! Doors for fuzz targets: the protocol without a process. They are no part of the interface and may change with any
//! version.

use std::io::{self, Read};

use crate::{
    answer::Answer,
    bench::Bench,
    job::{Awaits, Job, Numbered, ScanJob, TextJob},
    shown::Said,
    wire::{read_frame, write_frame},
};

/// What a front makes of what a worker wrote, after that job of that number.
///
/// # Errors
/// It is no answer to that job.
pub fn answer_alone(pipe: &mut impl Read, number: u64, job: &ScanJob) -> io::Result<Answer> {
    let frame = read_frame(pipe)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Answer::from_frame(frame, number, &Job::Scan(Box::new(job.clone())))
}

/// What a worker writes that is given what a front wrote; nothing at a clean end.
///
/// # Errors
/// What the front wrote is no job.
pub fn work_alone(pipe: &mut impl Read, bench: &Bench) -> io::Result<Vec<u8>> {
    let mut written = Vec::new();
    if let Some(frame) = read_frame(pipe)? {
        let Numbered { number, job, .. } = Job::from_frame(frame)?;
        let (answer, mut out) = (bench.run(&job, |_| Said::default()), Vec::new());
        let (head, parts) = answer.to_frame(number);
        write_frame(&mut out, &head, &parts)?;
        written = out;
    }
    Ok(written)
}

/// A job as a front writes it.
pub fn scan_alone(number: u64, job: &ScanJob) -> Vec<u8> {
    framed(&Job::Scan(Box::new(job.clone())), number)
}

/// Lines of texts as a front writes them.
pub fn texts_alone(number: u64, job: &TextJob) -> Vec<u8> {
    framed(&Job::Text(job.clone()), number)
}

fn framed(job: &Job, number: u64) -> Vec<u8> {
    let (head, parts) = job.to_frame(number, Awaits::Nothing);
    let mut out = Vec::new();
    // A vector takes everything.
    let _ = write_frame(&mut out, &head, &parts);
    out
}
