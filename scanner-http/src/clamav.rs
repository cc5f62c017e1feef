//! ClamAV beside our own scan, through its daemon. It is another program on another socket: every wait has an end,
//! every answer a length, and only the one answer that means clean is taken for it.

use std::{
    io,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use clamav_client::tokio::{TransportProtocol, get_version, scan_buffer};
use scanner_core::visible;
use scanner_worker::Engine;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
    time::{Instant, timeout, timeout_at},
};

use crate::config;

/// Its name in verdicts and metrics.
pub(crate) const NAME: &str = "clamav";
/// Most bytes of an answer. A true one is the name of a signature and a few words.
const ANSWER_BYTES: usize = 4 * 1024;
/// Bytes of a file that are sent in one piece.
const CHUNK: usize = 64 * 1024;
/// How long a version is taken to be current. A database is reloaded every few hours.
const VERSION_KEPT: Duration = Duration::from_secs(60);
/// Longest name of a signature, or word of a version, that is passed on.
const WORD: usize = 128;

/// What clamd says when it has seen a file and knows nothing against it (clamd(8), INSTREAM, null-terminated).
const CLEAN: &[u8] = b"stream: OK\0";
/// What it puts in place of a signature where it gave up early, with `AlertExceedsMax` (clamd.conf(5)).
const GAVE_UP: &str = "Heuristics.Limits.Exceeded";

/// The engine, and how it has been doing.
#[derive(Debug)]
pub(crate) struct ClamAv {
    settings: config::ClamAv,
    breaker: Mutex<Breaker>,
    version: Mutex<Option<(Instant, Version)>>,
}

/// Leaves an engine alone that fails and fails: waiting for it would cost every request its patience.
#[derive(Debug, Default)]
struct Breaker {
    failures: u32,
    /// Until when nobody is sent; after that one at a time, until one comes back well.
    closed_until: Option<Instant>,
}

/// What `VERSION` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Version {
    engine: String,
    database: String,
    database_time: String,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
enum Silence {
    /// It was not asked, or the file is none for it: that is no fault of the engine.
    NotAsked(String),
    /// It failed.
    Failed(String),
}

impl Breaker {
    /// Whether one may be sent now.
    fn lets_through(&mut self, now: Instant, pause: Duration) -> bool {
        match self.closed_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                // This one is sent to see; the others wait until it is back.
                self.closed_until = Some(now + pause);
                true
            }
        }
    }

    fn came_back(&mut self, well: bool, now: Instant, most: u32, pause: Duration) {
        self.failures = if well { 0 } else { self.failures.saturating_add(1) };
        self.closed_until = (self.failures >= most).then(|| now + pause);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere does not make the value wrong: each is changed in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClamAv {
    /// The engine, where the configuration names one.
    pub(crate) fn of(settings: &config::ClamAv) -> Option<Self> {
        // An empty one is none: environments that always set the variable have no other way to say so.
        settings.address.as_ref().filter(|address| !address.is_empty())?;
        Some(Self { settings: settings.clone(), breaker: Mutex::default(), version: Mutex::default() })
    }

    /// What it says about these files. Always an answer, in time.
    pub(crate) async fn look(&self, files: Vec<Bytes>) -> Engine {
        let answer = match self.ask(&files).await {
            Ok(None) => "clean".to_owned(),
            Ok(Some(signature)) => format!("found: {signature}"),
            Err(Silence::NotAsked(why) | Silence::Failed(why)) => format!("unavailable: {why}"),
        };
        let version = lock(&self.version).clone().map(|(_, version)| version).unwrap_or_default();
        let Version { engine, database, database_time } = version;
        Engine { name: NAME.to_owned(), version: engine, database, database_time, answer }
    }

    async fn ask(&self, files: &[Bytes]) -> Result<Option<String>, Silence> {
        let most = self.settings.most.0;
        if files.iter().any(|file| file.len() as u64 > most) {
            return Err(Silence::NotAsked(format!("the input is larger than clamav.most ({most} bytes)")));
        }
        let (failures, pause) = (self.settings.failures, self.settings.pause.0);
        if !lock(&self.breaker).lets_through(Instant::now(), pause) {
            return Err(Silence::NotAsked(format!(
                "it failed {failures} times in a row and is left alone for a while"
            )));
        }
        let total = self.settings.total.0;
        let asked = timeout_at(Instant::now() + total, self.ask_in_time(files))
            .await
            .unwrap_or_else(|_| Err(Silence::Failed(format!("no answer within {} ms", total.as_millis()))));
        let well = !matches!(asked, Err(Silence::Failed(_)));
        lock(&self.breaker).came_back(well, Instant::now(), failures, pause);
        asked
    }

    async fn ask_in_time(&self, files: &[Bytes]) -> Result<Option<String>, Silence> {
        let door = Door { settings: &self.settings };
        let is_current = lock(&self.version).as_ref().is_some_and(|(since, _)| since.elapsed() < VERSION_KEPT);
        if !is_current {
            let said = get_version(&door).await.map_err(|error| failed(&error))?;
            *lock(&self.version) = Some((Instant::now(), Version::read(&said)));
        }
        for file in files {
            let said = scan_buffer(file, &door, Some(CHUNK)).await.map_err(|error| failed(&error))?;
            if let Some(signature) = meaning(&said)? {
                return Ok(Some(signature));
            }
        }
        Ok(None)
    }
}

/// Without what the system adds to it: the words go into receipts.
fn failed(error: &io::Error) -> Silence {
    Silence::Failed(match error.kind() {
        io::ErrorKind::TimedOut => "no connection in time".to_owned(),
        io::ErrorKind::FileTooLarge => "an answer without an end".to_owned(),
        // clamd closes on who sends more than it takes; what it says about that is lost with the connection.
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => "it closed the connection".to_owned(),
        kind => kind.to_string(),
    })
}

/// What an answer to a file means: nothing known against it, or the name of what it is.
fn meaning(said: &[u8]) -> Result<Option<String>, Silence> {
    if said == CLEAN {
        return Ok(None);
    }
    let words = said.strip_suffix(b"\0").and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
    let found = words.strip_prefix("stream: ").and_then(|rest| rest.strip_suffix(" FOUND"));
    match found.filter(|name| !name.is_empty() && !name.contains('\0')).map(word) {
        Some(limit) if limit.starts_with(GAVE_UP) => {
            Err(Silence::NotAsked(format!("it reached a limit of its own ({limit})")))
        }
        Some(name) => Ok(Some(name)),
        None if words.ends_with(" ERROR") && words.contains("size limit exceeded") => {
            Err(Silence::NotAsked("the input is larger than its StreamMaxLength: set clamav.most to that".to_owned()))
        }
        None => Err(Silence::Failed("an answer that is none".to_owned())),
    }
}

fn word(text: &str) -> String {
    visible(&text.chars().take(WORD).collect::<String>())
}

impl Version {
    /// `ClamAV 1.4.3/27000/Sat Nov 28 10:00:00 2026`; without an official database the first part alone.
    fn read(said: &[u8]) -> Self {
        let text = String::from_utf8_lossy(said.strip_suffix(b"\0").unwrap_or(said));
        let mut parts = text.splitn(3, '/').map(|part| word(part.trim()));
        let mut next = || parts.next().unwrap_or_default();
        Self { engine: next().trim_start_matches("ClamAV ").to_owned(), database: next(), database_time: next() }
    }
}

/// How clamd is reached: in time, and with an end to what it says.
#[derive(Debug)]
struct Door<'a> {
    settings: &'a config::ClamAv,
}

/// A connection that gives up once too much was read from it.
#[derive(Debug)]
struct Line {
    stream: Stream,
    left: usize,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl TransportProtocol for Door<'_> {
    type Stream = Line;

    async fn connect(&self) -> io::Result<Line> {
        let address = self.settings.address.as_deref().unwrap_or_default();
        let connect = async {
            Ok::<_, io::Error>(if address.starts_with('/') {
                Stream::Unix(UnixStream::connect(address).await?)
            } else {
                Stream::Tcp(TcpStream::connect(address).await?)
            })
        };
        let stream = timeout(self.settings.connect.0, connect).await.map_err(|_| io::ErrorKind::TimedOut)??;
        Ok(Line { stream, left: ANSWER_BYTES })
    }
}

/// Calls the same on either kind of stream.
macro_rules! on {
    ($line:expr, $stream:ident => $call:expr) => {
        match &mut $line.stream {
            Stream::Unix(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Tcp(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
        }
    };
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Before anything is read: a reader that fails must not have filled its buffer.
        if self.left == 0 {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = buffer.filled().len();
        ready!(on!(self, stream => stream.poll_read(cx, buffer)))?;
        let got = buffer.filled().len().saturating_sub(before);
        self.left = self.left.saturating_sub(got);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on!(self, stream => stream.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, stream => stream.poll_shutdown(cx))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_answer_is_clean() {
        assert_eq!(meaning(b"stream: OK\0"), Ok(None));
        for lie in [
            &b"stream: OK"[..],
            b"stream: O",
            b"stream: OK\0\0",
            b"stream: OK\0stream: X FOUND\0",
            b"stream: OK\n",
            b" stream: OK\0",
            b"",
            b"\0",
            b"stream: LOOKUP failed ERROR\0",
            b"stream: X FOUND",
            b"stream:  FOUND\0",
            b"stream: A\0B FOUND\0",
            b"\xff\xff FOUND\0",
        ] {
            assert!(matches!(meaning(lie), Err(Silence::Failed(_))), "{:?}", String::from_utf8_lossy(lie));
        }
    }

    #[test]
    fn a_hit_has_a_name_and_a_limit_is_no_hit() {
        assert_eq!(meaning(b"stream: Eicar-Signature FOUND\0"), Ok(Some("Eicar-Signature".to_owned())));
        let long = [b"stream: ", &[b'a'; 500][..], b" FOUND\0"].concat();
        assert_eq!(meaning(&long), Ok(Some("a".repeat(WORD))));
        let hostile = meaning("stream: a\n\u{202e}b FOUND\0".as_bytes()).unwrap().unwrap();
        assert!(!hostile.contains(['\n', '\u{202e}']), "{hostile:?}");
        for limit in
            [&b"stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\0"[..], b"INSTREAM size limit exceeded. ERROR\0"]
        {
            assert!(matches!(meaning(limit), Err(Silence::NotAsked(_))));
        }
    }

    #[test]
    fn a_version_is_read_as_far_as_it_goes() {
        let read = |text: &str| Version::read(text.as_bytes());
        let whole = read("ClamAV 1.4.3/27000/Sat Nov 28 10:00:00 2026\0");
        assert_eq!((&*whole.engine, &*whole.database), ("1.4.3", "27000"));
        assert_eq!(whole.database_time, "Sat Nov 28 10:00:00 2026");
        assert_eq!(read("ClamAV 1.4.3\0"), Version { engine: "1.4.3".to_owned(), ..Version::default() });
        assert_eq!(read(""), Version::default());
    }

    #[test]
    fn an_engine_that_fails_is_left_alone_and_tried_again() {
        let (mut breaker, now, pause) = (Breaker::default(), Instant::now(), Duration::from_secs(10));
        for _ in 0..5 {
            assert!(breaker.lets_through(now, pause));
            breaker.came_back(false, now, 5, pause);
        }
        assert!(!breaker.lets_through(now, pause));
        let later = now + pause;
        assert!(breaker.lets_through(later, pause), "one is sent to see");
        assert!(!breaker.lets_through(later, pause), "and no second one");
        breaker.came_back(false, later, 5, pause);
        assert!(!breaker.lets_through(later, pause));
        let later = later + pause;
        assert!(breaker.lets_through(later, pause));
        breaker.came_back(true, later, 5, pause);
        assert!(breaker.lets_through(later, pause) && breaker.lets_through(later, pause));
    }
}
