/*
 * Classifies a camera frame with a model of photos, without a file: pixels in, class and probabilities out.
 *
 *   photo_from_memory MODEL WIDTH HEIGHT < FRAME     FRAME: WIDTH x HEIGHT x 3 bytes, blue, green, red (as OpenCV has them)
 *
 * Build: cc photo_from_memory.c $(pkg-config --cflags --libs broad) -o photo_from_memory
 */
#include <broad/broad.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what)
{
    fprintf(stderr, "photo_from_memory: %s\n", what);
    return EXIT_FAILURE;
}

static int classify(const broad_model *model, const broad_viewer *viewer, const broad_picture *frame)
{
    double *x = malloc(broad_model_inputs(model) * sizeof *x), *p = malloc(broad_model_outputs(model) * sizeof *p);
    broad_photo photo;
    int failed = !x || !p || broad_viewer_picture(x, &photo, viewer, frame) != BROAD_OK ||
                 broad_predict(p, model, x, 1, 0) != BROAD_OK || broad_probabilities(p, model, p, 1) != BROAD_OK;
    if (failed) fail(x && p ? broad_error_message() : "out of memory");
    else if (broad_photo_is_unlike(&photo)) printf("not like the training photos\n");
    for (size_t c = 0; !failed && c < broad_model_outputs(model); c++)
        printf("%s %.3f\n", broad_model_output_name(model, c), p[c]);
    free(x);
    free(p);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc != 4) return fail("usage: photo_from_memory MODEL WIDTH HEIGHT < FRAME");
    size_t width = strtoul(argv[2], NULL, 10), height = strtoul(argv[3], NULL, 10);
    if (width - 1 > 9999 || height - 1 > 9999) return fail("width and height are 1 to 10000");
    unsigned char *pixels = malloc(width * height * 3);
    broad_model *model = NULL;
    broad_viewer *viewer = NULL; /* opened once, used for every frame, by any number of threads */
    broad_picture *frame = NULL;
    int status;
    if (!pixels || fread(pixels, 3 * width, height, stdin) != height) status = fail("the frame is cut short");
    else if (broad_model_load(&model, argv[1]) != BROAD_OK || broad_viewer_open(&viewer, model) != BROAD_OK ||
             broad_picture_from_pixels(&frame, pixels, width, height, 0, BROAD_PIXEL_BGR) != BROAD_OK)
        status = fail(broad_error_message());
    else status = classify(model, viewer, frame);
    broad_picture_free(frame);
    broad_viewer_close(viewer);
    broad_model_free(model);
    free(pixels);
    return status;
}
