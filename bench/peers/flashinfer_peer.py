#!/usr/bin/env python3
"""FlashInfer's attention and decode on a GPU, where it is installed, as peers of `inferometer attention` and `decode`.

Kernels are named by the profiler, times are those of replayed CUDA graphs, as in attention.py beside this. One line of
JSON for each shape, with the error of 16 outputs' rows against f64. Where FlashInfer is missing, one line says what to
install.

usage: flashinfer_peer.py [attention BxHxGxSxD[c] ...] [decode BxHxGxSxD ...]
  c = causal; without words the ten configurations of the specification, and one sequence of 8k and 32k
"""
import importlib
import itertools
import json
import math
import sys

import attention as peer

PAGE, WORKSPACE = 128, 256 << 20
DECODE = [(1, 32, 8, 8192, 128, False), (1, 32, 8, 32768, 128, False), (8, 32, 8, 32768, 128, False)]


def missing():
    """Why FlashInfer cannot run, and what to do; None where it can."""
    for name, package in (("torch", "torch"), ("flashinfer", "flashinfer-python")):
        try:
            importlib.import_module(name)
        except ImportError as error:
            return "not installed: %s; pip install %s" % (error, package)
    return None


def starts(torch, n, each):
    return torch.arange(0, (n + 1) * each, each, dtype=torch.int32, device="cuda")


def of_attention(torch, flashinfer, shape):
    """The call, and a function of (sequence, head, query) that gives q, the keys and values it sees, and its output."""
    b, h, g, s, d, causal = shape
    sets = [[torch.randn(b * s, heads, d, dtype=torch.float16, device="cuda") for heads in (h, g, g)]
            for _ in range(peer.sets_of(shape))]
    turn, last = itertools.cycle(sets), []
    wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(
        torch.zeros(WORKSPACE, dtype=torch.uint8, device="cuda"), "NHD")
    wrapper.plan(starts(torch, b, s), starts(torch, b, s), h, g, d, causal=causal, q_data_type=torch.float16)

    def call():
        last[:] = next(turn)
        return wrapper.run(*last)

    def row(out, i, head, at):
        q, k, v = last
        rows, kv = slice(i * s, i * s + (at + 1 if causal else s)), head // (h // g)
        return q[i * s + at, head], k[rows, kv], v[rows, kv], out[i * s + at, head]

    return call, row, s


def of_decode(torch, flashinfer, shape):
    b, h, g, s, d, _ = shape
    pages = (s + PAGE - 1) // PAGE
    q = torch.randn(b, h, d, dtype=torch.float16, device="cuda")
    cache = torch.randn(b * pages, 2, PAGE, g, d, dtype=torch.float16, device="cuda")
    last = torch.full((b,), s - (pages - 1) * PAGE, dtype=torch.int32, device="cuda")
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        torch.zeros(WORKSPACE, dtype=torch.uint8, device="cuda"), "NHD", use_tensor_cores=h // g > 1)
    wrapper.plan(starts(torch, b, pages), torch.arange(b * pages, dtype=torch.int32, device="cuda"), last, h, g, d,
                 PAGE, q_data_type=torch.float16, kv_data_type=torch.float16)

    def row(out, i, head, _):
        seen = cache[i * pages:(i + 1) * pages, :, :, head // (h // g)].transpose(0, 1).reshape(2, -1, d)[:, :s]
        return q[i, head], seen[0], seen[1], out[i, head]

    return lambda: wrapper.run(q, cache), row, 1


def error_of(torch, shape, out, row, queries):
    """Of 16 rows spread over the outputs: the largest, relative to the row's own length."""
    b, h, worst = shape[0], shape[1], 0.0
    for n in range(16):
        q, k, v, got = row(out, n % b, n * 7 % h, n * 131 % queries)
        exact = torch.softmax(k.double() @ q.double() / math.sqrt(shape[4]), 0) @ v.double()
        worst = max(worst, float((got.double() - exact).norm() / exact.norm()))
    return worst


def measure(torch, flashinfer, kind, shape):
    said = {"peer": "flashinfer " + getattr(flashinfer, "__version__", "?"), "workload": kind,
            "shape": "x".join(map(str, shape[:5])) + ("c" if shape[5] else "")}
    try:
        call, row, queries = (of_attention if kind == "attention" else of_decode)(torch, flashinfer, shape)
        middle, least, most = peer.time_of(torch, call)
        said |= {"ms": middle, "ms_min": least, "ms_max": most, "kernels": peer.kernels_of(torch, call),
                 "error_rms_rel": error_of(torch, shape, call(), row, queries)}
    except (RuntimeError, ValueError) as error:
        said["refused"] = str(error).splitlines()[0][:200]
    return said


def main(words):
    shapes, kind = [], None
    for word in words:
        if word in ("attention", "decode"):
            kind = word
        elif kind is None:
            sys.exit(__doc__)
        else:
            shapes.append((kind, peer.parse(word)))
    shapes = shapes or [("attention", s) for s in peer.TEN] + [("decode", s) for s in DECODE]
    why_not = missing()
    if why_not is not None:
        print(json.dumps({"peer": "flashinfer", "refused": why_not}))
        return
    import flashinfer
    import torch

    for kind, shape in shapes:
        print(json.dumps(measure(torch, flashinfer, kind, shape)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
