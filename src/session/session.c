/* Opening and closing a session, and the rule that one process has one. */
#include "session/internal.h"

#include "base/file.h"
#include "base/log.h"
#include <stdatomic.h>
#include <unistd.h>

/* The process that has an open session: two would disturb each other's windows. A forked child may open its own. */
static _Atomic(pid_t) open_in;
static _Thread_local struct ifm_error open_error;
static _Thread_local char open_message[sizeof(struct ifm_error) + 16];

const char *inferometer_version(void)
{
    return IFM_VERSION;
}

const char *inferometer_message(const struct inferometer_session *session)
{
    if (session == NULL)
        return open_message;
    return ifm_session_enter(session) == INFEROMETER_OK
               ? session->message
               : "a session belongs to the thread and the process that opened it\n"
                 "hint: call from there, or open another session after closing this one";
}

const char *inferometer_dir(const struct inferometer_session *session)
{
    return session == NULL || !session->has_folder ? "" : session->dir;
}

static enum ifm_status check_free(pid_t process, struct ifm_error *error)
{
    pid_t before = atomic_load(&open_in);
    if (before != process && atomic_compare_exchange_strong(&open_in, &before, process))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, "inferometer_open", "close the other session first (inferometer_close)",
                    "this process has an open session already, and two would disturb each other");
}

static struct inferometer_session *refused(void)
{
    ifm_session_compose(&open_error, open_message, sizeof open_message);
    return NULL;
}

static struct inferometer_session *open_session(const char *dir, const char *options)
{
    pid_t process = getpid();
    open_error = (struct ifm_error){0};
    open_message[0] = '\0';
    ifm_log_mute(true);
    if (check_free(process, &open_error) != IFM_OK)
        return refused();
    struct ifm_arena *arena = ifm_arena_create();
    struct inferometer_session *session = IFM_ARENA_NEW(arena, struct inferometer_session);
    session->arena = arena;
    session->claim = -1;
    session->thread = pthread_self();
    session->process = process;
    session->options = ifm_arena_strdup(arena, options == NULL ? "" : options);
    session->dir = dir == NULL ? NULL : ifm_path_tidy(ifm_arena_strdup(arena, dir));
    struct ifm_config *config;
    if (ifm_session_config(session, &config, &open_error) == IFM_OK) {
        ifm_config_destroy(config);
        return session;
    }
    ifm_arena_destroy(arena);
    atomic_store(&open_in, 0);
    return refused();
}

struct inferometer_session *inferometer_open(const char *dir, const char *options)
{
    locale_t before = ifm_session_plain_locale();
    struct inferometer_session *session = open_session(dir, options);
    uselocale(before);
    return session;
}

int inferometer_close(struct inferometer_session *session)
{
    if (session == NULL)
        return INFEROMETER_OK;
    int code = ifm_session_enter(session);
    if (code != INFEROMETER_OK)
        return code;
    locale_t before = ifm_session_plain_locale();
    code = ifm_session_end(session);
    uselocale(before);
    ifm_config_destroy(session->config);
    if (session->claim >= 0)
        close(session->claim);
    ifm_arena_destroy(session->arena);
    atomic_store(&open_in, 0);
    return code;
}
