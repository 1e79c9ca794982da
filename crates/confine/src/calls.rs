//! System calls, by seccomp.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter_all_threads,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls of a process that computes, without conditions.
const COMPUTING: [c_long; 37] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_lseek,
    libc::SYS_fcntl,
    libc::SYS_ppoll,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_set_tid_address,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Calls that reach out of a process, or far into the kernel, and that no program needs to recognise text.
const REACHING_OUT: [c_long; 66] = [
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_execveat,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_personality,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];

/// Leaves the process the calls that it needs: to compute, or also to start a program.
pub(crate) fn limit(starts_a_program: bool) -> Result<(), String> {
    let filter = if starts_a_program { without_reaching_out() } else { computing_only() };
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(|error| format!("seccomp: {error}"))?;
    apply_filter_all_threads(&program).map_err(|error| format!("seccomp: {error}"))
}

/// Allows nothing but computing. All else does not exist: the C library then falls back from `clone3`, whose flags a
/// filter cannot see, to `clone`.
fn computing_only() -> Result<SeccompFilter, seccompiler::BackendError> {
    let mut rules: Rules = COMPUTING.iter().map(|call| (*call, Vec::new())).collect();
    let executable = u64::from(libc::PROT_EXEC.unsigned_abs());
    let not_executable = argument(2, SeccompCmpOp::MaskedEq(executable), 0)?;
    rules.insert(libc::SYS_mmap, vec![not_executable.clone()]);
    rules.insert(libc::SYS_mprotect, vec![not_executable]);
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    rules.insert(libc::SYS_clone, vec![argument(0, SeccompCmpOp::MaskedEq(thread), thread)?]);
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![argument(0, SeccompCmpOp::Eq, own)?]);
    for option in [libc::PR_SET_NAME, libc::PR_SET_VMA] {
        let named = argument(0, SeccompCmpOp::Eq, u64::from(option.unsigned_abs()))?;
        rules.entry(libc::SYS_prctl).or_default().push(named);
    }
    #[cfg(target_arch = "x86_64")]
    rules.extend([(libc::SYS_poll, Vec::new()), (libc::SYS_time, Vec::new())]);
    filter(rules, errno(libc::ENOSYS), SeccompAction::Allow)
}

/// Allows everything but what reaches out.
fn without_reaching_out() -> Result<SeccompFilter, seccompiler::BackendError> {
    let rules = REACHING_OUT.iter().map(|call| (*call, Vec::new())).collect();
    filter(rules, SeccompAction::Allow, errno(libc::EPERM))
}

fn filter(
    rules: Rules,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> Result<SeccompFilter, seccompiler::BackendError> {
    SeccompFilter::new(rules, otherwise, listed, std::env::consts::ARCH.try_into()?)
}

fn errno(code: i32) -> SeccompAction {
    SeccompAction::Errno(code.unsigned_abs())
}

/// Requires one argument to compare so.
fn argument(place: u8, operation: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(place, SeccompCmpArgLen::Qword, operation, value)?])
}
