/* What a process that decodes photos may do: compute, and read and write what it has open. */
#ifndef BROAD_SERVE_SANDBOX_H
#define BROAD_SERVE_SANDBOX_H

/* Limits memory, files and cores, then all system calls but those of computing (seccomp). For good, for this process. The
 * calls that are not allowed fail with EPERM, and none of them opens, connects, starts or signals anything. */
int serve_sandbox_enter(void);
/* Whether this system can limit system calls. Where it cannot, the other limits hold alone. */
int serve_sandbox_available(void);
/* For a process that runs the tool, which opens and writes files of the project: no network, no other processes, no new rights.
 * Nothing, where system calls cannot be limited. */
void serve_sandbox_enter_tool(void);

#endif
