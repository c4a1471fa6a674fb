/* Publish: the format that was asked for, on the stream that was given. */
#include "publish/publish.h"
#include "publish/compose.h"
#include <errno.h>
#include <langinfo.h>
#include <string.h>

static bool is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

enum ifm_status ifm_compose_document(const struct ifm_publication *publication, enum ifm_level most, bool colour,
                                     bool utf8, struct ifm_text *out, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_document *document;
    enum ifm_status status = ifm_document_build(publication, most, arena, &document, error);
    if (status == IFM_OK && most <= IFM_LEVEL_ALWAYS)
        status = ifm_paint_terminal(document, colour, utf8, out, error);
    else if (status == IFM_OK && most == IFM_LEVEL_FOLDED)
        ifm_paint_markdown(document, out);
    else if (status == IFM_OK)
        ifm_paint_html(document, out);
    ifm_arena_destroy(arena);
    return status;
}

static enum ifm_status compose(const struct ifm_publication *publication, const struct ifm_table_look *look,
                               struct ifm_text *text, struct ifm_error *error)
{
    enum ifm_format format = look->format;
    enum ifm_level most = format == IFM_FORMAT_MD ? IFM_LEVEL_FOLDED
                          : look->verbose         ? IFM_LEVEL_ALWAYS
                                                  : IFM_LEVEL_BRIEF;
    struct ifm_publication shown = *publication;
    shown.width = look->width;
    if (format == IFM_FORMAT_TABLE || format == IFM_FORMAT_MD)
        return ifm_compose_document(&shown, most, look->colour, is_utf8(), text, error);
    if (format == IFM_FORMAT_CSV)
        ifm_compose_csv(publication, text);
    if (format == IFM_FORMAT_JSONL)
        ifm_compose_jsonl(publication, text);
    if (format == IFM_FORMAT_JSON || format == IFM_FORMAT_ELASTIC_KV) {
        json_t *object = format == IFM_FORMAT_JSON ? ifm_compose_json(publication) : ifm_compat_elastic_kv(publication);
        ifm_json_print(object, true, text);
        ifm_text_add(text, "\n");
        json_decref(object);
    }
    return IFM_OK;
}

enum ifm_status ifm_publish_table(const struct ifm_publication *publication, const struct ifm_table_look *look,
                                  FILE *out, struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    struct ifm_text text = {0};
    enum ifm_status status = compose(publication, look, &text, error);
    if (status == IFM_OK && text.size > 0 && (fwrite(text.data, 1, text.size, out) != text.size || fflush(out) != 0))
        status = ifm_fail(error, IFM_INTERNAL, "standard output", NULL, "the table could not be written: %s",
                          strerror(errno));
    ifm_text_free(&text);
    return status;
}

void ifm_publish_advice(const struct ifm_publication *publication, FILE *out)
{
    struct ifm_text text = {0};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error;
    if (ifm_paint_terminal(ifm_document_advice(publication, arena), false, is_utf8(), &text, &error) == IFM_OK &&
        text.size > 0)
        fwrite(text.data, 1, text.size, out);
    ifm_arena_destroy(arena);
    ifm_text_free(&text);
}
