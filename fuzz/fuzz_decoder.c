/*
 * What a process that decodes photos may answer to `broad serve` after a photo has taken it over: any bytes. The first byte chooses how
 * many inputs the model has. An answer that is taken has them and a picture, or a reason.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SENT_MOST = 1 << 16 }; /* which the socket takes at once */

static void must(int holds)
{
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int pair[2], status = 0;
    serve_sight sight;
    if (size < 1 || size > SENT_MOST || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return 0;
    size_t inputs = data[0] % 4;
    must(send(pair[1], data + 1, size - 1, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size - 1);
    close(pair[1]);
    serve_answered how = serve_decoder_receive(&sight, &status, pair[0], inputs, broad__seconds() + 5);
    must(how == SERVE_ANSWER_TAKEN || (!status && !sight.inputs && !sight.jpeg));
    if (how == SERVE_ANSWER_TAKEN && status) must(status < 0 && broad_error_message()[0] && !sight.jpeg);
    if (how == SERVE_ANSWER_TAKEN && !status) {
        must(sight.jpeg && sight.jpeg_bytes && !sight.inputs == !inputs);
        must(memchr(sight.photo.time, 0, sizeof sight.photo.time) != NULL && !sight.photo.file[0]);
        volatile unsigned char last = ((const unsigned char *)sight.jpeg)[sight.jpeg_bytes - 1];
        volatile double some = inputs ? sight.inputs[inputs - 1] : 0;
        (void)last, (void)some;
    }
    serve_sight_clear(&sight);
    close(pair[0]);
    return 0;
}
