#!/usr/bin/env bash
# screenshots.sh DIR OUT: pictures of the report in run folder DIR, as docs/ holds them, into folder OUT: phone, tablet,
# desk and paper, light and dark. Each is a PNG of at most 120 KB.
set -euo pipefail
[ $# = 2 ] || { echo "usage: tools/screenshots.sh DIR OUT" >&2; exit 2; }
mkdir -p "$2"
report=$(readlink -e "$1/report.html") || { echo "$1 holds no report.html" >&2; exit 2; }
out=$(readlink -f "$2")
export INFEROMETER=${INFEROMETER:-build/inferometer}
tools=$(readlink -f "$(dirname "$0")")
source "$tools/../tests/browser/lib.sh" # goes into a scratch folder
need_packages
check shots "$report" "$out"
python3 "$tools/palette_png.py" "$out"/report-*.png
for picture in "$out"/report-*.png; do
    size=$(wc -c <"$picture")
    echo "$(basename "$picture") $size bytes"
    [ "$size" -le 122880 ] || fail "$picture is larger than 120 KB"
done
