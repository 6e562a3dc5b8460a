#include "serve/decoder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "page/heatmap.h"
#include "serve/heap.h"
#include "serve/sandbox.h"

enum { QUALITY_THUMBNAIL = 78, QUALITY_VIEW = 88, OWN_SOCKET = 3, JPEG_MOST = 32 << 20 };
static const double SECONDS_MOST = 30;  /* for one photo */
static const double SECONDS_FIRST = 10; /* for the first of a process, which may have been born unable to work */

/* Both ends are the same program, so plain structs are the protocol: this one, and serve_said. What the child says is checked all
 * the same. */
typedef struct question {
    serve_work work;
    size_t side, output, bytes;
    int from_file; /* whose descriptor comes along */
} question;

/* When all decoders must have answered; 0: there is no hurry. In milliseconds. */
static atomic_llong last_moment;

void serve_decoders_hurry(void) { last_moment = (long long)(1000 * broad__seconds()) + 1000; }

static int is_late(double until)
{
    double now = broad__seconds();
    return now >= until || (last_moment && 1000 * now >= (double)last_moment);
}

/* ---- bytes on their way; 0: done ---- */

/* Whether it is ready for this before the moment comes; until: 0 for ever. */
static int wait_for(int socket, short what, double until)
{
    struct pollfd ready = {.fd = socket, .events = what};
    while (until > 0 && poll(&ready, 1, 200) <= 0)
        if (is_late(until)) return 0;
    return until <= 0 || !is_late(until);
}

static int send_all(int to, const void *bytes, size_t count, double until)
{
    for (const char *at = bytes; count;) {
        if (!wait_for(to, POLLOUT, until)) return -1;
        ssize_t sent = send(to, at, count, MSG_NOSIGNAL | (until > 0 ? MSG_DONTWAIT : 0));
        if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (sent <= 0) return -1;
        at += sent;
        count -= (size_t)sent;
    }
    return 0;
}

static int receive_all(int from, void *bytes, size_t count, double until)
{
    for (char *at = bytes; count;) {
        if (!wait_for(from, POLLIN, until)) return -1;
        ssize_t got = recv(from, at, count, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        at += got;
        count -= (size_t)got;
    }
    return 0;
}

/* Room for a descriptor beside a message. */
typedef union along {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
} along;

static int send_question(int to, const question *asked, int file, double until)
{
    along control = {0};
    struct iovec part = {.iov_base = (void *)asked, .iov_len = sizeof *asked};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (!asked->from_file) return send_all(to, asked, sizeof *asked, until);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &file, sizeof file);
    return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *asked ? 0 : -1;
}

/* *out_file: -1: none came along. */
static int receive_question(question *out, int *out_file, int from)
{
    along control = {0};
    struct iovec part = {.iov_base = out, .iov_len = sizeof *out};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    *out_file = -1;
    do got = recvmsg(from, &message, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return -1;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) memcpy(out_file, CMSG_DATA(header), sizeof *out_file);
    return receive_all(from, (char *)out + got, sizeof *out - (size_t)got, 0);
}

/* ---- in the child ---- */

/* As many bytes as were announced; a file that has become shorter is zero where it ended. */
static int read_file(int file, char *to, size_t count)
{
    while (count) {
        ssize_t got = read(file, to, count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) memset(to, 0, count);
        to += got ? (size_t)got : count;
        count -= got ? (size_t)got : count;
    }
    return close(file);
}

static int look(serve_said *out, double *inputs, void **jpeg, const serve_model *model, const void *bytes, size_t count)
{
    broad_picture *picture = NULL;
    int status = model ? broad_viewer_show(inputs, &out->photo, &picture, model->viewer, bytes, count)
                       : broad_photo_look(&out->photo, &picture, bytes, count);
    if (!status) status = broad_picture_print(&out->print, picture);
    if (!status)
        status = broad_picture_thumbnail(jpeg, &out->jpeg_bytes, picture, SERVE_THUMBNAIL_SIDE, QUALITY_THUMBNAIL);
    if (!status) out->inputs = model ? model->inputs : 0;
    broad_picture_free(picture);
    return status;
}

static int view(serve_said *out, void **jpeg, const serve_model *model, const question *asked, const void *bytes)
{
    broad_picture *picture = NULL;
    cli_heat heat = {0};
    int status = broad_picture_decode(&picture, bytes, asked->bytes, asked->side);
    if (!status && asked->work == SERVE_WORK_HEAT) {
        broad_explanation_init(&heat.grid);
        status = broad_explainer_file(&heat.grid, model->explainer, bytes, asked->bytes, asked->output);
        heat.full = cli_heat_full(model->model);
        if (!status) status = cli_heat_draw(picture, &heat);
        broad_explanation_clear(&heat.grid);
    }
    if (!status) status = broad_picture_jpeg(jpeg, &out->jpeg_bytes, picture, QUALITY_VIEW);
    broad_picture_free(picture);
    return status;
}

/* 0: asked and answered. */
static int answer_one(const serve_model *model, double *inputs)
{
    question asked;
    serve_said out;
    void *jpeg = NULL;
    int file = -1;
    if (receive_question(&asked, &file, OWN_SOCKET)) return -1;
    void *bytes = malloc(asked.bytes + 1);
    if (!bytes || (file >= 0 ? read_file(file, bytes, asked.bytes) : receive_all(OWN_SOCKET, bytes, asked.bytes, 0))) {
        free(bytes);
        return -1;
    }
    memset(&out, 0, sizeof out);
    out.status = asked.work == SERVE_WORK_LOOK ? look(&out, inputs, &jpeg, model, bytes, asked.bytes)
                                               : view(&out, &jpeg, model, &asked, bytes);
    if (out.status) {
        snprintf(out.message, sizeof out.message, "%s", broad_error_message());
        out.inputs = out.jpeg_bytes = 0;
    }
    int failed = send_all(OWN_SOCKET, &out, sizeof out, 0);
    if (!failed) failed = send_all(OWN_SOCKET, inputs, out.inputs * sizeof *inputs, 0);
    if (!failed) failed = send_all(OWN_SOCKET, jpeg, out.jpeg_bytes, 0);
    broad_free(jpeg);
    free(bytes);
    return failed;
}

static void close_from(unsigned first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
    for (int fd = (int)first; fd < 4096; fd++) close(fd);
}

static _Noreturn void live(int socket, const serve_model *model)
{
    double *inputs = calloc(model ? model->inputs : 1, sizeof *inputs);
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is for the server, which ends its decoders itself */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (socket != OWN_SOCKET && dup2(socket, OWN_SOCKET) < 0) _exit(1);
    close(0);
    close_from(OWN_SOCKET + 1);
    serve_heap_keep();
    if (!inputs || serve_sandbox_enter()) _exit(1);
    while (!answer_one(model, inputs)) continue;
    _exit(0);
}

/* ---- in the server ---- */

static int start(serve_decoder *decoder, serve_model *model)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return cli_fail(BROAD_NO_MEMORY, "a process that decodes photos cannot be started: %s", strerror(errno));
    pid_t process = fork();
    if (process == 0) live(pair[1], model);
    close(pair[1]);
    if (process < 0) {
        close(pair[0]);
        return cli_fail(BROAD_NO_MEMORY, "a process that decodes photos cannot be started: %s", strerror(errno));
    }
    *decoder = (serve_decoder){.process = process, .socket = pair[0], .model = serve_model_hold(model)};
    return BROAD_OK;
}

void serve_decoder_close(serve_decoder *decoder)
{
    if (!decoder->process) return;
    close(decoder->socket);
    kill(decoder->process, SIGKILL);
    while (waitpid(decoder->process, NULL, 0) < 0 && errno == EINTR) continue;
    serve_model_drop(decoder->model);
    *decoder = (serve_decoder){0};
}

void serve_sight_clear(serve_sight *sight)
{
    free(sight->inputs);
    free(sight->jpeg);
    memset(sight, 0, sizeof *sight);
}

/* What the answer announces is there and is as much as was asked for. */
static serve_answered take(serve_sight *out, int socket, const serve_said *said, size_t inputs, double until)
{
    if (said->inputs != inputs || !said->jpeg_bytes || said->jpeg_bytes > JPEG_MOST) return SERVE_ANSWER_NONSENSE;
    *out = (serve_sight){.photo = said->photo, .print = said->print, .jpeg_bytes = said->jpeg_bytes};
    out->photo.file = out->photo.name = "";
    out->photo.time[sizeof out->photo.time - 1] = 0;
    out->inputs = said->inputs ? calloc(said->inputs, sizeof *out->inputs) : NULL;
    out->jpeg = malloc(said->jpeg_bytes);
    int whole = out->jpeg && (out->inputs || !inputs);
    if (whole && !receive_all(socket, out->inputs, inputs * sizeof *out->inputs, until) &&
        !receive_all(socket, out->jpeg, said->jpeg_bytes, until))
        return SERVE_ANSWER_TAKEN;
    serve_sight_clear(out);
    return SERVE_ANSWER_LOST;
}

serve_answered serve_decoder_receive(serve_sight *out, int *out_status, int socket, size_t inputs, double until)
{
    serve_said said;
    memset(out, 0, sizeof *out);
    *out_status = BROAD_OK;
    if (receive_all(socket, &said, sizeof said, until)) return SERVE_ANSWER_LOST;
    said.message[sizeof said.message - 1] = 0;
    if (!said.status) return take(out, socket, &said, inputs, until);
    /* Of what a photo may do to a decoder, none makes the photo wait. */
    int later = said.status == BROAD_NO_MEMORY || said.status == BROAD_INTERRUPTED || said.status > 0;
    *out_status = cli_fail(later ? BROAD_BAD_DATA : said.status, "%s",
                           said.message[0] ? said.message : "the decoder gives no reason");
    return SERVE_ANSWER_TAKEN;
}

/* What became of a decoder that does not answer, or not as it should. Where it has ended by itself the signal changes nothing. */
static int fail_lost(serve_decoder *decoder, serve_answered how_answered, double until)
{
    int late = is_late(until), how = 0, hurried = late && broad__seconds() < until;
    kill(decoder->process, SIGKILL);
    while (waitpid(decoder->process, &how, 0) < 0 && errno == EINTR) continue;
    close(decoder->socket);
    serve_model_drop(decoder->model);
    *decoder = (serve_decoder){0};
    if (how_answered == SERVE_ANSWER_NONSENSE)
        return cli_fail(BROAD_BAD_DATA, "the decoder gave an answer that cannot be one");
    if (hurried) return cli_fail(BROAD_INTERRUPTED, "the server is ending");
    if (late) return cli_fail(BROAD_BAD_DATA, "decoding takes longer than %.0f s", SECONDS_MOST);
    if (WIFSIGNALED(how) && WTERMSIG(how) != SIGKILL)
        return cli_fail(BROAD_BAD_DATA, "the decoder crashed on it (%s)", strsignal(WTERMSIG(how)));
    return cli_fail(BROAD_BAD_DATA, "the decoder ended on it, for instance because it takes too much memory");
}

/* Ended by someone else, between two photos. */
static int has_ended(const serve_decoder *decoder)
{
    siginfo_t how = {0};
    return waitid(P_PID, (id_t)decoder->process, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid != 0;
}

/* Asks, and takes what is answered. */
static serve_answered exchange(serve_sight *out, int *out_status, serve_decoder *decoder, const question *asked,
                               const serve_source *source, double until)
{
    size_t inputs = asked->work == SERVE_WORK_LOOK && decoder->model ? decoder->model->inputs : 0;
    if (asked->from_file) lseek(source->file, 0, SEEK_SET);
    if (send_question(decoder->socket, asked, source->file, until)) return SERVE_ANSWER_LOST;
    if (source->bytes && send_all(decoder->socket, source->bytes, source->count, until)) return SERVE_ANSWER_LOST;
    return serve_decoder_receive(out, out_status, decoder->socket, inputs, until);
}

/* A process that is forked while other threads work may inherit a lock that one of them held, and wait for ever. What a
   new one does not answer in time is therefore asked of a second one before the photo is blamed. */
int serve_decoder_ask(serve_sight *out, serve_decoder *decoder, serve_model *model, serve_work work, size_t side,
                      size_t output, const serve_source *source)
{
    const question asked = {
        .work = work, .side = side, .output = output, .bytes = source->count, .from_file = !source->bytes};
    memset(out, 0, sizeof *out);
    if (decoder->process && (decoder->model != model || has_ended(decoder))) serve_decoder_close(decoder);
    int is_new = !decoder->process, status = is_new ? start(decoder, model) : BROAD_OK;
    if (status) return status;
    double until = broad__seconds() + (is_new ? SECONDS_FIRST : SECONDS_MOST);
    serve_answered how = exchange(out, &status, decoder, &asked, source, until);
    if (how == SERVE_ANSWER_LOST && is_new && is_late(until) && !last_moment) {
        serve_decoder_close(decoder);
        status = start(decoder, model);
        if (status) return status;
        until = broad__seconds() + SECONDS_MOST;
        how = exchange(out, &status, decoder, &asked, source, until);
    }
    return how == SERVE_ANSWER_TAKEN ? status : fail_lost(decoder, how, until);
}
