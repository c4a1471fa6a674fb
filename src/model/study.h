/* A study: the resolved configuration in plain data, as `config` hands it to `plan`.
 *
 * Immutable once built; everything lives in the configuration's arena. */
#ifndef IFM_MODEL_STUDY_H
#define IFM_MODEL_STUDY_H

#include "base/param.h"

enum ifm_cache_mode { IFM_CACHE_HOT = 0, IFM_CACHE_COLD };
enum ifm_locks { IFM_LOCKS_OBSERVED = 0, IFM_LOCKS_REQUIRED };
enum ifm_stop_rule { IFM_STOP_MDE = 0, IFM_STOP_REPEATS, IFM_STOP_GROUP, IFM_STOP_DECIDED };
/* Repeats are divided into so many blocks; with more repeats slots become longer, and blocks fewer, where nothing says
 * how long slots are. */
enum { IFM_MANY_BLOCKS = 20 };
/* What the arms of a cell share: everything; the process but not the buffers; or nothing but the machine. */
enum ifm_isolation { IFM_ISOLATION_SHARED = 0, IFM_ISOLATION_BUFFERS, IFM_ISOLATION_PROCESSES };

/* How a pass is measured: the section "measure" of the configuration binds into this struct. */
struct ifm_measure {
    uint64_t warmup;         /* steps of each arm before the first block */
    double warmup_cap_s;     /* longest warm-up of one cell, steady-state extensions included */
    double steady_tolerance; /* relative difference of two windows at which an arm counts as steady */
    int stop;                /* enum ifm_stop_rule */
    uint64_t repeats;        /* samples of each arm under IFM_STOP_REPEATS */
    double mde;              /* wanted minimum detectable effect, relative */
    double cap_s;            /* time cap of one cell's blocks, but under IFM_STOP_REPEATS */
    uint64_t blocks_min, blocks_max;
    uint64_t slot_steps; /* samples in a slot, at least; 0 = what run/cell/calibrate.c finds enough */
    double slot_min_s;   /* a slot lasts at least this long */
    uint64_t inner;      /* steps in a sample; 0 = as many as the clock needs */
    int cache;           /* enum ifm_cache_mode */
    double margin;       /* decisions: relative change that counts as equal */
    int locks;           /* enum ifm_locks */
    int isolation;       /* enum ifm_isolation */
    uint64_t replica;    /* a sweep of it measures the same cell again, with another seed */
    double truncate;    /* numbers: per cent of the samples that a trimmed mean leaves out at either end; 0 = its own */
    uint64_t resamples; /* numbers: of every bootstrap interval; 0 = as many as n asks for, and none of the median */
    bool counters;      /* a counters pass follows it: what the hardware counts */
    bool trace;         /* a trace pass follows it: kernels, copies and calls of a GPU */
    bool energy;        /* an energy pass follows the latency pass */
    double energy_window_s;  /* length of one of its windows */
    uint64_t energy_windows; /* of each arm, at least 3; rounded up to an even number */
    double energy_idle_s;    /* idle with a live context, before and after the windows */
    double pre_roll_s;       /* of the same arm before a slot that follows another power level */
    double power_sample_hz;  /* of power.csv and of sensors that give watts */
    double rated_w;          /* of all processors, for the estimate; 0 = not known */
    const char *power_meter; /* CSV file or pipe of an external meter; "" = none */
};

/* One row of the configuration's array `arms`. */
struct ifm_arm_spec {
    const char *name;
    bool baseline;
    const struct ifm_setting *set; /* per-arm settings, full paths */
    size_t n_set;
    const char *where; /* "config.yaml:12" for messages */
};

/* One row of the configuration's array `gates`. */
enum ifm_gate_op { IFM_GATE_AT_MOST = 0, IFM_GATE_AT_LEAST };
struct ifm_gate {
    const char *name;
    const char *metric; /* metric id, see `inferometer explain` */
    const char *arm; /* arm name; "" = every arm that is neither baseline nor ceiling (all arms if there is only one) */
    const char *cell;    /* cell name; "" = every cell */
    int op;              /* enum ifm_gate_op */
    double threshold;    /* in the metric's unit */
    bool interval;       /* the whole interval must satisfy the gate, not only the number */
    uint64_t least_n;    /* observations behind the number; fewer block the gate. 0 = as many as the metric needs */
    const char *classes; /* class tables (data/gates/classes.txt) whose labels go beside the verdict; "" = none */
};

/* A path with the values it takes; n > 1 makes an axis. */
struct ifm_axis {
    const char *path;
    const char *const *texts;
    size_t n;
};

struct ifm_study {
    const char *config_hash; /* SHA-256 of the lock file's {parameters, arms, gates}, compact form */
    uint64_t seed;
    const struct ifm_axis *axes; /* every parameter row, in table order, those with n = 1 included */
    size_t n_axes;
    const char *const *workloads; /* workload names of this study */
    size_t n_workloads;
    const char *const *ceilings; /* "read", "flops", ...: ceiling arms that cells take along */
    size_t n_ceilings;
    const struct ifm_arm_spec *arms;
    size_t n_arms;
    const struct ifm_gate *gates;
    size_t n_gates;
    const char *const *gate_places; /* "config.yaml:12:5" of each gate, for messages */
    struct ifm_measure measure;     /* the values of cells that do not sweep these rows */
};

#endif
