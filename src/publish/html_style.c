/* The report's style sheet: light and dark, narrow and wide, screen and paper. Colours keep a contrast of 4.5 : 1. */
#include "publish/html.h"

const char *const ifm_html_style[] = {
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b1f24;--dim:#59636e;--line:#d8dee4;"
    "--good:#116329;--bad:#b3261e;--warn:#7a4d00;--accent:#1f5fbf;--bar:#3b7ddd;--good-bg:#e6f4ea;"
    "--bad-bg:#fdeceb;--warn-bg:#fff4dc;--plain-bg:#e9f0fb}",
    "@media (prefers-color-scheme:dark){:root{--page:#0f1318;--card:#171c22;--ink:#e6e9ed;--dim:#9aa5b1;"
    "--line:#2c343d;--good:#6fd08c;--bad:#ff8f86;--warn:#f2c063;--accent:#7fb2ff;--bar:#4f8fe6;"
    "--good-bg:#12291a;--bad-bg:#341817;--warn-bg:#2e2410;--plain-bg:#16243a}}",
    "*{box-sizing:border-box}",
    "html{-webkit-text-size-adjust:100%}",
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,\"Segoe "
    "UI\",Roboto,\"Helvetica Neue\",\"DejaVu Sans\",sans-serif}",
    "main{max-width:72rem;margin:0 auto;padding:1.25rem 1rem 4rem}",
    "h1{font-size:1rem;font-weight:600;margin:0;letter-spacing:.01em}",
    "h2{font-size:1.2rem;margin:0 0 .25rem;overflow-wrap:anywhere}",
    "h3{font-size:.95rem;margin:1.25rem 0 .25rem}",
    "p{margin:.4rem 0}",
    "p,li,dt,dd{overflow-wrap:anywhere}",
    "a{color:var(--accent);text-underline-offset:.15em}",
    "code,pre{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,monospace;font-size:.875em;"
    "overflow-wrap:anywhere}",
    "pre{background:var(--page);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;"
    "margin:.5rem 0;overflow-x:auto}",
    "header.top{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;color:var(--dim);"
    "margin:0 0 .75rem;font-size:.875rem}",
    "header.top h1{color:var(--ink)}",
    "section,.verdict{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem "
    "1.1rem;margin:0 0 1rem}",
    ".verdict{border-left:.4rem solid var(--accent);background:var(--plain-bg)}",
    ".verdict.good{border-left-color:var(--good);background:var(--good-bg)}",
    ".verdict.bad{border-left-color:var(--bad);background:var(--bad-bg)}",
    ".verdict.warn{border-left-color:var(--warn);background:var(--warn-bg)}",
    ".verdict .label{font-size:1.6rem;font-weight:700;line-height:1.2}",
    ".verdict .lead{font-size:1.05rem;margin:.2rem 0}",
    ".verdict ul{margin:.3rem 0 0;padding-left:1.2rem}",
    ".good{color:var(--good)}",
    ".bad{color:var(--bad)}",
    ".warn{color:var(--warn)}",
    ".dim,.conditions{color:var(--dim)}",
    ".verdict.good,.verdict.bad,.verdict.warn{color:var(--ink)}",
    ".strong{font-weight:600}",
    ".verdict.good .label{color:var(--good)}",
    ".verdict.bad .label{color:var(--bad)}",
    ".verdict.warn .label{color:var(--warn)}",
    ".conditions{margin:0 0 .6rem;font-size:.9rem}",
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.925rem}",
    "th,td{padding:.45rem .6rem;text-align:right;vertical-align:top;border-bottom:1px solid var(--line)}",
    "th{font-weight:600;color:var(--dim);font-size:.8rem;white-space:nowrap}",
    "th a{color:inherit}",
    "td.left,th.left{text-align:left}",
    "tr:last-child td,tr:last-child th[scope=row]{border-bottom:0}",
    "td .interval{display:block;color:var(--dim);font-size:.8rem;white-space:nowrap}",
    "td.num .value{white-space:nowrap}",
    "sup{font-size:.7em;line-height:0}",
    "sup a{text-decoration:none;padding:0 .1em}",
    ".ceilings{list-style:none;margin:.75rem 0 0;padding:0;font-size:.925rem;color:var(--dim)}",
    ".ceilings b{color:var(--ink);font-weight:600;font-variant-numeric:tabular-nums}",
    "ol.notes{margin:0;padding-left:1.5rem;font-size:.925rem}",
    "ol.notes li{margin:.2rem 0}",
    "ol.notes li:target{background:var(--warn-bg)}",
    "ul.findings{list-style:none;margin:.4rem 0 0;padding:0}",
    "ul.findings li{padding:.4rem 0;border-bottom:1px solid var(--line)}",
    "ul.findings li:last-child{border:0}",
    ".tag{display:inline-block;font-size:.75rem;font-weight:600;border:1px solid currentColor;"
    "border-radius:1rem;padding:0 .55rem;margin-right:.4rem}",
    "details>summary{cursor:pointer;font-weight:600;font-size:1.2rem}",
    "details[open]>summary{margin-bottom:.5rem}",
    ".scroll{overflow-x:auto}",
    "table.wide{font-size:.85rem}",
    "table.wide td,table.wide th{padding-left:.35rem;padding-right:.35rem}",
    "table.wide td .interval{font-size:.75rem}",
    "table.facts td,table.facts th{padding-top:.3rem;padding-bottom:.3rem;text-align:left;overflow-wrap:anywhere}",
    "table.facts th{width:30%;white-space:normal;font-weight:500;color:var(--dim);font-size:.875rem}",
    "table.small{width:auto;min-width:min(100%,24rem)}",
    "table.all{font-size:.85rem}",
    "table.all td{white-space:nowrap}",
    "table.all td:last-child{white-space:normal;min-width:16rem}",
    "dl.metrics dt{font-weight:600;margin-top:.9rem}",
    "dl.metrics dt:target{background:var(--warn-bg)}",
    "dl.metrics dd{margin:.1rem 0 0;overflow-wrap:anywhere}",
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 2rem}",
    "figure{margin:1rem 0 0;max-width:40rem}",
    "figcaption{font-size:.875rem;color:var(--dim);margin-bottom:.35rem}",
    "svg{display:block;width:100%;height:auto}",
    "svg text{fill:var(--ink);font:13px system-ui,\"DejaVu Sans\",sans-serif;"
    "font-variant-numeric:tabular-nums}",
    "svg .small{fill:var(--dim);font-size:12px}",
    "svg .bar{fill:var(--bar)}",
    "svg .track{fill:var(--line);opacity:.6}",
    "svg .limit{stroke:var(--bad);stroke-width:2}",
    "svg .whisker{stroke:var(--ink);stroke-width:1.5}",
    "svg .axis{stroke:var(--line);stroke-width:1}",
    "svg .curve{fill:none;stroke:var(--bar);stroke-width:2.5;stroke-linejoin:round}",
    "svg .dot{fill:var(--bar)}",
    "svg .limit-text{fill:var(--bad);font-size:12px}",
    "svg .mark{stroke:var(--dim);stroke-dasharray:2 3}",
    "@media (max-width:44rem){table.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%)}table.cards,table.cards tbody,table.cards tr,table.cards td{display:block}"
    "table.cards tr{border-bottom:1px solid var(--line);padding:.5rem 0}table.cards tr:last-child{border:0}"
    "table.cards td{border:0;padding:.15rem 0;text-align:right;display:flex;flex-wrap:wrap;"
    "justify-content:flex-end;align-items:baseline;gap:0 .4rem}table.cards "
    "td::before{content:attr(data-label);color:var(--dim);font-size:.85rem;flex:none;margin-right:auto}"
    "table.cards td:empty{display:none}table.cards "
    "td:first-child{text-align:left;justify-content:flex-start;font-size:1.05rem}"
    "table.cards td:first-child::before{content:none}table.facts,table.facts tbody,table.facts tr,"
    "table.facts th,table.facts td{display:block;width:100%}table.facts th{border:0;padding-bottom:0}"
    "table.facts td{padding-top:0}section,.verdict{padding:.85rem .8rem}}",
    "@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--dim:#444;--line:#bbb;"
    "--good:#116329;--bad:#b3261e;--warn:#7a4d00;--accent:#000;--bar:#555;--good-bg:#fff;--bad-bg:#fff;"
    "--warn-bg:#fff;--plain-bg:#fff}main{max-width:none;padding:0}section,.verdict{break-inside:avoid;"
    "border-radius:0}body{font-size:11pt}details:not([open]){display:none}a{text-decoration:none}}",
    ".verdict.strong{font-weight:inherit}",
    NULL,
};
