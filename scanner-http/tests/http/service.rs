//! The service under test, and what it answers.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A running service; it is killed when dropped.
pub(crate) struct Service {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    /// The lines it logged so far.
    log: Arc<Mutex<Vec<String>>>,
    reading: Option<JoinHandle<()>>,
    folder: TempDir,
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// That it is this error, in every form errors have.
    #[track_caller]
    pub(crate) fn is_error(&self, status: u16, code: &str) -> String {
        assert_eq!((self.status, self.header("content-type")), (status, Some("application/problem+json")), "{self:?}");
        assert!(self.header("x-request-id").is_some(), "{self:?}");
        let problem = self.json();
        assert_eq!((&problem["code"], &problem["status"]), (&Value::from(code), &Value::from(status)), "{problem}");
        problem["detail"].as_str().unwrap().to_owned()
    }

    /// That it is a verdict.
    #[track_caller]
    pub(crate) fn is_verdict(&self) -> Value {
        assert_eq!((self.status, self.header("content-type")), (200, Some("application/json")), "{}", self.text());
        let verdict = self.json();
        assert_eq!(verdict["schema"], "scanner.verdict/v1");
        assert_eq!(self.header("x-scan-decision"), verdict["decision"].as_str());
        verdict
    }
}

impl Service {
    /// A service with these lines of configuration.
    pub(crate) fn start(config: &str) -> Self {
        Self::start_with(config, &[])
    }

    /// The same, with these files in its folder before it starts.
    pub(crate) fn start_with(config: &str, files: &[(&str, &str)]) -> Self {
        Self::ready(Self::launched(spawn(config, files, &[])))
    }

    /// The same, with these variables in its environment.
    pub(crate) fn start_under(config: &str, environment: &[(&str, &str)]) -> Self {
        Self::ready(Self::launched(spawn(config, &[], environment)))
    }

    /// The same, of another file of the same program.
    pub(crate) fn start_from(executable: &Path, config: &str) -> Self {
        Self::ready(Self::launched(spawn_from(executable, config, &[], &[])))
    }

    fn ready(service: Self) -> Self {
        let until = Instant::now() + Duration::from_secs(60);
        while service.admin("/readyz").status != 200 {
            assert!(Instant::now() < until, "not ready: {:?}", service.log());
            thread::sleep(Duration::from_millis(20));
        }
        service
    }

    /// The same, without waiting for its workers.
    pub(crate) fn start_unready(config: &str) -> Self {
        Self::launched(spawn(config, &[], &[]))
    }

    fn launched((mut child, folder): (Child, TempDir)) -> Self {
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let listening: Value =
            serde_json::from_str(&first).unwrap_or_else(|_| panic!("{first}{}", rest(lines.get_mut())));
        let address = |key: &str| listening[key].as_str().unwrap().parse().unwrap();
        let log = Arc::new(Mutex::new(vec![first.trim_end().to_owned()]));
        let (address, admin) = (address("address"), address("admin"));
        let into = log.clone();
        let reading = thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                into.lock().unwrap().push(line);
            }
        });
        Self { child, address, admin, log, reading: Some(reading), folder }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// A folder for files of the test.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The worker processes.
    pub(crate) fn workers(&self) -> Vec<Pid> {
        let mut workers = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
            else {
                continue;
            };
            let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
            if parent == Some(self.child.id()) {
                workers.push(pid);
            }
        }
        workers
    }

    /// All of them: on a busy machine the last is started well after the first is ready.
    pub(crate) fn signal_workers(&self, signal: Signal) {
        if signal == Signal::STOP {
            let mut before = Vec::new();
            while before.is_empty() || before != self.workers() {
                before = self.workers();
                self.until(&format!("scanner_workers {}", before.len().max(1)));
                thread::sleep(Duration::from_millis(300));
            }
        }
        for worker in self.workers() {
            let _ = kill_process(worker, signal);
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// How it ended, within that time.
    pub(crate) fn ended(&mut self, within: Duration) -> ExitStatus {
        let until = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.reading.take().unwrap().join().unwrap();
                return status;
            }
            assert!(Instant::now() < until, "still running: {:?}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::to(self.address)
    }

    /// One request on a connection of its own.
    pub(crate) fn send(&self, head: &str, body: &[u8]) -> Answer {
        self.connect().ask(head, body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1"), b"")
    }

    /// A scan of a raw body.
    pub(crate) fn scan(&self, query: &str, body: &[u8]) -> Answer {
        self.send(&format!("POST /v1/scan?{query} HTTP/1.1"), body)
    }

    pub(crate) fn admin(&self, path: &str) -> Answer {
        Client::to(self.admin).ask(&format!("GET {path} HTTP/1.1"), b"")
    }

    /// Of `/proc/PID/status`, a number in kB or of another kind.
    pub(crate) fn status(&self, key: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(&format!("{key}:"))).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Open descriptors of the front.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// The sum of a counter, whatever its labels, where they hold that text.
    pub(crate) fn sum(&self, name: &str, label: &str) -> u64 {
        let metrics = self.admin("/metrics");
        let lines = metrics.text().lines().filter(|line| line.starts_with(name) && line.contains(label));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// Waits until the log has a line with that in it.
    #[track_caller]
    pub(crate) fn logs(&self, words: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        while !self.log().iter().any(|line| line.contains(words)) {
            assert!(Instant::now() < until, "no {words} in {:?}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the metrics have that line.
    #[track_caller]
    pub(crate) fn until(&self, line: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let metrics = self.admin("/metrics");
            if metrics.text().lines().any(|known| known == line) {
                return;
            }
            assert!(Instant::now() < until, "no {line} in\n{}", metrics.text());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process with these lines of configuration, on ports that the system chooses.
fn spawn(config: &str, files: &[(&str, &str)], environment: &[(&str, &str)]) -> (Child, TempDir) {
    spawn_from(Path::new(env!("CARGO_BIN_EXE_scanner-http")), config, files, environment)
}

fn spawn_from(
    executable: &Path,
    config: &str,
    files: &[(&str, &str)],
    environment: &[(&str, &str)],
) -> (Child, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("scanner.toml");
    let listen = if config.contains("listen = ") { "" } else { "listen = \"127.0.0.1:0\"\n" };
    let config = config.replace("FOLDER", folder.path().to_str().unwrap());
    fs::write(&path, format!("{listen}admin = \"127.0.0.1:0\"\n{config}")).unwrap();
    let child = Command::new(executable)
        .args(["--config".as_ref(), path.as_os_str()])
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    (child, folder)
}

/// What a service says that does not start, and its exit code.
pub(crate) fn refuses(config: &str) -> (Option<i32>, String) {
    let (mut child, folder) = spawn(config, &[], &[]);
    let said = rest(child.stderr.as_mut().unwrap());
    let code = child.wait().unwrap().code();
    (code, said.replace(&format!("{}/", folder.path().display()), ""))
}

fn rest(from: &mut impl Rest) -> String {
    let mut text = String::new();
    from.rest().read_to_string(&mut text).unwrap();
    text
}

trait Rest {
    fn rest(&mut self) -> &mut dyn Read;
}

impl Rest for ChildStderr {
    fn rest(&mut self) -> &mut dyn Read {
        self
    }
}

/// A connection that sends what it is told, whatever that is.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).unwrap())
    }

    pub(crate) fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Bytes as they are. The other side may have closed already: its answer is what counts.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.get_mut().write_all(bytes).is_ok()
    }

    /// Says that nothing more will be sent.
    pub(crate) fn half_close(&mut self) {
        let _ = self.stream.get_ref().shutdown(std::net::Shutdown::Write);
    }

    /// A request with a body of known length, and its answer. The connection stays open.
    pub(crate) fn ask(&mut self, head: &str, body: &[u8]) -> Answer {
        self.write(format!("{head}\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes());
        self.write(body);
        self.answer().expect("an answer")
    }

    /// The next answer; `None` when the connection ends without one.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        if head.starts_with("HTTP/1.1 100 ") {
            return self.answer();
        }
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let mut answer = Answer { status, head, body: Vec::new() };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        answer.body.resize(length, 0);
        self.stream.read_exact(&mut answer.body).ok()?;
        Some(answer)
    }

    /// Whether the connection is closed, within that time.
    pub(crate) fn closes(&mut self, within: Duration) -> bool {
        self.stream.get_ref().set_read_timeout(Some(within)).unwrap();
        match self.stream.read(&mut [0; 1]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}
