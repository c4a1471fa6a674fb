"""Causal attention with grouped heads in Triton, f16: a block has 128 queries of a head and walks over the keys with an
online softmax. Used by attention_gpu.py."""
import math

import triton
import triton.language as tl

QUERIES, KEYS = 128, 64


@triton.jit
def attention(q, k, v, out, scale, seq, heads, kv_heads, DIM: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr):
    block, pair = tl.program_id(0), tl.program_id(1)
    kv_pair = pair // heads * kv_heads + pair % heads // (heads // kv_heads)
    rows, columns, dims = block * QUERIES + tl.arange(0, QUERIES), tl.arange(0, KEYS), tl.arange(0, DIM)
    at = pair.to(tl.int64) * seq * DIM + rows[:, None] * DIM + dims[None, :]
    queries = tl.load(q + at, mask=rows[:, None] < seq, other=0.0)
    k += kv_pair.to(tl.int64) * seq * DIM
    v += kv_pair.to(tl.int64) * seq * DIM
    most = tl.full((QUERIES,), float("-inf"), tl.float32)
    weights = tl.zeros((QUERIES,), tl.float32)
    sums = tl.zeros((QUERIES, DIM), tl.float32)
    for first in range(0, tl.minimum((block + 1) * QUERIES, seq), KEYS):
        keys = first + columns
        kt = tl.load(k + keys[None, :] * DIM + dims[:, None], mask=keys[None, :] < seq, other=0.0)
        scores = tl.dot(queries, kt) * scale
        scores = tl.where((rows[:, None] >= keys[None, :]) & (keys[None, :] < seq), scores, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        p, shrink = tl.exp2(scores - higher[:, None]), tl.exp2(most - higher)
        weights = weights * shrink + tl.sum(p, 1)
        values = tl.load(v + keys[:, None] * DIM + dims[None, :], mask=keys[:, None] < seq, other=0.0)
        sums = sums * shrink[:, None] + tl.dot(p.to(tl.float16), values)
        most = higher
    tl.store(out + at, (sums / weights[:, None]).to(tl.float16), mask=rows[:, None] < seq)


def forward(torch, q, k, v, out):
    batch, heads, seq, dim = q.shape
    grid = ((seq + QUERIES - 1) // QUERIES, batch * heads)
    attention[grid](q, k, v, out, math.log2(math.e) / math.sqrt(dim), seq, heads, k.shape[1], DIM=dim, QUERIES=QUERIES,
                    KEYS=KEYS, num_warps=8, num_stages=3)
    return out
