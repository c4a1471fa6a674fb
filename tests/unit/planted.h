/* Faults planted into a kernel: an implementation's row whose step spoils what the real one does, or leaves it out, and
 * what the checks of a run say of it. Include after cmocka and opened.h. */
#ifndef IFM_TESTS_PLANTED_H
#define IFM_TESTS_PLANTED_H

#include "run/cell/arm.h"
#include "sanitized.h"

/* How many faults each arm gets at the least. A sanitizer asks where memory is touched, not which faults are found: of
 * those that have nothing to do before a step each arm gets one in eight there, and others the next ones; all of them
 * in a file that defines PLANTED_ALL before. */
#if defined(SANITIZED) && !defined(PLANTED_ALL)
enum { PLANTED_EACH = 8, PLANTED_LEAST = 1, PLANTED_MOST = 64 };
#else
enum { PLANTED_EACH = 1, PLANTED_LEAST = 20, PLANTED_MOST = 64 };
#endif

struct planted_fault {
    const char *name;
    void (*before)(void *state), (*after)(void *state); /* around each real step; NULL = nothing */
    int idle_from; /* steps from this one on do nothing; negative: that one alone; 0 = all are done */
    bool coded;    /* of caches in a compressed format alone */
};

/* Rows of a list: spoiled behind a step, other during it and put back by `undo`, changed before it and back behind it.
 */
#define AFTER(what, fault)                                                                                             \
    {                                                                                                                  \
        what, NULL, fault, 0, false                                                                                    \
    }
#define WHILE(what, fault)                                                                                             \
    {                                                                                                                  \
        what, fault, undo, 0, false                                                                                    \
    }
#define ROUND(what, fault)                                                                                             \
    {                                                                                                                  \
        what, fault, fault, 0, false                                                                                   \
    }
#define IDLE                                                                                                           \
    {"no step is done", NULL, NULL, 1, false}, {"idle after the first step", NULL, NULL, 2, false},                    \
        {"idle after two steps", NULL, NULL, 3, false}, {"idle before the last measured step", NULL, NULL, 4, false},  \
        {"idle on the last measured step alone", NULL, NULL, -4, false},                                               \
    {                                                                                                                  \
        "idle after the last measured step", NULL, NULL, 5, false                                                      \
    }

enum { PLANTED_SETTINGS = 16 };

/* Settings of "path=value path=value"; `prefix` stands before each path. */
static inline size_t planted_settings(struct ifm_arena *arena, const char *prefix, const char *text,
                                      struct ifm_setting settings[PLANTED_SETTINGS])
{
    size_t n = 0;
    for (char *at = strtok(ifm_arena_strdup(arena, text), " "); at != NULL; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        assert_non_null(equals);
        assert_true(n < PLANTED_SETTINGS);
        *equals = '\0';
        settings[n++] = (struct ifm_setting){ifm_arena_printf(arena, "%s%s", prefix, at), equals + 1};
    }
    return n;
}

static struct {
    const struct ifm_implementation *real;
    const struct planted_fault *fault;
    int steps;
} planted;

static inline bool planted_idle(void)
{
    const int from = planted.fault->idle_from;
    return from < 0 ? planted.steps == -from : from > 0 && planted.steps >= from;
}

static inline void planted_step(void *state, uint64_t n)
{
    for (; n > 0; n--) {
        planted.steps++;
        if (planted_idle())
            continue;
        if (planted.fault->before != NULL)
            planted.fault->before(state);
        planted.real->step(state, 1);
        if (planted.fault->after != NULL)
            planted.fault->after(state);
    }
}

/* What rule 10 says of a check. */
static inline bool accepted(const struct ifm_check *check, double tolerance)
{
    return check->done && check->finite && check->error_max_rel <= tolerance &&
           !(check->has_part && check->error_part > IFM_PART_MOST) &&
           (!check->has_rows ||
            (check->error_row <= ifm_row_bound(tolerance) && check->error_bias <= ifm_bias_bound(tolerance)));
}

/* An open arm, run as a cell runs it: checked, measured, checked. */
struct planted_arm {
    struct ifm_implementation row;
    struct ifm_session session;
    struct ifm_cell plan;
    struct ifm_arm_run run;
    struct ifm_cell_run cell;
};

static inline void plant(struct planted_arm *out, const struct opened *opened, const struct planted_fault *fault)
{
    planted.real = opened->by;
    planted.fault = fault;
    planted.steps = 0;
    *out = (struct planted_arm){.row = *opened->by};
    out->row.step = planted_step;
    out->run = (struct ifm_arm_run){.plan = opened->opening.arm,
                                    .workload = opened->opening.workload,
                                    .implementation = &out->row,
                                    .state = opened->state};
    out->cell = (struct ifm_cell_run){.plan = &out->plan, .session = &out->session, .arms = &out->run};
}

/* Whether both checks accept the arm; the worse of them in `*worse`. */
static inline bool measures_well(const struct opened *opened, const struct planted_fault *fault, struct ifm_check *last)
{
    enum { SLOTS = 3 };
    struct planted_arm arm;
    struct ifm_error error = {0};
    const double tolerance = opened->opening.arm->tolerance;
    plant(&arm, opened, fault);
    if (ifm_arm_check(&arm.cell, 0, true, last, &error) != IFM_OK)
        fail_msg("%s", error.message);
    if (!accepted(last, tolerance))
        return false;
    for (int i = 0; i < SLOTS; i++) {
        arm.row.spoil(opened->state, false);
        if (opened->opening.arm->gaps && arm.row.before != NULL)
            assert_int_equal(arm.row.before(opened->state, &error), IFM_OK);
        arm.row.step(opened->state, 1);
    }
    if (ifm_arm_check(&arm.cell, 0, false, last, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return accepted(last, tolerance);
}

/* The real arm is accepted, and none of the faulty ones: how many there were. */
static inline size_t refuses_every_fault(const struct opened *opened, const char *what,
                                         const struct planted_fault *faults, size_t n, bool coded)
{
    static const struct planted_fault none = {.name = "none"};
    static size_t turn;
    struct ifm_check check;
    size_t refused = 0;
    if (!measures_well(opened, &none, &check))
        fail_msg("%s: refused without a fault: max %g (of %g), row %g, bias %g, part %g", what, check.error_max_rel,
                 opened->opening.arm->tolerance, check.error_row, check.error_bias, check.error_part);
    for (size_t i = 0; i < n; i++) {
        if ((faults[i].coded && !coded) || (faults[i].before == NULL && (turn + i) % PLANTED_EACH != 0))
            continue;
        if (measures_well(opened, &faults[i], &check))
            fail_msg("%s: %s was accepted: max %g (of %g), row %g, bias %g, part %g", what, faults[i].name,
                     check.error_max_rel, opened->opening.arm->tolerance, check.error_row, check.error_bias,
                     check.error_part);
        refused++;
    }
    turn++;
    return refused;
}

/* ---- how many there were ---- */

/* Of each workload, device and instruction set (of a GPU: each kernel): faults planted into the arm that got fewest. */
static struct {
    const char *workload, *device;
    char code[32];
    size_t arms, least;
} planted_table[PLANTED_MOST];
static size_t planted_rows;

static inline void planted_count(const char *workload, const char *device, const char *code, size_t faults)
{
    size_t i = 0;
    while (i < planted_rows &&
           !(strcmp(planted_table[i].workload, workload) == 0 && strcmp(planted_table[i].device, device) == 0 &&
             strcmp(planted_table[i].code, code) == 0))
        i++;
    assert_true(i < PLANTED_MOST);
    if (i == planted_rows) {
        planted_table[i].workload = workload;
        planted_table[i].device = device;
        snprintf(planted_table[i].code, sizeof planted_table[i].code, "%s", code);
        planted_table[planted_rows++].least = faults;
    }
    planted_table[i].arms++;
    planted_table[i].least = faults < planted_table[i].least ? faults : planted_table[i].least;
}

/* The last test of a program: enough of them everywhere. */
static inline void planted_table_is_full(void **state)
{
    (void)state;
    assert_true(planted_rows > 0);
    for (size_t i = 0; i < planted_rows; i++) {
        printf("%-10s %-5s %-12s %2zu faults refused, in each of %zu arms\n", planted_table[i].workload,
               planted_table[i].device, planted_table[i].code, planted_table[i].least, planted_table[i].arms);
        assert_true(planted_table[i].least >= PLANTED_LEAST);
    }
}

#endif
