/* Publish: the format that was asked for, on the stream that was given. */
#include "publish/publish.h"
#include "publish/compose.h"
#include "publish/terminal_private.h"
#include <errno.h>
#include <langinfo.h>
#include <string.h>

static enum ifm_status compose(const struct ifm_publication *publication, enum ifm_format format, bool colour,
                               struct ifm_text *text, struct ifm_error *error)
{
    if (format == IFM_FORMAT_TABLE) {
        bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        return ifm_compose_terminal(publication, colour, utf8, text, error);
    }
    if (format == IFM_FORMAT_MD)
        return ifm_compose_markdown(publication, text, error);
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

enum ifm_status ifm_publish_table(const struct ifm_publication *publication, enum ifm_format format, bool colour,
                                  FILE *out, struct ifm_error *error)
{
    IFM_TRY(ifm_compose_check(publication, error));
    struct ifm_text text = {0};
    enum ifm_status status = compose(publication, format, colour, &text, error);
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
    struct ifm_terminal terminal = {.out = &text, .arena = arena, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    ifm_terminal_advice(&terminal, publication);
    if (text.size > 0)
        fwrite(text.data, 1, text.size, out);
    ifm_arena_destroy(arena);
    ifm_text_free(&text);
}
