/* Messages on standard error. The two switches, quiet and mute, are the only presentation state of the process. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool quiet, muted;

static void IFM_PRINTF(2, 0) say(const char *prefix, const char *format, va_list arguments)
{
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void ifm_log_quiet(bool is_quiet)
{
    quiet = is_quiet;
}

void ifm_log_mute(bool mute)
{
    muted = mute;
}

void ifm_note(const char *format, ...)
{
    if (quiet || muted)
        return;
    va_list arguments;
    va_start(arguments, format);
    say("note: ", format, arguments);
    va_end(arguments);
}

void ifm_warn(const char *format, ...)
{
    if (muted)
        return;
    va_list arguments;
    va_start(arguments, format);
    say("warning: ", format, arguments);
    va_end(arguments);
}

void ifm_error_print(const struct ifm_error *error)
{
    fputs("error: ", stderr);
    if (error->where[0] != '\0')
        fprintf(stderr, "%s: ", error->where);
    fprintf(stderr, "%s\n", error->message);
    if (error->hint[0] != '\0')
        fprintf(stderr, "  hint: %s\n", error->hint);
}

void ifm_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error: internal: ", format, arguments);
    va_end(arguments);
    exit(IFM_INTERNAL);
}
