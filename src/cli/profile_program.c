/* profile of a program: what limits its kernels, by ncu around it or by a report that ncu has written. The three
 * kernels that take the most time, of each the three largest shares, with what to do. */
#include "cli/ncu_numbers.h"
#include "cli/ncu_run.h"
#include "cli/profile.h"
#include "instrument/ncu_limits.h"
#include "publish/listing.h"

#include "base/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLE                                                                                                        \
    "such as inferometer profile runs/DIR, inferometer profile -- ./program, or "                                      \
    "inferometer profile --import report.ncu-rep"
/* A workload of the lab needs no ncu. */
#define WITHOUT_NCU                                                                                                    \
    "`inferometer trace -- PROGRAM` tells launch gaps and how busy the GPU's parts are; of a workload of the lab "     \
    "--counters --trace and `inferometer profile DIR` tell all"
#define LEAST_PERCENT 5.0     /* shown from here on */
#define WORTH_PERCENT 30.0    /* advice from here on: below, all of a limit that is lifted gives less than a third */
#define OUR_CLOCK "ifm_stamp" /* the lab's own kernel, which no program of a user has */
#define SMALL "Shares below 5 % are left out; advice is given from 30 % on."

enum { TOP_KERNELS = 3, TOP_LIMITS = 3 };

static const struct ifm_listing_column columns[] = {
    {"kernel", "kernel", true}, {"launches", NULL, false}, {"time_ns", NULL, false},  {"time", "time", false},
    {"rank", NULL, false},      {"limit", "limit", true},  {"share", "share", false}, {"of", "of", true},
    {"detail", "with", true},   {"do", NULL, true},        {"reason", NULL, true},    {"remedy", NULL, true},
    {"", "notes", true},
};

struct profiled_kernel {
    const struct ifm_ncu_group *group;
    struct ifm_ncu_limits limits;
    double time_percent; /* of all launches; NAN */
};

/* Those of an unknown time come last: NAN alone has no place in an order. */
static int longest_first(const void *a, const void *b)
{
    const struct profiled_kernel *first = a, *second = b;
    const double x = fmax(first->limits.time_ns, -1), y = fmax(second->limits.time_ns, -1);
    return (y > x) - (y < x);
}

static void begin_row(struct ifm_listing *listing, const struct profiled_kernel *kernel, const char *limit)
{
    const double time = kernel->limits.time_ns, percent = kernel->time_percent;
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "kernel", ifm_text_plain(kernel->group->name, listing->arena));
    ifm_listing_set(listing, "launches", json_integer((json_int_t)kernel->group->n), NULL);
    ifm_listing_set(listing, "time_ns", isnan(time) ? json_null() : json_real(time), NULL);
    ifm_listing_set(listing, "time", isnan(percent) ? json_null() : json_real(percent),
                    isnan(percent) ? "absent" : ifm_arena_printf(listing->arena, "%.0f %%", percent));
    ifm_listing_set_text(listing, "limit", limit);
}

static void add_limit(struct ifm_listing *listing, const struct profiled_kernel *kernel,
                      const struct ifm_ncu_limit *limit, size_t rank)
{
    begin_row(listing, kernel, limit->name);
    ifm_listing_set(listing, "rank", json_integer((json_int_t)rank), NULL);
    ifm_listing_set(listing, "share", json_real(limit->share),
                    ifm_arena_printf(listing->arena, "%.1f %%", limit->share));
    ifm_listing_set_text(listing, "of", limit->of);
    ifm_listing_set_text(listing, "detail", limit->detail);
    if (limit->share < WORTH_PERCENT)
        return;
    ifm_listing_set_text(listing, "do", limit->advice);
    ifm_listing_show_note(listing, ifm_arena_printf(listing->arena, "%s: %s.", limit->name, limit->advice));
}

static void add_absent(struct ifm_listing *listing, const struct profiled_kernel *kernel,
                       const struct ifm_ncu_limit *limit)
{
    begin_row(listing, kernel, limit->name);
    ifm_listing_set(listing, "share", json_null(), "absent");
    ifm_listing_absent(listing, limit->reason, "`inferometer profile -- PROGRAM` asks ncu for it");
}

static void add_kernel(struct ifm_listing *listing, const struct profiled_kernel *kernel, bool all)
{
    const struct ifm_ncu_limits *limits = &kernel->limits;
    size_t shown = 0;
    for (size_t i = 0; i < limits->n_known && (all || shown < TOP_LIMITS); i++)
        if (all || limits->items[i].share >= LEAST_PERCENT)
            add_limit(listing, kernel, &limits->items[i], ++shown);
    for (size_t i = limits->n_known; i < limits->n; i++)
        add_absent(listing, kernel, &limits->items[i]);
    if (shown == 0 && limits->n_known > 0)
        begin_row(listing, kernel, "none above 5 %");
}

static void add_remarks(struct ifm_listing *listing, const struct ifm_ncu_counted *counted, size_t n, double rest,
                        bool all)
{
    if (n > TOP_KERNELS)
        ifm_listing_remark(listing, isnan(rest)
                                        ? ifm_arena_printf(listing->arena, "%zu more kernels.", n - TOP_KERNELS)
                                        : ifm_arena_printf(listing->arena, "%zu more kernels took %.0f %% of the time.",
                                                           n - TOP_KERNELS, rest));
    if (!all)
        ifm_listing_remark(listing, SMALL);
    ifm_listing_remark(listing, "Shares overlap: each says how near a kernel is to one limit.");
    ifm_listing_remark(listing, "By ncu, each launch alone; caches and clocks were left alone.");
    if (counted->passes > 1)
        ifm_listing_remark(listing, ifm_arena_printf(listing->arena,
                                                     "ncu ran each launch up to %.0f times: data that fits into the L2 "
                                                     "was there from the time before.",
                                                     counted->passes));
}

static enum ifm_status tell(const struct ifm_given *given, const struct ifm_ncu_report *report, const char *name,
                            struct ifm_error *error)
{
    struct ifm_ncu_counted counted;
    struct ifm_text text = {0};
    ifm_ncu_count(report, NULL, given->arena, &counted);
    struct profiled_kernel *kernels = IFM_ARENA_ARRAY(given->arena, struct profiled_kernel, counted.n_groups);
    const bool every = ifm_given_text(given, "all") != NULL;
    double all = 0, rest = 0;
    size_t known = 0, n = 0;
    for (size_t g = 1; g < counted.n_groups; g++) {
        const struct ifm_ncu_group *group = &counted.groups[g];
        if (strcmp(group->name, OUR_CLOCK) == 0)
            continue;
        kernels[n].group = group;
        ifm_ncu_limits_of(report, group->launches, group->n, given->arena, &kernels[n].limits);
        all += kernels[n].limits.time_ns;
        known += kernels[n++].limits.n_known;
    }
    if (known == 0)
        return ifm_fail(error, IFM_INVALID, name, "`inferometer profile -- PROGRAM`, or a report of `ncu --set full`",
                        "this report has no metric that says what limits a kernel");
    qsort(kernels, n, sizeof *kernels, longest_first);
    struct ifm_listing listing = ifm_listing_begin(columns, sizeof columns / sizeof *columns, given->arena);
    for (size_t k = 0; k < n; k++) {
        kernels[k].time_percent = 100 * kernels[k].limits.time_ns / all;
        rest += k < TOP_KERNELS ? 0 : kernels[k].time_percent;
        if (k < TOP_KERNELS)
            add_kernel(&listing, &kernels[k], every);
    }
    add_remarks(&listing, &counted, n, rest, every);
    ifm_cli_listing(&listing, given->format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
    return IFM_OK;
}

bool ifm_profile_is_of_program(const struct ifm_given *given)
{
    return given->command != NULL || ifm_given_text(given, "import") != NULL;
}

enum ifm_status ifm_profile_program(const struct ifm_given *given, struct ifm_error *error)
{
    const char *capability, *name;
    struct ifm_ncu_wish wish = {0};
    struct ifm_ncu_report report;
    IFM_TRY(ifm_ncu_check(given, EXAMPLE, error));
    if (given->command != NULL) {
        IFM_TRY(ifm_ncu_wish_of(given, &wish, error));
        IFM_TRY(ifm_ncu_capability(given, &capability, error));
        wish.metrics = ifm_ncu_limit_names(capability, given->arena);
    }
    const enum ifm_status status = ifm_ncu_take(given, &wish, &report, &name, error);
    if (status == IFM_MISSING && given->command != NULL) /* no ncu, or no permission */
        ifm_error_hint(error, "%s. Without it: " WITHOUT_NCU, ifm_arena_strdup(given->arena, error->hint));
    IFM_TRY(status);
    return tell(given, &report, name, error);
}
