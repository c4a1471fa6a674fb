/* The line of progress on a terminal: how far the run is, what is left, what it is at, what it says so far. It never
 * goes backwards, is never wider than the terminal, and never says 100 %: it is gone when all is done. */
#include "cli/cli.h"

#include "base/log.h"
#include "base/plain.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PIECES = 4, ROOM = 512 };
static const double OFTEN_NS = 1e8; /* ten times a second */

/* What it is at, in front of an arm's name. */
static const char *const doing[IFM_PARTS] = {
    [IFM_PART_MACHINE] = "looking at the machine",
    [IFM_PART_DATA] = "setting up",
    [IFM_PART_CHECKS] = "checking",
    [IFM_PART_CALIBRATION] = "calibrating",
    [IFM_PART_WARM_UP] = "warming up",
    [IFM_PART_CEILINGS] = "measuring ceilings",
    [IFM_PART_BLOCKS] = "measuring",
    [IFM_PART_LATER] = "measuring",
};

/* Columns, or 0: unknown. */
static size_t room_of_terminal(void)
{
    struct winsize size = {0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? (size_t)size.ws_col - 1 : 0;
}

/* The whole comparisons of a list that fit, "a 1.1x [1.0, 1.2], b 2x": those in brackets are no commas of the list. */
static void shorten(char *text, size_t room)
{
    size_t columns = 0, end = 0, depth = 0, i = 0;
    for (; text[i] != '\0' && columns <= room; i++) {
        depth += text[i] == '[' ? 1 : text[i] == ']' && depth > 0 ? SIZE_MAX : 0;
        if (text[i] == ',' && depth == 0 && columns + 2 <= room)
            end = i;
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    if (columns > room)
        memcpy(text + end, end > 0 ? " …" : "", end > 0 ? sizeof " …" : 1);
}

/* The pieces side by side, the most important ones first: the last are left out where there is no room. */
static void show(char pieces[PIECES][ROOM])
{
    const size_t room = room_of_terminal();
    size_t taken = 0;
    fputs("\r\033[K", stderr);
    for (int i = 0; i < PIECES; i++) {
        const size_t blanks = taken > 0 ? 2 : 0;
        ifm_plain_make(pieces[i]);
        if (room > 0)
            shorten(pieces[i], room > taken + blanks ? room - taken - blanks : 0);
        if (pieces[i][0] == '\0')
            continue;
        fprintf(stderr, "%*s%s", (int)blanks, "", pieces[i]);
        taken += blanks + ifm_plain_columns(pieces[i]);
    }
    ifm_log_over_line(true);
}

static bool may_show(struct ifm_progress_line *line, int at)
{
    const int64_t now_ns = ifm_clock_now().ns;
    const bool again = line->shown && line->at == at;
    if (again && (double)(now_ns - line->last_ns) < OFTEN_NS)
        return false;
    line->last_ns = now_ns;
    line->at = at;
    line->shown = true;
    return true;
}

/* "about 12 s left". An estimate that grows holds the line; one that has more than doubled is no estimate, nor is one
 * that has stood for longer than it says. */
static void say_left(struct ifm_progress_line *line, double left_s, char out[ROOM])
{
    enum { MINUTE = 60 };
    static const double FALLS_S = 0.5, LATE_S = 1;
    const double now_s = 1e-9 * (double)ifm_clock_now().ns;
    line->left_s = line->reported ? fmin(line->left_s, left_s) : left_s;
    if (!line->reported || line->left_s < line->stands_s - FALLS_S) {
        line->stands_s = line->left_s;
        line->since_s = now_s;
    }
    if (left_s > 2 * line->left_s + 1 || now_s > line->since_s + line->stands_s + LATE_S)
        snprintf(out, ROOM, "longer than expected");
    else if (line->left_s >= 2 * MINUTE)
        snprintf(out, ROOM, "about %.0f min left", line->left_s / MINUTE);
    else
        snprintf(out, ROOM, "about %.0f s left", fmax(line->left_s, 1)); /* while it runs, some are */
}

static void say_percent(const struct ifm_progress_line *line, char out[ROOM])
{
    if (line->reported)
        snprintf(out, ROOM, "%3.0f %%", fmin(99, floor(100 * line->fraction)));
}

static void report(void *context, const struct ifm_cell *cell, double fraction, double left_s)
{
    struct ifm_progress_line *line = context;
    char pieces[PIECES][ROOM] = {"", "", "", ""};
    say_left(line, left_s, pieces[1]);
    line->fraction = fmax(line->fraction, fraction);
    line->reported = true;
    if (!may_show(line, IFM_PART_BLOCKS))
        return;
    say_percent(line, pieces[0]);
    snprintf(pieces[2], ROOM, "%s", cell->name);
    if (line->so_far.text[0] != '\0')
        snprintf(pieces[3], ROOM, "so far %s", line->so_far.text);
    show(pieces);
}

/* Around the blocks: what it is at, and what the parts before it took. NULL: it is over. */
static void tell(void *context, const struct ifm_parts *parts)
{
    struct ifm_progress_line *line = context;
    char pieces[PIECES][ROOM] = {"", "", "", ""}, spent[160];
    if (parts == NULL) {
        ifm_progress_clear(line);
        return;
    }
    if (parts->at == IFM_PART_BLOCKS || parts->at == IFM_PART_LATER ||
        !may_show(line, parts->at == IFM_PART_CEILINGS && line->reported ? IFM_PART_BLOCKS : (int)parts->at))
        return;
    say_percent(line, pieces[0]);
    snprintf(pieces[1], ROOM, "%s%s%s", doing[parts->at], parts->arm == NULL ? "" : " ",
             parts->arm == NULL ? "" : parts->arm);
    snprintf(pieces[2], ROOM, "%s", parts->cell == NULL ? "" : parts->cell);
    if (ifm_parts_text(parts->seconds, spent, sizeof spent)[0] != '\0')
        snprintf(pieces[3], ROOM, "so far %s", spent);
    show(pieces);
}

struct ifm_progress ifm_progress_open(const struct ifm_options *options, struct ifm_progress_line *line)
{
    *line = (struct ifm_progress_line){.shows = !options->quiet && isatty(STDERR_FILENO)};
    return line->shows ? (struct ifm_progress){report, line, tell} : (struct ifm_progress){0};
}

void ifm_progress_say(struct ifm_progress_line *line, const char *words)
{
    char pieces[PIECES][ROOM] = {"", "", "", ""};
    if (!line->shows)
        return;
    say_percent(line, pieces[0]);
    snprintf(pieces[1], ROOM, "%s", words);
    line->shown = true;
    show(pieces);
}

void ifm_progress_clear(void *context)
{
    struct ifm_progress_line *line = context;
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
    ifm_log_over_line(false);
}
