/* Messages on standard error. Its switches (quiet, mute, over a line) are the only presentation state of the
 * process. */
#include "base/log.h"

#include "base/called.h"
#include "base/plain.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool quiet, muted, over_line;

static void print_prefix(const char *prefix)
{
    fprintf(stderr, "%s%s", over_line ? "\r\033[K" : "", prefix);
    over_line = false;
}

/* A line on standard error. Names in it may be of somebody else's folder. Nothing is allocated: memory may be short. */
static void print_line(const char *prefix, char *line)
{
    ifm_plain_make(line);
    print_prefix(prefix);
    for (size_t n; line[n = ifm_called_before(line)] != '\0'; line += n + IFM_CALLED_BYTES)
        fprintf(stderr, "%.*s%s", (int)n, line, ifm_called_as());
    fprintf(stderr, "%s\n", line);
}

/* What a program said, line by line: of this one's own name nothing is put in. */
static void print_said(const char *said)
{
    char line[sizeof((struct ifm_error *)0)->said];
    if (said[0] != '\0')
        fputs("  it wrote last, to standard error:\n", stderr);
    for (size_t n; *said != '\0'; said += n + (said[n] != '\0')) {
        n = strcspn(said, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, said);
        ifm_plain_make(line);
        fprintf(stderr, "    %s\n", line);
    }
}

static void IFM_PRINTF(2, 0) say(const char *prefix, const char *format, va_list arguments)
{
    char line[4096];
    vsnprintf(line, sizeof line, format, arguments);
    print_line(prefix, line);
}

void ifm_log_quiet(bool is_quiet)
{
    quiet = is_quiet;
}

void ifm_log_over_line(bool open)
{
    over_line = open;
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

void ifm_error_print_said(const struct ifm_error *error)
{
    if (!muted)
        print_said(error->said);
}

void ifm_error_print(const struct ifm_error *error)
{
    char line[sizeof error->where + sizeof error->message + sizeof error->hint];
    snprintf(line, sizeof line, "%s", error->where); /* which somebody else named */
    ifm_plain_make(line);
    print_prefix("error: ");
    fprintf(stderr, "%s%s", line, line[0] == '\0' ? "" : ": ");
    snprintf(line, sizeof line, "%s", error->message);
    print_line("", line);
    print_said(error->said);
    snprintf(line, sizeof line, "%s", error->hint);
    if (line[0] != '\0')
        print_line("  hint: ", line);
}

void ifm_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error: internal: ", format, arguments);
    va_end(arguments);
    exit(IFM_INTERNAL);
}
