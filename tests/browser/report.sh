#!/usr/bin/env bash
# The report opens in a browser without a network: a verdict first, a table of numbers, a chart, nothing asked for from
# outside, and nothing that must be scrolled sideways on a phone or on a wide screen. Needs Chromium alone.
source "$(dirname "$0")/../e2e/lib.sh"
need chromium chromium
"$INFEROMETER" run --workload decode --override decode.kv_len=512 --override measure.stop=repeats --repeats 24 \
    --out out >/dev/null 2>errors || fail "$(cat errors)"
[ -s out/report.html ] || fail "the run wrote no report.html"
outside=$(grep -oE "(src|href)=[\"'](https?:|//)[^\"']*|url\(|<script[^>]" out/report.html | head -1) || true
[ -z "$outside" ] || fail "the report asks for something from outside: $outside"

browse()
{
    timeout 600 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --allow-file-access-from-files --user-data-dir="${scratch:?}/profile" --enable-logging=stderr --v=0 \
        --virtual-time-budget=3000 "$@" 2>log ||
        fail "chromium: $(tail -1 log)"
    ! grep CONSOLE log | grep -iE 'error|uncaught|refused|violat' || fail "the page complains"
}

browse --dump-dom "file://$scratch/out/report.html" >dom
for part in 'class="verdict' '<table' '<svg' 'inferometer rerun' '<dt id="metric-'; do
    grep -qF "$part" dom || fail "the page lacks $part"
done
! grep -qE '>(nan|-?inf)[ <]' dom || fail "the page shows a number that is none"

# A page of our own looks at the report through frames as wide as a phone and as a desk.
cat >frames.html <<'EOF'
<!DOCTYPE html><meta charset="utf-8"><title>frames</title><pre id="said"></pre>
<iframe src="out/report.html" style="width:390px;height:800px;border:0"></iframe>
<iframe src="out/report.html" style="width:1280px;height:800px;border:0"></iframe>
<script>
onload = () => {
  const said = [...document.querySelectorAll('iframe')].map(frame => {
    const page = frame.contentDocument.documentElement;
    const width = frame.clientWidth, needs = page.scrollWidth;
    return `width ${width}: ${needs > width ? 'scrolls to ' + needs : 'fits'}`;
  });
  document.getElementById('said').textContent = said.join('\n');
};
</script>
EOF
browse --dump-dom "file://$scratch/frames.html" >frames
for width in 390 1280; do
    grep -q "width $width: fits" frames || fail "$(grep "width $width" frames || echo "frame $width did not load")"
done
for theme in light dark; do
    flag=$([ $theme = dark ] && echo --force-dark-mode || echo --force-color-profile=srgb)
    browse --window-size=1280,1600 "$flag" --screenshot="$scratch/$theme.png" "file://$scratch/out/report.html"
    [ "$(wc -c <"$theme.png")" -gt 20000 ] || fail "the $theme picture is empty"
done
! cmp -s light.png dark.png || fail "light and dark look the same"
echo "opens and fits 390 and 1280 pixels, light and dark, $(wc -c <dom) characters"
