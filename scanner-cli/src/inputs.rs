//! From paths on the command line to inputs, one by one. Nothing is read before its turn.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use rustix::fs::{Mode, OFlags};
use scanner_core::{Limits, Resource};

use crate::problem::Problem;

/// Folders below folders, at most. Deeper ones are a bind mount that contains itself, or a mistake.
const DEEPEST: usize = 64;

/// One input, not read yet.
#[derive(Debug)]
pub(crate) struct Place {
    /// As given, or found: for messages.
    pub(crate) shown: String,
    /// Base name, or the path below the folder that was given.
    pub(crate) name: Option<String>,
    path: Option<PathBuf>,
}

/// The inputs that the paths stand for, and what is wrong with those that stand for none. A folder is one input per
/// regular file in it, sorted; links inside are not followed.
pub(crate) fn places(paths: &[PathBuf]) -> Vec<Result<Place, Problem>> {
    let mut all = Vec::new();
    for path in paths {
        let shown = path.to_string_lossy().into_owned();
        if path.as_os_str() == "-" {
            all.push(Ok(Place { shown, name: None, path: None }));
        } else if path.is_dir() {
            let mut below = Vec::new();
            list(path, path, DEEPEST, &mut below);
            if below.is_empty() {
                all.push(Err(Problem {
                    input: shown,
                    code: "empty_folder",
                    message: "the folder holds no file".to_owned(),
                }));
            }
            all.extend(below);
        } else {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            all.push(Ok(Place { shown, name, path: Some(path.clone()) }));
        }
    }
    all
}

fn list(root: &Path, folder: &Path, deeper: usize, all: &mut Vec<Result<Place, Problem>>) {
    let problem =
        |path: &Path, code, message: String| Err(Problem { input: path.to_string_lossy().into_owned(), code, message });
    let Some(deeper) = deeper.checked_sub(1) else {
        all.push(problem(
            folder,
            "too_deep",
            format!("folders are nested deeper than {DEEPEST}: nothing in here was scanned"),
        ));
        return;
    };
    let entries = match fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>()) {
        Ok(entries) => entries,
        Err(error) => {
            all.push(problem(folder, "unreadable", error.to_string()));
            return;
        }
    };
    let mut entries: Vec<(PathBuf, io::Result<fs::FileType>)> =
        entries.into_iter().map(|entry| (entry.path(), entry.file_type())).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, kind) in entries {
        match kind {
            Err(error) => all.push(problem(&path, "unreadable", error.to_string())),
            Ok(kind) if kind.is_dir() => list(root, &path, deeper, all),
            Ok(kind) if kind.is_symlink() => {}
            Ok(_) => {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                all.push(Ok(Place { shown: path.to_string_lossy().into_owned(), name: Some(name), path: Some(path) }));
            }
        }
    }
}

impl Place {
    /// The bytes of the input, if they are not more than one scan takes.
    pub(crate) fn read(&self, limits: &Limits) -> Result<Vec<u8>, Problem> {
        let bytes = match &self.path {
            Some(path) => read_file(path, limits),
            None => read_capped(io::stdin().lock(), limits),
        };
        bytes.map_err(|(code, message)| Problem { input: self.shown.clone(), code, message })
    }
}

type Why = (&'static str, String);

/// A regular file, whole. Opening never waits: a FIFO without a writer, a socket or a device is refused.
fn read_file(path: &Path, limits: &Limits) -> Result<Vec<u8>, Why> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| ("unreadable", io::Error::from(errno).to_string()))?;
    let file = File::from(file);
    let about = file.metadata().map_err(|error| ("unreadable", error.to_string()))?;
    if !about.is_file() {
        return Err((
            "not_a_file",
            format!("{}: nothing was scanned. Use - to scan standard input", kind_of(about.file_type())),
        ));
    }
    // Sparse files say their size before they are read: ten gigabytes of nothing cost nothing.
    if about.len() > limits.get(Resource::EnvelopeBytes) {
        return Err(too_large(limits));
    }
    read_capped(file, limits)
}

fn kind_of(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a FIFO, not a regular file"
    } else if kind.is_socket() {
        "a socket, not a regular file"
    } else if kind.is_dir() {
        "a folder, not a regular file"
    } else {
        "a device, not a regular file"
    }
}

fn read_capped(from: impl Read, limits: &Limits) -> Result<Vec<u8>, Why> {
    let most = limits.get(Resource::EnvelopeBytes);
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| ("unreadable", error.to_string()))?;
    if bytes.len() as u64 > most { Err(too_large(limits)) } else { Ok(bytes) }
}

fn too_large(limits: &Limits) -> Why {
    ("too_large", scanner_core::too_large(limits))
}

/// A file that an option names: attachments, watch lists, rules, policies.
pub(crate) fn read_named(path: &Path, limits: &Limits) -> Result<Vec<u8>, Problem> {
    read_file(path, limits).map_err(|(code, message)| Problem {
        input: path.to_string_lossy().into_owned(),
        code,
        message,
    })
}

/// A file of the operator, as text.
pub(crate) fn read_text(path: &Path) -> Result<String, Problem> {
    let bytes = read_named(path, &Limits::default())?;
    String::from_utf8(bytes).map_err(|_| Problem {
        input: path.to_string_lossy().into_owned(),
        code: "not_utf8",
        message: "the file is not UTF-8 text".to_owned(),
    })
}

/// The file that a bundle beside it names. The name is the bundle's, so it may not lead out of the bundle's folder,
/// neither by itself nor through a link.
pub(crate) fn read_beside(bundle: &Place, name: &str, limits: &Limits) -> Option<Vec<u8>> {
    let folder = bundle.path.as_deref()?.parent()?;
    let folder = if folder.as_os_str() == OsStr::new("") { Path::new(".") } else { folder };
    let relative = Path::new(name);
    if !relative.components().all(|component| matches!(component, Component::Normal(_))) {
        return None;
    }
    let root = folder.canonicalize().ok()?;
    let path = root.join(relative).canonicalize().ok()?;
    path.starts_with(&root).then(|| read_file(&path, limits).ok()).flatten()
}

/// The names of the regular files below a folder, sorted, with their paths. For `--as runner FOLDER`.
pub(crate) fn files_below(folder: &Path) -> Vec<Result<Place, Problem>> {
    let mut all = Vec::new();
    list(folder, folder, DEEPEST, &mut all);
    all
}
