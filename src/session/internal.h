/* Private to src/session: one open session, and the stages that its files implement.
 *
 * Control is inverted: the caller's loop drives the run through inferometer_next. The order is that of src/run: open,
 * calibrate, warm up, blocks, facts; then derive, judge and publish. Thread rule: a session belongs to the thread that
 * opened it. */
#ifndef IFM_SESSION_INTERNAL_H
#define IFM_SESSION_INTERNAL_H

#include "inferometer/session.h"
#include "run/cell/watch.h"
#include "run/pass/pass.h"
#include "run/pass/warm_up.h"
#include "story/folder.h"
#include "story/story.h"
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

enum ifm_session_state {
    IFM_SESSION_DEFINING, /* arms may be added */
    IFM_SESSION_BETWEEN,  /* a window has ended: call next */
    IFM_SESSION_READY,    /* next has named an arm: call begin */
    IFM_SESSION_TIMING,   /* inside a window: call end */
    IFM_SESSION_ENDED,    /* the stop rule has ended the run: judge */
    IFM_SESSION_JUDGED,
    IFM_SESSION_BROKEN, /* an error ended it; every whole block is kept */
};

/* The purpose of the windows. */
enum ifm_session_stage { IFM_SESSION_PILOT, IFM_SESSION_WARM_UP, IFM_SESSION_BLOCKS };

/* Timed windows of each arm in the pilot, after an untimed one. */
enum { IFM_SESSION_PILOT_WINDOWS = 2 };

/* What the caller has declared about an arm. */
struct ifm_session_arm {
    const char *name;
    bool tokens_known;
    uint64_t tokens; /* generated in each window */
    struct ifm_ledger ledger;
    bool lossy, must_equal;
    double tolerance, equal_bound;
    bool error_known, output_known;
    struct ifm_check check;
};

struct inferometer_session {
    /* ---- touched by begin and end ---- */
    enum ifm_session_state state;
    pthread_t thread;
    struct ifm_instant *at; /* begin writes at[0], end at[1] */
    struct ifm_device *device;
    bool is_fake;
    unsigned arm;             /* whose slot it is */
    uint32_t window, windows; /* of the slot: the next one, and how many; window 0 is untimed */
    struct ifm_instant spare[2];
    struct ifm_session_arm arms[IFM_MOST_ARMS];
    unsigned n_arms;

    /* ---- the rest ---- */
    pid_t process;
    struct ifm_arena *arena; /* holds everything until the session closes */
    const char *options, *dir;
    struct ifm_config *config;
    struct ifm_plan *plan;
    struct ifm_arm *plan_arms; /* of the one cell; their ledgers are filled in when the windows have shown them */
    bool has_folder, plan_written;
    int claim;                /* on the folder; -1 without one */
    struct ifm_session facts; /* journal and time base */
    struct ifm_cell_run cell;
    struct ifm_warm_up warm;
    struct ifm_pass_run pass;
    struct ifm_watch watch; /* of the measured block */
    enum ifm_session_stage stage;
    struct ifm_instant pilot_marks[2 * IFM_SESSION_PILOT_WINDOWS];
    unsigned order[2 * IFM_MOST_ARMS];
    size_t position, slots; /* in the block */
    struct ifm_sample *next_samples;
    struct ifm_instant last;  /* when the last measured block ended */
    struct ifm_folder folder; /* its numbers and its verdict, once judged */
    struct ifm_error error;
    int broken; /* the code that broke it */
    char message[sizeof(struct ifm_error) + 16];
};

/* ---- enter.c ---- */
/* The error as a message: "where: what", and its hint on a line of its own. */
void ifm_session_compose(const struct ifm_error *error, char *out, size_t size);
/* Keep the error for inferometer_message, and the code for the caller. */
int ifm_session_fail(struct inferometer_session *session, enum ifm_status status);
/* The same for an argument that the call cannot take: INFEROMETER_USAGE. */
int ifm_session_usage(struct inferometer_session *session, const char *call, const char *hint, const char *message);
/* A call out of order: INFEROMETER_MISUSE. Inside a window it makes the window invalid and ends the session. In a
 * broken session it returns the first error again. */
int ifm_session_misuse(struct inferometer_session *session, const char *call, const char *message, const char *hint);
/* An error after which nothing more can be measured. */
int ifm_session_break(struct inferometer_session *session, enum ifm_status status);
/* INFEROMETER_THREAD when the caller is not the session's thread and process, else INFEROMETER_OK. */
int ifm_session_enter(const struct inferometer_session *session);

/* The caller may have set a locale with decimal commas; files and settings use points. Every call that reads or writes
 * numbers switches this thread to the plain locale and restores the caller's with uselocale. */
locale_t ifm_session_plain_locale(void);

/* ---- define.c: configuration ---- */
/* The configuration of the options and of the arms so far, resolved; the caller destroys it. */
IFM_CHECKED enum ifm_status ifm_session_config(struct inferometer_session *session, struct ifm_config **out,
                                               struct ifm_error *error);

/* ---- start.c: plan, folder, device ---- */
IFM_CHECKED enum ifm_status ifm_session_start(struct inferometer_session *session, struct ifm_error *error);
/* The ledgers that the windows have shown into plan.json. */
IFM_CHECKED enum ifm_status ifm_session_write_plan(struct inferometer_session *session, struct ifm_error *error);

/* ---- finish.c ---- */
/* What is read back when the last block is on disk: locks, load; the device is closed. */
IFM_CHECKED enum ifm_status ifm_session_settle(struct inferometer_session *session, struct ifm_error *error);
/* In any state: complete the record, or record why it is incomplete; release everything but the arena and the
 * configuration. */
int ifm_session_end(struct inferometer_session *session);

#endif
