/* Inferometer plugin ABI 1: measure a workload of your own with `inferometer run --plugin ./my.so`.
 *
 * Plain C11 (and C++11), self-contained: a plugin needs this header and no library of ours. It is a shared object that
 * exports one function, inferometer_plugin, which returns a table. docs/plugins.md walks through an example.
 *
 * Lab: the inferometer command, which loads the plugin, measures, and keeps the record.
 * Step: one unit of the work. Sample: one timed observation of K steps; the lab chooses K.
 *
 * Threads. One thread of the lab makes every call into the plugin, never two at once. Work runs on the other workers
 * through host->parallel alone. A plugin starts no thread that runs while `step` does.
 *
 * Ownership. The table, and every string and array that it points to, must live and stay unchanged until the process
 * ends: make them static const. What the lab passes in lives until the call returns, but for the host, which lives from
 * `open` until `close` returns.
 *
 * Devices. A plugin works on the processor, on a GPU (`--device cuda`), or on either: `devices` in its table says so.
 * On a GPU, memory of host->buffer is the GPU's, and host->cuda has the stream, copies, kernels and launches. It needs
 * no header and no library of CUDA; one that uses the driver API or the runtime finds the lab's context current.
 *
 * Errors. A function that returns int returns 0 when it succeeded. To fail, `return host->fail(host, message, hint)`.
 * No exception may leave the plugin, and it must neither exit nor change signal handlers, the locale, the floating
 * point environment or the affinity of the calling thread.
 *
 * Growth. Structs begin with their size, and later versions only append members. A plugin built with this header keeps
 * working; one built with a later header works as far as this version knows its members. A change that breaks this gets
 * another ABI number. */
#ifndef INFEROMETER_PLUGIN_H
#define INFEROMETER_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INFEROMETER_PLUGIN_ABI 1u

#if defined(__GNUC__)
#define INFEROMETER_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define INFEROMETER_PLUGIN_EXPORT
#endif

/* ---- parameters ---- */

/* Type of a parameter, and the member of struct inferometer_plugin_value that holds it. */
enum inferometer_plugin_type {
    INFEROMETER_PLUGIN_U64 = 0,     /* u64; a whole number */
    INFEROMETER_PLUGIN_F64 = 1,     /* f64; finite */
    INFEROMETER_PLUGIN_BOOL = 2,    /* u64: 0 or 1; written true or false */
    INFEROMETER_PLUGIN_TEXT = 3,    /* text; UTF-8 */
    INFEROMETER_PLUGIN_CHOICE = 4,  /* u64: the index of the word in `choices`, from 0 */
    INFEROMETER_PLUGIN_BYTES = 5,   /* u64: bytes; may be written 64KiB */
    INFEROMETER_PLUGIN_SECONDS = 6, /* f64: seconds; may be written 10ms */
};

/* Flags of a parameter, added together. */
enum {
    INFEROMETER_PLUGIN_SWEEP = 1,   /* a list of values makes an axis of the study */
    INFEROMETER_PLUGIN_PER_ARM = 2, /* an arm may set it, so that arms differ in it */
};

/* One parameter. It becomes the key `<plugin>.<name>` of a study and of --override, and the flag --<name>, with '-' for
 * '_', of the quick form `inferometer <plugin>`; where every command has that flag already, it has the key alone. */
struct inferometer_plugin_param {
    const char *name;     /* a-z, then a-z 0-9 _ ; at most 32; distinct */
    uint32_t type;        /* enum inferometer_plugin_type */
    uint32_t flags;       /* sum of INFEROMETER_PLUGIN_SWEEP, ..._PER_ARM; 0 = neither */
    const char *unit;     /* "" or NULL = none; else as "tokens", "B", "s": letters, digits and _ / % ; at most 16 */
    const char *fallback; /* the default, as a user would write it; inside the range; never NULL */
    double min, max;      /* inclusive range of a number, size or duration; both 0 = no limit; INFINITY on one side */
    const char *choices;  /* of a choice, "naive|unrolled": at least one word; NULL for the other types */
    const char *help;     /* one sentence, no line break */
};

/* The value of one parameter. Its size never changes within an ABI. */
struct inferometer_plugin_value {
    uint64_t u64;
    double f64;
    const char *text; /* every type: the value as it stands in the record; lives until the call returns */
};

/* ---- what the lab offers ---- */

/* What worker `index` of `count` does; index 0 is the calling thread. */
typedef void inferometer_plugin_work_fn(void *arg, unsigned index, unsigned count);

enum {
    INFEROMETER_PLUGIN_SHARED = 1, /* host->buffer: one buffer for all arms of the cell; for inputs, never outputs */
};

/* What an arm runs on; the table's `devices` is a sum of them. */
enum {
    INFEROMETER_PLUGIN_CPU = 1,
    INFEROMETER_PLUGIN_CUDA = 2,
};

struct inferometer_plugin_cuda;

struct inferometer_plugin_host {
    size_t struct_size; /* bytes of this struct as the lab knows it: members beyond it do not exist */
    uint32_t abi;       /* INFEROMETER_PLUGIN_ABI of the lab */
    uint32_t workers;   /* threads of this cell, at least 1, each pinned to a CPU of its own */
    void *context;      /* the lab's own */
    /* Say why a call fails; returns the 1 that the plugin then returns. UTF-8; at most 400 bytes of each are kept.
     * `hint`: what to do instead; NULL = none. Never inside `step`. */
    int (*fail)(const struct inferometer_plugin_host *host, const char *message, const char *hint);
    /* Memory of the device that the arm runs on: zeroed, aligned to 64 bytes or more; of the processor, each page
     * touched by a worker; of a GPU, an address there. The lab frees it when the cell ends. The same name and size give
     * the same memory: within one arm, or with INFEROMETER_PLUGIN_SHARED in `flags` within all arms of the cell.
     * `*fresh` (may be NULL) is 1 when it is new, and 0 when an earlier call has got it: fill a shared input only when
     * it is new. `bytes` is at least 1. When it fails it has called `fail`: return 1. In `open` only. */
    int (*buffer)(const struct inferometer_plugin_host *host, const char *name, size_t bytes, uint32_t flags,
                  void **memory, int *fresh);
    /* Run `work` on all workers and wait until every one has returned. In `open`, `check` and hooks, and in `step`,
     * where it costs a barrier of about a microsecond. Not inside `work`. NULL during `describe`. */
    void (*parallel)(const struct inferometer_plugin_host *host, inferometer_plugin_work_fn *work, void *arg);
    uint32_t device; /* that this call is about: INFEROMETER_PLUGIN_CPU or INFEROMETER_PLUGIN_CUDA */
    uint32_t reserved;
    const struct inferometer_plugin_cuda *cuda; /* NULL where the device is not cuda */
};

/* ---- what the lab offers on a GPU ---- */

enum inferometer_plugin_code_kind {
    INFEROMETER_PLUGIN_CUDA_SOURCE = 0, /* CUDA C++ as text, which NVRTC compiles for this GPU; it may include stdint.h
                                           alone. The result is kept in the user's cache */
    INFEROMETER_PLUGIN_CUDA_BINARY = 1, /* a cubin or a fat binary, or PTX with its final zero */
};
struct inferometer_plugin_code {
    const char *name; /* for messages and compiler: "rmsnorm.cu" */
    uint32_t kind;    /* enum inferometer_plugin_code_kind */
    uint32_t reserved;
    const void *data;
    size_t bytes; /* all of them count: a text without its final zero */
};

struct inferometer_plugin_launch {
    void *kernel; /* of cuda->kernel */
    uint32_t grid[3], block[3];
    uint32_t shared; /* dynamic shared memory of a block, bytes */
    uint32_t reserved;
    void **parameters; /* an address for each parameter, as cuLaunchKernel takes them */
};

/* The GPU. Functions take the host; those that return int have called host->fail when they return 1. During `describe`
 * only the facts are there: the pointers are NULL. */
struct inferometer_plugin_cuda {
    size_t struct_size; /* bytes of this struct as the lab knows it: members beyond it do not exist */
    const char *gpu;    /* "NVIDIA H200" */
    uint32_t major, minor, multiprocessors, reserved;
    uint64_t l2_bytes, memory_bytes;
    void *context; /* a CUcontext, the primary one; current in every call into the plugin. Leave it so */
    void *stream;  /* a CUstream (the runtime's cudaStream_t): all work goes here. Non-blocking */
    /* Copies between host and GPU; all work before them is waited for, and they are done on return. Never in `step`. */
    int (*write)(const struct inferometer_plugin_host *host, void *to, const void *from, size_t bytes);
    int (*read)(const struct inferometer_plugin_host *host, void *to, const void *from, size_t bytes);
    /* Load code, and find a kernel of it that may use `shared` bytes of dynamic shared memory a block. In `open`; both
     * live until the device is closed. The same code is loaded once. */
    int (*module)(const struct inferometer_plugin_host *host, const struct inferometer_plugin_code *code,
                  void **module);
    int (*kernel)(const struct inferometer_plugin_host *host, void *module, const char *name, uint32_t shared,
                  void **kernel);
    /* Blocks of that many threads and bytes that the whole GPU runs at the same time; 0 = none fits. */
    uint32_t (*blocks)(const struct inferometer_plugin_host *host, void *kernel, uint32_t threads, uint32_t shared);
    /* Put work on the stream, also in `step`. Each returns at once; a failure fails the arm. */
    void (*launch)(const struct inferometer_plugin_host *host, const struct inferometer_plugin_launch *launch);
    void (*copy)(const struct inferometer_plugin_host *host, void *to, const void *from, size_t bytes); /* on the GPU */
    void (*fill)(const struct inferometer_plugin_host *host, void *to, uint32_t word, size_t words);
    /* Steps take `n` buffers in turn, 1 to 64, so that no step finds its inputs in the cache because the one before
     * left them there: while `step` runs, `*turn` is 0 to n-1. In `open`. The inputs of all turns hold the same values.
     */
    int (*turns)(const struct inferometer_plugin_host *host, uint32_t n, const uint32_t **turn);
};

/* ---- what one step does ---- */

/* The fewest operations and bytes of one step, computed from the parameters. Rates are computed from them and compared
 * with the measured limits of the machine. Zeroed before `describe`; a member that stays 0 gives no rate. */
struct inferometer_plugin_ledger {
    size_t struct_size;        /* set by the lab; leave it */
    uint64_t flops;            /* floating point operations; a multiply-add is two */
    uint64_t bytes_read;       /* bytes that must be read at least once */
    uint64_t bytes_written;    /* bytes that must be written at least once */
    uint64_t tokens_prompt;    /* prompt tokens processed */
    uint64_t tokens_generated; /* generated tokens; never added to prompt tokens */
    uint64_t rows;             /* items of any other kind: requests, rows, pictures */
    uint64_t working_set;      /* bytes that one step touches; 0 = not known, then no ceilings are measured */
    uint64_t memory;           /* bytes that `open` allocates: a cell that does not fit is refused */
    uint32_t lossy;            /* 1: changes numerics on purpose, so that its error belongs beside its speed */
    uint32_t reserved;         /* 0 */
    double tolerance;          /* largest error_rms_rel and error_max_rel that count as correct; finite, >= 0 */
    const char *feature;       /* what makes this arm different, counted by feature_runs; NULL or "" = none */
    const char *why_not;       /* NULL, or why these settings cannot run here: the cell is recorded as absent */
    uint32_t no_graph;  /* of a GPU. 1: a step cannot be captured into a CUDA graph, so each is launched; the plan
                           says so */
    uint32_t reserved2; /* 0 */
};

/* The outputs of the last step compared with an oracle in higher precision. Zeroed before `check`. */
struct inferometer_plugin_check {
    size_t struct_size;   /* set by the lab; leave it */
    double error_rms_rel; /* sqrt(sum (x - ref)^2 / sum ref^2) */
    double error_max_rel; /* max |x - ref| / max |ref| */
    uint64_t values;      /* outputs compared; at least 1 */
    uint32_t finite;      /* 1: no NaN or infinity that the oracle does not have. Else the errors may be anything */
    uint32_t reserved;    /* 0 */
    const void *output;   /* all outputs, where a step writes them: in memory of host->buffer that is not shared, at the
                             same place each time; of a GPU, their address there. The lab hashes them, and overwrites
                             them before steps */
    size_t output_bytes;  /* at least 1 */
    double reserved_f64;  /* 0; kept for a quality in percent */
};

/* Absent, as a counter's value: never write 0 for a value that was not read. */
#define INFEROMETER_PLUGIN_ABSENT INT64_MIN

/* One integer for each slot of the record that only the plugin can count. */
struct inferometer_plugin_counter {
    const char *name; /* a-z, then a-z 0-9 _ ; at most 32; distinct, and not a column of the lab */
    const char *unit; /* as a parameter's; "count" for plain numbers */
};

/* ---- the table ---- */

struct inferometer_plugin {
    size_t struct_size;       /* sizeof(struct inferometer_plugin) */
    uint32_t abi;             /* INFEROMETER_PLUGIN_ABI */
    uint32_t most_workers;    /* workers that it can use; 0 = as many as there are */
    const char *name;         /* of the workload: a-z, then a-z 0-9 _ ; at most 32; not taken */
    const char *purpose;      /* what is measured; one sentence, no line break */
    const char *timed_region; /* what a sample contains, and so what it does not; one sentence, no line break */

    const struct inferometer_plugin_param *params; /* in the order of help and record; NULL when n_params is 0 */
    size_t n_params;                               /* at most 64 */
    size_t param_size;                             /* sizeof(struct inferometer_plugin_param) */

    const struct inferometer_plugin_counter *counters; /* NULL when n_counters is 0 */
    size_t n_counters;                                 /* at most 16 */
    size_t counter_size;                               /* sizeof(struct inferometer_plugin_counter) */

    /* The ledger of one step with these values (n_params of them, in table order). Pure: the same values give the same
     * ledger; it allocates nothing and touches no state. Check rules between parameters here and fail with the names of
     * those at fault: nothing has run yet. Of `host`, `workers`, `fail`, `device` and the facts of `cuda` may be used.
     * Required. */
    int (*describe)(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger);

    /* Allocate, generate data from `seed`, touch everything; fill outputs with NaN, so that one that no step writes is
     * noticed. `*state` comes back in every later call (NULL is a state too). Several arms are open at a time, and an
     * arm may be opened again after its `close`; each has a state of its own. Not timed. Required. */
    int (*open)(const struct inferometer_plugin_value *values, uint64_t seed,
                const struct inferometer_plugin_host *host, void **state);

    /* THE TIMED REGION: do the step `n` times; the lab passes 1. Every step does the same work with the same output; an
     * output that changes during a run is reported (rule 12). It may compute and call host->parallel. It may not
     * allocate or free, take a lock, do I/O or any other system call, read a clock, or skip work because it was done
     * before. It cannot fail: keep the failure in the state, and report it in `after` or `check`. Required.
     *
     * On a GPU it puts work on host->cuda->stream and on no other, waits for nothing, and allocates nothing. The lab
     * calls it once for each turn while the stream is captured, and replays what it put there: every step of a sample
     * is that same work. Pointers and sizes are fixed then; what changes between steps must change in the GPU's memory.
     * With no_graph, or under --no-graphs, it is called for each step. */
    void (*step)(void *state, uint64_t n);

    /* Compare the outputs of the last step with an oracle. Not timed; before the samples of a cell, and up to 65 times
     * after them, between steps. Outputs that no step has written since the lab overwrote them (by 0xff; as floating
     * point, NaN) must be refused: this is tried once. NULL: the arm is unchecked, and no comparison and no gate rests
     * on it. */
    int (*check)(void *state, struct inferometer_plugin_check *check);

    /* How often the feature that `describe` named has run since `open`; needed where one is named. On a GPU, count it
     * there, since a captured step is not called again. */
    uint64_t (*feature_runs)(const void *state);

    /* Release the state; called once for each `open` that returned 0. Required. */
    void (*close)(void *state);

    /* Untimed, before and after every sample: for what a step uses up. They may allocate and do I/O. With either of
     * them, a sample is one step, with gaps between samples. NULL: none. */
    int (*before)(void *state);
    int (*after)(void *state);

    /* Counters since the last call, into values[0 .. n_counters-1]; untimed, after each slot, and before it, where they
     * are thrown away: steps outside slots are in none. Needed with counters. */
    void (*collect)(void *state, int64_t *values);

    uint32_t devices; /* that it works on, INFEROMETER_PLUGIN_CPU and ..._CUDA added; 0 = the processor */
    uint32_t reserved;
};

/* The one exported symbol. `abi` is the lab's; return the table for it, or NULL when there is none. */
INFEROMETER_PLUGIN_EXPORT const struct inferometer_plugin *inferometer_plugin(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
