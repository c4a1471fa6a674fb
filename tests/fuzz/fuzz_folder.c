/* A run folder of any content: one error with a way out, or numbers and a verdict that are written in every format,
 * that `verify` finds again in the files just written, and that `list` lists. */
#include "base/log.h"
#include "cli/cli.h"
#include "publish/summary.h"
#include "sample/manifest.h"
#include "story/folder.h"
#include "tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void publish(const struct ifm_publication *publication, FILE *out)
{
    struct ifm_error error = {0};
    struct ifm_text text = {0};
    struct ifm_verified verified = {0};
    struct ifm_table_look look = {.verbose = true};
    must(ifm_publish_table(publication, &look, out, &error) == IFM_OK);
    for (int format = IFM_FORMAT_TABLE; format <= IFM_FORMAT_JSONL; format++) {
        look = (struct ifm_table_look){.format = (enum ifm_format)format, .colour = format == 0};
        must(ifm_publish_table(publication, &look, out, &error) == IFM_OK);
    }
    ifm_summary_compose(publication, &text);
    ifm_text_free(&text);
    if (ifm_publish_files(publication, &error) != IFM_OK)
        must(error.code == IFM_INVALID && error.message[0] != '\0'); /* a name that no manifest can hold */
    else
        must(ifm_publish_verify(publication, &verified, &error) == IFM_OK &&
             ifm_manifest_check(tree_root(), false, &error) == IFM_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct ifm_folder folder;
    struct ifm_error error = {0};
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    must(nowhere != NULL);
    ifm_log_mute(true);
    tree_make(data, size);
    if (ifm_folder_open(tree_root(), &folder, &error) == IFM_OK)
        publish(&folder.publication, nowhere);
    else
        must(error.code != IFM_OK && error.message[0] != '\0');
    ifm_folder_close(&folder);
    /* The commands print to standard output. */
    char *words[] = {(char *)"list", (char *)tree_root(), NULL};
    FILE *kept = stdout;
    stdout = nowhere;
    (void)ifm_plain_run(ifm_verb_find("list"), 2, words, &error);
    stdout = kept;
    tree_clear();
    return 0;
}
