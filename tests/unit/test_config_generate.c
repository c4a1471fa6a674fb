/* What is generated from the tables: checked by the tools that read it, where they are installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "config/generate.h"
#include "config_sample.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ifm_section *const all[] = {&ifm_section_general, &ifm_section_device, &ifm_section_measure,
                                                &sample_decode,       &sample_copy,        NULL};
static const struct ifm_section *const one[] = {&sample_decode, NULL};

static const struct ifm_option run_options[] = {
    {"config", 'c', "FILE", NULL, "Read this configuration; it's YAML, or a lock file"},
    {"out", '\0', "DIR", NULL, "Folder of the run [default: runs/ID]"},
    {"override", '\0', "PATH=VALUE", NULL, "Set one parameter"},
    {"format", '\0', "WORD", "table|md|csv", "Form of the result"},
    {"dry-run", '\0', NULL, NULL, "Print the plan and a time estimate: nothing runs"},
};
static const struct ifm_command commands[] = {
    {"run", "[-c FILE] [options]", "Measure a study", run_options, 5, all},
    {"explain", "METRIC", "Say what a metric means, \"in full\" \\ with limits", NULL, 0, NULL},
    {"decode", "[options]", "Measure decode", run_options, 5, one},
};
static const struct ifm_program program = {
    .name = "inferometer",
    .purpose = "measure LLM inference",
    .version = "0.1.0",
    .date = "November 21, 2026",
    .about =
        ".hidden words and 'quotes' must not become requests. It measures, decides, and refuses to print a number.",
    .commands = commands,
    .n_commands = 3,
    .sections = all,
};

static bool has_program(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* Run `command` on a file with this text; its output must be empty and its status 0. */
static void expect_clean(const char *command, const struct ifm_text *text)
{
    char name[] = "/tmp/ifm_generate_XXXXXX", line[512], output[1024];
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    close(fd);
    struct ifm_error error = {0};
    assert_int_equal(ifm_file_write_atomic(name, text->data, text->size, &error), IFM_OK);
    snprintf(line, sizeof line, "%s %s 2>&1", command, name);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t n = fread(output, 1, sizeof output - 1, pipe);
    output[n] = '\0';
    int status = pclose(pipe);
    unlink(name);
    assert_string_equal(output, "");
    assert_int_equal(status, 0);
}

static void help_describes_every_row(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "One query token over a cache (decode):\n",
        "  --kv-len N[,..]           Tokens in the cache of each sequence (tokens; default 4096;\n"
        "                            1 .. 1048576)\n",
        "  --layout split|paged[,..]\n                            Layout of the cache (default split)\n",
        "  --[no-]check              Compare with the oracle (default true)\n",
        "  --pause TIME              Pause between steps (default 0; 0 .. 1 s)\n",
        "  --label TEXT              A word for the reader\n",
        " --override:\n"
        "  decode.scale=X[,..]       Scale of the scores (default 0.125; any number)\n",
    };
    struct ifm_text out = {0};
    ifm_generate_help(one, &out);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(strstr(out.data, lines[i]));
    ifm_text_free(&out);
}

static void help_is_at_most_100_columns_wide(void **state)
{
    (void)state;
    struct ifm_text out = {0};
    ifm_generate_help(all, &out);
    ifm_generate_options(run_options, 5, &out);
    for (const char *line = out.data; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    assert_non_null(strstr(out.data, "  -c, --config FILE         Read this configuration"));
    assert_non_null(strstr(out.data, "  --format table|md|csv     Form of the result\n"));
    ifm_text_free(&out);
}

static void the_manual_passes_lint(void **state)
{
    (void)state;
    struct ifm_text out = {0};
    ifm_generate_man(&program, &out);
    assert_non_null(strstr(out.data, ".It Fl -kv-len Ar \\&N[,..]\n"));
    assert_non_null(strstr(out.data, "\n\\&.hidden words"));
    for (size_t i = 0; all[i] != NULL; i++)
        for (size_t j = 0; j < all[i]->n; j++)
            assert_non_null(strstr(out.data, all[i]->rows[j].path));
    if (has_program("mandoc"))
        expect_clean("mandoc -T lint -W warning", &out);
    ifm_text_free(&out);
}

static void completions_are_valid_scripts(void **state)
{
    (void)state;
    static const struct {
        void (*generate)(const struct ifm_program *program, struct ifm_text *out);
        const char *shell, *check;
    } shells[] = {{ifm_generate_bash, "bash", "bash -n"},
                  {ifm_generate_zsh, "zsh", "zsh -n"},
                  {ifm_generate_fish, "fish", "fish -n"}};
    for (size_t i = 0; i < 3; i++) {
        struct ifm_text out = {0};
        shells[i].generate(&program, &out);
        assert_non_null(strstr(out.data, "kv-len"));
        assert_non_null(strstr(out.data, "decode copy_test"));
        assert_non_null(strstr(out.data, "split paged"));
        if (has_program(shells[i].shell))
            expect_clean(shells[i].check, &out);
        ifm_text_free(&out);
    }
}

/* Load the completion in bash and ask it. */
static void expect_bash(const char *words, int index, const char *expected)
{
    struct ifm_text out = {0};
    ifm_generate_bash(&program, &out);
    ifm_text_printf(&out,
                    "compopt() { :; }\nCOMP_WORDS=(%s)\nCOMP_CWORD=%d\n_inferometer\n"
                    "[ \"${COMPREPLY[*]}\" = '%s' ] || echo \"${COMPREPLY[*]}\"\n",
                    words, index, expected);
    expect_clean("bash", &out);
    ifm_text_free(&out);
}

static void bash_completes(void **state)
{
    (void)state;
    if (!has_program("bash"))
        skip();
    expect_bash("inferometer ''", 1, "run explain decode --help --version");
    expect_bash("inferometer run --device ''", 3, "cpu cuda fake");
    expect_bash("inferometer run --workload ''", 3, "decode copy_test");
    expect_bash("inferometer run --override measure.ca", 3, "measure.cap= measure.cache=");
    expect_bash("inferometer decode --kv", 2, "--kv-len --kv-heads");
    expect_bash("inferometer decode --no-", 2, "--no-check");
    expect_bash("inferometer run --seed ''", 3, "");
}

static const json_t *property(const json_t *schema, const char *name)
{
    return json_object_get(json_object_get(schema, "properties"), name);
}

static void the_schema_follows_the_tables(void **state)
{
    (void)state;
    struct ifm_text out = {0};
    struct ifm_error error = {0};
    json_t *schema;
    ifm_generate_schema(all, &out);
    assert_int_equal(ifm_json_parse(out.data, out.size, "schema", &schema, &error), IFM_OK);
    for (size_t i = 0; all[i] != NULL; i++)
        for (size_t j = 0; j < all[i]->n; j++)
            assert_non_null(property(schema, all[i]->rows[j].path));
    const json_t *kv_len = property(property(schema, "decode"), "kv_len");
    assert_int_equal(json_integer_value(json_object_get(kv_len, "default")), 4096);
    const json_t *value = json_array_get(json_object_get(kv_len, "anyOf"), 0);
    assert_int_equal(json_integer_value(json_object_get(value, "minimum")), 1);
    assert_int_equal(json_integer_value(json_object_get(value, "maximum")), 1048576);
    const json_t *kind = property(property(schema, "copy_test"), "kind");
    assert_int_equal(json_array_size(json_object_get(kind, "default")), 2);
    const json_t *gate = json_object_get(property(schema, "gates"), "items");
    assert_int_equal(json_array_size(json_object_get(gate, "required")), 3);
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    json_decref(schema);
    ifm_text_free(&out);
}

static void the_tables_become_markdown(void **state)
{
    (void)state;
    struct ifm_text out = {0};
    ifm_generate_markdown(all, &out);
    assert_non_null(strstr(out.data, "\n## `decode`: one query token over a cache\n"));
    assert_non_null(strstr(out.data, "| `decode.kv_len` | `--kv-len` | whole number, tokens; sweepable | `4096` | "
                                     "1 .. 1048576 | Tokens in the cache of each sequence |\n"));
    assert_non_null(strstr(out.data, "| `threshold` |  | number | required | any number | "));
    ifm_text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_describes_every_row),
        cmocka_unit_test(help_is_at_most_100_columns_wide),
        cmocka_unit_test(the_manual_passes_lint),
        cmocka_unit_test(completions_are_valid_scripts),
        cmocka_unit_test(bash_completes),
        cmocka_unit_test(the_schema_follows_the_tables),
        cmocka_unit_test(the_tables_become_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
