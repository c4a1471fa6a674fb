/* What people are told to type begins with the program as they called it; nothing else does. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/called.h"
#include "base/text.h"
#include <string.h>

static bool is_command(const char *word)
{
    return strcmp(word, "report") == 0 || strcmp(word, "lock") == 0;
}

static void a_command_is_typed_as_the_program_was_called(void **state)
{
    (void)state;
    static const struct {
        const char *called, *text, *typed;
    } rows[] = {
        {NULL, "inferometer report runs/x", "inferometer report runs/x"},
        {"", "inferometer report runs/x", "inferometer report runs/x"},
        {"inferometer", "inferometer report runs/x", "inferometer report runs/x"},
        {"build/inferometer", "1 warning: inferometer report runs/x --verbose",
         "1 warning: build/inferometer report runs/x --verbose"},
        {"build/inferometer", "`inferometer lock` or (inferometer report x), inferometer lock",
         "`build/inferometer lock` or (build/inferometer report x), build/inferometer lock"},
        {"build/inferometer", "use the version of inferometer that wrote it; libinferometer report",
         "use the version of inferometer that wrote it; libinferometer report"},
        {"build/inferometer", "build/inferometer report, another-inferometer lock, inferometer",
         "build/inferometer report, another-inferometer lock, inferometer"},
        {"build/inferometer",
         "unknown command \"inferometer lock\": inferometer lock; `inferometer exec 'inferometer lock'`",
         "unknown command \"inferometer lock\": build/inferometer lock; `inferometer exec 'inferometer lock'`"},
        {"build/inferometer", "did you mean `inferometer report 'inferometer lock'`, not \"an inferometer lock\"?",
         "did you mean `build/inferometer report 'inferometer lock'`, not \"an inferometer lock\"?"},
        {"/my tools/inferometer", "inferometer lock", "'/my tools/inferometer' lock"},
        {"it's/inferometer", "inferometer lock", "'/my tools/inferometer' lock"}, /* not quotable: as before */
    };
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ifm_called_set(rows[i].called, is_command);
        assert_string_equal(ifm_text_typed(rows[i].text, arena), rows[i].typed);
    }
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_command_is_typed_as_the_program_was_called)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
