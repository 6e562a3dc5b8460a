/* What a process that decodes photos may do: compute, and read and write what it has open. */
#ifndef BROAD_SERVE_SANDBOX_H
#define BROAD_SERVE_SANDBOX_H

/* Limits memory, files and cores, then all system calls but those of computing (seccomp). For good, for this process. The
 * calls that are not allowed fail with EPERM, and none of them opens, connects, starts or signals anything. */
int serve_sandbox_enter(void);

#endif
