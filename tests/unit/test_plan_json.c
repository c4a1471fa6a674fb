/* plan.json: a complete round trip, every member checked; and the order of slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/plan_json.h"
#include "unit/facts.h"
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- a plan in which no two members are alike ---- */

static const struct ifm_setting axes[] = {{"decode.kv_len", "4096"}, {"measure.cache", "cold"}};
static const struct ifm_setting settings[] = {
    {"decode.kv_len", "4096"}, {"decode.batch", "1"}, {"decode.note", "a \"quoted\" text\n\xc3\xa9"}};
static const struct ifm_arm arms[] = {
    {.name = "base",
     .role = IFM_ROLE_BASELINE,
     .ceiling = IFM_CEILING_NONE,
     .workload = "decode",
     .variant = "",
     .settings = settings,
     .n_settings = COUNT(settings),
     .ledger = {1, 2, 3, 4, 5, 6, 0},
     .working_set = 7,
     .memory = 8,
     .lossy = false,
     .has_oracle = true,
     .tolerance = 0.1,
     .feature = "",
     .equals = "",
     .equal_bound = 0,
     .fixed_inner = false},
    {.name = "fast",
     .role = IFM_ROLE_VARIANT,
     .ceiling = IFM_CEILING_FLOPS,
     .workload = "decode",
     .variant = "avx2",
     .settings = settings,
     .n_settings = 1,
     .ledger = {UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, 0, 1, 1ull << 53, 0},
     .working_set = 1ull << 40,
     .memory = 1ull << 41,
     .lossy = true,
     .has_oracle = false,
     .tolerance = 1e-300,
     .feature = "elastic",
     .equals = "base",
     .equal_bound = 1.0 / 3.0,
     .fixed_inner = true},
    {.name = "ceiling:read",
     .role = IFM_ROLE_CEILING,
     .ceiling = IFM_CEILING_READ,
     .workload = "stream",
     .variant = "x8",
     .feature = "",
     .equals = "fast"},
};
static const char *const instruments[] = {"clock", "rusage"};
static const char *const columns[] = {"steal_ns", "switches", "busy"};
static const char *const units[] = {"ns", "count", "1"};
static const struct ifm_pass passes[] = {
    {IFM_PASS_LATENCY, instruments, COUNT(instruments), columns, units, COUNT(columns)},
    {IFM_PASS_ENERGY, NULL, 0, NULL, NULL, 0},
};
#define ENERGY_OFF false, false, false, 10, 4, 5, 1, 10, 0, "" /* nor counters */
static struct ifm_cell cells[] = {
    {.index = 0,
     .name = "decode kv_len=4096",
     .workload = "decode",
     .axes = axes,
     .n_axes = COUNT(axes),
     .threads = 4000000000u,
     .measure = {50,
                 1.5,
                 0.02,
                 IFM_STOP_REPEATS,
                 1000,
                 0.003,
                 60,
                 6,
                 UINT64_MAX,
                 10,
                 1e-3,
                 3,
                 IFM_CACHE_COLD,
                 0.005,
                 IFM_LOCKS_REQUIRED,
                 IFM_ISOLATION_BUFFERS,
                 7,
                 0,
                 0,
                 ENERGY_OFF},
     .seed = UINT64_MAX,
     .arms = arms,
     .n_arms = COUNT(arms),
     .passes = passes,
     .n_passes = COUNT(passes),
     .unsupported = "",
     .cache_resident = true},
    {.index = 1,
     .name = "decode kv_len=1e9",
     .workload = "decode",
     .measure = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ENERGY_OFF},
     .unsupported = "needs 4 TiB; 8 GiB are free"},
};
static const struct ifm_gate gates[] = {
    {"fast enough", "latency_ns_p95", "fast", "", IFM_GATE_AT_MOST, 1234.5, true, 30, "golden-ticket"},
    {"", "speedup", "", "decode kv_len=4096", IFM_GATE_AT_LEAST, -0.0625, false, 0, ""},
};
static const struct ifm_plan plan = {"0123456789ab", "cafe", 9007199254740993, "cpu", .cells = cells,
                                     COUNT(cells),   gates,  COUNT(gates)};

/* ---- comparing plans member by member, with no table in common with the code under test ---- */

static void assert_settings_equal(const struct ifm_setting *a, size_t n_a, const struct ifm_setting *b, size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_string_equal(a[i].path, b[i].path);
        assert_string_equal(a[i].text, b[i].text);
    }
}

static void assert_texts_equal(const char *const *a, const char *const *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_string_equal(a[i], b[i]);
}

static void assert_arms_equal(const struct ifm_arm *a, const struct ifm_arm *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->role, b->role);
    assert_int_equal(a->ceiling, b->ceiling);
    assert_string_equal(a->workload, b->workload);
    assert_string_equal(a->variant, b->variant);
    assert_settings_equal(a->settings, a->n_settings, b->settings, b->n_settings);
    assert_memory_equal(&a->ledger, &b->ledger, sizeof a->ledger);
    assert_true(a->working_set == b->working_set && a->memory == b->memory);
    assert_true(a->lossy == b->lossy && a->has_oracle == b->has_oracle && a->fixed_inner == b->fixed_inner);
    assert_true(a->tolerance == b->tolerance && a->equal_bound == b->equal_bound);
    assert_string_equal(a->feature, b->feature);
    assert_string_equal(a->equals, b->equals);
    assert_string_equal(a->idle == NULL ? "" : a->idle, b->idle == NULL ? "" : b->idle);
}

static void assert_measures_equal(const struct ifm_measure *a, const struct ifm_measure *b)
{
    assert_true(a->warmup == b->warmup && a->warmup_cap_s == b->warmup_cap_s);
    assert_true(a->steady_tolerance == b->steady_tolerance && a->stop == b->stop && a->repeats == b->repeats);
    assert_true(a->mde == b->mde && a->cap_s == b->cap_s && a->blocks_min == b->blocks_min);
    assert_true(a->blocks_max == b->blocks_max && a->slot_steps == b->slot_steps && a->slot_min_s == b->slot_min_s);
    assert_true(a->inner == b->inner && a->cache == b->cache && a->margin == b->margin && a->locks == b->locks);
    assert_true(a->isolation == b->isolation && a->replica == b->replica);
    assert_true(a->truncate == b->truncate && a->resamples == b->resamples && a->energy == b->energy);
    assert_true(a->energy_window_s == b->energy_window_s && a->energy_windows == b->energy_windows);
    assert_true(a->energy_idle_s == b->energy_idle_s && a->pre_roll_s == b->pre_roll_s);
    assert_true(a->power_sample_hz == b->power_sample_hz && a->rated_w == b->rated_w);
    assert_string_equal(a->power_meter, b->power_meter);
}

static void assert_cells_equal(const struct ifm_cell *a, const struct ifm_cell *b)
{
    assert_int_equal(a->index, b->index);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->workload, b->workload);
    assert_settings_equal(a->axes, a->n_axes, b->axes, b->n_axes);
    assert_true(a->threads == b->threads && a->seed == b->seed && a->cache_resident == b->cache_resident);
    assert_string_equal(a->unsupported, b->unsupported);
    assert_measures_equal(&a->measure, &b->measure);
    assert_int_equal(a->n_arms, b->n_arms);
    for (size_t i = 0; i < a->n_arms; i++)
        assert_arms_equal(&a->arms[i], &b->arms[i]);
    assert_int_equal(a->n_passes, b->n_passes);
    for (size_t i = 0; i < a->n_passes; i++) {
        const struct ifm_pass *left = &a->passes[i], *right = &b->passes[i];
        assert_int_equal(left->kind, right->kind);
        assert_int_equal(left->n_instruments, right->n_instruments);
        assert_int_equal(left->n_columns, right->n_columns);
        assert_texts_equal(left->instruments, right->instruments, left->n_instruments);
        assert_texts_equal(left->columns, right->columns, left->n_columns);
        assert_texts_equal(left->column_units, right->column_units, left->n_columns);
    }
}

static void assert_plans_equal(const struct ifm_plan *a, const struct ifm_plan *b)
{
    assert_string_equal(a->run_id, b->run_id);
    assert_string_equal(a->config_hash, b->config_hash);
    assert_true(a->seed == b->seed);
    assert_string_equal(a->device, b->device);
    assert_int_equal(a->n_cells, b->n_cells);
    for (size_t i = 0; i < a->n_cells; i++)
        assert_cells_equal(&a->cells[i], &b->cells[i]);
    assert_int_equal(a->n_gates, b->n_gates);
    for (size_t i = 0; i < a->n_gates; i++) {
        const struct ifm_gate *left = &a->gates[i], *right = &b->gates[i];
        assert_string_equal(left->name, right->name);
        assert_string_equal(left->metric, right->metric);
        assert_string_equal(left->arm, right->arm);
        assert_string_equal(left->cell, right->cell);
        assert_true(left->op == right->op && left->threshold == right->threshold);
        assert_true(left->interval == right->interval);
    }
}

/* ---- round trip ---- */

static json_t *make_json(void)
{
    json_t *json = ifm_plan_to_json(&plan);
    assert_non_null(json);
    return json;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    struct ifm_text text = {0}, again = {0};
    struct ifm_plan *back;
    json_t *json = make_json(), *parsed;
    ifm_json_print(json, true, &text);
    assert_int_equal(ifm_json_parse(text.data, text.size, "plan.json", &parsed, &error), IFM_OK);
    if (ifm_plan_from_json(parsed, "plan.json", arena, &back, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    json_decref(parsed);
    json_decref(json); /* the plan lives in the arena alone */
    assert_plans_equal(&plan, back);
    json = ifm_plan_to_json(back);
    ifm_json_print(json, true, &again);
    assert_string_equal(text.data, again.data);
    json_decref(json);
    ifm_text_free(&text);
    ifm_text_free(&again);
    ifm_arena_destroy(arena);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(ifm_role_name(IFM_ROLE_BASELINE), "baseline");
    assert_string_equal(ifm_role_name(IFM_ROLE_VARIANT), "variant");
    assert_string_equal(ifm_role_name(IFM_ROLE_CEILING), "ceiling");
    assert_string_equal(ifm_ceiling_name(IFM_CEILING_NONE), "");
    assert_string_equal(ifm_ceiling_name(IFM_CEILING_READ), "read");
    assert_string_equal(ifm_ceiling_name(IFM_CEILING_WRITE), "write");
    assert_string_equal(ifm_ceiling_name(IFM_CEILING_COPY), "copy");
    assert_string_equal(ifm_ceiling_name(IFM_CEILING_FLOPS), "flops");
}

/* A text that JSON cannot hold gives no document rather than a wrong one. */
static void test_text_that_is_not_utf8(void **state)
{
    (void)state;
    struct ifm_plan bad = plan;
    bad.device = "\xff";
    assert_null(ifm_plan_to_json(&bad));
}

/* ---- every member, one at a time ---- */

static void assert_refused(const json_t *json, const char *where, const char *facts)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    struct ifm_plan *back;
    enum ifm_status status = ifm_plan_from_json(json, "plan.json", arena, &back, &error);
    if (status != IFM_INVALID || strcmp(error.where, where) != 0 || !facts_stand(error.message, facts, NULL))
        fail_msg("wanted %s: %s\ngot status %d, %s: %s", where, facts, (int)status, error.where, error.message);
    assert_null(back);
    ifm_arena_destroy(arena);
}

/* Break every member of every object below `node`, in turn: removed, of another type, and with a neighbour that does
 * not belong there. Settings and axes have free names, so only types are wrong in them. */
static void break_members(json_t *root, json_t *node, const char *path, bool is_free, unsigned *broken)
{
    char where[256];
    const char *dot = path[0] == '\0' ? "" : ".";
    size_t n = json_object_size(node), i = 0;
    const char *keys[32];
    const char *key;
    json_t *value;
    assert_true(n < COUNT(keys));
    json_object_foreach(node, key, value) keys[i++] = key;
    for (i = 0; i < n; i++) {
        key = keys[i];
        json_t *kept = json_incref(json_object_get(node, key));
        char *name = strdup(key); /* the object's own key goes with its member */
        snprintf(where, sizeof where, "plan.json: %s%s%s", path, dot, name);
        json_object_set_new(node, name, json_null());
        assert_refused(root, where, "needed");
        if (!is_free) {
            json_object_del(node, name);
            assert_refused(root, where, "missing");
        }
        json_object_set_new(node, name, kept);
        free(name);
        *broken += 1;
    }
    if (is_free)
        return;
    snprintf(where, sizeof where, "plan.json: %s%sextra", path, dot);
    json_object_set_new(node, "extra", json_true());
    assert_refused(root, where, "no such");
    json_object_del(node, "extra");
}

static void break_below(json_t *root, json_t *node, const char *path, unsigned *broken)
{
    char below[200];
    size_t i;
    const char *key;
    json_t *value;
    void *next;
    const char *base = strrchr(path, '.') == NULL ? path : strrchr(path, '.') + 1;
    if (json_is_object(node))
        break_members(root, node, path, strcmp(base, "settings") == 0 || strcmp(base, "axes") == 0, broken);
    json_object_foreach_safe(node, next, key, value)
    {
        snprintf(below, sizeof below, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
        break_below(root, value, below, broken);
    }
    json_array_foreach(node, i, value)
    {
        snprintf(below, sizeof below, "%s[%zu]", path, i);
        break_below(root, value, below, broken);
    }
}

static void test_every_member_is_needed_and_typed(void **state)
{
    (void)state;
    json_t *json = make_json();
    unsigned broken = 0;
    break_below(json, json, "", &broken);
    assert_true(broken > 120); /* all arms, passes, gates and cells have been visited */
    json_decref(json);
}

static json_t *at(json_t *json, const char *list, size_t i)
{
    json_t *item = json_array_get(json_object_get(json, list), i);
    assert_non_null(item);
    return item;
}

/* Put `value` (stolen) at `key` of `node`, expect the refusal, and put the old value back. */
static void assert_value_refused(json_t *json, json_t *node, const char *key, json_t *value, const char *where,
                                 const char *message)
{
    json_t *kept = json_incref(json_object_get(node, key));
    json_object_set_new(node, key, value);
    assert_refused(json, where, message);
    json_object_set_new(node, key, kept);
}

/* Members newer than the schema: a plan of an older version lacks them, and one of this version writes no 0. */
static void test_newer_members_are_optional(void **state)
{
    (void)state;
    json_t *json = make_json(), *measure = json_object_get(at(json, "cells", 0), "measure");
    struct ifm_error error = {0};
    struct ifm_plan *first;
    struct ifm_arena *arena = ifm_arena_create();
    json_object_del(measure, "truncate");
    json_object_del(measure, "resamples");
    assert_int_equal(ifm_plan_from_json(json, "plan.json", arena, &first, &error), IFM_OK);
    assert_true(first->cells[0].measure.truncate == 0 && first->cells[0].measure.resamples == 0);
    json_t *again = ifm_plan_to_json(first);
    assert_true(json_equal(again, json));
    first->cells[0].measure.truncate = 12.5;
    first->cells[0].measure.resamples = 10000;
    ((struct ifm_arm *)first->cells[0].arms)[0].idle = " decode.sink"; /* absent above */
    json_decref(again);
    again = ifm_plan_to_json(first);
    struct ifm_plan *second;
    assert_int_equal(ifm_plan_from_json(again, "plan.json", arena, &second, &error), IFM_OK);
    assert_plans_equal(first, second);
    assert_true(second->cells[0].measure.truncate == 12.5 && second->cells[0].measure.resamples == 10000);
    measure = json_object_get(at(again, "cells", 0), "measure");
    assert_value_refused(again, measure, "truncate", json_real(60), "plan.json: cells[0].measure.truncate", "0 to 45");
    assert_value_refused(again, measure, "truncate", json_real(-1), "plan.json: cells[0].measure.truncate", "0 to 45");
    assert_value_refused(again, measure, "resamples", json_integer(7), "plan.json: cells[0].measure.resamples", "199");
    assert_value_refused(again, measure, "resamples", json_integer(1000000000000),
                         "plan.json: cells[0].measure.resamples", "100000");
    json_decref(again);
    json_decref(json);
    ifm_arena_destroy(arena);
}

/* Energy too is newer: without its members it is off, with the settings that it would have. */
static void test_energy_is_optional_and_checked(void **state)
{
    (void)state;
    static const char *const keys[] = {"energy",     "energy_window_s", "energy_windows", "energy_idle_s",
                                       "pre_roll_s", "power_sample_hz", "rated_w",        "power_meter"};
    json_t *json = make_json(), *measure = json_object_get(at(json, "cells", 0), "measure");
    struct ifm_error error = {0};
    struct ifm_plan *first, *second;
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_null(json_object_get(measure, keys[i])); /* what older folders mean is not written */
    assert_int_equal(ifm_plan_from_json(json, "plan.json", arena, &first, &error), IFM_OK);
    struct ifm_measure *m = &first->cells[0].measure;
    assert_true(!m->energy && m->energy_window_s == 10 && m->energy_windows == 4 && m->energy_idle_s == 5);
    assert_true(m->pre_roll_s == 1 && m->power_sample_hz == 10 && m->rated_w == 0);
    assert_string_equal(m->power_meter, "");
    m->energy = true;
    m->energy_window_s = 2.5;
    m->energy_windows = 6;
    m->energy_idle_s = 1;
    m->pre_roll_s = 0;
    m->power_sample_hz = 100;
    m->rated_w = 280;
    m->power_meter = "sha256:abc";
    json_decref(json);
    json = ifm_plan_to_json(first);
    assert_int_equal(ifm_plan_from_json(json, "plan.json", arena, &second, &error), IFM_OK);
    assert_measures_equal(m, &second->cells[0].measure);
    measure = json_object_get(at(json, "cells", 0), "measure");
    const char *window = "plan.json: cells[0].measure.energy_window_s",
               *hz = "plan.json: cells[0].measure.power_sample_hz";
    assert_value_refused(json, measure, "energy_window_s", json_real(0.01), window, "0.1 to 3600");
    assert_value_refused(json, measure, "energy_window_s", json_real(1e9), window, "0.1 to 3600");
    assert_value_refused(json, measure, "energy_windows", json_integer(2), "plan.json: cells[0].measure.energy_windows",
                         "3 to 10000");
    assert_value_refused(json, measure, "energy_idle_s", json_real(0), "plan.json: cells[0].measure.energy_idle_s",
                         "1 to 3600");
    assert_value_refused(json, measure, "pre_roll_s", json_real(-1), "plan.json: cells[0].measure.pre_roll_s",
                         "0 to 600");
    assert_value_refused(json, measure, "power_sample_hz", json_real(0), hz, "0.1 to 100");
    assert_value_refused(json, measure, "rated_w", json_real(-5), "plan.json: cells[0].measure.rated_w",
                         "0 to 1000000");
    assert_value_refused(json, measure, "energy", json_string("yes"), "plan.json: cells[0].measure.energy", "energy");
    json_decref(json);
    ifm_arena_destroy(arena);
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    json_t *json = make_json(), *cell = at(json, "cells", 0), *arm = at(cell, "arms", 1);
    json_t *ledger = json_object_get(arm, "ledger"), *measure = json_object_get(cell, "measure");
    assert_value_refused(json, json, "schema", json_integer(1), "plan.json", "version|schema 1|reads 3");
    assert_value_refused(json, json, "seed", json_integer(7), "plan.json: seed", "string");
    assert_value_refused(json, json, "seed", json_string("07"), "plan.json: seed", "decimal");
    assert_value_refused(json, json, "seed", json_string("-1"), "plan.json: seed", "decimal");
    assert_value_refused(json, json, "seed", json_string("18446744073709551616"), "plan.json: seed", "decimal");
    assert_value_refused(json, ledger, "flops", json_integer(-1), "plan.json: cells[0].arms[1].ledger.flops",
                         "at least 0");
    assert_value_refused(json, ledger, "flops", json_string("12"), "plan.json: cells[0].arms[1].ledger.flops",
                         "not text");
    assert_value_refused(json, ledger, "flops", json_real(1.5), "plan.json: cells[0].arms[1].ledger.flops", "a real");
    assert_value_refused(json, cell, "threads", json_integer(4294967296), "plan.json: cells[0].threads",
                         "above 4294967295");
    assert_value_refused(json, arm, "role", json_string("base"), "plan.json: cells[0].arms[1].role",
                         "\"base\"|\"baseline\"|\"variant\"|\"ceiling\"");
    assert_value_refused(json, measure, "stop", json_string("never"), "plan.json: cells[0].measure.stop", "\"mde\"");
    assert_value_refused(json, at(json, "gates", 0), "op", json_string("<"), "plan.json: gates[0].op", "\"at_most\"");
    assert_refused(json_array_get(json_object_get(json, "cells"), 7), "plan.json", "JSON object");
    json_decref(json);
}

static void test_a_plan_agrees_with_itself(void **state)
{
    (void)state;
    json_t *json = make_json(), *cell = at(json, "cells", 0), *pass = at(cell, "passes", 0);
    assert_value_refused(json, at(json, "cells", 1), "index", json_integer(0), "plan.json: cells[1].index", "place");
    assert_value_refused(json, at(json, "cells", 1), "name", json_string("decode kv_len=4096"), "plan.json: cells[1]",
                         "\"decode kv_len=4096\"|twice");
    assert_value_refused(json, at(cell, "arms", 1), "name", json_string("base"), "plan.json: cells[0].arms[1]",
                         "\"base\"|twice");
    assert_value_refused(json, at(cell, "arms", 0), "name", json_string(""), "plan.json: cells[0].arms[0]", "empty");
    assert_value_refused(json, at(cell, "arms", 1), "equals", json_string("nobody"),
                         "plan.json: cells[0].arms[1].equals", "\"nobody\"|another arm");
    assert_value_refused(json, at(cell, "arms", 1), "equals", json_string("fast"), "plan.json: cells[0].arms[1].equals",
                         "another arm");
    assert_value_refused(json, at(json, "cells", 1), "unsupported", json_string(""), "plan.json: cells[1].arms",
                         "one arm");
    assert_value_refused(json, cell, "passes", json_array(), "plan.json: cells[0].passes", "one pass");
    assert_value_refused(json, at(cell, "passes", 1), "name", json_string("latency"), "plan.json: cells[0].passes[1]",
                         "each once");
    assert_value_refused(json, pass, "name", json_string("energy"), "plan.json: cells[0].passes[0]", "order");
    assert_value_refused(json, pass, "name", json_string("speed"), "plan.json: cells[0].passes[0].name", "speed");
    assert_value_refused(json, pass, "column_units", json_pack("[s, s]", "ns", "1"),
                         "plan.json: cells[0].passes[0].column_units", "units|columns");
    assert_value_refused(json, pass, "columns", json_pack("[s, s, s]", "a", "b", "a"),
                         "plan.json: cells[0].passes[0].columns[2]", "twice");
    assert_value_refused(json, pass, "instruments", json_pack("[s, i]", "a", 1),
                         "plan.json: cells[0].passes[0].instruments[1]", "string");
    json_decref(json);
}

/* ---- the order of slots ---- */

static void test_order_is_a_permutation_and_its_mirror(void **state)
{
    (void)state;
    struct ifm_cell cell = {.seed = 5};
    for (cell.n_arms = 1; cell.n_arms <= 9; cell.n_arms++) {
        for (unsigned block = 0; block < 200; block++) {
            unsigned order[18], again[18], seen = 0;
            ifm_plan_order(&cell, block, order);
            ifm_plan_order(&cell, block, again);
            assert_memory_equal(order, again, 2 * cell.n_arms * sizeof *order);
            for (size_t i = 0; i < cell.n_arms; i++) {
                assert_true(order[i] < cell.n_arms);
                assert_int_equal(order[i], order[2 * cell.n_arms - 1 - i]);
                seen |= 1u << order[i];
            }
            assert_int_equal(seen, (1u << cell.n_arms) - 1);
        }
    }
}

/* Every permutation equally often: chi-squared of all 24 of four arms, and of the two of two arms. The limits are the
 * 0.999 quantiles for 23 and 1 degrees of freedom; seeds are fixed, so that the test either passes or fails for good.
 */
static void assert_uniform(unsigned n_arms, unsigned n_permutations, double limit)
{
    enum { BLOCKS = 24000 };
    unsigned count[256] = {0}, kinds = 0;
    struct ifm_cell cell = {.seed = 20261121, .n_arms = n_arms};
    for (unsigned block = 0; block < BLOCKS; block++) {
        unsigned order[8], code = 0;
        ifm_plan_order(&cell, block, order);
        for (unsigned i = 0; i < n_arms; i++)
            code = code * 4 + order[i];
        count[code]++;
    }
    double expected = (double)BLOCKS / n_permutations, chi_squared = 0;
    for (unsigned code = 0; code < 256; code++) {
        kinds += count[code] > 0;
        if (count[code] > 0)
            chi_squared += (count[code] - expected) * (count[code] - expected) / expected;
    }
    assert_int_equal(kinds, n_permutations);
    assert_true(chi_squared < limit);
}

static void test_order_is_uniform(void **state)
{
    (void)state;
    assert_uniform(2, 2, 10.83);
    assert_uniform(3, 6, 20.52);
    assert_uniform(4, 24, 49.73);
}

/* Neither neighbouring blocks nor neighbouring seeds share their order. */
static void test_order_depends_on_block_and_seed(void **state)
{
    (void)state;
    unsigned same_block = 0, same_seed = 0;
    enum { N = 4000 };
    for (unsigned i = 0; i < N; i++) {
        const struct ifm_cell cell = {.seed = 3, .n_arms = 2}, other = {.seed = i + 4, .n_arms = 2};
        unsigned a[4], b[4];
        ifm_plan_order(&cell, i, a);
        ifm_plan_order(&cell, i + 1, b);
        same_block += a[0] == b[0];
        ifm_plan_order(&other, i, b);
        same_seed += a[0] == b[0];
    }
    /* Half, within five standard deviations of a fair coin. */
    assert_in_range(same_block, N / 2 - 158, N / 2 + 158);
    assert_in_range(same_seed, N / 2 - 158, N / 2 + 158);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_text_that_is_not_utf8),
        cmocka_unit_test(test_every_member_is_needed_and_typed),
        cmocka_unit_test(test_newer_members_are_optional),
        cmocka_unit_test(test_energy_is_optional_and_checked),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_a_plan_agrees_with_itself),
        cmocka_unit_test(test_order_is_a_permutation_and_its_mirror),
        cmocka_unit_test(test_order_is_uniform),
        cmocka_unit_test(test_order_depends_on_block_and_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
