/* Whether all of a drawing lies inside of it: texts by their width, paths spot by spot. */
#ifndef TESTS_UNIT_DRAWING_H
#define TESTS_UNIT_DRAWING_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "report/plot.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_of(const char *text, const char *part)
{
    const char *next = strstr(text, part);
    return next == NULL ? 0 : 1 + count_of(next + 1, part);
}

/* The number after `name` in the element at `at`; NAN when it has none. */
static double attribute(const char *at, const char *name)
{
    char key[24];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = at + strcspn(at, ">"), *found = strstr(at, key);
    return found == NULL || found > end ? NAN : strtod(found + strlen(key), NULL);
}

static void assert_inside(double x, double y, double width, double height, const char *at)
{
    if (x < -0.15 || x > width + 0.15 || y < -0.15 || y > height + 0.15)
        fail_msg("%g %g is outside of %g x %g: %.160s", x, y, width, height, at);
}

/* The width of the text up to the next tag; an escape is one letter. */
static double width_of(const char *text)
{
    char plain[2048];
    size_t n = 0;
    for (; *text != '<' && n + 1 < sizeof plain; text++) {
        plain[n++] = *text;
        if (*text == '&')
            text = strchr(text, ';');
    }
    plain[n] = '\0';
    return ifm_plot_text_width(plain, 12);
}

/* 's', 'm' or 'e': of the text at `at`, or of the group of ticks before it that is still open. */
static char anchor_of(const char *svg, const char *at)
{
    static const char own[] = " text-anchor=\"", group[] = "<g class=\"small\" text-anchor=\"";
    const char *anchor = strstr(at, own), *open = NULL;
    if (anchor != NULL && anchor < at + strcspn(at, ">"))
        return anchor[sizeof own - 1];
    for (const char *p = svg; (p = strstr(p, group)) != NULL && p < at; p++)
        open = strstr(p, "</g>") > at ? p : NULL;
    return open == NULL ? 's' : open[sizeof group - 1];
}

static inline void check_text(const char *svg, const char *at, double width, double height)
{
    const char *text = at + strcspn(at, ">") + 1;
    double x = attribute(at, "x"), y = attribute(at, "y");
    double size = width_of(text);
    char first = anchor_of(svg, at);
    double from = first == 'm' ? x - size / 2 : first == 'e' ? x - size : x;
    assert_inside(from, y, width, height, at);
    assert_inside(from + size, y - 8, width, height, at);
}

/* Places behind M, L, H and V, distances behind m, l, h and v. */
static inline void check_path(const char *at, double width, double height)
{
    double x = 0, y = 0;
    bool by_distance = false;
    char command = 'M';
    for (const char *p = strstr(at, " d=\"") + 4; *p != '"';) {
        char *end;
        if (isalpha((unsigned char)*p)) {
            command = *p++;
            by_distance = command == 'm' || command == 'l' || command == 'h' || command == 'v';
            continue;
        }
        const bool flat = command == 'h' || command == 'H', upright = command == 'v' || command == 'V';
        double stays_x = by_distance ? 0 : x, stays_y = by_distance ? 0 : y;
        double step_x = upright ? stays_x : strtod(p, &end), step_y = flat ? stays_y : strtod(upright ? p : end, &end);
        assert_ptr_not_equal(end, p);
        x = by_distance ? x + step_x : step_x;
        y = by_distance ? y + step_y : step_y;
        assert_inside(x, y, width, height, at);
        p = end;
    }
}

/* All elements lie inside their drawing, none is left open, and no number is none. */
static inline void check_svg(const char *svg)
{
    double width = 0, height = 0;
    for (const char *at = strchr(svg, '<'); at != NULL; at = strchr(at + 1, '<')) {
        if (strncmp(at, "<svg", 4) == 0)
            assert_int_equal(sscanf(at, "<svg viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
        if (strncmp(at, "<rect", 5) == 0) {
            double x = attribute(at, "x"), y = attribute(at, "y");
            assert_inside(x, y, width, height, at);
            assert_inside(x + attribute(at, "width"), y + attribute(at, "height"), width, height, at);
        }
        if (strncmp(at, "<circle", 7) == 0) {
            double r = attribute(at, "r");
            assert_inside(attribute(at, "cx") - r, attribute(at, "cy") - r, width, height, at);
            assert_inside(attribute(at, "cx") + r, attribute(at, "cy") + r, width, height, at);
        }
        if (strncmp(at, "<text", 5) == 0)
            check_text(svg, at, width, height);
        if (strncmp(at, "<path", 5) == 0)
            check_path(at, width, height);
    }
    assert_int_equal(count_of(svg, "<g"), count_of(svg, "</g>"));
    assert_int_equal(count_of(svg, "<svg"), count_of(svg, "</svg>"));
    for (const char *p = svg; *p != '\0'; p++) {
        bool start = p == svg || !isalpha((unsigned char)p[-1]);
        bool none = strncmp(p, "nan", 3) == 0 || strncmp(p, "inf", 3) == 0;
        if (start && none && !isalpha((unsigned char)p[3]))
            fail_msg("no number in %.80s", p > svg + 40 ? p - 40 : svg);
    }
}

#endif
