/* What the programs of a cell are: the commands and hooks that were published (base/private.h), below the table. */
#include "document/build.h"

#include "base/private.h"
#include <string.h>

enum { MOST_IN_BRIEF = 6 };

static const char *published(const struct ifm_arm *arm, const char *path)
{
    const char *text = ifm_arm_setting(arm, path);
    const char *shown = text == NULL ? NULL : ifm_private_shown(text);
    return shown == text ? NULL : shown;
}

static void add(struct ifm_builder *builder, const char *what, const char *text, enum ifm_level level,
                struct ifm_block *section)
{
    struct ifm_line *line =
        ifm_add_line(builder, section, level, IFM_AS_ASIDE, ifm_arena_printf(builder->arena, "%s: ", what));
    ifm_say_code(builder, line, text);
    line->spans[line->n - 1].measured = true;
}

/* A hook that all arms share is said once, in front of their commands. */
static void add_hooks(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                      struct ifm_block *section)
{
    static const char *const hooks[] = {"prepare", "cleanup", "setup", "teardown"};
    for (size_t h = 0; h < sizeof hooks / sizeof *hooks; h++) {
        const char *path = ifm_arena_printf(builder->arena, "command.%s", hooks[h]), *before = "";
        for (size_t a = 0; a < cell->n_arms; a++) {
            const char *text = published(&cell->arms[a], path);
            if (text == NULL || strcmp(text, before) == 0)
                continue;
            add(builder, hooks[h], text, level, section);
            before = text;
        }
    }
}

void ifm_add_commands(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                      struct ifm_block *section)
{
    size_t n = 0;
    if (!ifm_cell_counts_programs(cell))
        return;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *text = published(&cell->arms[a], "command.line");
        if (text != NULL && (n++ < MOST_IN_BRIEF || level != IFM_LEVEL_BRIEF))
            add(builder, cell->arms[a].name, text, level, section);
    }
    if (level != IFM_LEVEL_BRIEF)
        add_hooks(builder, cell, level, section);
    else if (n > MOST_IN_BRIEF)
        ifm_add_line(builder, section, level, IFM_AS_ASIDE,
                     ifm_arena_printf(builder->arena, "%zu more commands: --verbose or the report", n - MOST_IN_BRIEF));
}
