//! Receipts that are kept: files that only grow, each line bound to the one before it by its digest. A verdict is
//! answered once its line is written, so the journal holds at least what callers were told.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use scanner_core::{Date, sha256_hex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::config;

mod check;

pub use check::{Checked, check};

/// The schema of its lines.
const SCHEMA: &str = "scanner.journal/v1";
/// What stands before the first line there ever was.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Longest line that is read back: a receipt of the most artifacts there can be, and then some.
const LINE_BYTES: u64 = 64 << 20;
const DAY: u64 = 86_400;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<'a> {
    schema: &'a str,
    /// Counted from one, without a hole.
    number: u64,
    /// SHA-256 of the line before, without its line end.
    previous: &'a str,
    /// Seconds since 1970. Never less than before, whatever the clock does.
    time: u64,
    tenant: Option<&'a str>,
    request: &'a str,
    #[serde(borrow)]
    receipt: &'a RawValue,
}

/// The journal, open for writing.
#[derive(Debug)]
pub(crate) struct Journal {
    settings: config::Journal,
    folder: PathBuf,
    end: Mutex<End>,
}

/// Where it goes on.
#[derive(Debug)]
struct End {
    file: Option<File>,
    /// Bytes of the file that are whole lines.
    length: u64,
    number: u64,
    previous: String,
    time: u64,
    /// The day of the last line.
    day: u64,
    /// The day on which old files were looked for.
    pruned: u64,
}

/// The name of the file whose first line has that number: sorted by name is sorted by number.
fn segment(number: u64) -> String {
    format!("{number:020}.jsonl")
}

/// The files of a journal, oldest first, with the numbers of their first lines.
fn segments(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".jsonl")?.parse().ok());
        if let Some(number) = number.filter(|number| *name == *segment(*number)) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

impl Journal {
    /// Opens the journal, where the configuration names one. A line that was cut off by the end of a process is not
    /// one: nobody was answered for it.
    ///
    /// # Errors
    /// When the folder cannot be used, or its last line is not of a journal.
    pub(crate) fn open(settings: &config::Journal) -> io::Result<Option<Self>> {
        let Some(folder) = settings.folder.clone() else { return Ok(None) };
        fs::create_dir_all(&folder)?;
        let mut end =
            End { file: None, length: 0, number: 0, previous: NOTHING.to_owned(), time: 0, day: 0, pruned: 0 };
        // The last file may hold no whole line yet: then the one before it tells where to go on.
        for (_, path) in segments(&folder)?.into_iter().rev() {
            let mut file = OpenOptions::new().read(true).append(true).open(&path)?;
            let (length, last) = last_line(&mut file)?;
            file.set_len(length)?;
            let Some(line) = last else {
                fs::remove_file(&path)?;
                continue;
            };
            let entry: Entry<'_> = serde_json::from_slice(&line)
                .map_err(|error| io::Error::other(format!("{}: not a journal: {error}", path.display())))?;
            end = End {
                file: Some(file),
                length,
                number: entry.number,
                previous: sha256_hex(&line),
                time: entry.time,
                day: entry.time / DAY,
                pruned: 0,
            };
            break;
        }
        Ok(Some(Self { settings: settings.clone(), folder, end: Mutex::new(end) }))
    }

    /// Writes a receipt down. After an error nothing of it is left, and the verdict must not be answered.
    ///
    /// # Errors
    /// When it could not be written: no space, or no receipt.
    pub(crate) fn write(&self, receipt: &str, tenant: Option<&str>, request: &str, now: u64) -> io::Result<()> {
        let receipt: &RawValue = serde_json::from_str(receipt)?;
        // A panic elsewhere leaves at worst bytes beyond the length, which are cut off below.
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let time = now.max(end.time);
        let number = end.number.saturating_add(1);
        let entry = Entry { schema: SCHEMA, number, previous: &end.previous, time, tenant, request, receipt };
        let mut line = serde_json::to_vec(&entry)?;
        let digest = sha256_hex(&line);
        line.push(b'\n');
        let day = time / DAY;
        if end.length >= self.settings.segment.0 || day != end.day {
            end.file = None;
        }
        let mut file = match end.file.take() {
            Some(file) => file,
            None => {
                end.length = 0;
                OpenOptions::new().create(true).append(true).open(self.folder.join(segment(number)))?
            }
        };
        let written = file.write_all(&line).and_then(|()| if self.settings.sync { file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // Half a line must not stand before the next one. Where even that fails a new file is begun.
            if file.set_len(end.length).is_ok() {
                end.file = Some(file);
            }
            return Err(error);
        }
        end.file = Some(file);
        end.length = end.length.saturating_add(line.len() as u64);
        (end.number, end.previous, end.time, end.day) = (number, digest, time, day);
        if end.pruned != day {
            end.pruned = day;
            self.prune(day);
        }
        Ok(())
    }

    /// Removes files whose last line is older than the days kept. The newest stays whatever its age: its lines name
    /// what was before them, so the chain goes on.
    fn prune(&self, today: u64) {
        let oldest = today.saturating_sub(self.settings.days.into()).saturating_mul(DAY);
        let Ok(segments) = segments(&self.folder) else { return };
        for (_, path) in segments.iter().rev().skip(1).rev() {
            let last = File::open(path).and_then(|mut file| last_line(&mut file)).ok().and_then(|(_, last)| last);
            let time = last.and_then(|line| serde_json::from_slice::<Entry<'_>>(&line).ok().map(|entry| entry.time));
            if time.is_none_or(|time| time >= oldest) {
                return;
            }
            if let Err(error) = fs::remove_file(path) {
                tracing::warn!(error = %error, "a file of the journal could not be removed");
                return;
            }
        }
    }
}

/// The length of all whole lines of a file, and the last of them.
fn last_line(file: &mut File) -> io::Result<(u64, Option<Vec<u8>>)> {
    file.rewind()?;
    let mut reader = BufReader::new(Read::by_ref(file));
    let (mut length, mut last) = (0, None);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Ok((length, last));
        }
        length += read as u64;
        last = Some(line);
    }
}

/// The day of some seconds since 1970, for people.
fn day_of(time: u64) -> String {
    Date::from_unix_seconds(time).to_string()
}

#[cfg(test)]
mod tests;
