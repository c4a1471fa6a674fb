/* How fast a GPU packs pages of the compressed KV cache, as a fraction of its floor: the bytes that it must read and
 * write, at the rate of a copy on the same device in the same process. Every page is compared with the processor's
 * before and after it is timed. bench_kv_pack [PAGES]: about as many bytes as lie far beyond a cache. */
#include "base/clock.h"
#include "base/half.h"
#include "kernel/cpu/dispatch.h"
#include "kv/format.h"
#include "workload/decode/cuda_pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 11, DISTINCT = 64 };

static struct ifm_error error;

static void must(enum ifm_status status)
{
    if (status == IFM_OK)
        return;
    fprintf(stderr, "error: %s\n", error.message);
    exit(status == IFM_MISSING ? 77 : 5);
}

static void *buffer(struct ifm_device *device, const char *name, size_t bytes)
{
    void *at;
    bool fresh;
    must(device->ops->buffer(device, name, bytes, &at, &fresh, &error));
    return at;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench {
    struct ifm_device *device;
    uint16_t *rows;
    unsigned char *pages;
    struct ifm_kv_pack_job *jobs;
    unsigned n;
};

/* DISTINCT pages of rows, again and again. */
static void fill(const struct bench *b, unsigned dim, uint16_t *host)
{
    const size_t page = (size_t)2 * IFM_KV_PAGE * dim;
    uint32_t state = dim;
    for (size_t i = 0; i < DISTINCT * page; i++) {
        state = state * 1664525u + 1013904223u;
        const float x = (float)((int)(state >> 8 & 255) + (int)(state >> 16 & 255) + (int)(state >> 24) - 382) / 64.0f;
        host[i] = ifm_f32_to_f16(i % 16 == 5 ? 6 * x : x);
    }
    must(ifm_cuda_write(b->device, b->rows, host, DISTINCT * page * sizeof *host, &error));
    for (unsigned at = DISTINCT; at < b->n; at *= 2)
        ifm_cuda_copy(b->device, b->rows + at * page, b->rows, (at < b->n - at ? at : b->n - at) * page * sizeof *host);
    must(ifm_cuda_wait(b->device, &error));
}

/* Bytes that differ from the processor's, of all pages. */
static size_t wrong_bytes(const struct bench *b, const struct ifm_kv_layout *l, const uint16_t *host)
{
    const size_t values = (size_t)IFM_KV_PAGE * l->head_dim;
    unsigned char *expected = aligned_alloc(64, DISTINCT * l->page_bytes), *got = malloc(b->n * l->page_bytes);
    float *wide = aligned_alloc(64, 2 * values * sizeof *wide);
    char op[32];
    size_t wrong = 0;
    snprintf(op, sizeof op, "kv_encode.%s", ifm_kv_format_name(l->format));
    for (unsigned i = 0; i < DISTINCT; i++) {
        for (size_t j = 0; j < 2 * values; j++)
            wide[j] = ifm_f16_to_f32(host[i * 2 * values + j]);
        ifm_kernel_find(op, "auto")->fn.kv_encode(l, wide, wide + values, IFM_KV_PAGE, expected + i * l->page_bytes);
    }
    must(ifm_cuda_read(b->device, got, b->pages, b->n * l->page_bytes, &error));
    for (size_t i = 0; i < b->n * l->page_bytes; i++)
        wrong += got[i] != expected[i % (DISTINCT * l->page_bytes)];
    free(expected);
    free(got);
    free(wide);
    return wrong;
}

/* Median seconds. */
static double time_of(const struct bench *b, struct ifm_decode_pack *pack, size_t copy_bytes)
{
    double s[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        must(ifm_cuda_wait(b->device, &error));
        const struct ifm_instant start = ifm_clock_now();
        if (pack != NULL)
            ifm_decode_pack_launch(b->device, pack, b->rows, b->pages, b->jobs, b->n, 1);
        else
            ifm_cuda_copy(b->device, (char *)b->rows + copy_bytes, b->rows, copy_bytes);
        must(ifm_cuda_wait(b->device, &error));
        s[i] = (double)ifm_clock_since(start).ns * 1e-9;
    }
    qsort(s, ROUNDS, sizeof *s, ascending);
    return s[ROUNDS / 2];
}

static void of_dim(struct bench *b, unsigned dim)
{
    const size_t page = (size_t)2 * IFM_KV_PAGE * dim * sizeof(uint16_t), half = b->n * page / 2;
    uint16_t *host = malloc(DISTINCT * page);
    struct ifm_kv_pack_job *jobs = calloc(b->n, sizeof *jobs);
    if (host == NULL || jobs == NULL)
        exit(5);
    for (unsigned i = 0; i < b->n; i++)
        jobs[i] = (struct ifm_kv_pack_job){i * page / sizeof(uint16_t), i, IFM_KV_PAGE};
    must(ifm_cuda_write(b->device, b->jobs, jobs, b->n * sizeof *jobs, &error));
    const double rate = 2.0 * (double)half / time_of(b, NULL, half);
    printf("head_dim %u: %u pages, copy %.0f GB/s\n", dim, b->n, rate * 1e-9);
    fill(b, dim, host);
    for (enum ifm_kv_format format = IFM_KV_INT8; format < IFM_KV_FORMATS; format++) {
        const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
        struct ifm_decode_pack pack;
        must(ifm_decode_pack_open(b->device, &l, &pack, &error));
        ifm_cuda_fill(b->device, b->pages, 0x55555555, b->n * l.page_bytes / 4);
        ifm_decode_pack_launch(b->device, &pack, b->rows, b->pages, b->jobs, b->n, 1);
        size_t wrong = wrong_bytes(b, &l, host);
        ifm_cuda_fill(b->device, b->pages, 0x55555555, b->n * l.page_bytes / 4);
        const double s = time_of(b, &pack, 0), bytes = (double)(b->n * (page + l.page_bytes));
        wrong += wrong_bytes(b, &l, host);
        printf(
            "  %-5s %8.1f us, %6.1f ns a page, %6.0f GB/s read and written, %5.1f %% of the floor, %zu wrong bytes\n",
            ifm_kv_format_name(format), s * 1e6, s * 1e9 / b->n, bytes / s * 1e-9, 100 * bytes / s / rate, wrong);
    }
    free(host);
    free(jobs);
}

int main(int argc, char **argv)
{
    const struct ifm_device_options options = {.threads = 1};
    struct bench b = {.n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8192};
    b.n = b.n < DISTINCT ? DISTINCT : b.n / DISTINCT * DISTINCT;
    must(ifm_device_cuda.open(&options, &b.device, &error));
    const size_t values = (size_t)b.n * 2 * IFM_KV_PAGE * 128;
    b.rows = buffer(b.device, "rows", values * sizeof *b.rows);
    b.pages = buffer(b.device, "pages", values + (size_t)b.n * 4096);
    b.jobs = buffer(b.device, "jobs", b.n * sizeof *b.jobs);
    printf("%s\n", ifm_cuda_gpu(b.device)->name);
    of_dim(&b, 64);
    of_dim(&b, 128);
    b.device->ops->close(b.device);
    return 0;
}
