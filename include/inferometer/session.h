/* The session API: measure your own code in the lab's blocks.
 *
 * You name the arms, the lab says which one to run next, and you bracket each window of work:
 *
 *     struct inferometer_session *s = inferometer_open("out", "measure.mde=0.02");
 *     inferometer_arm(s, "loop");                          // the first arm is the baseline
 *     inferometer_arm(s, "builtin");
 *     int arm;
 *     while ((arm = inferometer_next(s)) >= 0) {
 *         inferometer_begin(s);
 *         work(arm);                                       // the timed window
 *         inferometer_end(s, tokens);
 *     }
 *     struct inferometer_result r = {.size = sizeof r};
 *     if (arm == INFEROMETER_END && inferometer_judge(s, &r) == INFEROMETER_OK)
 *         printf("%s: %.2f %%\n", r.word, r.change_percent);
 *     else
 *         fprintf(stderr, "%s\n", inferometer_message(s));
 *     inferometer_close(s);
 *
 * The lab decides the order (warm-up until steady, then randomised blocks of slots, mirrored), the number of windows
 * and the end, by the stop rule of the configuration: there is no way to look at a result and then go on measuring. The
 * run folder is an ordinary one: `inferometer verify`, `report` and `derive` work on it.
 *
 * What it never does: print, install a signal handler, end the process. (The one exception: when the system refuses a
 * few kilobytes of bookkeeping, the process ends with status 5 and a line on standard error.)
 *
 * Threads and processes: a session belongs to the thread that opened it, and a process has at most one open session; a
 * forked child cannot use it. The code under test may use as many threads as it likes.
 *
 * Strings that the library returns live until the session is closed. Every call but the getters returns a value of enum
 * inferometer_code below zero on failure, and inferometer_message says what is wrong and what to do instead. A struct
 * starts with its size, which the caller sets: later versions only add members at the end. Everything works through a
 * foreign-function interface such as Python's ctypes; python/inferometer.py is one. */
#ifndef INFEROMETER_SESSION_H
#define INFEROMETER_SESSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INFEROMETER_SESSION_API __attribute__((visibility("default")))
#else
#define INFEROMETER_SESSION_API
#endif

enum inferometer_code {
    INFEROMETER_OK = 0,
    INFEROMETER_END = -1,      /* returned by inferometer_next only: the stop rule has ended the run */
    INFEROMETER_USAGE = -2,    /* a setting, name or argument is wrong */
    INFEROMETER_INVALID = -3,  /* the measurement is not valid: an arm's windows do different work */
    INFEROMETER_MISSING = -4,  /* this machine lacks something that was required, such as locks */
    INFEROMETER_INTERNAL = -5, /* an error of the library or of the operating system, such as a full disk */
    INFEROMETER_MISUSE = -6,   /* a call out of order */
    INFEROMETER_THREAD = -7,   /* a call from another thread, or from a forked child */
};

struct inferometer_session;

/* The version of the library, such as "0.1.0". */
INFEROMETER_SESSION_API const char *inferometer_version(void);

/* Open a session; NULL on failure, and inferometer_message(NULL) says why. `dir`: the run folder, new or empty; NULL
 * takes a fresh one below runs/. `options`, NULL for none: either "path=value" pairs, one a line or between semicolons,
 * or a YAML study, with seed, preset, measure.*, gates, session.*, device.kind and device.script as in a configuration
 * file. Nothing is written before the first inferometer_next. */
INFEROMETER_SESSION_API struct inferometer_session *inferometer_open(const char *dir, const char *options);

/* Add an arm; returns its index, 0 for the first, which is the baseline. Letters, digits and _ - + . ; at most 48. All
 * arms come before the first inferometer_next. */
INFEROMETER_SESSION_API int inferometer_arm(struct inferometer_session *session, const char *name);

/* ---- facts of an arm, optional, before the first inferometer_next ---- */
/* What one window does: floating-point operations, the fewest bytes read and written, prompt tokens. Rates are computed
 * from them. A session measures no ceilings, so its rates are not checked against any. */
INFEROMETER_SESSION_API int inferometer_ledger(struct inferometer_session *session, int arm, uint64_t flops,
                                               uint64_t bytes_read, uint64_t bytes_written, uint64_t tokens_prompt);
/* The arm changes numerics: its times are refused unless inferometer_error gives its error, of at most `tolerance`
 * (largest relative error, above zero). */
INFEROMETER_SESSION_API int inferometer_lossy(struct inferometer_session *session, int arm, double tolerance);
/* The arm's output must be the baseline's: within `bound` (the largest errors of both, as inferometer_error gives them,
 * are at most `bound`), or bit for bit when `bound` is 0 (inferometer_output of both gives the same bytes; both need
 * inferometer_error too). Else the comparison is refused. */
INFEROMETER_SESSION_API int inferometer_equal(struct inferometer_session *session, int arm, double bound);

/* ---- facts of an arm's output, optional, until inferometer_judge ---- */
/* The error of the arm's output against a reference in higher precision: sqrt(sum (x - ref)^2 / sum ref^2),
 * max |x - ref| / max |ref|, and how many values were compared. NaN or infinity is recorded as "not finite". */
INFEROMETER_SESSION_API int inferometer_error(struct inferometer_session *session, int arm, double rms_rel,
                                              double max_rel, uint64_t values);
/* The bytes of the arm's output; only their hash is kept. */
INFEROMETER_SESSION_API int inferometer_output(struct inferometer_session *session, int arm, const void *data,
                                               size_t bytes);

/* ---- the windows ---- */
/* The arm to run now: one window of it. INFEROMETER_END when the run has ended. Between slots this call reads the
 * instruments and writes to the folder; it never runs inside a window. */
INFEROMETER_SESSION_API int inferometer_next(struct inferometer_session *session);
/* Start and end the timed window of this arm. Neither allocates, locks or calls the system beyond reading the clock.
 * `tokens`: generated in this window, 0 for none; the same number in every window of an arm, else INFEROMETER_INVALID
 * ends the session. What happens between an end and the next begin is not timed. A call out of order inside a window
 * makes the window invalid and ends the session; outside one it changes nothing. */
INFEROMETER_SESSION_API int inferometer_begin(struct inferometer_session *session);
INFEROMETER_SESSION_API int inferometer_end(struct inferometer_session *session, uint64_t tokens);

/* ---- the answer ---- */
enum inferometer_outcome {
    INFEROMETER_PASS = 0,
    INFEROMETER_FAIL = 1,
    INFEROMETER_BLOCKED = 2,      /* a gate misses its metric */
    INFEROMETER_NOT_GATED = 3,    /* no gates were given */
    INFEROMETER_INCONCLUSIVE = 4, /* an interval lies on both sides of a gate's threshold: more blocks may decide */
};

struct inferometer_result {
    size_t size;      /* sizeof, set by the caller */
    int outcome;      /* enum inferometer_outcome */
    int exit_code;    /* of the command on this folder: 0 accepted, 1 rejected, 3 inconclusive, 3 and 4 blocked */
    const char *word; /* of arm 1 against the baseline: "faster", "slower", "equivalent", "undecided"; "" when the
                         comparison was refused or there is one arm */
    int has_change;   /* whether the next three are valid */
    double change_percent, change_low, change_high; /* of the time of a window, with its 95 % interval */
    int has_mde;
    double mde_percent;       /* the effect that these blocks would detect with 80 % probability at the 5 % level */
    int64_t blocks;           /* measured */
    const char *reason;       /* why there is no change, or none that is decided; else the verdict's first reason */
    const char *dir, *report; /* the run folder, and its report.html */
    /* How far all this may be trusted: "solid", "undecided", "noisy", "biased", "weak baseline" or "do not use", with
     * its main cause, and what helps ("" = the cause says it). A caller whose struct ends before is served as ever. */
    const char *trust, *trust_cause, *trust_remedy;
};

/* After INFEROMETER_END: derive, judge and publish into the run folder. A rejected gate is an answer, not a failure:
 * INFEROMETER_OK. `result` may be NULL. May be called again. */
INFEROMETER_SESSION_API int inferometer_judge(struct inferometer_session *session, struct inferometer_result *result);

enum inferometer_state {
    INFEROMETER_STATE_OK = 0,
    INFEROMETER_STATE_ABSENT = 1,   /* not measured: reason, remedy */
    INFEROMETER_STATE_REFUSED = 2,  /* measured, but a rule forbids the number: reason */
    INFEROMETER_STATE_INACTIVE = 3, /* the arm's feature ran zero times */
};

struct inferometer_value {
    size_t size;   /* sizeof, set by the caller */
    int state;     /* enum inferometer_state */
    double number; /* 0 when the state is not OK */
    int has_interval;
    double low, high, level;
    int64_t n;        /* observations */
    const char *n_of; /* "samples", "slots", "blocks", "" */
    /* text: of a comparison its word; reason: why there is no number, or why the word is "undecided" */
    const char *unit, *reason, *remedy, *text;
};

/* Any number of the run by its id (`inferometer explain` lists them) and arm; arm -1 is the whole cell. After
 * inferometer_judge. */
INFEROMETER_SESSION_API int inferometer_metric(struct inferometer_session *session, int arm, const char *metric,
                                               struct inferometer_value *value);

/* The run folder; "" before the first inferometer_next. NULL session gives "". */
INFEROMETER_SESSION_API const char *inferometer_dir(const struct inferometer_session *session);
/* What went wrong last and what to do instead; "" when nothing did. NULL asks for the last failed open of this thread.
 */
INFEROMETER_SESSION_API const char *inferometer_message(const struct inferometer_session *session);
/* Close and free; NULL is allowed. A session that was not measured to its end leaves a folder that says so and keeps
 * every whole block. From another thread it is refused (INFEROMETER_THREAD) and stays open; in a forked child it
 * releases nothing. */
INFEROMETER_SESSION_API int inferometer_close(struct inferometer_session *session);

#ifdef __cplusplus
}
#endif
#endif
