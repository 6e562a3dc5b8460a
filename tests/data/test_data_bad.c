/* Bad files: each is refused with its own status and a message that says what and where. */
#include "data_helper.h"

typedef struct bad_case {
    const char *text; /* the file; for NPY its dictionary */
    size_t count;     /* bytes of the file; 0: up to the NUL. For NPY: bytes of data, all zero */
    const char *target, *group, *header, *separator, *weight, *categorical;
    broad_task task;
    int status;
    const char *fragment;
} bad_case;

#define BAD BROAD_BAD_DATA
#define RAW(text) text, sizeof(text) - 1

static const bad_case text_cases[] = {
    /* nothing to read */
    {"", 0, .status = BAD, .fragment = "data: the file is empty"},
    {"\n\n\n", 0, .status = BAD, .fragment = "the file is empty"},
    {"  \n \r\n", 0, .status = BAD, .fragment = "the file is empty"},
    {"\xEF\xBB\xBF", 0, .status = BAD, .fragment = "the file is empty"},
    {"a,b,target\n", 0, .status = BAD, .fragment = "a header and no rows"},
    {"a,b,target", 0, .status = BAD, .fragment = "a header and no rows"},
    {"1,2,3\n", 0, .header = "yes", .status = BAD, .fragment = "a header and no rows"},
    /* cells */
    {"a,b,y\n1,2,3\n4,,6\n", 0, .status = BAD,
     .fragment = "data:3:2: missing value (column 'b'); fill it in, or use the mean (option missing mean)"},
    {"a,b,y\n1,2,3\nNA,5,6\n", 0, .status = BAD, .fragment = "data:3:1: missing value (column 'a')"},
    {"a,b,y\n1,2,3\n4,nan,6\n", 0, .status = BAD, .fragment = "data:3:2: missing value"},
    {"a,b,y\n1,2,3\n4,?,6\n", 0, .status = BAD, .fragment = "option missing mean"},
    {"1,2,3\n4,null,6\n", 0, .status = BAD, .fragment = "data:2:2: missing value; fill it in"},
    {"a,b,y\n1,2,3\n4,inf,6\n", 0, .status = BAD, .fragment = "data:3:2: 'inf' is infinite or too large"},
    {"a,b,y\n1,2,3\n4,-Infinity,6\n", 0, .status = BAD, .fragment = "'-Infinity' is infinite"},
    {"a,b,y\n1,2,3\n1e999,2,6\n", 0, .status = BAD,
     .fragment = "data:3:1: '1e999' is infinite or too large (column 'a')"},
    {"a,b,y\n1,2,3\n4,red,6\n", 0, .status = BAD,
     .fragment = "data:3:2: 'red' is not a number (column 'b'); give option categorical 'b' if the column"},
    {"1,2,3\n4,red,6\n", 0, .status = BAD,
     .fragment = "data:2:2: 'red' is not a number; give option categorical 2 if the column holds categories"},
    {"a,b,y\n1,0x1F,3\n4,5,6\n", 0, .status = BAD, .fragment = "'0x1F' is not a number"},
    {"a;b;y\n1;2,5;3\n4;5;6\n", 0, .status = BAD,
     .fragment = "'2,5' is not a number (column 'b'); write numbers with a decimal point"},
    {"a,b,y\n1,2 3,3\n4,5,6\n", 0, .status = BAD, .fragment = "'2 3' is not a number"},
    {"1,2,3\n4,5\xC3\x28,6\n", 0, .status = BAD, .fragment = "data:2:2: '5\xC3\x83(' is not a number"},
    {"colour,b,y\nred,2,3\nblue,5,6\n", 0, .status = BAD,
     .fragment = "data:2:1: 'red' is not a number (column 'colour')"},
    {"name,n,y\n\"line one\nline two\",2,3\nx,5,6\n", 0, .target = "name", .header = "yes", .task = BROAD_TASK_REGRESS,
     .status = BAD, .fragment = "data:2: 'line one?line two' in the target 'name' is not a finite number"},
    {"n,name,y\n1,a,3\n\n\n2,\"x\ny\",4\nbad,c,5\n", 0, .target = "name", .status = BAD,
     .fragment = "data:7:1: 'bad' is not a number"},
    /* rows */
    {"a,b,y\n1,2,3\n4,5\n", 0, .status = BAD, .fragment = "data:3: 2 cells, but line 1 has 3"},
    {"a,b,y\n1,2,3\n4,5,6,7\n", 0, .status = BAD, .fragment = "data:3: 4 cells, but line 1 has 3"},
    {"a,b,y\n1,2,3\n4\n", 0, .status = BAD, .fragment = "data:3: 1 cell, but line 1 has 3"},
    {"a,b,y\n1,2,3\n4,5,6,\n", 0, .status = BAD, .fragment = "4 cells, but line 1 has 3"},
    {"1,2\n3,4\n5,6\n7\n8\n9\n", 0, .status = BAD, .fragment = "data:4: 1 cell, but line 1 has 2"},
    {"a b y\n1 2 3\n4 5\n", 0, .separator = "space", .status = BAD, .fragment = "data:3: 2 cells, but line 1 has 3"},
    {"a,b,y\n1,2,3\n,\n", 0, .status = BAD, .fragment = "2 cells"},
    /* quotes */
    {"a,b,y\n1,\"2,3\n4,5,6\n", 0, .status = BAD, .fragment = "data:2:2: a quote is opened here and never closed"},
    {"a,b,y\n1,\"2\"x,3\n", 0, .header = "yes", .status = BAD, .fragment = "data:2:2: text follows a closing quote"},
    {"\"a,b,y\n1,2,3\n", 0, .header = "yes", .separator = ",", .status = BAD, .fragment = "never closed"},
    /* bytes */
    {RAW("a,b,y\n1,\0,3\n"), .status = BAD, .fragment = "data:2: a zero byte"},
    {RAW("\0"), .status = BAD, .fragment = "a zero byte"},
    {RAW("a,b,y\n1,2,3\n\0"), .status = BAD, .fragment = "data:3: a zero byte"},
    {RAW("\xFF\xFE"
         "a\0,\0b\0"),
     .status = BAD, .fragment = "a header and no rows"},
    {RAW("\xFE\xFF\0a\0,"), .status = BAD, .fragment = "a header and no rows"},
    {RAW("PK\x03\x04rest"), .status = BAD, .fragment = "a ZIP archive"},
    {RAW("\xFD"
         "7zXZ\0"),
     .status = BAD, .fragment = "packed with xz"},
    {RAW("BZh91AY"), .status = BAD, .fragment = "packed with bzip2"},
    {RAW("\x28\xB5\x2F\xFD...."), .status = BAD, .fragment = "packed with zstd"},
    {RAW("\x89"
         "HDF\r\n"),
     .status = BAD, .fragment = "an HDF5 file"},
    {RAW("PAR1...."), .status = BAD, .fragment = "a Parquet file"},
    {RAW("\x89PNG\r\n"), .status = BAD, .fragment = "a PNG picture, not a table; photos are read from a folder"},
    {RAW("\xFF\xD8\xFF\xE0"), .status = BAD, .fragment = "a JPEG picture, not a table"},
    {RAW("%PDF-1.4"), .status = BAD, .fragment = "a PDF document"},
    /* columns */
    {"a,b,y\n1,2,3\n", 0, .target = "z", .status = BAD,
     .fragment = "there is no column 'z'; give option target one of the 3 columns: 'a', 'b', 'y'"},
    {"a,b,y\n1,2,3\n", 0, .target = "4", .status = BAD, .fragment = "there is no column '4'"},
    {"a,b,y\n1,2,3\n", 0, .target = "0", .status = BAD, .fragment = "there is no column '0'"},
    {"a,b,y\n1,2,3\n", 0, .target = "", .status = BAD, .fragment = "there is no column ''"},
    {"a,b,y\n1,2,3\n", 0, .target = "99999999999999999999", .status = BAD, .fragment = "there is no column"},
    {"1,2,3\n4,5,6\n", 0, .target = "y", .status = BAD,
     .fragment = "the file has no header, so give option target a number from 1 to 3"},
    {"a,b,y\n1,2,3\n", 0, .target = "a,z", .status = BAD, .fragment = "there is no column 'z'"},
    {"a,b,y\n1,2,3\n", 0, .target = "a,a", .status = BAD,
     .fragment = "column 1 is asked for twice, as target and as target"},
    {"a,b,y\n1,2,3\n", 0, .target = "a", .group = "a", .status = BAD, .fragment = "as target and as group"},
    {"a,b,y\n1,2,3\n", 0, .group = "site", .status = BAD, .fragment = "there is no column 'site'; give option group"},
    {"a,y,y\n1,2,3\n", 0, .target = "y", .status = BAD, .fragment = "more than one column is called 'y' (2 and 3)"},
    {"y\n1\n2\n", 0, .status = BAD, .fragment = "no input column is left: 1 column, of which 1 target"},
    {"g,y\n1,2\n3,4\n", 0, .group = "g", .status = BAD, .fragment = "no input column is left"},
    {"a,b\n1,2\n3,4\n", 0, .target = "a,b", .status = BAD, .fragment = "no input column is left"},
    {"a,g,y\n1,p,2\n3,,4\n", 0, .group = "g", .status = BAD, .fragment = "data:3: the group is missing"},
    /* weights */
    {"a,w,y\n1,2,3\n4,-0.5,6\n", 0, .weight = "w", .status = BAD,
     .fragment =
         "data:3:2: the weight '-0.5' is not a finite number of 0 or more (column 'w'); correct it or remove the row"},
    {"a,w,y\n1,-2,3\n", 0, .weight = "w", .status = BAD, .fragment = "data:2:2: the weight '-2' is not"},
    {"a,w,y\n1,2,3\n4,,6\n", 0, .weight = "w", .status = BAD,
     .fragment = "data:3:2: the weight is missing (column 'w'); fill it in or remove the row"},
    {"1,2,3\n4,?,6\n", 0, .weight = "2", .status = BAD, .fragment = "data:2:2: the weight is missing; fill"},
    {"a,w,y\n1,inf,3\n", 0, .weight = "w", .status = BAD, .fragment = "the weight 'inf' is not a finite number"},
    {"a,w,y\n1,1e999,3\n", 0, .weight = "w", .status = BAD, .fragment = "the weight '1e999' is not a finite"},
    {"a,w,y\n1,1e-999,3\n", 0, .weight = "w", .status = BAD, .fragment = "no row is left: 0 without a target, 1 with"},
    {"a,w,y\n1,two,3\n4,5,6\n", 0, .weight = "w", .status = BAD, .fragment = "the weight 'two' is not"},
    {"a,w,y\n1,2,3\n4,0\n", 0, .weight = "w", .status = BAD, .fragment = "data:3: 2 cells, but line 1 has 3"},
    {"a,w,y\n1,2,3\n", 0, .weight = "v", .status = BAD,
     .fragment = "there is no column 'v'; give option weight one of"},
    {"a,w,y\n1,2,3\n", 0, .weight = "y", .target = "y", .status = BAD,
     .fragment = "column 3 is asked for twice, as target and as weight"},
    {"a,w,y\n1,2,3\n", 0, .weight = "w", .group = "w", .status = BAD, .fragment = "as weight and as group"},
    {"w,y\n1,2\n", 0, .weight = "w", .status = BAD,
     .fragment = "no input column is left: 2 columns, of which 1 target and one weight"},
    {"1 1:2\n-1 2:1\n", 0, .weight = "w", .status = BAD,
     .fragment = "data: a LIBSVM file has no column of weights; write it as CSV to use option weight"},
    /* categories */
    {"c,a,y\nred,1,2\n,3,4\n", 0, .categorical = "c", .status = BAD,
     .fragment = "data:3:1: missing value (column 'c'); fill it in, or use the mean (option missing mean)"},
    {"c,a,y\nred,1,2\nblue,NA,4\n", 0, .categorical = "c", .status = BAD, .fragment = "data:3:2: missing value"},
    {"c,d,y\nred,1,2\nblue,x,4\n", 0, .categorical = "c,none", .status = BAD,
     .fragment = "data:3:2: 'x' is not a number"},
    {"c,a,y\nred,1,2\n", 0, .categorical = "z", .status = BAD,
     .fragment = "there is no column 'z'; give option categorical one of the 3 columns: 'c', 'a', 'y'"},
    {"c,a,y\nred,1,2\n", 0, .categorical = "c,", .status = BAD, .fragment = "there is no column ''"},
    {"c,a,y\nred,1,2\n", 0, .categorical = "c,1", .status = BAD,
     .fragment = "column 1 is asked for twice, as category and as category"},
    {"c,a,y\nred,1,2\n", 0, .categorical = "y", .status = BAD,
     .fragment = "column 3 is asked for twice, as category and as target (the last column, by default; choose another "
                 "with option target)"},
    {"c,a,y\nred,1,2\n", 0, .categorical = "y", .target = "y", .status = BAD, .fragment = "as category and as target"},
    {"c,a,y\nred,1,2\n", 0, .categorical = "c", .group = "c", .status = BAD, .fragment = "as category and as group"},
    {"c,a,y\nred,1,2\nblue\n", 0, .categorical = "c", .status = BAD, .fragment = "data:3: 1 cell, but line 1 has 3"},
    {"c,a,y\nred,1,2\n\"red,3,4\n", 0, .categorical = "c", .status = BAD, .fragment = "data:3:1: a quote is opened"},
    {"c,a,y\nred,1,2\n\"red,3,4\n", 0, .categorical = "auto", .status = BAD, .fragment = "data:3:1: a quote is opened"},
    {"1 1:2\n-1 2:1\n", 0, .categorical = "2", .status = BAD,
     .fragment = "data: a LIBSVM file has only numbers; write it as CSV to use option categorical"},
    /* targets */
    {"a,y\n1,2\n3,\n", 0, .status = BAD, .fragment = "data:3: the target 'y' is missing"},
    {"a,y\n1,cat\n3,?\n4,dog\n", 0, .status = BAD, .fragment = "data:3: the target 'y' is missing"},
    {"a,y\n1,cat\n3,NA\n4,dog\n", 0, .status = BAD, .fragment = "is missing; fill it in or remove the row"},
    {"a,y\n1,2\n3,cat\n", 0, .task = BROAD_TASK_REGRESS, .status = BAD,
     .fragment = "data:3: 'cat' in the target 'y' is not a finite number; a regression needs numbers"},
    {"a,y\n1,2\n3,1e999\n", 0, .task = BROAD_TASK_REGRESS, .status = BAD, .fragment = "'1e999' in the target 'y'"},
    {"a,y\n1,cat\n2,cat\n", 0, .status = BAD, .fragment = "target 'y': only one class, 'cat'"},
    {"a,y\n1,7\n2,7\n", 0, .task = BROAD_TASK_CLASSIFY, .status = BAD, .fragment = "only one class, '7'"},
    {"a,y,z\n1,cat,p\n2,dog,q\n", 0, .target = "y,z", .status = BAD,
     .fragment = "2 target columns, but a classification has one"},
    {"a,y\n1,cat\n", 0, .status = BAD, .fragment = "only one class"},
    /* options */
    {"a,y\n1,2\n", 0, .header = "perhaps", .status = BROAD_USAGE, .fragment = "option header must be auto, yes or no"},
    {"a,y\n1,2\n", 0, .separator = "comma", .status = BROAD_USAGE, .fragment = "option separator must be"},
    {"a,y\n1,2\n", 0, .separator = "5", .status = BROAD_USAGE, .fragment = "option separator must be"},
    {"a,y\n1,2\n", 0, .separator = "", .status = BROAD_USAGE, .fragment = "option separator must be"},
    {"a,y\n1,2\n", 0, .separator = "\"", .status = BROAD_USAGE, .fragment = "option separator must be"},
    /* LIBSVM */
    {"1 -3:1 2:4\n-1 1:2 2:3\n", 0, .status = BAD, .fragment = "data:1: '-3:1' has no whole number before the colon"},
    {"1 1:2 2:3\n-1 2:1 1:4\n", 0, .status = BAD, .fragment = "data:2: '1:4' is out of order"},
    {"1 1:2 1:3\n-1 2:1\n", 0, .status = BAD, .fragment = "data:1: '1:3' is out of order"},
    {"1 1:2\n-1 2:x\n", 0, .status = BAD, .fragment = "data:2: '2:x' has no number after the colon"},
    {"1 1:2\n-1 2:inf\n", 0, .status = BAD, .fragment = "'2:inf' is infinite"},
    {"1 1:2\n-1 x:2\n", 0, .status = BAD, .fragment = "'x:2' has no whole number before the colon"},
    {"1 1:2\n-1 -3:2\n", 0, .status = BAD, .fragment = "'-3:2' has no whole number before the colon"},
    {"1 1:2\n-1 2\n", 0, .status = BAD, .fragment = "data:2: '2' is not an index:value pair"},
    {"# comment\n1 1:2\n\ncat 2:2\n", 0, .status = BAD, .fragment = "data:4: 'cat' is not a label"},
    {"1 1:2\nnan 2:2\n", 0, .status = BAD, .fragment = "'nan' is not a label: every row needs one"},
    {"1 1:2\n-1 2:nan\n", 0, .status = BAD,
     .fragment = "'2:nan' has a missing value; fill it in, or use the mean (option missing mean)"},
    {"1 1:2\n1 2:2\n", 0, .status = BAD, .fragment = "only one class, '1'"},
    {"1 1:2\n-1 9000000000:2\n", 0, .status = BAD, .fragment = "would be out of proportion to the file"},
    {"1 1:2\n-1 4000000:2\n", 0, .status = BAD, .target = "x", .fragment = "leave out option target"},
    {"1 1:2\n-1 999999999999999999:2\n", 0, .status = BAD, .fragment = "out of proportion"},
    {"1 1:2\n-1 9999999999999999999999:2\n", 0, .status = BAD, .fragment = "no whole number before the colon"},
    {"1 1:2\n-1 3:2\n", 0, .group = "site", .status = BAD, .fragment = "the only group of a LIBSVM file is qid"},
    {"1 qid:1 1:2\n-1 3:2\n", 0, .group = "qid", .status = BAD, .fragment = "data:2: no qid in this row"},
    {"1 qid:1 1:2\n-1 3:2 qid:4\n", 0, .group = "qid", .status = BAD,
     .fragment = "'qid:4' must be a number and stand right after the label"},
    {"1 qid:1\n-1 qid:2\n", 0, .status = BAD, .fragment = "no row has an index:value pair"},
    /* IDX */
    {RAW("\0\0\x08\x00"), .status = BAD, .fragment = "0 dimensions in an IDX file"},
    {RAW("\0\0\x08\x80"), .status = BAD, .fragment = "128 dimensions"},
    {RAW("\0\0\x08\x02\0\0\0\x01"), .status = BAD,
     .fragment = "the IDX header is cut off: it needs 12 bytes, the file has 8"},
    {RAW("\0\0\x08\x02\0\0\0\x02\0\0\0\x02"
         "abc"),
     .status = BAD, .fragment = "the header claims 4 bytes of data, the file has 3: it is cut off"},
    {RAW("\0\0\x08\x02\0\0\0\x02\0\0\0\x02"
         "abcde"),
     .status = BAD, .fragment = "claims 4 bytes of data, the file has 5: it is damaged"},
    {RAW("\0\0\x08\x02\0\0\0\0\0\0\0\x02"), .status = BAD, .fragment = "dimension 1 is 0"},
    {RAW("\0\0\x0E\x04\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), .status = BAD,
     .fragment = "claims more than 2^64 bytes"},
    {RAW("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02"
         "abcd"),
     .status = BAD, .fragment = "give the targets as option labels"},
    {RAW("\0\0\x0D\x02\0\0\0\x01\0\0\0\x02\x7F\x80\0\0\0\0\0\0"), .status = BAD,
     .fragment = "row 1, column 1: the value is infinite"},
    /* NPY beyond its dictionary */
    {RAW("\x93NUMPY"), .status = BAD, .fragment = "the NPY header is cut off"},
    {RAW("\x93NUMPY\x01\0\xFF\xFF{}"), .status = BAD, .fragment = "cut off: 65545 bytes are claimed, the file has 12"},
    {RAW("\x93NUMPY\x09\0\x02\0{}"), .status = BAD, .fragment = "NPY version 9 is not known"},
    {RAW("\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{}"), .status = BAD, .fragment = "the NPY header is cut off"},
    /* gzip */
    {RAW("\x1f\x8b"), .status = BAD, .fragment = "the gzip data end early"},
    {RAW("\x1f\x8b\x08\0\0\0\0\0"), .status = BAD, .fragment = "the gzip data end early"},
    {RAW("\x1f\x8b\x07\0\0\0\0\0\0\0"), .status = BAD, .fragment = "corrupt gzip data"},
    {RAW("\x1f\x8b\x08\0\0\0\0\0\0\x03\xFF\xFF\xFF\xFF"), .status = BAD, .fragment = "corrupt gzip data near byte"},
};

#define DICT(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

static const bad_case npy_cases[] = {
    {DICT("<f8", "False", "(65536, 65536)"), 0, .status = BAD,
     .fragment = "the header claims 34359738368 bytes of data, the file has 0: it is cut off"},
    {DICT("<f8", "False", "(2, 2)"), 31, .status = BAD, .fragment = "claims 32 bytes of data, the file has 31"},
    {DICT("<f8", "False", "(2, 2)"), 33, .status = BAD,
     .fragment = "claims 32 bytes of data, the file has 33: it is damaged"},
    {DICT("<f8", "False", "(0, 2)"), 0, .status = BAD, .fragment = "dimension 1 is 0, so there is no data"},
    {DICT("<f8", "False", "(2, 0)"), 0, .status = BAD, .fragment = "dimension 2 is 0"},
    {DICT("<f8", "False", "()"), 8, .status = BAD, .fragment = "a single number, not an array of rows"},
    {DICT("<f8", "False", "(4,)"), 32, .status = BAD, .fragment = "no input column is left"},
    {DICT("<f8", "False", "(2, 2, 2)"), 64, .status = BAD, .fragment = "give the targets as option labels"},
    {DICT("<f8", "False", "(18446744073709551615, 2)"), 64, .status = BAD, .fragment = "claims more than 2^64 bytes"},
    {DICT("<f8", "False", "(18446744073709551616, 2)"), 64, .status = BAD, .fragment = "header is damaged"},
    {DICT("<f8", "False", "(4294967296, 4294967296, 0)"), 0, .status = BAD, .fragment = "dimension 3 is 0"},
    {DICT("<f8", "False", "(-1, 2)"), 16, .status = BAD, .fragment = "header is damaged"},
    {DICT("<f8", "False", "(2 2)"), 32, .status = BAD, .fragment = "header is damaged"},
    {DICT("<f8", "False", "(2, 2"), 32, .status = BAD, .fragment = "header is damaged"},
    {DICT("<f8", "Maybe", "(2, 2)"), 32, .status = BAD, .fragment = "header is damaged"},
    {DICT("<f2", "False", "(2, 2)"), 8, .status = BAD,
     .fragment = "numbers of the type '<f2' cannot be read; save them as float64"},
    {DICT("<c16", "False", "(2, 2)"), 64, .status = BAD, .fragment = "numbers of the type '<c16'"},
    {DICT("|O", "False", "(2, 2)"), 64, .status = BAD, .fragment = "numbers of the type '|O'"},
    {DICT("<U5", "False", "(2, 2)"), 80, .status = BAD, .fragment = "numbers of the type '<U5'"},
    {DICT("<  ", "False", "(2, 2)"), 80, .status = BAD, .fragment = "cannot be read"},
    {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", 16, .status = BAD,
     .fragment = "a structured array cannot be read"},
    {"{'descr': '<f8', 'shape': (2, 2), }", 32, .status = BAD, .fragment = "header is damaged"},
    {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", 32, .status = BAD,
     .fragment = "header is damaged"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'more': 1}", 32, .status = BAD,
     .fragment = "header is damaged"},
    {"", 32, .status = BAD, .fragment = "header is damaged"},
    {"{", 32, .status = BAD, .fragment = "header is damaged"},
    {"{'descr: '<f8'", 32, .status = BAD, .fragment = "header is damaged"},
    {DICT("<f8", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 8, .status = BAD,
     .fragment = "header is damaged"},
    {DICT("<i8", "False", "(2, 2)"), 32, .task = BROAD_TASK_CLASSIFY, .status = BAD, .fragment = "only one class, '0'"},
    {DICT("<f8", "False", "(2, 2)"), 32, .target = "3", .status = BAD,
     .fragment = "give option target a number from 1 to 2"},
};

static broad_read_options options_of(const bad_case *c)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.target = c->target;
    options.group = c->group;
    options.weight = c->weight;
    options.categorical = c->categorical ? c->categorical : "none";
    options.missing = BROAD_MISSING_ERROR;
    if (c->header) options.header = c->header;
    if (c->separator) options.separator = c->separator;
    options.task = c->task;
    return options;
}

/* Refused, with nothing handed out, nothing left behind, and no more memory than its size allows for. */
static void check_case(const bad_case *c, const void *file, size_t count)
{
    enum { ALLOWANCE = 1 << 20 };
    memory_watch watch;
    broad_read_options options = options_of(c);
    broad_data *data = (broad_data *)&watch;
    unsigned char *copy = malloc(count ? count : 1);
    assert_non_null(copy);
    memcpy(copy, file, count);
    watch_start(&watch, 0);
    int status = broad__read_bytes(&data, "data", copy, count, &options, NULL);
    watch_stop();
    free(copy);
    if (status != c->status)
        fail_msg("'%s': %s (%s) where %s was expected", c->text, broad_status_name(status), broad_error_message(),
                 c->fragment);
    if (!strstr(broad_error_message(), c->fragment))
        fail_msg("'%s': no \"%s\" in \"%s\"", c->text, c->fragment, broad_error_message());
    assert_null(data);
    assert_int_equal(watch.live, 0);
    assert_true(watch.peak < ALLOWANCE + 100 * count);
}

static void test_bad_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof text_cases / sizeof text_cases[0]; i++) {
        const bad_case *c = &text_cases[i];
        check_case(c, c->text, c->count ? c->count : strlen(c->text));
    }
    assert_true(sizeof text_cases / sizeof text_cases[0] >= 80);
}

static void test_bad_npy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof npy_cases / sizeof npy_cases[0]; i++) {
        bytes b = npy_bytes(1, npy_cases[i].text, NULL, npy_cases[i].count);
        check_case(&npy_cases[i], b.at, b.count);
        free(b.at);
    }
}

/* Eighty bytes that claim 32 GiB, from a file: refused from the header. */
static void test_lying_npy_file(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "lie.npy");
    bytes b = npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (65536, 65536), }   \n", NULL, 0);
    write_file(path, b.at, b.count);
    free(b.at);
    memory_watch watch;
    broad_data *data;
    watch_start(&watch, 0);
    int status = broad_data_read(&data, path, NULL);
    watch_stop();
    assert_int_equal(status, BROAD_BAD_DATA);
    assert_non_null(strstr(broad_error_message(), "lie.npy: the header claims 34359738368 bytes"));
    assert_true(watch.peak < 4096);
    remove_folder(folder);
}

static void check_large(const char *text, size_t count, const broad_read_options *options, const char *fragment)
{
    broad_data *data;
    memory_watch watch;
    watch_start(&watch, 0);
    int status = broad__read_bytes(&data, "data", text, count, options, NULL);
    watch_stop();
    if (status != BROAD_BAD_DATA || !strstr(broad_error_message(), fragment))
        fail_msg("%d: no \"%s\" in \"%s\"", status, fragment, broad_error_message());
    assert_int_equal(watch.live, 0);
    assert_true(watch.peak < 20 * count);
}

/* One line of many megabytes: as one cell, too many cells, an unclosed quote; and blank lines below a wide row. */
static void test_long_lines(void **state)
{
    (void)state;
    size_t count = (size_t)12 << 20;
    char *text = malloc(count);
    assert_non_null(text);
    broad_read_options options;
    broad_read_options_init(&options);
    memset(text, 'x', count);
    check_large(text, count, &options, "no input column is left");
    memset(text, '1', count);
    check_large(text, count, &options, "no input column is left");
    for (size_t i = 1; i < count; i += 2) text[i] = ',';
    check_large(text, count, &options, "cells in one row; at most");
    memset(text, 'x', count);
    memcpy(text, "a,y\n1,\"", 7);
    check_large(text, count, &options, "data:2:2: a quote is opened here and never closed");
    memset(text, '\n', count);
    for (size_t i = 0; i < 100000; i++) memcpy(text + 2 * i, i + 1 < 100000 ? "1," : "1\n", 2);
    text[count - 2] = '7';
    check_large(text, count, &options, "1 cell, but line 1 has 100000");
    free(text);
}

/* Zeros shrink a thousandfold: a small file may not ask for gigabytes. */
static void test_gzip_bomb(void **state)
{
    (void)state;
    size_t plain = (size_t)120 << 20;
    char *zeros = calloc(plain, 1);
    assert_non_null(zeros);
    bytes packed = gzip_bytes(zeros, plain);
    free(zeros);
    broad_read_options options;
    broad_read_options_init(&options);
    broad_data *data;
    memory_watch watch;
    watch_start(&watch, 0);
    int status = broad__read_bytes(&data, "data", packed.at, packed.count, &options, NULL);
    watch_stop();
    assert_int_equal(status, BROAD_BAD_DATA);
    assert_non_null(strstr(broad_error_message(), "looks like a decompression bomb"));
    assert_int_equal(watch.live, 0);
    assert_true(watch.peak < (size_t)256 << 20);
    free(packed.at);
}

/* Every cut of a small gzip file, and every flipped bit: refused or the same table, never anything else. */
static void test_damaged_gzip(void **state)
{
    (void)state;
    static const char text[] = "a,b,y\n1,2,3\n4,5,6\n7,8,9\n1,1,1\n";
    bytes packed = gzip_bytes(text, sizeof text - 1);
    broad_read_options options;
    broad_read_options_init(&options);
    broad_data *whole, *data;
    char expected[33], found[33];
    assert_ok(broad__read_bytes(&whole, "data", packed.at, packed.count, &options, NULL));
    assert_ok(broad__table_fingerprint(expected, whole, 0, whole->rows));
    broad_data_free(whole);
    for (size_t cut = 2; cut < packed.count; cut++)
        assert_int_equal(broad__read_bytes(&data, "data", packed.at, cut, &options, NULL), BROAD_BAD_DATA);
    for (size_t bit = 0; bit < 8 * packed.count; bit++) {
        packed.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
        int status = broad__read_bytes(&data, "data", packed.at, packed.count, &options, NULL);
        if (status == BROAD_OK) {
            assert_ok(broad__table_fingerprint(found, data, 0, data->rows));
            assert_string_equal(found, expected);
        } else {
            assert_int_equal(status, BROAD_BAD_DATA);
        }
        broad_data_free(data);
        packed.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(packed.at);
}

static void test_bad_paths(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    broad_data *data;
    join_path(path, folder, "none.csv");
    assert_fails(broad_data_read(&data, path, NULL), BROAD_NO_INPUT, "none.csv: cannot be opened: No such file");
    assert_fails(broad_data_read(&data, "", NULL), BROAD_NO_INPUT, "cannot be opened");
    assert_fails(broad_data_read(&data, folder, NULL), BROAD_BAD_DATA, "no photo in it");
    assert_fails(broad_data_read(&data, "/dev/zero", NULL), BROAD_NO_INPUT, "is a device");
    assert_fails(broad_data_read(&data, NULL, NULL), BROAD_USAGE, "NULL");
    write_text(path, "");
    assert_fails(broad_data_read(&data, path, NULL), BROAD_BAD_DATA, "none.csv: the file is empty");
    broad_read_options options = {.size = 1};
    assert_fails(broad_data_read(&data, path, &options), BROAD_USAGE, "_init");
    broad_read_options_init(&options);
    options.labels = "-";
    assert_fails(broad_data_read(&data, "-", &options), BROAD_USAGE, "cannot both come from standard input");
    remove_folder(folder);
}

/* A word among hundreds of numbers is taken for a slip. */
static void test_slip_in_target(void **state)
{
    (void)state;
    char text[8192] = "a,y\n";
    for (int i = 0; i < 500; i++) sprintf(text + strlen(text), "%d,%s\n", i, i == 321 ? "4o" : "40");
    broad_read_options options;
    broad_read_options_init(&options);
    broad_data *data;
    assert_fails(read_text(&data, text, &options), BROAD_BAD_DATA, "data:323: '4o' in the target 'y'");
    options.task = BROAD_TASK_CLASSIFY;
    assert_ok(read_text(&data, text, &options));
    assert_int_equal(data->outputs, 2);
    broad_data_free(data);
}

/* "Fewer than 1 of 100" is exact for every number of rows, for targets and inputs, and however their numbers are written. */
static void test_how_many_words_are_slips(void **state)
{
    (void)state;
    static const struct {
        int rows, words, slips;
    } cases[] = {{20, 1, 0}, {100, 1, 0}, {101, 1, 1}, {120, 1, 1}, {200, 2, 0}, {201, 2, 1}, {250, 3, 0}};
    static const char *const ends[] = {",25", " %", ".5"};
    broad_read_options options;
    broad_read_options_init(&options);
    for (size_t i = 0; i < 6 * sizeof cases / sizeof *cases; i++) {
        char text[16384], number[64];
        int input = i % 6 > 2, rows = cases[i / 6].rows, used = sprintf(text, input ? "y;a\n" : "a;y\n");
        for (int row = 0; row < rows; row++) {
            int word = row % 7 == 3 && row / 7 < cases[i / 6].words;
            sprintf(number, "%d%s", row % 7, ends[i % 3]);
            used += sprintf(text + used, "%d;%s\n", row * row, word ? "broken" : number);
        }
        broad_data *data = NULL;
        options.target = "y";
        if (cases[i / 6].slips) {
            assert_fails(read_text(&data, text, &options), BROAD_BAD_DATA, "data:5");
            assert_non_null(strstr(broad_error_message(), "'broken'"));
            continue;
        }
        assert_ok(read_text(&data, text, &options));
        assert_int_equal(data->task, input ? BROAD_TASK_REGRESS : BROAD_TASK_CLASSIFY);
        assert_int_equal(data->categories.count, input);
        broad_data_free(data);
    }
}

/* A label for every row is no classification. */
static void test_too_many_classes(void **state)
{
    (void)state;
    enum { ROWS = 70000 };
    char *text = malloc((size_t)ROWS * 16);
    assert_non_null(text);
    char *at = text;
    for (int i = 0; i < ROWS; i++) at += sprintf(at, "%d,id%d\n", i % 7, i);
    broad_read_options options;
    broad_read_options_init(&options);
    broad_data *data;
    assert_fails(read_text(&data, text, &options), BROAD_BAD_DATA, "more than 65536 different labels");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_bad_npy),
        cmocka_unit_test(test_lying_npy_file),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_gzip_bomb),
        cmocka_unit_test(test_damaged_gzip),
        cmocka_unit_test(test_bad_paths),
        cmocka_unit_test(test_slip_in_target),
        cmocka_unit_test(test_how_many_words_are_slips),
        cmocka_unit_test(test_too_many_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
