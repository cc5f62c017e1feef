//! The system calls of a worker. It reads one pipe, writes two, and asks for memory; everything else ends it.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Calls that are harmless whatever their arguments are.
const FREE: &[libc::c_long] = &[
    // Memory comes from the allocator; new mappings are looked at below.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Locks of the standard library: uncontended in one thread, but an abort takes one.
    libc::SYS_futex,
    // Seeds of hash tables, and clocks where they are no plain reads of memory.
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    // A stack that overflows is told before the process aborts, and an abort is a signal to itself.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// The limit on CPU time in getrlimit(2), the same on every architecture; the C libraries disagree on its type.
const RLIMIT_CPU: u64 = 0;

/// Puts the filter in force; false where the kernel or the processor has none.
pub(super) fn filter() -> bool {
    program().is_ok_and(|program| apply_filter(&program).is_ok())
}

/// The same for a program that reads letters.
pub(super) fn filter_reader() -> bool {
    // The second one, in force, would not let the first be put up.
    [refused_program(), reader_program()].into_iter().all(|program| program.is_ok_and(|it| apply_filter(&it).is_ok()))
}

fn program() -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = FREE.iter().map(|call| (*call, Vec::new())).collect();
    // The pipes alone: a descriptor that was left open by mistake is of no use.
    rules.insert(libc::SYS_read, vec![word_is(0, 0)?]);
    let pipes = || Ok(vec![word_is(0, 1)?, word_is(0, 2)?]);
    rules.insert(libc::SYS_write, pipes()?);
    rules.insert(libc::SYS_writev, pipes()?);
    // Memory is never executable, so bytes of an input cannot become code; and a mapping is never of a file.
    let anonymous = bits_are(3, flag(libc::MAP_ANONYMOUS), flag(libc::MAP_ANONYMOUS))?;
    rules.insert(libc::SYS_mmap, vec![SeccompRule::new(vec![bits_are(2, flag(libc::PROT_EXEC), 0)?, anonymous])?]);
    rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![bits_are(2, flag(libc::PROT_EXEC), 0)?])?]);
    // Its own allowance of CPU time, from job to job; the front's clock is the one that counts against a hijacked worker.
    let own_cpu = vec![equals(0, 0)?, equals(1, RLIMIT_CPU)?];
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(own_cpu)?]);
    // An abort; under another number it would be a signal to somebody else.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![equals(0, own)?])?]);
    rules.insert(libc::SYS_tkill, vec![SeccompRule::new(vec![equals(0, own)?])?]);
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch)?.try_into()
}

/// Calls by which a program is loaded, looks at files and asks about itself. Which files there are is for landlock.
const OF_READERS: &[libc::c_long] = &[
    libc::SYS_execve,
    // Refused by the other filter.
    libc::SYS_socket,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_lseek,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_fcntl,
    libc::SYS_fadvise64,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrusage,
    libc::SYS_times,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getppid,
    libc::SYS_sched_getaffinity,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    // Libraries are code.
    libc::SYS_mmap,
    libc::SYS_mprotect,
];

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
const OLD: &[libc::c_long] = &[
    libc::SYS_arch_prctl,
    libc::SYS_access,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_readlink,
    libc::SYS_time,
    libc::SYS_poll,
    libc::SYS_dup2,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[libc::c_long] = &[];

/// What a file must not be opened for: to be written, made or emptied.
const WRITING: libc::c_int = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
/// Whether a descriptor is a terminal, the one question about devices.
const TCGETS: u64 = 0x5401;

/// Calls that are refused and end nothing: when a program is loaded, the C library may ask a daemon for names.
fn refused_program() -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refused = SeccompAction::Errno(u32::try_from(libc::EACCES).unwrap_or(1));
    let rules = BTreeMap::from([(libc::SYS_socket, Vec::new())]);
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
}

fn reader_program() -> Result<BpfProgram, BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let calls = FREE.iter().chain(OF_READERS).chain(OLD);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = calls.map(|call| (*call, Vec::new())).collect();
    let to_read =
        |argument| Ok::<_, BackendError>(vec![SeccompRule::new(vec![bits_are(argument, flag(WRITING), 0)?])?]);
    rules.insert(libc::SYS_openat, to_read(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, to_read(1)?);
    for call in [libc::SYS_write, libc::SYS_writev] {
        rules.insert(call, vec![word_is(0, 1)?, word_is(0, 2)?]);
    }
    rules.insert(libc::SYS_ioctl, vec![word_is(1, TCGETS)?]);
    // It may ask about its limits, and set none.
    let asks = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![equals(0, 0)?, asks])?]);
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![equals(0, own)?])?]);
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch)?.try_into()
}

/// A flag of the C library as the kernel gets it.
fn flag(flag: libc::c_int) -> u64 {
    u64::try_from(flag).unwrap_or(u64::MAX)
}

fn equals(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn bits_are(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

fn word_is(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![equals(argument, value)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_compiles_where_there_is_one() {
        let has_one = TargetArch::try_from(std::env::consts::ARCH).is_ok();
        assert_eq!((program().is_ok(), reader_program().is_ok()), (has_one, has_one));
    }
}
