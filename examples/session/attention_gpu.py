#!/usr/bin/env python3
"""Attention on a GPU: PyTorch's, a Triton kernel of one's own, and Inferometer's kernel, in the lab's blocks.

    python3 attention_gpu.py [--seq 4096] [--heads 32] [--kv-heads 8] [--dim 128] [--out RUN_FOLDER]

All three get the same Q, K and V in f16, causal, with grouped heads. Each is captured into a CUDA graph of so many
calls that a replay lasts some ten milliseconds. A window is a replay and the wait for its end, by the host's clock,
which adds some tens of microseconds to each arm. After the windows every output is overwritten by NaN, the graph runs
once more, and all outputs of all calls are compared with attention in f64.

Inferometer's kernel is the one of `inferometer attention --device cuda`: NVRTC compiles src/kernel/cuda with the
options that the command takes. Triton's arm is left out where Triton is not installed. In place of `torch_attention`
put a callable of your own: all that it needs is to work on the current stream and to give its output.
"""
import argparse
import ctypes
import glob
import importlib.util
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.normpath(os.path.join(HERE, "..", "..", "src"))
sys.path.append(os.path.join(HERE, "..", "..", "python"))
import inferometer  # noqa: E402

TOLERANCE = 4e-3   # f16 rounds weights and outputs by 5e-4; a lost key of 4096 is off by more
WINDOW_MS = 10.0   # of a replay, so that its launch and the wait for its end are below a percent
MOST_CALLS = 32    # in a graph: each has an output of its own


# ---- Inferometer's kernel ----

class Arguments(ctypes.Structure):
    """struct ifm_attention_arguments of src/kernel/cuda/attention.h."""
    _fields_ = [("q", ctypes.c_void_p), ("k", ctypes.c_void_p), ("v", ctypes.c_void_p), ("out", ctypes.c_void_p),
                ("lengths", ctypes.c_void_p), ("q_heads", ctypes.c_uint32), ("kv_heads", ctypes.c_uint32),
                ("seq_len", ctypes.c_uint32), ("head_dim", ctypes.c_uint16), ("causal", ctypes.c_uint8),
                ("storage", ctypes.c_uint8)]


F16 = 3  # IFM_CUDA_F16


def need(result, what):
    if result != 0:
        raise inferometer.Error(f"{what}: error {result}")


def read(path):
    try:
        with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
            return file.read()
    except OSError as reason:
        raise inferometer.Error(f"{reason.filename}: {reason.strerror}\n  hint: run this example where it lies in the "
                                "source tree of Inferometer, whose kernels it compiles") from None


def rows_of(table):
    """The rows of a table of kernel/cuda/flash.h, which begin with the head dimension."""
    body = re.search(rf"#define {table}\(F\)(.*?)\n\n", read("kernel/cuda/flash.h"), re.S).group(1)
    return [tuple(map(int, row.split(","))) for row in re.findall(r"F\(([\d, ]+)\)", body)]


def kernel_for(major, multiprocessors, heads, seq, dim):
    """As src/workload/attention/cuda.c chooses: file, kernel, queries of a block, its threads, its shared memory.
    `heads`: of queries, of all sequences."""
    hopper = [row for row in rows_of("IFM_HOPPER_KERNELS") if row[0] == dim]
    if major == 9 and hopper and (seq > 256 or (128 < seq <= 192 if dim == 64 else seq == 256)):
        def at_once(row):
            return math.ceil(seq / (64 * row[1])) * heads <= row[3] * multiprocessors
        second = len(hopper) > 1 and not at_once(hopper[0]) and at_once(hopper[1])
        _, groups, keys, _ = hopper[1 if second else 0]
        return "flash_sm90", f"ifm_hopper_f16_{dim}_{groups}", 64 * groups, 128 * groups, 3 * 2 * 2 * keys * dim + 1024
    mma = {row[0]: row for row in rows_of("IFM_FLASH_KERNELS")}
    if dim not in mma:
        raise inferometer.Error(f"--dim {dim}: there is no kernel\n  hint: one of {', '.join(map(str, sorted(mma)))}")
    _, tiles, warps, keys, _, _ = mma[dim]
    shared = 2 * (dim + 8) * (16 * tiles * warps + 2 * 2 * keys)
    return "flash", f"ifm_flash_f16_{dim}", 16 * tiles * warps, 32 * warps, shared


def open_nvrtc():
    """IFM_NVRTC, what the loader finds, or what PyTorch brings."""
    named = os.environ.get("IFM_NVRTC")
    packages = importlib.util.find_spec("nvidia")
    places = [named] if named else ["libnvrtc.so.13", "libnvrtc.so.12"]
    for root in (packages.submodule_search_locations if packages and not named else ()):
        places += sorted(glob.glob(os.path.join(root, "*", "lib", "libnvrtc.so.1[23]")), reverse=True)
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise inferometer.Error("there is no NVRTC\n  hint: pip install nvidia-cuda-nvrtc, or let IFM_NVRTC name it")


def compile_kernel(file, arch):
    nvrtc, program, size = open_nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    header = (b"#pragma once\ntypedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\n"
              b"typedef int int32_t;\ntypedef unsigned uint32_t;\n"
              b"typedef long int64_t;\ntypedef unsigned long uint64_t;\n")
    options = [b"--std=c++17", f"--gpu-architecture={arch}".encode(), f"--include-path={SOURCES}".encode()]
    texts, names = (ctypes.c_char_p * 1)(header), (ctypes.c_char_p * 1)(b"stdint.h")
    source = read(f"kernel/cuda/{file}.cu").encode()
    need(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, f"{file}.cu".encode(), 1, texts, names),
         "nvrtcCreateProgram")
    if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise inferometer.Error(f"{file}.cu: {log.value.decode().splitlines()[0]}")
    need(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
    code = ctypes.create_string_buffer(size.value)
    need(nvrtc.nvrtcGetCUBIN(program, code), "nvrtcGetCUBIN")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code


class Ours:
    """Inferometer's attention as a callable on the current stream."""

    def __init__(self, torch, q, k, v):
        self.torch, self.inputs = torch, (q, k, v)
        batch, heads, seq, dim = q.shape
        major, minor = torch.cuda.get_device_capability()
        multiprocessors = torch.cuda.get_device_properties("cuda").multi_processor_count
        file, self.name, rows, self.threads, self.shared = kernel_for(major, multiprocessors, batch * heads, seq, dim)
        code = compile_kernel(file, f"sm_{major}{minor}{'a' if major == 9 else ''}")
        self.driver, module, self.function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
        need(self.driver.cuModuleLoadData(ctypes.byref(module), code), "cuModuleLoadData")
        need(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, self.name.encode()), self.name)
        most_shared = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        need(self.driver.cuFuncSetAttribute(self.function, most_shared, self.shared), "cuFuncSetAttribute")
        self.blocks = (seq + rows - 1) // rows * heads * batch
        self.lengths = torch.full((batch,), seq, dtype=torch.int32, device="cuda")

    def __call__(self, out):
        q, k, v = self.inputs
        arguments = Arguments(q.data_ptr(), k.data_ptr(), v.data_ptr(), out.data_ptr(), self.lengths.data_ptr(),
                              q.shape[1], k.shape[1], q.shape[2], q.shape[3], 1, F16)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(arguments))
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)
        need(self.driver.cuLaunchKernel(self.function, self.blocks, 1, 1, self.threads, 1, 1, self.shared, stream,
                                        parameters, None), "cuLaunchKernel")
        return out


# ---- the arms ----

def torch_attention(torch, q, k, v):
    def call(out):
        del out  # scaled_dot_product_attention makes its own
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return call


def triton_attention(torch, q, k, v):
    import attention_triton  # beside this file; needs Triton
    return lambda out: attention_triton.forward(torch, q, k, v, out)


class Captured:
    """`n` calls as one CUDA graph, each with an output of its own."""

    def __init__(self, torch, call, like, n):
        self.torch = torch
        outs = [torch.empty_like(like) for _ in range(n)]
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):  # what is made on first use
                call(outs[0])
        side.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=side):
            self.outs = [call(out) for out in outs]

    def __call__(self):
        self.graph.replay()
        self.torch.cuda.current_stream().synchronize()


def reference(torch, q, k, v):
    """In f64, a head at a time."""
    batch, heads, seq, dim = q.shape
    out = torch.empty(q.shape, dtype=torch.float64, device="cuda")
    hidden = torch.ones(seq, seq, dtype=torch.bool, device="cuda").triu(1)
    for b in range(batch):
        for h in range(heads):
            kv = h // (heads // k.shape[1])
            scores = q[b, h].double() @ k[b, kv].double().T / math.sqrt(dim)
            out[b, h] = scores.masked_fill(hidden, -math.inf).softmax(-1) @ v[b, kv].double()
    return out


def check_with(torch, arms, wanted):
    def check(name):
        arm, squares, largest = arms[name], 0.0, 0.0
        for out in arm.outs:
            out.fill_(math.nan)
        torch.cuda.synchronize()
        arm()
        for out in arm.outs:
            error = out.double() - wanted
            squares = max(squares, (error.square().sum() / wanted.square().sum()).item())
            largest = max(largest, (error.abs().max() / wanted.abs().max()).item())
            if not torch.isfinite(out).all():
                squares = largest = math.nan
                break
        print(f"{name}: error rms {math.sqrt(squares):.2e}, max {largest:.2e} of {TOLERANCE:g}, in each of "
              f"{len(arm.outs)} outputs of {wanted.numel()} values")
        return math.sqrt(squares), largest, wanted.numel() * len(arm.outs)
    return check


def calls_in_graph(torch, calls, like):
    """So many that the fastest arm's replay lasts WINDOW_MS; the same for all arms."""
    least, out = math.inf, torch.empty_like(like)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for call in calls.values():
        for _ in range(3):
            call(out)
        begin.record()
        for _ in range(5):
            call(out)
        end.record()
        end.synchronize()
        least = min(least, begin.elapsed_time(end) / 5)
    return min(MOST_CALLS, math.ceil(WINDOW_MS / least))


def run(torch, options):
    torch.manual_seed(options.seed)
    q = torch.randn(options.batch, options.heads, options.seq, options.dim, device="cuda", dtype=torch.float16)
    k, v = (torch.randn(options.batch, options.kv_heads, options.seq, options.dim, device="cuda", dtype=torch.float16)
            for _ in range(2))
    ours = Ours(torch, q, k, v)
    calls = {"torch": torch_attention(torch, q, k, v), "ours": ours}
    if options.without_triton or importlib.util.find_spec("triton") is None:
        print(f"triton: left out: {'as asked' if options.without_triton else 'it is not installed'}")
    else:
        calls["triton"] = triton_attention(torch, q, k, v)
    n = calls_in_graph(torch, calls, q)
    arms = {name: Captured(torch, call, q, n) for name, call in calls.items()}
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, ours is {ours.name}; "
          f"a window replays a graph of {n} calls")
    result = inferometer.compare(arms, out=options.out, number=1, cap=options.cap, options=options.option,
                                 library=options.library, check=check_with(torch, arms, reference(torch, q, k, v)),
                                 tolerance=TOLERANCE)
    flops = 2 * options.batch * options.heads * options.seq ** 2 * options.dim  # causal: half of 4 x seq x seq
    print(result)
    for arm in result.arms.values():
        if arm.seconds is not None:
            print(f"{arm.name}: {arm.seconds / n * 1e6:.1f} us a call, {flops * n / arm.seconds * 1e-12:.0f} TFLOP/s")
    return result.exit_code


def main():
    parser = argparse.ArgumentParser(description="attention by PyTorch, Triton and Inferometer on a GPU")
    for name, value in (("batch", 1), ("heads", 32), ("kv-heads", 8), ("seq", 4096), ("dim", 128), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--without-triton", action="store_true", help="leave the Triton kernel out")
    parser.add_argument("--library", help="path of libinferometer.so")
    parser.add_argument("--out", help="run folder, new or empty (default: below runs/)")
    parser.add_argument("--cap", default=10, help="the longest time of the blocks, in seconds")
    parser.add_argument("--option", type=lambda pair: pair.split("=", 1), action="append", default=[],
                        metavar="PATH=VALUE", help="a setting of the run")
    options = parser.parse_args()
    options.option = dict(options.option)
    try:
        import torch
    except ImportError:
        print("error: PyTorch is not installed\n  hint: pip install torch", file=sys.stderr)
        return 4
    if not torch.cuda.is_available():
        print("error: PyTorch sees no GPU\n  hint: `inferometer doctor` says what is missing", file=sys.stderr)
        return 4
    try:
        return run(torch, options)
    except inferometer.Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
