/* Rule 3: no rate above its ceiling, and no speed-up without the baseline's own share. */
#include "rules/fixture.h"

/* Baseline and variant of 1 MB each, beside a read probe of 10 GB/s and a FLOP probe of 100 GFLOP/s. */
static void start(struct fixture *fx, double base_ns, double other_ns, bool ceilings)
{
    fx_start(fx);
    fx->parts[0].step_ns[0] = base_ns;
    fx->parts[0].step_ns[1] = other_ns;
    fx->parts[0].arms[0].ledger = fx->parts[0].arms[1].ledger =
        (struct ifm_ledger){.bytes_read = 1000000, .flops = 1000000, .tokens_generated = 1};
    fx->parts[0].arms[0].working_set = fx->parts[0].arms[1].working_set = 1000000;
    if (ceilings) {
        struct ifm_arm *slow = fx_add_arm(fx, 0, "read.strided", IFM_ROLE_CEILING, 200000);
        struct ifm_arm *read = fx_add_arm(fx, 0, "read.sum", IFM_ROLE_CEILING, 100000);
        struct ifm_arm *flops = fx_add_arm(fx, 0, "flops.fma", IFM_ROLE_CEILING, 100000);
        slow->ceiling = read->ceiling = IFM_CEILING_READ;
        slow->ledger.bytes_read = read->ledger.bytes_read = 1000000;
        flops->ceiling = IFM_CEILING_FLOPS;
        flops->ledger.flops = 10000000;
    }
    fx_generate(fx);
    fx_end_events(fx);
}

static void below_the_ceiling_stands(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 102000, true);
    fx_derive(&fx);
    const struct ifm_number *ceiling = ifm_derived_find(fx.derived, "decode", "", IFM_M_CEILING_READ);
    assert_non_null(ceiling);
    assert_string_equal(ceiling->value.text, "read.sum"); /* the better of two probes */
    assert_true(fabs(ceiling->value.number / 1e10 - 1) < 0.01);
    assert_non_null(fx_finding(&fx, "", "read 2"));
    fx_expect(&fx, "other", "ceiling_read_percent", IFM_STATE_OK, "");
    assert_true(fabs(fx_value(&fx, "base", "ceiling_read_percent")->number - 50) < 1);
    assert_true(fabs(fx_value(&fx, "base", "ceiling_flops_percent")->number - 5) < 0.2);
    fx_expect(&fx, "other", "read_bytes_per_s", IFM_STATE_OK, "");
    assert_null(ifm_derived_find(fx.derived, "decode", "read.sum", IFM_M_CEILING_READ_PERCENT));
    fx_stop(&fx);
}

static void above_the_ceiling_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 56180, true); /* 178 % */
    fx_derive(&fx);
    static const char *const rates[] = {"read_bytes_per_s", "bandwidth_bytes_per_s", "ceiling_read_percent",
                                        "tokens_generated_per_s"};
    for (size_t i = 0; i < 4; i++)
        fx_expect(&fx, "other", rates[i], IFM_STATE_REFUSED, "read ceiling (read.sum)");
    fx_expect(&fx, "base", "read_bytes_per_s", IFM_STATE_OK, "");
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    assert_non_null(fx_finding(&fx, "rule-03", "177 % of the measured read ceiling"));
    fx_stop(&fx);
}

static void above_the_flop_ceiling_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 200000, true);
    fx.parts[0].arms[1].ledger.flops = 40000000; /* 200 GFLOP/s of 100 */
    fx_derive(&fx);
    fx_expect(&fx, "other", "flops_per_s", IFM_STATE_REFUSED, "flops ceiling (flops.fma)");
    fx_stop(&fx);
}

/* Byte products are not the multiply-adds of the ceiling: no such rate is given, and no other rate suffers. */
static void integer_products_are_held_against_no_flop_ceiling(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 200000, true);
    fx.parts[0].arms[1].ledger.flops = 40000000;
    fx.parts[0].arms[1].integer = true;
    fx_derive(&fx);
    fx_expect(&fx, "other", "flops_per_s", IFM_STATE_ABSENT, "multiplies codes as integers");
    fx_expect(&fx, "other", "ceiling_flops_percent", IFM_STATE_ABSENT, "multiplies codes as integers");
    fx_expect(&fx, "other", "tokens_generated_per_s", IFM_STATE_OK, "");
    fx_expect(&fx, "other", "read_bytes_per_s", IFM_STATE_OK, "");
    fx_expect(&fx, "base", "flops_per_s", IFM_STATE_OK, "");
    fx_stop(&fx);
}

static void cache_resident_cells_are_named(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 56180, true);
    fx.cells[0].cache_resident = true;
    fx_derive(&fx);
    fx_expect(&fx, "other", "ceiling_read_percent", IFM_STATE_ABSENT, "cache-resident");
    fx_expect(&fx, "other", "read_bytes_per_s", IFM_STATE_OK, "");
    assert_non_null(fx_finding(&fx, "rule-03", "cache-resident"));
    fx_stop(&fx);
}

/* A GPU's second-level cache is known and not swept: a probe that fits into it gives no ceiling of its memory. */
static void ceilings_of_a_gpu_s_cache_are_named(void **state)
{
    (void)state;
    struct fixture fx;
    for (int fits = 0; fits < 2; fits++) {
        start(&fx, 200000, 130000, true);
        fx.parts[0].arms[0].working_set = fx.parts[0].arms[1].working_set = 4000000;
        fx.parts[0].arms[3].working_set = 1000000;
        fx_event(&fx, "device",
                 json_pack("{s:s, s:s, s:I}", "cell", "decode", "gpu", "Fake GPU", "l2_bytes",
                           (json_int_t)(fits ? 250001 : 250000)));
        fx_derive(&fx);
        const char *words = "is below 4 x the GPU's second-level cache of 244 KiB; these ceilings are those of a cache";
        const struct ifm_finding *said = fx_finding(&fx, "rule-03", words);
        assert_true((said != NULL) == fits);
        fx_stop(&fx);
    }
}

/* In cold mode memory serves a small working set too: its rate is held against the memory's ceiling. */
static void cold_cells_are_not_cache_resident(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 56180, true);
    fx.cells[0].cache_resident = true;
    fx.cells[0].measure.cache = IFM_CACHE_COLD;
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-03", "cache-resident"));
    fx_expect(&fx, "other", "read_bytes_per_s", IFM_STATE_REFUSED, "read ceiling");
    fx_expect(&fx, "base", "ceiling_read_percent", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* Twice as fast with the same bytes and operations: the baseline was at half its ceiling, and that is said. */
static void speedup_beyond_the_ratio_tells_of_the_baseline(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 102000, true);
    fx_derive(&fx);
    const struct ifm_value *speedup = fx_value(&fx, "other", "speedup");
    assert_int_equal(speedup->state, IFM_STATE_OK);
    assert_true(strstr(speedup->text, "baseline at ") != NULL && strstr(speedup->text, "of its read ceiling") != NULL);
    assert_non_null(fx_finding(&fx, "rule-03", "beyond the byte and FLOP ratio 1"));
    assert_int_equal(fx_finding(&fx, "rule-03", "the baseline base reaches only")->severity, IFM_SEVERITY_WARNING);
    fx_stop(&fx);
}

static void speedup_beyond_the_ratio_needs_a_ceiling(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 102000, false);
    fx_derive(&fx);
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "rule-03");
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, ""); /* the times themselves are facts */
    fx_stop(&fx);
}

/* A baseline above its ceiling shows no weakness: its share is refused, and excuses no speed-up. */
static void a_refused_share_of_the_baseline_is_no_witness(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 102000, true);
    for (int a = 0; a < 2; a++)
        fx.parts[0].arms[a].ledger.flops = 40000000; /* the baseline: 200 GFLOP/s of 100 */
    fx_derive(&fx);
    fx_expect(&fx, "base", "ceiling_flops_percent", IFM_STATE_REFUSED, "flops ceiling");
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "the baseline's own rates");
    assert_non_null(fx_finding(&fx, "rule-03", "(the baseline's own rates are refused)"));
    assert_null(fx_finding(&fx, "rule-03", "baseline at "));
    fx_stop(&fx);
}

/* Half the bytes and operations, and not quite twice as fast: explained. */
static void speedup_within_the_ratio_stands_alone(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 110000, true);
    fx.parts[0].arms[1].ledger = (struct ifm_ledger){.bytes_read = 500000, .flops = 500000, .tokens_generated = 1};
    fx_derive(&fx);
    fx_expect(&fx, "other", "speedup", IFM_STATE_OK, "");
    assert_string_equal(fx_value(&fx, "other", "speedup")->text, "");
    fx_stop(&fx);
}

/* A baseline of 1.6 MB a step and a compressed arm of 1 MB, beside a probe that reads 10 GB/s. */
static void start_compressed(struct fixture *fx, double base_ns, double other_ns, bool ceilings)
{
    start(fx, base_ns, other_ns, ceilings);
    fx_store(fx, 0, 1600000, 1600000, 1600000);
    fx_store(fx, 1, 1000000, 1600000, 1000000);
    for (int a = 0; a < 2; a++)
        fx_check_loss(fx, fx->parts[0].arms[a].name, "after", json_pack("{s:f}", "rms_rel", 0.01 * a));
}

/* 1.707 times the speed from 1.6 times fewer bytes: the rest is the baseline's weakness, and is shown with it. */
static void compression_explains_no_more_than_its_bytes(void **state)
{
    (void)state;
    struct fixture fx;
    start_compressed(&fx, 175000, 102500, true);
    fx_derive(&fx);
    fx_expect(&fx, "other", "bytes_ratio", IFM_STATE_OK, "");
    assert_true(fabs(fx_value(&fx, "other", "bytes_ratio")->number - 1.6) < 1e-15);
    const struct ifm_value *speedup = fx_value(&fx, "other", "speedup");
    assert_int_equal(speedup->state, IFM_STATE_OK);
    assert_true(fabs(speedup->number - 1.707) < 0.01);
    assert_non_null(strstr(speedup->text, "baseline at 91."));
    assert_non_null(strstr(speedup->text, "of its read ceiling"));
    assert_non_null(fx_finding(&fx, "rule-03", "beyond the byte and FLOP ratio 1.6 "));
    fx_judge(&fx); /* what else changed: less work, and not as the cause of all of it */
    assert_int_equal(fx.verdict->n_triage, 1);
    assert_non_null(strstr(fx.verdict->triage[0].text, "more than its bytes and operations account for (rule 3)"));
    assert_non_null(strstr(fx.verdict->triage[0].text, "beside it bytes moved -37.5 %"));
    assert_null(strstr(fx.verdict->triage[0].text, "% could explain"));
    assert_null(fx_finding(&fx, "rule-03", "the baseline base reaches only")); /* above 90 % */
    fx_stop(&fx);
    start_compressed(&fx, 175000, 102500, false);
    fx_derive(&fx);
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "no ceiling shows how weak the baseline is");
    assert_non_null(fx_finding(&fx, "rule-03", "no read ceiling was measured beside the baseline base"));
    fx_stop(&fx);
    start_compressed(&fx, 165000, 105000, true); /* 1.57 is explained */
    fx_derive(&fx);
    assert_string_equal(fx_value(&fx, "other", "speedup")->text, "");
    assert_null(fx_finding(&fx, "rule-03", "beyond the byte"));
    fx_stop(&fx);
}

/* Even a ratio within its bytes tells of the baseline when that leaves memory idle; it is shown, with the warning. */
static void a_weak_baseline_is_said(void **state)
{
    (void)state;
    struct fixture fx;
    start_compressed(&fx, 200000, 130000, true); /* 8 of 10 GB/s */
    fx_derive(&fx);
    const char reaches[] = "the baseline base reaches only ";
    const struct ifm_finding *weak = fx_finding(&fx, "rule-03", reaches);
    assert_true(weak != NULL && weak->severity == IFM_SEVERITY_WARNING && ifm_is_empty(weak->arm));
    double percent = strtod(strstr(weak->text, reaches) + strlen(reaches), NULL);
    assert_true(percent >= 70 && percent < 90);
    fx_expect(&fx, "other", "speedup", IFM_STATE_OK, "");
    const char *left = strstr(weak->text, "would leave other "); /* the ceiling alone would take 160 us */
    assert_true(left != NULL && strchr(left, '[') != NULL && fabs(strtod(left + 18, NULL) - 160.0 / 130) < 0.02);
    fx_stop(&fx);
    start_compressed(&fx, 200000, 130000, true);
    fx.parts[0].arms[0].ledger.flops = 18000000; /* 90 % of the FLOP ceiling: operations limit it, not bytes */
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-03", "the baseline base reaches only"));
    fx_stop(&fx);
    start_compressed(&fx, 200000, 130000, true);
    fx.cells[0].cache_resident = true;
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-03", "the baseline base reaches only"));
    fx_stop(&fx);
    start(&fx, 200000, 195000, true); /* no arm is compressed, and its bytes explain the speed-up */
    fx.parts[0].arms[1].ledger.bytes_read = 500000;
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-03", "the baseline base reaches only"));
    fx_stop(&fx);
}

static void start_apart(struct fixture *fx, double base_ns, double other_ns)
{
    start(fx, base_ns, other_ns, true);
    fx->cells[0].ceilings_apart = true;
    fx_generate(fx);
}

/* Ceilings in rounds of their own: the most that a slot of them shows is the limit, in no interval. */
static void ceilings_apart_are_limits(void **state)
{
    (void)state;
    struct fixture fx;
    start_apart(&fx, 200000, 125000);
    fx_derive(&fx);
    const struct ifm_number *ceiling = ifm_derived_find(fx.derived, "decode", "", IFM_M_CEILING_READ);
    assert_non_null(ceiling);
    assert_true(fabs(ceiling->value.number / 1e10 - 1) < 0.02 && !ceiling->value.has_interval);
    assert_true(fabs(fx_value(&fx, "base", "ceiling_read_percent")->number - 50) < 1);
    assert_int_equal(fx_value(&fx, "base", "blocks_count")->number, fx.blocks);
    assert_int_equal(fx_value(&fx, "read.sum", "blocks_count")->number, 2);
    assert_int_equal(fx_invalid(&fx), 0);
    fx_stop(&fx);
}

/* A wait in each slot of the probes is no limit: of memory the fastest stretch counts that passes four times the cache
 * (five samples here), and no shorter one, which the cache may have served; of cores the fastest sample. */
static void waits_inside_slots_lower_no_ceiling(void **state)
{
    (void)state;
    const struct ifm_machine machine = {.cache_reported = {32 << 10, 256 << 10, 1 << 20, 0}};
    struct fixture fx;
    start_apart(&fx, 200000, 125000);
    fx.plan.machine = &machine;
    for (size_t a = 2; a < 5; a++)
        fx.parts[0].step_ns[a] *= 3;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) {
        int64_t now = r->slots[k].start_ns;
        for (size_t i = 0; r->slots[k].phase == IFM_PHASE_CEILING && i < fx.samples; i++) {
            struct ifm_sample *sample = &r->samples[r->first[k] + i]; /* two from a cache, five clean ones */
            const int64_t ns = sample->duration_ns / (i < 2 ? 12 : i >= 6 && i < 11 ? 3 : 1);
            *sample = (struct ifm_sample){now, ns};
            r->slots[k].end_ns = now += ns;
        }
    }
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "", "ceiling_read")->number / 1e10 - 1) < 0.03);
    assert_true(fabs(fx_value(&fx, "", "ceiling_flops")->number / 4e11 - 1) < 0.05);
    fx_stop(&fx);
}

/* Surely above all probes, by less than a quarter: it is the ceiling that was too low. */
static void an_arm_above_the_probes_raises_the_ceiling(void **state)
{
    (void)state;
    struct fixture fx;
    start_apart(&fx, 200000, 90000); /* 111 % */
    fx_derive(&fx);
    const struct ifm_number *ceiling = ifm_derived_find(fx.derived, "decode", "", IFM_M_CEILING_READ);
    assert_string_equal(ceiling->value.text, "other");
    assert_true(fabs(ceiling->value.number / (1e15 / 90000) - 1) < 0.01);
    assert_true(fabs(fx_value(&fx, "other", "ceiling_read_percent")->number - 100) < 1e-6);
    assert_true(fabs(fx_value(&fx, "base", "ceiling_read_percent")->number - 45) < 1);
    fx_expect(&fx, "other", "read_bytes_per_s", IFM_STATE_OK, "");
    fx_expect(&fx, "other", "speedup", IFM_STATE_OK, "");
    assert_non_null(fx_finding(&fx, "rule-03", "the arm raises the ceiling"));
    fx_stop(&fx);
}

/* Above them, but not surely: the rate stands, the share is withheld, and the ceiling stays. */
static void an_unsteady_arm_has_no_share(void **state)
{
    (void)state;
    struct fixture fx;
    start_apart(&fx, 200000, 80000); /* 125 %, give or take 30 */
    fx.block_noise = 0.4;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) /* the probes were as they are */
        for (size_t i = r->first[k]; r->slots[k].phase == IFM_PHASE_CEILING && i < r->first[k + 1]; i++)
            r->samples[i].duration_ns = r->samples[i].duration_ns < 100000 ? 100000 : r->samples[i].duration_ns;
    fx_derive(&fx);
    const struct ifm_value *share = fx_value(&fx, "other", "ceiling_read_percent");
    const struct ifm_value *rate = fx_value(&fx, "other", "read_bytes_per_s");
    assert_true(rate->number > 1.03e10 && rate->low < 1e10);
    assert_int_equal(share->state, IFM_STATE_ABSENT);
    assert_non_null(strstr(share->reason, "not surely above it"));
    assert_int_equal(rate->state, IFM_STATE_OK);
    fx_stop(&fx);
}

/* One machine has one memory: what a cell with as many threads saw counts, with another number it does not. */
static void the_fastest_slot_of_the_run_counts(void **state)
{
    (void)state;
    const struct ifm_machine machine = {.cache_reported = {32 << 10, 1 << 20, 4 << 20, 0}};
    /* Rows: as many threads; others; a probe that fits the caches; a machine that nobody recorded. */
    for (unsigned row = 0; row < 4; row++) {
        unsigned threads = row == 1 ? 2 : 1;
        bool shares = row == 0;
        struct fixture fx;
        fx_start(&fx);
        fx.plan.machine = row == 3 ? NULL : &machine;
        fx_add_cell(&fx, "wide", "decode");
        for (unsigned c = 0; c < 2; c++) {
            struct ifm_arm *read = fx_add_arm(&fx, c, "read.sum", IFM_ROLE_CEILING, c == 0 ? 200000 : 100000);
            read->ceiling = IFM_CEILING_READ;
            read->ledger.bytes_read = 1000000;
            read->working_set = row == 2 && c == 1 ? 1 << 20 : 1 << 30;
            fx.cells[c].threads = c == 0 ? 1 : threads;
        }
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_number *ceiling = ifm_derived_find(fx.derived, "decode", "", IFM_M_CEILING_READ);
        assert_true(fabs(ceiling->value.number / (shares ? 1e10 : 5e9) - 1) < 0.03);
        assert_string_equal(ceiling->value.text, shares ? "read.sum of wide" : "read.sum");
        fx_stop(&fx);
    }
}

/* The same on a processor that the table of bounds knows: 32 FLOP and 64 B a cycle at up to 4.1 GHz, 131.2 GFLOP/s and
 * 262.4 GB/s of one thread. */
static const struct ifm_machine milan = {.device = "cpu", .cache_reported = {32 << 10, 512 << 10, 4 << 20, 0}};

static void know_processor(struct fixture *fx, const char *model)
{
    fx->plan.machine = &milan;
    fx->plan.rules = IFM_PLAN_RULES;
    fx_event(fx, "environment",
             json_pack("{s:{s:{s:s, s:s, s:s}}}", "fingerprint", "cpu", "vendor", "AuthenticAMD", "family", "25",
                       "model_number", model));
}

/* 64 bits twice a cycle of 1 GHz: 16 GB/s. Without a clock, and of an arm in the caches, there is no such number. */
static void the_bus_on_paper(void **state)
{
    (void)state;
    for (int row = 0; row < 3; row++) {
        struct fixture fx;
        start(&fx, 200000, 200000, true);
        const struct ifm_gpu gpu = {.memory_clock_khz = row == 1 ? 0 : 1000000, .memory_bus_bits = 64};
        fx.plan.machine = &(struct ifm_machine){.device = "cuda", .gpu = &gpu};
        fx.plan.rules = IFM_PLAN_RULES;
        fx.parts[0].arms[1].working_set = 1 << 20;
        fx.cells[0].cache_resident = row == 2;
        fx_derive(&fx);
        const struct ifm_number *bus = ifm_derived_find(fx.derived, "decode", "", IFM_M_MEMORY_BUS);
        const struct ifm_number *share = ifm_derived_find(fx.derived, "decode", "other", IFM_M_MEMORY_BUS_PERCENT);
        assert_true(row == 1 ? bus == NULL : bus != NULL && bus->value.number == 16e9);
        assert_true(row > 0 ? share == NULL : share != NULL && fabs(share->value.number - 31.25) < 0.5);
        fx_stop(&fx);
    }
}

/* 40 % above every probe, and below what the units can do: the probes were slow, and the arm is right. */
static void below_the_bound_raises_the_ceiling(void **state)
{
    (void)state;
    struct fixture fx;
    for (int known = 0; known < 2; known++) {
        start(&fx, 200000, 200000, true);
        know_processor(&fx, known ? "1" : "999");
        fx.parts[0].arms[1].ledger.flops = 28000000; /* 140 GFLOP/s of 100 */
        fx.cells[0].threads = 2;                     /* 262 GFLOP/s */
        fx_derive(&fx);
        fx_expect(&fx, "other", "flops_per_s", known ? IFM_STATE_OK : IFM_STATE_REFUSED,
                  known ? "" : "by more than 25 %");
        assert_int_equal(fx_finding(&fx, "rule-03", "the arm raises the ceiling") != NULL, known);
        fx_stop(&fx);
    }
}

/* 20 % above the probe is no reason to believe a rate that no clock of the processor allows. */
static void above_the_bound_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 200000, true);
    know_processor(&fx, "1");
    fx.parts[0].step_ns[4] = 77000;              /* the probe: 129.9 GFLOP/s */
    fx.parts[0].arms[1].ledger.flops = 31000000; /* 155 GFLOP/s: 119 % */
    fx_generate(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "other", "flops_per_s", IFM_STATE_REFUSED,
              "physical bound (1 cores x 32 vector FLOP a cycle x 4.10 GHz)");
    fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "physical bound");
    fx_expect(&fx, "base", "flops_per_s", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* Without ceilings a rate is held against what all cores can load and compute. */
static void without_a_probe_the_cores_are_the_limit(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        double bytes, flops; /* of a step of 200 us on one core */
        const char *why;
    } rows[] = {{"1", 1.2e7, 1e6, NULL}, /* 60 GB/s */
                {"1", 8e7, 1e6, "times what this processor can load (1 cores x 64 B of loads a cycle x 4.10 GHz)"},
                {"1", 1e6, 6e7, NULL}, /* 300 GFLOP/s of 262, within the tolerance */
                {"1", 1e6, 1e9, "times what this processor can compute (1 cores x 64 operations a cycle x 4.10 GHz)"},
                {"17", 1e6, 8.4e7, NULL}}; /* Genoa does 128 byte operations a cycle: 420 of 563 GOP/s */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fx;
        start(&fx, 200000, 200000, false);
        know_processor(&fx, rows[i].model);
        fx.parts[0].arms[1].ledger.bytes_read = (uint64_t)rows[i].bytes;
        fx.parts[0].arms[1].ledger.flops = (uint64_t)rows[i].flops;
        fx_derive(&fx);
        fx_expect(&fx, "other", "flops_per_s", rows[i].why == NULL ? IFM_STATE_OK : IFM_STATE_REFUSED,
                  rows[i].why == NULL ? "" : rows[i].why);
        if (rows[i].why != NULL)
            fx_expect(&fx, "other", "speedup", IFM_STATE_REFUSED, "it did not do its work");
        fx_stop(&fx);
    }
}

/* A probe above the bound is no limit of anything: its record was made up. */
static void a_probe_above_the_bound_makes_no_ceiling(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 200000, true);
    know_processor(&fx, "1");
    fx.parts[0].arms[4].ledger.flops = 20000000; /* 200 GFLOP/s */
    fx_derive(&fx);
    fx_expect(&fx, "flops.fma", "flops_per_s", IFM_STATE_REFUSED, "of the physical bound of the flops ceiling");
    fx_expect(&fx, "", "ceiling_flops", IFM_STATE_ABSENT, "no probe");
    fx_expect(&fx, "base", "ceiling_flops_percent", IFM_STATE_ABSENT, "no usable ceiling");
    fx_stop(&fx);
}

/* A clock that was seen may be above what products of the model are sold with; the bound follows it. */
static void the_bound_has_the_highest_clock(void **state)
{
    (void)state;
    struct fixture fx;
    for (int probed = 0; probed < 2; probed++) {
        start(&fx, 200000, 200000, true);
        know_processor(&fx, "1");
        fx.parts[0].arms[1].ledger.flops = 27000000; /* 135 GFLOP/s of 131, or of 160 */
        if (probed) {
            struct ifm_arm *clock = fx_add_arm(&fx, 0, "clock.chain", IFM_ROLE_CEILING, 100000);
            clock->ceiling = IFM_CEILING_CLOCK;
            clock->ledger.rows = 500000; /* 5 GHz */
            fx_generate(&fx);
        }
        fx_derive(&fx);
        fx_expect(&fx, "other", "flops_per_s", probed ? IFM_STATE_OK : IFM_STATE_REFUSED,
                  probed ? "" : "physical bound");
        if (probed) {
            assert_true(fabs(fx_value(&fx, "", "ceiling_clock")->number / 5e9 - 1) < 0.05);
            fx_expect(&fx, "", "ceiling_flops_clock", IFM_STATE_ABSENT, "an arm raised the ceiling");
        }
        fx_stop(&fx);
    }
}

/* Byte products have a ceiling of their own, and so has a level of the caches: shares are of these, and name them. */
static void other_units_have_other_ceilings(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 200000, 200000, true);
    know_processor(&fx, "1");
    struct ifm_arm *dots = fx_add_arm(&fx, 0, "int8.dot12", IFM_ROLE_CEILING, 100000);
    struct ifm_arm *cache = fx_add_arm(&fx, 0, "read.L2", IFM_ROLE_CEILING, 100000);
    dots->ceiling = IFM_CEILING_INT8;
    dots->integer = true;
    dots->ledger.flops = 20000000; /* 200 GOP/s */
    struct ifm_arm *clock = fx_add_arm(&fx, 0, "clock.chain", IFM_ROLE_CEILING, 100000);
    clock->ceiling = IFM_CEILING_CLOCK;
    clock->ledger.rows = 300000; /* 3 GHz */
    cache->ceiling = IFM_CEILING_L2;
    cache->ledger.bytes_read = 4000000; /* 40 GB/s */
    cache->working_set = 250000;
    fx.parts[0].arms[1].integer = true;
    fx.parts[0].arms[1].ledger.flops = 10000000;
    fx.cells[0].cache_resident = true;
    fx_generate(&fx);
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "", "ceiling_flops_clock")->number / 3e9 - 1) < 0.05);
    assert_true(fabs(fx_value(&fx, "other", "ceiling_flops_percent")->number - 25) < 1);
    assert_string_equal(fx_value(&fx, "other", "ceiling_flops_percent")->text, "int8.dot12");
    assert_true(fabs(fx_value(&fx, "base", "ceiling_flops_percent")->number - 5) < 0.2);
    assert_true(fabs(fx_value(&fx, "other", "ceiling_read_percent")->number - 12.5) < 1);
    assert_string_equal(fx_value(&fx, "other", "ceiling_read_percent")->text, "read.L2");
    assert_string_equal(fx_value(&fx, "other", "roofline_score")->text, "int8");
    assert_string_equal(fx_value(&fx, "base", "roofline_score")->text, "L2");
    assert_non_null(fx_finding(&fx, "rule-03", "cache-resident|held against the cache, L2"));
    fx.parts[0].arms[1].ledger.flops = 80000000;      /* 400 GOP/s: above 262 */
    fx.parts[0].arms[0].ledger.bytes_read = 60000000; /* 300 GB/s: above 262 */
    fx_derive(&fx);
    fx_expect(&fx, "other", "ceiling_flops_percent", IFM_STATE_REFUSED, "64 byte operations a cycle");
    fx_expect(&fx, "base", "read_bytes_per_s", IFM_STATE_REFUSED, "L2 ceiling|64 B of loads a cycle");
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_the_ceiling_stands),
        cmocka_unit_test(above_the_ceiling_is_refused),
        cmocka_unit_test(above_the_flop_ceiling_is_refused),
        cmocka_unit_test(integer_products_are_held_against_no_flop_ceiling),
        cmocka_unit_test(cache_resident_cells_are_named),
        cmocka_unit_test(ceilings_of_a_gpu_s_cache_are_named),
        cmocka_unit_test(the_bus_on_paper),
        cmocka_unit_test(cold_cells_are_not_cache_resident),
        cmocka_unit_test(speedup_beyond_the_ratio_tells_of_the_baseline),
        cmocka_unit_test(speedup_beyond_the_ratio_needs_a_ceiling),
        cmocka_unit_test(a_refused_share_of_the_baseline_is_no_witness),
        cmocka_unit_test(speedup_within_the_ratio_stands_alone),
        cmocka_unit_test(compression_explains_no_more_than_its_bytes),
        cmocka_unit_test(a_weak_baseline_is_said),
        cmocka_unit_test(ceilings_apart_are_limits),
        cmocka_unit_test(waits_inside_slots_lower_no_ceiling),
        cmocka_unit_test(an_arm_above_the_probes_raises_the_ceiling),
        cmocka_unit_test(an_unsteady_arm_has_no_share),
        cmocka_unit_test(the_fastest_slot_of_the_run_counts),
        cmocka_unit_test(below_the_bound_raises_the_ceiling),
        cmocka_unit_test(above_the_bound_is_refused),
        cmocka_unit_test(without_a_probe_the_cores_are_the_limit),
        cmocka_unit_test(a_probe_above_the_bound_makes_no_ceiling),
        cmocka_unit_test(the_bound_has_the_highest_clock),
        cmocka_unit_test(other_units_have_other_ceilings),
    };
    return cmocka_run_group_tests_name("rule_03", tests, NULL, NULL);
}
