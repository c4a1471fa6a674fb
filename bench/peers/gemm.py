#!/usr/bin/env python3
"""PyTorch's linear layer on a GPU, as a peer of `inferometer gemm --device cuda`.

Time of replayed CUDA graphs over rotated weights that exceed the second-level cache, without TF32. One line of JSON for
each shape, with the error against f64.

usage: gemm.py [--bf16] [MxNxK ...]   N rows of weights, K columns; without shapes, those of docs/performance.md
"""
import json
import statistics
import sys

SHAPES = [(m, n, 4096) for n in (14336, 4096) for m in (1, 8, 16, 32, 128)]
SAMPLES, SAMPLE_US, ROTATED = 9, 15000.0, 300e6


def sample(torch, graph, times):
    """Microseconds of `times` replays."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(times):
        graph.replay()
    last.record()
    last.synchronize()
    return 1e3 * first.elapsed_time(last)


def measure(torch, shape, dtype):
    m, n, k = shape
    linear = torch.nn.functional.linear
    copies = max(4, int(ROTATED / (2 * n * k)))
    weights = [torch.randn(n, k, device="cuda", dtype=dtype) / k**0.5 for _ in range(copies)]
    x = torch.randn(m, k, device="cuda", dtype=dtype)
    for w in weights[:3]:
        linear(x, w)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for w in weights:
            out = linear(x, w)
    times = max(1, int(SAMPLE_US / sample(torch, graph, 1)))
    step = statistics.median(sample(torch, graph, times) for _ in range(SAMPLES)) / times / len(weights)
    exact = x.double() @ weights[-1].double().T
    error = float((out.double() - exact).norm() / exact.norm())
    return {"peer": f"torch {torch.__version__} linear", "dtype": str(dtype), "m": m, "n": n, "k": k, "us": step,
            "weights_tb_s": 2e-6 * n * k / step, "error_rms_rel": error}


def main(words):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    dtype = torch.bfloat16 if "--bf16" in words else torch.float16
    shapes = [tuple(map(int, word.split("x"))) for word in words if not word.startswith("-")]
    for shape in shapes or SHAPES:
        print(json.dumps(measure(torch, shape, dtype)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
