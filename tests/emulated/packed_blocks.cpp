/* Blocks of packed.cu, from its own source for threads of the host: several units each, of different lengths, whole and
 * shared with other blocks; copies as late as they may happen, and at once; NaN and scores of minus infinity. Against
 * softmax and sums in f64 over what the reference reads of the same pages. */
#include "kernel/cuda/packed_ptx.cuh"

#define __CUDACC__ /* kv/fragment.h is C behind its device code */
#include "kv/fragment.h"
#undef __CUDACC__

#undef __shared__
#define __shared__ static /* of the one block that runs */
#include "kernel/cuda/decode_join.cuh"
#undef __shared__
#define __shared__
#include "kernel/cuda/packed.cu"

#include "emulated/kv_format.h"
#include "kv_pack_rows.h"

#include <thread>

namespace
{

enum : uint32_t { D = 128, INT4_OF_THE_CACHE = 3 /* ifm_kv_format */, NO_ROWS = 0x00010001u * IFM_DECODE_NO_ROW };

enum plant {
    NO_PLANT,
    NAN_KEY,
    NAN_VALUE,
    NAN_QUERY,
    MASKED,
    SMALL_VALUES
}; /* the first page, query; all sides; all */

struct length {
    uint32_t pages, sink, ring;
};

struct cell {
    const char *name;
    void (*thread)(const ifm_packed_attend &);
    uint32_t warps, heads;
    std::vector<length> units;
    std::vector<uint32_t> blocks; /* units of each; empty: `flat` blocks share all items equally */
    uint32_t flat;
    bool at_once;
    plant planted;
};

template <int CREW, int STAGES, bool FEW> void attend(const ifm_packed_attend &a)
{
    typedef crew<CREW, STAGES> C;
    enum { RING = STAGES * packs<D, INT4>::STAGE, ROWS_AND_MORE = 20 * 1024 };
    crew_room<C, D> &room = *reinterpret_cast<crew_room<C, D> *>(shared + RING + ROWS_AND_MORE);
    static_assert(RING + ROWS_AND_MORE + sizeof room <= sizeof shared, "");
    attend_packed<C, D, INT4, FEW>(a, reinterpret_cast<char *>(shared), room);
}

/* The cache of a cell, in one piece as a copy may read it, and what is to come out. */
struct pool {
    ifm_kv_layout layout = ifm_kv_layout_of(INT4_OF_THE_CACHE, D);
    ifm_kv_fragment order = ifm_kv_fragment_of(&layout);
    std::vector<uint4> memory; /* aligned */
    std::vector<float> q, expected;
    std::vector<ifm_packed_unit> units;
    unsigned char *body;
    uint16_t *sides;
};

/* Values of a page or of a part of the sides, as f32: K, then V. */
std::vector<float> rows_of(uint32_t tokens, uint32_t seed, enum plant planted)
{
    std::vector<uint16_t> narrow(2 * tokens * D);
    std::vector<float> wide(2 * tokens * D);
    rows_fill(ROWS_NORMAL, D, tokens, seed, narrow.data(), narrow.data() + tokens * D);
    for (size_t i = 0; i < wide.size(); i++)
        wide[i] = ifm_f16_to_f32(narrow[i]);
    for (size_t i = wide.size() / 2; i < wide.size() && planted == SMALL_VALUES; i++)
        wide[i] = ifm_f16_to_f32(ifm_f32_to_f16(1e-3f * wide[i]));
    return wide;
}

void expect_outputs(pool &p, const cell &c, uint32_t unit, const std::vector<float> &k, const std::vector<float> &v)
{
    for (uint32_t head = 0; head < c.heads; head++) {
        std::vector<double> scores(k.size() / D), sum(D);
        double top = -1e30, total = 0;
        for (size_t t = 0; t < scores.size(); t++) {
            for (uint32_t d = 0; d < D; d++)
                scores[t] += static_cast<double>(p.q[(unit * c.heads + head) * D + d]) * k[t * D + d];
            scores[t] /= std::sqrt(static_cast<double>(D));
            top = std::fmax(top, scores[t]);
        }
        for (size_t t = 0; t < scores.size(); t++) {
            const double weight = std::exp(scores[t] - top);
            total += weight;
            for (uint32_t d = 0; d < D; d++)
                sum[d] += weight * v[t * D + d];
        }
        for (uint32_t d = 0; d < D; d++)
            p.expected.push_back(static_cast<float>(sum[d] / total));
    }
}

/* Rows of the sink, and of the ring from its first page on, which is page `pages` % 2. */
void fill_sides(pool &p, uint32_t unit, const length &l, enum plant planted, std::vector<float> &k,
                std::vector<float> &v)
{
    std::vector<float> rows = rows_of(l.sink + l.ring, 77 * unit + 5, planted);
    for (uint32_t t = 0; planted == MASKED && t < l.sink + l.ring; t++)
        rows[t * D] = -INFINITY;
    uint16_t *side = p.sides + static_cast<size_t>(unit) * 2 * IFM_KV_SIDE * D;
    for (uint32_t t = 0; t < l.sink + l.ring; t++) {
        const uint32_t r = t - l.sink;
        const uint32_t part = t < l.sink ? 0 : 1 + (l.pages + r / IFM_KV_SIDE_RING) % 2;
        for (uint32_t of_v = 0; of_v < 2; of_v++) {
            const float *row = &rows[(of_v * (l.sink + l.ring) + t) * D];
            const uint32_t at = ifm_kv_side_row(D, part, t < l.sink ? t : r % IFM_KV_SIDE_RING, of_v);
            for (uint32_t d = 0; d < D; d++)
                side[at + d] = ifm_f32_to_f16(row[d]);
            (of_v ? v : k).insert((of_v ? v : k).end(), row, row + D);
        }
    }
}

void fill(pool &p, const cell &c)
{
    const uint32_t rows = IFM_DECODE_PAGE * D;
    uint32_t pages = 0, item = 0, state = 11;
    for (const length &l : c.units)
        pages += l.pages;
    const size_t body = pages * p.layout.page_bytes, sides = c.units.size() * 4 * IFM_KV_SIDE * D;
    p.memory.assign((body + sides) / 16, uint4{NO_ROWS, NO_ROWS, NO_ROWS, NO_ROWS});
    p.body = reinterpret_cast<unsigned char *>(p.memory.data());
    p.sides = reinterpret_cast<uint16_t *>(p.body + body);
    for (uint32_t i = 0; i < c.units.size() * c.heads * D; i++)
        p.q.push_back(ifm_f16_to_f32(ifm_f32_to_f16(rows_value(&state))));
    for (uint32_t i = 0; c.planted == MASKED && i < p.q.size(); i += D)
        p.q[i] = 1;
    if (c.planted == NAN_QUERY)
        p.q[2] = NAN;
    pages = 0;
    for (uint32_t unit = 0; unit < c.units.size(); unit++) {
        const length &l = c.units[unit];
        std::vector<float> k, v, k_page(rows), v_page(rows);
        std::vector<unsigned char> canonical(p.layout.page_bytes);
        p.units.push_back({pages, l.pages, item, l.sink, l.ring});
        for (uint32_t i = 0; i < l.pages; i++, pages++) {
            std::vector<float> wide = rows_of(IFM_DECODE_PAGE, 31 * pages + 3, c.planted);
            if (pages == 0 && (c.planted == NAN_KEY || c.planted == NAN_VALUE))
                wide[(c.planted == NAN_VALUE ? rows : 0) + 64 * D + 5] = NAN;
            ifm_kv_encode_int4_scalar(&p.layout, wide.data(), wide.data() + rows, IFM_DECODE_PAGE, canonical.data());
            ifm_kv_page_read(&p.layout, canonical.data(), IFM_DECODE_PAGE, k_page.data(), v_page.data());
            ifm_kv_pages_to_fragments(&p.order, canonical.data(), p.body + pages * p.layout.page_bytes, 1);
            k.insert(k.end(), k_page.begin(), k_page.end());
            v.insert(v.end(), v_page.begin(), v_page.end());
        }
        fill_sides(p, unit, l, c.planted, k, v);
        expect_outputs(p, c, unit, k, v);
        item += l.pages * 2 + (l.sink + TILE - 1) / TILE + (l.ring + TILE - 1) / TILE;
    }
    p.units.push_back({0, 0, item, 0, 0});
}

std::vector<ifm_packed_share> shares_of(const cell &c, const std::vector<ifm_packed_unit> &units)
{
    std::vector<ifm_packed_share> shares;
    std::vector<uint32_t> ends;
    const uint32_t all = units.back().item, each = c.flat > 0 ? all / c.flat : 0, more = c.flat > 0 ? all % c.flat : 0;
    uint32_t unit = 0, from = 0, behind = 0;
    for (uint32_t n : c.blocks)
        ends.push_back(units[behind += n].item);
    for (uint32_t i = 1; i <= c.flat; i++)
        ends.push_back(i * each + (i < more ? i : more));
    for (uint32_t end : ends) {
        while (from >= units[unit + 1].item)
            unit++;
        shares.push_back({unit, from, end, units[unit]});
        from = end;
    }
    return shares;
}

/* One block behind another. */
void run(const cell &c, const ifm_packed_attend &a, uint32_t blocks)
{
    gridDim.x = blocks;
    pthread_barrier_init(&emulated::block, nullptr, 32 * c.warps);
    for (uint32_t block = 0; block < blocks; block++) {
        std::vector<std::thread> threads;
        std::memset(shared, 0xff, sizeof shared);
        emulated::barriers.clear();
        for (uint32_t i = 0; i < 32 * c.warps; i++)
            threads.emplace_back([&c, &a, block, i] {
                threadIdx.x = i;
                blockIdx.x = block;
                c.thread(a);
            });
        for (std::thread &thread : threads)
            thread.join();
    }
    pthread_barrier_destroy(&emulated::block);
}

double error_of(const std::vector<float> &expected, const std::vector<float> &out)
{
    double worst = 0, all = 0, n = 0;
    for (size_t i = 0; i < out.size(); i++) {
        if (std::isnan(expected[i]) && std::isnan(out[i]))
            continue;
        const double off = std::fabs(static_cast<double>(out[i]) - expected[i]);
        worst = std::fmax(worst, off == off ? off : 1e30);
        all += std::isnan(expected[i]) ? 0 : static_cast<double>(expected[i]) * expected[i];
        n++;
    }
    return n > 0 ? worst / std::sqrt(all / n) : 0;
}

bool is_right(const cell &c)
{
    const double most = 4e-3;
    pool p;
    fill(p, c);
    const std::vector<ifm_packed_share> shares = shares_of(c, p.units);
    const uint32_t n = static_cast<uint32_t>(c.units.size()), blocks = static_cast<uint32_t>(shares.size());
    std::vector<float> out(p.q.size(), NAN), partials(2 * blocks * (HEAD + HEADS * D));
    std::vector<uint32_t> tickets(n);
    ifm_packed_attend a = {};
    a.body = p.body;
    a.sides = p.sides;
    a.units = p.units.data();
    a.shares = shares.data();
    a.q = p.q.data();
    a.out = out.data();
    a.partials = partials.data();
    a.tickets = tickets.data();
    a.n_units = n;
    a.group = c.heads;
    a.parts = 1;
    a.head_dim = D;
    a.rotated = 1;
    a.scale = 1.44269504f / std::sqrt(static_cast<float>(D));
    a.layout = p.order;
    const char *memory = reinterpret_cast<const char *>(p.memory.data()), *q = reinterpret_cast<const char *>(a.q);
    emulated::readable[0] = {memory, memory + p.memory.size() * sizeof(uint4)};
    emulated::readable[1] = {q, q + p.q.size() * sizeof(float)};
    emulated::at_once = c.at_once;
    run(c, a, blocks);
    const double error = error_of(p.expected, out);
    std::printf("%s %s, %u heads, %u units, %u blocks, copies %s: error %.2e of %.1e\n",
                error <= most ? "right" : "WRONG", c.name, c.heads, n, blocks, c.at_once ? "at once" : "late", error,
                most);
    return error <= most;
}

} // namespace

int main()
{
    enum { PAIR = IFM_PACKED_PAIR_WARPS, WARPS_OF_ALL = IFM_PACKED_WARPS };
    const auto pair = attend<PAIR, IFM_PACKED_PAIR_STAGES, true>;
    const auto all = attend<WARPS_OF_ALL, IFM_PACKED_STAGES_128, false>;
    const std::vector<length> equal(4, {1, 64, 40}),
        ragged = {{1, 64, 130}, {0, 5, 0}, {2, 33, 17}, {0, 64, 64}, {1, 0, 1}};
    const cell cells[] = {
        {"pair, whole units", pair, PAIR, 4, equal, {3, 1}, 0, false, NO_PLANT},
        {"pair, whole units", pair, PAIR, 2, equal, {4}, 0, true, NO_PLANT},
        {"pair, ragged", pair, PAIR, 3, ragged, {2, 3}, 0, true, NO_PLANT},
        {"pair, ragged and shared", pair, PAIR, 1, ragged, {}, 3, false, NO_PLANT},
        {"one block, ragged and shared", all, WARPS_OF_ALL, 5, ragged, {}, 2, true, NO_PLANT},
        {"pair, NaN in a key", pair, PAIR, 4, ragged, {2, 3}, 0, false, NAN_KEY},
        {"pair, NaN in a value", pair, PAIR, 2, ragged, {2, 3}, 0, true, NAN_VALUE},
        {"pair, NaN in a query", pair, PAIR, 3, ragged, {2, 3}, 0, false, NAN_QUERY},
        {"pair, small values", pair, PAIR, 4, ragged, {}, 3, false, SMALL_VALUES},
        {"one block, small values", all, WARPS_OF_ALL, 5, ragged, {}, 2, true, SMALL_VALUES},
        {"pair, sides of minus infinity", pair, PAIR, 4, ragged, {2, 3}, 0, true, MASKED},
        {"one block, sides of minus infinity", all, WARPS_OF_ALL, 5, ragged, {}, 2, false, MASKED},
    };
    for (emulated::warp &warp : emulated::warps)
        pthread_barrier_init(&warp.barrier, nullptr, 32);
    bool right = true;
    for (const cell &c : cells)
        right = is_right(c) && right;
    return right ? 0 : 1;
}

char shared[1]; /* of the kernels, which nobody calls here */
