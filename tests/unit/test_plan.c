/* Study x catalogue -> plan: the product of axes, roles, ceilings, and what is refused before anything runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "facts.h"
#include "plan/arms.h"
#include "plan/plan.h"
#include <string.h>

static struct ifm_arm *new_arms(struct ifm_arena *arena, struct ifm_arm_list *list, size_t n)
{
    list->items = IFM_ARENA_ARRAY(arena, struct ifm_arm, n);
    list->n = n;
    return list->items;
}

/* One arm of 1 MiB per unit of `toy.size`. */
static enum ifm_status describe_toy(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                    struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                    struct ifm_error *error)
{
    (void)error;
    uint64_t size = 1;
    const char *text = ifm_setting_find(settings, n, "toy.size");
    assert_true(text == NULL || ifm_parse_u64(text, &size));
    if (size == 13) {
        *why_not = "thirteen is not supported here";
        return IFM_OK;
    }
    struct ifm_arm *arm = new_arms(arena, arms, 1);
    arm->name = "toy";
    arm->ledger = (struct ifm_ledger){.flops = 10 * size, .bytes_read = size << 20};
    arm->working_set = arm->memory = size << 20;
    arm->has_oracle = true;
    arm->tolerance = 1e-6;
    arm->bits = size == 7 ? "those of seven" : NULL;
    (void)machine;
    return IFM_OK;
}

static enum ifm_status describe_stream(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                       struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                       struct ifm_error *error)
{
    (void)machine;
    (void)why_not;
    (void)error;
    const char *probe = ifm_setting_find(settings, n, "stream.probe");
    struct ifm_arm *arm = new_arms(arena, arms, 2);
    for (int i = 0; i < 2; i++) {
        arm[i].name = ifm_arena_printf(arena, "%s.%d", probe == NULL ? "read" : probe, i);
        arm[i].ceiling = IFM_CEILING_READ;
        arm[i].ledger.bytes_read = 1 << 20;
        arm[i].working_set = arm[i].memory = 1 << 20;
    }
    return IFM_OK;
}

static const struct ifm_ceiling_settings ceilings = {"stream.probe", "stream.size", "stream.pieces", "stream.level"};
static const struct ifm_workload_entry workloads[] = {{"toy", describe_toy, 0, NULL, 0, "it lives in one", NULL, true},
                                                      {"stream", describe_stream, 0, NULL, 0, NULL, &ceilings, true}};
static const struct ifm_column columns[] = {{"faults", "count"}};
static const struct ifm_column counts[] = {{"l2_hits", "count"}, {"l2_accesses", "count"}};
static const struct ifm_instrument_entry instruments[] = {{"os", IFM_INTRUSION_PASSIVE, columns, 1},
                                                          {"sampler", IFM_INTRUSION_SAMPLING, counts, 2},
                                                          {"replayer", IFM_INTRUSION_REPLAYING, counts, 2},
                                                          {"tracer", IFM_INTRUSION_TRACING, counts, 2}};
static const char *const sizes[] = {"1", "2", "3"}, *const modes[] = {"hot", "cold"}, *const one[] = {"1"};
static const struct ifm_axis axes[] = {
    {"device.threads", one, 1}, {"measure.cache", modes, 2}, {"toy.size", sizes, 3}, {"other.size", sizes, 3}};
static const char *const toy_only[] = {"toy"}, *const stream_only[] = {"stream"}, *const read_only[] = {"read"};

struct fixture {
    struct ifm_arena *arena;
    struct ifm_study study;
    struct ifm_catalog catalog;
    struct ifm_plan *plan;
    struct ifm_error error;
};

static int set_up(void **state)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct fixture *f = IFM_ARENA_NEW(arena, struct fixture);
    f->arena = arena;
    f->study = (struct ifm_study){.config_hash = "hash",
                                  .seed = 7,
                                  .axes = axes,
                                  .n_axes = 4,
                                  .workloads = toy_only,
                                  .n_workloads = 1,
                                  .ceilings = read_only,
                                  .n_ceilings = 1};
    f->catalog =
        (struct ifm_catalog){.workloads = workloads, .n_workloads = 2, .instruments = instruments, .n_instruments = 1};
    f->catalog.machine =
        (struct ifm_machine){.device = "cpu", .cpus_allowed = 2, .threads = 2, .memory_available = (uint64_t)1 << 30};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    ifm_arena_destroy(((struct fixture *)*state)->arena);
    return 0;
}

static enum ifm_status build(struct fixture *f)
{
    return ifm_plan_build(&f->study, &f->catalog, "run", f->arena, &f->plan, &f->error);
}

/* The seed of a cell is that of its data, its order and its resamples. */
static void a_replica_draws_another_seed(void **state)
{
    struct fixture *f = *state;
    uint64_t seeds[3];
    for (uint64_t replica = 1; replica <= 3; replica++) {
        f->study.measure.replica = replica;
        assert_int_equal(build(f), IFM_OK);
        assert_int_equal(f->plan->cells[0].measure.replica, replica);
        seeds[replica - 1] = f->plan->cells[0].seed;
    }
    assert_true(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[2] != seeds[0]);
    f->study.measure.replica = 2;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->cells[0].seed, seeds[1]);
}

/* Alone, in a list, behind another workload, or with the axes the other way round: the same data. Earlier rules gave
 * them by the place, which folders of those are held to. */
static void a_seed_knows_no_place(void **state)
{
    struct fixture *f = *state;
    static const char *const last[] = {"3"}, *const both[] = {"stream", "toy"};
    static const struct ifm_axis alone[] = {{"toy.size", last, 1}},
                                 turned[] = {{"toy.size", sizes, 3}, {"measure.cache", modes, 2}};
    f->study.axes = alone;
    f->study.n_axes = 1;
    assert_int_equal(build(f), IFM_OK);
    const uint64_t seed = f->plan->cells[0].seed;
    f->study.axes = axes;
    f->study.n_axes = 4;
    f->study.workloads = both;
    f->study.n_workloads = 2;
    for (int order = 0; order < 2; order++) {
        assert_int_equal(build(f), IFM_OK);
        assert_true(f->plan->n_cells >= 7);
        for (size_t i = 0; i < f->plan->n_cells; i++)
            assert_int_equal(f->plan->cells[i].seed, seed);
        f->study.axes = turned;
        f->study.n_axes = 2;
    }
    f->catalog.machine.rules = 8;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->cells[0].seed, seed); /* of a single cell rules 9 changed nothing */
    for (size_t i = 1; i < f->plan->n_cells; i++)
        assert_int_not_equal(f->plan->cells[i].seed, f->plan->cells[i - 1].seed);
}

static void axes_span_a_product_first_slowest(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->n_cells, 6); /* the axis of another workload does not count */
    assert_string_equal(f->plan->cells[0].name, "toy cache=hot size=1");
    assert_string_equal(f->plan->cells[5].name, "toy cache=cold size=3");
    assert_int_equal(f->plan->cells[5].n_axes, 2);
    assert_int_equal(f->plan->cells[0].n_passes, 1);
    assert_int_equal(f->plan->cells[0].passes[0].n_instruments, 1);
    assert_int_equal(f->plan->cells[0].passes[0].n_columns, 1);
}

static void a_lone_arm_is_the_baseline_and_takes_ceilings_along(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(build(f), IFM_OK);
    const struct ifm_cell *cell = &f->plan->cells[0];
    assert_int_equal(cell->n_arms, 3);
    assert_int_equal(cell->arms[0].role, IFM_ROLE_BASELINE);
    assert_int_equal(cell->arms[1].role, IFM_ROLE_CEILING);
    assert_string_equal(ifm_setting_find(cell->arms[1].settings, cell->arms[1].n_settings, "stream.size"), "1048576");
    assert_true(cell->cache_resident);
    f->study.measure.cache = IFM_CACHE_COLD;
    assert_int_equal(build(f), IFM_OK);
    assert_false(f->plan->cells[0].cache_resident); /* emptied caches serve nothing */
}

/* Reads are held against what serves them: a level of the caches, or memory once caches are emptied; and plans of
 * earlier rules are made as they were. */
static void caches_are_probed_where_they_serve(void **state)
{
    struct fixture *f = *state;
    static const char *const both[] = {"read", "flops"};
    f->study.ceilings = both;
    f->study.n_ceilings = 2;
    f->catalog.machine.cache_reported[0] = 32 << 10;
    f->catalog.machine.cache_reported[1] = 1 << 20;
    f->catalog.machine.cache_reported[2] = 32 << 20;
    assert_int_equal(build(f), IFM_OK);
    const struct ifm_cell *hot = &f->plan->cells[0], *larger = &f->plan->cells[2];
    assert_int_equal(hot->n_arms, 7); /* the arm, and two of reads, of flops and of the clock */
    const char *const probes[] = {"read", "flops", "clock"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(ifm_arm_setting(&hot->arms[1 + 2 * i], "stream.probe"), probes[i]);
    assert_string_equal(ifm_arm_setting(&hot->arms[1], "stream.level"), "2");
    assert_null(ifm_arm_setting(&hot->arms[1], "stream.pieces"));
    assert_string_equal(ifm_arm_setting(&larger->arms[1], "stream.level"), "2"); /* 3 MiB, below 4 x 1 MiB */
    f->study.measure.cache = IFM_CACHE_COLD;
    assert_int_equal(build(f), IFM_OK);
    assert_null(ifm_arm_setting(&f->plan->cells[0].arms[1], "stream.level"));
    assert_string_equal(ifm_arm_setting(&f->plan->cells[0].arms[1], "stream.size"), "1048576");
    f->study.measure.cache = IFM_CACHE_HOT;
    f->catalog.machine.cache_reported[1] = 512 << 10;
    assert_int_equal(build(f), IFM_OK);
    assert_string_equal(ifm_arm_setting(&f->plan->cells[2].arms[1], "stream.level"), "3");
    f->catalog.machine.rules = 3;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->cells[0].n_arms, 5);
    assert_string_equal(ifm_arm_setting(&f->plan->cells[0].arms[1], "stream.pieces"), "true");
    assert_string_equal(ifm_arm_setting(&f->plan->cells[0].arms[1], "stream.size"), "1048576");
}

static void probes_are_not_rivals(void **state)
{
    struct fixture *f = *state;
    f->study.workloads = stream_only;
    assert_int_equal(build(f), IFM_OK);
    for (size_t i = 0; i < f->plan->cells[0].n_arms; i++)
        assert_int_equal(f->plan->cells[0].arms[i].role, IFM_ROLE_CEILING);
}

static void configured_arms_override_and_must_agree(void **state)
{
    struct fixture *f = *state;
    static const struct ifm_setting twice[] = {{"toy.size", "2"}};
    static const struct ifm_arm_spec specs[] = {
        {"base", true, NULL, 0, ""}, {"same", false, NULL, 0, ""}, {"twice", false, twice, 1, ""}};
    f->study.arms = specs;
    f->study.n_arms = 3;
    assert_int_equal(build(f), IFM_OK);
    const struct ifm_cell *cell = &f->plan->cells[0];
    assert_int_equal(cell->n_arms, 5);
    assert_string_equal(cell->arms[1].equals, "base");
    assert_true(cell->arms[1].equal_bound == 1e-6);
    assert_string_equal(cell->arms[2].equals, ""); /* other work, other output */
    assert_int_equal(cell->arms[2].ledger.bytes_read, 2 << 20);
    f->study.workloads = stream_only;
    assert_int_equal(build(f), IFM_USAGE);
}

/* Those that repeat each other's bits are held to them, not to the baseline within a bound. */
static void arms_with_the_same_bits_equal_each_other(void **state)
{
    struct fixture *f = *state;
    static const struct ifm_setting seven[] = {{"toy.size", "7"}};
    static const struct ifm_arm_spec specs[] = {
        {"base", true, NULL, 0, ""}, {"seven", false, seven, 1, ""}, {"again", false, seven, 1, ""}};
    f->study.arms = specs;
    f->study.n_arms = 3;
    assert_int_equal(build(f), IFM_OK);
    const struct ifm_cell *cell = &f->plan->cells[0];
    assert_string_equal(cell->arms[1].equals, "");
    assert_string_equal(cell->arms[2].equals, "seven");
    assert_true(cell->arms[2].equal_bound == 0);
}

static void what_does_not_fit_is_refused_with_both_sizes(void **state)
{
    struct fixture *f = *state;
    f->catalog.machine.memory_available = 3 << 20;
    assert_int_equal(build(f), IFM_USAGE);
    assert_facts(f->error.message, "needs 4.00 MiB|4194304|3.00 MiB|3145728|available");
}

/* Windows of energy need steps that follow each other, in this process, on a device that takes power. */
static void energy_is_a_pass_of_its_own(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->cells[0].n_passes, 1);
    f->study.measure.energy = true;
    assert_int_equal(build(f), IFM_OK);
    const struct ifm_cell *hot = &f->plan->cells[0];
    assert_int_equal(hot->n_passes, 2);
    assert_int_equal(hot->passes[1].kind, IFM_PASS_ENERGY);
    assert_int_equal(hot->passes[1].n_columns, 0);
    assert_int_equal(hot->passes[1].n_instruments, 0);
    assert_int_equal(hot->passes[0].n_columns, 1);
    f->study.measure.cache = IFM_CACHE_COLD;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->cells[0].n_passes, 1);
    f->study.measure.cache = IFM_CACHE_HOT;
    f->catalog.machine.device = "fake";
    f->catalog.machine.scripted = true;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->cells[0].n_passes, 1);
}

/* Each class of intrusion has its pass; passive instruments go along wherever slots have columns. */
static void every_instrument_is_placed_by_its_intrusion(void **state)
{
    static const struct {
        enum ifm_pass_kind kind;
        const char *first, *last; /* instruments */
        size_t columns;
    } expected[] = {{IFM_PASS_LATENCY, "os", "os", 1},
                    {IFM_PASS_ENERGY, "sampler", "sampler", 2},
                    {IFM_PASS_COUNTERS, "os", "replayer", 3},
                    {IFM_PASS_TRACE, "os", "tracer", 3}};
    struct fixture *f = *state;
    f->catalog.n_instruments = 4;
    f->study.measure.energy = true;
    assert_int_equal(build(f), IFM_OK);
    const struct ifm_cell *cell = &f->plan->cells[0];
    assert_int_equal(cell->n_passes, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct ifm_pass *pass = &cell->passes[i];
        assert_int_equal(pass->kind, expected[i].kind);
        assert_string_equal(pass->instruments[0], expected[i].first);
        assert_string_equal(pass->instruments[pass->n_instruments - 1], expected[i].last);
        assert_int_equal(pass->n_columns, expected[i].columns);
        assert_string_equal(pass->columns[pass->n_columns - 1], i == 0 ? "faults" : "l2_accesses");
        assert_string_equal(pass->column_units[pass->n_columns - 1], "count");
    }
}

static void assert_not_placed(struct fixture *f, const char *instrument, const char *why, const char *remedy)
{
    assert_int_equal(build(f), IFM_USAGE);
    assert_string_equal(f->error.where, "toy cache=hot size=1");
    assert_facts(f->error.message, instrument);
    assert_facts(f->error.message, why);
    assert_facts(f->error.hint, remedy);
}

/* Which instrument, why, and what to do. */
static void an_instrument_without_a_pass_is_refused(void **state)
{
    struct fixture *f = *state;
    f->catalog.n_instruments = 2;
    assert_not_placed(f, "sampler", "energy", "--energy");
    f->catalog.instruments = &instruments[2];
    f->study.measure.isolation = IFM_ISOLATION_PROCESSES;
    f->study.n_ceilings = 0;
    struct ifm_workload_entry movable = workloads[0];
    movable.one_process = NULL;
    f->catalog.workloads = &movable;
    f->catalog.n_workloads = 1;
    assert_not_placed(f, "replayer", "processes", "measure.isolation=shared");
    f->catalog.instruments = &instruments[3];
    f->catalog.n_instruments = 1;
    assert_not_placed(f, "tracer", "processes", "measure.isolation=shared");
    f->catalog.instruments = instruments;
    assert_int_equal(build(f), IFM_OK); /* a passive one goes along everywhere */
    static const char *const thirteen[] = {"13"};
    static const struct ifm_axis unsupported[] = {{"toy.size", thirteen, 1}};
    f->study.axes = unsupported;
    f->study.n_axes = 1;
    f->catalog.n_instruments = 4;
    assert_int_equal(build(f), IFM_OK); /* a cell that cannot run misses nothing by it */
    assert_true(f->plan->cells[0].unsupported[0] != '\0');
}

static void isolation_asks_for_what_it_needs(void **state)
{
    struct fixture *f = *state;
    f->study.measure.isolation = IFM_ISOLATION_PROCESSES;
    assert_int_equal(build(f), IFM_USAGE);
    assert_facts(f->error.message, "toy|processes");
    assert_facts(f->error.message, workloads[0].one_process);
    /* Two arms of 1 MiB that would share one: two sets hold two of them, two processes too. */
    f->study.workloads = stream_only;
    f->study.n_ceilings = 0;
    for (int isolation = IFM_ISOLATION_SHARED; isolation <= IFM_ISOLATION_PROCESSES; isolation++) {
        f->study.measure.isolation = isolation;
        f->catalog.machine.memory_available = isolation == IFM_ISOLATION_SHARED ? 1 << 20 : 2 << 20;
        assert_int_equal(build(f), IFM_OK);
        assert_int_equal(ifm_plan_copies(f->plan->cells, 0), isolation == IFM_ISOLATION_BUFFERS ? 2 : 1);
        f->catalog.machine.memory_available--;
        assert_int_equal(build(f), IFM_USAGE);
    }
    f->catalog.machine.memory_available = 1 << 30;
    f->study.workloads = toy_only;
    static const struct ifm_setting none[] = {{NULL, NULL}};
    static const struct ifm_arm_spec five[] = {{"a", true, none, 0, ""},
                                               {"b", false, none, 0, ""},
                                               {"c", false, none, 0, ""},
                                               {"d", false, none, 0, ""},
                                               {"e", false, none, 0, ""}};
    f->study.arms = five;
    f->study.n_arms = 5;
    f->study.measure.isolation = IFM_ISOLATION_BUFFERS;
    assert_int_equal(build(f), IFM_USAGE);
    assert_facts(f->error.message, "4 at most|toy|5 arms");
    f->study.n_arms = 4;
    assert_int_equal(build(f), IFM_OK);
}

static void an_unsupported_cell_is_absent_not_dropped(void **state)
{
    struct fixture *f = *state;
    static const char *const thirteen[] = {"13"};
    static const struct ifm_axis unlucky[] = {{"toy.size", thirteen, 1}};
    f->study.axes = unlucky;
    f->study.n_axes = 1;
    assert_int_equal(build(f), IFM_OK);
    assert_int_equal(f->plan->n_cells, 1);
    assert_string_equal(f->plan->cells[0].unsupported, "thirteen is not supported here");
}

static void too_many_threads_and_unknown_workloads_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const three[] = {"3"}, *const tyo[] = {"tyo"};
    static const struct ifm_axis threads[] = {{"device.threads", three, 1}};
    f->study.axes = threads;
    f->study.n_axes = 1;
    assert_int_equal(build(f), IFM_USAGE);
    assert_facts(f->error.message, "3 threads|2 CPUs");
    f->study.workloads = tyo;
    assert_int_equal(build(f), IFM_USAGE);
    assert_facts(f->error.hint, "\"toy\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_replica_draws_another_seed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_seed_knows_no_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(axes_span_a_product_first_slowest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lone_arm_is_the_baseline_and_takes_ceilings_along, set_up, tear_down),
        cmocka_unit_test_setup_teardown(caches_are_probed_where_they_serve, set_up, tear_down),
        cmocka_unit_test_setup_teardown(probes_are_not_rivals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(configured_arms_override_and_must_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arms_with_the_same_bits_equal_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused_with_both_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(energy_is_a_pass_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_instrument_is_placed_by_its_intrusion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_instrument_without_a_pass_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(isolation_asks_for_what_it_needs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unsupported_cell_is_absent_not_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_threads_and_unknown_workloads_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
