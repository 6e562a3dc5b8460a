#include "serve/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "message.h"

/* Sanitizers reserve terabytes of addresses for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LIMIT_MEMORY = 0 };
#else
enum { LIMIT_MEMORY = 1 };
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
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))

static const struct sock_filter rules[] = {
    LOAD(offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0), RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_recvfrom), ALLOW(SYS_sendto), ALLOW(SYS_close), ALLOW(SYS_lseek),
    ALLOW(SYS_fstat),
    ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect), ALLOW(SYS_madvise), ALLOW(SYS_brk),
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
    /* Threads of this process, as some decoders start them; no processes. */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000 /* CLONE_THREAD */, 0, 1), RETURN(SECCOMP_RET_ALLOW),
    RETURN(REFUSE(EPERM)),
};
/* clang-format on */

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
    struct sock_fprog program = {.len = sizeof rules / sizeof rules[0], .filter = (struct sock_filter *)rules};
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    if (LIMIT_MEMORY) limit(RLIMIT_AS, memory_now() + MEMORY_MOST);
    limit(RLIMIT_NOFILE, FILES_MOST);
    prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); /* no decoder outlives the server */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (!OWN_ARCHITECTURE) return BROAD_OK; /* the limits alone */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
        return cli_fail(BROAD_FAILED, "the process that decodes photos cannot be shut in (seccomp): %s",
                        strerror(errno));
    return BROAD_OK;
}
