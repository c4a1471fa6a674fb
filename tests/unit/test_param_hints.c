/* What an error about a number suggests is accepted: every numeric row of every table, with numbers that are too large
 * or too small, written as others write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/param.h"
#include "config/config.h"
#include "workload/workload.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const spellings[] = {
    "1e9", "1e3",        "2e1",   "1.5",   "0.5",    "1e300", "4k",    "1K",      "999k",
    "8M",  "1G",         "4,096", "1,000", "0,000",  "-1",    "-0.5",  "150%",    "99",
    "100", "1000000000", "2h",    "2ms",   "5 days", "1kHz",  "12KiB", "nan",     "inf",
    "",    "0",          "0x10",  "1_0",   "1e-9",   "ten",   "7",     "999,999", "99999999999999999999",
};

static unsigned long n_suggested;

static bool accepts(const struct ifm_param *row, const char *text, struct ifm_arena *arena)
{
    union {
        uint64_t whole;
        double real;
    } field;
    struct ifm_error error;
    return ifm_param_parse(row, text, "w", arena, &field, &error) == IFM_OK;
}

/* Words of a hint that begin with a digit are values to be typed, but for "(8 x 1024)" and "3 per cent". */
static void check_hint(const struct ifm_param *row, const char *typed, const char *hint, struct ifm_arena *arena)
{
    for (const char *at = hint; *at != '\0';) {
        size_t n = strcspn(at, " ,?;)");
        const char *value = ifm_arena_printf(arena, "%.*s", (int)n, at);
        const bool told = strncmp(at + n, " per cent", 9) == 0;
        if (*at == '(')
            n = strcspn(at, ")");
        else if (isdigit((unsigned char)*at) && !told) {
            n_suggested++;
            if (!accepts(row, value, arena))
                fail_msg("%s: '%s' is told: %s; and %s is not accepted", row->path, typed, hint, value);
        }
        at += n;
        at += strspn(at, " ,?;)");
    }
}

static void try_rows(const struct ifm_section *section, unsigned *tried, struct ifm_arena *arena)
{
    for (size_t r = 0; r < section->n; r++) {
        const struct ifm_param *row = &section->rows[r];
        const bool number = row->type == IFM_TYPE_U64 || row->type == IFM_TYPE_F64 || row->type == IFM_TYPE_BYTES ||
                            row->type == IFM_TYPE_SECONDS;
        if (!number || (row->flags & IFM_LIST) != 0)
            continue;
        ++*tried;
        for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++) {
            uint64_t field[2];
            struct ifm_error error = {0};
            if (ifm_param_parse(row, spellings[s], "w", arena, field, &error) != IFM_OK)
                check_hint(row, spellings[s], error.hint, arena);
        }
    }
}

static void suggestions_are_accepted(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    unsigned tried = 0;
    try_rows(&ifm_section_general, &tried, arena);
    try_rows(&ifm_section_device, &tried, arena);
    try_rows(&ifm_section_measure, &tried, arena);
    for (size_t w = 0; ifm_workloads[w] != NULL; w++)
        try_rows(ifm_workloads[w]->params, &tried, arena);
    assert_true(tried > 40);
    assert_true(n_suggested > 400);
    ifm_arena_destroy(arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(suggestions_are_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
