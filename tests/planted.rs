//! Planted bugs: changes that put a fault into the product, kept in `fuzz/planted` as what to find in which file and what
//! to put there. `.ci/long planted` tells which fuzz target finds each, and after how long.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// One planted bug.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The name of its file, without the ending.
    pub name: String,
    /// What is wrong then.
    pub why: String,
    /// The target that should find it.
    pub target: String,
    /// Bugs of one round are put in together: none is in the way of another's target.
    pub round: u8,
    /// The file it is in, from the root.
    pub file: PathBuf,
    /// What stands there, once.
    pub find: String,
    /// What is put there.
    pub put: String,
}

/// Every planted bug, by round and name.
///
/// # Errors
/// A file that cannot be read, or is not written as they are.
pub fn planted(root: &Path) -> io::Result<Vec<Planted>> {
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("fuzz/planted"))?.flatten().map(|file| file.path()).collect();
    files.sort();
    let bugs = files.iter().map(|path| read(path).ok_or_else(|| io::Error::other(path.display().to_string())));
    let mut bugs = bugs.collect::<io::Result<Vec<_>>>()?;
    bugs.sort_by_key(|bug| bug.round);
    Ok(bugs)
}

fn read(path: &Path) -> Option<Planted> {
    let text = fs::read_to_string(path).ok()?;
    let (head, change) = text.split_once("--- find\n")?;
    let (find, put) = change.split_once("\n--- put\n")?;
    let field = |key: &str| head.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().to_owned());
    Some(Planted {
        name: path.file_stem()?.to_str()?.to_owned(),
        why: field("why:")?,
        target: field("target:")?,
        round: field("round:")?.parse().ok()?,
        file: field("file:")?.into(),
        find: find.to_owned(),
        put: put.strip_suffix('\n')?.to_owned(),
    })
}

impl Planted {
    /// The file with the bug in it; `None` where what it replaces does not stand there exactly once.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn applied(&self, root: &Path) -> io::Result<Option<String>> {
        let text = fs::read_to_string(root.join(&self.file))?;
        let is_once = text.matches(&self.find).count() == 1;
        Ok(is_once.then(|| text.replacen(&self.find, &self.put, 1)))
    }
}
