//! The configuration: one TOML file, and the environment over it. docs/configuration.md documents every key.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use scanner_worker::{LETTER_PIXELS, LettersSettings};
use serde::Deserialize;

mod read;
mod value;

pub use read::ConfigError;
pub use value::{Amount, Limit, Time};

/// Everything an operator can set.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Where requests are taken. Beyond loopback only with tokens.
    pub listen: SocketAddr,
    /// Where health and metrics are answered; no content, no token.
    pub admin: SocketAddr,
    /// The policy of who names none.
    pub policy: String,
    /// Policy files beside those that ship.
    pub policies: Vec<PathBuf>,
    /// Rule files beside those that ship, or folders of them.
    pub rules: Vec<PathBuf>,
    /// How often those files are looked at for changes; 0 is never.
    pub watch: Time,
    /// Whether `/docs` is answered.
    pub docs: bool,
    /// Limits of one scan.
    pub limits: BTreeMap<Limit, Amount>,
    /// The processes that parse.
    pub workers: Workers,
    /// The virus scanner beside our own.
    pub clamav: ClamAv,
    /// The program that reads letters in pictures.
    pub letters: Letters,
    /// Receipts that are kept.
    pub journal: Journal,
    /// Bodies on their way in.
    pub body: Body,
    /// Connections.
    pub connections: Connections,
    /// How the service ends.
    pub shutdown: Shutdown,
    /// What is logged.
    pub log: Log,
    /// Who may ask.
    pub tokens: Vec<Token>,
}

/// `[workers]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Workers {
    /// How many; each scans one input at a time.
    pub count: usize,
    /// How many inputs may wait.
    pub queue: usize,
    /// How long one may wait.
    pub wait: Time,
    /// Fresh workers beside those at work.
    pub spare: usize,
    /// Inputs of one worker before it is thrown away.
    pub jobs: u32,
    /// Whether the service refuses to run where the kernel lacks landlock or seccomp.
    pub strict: bool,
    /// The executable, if it is not this one.
    pub executable: Option<PathBuf>,
}

/// `[clamav]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ClamAv {
    /// Where clamd listens: the path of its socket, or `HOST:PORT`. Without it nobody is asked.
    pub address: Option<String>,
    /// How long a connection may take.
    pub connect: Time,
    /// How long clamd may take for one request, whatever it is doing.
    pub total: Time,
    /// Largest file that is sent: the `StreamMaxLength` of clamd.
    pub most: Amount,
    /// Requests it may fail in a row before it is left alone.
    pub failures: u32,
    /// For how long it is left alone.
    pub pause: Time,
}

/// `[letters]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Letters {
    /// The program: `tesseract`, or its path. Without it nobody reads letters.
    pub program: Option<String>,
    /// The languages it looks for.
    pub languages: String,
    /// The folder with its languages, if it is not where the program looks by itself.
    pub data: Option<PathBuf>,
    /// Pixels of one input that are read, where `limits.letter_pixels` does not say.
    pub pixels: Amount,
    /// Most pictures of one input.
    pub most: usize,
    /// How long all pictures of one input may take.
    pub total: Time,
    /// How many pictures are read at once.
    pub at_once: usize,
    /// Bytes of address space of the program.
    pub memory: Amount,
}

/// `[journal]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Journal {
    /// Where receipts are kept. Without it none are.
    pub folder: Option<PathBuf>,
    /// For how many days.
    pub days: u32,
    /// Bytes after which a new file is begun; one is begun each day, too.
    pub segment: Amount,
    /// Whether each receipt is on the disk before its verdict is answered, and not only with the system.
    pub sync: bool,
}

/// `[body]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Body {
    /// How much of one body stays in memory; what is more waits in a file without a name.
    pub memory: Amount,
    /// Where that file is made, if not in the system's folder for temporary files.
    pub folder: Option<PathBuf>,
    /// How long the next bytes may take.
    pub idle: Time,
    /// How long a body may take before its pace counts.
    pub start: Time,
    /// Bytes a second it must keep up from then on.
    pub pace: u64,
    /// How many bodies may be on their way in at once.
    pub uploads: usize,
    /// Bytes of all `attach:REF` parts of one request.
    pub attached: Amount,
    /// Parts of a multipart body.
    pub parts: usize,
}

/// `[connections]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Connections {
    /// How many at once.
    pub most: usize,
    /// How long the head of a request may take.
    pub head: Time,
    /// How long a connection may stay without a request, and an answer unread.
    pub idle: Time,
}

/// `[shutdown]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Shutdown {
    /// How long connections are still taken after SIGTERM, while `/readyz` already says no.
    pub grace: Time,
    /// How long the requests under way may take then.
    pub finish: Time,
}

/// `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Log {
    /// How much.
    pub level: Level,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing.
    Off,
    /// What is broken here.
    Error,
    /// Also what may need a person.
    Warn,
    /// Also one line per request.
    Info,
    /// Also connections.
    Debug,
}

/// `[[tokens]]`: who may ask, and for what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Token {
    /// Whose it is.
    pub tenant: String,
    /// SHA-256 of the token, in hexadecimal.
    pub sha256: String,
    /// The policy of requests that name none.
    pub policy: Option<String>,
    /// Other policies it may ask for. None may be looser.
    #[serde(default)]
    pub policies: Vec<String>,
    /// Requests a second, on average; ten seconds' worth may come at once. 0 is no limit.
    #[serde(default)]
    pub rate: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            admin: (Ipv4Addr::LOCALHOST, 8081).into(),
            policy: "default".to_owned(),
            policies: Vec::new(),
            rules: Vec::new(),
            watch: Time(Duration::ZERO),
            docs: true,
            limits: BTreeMap::new(),
            workers: Workers::default(),
            clamav: ClamAv::default(),
            letters: Letters::default(),
            journal: Journal::default(),
            body: Body::default(),
            connections: Connections::default(),
            shutdown: Shutdown::default(),
            log: Log { level: Level::Info },
            tokens: Vec::new(),
        }
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            count: std::thread::available_parallelism().map_or(2, usize::from),
            queue: 64,
            // A client that waits longer has given up.
            wait: Time(Duration::from_secs(30)),
            spare: 1,
            // A start costs as much as some hundred small scans: less than a hundredth on each.
            jobs: 1_000,
            strict: false,
            executable: None,
        }
    }
}

impl Default for ClamAv {
    fn default() -> Self {
        Self {
            address: None,
            connect: Time(Duration::from_secs(1)),
            // Less than the clock of a scan, so that a slow engine is a gap and not a timeout.
            total: Time(Duration::from_secs(5)),
            // What Debian's clamd.conf sets.
            most: Amount(25 << 20),
            failures: 5,
            pause: Time(Duration::from_secs(10)),
        }
    }
}

impl Default for Letters {
    fn default() -> Self {
        let LettersSettings { languages, total, most, at_once, memory, .. } = LettersSettings::default();
        Self {
            program: None,
            languages,
            data: None,
            pixels: Amount(LETTER_PIXELS),
            most,
            total: Time(total),
            at_once,
            memory: Amount(memory),
        }
    }
}

impl Letters {
    /// How letters are read, where a program is named that reads them.
    pub(crate) fn settings(&self, workers: &Workers) -> Option<LettersSettings> {
        // An empty one is none: environments that always set the variable have no other way to say so.
        let program = self.program.clone().filter(|program| !program.is_empty())?;
        Some(LettersSettings {
            program,
            languages: self.languages.clone(),
            data: self.data.clone(),
            total: self.total.0,
            most: self.most,
            at_once: self.at_once,
            memory: self.memory.0,
            executable: workers.executable.clone(),
            strict: workers.strict,
            kept: None,
        })
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self { folder: None, days: 30, segment: Amount(64 << 20), sync: false }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self {
            // An ordinary tool result never touches the disk.
            memory: Amount(256 << 10),
            folder: None,
            idle: Time(Duration::from_secs(10)),
            start: Time(Duration::from_secs(15)),
            pace: 16 << 10,
            uploads: 128,
            attached: Amount(64 << 20),
            parts: 1_000,
        }
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self { most: 1_024, head: Time(Duration::from_secs(5)), idle: Time(Duration::from_secs(60)) }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        // 30 s is what orchestrators grant before they kill.
        Self { grace: Time(Duration::ZERO), finish: Time(Duration::from_secs(25)) }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: Level::Info }
    }
}

#[cfg(test)]
mod tests;
