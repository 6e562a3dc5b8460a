#include "data/path_kind.h"

#include <sys/stat.h>

#include "base/file.h"
#include "data/detect.h"

broad_path_kind broad__path_kind(const char *path)
{
    unsigned char start[BROAD__DETECT_BYTES];
    size_t count = 0;
    struct stat info;
    if (stat(path, &info) != 0) return BROAD_PATH_KIND_UNKNOWN;
    if (S_ISDIR(info.st_mode)) return BROAD_PATH_KIND_FOLDER;
    if (!S_ISREG(info.st_mode) || broad__file_read_start(start, &count, path, sizeof start) < 0)
        return BROAD_PATH_KIND_UNKNOWN;
    switch (broad__data_detect(start, count).content) {
    case BROAD__CONTENT_TABLE: return BROAD_PATH_KIND_TABLE;
    case BROAD__CONTENT_PICTURE: return BROAD_PATH_KIND_PICTURE;
    case BROAD__CONTENT_FOREIGN:
    case BROAD__CONTENT_UNKNOWN: break;
    }
    return BROAD_PATH_KIND_UNKNOWN;
}
