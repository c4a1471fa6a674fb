/* Kernels of attention over views, run on threads of the host and held against softmax in f64. */
#ifndef IFM_EMULATED_FLASH_VIEWS_H
#define IFM_EMULATED_FLASH_VIEWS_H

#include "kernel/cuda/flash_ptx.cuh"

namespace
{

typedef void kernel_fn(ifm_attention_strided);

struct cell {
    kernel_fn *kernel;
    uint32_t dim, tokens, q_heads, kv_heads, warps, rows; /* rows: of a block */
    bool is_bf16, causal;
    enum { CONTIGUOUS, PACKED } layout;
    float size = 1; /* of queries and keys: large scores go through flash_plain.cuh */
};

enum { SEQUENCES = 2, GAP = 8, BEHIND = 64 /* values that are NaN, behind each row and behind the last one */ };

struct views {
    ifm_strides q, kv, out;
    uint64_t k, v, inputs, outputs; /* where K and V begin; values of all inputs, of the output */
};

views views_of(const cell &c)
{
    const uint32_t dim = c.dim, head = c.tokens * dim, row = (c.q_heads + 2 * c.kv_heads) * dim + GAP;
    const uint64_t q = static_cast<uint64_t>(c.q_heads) * head, kv = static_cast<uint64_t>(c.kv_heads) * head;
    if (c.layout == cell::CONTIGUOUS)
        return {{q, head, dim},       {kv, head, dim},          {q, head, dim}, SEQUENCES * q,
                SEQUENCES * (q + kv), SEQUENCES * (q + 2 * kv), SEQUENCES * q};
    const uint32_t out = c.q_heads * dim + GAP;
    const ifm_strides packed = {static_cast<uint64_t>(c.tokens) * row, dim, row};
    return {packed,
            packed,
            {static_cast<uint64_t>(c.tokens) * out, dim, out},
            c.q_heads * dim,
            (c.q_heads + c.kv_heads) * dim,
            SEQUENCES * packed.sequence,
            static_cast<uint64_t>(SEQUENCES) * c.tokens * out};
}

uint64_t place(const ifm_strides &at, uint64_t sequence, uint64_t head, uint64_t row)
{
    return sequence * at.sequence + head * at.head + row * at.row;
}

/* Rows of `heads` heads, each value some number that f16 and bf16 hold; those behind a sequence's length stay NaN. */
void fill(std::vector<uint16_t> &all, const cell &c, const ifm_strides &at, uint64_t first, uint32_t heads,
          const uint32_t *lengths, float size)
{
    static uint32_t seed = 1;
    for (uint32_t sequence = 0; sequence < SEQUENCES; sequence++)
        for (uint32_t head = 0; head < heads; head++)
            for (uint32_t row = 0; row < lengths[sequence]; row++)
                for (uint32_t d = 0; d < c.dim; d++) {
                    seed = seed * 1664525u + 1013904223u;
                    const float x = static_cast<float>(static_cast<int32_t>(seed >> 24) - 128) / 64 * size;
                    all[first + place(at, sequence, head, row) + d] =
                        c.is_bf16 ? ifm_f32_to_bf16(x) : ifm_f32_to_f16(x);
                }
}

double value(const cell &c, uint16_t bits)
{
    return c.is_bf16 ? ifm_bf16_to_f32(bits) : ifm_f16_to_f32(bits);
}

void run_blocks(const cell &c, const ifm_attention_strided &a)
{
    const uint32_t blocks = (c.tokens + c.rows - 1) / c.rows * c.q_heads * SEQUENCES;
    blockDim.x = 32 * c.warps;
    gridDim.x = blocks;
    pthread_barrier_init(&emulated::block, nullptr, blockDim.x);
    for (uint32_t i = 0; i < c.warps; i++)
        pthread_barrier_init(&emulated::warps[i].barrier, nullptr, 32);
    for (uint32_t block = 0; block < blocks; block++) {
        std::vector<std::thread> threads;
        std::memset(room, 0xff, sizeof room); /* NaN */
        for (uint32_t i = 0; i < blockDim.x; i++)
            threads.emplace_back([&c, &a, i, block] {
                threadIdx.x = i;
                blockIdx.x = block;
                c.kernel(a);
                emulated::groups.clear();
            });
        for (std::thread &thread : threads)
            thread.join();
    }
}

/* The error of a row's outputs, and what they are. */
struct errors {
    double wrong = 0, right = 0;
    bool nan = false;
};

void compare_row(const cell &c, const views &at, const std::vector<uint16_t> &in, const uint16_t *out,
                 uint32_t sequence, uint32_t head, uint32_t row, uint32_t length, errors *e)
{
    const uint32_t seen = row >= length ? 0 : c.causal ? row + 1 : length, kv_head = head / (c.q_heads / c.kv_heads);
    const uint16_t *q = &in[place(at.q, sequence, head, row)], *k = &in[at.k + place(at.kv, sequence, kv_head, 0)];
    const uint16_t *v = &in[at.v + place(at.kv, sequence, kv_head, 0)];
    std::vector<double> weights(seen), want(c.dim);
    double top = -INFINITY, total = 0;
    for (uint32_t key = 0; key < seen; key++) {
        for (uint32_t d = 0; d < c.dim; d++)
            weights[key] += value(c, q[d]) * value(c, k[static_cast<uint64_t>(key) * at.kv.row + d]);
        weights[key] /= std::sqrt(static_cast<double>(c.dim));
        top = std::fmax(top, weights[key]);
    }
    for (uint32_t key = 0; key < seen; key++) {
        total += weights[key] = std::exp(weights[key] - top);
        for (uint32_t d = 0; d < c.dim; d++)
            want[d] += weights[key] * value(c, v[static_cast<uint64_t>(key) * at.kv.row + d]);
    }
    for (uint32_t d = 0; d < c.dim; d++) {
        const double expected = seen > 0 ? want[d] / total : 0, got = value(c, out[d]);
        e->nan = e->nan || std::isnan(got);
        e->wrong += (got - expected) * (got - expected);
        e->right += expected * expected;
    }
}

bool is_right(const cell &c)
{
    const views at = views_of(c);
    const uint32_t lengths[SEQUENCES] = {c.tokens, c.tokens / 2};
    std::vector<uint16_t> in(at.inputs + BEHIND, 0xffff), out(at.outputs + BEHIND, 0xffff);
    fill(in, c, at.q, 0, c.q_heads, lengths, c.size);
    fill(in, c, at.kv, at.k, c.kv_heads, lengths, c.size);
    fill(in, c, at.kv, at.v, c.kv_heads, lengths, 1);
    ifm_attention_strided a = {};
    a.q = in.data();
    a.k = in.data() + at.k;
    a.v = in.data() + at.v;
    a.out = out.data();
    a.lengths = lengths;
    a.q_heads = c.q_heads;
    a.kv_heads = c.kv_heads;
    a.seq_len = c.tokens;
    a.head_dim = static_cast<uint16_t>(c.dim);
    a.causal = c.causal;
    a.storage = c.is_bf16 ? IFM_CUDA_BF16 : IFM_CUDA_F16;
    a.q_views = at.q;
    a.kv_views = at.kv;
    a.out_views = at.out;
    const char *from = reinterpret_cast<const char *>(in.data());
    emulated::readable[0] = {from, from + 2 * at.inputs};
    run_blocks(c, a);
    errors e;
    std::vector<bool> is_output(out.size());
    for (uint32_t sequence = 0; sequence < SEQUENCES; sequence++)
        for (uint32_t head = 0; head < c.q_heads; head++)
            for (uint32_t row = 0; row < c.tokens; row++) {
                const uint64_t first = place(at.out, sequence, head, row);
                compare_row(c, at, in, &out[first], sequence, head, row, lengths[sequence], &e);
                std::fill_n(is_output.begin() + static_cast<ptrdiff_t>(first), c.dim, true);
            }
    bool untouched = true;
    for (uint64_t i = 0; i < out.size(); i++)
        untouched = untouched && (is_output[i] || out[i] == 0xffff);
    const double error = std::sqrt(e.wrong / e.right);
    const bool right = !e.nan && error < (c.is_bf16 ? 6e-3 : 8e-4) && untouched;
    std::printf("%s %s: %u tokens of %u, %u/%u heads%s%s: error %.1e%s\n", right ? "right" : "WRONG",
                c.layout == cell::PACKED ? "packed" : "contiguous", c.tokens, c.dim, c.q_heads, c.kv_heads,
                c.is_bf16 ? ", bf16" : "", c.causal ? ", causal" : "", error,
                e.nan       ? ", NaN"
                : untouched ? ""
                            : ", and a gap is written to");
    return right;
}

} // namespace

/* All of them, or the exit status of a test that fails. */
template <size_t N> int check_cells(const cell (&cells)[N])
{
    bool all = true;
    for (const cell &c : cells)
        all = is_right(c) && all;
    return all ? 0 : 1;
}

#endif
