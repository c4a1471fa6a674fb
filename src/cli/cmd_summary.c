/* summary: a run's results, short enough to paste. */
#include "cli/arguments.h"

#include "publish/summary.h"
#include "story/folder.h"
#include <stdio.h>

static enum ifm_status summarise(const char *dir, struct ifm_error *error)
{
    struct ifm_folder folder;
    IFM_TRY(ifm_folder_check(dir, false, error));
    enum ifm_status status = ifm_folder_open(dir, &folder, error);
    if (status == IFM_OK) {
        struct ifm_text text = {0};
        ifm_summary_compose(&folder.publication, &text);
        fputs(text.data, stdout);
        ifm_text_free(&text);
    }
    ifm_folder_close(&folder);
    return status;
}

enum ifm_status ifm_cmd_summary(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char **words = IFM_ARENA_ARRAY(arena, const char *, argc + 1);
    size_t n = 0;
    bool help = false;
    enum ifm_status status = ifm_arguments_parse(argc, argv, NULL, 0, words, &n, &help, error);
    if (status == IFM_OK && help)
        status = ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    else if (status == IFM_OK && n != 1)
        status = ifm_fail(error, IFM_USAGE, "", "such as runs/decode-20260101-120000",
                          n == 0 ? "summary needs a run folder" : "summary takes one run folder");
    else if (status == IFM_OK)
        status = summarise(words[0], error);
    ifm_arena_destroy(arena);
    return status;
}
