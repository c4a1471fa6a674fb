# shellcheck shell=bash
# Shared by the scripts that open a report in a browser; sourced, not run.
#
# Node's packages are installed beside the command under test, by the lock file, and only once; a test that cannot have
# them is skipped with the reason. So are the runs to look at, by runs.sh, in IFM_BROWSER.
browser=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
source "$browser/../e2e/lib.sh"
need chromium chromium

need_packages()
{
    need node nodejs
    need npm npm
    local folder key
    folder=$(dirname "$INFEROMETER")/browser
    key=$(sha256sum <"$browser/package-lock.json")
    mkdir -p "$folder"
    exec 9>"$folder/lock" # two scripts that begin at once: the second one waits
    flock 9
    if [ "$(cat "$folder/installed" 2>/dev/null)" != "$key" ]; then
        cp "$browser/package.json" "$browser/package-lock.json" "$folder/"
        (cd "$folder" && timeout 600 npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1) ||
            skip "npm ci cannot install playwright-core, axe-core: $(grep -v '^npm warn' "$folder/npm.log" | head -1)"
        echo "$key" >"$folder/installed"
    fi
    exec 9>&-
    export IFM_NODE_MODULES=$folder
    IFM_CHROMIUM=$(command -v chromium)
    export IFM_CHROMIUM
}

# The runs that runs.sh has made, copied here.
need_runs()
{
    need_packages
    cp -r "${IFM_BROWSER:?}/runs/." . || fail "browser/runs made no runs"
}

# check NAME ARGUMENT...: what tests/browser/NAME.mjs says; each complaint is a line, and fails the test.
check()
{
    local name=$1
    shift
    timeout 800 node "$browser/$name.mjs" "$@" >said 2>errors || fail "$name: $(cat said errors | head -20)"
}
