/* The plugin boundary: every member of a table is checked and named, values and ledgers arrive, failures are errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/fake.h"
#include "facts.h"
#include "opened.h"
#include "workload/plugin/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a plugin in memory, with a switch for each thing that can go wrong ---- */

enum { COUNT, RATE, ON, WORD, LABEL, PARAMS };

static const struct inferometer_plugin_param good_params[PARAMS] = {
    {"count", INFEROMETER_PLUGIN_BYTES, INFEROMETER_PLUGIN_SWEEP, "B", "4KiB", 1, 65536, NULL, "bytes"},
    {"rate", INFEROMETER_PLUGIN_SECONDS, INFEROMETER_PLUGIN_PER_ARM, "s", "10ms", 0, INFINITY, NULL, "a time"},
    {"is_on", INFEROMETER_PLUGIN_BOOL, 0, NULL, "true", 0, 0, NULL, "a switch"},
    {"word", INFEROMETER_PLUGIN_CHOICE, 0, "", "b", 0, 0, "a|b", "a choice"},
    {"seed", INFEROMETER_PLUGIN_TEXT, 0, "", "x y", 0, 0, NULL, "a text"},
};
static const struct inferometer_plugin_counter good_counters[] = {{"hits", NULL}, {"misses", "count"}};

static struct behaviour {
    struct inferometer_plugin_ledger ledger;
    struct inferometer_plugin_check check;
    const char *message; /* host->fail's, where a function fails */
    int describe, open, checks, hooks;
    unsigned opened, closed, stepped;
    struct inferometer_plugin_value seen[PARAMS];
    char label[16];
    const struct inferometer_plugin_host *host;
    unsigned char *output; /* a step leaves ones */
} b;

static int answer(const struct inferometer_plugin_host *host, int status)
{
    return status != 0 && b.message != NULL ? (host->fail)(host, b.message, "a hint") : status;
}

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    assert_int_equal(ledger->struct_size, sizeof *ledger);
    assert_null(host->buffer);
    assert_null(host->parallel);
    memcpy(b.seen, values, sizeof b.seen);
    snprintf(b.label, sizeof b.label, "%s", values[LABEL].text);
    size_t size = ledger->struct_size;
    *ledger = b.ledger;
    ledger->struct_size = size;
    return answer(host, b.describe);
}

static int open_state(const struct inferometer_plugin_value *values, uint64_t seed,
                      const struct inferometer_plugin_host *host, void **state)
{
    (void)values;
    assert_int_equal(seed, 7);
    b.host = host;
    if (b.open != 0)
        return answer(host, b.open);
    void *memory;
    assert_int_equal(host->buffer(host, "output", 8, 0, &memory, NULL), 0);
    b.check.output = b.output = memory;
    b.opened++;
    *state = &b;
    return 0;
}

static void step(void *state, uint64_t n)
{
    assert_ptr_equal(state, &b);
    assert_int_equal(n, 1); /* of several steps in one call it could leave out all but one */
    b.stepped++;
    memset(b.output, 1, 8);
}

static int check(void *state, struct inferometer_plugin_check *out)
{
    assert_ptr_equal(state, &b);
    assert_int_equal(out->struct_size, sizeof *out);
    *out = b.check;
    if (b.output[0] == 0xff)
        out->finite = 0;
    return answer(b.host, b.checks);
}

static uint64_t feature_runs(const void *state)
{
    return ((const struct behaviour *)state)->stepped;
}

static int hook(void *state)
{
    assert_ptr_equal(state, &b);
    return answer(b.host, b.hooks);
}

static void collect(void *state, int64_t *values)
{
    assert_ptr_equal(state, &b);
    values[0] = 5;
}

static void close_state(void *state)
{
    assert_ptr_equal(state, &b);
    b.closed++;
}

static struct inferometer_plugin good(void)
{
    return (struct inferometer_plugin){
        .struct_size = sizeof(struct inferometer_plugin),
        .abi = INFEROMETER_PLUGIN_ABI,
        .most_workers = 1,
        .name = "mine",
        .purpose = "a purpose",
        .timed_region = "a region",
        .params = good_params,
        .n_params = PARAMS,
        .param_size = sizeof *good_params,
        .counters = good_counters,
        .n_counters = 2,
        .counter_size = sizeof *good_counters,
        .describe = describe,
        .open = open_state,
        .step = step,
        .check = check,
        .feature_runs = feature_runs,
        .close = close_state,
        .before = hook,
        .after = hook,
        .collect = collect,
    };
}

/* ---- the bench ---- */

static struct ifm_arena *arena;
static struct ifm_error error;

static enum ifm_status check_table(const struct inferometer_plugin *table)
{
    static const char *const names[] = {"seed", "run", NULL}, *const flags[] = {"seed", "threads", NULL},
                             *const columns[] = {"steal_ns", NULL};
    const struct ifm_plugin_taken taken = {names, flags, columns};
    ifm_plugins[0] = (struct ifm_plugin){.table = *table};
    error = (struct ifm_error){0};
    return ifm_plugin_check(&ifm_plugins[0], "my.so", &taken, arena, &error);
}

static int setup(void **state)
{
    (void)state;
    arena = ifm_arena_create();
    b = (struct behaviour){.ledger = {.flops = 2, .rows = 1, .tolerance = 0.5},
                           .check = {.values = 1, .finite = 1, .output_bytes = 1}};
    struct inferometer_plugin table = good();
    if (check_table(&table) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    ifm_plugins[0].identity = (struct ifm_plugin_identity){"my.so", "/my.so", "00", 1};
    ifm_plugin_adapt(0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ifm_plugins[0] = (struct ifm_plugin){0};
    ifm_arena_destroy(arena);
    return 0;
}

static void refused(const struct inferometer_plugin *table, const char *facts)
{
    assert_int_equal(check_table(table), IFM_USAGE);
    assert_string_equal(error.where, "my.so");
    assert_facts(error.message, facts);
}

/* ---- tables ---- */

static void a_sound_table_becomes_rows_and_columns(void **state)
{
    (void)state;
    const struct ifm_workload *workload = &ifm_plugins[0].workload;
    const struct ifm_param *rows = workload->params->rows;
    assert_string_equal(workload->name, "mine");
    assert_int_equal(workload->params->n, PARAMS);
    assert_string_equal(rows[COUNT].path, "mine.count");
    assert_int_equal(rows[COUNT].flags, IFM_SWEEP);
    assert_int_equal(rows[RATE].flags, IFM_PER_ARM);
    assert_true(rows[RATE].min == 0 && isinf(rows[RATE].max));
    assert_string_equal(rows[ON].flag, "is-on");
    assert_true(rows[ON].min > rows[ON].max); /* no limit */
    assert_null(rows[LABEL].flag);            /* --seed belongs to every command */
    assert_int_equal(workload->n_columns, 2);
    assert_string_equal(workload->columns[0].unit, "count");
    assert_int_equal(workload->most_threads, 1);
}

#define WITHOUT(member)                                                                                                \
    do {                                                                                                               \
        table = good();                                                                                                \
        table.member = 0;                                                                                              \
        refused(&table, #member "|NULL");                                                                              \
    } while (0)

static void missing_members_are_named(void **state)
{
    (void)state;
    struct inferometer_plugin table;
    WITHOUT(name);
    WITHOUT(purpose);
    WITHOUT(timed_region);
    WITHOUT(params);
    WITHOUT(counters);
    WITHOUT(describe);
    WITHOUT(open);
    WITHOUT(step);
    WITHOUT(close);
    WITHOUT(collect);
    table = good(); /* the optional ones */
    table.check = NULL;
    table.before = table.after = NULL;
    table.feature_runs = NULL;
    table.params = NULL, table.n_params = 0;
    table.counters = NULL, table.n_counters = 0, table.collect = NULL;
    assert_int_equal(check_table(&table), IFM_OK);
}

static void wrong_members_are_named(void **state)
{
    (void)state;
    static const char long_name[] = "a234567890123456789012345678901234";
    static const struct {
        const char *name, *shown;
    } names[] = {{"", "''"},       {"Mine", "'Mine'"}, {"1st", "'1st'"},      {"a-b", "'a-b'"},
                 {"a.b", "'a.b'"}, {"\xff", "UTF-8"},  {long_name, long_name}};
    static const char *const taken[] = {"run", "seed", "decode"};
    char long_text[500], facts[64];
    struct inferometer_plugin table = good();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        table.name = names[i].name;
        snprintf(facts, sizeof facts, "name|%s|a-z", names[i].shown);
        refused(&table, facts);
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        table.name = taken[i];
        snprintf(facts, sizeof facts, "name|'%s'|taken", taken[i]);
        refused(&table, facts);
    }
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    const char *const texts[] = {"", "two\nlines", "\xc3(", long_text};
    for (size_t i = 0; i < 4; i++) {
        table = good();
        table.purpose = texts[i];
        refused(&table, "purpose|400");
    }
    table = good(), table.n_params = 65;
    refused(&table, "n_params|65");
    table = good(), table.param_size -= 8;
    refused(&table, "param_size");
    table = good(), table.counter_size = 3;
    refused(&table, "counter_size|3");
}

static void wrong_parameter(const struct inferometer_plugin_param *param, const char *facts)
{
    struct inferometer_plugin table = good();
    struct inferometer_plugin_param params[2] = {good_params[COUNT], *param};
    table.params = params;
    table.n_params = 2;
    refused(&table, facts);
}

static void wrong_parameters_are_named(void **state)
{
    (void)state;
    struct inferometer_plugin_param p;
#define WRONG(assignment, facts)                                                                                       \
    do {                                                                                                               \
        p = (struct inferometer_plugin_param){"n", 0, 0, "", "1", 0, 9, NULL, "help"};                                 \
        assignment;                                                                                                    \
        wrong_parameter(&p, facts);                                                                                    \
    } while (0)
    WRONG(p.name = NULL, "params[1].name|NULL");
    WRONG(p.name = "N", "params[1].name|'N'|a-z");
    WRONG(p.name = "count", "'count'|name|twice");
    WRONG(p.type = 7, "'n'|type|known");
    WRONG(p.flags = 4, "'n'|flags|bits");
    WRONG(p.unit = "a unit", "'n'|unit|16");
    WRONG(p.fallback = NULL, "'n'|fallback|NULL");
    WRONG(p.fallback = "10", "'n'|fallback|mine.n|10|0 .. 9");
    WRONG(p.fallback = "1,2", "'n'|fallback|mine.n|'1,2'");
    WRONG(p.fallback = "", "'n'|fallback|mine.n|no value");
    WRONG(p.fallback = "\x01", "'n'|fallback|400");
    WRONG(p.min = 10, "'n'|range|empty");
    WRONG(p.max = NAN, "'n'|range|number");
    WRONG(p.choices = "a|b", "'n'|choices|CHOICE");
    WRONG((p.type = INFEROMETER_PLUGIN_CHOICE), "'n'|choices|NULL");
    WRONG((p.type = INFEROMETER_PLUGIN_CHOICE, p.choices = "a||b"), "'n'|choices|400");
    WRONG((p.type = INFEROMETER_PLUGIN_CHOICE, p.choices = "1|a b"), "'n'|choices|400");
    WRONG((p.type = INFEROMETER_PLUGIN_CHOICE, p.choices = "1|2,3"), "'n'|choices|400");
    WRONG((p.type = INFEROMETER_PLUGIN_CHOICE, p.choices = "1|2|1"), "'n'|choices|'1'|twice");
    WRONG((p.type = INFEROMETER_PLUGIN_CHOICE, p.choices = "a|b"), "'n'|fallback|mine.n|'1'");
    WRONG((p.type = INFEROMETER_PLUGIN_BOOL), "'n'|fallback|mine.n|'1'|true|false");
    WRONG(p.help = "", "'n'|help|400");
}

static void wrong_counters_are_named(void **state)
{
    (void)state;
    struct inferometer_plugin table = good();
    const struct inferometer_plugin_counter twice[] = {{"hits", NULL}, {"hits", NULL}},
                                            taken[] = {{"steal_ns", NULL}, {"b", NULL}},
                                            unit[] = {{"a", "per cent"}, {"b", NULL}};
    table.counters = twice;
    refused(&table, "counters[1].name|'hits'|taken");
    table.counters = taken;
    refused(&table, "counters[0].name|'steal_ns'|taken");
    table.counters = unit;
    refused(&table, "counters[0].unit|16");
}

/* ---- describe ---- */

static const struct ifm_machine machine = {.device = "cpu", .threads = 2};
static struct ifm_arm_list arms;
static const char *why_not;

static enum ifm_status describe_on(const struct ifm_machine *where)
{
    static const struct ifm_setting settings[] = {{"mine.count", "100"}, {"other.count", "9"}, {"mine.word", "a"}};
    error = (struct ifm_error){0};
    enum ifm_status status = ifm_plugins[0].workload.describe(settings, 3, where, arena, &arms, &why_not, &error);
    for (size_t i = 0; i < arms.n; i++) { /* what plan does */
        arms.items[i].workload = "mine";
        arms.items[i].settings = settings;
        arms.items[i].n_settings = 3;
    }
    return status;
}

static void values_and_ledgers_arrive(void **state)
{
    (void)state;
    assert_int_equal(describe_on(&machine), IFM_OK);
    assert_int_equal(b.seen[COUNT].u64, 100);
    assert_true(b.seen[RATE].f64 == 0.01);
    assert_int_equal(b.seen[ON].u64, 1);
    assert_int_equal(b.seen[WORD].u64, 0);
    assert_string_equal(b.label, "x y");
    assert_int_equal(arms.n, 1);
    const struct ifm_arm *arm = &arms.items[0];
    assert_int_equal(arm->ledger.flops, 2);
    assert_int_equal(arm->ledger.rows, 1);
    assert_true(arm->tolerance == 0.5 && arm->has_oracle && arm->gaps && !arm->lossy);
    assert_string_equal(arm->feature, "");
    assert_string_equal(arm->implementation, "plugin");
    assert_string_equal(arm->title, "mine");
}

static void broken_describe(const char *facts)
{
    assert_int_equal(describe_on(&machine), IFM_USAGE);
    assert_int_equal(error.code, IFM_USAGE);
    assert_facts(error.message, facts);
    b.ledger = (struct inferometer_plugin_ledger){.rows = 1};
    b.describe = 0;
}

static void bad_ledgers_are_errors(void **state)
{
    (void)state;
    b.ledger.tolerance = NAN;
    broken_describe("tolerance");
    b.ledger.tolerance = -1;
    broken_describe("tolerance");
    b.ledger.lossy = 2;
    broken_describe("lossy");
    b.ledger.feature = "\xff";
    broken_describe("feature|400");
    b.ledger.why_not = "";
    broken_describe("why_not");
    ifm_plugins[0].table.feature_runs = NULL;
    b.ledger.feature = "fast";
    broken_describe("feature_runs|NULL");
    b.describe = 1;
    broken_describe("describe|'mine'|reason");
    b.describe = 1;
    b.message = "no\n\xff";
    broken_describe("no??");
    assert_string_equal(error.hint, "a hint");
    b.ledger.why_not = "not here";
    assert_int_equal(describe_on(&machine), IFM_OK);
    assert_int_equal(arms.n, 0);
    assert_string_equal(why_not, "not here");
}

/* ---- the state, on a device that only has what is used ---- */

static void parallel(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg)
{
    (void)device;
    for (unsigned i = 0; i < threads; i++)
        work(arg, i, threads);
}

static char buffer_name[256];

static enum ifm_status buffer(struct ifm_device *device, const char *name, size_t bytes, void **out, bool *fresh,
                              struct ifm_error *why)
{
    static char memory[64];
    (void)device;
    snprintf(buffer_name, sizeof buffer_name, "%s", name);
    if (bytes > sizeof memory)
        return ifm_fail(why, IFM_USAGE, NULL, "less", "too much");
    *out = memory;
    *fresh = true;
    return IFM_OK;
}

static const struct ifm_device_ops ops = {.name = "serial", .parallel = parallel, .buffer = buffer};
static struct ifm_device device = {.ops = &ops};

static enum ifm_status open_first(unsigned threads, struct opened *opened)
{
    const struct ifm_workload *workload = &ifm_plugins[0].workload;
    void *settings = ifm_arena_alloc(arena, workload->params->size + 1);
    *opened = (struct opened){.by = workload->implementations[0]};
    IFM_TRY(
        ifm_section_bind(workload->params, arms.items[0].settings, arms.items[0].n_settings, arena, settings, &error));
    opened->opening = (struct ifm_opening){.workload = workload,
                                           .implementation = opened->by,
                                           .arm = &arms.items[0],
                                           .settings = settings,
                                           .device = &device,
                                           .threads = threads,
                                           .seed = 7};
    return ifm_implementation_open(&opened->opening, &opened->state, &error);
}

static struct opened opened_arm(void)
{
    struct opened opened;
    assert_int_equal(describe_on(&machine), IFM_OK);
    assert_int_equal(open_first(2, &opened), IFM_OK);
    assert_non_null(opened.state);
    return opened;
}

static void count_calls(void *arg, unsigned index, unsigned count)
{
    assert_int_equal(count, 1); /* most_workers */
    *(unsigned *)arg += index + 1;
}

static void a_state_lives_from_open_to_close(void **state)
{
    (void)state;
    const struct opened opened = opened_arm();
    const struct ifm_implementation *by = opened.by;
    void *open = opened.state;
    int64_t columns[2] = {0, 0};
    struct ifm_check out;
    by->step(open, 3);
    assert_int_equal(b.stepped, 3);
    assert_int_equal(by->feature_runs(open), 3);
    by->collect(open, columns);
    assert_int_equal(columns[0], 5);
    assert_true(columns[1] == IFM_ABSENT); /* what the plugin left out is not zero */
    assert_int_equal(by->before(open, &error), IFM_OK);
    assert_int_equal(by->check(open, &out, &error), IFM_OK);
    assert_true(out.done && out.finite && out.values == 1 && out.output_xxh3 != 0);
    void *memory;
    int fresh = 0;
    unsigned calls = 0;
    assert_int_equal(b.host->workers, 1);
    assert_int_equal(b.host->buffer(b.host, "x", 8, 0, &memory, &fresh), 0);
    assert_int_equal(fresh, 1);
    assert_string_equal(buffer_name, "plugin mine arm mine x");
    assert_int_equal(b.host->buffer(b.host, "x", 8, INFEROMETER_PLUGIN_SHARED, &memory, NULL), 0);
    assert_string_equal(buffer_name, "plugin mine x");
    assert_int_not_equal(b.host->buffer(b.host, "x", 0, 0, &memory, NULL), 0);
    assert_int_not_equal(b.host->buffer(b.host, "x", 8, 2, &memory, NULL), 0);
    assert_int_not_equal(b.host->buffer(b.host, "x", 65, 0, &memory, NULL), 0);
    b.host->parallel(b.host, count_calls, &calls);
    assert_int_equal(calls, 1);
    ifm_implementation_close(by, open);
    assert_int_equal(b.closed, 1);
    ifm_implementation_close(by, NULL);
    assert_int_equal(b.closed, 1);
}

static void broken_check(void *open, const char *facts)
{
    struct ifm_check out;
    error = (struct ifm_error){0};
    assert_int_equal(ifm_plugins[0].implementation.check(open, &out, &error), IFM_INVALID);
    assert_false(out.done);
    assert_facts(error.message, facts);
    b.check = (struct inferometer_plugin_check){.values = 1, .finite = 1, .output = b.output, .output_bytes = 1};
}

static void failures_inside_are_errors(void **state)
{
    (void)state;
    struct opened opened = opened_arm(), none;
    const struct ifm_implementation *by = opened.by;
    void *open = opened.state;
    struct ifm_check out;
    b.check.values = 0;
    broken_check(open, "check|values|0");
    b.check.output = NULL;
    broken_check(open, "check|output|NULL");
    b.check.output_bytes = 0;
    broken_check(open, "check|output|empty");
    b.check.finite = 2;
    broken_check(open, "check|finite|1");
    b.check.error_max_rel = NAN;
    broken_check(open, "check|error|0");
    b.check.error_rms_rel = -1;
    broken_check(open, "check|error|0");
    b.check.finite = 0; /* then the errors mean nothing, and are not read */
    b.check.error_rms_rel = NAN;
    assert_int_equal(by->check(open, &out, &error), IFM_OK);
    assert_true(out.done && !out.finite);
    b.checks = b.hooks = 1;
    broken_check(open, "check|'mine'|reason");
    b.message = "because";
    broken_check(open, "because");
    assert_int_equal(by->before(open, &error), IFM_INVALID);
    assert_string_equal(error.message, "because");
    b.message = NULL; /* a reason that was given for another call does not stand for this one */
    assert_int_equal(by->after(open, &error), IFM_INVALID);
    assert_facts(error.message, "after|'mine'|reason");
    ifm_implementation_close(by, open);
    b.open = 1;
    b.message = "no room";
    assert_int_equal(open_first(1, &none), IFM_INVALID);
    assert_string_equal(error.message, "no room");
    assert_null(none.state);
    assert_int_equal(b.opened, b.closed);
}

static void a_registered_workload_is_found_once(void **state)
{
    (void)state;
    static struct ifm_workload one = {.name = "one"}, again = {.name = "decode"};
    assert_null(ifm_workload_find("one"));
    assert_int_equal(ifm_workload_register(&one, &error), IFM_OK);
    assert_ptr_equal(ifm_workload_find("one"), &one);
    assert_int_equal(ifm_workload_register(&one, &error), IFM_USAGE);
    assert_int_equal(ifm_workload_register(&again, &error), IFM_USAGE);
    assert_ptr_equal(ifm_workload_find("decode"), &ifm_workload_decode);
    static struct ifm_workload many[IFM_WORKLOADS_MOST];
    static char names[IFM_WORKLOADS_MOST][8];
    enum ifm_status status = IFM_OK;
    size_t n = 0;
    for (; n < IFM_WORKLOADS_MOST && status == IFM_OK; n++) {
        snprintf(names[n], sizeof names[n], "w%zu", n);
        many[n].name = names[n];
        status = ifm_workload_register(&many[n], &error);
    }
    assert_int_equal(status, IFM_USAGE);
    assert_null(ifm_workloads[IFM_WORKLOADS_MOST]);
    assert_null(ifm_workload_find(names[n - 1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sound_table_becomes_rows_and_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_members_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_members_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_parameters_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_counters_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(values_and_ledgers_arrive, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_ledgers_are_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(a_state_lives_from_open_to_close, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_inside_are_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(a_registered_workload_is_found_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
