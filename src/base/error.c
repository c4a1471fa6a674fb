/* Filling in an error: the only place that formats one. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

enum ifm_status ifm_fail(struct ifm_error *error, enum ifm_status code, const char *where, const char *hint,
                         const char *format, ...)
{
    if (error == NULL)
        return code;
    /* Format first: an argument may point into the error that is being replaced. */
    struct ifm_error filled = {.code = code};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(filled.message, sizeof filled.message, format, arguments);
    va_end(arguments);
    snprintf(filled.where, sizeof filled.where, "%s", where != NULL ? where : "");
    snprintf(filled.hint, sizeof filled.hint, "%s", hint != NULL ? hint : "");
    *error = filled;
    return code;
}

void ifm_error_hint(struct ifm_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    char hint[sizeof error->hint];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hint, sizeof hint, format, arguments);
    va_end(arguments);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
}

enum ifm_status ifm_error_nearest(struct ifm_error *error, const char *nearest)
{
    if (nearest != NULL)
        ifm_error_hint(error, "did you mean '%s'?", nearest);
    return IFM_USAGE;
}
