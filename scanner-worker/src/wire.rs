//! Frames on the pipe: two lengths, a JSON head, and parts of raw bytes.
//!
//! What a worker answers is as untrusted as what it was given: both lengths are checked before anything is allocated,
//! and a buffer grows only as bytes arrive.

use std::{
    io::{self, Read, Write},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    pipe::fcntl_setpipe_size,
};

/// Most bytes of a JSON head.
pub(crate) const HEAD_LIMIT: u64 = 16 * 1024 * 1024;
/// Most bytes of all parts of a frame: an input of the largest size that `--limit` allows in practice, and its attachments.
pub(crate) const BODY_LIMIT: u64 = 4 * 1024 * 1024 * 1024;

/// A frame as it came.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// The lengths in front of a frame.
pub(crate) fn prefix(head: usize, body: u64) -> [u8; 16] {
    let mut prefix = [0; 16];
    let (head_bytes, body_bytes) = prefix.split_at_mut(8);
    head_bytes.copy_from_slice(&(head as u64).to_le_bytes());
    body_bytes.copy_from_slice(&body.to_le_bytes());
    prefix
}

/// Reads the lengths in front of a frame and refuses what is out of bounds.
fn lengths(prefix: [u8; 16], most: u64) -> io::Result<(u64, u64)> {
    let (head, body) = prefix.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or(u64::MAX);
    let (head, body) = (number(head), number(body));
    if head > HEAD_LIMIT || body > most.min(BODY_LIMIT) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame with impossible lengths"));
    }
    Ok((head, body))
}

/// Frames up to this size go out in one piece: each write wakes the other side, which would find half a frame. It is
/// what the pipes between a front and its workers are made to hold, and what is set aside for a part before its bytes
/// arrive. Of all pipes of a user Linux allows 64 MiB, 256 such (`pipe-user-pages-soft`, pipe(7)).
const PIECE: usize = 256 * 1024;

/// Lets a pipe hold a piece. One that is not allowed to stays as it is, and only costs more turns.
pub(crate) fn hold_a_piece(pipe: &impl AsFd) {
    let _ = fcntl_setpipe_size(pipe, PIECE);
}

/// Writes a frame.
pub(crate) fn write_frame(to: &mut impl Write, head: &[u8], parts: &[&[u8]]) -> io::Result<()> {
    let body = parts.iter().map(|part| part.len() as u64).sum();
    let prefix = prefix(head.len(), body);
    let pieces = || [&prefix[..], head].into_iter().chain(parts.iter().copied());
    if pieces().map(<[u8]>::len).sum::<usize>() <= PIECE {
        to.write_all(&pieces().collect::<Vec<_>>().concat())?;
    } else {
        pieces().try_for_each(|piece| to.write_all(piece))?;
    }
    to.flush()
}

/// Reads a frame; `None` at a clean end before one.
pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<Option<Frame>> {
    read_frame_within(from, BODY_LIMIT)
}

/// The same, where all parts together may have so many bytes.
pub(crate) fn read_frame_within(from: &mut impl Read, most: u64) -> io::Result<Option<Frame>> {
    let mut prefix = [0; 16];
    let mut first = Vec::new();
    from.by_ref().take(16).read_to_end(&mut first)?;
    if first.is_empty() {
        return Ok(None);
    }
    if first.len() < prefix.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    prefix.copy_from_slice(&first);
    let (head, body) = lengths(prefix, most)?;
    Ok(Some(Frame { head: read_part(from, head)?, body: read_part(from, body)? }))
}

/// Exactly `length` bytes; beyond a piece, memory grows with what arrives, not with what was announced.
fn read_part(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut part = Vec::new();
    let mut left = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    while left > 0 {
        let here = part.len();
        let more = left.min(here.max(PIECE));
        part.try_reserve_exact(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
        part.resize(here + more, 0);
        from.read_exact(part.get_mut(here..).unwrap_or_default())?;
        left -= more;
    }
    Ok(part)
}

/// A pipe end that gives up at a deadline. The descriptor must not block.
#[derive(Debug)]
pub(crate) struct Timed<T> {
    pub(crate) pipe: T,
    pub(crate) deadline: Instant,
}

impl<T: AsFd> Timed<T> {
    fn wait(&self, flags: PollFlags) -> io::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match ready(self.pipe.as_fd(), flags, left) {
            Ok(true) => Ok(()),
            Ok(false) => Err(io::ErrorKind::TimedOut.into()),
            Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn ready(fd: BorrowedFd<'_>, flags: PollFlags, within: Duration) -> Result<bool, Errno> {
    let timeout =
        Timespec { tv_sec: i64::try_from(within.as_secs()).unwrap_or(i64::MAX), tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&timeout)).map(|count| count > 0)
}

impl<T: AsFd + Read> Read for Timed<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.pipe.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(PollFlags::IN)?,
                other => return other,
            }
        }
    }
}

impl<T: AsFd + Write> Write for Timed<T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        loop {
            match self.pipe.write(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(PollFlags::OUT)?,
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_as_it_went() {
        let mut pipe = Vec::new();
        write_frame(&mut pipe, b"{}", &[b"ab", b"", b"c"]).unwrap();
        let frame = read_frame(&mut pipe.as_slice()).unwrap().unwrap();
        assert_eq!((frame.head.as_slice(), frame.body.as_slice()), (&b"{}"[..], &b"abc"[..]));
    }

    #[test]
    fn nothing_is_the_end_and_less_than_a_frame_is_an_error() {
        assert!(read_frame(&mut &b""[..]).unwrap().is_none());
        assert!(read_frame(&mut &b"\x02\0\0"[..]).is_err());
        let mut pipe = Vec::new();
        write_frame(&mut pipe, b"{}", &[b"abc"]).unwrap();
        pipe.pop();
        assert!(read_frame(&mut pipe.as_slice()).is_err());
    }

    #[test]
    fn parts_of_a_piece_and_of_more_come_whole_or_not_at_all() {
        for length in [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 4 * PIECE + 1] {
            let body = vec![7; length];
            let mut pipe = Vec::new();
            write_frame(&mut pipe, b"{}", &[&body]).unwrap();
            assert_eq!(read_frame(&mut pipe.as_slice()).unwrap().unwrap().body, body, "{length}");
            pipe.pop();
            assert!(read_frame(&mut pipe.as_slice()).is_err(), "{length}");
        }
    }

    #[test]
    fn announced_lengths_are_checked_before_they_are_believed() {
        assert!(lengths(prefix(usize::try_from(HEAD_LIMIT).unwrap(), BODY_LIMIT), u64::MAX).is_ok());
        assert!(lengths(prefix(usize::try_from(HEAD_LIMIT + 1).unwrap(), 0), u64::MAX).is_err());
        assert!(lengths(prefix(0, BODY_LIMIT + 1), u64::MAX).is_err());
        assert!(lengths(prefix(0, 10), 10).is_ok() && lengths(prefix(0, 11), 10).is_err());
    }
}
