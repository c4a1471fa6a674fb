/* data/counters: every file is read, names no metric twice in a set, and holds against CUPTI itself where that is: its
 * host half knows the chips without a GPU. */
#include "dyn/cupti.h"
#include "instrument/ncu_limits.h"
#include "model/counter_sets.h"

#include <cmocka.h>

#include "facts.h"
#include "sanitized.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(type, last) .size = IFM_CUPTI_SIZE(struct ifm_cupti_##type, last)

/* The chips of a file, one after the other. */
static bool next_chip(const char **at, char chip[static 16])
{
    *at += strspn(*at, " ");
    const size_t length = strcspn(*at, " \n");
    snprintf(chip, 16, "%.*s", (int)length, *at);
    *at += length;
    return length > 0;
}

static const char *chips_of(const char *text)
{
    const char *line = strstr(text, "\nchips:");
    assert_non_null(line);
    return line + strlen("\nchips:");
}

static void every_file_is_read(void **state)
{
    (void)state;
    size_t files = 0;
    for (; ifm_embedded_counters[files].name != NULL; files++) {
        struct ifm_counter_sets sets, again;
        char chip[16];
        for (const char *at = chips_of(ifm_embedded_counters[files].data); next_chip(&at, chip);) {
            assert_true(ifm_counter_sets_read(ifm_embedded_counters[files].data, chip, &sets));
            assert_true(ifm_counter_sets_of(chip, &again)); /* no other file takes it first */
            assert_memory_equal(&sets, &again, sizeof sets);
        }
        for (size_t s = 0; s < sets.n; s++)
            for (size_t m = 0; m < sets.items[s].n; m++)
                for (size_t k = 0; k < m; k++)
                    assert_string_not_equal(sets.items[s].texts[m], sets.items[s].texts[k]);
        /* What every number needs: the length of a range in each set, and of the first the bytes of memory. */
        for (size_t s = 0; s < sets.n; s++)
            assert_string_equal(ifm_counter_columns[sets.items[s].column[0]].id, "counters_range_ns");
        for (size_t c = 0; c < IFM_COUNTER_COST; c++)
            if (strncmp(ifm_counter_columns[c].id, "dram_", 5) == 0)
                assert_true(ifm_counter_sets_have(&sets, c));
    }
    assert_true(files >= 7);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "chips: A1\n",
                                      "set: x\nchips: A1\nwarps: m\n",
                                      "chips: A1\nwarps: m\n",
                                      "chips: A1\nset: x\nnothing: m\n",
                                      "chips: A1\nset: x\ncounters_cost_ns: m\n",
                                      "chips: A1\nset: x\nwarps:\n",
                                      "chips: A2\nset: x\nwarps: m\n",
                                      "chips: A1\nset: a_name_of_more_than_any_set_has\nwarps: m\n",
                                      ("chips: A1\nset: 1\nwarps: m\nset: 2\nset: 3\nset: 4\nset: 5\n"
                                       "set: 6\nset: 7\nset: 8\nset: 9\n")};
    struct ifm_counter_sets sets;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ifm_counter_sets_read(bad[i], "A1", &sets))
            fail_msg("accepted: %s", bad[i]);
    assert_false(ifm_counter_sets_of("GX999", &sets));
    assert_true(ifm_counter_sets_read("# c\nchips: A0 A1\n\nset: x\nwarps: m.sum + n.sum\n", "A1", &sets));
    assert_int_equal(sets.n, 1);
    assert_int_equal(sets.items[0].n, 2);
    assert_string_equal(sets.items[0].texts[1], "n.sum");
    assert_int_equal(sets.items[0].column[0], sets.items[0].column[1]);
    char many[2048] = "chips: A1\nset: x\nwarps:";
    for (int i = 0; i < IFM_COUNTER_METRICS_MOST + 1; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), " m%d.sum +", i);
    assert_false(ifm_counter_sets_read(many, "A1", &sets));
    snprintf(many, sizeof many, "chips: A1\nset: x\nwarps: %0*d", (int)sizeof sets.items[0].texts[0], 1); /* no room */
    assert_false(ifm_counter_sets_read(many, "A1", &sets));
}

/* ---- against CUPTI ---- */

static size_t passes_of(const struct ifm_cupti *cupti, const char *chip, const struct ifm_counter_set *set)
{
    const char *names[IFM_COUNTER_METRICS_MOST];
    struct ifm_cupti_host_open open = {HEAD(host_open, host), .type = IFM_CUPTI_TYPE_RANGE_PROFILER, .chip = chip};
    for (size_t i = 0; i < set->n; i++)
        names[i] = set->texts[i];
    if (cupti->p_cuptiProfilerHostInitialize(&open) != IFM_CUPTI_SUCCESS)
        fail_msg("CUPTI does not know the chip %s", chip);
    /* All in one call: metrics that are added one after the other are not put into one pass. */
    struct ifm_cupti_add_metrics add = {HEAD(add_metrics, n), .host = open.host, .names = names, .n = set->n};
    if (cupti->p_cuptiProfilerHostConfigAddMetrics(&add) != IFM_CUPTI_SUCCESS)
        fail_msg("%s lacks a metric of its set %s", chip, set->name);
    struct ifm_cupti_config_size size = {HEAD(config_size, bytes), .host = open.host};
    assert_int_equal(cupti->p_cuptiProfilerHostGetConfigImageSize(&size), IFM_CUPTI_SUCCESS);
    uint8_t *bytes = calloc(1, size.bytes);
    struct ifm_cupti_config_image image = {HEAD(config_image, image), .host = open.host, .bytes = size.bytes,
                                           .image = bytes};
    struct ifm_cupti_passes passes = {HEAD(passes, n), .bytes = size.bytes, .image = bytes};
    assert_int_equal(cupti->p_cuptiProfilerHostGetConfigImage(&image), IFM_CUPTI_SUCCESS);
    assert_int_equal(cupti->p_cuptiProfilerHostGetNumOfPasses(&passes), IFM_CUPTI_SUCCESS);
    struct ifm_cupti_host_close close = {HEAD(host_close, host), .host = open.host};
    assert_int_equal(cupti->p_cuptiProfilerHostDeinitialize(&close), IFM_CUPTI_SUCCESS);
    free(bytes);
    return passes.n;
}

static const struct ifm_cupti *library(void)
{
#ifdef SANITIZED
    print_message("skipped: CUPTI opens a library that binds deeply, which a sanitizer does not allow\n");
    skip();
#endif
    struct ifm_cuda_absence absence;
    const struct ifm_cupti *cupti = ifm_cupti_load(13000, &absence);
    if (cupti == NULL) {
        print_message("skipped: needs CUPTI 13 of the CUDA toolkit: %s\n", absence.reason);
        skip();
    }
    return cupti;
}

static void every_set_is_one_pass_of_its_chips(void **state)
{
    (void)state;
    const struct ifm_cupti *cupti = library();
    for (size_t f = 0; ifm_embedded_counters[f].name != NULL; f++) {
        char chip[16];
        for (const char *at = chips_of(ifm_embedded_counters[f].data); next_chip(&at, chip);) {
            struct ifm_counter_sets sets;
            assert_true(ifm_counter_sets_of(chip, &sets));
            for (size_t s = 0; s < sets.n; s++)
                if (passes_of(cupti, chip, &sets.items[s]) != 1)
                    fail_msg("set %s of %s needs more than one pass", sets.items[s].name, chip);
        }
    }
}

static bool has_metric(const struct ifm_cupti *cupti, const char *chip, const char *name)
{
    struct ifm_cupti_host_open open = {HEAD(host_open, host), .type = IFM_CUPTI_TYPE_RANGE_PROFILER, .chip = chip};
    assert_int_equal(cupti->p_cuptiProfilerHostInitialize(&open), IFM_CUPTI_SUCCESS);
    struct ifm_cupti_add_metrics add = {HEAD(add_metrics, n), .host = open.host, .names = &name, .n = 1};
    const int result = cupti->p_cuptiProfilerHostConfigAddMetrics(&add);
    struct ifm_cupti_host_close close = {HEAD(host_close, host), .host = open.host};
    assert_int_equal(cupti->p_cuptiProfilerHostDeinitialize(&close), IFM_CUPTI_SUCCESS);
    return result == IFM_CUPTI_SUCCESS;
}

/* What `profile` asks ncu for: every chip has what its compute capability is asked for, and lacks what it is not. */
static void limits_are_of_their_chips(void **state)
{
    (void)state;
    const struct ifm_cupti *cupti = library();
    for (size_t f = 0; ifm_embedded_counters[f].name != NULL; f++) {
        char chip[16], capability[16];
        const char *line = strstr(ifm_embedded_counters[f].data, "\ncapability:");
        assert_non_null(line);
        line += strlen("\ncapability:");
        assert_true(next_chip(&line, capability));
        for (const char *at = chips_of(ifm_embedded_counters[f].data); next_chip(&at, chip);)
            for (const struct ifm_ncu_limit_metric *metric = ifm_ncu_limit_metrics; metric->name != NULL; metric++)
                if (metric->host && has_metric(cupti, chip, metric->name) != ifm_ncu_limit_fits(metric, capability))
                    fail_msg("%s, compute capability %s: %s", chip, capability, metric->name);
    }
}

/* The test itself can fail: what is known to need two passes does. */
static void two_passes_are_seen(void **state)
{
    (void)state;
    static const struct ifm_counter_set rate = {
        .name = "rate", .texts = {"lts__t_sector_hit_rate.pct", "lts__t_sectors.sum"}, .n = 2};
    assert_int_equal(passes_of(library(), "GH100", &rate), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_is_read), cmocka_unit_test(other_texts_are_refused),
                                       cmocka_unit_test(every_set_is_one_pass_of_its_chips),
                                       cmocka_unit_test(limits_are_of_their_chips),
                                       cmocka_unit_test(two_passes_are_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
