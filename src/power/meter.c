/* An external meter: a CSV file that grows, or a pipe, with a line `t_s,power_w` for each reading.
 *
 * Its time stamps are aligned like this. Above 1e9 they are seconds since the Unix epoch, and the wall clock is asked
 * at each reading. Below, they are seconds since a start that nobody knows: the first line that arrives while we look
 * is taken to have been measured when it came, within the time since we looked before; all others keep that distance.
 * Lines that were there when the file was opened belong to no run: they are checked and give the meter's period. A line
 * that cannot be read is one error with its number, and the next line goes on. */
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "power/source.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 4096, LONGEST = 256, ASSUMED_MS = 1000, PATIENCE = 10 /* periods */ };
#define EPOCH_S 1e9
#define LATEST_S 9e9 /* of the epoch, in 2255: beyond it nanoseconds do not fit */
#define MOST_W 1e6
#define HEADER "t_s,power_w"
#define FORM "each line is t_s,power_w: two numbers, the first ascending; a header with these names may come first"

struct meter {
    int fd;
    bool pipe;
    char *path;
    char name[64]; /* without folders, which are private */
    char text[ROOM];
    size_t used, line; /* bytes in `text`; lines taken so far */
    off_t offset;
    double last_s;
    bool any;         /* a reading was taken: last_s is one */
    bool anchored;    /* start_ns is known */
    int64_t start_ns; /* when the meter's own clock stood at 0 */
    int64_t half_ns;
    int64_t looked_ns, before_ns; /* begin of the last two looks */
    int64_t alive_ns;             /* of a pipe: when it last had something, or a writer; 0 = never anything */
    struct ifm_error owed;        /* of a line behind readings that were given first */
};

static void close_meter(void *state)
{
    struct meter *meter = state;
    close(meter->fd);
    free(meter->path);
    free(meter);
}

static enum ifm_status malformed(const struct meter *meter, struct ifm_error *error, const char *what)
{
    char where[128];
    snprintf(where, sizeof where, "%s:%zu", meter->name, meter->line);
    return ifm_fail(error, IFM_INVALID, where, FORM, "%s", what);
}

static enum ifm_status gone(const struct meter *meter, struct ifm_error *error, const char *what)
{
    return ifm_fail(error, IFM_MISSING, meter->name, "let the meter's program write to one file, or pipe, to its end",
                    "%s", what);
}

/* Nothing came. Is that because nothing can come any more? A file that was moved or deleted keeps its descriptor, and
 * a pipe may find another writer: programs that open it for each line have none in between. */
static enum ifm_status check_alive(struct meter *meter, bool end, unsigned every_ms, struct ifm_error *error)
{
    struct stat here, there;
    int64_t now_ns = ifm_clock_now().ns, patience_ns = (int64_t)PATIENCE * every_ms * 1000000;
    if (!meter->pipe && fstat(meter->fd, &here) == 0) {
        if (stat(meter->path, &there) != 0)
            return errno == ENOENT ? gone(meter, error, "the meter's file was deleted or renamed") : IFM_OK;
        if (here.st_dev != there.st_dev || here.st_ino != there.st_ino)
            return gone(meter, error, "another file stands in the place of the meter's file");
    }
    if (!end)
        meter->alive_ns = now_ns;
    if (meter->pipe && meter->any && now_ns - meter->alive_ns > patience_ns)
        return gone(meter, error, "nobody writes to the meter's pipe any more");
    return IFM_OK;
}

/* Bytes into the buffer; false when nothing came. */
static bool fill(struct meter *meter, unsigned every_ms, enum ifm_status *status, struct ifm_error *error)
{
    struct stat info;
    *status = IFM_OK;
    if (!meter->pipe && (fstat(meter->fd, &info) != 0 || info.st_size < meter->offset)) {
        *status = gone(meter, error, "the meter's file became shorter");
        return false;
    }
    ssize_t got = read(meter->fd, meter->text + meter->used, ROOM - meter->used);
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        *status =
            ifm_fail(error, IFM_MISSING, meter->name, "", "the meter cannot be read any more: %s", strerror(errno));
    else if (got <= 0) /* the end of what is there; of a pipe, perhaps no writer */
        *status = check_alive(meter, got == 0, every_ms, error);
    if (got <= 0)
        return false;
    meter->alive_ns = meter->looked_ns;
    meter->used += (size_t)got;
    meter->offset += got;
    return true;
}

/* The next whole line without its end; false when there is none yet. */
static bool take_line(struct meter *meter, char line[LONGEST], bool *too_long)
{
    char *end = memchr(meter->text, '\n', meter->used);
    *too_long = false;
    if (end == NULL && meter->used < ROOM)
        return false;
    size_t length = end == NULL ? meter->used : (size_t)(end - meter->text), whole = length + (end != NULL);
    *too_long = length >= LONGEST;
    size_t kept = *too_long ? 0 : length;
    memcpy(line, meter->text, kept);
    while (kept > 0 && (line[kept - 1] == '\r' || line[kept - 1] == ' '))
        kept--;
    line[kept] = '\0';
    meter->used -= whole;
    memmove(meter->text, meter->text + whole, meter->used);
    meter->line++;
    return true;
}

/* A reading of a line; `*nothing` for a header and an empty line. */
static enum ifm_status parse(struct meter *meter, char *line, bool too_long, double *t_s, double *watts, bool *nothing,
                             struct ifm_error *error)
{
    *nothing = !too_long && (line[0] == '\0' || (meter->line == 1 && strcmp(line, HEADER) == 0));
    if (*nothing)
        return IFM_OK;
    char *comma = too_long ? NULL : strchr(line, ',');
    if (comma == NULL)
        return malformed(meter, error, too_long ? "a line of more than 255 bytes" : "a line without a comma");
    *comma = '\0';
    const char *second = comma + 1 + strspn(comma + 1, " ");
    if (strlen(line) != strcspn(line, "\t ") || !ifm_parse_f64(line, t_s) || *t_s < 0 || *t_s > LATEST_S)
        return malformed(meter, error, "the time is not a number of seconds");
    if (!ifm_parse_f64(second, watts) || *watts < 0 || *watts > MOST_W)
        return malformed(meter, error, "the power is not a number of watts from 0 to 1e6");
    if (meter->any && (*t_s > EPOCH_S) != (meter->last_s > EPOCH_S))
        return malformed(meter, error, "the time changes between seconds since a start and since the epoch");
    if (meter->any && *t_s <= meter->last_s)
        return malformed(meter, error, "the time does not ascend");
    meter->any = true;
    meter->last_s = *t_s;
    return IFM_OK;
}

static struct ifm_power_point place(struct meter *meter, double t_s, double watts, int64_t now_ns)
{
    if (t_s > EPOCH_S) {
        struct ifm_power_wall wall = ifm_power_wall();
        double whole = floor(t_s); /* seconds of the epoch with microseconds are all that a double holds */
        int64_t t_ns = (int64_t)whole * 1000000000 + (int64_t)llround((t_s - whole) * 1e9);
        return (struct ifm_power_point){t_ns - wall.ahead_ns, wall.half_ns + 1000, watts};
    }
    if (!meter->anchored) {
        meter->anchored = true;
        meter->half_ns = (now_ns - meter->before_ns + 1) / 2;
        meter->start_ns = now_ns - meter->half_ns - llround(t_s * 1e9);
    }
    return (struct ifm_power_point){meter->start_ns + llround(t_s * 1e9), meter->half_ns, watts};
}

static enum ifm_status read_meter(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct meter *meter = state;
    char line[LONGEST];
    double t_s, watts;
    bool too_long, nothing;
    enum ifm_status status = IFM_OK;
    if (meter->owed.code != IFM_OK) {
        *error = meter->owed;
        meter->owed = (struct ifm_error){0};
        return error->code;
    }
    meter->before_ns = meter->looked_ns;
    meter->looked_ns = ifm_clock_now().ns;
    do {
        while (out->n < out->room && take_line(meter, line, &too_long)) {
            status = parse(meter, line, too_long, &t_s, &watts, &nothing, error);
            if (status != IFM_OK) {
                if (out->n == 0)
                    return status;
                meter->owed = *error; /* what came before it first */
                return IFM_OK;
            }
            if (!nothing)
                out->points[out->n++] = place(meter, t_s, watts, ifm_clock_now().ns);
        }
    } while (out->n < out->room && fill(meter, out->sensor->every_ms, &status, error));
    return out->n > 0 ? IFM_OK : status;
}

/* ---- finding ---- */

/* Lines that are there already; `*every_ms` is their mean distance. */
static enum ifm_status skip_old(struct meter *meter, unsigned *every_ms, struct ifm_error *error)
{
    char line[LONGEST];
    double t_s, watts, first_s = 0;
    bool too_long, nothing;
    size_t readings = 0;
    enum ifm_status status = IFM_OK;
    do {
        while (take_line(meter, line, &too_long)) {
            IFM_TRY(parse(meter, line, too_long, &t_s, &watts, &nothing, error));
            if (!nothing && readings++ == 0)
                first_s = t_s;
        }
    } while (fill(meter, ASSUMED_MS, &status, error));
    double mean_ms = readings < 2 ? ASSUMED_MS : (meter->last_s - first_s) / (double)(readings - 1) * 1e3;
    *every_ms = (unsigned)fmin(fmax(round(mean_ms), 1), 3600e3);
    return status;
}

void ifm_power_find_meter(const struct ifm_power_options *options, struct ifm_power *power)
{
    static const struct ifm_power_reader reader = {read_meter, close_meter};
    struct ifm_power_sensor sensor = {
        .device = "board", .source = "meter", .kind = IFM_POWER_METER, .every_ms = ASSUMED_MS};
    struct ifm_error error = {0};
    struct stat info;
    if (options->meter == NULL) {
        ifm_power_lack(
            power, "meter",
            "name its CSV file or pipe, of lines t_s,power_w: --power-meter FILE (of `inferometer power`: --meter)",
            "no file or pipe of an external meter was named");
        return;
    }
    int fd = open(options->meter, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode))) {
        ifm_power_lack(power, "meter", "name a CSV file that grows, or a pipe, with lines t_s,power_w", "%s: %s",
                       ifm_path_base(options->meter), fd < 0 ? strerror(errno) : "neither a file nor a pipe");
        if (fd >= 0)
            close(fd);
        return;
    }
    struct meter *meter = ifm_zeros(1, sizeof *meter);
    meter->fd = fd;
    meter->path = ifm_strdup(options->meter);
    meter->pipe = S_ISFIFO(info.st_mode);
    meter->looked_ns = ifm_clock_now().ns;
    snprintf(meter->name, sizeof meter->name, "%.*s", (int)sizeof meter->name - 1, ifm_path_base(options->meter));
    if (!meter->pipe && skip_old(meter, &sensor.every_ms, &error) != IFM_OK) {
        ifm_power_lack(power, "meter", FORM, "%s: %s", error.where, error.message);
        close_meter(meter);
        return;
    }
    ifm_power_add(power, &sensor, &reader, meter);
}

enum ifm_status ifm_power_meter_ready(const char *path, struct ifm_error *error)
{
    struct stat info;
    const struct ifm_power_options options = {.root = "", .meter = path};
    if (stat(path, &info) == 0 && S_ISFIFO(info.st_mode))
        return IFM_OK;
    struct ifm_power *power = ifm_power_create();
    ifm_power_find_meter(&options, power);
    const struct ifm_power_list *list = ifm_power_list(power);
    const struct ifm_power_absence *absence = &list->absences[0];
    enum ifm_status status = IFM_OK;
    if (list->n_absences > 0) { /* the reason begins with the file's name, which is all that a record may hold */
        const char *base = ifm_path_base(path), *reason = absence->reason;
        bool named = strncmp(reason, base, strlen(base)) == 0;
        status = ifm_fail(error, IFM_MISSING, "measure.power_meter", absence->remedy, "%s%s%s", path,
                          named ? "" : ": ", named ? reason + strlen(base) : reason);
    }
    ifm_power_close(power);
    return status;
}
