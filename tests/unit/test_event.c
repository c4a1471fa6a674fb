/* Events through their table: what is written is what is read, and what is not as the table says is refused by line,
 * stage and field. */
#include "base/file.h"
#include "base/random.h"
#include "model/event.h"
#include "unit/events.h"
#include "unit/facts.h"
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200 };

static struct ifm_random dice;

static const char *random_text(struct ifm_arena *arena)
{
    static const char *const parts[] = {"", "a", "gpu0", "µ \"quoted\"", "\\ \n", "1e9", "fp16 × 2"};
    size_t n = sizeof parts / sizeof parts[0];
    return ifm_arena_printf(arena, "%s%s", parts[ifm_random_below(&dice, (uint32_t)n)],
                            parts[ifm_random_below(&dice, (uint32_t)n)]);
}

static json_t *random_json(int depth)
{
    if (depth == 0 || ifm_random_below(&dice, 3) == 0)
        return json_integer(ifm_random_below(&dice, 1000));
    json_t *inner = random_json(depth - 1);
    return ifm_random_below(&dice, 2) == 0 ? json_pack("[o, s]", inner, "x")
                                           : json_pack("{s:o, s:f, s:b}", "in", inner, "x", 0.5, "y", 1);
}

static void release(void *json)
{
    json_decref(json);
}

static const json_t *kept_json(struct ifm_arena *arena, json_t *json)
{
    assert_non_null(json);
    ifm_arena_defer(arena, release, json);
    return json;
}

static double random_real(enum ifm_kind kind)
{
    double u = ifm_random_uniform(&dice);
    switch (kind) {
    case IFM_KIND_percent:
        return 100 * u;
    case IFM_KIND_share:
        return u;
    case IFM_KIND_cosine:
        return 2 * u - 1;
    case IFM_KIND_real:
        return (u - 0.5) * pow(10, ifm_random_below(&dice, 30));
    default:
        return u * pow(10, ifm_random_below(&dice, 30));
    }
}

static void fill_row(const struct ifm_event_row *row, void *facts, struct ifm_arena *arena);

static void fill_knobs(struct ifm_knobs *knobs, struct ifm_arena *arena)
{
    size_t n = ifm_random_below(&dice, 4);
    struct ifm_event_knob *items = IFM_ARENA_ARRAY(arena, struct ifm_event_knob, n + 1);
    for (size_t i = 0; i < n; i++)
        fill_row(&ifm_knob_row, ifm_event_blank(&ifm_knob_row, &items[i]), arena);
    *knobs = (struct ifm_knobs){items, n};
}

static void fill(enum ifm_kind kind, void *place, struct ifm_arena *arena)
{
    switch (kind) {
    case IFM_KIND_text:
        *(const char **)place = random_text(arena);
        break;
    case IFM_KIND_count:
        *(int64_t *)place = (int64_t)ifm_random_u32(&dice) << ifm_random_below(&dice, 31);
        break;
    case IFM_KIND_flag:
        *(bool *)place = ifm_random_below(&dice, 2) == 0;
        break;
    case IFM_KIND_json:
        *(const json_t **)place = kept_json(arena, random_json(3));
        break;
    case IFM_KIND_rest:
        *(const json_t **)place = kept_json(arena, json_pack("{s:o, s:s}", "inner", random_json(2), "gpu", "H200"));
        break;
    case IFM_KIND_knobs:
        fill_knobs(place, arena);
        break;
    case IFM_KIND_loss: {
        struct ifm_event_loss *loss = IFM_ARENA_NEW(arena, struct ifm_event_loss);
        fill_row(&ifm_loss_row, ifm_event_blank(&ifm_loss_row, loss), arena);
        *(const struct ifm_event_loss **)place = loss;
        break;
    }
    default:
        *(double *)place = random_real(kind);
    }
}

static bool is_set(const struct ifm_event_row *row, const char *name, const void *facts)
{
    for (size_t i = 0; i < row->n_fields; i++) {
        const void *place = (const char *)facts + row->fields[i].offset;
        if (strcmp(row->fields[i].name, name) != 0)
            continue;
        if (row->fields[i].kind == IFM_KIND_flag)
            return *(const bool *)place;
        if (row->fields[i].kind >= IFM_KIND_amount && row->fields[i].kind <= IFM_KIND_cosine)
            return !isnan(*(const double *)place);
        if (row->fields[i].kind == IFM_KIND_count)
            return *(const int64_t *)place != IFM_ABSENT;
        return *(const char *const *)place != NULL;
    }
    fail_msg("%s has no field %s", row->name, name);
    return false;
}

/* Those that others stand beside come first, in two passes: a field beside a field beside a field. */
static void fill_row(const struct ifm_event_row *row, void *facts, struct ifm_arena *arena)
{
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < row->n_fields; i++) {
            const struct ifm_event_field *field = &row->fields[i];
            bool free_standing = field->beside[0] == '_', second = strcmp(field->beside, "finite") == 0;
            if (pass != (free_standing ? 0 : second ? 2 : 1))
                continue;
            if (!free_standing && !is_set(row, field->beside, facts))
                continue;
            if (field->need == IFM_NEED_must || ifm_random_below(&dice, 2) == 0)
                fill(field->kind, (char *)facts + field->offset, arena);
        }
}

static void fill_event(struct ifm_event *event, enum ifm_stage stage, struct ifm_arena *arena)
{
    void *facts = ifm_arena_alloc(arena, ifm_event_rows[stage].size);
    fill_row(&ifm_event_rows[stage], ifm_event_blank(&ifm_event_rows[stage], facts), arena);
    *event = (struct ifm_event){.stage = stage, .ok = ifm_random_below(&dice, 2) == 0, .t_ns = 12, .facts = facts};
}

/* As a line of the file: printed, and parsed again. */
static json_t *line_of(const struct ifm_event *event)
{
    json_t *line, *again;
    struct ifm_error error = {0};
    struct ifm_text text = {0};
    if (ifm_event_encode(event, &line, &error) != IFM_OK)
        fail_msg("%s", error.message);
    ifm_json_print(line, false, &text);
    json_decref(line);
    assert_int_equal(ifm_json_parse(text.data, text.size, "line", &again, &error), IFM_OK);
    ifm_text_free(&text);
    return again;
}

/* Nothing that is set is left out of the line. */
static void expect_whole(const struct ifm_event *event, const json_t *line)
{
    const struct ifm_event_row *row = &ifm_event_rows[event->stage];
    for (size_t i = 0; i < row->n_fields; i++) {
        const struct ifm_event_field *field = &row->fields[i];
        if (field->kind != IFM_KIND_rest && is_set(row, field->name, event->facts) &&
            json_object_get(json_object_get(line, "meta"), field->name) == NULL)
            fail_msg("%s of %s is not written", field->name, row->name);
    }
}

static void what_is_written_is_what_is_read(void **state)
{
    (void)state;
    dice = ifm_random_start(1, 1);
    for (int stage = 1; stage < IFM_STAGE_COUNT; stage++)
        for (int round = 0; round < ROUNDS; round++) {
            struct ifm_arena *arena = ifm_arena_create();
            struct ifm_event event, again;
            struct ifm_error error = {0};
            fill_event(&event, (enum ifm_stage)stage, arena);
            json_t *line = line_of(&event);
            expect_whole(&event, line);
            if (ifm_event_decode(line, "run.log:7", arena, &again, &error) != IFM_OK)
                fail_msg("%s", error.message);
            assert_true(ifm_event_equal(&event, &again));
            json_t *twice = line_of(&again);
            again.t_ns = event.t_ns;
            assert_true(json_equal(line, twice));
            json_decref(line);
            json_decref(twice);
            ifm_arena_destroy(arena);
        }
}

static void expect_refused(const json_t *line, const char *stage, const char *field)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_event event;
    struct ifm_error error = {0};
    char quoted[96];
    snprintf(quoted, sizeof quoted, "\"%s\"", field);
    enum ifm_status status = ifm_event_decode(line, "run.log:7", arena, &event, &error);
    if (status != IFM_INVALID || strcmp(error.where, "run.log:7") != 0 || strstr(error.message, quoted) == NULL ||
        strstr(error.message, stage) == NULL)
        fail_msg("%s without a good %s: %d %s: %s", stage, field, (int)status, error.where, error.message);
    ifm_arena_destroy(arena);
}

/* Of every field: the line without it where it must be there, and with a value that is none of its kind. */
static void bad_fields_are_refused(const struct ifm_event *event)
{
    const struct ifm_event_row *row = &ifm_event_rows[event->stage];
    for (size_t i = 0; i < row->n_fields; i++) {
        const struct ifm_event_field *field = &row->fields[i];
        json_t *line = line_of(event), *meta = json_object_get(line, "meta");
        bool stands = json_object_get(meta, field->name) != NULL;
        if (field->kind == IFM_KIND_rest) {
            json_decref(line);
            continue;
        }
        if (stands && field->kind != IFM_KIND_json) {
            json_object_set_new(meta, field->name, field->kind == IFM_KIND_text ? json_integer(1) : json_string("1"));
            expect_refused(line, row->name, field->name);
        }
        if (stands && (field->kind == IFM_KIND_count || field->kind == IFM_KIND_amount)) {
            json_object_set_new(meta, field->name, field->kind == IFM_KIND_count ? json_integer(-1) : json_real(-1e-9));
            expect_refused(line, row->name, field->name);
        }
        if (stands && field->need == IFM_NEED_must) {
            json_object_del(meta, field->name);
            expect_refused(line, row->name, field->name);
            if (field->kind != IFM_KIND_json) {
                json_object_set_new(meta, field->name, json_null());
                expect_refused(line, row->name, field->name);
            }
        }
        json_decref(line);
    }
}

static void a_field_that_is_missing_or_wrong_is_refused_by_its_name(void **state)
{
    (void)state;
    dice = ifm_random_start(2, 1);
    for (int stage = 1; stage < IFM_STAGE_COUNT; stage++)
        for (int round = 0; round < 8; round++) {
            struct ifm_arena *arena = ifm_arena_create();
            struct ifm_event event;
            fill_event(&event, (enum ifm_stage)stage, arena);
            bad_fields_are_refused(&event);
            ifm_arena_destroy(arena);
        }
}

static void expect_bad(const char *lines, const char *where, const char *facts)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    json_t *json = json_loads(lines, 0, NULL);
    const struct ifm_events *events;
    assert_non_null(json);
    assert_int_equal(events_try(json, arena, &events, &error), IFM_INVALID);
    assert_string_equal(error.where, where);
    assert_facts(error.message, facts);
    json_decref(json);
    ifm_arena_destroy(arena);
}

#define LINE(stage, meta) "{\"t_ns\": 1, \"stage\": \"" stage "\", \"ok\": true, \"meta\": {" meta "}}"
#define A_CELL "\"cell\": \"a\""
#define DONE(cell) LINE("cell_done", "\"cell\": \"" cell "\"")

static void messages_say_what_is_needed(void **state)
{
    (void)state;
    expect_bad("[" LINE("feature", A_CELL ", \"arm\": \"x\", \"feature\": \"f\", \"runs\": 1.5") "]", "run.log:1",
               "\"feature\"|\"runs\"|whole");
    expect_bad("[" DONE("a") ", " LINE("feature", A_CELL) "]", "run.log:2", "\"feature\"|\"arm\"|missing|text");
    expect_bad("[" LINE("check", A_CELL ", \"arm\": \"x\", \"when\": \"before\", \"done\": false, "
                                        "\"loss\": {\"cosine\": 1.5}") "]",
               "run.log:1", "\"check\"|\"loss.cosine\"|-1| 1");
    expect_bad("[{\"stage\": \"x\"}]", "run.log:1", "\"t_ns\"|missing|integer");
    expect_bad("[[]]", "run.log:1", "JSON object");
}

/* A later version may say more. */
static void what_is_not_known_is_kept_and_left_alone(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    json_t *json = json_loads("[" LINE("weather", A_CELL ", \"arm\": \"x\", \"sky\": \"blue\"") ", " LINE(
                                  "weather", "\"cell\": 3") ", " LINE("cell_done", A_CELL ", \"new\": 1") "]",
                              0, NULL);
    const struct ifm_events *events = events_of(json, arena);
    assert_int_equal(events->n, 3);
    assert_int_equal(events->items[0].stage, IFM_STAGE_unknown);
    assert_string_equal(events->items[0].cell, "a");
    assert_string_equal(events->items[0].arm, "x");
    assert_null(events->items[0].facts);
    assert_null(events->items[1].cell);
    assert_string_equal(IFM_LAST(events, cell_done, "a", NULL)->cell, "a");
    json_decref(json);
    ifm_arena_destroy(arena);
}

/* ---- look-ups ---- */

#define RUNS(cell, arm, n)                                                                                             \
    LINE("feature", "\"cell\": \"" cell "\", \"arm\": \"" arm "\", \"feature\": \"f\", \"runs\": " n)
#define RESTART(cell)                                                                                                  \
    LINE("cell_restarted", "\"cell\": \"" cell "\", \"arms_left\": 1, \"record_set_aside\": true, \"times\": 1")
#define ARM_FAILED LINE("arm_failed", A_CELL ", \"arm\": \"x\", \"reason\": \"it fell\", \"remedy\": \"lift it\"")

static int64_t sum_of_runs(const struct ifm_events *events, const char *cell, const char *arm)
{
    int64_t sum = 0;
    IFM_EACH(event, events, feature, cell, arm)
        sum = 10 * sum + IFM_FACTS(event, feature)->runs;
    return sum;
}

static void events_are_found_by_stage_cell_and_arm(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    json_t *json = json_loads("[" RUNS("b", "x", "1") "," RUNS("a", "x", "2") "," RUNS("b", "y", "3") "," RUNS(
                                  "a", "x", "4") "," DONE("b") "," RUNS("b", "x", "5") "]",
                              0, NULL);
    const struct ifm_events *events = events_of(json, arena);
    assert_int_equal(sum_of_runs(events, NULL, NULL), 12345);
    assert_int_equal(sum_of_runs(events, "a", NULL), 24);
    assert_int_equal(sum_of_runs(events, "b", NULL), 135);
    assert_int_equal(sum_of_runs(events, "b", "x"), 15);
    assert_int_equal(sum_of_runs(events, NULL, "y"), 3);
    assert_int_equal(sum_of_runs(events, "c", NULL), 0);
    assert_int_equal(sum_of_runs(events, "", NULL), 0);
    assert_int_equal(sum_of_runs(NULL, "a", NULL), 0);
    assert_int_equal(IFM_LAST(events, feature, "b", "x")->runs, 5);
    assert_int_equal(IFM_LAST(events, feature, NULL, NULL)->runs, 5);
    assert_int_equal(IFM_FIRST(events, feature)->runs, 1);
    assert_null(IFM_LAST(events, feature, "a", "y"));
    assert_null(IFM_FIRST(events, calibrate));
    assert_int_equal(ifm_events_about(events, "b").n, 4);
    assert_int_equal(ifm_events_about(events, "a").items[1]->line, 4);
    assert_int_equal(ifm_events_about(events, "z").n, 0);
    assert_int_equal(ifm_events_about(NULL, "b").n, 0);
    json_decref(json);
    ifm_arena_destroy(arena);
}

static void a_restarted_cell_forgets_what_was_said_of_its_record(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    json_t *json =
        json_loads("[" RUNS("Z", "x", "4") "," RUNS("a", "x", "1") "," RUNS("b", "x", "2") "," ARM_FAILED "," RESTART(
                       "a") "," RUNS("a", "y", "3") "," LINE("load", "\"when\": \"after\", \"foreign_load\": null") "]",
                   0, NULL);
    const struct ifm_events *events = events_of(json, arena);
    assert_int_equal(sum_of_runs(events, NULL, NULL), 423); /* other cells keep theirs */
    assert_null(IFM_LAST(events, feature, "a", "x"));
    assert_int_equal(IFM_LAST(events, feature, "a", NULL)->runs, 3);
    assert_string_equal(IFM_LAST(events, arm_failed, "a", "x")->reason, "it fell");
    assert_int_equal(IFM_LAST(events, cell_restarted, "a", NULL)->arms_left, 1);
    assert_int_equal(ifm_events_about(events, "a").n, 3);
    assert_true(events->items[1].is_void);
    assert_int_equal(IFM_FACTS(&events->items[1], feature)->runs, 1); /* for who asks what ever happened */
    assert_true(isnan(IFM_FIRST(events, load)->foreign_load));
    json_decref(json);
    ifm_arena_destroy(arena);
}

static void what_stands_once_is_refused_twice(void **state)
{
    (void)state;
    expect_bad("[" DONE("a") "," DONE("b") "," DONE("a") "]", "run.log:3", "\"cell_done\"|twice|cell a");
    expect_bad("[" LINE("run_done", "\"config_hash\": \"c\"") "," LINE("run_done", "\"config_hash\": \"c\"") "]",
               "run.log:2", "\"run_done\"|twice");
    struct ifm_arena *arena = ifm_arena_create();
    json_t *json = json_loads("[" DONE("a") "," RESTART("a") "," DONE("a") "]", 0, NULL);
    assert_int_equal(events_of(json, arena)->n, 3);
    json_decref(json);
    ifm_arena_destroy(arena);
}

static void a_fact_that_is_not_set_is_not_written(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    json_t *line;
    assert_int_equal(ifm_event_encode(IFM_EVENT(cell_skipped, false, .cell = "a", .reason = "r"), &line, &error),
                     IFM_INTERNAL);
    assert_null(line);
    assert_facts(error.message, "\"cell_skipped\"|\"remedy\"");
    struct ifm_event_calibrate facts = IFM_BLANK(calibrate);
    facts.cell = "a";
    assert_int_equal(ifm_event_encode(IFM_EVENT_OF(calibrate, true, &facts), &line, &error), IFM_INTERNAL);
    assert_int_equal(ifm_event_encode(IFM_EVENT(cell_done, true, .cell = "\xff"), &line, &error), IFM_INTERNAL);
}

/* What is unknown is null, or left out, as the table says. */
static void what_is_unknown_is_null_or_left_out(void **state)
{
    (void)state;
    struct ifm_event_converge none = IFM_BLANK(converge);
    json_t *load = line_of(IFM_EVENT(load, true, .when = "before", .foreign_load = NAN));
    assert_true(json_is_null(json_object_get(json_object_get(load, "meta"), "foreign_load")));
    json_decref(load);
    none.cell = "a";
    none.reason = "no sensor";
    json_t *gate = line_of(IFM_EVENT_OF(converge, true, &none));
    assert_int_equal(json_object_size(json_object_get(gate, "meta")), 2); /* without an arm no level is missing */
    json_decref(gate);
}

static void facts_of_a_device_are_what_no_field_names(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    json_t *json = json_loads("[" LINE("device", "\"gpu\": \"H200\", \"l2_bytes\": 5, \"cell\": \"a\"") "]", 0, NULL);
    const struct ifm_event *event = ifm_events_next(events_of(json, arena), IFM_STAGE_device, "a", NULL, NULL);
    assert_int_equal(json_object_size(IFM_FACTS(event, device)->facts), 2);
    struct ifm_event other = *event;
    assert_true(ifm_event_equal(event, &other));
    other.ok = false;
    assert_false(ifm_event_equal(event, &other));
    json_decref(json);
    ifm_arena_destroy(arena);
}

/* ---- docs/maintain/journal.md ---- */

/* "`a`, `b`" of the names between backquotes. */
static void list_quoted(const char *from, const char *to, struct ifm_text *out)
{
    for (const char *open = memchr(from, '`', (size_t)(to - from)); open != NULL && open < to;) {
        const char *close = memchr(open + 1, '`', (size_t)(to - open - 1));
        assert_non_null(close);
        ifm_text_printf(out, "%s%.*s", out->size > 0 ? " " : "", (int)(close - open - 1), open + 1);
        open = memchr(close + 1, '`', (size_t)(to - close - 1));
    }
}

static void expect_documented(const char *text, const struct ifm_event_row *row)
{
    static const char *const repeats[] = {[IFM_REPEAT_once_a_run] = "once a run",
                                          [IFM_REPEAT_once_a_session] = "once a session",
                                          [IFM_REPEAT_at_both_ends] = "at both ends",
                                          [IFM_REPEAT_once_a_cell] = "once",
                                          [IFM_REPEAT_each] = "each"};
    struct ifm_text begin = {0}, fields = {0}, wanted = {0}, repeat = {0};
    ifm_text_printf(&begin, "\n| `%s` | ", row->name);
    const char *at = strstr(text, begin.data);
    if (at == NULL)
        fail_msg("docs/maintain/journal.md has no row for the stage %s", row->name);
    at += begin.size;
    const char *end = strstr(at, " | ");
    assert_non_null(end);
    list_quoted(at, end, &fields);
    for (size_t i = 0; i < row->n_fields; i++)
        ifm_text_printf(&wanted, "%s%s", i > 0 ? " " : "", row->fields[i].name);
    if (strcmp(fields.data, wanted.data) != 0)
        fail_msg("docs/maintain/journal.md gives stage %s the fields\n%s\nand the table\n%s", row->name, fields.data,
                 wanted.data);
    ifm_text_printf(&repeat, " | %s | ", repeats[row->repeat]);
    if (strncmp(end, repeat.data, repeat.size) != 0)
        fail_msg("docs/maintain/journal.md does not say of stage %s:%s", row->name, repeat.data);
    ifm_text_free(&begin);
    ifm_text_free(&fields);
    ifm_text_free(&wanted);
    ifm_text_free(&repeat);
}

static void journal_md_lists_every_stage_and_field_and_no_other(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    char *text;
    size_t size, rows = 0;
    assert_int_equal(ifm_file_read("docs/maintain/journal.md", 1 << 20, &text, &size, &error), IFM_OK);
    char *section = strstr(text, "\n| stage | `meta` | how often | when |\n");
    assert_non_null(section);
    char *end = strstr(section, "\n\n");
    *end = '\0';
    for (const char *at = strstr(section, "\n| `"); at != NULL; at = strstr(at + 1, "\n| `"))
        rows++;
    assert_int_equal(rows, IFM_STAGE_COUNT - 1);
    for (int stage = 1; stage < IFM_STAGE_COUNT; stage++)
        expect_documented(section, &ifm_event_rows[stage]);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_what_is_read),
        cmocka_unit_test(a_field_that_is_missing_or_wrong_is_refused_by_its_name),
        cmocka_unit_test(messages_say_what_is_needed),
        cmocka_unit_test(what_is_not_known_is_kept_and_left_alone),
        cmocka_unit_test(events_are_found_by_stage_cell_and_arm),
        cmocka_unit_test(a_restarted_cell_forgets_what_was_said_of_its_record),
        cmocka_unit_test(what_stands_once_is_refused_twice),
        cmocka_unit_test(a_fact_that_is_not_set_is_not_written),
        cmocka_unit_test(what_is_unknown_is_null_or_left_out),
        cmocka_unit_test(facts_of_a_device_are_what_no_field_names),
        cmocka_unit_test(journal_md_lists_every_stage_and_field_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
