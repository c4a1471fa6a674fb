/* Errors: one status, one caller-owned struct, one way to fail.
 *
 * Owns nothing. A function that can fail returns an ifm_status and takes the
 * caller's `struct ifm_error *` as its last parameter. Only the command line
 * prints an error or exits. Thread rule: an error belongs to one thread. */
#ifndef IFM_BASE_ERROR_H
#define IFM_BASE_ERROR_H

/* The value is the exit code of the command (docs/definitions.md, "Exit codes"). */
enum ifm_status {
    IFM_OK = 0,            /* measured and accepted */
    IFM_REJECTED = 1,      /* measured, and rejected or regressed */
    IFM_USAGE = 2,         /* usage or configuration; nothing has run */
    IFM_INVALID = 3,       /* the measurement or its record is invalid */
    IFM_MISSING = 4,       /* this machine lacks a required capability */
    IFM_INTERNAL = 5,      /* an error of this program or of the operating system */
    IFM_INTERRUPTED = 130, /* Ctrl-C or SIGTERM */
};

struct ifm_error {
    enum ifm_status code;
    char where[256];   /* "config.yaml:3:5", "--override decode.batch", "runs/x/plan.json" or "" */
    char message[512]; /* what is wrong, with the offending value and the allowed range */
    char hint[512];    /* what to do instead, or "" */
    char said[1024];   /* the last lines that a program wrote, or "": printed, and never recorded */
};

#define IFM_CHECKED __attribute__((warn_unused_result))
#define IFM_PRINTF(at, first) __attribute__((format(printf, at, first)))

/* Fill `error` (may be NULL) and return `code`, so that `return ifm_fail(...)` reads well.
 * `where` and `hint` may be NULL. An error that is already filled is replaced. */
enum ifm_status ifm_fail(struct ifm_error *error, enum ifm_status code, const char *where, const char *hint,
                         const char *format, ...) IFM_PRINTF(5, 6);

/* Replace the hint of an error that a lower layer raised. */
void ifm_error_hint(struct ifm_error *error, const char *format, ...) IFM_PRINTF(2, 3);

/* "did you mean 'WORD'?" as the hint of an error just raised; NULL keeps its hint. Returns IFM_USAGE. */
enum ifm_status ifm_error_nearest(struct ifm_error *error, const char *nearest);

/* Return early with a callee's failure. */
#define IFM_TRY(call)                                                                                                  \
    do {                                                                                                               \
        enum ifm_status ifm_try_status_ = (call);                                                                      \
        if (ifm_try_status_ != IFM_OK)                                                                                 \
            return ifm_try_status_;                                                                                    \
    } while (0)

#endif
