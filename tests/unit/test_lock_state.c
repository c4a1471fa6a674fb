/* The one rule for the state of the locks, on journals as run writes them. */
#include "model/machine_facts.h"
#include "unit/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static enum ifm_lock_state state_of(const char *text)
{
    json_t *events = json_loads(text, 0, NULL);
    assert_non_null(events);
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_lock_state state = ifm_lock_state(events_of(events, arena));
    ifm_arena_destroy(arena);
    json_decref(events);
    return state;
}

#define LOCKS(knobs) "{\"stage\": \"locks\", \"meta\": {\"when\": \"before\", \"knobs\": " knobs "}}"
#define KNOBS(before, after)                                                                                           \
    "[" LOCKS("[{\"knob\": \"turbo\", \"reason\": \"\", \"locked\": " before                                           \
              "}]") ", " LOCKS("[{\"knob\": \"turbo\", \"reason\": \"\", \"locked\": " after "}]") "]"

static void held_only_when_every_reading_was(void **state)
{
    (void)state;
    assert_int_equal(state_of(KNOBS("true", "true")), IFM_LOCK_HELD);
    assert_int_equal(state_of(KNOBS("true", "false")), IFM_LOCK_OPEN);
    assert_int_equal(state_of(KNOBS("false", "true")), IFM_LOCK_OPEN);
}

static void unknown_without_a_reading(void **state)
{
    (void)state;
    assert_int_equal(ifm_lock_state(NULL), IFM_LOCK_UNKNOWN);
    assert_int_equal(state_of("[]"), IFM_LOCK_UNKNOWN);
    assert_int_equal(state_of("[" LOCKS("[]") "]"), IFM_LOCK_UNKNOWN);
    assert_int_equal(
        state_of("[{\"stage\": \"load\", \"meta\": {\"when\": \"before\", \"knobs\": [{\"locked\": false}]}}]"),
        IFM_LOCK_UNKNOWN);
    assert_string_equal(ifm_lock_state_words(IFM_LOCK_UNKNOWN), "unknown");
    assert_string_equal(ifm_lock_state_words(IFM_LOCK_OPEN), "not locked");
    assert_string_equal(ifm_lock_state_words(IFM_LOCK_HELD), "locked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_only_when_every_reading_was),
        cmocka_unit_test(unknown_without_a_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
