/* The kernels of gemm beside `read.linear` on one thread: stored weights a second, best of all rounds, each round calls
 * every instruction set in turn on memory that was not touched for long.
 *
 * bench_gemm [ROUNDS [N [K]]]      default 60 2048 4096 */
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SETS = 3, M_MOST = IFM_GEMM_M_MOST };
static const size_t ROOM = (size_t)384 << 20; /* bytes of weights that calls walk through */

struct room {
    unsigned char *w;
    size_t at;
    float *x, *out;
    uint64_t sum; /* of what was only read */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one call; `kernel` of a gemm, or of a read. */
static double call_s(struct room *room, const struct ifm_kernel *kernel, const struct ifm_gemm_shape *s, void *scratch)
{
    const size_t bytes = ifm_gemm_bytes(s);
    if (room->at + bytes > ROOM)
        room->at = 0;
    const unsigned char *w = room->w + room->at;
    const struct ifm_gemm_job job = {*s, room->x, w, room->out, scratch};
    room->at += (bytes + 4095) / 4096 * 4096;
    const double start = now_s();
    if (strncmp(kernel->op, "read.", 5) == 0)
        room->sum += kernel->fn.read(w, bytes);
    else
        kernel->fn.gemm(&job, 0, 1);
    return now_s() - start;
}

static void compare(struct room *room, struct ifm_gemm_shape s, int rounds)
{
    static const char *const isas[SETS] = {"avx512vnni", "avx512", "avx2"};
    const struct ifm_kernel *kernels[SETS + 1];
    double best[SETS + 1];
    char op[16];
    snprintf(op, sizeof op, "gemm.%s", ifm_gemm_format_name(s.format));
    for (int i = 0; i <= SETS; i++) {
        kernels[i] = i < SETS ? ifm_kernel_find(op, isas[i]) : ifm_kernel_find("read.linear", "auto");
        best[i] = INFINITY;
    }
    void *scratch = aligned_alloc(64, ifm_gemm_scratch_bytes(&s, 1) + 64);
    for (int round = 0; scratch != NULL && round < rounds; round++)
        for (int i = 0; i <= SETS; i++)
            best[i] = kernels[i] != NULL ? fmin(best[i], call_s(room, kernels[i], &s, scratch)) : INFINITY;
    free(scratch);
    printf("m %llu %-9s", (unsigned long long)s.m, op);
    for (int i = 0; i <= SETS; i++)
        printf("  %s %5.1f", i < SETS ? isas[i] : "read.linear", (double)ifm_gemm_bytes(&s) / best[i] * 1e-9);
    printf("  GB/s\n");
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 60;
    const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 2048, k = argc > 3 ? strtoull(argv[3], NULL, 10) : 4096;
    const char *const *isas;
    size_t n_isas;
    ifm_isas(&isas, &n_isas);
    struct ifm_gemm_shape s = {M_MOST, n, k, 128, IFM_GEMM_F32};
    if (strcmp(isas[0], "avx512vnni") != 0 || n == 0 || k == 0 || ifm_gemm_bytes(&s) > ROOM) {
        fprintf(stderr, "needs a processor with AVX-512 VNNI, and n x k of at most %zu weights\n", ROOM / 4);
        return 2;
    }
    struct room room = {aligned_alloc(4096, ROOM), 0, malloc(M_MOST * k * sizeof(float)),
                        malloc(M_MOST * n * sizeof(float)), 0};
    if (room.w == NULL || room.x == NULL || room.out == NULL)
        return 2;
    memset(room.w, 0x11, ROOM);
    for (size_t i = 0; i < M_MOST * k; i++)
        room.x[i] = (float)(i % 17) - 8;
    for (s.m = 1; s.m <= M_MOST; s.m *= 2)
        for (int format = 0; format < IFM_GEMM_FORMATS; format++) {
            s.format = (enum ifm_gemm_format)format;
            compare(&room, s, rounds);
        }
    fprintf(stderr, "sum of what was read: %016llx\n", (unsigned long long)room.sum);
    free(room.w);
    free(room.x);
    free(room.out);
    return 0;
}
