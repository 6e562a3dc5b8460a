/*
 * From gnuplot's SVG to the part of it that a page needs. What gnuplot writes is flat: groups that set the width of lines and
 * the place of a text, and in them paths, polygons, uses of a symbol, and texts. What is set by a group is written to its elements
 * instead; everything that is not known by name is refused, so that nothing gets into a page but these four elements.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/gnuplot.h"

enum { DEPTH = 16, NAME = 16, VALUE = 64 };

typedef struct svg_group {
    double width, x, y; /* of lines; where texts stand */
    char anchor[8];
} svg_group;

typedef struct svg_reader {
    FILE *out;
    svg_group groups[DEPTH];
    size_t depth;
} svg_reader;

typedef struct svg_tag {
    char name[NAME];
    int closing, closed;     /* </g>, <g/> */
    const char *begin, *end; /* of its attributes */
} svg_tag;

/* ---- reading ---- */

/* The next tag from `from` on; NULL: there is none, or it is not complete. Returns what follows it. */
static const char *next_tag(svg_tag *out, const char *from)
{
    const char *open = strchr(from, '<'), *close = open ? strchr(open, '>') : NULL;
    if (!close) return NULL;
    const char *at = open + 1;
    out->closing = *at == '/';
    at += out->closing;
    size_t length = strcspn(at, " \t\r\n/>");
    if (length >= NAME) length = NAME - 1;
    memcpy(out->name, at, length);
    out->name[length] = 0;
    out->begin = at + length;
    out->closed = close[-1] == '/';
    out->end = close - out->closed;
    return close + 1;
}

/* The value of an attribute and its length; NULL: it has none of this name. */
static const char *attribute(const svg_tag *tag, const char *name, size_t *out_length)
{
    size_t wanted = strlen(name);
    for (const char *at = tag->begin; at < tag->end;) {
        at += strspn(at, " \t\r\n");
        const char *equals = memchr(at, '=', at < tag->end ? (size_t)(tag->end - at) : 0);
        if (!equals) return NULL;
        const char *quote = equals + 1 + strspn(equals + 1, " ");
        const char *end = quote < tag->end && (*quote == '"' || *quote == '\'') ? strchr(quote + 1, *quote) : NULL;
        if (!end || end >= tag->end + 1) return NULL;
        size_t length = (size_t)(equals - at);
        while (length && at[length - 1] == ' ') length--;
        if (length == wanted && memcmp(at, name, wanted) == 0) {
            *out_length = (size_t)(end - quote - 1);
            return quote + 1;
        }
        at = end + 1;
    }
    return NULL;
}

/* A short one as text; "" where there is none, or it is too long. */
static const char *short_attribute(char out[VALUE], const svg_tag *tag, const char *name)
{
    size_t length = 0;
    const char *value = attribute(tag, name, &length);
    if (!value || length >= VALUE) length = 0;
    if (length) memcpy(out, value, length);
    out[length] = 0;
    return out;
}

/* The numbers in a text such as "translate(1.5,2) scale(3)", `most` at most; returns how many. */
static size_t numbers_in(double *out, size_t most, const char *text)
{
    size_t count = 0;
    while (*text && count < most) {
        char *end = NULL;
        int begins = isdigit((unsigned char)*text) || *text == '-' || *text == '.';
        if (begins) out[count] = strtod(text, &end);
        count += begins && end != text;
        text = begins && end != text ? end : text + 1;
    }
    return count;
}

/* N of "rgb(  0,   0,   N)"; 4, the ink of axes, for any other colour. */
static int colour(const svg_tag *tag, const char *name)
{
    char text[VALUE];
    double parts[3] = {0};
    if (numbers_in(parts, 3, short_attribute(text, tag, name)) != 3) return 4;
    return parts[0] == 0 && parts[1] == 0 && parts[2] >= 1 && parts[2] <= 9 ? (int)parts[2] : 4;
}

/* ---- writing ---- */

/* Numbers, commands of a path and what stands between them; without it the element is not known. */
static int put_numbers(svg_reader *r, const svg_tag *tag, const char *name)
{
    size_t length = 0;
    const char *value = attribute(tag, name, &length);
    while (length && isspace((unsigned char)value[length - 1])) length--;
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)value[i]) && !strchr(" \t\r\n.,-+eMLHVZmlhvz", value[i])) return 0;
    return value && fprintf(r->out, " %s=\"%.*s\"", name, (int)length, value) > 0;
}

static int put_path(svg_reader *r, const svg_tag *tag)
{
    char dashes[VALUE];
    double width = r->groups[r->depth].width;
    fprintf(r->out, "<path class=\"k%d\"", colour(tag, "stroke"));
    if (width != 1) fprintf(r->out, " stroke-width=\"%g\"", width);
    if (*short_attribute(dashes, tag, "stroke-dasharray") && !put_numbers(r, tag, "stroke-dasharray")) return 0;
    return put_numbers(r, tag, "d") && fputs("/>\n", r->out) >= 0;
}

static int put_polygon(svg_reader *r, const svg_tag *tag)
{
    fprintf(r->out, "<polygon class=\"f%d\"", colour(tag, "fill"));
    return put_numbers(r, tag, "points") && fputs("/>\n", r->out) >= 0;
}

/* A point: of gnuplot's symbols the filled circle is the one in use. */
static int put_point(svg_reader *r, const svg_tag *tag)
{
    char text[VALUE];
    double place[3]; /* x, y, scale */
    if (strcmp(short_attribute(text, tag, "xlink:href"), "#gpPt6") != 0) return 0;
    if (numbers_in(place, 3, short_attribute(text, tag, "transform")) != 3) return 0;
    return fprintf(r->out, "<circle class=\"f%d\" cx=\"%g\" cy=\"%g\" r=\"%g\"/>\n", colour(tag, "color"), place[0],
                   place[1], place[2]) > 0;
}

/* A text up to its end; it holds no element. */
static int put_text(svg_reader *r, const char **after)
{
    const svg_group *group = &r->groups[r->depth];
    const char *text = *after + strspn(*after, " \t\r\n");
    size_t length = strcspn(text, "<");
    if (strncmp(text + length, "</text>", 7) != 0) return 0;
    *after = text + length + 7;
    return fprintf(r->out, "<text x=\"%g\" y=\"%g\"%s%s%s>%.*s</text>\n", group->x, group->y,
                   *group->anchor ? " text-anchor=\"" : "", group->anchor, *group->anchor ? "\"" : "", (int)length,
                   text) > 0;
}

static int open_group(svg_reader *r, const svg_tag *tag)
{
    char text[VALUE];
    if (tag->closing) return r->depth-- > 0;
    if (r->depth + 1 >= DEPTH) return 0;
    svg_group group = r->groups[r->depth];
    if (*short_attribute(text, tag, "stroke-width")) group.width = strtod(text, NULL);
    double place[2];
    if (*short_attribute(text, tag, "transform")) {
        if (numbers_in(place, 2, text) != 2) return 0;
        group.x = place[0];
        group.y = place[1];
    }
    short_attribute(text, tag, "text-anchor");
    static const char *const anchors[] = {"start", "middle", "end"};
    group.anchor[0] = 0;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(text, anchors[i]) == 0) snprintf(group.anchor, sizeof group.anchor, "%s", anchors[i]);
    r->groups[++r->depth] = group;
    return 1;
}

/* Behind the end of an element whose content is not wanted. */
static const char *skip(const svg_tag *tag, const char *after)
{
    char end[NAME + 4];
    if (tag->closed || tag->closing) return after;
    snprintf(end, sizeof end, "</%s>", tag->name);
    const char *at = strstr(after, end);
    return at ? at + strlen(end) : NULL;
}

/* One element; moves *after behind what it takes. 0: not known. */
static int take_element(svg_reader *r, const svg_tag *tag, const char **after)
{
    static const char *const unwanted[] = {"title", "desc", "defs", "rect"};
    for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
        if (strcmp(tag->name, unwanted[i]) == 0) {
            *after = skip(tag, *after);
            return *after != NULL;
        }
    if (strcmp(tag->name, "g") == 0) return open_group(r, tag);
    if (strcmp(tag->name, "path") == 0) return put_path(r, tag);
    if (strcmp(tag->name, "polygon") == 0) return put_polygon(r, tag);
    if (strcmp(tag->name, "use") == 0) return put_point(r, tag);
    return strcmp(tag->name, "text") == 0 && !tag->closing && put_text(r, after);
}

static int take_all(svg_reader *r, const char **svg)
{
    svg_tag tag;
    const char *after = strstr(*svg, "<svg");
    after = after ? strchr(after, '>') : NULL;
    while (after && (after = next_tag(&tag, after)) != NULL) {
        if (strcmp(tag.name, "svg") == 0 && tag.closing) {
            *svg = after;
            return r->depth == 0;
        }
        if (!take_element(r, &tag, &after)) return 0;
    }
    return 0;
}

int cli_svg_take(char **out, const char **svg)
{
    char *text = NULL;
    size_t bytes = 0;
    svg_reader r = {.out = open_memstream(&text, &bytes), .groups = {{.width = 1}}};
    if (!r.out) return 0;
    int done = take_all(&r, svg);
    if (fclose(r.out)) done = 0;
    if (done) *out = text;
    else free(text);
    return done;
}
