/* What a warp of packed.cu does with the items of a unit, from its own source for threads of the host: a side tile, all
 * chunks of some pages, their end; against softmax and sums in f64 over what the reference reads of the same pages. */
#include "kernel/cuda/decode_ptx.cuh"

#define __CUDACC__ /* kv/fragment.h is C behind its device code */
#include "kv/fragment.h"
#undef __CUDACC__

#include "kernel/cuda/packed_int2.cuh"

#include "emulated/kv_format.h"
#include "kv_pack_rows.h"

#include <cmath>
#include <thread>

namespace
{

enum { PAGES = 2, TOKENS = PAGES * IFM_DECODE_PAGE + TILE, DIM = 128, PAGE_MOST = 2 * IFM_DECODE_PAGE * DIM + 4096 };
enum { QUERIES = 0, STAGE_AT = 16 * DIM /* offsets in shared memory */ };

enum plant { NONE, NAN_KEY, NAN_VALUE, NAN_SIDE_KEY, NAN_SIDE_VALUE, MASKED_SIDE_KEYS, LEVEL };

typedef void encode_fn(const ifm_kv_layout *, const float *, const float *, unsigned, void *);

struct cell {
    const char *name;
    int number; /* ifm_kv_format */
    encode_fn *encode;
    void (*warp)(); /* a lane's part */
    uint32_t dim, heads;
    int rows;
    float size;  /* of queries */
    double most; /* error allowed; 0: too large for f16, all are NaN */
    enum plant plant = NONE;
    float v[PAGES + 1] = {1, 1, 1}; /* of values of a page, of the side tile */
};

/* What the lanes are given, and leave. */
struct {
    ifm_kv_fragment layout;
    uint32_t heads;
    bool side_first;
    float scale, q[HEADS * DIM];
    alignas(64) unsigned char pages[PAGES * PAGE_MOST];
    uint16_t side[2 * TILE * DIM]; /* K, V */
    float out[HEADS][DIM], side_out[HEADS][DIM], total[HEADS];
} now;

/* A copy into the stage, by the warp. */
void stage(uint32_t at, const void *from, size_t bytes)
{
    __syncwarp();
    if (threadIdx.x == 0)
        std::memcpy(shared + STAGE_AT + at, from, bytes);
    __syncwarp();
}

/* Sums of a lane's columns, which are of values that the pages store, and APART of those of the side tile. */
template <int D, bool APART> void leave(const part_of_unit<D> &part)
{
    const uint32_t g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (uint32_t i = 0; i < sizes<D>::STEPS; i++)
        for (uint32_t j = 0; j < 4; j++) {
            const uint32_t column = 2 * t + j % 2, d = 8 * g + i + (D == 128 ? 64 : 4) * (j / 2);
            const bool is_side = APART && column >= 4;
            const uint32_t head = is_side ? column - 4 : column;
            if (head < now.heads)
                (is_side ? now.side_out : now.out)[head][d] = part.work.out[i][j];
        }
    for (uint32_t j = 0; j < 2; j++) {
        float total = part.work.total[j];
        for (uint32_t step = 4; step < 32; step *= 2)
            total += __shfl_xor_sync(EVERY, total, step);
        if (g == 0 && 2 * t + j < now.heads && !(APART && t >= 2))
            now.total[2 * t + j] = total;
    }
}

template <int D, int FORMAT, bool FEW> void attend()
{
    typedef packs<D, FORMAT> p;
    enum { APART = FEW && p::ROTATED };
    const ifm_kv_fragment &l = now.layout;
    part_of_unit<D> part;
    begin_part<D>(part);
    give_queries<D>(now.q, now.heads, reinterpret_cast<uint4 *>(shared + QUERIES), 0, 1);
    const auto side = [&part] {
        stage(0, now.side, sizeof(uint16_t) * TILE * D);
        stage(sizes<D>::HALF, now.side + TILE * DIM, sizeof(uint16_t) * TILE * D);
        attend_side<D, APART>(part, STAGE_AT, QUERIES, now.scale, TILE - 3, threadIdx.x);
    };
    if (APART && FORMAT != INT2 && now.side_first)
        side(); /* in any order; its scores, the last ones are of no token, raise the maximum first */
    for (uint32_t i = 0; i < PAGES * p::CHUNKS; i++) {
        const unsigned char *page = now.pages + i / p::CHUNKS * l.page_bytes;
        stage(0, page, p::HEAD_BYTES);
        stage(p::HEAD_BYTES, page + p::HEAD_BYTES + i % p::CHUNKS * p::BYTES, p::BYTES);
        attend_body<D, FORMAT, FEW>(part, STAGE_AT, QUERIES, now.scale, threadIdx.x);
    }
    if (!APART || FORMAT == INT2 || !now.side_first) {
        end_body<D, FORMAT, FEW>(part, false, threadIdx.x);
        if (FEW && !APART) /* what settle made of the lanes' totals is of both halves; the side tile's is of one */
            for (float &total : part.work.total)
                total = threadIdx.x % 4 < 2 ? total : 0;
        side();
    }
    end_body<D, FORMAT, FEW>(part, true, threadIdx.x);
    leave<D, APART>(part);
}

/* One warp, each lane a thread. */
void run(const cell &c)
{
    std::vector<std::thread> lanes;
    std::memset(shared, 0xff, sizeof shared);
    for (uint32_t i = 0; i < 32; i++)
        lanes.emplace_back([&c, i] {
            threadIdx.x = i;
            c.warp();
        });
    for (std::thread &lane : lanes)
        lane.join();
}

/* Walsh and Hadamard in f64. */
void rotate(double *x, uint32_t dim)
{
    for (uint32_t half = 1; half < dim; half *= 2)
        for (uint32_t i = 0; i < dim; i++)
            if ((i & half) == 0) {
                const double a = x[i], b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
    for (uint32_t i = 0; i < dim; i++)
        x[i] /= std::sqrt(static_cast<double>(dim));
}

/* The largest error over the root mean square of a head's outputs; without bound where NaN is not what belongs there.
 */
double error_of(const cell &c, const std::vector<float> &k, const std::vector<float> &v, bool apart)
{
    double worst = 0;
    for (uint32_t head = 0; head < c.heads; head++) {
        std::vector<double> weights(TOKENS - 3), expected(c.dim), found(c.dim);
        double top = -1e30, total = 0, wrong = 0, all = 0;
        for (size_t t = 0; t < weights.size(); t++) {
            for (uint32_t d = 0; d < c.dim; d++)
                weights[t] += static_cast<double>(now.q[head * c.dim + d]) * k[t * c.dim + d];
            weights[t] *= now.scale;
            top = std::fmax(top, weights[t]);
        }
        for (size_t t = 0; t < weights.size(); t++) {
            const double weight = std::exp2(weights[t] - top);
            total += weight;
            for (uint32_t d = 0; d < c.dim; d++)
                expected[d] += weight * v[t * c.dim + d];
        }
        for (uint32_t d = 0; d < c.dim; d++)
            found[d] = now.out[head][d];
        if (apart)
            rotate(found.data(), c.dim);
        for (uint32_t d = 0; d < c.dim; d++) {
            const double is = (found[d] + (apart ? now.side_out[head][d] : 0)) / now.total[head];
            double should = expected[d] / total;
            if (apart &&
                c.plant == NAN_SIDE_VALUE) /* 0 x NaN is NaN in the columns beside it, and the turn spreads it */
                should = std::nan("");
            const bool alike = std::isnan(is) == std::isnan(should);
            wrong = std::fmax(wrong, !alike ? 1e30 : std::isnan(is) ? 0 : std::fabs(is - should));
            all += std::isnan(should) ? 0 : should * should;
        }
        worst = std::fmax(worst, wrong / std::sqrt(all > 0 ? all / c.dim : 1));
    }
    return worst;
}

/* Into the second page, as values; into the side tile, as bits: K, and V behind it. */
void plant_page(const cell &c, uint32_t page, float *wide)
{
    if (page == 1 && c.plant == NAN_KEY)
        wide[77 * c.dim + 5] = std::nanf("");
    if (page == 1 && c.plant == NAN_VALUE)
        wide[(IFM_DECODE_PAGE + 77) * c.dim + 5] = std::nanf("");
}

void plant_side(const cell &c, uint16_t *narrow)
{
    if (c.plant == NAN_SIDE_KEY)
        narrow[3 * c.dim + 5] = 0x7e00;
    if (c.plant == NAN_SIDE_VALUE)
        narrow[(IFM_DECODE_PAGE + 3) * c.dim + 5] = 0x7e00;
    for (uint32_t token = 0; token < TILE && c.plant == MASKED_SIDE_KEYS; token += 3)
        narrow[token * c.dim] = 0xfc00;
}

/* Where queries are large all weight is on a few keys, and of a single one errors do not show: the largest score of
 * each page becomes about the same. Queries of odd heads are tiny, and have the page's digits in common with the
 * others. */
void level(const cell &c, const std::vector<float> &k)
{
    for (uint32_t head = 0; head < c.heads; head++) {
        float *q = now.q + head * c.dim;
        for (uint32_t d = 0; d < c.dim && head % 2 == 1; d++)
            q[d] = ifm_f16_to_f32(ifm_f32_to_f16(1e-5f * q[d]));
        for (int again = 0; again < 20 && head % 2 == 0; again++) {
            double best[PAGES] = {-1e30, -1e30}, apart = 0;
            const float *of[PAGES] = {};
            for (uint32_t t = 0; t < PAGES * IFM_DECODE_PAGE; t++) {
                double score = 0;
                for (uint32_t d = 0; d < c.dim; d++)
                    score += static_cast<double>(q[d]) * k[t * c.dim + d];
                if (score > best[t / IFM_DECODE_PAGE]) {
                    best[t / IFM_DECODE_PAGE] = score;
                    of[t / IFM_DECODE_PAGE] = &k[t * c.dim];
                }
            }
            for (uint32_t d = 0; d < c.dim; d++)
                apart += std::pow(static_cast<double>(of[0][d]) - of[1][d], 2);
            for (uint32_t d = 0; d < c.dim; d++)
                q[d] = ifm_f16_to_f32(
                    ifm_f32_to_f16(q[d] + static_cast<float>((best[1] - best[0]) / apart * (of[0][d] - of[1][d]))));
        }
    }
}

/* NaN in a scale or a zero of K, in a scale of V: no output of its heads is a number. Integers alone. */
bool is_nan(const cell &c)
{
    const ifm_kv_fragment &l = now.layout;
    unsigned char *last = now.pages + (PAGES - 1) * l.page_bytes;
    const unsigned char nan[2] = {0x00, 0x7e};
    unsigned char *const places[] = {last + l.k_scale + 2 * 37, last + l.k_zero + 2 * 6,
                                     last + ifm_kv_fragment_v_scale(&l, IFM_DECODE_PAGE - 3)};
    bool all = true;
    for (unsigned char *place : places) {
        const unsigned char was[2] = {place[0], place[1]};
        std::memcpy(place, nan, 2);
        run(c);
        std::memcpy(place, was, 2);
        for (uint32_t i = 0; i < c.heads * c.dim; i++) {
            const uint32_t head = i / c.dim, d = i % c.dim;
            const float x = now.out[head][d] / now.total[head];
            all = all && x != x;
        }
    }
    if (!all)
        std::printf("WRONG %s, D %u, %u heads: NaN became a number\n", c.name, c.dim, c.heads);
    return all;
}

bool is_right(const cell &c)
{
    const ifm_kv_layout layout = ifm_kv_layout_of(c.number, c.dim);
    const uint32_t rows = IFM_DECODE_PAGE * c.dim;
    std::vector<uint16_t> narrow(2 * rows);
    std::vector<float> wide(2 * rows), k(TOKENS * c.dim), v(TOKENS * c.dim);
    std::vector<unsigned char> canonical(PAGES * layout.page_bytes);
    uint32_t state = 7 + c.dim;
    now.layout = ifm_kv_fragment_of(&layout);
    now.heads = c.heads;
    now.side_first = c.v[0] == 1; /* else as in a kernel, which has digits of small values so */
    now.scale = 1.44269504f / std::sqrt(static_cast<float>(c.dim));
    for (uint32_t i = 0; i < c.heads * c.dim; i++)
        now.q[i] = ifm_f16_to_f32(ifm_f32_to_f16(c.size * rows_value(&state)));
    for (uint32_t head = 0; head < c.heads && c.plant == MASKED_SIDE_KEYS; head++)
        now.q[head * c.dim] = 1;                     /* times minus infinity */
    for (uint32_t page = 0; page <= PAGES; page++) { /* the last one is the side tile */
        const uint32_t tokens = page < PAGES ? 0u + IFM_DECODE_PAGE : 0u + TILE, first = page * rows;
        rows_fill(c.rows, c.dim, tokens, 3 + page, narrow.data(), narrow.data() + rows);
        for (uint32_t i = rows; i < 2 * rows && c.v[page] != 1; i++)
            narrow[i] = ifm_f32_to_f16(c.v[page] * ifm_f16_to_f32(narrow[i]));
        if (page == PAGES)
            plant_side(c, narrow.data());
        for (uint32_t i = 0; i < 2 * rows; i++)
            wide[i] = ifm_f16_to_f32(narrow[i]);
        plant_page(c, page, wide.data());
        if (page < PAGES) {
            c.encode(&layout, wide.data(), wide.data() + rows, tokens, canonical.data() + page * layout.page_bytes);
            ifm_kv_page_read(&layout, canonical.data() + page * layout.page_bytes, tokens, &k[first], &v[first]);
            continue;
        }
        std::memcpy(&k[first], &wide[0], tokens * c.dim * sizeof k[0]);
        std::memcpy(&v[first], &wide[rows], tokens * c.dim * sizeof v[0]);
        std::memcpy(now.side, &narrow[0], tokens * c.dim * 2);
        std::memcpy(now.side + TILE * DIM, &narrow[rows], tokens * c.dim * 2);
    }
    ifm_kv_pages_to_fragments(&now.layout, canonical.data(), now.pages, PAGES);
    if (c.plant == LEVEL)
        level(c, k);
    run(c);
    const double error = error_of(c, k, v, layout.rotated && c.heads <= HEADS / 2);
    const bool right = c.most == 0 ? error > 1e20 : error <= c.most;
    std::printf("%s %s, D %u, %u heads, rows %d, queries of %g, values of %g to %g, plant %d: error %.2e of %.1e\n",
                right ? "right" : "WRONG", c.name, c.dim, c.heads, c.rows, static_cast<double>(c.size),
                static_cast<double>(c.v[0]), static_cast<double>(c.v[1]), c.plant, error, c.most);
    return right && (now.layout.floats != 0 || c.plant != NONE || is_nan(c));
}

} // namespace

#define FORMAT_OF(name, number, D, FORMAT, heads)                                                                      \
#name, number, ifm_kv_encode_##name##_scalar, attend < D, FORMAT, (heads) <= HEADS / 2>, D, heads
#define INT8_OF(D, heads) FORMAT_OF(int8, 1, D, INT8, heads)
#define E4M3_OF(D, heads) FORMAT_OF(e4m3, 2, D, E4M3, heads)
#define INT4_OF(D, heads) FORMAT_OF(int4, 3, D, INT4, heads)
#define INT2_OF(D, heads) FORMAT_OF(int2, 4, D, INT2, heads)

int main()
{
    static const cell cells[] = {
        {INT4_OF(128, 4), ROWS_NORMAL, 1, 1.3e-3},
        {INT4_OF(128, 3), ROWS_OUTLIERS, 1, 3e-3},
        {INT4_OF(128, 8), ROWS_NORMAL, 1, 1.3e-3},
        {INT4_OF(128, 5), ROWS_OUTLIERS, 1, 3e-3},
        {INT4_OF(64, 1), ROWS_OUTLIERS, 1, 1e-3},
        {INT4_OF(64, 6), ROWS_CONSTANT, 0.25f, 5e-4},
        {INT4_OF(128, 2), ROWS_SHIFTED, 0.1f, 1e-3},
        {INT4_OF(128, 4), ROWS_NORMAL, 1e-4f, 1.3e-3},
        {INT4_OF(128, 4), ROWS_NORMAL, 30, 1e-3},
        {INT2_OF(128, 4), ROWS_OUTLIERS, 1, 5e-3},
        {INT2_OF(128, 1), ROWS_OUTLIERS, 30, 1e-3, LEVEL},
        {INT2_OF(128, 4), ROWS_OUTLIERS, 30, 1e-3, LEVEL},
        {INT2_OF(128, 8), ROWS_OUTLIERS, 30, 1e-3, LEVEL},
        {INT2_OF(128, 8), ROWS_OUTLIERS, 30, 1e-3},
        {INT2_OF(64, 3), ROWS_OUTLIERS, 30, 1e-3, LEVEL},
        {INT2_OF(64, 8), ROWS_OUTLIERS, 30, 1e-3, LEVEL},
        {INT2_OF(128, 4), ROWS_NORMAL, 100, 1e-3, LEVEL},
        {INT2_OF(128, 5), ROWS_OUTLIERS, 4, 1e-3},
        {INT2_OF(128, 7), ROWS_NORMAL, 1, 1.3e-3},
        {INT2_OF(64, 4), ROWS_NORMAL, 1, 1.3e-3},
        {INT2_OF(128, 1), ROWS_NORMAL, 30, 1e-3},
        {INT2_OF(128, 8), ROWS_NORMAL, 1e-4f, 1e-3},
        {INT2_OF(128, 4), ROWS_SHIFTED, 0.1f, 1e-3},
        {INT2_OF(64, 3), ROWS_CONSTANT, 0.25f, 1e-3},
        {INT2_OF(128, 5), ROWS_TINY, 1, 1e-3},
        {INT2_OF(128, 4), ROWS_TINY, 1, 1e-3},
        {INT2_OF(128, 3), ROWS_HUGE, 0.1f, 1e-3},
        {INT2_OF(128, 4), ROWS_HUGE, 1, 0},
        {INT2_OF(128, 6), ROWS_HUGE, 1e-4f, 1e-3},
        {INT2_OF(64, 8), ROWS_HUGE, 0.1f, 1e-3},
        {INT2_OF(64, 8), ROWS_OUTLIERS, 1, 3e-3},
        {INT8_OF(128, 4), ROWS_OUTLIERS, 1, 2e-3},
        {INT8_OF(64, 8), ROWS_SHIFTED, 0.1f, 1e-3},
        {E4M3_OF(128, 4), ROWS_NORMAL, 1, 1e-3},
        {E4M3_OF(64, 5), ROWS_OUTLIERS, 1, 2e-3},
#define PLANTED(plant)                                                                                                 \
    {INT4_OF(128, 4), ROWS_NORMAL, 1, 2e-3, plant}, {INT4_OF(64, 8), ROWS_NORMAL, 1, 2e-3, plant},                     \
        {INT2_OF(128, 3), ROWS_NORMAL, 1, 2e-3, plant}, {INT8_OF(64, 8), ROWS_NORMAL, 1, 2e-3, plant},                 \
        {INT8_OF(128, 2), ROWS_NORMAL, 1, 2e-3, plant}, {E4M3_OF(128, 4), ROWS_NORMAL, 1, 2e-3, plant}
        PLANTED(NAN_KEY),
        PLANTED(NAN_VALUE),
        PLANTED(NAN_SIDE_KEY),
        PLANTED(NAN_SIDE_VALUE),
        PLANTED(MASKED_SIDE_KEYS),
#define SMALL_VALUES(...)                                                                                              \
    {INT8_OF(128, 4), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                      \
        {INT8_OF(64, 8), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                   \
        {E4M3_OF(128, 8), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                  \
        {E4M3_OF(64, 2), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                   \
        {INT4_OF(128, 4), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                  \
        {INT4_OF(128, 8), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                  \
        {INT2_OF(128, 4), ROWS_NORMAL, 1, 2e-3, NONE, {__VA_ARGS__}},                                                  \
    {                                                                                                                  \
        INT2_OF(64, 8), ROWS_NORMAL, 1, 2e-3, NONE,                                                                    \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
        SMALL_VALUES(1e-3f, 1e-3f, 1e-3f),
        SMALL_VALUES(1e-4f, 1e-4f, 1e-4f),
        SMALL_VALUES(1e-4f, 1, 1e-4f),
        SMALL_VALUES(1e3f, 1e-4f, 1e-4f),
        SMALL_VALUES(1e-4f, 1e3f, 1e3f),
        {INT4_OF(128, 4), ROWS_HUGE, 1, 1e-3},
        {INT4_OF(64, 8), ROWS_HUGE, 1, 1e-3},
        {INT8_OF(64, 8), ROWS_HUGE, 1, 2e-3},
        {INT8_OF(128, 2), ROWS_HUGE, 1, 1e-3},
        {E4M3_OF(128, 4), ROWS_HUGE, 1, 2e-3},
    };
    pthread_barrier_init(&emulated::warps[0].barrier, nullptr, 32);
    bool all = true;
    for (const cell &c : cells)
        all = is_right(c) && all;
    return all ? 0 : 1;
}
