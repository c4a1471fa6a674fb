/* Words of a command line: what a shell would make of them, and what only a shell could. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "workload/command/words.h"
#include <string.h>

/* The words of `text` joined by "|". */
static const char *joined(const char *text, struct ifm_arena *arena)
{
    struct ifm_words words = ifm_words_split(text, arena);
    const char *out = "";
    assert_int_equal(words.fault, IFM_WORDS_OK);
    assert_non_null(words.items);
    for (size_t i = 0; i < words.n; i++)
        out = ifm_arena_printf(arena, "%s%s%s", out, i > 0 ? "|" : "", words.items[i]);
    assert_null(words.items[words.n]);
    return out;
}

/* Expected words are what dash 0.5.12 prints for: printf '%s|' TEXT. */
static void words_are_those_of_a_shell(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"ls", "ls"},
        {"  ls \t -l  ", "ls|-l"},
        {"a 'b c' d", "a|b c|d"},
        {"a \"b c\" d", "a|b c|d"},
        {"a b\\ c", "a|b c"},
        {"a ''", "a|"},
        {"a \"\" b", "a||b"},
        {"pre'mid dle'\"post\"", "premid dlepost"},
        {"a 'x\\y' \"x\\y\"", "a|x\\y|x\\y"},
        {"a \"x\\\\y\\\"z\\$HOME\\`\"", "a|x\\y\"z$HOME`"},
        {"a '$HOME|*?'", "a|$HOME|*?"},
        {"a \\$ \\| \\*", "a|$|||*"},
        {"a b\\\nc \"d\\\ne\"", "a|bc|de"},
        {"a x~ b#c -k=v", "a|x~|b#c|-k=v"},
        {"\xc3\xa9t\xc3\xa9 'na\xc3\xafve'", "\xc3\xa9t\xc3\xa9|na\xc3\xafve"},
    };
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(joined(cases[i][0], arena), cases[i][1]);
    ifm_arena_destroy(arena);
}

static void what_cannot_be_split_is_named_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ifm_words_fault fault;
        size_t at;
        char what;
    } cases[] = {
        {"", IFM_WORDS_EMPTY, 1, '\0'},
        {" \t ", IFM_WORDS_EMPTY, 4, '\0'},
        {"'' a", IFM_WORDS_EMPTY, 1, '\''},
        {"echo 'x", IFM_WORDS_UNBALANCED, 6, '\''},
        {"echo \"x", IFM_WORDS_UNBALANCED, 6, '"'},
        {"echo \"x\\", IFM_WORDS_UNBALANCED, 6, '"'},
        {"echo x\\", IFM_WORDS_UNBALANCED, 7, '\\'},
        {"ls | wc", IFM_WORDS_SHELL, 4, '|'},
        {"ls > x", IFM_WORDS_SHELL, 4, '>'},
        {"ls < x", IFM_WORDS_SHELL, 4, '<'},
        {"ls & ", IFM_WORDS_SHELL, 4, '&'},
        {"ls; ls", IFM_WORDS_SHELL, 3, ';'},
        {"ls $HOME", IFM_WORDS_SHELL, 4, '$'},
        {"ls \"$HOME\"", IFM_WORDS_SHELL, 5, '$'},
        {"ls `x`", IFM_WORDS_SHELL, 4, '`'},
        {"ls \"`x`\"", IFM_WORDS_SHELL, 5, '`'},
        {"ls *.c", IFM_WORDS_SHELL, 4, '*'},
        {"ls a?", IFM_WORDS_SHELL, 5, '?'},
        {"(ls)", IFM_WORDS_SHELL, 1, '('},
        {"ls\nls", IFM_WORDS_SHELL, 3, '\n'},
        {"ls ~/x", IFM_WORDS_SHELL, 4, '~'},
        {"ls #x", IFM_WORDS_SHELL, 4, '#'},
        {"A_1=b ls", IFM_WORDS_SHELL, 4, '='},
    };
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_words words = ifm_words_split(cases[i].text, arena);
        struct ifm_error error = {0};
        assert_int_equal(words.fault, cases[i].fault);
        assert_int_equal(words.at, cases[i].at);
        assert_int_equal(words.what, cases[i].what);
        assert_null(words.items);
        assert_int_equal(ifm_words_fail(&words, "here", &error), IFM_USAGE);
        assert_string_equal(error.where, "here");
        assert_true(error.hint[0] != '\0');
        assert_true(cases[i].fault != IFM_WORDS_SHELL || strstr(error.hint, "--shell") != NULL);
    }
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_a_shell),
        cmocka_unit_test(what_cannot_be_split_is_named_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
