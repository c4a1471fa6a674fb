#!/usr/bin/env python3
"""Rebuild every published number as a run folder and hold Inferometer to its answer: check.py SCRATCH.

The state and the reason of each number, the outcome and its exit code, the sentence on the terminal (--verbose), in
report.html and in docs/maintain/refused.md; that a first look at the terminal says "do not use" of what is refused, and
of nothing else; and that every counterpart stands, with no number withheld. Then published files are edited after the
fact, hashed anew, and must be found out. Needs INFEROMETER and IFM_SOURCE.
"""
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys

import make
from figures import CASES

COMMAND, SOURCE = os.environ["INFEROMETER"], os.environ["IFM_SOURCE"]


def call(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def one_line(text):
    return re.sub(r"\s+", " ", text)


def page():
    """docs/maintain/refused.md as running text: sentences are quoted there."""
    return one_line(re.sub(r"^> ", "", read(SOURCE, "docs", "maintain", "refused.md"), flags=re.M))


def fail(case, what):
    sys.exit(f"{case}: {what}")


def check_number(case, number, state, wanted):
    name = f"{number['cell']}, {number['arm']}, {number['metric']}"
    if number["state"] != state:
        fail(case, f"{name} is {number['state']}, not {state}: {number['reason']}")
    if state != "ok" and (wanted not in number["reason"] or number["value"] is not None):
        fail(case, f"{name} says \"{number['reason']}\", not \"{wanted}\"")
    if state == "ok" and abs(number["value"] - wanted) > max(0.005 * abs(wanted), 0.3 if wanted == 0 else 0):
        fail(case, f"{name} is {number['value']}, not about {wanted}")


def check_numbers(name, case):
    numbers = json.loads(read(name, "derived.json"))["numbers"]
    for cell, arm, metric, state, wanted in case["expect"]:
        found = [n for n in numbers if (n["cell"], n["arm"], n["metric"]) == (cell, arm, metric)]
        if len(found) != 1:
            fail(name, f"{len(found)} numbers {metric} of {arm}")
        check_number(name, found[0], state, wanted)
    withheld = [n for n in numbers if n["state"] in ("refused", "inactive")]
    if "says" not in case and withheld:
        fail(name, f"a counterpart is refused too: {withheld[0]}")


def check_verdict(name, case):
    findings = json.loads(read(name, "derived.json"))["findings"]
    invalid = [f for f in findings if f["severity"] == "invalid"]
    outcome, code = case.get("verdict", ("not_gated", 3 if invalid else 0))
    status, text = call("judge", name)
    said = json.loads(read(name, "verdict.json"))["outcome"]
    if (said, status) != (outcome, code):
        fail(name, f"judged {said} with exit {status}, not {outcome} with {code}: {text}")


def is_clipped(sentence, text):
    """A terminal shows no more than two lines of a finding: its words up to a mark, two thirds of them at least."""
    words = sentence.split()
    return any(" ".join(words[:n]) + " \u2026" in text for n in range(2 * len(words) // 3, len(words)))


def check_words(name, case, terminal):
    sentence = case.get("says")
    if sentence is None:
        return
    report = one_line(html.unescape(re.sub(r"<[^>]*>", " ", read(name, "report.html"))))
    shown = one_line(terminal)
    for where, text in (("the terminal", shown), ("report.html", report),
                        ("docs/maintain/refused.md", page())):
        if sentence not in text and not (text is shown and is_clipped(sentence, shown)):
            fail(name, f"{where} does not say \"{sentence}\"")


def check_trust(name, case, brief):
    """The first look says that a refused number is of no use, and of no counterpart that it is."""
    numbers = json.loads(read(name, "derived.json"))["numbers"]
    withheld = any(n["state"] in ("refused", "inactive") for n in numbers)
    if ("\ndo not use: " in brief) != withheld:
        fail(name, f"{'a refusal' if withheld else 'no refusal'}, and the terminal says: {brief}")
    share = re.search(r"baseline at [0-9.]+ % of its read", case.get("says", ""))
    if share and not withheld and share.group() not in one_line(brief):
        fail(name, f"the speed-up stands without \"{share.group()}\": {brief}")


def check_case(name, case):
    make.make(name, name)
    status, brief = call("derive", name)
    check_trust(name, case, brief)
    status, terminal = call("derive", name, "--verbose")
    if status != 0:
        fail(name, f"derive ends with {status}: {terminal}")
    check_numbers(name, case)
    check_verdict(name, case)
    check_words(name, case, terminal)
    status, text = call("verify", name)
    if status != 0:
        fail(name, f"verify ends with {status}: {text}")


def hash_again(folder):
    """The manifest of a forger who knows how."""
    path = os.path.join(folder, "manifest.sha256")
    names = [line.split(None, 1)[1].strip().lstrip("*") for line in read(path).splitlines()]
    with open(path, "w") as file:
        for name in names:
            with open(os.path.join(folder, name), "rb") as content:
                file.write(f"{hashlib.sha256(content.read()).hexdigest()}  {name}\n")


def forge(case, name, file, edit, words, hashed=True):
    """Edit a file of the folder of an honest case; verify must say `words`, as the page of refused numbers does."""
    shutil.copytree(case, name)
    content = read(name, file)
    edited = edit(content)
    if edited == content:
        fail(name, f"nothing was edited in {file}")
    with open(os.path.join(name, file), "w") as out:
        out.write(edited)
    if hashed:
        hash_again(name)
    status, text = call("verify", name)
    if status != 3 or words not in one_line(text):
        fail(name, f"verify ends with {status} and says: {text}")
    if words not in page():
        fail(name, f"docs/maintain/refused.md does not say \"{words}\"")


def edit_json(change):
    def edit(content):
        value = json.loads(content)
        change(value)
        return json.dumps(value)
    return edit


def cycle_of_the_other(metrics):
    other = json.loads(read("spliced.other", "metrics.json"))
    metrics["cells"][-1] = other["cells"][-1]


PUBLISHED_KV = {
    "benchmark_type": "elastic_kv_golden_ticket_en", "brand": "PHIQ IO GOE Nucleus",
    "build": {"cuda_graphs": True, "inner_loops": 64, "truncate_percent": 0},
    "gpu": {"name": "NVIDIA GeForce GTX 1070", "sm": "6.1", "theoretical_bw_gbs": 256.0},
    "configuration": {"seq_len": 1024, "heads": 16, "head_dim": 64, "compression": 2, "reps": 200, "warmup": 20},
    "results": {"attention_time_ms": 0.05932, "attention_time_std": 0.005791, "coefficient_of_variation": 0.097618,
                "tokens_per_sec": 16857.631, "baseline_tokens_per_sec": 9876.738, "speedup_vs_baseline": 1.707,
                "memory_bandwidth_gbs": 188.66, "memory_efficiency_percent": 73.7, "roofline_score": 1.0},
    "inference_cycle": {"decode_tokens": 64, "baseline_total_ms": 86.704063, "elastic_total_ms": 44.169216,
                        "baseline_tokens_per_sec": 738.143, "elastic_tokens_per_sec": 1448.973,
                        "speedup_vs_baseline": 1.963},
}


def published_cycle(elastic_kv):
    elastic_kv["inference_cycle"].update(PUBLISHED_KV["inference_cycle"])


def check_elastic_kv():
    """001's own file, and its cycle alone, in place of what a run of its shape, with its times, gives."""
    status, text = call("decode", "--seq=1024", "--heads=16", "--dim=64", "--batch=1", "--compress=2", "--reps=200",
                        "--warmup=20", "--inference", "--decode_tokens=64", "--json", "--seed", "1", "--quiet",
                        "--device", "fake", "--script", "step_ns=101248; arm.int8.step_ns=59320", "--out", "kv")
    if status != 0:
        fail("kv", text)
    forge("kv", "published_kv", "elastic_kv.json", lambda _: json.dumps(PUBLISHED_KV),
          'elastic_kv.json: cell decode inference=false arm int8 benchmark_type: file says '
          '"elastic_kv_golden_ticket_en"')
    forge("kv", "published_cycle", "elastic_kv.json", edit_json(published_cycle),
          "elastic_kv.json: cell decode inference=true baseline_total_ms: file says 86.7")


def passes(verdict):
    verdict.update({"outcome": "pass", "exit_code": 0})
    for gate in verdict["gates"]:
        gate["outcome"] = "pass"


def tokens_of_one_call(derived):
    for number in derived["numbers"]:
        if number["metric"] == "energy_per_token_j":
            number["value"] *= 1000


def times_098(samples):
    rows = [line.split(",") for line in samples.splitlines()]
    return "\n".join([",".join(rows[0])] + [f"{r[0]},{r[1]},{round(0.98 * int(r[2]))}" for r in rows[1:]]) + "\n"


def check_forgeries():
    call("derive", "spliced.other")
    forge("spliced_right", "forged_splice", "metrics.json", edit_json(cycle_of_the_other),
          "metrics.json: cell cycle arm c1 latency_ms.mean: file says 86.7")
    forge("gate_slower", "forged_verdict", "verdict.json", edit_json(passes),
          'verdict.json: outcome: file says "pass", record gives "fail"')
    forge("one_calls_tokens_right", "forged_energy", "derived.json", edit_json(tokens_of_one_call),
          "derived.json: cell model arm call metric energy_per_token_j: file says 112.8")
    forge("scaled_right", "forged_samples", "samples/0-latency.csv", times_098,
          "samples/0-latency.csv", hashed=False)
    status, text = call("gate", "forged_verdict")
    if status != 1:
        fail("forged_verdict", f"gate believes the file: {status}, {text}")


def check_inverted_configuration():
    study = {"workload": "null", "ceilings": "none", "device": {"kind": "fake"},
             "arms": [{"name": "a", "baseline": True}, {"name": "b"}], "gates": CASES["inverted_gate"]["plan_gates"]}
    study["gates"][0]["arm"] = "b"
    with open("inverted.yaml", "w") as file:
        json.dump(study, file)
    status, text = call("run", "-c", "inverted.yaml", "--out", "inverted")
    if status != 2 or CASES["inverted_gate"]["says"] not in one_line(text) or os.path.exists("inverted"):
        fail("inverted.yaml", f"run ends with {status}: {text}")


def main():
    os.chdir(sys.argv[1])
    for name, case in CASES.items():
        check_case(name, case)
    check_forgeries()
    check_elastic_kv()
    check_inverted_configuration()
    make.make("above_peak", "again")
    same = all(read("again", f) == read("above_peak", f) for f in ("plan.json", "run.log", "samples/0-latency.csv"))
    if not same:
        fail("above_peak", "made twice, the folder differs")
    refused = sum("says" in case for case in CASES.values())
    print(f"{refused} published numbers refused, {len(CASES) - refused} counterparts accepted, 6 forgeries found")


if __name__ == "__main__":
    main()
