#!/usr/bin/env python3
"""PyTorch's attention on a GPU, one backend at a time, as a peer of `inferometer attention --device cuda`.

Each backend is pinned (torch.nn.attention.sdpa_kernel), its kernels are named by the profiler, and its time is that of
replayed CUDA graphs, as the lab's own steps are timed: each takes the next of so many Q, K, V and outputs as no cache
holds. One line of JSON for each shape and backend; a backend that refuses a shape says why.

usage: attention.py [--only BACKEND,...] [BxHxGxSxD[c] ...]
  c = causal; without shapes, the ten configurations of the specification
  BACKEND: FLASH_ATTENTION, CUDNN_ATTENTION, EFFICIENT_ATTENTION, MATH
"""
import collections
import itertools
import json
import math
import statistics
import sys

TEN = [(32, 8, 8, s, 64, False) for s in (128, 256, 512, 1024, 2048)]
TEN += [(b, 8, 8, 512, 64, False) for b in (8, 16, 64)] + [(32, h, h, 512, 64, False) for h in (4, 16)]
ALL = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION", "MATH")
SAMPLES, SAMPLE_MS = 9, 15.0
ROTATED, TURNS = 240e6, 64  # bytes: four times the 60 MB of an L2; sets that the lab takes in turn, at most


def parse(word):
    causal = word.endswith("c")
    return (*map(int, word.rstrip("c").split("x")), causal)


def sets_of(shape):
    """How many Q, K, V and outputs in f16 are taken in turn."""
    b, h, g, s, d = shape[:5]
    return min(TURNS, math.ceil(ROTATED / (2 * b * s * d * 2 * (h + g))))


def graph_of(torch, call, n):
    """n calls in one graph, captured on a stream of its own after a warm-up there."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            call()
    return graph


def elapsed(torch, run):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    run()
    last.record()
    last.synchronize()
    return first.elapsed_time(last)


def time_of(torch, call):
    call()
    n = max(2, min(400, int(4.0 / max(elapsed(torch, call), 1e-3))))
    graph = graph_of(torch, call, n)
    once = elapsed(torch, graph.replay)
    times = max(1, int(SAMPLE_MS / once))

    def replay():
        for _ in range(times):
            graph.replay()

    replay()
    samples = [elapsed(torch, replay) / times / n for _ in range(SAMPLES)]
    return statistics.median(samples), min(samples), max(samples)


def kernels_of(torch, call):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    return sorted({e.name for e in profile.events()
                   if e.device_type == torch.autograd.DeviceType.CUDA and not e.name.startswith("Memset")})


def measure(torch, shape, backend):
    from torch.nn.attention import sdpa_kernel

    b, h, g, s, d, causal = shape
    sets = [[torch.randn(b, heads, s, d, dtype=torch.float16, device="cuda") for heads in (h, g, g)]
            for _ in range(sets_of(shape))]
    turn, outputs = itertools.cycle(sets), collections.deque(maxlen=len(sets))  # kept, so that each has its own memory

    def call():
        with sdpa_kernel(backend):
            outputs.append(torch.nn.functional.scaled_dot_product_attention(*next(turn), is_causal=causal,
                                                                            enable_gqa=g != h))

    said = {"shape": "x".join(map(str, shape[:5])) + ("c" if causal else ""), "backend": backend.name,
            "sets": len(sets)}
    try:
        middle, least, most = time_of(torch, call)
        flops = 4.0 * b * h * s * s * d / (2 if causal else 1)
        said |= {"ms": middle, "ms_min": least, "ms_max": most, "tflops": flops / middle / 1e9,
                 "kernels": kernels_of(torch, call)}
    except RuntimeError as error:
        said["refused"] = str(error).splitlines()[0][:200]
    return said


def main():
    import torch

    words, names = sys.argv[1:], ALL
    if words[:1] == ["--only"]:
        names, words = words[1].split(","), words[2:]
    pinned = [getattr(torch.nn.attention.SDPBackend, name) for name in names]
    print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
                      "gpu": torch.cuda.get_device_name()}), flush=True)
    for shape in [parse(word) for word in words] or TEN:
        for backend in pinned:
            print(json.dumps(measure(torch, shape, backend)), flush=True)


if __name__ == "__main__":
    main()
