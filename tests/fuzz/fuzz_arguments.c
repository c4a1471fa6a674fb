/* Lines as the words of a command line, the first one a workload or "run": one error, or a configuration that resolves
 * to itself through its lock file, or the words and flags of a command that takes no parameters. */
#include "base/log.h"
#include "cli/cli.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WORDS = 64 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_lock(const struct ifm_config *config)
{
    struct ifm_config *again = ifm_story_config();
    struct ifm_text text = {0};
    json_t *lock = ifm_config_lock_json(config);
    ifm_json_print(lock, true, &text);
    must(ifm_config_lock(again, text.data, text.size, "lock", NULL) == IFM_OK);
    must(ifm_config_resolve(again, NULL) == IFM_OK);
    must(strcmp(ifm_config_study(config)->config_hash, ifm_config_study(again)->config_hash) == 0);
    json_decref(lock);
    ifm_text_free(&text);
    ifm_config_destroy(again);
}

static void read_options(int argc, char **argv)
{
    const char *items[MOST_WORDS], *names[MOST_WORDS];
    for (int kind = 0; kind < 5; kind++) { /* run and quick forms, exec, derive, judge with a folder, ci */
        struct ifm_positionals positionals = {.items = items, .names = names};
        struct ifm_ci ci = {0};
        struct ifm_config *config = kind < 2 || kind == 4 ? ifm_story_config() : NULL;
        struct ifm_options options = {.workload = strcmp(argv[0], "run") == 0 ? NULL : argv[0]};
        struct ifm_error error = {0};
        options.positionals = kind == 1 || kind == 4 ? &positionals : NULL;
        options.ci = kind == 4 ? &ci : NULL;
        enum ifm_status status = ifm_options_parse(argc, argv, kind == 3, config, &options, &error);
        if (status == IFM_OK && config != NULL) {
            status = ifm_config_resolve(config, &error);
            if (status == IFM_OK)
                check_lock(config);
        }
        must(status == IFM_OK || error.message[0] != '\0');
        must(positionals.n + positionals.n_names <= (size_t)argc);
        ifm_config_destroy(config);
    }
}

static void read_words(int argc, char **argv)
{
    static const char *const commands[] = {"gate", "lock"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ifm_given given = {.arena = ifm_arena_create(), .verb = ifm_verb_find(commands[i])};
        struct ifm_error error = {0};
        enum ifm_status status = ifm_arguments_parse(argc, argv, &given, &error);
        must(given.n_words < (size_t)argc || argc == 1);
        must(given.command == NULL || given.verb->takes_command);
        must(status == IFM_OK || (status == IFM_USAGE && error.message[0] != '\0'));
        ifm_arena_destroy(given.arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *argv[MOST_WORDS + 1];
    int argc = 0;
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    ifm_log_quiet(true);
    while (rest != NULL && argc < MOST_WORDS)
        argv[argc++] = strsep(&rest, "\n");
    argv[argc] = NULL;
    read_options(argc, argv);
    read_words(argc, argv);
    free(text);
    return 0;
}
