/* Locks: clocks, power limit, persistence, governor and turbo of this machine, set and restored as a transaction.
 *
 * The only part of the lab that changes settings of the machine, and only when the user asks for it. Before a knob is
 * changed, its old and wanted values are written and synced to the state file; afterwards it is read back. Knobs are
 * restored in reverse order: when a later knob fails, when the command under the locks ends, or by `inferometer unlock`
 * after a crash. A knob that somebody else has changed since is left alone, and the state file kept: it is removed when
 * every value was read back as it was before. It must never change a knob that the user did not name. Thread rule: one
 * thread; one process at a time holds a state file (flock of FILE.lock, as
 * long as the lock is open). */
#ifndef IFM_LOCK_LOCK_H
#define IFM_LOCK_LOCK_H

#include "base/json.h"
#include <stdbool.h>
#include <stddef.h>

enum { IFM_LOCK_TEXT = 64, IFM_LOCK_ID = 96, IFM_LOCK_SENTENCE = 256, IFM_LOCK_PATH = 4096, IFM_LOCK_SETTLE_MS = 1000 };

enum ifm_lock_outcome {
    IFM_LOCK_PLANNED = 0, /* read, not changed */
    IFM_LOCK_LOCKED,      /* read back as wanted */
    IFM_LOCK_UNCONFIRMED, /* accepted, but not visible in the value read back: counts as unlocked */
    IFM_LOCK_FAILED,      /* could not be set, or could not be put back */
    IFM_LOCK_RESTORED,    /* put back and read back */
    IFM_LOCK_UNCHANGED,   /* has its old value: nothing to put back */
    IFM_LOCK_LEFT,        /* neither the old nor the wanted value: left alone, and a failure but for a clock */
    IFM_LOCK_GONE         /* the machine was rebooted since, which removed the lock */
};

/* One knob of one target. Texts carry their unit: "1500 MHz", "650 W", "performance", "on". */
struct ifm_lock_row {
    const struct ifm_lock_kind *kind;
    char target[IFM_LOCK_TEXT]; /* "gpu0", "cpu3", "cpus" */
    char id[IFM_LOCK_ID];       /* a GPU's UUID: the index may name another card later; "" elsewhere */
    /* "not readable" for clocks: NVML does not tell what was locked; a reset restores them */
    char before[IFM_LOCK_TEXT];
    char wanted[IFM_LOCK_TEXT];
    char seen[IFM_LOCK_TEXT]; /* read back last */
    char reason[IFM_LOCK_SENTENCE];
    enum ifm_lock_outcome outcome;
    bool touched; /* set by this process, or by one that is gone */
};

/* What the user asks for; zero and NULL leave a knob alone. */
struct ifm_lock_wishes {
    unsigned gpu_clock_mhz, memory_clock_mhz;
    double power_cap_w;
    bool persistence; /* on */
    const char *gpus; /* "0,2"; NULL = every GPU */
    const char *governor;
    unsigned frequency_mhz; /* lowest = highest allowed clock of every allowed CPU */
    bool turbo_off;
};

struct ifm_lock_options {
    const char *root;   /* of sysfs and procfs: "" = this machine; tests give a tree of files */
    const char *nvml;   /* file of the library; NULL = the driver's, and none under another root */
    const char *state;  /* the state file */
    unsigned settle_ms; /* how long a clock may take until it reads as wanted; 0 = look once */
    /* Called between knobs: true ends the transaction and undoes it. May be NULL. */
    bool (*stop)(void *context);
    /* Called before and after every change, so that tests can end the process there: "file", "filed", "set", "done",
     * "back", "remove". May be NULL. */
    void (*at)(void *context, const char *point, const struct ifm_lock_row *row);
    void *context;
};

struct ifm_lock;
/* The state file that is used when none is named: $INFEROMETER_LOCKS, else inferometer/locks.json below
 * $XDG_STATE_HOME or ~/.local/state. */
IFM_CHECKED enum ifm_status ifm_lock_file(char path[static IFM_LOCK_PATH], struct ifm_error *error);
/* Find and read every knob that is asked for; changes nothing. Options and wishes must outlive the lock. IFM_USAGE: a
 * value that this machine cannot have; IFM_MISSING: a knob that it lacks. */
IFM_CHECKED enum ifm_status ifm_lock_open(const struct ifm_lock_options *options, const struct ifm_lock_wishes *wishes,
                                          struct ifm_lock **out, struct ifm_error *error);
/* Set them. After a failure everything is as before; if not, the error names what is not, and the state file stays. */
IFM_CHECKED enum ifm_status ifm_lock_take(struct ifm_lock *lock, struct ifm_error *error);
/* Restore everything that this lock has set, and remove the state file when nothing failed. */
IFM_CHECKED enum ifm_status ifm_lock_give(struct ifm_lock *lock, struct ifm_error *error);
/* The same from the state file of a process that is gone. Without such a file: no rows, and IFM_OK. `*out` is also set
 * after a failure; close it either way. */
IFM_CHECKED enum ifm_status ifm_lock_recover(const struct ifm_lock_options *options, struct ifm_lock **out,
                                             struct ifm_error *error);
const struct ifm_lock_row *ifm_lock_rows(const struct ifm_lock *lock, size_t *n);
const char *ifm_lock_knob(const struct ifm_lock_row *row); /* "gpu_clock" */
/* Ends the claim on the state file; what is locked stays locked. NULL is allowed. */
void ifm_lock_close(struct ifm_lock *lock);

/* The knobs of one GPU as run.log records them (host.h, ifm_host_locks; new reference): gpu_clock, memory_clock,
 * power_limit, persistence, and application_clock where the driver has one. NVML does not say whether a clock is
 * locked: it counts as locked where the state file of a lock says so and the clock agrees, or where the card has only
 * one; otherwise it is unlocked, with the reason. `bus` = PCI bus id, NULL = the only GPU. Reads only. */
json_t *ifm_lock_gpu_knobs(const struct ifm_lock_options *options, const char *bus);
/* The same on this machine, with the state file that is used when none is named. */
json_t *ifm_host_gpu_locks(const char *bus);

#endif
