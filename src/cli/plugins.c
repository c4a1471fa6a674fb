/* Plugins on the command line: --plugin, the key `plugin` of a configuration file, and the words that are taken.
 *
 * They are loaded before anything else is parsed: their tables are flags, keys and help. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/json.h"
#include "instrument/instrument.h"
#include "story/folder.h"
#include <string.h>

enum { WORDS_MOST = 512 };

/* ---- words that are taken ---- */

static const struct ifm_verb *commands;             /* the table, which ends with a NULL name */
static bool inprocess;                              /* --inprocess was given */
static const char *given[4 * IFM_PLUGINS_MOST + 1]; /* "--plugin", FILE, ...: as the command line has them; then NULL */

struct words {
    const char *items[WORDS_MOST + 1]; /* NULL-terminated */
    size_t n;
};

static void add_word(struct words *words, const char *word)
{
    if (word != NULL && words->n < WORDS_MOST)
        words->items[words->n++] = word;
}

/* The first parts of keys, and the flags, that every run has. */
static void add_section(struct words *names, struct words *flags, const struct ifm_section *section,
                        struct ifm_arena *arena)
{
    add_word(names, section->name);
    for (size_t i = 0; i < section->n; i++) {
        const char *path = section->rows[i].path;
        add_word(names, ifm_arena_printf(arena, "%.*s", (int)strcspn(path, "."), path));
        add_word(flags, section->rows[i].flag);
    }
}

static void list_columns(struct words *columns)
{
    static const char *const own[] = {"block", "phase", "arm", "samples", "inner", "start_ns", "end_ns"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        add_word(columns, own[i]);
    for (size_t i = 0; ifm_instruments[i] != NULL; i++)
        for (size_t c = 0; c < ifm_instruments[i]->n_columns; c++)
            add_word(columns, ifm_instruments[i]->columns[c].id);
}

/* The words that a plugin may not use, in the arena. */
static struct ifm_plugin_taken list_taken(struct ifm_arena *arena)
{
    static const struct ifm_section *const common[] = {&ifm_section_general, &ifm_section_device, &ifm_section_measure,
                                                       &ifm_section_arm, &ifm_section_gate};
    struct words *names = IFM_ARENA_NEW(arena, struct words), *flags = IFM_ARENA_NEW(arena, struct words),
                 *columns = IFM_ARENA_NEW(arena, struct words);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        add_section(names, flags, common[i], arena);
    add_word(names, "plugin");
    for (const struct ifm_verb *verb = commands; verb->name != NULL; verb++) {
        add_word(names, verb->name);
        for (size_t i = 0; i < verb->n_options; i++)
            add_word(flags, verb->options[i].flag);
    }
    list_columns(columns);
    return (struct ifm_plugin_taken){names->items, flags->items, columns->items};
}

static enum ifm_status load(const char *path, struct ifm_error *error)
{
    IFM_TRY(ifm_supervise(inprocess, given, error));
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_plugin_taken taken = list_taken(arena);
    enum ifm_status status = ifm_plugin_load(path, &taken, NULL, error);
    ifm_arena_destroy(arena);
    return status;
}

/* Does the lock file of the run in `dir` name any? What is wrong with the file is said by who reads it for that. */
static bool names_plugins(const char *dir, struct ifm_arena *arena)
{
    json_t *lock = NULL;
    bool any = ifm_json_read(ifm_path_join(arena, dir, "config.lock.json"), &lock, NULL) == IFM_OK &&
               json_array_size(json_object_get(lock, "plugins")) > 0;
    json_decref(lock);
    return any;
}

enum ifm_status ifm_plugins_again(const char *dir, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_plugin_taken taken = list_taken(arena);
    enum ifm_status status = names_plugins(dir, arena) ? ifm_supervise(inprocess, given, error) : IFM_OK;
    if (status == IFM_OK)
        status = ifm_plugins_of_folder(dir, &taken, error);
    ifm_arena_destroy(arena);
    return status;
}

/* ---- the command line ---- */

/* The value of `argv[i]` as the flag `--name`, and how many arguments it takes; NULL when it is another argument. */
static const char *flag_value(int argc, char **argv, int i, const char *name, int *used)
{
    size_t length = strlen(name);
    *used = 1;
    if (strncmp(argv[i], "--", 2) != 0 || strncmp(argv[i] + 2, name, length) != 0)
        return NULL;
    const char *rest = argv[i] + 2 + length;
    if (rest[0] == '=')
        return rest + 1;
    if (rest[0] != '\0' || i + 1 >= argc)
        return NULL;
    *used = 2;
    return argv[i + 1];
}

static bool takes_plugins(const char *command)
{
    const struct ifm_verb *verb = commands;
    while (verb->name != NULL && strcmp(verb->name, command) != 0)
        verb++;
    bool takes = verb->name == NULL; /* may be the name of a plugin */
    for (size_t i = 0; i < verb->n_options; i++)
        takes |= strcmp(verb->options[i].flag, "plugin") == 0;
    return takes;
}

/* The first argument that no --plugin takes. */
static const char *command_of(int argc, char **argv)
{
    int used;
    for (int i = 1; i < argc; i += used)
        if (flag_value(argc, argv, i, "plugin", &used) == NULL)
            return argv[i];
    return "";
}

/* Note each `--plugin FILE`, for a process that goes on with the run. */
static void note_flags(int argc, char **argv)
{
    size_t n = 0;
    for (int i = 1, used; i < argc; i += used) {
        const char *path = flag_value(argc, argv, i, "plugin", &used);
        if (path == NULL || n + 2 >= sizeof given / sizeof *given)
            continue;
        given[n++] = "--plugin";
        given[n++] = path;
    }
}

static void take_inprocess(int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--inprocess") == 0)
            inprocess = true;
        else
            argv[kept++] = argv[i];
    *argc = kept;
    argv[kept] = NULL;
}

static enum ifm_status take_flags(int *argc, char **argv, struct ifm_error *error)
{
    int kept = 1, used;
    for (int i = 1; i < *argc; i += used) {
        const char *path = flag_value(*argc, argv, i, "plugin", &used);
        if (path == NULL && strcmp(argv[i], "--plugin") == 0)
            return ifm_fail(error, IFM_USAGE, "", "--plugin takes the path of a shared object",
                            "--plugin needs a value");
        if (path == NULL)
            argv[kept++] = argv[i];
        else
            IFM_TRY(load(path, error));
    }
    *argc = kept;
    argv[kept] = NULL;
    return IFM_OK;
}

static enum ifm_status take_files(int argc, char **argv, struct ifm_arena *arena, struct ifm_error *error)
{
    for (int i = 1, used; i < argc; i += used) {
        const char *file = flag_value(argc, argv, i, "config", &used);
        if (file == NULL && strcmp(argv[i], "-c") == 0 && i + 1 < argc) {
            file = argv[i + 1];
            used = 2;
        }
        if (file == NULL)
            continue;
        struct ifm_list paths = ifm_config_plugins(file, arena);
        for (size_t p = 0; p < paths.n; p++)
            IFM_TRY(load(paths.items[p], error));
    }
    return IFM_OK;
}

enum ifm_status ifm_plugins_take(const struct ifm_verb *verbs, int *argc, char **argv, struct ifm_error *error)
{
    commands = verbs;
    if (!takes_plugins(command_of(*argc, argv)))
        return IFM_OK;
    take_inprocess(argc, argv);
    note_flags(*argc, argv);
    IFM_TRY(take_flags(argc, argv, error));
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = take_files(*argc, argv, arena, error);
    ifm_arena_destroy(arena);
    return status;
}
