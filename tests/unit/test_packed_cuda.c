/* What the kernels of packed.cu rest on: mma.sync multiplies subnormal f16 as they are, and sums products of bytes. On
 * a GPU through tools/portable.sh; in a build's tests on the fake driver. */
#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "device/cuda.h"
#include "kernel/cuda/packed.h"
#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"

#include <math.h>

/* Every code of 10 bits of mantissa, as an operand, times f16 whose sums are exact in f32. */
static void subnormals_are_multiplied(void **context)
{
    (void)context;
    const struct ifm_device_options options = planted_options(false);
    struct ifm_error error = {0};
    struct ifm_device *device;
    struct ifm_cuda_function *probe;
    struct ifm_random random = ifm_random_start(19, 9);
    void *a_at, *b_at, *c_at;
    bool fresh;
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
        ifm_cuda_find(device, "packed", "ifm_packed_probe", &probe, &error) != IFM_OK ||
        device->ops->buffer(device, "a", 512, &a_at, &fresh, &error) != IFM_OK ||
        device->ops->buffer(device, "b", 256, &b_at, &fresh, &error) != IFM_OK ||
        device->ops->buffer(device, "c", 512, &c_at, &fresh, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (unsigned first = 0; first < 1024; first += 16) {
        uint32_t a[32][4], b[32][2];
        float c[32][4];
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned i = 0; i < 4; i++) {
                const unsigned row = lane / 4 + i % 2 * 8, code = (first + row) % 1024, sign = i / 2 * 0x8000;
                a[lane][i] = (code | sign) * 0x10001U;
                b[lane][i % 2] = ifm_f32_to_f16((float)(1 + ifm_random_below(&random, 7))) * 0x10001U;
            }
        planted_write(device, a_at, a, sizeof a);
        planted_write(device, b_at, b, sizeof b);
        ifm_cuda_fill(device, c_at, UINT32_MAX, sizeof c / 4);
        const struct ifm_packed_probe_of of = {a_at, b_at, c_at};
        ifm_cuda_launch(device, &(struct ifm_cuda_launch){probe, 1, 32, 0, &of});
        planted_read(device, c, c_at, sizeof c);
        for (unsigned row = 0; row < 16; row++)
            for (unsigned column = 0; column < 8; column++) {
                double sum = 0;
                for (unsigned t = 0; t < 4; t++)
                    sum += 2 * ((double)ifm_f16_to_f32((uint16_t)b[column * 4 + t][0]) -
                                (double)ifm_f16_to_f32((uint16_t)b[column * 4 + t][1]));
                const double expected = sum * ldexp((double)((first + row) % 1024), -24);
                assert_true((double)c[row % 8 * 4 + column / 2][row / 8 * 2 + column % 2] == expected);
            }
    }
    device->ops->close(device);
}

/* Bytes of all values; sums of 32 products are exact. */
static void bytes_are_multiplied(void **context)
{
    (void)context;
    const struct ifm_device_options options = planted_options(false);
    struct ifm_error error = {0};
    struct ifm_device *device;
    struct ifm_cuda_function *probe;
    struct ifm_random random = ifm_random_start(19, 10);
    void *a_at, *b_at, *c_at;
    bool fresh;
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
        ifm_cuda_find(device, "packed", "ifm_packed_probe_bytes", &probe, &error) != IFM_OK ||
        device->ops->buffer(device, "a", 512, &a_at, &fresh, &error) != IFM_OK ||
        device->ops->buffer(device, "b", 256, &b_at, &fresh, &error) != IFM_OK ||
        device->ops->buffer(device, "c", 1536, &c_at, &fresh, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (unsigned round = 0; round < 64; round++) {
        uint8_t a[32][16], b[32][8];
        int32_t c[3][32][4];
        for (unsigned i = 0; i < sizeof a; i++)
            a[i / 16][i % 16] = round == 0 ? 255 : (uint8_t)ifm_random_below(&random, 256);
        for (unsigned i = 0; i < sizeof b; i++)
            b[i / 8][i % 8] = round == 0 ? 128 : (uint8_t)ifm_random_below(&random, 256);
        planted_write(device, a_at, a, sizeof a);
        planted_write(device, b_at, b, sizeof b);
        const struct ifm_packed_probe_bytes_of of = {a_at, b_at, c_at};
        ifm_cuda_launch(device, &(struct ifm_cuda_launch){probe, 1, 32, 0, &of});
        planted_read(device, c, c_at, sizeof c);
        for (unsigned row = 0; row < 16; row++)
            for (unsigned column = 0; column < 8; column++) {
                int32_t sums[3] = {0, 0, 0};
                for (unsigned k = 0; k < 32; k++) { /* lane t has 4 t on of each 16 */
                    const int32_t x = a[row % 8 * 4 + k / 4 % 4][4 * (row / 8 + k / 16 * 2) + k % 4];
                    const uint8_t y = b[column * 4 + k / 4 % 4][4 * (k / 16) + k % 4];
                    sums[0] += x * (int8_t)y;
                    sums[1] += x * y;
                    sums[2] += k < 16 ? x * (int8_t)y : 0;
                }
                for (unsigned i = 0; i < 3; i++)
                    assert_int_equal(c[i][row % 8 * 4 + column / 2][row / 8 * 2 + column % 2], sums[i]);
            }
    }
    device->ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(subnormals_are_multiplied), WITH_BENCH(bytes_are_multiplied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
