/* What a file is, from its first bytes. */
#include "helper.h"

#include "data/detect.h"

#define RAW(text) text, sizeof(text) - 1

static const struct {
    const char *bytes;
    size_t count;
    broad__content content;
    const char *fragment;
} cases[] = {
    {RAW(""), BROAD__CONTENT_UNKNOWN, NULL},
    {RAW("a,b,y\n1,2,3\n"), BROAD__CONTENT_TABLE, NULL},
    {RAW("1\t2\r\n3\t4\r\n"), BROAD__CONTENT_TABLE, NULL},
    {RAW("\xEF\xBB\xBF"
         "a,b\n1,2\n"),
     BROAD__CONTENT_TABLE, NULL},
    {RAW("+1 1:0.5 2:1\n"), BROAD__CONTENT_TABLE, NULL},
    {RAW("BMI,age\n20,30\n"), BROAD__CONTENT_TABLE, NULL}, /* begins like a BMP picture */
    {RAW("abc,ftyp,x,y\n1"), BROAD__CONTENT_TABLE, NULL},  /* like a video */
    {RAW("MZ,x\n1,2\n"), BROAD__CONTENT_TABLE, NULL},
    {RAW("\x93NUMPY\1\0"), BROAD__CONTENT_TABLE, NULL},
    {RAW("\0\0\x08\3\0\0"), BROAD__CONTENT_TABLE, NULL},
    {RAW("\x1F\x8B\x08\0"), BROAD__CONTENT_TABLE, NULL},
    {RAW("\xFF\xD8\xFF\xE0\0\x10JFIF"), BROAD__CONTENT_PICTURE, "a JPEG picture"},
    {RAW("\x89PNG\r\n\x1A\n"), BROAD__CONTENT_PICTURE, "a PNG picture"},
    {RAW("GIF89a\x10\0\x10\0"), BROAD__CONTENT_PICTURE, "a GIF picture"},
    {RAW("BM\x36\0\0\0\0\0\0\0"), BROAD__CONTENT_PICTURE, "a BMP picture"},
    {RAW("\0\0\0\x18"
         "ftypheic"),
     BROAD__CONTENT_PICTURE, "an HEIC picture"},
    {RAW("RIFF\x10\0\0\0WEBP"), BROAD__CONTENT_PICTURE, "a WebP picture"},
    {RAW("II*\0\x08\0\0\0"), BROAD__CONTENT_PICTURE, "a TIFF or raw picture"},
    {RAW("PK\3\4\x14\0"), BROAD__CONTENT_FOREIGN, "a ZIP archive"},
    {RAW("PAR1\x15\4"), BROAD__CONTENT_FOREIGN, "read_parquet"},
    {RAW("\xFF\xFE"
         "a\0"),
     BROAD__CONTENT_TABLE, NULL},
    {RAW("ARROW1\0\0"), BROAD__CONTENT_FOREIGN, "read_feather"},
    {RAW("\x89HDF\r\n\x1A\n"), BROAD__CONTENT_FOREIGN, "read_hdf"},
    {RAW("SQLite format 3\0"), BROAD__CONTENT_FOREIGN, "sqlite3 -header -csv"},
    {RAW("\xD0\xCF\x11\xE0\xA1\xB1"), BROAD__CONTENT_FOREIGN, "libreoffice --headless"},
    {RAW("PK\3\4\x14\0[Content_Types].xml"), BROAD__CONTENT_FOREIGN, "an Excel workbook"},
    {RAW("PK\3\4\x14\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), BROAD__CONTENT_FOREIGN, "(ODS)"},
    {RAW("PK\3\4\x14\0arr_0.npy"), BROAD__CONTENT_FOREIGN, "numpy.save"},
    {RAW(" [\n {\"a\": 1}]"), BROAD__CONTENT_FOREIGN, "jq -r "},
    {RAW("{\"a\": 1}\n"), BROAD__CONTENT_FOREIGN, "jq -rs"},
    {RAW("{a},b\n1,2\n"), BROAD__CONTENT_TABLE, NULL},
    {RAW("\1\2\3\4\5\6\7\x08"), BROAD__CONTENT_UNKNOWN, NULL},
};

static void test_contents(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        broad__detected found = broad__data_detect(cases[i].bytes, cases[i].count);
        assert_int_equal(found.content, cases[i].content);
        assert_int_equal(found.what != NULL, cases[i].fragment != NULL);
        if (found.what) assert_non_null(strstr(found.what, cases[i].fragment));
    }
}

/* Every prefix can be asked about, and nothing beyond it is read. */
static void test_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t count = 0; count <= cases[i].count; count++) {
            char *copy = malloc(count + 1);
            memcpy(copy, cases[i].bytes, count);
            broad__detected found = broad__data_detect(copy, count);
            assert_true(found.content <= BROAD__CONTENT_FOREIGN);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contents), cmocka_unit_test(test_prefixes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
