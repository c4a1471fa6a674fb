#!/usr/bin/env bash
# The bars of gemm at one activation, as one run of the lab: f32 and int8 at least 90 % of the read ceiling that was
# measured in the same cell, int4 at most 1 / 3.3 of the time that 2 n k bytes take at that ceiling.
#
#   bench/gemm.sh [CAP]      default 60s; THREADS=$(nproc) N=14336 K=4096 M=1 ISA=auto in the environment
#
# Prints every arm; exit 1 when a bar is missed. Only m = 1 has bars; other values of M are for reading.
set -euo pipefail
INFEROMETER=$(readlink -f "${INFEROMETER:-build/inferometer}")
export N=${N:-14336} K=${K:-4096} M=${M:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$INFEROMETER" gemm --m "$M" --n "$N" --k "$K" --isa "${ISA:-auto}" --threads "${THREADS:-$(nproc)}" --ceilings read \
    --cap "${1:-60s}" --quiet --format json --out "$scratch/out" >"$scratch/numbers" 2>"$scratch/errors" ||
    { cat "$scratch/errors" >&2; exit 4; }
python3 - "$scratch/numbers" <<'EOF'
import json, os, sys
n, k, m = (int(os.environ[name]) for name in "NKM")
numbers = {(row["arm"], row["metric"]): row["value"] for row in json.load(open(sys.argv[1]))["numbers"]
           if row["state"] == "ok"}
ceiling = numbers[("", "ceiling_read")]
print(f"m {m}, n {n}, k {k}: read ceiling {ceiling / 1e9:.1f} GB/s")
missed = 0
for arm in ("openblas", "f32", "bf16", "int8", "int4"):
    step = numbers.get((arm, "step_ns"))
    if step is None:
        print(f"{arm:9} absent or refused")
        missed += m == 1 and arm != "openblas"
        continue
    rate = numbers.get((arm, "read_bytes_per_s"))  # refused where it is above the ceiling
    read = rate / ceiling if rate is not None else float("nan")
    plain = 2 * n * k / ceiling * 1e9 / step
    error, loss = numbers.get((arm, "error_rms_rel")), numbers.get((arm, "loss_rms_rel"))
    line = f"{arm:9} {step / 1e6:8.3f} ms  {100 * read:5.1f} % of ceiling  {plain:5.2f} x 16-bit weights there"
    line += f"  kernel error {error:.1e}" if error is not None else ""
    line += f"  loss {loss:.1e}" if loss is not None else ""
    bar = {"f32": (100 * read, 90), "int8": (100 * read, 90), "int4": (plain, 3.3)}.get(arm) if m == 1 else None
    if bar is not None:
        line += f"  bar {bar[1]}: {'met' if bar[0] >= bar[1] else 'MISSED'}"
        missed += not bar[0] >= bar[1]
    print(line)
sys.exit(missed > 0)
EOF
