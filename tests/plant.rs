//! `cargo run -p scanner-tests --bin plant`: names the planted bugs, each with its round and target. With a name and the root of a
//! checkout: puts that bug into it.
#![allow(clippy::print_stdout, reason = "its answer")]

use std::{env, fs, io, path::PathBuf};

use scanner_tests::{planted::planted, root};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let bugs = planted(&root())?;
    let [name, checkout] = arguments.as_slice() else {
        bugs.iter().for_each(|bug| println!("{} {} {}", bug.round, bug.name, bug.target));
        return Ok(());
    };
    let checkout = PathBuf::from(checkout);
    let bug = bugs.iter().find(|bug| bug.name == *name).ok_or(io::ErrorKind::NotFound)?;
    let changed = bug.applied(&checkout)?.ok_or_else(|| io::Error::other("its place is not there"))?;
    fs::write(checkout.join(&bug.file), changed)?;
    println!("{}", bug.file.display());
    Ok(())
}
