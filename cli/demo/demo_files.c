#include "demo/demo_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "demo/demo_folder.h"
#include "io/folder.h"
#include "io/output.h"

enum { LINE_BYTES = 256, SHUFFLE_DRAW = 2, PHOTO_BYTES_MOST = 16 << 20 };

static const char truth_header[] = "file,label,severity,transmittance,coverage,dirt,left,top,right,bottom\n";

/* ---- room for a run ---- */

static const char *const names[DEMO_PLACES] = {
    [DEMO_MARK] = ".broad-demo",
    [DEMO_PHOTOS] = "photos",
    [DEMO_PHOTOS_TRUTH] = "photos-truth.csv",
    [DEMO_NEW] = "new",
    [DEMO_NEW_TRUTH] = "new-truth.csv",
    [DEMO_MODEL] = "panels.broad",
    [DEMO_CORRECTED] = "corrected",
    [DEMO_CORRECTED_MODEL] = "corrected.broad",
    [DEMO_HEATMAPS] = "heatmaps",
    [DEMO_REPORT] = "report",
    [DEMO_CACHE] = ".cache",
};

static int is_there(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static int write_mark(const demo_story *story)
{
    cli_output output;
    cli_output_open(&output, story->at[DEMO_MARK]);
    cli_output_print(&output, "broad demo made this folder's");
    for (size_t i = DEMO_MARK + 1; i < DEMO_PLACES; i++) cli_output_print(&output, " %s", names[i]);
    cli_output_print(&output, "\nand replaces them when it is run again.\n");
    return cli_output_close(&output);
}

int demo_files_prepare(demo_story *story)
{
    size_t length = strlen(story->folder);
    if (length == 0 || length > DEMO_PATH_BYTES - 64)
        return cli_fail(BROAD_USAGE, "'%.100s' cannot be the name of a folder; give one such as broad-demo",
                        story->folder);
    while (length > 1 && story->folder[length - 1] == '/') length--;
    for (size_t i = 0; i < DEMO_PLACES; i++)
        snprintf(story->at[i], DEMO_PATH_BYTES, "%.*s/%s", (int)length, story->folder, names[i]);
    int status = demo_make_folder(story->folder), ours = is_there(story->at[DEMO_MARK]);
    for (size_t i = DEMO_MARK + 1; !status && i < DEMO_PLACES; i++) {
        if (!ours && is_there(story->at[i]))
            return cli_fail(BROAD_CANNOT_WRITE,
                            "%s: exists and does not come from a demonstration; give the name of another folder",
                            story->at[i]);
        status = cli_folder_remove(story->at[i]);
    }
    return status ? status : write_mark(story);
}

/* ---- photos with and without labels ---- */

/* A line of what broad render knows of a photo. */
typedef struct truth_line {
    char file[DEMO_NAME_BYTES], rest[LINE_BYTES];
} truth_line;

static int read_line(truth_line *out, FILE *file)
{
    char line[LINE_BYTES];
    char *comma = fgets(line, sizeof line, file) ? strchr(line, ',') : NULL;
    if (!comma || comma - line >= DEMO_NAME_BYTES || !strchr(comma, '\n')) return 0;
    memcpy(out->file, line, (size_t)(comma - line)); /* the room was zeroed */
    snprintf(out->rest, sizeof out->rest, "%s", comma + 1);
    return 1;
}

static int read_truth(truth_line *out, size_t count, const char *path)
{
    FILE *file = fopen(path, "r");
    char header[LINE_BYTES];
    if (!file) return cli_fail(BROAD_IO, "%s: cannot be read: %s", path, strerror(errno));
    int fine = fgets(header, sizeof header, file) && strcmp(header, truth_header) == 0;
    for (size_t i = 0; fine && i < count; i++) fine = read_line(&out[i], file);
    fclose(file);
    return fine ? BROAD_OK : cli_fail(BROAD_BUG, "%s: was changed while the demonstration ran", path);
}

/* Fisher and Yates: out[i] of 0 to count - 1 in an order that follows from the seed. */
static void shuffle(size_t *out, size_t count, uint64_t seed)
{
    broad_random stream;
    broad_random_init(&stream, seed, BROAD_RANDOM_PURPOSE_PICTURES);
    stream.draw = SHUFFLE_DRAW;
    for (size_t i = 0; i < count; i++) {
        size_t other = (size_t)(broad_random_at(&stream, i) * (double)(i + 1));
        out[i] = i;
        if (other < i) out[i] = out[other], out[other] = i;
    }
}

static int move(const char *from_folder, const char *from, const char *to_folder, const char *to)
{
    char old_path[DEMO_PATH_BYTES + LINE_BYTES], new_path[DEMO_PATH_BYTES + LINE_BYTES];
    snprintf(old_path, sizeof old_path, "%s/%s", from_folder, from);
    snprintf(new_path, sizeof new_path, "%s/%s", to_folder, to);
    if (rename(old_path, new_path) == 0) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be moved to %s: %s", old_path, new_path, strerror(errno));
}

/* order: which line becomes the first new photo, the second and so on. */
static int part_new(demo_story *story, const truth_line *lines, const size_t *order)
{
    cli_output output;
    int status = BROAD_OK;
    cli_output_open(&output, story->at[DEMO_NEW_TRUTH]);
    cli_output_print(&output, "%s", truth_header);
    for (size_t i = 0; !status && i < story->fresh_count; i++) {
        const truth_line *line = &lines[order[i]];
        demo_photo *photo = &story->fresh[i];
        snprintf(photo->name, sizeof photo->name, "panel-%04zu.jpg", i + 1);
        photo->truth = strncmp(line->rest, demo_classes[1], strlen(demo_classes[1])) == 0;
        status = move(story->at[DEMO_PHOTOS], line->file, story->at[DEMO_NEW], photo->name);
        cli_output_print(&output, "%s,%s", photo->name, line->rest);
    }
    int written = cli_output_close(&output);
    return status ? status : written;
}

static int write_truth(const demo_story *story, const truth_line *lines)
{
    cli_output output;
    cli_output_open(&output, story->at[DEMO_PHOTOS_TRUTH]);
    cli_output_print(&output, "%s", truth_header);
    for (size_t i = 0; i < story->count; i++) cli_output_print(&output, "%s,%s", lines[i].file, lines[i].rest);
    return cli_output_close(&output);
}

int demo_files_part(demo_story *story)
{
    char path[DEMO_PATH_BYTES + LINE_BYTES];
    size_t all = story->count + story->fresh_count;
    truth_line *lines = calloc(all, sizeof *lines);
    size_t *order = calloc(story->fresh_count, sizeof *order);
    int status = lines && order ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory: cannot list %zu photos", all);
    snprintf(path, sizeof path, "%s/truth.csv", story->at[DEMO_PHOTOS]);
    if (!status) status = read_truth(lines, all, path);
    if (!status) status = demo_make_folder(story->at[DEMO_NEW]);
    if (!status) {
        shuffle(order, story->fresh_count, story->seed);
        status = part_new(story, lines + story->count, order);
    }
    if (!status) status = write_truth(story, lines);
    if (!status) status = cli_folder_remove(path);
    free(order);
    free(lines);
    return status;
}

/* ---- corrections ---- */

static int copy(const char *to_folder, const char *from_folder, const char *name)
{
    char from[DEMO_PATH_BYTES + LINE_BYTES], to[DEMO_PATH_BYTES + LINE_BYTES];
    void *bytes = NULL;
    size_t count = 0;
    snprintf(from, sizeof from, "%s/%s", from_folder, name);
    snprintf(to, sizeof to, "%s/%s", to_folder, name);
    int status = broad__file_read(&bytes, &count, from, PHOTO_BYTES_MOST);
    if (status) return status;
    cli_output output;
    cli_output_open(&output, to);
    cli_output_bytes(&output, bytes, count);
    broad__free(bytes);
    return cli_output_close(&output);
}

int demo_files_correct(const demo_story *story)
{
    char folders[2][DEMO_PATH_BYTES + DEMO_NAME_BYTES];
    int status = demo_make_folder(story->at[DEMO_CORRECTED]);
    for (size_t i = 0; i < 2 && !status; i++) {
        snprintf(folders[i], sizeof folders[i], "%s/%s", story->at[DEMO_CORRECTED], demo_classes[i]);
        status = demo_make_folder(folders[i]);
    }
    for (size_t i = 0; i < story->fresh_count && !status; i++)
        if (story->fresh[i].corrected)
            status = copy(folders[story->fresh[i].truth], story->at[DEMO_NEW], story->fresh[i].name);
    return status;
}
