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
        assert_eq!(program().is_ok(), has_one);
    }
}
