/* Threads of the host beside a GPU: every part once, whatever their number. No GPU is needed. */
#include <cmocka.h>

#include "device/cuda.h"

static void add_part(void *arg, unsigned index, unsigned n)
{
    unsigned *parts = arg;
    __atomic_fetch_add(&parts[index < n ? index : 0], n, __ATOMIC_RELAXED);
}

static void every_part_is_done_once(void **state)
{
    (void)state;
    assert_true(ifm_cuda_host_threads() >= 1);
    for (unsigned n = 1; n <= 9; n += 4) {
        unsigned parts[16] = {0};
        ifm_device_cuda.parallel(NULL, n, add_part, parts);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(parts[i], i < n ? n : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_part_is_done_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
