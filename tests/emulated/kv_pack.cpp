/* The kernels of kv_pack.cu, compiled from their own source for threads of the host: the bytes that the processor's
 * encoder writes. */
#include "kernel/cuda/kv_pack.cu"

#include "emulated/kv_format.h"
#include "kv_pack_rows.h"

#include <thread>

namespace
{

typedef void encode_fn(const ifm_kv_layout *, const float *, const float *, unsigned, void *);
struct format {
    const char *name;
    int number;
    void (*kernel)(ifm_kv_pack);
    encode_fn *encode;
};
const format formats[] = {{"int8", 1, ifm_kv_pack_int8, ifm_kv_encode_int8_scalar},
                          {"e4m3", 2, ifm_kv_pack_e4m3, ifm_kv_encode_e4m3_scalar},
                          {"int4", 3, ifm_kv_pack_int4, ifm_kv_encode_int4_scalar},
                          {"int2", 4, ifm_kv_pack_int2, ifm_kv_encode_int2_scalar}};
enum { ROWS = TOKENS * DIM_MOST, PAGE_MOST = 2 * ROWS + 4096 };

enum { LAYER = 32 }; /* values from one layer's rows to the next one's, whose pages are looked at */
alignas(64) uint16_t rows[LAYER + 2 * ROWS];
alignas(64) float wide[2 * ROWS];
alignas(64) unsigned char written[2 * PAGE_MOST], expected[PAGE_MOST];

void run(const format &f, const ifm_kv_pack &a)
{
    blockDim.x = THREADS;
    gridDim.x = 2 * 2 * a.n_jobs;
    pthread_barrier_init(&emulated::block, nullptr, THREADS);
    for (uint32_t i = 0; i < THREADS / 32; i++)
        pthread_barrier_init(&emulated::warps[i].barrier, nullptr, 32);
    for (uint32_t block = 2 * a.n_jobs; block < gridDim.x; block++) {
        std::vector<std::thread> threads;
        std::memset(shared, 0xff, sizeof shared);
        for (uint32_t i = 0; i < THREADS; i++)
            threads.emplace_back([&f, &a, i, block] {
                threadIdx.x = i;
                blockIdx.x = block;
                f.kernel(a);
            });
        for (std::thread &thread : threads)
            thread.join();
        for (uint32_t i = IFM_KV_PACK_SHARED(a.head_dim); i < sizeof shared; i++)
            if (shared[i] != 0xff) {
                std::printf("beyond its shared memory\n");
                std::exit(1);
            }
    }
}

bool is_right(const format &f, uint32_t dim, int kind, uint32_t tokens)
{
    const ifm_kv_layout l = ifm_kv_layout_of(f.number, dim);
    const uint32_t values = TOKENS * dim;
    uint16_t *const k = rows + LAYER;
    std::memset(rows, 0x7e, sizeof rows); /* rows that are not filled are not read */
    rows_fill(kind, dim, tokens, dim + static_cast<uint32_t>(kind), k, k + values);
    for (uint32_t i = 0; i < 2 * values; i++)
        wide[i] = ifm_f16_to_f32(k[i]);
    std::memset(written, 0x55, sizeof written);
    std::memset(expected, 0xaa, sizeof expected);
    f.encode(&l, wide, wide + values, tokens, expected);
    const ifm_kv_pack_job job = {0, 0, tokens};
    const ifm_kv_pack a = {rows, written, &job, LAYER, 1, dim, static_cast<uint32_t>(l.page_bytes),
                           static_cast<uint32_t>(l.k_scale), static_cast<uint32_t>(l.k_zero),
                           static_cast<uint32_t>(l.v_scale), static_cast<uint32_t>(l.promoted),
                           static_cast<uint32_t>(l.k_codes), static_cast<uint32_t>(l.v_codes),
                           static_cast<uint32_t>(l.k_low)};
    run(f, a);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < 3 * l.page_bytes && i < sizeof written; i++) {
        const bool inside = i >= l.page_bytes && i < 2 * l.page_bytes;
        if (written[i] != (inside ? expected[i - l.page_bytes] : 0x55)) {
            first = wrong == 0 ? i : first;
            wrong++;
        }
    }
    if (wrong > 0)
        std::printf("WRONG %s: head_dim %u, kind %d, %u tokens: %zu bytes of %zu, the first at %zd\n", f.name, dim, kind,
                    tokens, wrong, l.page_bytes, static_cast<ssize_t>(first - l.page_bytes));
    return wrong == 0;
}

} // namespace

int main()
{
    bool all = true;
    unsigned n = 0;
    const uint32_t tokens[] = {128, 127, 65, 17, 1, 0};
    for (const format &f : formats)
        for (uint32_t dim = 32; dim <= DIM_MOST; dim += 32)
            for (int kind = 0; kind < ROWS_KINDS; kind++) {
                if ((dim != 64 && dim != 128) && (kind + static_cast<int>(dim / 32)) % 4 != 0)
                    continue;
                all = is_right(f, dim, kind, kind % 2 == 0 ? 128 : tokens[(dim / 32 + static_cast<uint32_t>(kind)) % 6]) &&
                      all;
                n++;
            }
    std::printf("%u pages\n", n);
    return all ? 0 : 1;
}
