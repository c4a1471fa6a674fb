/* An estimate from the processor's rated power and how busy it was: what is left when nothing measures. It is an
 * estimate wherever it goes, and there is none without a rated power from the user: no table of processors is kept. */
#include "base/arena.h"
#include "base/text.h"
#include "host/probe.h"
#include "power/source.h"
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8, IDLE = 3, IOWAIT = 4 };
#define ESTIMATE_ERROR 0.4 /* the worse end of what comparisons with meters found (arXiv 2509.22092) */

struct usage {
    char *root;
    double rated_w;
    uint64_t busy, total; /* ticks at the last reading */
    int64_t last_ns;      /* 0 = no reading yet */
};

/* "cpu  user nice system idle iowait irq softirq steal ...": ticks since boot. */
static bool read_ticks(const char *root, uint64_t *busy, uint64_t *total)
{
    char line[256], *rest, *word;
    size_t n = 0;
    uint64_t ticks;
    *busy = *total = 0;
    if (!ifm_probe_line(root, line, sizeof line, "/proc/stat") || strncmp(line, "cpu ", 4) != 0)
        return false;
    for (word = strtok_r(line + 4, " ", &rest); word != NULL && n < FIELDS; word = strtok_r(NULL, " ", &rest), n++) {
        if (!ifm_parse_u64(word, &ticks))
            return false;
        *total += ticks;
        *busy += n == IDLE || n == IOWAIT ? 0 : ticks;
    }
    return n > IDLE;
}

static enum ifm_status read_usage(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct usage *usage = state;
    uint64_t busy, total;
    int64_t now = ifm_clock_now().ns, last = usage->last_ns;
    if (!read_ticks(usage->root, &busy, &total))
        return ifm_fail(error, IFM_MISSING, NULL, "", "/proc/stat cannot be read any more");
    if (last != 0 && total == usage->total) /* no tick since */
        return IFM_OK;
    uint64_t ticks = total - usage->total, worked = busy - usage->busy;
    bool back = last != 0 && (total < usage->total || busy < usage->busy);
    usage->busy = busy;
    usage->total = total;
    usage->last_ns = now;
    if (back || (last != 0 && worked > ticks)) /* the kernel corrects idle times now and then */
        return ifm_fail(error, IFM_INVALID, NULL, "", "the ticks of /proc/stat went back");
    if (last == 0)
        return IFM_OK;
    out->points[0] = (struct ifm_power_point){last + (now - last) / 2, (now - last + 1) / 2,
                                              usage->rated_w * (double)worked / (double)ticks};
    out->n = 1;
    return IFM_OK;
}

static void close_usage(void *state)
{
    struct usage *usage = state;
    free(usage->root);
    free(usage);
}

void ifm_power_find_tdp(const struct ifm_power_options *options, struct ifm_power *power)
{
    static const struct ifm_power_reader reader = {read_usage, close_usage};
    static const struct ifm_power_sensor sensor = {
        .device = "cpu", .source = "tdp", .kind = IFM_POWER_ESTIMATE, .gain_error = ESTIMATE_ERROR, .every_ms = 100};
    uint64_t busy, total;
    if (!(options->rated_w > 0)) {
        ifm_power_lack(power, "tdp", "give the rated power of all processors together: --rated-w WATTS",
                       "no rated power was given, so that nothing is estimated");
        return;
    }
    if (!read_ticks(options->root, &busy, &total)) {
        ifm_power_lack(power, "tdp", "mount -t proc proc /proc", "/proc/stat cannot be read");
        return;
    }
    struct usage *usage = ifm_zeros(1, sizeof *usage);
    usage->root = ifm_strdup(options->root);
    usage->rated_w = options->rated_w;
    struct ifm_power_sensor found = sensor;
    found.limit_w = options->rated_w;
    ifm_power_add(power, &found, &reader, usage);
}
