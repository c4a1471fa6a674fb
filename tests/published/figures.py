"""The published numbers that are rebuilt as run folders, and what must be said of each.

One table. A case has the figures that its publication gives (`source` says where), the arms that they make, and what
Inferometer must answer: `expect` lists (cell, arm, metric, state, words). Of a number that is withheld the words are
part of its reason; of one that stands they are the number that it must come near. `says` is the sentence that readers
find in docs/maintain/refused.md, on the terminal and in report.html. Each refused case has a counterpart in which the
figure is what it should have been, and which is accepted: a refusal that refuses everything proves nothing.
"""

MS, US = 1_000_000, 1_000
OK, REFUSED, INACTIVE, ABSENT = "ok", "refused", "inactive", "absent"


def arm(name, step_ns, role="variant", **more):
    """An arm with a true step time; `ledger`, `cv` (of its samples), `check`, `feature` and so on as needed."""
    return {"name": name, "step_ns": step_ns, "role": role, **more}


def check(output="c0ffee0000000001", error=0.0, **more):
    """An oracle's word on an arm's output."""
    return {"error_rms_rel": error, "error_max_rel": error, "values": 1024, "finite": True, "output_xxh3": output,
            **more}


# ---- attention at 178 % of "peak": specification 003, target configuration B=32 H=8 S=512 D=64 ----
# 4 B H S^2 D operations in 0.3210 ms are 53,516 GFLOP/s; the L4's CUDA cores do 30 TFLOP/s, its tensor cores 121.
SDPA = {"flops": 4 * 32 * 8 * 512 * 512 * 64, "bytes_read": 3 * 32 * 8 * 512 * 64 * 2,
        "bytes_written": 32 * 8 * 512 * 64 * 2}


def sdpa(probe, tflops):
    return [arm("sdpa", 321.0 * US, "baseline", ledger=SDPA, cv=0.074, working_set=80_500_000),
            arm(probe, 1.0 * MS, "ceiling", ceiling="flops", ledger={"flops": int(tflops * 1e9)})]


# ---- elastic KV cache, C=2: specification 001 ----
# 0.05932 ms against 9876.738 passes a second. Sequence 1024, 16 heads of 64 in 32 bits: one tensor is 4 MiB. A pass
# without compression moves Q, K, V and O; with C=2 half of the positions move all four and the others write O alone.
TENSOR = 1024 * 16 * 64 * 4
FULL = {"bytes_read": 3 * TENSOR, "bytes_written": TENSOR, "tokens_generated": 1}
HALF = {"bytes_read": 3 * TENSOR // 2, "bytes_written": TENSOR, "tokens_generated": 1}
ELASTIC_NS, BASELINE_NS = 0.05932 * MS, 1e9 / 9876.738
WARM_NS = 4 * TENSOR / 197.0  # the baseline of its authors' other run reads and writes 197 GB/s


PROBE = arm("stream", 1.0 * MS, "ceiling", ceiling="read", working_set=256 << 20, ledger={"bytes_read": 188_660_000})


def elastic(baseline_ns, known_loss):
    own = {"check": check("c0ffee0000000002", loss={"rms_rel": 0.0})} if known_loss else {}
    return [arm("c1", baseline_ns, "baseline", ledger=FULL, cv=0.0976, working_set=4 * TENSOR),
            arm("c2", ELASTIC_NS, ledger=HALF, cv=0.0976, working_set=4 * TENSOR, lossy=True, stored=2 * TENSOR // 4,
                stored_plain=2 * TENSOR // 2, **own)]


# ---- the spliced file: results of 1024 x 16 x 64 with C=2 beside a cycle of 4096 x 32 x 128 with C=4 ----
def cycle(baseline_ms, elastic_ms):
    ledger = {"tokens_generated": 64}
    return [arm("c1", baseline_ms * MS, "baseline", ledger=ledger), arm("c2", elastic_ms * MS, ledger=ledger)]


STEPS = [arm("c1", BASELINE_NS, "baseline", ledger={"tokens_generated": 1}),
         arm("c2", ELASTIC_NS, ledger={"tokens_generated": 1})]
OWN_CYCLE = cycle(64 * BASELINE_NS / MS, 64 * ELASTIC_NS / MS)  # 6.48 and 3.80 ms
OTHER_CYCLE = cycle(86.704063, 44.169216)

# ---- x 0.98: specification 000, whose example has a median of 12.6 ms and a 95th percentile of 13.5 ms, 1000 times --
TWINS = [arm("linear", 12.6 * MS, "baseline", cv=0.042), arm("iterative", 12.6 * MS, cv=0.042)]


# ---- energy ----
# Specification 002's guide: 847 J in all, 12.3 W idle, 98 s; so 723 J "adjusted", though idling alone takes 1,205 J.
# Here the 98 s are fourteen windows of 7 s.
def guide(total_j):
    return [arm("model", 1000.0 * MS, "baseline",
                energy={"idle_w": 12.3, "watts": total_j / 98.0, "blocks": 7, "samples": 7})]


# Specification 000: 1000 repeats of 12.8 ms at 1843.2 tokens/s (24 a call) and, of its power.csv, 211.5 W; the energy
# of all repeats was divided by the tokens of one. (Its idle power is not published.)
CALLS = [arm("call", 12.8 * MS, "baseline", ledger={"tokens_generated": 24},
             energy={"idle_w": 50.0, "watts": 211.5, "blocks": 2, "samples": 250})]


# ---- the inverted gate: specification 003's continuous integration ----
# Change = (candidate - baseline) / baseline, "improvement" from +10 % on: a slower candidate improves.
def candidate(ms):
    return [arm("baseline", 321.0 * US, "baseline", cv=0.01), arm("candidate", ms * MS, cv=0.01)]


SLOWER, FASTER = candidate(0.3852), candidate(0.2750)
FAST_GATE = {"name": "improvement", "metric": "change_percent", "op": "at_most", "threshold": -10, "arm": "candidate"}

# ---- staged writes (NWOR): specification 004; measured results of its own repository, short prompts, T=0 ----
# 0.574 s without, 0.709 s with; 15.96 % of drafts accepted without, 3.39 % with. Greedy decoding: the outputs must be
# equal, whatever writes them.
WRITTEN = {"bytes_written": 2024 * 112 * 1024, "tokens_generated": 256}


def staged(runs, output, accepted, rows=0, saved=0.0):
    ledger = {**WRITTEN, "rows": 2024}
    own = {**ledger, "rows": 2024 - rows, "bytes_written": int(ledger["bytes_written"] * (1 - saved))}
    return [arm("direct", 574.0 * MS, "baseline", ledger=ledger, check=check("aaaa", quality_percent=15.96)),
            arm("staged", 709.0 * MS, ledger=own, feature="staged writes", runs=runs, equals="direct",
                check=check(output, quality_percent=accepted))]


QUALITY_GATE = {"name": "acceptance", "metric": "quality_loss_pp", "op": "at_most", "threshold": 0.1, "arm": "staged",
                "interval": False}

CASES = {
    # name: cells [(name, arms)], shape of the record, what is expected
    "above_peak": {
        "source": "003: 53,516 GFLOP/s, 0.3210 ms, 178 % of the L4's 30 TFLOP/s; N=100",
        "cells": [("b32h8s512", sdpa("cuda_cores", 30.0))],
        "expect": [("b32h8s512", "sdpa", "flops_per_s", REFUSED, "rule-03: 178 % of the measured flops ceiling"),
                   ("b32h8s512", "sdpa", "ceiling_flops_percent", REFUSED, "178 %"),
                   ("b32h8s512", "sdpa", "step_ns", OK, 321000)],
        "says": "178 % of the measured flops ceiling (cuda_cores): a rate cannot exceed its ceiling by more than 25 %",
    },
    "above_peak_right": {
        "source": "the same against the 121 TFLOP/s of the tensor cores that did the work",
        "cells": [("b32h8s512", sdpa("tensor_cores", 121.0))],
        "expect": [("b32h8s512", "sdpa", "flops_per_s", OK, 53.52e12),
                   ("b32h8s512", "sdpa", "ceiling_flops_percent", OK, 44.23),
                   ("b32h8s512", "sdpa", "arithmetic_intensity", OK, 256)],
    },
    "elastic_unheard": {
        "source": "001: attention_time_ms 0.05932, baseline_tokens_per_sec 9876.738, speedup_vs_baseline 1.707",
        "cells": [("c2", elastic(BASELINE_NS, False))],
        "expect": [("c2", "c2", "change_percent", REFUSED, "rule-10"), ("c2", "c2", "step_ns", REFUSED, "rule-10"),
                   ("c2", "c2", "bytes_ratio", OK, 1.6), ("c2", "c1", "step_ns", OK, BASELINE_NS)],
        "says": "the arm changes numerics and its error was not recorded",
    },
    "elastic": {
        "source": "the same, and granted that its output were exact",
        "cells": [("c2", elastic(BASELINE_NS, True))],
        "expect": [("c2", "c2", "speedup", REFUSED, "rule-03: a speed-up of 1.71 is beyond"),
                   ("c2", "c2", "bytes_ratio", OK, 1.6), ("c2", "c2", "change_percent", OK, -41.41)],
        "says": "a speed-up of 1.71 is beyond the byte and FLOP ratio 1.6, and no ceiling shows how weak the baseline "
                "is",
    },
    "elastic_shown": {
        "source": "the same beside a probe that reads 188.66 GB/s, its memory_bandwidth_gbs",
        "cells": [("c2", elastic(BASELINE_NS, True) + [PROBE])],
        "expect": [("c2", "c2", "speedup", OK, 1.707)],
        "says": "the speed-up is beyond the byte and FLOP ratio 1.6 of the two arms (baseline at 65.6 % of its read "
                "ceiling): it is not the gain of moving or computing less",
    },
    "elastic_right": {
        "source": "the same against a baseline that was warmed up: 197 GB/s, of its authors' other run",
        "cells": [("c2", elastic(WARM_NS, True))],
        "expect": [("c2", "c2", "speedup", OK, 1.436), ("c2", "c2", "bytes_ratio", OK, 1.6)],
    },
    "spliced": {
        "source": "001: 9876.738 tokens/s beside a cycle of 64 tokens in 86.704063 ms, of another run",
        "cells": [("1024x16x64", STEPS), ("cycle", OWN_CYCLE)],
        "splice": OTHER_CYCLE,
        "expect": [("1024x16x64", "c1", "step_ns", REFUSED, "rule-04: run.log:"),
                   ("cycle", "c1", "step_ns", REFUSED, "says configuration"),
                   ("cycle", "c2", "speedup", REFUSED, "rule-04")],
        "says": "says configuration",
    },
    "spliced_right": {
        "source": "the cycle of the same run: 64 steps at 1/9876.738 s are 6.48 ms",
        "cells": [("1024x16x64", STEPS), ("cycle", OWN_CYCLE)],
        "expect": [("1024x16x64", "c1", "tokens_generated_per_s", OK, 9876.738),
                   ("cycle", "c1", "step_ns", OK, 6.48 * MS),
                   ("cycle", "c1", "tokens_generated_per_s", OK, 9876.738)],
    },
    "scaled": {
        "source": "000's implementation: every sample of the treatment times 0.98, after measuring",
        "cells": [("model", TWINS)], "blocks": 20, "samples": 25, "tamper": "scale",
        "expect": [("model", "iterative", "change_percent", REFUSED, "rule-02"),
                   ("model", "iterative", "step_ns", REFUSED, "do not add up to their slots"),
                   ("model", "linear", "step_ns", REFUSED, "rule-02")],
        "says": "the samples of arm iterative do not add up to their slots",
    },
    "scaled_sorted": {
        "source": "the same, and sorted before it was stored",
        "cells": [("model", TWINS)], "blocks": 20, "samples": 25, "tamper": "scale and sort",
        "expect": [("model", "iterative", "change_percent", REFUSED, "rule-02: the samples of arm it")],
        "says": "the samples of arm iterative are sorted",
    },
    "scaled_right": {
        "source": "the samples as they were measured",
        "cells": [("model", TWINS)], "blocks": 20, "samples": 25,
        "expect": [("model", "iterative", "change_percent", OK, 0.0),
                   ("model", "linear", "latency_ns_p50", OK, 12.6 * MS)],
    },
    "below_idle": {
        "source": "002's guide: total 847 J, baseline 12.3 W, 98 s",
        "cells": [("session", guide(847.0))], "blocks": 7, "samples": 7, "even": True,
        "expect": [("session", "model", "total_energy_j", REFUSED, "rule-05: 60.5 J in 7 s"),
                   ("session", "model", "power_mean_w", REFUSED, "are 86.1 J"),
                   ("session", "model", "step_ns", OK, 1e9)],
        "says": "60.5 J in 7 s is less than gpu0 draws when it idles: 12.3 W for 7 s are 86.1 J, and a total "
                "includes them",
    },
    "below_idle_right": {
        "source": "723 J above idle and the 1,205 J of idling are 1,928 J",
        "cells": [("session", guide(1928.4))], "blocks": 7, "samples": 7, "even": True,
        "expect": [("session", "model", "total_energy_j", OK, 1928.4), ("session", "model", "power_mean_w", OK, 19.68)],
    },
    "one_calls_tokens_right": {
        "source": "000's implementation divides the energy of 1000 repeats by the tokens of one call; here, by theirs",
        "cells": [("model", CALLS)], "blocks": 20, "samples": 25, "even": True,
        "expect": [("model", "call", "tokens_generated_per_s", OK, 1875),
                   ("model", "call", "energy_per_token_j", OK, 0.1128), ("model", "call", "power_mean_w", OK, 211.5)],
    },
    "inverted_gate": {
        "source": "003's CI: improvement from +10 % of time on; a candidate 20 % slower",
        "cells": [("sdpa", SLOWER)], "plan_gates": [{**FAST_GATE, "op": "at_least", "threshold": 10.0}],
        "expect": [("sdpa", "candidate", "change_percent", OK, 20.0)], "verdict": ("blocked", 3),
        "says": "rule-09: the gate is inverted: change_percent is better when it is lower, and the gate asks for at "
                "least 10; it would pass an arm for being worse",
    },
    "gate_on_nothing": {
        "source": "000's implementation: a gate whose metric is missing passes",
        "cells": [("sdpa", FASTER)],
        "gates": [{**FAST_GATE, "name": "L2 hits", "metric": "l2_hit_change_pp", "op": "at_least", "threshold": 10}],
        "expect": [("sdpa", "candidate", "l2_hit_change_pp", ABSENT, "no instrument of this pass reads L2 counters")],
        "verdict": ("blocked", 4), "says": "change in L2 hits is absent: no instrument of this pass reads L2 counters",
    },
    "gate_slower": {
        "source": "the slower candidate before a gate that asks for a tenth less time",
        "cells": [("sdpa", SLOWER)], "gates": [FAST_GATE],
        "expect": [("sdpa", "candidate", "change_percent", OK, 20.0)], "verdict": ("fail", 1),
    },
    "gate_right": {
        "source": "a candidate 14 % faster before the same gate",
        "cells": [("sdpa", FASTER)], "gates": [FAST_GATE],
        "expect": [("sdpa", "candidate", "change_percent", OK, -14.33)], "verdict": ("pass", 0),
    },
    "staged_never": {
        "source": "004's first version: the window expects other rows than a step has, so that staging never engages",
        "cells": [("short", staged(0, "aaaa", 15.96))],
        "expect": [("short", "staged", "change_percent", INACTIVE, "rule-11"),
                   ("short", "staged", "step_ns", INACTIVE, "no step used staged writes")],
        "says": "no step used staged writes: the arm is a twin of the baseline",
    },
    "staged_differs": {
        "source": "004: 92 windows; 0.574 s and 15.96 % accepted without, 0.709 s and 3.39 % with",
        "cells": [("short", staged(92, "bbbb", 3.39, saved=1.0))], "gates": [QUALITY_GATE],
        "expect": [("short", "staged", "change_percent", REFUSED, "rule-12: the output must equal that of arm direct"),
                   ("short", "staged", "quality_loss_pp", OK, 12.57), ("short", "direct", "step_ns", OK, 574 * MS)],
        "verdict": ("fail", 1),
        "says": "the output must equal that of arm direct bit for bit, and differs",
    },
    "staged_saves": {
        "source": "004: 2024 rows drafted, 205 committed, \"90 % saved\": less work, not the same work faster",
        "cells": [("short", staged(92, "aaaa", 15.96, rows=2024 - 205))],
        "expect": [("short", "staged", "change_percent", REFUSED, "rule-12: a step of staged does 205 rows"),
                   ("short", "staged", "step_ns", OK, 709 * MS)],
        "says": "a step of staged does 205 rows and one of the baseline 2024: a ratio of their times compares no "
                "speeds",
    },
    "staged_right": {
        "source": "the same output and the same acceptance; 84.04 % of the bytes not written, and its price",
        "cells": [("short", staged(92, "aaaa", 15.96, saved=0.8404))], "gates": [QUALITY_GATE],
        "expect": [("short", "staged", "change_percent", OK, 23.52), ("short", "staged", "quality_loss_pp", OK, 0.0)],
        "verdict": ("pass", 0),
    },
}
