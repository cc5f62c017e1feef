//! Heads as they come over the wire. hyper answers a request that carries both `Content-Length` and `Transfer-Encoding`
//! as the standard allows: it drops the first and closes after the answer. A proxy before us may have read the other
//! one, so here such a request is refused; for that the heads are read along, without a byte being changed.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longest line that is looked at; hyper refuses the head long before.
const LINE_BYTES: usize = 64 * 1024;

/// A connection whose heads are read along.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    heads: Heads,
    both: Arc<AtomicBool>,
}

impl<S> Watched<S> {
    /// `both` is set once a head was seen that gives its length in both ways.
    pub(crate) fn new(stream: S, both: Arc<AtomicBool>) -> Self {
        Self { stream, heads: Heads::default(), both }
    }
}

/// Where in the stream of requests the next byte is.
#[derive(Debug, Default)]
struct Heads {
    place: Place,
    line: Vec<u8>,
    /// Whether the request line has been.
    begun: bool,
    length: Option<u64>,
    chunked: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Head,
    /// So many bytes of a body are still to come.
    Body(u64),
    /// What follows is not looked at: HTTP/2, or a body in chunks, after which the connection ends.
    Rest,
}

impl Heads {
    /// Reads along; true when a head gave its length in both ways.
    fn read(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match self.place {
                Place::Rest => return false,
                Place::Body(left) => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = bytes.get(here..).unwrap_or_default();
                    let left = left.saturating_sub(here as u64);
                    self.place = if left == 0 { Place::Head } else { Place::Body(left) };
                }
                Place::Head => {
                    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline.saturating_add(1));
                    let (line, rest) = bytes.split_at(end);
                    bytes = rest;
                    self.line.extend_from_slice(line);
                    if self.line.len() > LINE_BYTES {
                        self.place = Place::Rest;
                    } else if self.line.ends_with(b"\n") {
                        let line = std::mem::take(&mut self.line);
                        if self.line_ends(line.trim_ascii_end()) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }

    /// A whole line of a head; true when the head is over and gave its length in both ways.
    fn line_ends(&mut self, line: &[u8]) -> bool {
        if line.is_empty() {
            if !self.begun {
                // Empty lines before a request are passed over.
                return false;
            }
            let (length, chunked) = (self.length.take(), std::mem::take(&mut self.chunked));
            self.begun = false;
            self.place = match (length, chunked) {
                (_, true) => Place::Rest,
                (Some(0) | None, false) => Place::Head,
                (Some(length), false) => Place::Body(length),
            };
            return length.is_some() && chunked;
        }
        if !self.begun {
            self.begun = true;
            if line.starts_with(b"PRI * HTTP/2") {
                self.place = Place::Rest;
            }
            return false;
        }
        let (name, value) = line.split_at(memchr::memchr(b':', line).unwrap_or(line.len()));
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value.get(1..).unwrap_or_default()).unwrap_or_default();
            // What is no number is refused by hyper, and nothing follows.
            self.length = Some(digits.trim().parse().unwrap_or(u64::MAX));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.chunked = true;
        }
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if self.heads.read(buffer.filled().get(before..).unwrap_or_default()) {
            self.both.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wire: &str, both: bool) {
        assert_eq!(Heads::default().read(wire.as_bytes()), both, "whole: {wire:?}");
        let mut heads = Heads::default();
        let found = wire.as_bytes().chunks(1).fold(false, |found, byte| found | heads.read(byte));
        assert_eq!(found, both, "byte by byte: {wire:?}");
    }

    #[test]
    fn both_lengths_are_seen() {
        check("POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n", true);
        check("\r\nPOST / HTTP/1.1\ntransfer-encoding:chunked\nCONTENT-LENGTH:4\n\n", true);
        check("GET / HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", true);
        check(
            "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcPOST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: x\r\n\r\n",
            true,
        );
    }

    #[test]
    fn bodies_are_not_heads() {
        let inner = "POST / HTTP/1.1\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n";
        check(&format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n{inner}", inner.len()), false);
        check(&format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n44\r\n{inner}\r\n0\r\n\r\n"), false);
        check(&format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{inner}"), false);
        check("POST / HTTP/1.1\r\nx-content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n", false);
    }
}
