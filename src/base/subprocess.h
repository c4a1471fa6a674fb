/* Subprocess: start one program, wait for it, and leave nothing of it behind.
 *
 * The program runs in its own session: signals for us do not reach it, and its whole group can be killed. Descendants
 * that outlive it are reparented to us (PR_SET_CHILD_SUBREAPER): the run of a whole tree waits for them, and
 * ifm_subprocess_reap kills what is left. If we are killed, the program is killed too (PR_SET_PDEATHSIG). No shell is
 * used: the caller's words are the program's arguments.
 * Children that this process already had are left alone, but their orphans cannot be told from ours. Thread rule: one
 * thread of the process starts and reaps programs, and none has children of another kind. */
#ifndef IFM_BASE_SUBPROCESS_H
#define IFM_BASE_SUBPROCESS_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ifm_subprocess {
    const char *path; /* of the program; not looked up */
    char *const *argv;
    int stdin_fd, stdout_fd, stderr_fd; /* -1 = ours */
    const void *affinity;               /* the mask that it starts with, as sched_setaffinity takes it; NULL = ours */
    size_t affinity_bytes;
    double timeout_s;         /* killed after that long; 0 = never */
    bool tree;                /* a run ends with the last descendant, not with the program */
    double strays_s;          /* of a tree: how long a descendant may outlive the program */
    void (*tick)(void *with); /* called once a second while it runs; NULL = not */
    void *with;
};

enum ifm_subprocess_end {
    IFM_SUBPROCESS_EXITED = 0,  /* `code` = exit status */
    IFM_SUBPROCESS_SIGNALED,    /* `code` = signal */
    IFM_SUBPROCESS_TIMED_OUT,   /* killed by us */
    IFM_SUBPROCESS_INTERRUPTED, /* killed by us, because we received a signal */
    IFM_SUBPROCESS_NOT_STARTED, /* `code` = errno */
    IFM_SUBPROCESS_STRAYS,      /* it ended, and a descendant lived on for longer than strays_s */
};

struct ifm_subprocess_result {
    enum ifm_subprocess_end end;
    int code;
    unsigned strays; /* of a tree: descendants that outlived the program and were waited for */
    /* Of the program, of the descendants that it waited for, and of those strays. */
    int64_t cpu_ns;    /* user and system */
    int64_t rss_bytes; /* largest peak of one process; never below our own peak, which the kernel counts with it */
    int64_t faults_major;
    int64_t switches_voluntary, switches_involuntary;
    /* Of the program's first thread, by the kernel's scheduler; -1 = not told. What other threads and descendants
     * waited is lost with them. */
    int64_t first_cpu_ns, first_delay_ns; /* on a CPU, and ready to run without one */
    int first_cpu;                        /* on which it ended; -1 = not told, as of runs of less than 5 ms */
    int64_t wall_ns;                      /* from its start to the end that was waited for */
};

/* Become the reaper of orphaned descendants. Call it before the first program starts; further calls do nothing. */
IFM_CHECKED enum ifm_status ifm_subprocess_prepare(struct ifm_error *error);
/* Start it and wait for its end: some eighteen system calls, no allocation. Descendants may still live: those of a tree
 * only where the run failed. */
void ifm_subprocess_run(const struct ifm_subprocess *program, struct ifm_subprocess_result *out);
/* Kill and wait for every descendant that is left; `killed` counts those that were still alive. */
IFM_CHECKED enum ifm_status ifm_subprocess_reap(unsigned *killed, struct ifm_error *error);
/* Find the file that running `name` executes: `name` itself when it holds a slash, else the first executable in PATH.
 * IFM_USAGE: there is none. */
IFM_CHECKED enum ifm_status ifm_subprocess_find(const char *name, char *path, size_t size, struct ifm_error *error);

#endif
