/* Messages for people: standard error only, notes not when quiet, never inside a timed slot. */
#ifndef IFM_BASE_LOG_H
#define IFM_BASE_LOG_H

#include "base/error.h"
#include <stdbool.h>

void ifm_log_quiet(bool quiet);                           /* no notes; warnings and errors stay */
void ifm_log_mute(bool mute);                             /* neither notes nor warnings: a library does not print */
void ifm_log_over_line(bool open);                        /* a line of progress stands there: messages take its place */
void ifm_note(const char *format, ...) IFM_PRINTF(1, 2);  /* "note: ..." */
void ifm_warn(const char *format, ...) IFM_PRINTF(1, 2);  /* "warning: ..." */
void ifm_error_print(const struct ifm_error *error);      /* "error: where: message" and "  hint: ..." */
void ifm_error_print_said(const struct ifm_error *error); /* what a program said, behind a warning about it */
_Noreturn void ifm_die(const char *format, ...) IFM_PRINTF(1, 2); /* internal error, exit 5 */

#endif
