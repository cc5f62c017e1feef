//! A body as it comes: capped, timed, and kept in a file without a name once it is large.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    config,
    error::{ApiError, Code},
};

/// How long the rest of a refused body is read and thrown away, so that its sender gets to read the answer.
const LINGER: Duration = Duration::from_secs(5);

/// The chunks of a body, in time and up to a cap.
#[derive(Debug)]
pub(crate) struct Chunks<'a> {
    body: Body,
    times: &'a config::Body,
    started: Instant,
    received: u64,
    most: u64,
    too_large: String,
}

impl<'a> Chunks<'a> {
    /// The body of a request with these headers, of at most so many bytes.
    pub(crate) fn new(
        headers: &HeaderMap,
        body: Body,
        times: &'a config::Body,
        (most, too_large): (u64, String),
    ) -> Result<Self, ApiError> {
        if headers
            .get_all(header::CONTENT_ENCODING)
            .iter()
            .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
        {
            return Err(ApiError::new(
                Code::EncodedBody,
                "send the body as it is, without Content-Encoding: nothing was scanned",
            ));
        }
        if body.size_hint().lower() > most {
            return Err(ApiError::new(Code::TooLarge, too_large));
        }
        Ok(Self { body, times, started: Instant::now(), received: 0, most, too_large })
    }

    /// The next chunk; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            // A start, and then a pace: who keeps it up may take as long as that is.
            let earned = Duration::from_secs(self.received / self.times.pace.max(1));
            let end = self.started + self.times.start.0 + earned;
            let next = timeout_at(end, timeout(self.times.idle.0, self.body.frame())).await;
            let frame = match next {
                Ok(Ok(Some(Ok(frame)))) => frame,
                Ok(Ok(None)) => return Ok(None),
                Ok(Ok(Some(Err(error)))) => {
                    return Err(
                        ApiError::bad("the body ended before its end: nothing was scanned").inside(error.to_string())
                    );
                }
                Ok(Err(_)) | Err(_) => {
                    return Err(ApiError::new(Code::SlowBody, "the body came too slowly: nothing was scanned"));
                }
            };
            // Trailers say nothing here.
            let Ok(chunk) = frame.into_data() else { continue };
            if chunk.is_empty() {
                continue;
            }
            self.received = self.received.saturating_add(chunk.len() as u64);
            if self.received > self.most {
                return Err(ApiError::new(Code::TooLarge, std::mem::take(&mut self.too_large)));
            }
            return Ok(Some(chunk));
        }
    }
}

/// Bytes on their way in: in memory, and from some size on in a file.
#[derive(Debug)]
pub(crate) struct Spool<'a> {
    settings: &'a config::Body,
    memory: BytesMut,
    file: Option<File>,
    length: u64,
}

/// Bytes that are all here.
#[derive(Debug)]
pub(crate) enum Spooled {
    Memory(Bytes),
    File(File),
}

impl<'a> Spool<'a> {
    pub(crate) fn new(settings: &'a config::Body) -> Self {
        Self { settings, memory: BytesMut::new(), file: None, length: 0 }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) async fn write(&mut self, chunk: &[u8]) -> Result<(), ApiError> {
        self.length = self.length.saturating_add(chunk.len() as u64);
        self.memory.extend_from_slice(chunk);
        if self.memory.len() as u64 > self.settings.memory.0 {
            self.flush().await?;
        }
        Ok(())
    }

    /// Moves what is in memory to the file. One blocking call at a time for each upload, and uploads are counted.
    async fn flush(&mut self) -> Result<(), ApiError> {
        let (memory, file, folder) = (self.memory.split().freeze(), self.file.take(), self.settings.folder.clone());
        let written = tokio::task::spawn_blocking(move || {
            let mut file = match (file, folder) {
                (Some(file), _) => file,
                (None, Some(folder)) => tempfile::tempfile_in(folder)?,
                (None, None) => tempfile::tempfile()?,
            };
            file.write_all(&memory)?;
            Ok::<_, io::Error>(file)
        });
        let file = written.await.map_err(|error| ApiError::internal(error.to_string()))?;
        self.file = Some(file.map_err(|error| {
            ApiError::new(Code::NoSpace, "there is no space to keep the body: nothing was scanned")
                .inside(error.to_string())
        })?);
        Ok(())
    }

    pub(crate) async fn finish(mut self) -> Result<Spooled, ApiError> {
        if self.file.is_some() {
            self.flush().await?;
        }
        Ok(match self.file {
            Some(file) => Spooled::File(file),
            None => Spooled::Memory(self.memory.freeze()),
        })
    }
}

impl Spooled {
    /// The bytes. Blocks: for the thread that scans.
    pub(crate) fn read(self) -> io::Result<Bytes> {
        match self {
            Self::Memory(bytes) => Ok(bytes),
            Self::File(mut file) => {
                file.rewind()?;
                let mut bytes = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0));
                file.read_to_end(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// A body that, when it is dropped unread, is still read for a while: a sender that writes before it reads would
/// otherwise see a broken connection in place of the answer.
#[derive(Debug)]
pub(crate) struct Lingering(Body);

impl Lingering {
    pub(crate) fn wrap(headers: &HeaderMap, body: Body) -> Body {
        // Who waits for `100 Continue` has sent nothing.
        if body.is_end_stream() || headers.contains_key(header::EXPECT) { body } else { Body::new(Self(body)) }
    }
}

impl HttpBody for Lingering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let next = ready!(Pin::new(&mut self.0).poll_frame(context));
        if !matches!(next, Some(Ok(_))) {
            self.0 = Body::empty();
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.0);
        if rest.is_end_stream() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(timeout(LINGER, async move { while let Some(Ok(_)) = rest.frame().await {} }));
        }
    }
}
