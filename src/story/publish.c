/* The last stages of a run folder: numbers, verdict, files and table; and their verification. */
#include "story/story.h"

#include "base/file.h"
#include "base/private.h"
#include "base/text.h"
#include "sample/manifest.h"
#include "sample/signature.h"
#include "story/folder.h"

static enum ifm_status copy_gates(const struct ifm_publication *publication, const struct ifm_story_gates *copies,
                                  struct ifm_arena *arena, struct ifm_error *error)
{
    struct ifm_text text = {0};
    enum ifm_status status = IFM_OK;
    if (copies->markdown != NULL) {
        status = ifm_publish_gate_md(publication, arena, &text, error);
        if (status == IFM_OK)
            status = ifm_file_write_named(copies->markdown, text.data, text.size, error);
        ifm_text_clear(&text);
    }
    if (status == IFM_OK && copies->junit != NULL) {
        ifm_publish_gate_junit(publication, arena, &text);
        status = ifm_file_write_named(copies->junit, text.data, text.size, error);
    }
    ifm_text_free(&text);
    return status;
}

static enum ifm_status publish(struct ifm_folder *folder, const struct ifm_story_printing *how, struct ifm_error *error)
{
    const struct ifm_publication *publication = &folder->publication;
    folder->publication.gate_files = how->gates != NULL;
    IFM_TRY(ifm_publish_files(publication, error));
    if (how->key != NULL)
        IFM_TRY(ifm_signature_write(publication->dir, how->key, error));
    if (how->before != NULL)
        how->before(how->context);
    IFM_TRY(ifm_publish_table(publication, &how->look, how->out, error));
    if (how->look.format == IFM_FORMAT_TABLE)
        fprintf(how->out, "%sreport: %s/report.html\n", how->look.verbose ? "\n" : "",
                ifm_text_plain(publication->dir, folder->arena));
    if (how->look.format == IFM_FORMAT_ELASTIC_KV && how->advice != NULL)
        ifm_publish_advice(publication, how->advice);
    return how->gates == NULL ? IFM_OK : copy_gates(publication, how->gates, folder->arena, error);
}

enum ifm_status ifm_story_finish(const char *dir, const struct ifm_story_printing *how, enum ifm_status *judged,
                                 struct ifm_error *error)
{
    struct ifm_folder folder;
    enum ifm_status status = ifm_folder_open(dir, &folder, error);
    if (status == IFM_OK)
        status = ifm_folder_check_lock(&folder, error);
    if (status == IFM_OK)
        status = publish(&folder, how, error);
    if (status == IFM_OK)
        *judged = folder.verdict->exit_code;
    ifm_folder_close(&folder);
    return status;
}

static size_t count_resting(const struct ifm_folder *folder)
{
    size_t n = 0;
    bool any = false;
    for (size_t c = 0; folder->review.rests != NULL && c < folder->plan->n_cells; c++)
        any |= folder->review.rests[c];
    for (size_t i = 0; any && i < folder->derived->n_numbers; i++) {
        const char *name = folder->derived->numbers[i].cell;
        const struct ifm_cell *cell = ifm_is_empty(name) ? NULL : ifm_plan_cell(folder->plan, name);
        n += cell == NULL || folder->review.rests[cell->index];
    }
    return n;
}

static enum ifm_status verify(const struct ifm_folder *folder, struct ifm_verified *published, struct ifm_error *error)
{
    IFM_TRY(ifm_folder_check_plan(folder, error));
    return ifm_publish_verify(&folder->publication, published, error);
}

enum ifm_status ifm_story_verify(const char *dir, struct ifm_arena *arena, struct ifm_story_verified *out,
                                 struct ifm_error *error)
{
    struct ifm_folder folder;
    IFM_TRY(ifm_manifest_check(dir, false, error));
    enum ifm_status status = ifm_folder_open(dir, &folder, error);
    if (status == IFM_OK) {
        const char *not_rebuilt = folder.review.not_rebuilt;
        out->not_rebuilt = not_rebuilt == NULL ? NULL : ifm_arena_strdup(arena, not_rebuilt);
        out->n_numbers = folder.derived->n_numbers;
        out->n_resting = count_resting(&folder);
        out->rules = folder.plan->rules;
        out->chained = folder.events->chained;
        status = verify(&folder, &out->published, error);
    }
    if (status == IFM_OK)
        status = ifm_private_check(dir, error);
    ifm_folder_close(&folder);
    return status;
}
