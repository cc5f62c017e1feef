//! `scanner text`: texts as JSON lines in, findings as JSON lines out, in order.

use std::io::{self, BufRead, Write};

use scanner_core::{Limits, Resource};
use scanner_worker::TextJob;

use crate::{Exit, Failure, args::TextArgs, problem::Usage, scan};

/// Lines are handed over in batches of about this size: large enough to hide the pipe, small enough to answer soon.
const BATCH: usize = 256 * 1024;

pub(crate) fn run(args: &TextArgs) -> Result<Exit, Failure> {
    let limits = args.setup.limits();
    let mut worker = scan::worker(&args.setup, None, None)?;
    let mut input = io::stdin().lock();
    let mut out = io::stdout().lock();
    let mut first = 1;
    let now = Some(scan::today().to_string());
    loop {
        let (lines, count) = batch(&mut input, &limits)?;
        if lines.is_empty() {
            return Ok(Exit::Good);
        }
        let job = TextJob {
            lines: lines.into(),
            first,
            policy: args.setup.policy.clone(),
            audiences: args.audience.clone(),
            now: now.clone(),
        };
        let answer = worker.texts(job);
        if let Some((_, message)) = answer.refusal {
            return Err(Usage(message).into());
        }
        out.write_all(answer.output.as_bytes())?;
        out.flush()?;
        first += count;
    }
}

/// Whole lines, and how many. A line longer than any text may be is cut: the rest of it is passed over, and what is
/// left is no JSON any more, so that it is answered by an error and not by a verdict.
fn batch(input: &mut impl BufRead, limits: &Limits) -> io::Result<(Vec<u8>, u64)> {
    let longest = usize::try_from(limits.get(Resource::EnvelopeBytes)).unwrap_or(usize::MAX);
    let mut lines = Vec::new();
    let mut count = 0;
    while lines.len() < BATCH {
        let start = lines.len();
        if !line(input, &mut lines, longest)? {
            break;
        }
        debug_assert!(lines.len() > start);
        count += 1;
    }
    Ok((lines, count))
}

/// Appends one line with its end; `false` at the end of the input.
fn line(input: &mut impl BufRead, lines: &mut Vec<u8>, longest: usize) -> io::Result<bool> {
    let mut length = 0_usize;
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(length > 0);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |newline| newline + 1);
        let room = longest.saturating_sub(length);
        let piece = available.get(..taken).unwrap_or_default();
        lines.extend_from_slice(piece.get(..room.min(taken)).unwrap_or_default());
        length = length.saturating_add(taken);
        input.consume(taken);
        if end.is_some() {
            if lines.last() != Some(&b'\n') {
                lines.push(b'\n');
            }
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_and_long_ones_are_cut() {
        let limits = Limits::default().with(Resource::EnvelopeBytes, 5);
        let mut input = &b"abcde\nabcdef\n\nlast"[..];
        assert_eq!(batch(&mut input, &limits).unwrap(), (b"abcde\nabcde\n\nlast".to_vec(), 4));
        assert_eq!(batch(&mut input, &limits).unwrap(), (Vec::new(), 0));
    }
}
