/* Knobs behind a lock, private to src/lock. */
#ifndef IFM_LOCK_PRIVATE_H
#define IFM_LOCK_PRIVATE_H

#include "dyn/nvml.h"
#include "lock/lock.h"
#include <string.h>

#define IFM_LOCK_NOT_READABLE "not readable"

struct ifm_lock_machine {
    const char *root;
    const struct ifm_nvml *nvml; /* NULL: none, and why */
    const char *nvml_reason, *nvml_remedy;
    struct ifm_nvml own; /* where the library is named */
    char room[256];
    unsigned settle_ms;
};

/* What a reading says about a knob. Both may be true: the old value was the wanted one. */
struct ifm_lock_sight {
    bool is_before, is_wanted;
    bool unsure; /* for a clock: lower than wanted, which idling and throttling cause too */
};

struct ifm_lock_kind {
    const char *knob;
    bool on_gpu;
    bool is_clock; /* NVML reads the current clock, not the locked one */
    /* The present value into `value`. */
    enum ifm_status (*read)(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                            char value[static IFM_LOCK_TEXT], struct ifm_error *error);
    /* Set `value`, which is `wanted` or `before` of the row. */
    enum ifm_status (*write)(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row, const char *value,
                             struct ifm_error *error);
    /* Before anything is changed: is the row's wish one that this target can have? NULL = any that it is given. */
    enum ifm_status (*check)(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                             struct ifm_error *error);
    /* Is it how `read` writes a value, or `before` of a clock? A state file may say anything. */
    bool (*is_value)(const char *text);
    const char *file; /* of a CPU, below cpufreq/ */
    bool is_khz;      /* the file holds a number of kHz */
};
extern const struct ifm_lock_kind ifm_lock_persistence, ifm_lock_power_limit, ifm_lock_memory_clock, ifm_lock_gpu_clock;
extern const struct ifm_lock_kind ifm_lock_frequency_min, ifm_lock_frequency_max, ifm_lock_governor, ifm_lock_turbo;

static inline bool ifm_lock_is_switch(const char *text)
{
    return strcmp(text, "on") == 0 || strcmp(text, "off") == 0;
}

/* lock.c */
/* Read a row's knob into `seen` and interpret it; a clock gets `settle_ms` to reach the wanted value. */
IFM_CHECKED enum ifm_status ifm_lock_look(const struct ifm_lock_machine *machine, struct ifm_lock_row *row,
                                          unsigned settle_ms, struct ifm_lock_sight *sight, struct ifm_error *error);

/* plan.c: the rows of the wishes, read; in the arena. */
IFM_CHECKED enum ifm_status ifm_lock_plan(const struct ifm_lock_machine *machine, const struct ifm_lock_wishes *wishes,
                                          struct ifm_arena *arena, struct ifm_lock_row **rows, size_t *n,
                                          struct ifm_error *error);

/* nvml.c */
void ifm_lock_nvml_open(struct ifm_lock_machine *machine, const char *file);
unsigned ifm_lock_gpus(const struct ifm_lock_machine *machine);
/* UUID of GPU `index`; "" where the driver does not say. */
IFM_CHECKED enum ifm_status ifm_lock_gpu_id(const struct ifm_lock_machine *machine, unsigned index,
                                            char id[static IFM_LOCK_ID], struct ifm_error *error);
/* The index of the GPU at a bus id, or of the only one. */
IFM_CHECKED enum ifm_status ifm_lock_gpu_at(const struct ifm_lock_machine *machine, const char *bus, unsigned *index,
                                            struct ifm_error *error);
/* "it idles", "its power cap holds it down"... why a clock is below what is wanted. */
void ifm_lock_why_slow(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row,
                       char reason[static IFM_LOCK_SENTENCE]);
/* The memory clock of a GPU that has only one; 0 elsewhere. */
unsigned ifm_lock_only_memory_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row);
/* The application clock that the driver keeps; 0 = none. */
unsigned ifm_lock_application_clock(const struct ifm_lock_machine *machine, const struct ifm_lock_row *row);

/* file.c: the state file. */
struct ifm_lock_file {
    struct ifm_lock_row *rows; /* in the arena */
    size_t n;
    long pid;        /* that took them */
    bool other_boot; /* the machine was started again since */
    bool present;
};
/* Make the folder and hold FILE.lock without waiting; the descriptor. IFM_USAGE: another process holds it. */
IFM_CHECKED enum ifm_status ifm_lock_claim(const char *state, int *fd, struct ifm_error *error);
/* Atomically, and synced when it returns. */
IFM_CHECKED enum ifm_status ifm_lock_file_write(const char *state, const char *root, const struct ifm_lock_row *rows,
                                                size_t n, struct ifm_error *error);
/* A file that is not there has no rows and is not `present`. IFM_INVALID names what is wrong in it. */
IFM_CHECKED enum ifm_status ifm_lock_file_read(const char *state, const char *root, struct ifm_arena *arena,
                                               struct ifm_lock_file *out, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_lock_file_remove(const char *state, struct ifm_error *error);

#endif
