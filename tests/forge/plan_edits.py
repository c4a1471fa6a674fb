"""Edits of plan.json as data: what a forger changes, and the leaf that must be named.

STUDIES: how a small folder of each workload is made; "recorded:NAME" is a folder of tests/recorded, made by a version
that recorded neither the machine nor the plan's hash. EDITS: (study, leaf, how, value). `leaf` is a path of plan.json,
which `verify` names unless a fifth item gives other words. `how`:

    times   the number is multiplied
    set     the leaf gets the value
    drop    the leaf, or the element of a list, is removed
    copy    a copy of the leaf is put behind it in its list, with these members changed

LOWERED: (study, rules, edits, leaf). The forger says that an earlier version planned, whose rules ask for less, and
which another build ran. Leaves that are not what these rules give are named; where all are (leaf None), `verify` must
not say that all numbers follow from the record.
"""

FEW = ["--repeats", "30", "--slot-steps", "2", "--warmup", "20", "--threads", "1"]

STUDIES = {
    "decode": ["decode", "--kv-len", "256", "--batch", "1", "--q-heads", "4", "--kv-heads", "2", "--head-dim", "64",
               "--layers", "1", "--compress", "2,4", "--ceilings", "read", *FEW],
    "attention": ["attention", "--batch", "1", "--q-heads", "2", "--kv-heads", "2", "--head-dim", "64", "--seq-len",
                  "64", "--layers", "2", "--ceilings", "none", *FEW],
    "gemm": ["gemm", "--m", "1", "--n", "256", "--k", "256", "--layers", "1", "--weights", "bf16,int4", "--ceilings",
             "none", *FEW],
    "stream": ["stream", "--probe", "read,copy", "--size", "256KiB", *FEW],
    "null": ["null", *FEW],
    "exec": ["exec", "true", "sleep 0.001", "--name", "quick", "--name", "slow", "--repeats", "30"],
    "fake": ["decode", "--kv-len", "256,512", "--batch", "1", "--device", "fake", "--compress", "2", "--ceilings",
             "none", "--script", "step_ns=100000; noise=0.005; arm.int8.step_ns=60000", "--repeats", "60"],
    "layers": ["decode", "--kv-len", "256", "--batch", "1", "--q-heads", "4", "--kv-heads", "2", "--head-dim", "64",
               "--layers", "4", "--compress", "2", "--ceilings", "none", *FEW],
    "recorded": "recorded:decode",
    "rules5": "recorded:gemm-layers",
    "rules6": "recorded:decode-model",
    "rules8": "recorded:decode-lengths",
    "session": "recorded:session",
}

EDITS = [
    # what a step does
    ("decode", "cells[0].arms[0].ledger.tokens_generated", "times", 10**6),
    ("decode", "cells[0].arms[1].ledger.tokens_generated", "times", 10**6),
    ("decode", "cells[0].arms[1].ledger.tokens_prompt", "set", 512),
    ("decode", "cells[0].arms[0].ledger.bytes_read", "times", 100),
    ("decode", "cells[0].arms[1].ledger.bytes_written", "times", 100),
    ("decode", "cells[0].arms[1].ledger.flops", "times", 2),
    ("decode", "cells[0].arms[1].ledger.rows", "set", 64),
    ("gemm", "cells[0].arms[0].ledger.flops", "times", 3),
    ("attention", "cells[0].arms[0].ledger.flops", "times", 3),
    ("stream", "cells[0].arms[0].ledger.bytes_read", "times", 100),
    ("stream", "cells[1].arms[0].ledger.bytes_written", "times", 100),
    ("exec", "cells[0].arms[1].ledger.tokens_generated", "set", 1000),
    ("fake", "cells[1].arms[0].ledger.flops", "times", 10),
    # what it keeps, and in how much memory
    ("decode", "cells[0].arms[1].stored", "times", 0.125),
    ("decode", "cells[0].arms[1].stored_plain", "times", 8),
    ("decode", "cells[0].arms[0].working_set", "times", 1000),
    ("decode", "cells[0].arms[0].memory", "times", 0.5),
    ("gemm", "cells[0].arms[1].stored", "times", 0.5),
    ("gemm", "cells[0].arms[1].integer", "set", "not"),
    # what counts as correct
    ("decode", "cells[0].arms[1].tolerance", "set", 1e9),
    ("attention", "cells[0].arms[0].tolerance", "times", 1.0001),
    ("decode", "cells[0].arms[1].lossy", "set", False),
    ("decode", "cells[0].arms[1].has_oracle", "set", False),
    ("decode", "cells[0].arms[1].feature", "set", "something else"),
    ("gemm", "cells[0].arms[1].lossy", "set", "not"),
    ("exec", "cells[0].arms[1].equals", "set", "quick"),
    ("decode", "cells[0].arms[0].equal_bound", "set", 0.5),
    # who is compared with whom
    ("decode", "cells[0].arms[1].role", "set", "baseline"),
    ("decode", "cells[0].arms[0].role", "set", "variant"),
    ("exec", "cells[0].arms[1].role", "set", "baseline"),
    ("stream", "cells[0].arms[0].role", "set", "variant"),
    ("decode", "cells[0].arms[3].ceiling", "set", "write"),
    ("decode", "cells[0].arms[1].name", "set", "int1", ""),
    ("decode", "cells[0].arms[1].title", "set", "another"),
    ("decode", "cells[0].arms[1].variant", "set", "int2"),
    ("decode", "cells[0].arms[1].implementation", "set", "theirs"),
    ("decode", "cells[0].arms[2]", "drop", None, ""),
    ("decode", "cells[0].arms[1]", "copy", {"name": "again"}, ""),
    # what was chosen and asked for
    ("decode", "cells[0].arms[1].settings.decode.kv_len", "set", "4096"),
    ("decode", "cells[0].arms[1].settings.decode.layers", "drop", None),
    ("decode", "cells[0].arms[1].chosen", "set", {"isa": "none"}, "cells[0].arms[1].chosen"),
    ("attention", "cells[0].arms[0].chosen.layers", "set", "1"),
    ("exec", "cells[0].arms[0].gaps", "set", False),
    ("exec", "cells[0].arms[0].fixed_inner", "set", False),
    # the cell
    ("fake", "cells[1]", "drop", None, ""),
    ("fake", "cells[0].seed", "set", "7"),
    ("fake", "cells[0].axes.decode.kv_len", "set", "511"),
    ("fake", "cells[0].threads", "set", 9),
    ("fake", "cells[0].workload", "set", "null", ""),
    ("decode", "cells[0].cache_resident", "set", "not"),
    ("decode", "cells[0].measure.margin", "set", 0.5),
    ("decode", "cells[0].measure.mde", "set", 0.5),
    ("null", "cells[0].measure.blocks_min", "set", 1),
    ("stream", "cells[0].measure.cache", "set", "cold"),
    ("null", "cells[0].passes[0].columns[0]", "set", "energy_uj", ""),
    ("null", "cells[0].passes[0].instruments[0]", "drop", None),
    # the plan
    ("null", "seed", "set", "43"),
    ("null", "device", "set", "fake", ""),
    ("null", "gates", "set", [{"name": "fast", "metric": "latency_ns_p50", "arm": "", "cell": "", "op": "at_most",
                               "threshold": 1e12, "interval": True, "least_n": 0, "classes": ""}], "gates[0]"),
    ("null", "rules", "set", 99, "later version"),
    ("null", "rules", "set", 4, "rules is 4"),
    ("decode", "rules", "set", 1, "rules is 1"),
    ("null", "rules", "drop", None, "rules is 0"),
    ("null", "machine.device", "set", "fake", ""),
    ("decode", "machine.isas", "set", ["scalar"], ""),
    # of an older version, and of a caller of the library
    ("recorded", "cells[0].arms[1].ledger.tokens_generated", "times", 10**6),
    ("recorded", "cells[0].arms[1].stored", "times", 0.125),
    ("recorded", "cells[0].arms[1].tolerance", "set", 1e9),
    ("recorded", "cells[0].arms[1].working_set", "times", 1000),
    ("rules5", "cells[0].arms[0].working_set", "times", 0.5),
    ("rules5", "cells[0].arms[1].chosen.layers", "set", "1985"),
    ("rules6", "cells[0].arms[1].stored", "times", 0.125),
    ("rules6", "cells[0].arms[1].memory", "times", 0.5),
    ("rules6", "cells[0].arms[2].settings.stream.size", "set", "1048576"),
    ("rules8", "cells[1].seed", "set", "9072005700738405318"),
    ("rules8", "cells[1].arms[1].chosen.layers", "set", "256"),
    ("session", "cells[0].arms[1].role", "set", "baseline"),
    ("session", "cells[0].seed", "set", "7"),
    ("session", "cells[0].measure.margin", "set", 0.5),
]


def of_arms(leaf, how, value, arms=2):
    """The same of each arm."""
    return [(f"cells[0].arms[{arm}].{leaf}", how, value) for arm in range(arms)]


STORED = of_arms("stored", "times", 4) + of_arms("stored_plain", "times", 4)  # of all caches, before rules 8
SCRATCH = "scratch", "set", 0

LOWERED = [
    ("layers", 6, of_arms("ledger.layers", "set", 1) + STORED, "cells[0].arms[0].ledger.layers"),
    ("layers", 4, of_arms("ledger.layers", "set", 0) + STORED, "cells[0].arms[0].ledger.layers"),
    ("layers", 6, STORED, None),
    ("layers", 3, of_arms("ledger.layers", "set", 0) + STORED, None),
    ("gemm", 3, of_arms("ledger.tokens_generated", "set", 1000, 3) + of_arms(*SCRATCH, 3),
     "cells[0].arms[0].ledger.tokens_generated"),
    ("gemm", 3, of_arms("ledger.tokens_generated", "set", 1, 3) + of_arms(*SCRATCH, 3), None),
    ("attention", 3, of_arms("memory", "times", 0.5) + of_arms(*SCRATCH) + of_arms("chosen.layers", "drop", None),
     "cells[0].arms[0].memory"),
]
