#include "serve/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "message.h"

/* Sanitizers reserve terabytes of addresses for themselves, and look for leaks from outside (ptrace). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { INSTRUMENTED = 1 };
#else
enum { INSTRUMENTED = 0 };
#endif
/* Besides what the process has already: a photo of 100 megapixels fits, a bomb does not. */
static const rlim_t MEMORY_MOST = (rlim_t)2 << 30, FILES_MOST = 16;

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define OWN_ARCHITECTURE 0
#endif

/* clang-format off */
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define DENY(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), RETURN(REFUSE(EPERM))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))

static const struct sock_filter decoder_rules[] = {
    LOAD(offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_recvfrom), ALLOW(SYS_recvmsg), ALLOW(SYS_sendto), ALLOW(SYS_close), ALLOW(SYS_lseek),
    ALLOW(SYS_fstat),
    ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_madvise), ALLOW(SYS_brk),
    ALLOW(SYS_futex), ALLOW(SYS_sched_yield), ALLOW(SYS_sched_getaffinity), ALLOW(SYS_getpid), ALLOW(SYS_gettid),
    ALLOW(SYS_clock_gettime), ALLOW(SYS_clock_nanosleep), ALLOW(SYS_nanosleep), ALLOW(SYS_getrandom),
    ALLOW(SYS_rt_sigreturn), ALLOW(SYS_rt_sigprocmask), ALLOW(SYS_rt_sigaction), ALLOW(SYS_sigaltstack),
    ALLOW(SYS_exit), ALLOW(SYS_exit_group), ALLOW(SYS_restart_syscall), ALLOW(SYS_set_robust_list),
#ifdef SYS_rseq
    ALLOW(SYS_rseq),
#endif
#ifdef SYS_clone3
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), RETURN(REFUSE(ENOSYS)), /* so that clone is tried */
#endif
    /* Memory, unless it can be executed. */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
    LOAD(offsetof(struct seccomp_data, args[2])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), RETURN(REFUSE(EPERM)), RETURN(SECCOMP_RET_ALLOW),
    /* Threads of this process, as some decoders start them; no processes. */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000 /* CLONE_THREAD */, 0, 1), RETURN(SECCOMP_RET_ALLOW),
    RETURN(REFUSE(EPERM)),
};

enum { OTHER_NUMBERS = 0x40000000 }; /* of a second table of calls that x86-64 has */

static const struct sock_filter tool_rules[] = {
    LOAD(offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 0, 1), RETURN(REFUSE(EPERM)),
    DENY(SYS_socket), DENY(SYS_ptrace), DENY(SYS_process_vm_readv), DENY(SYS_process_vm_writev), DENY(SYS_mount),
    DENY(SYS_umount2), DENY(SYS_pivot_root), DENY(SYS_chroot), DENY(SYS_unshare), DENY(SYS_setns), DENY(SYS_bpf),
    DENY(SYS_perf_event_open), DENY(SYS_keyctl), DENY(SYS_add_key), DENY(SYS_request_key), DENY(SYS_userfaultfd),
    DENY(SYS_init_module), DENY(SYS_finit_module), DENY(SYS_reboot),
#ifdef SYS_io_uring_setup
    DENY(SYS_io_uring_setup),
#endif
    RETURN(SECCOMP_RET_ALLOW),
};
/* clang-format on */

static int obey(const struct sock_filter *rules, size_t count)
{
    struct sock_fprog program = {.len = (unsigned short)count, .filter = (struct sock_filter *)rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Rules at no address are refused for their address where rules are known at all. */
int serve_sandbox_available(void)
{
    return OWN_ARCHITECTURE && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) && errno == EFAULT;
}

void serve_sandbox_enter_tool(void)
{
    if (!INSTRUMENTED && serve_sandbox_available()) obey(tool_rules, sizeof tool_rules / sizeof tool_rules[0]);
}

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now)) return;
    if (now.rlim_max < most) most = now.rlim_max;
    now.rlim_cur = now.rlim_max = most;
    setrlimit(what, &now);
}

static rlim_t memory_now(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && !fgets(text, sizeof text, file)) text[0] = 0;
    if (file) fclose(file);
    return (rlim_t)strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

int serve_sandbox_enter(void)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    if (!INSTRUMENTED) limit(RLIMIT_AS, memory_now() + MEMORY_MOST);
    limit(RLIMIT_NOFILE, FILES_MOST);
    prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); /* no decoder outlives the server */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (!serve_sandbox_available() || !obey(decoder_rules, sizeof decoder_rules / sizeof decoder_rules[0]))
        return BROAD_OK;
    return cli_fail(BROAD_FAILED, "the process that decodes photos cannot be shut in (seccomp): %s", strerror(errno));
}
