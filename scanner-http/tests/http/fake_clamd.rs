//! A clamd that does as it is told, which may be anything.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::net::UnixListener,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// What it does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Reads it and says this.
    Says(&'static [u8]),
    /// Reads it and says nothing.
    Silent,
    /// Reads it and talks without an end.
    Floods,
    /// Closes at once.
    Closes,
    /// Reads a little, complains of the size and closes, as clamd does over its `StreamMaxLength`.
    TooLarge,
    /// Reads nothing, so that its caller's writes stand still.
    Stuck,
    /// Says when it was told the version, and nothing else.
    NoVersion,
}

pub(crate) const CLEAN: Deed = Deed::Says(b"stream: OK\0");

#[derive(Debug)]
pub(crate) struct FakeClamd {
    pub(crate) address: String,
    deed: Arc<Mutex<Deed>>,
    connections: Arc<AtomicUsize>,
    /// What it was shown.
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl FakeClamd {
    pub(crate) fn start(deed: Deed) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let fake = Self::at(listener.local_addr().unwrap().to_string(), deed);
        fake.serve(move || listener.accept().map(|(stream, _)| stream));
        fake
    }

    pub(crate) fn on_socket(path: &Path, deed: Deed) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let fake = Self::at(path.to_str().unwrap().to_owned(), deed);
        fake.serve(move || listener.accept().map(|(stream, _)| stream));
        fake
    }

    fn at(address: String, deed: Deed) -> Self {
        Self { address, deed: Arc::new(Mutex::new(deed)), connections: Arc::default(), seen: Arc::default() }
    }

    fn serve<S: Read + Write + Send + 'static>(&self, accept: impl Fn() -> io::Result<S> + Send + 'static) {
        let (deed, connections, seen) = (self.deed.clone(), self.connections.clone(), self.seen.clone());
        thread::spawn(move || {
            while let Ok(stream) = accept() {
                connections.fetch_add(1, Ordering::Relaxed);
                let (deed, seen) = (*deed.lock().unwrap(), seen.clone());
                thread::spawn(move || answer(stream, deed, &seen));
            }
        });
    }

    pub(crate) fn now(&self, deed: Deed) {
        *self.deed.lock().unwrap() = deed;
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn seen(&self) -> Vec<Vec<u8>> {
        self.seen.lock().unwrap().clone()
    }
}

/// One connection. Whoever hangs up meanwhile is none of its business.
fn answer(mut stream: impl Read + Write, deed: Deed, seen: &Mutex<Vec<Vec<u8>>>) -> Option<()> {
    let mut command = Vec::new();
    let mut byte = [0];
    while !command.ends_with(b"\0") {
        stream.read_exact(&mut byte).ok()?;
        command.push(byte[0]);
    }
    if command == b"zVERSION\0" {
        if deed == Deed::NoVersion {
            thread::sleep(Duration::from_secs(20));
        }
        return stream.write_all(b"ClamAV 1.4.3/27000/Sat Nov 28 10:00:00 2026\0").ok();
    }
    assert_eq!(command, b"zINSTREAM\0");
    match deed {
        Deed::Closes => return None,
        Deed::Stuck => {
            thread::sleep(Duration::from_secs(20));
            return None;
        }
        Deed::TooLarge => {
            stream.read_exact(&mut [0; 64]).ok()?;
            return stream.write_all(b"INSTREAM size limit exceeded. ERROR\0").ok();
        }
        _ => {}
    }
    let mut file = Vec::new();
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length).ok()?;
        let length = u32::from_be_bytes(length) as usize;
        if length == 0 {
            break;
        }
        let start = file.len();
        file.resize(start + length, 0);
        stream.read_exact(&mut file[start..]).ok()?;
    }
    seen.lock().unwrap().push(file);
    match deed {
        Deed::Says(words) => stream.write_all(words).ok(),
        Deed::Silent => {
            thread::sleep(Duration::from_secs(20));
            None
        }
        Deed::Floods => loop {
            stream.write_all(&[b'x'; 4096]).ok()?;
        },
        _ => None,
    }
}

/// An address where nobody listens.
pub(crate) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert!(TcpStream::connect(address).is_err());
    address.to_string()
}
