/* run.log: whole lines, one run at a time, torn tails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "sample/journal.h"
#include "sample_folder.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#define LOG "run.log"

static void add(struct ifm_journal *journal, const struct ifm_event *event)
{
    struct ifm_error error = {0};
    if (ifm_journal_add(journal, event, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

static struct ifm_journal *open_journal(struct folder *folder)
{
    struct ifm_journal *journal;
    struct ifm_error error = {0};
    assert_int_equal(ifm_journal_open(folder->path, &journal, &error), IFM_OK);
    return journal;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_journal *journal = open_journal(&folder);
    const struct ifm_events *events;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    add(journal, IFM_EVENT(cell_start, true, .cell = "a"));
    add(journal, IFM_EVENT(interrupted, false, .reason = "two\nlines \"quoted\"", .where = "x"));
    ifm_journal_close(journal);
    journal = open_journal(&folder); /* a closed journal can be opened again, and goes on */
    add(journal, IFM_EVENT(cell_done, true, .cell = "a"));
    ifm_journal_close(journal);
    assert_int_equal(ifm_journal_read(folder.path, arena, &events, &error), IFM_OK);
    assert_int_equal(events->n, 3);
    const struct ifm_event *event = &events->items[1];
    assert_int_equal(event->stage, IFM_STAGE_interrupted);
    assert_false(event->ok);
    assert_int_equal(event->line, 2);
    assert_true(event->t_ns > 1500000000000000000);
    assert_string_equal(IFM_FACTS(event, interrupted)->reason, "two\nlines \"quoted\"");
    assert_string_equal(events->items[0].cell, "a");
    ifm_arena_destroy(arena);
    struct ifm_text text = folder_read(&folder, LOG);
    size_t lines = 0;
    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    assert_int_equal(lines, 3);
    assert_memory_equal(text.data, "{\"t_ns\":", 8);
    ifm_text_free(&text);
    folder_remove(&folder);
}

static void test_one_run_at_a_time(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_journal *first = open_journal(&folder), *second;
    struct ifm_error error = {0};
    const struct ifm_events *events;
    struct ifm_arena *arena = ifm_arena_create();
    add(first, IFM_EVENT(cell_start, true, .cell = "a"));
    assert_int_equal(ifm_journal_open(folder.path, &second, &error), IFM_USAGE);
    assert_null(second);
    assert_non_null(strstr(error.message, "another run"));
    assert_non_null(strstr(error.where, "run.log"));
    assert_int_equal(ifm_journal_read(folder.path, arena, &events, &error), IFM_OK); /* reading needs no lock */
    ifm_arena_destroy(arena);
    ifm_journal_close(first);
    second = open_journal(&folder);
    ifm_journal_close(second);
    ifm_journal_close(NULL);
    folder_remove(&folder);
}

/* A journal that is cut at any byte is read up to its last whole line, and goes on from there when it is opened. */
static void test_torn_at_every_byte(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_journal *journal = open_journal(&folder);
    struct ifm_error error = {0};
    for (int i = 0; i < 3; i++)
        add(journal, IFM_EVENT(processes, true, .cell = "a", .arm = "b", .started = i));
    ifm_journal_close(journal);
    struct ifm_text text = folder_read(&folder, LOG);
    for (size_t cut = 0; cut <= text.size; cut++) {
        const struct ifm_events *events;
        struct ifm_arena *arena = ifm_arena_create();
        size_t whole = 0;
        for (size_t i = 0; i < cut; i++)
            whole += text.data[i] == '\n';
        folder_write(&folder, LOG, text.data, cut);
        assert_int_equal(ifm_journal_read(folder.path, arena, &events, &error), IFM_OK);
        assert_int_equal(events->n, whole);
        journal = open_journal(&folder);
        add(journal, IFM_EVENT(cell_done, true, .cell = "a"));
        ifm_journal_close(journal);
        assert_int_equal(ifm_journal_read(folder.path, arena, &events, &error), IFM_OK);
        assert_int_equal(events->n, whole + 1);
        assert_int_equal(events->items[whole].stage, IFM_STAGE_cell_done);
        ifm_arena_destroy(arena);
    }
    ifm_text_free(&text);
    folder_remove(&folder);
}

static void test_bad_lines_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *facts;
    } cases[] = {
        {"", "JSON"},
        {"nonsense", "JSON"},
        {"[1]", "JSON object"},
        {"{\"t_ns\":1,\"stage\":\"a\",\"ok\":true}", "\"meta\"|missing"},
        {"{\"t_ns\":1.5,\"stage\":\"a\",\"ok\":true,\"meta\":{}}", "\"t_ns\"|real"},
        {"{\"t_ns\":1,\"stage\":7,\"ok\":true,\"meta\":{}}", "\"stage\"|integer"},
        {"{\"t_ns\":1,\"stage\":\"a\",\"ok\":1,\"meta\":{}}", "\"ok\"|integer"},
        {"{\"t_ns\":1,\"stage\":\"a\",\"ok\":true,\"meta\":[]}", "\"meta\"|array"},
        {"{\"t_ns\":1,\"stage\":\"cell_done\",\"ok\":true,\"meta\":{\"cell\":1}}", "\"cell\"|text"},
        {"{\"t_ns\":1,\"t_ns\":1,\"stage\":\"a\",\"ok\":true,\"meta\":{}}", "duplicate"},
    };
    static const char good[] = "{\"t_ns\":1,\"stage\":\"a\",\"ok\":true,\"meta\":{}}\n";
    struct folder folder = folder_make();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_text text = {0};
        struct ifm_error error = {0};
        const struct ifm_events *events;
        struct ifm_arena *arena = ifm_arena_create();
        ifm_text_printf(&text, "%s%s\n%s", good, cases[i].line, good);
        folder_write(&folder, LOG, text.data, text.size);
        ifm_text_free(&text);
        assert_int_equal(ifm_journal_read(folder.path, arena, &events, &error), IFM_INVALID);
        assert_null(events);
        ifm_arena_destroy(arena);
        assert_facts(error.where, "run.log:2");
        assert_facts(error.message, cases[i].facts);
    }
    folder_remove(&folder);
}

static void test_facts_that_cannot_be_written(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_journal *journal = open_journal(&folder);
    struct ifm_error error = {0};
    assert_int_equal(ifm_journal_add(journal, IFM_EVENT(cell_start, true, .cell = "\xff"), &error), IFM_INTERNAL);
    assert_int_equal(ifm_journal_add(journal, IFM_EVENT(cell_start, true, .cell = NULL), &error), IFM_INTERNAL);
    ifm_journal_close(journal);
    struct ifm_text text = folder_read(&folder, LOG);
    assert_int_equal(text.size, 0);
    ifm_text_free(&text);
    folder_remove(&folder);
}

/* A full disk: an error, and no half line stays. */
static void test_file_size_limit(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_journal *journal = open_journal(&folder);
    struct ifm_error error = {0};
    struct rlimit before, small;
    add(journal, IFM_EVENT(cell_start, true, .cell = "a"));
    struct ifm_text text = folder_read(&folder, LOG);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = text.size + 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum ifm_status status = ifm_journal_add(journal, IFM_EVENT(cell_start, true, .cell = "b"), &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, IFM_INTERNAL);
    assert_facts(error.message, strerror(EFBIG));
    folder_assert_holds(&folder, LOG, &text);
    add(journal, IFM_EVENT(cell_start, true, .cell = "c"));
    ifm_journal_close(journal);
    ifm_text_free(&text);
    folder_remove(&folder);
}

/* Reads the journal of these lines; returns the status, and whether its lines are chained. */
static enum ifm_status read_text(struct folder *folder, const char *text, size_t size, bool *chained,
                                 struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_events *events;
    folder_write(folder, LOG, text, size);
    enum ifm_status status = ifm_journal_read(folder->path, arena, &events, error);
    *chained = status == IFM_OK && events->chained;
    ifm_arena_destroy(arena);
    return status;
}

/* Each line holds the hash of the one before it: one that is changed, gone or put in is found at the next one. */
static void test_chain_of_lines(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_journal *journal = open_journal(&folder);
    struct ifm_error error = {0};
    bool chained;
    add(journal, IFM_EVENT(cell_start, true, .cell = "a"));
    add(journal, IFM_EVENT(cell_start, true, .cell = "b"));
    ifm_journal_close(journal);
    journal = open_journal(&folder); /* the chain goes on */
    add(journal, IFM_EVENT(cell_done, true, .cell = "a"));
    ifm_journal_close(journal);
    struct ifm_text text = folder_read(&folder, LOG);
    assert_int_equal(read_text(&folder, text.data, text.size, &chained, &error), IFM_OK);
    assert_true(chained);
    char *second = strchr(text.data, '\n') + 1, *third = strchr(second, '\n') + 1;
    char *name = strstr(second, "\"b\"");
    name[1] = 'c';
    assert_int_equal(read_text(&folder, text.data, text.size, &chained, &error), IFM_INVALID);
    assert_non_null(strstr(error.where, LOG ":3"));
    name[1] = 'b';
    assert_int_equal(read_text(&folder, second, text.size - (size_t)(second - text.data), &chained, &error),
                     IFM_INVALID);
    memmove(second, third, text.size - (size_t)(third - text.data));
    assert_int_equal(read_text(&folder, text.data, text.size - (size_t)(third - second), &chained, &error),
                     IFM_INVALID);
    ifm_text_free(&text);
    static const char older[] = "{\"t_ns\":1,\"stage\":\"cell_start\",\"ok\":true,\"meta\":{\"cell\":\"a\"}}\n";
    assert_int_equal(read_text(&folder, older, sizeof older - 1, &chained, &error), IFM_OK);
    assert_false(chained);
    folder_remove(&folder);
}

static void test_missing(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    struct ifm_journal *journal;
    const struct ifm_events *events;
    struct ifm_arena *arena = ifm_arena_create();
    assert_int_equal(ifm_journal_read("/nowhere/at/all", arena, &events, &error), IFM_USAGE);
    assert_null(events);
    ifm_arena_destroy(arena);
    assert_int_equal(ifm_journal_open("/nowhere/at/all", &journal, &error), IFM_USAGE);
    assert_null(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_one_run_at_a_time),
        cmocka_unit_test(test_torn_at_every_byte),
        cmocka_unit_test(test_bad_lines_are_refused),
        cmocka_unit_test(test_facts_that_cannot_be_written),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_chain_of_lines),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
