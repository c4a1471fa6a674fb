/* The start and end of every call of a session: thread check, locale, and the stored error. */
#include "session/internal.h"

#include "base/log.h"
#include <stdio.h>
#include <unistd.h>

void ifm_session_compose(const struct ifm_error *error, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s%s", error->where, error->where[0] == '\0' ? "" : ": ", error->message,
             error->hint[0] == '\0' ? "" : "\nhint: ", error->hint);
}

static int code_of(enum ifm_status status)
{
    return status == IFM_OK        ? INFEROMETER_OK
           : status == IFM_USAGE   ? INFEROMETER_USAGE
           : status == IFM_INVALID ? INFEROMETER_INVALID
           : status == IFM_MISSING ? INFEROMETER_MISSING
                                   : INFEROMETER_INTERNAL;
}

int ifm_session_fail(struct inferometer_session *session, enum ifm_status status)
{
    ifm_session_compose(&session->error, session->message, sizeof session->message);
    return code_of(status);
}

int ifm_session_usage(struct inferometer_session *session, const char *call, const char *hint, const char *message)
{
    return ifm_session_fail(session, ifm_fail(&session->error, IFM_USAGE, call, hint, "%s", message));
}

int ifm_session_break(struct inferometer_session *session, enum ifm_status status)
{
    session->state = IFM_SESSION_BROKEN;
    session->broken = ifm_session_fail(session, status);
    return session->broken;
}

int ifm_session_misuse(struct inferometer_session *session, const char *call, const char *message, const char *hint)
{
    if (session->state == IFM_SESSION_BROKEN) /* keep the message of the first error */
        return session->broken;
    bool spoilt = session->state == IFM_SESSION_TIMING;
    ifm_fail(&session->error, IFM_USAGE, call, hint, "%s%s", message,
             spoilt ? "; the call was made inside a window, so the window is invalid and the session ends" : "");
    if (spoilt)
        ifm_session_break(session, IFM_USAGE);
    else
        ifm_session_fail(session, IFM_USAGE);
    session->broken = INFEROMETER_MISUSE;
    return INFEROMETER_MISUSE;
}

int ifm_session_enter(const struct inferometer_session *session)
{
    if (session == NULL)
        return INFEROMETER_MISUSE;
    bool ours = pthread_equal(session->thread, pthread_self()) && session->process == getpid();
    return ours ? INFEROMETER_OK : INFEROMETER_THREAD;
}

static locale_t plain_locale;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain_locale(void)
{
    plain_locale = newlocale(LC_ALL_MASK, "C", NULL);
    if (plain_locale == NULL)
        ifm_die("out of memory");
}

locale_t ifm_session_plain_locale(void)
{
    pthread_once(&plain_once, make_plain_locale);
    return uselocale(plain_locale);
}
