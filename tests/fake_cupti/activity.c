/* The activity half of the fake CUPTI: records of what the fake driver does, from the moment that a kind is enabled.
 *
 * Further keys of FAKE_CUPTI:
 *   loses=3              each flush tells of so many records that were dropped
 *   loses_at=20          it does so from this flush on alone
 *   forgets=kernel       records of this kind are not there
 *   crashes=1            the process ends by a signal when a kind is enabled after a graph was launched, or at flush
 *                        number `crashes`
 */
#include "dyn/cupti.h"
#include "dyn/cupti_activity.h"
#include "fake_cuda/fake_cuda.h"
#include "fake_cupti.h"
#include "fake_script.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INVALID_PARAMETER = 1, MAX_LIMIT_REACHED = 12, RECORD = 192, CALLS = 16 };

#define DECLARE(name, parameters) FAKE_EXPORT int name parameters;
IFM_CUPTI_ACTIVITY_FUNCTIONS(DECLARE)
FAKE_EXPORT int InitializeInjectionNvtx2(void *get_table);

/* One record as the library lays it out. */
union record {
    unsigned char bytes[RECORD];
    uint32_t kind;
    struct ifm_cupti_kernel kernel;
    struct ifm_cupti_move move;
    struct ifm_cupti_call call;
    struct ifm_cupti_wait wait;
    struct ifm_cupti_marker marker;
};

static ifm_cupti_request_fn *request_buffer;
static ifm_cupti_complete_fn *buffer_complete;
static bool enabled[64];
static union record *records;
static size_t n_records, room, flushes;
static size_t lost;
static const char *calls[CALLS]; /* their number is their id - 1 */

static const char *value_of(const char *key)
{
    return fake_script_value(getenv("FAKE_CUPTI"), key);
}

static unsigned long number(const char *key, unsigned long fallback)
{
    const char *value = value_of(key);
    return value == NULL ? fallback : strtoul(value, NULL, 10);
}

static union record *add(uint32_t kind)
{
    if (n_records == room) {
        room = room == 0 ? 1024 : 2 * room;
        records = realloc(records, room * sizeof *records);
        if (records == NULL)
            abort();
    }
    union record *record = &records[n_records++];
    memset(record, 0, sizeof *record);
    record->kind = kind;
    return record;
}

static uint32_t id_of(const char *name)
{
    uint32_t i = 0;
    while (i + 1 < CALLS && calls[i] != NULL && strcmp(calls[i], name) != 0)
        i++;
    calls[i] = name;
    return i + 1;
}

static void watch(const char *what, const char *name, uint64_t start, uint64_t end, uint32_t joins, uint32_t graph,
                  uint64_t bytes)
{
    const char *forgets = value_of("forgets");
    const bool is_copy = strcmp(what, "copy") == 0;
    if (forgets != NULL && strcmp(forgets, what) == 0)
        return;
    if (strcmp(what, "kernel") == 0 && enabled[IFM_CUPTI_KIND_CONCURRENT_KERNEL]) {
        struct ifm_cupti_kernel *k = &add(IFM_CUPTI_KIND_CONCURRENT_KERNEL)->kernel;
        k->start = start;
        k->end = end;
        k->correlation = joins;
        k->graph = graph;
        k->name = name;
        k->stream = 7;
    } else if ((is_copy || strcmp(what, "fill") == 0) && enabled[IFM_CUPTI_KIND_MEMCPY]) {
        struct ifm_cupti_move *m = &add(is_copy ? IFM_CUPTI_KIND_MEMCPY : IFM_CUPTI_KIND_MEMSET)->move;
        m->start = start;
        m->end = end;
        m->correlation = joins;
        m->graph = graph;
        m->bytes = bytes;
        m->stream = 7;
    } else if (strcmp(what, "wait") == 0 && enabled[IFM_CUPTI_KIND_SYNCHRONIZATION]) {
        struct ifm_cupti_wait *w = &add(IFM_CUPTI_KIND_SYNCHRONIZATION)->wait;
        w->start = start;
        w->end = end;
        w->correlation = joins;
    } else if (strcmp(what, "call") == 0 && enabled[IFM_CUPTI_KIND_DRIVER]) {
        struct ifm_cupti_call *c = &add(IFM_CUPTI_KIND_DRIVER)->call;
        c->id = id_of(name);
        c->start = start;
        c->end = end;
        c->correlation = joins;
        c->thread = (uint32_t)getpid();
    }
}

static void *driver_symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static uint64_t now(void)
{
    unsigned long long (*count)(const char *);
    void *symbol = driver_symbol("fake_cuda_count");
    memcpy(&count, &symbol, sizeof symbol);
    return symbol == NULL ? 1 : count("device ns");
}

int cuptiActivityRegisterCallbacks(ifm_cupti_request_fn *request, ifm_cupti_complete_fn *complete)
{
    if (request == NULL || complete == NULL)
        return INVALID_PARAMETER;
    request_buffer = request;
    buffer_complete = complete;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    void (*set_watcher)(fake_cuda_watcher *);
    void *symbol = driver_symbol("fake_cuda_watch");
    const unsigned long fails = number("refuses", 0);
    if (fails > 0)
        return (int)fails;
    if (request_buffer == NULL || kind < 0 || kind >= 64)
        return INVALID_PARAMETER;
    enabled[kind] = true;
    memcpy(&set_watcher, &symbol, sizeof symbol);
    if (symbol != NULL)
        set_watcher(watch);
    fake_cupti_slow(true);
    return 0;
}

/* As much as fits into each buffer. */
int cuptiActivityFlushAll(uint32_t flag)
{
    size_t done = 0;
    (void)flag;
    flushes++;
    if (flushes >= number("crashes", SIZE_MAX))
        abort();
    if (flushes >= number("loses_at", 0))
        lost = number("loses", 0);
    while (done < n_records || lost > 0) {
        uint8_t *buffer = NULL;
        size_t bytes = 0, most = 0;
        request_buffer(&buffer, &bytes, &most);
        if (buffer == NULL)
            return 0;
        const size_t left = n_records - done, fits = bytes / sizeof *records, n = left < fits ? left : fits;
        if (n > 0)
            memcpy(buffer, &records[done], n * sizeof *records);
        done += n;
        buffer_complete(NULL, 0, buffer, bytes, n * sizeof *records);
    }
    n_records = 0;
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
    uint8_t *next = *record == NULL ? buffer : (uint8_t *)*record + sizeof *records;
    if (next + sizeof *records > buffer + valid)
        return MAX_LIMIT_REACHED;
    *record = next;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    *dropped = lost;
    lost = 0;
    return 0;
}

int cuptiGetTimestamp(uint64_t *ns)
{
    *ns = now();
    return 0;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
    if (domain != IFM_CUPTI_DOMAIN_DRIVER || id == 0 || id > CALLS || calls[id - 1] == NULL)
        return INVALID_PARAMETER;
    *name = calls[id - 1];
    return 0;
}

/* ---- ranges: the library is also what NVTX loads ---- */

static struct {
    uint32_t ids[64], n, last;
} opened; /* ranges that have begun: both ends have one id */

static int push(const char *text)
{
    struct ifm_cupti_marker *m = &add(IFM_CUPTI_KIND_MARKER)->marker;
    m->flags = IFM_CUPTI_MARKER_START;
    m->timestamp = now();
    m->id = ++opened.last;
    m->thread = (uint32_t)getpid();
    m->name = strdup(text);
    opened.ids[opened.n++ % 64] = m->id;
    return 0;
}

static int pop(void)
{
    struct ifm_cupti_marker *m = &add(IFM_CUPTI_KIND_MARKER)->marker;
    m->flags = IFM_CUPTI_MARKER_END;
    m->timestamp = now();
    m->id = opened.ids[--opened.n % 64];
    return 0;
}

int InitializeInjectionNvtx2(void *get_table)
{
    const struct table {
        size_t size;
        int (*module)(int, void ****, unsigned *);
    } * (*get)(uint32_t);
    void ***places = NULL;
    unsigned n = 0;
    memcpy(&get, &get_table, sizeof get);
    const struct table *table = get(1);
    for (int module = 2; module <= 6; module++) /* it takes all or none */
        if (table == NULL || table->module(module, &places, &n) == 0 || places == NULL || n < 7 || places[1] == NULL)
            return 0;
    if (table == NULL || table->module(1, &places, &n) == 0 || n <= 11)
        return 0;
    int (*const begin)(const char *) = push;
    int (*const end)(void) = pop;
    memcpy(places[9], &begin, sizeof begin);
    memcpy(places[11], &end, sizeof end);
    return 1;
}
