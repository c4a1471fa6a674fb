/* The published files of a run folder: which there are, and each written whole or not at all; the manifest last.
 *
 * derived.json names the program that wrote them: two versions may say the same numbers in other words, and verify
 * needs to know whose words. */
#include "base/file.h"
#include "base/program.h"
#include "document/trust.h"
#include "publish/compose.h"
#include "publish/junit.h"
#include "sample/manifest.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct file_walk {
    const struct ifm_publication *publication;
    struct ifm_arena *arena;
    ifm_publish_visit *visit;
    void *context;
};

/* Steals `tree`. */
static enum ifm_status visit_tree(const struct file_walk *walk, const char *name, enum ifm_published_kind kind,
                                  json_t *tree, struct ifm_error *error)
{
    const struct ifm_published file = {.name = name, .kind = kind, .tree = tree};
    enum ifm_status status = walk->visit(walk->context, &file, error);
    json_decref(tree);
    return status;
}

static enum ifm_status visit_text(const struct file_walk *walk, const char *name, enum ifm_published_kind kind,
                                  const struct ifm_text *text, struct ifm_error *error)
{
    const struct ifm_published file = {.name = name, .kind = kind, .text = text};
    return walk->visit(walk->context, &file, error);
}

/* The specification's files of the workloads that the run measured. */
static enum ifm_status visit_compat(const struct file_walk *walk, struct ifm_error *error)
{
    const struct ifm_publication *from = walk->publication;
    size_t n = ifm_compat_count_baseline(from->plan);
    IFM_TRY(visit_tree(walk, "metrics.json", IFM_PUBLISHED_TREE, ifm_compat_sop(from), error));
    if (ifm_compat_has_elastic_kv(from->plan))
        IFM_TRY(visit_tree(walk, "elastic_kv.json", IFM_PUBLISHED_TREE, ifm_compat_elastic_kv(from), error));
    if (ifm_compat_has_ncu(from->plan))
        IFM_TRY(visit_tree(walk, "ncu.json", IFM_PUBLISHED_TREE, ifm_compat_ncu(from), error));
    if (n > 0)
        IFM_TRY(visit_tree(walk, "summary.json", IFM_PUBLISHED_TREE, ifm_compat_baseline_summary(from), error));
    for (size_t i = 0; i < n; i++)
        IFM_TRY(visit_tree(walk, ifm_arena_printf(walk->arena, "config_%02zu.json", i + 1), IFM_PUBLISHED_TREE,
                           ifm_compat_baseline_config(from, i), error));
    return IFM_OK;
}

static enum ifm_status visit_trace(const struct file_walk *walk, struct ifm_error *error)
{
    struct ifm_text text = {0};
    if (!ifm_compose_has_trace(walk->publication))
        return IFM_OK;
    enum ifm_status status = ifm_compose_trace(walk->publication, walk->arena, &text, error);
    if (status == IFM_OK)
        status = visit_text(walk, "trace.json", IFM_PUBLISHED_SERIES, &text, error);
    ifm_text_free(&text);
    return status;
}

static enum ifm_status visit_power(const struct file_walk *walk, struct ifm_error *error)
{
    struct ifm_power_files files;
    enum ifm_status status = ifm_compose_power(walk->publication, walk->arena, &files, error);
    for (size_t i = 0; status == IFM_OK && i < files.n; i++)
        status = visit_text(walk, files.list[i].name, IFM_PUBLISHED_SERIES, &files.list[i].text, error);
    ifm_power_files_free(&files);
    return status;
}

/* ---- gates as files ---- */

enum ifm_status ifm_publish_gate_md(const struct ifm_publication *publication, struct ifm_arena *arena,
                                    struct ifm_text *out, struct ifm_error *error)
{
    struct ifm_document *document;
    struct ifm_publication filed = *publication;
    filed.filed = true;
    IFM_TRY(ifm_document_build(&filed, IFM_LEVEL_BRIEF, arena, &document, error));
    ifm_paint_markdown(document, out);
    return IFM_OK;
}

void ifm_publish_gate_junit(const struct ifm_publication *publication, struct ifm_arena *arena, struct ifm_text *out)
{
    const struct ifm_trust trust = ifm_trust_of(publication, arena);
    struct ifm_gate_lines lines = {.trust = ifm_trust_words(&trust, arena)};
    const struct ifm_run_view run = {publication->plan, publication->derived, publication->events};
    ifm_gate_lines_run(&run, publication->verdict, arena, &lines);
    ifm_gate_lines_junit(&lines, publication->plan->run_id, out);
}

static bool has_gate_file(const struct file_walk *walk, const char *name)
{
    const struct ifm_publication *from = walk->publication;
    return from->verdict->n_gates > 0 &&
           (from->gate_files || ifm_file_exists(ifm_path_join(walk->arena, from->dir, name)));
}

/* Once written they are published with all others, so that no later manifest vouches for others' words. */
static enum ifm_status visit_gates(const struct file_walk *walk, struct ifm_text *text, struct ifm_error *error)
{
    if (has_gate_file(walk, "gate.md")) {
        IFM_TRY(ifm_publish_gate_md(walk->publication, walk->arena, text, error));
        IFM_TRY(visit_text(walk, "gate.md", IFM_PUBLISHED_WORDS, text, error));
        ifm_text_clear(text);
    }
    if (has_gate_file(walk, "junit.xml")) {
        ifm_publish_gate_junit(walk->publication, walk->arena, text);
        IFM_TRY(visit_text(walk, "junit.xml", IFM_PUBLISHED_WORDS, text, error));
        ifm_text_clear(text);
    }
    return IFM_OK;
}

static enum ifm_status visit_reports(const struct file_walk *walk, struct ifm_text *text, struct ifm_error *error)
{
    struct ifm_document *document;
    ifm_compose_csv(walk->publication, text);
    IFM_TRY(visit_text(walk, "report.csv", IFM_PUBLISHED_TABLE, text, error));
    IFM_TRY(ifm_document_build(walk->publication, IFM_LEVEL_FOLDED, walk->arena, &document, error));
    ifm_text_clear(text);
    ifm_paint_markdown(document, text);
    IFM_TRY(visit_text(walk, "report.md", IFM_PUBLISHED_WORDS, text, error));
    IFM_TRY(ifm_document_build(walk->publication, IFM_LEVEL_PAGE, walk->arena, &document, error));
    ifm_text_clear(text);
    ifm_paint_html(document, text);
    return visit_text(walk, "report.html", IFM_PUBLISHED_WORDS, text, error);
}

enum ifm_status ifm_published_each(const struct ifm_publication *publication, struct ifm_arena *arena,
                                   ifm_publish_visit *visit, void *context, struct ifm_error *error)
{
    const struct file_walk walk = {publication, arena, visit, context};
    const struct ifm_derived *derived = publication->derived;
    struct ifm_text text = {0};
    IFM_TRY(visit_tree(&walk, "derived.json", IFM_PUBLISHED_NUMBERS, ifm_derived_to_json(derived), error));
    IFM_TRY(visit_tree(&walk, "verdict.json", IFM_PUBLISHED_TREE, ifm_verdict_to_json(publication->verdict, derived),
                       error));
    IFM_TRY(visit_compat(&walk, error));
    IFM_TRY(visit_power(&walk, error));
    IFM_TRY(visit_trace(&walk, error));
    enum ifm_status status = visit_gates(&walk, &text, error);
    if (status == IFM_OK)
        status = visit_reports(&walk, &text, error);
    ifm_text_free(&text);
    return status;
}

/* ---- who published them ---- */

static const char member[] = "published_by";

static json_t *this_program(void)
{
    return json_pack("{s:s, s:s?}", "version", IFM_VERSION, "revision", ifm_program_revision());
}

/* Names this program in derived.json. */
static void add_publisher(json_t *derived)
{
    json_object_set_new(derived, member, this_program());
}

/* The text comes from a file and goes to a terminal. */
static bool is_plain(const char *text)
{
    if (text == NULL || text[0] == '\0' || strlen(text) > 40)
        return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr(".-+", *text) == NULL)
            return false;
    return true;
}

bool ifm_publisher_take(json_t *derived, char name[static IFM_PUBLISHER_SIZE])
{
    json_t *there = json_object_get(derived, member), *here = this_program();
    const char *version = json_string_value(json_object_get(there, "version"));
    const char *revision = json_string_value(json_object_get(there, "revision"));
    bool same = there != NULL && json_equal(there, here);
    if (is_plain(version) && is_plain(revision))
        snprintf(name, IFM_PUBLISHER_SIZE, "inferometer %s, revision %.12s", version, revision);
    else if (is_plain(version))
        snprintf(name, IFM_PUBLISHER_SIZE, "inferometer %s of an unknown revision", version);
    else
        snprintf(name, IFM_PUBLISHER_SIZE, "an earlier version of inferometer");
    json_decref(here);
    json_object_del(derived, member);
    return same;
}

/* ---- writing ---- */

struct writer {
    const char *dir;
    struct ifm_arena *arena;
};

static enum ifm_status write_file(void *context, const struct ifm_published *file, struct ifm_error *error)
{
    const struct writer *writer = context;
    const char *path = ifm_path_join(writer->arena, writer->dir, file->name);
    if (file->tree == NULL)
        return ifm_file_write_atomic(path, file->text->data, file->text->size, error);
    if (file->kind == IFM_PUBLISHED_NUMBERS)
        add_publisher(file->tree);
    return ifm_json_write(path, file->tree, error);
}

enum ifm_status ifm_publish_files(const struct ifm_publication *publication, struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    IFM_TRY(ifm_published_strays(publication, error));
    struct writer writer = {publication->dir, ifm_arena_create()};
    enum ifm_status status = ifm_published_each(publication, writer.arena, write_file, &writer, error);
    ifm_arena_destroy(writer.arena);
    return status == IFM_OK ? ifm_manifest_write(publication->dir, error) : status;
}
