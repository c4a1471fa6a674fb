#!/usr/bin/env bash
# A shape has the same data wherever its cell stands: alone, in a list, among other axes, and under other ways to
# measure. Its seed, its outputs and its errors are then the same to the bit.
source "$(dirname "$0")/lib.sh"
need python3 python3
common=(--compress 4 --batch 1 --q-heads 2 --kv-heads 1 --head-dim 32 --layers 1 --threads 1 --ceilings none
    --warmup 5 --warmup-cap 0.2 --quiet)
measured() { "$INFEROMETER" decode "${common[@]}" "$@" >/dev/null 2>errors || fail "decode $*: $(cat errors)"; }
measured --kv-len 512 --repeats 30 --out alone
measured --kv-len 256,512 --repeats 30 --out list
measured --kv-len 384,512 --sink 32,16 --repeats 30 --out axes
measured --kv-len 512 --repeats 40 --slot-steps 4 --isolation buffers --layers 2 --out otherwise
measured --kv-len 512 --replica 2,1 --repeats 30 --out replicas
python3 - <<'P' || exit 1
import json
import sys


def cells(folder):
    """By its settings: a cell's seed, and what the checks of its arms said."""
    plan = json.load(open(folder + "/plan.json"))
    events = [json.loads(line) for line in open(folder + "/run.log")]
    checks = [event["meta"] for event in events if event["stage"] == "check"]
    for cell in plan["cells"]:
        settings = cell["arms"][0]["settings"]
        said = {check["arm"]: (check["error_rms_rel"], check["error_max_rel"], check["loss"], check["output_xxh3"])
                for check in checks if check["cell"] == cell["name"]}
        yield (settings["decode.kv_len"], settings["decode.sink"], cell["measure"]["replica"]), (cell["seed"], said)


alone = dict(cells("alone"))
place = ("512", "32", 1)
if set(alone[place][1]) != {"f16", "int4"} or not alone[place][1]["int4"][2]["rms_rel"] > 0:
    sys.exit(f"nothing to compare: {alone}")
for folder in ("list", "axes", "otherwise", "replicas"):
    found = dict(cells(folder))
    if found.get(place) != alone[place]:
        sys.exit(f"{folder}: {place} is {found}, alone it is {alone[place]}")
    for other, (seed, said) in found.items():
        if other[2] != place[2] and (seed == alone[place][0] or said == alone[place][1]):
            sys.exit(f"{folder}: another replica has the same data")
        if other[0] != place[0] and said == alone[place][1]:
            sys.exit(f"{folder}: another length has the same errors")
P
echo "one seed and the same bits in 4 lists"
