//! Writes the cases that a program makes into `corpus/`, and the list of them. What is no longer made goes, with its
//! golden; goldens of new cases are written by `BLESS=1 cargo test -p scanner-tests --test corpus`.

use std::{collections::BTreeSet, fs, io, process::ExitCode};

use scanner_tests::{made, root};

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("make-corpus: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn write() -> io::Result<()> {
    let (corpus, list) = (root().join("corpus"), root().join(made::LIST));
    let before = fs::read_to_string(&list).unwrap_or_default();
    let before: BTreeSet<&str> = before.lines().filter_map(|line| line.split('\t').next()).collect();
    let cases = made::all();
    let by_hand = |case: &&made::Made| !before.contains(case.name.as_str()) && corpus.join(&case.name).is_file();
    let taken: Vec<&str> = cases.iter().filter(by_hand).map(|case| case.name.as_str()).collect();
    if !taken.is_empty() {
        return Err(io::Error::other(format!("written by hand, and under the same name: {}", taken.join(", "))));
    }
    for case in &cases {
        let path = corpus.join(&case.name);
        if let Some(area) = path.parent() {
            fs::create_dir_all(area)?;
        }
        fs::write(path, &case.file)?;
    }
    let now: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    for gone in before.difference(&now) {
        for file in [(*gone).to_owned(), format!("{gone}.want")] {
            match fs::remove_file(corpus.join(file)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    fs::write(list, made::list(&cases))
}
