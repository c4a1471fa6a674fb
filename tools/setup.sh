#!/bin/sh
# tools/setup.sh run|build|package|test|slow: make sure that the Debian packages of packages.txt are there.
#
# Fast when nothing is missing: one dpkg-query. Otherwise apt-get installs them, as root or through `sudo -n`; where
# that is not permitted, one line says what to install.
set -eu
cd "$(dirname "$0")/.."
stage=${1:-test}

# The packages of `stage` and of the sections above it.
packages=$(awk -v stage="$stage" '
    /^\[/ { if (done) exit; if ($0 == "[" stage "]") { done = 1 } next }
    /^[a-z0-9]/ { print $1 }
    END { if (!done) exit 1 }' packages.txt) || {
    echo "error: packages.txt has no section [$stage]; known are run, build, package, test, slow" >&2
    exit 2
}

if ! command -v dpkg-query >/dev/null; then
    echo "note: this is not Debian; you need the equivalents of packages.txt, sections up to [$stage]" >&2
    exit 0
fi
# dpkg-query exits 1 for an unknown package; only its output counts.
# shellcheck disable=SC2086
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $packages 2>/dev/null |
    awk '$2 == "installed" { print $1 }') || true
missing=
for package in $packages; do
    case "
$installed
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    command="apt-get update && apt-get install -y --no-install-recommends$missing"
    echo "error: packages are missing; as root, run: $command" >&2
    exit 4
fi
echo "installing:$missing" >&2
apt_get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
        </dev/null >&2
}
# shellcheck disable=SC2086
if ! { apt_get update && apt_get install -y --no-install-recommends $missing; }; then
    echo "error: apt-get failed; these packages are missing:$missing" >&2
    exit 4
fi
