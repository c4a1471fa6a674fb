#!/usr/bin/env bash
# A run that reads a user's file says by base name and SHA-256 what it read, never where; resume, rerun, compare and
# verify hold it to these bytes.
source "$(dirname "$0")/lib.sh"
need python3 python3
needle=needle-$$
mkdir "$needle"
cat >tensors.py <<'P'
import json, random, struct, sys

path, seed = sys.argv[1:]
random.seed(int(seed))
header, data = {}, b""
for name, heads in (("k", 2), ("v", 2), ("q", 4)):
    count = heads * 384 * 32
    part = struct.pack("<%df" % count, *(random.gauss(0, 1) for _ in range(count)))
    header[name] = {"dtype": "F32", "shape": [heads, 384, 32], "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
P
python3 tensors.py "$needle/layer.safetensors" 1
cp "$needle/layer.safetensors" kept
printf -- '---\nlicense: mit\n---\n' >"$needle/README.md"
sum=$(sha256sum <kept | cut -d' ' -f1)
file=$PWD/$needle/layer.safetensors
shape=(--kv-file "$file" --q-heads 4 --kv-heads 2 --head-dim 32 --threads 1 --ceilings none)
decode=(decode "${shape[@]}" --kv-len 384 --layers 1 --compress 2)
attention=(attention "${shape[@]}" --seq-len 384 --layers 1)
short=(--repeats 60 --warmup 3 --warmup-cap 0.2)

"$INFEROMETER" "${decode[@]}" "${short[@]}" --out decode >/dev/null 2>errors || fail "decode: $(cat errors)"
"$INFEROMETER" "${attention[@]}" "${short[@]}" --out attention >/dev/null 2>errors || fail "attention: $(cat errors)"
for folder in decode attention; do
    grep -q "\"input\".*\"$folder.kv_file\".*\"layer.safetensors\",\"sha256\":\"$sum\"" $folder/run.log ||
        fail "$folder/run.log does not say what was read"
    [ "$(grep -o "input file, $folder.kv_file" $folder/report.html | wc -l)" = 1 ] ||
        fail "$folder/report.html does not name the file once"
    grep -q "layer.safetensors, SHA-256 $sum" $folder/report.html || fail "$folder/report.html holds no SHA-256"
    grep -q "licence of layer.safetensors</th><td[^>]*>mit, as README.md beside it says" $folder/report.html ||
        fail "$folder/report.html does not name the licence"
    leaks=$(grep -rlF -e "$needle" -e "$PWD" $folder | grep -v '/private.json$' || true)
    [ -z "$leaks" ] || fail "the path of the file stands in $leaks"
    grep -qF "$file" $folder/private.json || fail "$folder/private.json does not say where the file was"
    "$INFEROMETER" verify $folder >/dev/null 2>errors || fail "verify $folder: $(cat errors)"
done

# A process of its own for each arm reads it too.
"$INFEROMETER" "${attention[@]}" --repeats 12 --warmup 2 --warmup-cap 0.1 --isolation processes --out apart >/dev/null \
    2>errors || fail "isolation: $(cat errors)"
grep -q '"processes"' apart/run.log || fail "isolation: $(cat errors)"

# Start COMMAND, and interrupt it once there are SLOTS in `cut`.
interrupted() # SLOTS COMMAND...
{
    local slots=$1
    shift
    cut_short INT cut "$slots" "$@"
    [ "$status" = 130 ] || fail "exit status $status after SIGINT, not 130: $(cat errors)"
}

refused() # WORDS COMMAND...
{
    local words=$1 status=0
    shift
    "$@" >/dev/null 2>errors || status=$?
    [ "$status" = 2 ] || fail "$*: exit status $status, not 2: $(cat errors)"
    grep -q "$words" errors || fail "$*: it does not say \"$words\": $(cat errors)"
    ! grep -qF "$needle" errors || fail "$*: the message holds the path: $(cat errors)"
}

# An interrupted run goes on with the same bytes and no others; so does one that is repeated.
interrupted 4 "$INFEROMETER" "${decode[@]}" --repeats 2000000 --cap 600 --out cut
python3 tensors.py "$file" 2
cp cut/run.log before
refused "layer.safetensors of decode.kv_file is not the file that was measured" "$INFEROMETER" run --resume cut
cmp -s before cut/run.log || fail "a refused resume wrote into run.log"
refused "is not the file that was measured" "$INFEROMETER" rerun attention --out never
[ ! -e never ] || fail "a refused rerun made a folder"
"$INFEROMETER" run -c attention/config.lock.json --out other >/dev/null 2>errors || fail "the new file: $(cat errors)"
"$INFEROMETER" compare attention other >compared 2>&1 || true
unwrapped <compared | has "content of attention.kv_file" ||
    fail "compare does not say that the files differ: $(cat compared)"
cp kept "$file"
"$INFEROMETER" rerun attention --out again >/dev/null 2>errors || fail "rerun with the old file: $(cat errors)"
interrupted $(($(slots_of cut) + 4)) "$INFEROMETER" run --resume cut
[ "$(grep -c '"input"' cut/run.log)" = 2 ] || fail "not each session says what it read"
"$INFEROMETER" derive cut >/dev/null 2>errors || true
[ "$(grep -o 'input file, decode.kv_file' cut/report.html | wc -l)" = 1 ] || fail "the report names one file twice"

# A record whose sessions read different bytes is none, even when it was hashed like that.
sed -i "0,/\"sha256\":\"$sum\"/s//\"sha256\":\"${sum:32}${sum:0:32}\"/" cut/run.log
python3 - cut/run.log <<'P'
import hashlib, re, sys
before, lines = b"", []
for line in open(sys.argv[1], "rb").read().splitlines():
    line = re.sub(rb'"prev":"[0-9a-f]{64}"', b'"prev":"%s"' % hashlib.sha256(before).hexdigest().encode(), line)
    lines.append(line)
    before = line
open(sys.argv[1], "wb").write(b"".join(line + b"\n" for line in lines))
P
(cd cut && sha256sum $(awk '{ print $2 }' manifest.sha256) >../hashes && cp ../hashes manifest.sha256)
status=0
"$INFEROMETER" verify cut >/dev/null 2>errors || status=$?
[ "$status" = 3 ] && grep -q "read different bytes from the file layer.safetensors" errors ||
    fail "verify of two contents: exit status $status: $(cat errors)"
echo "decode and attention; resume, rerun, compare and verify see another content"
