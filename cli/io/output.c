#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/real_text.h"
#include "io/interrupt.h"
#include "io/ranks.h"

enum { BUFFER_BYTES = 1 << 16 };

int cli_output_open(cli_output *out, const char *path)
{
    memset(out, 0, sizeof *out);
    out->buffer = malloc(BUFFER_BYTES);
    if (!out->buffer) return out->status = cli_fail(BROAD_NO_MEMORY, "out of memory while opening the output");
    out->terminal = strcmp(path, "-") == 0 && cli_on_terminal();
    if (strcmp(path, "-") == 0 || !cli_writes()) return BROAD_OK;
    cli_signals_catch(); /* until the temporary file is gone */
    out->status = broad__replace_begin(&out->file, path);
    out->to_file = out->status == BROAD_OK;
    if (!out->to_file) cli_signals_release();
    return out->status;
}

static void flush(cli_output *output)
{
    if (output->status || output->used == 0) return;
    if (output->to_file) {
        output->status = broad__replace_write(&output->file, output->buffer, output->used);
    } else if (output->terminal) {
        cli_put_plain(stdout, output->buffer, output->used, "\n\t");
    } else if (fwrite(output->buffer, 1, output->used, stdout) != output->used) {
        output->status = cli_fail(BROAD_IO, "cannot write to standard output: %s", strerror(errno));
    }
    output->used = 0;
}

void cli_output_bytes(cli_output *output, const char *bytes, size_t count)
{
    while (count && !output->status) {
        size_t some = BUFFER_BYTES - output->used;
        if (some > count) some = count;
        memcpy(output->buffer + output->used, bytes, some);
        output->used += some;
        bytes += some;
        count -= some;
        if (output->used == BUFFER_BYTES) flush(output);
    }
}

void cli_output_print(cli_output *output, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        output->status = cli_fail(BROAD_BUG, "a line of output is too long");
    else cli_output_bytes(output, text, (size_t)length);
}

void cli_output_real(cli_output *output, double value)
{
    char text[BROAD__REAL_BYTES];
    cli_output_bytes(output, text, broad__real_text(text, value));
}

void cli_output_count(cli_output *output, size_t count)
{
    char text[24], *at = text + sizeof text;
    for (; at == text + sizeof text || count; count /= 10) *--at = (char)('0' + count % 10);
    cli_output_bytes(output, at, (size_t)(text + sizeof text - at));
}

int cli_output_close(cli_output *output)
{
    flush(output);
    if (!output->to_file && !output->status && fflush(stdout))
        output->status = cli_fail(BROAD_IO, "cannot write to standard output: %s", strerror(errno));
    if (output->status) {
        cli_output_abandon(output);
        return output->status;
    }
    if (output->to_file) {
        output->status = broad__replace_commit(&output->file);
        cli_signals_release();
    }
    output->to_file = 0;
    free(output->buffer);
    output->buffer = NULL;
    return output->status;
}

void cli_output_abandon(cli_output *output)
{
    if (output->to_file) {
        broad__replace_abandon(&output->file);
        cli_signals_release();
    }
    output->to_file = 0;
    free(output->buffer);
    output->buffer = NULL;
}

int cli_write_new(const char *path, const void *bytes, size_t count)
{
    if (!cli_writes()) return BROAD_OK;
    FILE *file = fopen(path, "wbx");
    if (!file) return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be created: %s", path, strerror(errno));
    errno = 0;
    int failed = fwrite(bytes, 1, count, file) != count, reason = errno;
    if (fclose(file) && !failed) failed = 1, reason = errno;
    return failed ? cli_fail(BROAD_IO, "%s: cannot be written: %s", path, strerror(reason)) : BROAD_OK;
}

int cli_replace_file(const char *to, const char *from, broad__replaced look, void *context)
{
    broad__mapping mapping;
    broad__replacement place;
    int status = broad__file_map(&mapping, from);
    if (status) return status;
    status = broad__replace_begin(&place, to);
    if (!status) status = broad__replace_write(&place, mapping.bytes, mapping.count);
    if (!status) status = look ? broad__replace_commit_looking(&place, look, context) : broad__replace_commit(&place);
    broad__file_unmap(&mapping);
    return status;
}

int cli_copy_file(const char *to, const char *from) { return cli_replace_file(to, from, NULL, NULL); }

int cli_move_file(const char *from, const char *to)
{
    if (rename(from, to) == 0) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "cannot rename %s to %s: %s", from, to, strerror(errno));
}

int cli_exchange_files(const char *one, const char *other)
{
    char between[PATH_MAX + 16];
    int has_one = access(one, F_OK) == 0, has_other = access(other, F_OK) == 0;
    if (!has_one && !has_other) return BROAD_OK;
    if (!has_one) return cli_move_file(other, one);
    if (!has_other) return cli_move_file(one, other);
    if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0) return BROAD_OK;
    snprintf(between, sizeof between, "%s.%ld", one, (long)getpid());
    int status = cli_move_file(one, between);
    if (!status) status = cli_move_file(other, one);
    return status ? status : cli_move_file(between, other);
}

int cli_same_file(const char *one, const char *other)
{
    struct stat a, b;
    if (strcmp(one, "-") == 0 || strcmp(other, "-") == 0) return 0;
    if (strcmp(one, other) == 0) return 1;
    return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int cli_check_apart(const char *output, const char *input)
{
    struct stat info;
    if (!output || !input || !cli_same_file(output, input)) return BROAD_OK;
    if (stat(output, &info) || !S_ISREG(info.st_mode)) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "the output '%s' would overwrite the input '%s'; give another name with -o", output,
                    input);
}

int cli_check_writable(const char *path)
{
    broad__replacement probe;
    if (strcmp(path, "-") == 0 || !cli_writes()) return BROAD_OK;
    cli_signals_catch();
    int status = broad__replace_begin(&probe, path);
    if (!status) broad__replace_abandon(&probe);
    cli_signals_release();
    return status;
}
