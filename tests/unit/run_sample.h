/* A cell of two arms of `null` on the scripted device, in a run folder of its own: for tests of src/run. */
#ifndef IFM_TESTS_UNIT_RUN_SAMPLE_H
#define IFM_TESTS_UNIT_RUN_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "instrument/instrument.h"
#include "run/run.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 5, BLOCKS = 6 }; /* of a fake instrument; of a pass of counters */

struct fixture {
    char dir[32];
    struct ifm_arm arms[2];
    struct ifm_pass passes[3];
    const char *replayers[1], *tracers[1], *columns[COLUMNS], *units[COLUMNS];
    struct ifm_cell cells[2];
    struct ifm_plan plan;
    struct ifm_run_options options;
    struct ifm_error error;
};

static inline int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/ifm-run-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    char samples[64];
    snprintf(samples, sizeof samples, "%s/samples", f.dir);
    assert_int_equal(ifm_dir_create(samples, &f.error), IFM_OK);
    for (int i = 0; i < 2; i++)
        f.arms[i] = (struct ifm_arm){.name = i == 0 ? "quick" : "slow",
                                     .workload = "null",
                                     .implementation = "script",
                                     .variant = "",
                                     .feature = "",
                                     .equals = "",
                                     .role = i == 0 ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT};
    f.passes[0] = (struct ifm_pass){.kind = IFM_PASS_LATENCY};
    f.cells[0] = (struct ifm_cell){.name = "null",
                                   .workload = "null",
                                   .threads = 1,
                                   .seed = 3,
                                   .arms = f.arms,
                                   .n_arms = 2,
                                   .passes = f.passes,
                                   .n_passes = 1,
                                   .unsupported = ""};
    f.cells[0].measure = (struct ifm_measure){.warmup = 50,
                                              .warmup_cap_s = 5,
                                              .steady_tolerance = 0.05,
                                              .stop = IFM_STOP_REPEATS,
                                              .repeats = 1000,
                                              .mde = 0.01,
                                              .cap_s = 10,
                                              .blocks_min = 6,
                                              .blocks_max = 1000,
                                              .slot_steps = 5,
                                              .slot_min_s = 1e-3};
    f.plan =
        (struct ifm_plan){.run_id = "run", .config_hash = "hash", .device = "fake", .cells = f.cells, .n_cells = 1};
    f.options = (struct ifm_run_options){
        .dir = f.dir,
        .device = {.threads = 1, .seed = 9, .script = "step_ns=10000; noise=0.01; arm.slow.step_ns=20000"}};
    ifm_log_quiet(1);
    *state = &f;
    return 0;
}

static inline int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int tear_down(void **state)
{
    return nftw(((struct fixture *)*state)->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Passes beside the latency pass, each with the fake instrument of its class. */
static inline void add_passes(struct fixture *f)
{
    const struct ifm_instrument *replayer = ifm_fake_instruments[IFM_INTRUSION_REPLAYING];
    f->replayers[0] = replayer->name;
    f->tracers[0] = ifm_fake_instruments[IFM_INTRUSION_TRACING]->name;
    assert_int_equal(replayer->n_columns, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++) {
        f->columns[i] = replayer->columns[i].id;
        f->units[i] = replayer->columns[i].unit;
    }
    for (int i = 1; i < 3; i++)
        f->passes[i] = (struct ifm_pass){.kind = i == 1 ? IFM_PASS_COUNTERS : IFM_PASS_TRACE,
                                         .instruments = i == 1 ? f->replayers : f->tracers,
                                         .n_instruments = 1,
                                         .columns = f->columns,
                                         .column_units = f->units,
                                         .n_columns = COLUMNS};
    f->cells[0].n_passes = 3;
    f->options.device.script = "step_ns=10000; noise=0.01; arm.slow.step_ns=20000; l2_hit=0.5; arm.slow.l2_hit=0.25";
}

#endif
