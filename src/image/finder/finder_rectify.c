/*
 * A quadrilateral seen from the front. With its corners p0 to p3 clockwise, the place in the picture of the point (u, v) of the
 * unit square is
 *
 *   (a u + b v + c, d u + e v + f) / (g u + h v + 1)
 *
 * whose eight numbers follow from the corners (Heckbert 1989, section 2.2.3). Each pixel of the result looks there.
 */
#include <math.h>

#include "base/status.h"
#include "image/finder/finder.h"

/* Of the longer side: nothing is gained by more pixels than the picture has. */
enum { LARGER_MOST = 2 };

typedef struct view {
    double a, b, c, d, e, f, g, h;
} view;

static int view_of(view *out, const double p[8])
{
    double x1 = p[2] - p[4], x2 = p[6] - p[4], y1 = p[3] - p[5], y2 = p[7] - p[5];
    double sx = p[0] - p[2] + p[4] - p[6], sy = p[1] - p[3] + p[5] - p[7];
    double area = x1 * y2 - x2 * y1;
    if (!(fabs(area) > 1e-9)) return -1;
    double g = (sx * y2 - x2 * sy) / area, h = (x1 * sy - sx * y1) / area;
    /* Only a convex one keeps the divisor above 0 all over the square. */
    if (!(1 + g > 1e-6 && 1 + h > 1e-6 && 1 + g + h > 1e-6)) return -1;
    *out = (view){p[2] - p[0] + g * p[2],
                  p[6] - p[0] + h * p[6],
                  p[0],
                  p[3] - p[1] + g * p[3],
                  p[7] - p[1] + h * p[7],
                  p[1],
                  g,
                  h};
    return 0;
}

static double side(const double *p, size_t from, size_t to)
{
    return hypot(p[2 * to] - p[2 * from], p[2 * to + 1] - p[2 * from + 1]);
}

static size_t whole_pixels(double length, size_t most)
{
    if (length < 1) return 1;
    return length > (double)most ? most : (size_t)(length + 0.5);
}

/* Linear between the centres of pixels; what lies outside has the colour of the edge. */
static void look(unsigned char *out, const broad__image *image, double x, double y)
{
    double right = (double)(image->width - 1), bottom = (double)(image->height - 1);
    x = fmin(fmax(x - 0.5, 0), right);
    y = fmin(fmax(y - 0.5, 0), bottom);
    size_t left = (size_t)x, top = (size_t)y;
    size_t next = left + 1 < image->width ? 3 : 0, below = top + 1 < image->height ? 3 * image->width : 0;
    double u = x - (double)left, v = y - (double)top;
    const unsigned char *at = image->pixels + (top * image->width + left) * 3;
    for (size_t c = 0; c < 3; c++) {
        double upper = (1 - u) * at[c] + u * at[next + c];
        double lower = (1 - u) * at[below + c] + u * at[below + next + c];
        out[c] = (unsigned char)((1 - v) * upper + v * lower + 0.5);
    }
}

int broad__region_rectify(broad__image *out, const broad__region *region, const broad__image *image)
{
    double p[8];
    view w;
    for (size_t i = 0; i < 8; i++) {
        p[i] = region->corners[i] * (double)(i % 2 ? image->height : image->width);
        if (!isfinite(p[i])) return broad__fail(BROAD_BAD_DATA, "a corner of the region is no finite number");
    }
    if (view_of(&w, p) < 0)
        return broad__fail(BROAD_BAD_DATA,
                           "the corners of the region make no convex quadrilateral; take its box instead");
    size_t most = LARGER_MOST * (image->width > image->height ? image->width : image->height);
    size_t width = whole_pixels((side(p, 0, 1) + side(p, 3, 2)) / 2, most);
    size_t height = whole_pixels((side(p, 0, 3) + side(p, 1, 2)) / 2, most);
    broad__image made;
    int status = broad__image_init(&made, width, height);
    if (status < 0) return status;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            double u = ((double)x + 0.5) / (double)width, v = ((double)y + 0.5) / (double)height;
            double by = w.g * u + w.h * v + 1;
            look(made.pixels + (y * width + x) * 3, image, (w.a * u + w.b * v + w.c) / by,
                 (w.d * u + w.e * v + w.f) / by);
        }
    *out = made;
    return BROAD_OK;
}
