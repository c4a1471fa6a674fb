/* The published files of a run folder, each written whole or not at all; the manifest last. */
#include "base/file.h"
#include "publish/compose.h"
#include "sample/manifest.h"

/* Steals `value`. */
static enum ifm_status write_json(struct ifm_arena *arena, const char *dir, const char *name, json_t *value,
                                  struct ifm_error *error)
{
    enum ifm_status status = ifm_json_write(ifm_path_join(arena, dir, name), value, error);
    json_decref(value);
    return status;
}

/* The specification's files of the workloads that the run measured. */
static enum ifm_status write_compat(const struct ifm_publication *publication, struct ifm_arena *arena,
                                    struct ifm_error *error)
{
    const char *dir = publication->dir;
    size_t n = ifm_compat_count_baseline(publication->plan);
    if (ifm_compat_has_elastic_kv(publication->plan))
        IFM_TRY(write_json(arena, dir, "elastic_kv.json", ifm_compat_elastic_kv(publication), error));
    if (n > 0)
        IFM_TRY(write_json(arena, dir, "summary.json", ifm_compat_baseline_summary(publication), error));
    for (size_t i = 0; i < n; i++)
        IFM_TRY(write_json(arena, dir, ifm_arena_printf(arena, "config_%02zu.json", i + 1),
                           ifm_compat_baseline_config(publication, i), error));
    return IFM_OK;
}

static enum ifm_status write_power(const struct ifm_publication *publication, struct ifm_arena *arena,
                                   struct ifm_error *error)
{
    struct ifm_power_files files;
    enum ifm_status status = ifm_compose_power(publication, arena, &files, error);
    for (size_t i = 0; status == IFM_OK && i < files.n; i++)
        status = ifm_file_write_atomic(ifm_path_join(arena, publication->dir, files.list[i].name),
                                       files.list[i].text.data, files.list[i].text.size, error);
    ifm_power_files_free(&files);
    return status;
}

static enum ifm_status write_all(const struct ifm_publication *publication, struct ifm_arena *arena,
                                 struct ifm_text *text, struct ifm_error *error)
{
    const char *dir = publication->dir;
    const struct ifm_derived *derived = publication->derived;
    json_t *numbers = ifm_derived_to_json(derived);
    ifm_publisher_add(numbers);
    IFM_TRY(write_json(arena, dir, "derived.json", numbers, error));
    IFM_TRY(write_json(arena, dir, "verdict.json", ifm_verdict_to_json(publication->verdict, derived), error));
    IFM_TRY(write_json(arena, dir, "metrics.json", ifm_compat_sop(publication), error));
    IFM_TRY(write_compat(publication, arena, error));
    IFM_TRY(write_power(publication, arena, error));
    ifm_compose_csv(publication, text);
    IFM_TRY(ifm_file_write_atomic(ifm_path_join(arena, dir, "report.csv"), text->data, text->size, error));
    struct ifm_document *document;
    IFM_TRY(ifm_document_build(publication, IFM_LEVEL_PAGE, arena, &document, error));
    ifm_text_clear(text);
    ifm_paint_markdown(document, text);
    IFM_TRY(ifm_file_write_atomic(ifm_path_join(arena, dir, "report.md"), text->data, text->size, error));
    ifm_text_clear(text);
    ifm_paint_html(document, text);
    IFM_TRY(ifm_file_write_atomic(ifm_path_join(arena, dir, "report.html"), text->data, text->size, error));
    return ifm_manifest_write(dir, error);
}

enum ifm_status ifm_publish_files(const struct ifm_publication *publication, struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_text text = {0};
    enum ifm_status status = write_all(publication, arena, &text, error);
    ifm_text_free(&text);
    ifm_arena_destroy(arena);
    return status;
}
