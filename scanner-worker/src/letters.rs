//! Letters in pictures, read by `tesseract` in a process of its own.
//!
//! It never sees a file: only shades of grey that a worker decoded. It is another's program all the same, so it is
//! started by way of our own executable, which gives up everything first ([`launch()`]), and what it says has an end, in
//! bytes and in time.

use std::{
    fs::OpenOptions,
    io::{self, Read, Write},
    os::unix::{fs::OpenOptionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use scanner_core::{Letters, letters_answer, visible};

use crate::{
    job::{Engine, ReadPicture},
    process::{SIGSYS, in_words, never_block, own_executable, start_lastingly},
    shown::Shown,
    wire::Timed,
};

mod launch;

use launch::{CANNOT_START, LACKS_FENCES, Order};
pub use launch::{LETTERS_ARGUMENT, launch};

/// Its name in verdicts and metrics.
pub const LETTERS_ENGINE: &str = "tesseract";
/// Pixels of one input that are read where nobody says: a dozen charts, some ten seconds.
pub const LETTER_PIXELS: u64 = 16 * 1024 * 1024;
/// Most bytes that it may read in one picture: a dense page has some five thousand.
const TEXT_BYTES: u64 = 256 * 1024;
/// What is left of a job's time when letters are read: the verdict is still to be made.
const RESERVE: Duration = Duration::from_millis(500);
/// How long it may take to say its version, and to look at an empty picture.
const START: Duration = Duration::from_secs(20);
/// How often a process is asked whether it has ended.
const ROUND: Duration = Duration::from_millis(1);
/// Longest word of a version that is passed on.
const WORD: usize = 64;
/// A side of the empty picture: less than that is refused as none.
const BLANK: u32 = 32;

/// How letters are read.
#[derive(Clone, Debug)]
pub struct LettersSettings {
    /// The program: a path, or a name to be looked for as a shell does.
    pub program: String,
    /// The languages, as its option `-l` takes them: `eng`, `eng+deu`.
    pub languages: String,
    /// The folder with its languages, if it is not where the program looks by itself.
    pub data: Option<PathBuf>,
    /// How long all pictures of one input may take, waiting for others included.
    pub total: Duration,
    /// Most pictures of one input.
    pub most: usize,
    /// How many processes read at once; others wait.
    pub at_once: usize,
    /// Bytes of address space of the process.
    pub memory: u64,
    /// The executable that starts it, if it is not the front's own. It must call [`launch()`] when its first argument is
    /// [`LETTERS_ARGUMENT`].
    pub executable: Option<PathBuf>,
    /// Whether it is not started where the kernel lacks landlock or seccomp.
    pub strict: bool,
    /// A folder into which each text is written, under the digest of its picture: for replays.
    pub kept: Option<PathBuf>,
}

impl Default for LettersSettings {
    fn default() -> Self {
        Self {
            program: LETTERS_ENGINE.to_owned(),
            languages: "eng".to_owned(),
            data: None,
            // Less than the clock of a scan, so that a slow engine is a gap and not a timeout.
            total: Duration::from_secs(8),
            most: 16,
            at_once: 1,
            memory: 1 << 30,
            executable: None,
            strict: false,
            kept: None,
        }
    }
}

/// Who reads letters. A counted hold: all workers of a front share one.
#[derive(Clone, Debug)]
pub struct LetterReader(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: LettersSettings,
    program: PathBuf,
    version: String,
    turns: Turns,
}

/// How many may read now.
#[derive(Debug)]
struct Turns {
    free: Mutex<usize>,
    came_back: Condvar,
}

/// The right to read, given back when it is dropped.
struct Turn<'a>(&'a Turns);

impl Turns {
    fn take(&self, until: Instant) -> Option<Turn<'_>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let within = until.saturating_duration_since(Instant::now());
        let waited = self.came_back.wait_timeout_while(free, within, |free| *free == 0);
        let (mut free, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1)?;
        Some(Turn(self))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = free.saturating_add(1);
        drop(free);
        self.0.came_back.notify_one();
    }
}

impl LetterReader {
    /// Finds the program, asks for its version and shows it an empty picture.
    ///
    /// # Errors
    /// What keeps it from reading, for the operator.
    ///
    /// ```
    /// use scanner_worker::{LetterReader, LettersSettings};
    /// let nowhere = LettersSettings { program: "/nowhere/tesseract".to_owned(), ..LettersSettings::default() };
    /// assert_eq!(LetterReader::new(nowhere).unwrap_err(), "there is no program /nowhere/tesseract");
    /// ```
    pub fn new(settings: LettersSettings) -> Result<Self, String> {
        let is_language = |character: char| character.is_ascii_alphanumeric() || "_+/-".contains(character);
        if !settings.languages.starts_with(|first: char| first.is_ascii_alphanumeric())
            || !settings.languages.chars().all(is_language)
        {
            return Err(format!("\"{}\" names no languages: expected eng, or eng+deu", visible(&settings.languages)));
        }
        let program =
            found(&settings.program).ok_or_else(|| format!("there is no program {}", visible(&settings.program)))?;
        let turns = Turns { free: Mutex::new(settings.at_once.max(1)), came_back: Condvar::new() };
        let mut inner = Inner { settings, program, version: String::new(), turns };
        let until = Instant::now() + START;
        let said = inner.run(&["--version"], b"", until)?;
        inner.version = version(&said);
        let blank = vec![u8::MAX; usize::try_from(BLANK * BLANK).unwrap_or(0)];
        inner.read(&scanner_core::Picture::graymap_of(BLANK, BLANK, &blank), until).map_err(|why| {
            format!("{why} when it was shown an empty picture: has it the languages {}?", inner.settings.languages)
        })?;
        Ok(Self(Arc::new(inner)))
    }

    /// Its version, as it says.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// What it says about these pictures, before the deadline of the job. Always an answer.
    pub(crate) fn look(&self, pictures: &[Shown], deadline: Instant) -> (Engine, Vec<ReadPicture>) {
        let until = deadline.checked_sub(RESERVE).unwrap_or(deadline).min(Instant::now() + self.0.settings.total);
        let (answer, read) = match self.0.read_all(pictures, until) {
            Ok(read) => (letters_answer(&read.iter().cloned().map(Letters::from).collect::<Vec<_>>()), read),
            Err(why) => (format!("unavailable: {why}"), Vec::new()),
        };
        let engine = Engine {
            name: LETTERS_ENGINE.to_owned(),
            version: self.0.version.clone(),
            database: self.0.settings.languages.clone(),
            database_time: String::new(),
            answer,
        };
        (engine, read)
    }
}

impl Inner {
    fn read_all(&self, pictures: &[Shown], until: Instant) -> Result<Vec<ReadPicture>, String> {
        if pictures.is_empty() {
            return Ok(Vec::new());
        }
        let most = self.settings.most;
        if pictures.len() > most {
            return Err(format!("there are more than {most} pictures"));
        }
        let _turn = self.turns.take(until).ok_or("others were being read")?;
        let mut read = Vec::with_capacity(pictures.len());
        for picture in pictures {
            let text = self.read(&picture.graymap, until)?;
            if let Some(folder) = &self.settings.kept {
                keep(folder, &picture.sha256, &text).map_err(|_| "what it read could not be kept")?;
            }
            read.push(ReadPicture { picture: picture.sha256.clone(), text });
        }
        Ok(read)
    }

    /// What one picture says.
    fn read(&self, graymap: &[u8], until: Instant) -> Result<Bytes, String> {
        let said = self.run(&["stdin", "stdout", "-l", &self.settings.languages, "--psm", "3"], graymap, until)?;
        let text = String::from_utf8(said).map_err(|_| "a text that is not UTF-8")?;
        // A page ends in a form feed.
        Ok(Bytes::copy_from_slice(text.trim_end_matches(['\u{c}', '\n', ' ']).as_bytes()))
    }

    /// Starts it, gives it that and takes down what it says.
    fn run(&self, arguments: &[&str], input: &[u8], until: Instant) -> Result<Vec<u8>, String> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no answer in time".to_owned());
        }
        let order = Order {
            program: self.program.clone(),
            data: self.settings.data.clone(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            // Whole seconds, and one more: the clock on the wall comes first, and says what happened.
            seconds: left.as_secs().saturating_add(2),
            memory: self.settings.memory,
            strict: self.settings.strict,
        };
        let mut running = self.start(&order).map_err(|error| failed(&error))?;
        let said = running.converse(input, until);
        let status = running.end(until);
        // How it ended says more than a pipe that broke by that.
        match (said, status) {
            (_, Some(status)) if !status.success() => Err(ended(status)),
            (Ok(said), _) if said.len() as u64 > TEXT_BYTES => Err("a text without an end".to_owned()),
            (Ok(said), Some(_)) => Ok(said),
            (Err(error), _) => Err(failed(&error)),
            (Ok(_), None) => Err("no answer in time".to_owned()),
        }
    }

    fn start(&self, order: &Order) -> io::Result<Running> {
        let executable = self.settings.executable.clone().map_or_else(own_executable, Ok)?;
        let mut command = Command::new(executable);
        command
            .arg(LETTERS_ARGUMENT)
            .arg(serde_json::to_string(order)?)
            .env_clear()
            // More threads would be more than one process.
            .env("OMP_THREAD_LIMIT", "1")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What it complains of may quote what it read.
            .stderr(Stdio::null());
        if let Some(data) = &order.data {
            command.env("TESSDATA_PREFIX", data);
        }
        Ok(Running(start_lastingly(command)?))
    }
}

/// Writes down what one picture says, for its owner alone: there may be a secret in it. The digest is ours, so the name
/// is no word of anybody else's.
fn keep(folder: &Path, picture: &str, text: &[u8]) -> io::Result<()> {
    let path = folder.join(format!("{picture}.txt"));
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(text)
}

/// A process that does not outlive this value.
struct Running(Child);

impl Running {
    fn converse(&mut self, input: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
        let (Some(mut to), Some(from)) = (self.0.stdin.take(), self.0.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        never_block(&to)?;
        never_block(&from)?;
        match (Timed { pipe: &mut to, deadline }).write_all(input) {
            // It may have seen enough; what it says then counts.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => drop(to),
        }
        let mut said = Vec::new();
        Timed { pipe: from, deadline }.take(TEXT_BYTES + 1).read_to_end(&mut said)?;
        Ok(said)
    }

    /// How it ended; `None` when it had to be killed.
    fn end(&mut self, until: Instant) -> Option<ExitStatus> {
        loop {
            if let Ok(Some(status)) = self.0.try_wait() {
                return Some(status);
            }
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(ROUND);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both are harmless when it is gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Without what the system adds to it: the words go into receipts.
fn failed(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        kind => kind.to_string(),
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(CANNOT_START), _) => "it could not be started".to_owned(),
        (Some(LACKS_FENCES), _) => "this kernel lacks landlock or seccomp, and isolation is strict".to_owned(),
        (_, Some(SIGSYS)) => "it made a system call that reading letters does not need".to_owned(),
        _ => format!("it ended with {}", in_words(status)),
    }
}

/// Where the program is: as it is written, where that is a path, otherwise in the folders of `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| path.is_file();
    if program.contains('/') {
        return std::path::absolute(Path::new(program)).ok().filter(is_program);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).filter(|folder| folder.is_absolute()).map(|f| f.join(program)).find(is_program)
}

/// `tesseract 5.3.0`, and lines about its libraries.
fn version(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line = text.lines().next().unwrap_or_default().trim_start_matches("tesseract ");
    visible(&line.chars().take(WORD).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_its_first_line() {
        assert_eq!(version(b"tesseract 5.3.0\n leptonica-1.82.0\n"), "5.3.0");
        assert_eq!(version(b""), "");
        assert_eq!(version(&[b'a'; 500]).len(), WORD);
    }

    #[test]
    fn languages_are_words_and_no_options() {
        for languages in ["", "-c", "eng deu", "eng;", "../eng\n", "+eng"] {
            let settings = LettersSettings { languages: languages.to_owned(), ..LettersSettings::default() };
            assert!(LetterReader::new(settings).unwrap_err().contains("names no languages"), "{languages:?}");
        }
    }

    #[test]
    fn who_waits_too_long_gets_no_turn() {
        let turns = Turns { free: Mutex::new(1), came_back: Condvar::new() };
        let soon = || Instant::now() + Duration::from_millis(20);
        let first = turns.take(soon());
        assert!(first.is_some() && turns.take(soon()).is_none());
        drop(first);
        assert!(turns.take(Instant::now()).is_some());
    }
}
