"""The formulas of data/metrics, from raw samples, plan and journal alone.

Each function takes a View (one arm of one cell, or the cell where the arm is "") and gives the number, or None where
the record leaves it to what is not recomputed here. A number that a formula names by its id is taken as published: its
own formula compares it.
"""
import csv
import json
import math
import os

WARMUP = "0"  # the phase; every other slot is measured: of blocks, and of rounds of ceilings
CEILING = "2"  # the phase of the latter


class Run:
    def __init__(self, folder):
        with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
            self.plan = json.load(file)
        with open(os.path.join(folder, "run.log"), encoding="utf-8") as file:
            self.events = [json.loads(line) for line in file if line.endswith("\n")]
        with open(os.path.join(folder, "config.lock.json"), encoding="utf-8") as file:
            self.settings = json.load(file)["parameters"]
        self.cells = {}
        for cell in self.plan["cells"]:
            stem = os.path.join(folder, "samples", f"{cell['index']}-latency")
            if os.path.exists(stem + ".csv"):
                self.cells[cell["name"]] = Cell(cell, stem)


class Cell:
    def __init__(self, plan, stem):
        self.plan = plan
        self.arms = {arm["name"]: arm for arm in plan["arms"]}
        with open(stem + "-slots.csv", encoding="utf-8") as file:
            self.slots = list(csv.DictReader(file))
        for slot in self.slots:
            slot["x"], slot["at"] = [], plan["arms"][int(slot["arm"])]["name"]
        with open(stem + ".csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.slots[int(row["slot"])]["x"].append(int(row["duration_ns"]))


class View:
    def __init__(self, run, cell, arm, published):
        self.run, self.cell, self.name, self.published = run, run.cells[cell], arm, published
        self.plan = self.cell.arms.get(arm)
        self.ledger = self.plan["ledger"] if self.plan else None

    def of(self, arm):
        return View(self.run, self.cell.plan["name"], arm, self.published)

    def number(self, metric, arm=None):
        return self.published.get((self.cell.plan["name"], self.name if arm is None else arm, metric))

    def slots(self, measured=True):
        return [s for s in self.cell.slots if s["at"] == self.name and (s["phase"] != WARMUP) == measured]

    def x(self):
        return [d / int(s["inner"]) for s in self.slots() for d in s["x"]]

    def events(self, stage):
        """Of this arm, or of the cell, since the cell last began."""
        found = []
        for event in self.run.events:
            meta = event["meta"]
            if meta.get("cell") != self.cell.plan["name"]:
                continue
            if event["stage"] == "cell_start":
                found = []
            if event["stage"] == stage and meta.get("arm", self.name) == self.name:
                found.append(meta)
        return found

    def baseline(self):
        names = [a["name"] for a in self.cell.plan["arms"] if a["role"] == "baseline"]
        return self.of(names[0]) if names else None

    def cells_alike(self):
        """This cell, and those whose arms have as many threads; alone where the machine's caches were not recorded."""
        threads = self.cell.plan["threads"]
        if "machine" not in self.run.plan:
            return [self.cell]
        return [cell for cell in self.run.cells.values() if cell.plan["threads"] == threads]


# ---- what formulas share ----


def mean(x):
    return math.fsum(x) / len(x)


def sd(x):
    m = mean(x)
    return math.sqrt(math.fsum((v - m) ** 2 for v in x) / (len(x) - 1))


def quantile(x, p):
    x, at = sorted(x), p * (len(x) - 1)
    low = math.floor(at)
    return x[low] + (x[min(low + 1, len(x) - 1)] - x[low]) * (at - low)


def slot_means(view, of):
    """{block: mean over the arm's slots in it}, in order."""
    found = {}
    for slot in view.slots():
        found.setdefault(int(slot["block"]), []).append(of(slot))
    return {block: mean(values) for block, values in found.items()}


def totals(view):
    """{block: (time, steps) of the arm's slots in it}, in order."""
    found = {}
    for slot in view.slots():
        time, steps = found.get(int(slot["block"]), (0, 0))
        found[int(slot["block"])] = time + sum(slot["x"]), steps + len(slot["x"]) * int(slot["inner"])
    return found


def blocks(view):
    """{block: ln of the time of a step}, in order."""
    return {block: math.log(time / steps) for block, (time, steps) in totals(view).items()}


def ratio(pairs):
    return sum(time for time, _ in pairs) / sum(steps for _, steps in pairs)


def step(view):
    return ratio(totals(view).values())


def influences(pairs):
    """What each block says of ln(time / steps); their mean is that."""
    level, time = ratio(pairs), mean([t for t, _ in pairs])
    return [math.log(level) + (t - level * s) / time for t, s in pairs]


def paired(a, b):
    """ln of the time of a step of b less that of a, as their common blocks say it."""
    own, other = totals(a), totals(b)
    both = [k for k in own if k in other]
    return [y - x for x, y in zip(influences([own[k] for k in both]), influences([other[k] for k in both]))]


def over(view, maker):
    """Over the fastest exact arm of the cell that does as much; `maker`: of those of that implementation."""
    amounts = ("tokens_generated", "tokens_prompt", "rows")
    exact = [a for a in view.cell.plan["arms"]
             if a["role"] in ("baseline", "variant") and not a.get("lossy") and
             all(a["ledger"][k] == view.ledger[k] for k in amounts) and
             maker in (None, a.get("implementation"))]
    fastest = min((view.of(a["name"]) for a in exact), key=lambda v: mean_step(totals(v)))
    return math.exp(-mean(paired(fastest, view)))


def mean_step(blocks):
    return sum(t for t, _ in blocks.values()) / sum(s for _, s in blocks.values())


def over_fastest(view):
    return over(view, None)


def over_own(view):
    return over(view, view.plan["implementation"])


def log_median(slot):
    return math.log(quantile(slot["x"], 0.5) / int(slot["inner"]))


def change(v):
    return 100 * (math.exp(mean(paired(v.baseline(), v))) - 1)


def change_median(v):
    own, base = slot_means(v, log_median), slot_means(v.baseline(), log_median)
    return 100 * (math.exp(quantile([own[k] - base[k] for k in own if k in base], 0.5)) - 1)


def amount(view, kind):
    ledger = view.ledger
    return {"read": ledger["bytes_read"], "write": ledger["bytes_written"],
            "copy": ledger["bytes_read"] + ledger["bytes_written"], "flops": ledger["flops"],
            "matrix": ledger["flops"]}[kind]


def line(at, values):
    """Slope and intercept of the least-squares line."""
    ma, mv = mean(at), mean(values)
    slope = (math.fsum((a - ma) * (v - mv) for a, v in zip(at, values)) / math.fsum((a - ma) ** 2 for a in at))
    return slope, mv - slope * ma


def lag1(x):
    m = mean(x)
    r = math.fsum((a - m) * (b - m) for a, b in zip(x, x[1:])) / math.fsum((v - m) ** 2 for v in x)
    return max(-0.999999, min(0.999999, r + (1 + 4 * r) / len(x)))


def clamp(value, low, high):
    return max(low, min(high, value))


def beta(a, b, x):
    """Regularised incomplete beta, by Simpson after x = sin^2: independent of the lab's continued fraction."""
    def f(u):
        return 2 * math.sin(u) ** (2 * a - 1) * math.cos(u) ** (2 * b - 1)
    top, n = math.asin(math.sqrt(x)), 4000
    h = top / n
    inner = math.fsum((4 if i % 2 else 2) * f(i * h) for i in range(1, n))
    first = f(0.0) if a > 0.5 else 2.0 * math.cos(0.0) ** (2 * b - 1)
    return (first + inner + f(top)) * h / 3 / math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def t_quantile(p, df):
    """P(0 < T <= t) = 1/2 I(1/2, df/2) at t^2 / (df + t^2)."""
    low, high = 0.0, 1e3
    for _ in range(80):
        middle = (low + high) / 2
        inside = 0.5 + 0.5 * beta(0.5, df / 2, middle * middle / (df + middle * middle))
        low, high = (middle, high) if inside < p else (low, middle)
    return (low + high) / 2


# ---- formulas ----


def rate(*names):
    return lambda v: sum(v.ledger[n] for n in names) / v.number("step_ns") * 1e9


def trimmed(v):
    t = v.cell.plan["measure"].get("truncate", 0) or 10
    x = sorted(v.x())
    cut = math.floor(len(x) * t / 100 + 1e-9)
    return mean(x[cut:len(x) - cut])


def effective(v):
    x = v.x()
    n, most = len(x), float(len(x))
    if len(x) >= 10 and sd(x) > 0:
        r = lag1(x)
        most = clamp(n * (1 - r) / (1 + r), 1, n)
    means = [mean(s["x"]) / int(s["inner"]) for s in v.slots()]
    if len(means) >= 6 and sd(means) > 0 and sd(x) > 0:
        most = min(most, clamp(sd(x) ** 2 * len(means) / sd(means) ** 2, 1, n))
    return math.floor(most + 1e-9)


def outliers(v):
    x = v.x()
    middle = quantile(x, 0.5)
    off = [abs(a - middle) for a in x]
    spread = 1.4826 * quantile(off, 0.5) or 1.2533 * mean(off)
    return sum(a > 3.5 * spread for a in off) if spread > 0 else 0


def drift(v):
    values = blocks(v)
    at = slot_means(v, lambda s: (int(s["start_ns"]) + int(s["end_ns"])) / 2)
    slope, _ = line(list(at.values()), list(values.values()))
    ends = list(at.values())
    return 100 * (math.exp(slope * (ends[-1] - ends[0])) - 1)


def inner(v):
    return int(v.slots()[0]["inner"])


def share(kind):
    def of(v):
        return 100 * amount(v, kind) / step(v) * 1e9 / v.number(f"ceiling_{kind}", "")
    return of


def ceiling(kind):
    """The fastest slot of the probes; None where an arm is above it, and may raise it."""
    def of(v):
        rates, others = [0], [0]
        for cell in v.cells_alike():
            for name, arm in cell.arms.items():
                view = View(v.run, cell.plan["name"], name, v.published)
                if not amount(view, kind) or not view.slots():
                    continue
                if arm["ceiling"] == kind:
                    rates += [amount(view, kind) * len(s["x"]) * int(s["inner"]) / sum(s["x"]) for s in view.slots()]
                elif arm["role"] != "ceiling":
                    others.append(amount(view, kind) / step(view))
        return max(rates) * 1e9 if max(others) <= max(rates) else None
    return of


def stretches(v, kind):
    """{(cell, round): rates of the stretches of its fastest probe}, each as long as a step of the baseline; of whole slots
    where ceilings stand in blocks, and on GPUs."""
    found = {}
    machine = v.run.plan.get("machine")
    for cell in v.cells_alike():
        fastest = {}
        apart = cell.plan.get("ceilings_apart", False)
        for name, arm in cell.arms.items():
            view = View(v.run, cell.plan["name"], name, v.published)
            if arm["ceiling"] != kind or not amount(view, kind):
                continue
            for block, (time, steps) in totals(view).items():
                slots = [s for s in view.slots() if int(s["block"]) == block]
                if apart != (slots[0]["phase"] == CEILING):
                    continue
                if block not in fastest or amount(view, kind) * steps / time > fastest[block][0]:
                    fastest[block] = amount(view, kind) * steps / time, view, slots
        for block, (_, view, slots) in fastest.items():
            for slot in slots:
                own, n = amount(view, kind) * int(slot["inner"]), len(slot["x"])
                if apart and machine and not machine.get("gpu"):
                    step_of = amount(v.baseline(), kind) if v.baseline() else 0
                    n = max(1, min(n, math.ceil(step_of / own)))
                found.setdefault((cell.plan["name"], block), []).extend(
                    own * n / sum(slot["x"][i:i + n]) for i in range(len(slot["x"]) - n + 1))
    return found


def moved(v):
    found = stretches(v, "read")
    rates = [rate for rates in found.values() for rate in rates]
    return 100 * (quantile(rates, 0.9) / quantile(rates, 0.1) - 1) if len(found) > 1 else None


def roofline(v):
    shares = [v.number("ceiling_read_percent"), v.number("ceiling_flops_percent")]
    return max(s for s in shares if s is not None) / 100


def ridge(v):
    return v.number("ceiling_flops") / v.number("ceiling_read")


def tick_of(v):
    """What the clock cannot resolve, of the shortest slot of an arm."""
    ticks = [e["clock_tick_ns"] for arm in v.cell.arms for e in v.of(arm).events("calibrate")]
    return max([1.0] + ticks) / min(quantile(s["x"], 0.5) for s in v.slots())


def effective_blocks(d):
    n = len(d)
    if n < 10:
        return float(n)
    slope, start = line(list(range(n)), d)
    rest = [a - start - slope * i for i, a in enumerate(d)]
    r = lag1(rest)
    found = clamp(n * (1 - r) / (1 + r), 1, n) if r > 1.645 / math.sqrt(n) else float(n)
    return max(3.0, found)


def upper_tail(z):
    return 0.5 * math.erfc(z / math.sqrt(2))


def z_quantile(p):
    low, high = 0.0, 40.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - upper_tail(middle) < p else (low, middle)
    return (low + high) / 2


def error_at_end(error, first, n):
    """What the end of a run of n blocks, which no look has ended, may err by: a Brownian motion B at the number of
    blocks is beyond z_look sqrt(k) at some look k before n, or beyond z sqrt(n) at n, with the probability `error`.
    z is never above z_look. Each look errs by a 20th; they are at `first` blocks and at half as many more each."""
    z_look, points, look = z_quantile(1 - error / 40), 400, first
    at, mass, last, left = [0.0], [1.0], 0, error  # B = 0 at 0 blocks

    def beyond(k, bound):
        sd = math.sqrt(k - last)
        return sum(m * (upper_tail((bound - x) / sd) + upper_tail((bound + x) / sd)) for x, m in zip(at, mass))

    while look < n:
        bound, sd = z_look * math.sqrt(look), math.sqrt(look - last)
        left -= beyond(look, bound)
        step = 2 * bound / points
        to = [-bound + step * j for j in range(points + 1)]  # Simpson's rule
        weights = [step / 3 * (1 if j in (0, points) else 4 if j % 2 else 2) for j in range(points + 1)]
        mass = [w * sum(m * math.exp(-0.5 * ((y - x) / sd) ** 2) for x, m in zip(at, mass))
                / (sd * math.sqrt(2 * math.pi)) for y, w in zip(to, weights)]
        at, last, look = to, look, look + (look + 1) // 2
    low, high = 0.0, z_look
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(n, middle * math.sqrt(n)) > left else (low, middle)
    return 2 * upper_tail(high)


def mde(v):
    base, measure = v.baseline(), v.cell.plan["measure"]
    if measure["stop"] == "group":
        return None  # its level is that of docs/maintain/method.md: repeated looks
    d = paired(base, v)
    variants = sum(a["role"] == "variant" for a in v.cell.plan["arms"])
    error = 0.05 / variants
    stops = v.events("stop")
    reason = stops[-1]["reason"] if stops else ""
    if measure["stop"] == "mde" and reason == "mde":
        error *= 0.75
    elif measure["stop"] == "decided":
        first = max(6, measure["blocks_min"])
        error = error / 20 if reason == "decided" else error_at_end(error, first, len(d))
    s = max(sd(d), math.hypot(tick_of(v), tick_of(base)) / math.sqrt(12))
    e = effective_blocks(d)
    quantiles = t_quantile(1 - error / 2, e - 1) + t_quantile(0.8, e - 1)
    return 100 * (math.exp(math.log(1 + measure["margin"]) + quantiles * s / math.sqrt(e)) - 1)


def cliff(v):
    own, base = blocks(v).values(), blocks(v.baseline()).values()
    return sum((b > a) - (b < a) for a in own for b in base) / (len(own) * len(base))


def hedges(v):
    own, base = list(blocks(v).values()), list(blocks(v.baseline()).values())
    df = len(own) + len(base) - 2
    pooled = math.sqrt(((len(own) - 1) * sd(own) ** 2 + (len(base) - 1) * sd(base) ** 2) / df)
    j = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    return j * (mean(base) - mean(own)) / pooled


def last_check(member):
    def of(v):
        checks = [e for e in v.events("check") if e["done"]]
        return checks[-1][member]
    return of


def of_losses(member, choose):
    def of(v):
        return choose(e["loss"][member] for e in v.events("check") if e.get("loss"))
    return of


def total_error(v):
    error, loss = v.number("error_rms_rel"), v.number("loss_rms_rel")
    return error if loss is None else error * (1 + loss) + loss


def bytes_of(v):
    return v.ledger["bytes_read"] + v.ledger["bytes_written"]


def column(name):
    return lambda v: sum(int(s[name]) for s in v.slots())


def cpu_of_blocks(v):
    found = {}
    for slot in v.slots():
        if slot["child_cpu_ns"]:
            total = found.setdefault(slot["block"], [0, 0])
            total[0] += int(slot["child_cpu_ns"])
            total[1] += int(slot["samples"])
    return found


def cpu(v):
    return mean([total / steps for total, steps in cpu_of_blocks(v).values()])


def change_cpu(v):
    own, base = cpu_of_blocks(v), cpu_of_blocks(v.baseline())
    common = [block for block in own if block in base]
    each = [[math.fsum(of[block][i] for block in common) for i in (0, 1)] for of in (own, base)]
    return 100 * (each[0][0] / each[0][1] / (each[1][0] / each[1][1]) - 1)


RECOMPUTED = {
    "step_ns": step,
    "latency_ns_mean": lambda v: mean(v.x()),
    "latency_ns_trimmed_mean": trimmed,
    "latency_ns_p50": lambda v: quantile(v.x(), 0.5),
    "latency_ns_p90": lambda v: quantile(v.x(), 0.9),
    "latency_ns_p95": lambda v: quantile(v.x(), 0.95),
    "latency_ns_p99": lambda v: quantile(v.x(), 0.99),
    "latency_ns_sd": lambda v: sd(v.x()),
    "latency_cv_percent": lambda v: 100 * sd(v.x()) / mean(v.x()),
    "drift_percent": drift,
    "autocorrelation_lag1": lambda v: lag1(v.x()),
    "effective_samples": effective,
    "outliers_count": outliers,
    "samples_count": lambda v: len(v.x()),
    "slots_count": lambda v: len(v.slots()),
    "blocks_count": lambda v: len(blocks(v)),
    "warmup_samples": lambda v: sum(len(s["x"]) for s in v.slots(measured=False)),
    "inner_steps": inner,
    "read_bytes_per_s": rate("bytes_read"),
    "write_bytes_per_s": rate("bytes_written"),
    "bandwidth_bytes_per_s": rate("bytes_read", "bytes_written"),
    "flops_per_s": rate("flops"),
    "tokens_generated_per_s": lambda v: rate("tokens_generated")(v) / v.ledger.get("layers", 1),
    "layer_tokens_per_s": rate("tokens_generated"),
    "rows_per_s": rate("rows"),
    "arithmetic_intensity": lambda v: v.ledger["flops"] / bytes_of(v),
    "ceiling_flops_percent": share("flops"),
    "roofline_score": roofline,
    "ceiling_read": ceiling("read"),
    "ceiling_read_moved_percent": moved,
    "ceiling_copy": ceiling("copy"),
    "ceiling_flops": ceiling("flops"),
    "ridge_point": ridge,
    "mde_percent": mde,
    "cliffs_delta": cliff,
    "hedges_g": hedges,
    "error_rms_rel": last_check("error_rms_rel"),
    "error_max_rel": last_check("error_max_rel"),
    "total_error_rms_rel": total_error,
    "loss_rms_rel": of_losses("rms_rel", max),
    "loss_p99_rel": of_losses("p99_rel", max),
    "loss_cosine": of_losses("cosine", min),
    "stored_bytes": lambda v: v.plan["stored"],
    "compression_ratio": lambda v: v.plan["stored_plain"] / v.plan["stored"],
    "bits_per_value": lambda v: 16 * v.plan["stored"] / v.plan["stored_plain"],
    "bytes_ratio": lambda v: bytes_of(v.baseline()) / bytes_of(v),
    "context_switches_involuntary": column("context_switches_involuntary"),
    "faults_major": column("faults_major"),
    "steal_ns": column("steal_ns"),
    "run_delay_ns": column("run_delay_ns"),
    "command_cpu_ns": cpu,
    "change_percent": change,
    "change_cpu_percent": change_cpu,
    "change_percent_median": change_median,
    "speedup": lambda v: math.exp(-mean(paired(v.baseline(), v))),
    "speedup_over_fastest": over_fastest,
    "speedup_over_own": over_own,
}

ENERGY = "of the energy pass: readings of sensors, whose windows are compared in test_captures and test_joules"
GPU = "of a GPU's counters or states, which no recorded folder holds; e2e/counters and " \
      " e2e/trace compute those of the counters and of traces"
SIMULATED = "an algorithm of src/stats that its own tests compare with published values"
MARKS = "of marked blocks, ends of intervals or seeded draws, which tests/unit compares by hand"
NOT_RECOMPUTED = {
    **dict.fromkeys("change_percent_without_marked change_percent_all_blocks blocks_needed "
                    "intervals_gap_percent sign_flip_p step_ns_without_marked blocks_marked".split(), MARKS),
    "tpot_bound_ns": "absent beside other programs, which all recorded folders had; golden/model-bound computes it",
    "change_percent_p95": "the ratio of two latency_ns_p95, which are recomputed; its interval is Welch's",
    **dict.fromkeys("total_energy_j power_mean_w duration_sec gpu_energy_j gpu_power_w cpu_energy_j cpu_power_w "
                    "idle_power_w energy_above_idle_j energy_per_step_j energy_per_total_token_j "
                    "energy_per_token_above_idle_j energy_per_token_change_percent energy_per_step_change_percent "
                    "tokens_per_joule flops_per_joule watts_per_token_rate energy_systematic_percent "
                    "energy_sources_differ_percent energy_windows energy_per_step_cv_percent energy_per_token_j "
                    "estimated_energy_j "
                    .split(), ENERGY),
    **dict.fromkeys("clock_sm_mhz clock_sm_reported_mhz l2_hit_percent l2_hit_change_pp temperature_range_k "
                    "gpu_power_capped_percent gpu_thermal_throttled_percent gpu_temperature_start_c "
                    "dram_bytes_read dram_bytes_written dram_bytes_over_ledger dram_bytes_read_sd_percent "
                    "dram_throughput_percent l2_hit_sd_pp l2_sector_hit_percent l2_fabric_percent "
                    "l2_write_sectors warps_launched "
                    "gpm_memory_percent gpm_sm_percent gpm_occupancy_percent gpm_tensor_percent gpm_cost_ns "
                    "tensor_flops tensor_int8_ops tensor_flops_over_ledger "
                    "occupancy_percent occupancy_limit_percent issue_percent tensor_active_percent "
                    "bank_conflict_percent l2_busy_percent l2_link_percent sm_idle_percent wait_memory_percent "
                    "wait_dependency_percent wait_wgmma_percent wait_barrier_percent wait_shared_percent "
                    "wait_arithmetic_percent wait_other_percent "
                    "clock_counted_mhz range_step_ns counters_slower_percent "
                    "counters_cost_ns kernels_launched graph_kernels graph_launches launch_calls gpu_copies gpu_waits "
                    "driver_calls kernel_time_ns call_time_ns launch_time_ns wait_time_ns "
                    "graph_kernel_time_ns gpu_idle_percent gpu_gap_percent trace_slower_percent trace_cost_ns "
                    "gpu_temperature_end_c ceiling_matrix "
                    "instructions_per_step cpu_cycles_per_step instructions_per_cycle cache_misses_per_step "
                    "branch_misses_per_step".split(), GPU),
    **dict.fromkeys("modes_count change_points steady_from_percent latency_ns_p50_bootstrap cache_l1_bytes "
                    "cache_l2_bytes cache_l3_bytes".split(), SIMULATED),
    **dict.fromkeys("command_rss_bytes command_faults_major command_switches_involuntary command_failures "
                    "command_strays command_run_delay_ns".split(),
                    "sums and a maximum of one column, as steal_ns, which is recomputed"),
    **dict.fromkeys("attention_kl_nats attention_tv quality_percent quality_loss_pp tokens_prompt_per_s "
                    "load_ns latency_ns_p999 speedup_at_ceiling ceiling_read_percent ceiling_write ceiling_int8 "
                    "memory_bus memory_bus_percent "
                    "ceiling_clock "
                    "ceiling_flops_clock ceiling_l1 ceiling_l2 ceiling_l3 ceiling_read_spread_percent "
                    "ceiling_flops_spread_percent".split(),
                    "no recorded folder shows it"),
}
