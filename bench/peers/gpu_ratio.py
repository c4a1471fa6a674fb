#!/usr/bin/env python3
"""Kernels of ours beside a library's in one process, so that drifts of the GPU are no part of their ratio's interval:
the driver API in PyTorch's context, graphs of many steps, rounds in random order.

usage: gpu_ratio.py IMAGES attention|decode
  IMAGES     the folder of flash.fatbin, flash_sm90.fatbin and decode.fatbin: src/kernel/cuda of a build folder
  attention  the ten configurations: what `ours` takes, PyTorch's FlashAttention-2 and cuDNN
  decode     caches of 4 GB and more, whose data the command generates and checks for minutes: ours and cuDNN
"""
import ctypes as C
import itertools
import math
import os
import random
import statistics as st
import sys

import attention as peer
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

cu = C.CDLL("libcuda.so.1")
torch.zeros(1, device="cuda")
LOG2E, SMS = 1.44269504088896341, 132


class Attribute(C.Structure):
    _fields_ = [("id", C.c_int), ("pad", C.c_int), ("value", C.c_int), ("rest", C.c_char * 60)]


class Config(C.Structure):
    _fields_ = [(n, C.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")]
    _fields_ += [("stream", C.c_void_p), ("attributes", C.c_void_p), ("n", C.c_uint)]


class Attention(C.Structure):
    """struct ifm_attention_arguments"""
    _fields_ = [(n, C.c_void_p) for n in ("q", "k", "v", "out", "lengths")]
    _fields_ += [(n, C.c_uint32) for n in ("q_heads", "kv_heads", "seq_len")]
    _fields_ += [("head_dim", C.c_uint16), ("causal", C.c_uint8), ("storage", C.c_uint8)]


class Decode(C.Structure):
    """struct ifm_decode_attend"""
    _fields_ = [(n, C.c_void_p) for n in ("k", "v", "table", "units", "first", "q", "out", "partials", "tickets")]
    _fields_ += [(n, C.c_uint32) for n in ("n_units", "group", "parts", "head_dim", "tokens", "pages", "splits")]
    _fields_ += [("scale", C.c_float)]


EARLY = Attribute(6, 0, 1, b"")  # programmatic stream serialization


def must(result, what):
    if result != 0:
        raise RuntimeError("%s: CUDA %d" % (what, result))


def function(image, name, shared):
    module, out = C.c_void_p(), C.c_void_p()
    with open(os.path.join(sys.argv[1], image + ".fatbin"), "rb") as file:
        must(cu.cuModuleLoadData(C.byref(module), file.read()), image)
    must(cu.cuModuleGetFunction(C.byref(out), module, name.encode()), name)
    must(cu.cuFuncSetAttribute(out, 8, C.c_int(shared)), name)
    return out


def launch(what, blocks, threads, shared, arguments):
    config = Config(blocks, 1, 1, threads, 1, 1, shared, torch.cuda.current_stream().cuda_stream, C.addressof(EARLY), 1)
    parameters = (C.c_void_p * 1)(C.cast(C.pointer(arguments), C.c_void_p))
    must(cu.cuLaunchKernelEx(C.byref(config), what, parameters, None), "launch")


def elapsed_us(graph):
    """Of a replay behind another one, so that the GPU is at work while it is launched."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    first.record()
    graph.replay()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) * 1e3


def race(calls, rounds, sample_us):
    graphs, out = {}, {name: [] for name in calls}
    for name, call in calls.items():
        n = max(8, min(1000, int(sample_us * 8 / max(elapsed_us(peer.graph_of(torch, call, 8)), 4))))
        graphs[name] = (peer.graph_of(torch, call, n), n)
    for _ in range(rounds):
        for name in random.sample(sorted(calls), len(calls)):
            graph, n = graphs[name]
            out[name].append(elapsed_us(graph) / n)
    return out


def said(name, samples, base):
    """Median, CV, and the ratio base / samples with a bootstrap interval of 95 %."""
    logs = [math.log(b / a) for a, b in zip(samples, base)]
    boots = sorted(st.fmean(random.choices(logs, k=len(logs))) for _ in range(2000))
    return "%-8s %9.2f us, CV %.2f %%, ratio %.3f [%.3f, %.3f]" % (
        name, st.median(samples), 100 * st.pstdev(samples) / st.fmean(samples), math.exp(st.fmean(logs)),
        math.exp(boots[50]), math.exp(boots[1949]))


def reference(q, k, v):
    return torch.softmax(q.double() @ k.double().transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v.double()


def chosen(b, h, s):
    """As workload/attention/cuda.c chooses: image, kernel, queries and threads of a block, its shared memory."""
    if s <= 128 or 192 < s <= 256:
        return "flash", "ifm_flash_f16_64", 128, 128, 55296
    two = (s + 63) // 64 * b * h > 3 * SMS and (s + 127) // 128 * b * h <= 2 * SMS
    groups = 2 if two else 1
    return "flash_sm90", "ifm_hopper_f16_64_%d" % groups, 64 * groups, 128 * groups, 50176


def attention(b, h, s, rounds):
    image, name, rows, threads, shared = chosen(b, h, s)
    kernel = function(image, name, shared)
    lengths = torch.full((b,), s, dtype=torch.int32, device="cuda")
    sets = [[torch.randn(b, h, s, 64, dtype=torch.float16, device="cuda") for _ in range(3)]
            for _ in range(math.ceil(peer.ROTATED / (4 * b * h * s * 64 * 2)))]
    outs = [torch.full_like(q, float("nan")) for q, _, _ in sets]
    arguments = [Attention(*(t.data_ptr() for t in (*qkv, out, lengths)), h, h, s, 64, 0, 3)
                 for qkv, out in zip(sets, outs)]

    def ours(i):
        launch(kernel, (s + rows - 1) // rows * h * b, threads, shared, arguments[i])

    def library(backend):
        def call(i):
            with sdpa_kernel(backend):
                return sdpa(*sets[i])
        return call

    def in_turn(call):
        turn = itertools.cycle(range(len(sets)))
        return lambda: call(next(turn))

    of = {"ours": ours, "FA2": library(SDPBackend.FLASH_ATTENTION), "cuDNN": library(SDPBackend.CUDNN_ATTENTION)}
    times = race({what: in_turn(call) for what, call in of.items()}, rounds, 3000.0)
    outs[-1].fill_(float("nan"))
    ours(-1)
    wrong = right = 0.0
    for i in range(b):
        expected = reference(*(t[i] for t in sets[-1]))
        wrong += (outs[-1][i].double() - expected).pow(2).sum().item()
        right += expected.pow(2).sum().item()
    for what in of:
        print("b%dh%ds%d %s" % (b, h, s, said(what, times[what], times["FA2"])), flush=True)
    print("  error of ours, rms: %.1e (%s); %d sets in turn" % (math.sqrt(wrong / right), name, len(sets)), flush=True)
    for what in ("FA2", "cuDNN"):
        print("  %s: %s" % (what, ", ".join(peer.kernels_of(torch, lambda: of[what](0)))), flush=True)


def decode(b, kv_heads, length, rounds=11, q_heads=32, dim=128):
    group, units = q_heads // kv_heads, b * kv_heads
    pool = torch.empty(2, b, kv_heads, length, dim, dtype=torch.float16, device="cuda").normal_()
    q = torch.randn(b, q_heads, 1, dim, device="cuda").half()
    rows = q.float().reshape(units, group, dim).contiguous()
    splits, name = (2, "ifm_decode_cluster_128_2") if units == 64 else (1, "ifm_decode_split_128")
    shared = 8 * 2 * 16 * dim * 4 + 40960
    kernel, out = function("decode", name, shared), torch.full((units, group, dim), float("nan"), device="cuda")
    partials = torch.zeros(2 * units * splits * (16 + 8 * dim), device="cuda")
    tickets = torch.zeros(units, dtype=torch.int32, device="cuda")
    arguments = Decode(pool[0].data_ptr(), pool[1].data_ptr(), None, None, None, rows.data_ptr(), out.data_ptr(),
                       partials.data_ptr(), tickets.data_ptr(), units, group, 1, dim, length,
                       (length + 127) // 128, splits, LOG2E / math.sqrt(dim))

    def library():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            sdpa(q, pool[0], pool[1], enable_gqa=group > 1)

    calls = {"ours": lambda: launch(kernel, units * splits, 256, shared, arguments), "cuDNN": library}
    times = race(calls, rounds, 4000.0)
    out.fill_(float("nan"))
    calls["ours"]()
    k, v, error = pool[0].view(units, length, dim), pool[1].view(units, length, dim), 0.0
    for unit in random.sample(range(units), min(units, 48)):
        expected = reference(rows[unit], k[unit], v[unit])
        error = max(error, ((out[unit].double() - expected).abs().max() / expected.abs().max()).item())
    for what in calls:
        print("%d x %d, %d/%d %s" % (b, length, q_heads, kv_heads, said(what, times[what], times["cuDNN"])), flush=True)
    print("  error of ours in 48 units: %.1e; all finite: %s" % (error, bool(torch.isfinite(out).all())), flush=True)


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("attention", "decode"):
        sys.exit(__doc__)
    print(torch.__version__, "cuDNN", torch.backends.cudnn.version(), torch.cuda.get_device_name(), flush=True)
    if sys.argv[2] == "attention":
        for s in (128, 256, 512, 1024, 2048):
            attention(32, 8, s, 31 if s <= 512 else 15)
        for b, h in ((8, 8), (16, 8), (64, 8), (32, 4), (32, 16)):
            attention(b, h, 512, 31)
    else:
        for b, kv_heads, length in ((8, 32, 32768), (32, 32, 8192), (64, 32, 4096), (32, 8, 32768), (64, 8, 32768),
                                    (64, 32, 8192), (32, 32, 32768), (64, 32, 32768)):
            decode(b, kv_heads, length)


if __name__ == "__main__":
    main()
