/* What it costs to write the elastic KV cache: a page per format and instruction set, and a token appended.
 *
 *   bench_kv [--dim D] [--rounds N]
 *
 * Every round times each arm once, in turn; the least and the median over rounds are printed. "memcpy" copies the f32
 * rows of the page (K and V), which is what an encoder must read. An append is timed over whole pages: "ring" is a
 * token that only goes into the f16 ring (or, in f16, into its page), "all" has its share of the encoding in it. */
#include "base/clock.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "kv/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_LIMIT = 1000, APPEND_PAGES = 16 };

struct bench {
    unsigned dim, rounds;
    float *k, *v, *copy;
    double us[ROUNDS_LIMIT];
};

static void *memory_of(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL) {
        fprintf(stderr, "bench_kv: out of memory\n");
        exit(5);
    }
    memset(memory, 0, bytes);
    return memory;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(struct bench *b, const char *what, const char *isa, double per, const char *unit)
{
    qsort(b->us, b->rounds, sizeof b->us[0], by_value);
    printf("%-16s %-10s min %9.3f  median %9.3f %s\n", what, isa, b->us[0] / per, b->us[b->rounds / 2] / per, unit);
}

static const struct ifm_kernel *kernel_of(enum ifm_kv_format format, const char *isa)
{
    char op[32];
    snprintf(op, sizeof op, "kv_encode.%s", ifm_kv_format_name(format));
    return ifm_kernel_find(op, isa);
}

static void time_copy(struct bench *b)
{
    const size_t bytes = (size_t)IFM_KV_PAGE * b->dim * sizeof(float);
    for (unsigned round = 0; round < b->rounds; round++) {
        const struct ifm_instant start = ifm_clock_now();
        memcpy(b->copy, b->k, bytes);
        memcpy(b->copy + bytes / sizeof(float), b->v, bytes);
        __asm__ volatile("" : : "r"(b->copy) : "memory");
        b->us[round] = (double)ifm_clock_since(start).ns * 1e-3;
    }
    print(b, "memcpy", "", 1, "us/page");
}

static void time_page(struct bench *b, enum ifm_kv_format format, const struct ifm_kernel *kernel)
{
    const struct ifm_kv_layout layout = ifm_kv_layout_of(format, b->dim);
    void *page = memory_of(layout.page_bytes);
    for (unsigned round = 0; round < b->rounds; round++) {
        const struct ifm_instant start = ifm_clock_now();
        kernel->fn.kv_encode(&layout, b->k, b->v, IFM_KV_PAGE, page);
        b->us[round] = (double)ifm_clock_since(start).ns * 1e-3;
    }
    print(b, kernel->op, kernel->isa, 1, "us/page");
    free(page);
}

/* Tokens that leave no page behind (the first 127 of each), and all of them. */
static void time_append(struct bench *b, enum ifm_kv_format format)
{
    const uint64_t capacity[] = {(APPEND_PAGES + 2) * IFM_KV_PAGE};
    const struct ifm_kv_shape shape = {format, b->dim, 1, capacity, 0, false, 0};
    void *pool = memory_of(ifm_kv_pool_bytes(&shape));
    struct ifm_kv_cache *cache;
    struct ifm_error error;
    const struct ifm_kernel *kernel = kernel_of(format, "auto");
    if (ifm_kv_cache_create(&shape, kernel->fn.kv_encode, pool, &cache, &error) != IFM_OK) {
        fprintf(stderr, "bench_kv: %s\n", error.message);
        exit(error.code);
    }
    double all[ROUNDS_LIMIT];
    for (unsigned round = 0; round < b->rounds; round++) {
        double ring = 0, whole = 0;
        ifm_kv_adopt(cache, 0, 0);
        ifm_kv_append_many(cache, 0, IFM_KV_PAGE, b->k, b->v);
        for (int page = 0; page < APPEND_PAGES; page++) {
            const struct ifm_instant start = ifm_clock_now();
            for (size_t t = 0; t < IFM_KV_PAGE - 1; t++)
                ifm_kv_append(cache, 0, b->k + t * b->dim, b->v + t * b->dim);
            ring += (double)ifm_clock_since(start).ns;
            ifm_kv_append(cache, 0, b->k, b->v);
            whole += (double)ifm_clock_since(start).ns;
        }
        b->us[round] = ring / (APPEND_PAGES * (IFM_KV_PAGE - 1));
        all[round] = whole / (APPEND_PAGES * IFM_KV_PAGE);
    }
    char what[32];
    snprintf(what, sizeof what, "append.%s", ifm_kv_format_name(format));
    print(b, what, "ring", 1, "ns/token");
    memcpy(b->us, all, sizeof all);
    print(b, what, "all", 1, "ns/token");
    ifm_kv_cache_destroy(cache);
    free(pool);
}

int main(int argc, char **argv)
{
    static struct bench b = {.dim = 128, .rounds = 101};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--dim") == 0)
            b.dim = (unsigned)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--rounds") == 0)
            b.rounds = (unsigned)strtoul(argv[i + 1], NULL, 10);
    }
    if (b.dim < 32 || b.dim > IFM_KV_DIM_MOST || b.dim % 32 != 0 || b.rounds < 1 || b.rounds > ROUNDS_LIMIT) {
        fprintf(stderr, "bench_kv: --dim is a multiple of 32 up to 256, --rounds 1 .. 1000\n");
        return 2;
    }
    const size_t values = (size_t)IFM_KV_PAGE * b.dim;
    b.k = memory_of(values * sizeof(float));
    b.v = memory_of(values * sizeof(float));
    b.copy = memory_of(2 * values * sizeof(float));
    struct ifm_random random = ifm_random_start(1, 0);
    for (size_t i = 0; i < values; i++) {
        b.k[i] = (float)ifm_random_normal(&random) * (i % b.dim % 32 == 5 ? 12.0f : 1.0f);
        b.v[i] = (float)ifm_random_normal(&random);
    }
    time_copy(&b);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (size_t i = 0; i < n; i++) {
            const struct ifm_kernel *kernel = kernel_of(format, isas[i]);
            if (kernel != NULL && strcmp(kernel->isa, isas[i]) == 0)
                time_page(&b, format, kernel);
        }
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        time_append(&b, format);
    return 0;
}
