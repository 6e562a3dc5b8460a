#include "serve/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "serve/sandbox.h"

enum { WORDS_MOST = 48, OUTPUT_MOST = 256 << 20 };

typedef struct gathered {
    char *text;
    size_t count, room;
} gathered;

static int add(gathered *all, const char *bytes, size_t count)
{
    if (all->count + count + 1 > OUTPUT_MOST) return -1;
    if (all->count + count + 1 > all->room) {
        size_t room = 2 * (all->count + count + 1) + 4096;
        char *grown = realloc(all->text, room);
        if (!grown) return -1;
        all->text = grown;
        all->room = room;
    }
    memcpy(all->text + all->count, bytes, count);
    all->count += count;
    all->text[all->count] = 0;
    return 0;
}

static _Noreturn void become(const char *const *words, int output)
{
    const char *all[WORDS_MOST] = {"broad"};
    size_t count = 1;
    for (; *words && count < WORDS_MOST - 3; words++) all[count++] = *words;
    all[count++] = "--json";
    all[count++] = "--quiet";
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(nothing, 2);
    dup2(output, 1);
#ifdef SYS_close_range
    syscall(SYS_close_range, 3U, ~0U, 0);
#endif
    serve_sandbox_enter_tool();
    execv("/proc/self/exe", (char *const *)all);
    _exit(127);
}

/* Until the other end is closed; -1: it was stopped, or is too long. */
static int gather(gathered *all, int from, atomic_int *stop)
{
    char bytes[65536];
    for (;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int some = poll(&ready, 1, 100);
        if (*stop) return -1;
        if (some <= 0) continue;
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        if (add(all, bytes, (size_t)got)) return -1;
    }
}

static int fail_with(const json_t *object, int how)
{
    const json_t *error = json_object_get(object, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    int status = -(int)json_integer_value(json_object_get(error, "code"));
    if (message) return cli_fail(status ? status : BROAD_FAILED, "%s", message);
    if (WIFSIGNALED(how)) return cli_fail(BROAD_FAILED, "the tool was ended: %s", strsignal(WTERMSIG(how)));
    return cli_fail(BROAD_FAILED, "the tool ended with code %d and without a reason", WEXITSTATUS(how));
}

int serve_tool_run(json_t **out, const char *const *words, atomic_int *stop)
{
    int pipes[2], how = 0, status = BROAD_OK;
    gathered all = {0};
    if (pipe2(pipes, O_CLOEXEC)) return cli_fail(BROAD_FAILED, "the tool cannot be started: %s", strerror(errno));
    pid_t process = fork();
    if (process == 0) become(words, pipes[1]);
    close(pipes[1]);
    if (process < 0) {
        close(pipes[0]);
        return cli_fail(BROAD_FAILED, "the tool cannot be started: %s", strerror(errno));
    }
    int broken = gather(&all, pipes[0], stop);
    close(pipes[0]);
    if (broken) kill(process, SIGKILL);
    while (waitpid(process, &how, 0) < 0 && errno == EINTR) continue;
    json_t *object = all.text && !broken ? json_loads(all.text, 0, NULL) : NULL;
    if (broken) status = cli_fail(BROAD_INTERRUPTED, "interrupted; nothing was changed");
    else if (!WIFEXITED(how) || WEXITSTATUS(how) || (out && !object)) status = fail_with(object, how);
    if (!status && out) *out = json_incref(object);
    json_decref(object);
    free(all.text);
    return status;
}
