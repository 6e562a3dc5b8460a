/* A build that knows libheif, on a machine without it: other formats are read, and HEIC is refused with advice. */
#include "helper.h"

#include "image/codec/decode.h"

static int asked;

/* In place of the C library's. */
void *dlopen(const char *name, int flags);
void *dlopen(const char *name, int flags)
{
    (void)flags;
    if (name && strstr(name, "libheif")) asked++;
    return NULL;
}

static void without_the_library(void **state)
{
    (void)state;
    static const unsigned char heic[] = "\0\0\0\x18"
                                        "ftypheic\0\0\0\0mif1heic";
    assert_null(strstr(broad_picture_formats(), "HEIC"));
    assert_int_equal(strncmp(broad_picture_formats(), "JPEG, PNG", 9), 0);
    assert_false(broad__decode_reads(heic, sizeof heic));
    broad_picture *picture = NULL;
    assert_int_equal(broad_picture_decode(&picture, heic, sizeof heic, 0), BROAD_BAD_DATA);
    assert_non_null(strstr(broad_error_message(), "an HEIC picture, which"));
    assert_non_null(strstr(broad_error_message(), "heif-convert"));
    assert_true(asked <= 1); /* once for all pictures; never by a build that does not know it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
