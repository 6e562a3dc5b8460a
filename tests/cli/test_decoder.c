/* Answers of a process that decodes photos for `broad serve`, which a photo may have taken over: whatever comes, the server goes on. */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "helper.h"
#include "serve/decoder.h"

enum { INPUTS = 3, ROOM = 4096, SECONDS = 20 };

/* An answer as a sound decoder gives it. */
typedef struct sent {
    serve_said said;
    double inputs[INPUTS];
    unsigned char jpeg[4];
} sent;

static sent sound_answer(void)
{
    sent s = {
        .said = {.print = 7, .inputs = INPUTS, .jpeg_bytes = 4}, .inputs = {1, 2, 3}, .jpeg = {255, 216, 255, 217}};
    return s;
}

/* What the server makes of these bytes, after which the other side is closed. */
static serve_answered receive(serve_sight *out, int *status, const void *bytes, size_t count, size_t inputs)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(send(pair[1], bytes, count, MSG_NOSIGNAL), count);
    close(pair[1]);
    serve_answered how = serve_decoder_receive(out, status, pair[0], inputs, broad__seconds() + SECONDS);
    close(pair[0]);
    return how;
}

static size_t whole(void) { return offsetof(sent, jpeg) + 4; }

static void a_sound_answer_is_taken(void **state)
{
    (void)state;
    sent s = sound_answer();
    serve_sight sight;
    int status = 1;
    memset(s.said.photo.time, 'x', sizeof s.said.photo.time); /* without an end */
    assert_int_equal(receive(&sight, &status, &s, whole(), INPUTS), SERVE_ANSWER_TAKEN);
    assert_int_equal(status, BROAD_OK);
    assert_true(sight.inputs[2] == 3 && sight.jpeg_bytes == 4 && sight.print == 7);
    assert_memory_equal(sight.jpeg, s.jpeg, 4);
    assert_int_equal(strlen(sight.photo.time), sizeof s.said.photo.time - 1);
    assert_string_equal(sight.photo.file, "");
    serve_sight_clear(&sight);
}

static void answers_of_other_sizes_are_nonsense(void **state)
{
    (void)state;
    static const size_t wrong[][2] = {{0, 4},      {INPUTS + 1, 4},    {SIZE_MAX, 4},
                                      {INPUTS, 0}, {INPUTS, SIZE_MAX}, {INPUTS, 1 << 26}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sent s = sound_answer();
        serve_sight sight;
        int status = 1;
        s.said.inputs = wrong[i][0], s.said.jpeg_bytes = wrong[i][1];
        assert_int_equal(receive(&sight, &status, &s, whole(), INPUTS), SERVE_ANSWER_NONSENSE);
        assert_null(sight.jpeg);
    }
}

static void answers_that_end_early_are_lost(void **state)
{
    (void)state;
    sent s = sound_answer();
    for (size_t count = 0; count < whole(); count += count < sizeof s.said ? 97 : 1) {
        serve_sight sight;
        int status = 1;
        assert_int_equal(receive(&sight, &status, &s, count, INPUTS), SERVE_ANSWER_LOST);
        assert_true(!sight.jpeg && !sight.inputs);
    }
}

/* None of them makes the photo wait for another try, and none is a success. */
static void refusals_have_a_status_and_a_reason(void **state)
{
    (void)state;
    static const int said[][2] = {{BROAD_BAD_DATA, BROAD_BAD_DATA},
                                  {BROAD_NO_MEMORY, BROAD_BAD_DATA},
                                  {BROAD_INTERRUPTED, BROAD_BAD_DATA},
                                  {5, BROAD_BAD_DATA},
                                  {BROAD_USAGE, BROAD_USAGE}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        sent s = sound_answer();
        serve_sight sight;
        int status = 1;
        s.said.status = said[i][0];
        memset(s.said.message, i % 2 ? 'm' : 0, sizeof s.said.message); /* without an end, or empty */
        assert_int_equal(receive(&sight, &status, &s, whole(), INPUTS), SERVE_ANSWER_TAKEN);
        assert_int_equal(status, said[i][1]);
        assert_true(broad_error_message()[0] && !sight.jpeg);
    }
}

/* A decoder that answers so and lives on. */
static serve_decoder liar(const void *bytes, size_t count)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        char question[ROOM];
        close(pair[0]);
        alarm(2 * SECONDS); /* should this process not end it */
        if (recv(pair[1], question, sizeof question, 0) > 0) send(pair[1], bytes, count, MSG_NOSIGNAL);
        for (;;) pause();
    }
    close(pair[1]);
    return (serve_decoder){.process = process, .socket = pair[0]};
}

static void a_decoder_that_lies_is_ended(void **state)
{
    (void)state;
    sent s = sound_answer(); /* of inputs, where there is no model */
    serve_decoder decoder = liar(&s, whole());
    pid_t process = decoder.process;
    serve_sight sight;
    alarm(SECONDS);
    const serve_source source = {.bytes = "photo", .count = 5, .file = -1};
    assert_int_equal(serve_decoder_ask(&sight, &decoder, NULL, SERVE_WORK_LOOK, 0, 0, &source), BROAD_BAD_DATA);
    alarm(0);
    assert_non_null(strstr(broad_error_message(), "cannot be one"));
    assert_int_equal(decoder.process, 0);
    assert_int_equal(kill(process, 0), -1); /* it is gone, and has been waited for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_answer_is_taken),         cmocka_unit_test(answers_of_other_sizes_are_nonsense),
        cmocka_unit_test(answers_that_end_early_are_lost), cmocka_unit_test(refusals_have_a_status_and_a_reason),
        cmocka_unit_test(a_decoder_that_lies_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
