/* Where the bytes of a file lie while it is parsed. */
#include "data/format/source.h"

#include <fcntl.h>

#include "helper.h"

static void write_letters(const char *path, size_t count)
{
    FILE *file = fopen(path, "w");
    for (size_t i = 0; i < count; i++) fputc('a' + (int)(i % 7), file);
    fclose(file);
}

/* With the file itself in place of a copy, the pages behind its new end would be a signal. */
static void shortened_files_stay_readable(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    char folder[HELPER_PATH], path[HELPER_PATH + 16];
    temporary_folder(folder);
    snprintf(path, sizeof path, "%s/letters", folder);
    write_letters(path, BYTES);
    broad__source source;
    assert_ok(broad__source_open(&source, path, 0, 0));
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(source.count, BYTES);
    for (size_t i = 0; i < BYTES; i++) assert_int_equal(source.bytes[i], 'a' + (int)(i % 7));
    broad__source_close(&source);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shortened_files_stay_readable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
