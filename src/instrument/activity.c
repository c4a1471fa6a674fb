/* CUPTI's activity: buffers that it fills, and rows that are made of them. */
#include "instrument/activity.h"

#include "dyn/cupti_activity.h"
#include "instrument/nvtx.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 4 << 20, MOST_ROWS = 1 << 24, NAMES = 1024, ALIGNMENT = 8 };

const char *const ifm_activity_names[IFM_ACTIVITY_KINDS] = {
    "kernel", "copy", "fill", "wait", "call", "runtime", "begin", "end", "overhead",
};

const char *const ifm_activity_nameless = "(one of too many names)";

static struct {
    pthread_mutex_t lock;
    const struct ifm_cupti *cupti; /* NULL = nothing is recorded */
    struct ifm_activity_row *rows;
    size_t n, room;
    uint64_t lost;
    char *names[NAMES]; /* each text once, by its hash */
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* CUPTI's texts end with their module. */
static const char *keep_name(const char *name)
{
    uint32_t hash = 2166136261U;
    if (name == NULL || name[0] == '\0')
        return "";
    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    for (size_t i = 0; i < NAMES; i++) {
        char **slot = &recorder.names[(hash + i) % NAMES];
        if (*slot == NULL)
            *slot = strdup(name);
        if (*slot != NULL && strcmp(*slot, name) == 0)
            return *slot;
    }
    return ifm_activity_nameless;
}

static void add(const struct ifm_activity_row *row)
{
    if (recorder.n == recorder.room) {
        const size_t room = recorder.room == 0 ? 4096 : 2 * recorder.room;
        struct ifm_activity_row *more = room > MOST_ROWS ? NULL : realloc(recorder.rows, room * sizeof *recorder.rows);
        if (more == NULL) {
            recorder.lost++;
            return;
        }
        recorder.rows = more;
        recorder.room = room;
    }
    recorder.rows[recorder.n++] = *row;
}

static void add_kernel(const void *record)
{
    const struct ifm_cupti_kernel *k = record;
    add(&(struct ifm_activity_row){IFM_ACTIVITY_KERNEL, k->start, k->end, k->correlation, k->stream, k->graph, 0,
                                   keep_name(k->name)});
}

static void add_move(const void *record)
{
    const struct ifm_cupti_move *m = record;
    const bool is_copy = m->kind == IFM_CUPTI_KIND_MEMCPY;
    add(&(struct ifm_activity_row){is_copy ? IFM_ACTIVITY_COPY : IFM_ACTIVITY_FILL, m->start, m->end, m->correlation,
                                   m->stream, m->graph, m->bytes, is_copy ? "copy" : "fill"});
}

static void add_wait(const void *record)
{
    const struct ifm_cupti_wait *w = record;
    add(&(struct ifm_activity_row){IFM_ACTIVITY_WAIT, w->start, w->end, w->correlation, w->stream, 0, 0, "wait"});
}

static void add_call(const void *record)
{
    const struct ifm_cupti_call *c = record;
    const bool of_runtime = c->kind == IFM_CUPTI_KIND_RUNTIME;
    const char *name = NULL;
    if (recorder.cupti->p_cuptiGetCallbackName(of_runtime ? IFM_CUPTI_DOMAIN_RUNTIME : IFM_CUPTI_DOMAIN_DRIVER, c->id,
                                               &name) != IFM_CUPTI_SUCCESS)
        name = NULL;
    add(&(struct ifm_activity_row){of_runtime ? IFM_ACTIVITY_RUNTIME : IFM_ACTIVITY_CALL, c->start, c->end,
                                   c->correlation, c->thread, 0, 0, keep_name(name)});
}

static void add_marker(const void *record)
{
    const struct ifm_cupti_marker *m = record;
    const bool begins = (m->flags & IFM_CUPTI_MARKER_START) != 0;
    if (begins || (m->flags & IFM_CUPTI_MARKER_END) != 0)
        add(&(struct ifm_activity_row){begins ? IFM_ACTIVITY_BEGIN : IFM_ACTIVITY_END, m->timestamp, m->timestamp,
                                       m->id, m->thread, 0, 0, keep_name(m->name)});
}

static void add_overhead(const void *record)
{
    const struct ifm_cupti_overhead *o = record;
    add(&(struct ifm_activity_row){IFM_ACTIVITY_OVERHEAD, o->start, o->end, 0, 0, 0, 0, "CUPTI"});
}

static const struct {
    uint32_t kind;
    void (*add)(const void *record);
} kinds[] = {{IFM_CUPTI_KIND_CONCURRENT_KERNEL, add_kernel},
             {IFM_CUPTI_KIND_MEMCPY, add_move},
             {IFM_CUPTI_KIND_MEMSET, add_move},
             {IFM_CUPTI_KIND_SYNCHRONIZATION, add_wait},
             {IFM_CUPTI_KIND_DRIVER, add_call},
             {IFM_CUPTI_KIND_MARKER, add_marker},
             {IFM_CUPTI_KIND_OVERHEAD, add_overhead},
             {IFM_CUPTI_KIND_RUNTIME, add_call}};
#define KINDS (sizeof kinds / sizeof *kinds)

static void request(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    *buffer = aligned_alloc(ALIGNMENT, BUFFER);
    *bytes = *buffer == NULL ? 0 : BUFFER;
    *most_records = 0;
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    void *record = NULL;
    size_t dropped = 0;
    (void)bytes;
    pthread_mutex_lock(&recorder.lock);
    while (valid > 0 && recorder.cupti->p_cuptiActivityGetNextRecord(buffer, valid, &record) == IFM_CUPTI_SUCCESS) {
        uint32_t kind;
        memcpy(&kind, record, sizeof kind);
        for (size_t i = 0; i < KINDS; i++)
            if (kinds[i].kind == kind)
                kinds[i].add(record);
    }
    if (recorder.cupti->p_cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == IFM_CUPTI_SUCCESS)
        recorder.lost += dropped;
    pthread_mutex_unlock(&recorder.lock);
    free(buffer);
}

bool ifm_activity_begin(const struct ifm_cupti *cupti, bool runtime, char why[static 320])
{
    if (recorder.cupti != NULL)
        return true;
    recorder.cupti = cupti;
    int result = cupti->p_cuptiActivityRegisterCallbacks(request, complete);
    for (size_t i = 0; result == IFM_CUPTI_SUCCESS && i < KINDS - (runtime ? 0 : 1); i++)
        result = cupti->p_cuptiActivityEnable((int)kinds[i].kind);
    if (result == IFM_CUPTI_SUCCESS)
        return true;
    recorder.cupti = NULL;
    snprintf(why, 320, "%s", ifm_cupti_why(cupti, result, "recording activity").reason);
    return false;
}

/* All records that there are so far are delivered. */
static bool flush(char why[static 320])
{
    if (recorder.cupti == NULL) {
        snprintf(why, 320, "nothing records in this process");
        return false;
    }
    const int result = recorder.cupti->p_cuptiActivityFlushAll(IFM_CUPTI_FLUSH_FORCED);
    if (result == IFM_CUPTI_SUCCESS)
        return true;
    snprintf(why, 320, "%s", ifm_cupti_why(recorder.cupti, result, "fetching records").reason);
    return false;
}

uint64_t ifm_activity_now(void)
{
    uint64_t ns = 0;
    return recorder.cupti != NULL && recorder.cupti->p_cuptiGetTimestamp(&ns) == IFM_CUPTI_SUCCESS ? ns : 0;
}

uint64_t ifm_activity_reset(char why[static 320])
{
    uint64_t ns = 0;
    if (!flush(why))
        return 0;
    pthread_mutex_lock(&recorder.lock);
    recorder.n = 0;
    recorder.lost = 0;
    pthread_mutex_unlock(&recorder.lock);
    const int result = recorder.cupti->p_cuptiGetTimestamp(&ns);
    if (result == IFM_CUPTI_SUCCESS && ns > 0)
        return ns;
    snprintf(why, 320, "%s", ifm_cupti_why(recorder.cupti, result, "asking for the time").reason);
    return 0;
}

static void add_range(enum ifm_activity_kind kind, const char *name)
{
    const uint64_t now = ifm_activity_now();
    pthread_mutex_lock(&recorder.lock);
    add(&(struct ifm_activity_row){kind, now, now, 0, (uint32_t)gettid(), 0, 0, keep_name(name)});
    pthread_mutex_unlock(&recorder.lock);
}

void ifm_activity_push(const char *name)
{
    add_range(IFM_ACTIVITY_BEGIN, name);
}

void ifm_activity_pop(void)
{
    add_range(IFM_ACTIVITY_END, "");
}

/* Of what began at the same time, a call of the runtime before the driver's inside it. */
static int order_of(enum ifm_activity_kind kind)
{
    return kind == IFM_ACTIVITY_RUNTIME ? 2 * (int)IFM_ACTIVITY_CALL - 1 : 2 * (int)kind;
}

static int by_start(const void *a, const void *b)
{
    const struct ifm_activity_row *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->kind != y->kind)
        return order_of(x->kind) < order_of(y->kind) ? -1 : 1;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

bool ifm_activity_take(struct ifm_activity_rows *out, char why[static 320])
{
    *out = (struct ifm_activity_rows){NULL, 0, 0};
    if (!flush(why))
        return false;
    pthread_mutex_lock(&recorder.lock);
    if (recorder.n > 0)
        qsort(recorder.rows, recorder.n, sizeof *recorder.rows, by_start);
    *out = (struct ifm_activity_rows){recorder.rows, recorder.n, recorder.lost};
    pthread_mutex_unlock(&recorder.lock);
    return true;
}

/* ---- what rows amount to ---- */

static bool begins_with(const char *text, const char *front)
{
    return strncmp(text, front, strlen(front)) == 0;
}

static bool is_stamp(const struct ifm_activity_row *row)
{
    return row->kind == IFM_ACTIVITY_KERNEL && strcmp(row->name, "ifm_stamp") == 0;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Correlations of the stamps' launches, sorted. NULL with `*n` = 0 where there are none. */
static uint32_t *stamps_of(const struct ifm_activity_row *rows, size_t n, size_t *stamps)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += is_stamp(&rows[i]);
    uint32_t *list = found == 0 ? NULL : calloc(found, sizeof *list);
    *stamps = 0;
    for (size_t i = 0; list != NULL && i < n; i++)
        if (is_stamp(&rows[i]))
            list[(*stamps)++] = rows[i].correlation;
    if (list != NULL)
        qsort(list, *stamps, sizeof *list, by_number);
    return list;
}

static bool is_graph_launch(const char *call)
{
    return begins_with(call, "cuGraphLaunch") || begins_with(call, "cudaGraphLaunch");
}

static bool is_launch(const char *call)
{
    return (begins_with(call, "cuLaunch") || begins_with(call, "cudaLaunch")) && strstr(call, "HostFunc") == NULL;
}

/* The host goes on when the GPU has done what came before: a copy that is not asynchronous waits, too. */
static bool is_wait(const char *call)
{
    const bool copies = begins_with(call, "cuMemcpy") || begins_with(call, "cudaMemcpy");
    return strstr(call, "Synchronize") != NULL || (copies && strstr(call, "Async") == NULL);
}

/* Events of a stream are a clock, unless the host waits for one. */
static bool is_clock(const char *call)
{
    return (begins_with(call, "cuEvent") || begins_with(call, "cudaEvent")) && !is_wait(call);
}

static void count_call(const struct ifm_activity_row *row, struct ifm_activity_counts *out)
{
    const int64_t ns = (int64_t)(row->end - row->start);
    if (is_clock(row->name))
        return;
    out->calls++;
    out->call_ns += ns;
    out->launches += is_launch(row->name);
    out->graph_launches += is_graph_launch(row->name);
    out->launch_ns += is_launch(row->name) || is_graph_launch(row->name) ? ns : 0;
    out->wait_ns += is_wait(row->name) ? ns : 0;
}

/* ---- calls inside calls: the runtime's around the driver's ---- */

struct open_calls {
    struct open_call {
        uint32_t thread;
        uint64_t end;
    } * items;
    size_t n, room;
};

/* Is the call inside one of its thread that was seen before? Calls come in the order of their starts. */
static bool is_inside(struct open_calls *calls, const struct ifm_activity_row *row)
{
    size_t i = 0;
    while (i < calls->n && calls->items[i].thread != row->place)
        i++;
    if (i < calls->n && row->start < calls->items[i].end)
        return true;
    if (i == calls->room) {
        const size_t room = calls->room == 0 ? 16 : 2 * calls->room;
        struct open_call *more = realloc(calls->items, room * sizeof *more);
        if (more == NULL)
            return false;
        calls->items = more;
        calls->room = room;
    }
    calls->items[i] = (struct open_call){row->place, row->end};
    calls->n += i == calls->n;
    return false;
}

/* Time of the GPU so far: its first work, the end of its last, and how long it had any. */
struct busy {
    uint64_t first, last;
    int64_t ns;
    int64_t to_kernel_ns, span_ns; /* up to its last kernel */
};

/* Work of the GPU, in order of its start. What follows the last kernel is how results are fetched. */
static void count_work(const struct ifm_activity_row *row, struct ifm_activity_counts *out, struct busy *busy)
{
    const bool is_kernel = row->kind == IFM_ACTIVITY_KERNEL;
    const uint64_t from = row->start > busy->last ? row->start : busy->last;
    out->kernels += is_kernel && row->graph == 0;
    out->graph_kernels += is_kernel && row->graph != 0;
    out->kernel_ns += is_kernel ? (int64_t)(row->end - row->start) : 0;
    out->graph_kernel_ns += is_kernel && row->graph != 0 ? (int64_t)(row->end - row->start) : 0;
    out->copies += !is_kernel;
    out->copy_bytes += (int64_t)row->bytes;
    if (busy->last == 0)
        busy->first = row->start;
    if (row->end > from)
        busy->ns += (int64_t)(row->end - from);
    busy->last = row->end > busy->last ? row->end : busy->last;
    if (is_kernel) {
        busy->to_kernel_ns = busy->ns;
        busy->span_ns = (int64_t)(busy->last - busy->first);
    }
}

static void count_host(const struct ifm_activity_row *row, struct open_calls *calls, struct ifm_activity_counts *out)
{
    out->waits += row->kind == IFM_ACTIVITY_WAIT;
    if (row->kind == IFM_ACTIVITY_CALL || row->kind == IFM_ACTIVITY_RUNTIME) {
        if (!is_inside(calls, row))
            count_call(row, out);
    } else if (row->kind == IFM_ACTIVITY_OVERHEAD)
        out->overhead_ns += (int64_t)(row->end - row->start);
}

static void add_busy(const struct busy *busy, struct ifm_activity_counts *out)
{
    out->busy_ns += busy->to_kernel_ns;
    out->span_ns += busy->span_ns;
}

static bool is_of_stamps(const struct ifm_activity_row *row, const uint32_t *stamps, size_t n)
{
    return n > 0 && row->kind <= IFM_ACTIVITY_CALL &&
           bsearch(&row->correlation, stamps, n, sizeof *stamps, by_number) != NULL;
}

struct ifm_activity_counts ifm_activity_count(const struct ifm_activity_row *rows, size_t n, uint64_t from, uint64_t to)
{
    struct ifm_activity_counts out = {0};
    struct busy busy = {0};
    struct open_calls calls = {NULL, 0, 0};
    size_t n_stamps;
    uint32_t *stamps = stamps_of(rows, n, &n_stamps);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_activity_row *row = &rows[i];
        if (is_of_stamps(row, stamps, n_stamps))
            continue;
        if (row->kind <= IFM_ACTIVITY_FILL)
            count_work(row, &out, &busy);
        else if (row->start >= from && row->start <= to)
            count_host(row, &calls, &out);
    }
    add_busy(&busy, &out);
    free(calls.items);
    free(stamps);
    return out;
}

/* ---- of samples alone ---- */

struct sample {
    uint64_t from, to;
    struct busy busy;
};

/* A call, and the sample in which it began. */
struct placed_call {
    uint32_t correlation;
    struct sample *sample; /* NULL = between two of them */
};

/* The slot's own range begins first, and may have any name. */
static bool is_sample(const struct ifm_activity_row *rows, size_t i)
{
    bool inside = false;
    if (rows[i].kind != IFM_ACTIVITY_BEGIN || strcmp(rows[i].name, IFM_NVTX_SAMPLE) != 0)
        return false;
    for (size_t before = 0; before < i && !inside; before++)
        inside = rows[before].kind == IFM_ACTIVITY_BEGIN;
    return inside;
}

size_t ifm_activity_samples(const struct ifm_activity_row *rows, size_t n)
{
    size_t samples = 0;
    for (size_t i = 0; i < n; i++)
        samples += is_sample(rows, i);
    return samples;
}

/* Room for one more than there are. */
static void find_samples(const struct ifm_activity_row *rows, size_t n, struct sample *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t end = i + 1;
        if (!is_sample(rows, i))
            continue;
        while (end < n && (rows[end].kind != IFM_ACTIVITY_END || rows[end].start == rows[i].start))
            end++;
        *out++ = (struct sample){.from = rows[i].start, .to = end < n ? rows[end].start : rows[i].start};
    }
}

static int by_time(const void *key, const void *sample)
{
    const uint64_t at = *(const uint64_t *)key;
    const struct sample *s = sample;
    return at < s->from ? -1 : at >= s->to;
}

static struct sample *sample_at(const struct ifm_activity_row *row, struct sample *samples, size_t n)
{
    return bsearch(&row->start, samples, n, sizeof *samples, by_time);
}

static int by_correlation(const void *a, const void *b)
{
    return by_number(&((const struct placed_call *)a)->correlation, &((const struct placed_call *)b)->correlation);
}

static bool count_row(const struct ifm_activity_row *row, struct sample *sample, const struct placed_call *calls,
                      size_t n_calls, struct open_calls *open, struct ifm_activity_counts *out)
{
    if (row->kind > IFM_ACTIVITY_FILL) {
        if (sample != NULL)
            count_host(row, open, out);
        return true;
    }
    const struct placed_call key = {.correlation = row->correlation},
                             *call = bsearch(&key, calls, n_calls, sizeof *calls, by_correlation);
    if (call != NULL && call->sample != NULL)
        count_work(row, out, &call->sample->busy);
    return call != NULL;
}

bool ifm_activity_count_samples(const struct ifm_activity_row *rows, size_t n, struct ifm_activity_counts *out)
{
    const size_t n_samples = ifm_activity_samples(rows, n);
    struct sample *samples = calloc(n_samples + 1, sizeof *samples);
    struct placed_call *calls = calloc(n + 1, sizeof *calls);
    struct open_calls open = {NULL, 0, 0};
    size_t n_calls = 0, n_stamps;
    uint32_t *stamps = stamps_of(rows, n, &n_stamps);
    bool known = samples != NULL && calls != NULL;
    *out = (struct ifm_activity_counts){0};
    if (known)
        find_samples(rows, n, samples);
    for (size_t i = 0; known && i < n; i++)
        if (rows[i].kind == IFM_ACTIVITY_CALL)
            calls[n_calls++] = (struct placed_call){rows[i].correlation, sample_at(&rows[i], samples, n_samples)};
    if (known)
        qsort(calls, n_calls, sizeof *calls, by_correlation);
    for (size_t i = 0; known && i < n; i++)
        if (!is_of_stamps(&rows[i], stamps, n_stamps))
            known = count_row(&rows[i], sample_at(&rows[i], samples, n_samples), calls, n_calls, &open, out);
    for (size_t i = 0; known && i < n_samples; i++)
        add_busy(&samples[i].busy, out);
    free(open.items);
    free(stamps);
    free(calls);
    free(samples);
    return known;
}
