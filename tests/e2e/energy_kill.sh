#!/usr/bin/env bash
# kill -9 again and again in the energy pass of one folder: at calls that change the folder, before one or after half of
# a write, or, where nothing can be preloaded, at any time. After each one every whole block and every whole row of
# readings is still there; in the end the record is that of a pass that nobody killed: no window is lost or stands
# twice, readings ascend, and `verify` and `derive` find what they need.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/energy_lib.sh"
need python3 python3
mkdir driver
cp "${IFM_FAKE_NVML:?the folder of the fake management libraries}/fake_nvml.so" driver/libnvidia-ml.so.1
export FAKE_CUDA="kernel_ns=200000" FAKE_NVML="average_rc=3 instant_rc=3 memory_rc=3 refresh_ms=10"
export LD_LIBRARY_PATH="$IFM_FAKE_CUDA:$PWD/driver"
printf 'workload: null\narms:\n  - name: quick\n  - name: slow\n    set: {null.spin: 1000}\n' >two.yaml
start=(run -c two.yaml --device cuda --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --energy --energy-windows 3
    --energy-idle 1s --pre-roll 20ms --energy-window 150ms --format csv --out cut)

python3 - "${start[@]}" <<'PY' || fail "what is on disk after a kill is not what was there before it"
import glob, json, os, random, shutil, signal, subprocess, sys, time
chance = random.Random(int(os.environ.get("SEED", 1)))
command, shim = os.environ["INFEROMETER"], os.environ.get("IFM_FAULT")
CALLS = {"IFM_FAULT_CALLS": "write,sync,folder,rename,open,mkdir,cut", "IFM_FAULT_BELOW": "cut",
         "IFM_FAULT_FROM": '"power_sensor"', "IFM_FAULT_UNTIL": '"energy_done"'}
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}


def whole_rows(name):
    text = open(name).read()
    return text[: text.rfind("\n") + 1].splitlines()


def whole():
    """Of each file what no kill may take away: rows of readings and of the journal, and whole blocks of windows."""
    found = {}
    for name in glob.glob("cut/samples/*") + glob.glob("cut/run.log"):
        rows = whole_rows(name)
        if name.endswith("-slots.csv"):
            block = 4 if "energy" in name else None  # of two arms, there and back
            rows = rows[: 1 + (len(rows) - 1) // block * block] if block else rows[:1]
        elif name.endswith(("-energy.csv", "-latency.csv")):
            rows = rows[:1]
        found[name] = rows
    return found


def still_there(before):
    now = whole()
    for name, rows in before.items():
        if now.get(name, [])[: len(rows)] != rows:
            sys.exit(f"{name}: {len(rows)} rows were there, and are lost or changed")


def calls_of_a_pass():
    """How many of the calls a whole pass makes: it depends on how fast the machine is. Without a shim, its seconds."""
    began = time.monotonic()
    environment = os.environ | CALLS | {"IFM_FAULT_BELOW": "whole", "IFM_FAULT_COUNT": "calls"}
    arguments = ["whole" if word == "cut" else word for word in sys.argv[1:]]
    subprocess.run([command, *arguments], env=environment | ({"LD_PRELOAD": shim} if shim else {}), check=True, **quiet)
    return int(open("calls").read()) if shim else time.monotonic() - began


def attempt(extent):
    """Start or go on with the folder, and kill it somewhere. Returns whether it was killed."""
    arguments = ["run", "--resume", "cut"] if os.path.exists("cut/plan.json") else sys.argv[1:]
    environment = dict(os.environ)
    if shim:
        environment |= CALLS | {"LD_PRELOAD": shim, "IFM_FAULT_AT": str(chance.randint(1, extent)),
                                "IFM_FAULT_DO": chance.choice(["kill", "torn"])}
    before = whole()
    child = subprocess.Popen([command, *arguments], env=environment, **quiet)
    if not shim:
        time.sleep(chance.uniform(0, extent))
        child.kill()
    status = child.wait()
    if status not in (0, -signal.SIGKILL):
        sys.exit(f"status {status}")
    still_there(before)
    return status != 0


# Until a pass was killed three times before it was complete, one of them with a whole block on the disk.
extent = calls_of_a_pass()
for folder in range(20):
    shutil.rmtree("cut", ignore_errors=True)
    kills = behind = 0
    while kills < 6 and attempt(extent):
        kills += 1
        behind += len(whole().get("cut/samples/0-energy-slots.csv", [])) > 1
    if kills >= 3 and behind:
        break
else:
    sys.exit("in 20 folders no pass was killed three times")
before = whole()
ended = subprocess.run([command, "run", "--resume", "cut"], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
if ended.returncode != 0:
    sys.exit(f"after {kills} kills: status {ended.returncode}: {ended.stderr.decode()}")
still_there(before)
stages = [json.loads(line)["stage"] for line in whole_rows("cut/run.log")]
if stages.count("run_done") < 1:
    sys.exit("the pass is not complete")
print(f"{kills} kills, {behind} behind a whole block, in folder {folder + 1}; {extent} calls or seconds a pass")
PY
check_energy cut 4 || fail "cut: the record is not that of a pass that nobody killed"
"$INFEROMETER" verify cut >log 2>&1 || fail "cut: $(cat log)"
"$INFEROMETER" derive cut --format csv >log 2>&1 || fail "cut: $(cat log)"
echo "killed again and again in the energy pass: no whole block and no whole row of readings is lost or stands twice"
