#!/usr/bin/env bash
# What an installation holds, and that a stranger's program builds against it with nothing but pkg-config.
source "$(dirname "$0")/lib.sh"
build=$(dirname "$INFEROMETER")
[ -e "$build/libinferometer.so" ] || skip "needs libinferometer.so; a sanitizer build has none"
need cmake cmake
need pkg-config pkg-config
compiler=$(command -v cc || command -v gcc || command -v clang) || skip "needs cc, of the Debian package gcc"
cmake --install "$build" --prefix "$scratch/prefix" >log 2>&1 || fail "cmake --install: $(tail -3 log)"
for file in bin/inferometer include/inferometer/plugin.h include/inferometer/session.h \
    lib/python3/dist-packages/inferometer.py \
    share/doc/inferometer/examples/first-run.yaml share/doc/inferometer/examples/plugin/dot.c; do
    [ -f "prefix/$file" ] || fail "$file is not installed"
done
[ "$(prefix/bin/inferometer --version)" = "$("$INFEROMETER" --version)" ] || fail "the installed command is another one"

PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name inferometer.pc)")
export PKG_CONFIG_PATH
folder=$(pkg-config --variable=libdir inferometer) || fail "pkg-config does not know the library"
case $folder in "$scratch"/prefix/*) ;; *) fail "inferometer.pc names $folder, not where it is installed" ;; esac
# shellcheck disable=SC2046
"$compiler" -std=c11 prefix/share/doc/inferometer/examples/session/compare.c \
    $(pkg-config --cflags --libs inferometer) -Wl,-rpath,"$folder" -o compare 2>errors ||
    fail "the installed example does not build: $(cat errors)"
./compare run "measure.mde=0.1;measure.cap=3s" >out 2>errors || fail "the example: $(cat errors)"
if python3 -c 'import ctypes' 2>/dev/null; then # the installed file finds the library beside it
    (unset INFEROMETER_LIBRARY
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$scratch/prefix/lib/python3/dist-packages python3 \
            prefix/share/doc/inferometer/examples/session/compare.py --out python --option measure.cap=2s) \
        >out 2>errors || fail "the Python example: $(cat errors)"
    grep -q "report: $(pwd -P)/python/report.html" out || fail "the Python example says: $(cat out)"
fi
# shellcheck disable=SC2046
"$compiler" -shared -fPIC $(pkg-config --cflags inferometer) \
    prefix/share/doc/inferometer/examples/plugin/dot.c -o dot.so -lm 2>errors ||
    fail "the installed plugin does not build: $(cat errors)"
prefix/bin/inferometer dot --plugin ./dot.so --n 1000 --ceilings none --repeats 60 --quiet --out plugin >/dev/null \
    2>errors || [ $? = 3 ] || fail "the plugin: $(cat errors)" # a busy machine may have its times refused
grep '"check"' plugin/run.log | has '"done":true.*"finite":true' || fail "the plugin's output was not checked"
[ ! -e python ] || prefix/bin/inferometer verify python >/dev/null 2>errors || fail "python: $(cat errors)"
for folder in run plugin; do
    prefix/bin/inferometer verify $folder >/dev/null 2>errors || fail "verify $folder: $(cat errors)"
done
echo "a session and a plugin built against the installed files"
