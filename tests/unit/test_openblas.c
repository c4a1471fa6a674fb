/* OpenBLAS at run time: what is taken, what is refused, and that several threads may call it at once. */
#include "base/random.h"
#include "dyn/openblas.h"

#include <cmocka.h>

#include "facts.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ifm_openblas *library(void)
{
    const char *why_not;
    const struct ifm_openblas *blas = ifm_openblas_load(&why_not);
    if (blas == NULL) {
        print_message("skipped: %s\n", why_not);
        skip();
    }
    return blas;
}

static void says_what_it_is(void **state)
{
    (void)state;
    const struct ifm_openblas *blas = library();
    const char *why_not = "stale";
    assert_ptr_equal(ifm_openblas_load(&why_not), blas); /* remembered */
    assert_null(why_not);
    assert_true(blas->version[0] >= '0' && blas->version[0] <= '9');
    assert_non_null(strstr(blas->name, blas->version));
    assert_non_null(strstr(blas->name, blas->core));
    const char *best = ifm_openblas_best_core();
    if (getenv("OPENBLAS_CORETYPE") == NULL && best != NULL)
        assert_string_equal(blas->core, best);
    if (getenv("OPENBLAS_CORETYPE") == NULL)
        assert_string_equal(blas->asked, best != NULL ? best : "");
}

static void leaves_the_environment_alone(void **state)
{
    (void)state;
    struct ifm_openblas blas;
    struct ifm_openblas_room room;
    setenv("OPENBLAS_NUM_THREADS", "7", 1);
    unsetenv("OPENBLAS_CORETYPE");
    ifm_openblas_open("libifm-no-such-library.so.0", &blas, &room);
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "7");
    assert_null(getenv("OPENBLAS_CORETYPE"));
    setenv("OPENBLAS_CORETYPE", "Prescott", 1); /* what the user chose stands */
    ifm_openblas_open("libifm-no-such-library.so.0", &blas, &room);
    assert_string_equal(room.asked, "Prescott");
    assert_string_equal(getenv("OPENBLAS_CORETYPE"), "Prescott");
    unsetenv("OPENBLAS_NUM_THREADS");
    unsetenv("OPENBLAS_CORETYPE");
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    struct ifm_openblas blas;
    struct ifm_openblas_room room;
    assert_false(ifm_openblas_open("libifm-no-such-library.so.0", &blas, &room));
    assert_facts(room.why_not, "OpenBLAS|libifm-no-such-library.so.0");
    assert_non_null(strstr(room.why_not, "apt install"));
    assert_false(ifm_openblas_open("/nowhere/at/all/libifm.so.0", &blas, &room));
    assert_null(strchr(room.why_not, '/')); /* no folder of this machine is published */
    assert_false(ifm_openblas_open("libm.so.6", &blas, &room));
    assert_facts(room.why_not, "not OpenBLAS");
}

/* Sizes that neither divide nor fit OpenBLAS's tiles. */
enum { CALLERS = 4, ROUNDS = 40, M = 37, N = 83, K = 131 };

struct caller {
    pthread_t thread;
    const struct ifm_openblas *blas;
    float a[M * K], b[N * K], c[M * N];
    double worst;
};

static double error_of(const struct caller *caller)
{
    double worst = 0;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            double exact = 0;
            for (size_t k = 0; k < K; k++)
                exact += (double)caller->a[i * K + k] * (double)caller->b[j * K + k];
            const double error = fabs((double)caller->c[i * N + j] - exact);
            worst = error > worst || isnan(error) ? error : worst;
        }
    return worst;
}

static void *call(void *arg)
{
    struct caller *caller = arg;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < M * N; i++)
            caller->c[i] = NAN;
        caller->blas->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_TRANSPOSED, M, N, K, 1, caller->a, K,
                            caller->b, K, 0, caller->c, N);
        const double error = error_of(caller);
        caller->worst = error > caller->worst || isnan(error) ? error : caller->worst;
    }
    return NULL;
}

static void several_threads_call_at_once(void **state)
{
    (void)state;
    const struct ifm_openblas *blas = library();
    static struct caller callers[CALLERS];
    for (unsigned t = 0; t < CALLERS; t++) {
        callers[t].blas = blas;
        for (size_t i = 0; i < M * K + N * K; i++) {
            uint32_t word[4];
            ifm_philox(7, t, i, word);
            const float value = (float)word[0] * 0x1p-31f - 1;
            *(i < M * K ? &callers[t].a[i] : &callers[t].b[i - M * K]) = value;
        }
        assert_int_equal(pthread_create(&callers[t].thread, NULL, call, &callers[t]), 0);
    }
    for (unsigned t = 0; t < CALLERS; t++)
        pthread_join(callers[t].thread, NULL);
    for (unsigned t = 0; t < CALLERS; t++)
        assert_true(callers[t].worst < 1e-4); /* K products of at most one, in f32 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_it_is),
        cmocka_unit_test(leaves_the_environment_alone),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(several_threads_call_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
