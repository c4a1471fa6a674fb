/* Which core type of OpenBLAS is fastest here: several copies of the library in one process, each loaded with another
 * OPENBLAS_CORETYPE, called in turn on one thread. Prints the best of all rounds in GFLOP/s of the thread's own time.
 *
 * bench_openblas LIBRARY.so [CORE...]   (the copies lie in the working folder and are removed) */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

enum { MOST = 8, LARGEST = 4096 * 4096, A_MOST = 512 * 4096 };

struct library {
    sgemm *multiply;
    const char *core;
    double best_s;
};

static const struct shape {
    int m, n, k;
} shapes[] = {{1, 4096, 4096}, {8, 4096, 4096}, {64, 4096, 4096}, {256, 2048, 4096}, {512, 512, 512},
              {128, 256, 64},  {64, 64, 64},    {64, 256, 128},   {256, 512, 64}};

static double thread_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int copy(const char *from, const char *to)
{
    char block[65536];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    while (in != NULL && out != NULL && (n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    int failed = in == NULL || out == NULL || ferror(in) || ferror(out);
    if (in != NULL)
        fclose(in);
    return (out != NULL && fclose(out) != 0) || failed;
}

/* The dynamic linker opens one file once: each core type needs a file of its own. */
static int load(const char *file, const char *core, struct library *out)
{
    char name[64];
    snprintf(name, sizeof name, "./bench_openblas_%s.so", core);
    if (copy(file, name) != 0) {
        fprintf(stderr, "cannot copy %s\n", file);
        return 1;
    }
    setenv("OPENBLAS_CORETYPE", core, 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    remove(name);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void *multiply = dlsym(library, "cblas_sgemm"), *name_of = dlsym(library, "openblas_get_corename");
    char *(*read_back)(void);
    memcpy(&out->multiply, &multiply, sizeof multiply);
    memcpy(&read_back, &name_of, sizeof name_of);
    out->core = read_back();
    return 0;
}

static void compare(struct library *libraries, int n, struct shape s, const float *a, const float *b, float *c)
{
    const double flops = 2.0 * s.m * s.n * s.k;
    const int inner = 1 + (int)(2e7 / flops), rounds = flops > 1e9 ? 6 : 30;
    for (int i = 0; i < n; i++)
        libraries[i].best_s = INFINITY;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++) {
            double start = thread_s();
            for (int again = 0; again < inner; again++)
                libraries[i].multiply(101, 111, 112, s.m, s.n, s.k, 1, a, s.k, b, s.k, 0, c, s.n);
            libraries[i].best_s = fmin(libraries[i].best_s, (thread_s() - start) / inner);
        }
    printf("m %-4d n %-5d k %-5d", s.m, s.n, s.k);
    for (int i = 0; i < n; i++)
        printf(" %11.1f", flops / libraries[i].best_s * 1e-9);
    printf("  GFLOP/s\n");
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake"};
    struct library libraries[MOST];
    const int n = argc > 2 ? (argc - 2 < MOST ? argc - 2 : MOST) : 4;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_openblas LIBRARY.so [CORE...]\n");
        return 2;
    }
    for (int i = 0; i < n; i++)
        if (load(argv[1], argc > 2 ? argv[i + 2] : usual[i], &libraries[i]) != 0)
            return 2;
    float *a = malloc(A_MOST * sizeof *a), *b = malloc(LARGEST * sizeof *b), *c = malloc(A_MOST * sizeof *c);
    if (a == NULL || b == NULL || c == NULL)
        return 2;
    for (unsigned i = 0; i < LARGEST; i++)
        b[i] = (float)(i * 2654435761U) * 0x1p-31f - 1;
    memcpy(a, b, A_MOST * sizeof *a);
    printf("%-20s", "core read back");
    for (int i = 0; i < n; i++)
        printf(" %11s", libraries[i].core);
    printf("\n");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        compare(libraries, n, shapes[i], a, b, c);
    free(a);
    free(b);
    free(c);
    return 0;
}
