/* Publish: the format that was asked for, on the stream that was given. */
#include "publish/publish.h"
#include "publish/compose.h"
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
        ifm_compose_markdown(publication, text);
    if (format == IFM_FORMAT_CSV)
        ifm_compose_csv(publication, text);
    if (format == IFM_FORMAT_JSONL)
        ifm_compose_jsonl(publication, text);
    if (format == IFM_FORMAT_JSON) {
        json_t *object = ifm_compose_json(publication);
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
