#!/bin/sh
# tools/sysroot.sh [FOLDER]: the arm64 libraries and headers that a cross build needs, in FOLDER
# (default build-aarch64/sysroot).
#
# The development packages of packages.txt and what they depend on come from this system's own apt sources, for another
# architecture, with lists and a cache of apt's own inside FOLDER: no root, and nothing of the system changes. FOLDER
# is complete or missing; one with everything in packages.txt is left alone. Exit 4, with one line: not available.
set -eu
cd "$(dirname "$0")/.."
architecture=arm64
sysroot=${1:-build-aarch64/sysroot}

wanted=$(sed 's/ *#.*//' packages.txt | grep -E '^lib.*-dev$' | grep -v '^libclang' | sort)
if [ "$(cat "$sysroot/.packages" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
for program in apt-get dpkg-deb; do
    command -v "$program" >/dev/null || {
        echo "error: no $program here: a cross build takes its libraries from Debian's packages" >&2
        exit 4
    }
done
rm -rf "$sysroot" "$sysroot.new"
mkdir -p "$sysroot.new/apt/state/lists/partial" "$sysroot.new/apt/cache/archives/partial"
new=$(cd "$sysroot.new" && pwd)
trap 'rm -rf "$new"' EXIT
log=$new/../sysroot.log
: >"$new/apt/status" # nothing is installed here: every dependency is named

# The hooks of the system's configuration are for the system's lists.
cat >"$new/apt/conf" <<CONF
#clear APT::Architectures;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State "$new/apt/state";
Dir::State::status "$new/apt/status";
Dir::Cache "$new/apt/cache";
CONF
apt_get() { apt-get -q -c "$new/apt/conf" "$@" </dev/null 2>>"$log"; }
give_up()
{
    echo "error: $1; apt-get says: $(grep -E '^E:' "$log" | head -1)" >&2
    exit 4
}

: >"$log"
apt_get update >>"$log" || give_up "apt has no lists of $architecture packages"
# Libraries only: their packages' scripts never run.
# shellcheck disable=SC2086
needed=$(apt_get install --simulate --no-install-recommends libc6-dev $wanted |
    sed -n 's/^Inst \([a-z0-9.+-]*\) .*/\1/p' | grep -E '^(lib|linux-libc-dev$|zlib1g$)' | grep -v '^libperl')
[ -n "$needed" ] || give_up "the $architecture packages of packages.txt cannot be had"
# shellcheck disable=SC2086
(cd "$new/apt/cache" && apt_get download $needed >>"$log") || give_up "the $architecture packages cannot be downloaded"
for package in "$new"/apt/cache/*.deb; do
    dpkg-deb --extract "$package" "$new"
done
# A link to /lib/... would point outside the folder.
find "$new" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$new$(readlink "$link")" "$link"
done
rm -rf "$new/apt" "$new/usr/share/doc" "$new/usr/share/man" "$log"
echo "$wanted" >"$new/.packages"
mv "$new" "$sysroot"
trap - EXIT
