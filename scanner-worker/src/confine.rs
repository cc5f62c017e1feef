//! What a worker gives up before it reads an input: files, sockets, processes, privileges, and most of the kernel.
//!
//! Each layer holds alone, so that a hole in one is not a hole in all: descriptors are closed and no new ones can be
//! opened (rlimits), no path and no port can be reached (landlock), and every system call that reading bytes and
//! writing an answer does not need ends the process (seccomp).

use std::{fmt, fs, io, path::PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::{
    process::{
        DumpableBehavior, Resource, Rlimit, Signal, set_dumpable_behavior, set_parent_process_death_signal, setrlimit,
    },
    thread::set_no_new_privs,
    time::{ClockId, clock_gettime},
};
use serde::{Deserialize, Serialize};

mod calls;

/// One of the fences. Workers have all of them; tests take some away to see that the others hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layer {
    /// Inherited descriptors are closed; no core dumps, no files, no processes, so much memory.
    Limits,
    /// No path can be opened, no port reached, no signal sent.
    Landlock,
    /// Only the calls that scanning needs.
    Seccomp,
}

impl Layer {
    /// All.
    pub const ALL: [Self; 3] = [Self::Limits, Self::Landlock, Self::Seccomp];
}

/// How much of what landlock can forbid this kernel forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Landlock {
    /// The kernel has no landlock, or it is turned off.
    #[default]
    None,
    /// Files, but not yet ports, signals or abstract sockets: a kernel before 6.12.
    Partly,
    /// Everything.
    Whole,
}

impl Landlock {
    /// The word used in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partly => "partly",
            Self::Whole => "whole",
        }
    }
}

/// What holds a worker, beside limits, which every kernel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Isolation {
    /// Files, ports, signals.
    pub landlock: Landlock,
    /// System calls.
    pub seccomp: bool,
}

impl Isolation {
    /// What the kernel lacks, in words; `None` where nothing is missing. A kernel with half of landlock lacks nothing
    /// that the filter of system calls does not forbid as well.
    pub fn lacks(self) -> Option<&'static str> {
        match (self.landlock, self.seccomp) {
            (Landlock::None, true) => Some("landlock"),
            (Landlock::None, false) => Some("landlock and seccomp"),
            (_, false) => Some("seccomp"),
            (_, true) => None,
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "landlock {}, seccomp {}", self.landlock.name(), if self.seccomp { "on" } else { "off" })
    }
}

/// Gives up what a worker does not need, for good. For a process that has one thread and is nothing but a worker:
/// every descriptor but the first three is closed.
///
/// # Errors
/// When a limit cannot be set. A kernel without landlock or seccomp is no error: see the answer.
pub fn confine(memory: u64, layers: &[Layer]) -> io::Result<Isolation> {
    // Not bound to a layer: nothing gets privileges back, nobody reads this process's memory, and it does not outlive
    // its front. A front that is gone already has closed the pipe.
    set_no_new_privs(true)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The first look at the clock asks the kernel where its fast path is; later ones are the calls that are allowed.
    let _ = clock_gettime(ClockId::ProcessCPUTime);
    let mut isolation = Isolation::default();
    if layers.contains(&Layer::Limits) {
        close_descriptors();
        limit(Resource::Core, 0)?;
        limit(Resource::As, memory)?;
        limit(Resource::Fsize, 0)?;
        limit(Resource::Nproc, 0)?;
    }
    if layers.contains(&Layer::Landlock) {
        isolation.landlock = fence(&[]);
    }
    if layers.contains(&Layer::Limits) {
        // Last of the limits: the fence needs a descriptor while it is put up.
        limit(Resource::Nofile, 3)?;
    }
    if layers.contains(&Layer::Seccomp) {
        isolation.seccomp = calls::filter();
    }
    Ok(isolation)
}

/// Gives up what a program does not need that reads a picture from its standard input and writes what it says: it may
/// open what the system's folders hold, and these paths beside, to read; it may not write, start or reach anything.
///
/// # Errors
/// When a limit cannot be set. A kernel without landlock or seccomp is no error: see the answer.
pub(crate) fn confine_reader(memory: u64, seconds: u64, readable: &[PathBuf]) -> io::Result<Isolation> {
    set_no_new_privs(true)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    close_descriptors();
    limit(Resource::Core, 0)?;
    limit(Resource::As, memory)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nproc, 0)?;
    limit(Resource::Cpu, seconds)?;
    let system = SYSTEM.iter().map(PathBuf::from);
    let landlock = fence(&system.chain(readable.iter().cloned()).collect::<Vec<_>>());
    limit(Resource::Nofile, READER_FILES)?;
    Ok(Isolation { landlock, seccomp: calls::filter_reader() })
}

/// Where programs, libraries and their data are, and the list of libraries. Nothing of a user or of this program.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.preload"];
/// Descriptors that a reader may have: it opens libraries and languages one after the other.
const READER_FILES: u64 = 32;

fn limit(resource: Resource, value: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?)
}

/// Closes what the process was started with beyond its three pipes: a front's own descriptors close by themselves, but
/// one that the front was given by a shell or a service manager would not.
fn close_descriptors() {
    let open: Vec<i32> = match fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect(),
        // As many as a shell grants by default.
        Err(_) => (3..1024).collect(),
    };
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // That of the listing itself is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

/// Everything is forbidden but to read, and to run, what is below these paths.
fn fence(readable: &[PathBuf]) -> Landlock {
    // What kernel 6.12 can forbid; an older one forbids as much of it as it can.
    let newest = ABI::V6;
    let fenced = Ruleset::default()
        .handle_access(AccessFs::from_all(newest))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(newest)))
        .and_then(|rules| rules.scope(Scope::from_all(newest)))
        .and_then(Ruleset::create)
        // What is not there cannot be read.
        .and_then(|rules| rules.add_rules(path_beneath_rules(readable, AccessFs::from_read(newest))))
        .and_then(landlock::RulesetCreated::restrict_self);
    match fenced.map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Landlock::Whole,
        Ok(RulesetStatus::PartiallyEnforced) => Landlock::Partly,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Landlock::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let lacks = |landlock, seccomp| Isolation { landlock, seccomp }.lacks();
        assert_eq!(lacks(Landlock::Whole, true), None);
        assert_eq!(lacks(Landlock::Partly, true), None);
        assert_eq!(lacks(Landlock::None, true), Some("landlock"));
        assert_eq!(lacks(Landlock::Whole, false), Some("seccomp"));
        assert_eq!(Isolation::default().lacks(), Some("landlock and seccomp"));
    }
}
