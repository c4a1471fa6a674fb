/* The report's style sheet: light and dark, narrow and wide, screen and paper. Colours keep a contrast of 4.5 : 1. */
#include "report/html.h"

const char *const ifm_html_style[] = {
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b1f24;--dim:#59636e;--line:#d8dee4;"
    "--good:#116329;--bad:#b3261e;--warn:#7a4d00;--accent:#1f5fbf;--bar:#3b7ddd;--good-bg:#e6f4ea;"
    "--bad-bg:#fdeceb;--warn-bg:#fff4dc;--plain-bg:#e9f0fb}",
    "@media (prefers-color-scheme:dark){:root{--page:#0f1318;--card:#171c22;--ink:#e6e9ed;--dim:#9aa5b1;"
    "--line:#2c343d;--good:#6fd08c;--bad:#ff8f86;--warn:#f2c063;--accent:#7fb2ff;--bar:#4f8fe6;"
    "--good-bg:#12291a;--bad-bg:#341817;--warn-bg:#2e2410;--plain-bg:#16243a}}",
    /* Series of figures: told apart also by people who see no red or no green, and by their names in the figure. */
    ":root{--s0:#1f5fbf;--s1:#b3540b;--s2:#0f7b5f;--s3:#8e3a9e;--s4:#a8123a;--s5:#5b6770;--s6:#7a6a00;--s7:#0b7285}",
    "@media (prefers-color-scheme:dark){:root{--s0:#7fb2ff;--s1:#f0a35e;--s2:#5fd0a8;--s3:#d59bea;--s4:#ff8fa6;"
    "--s5:#aab4be;--s6:#d8c64a;--s7:#63cfe0}}",
    ".s0{--s:var(--s0)}.s1{--s:var(--s1)}.s2{--s:var(--s2)}.s3{--s:var(--s3)}.s4{--s:var(--s4)}.s5{--s:var(--s5)}"
    ".s6{--s:var(--s6)}.s7{--s:var(--s7)}",
    "*{box-sizing:border-box}",
    "html{-webkit-text-size-adjust:100%}",
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,\"Segoe "
    "UI\",Roboto,\"Helvetica Neue\",\"DejaVu Sans\",sans-serif}",
    "main,header.top,footer{max-width:76rem;margin:0 auto;padding:0 1rem}",
    "h1{font-size:1.5rem;font-weight:700;line-height:1.25;margin:0;overflow-wrap:anywhere}",
    "h2{font-size:1.2rem;margin:0 0 .25rem;overflow-wrap:anywhere}",
    "h3{font-size:.95rem;margin:1.25rem 0 .25rem}",
    "p{margin:.4rem 0}",
    "p,li,dt,dd{overflow-wrap:anywhere}",
    "a{color:var(--accent);text-underline-offset:.15em}",
    "code,pre{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,monospace;font-size:.875em;"
    "overflow-wrap:anywhere}",
    "pre{background:var(--page);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;"
    "margin:.5rem 0;overflow-x:auto}",
    "header.top{padding-top:1.1rem;padding-bottom:.8rem}",
    "header.top p,footer{margin:0;color:var(--dim);font-size:.875rem}",
    "footer{padding-bottom:3rem}",
    "section,.verdict{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem "
    "1.1rem;margin:0 0 1rem}",
    ".verdict{border-left:.4rem solid var(--accent);background:var(--plain-bg)}",
    ".verdict.good{border-left-color:var(--good);background:var(--good-bg)}",
    ".verdict.bad{border-left-color:var(--bad);background:var(--bad-bg)}",
    ".verdict.warn{border-left-color:var(--warn);background:var(--warn-bg)}",
    ".verdict .label{font-size:1.6rem;font-weight:700;line-height:1.2}",
    ".verdict .lead{font-size:1.05rem;margin:.2rem 0}",
    /* Without gates there is no decision to lead with: one quiet line, and the results come first. */
    ".verdict.strong .label,.verdict.strong .lead{display:inline;font-size:.875rem}",
    ".verdict.strong .lead{color:var(--dim)}",
    ".verdict .said{font-size:1.05rem;margin:.15rem 0}",
    ".said strong{white-space:nowrap}",
    ".verdict ul,section nav ul{margin:.3rem 0 0;padding-left:1.2rem}",
    ".verdict .of,nav .of{margin:.5rem 0 0;font-weight:600}",
    ".of+ul{margin-top:0}",
    "li.said{color:var(--ink)}",
    ".said.good::marker,.said.good b{color:var(--good)}",
    ".said.bad::marker,.said.bad b{color:var(--bad)}",
    ".said.warn::marker,.said.warn b{color:var(--warn)}",
    ".verdict .doubts{margin-top:.7rem}",
    ".verdict .words{font-size:.875rem}",
    ".sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}",
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
    /* A word after a number's right edge would read as its unit. */
    "@media print,(min-width:44.01rem){td.left:not(:first-child),th.left:not(:first-child),"
    "table.wide td.left:not(:first-child),table.wide th.left:not(:first-child){padding-left:1.2rem}}",
    "tr:last-child td,tr:last-child th[scope=row]{border-bottom:0}",
    "td .interval{display:block;color:var(--dim);font-size:.8rem;white-space:nowrap}",
    "td:not(.left) .value{white-space:nowrap}",
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
    "details>summary{cursor:pointer}",
    "summary h2,summary h3{display:inline;margin:0}",
    "details.small>summary{font-size:.875rem;color:var(--accent)}",
    ":focus-visible{outline:2px solid var(--accent);outline-offset:2px}",
    "details[open]>summary{margin-bottom:.5rem}",
    ".scroll{overflow-x:auto}",
    "table.wide{font-size:.85rem}",
    "table.wide td,table.wide th{padding-left:.35rem;padding-right:.35rem}",
    "table.wide td .interval{font-size:.75rem}",
    "table.facts td,table.facts th{padding-top:.3rem;padding-bottom:.3rem;text-align:left;overflow-wrap:anywhere}",
    "table.facts th{width:30%;white-space:normal;font-weight:500;color:var(--dim);font-size:.875rem}",
    "table.small{width:auto;min-width:min(100%,24rem)}",
    "table.all{font-size:.8rem;width:auto;margin:0 0 1.5rem}",
    "table.all td,table.all th{padding:.2rem .5rem;white-space:nowrap}",
    "table.all th:first-child,table.all caption{text-align:left}",
    "table.all th[scope=row]{font-weight:400;font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,monospace}",
    "table.all caption{font-weight:600;font-size:1rem;padding:.3rem .5rem}",
    "table.all th a{color:var(--accent);text-decoration:none}",
    "tbody th{color:var(--ink);font-size:inherit}",
    "table.checks th{font-weight:400;white-space:normal}",
    ".filter input{font:inherit;color:inherit;background:var(--page);border:1px solid var(--dim);"
    "border-radius:.4rem;padding:.2rem .5rem;max-width:100%}",
    "label.filter{display:inline-block;margin:.4rem 0 .8rem}",
    ".tip{position:fixed;z-index:9;pointer-events:none;max-width:min(24rem,90vw);padding:.35rem .6rem;"
    "border-radius:.4rem;background:var(--ink);color:var(--card);font-size:.8125rem;white-space:pre-line}",
    "[hidden]{display:none!important}",
    "svg .cross{stroke:var(--dim);stroke-width:1;pointer-events:none}",
    "svg .told{stroke:var(--ink);stroke-width:2}",
    "dl.metrics dt{font-weight:600;margin-top:.9rem}",
    "dl.metrics dt:target{background:var(--warn-bg)}",
    "dl.metrics dd{margin:.1rem 0 0;font-size:.925rem}",
    "dl.metrics i{font-style:normal;color:var(--dim)}",
    /* Drawings are made about 440 pixels wide: larger, their letters would be larger than the page's. */
    ".figures{display:grid;gap:.5rem 2rem;align-items:start}",
    "@media (min-width:46rem){.figures{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}",
    ".figures figure{max-width:none;min-width:0}",
    ".figures .span{grid-column:1/-1}",
    ".figures svg{max-width:37rem}",
    ".figures td.long{min-width:22rem}", /* a sentence beside numbers: one word a line cannot be read */
    "figure h3{margin:.25rem 0 .35rem}",
    "figure{margin:1rem 0 0;max-width:40rem}",
    "figcaption{font-size:.875rem;color:var(--dim);margin:.35rem 0}",
    "svg{display:block;width:100%;height:auto}",
    "svg text{fill:var(--ink);font:13px system-ui,\"DejaVu Sans\",sans-serif;"
    "font-variant-numeric:tabular-nums}",
    "svg .small{fill:var(--dim);font-size:12px}",
    "svg .track{fill:var(--line);opacity:.6}",
    "svg .limit{stroke:var(--bad);stroke-width:2}",
    "svg .whisker{stroke:var(--ink);stroke-width:1.5}",
    "svg .axis{stroke:var(--dim);stroke-width:1}",
    "svg .grid{stroke:var(--line);stroke-width:1}",
    "svg .fill{fill:var(--s,var(--bar))}",
    "svg text.fill{fill:var(--s,var(--ink))}",
    "svg .line{fill:none;stroke:var(--s,var(--bar));stroke-width:2;stroke-linejoin:round}",
    "svg .dots{fill:none;stroke:var(--s,var(--bar));stroke-width:3;stroke-linecap:round}",
    "svg .band{fill:var(--s,var(--bar));opacity:.2}",
    "svg .warm{fill:var(--dim);opacity:.12}",
    "svg .disturbed{fill:var(--warn);opacity:.18}",
    /* Ratio, frontier, roofline: ceilings are a series of their own; outlines, faint data, names on top of lines. */
    ".roof{--s:var(--bad)}",
    "svg .open{fill:none}",
    "svg .faint{opacity:.5}",
    "svg .hollow{fill:none;stroke:var(--s,var(--bar));stroke-width:1.5}",
    "svg .bubble{fill:var(--s,var(--bar));fill-opacity:.22;stroke:var(--s,var(--bar));stroke-width:1.5}",
    "svg .dash{stroke-dasharray:5 4}",
    "svg .frontier{stroke:var(--dim);stroke-width:1.5}",
    "svg .leader{stroke:var(--s,var(--dim));stroke-width:1;opacity:.6}",
    "svg .margin{fill:var(--dim);opacity:.25}",
    "svg .halo{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}",
    "svg .strong{font-weight:600}",
    "svg text.good{fill:var(--good)}",
    "svg text.bad{fill:var(--bad)}",
    "svg text.warn{fill:var(--warn)}",
    "svg .density{fill:var(--s,var(--bar));fill-opacity:.3;stroke:var(--s,var(--bar));stroke-width:1}",
    "svg .thin{stroke-width:1.2}",
    "svg .outlier{stroke:var(--bad)}",
    "svg .beyond{stroke:var(--bad);stroke-width:4;stroke-linecap:square}",
    "svg .change{stroke:var(--dim);stroke-width:1;stroke-dasharray:2 2}",
    "svg .trend{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:7 4}",
    "svg .q50{stroke:var(--ink);stroke-width:2}",
    "svg .q95{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 3}",
    "svg .q99{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:1.5 2.5}",
    /* Power: the sum in ink, its range behind it; a window of an arm is a pale field under its box. */
    "svg .power-sum{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-linejoin:round}",
    "svg .power-range{fill:var(--ink);opacity:.18}",
    "svg .phase{fill:var(--s,var(--bar));opacity:.09}",
    "svg .phase-name{font-size:12px}",
    "svg .limit-text{fill:var(--bad);font-size:12px}",
    "svg .mark{stroke:var(--dim);stroke-dasharray:2 3}",
    "@media (max-width:44rem){table.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%)}table.cards,table.cards tbody,table.cards tr,table.cards td,table.cards tbody th{"
    "display:block}"
    "table.cards tr{border-bottom:1px solid var(--line);padding:.5rem 0}table.cards tr:last-child{border:0}"
    "table.cards td{border:0;padding:.15rem 0;text-align:right;display:flex;flex-wrap:wrap;"
    "justify-content:flex-end;align-items:baseline;gap:0 .4rem}.figures td.long{min-width:0}table.cards "
    "td::before{content:attr(data-label);color:var(--dim);font-size:.85rem;flex:none;margin-right:auto}"
    "table.cards td:empty{display:none}table.cards "
    "tbody th{text-align:left;border:0;padding:.15rem 0;font-size:1.05rem}table.facts,table.facts tbody,table.facts tr,"
    "table.facts th,table.facts td{display:block;width:100%}table.facts th{border:0;padding-bottom:0}"
    "table.facts td{padding-top:0}section,.verdict{padding:.85rem .8rem}}",
    "@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}",
    /* On paper everything is open: a fold cannot be clicked there. */
    "@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--dim:#444;--line:#bbb;"
    "--good:#116329;--bad:#b3261e;--warn:#7a4d00;--accent:#000;--bar:#555;--good-bg:#fff;--bad-bg:#fff;"
    "--warn-bg:#fff;--plain-bg:#fff;--s0:#1f5fbf;--s1:#b3540b;--s2:#0f7b5f;--s3:#8e3a9e;--s4:#a8123a;--s5:#5b6770;"
    "--s6:#7a6a00;--s7:#0b7285}main,header.top,footer{max-width:none;padding-left:0;padding-right:0}"
    "section,.verdict{border-radius:0}figure,tr,.verdict{break-inside:avoid}h2,h3,summary{break-after:avoid}"
    "html,body{font-size:10pt}table{font-size:8.5pt}table th{font-size:inherit}table.all,table.wide{font-size:6.5pt}"
    "table.all td,table.all th,table.wide td,table.wide th,td .interval,table.wide td .value{white-space:normal}"
    ".figures{display:block}.figures svg{max-width:27rem}.figures table{font-size:7pt}.figures th{white-space:normal}"
    ".figures td,.figures th{padding:.1rem .3rem}.figures td.long{min-width:10rem}"
    "td .interval,table.wide td .interval{font-size:.9em}table.all td,table.all th,table.wide td,table.wide th{"
    "padding:.1rem .2rem}.figures table{font-size:6pt;width:100%;min-width:0}.figures td,.figures th,"
    ".figures td:not(.left) .value,.figures td .interval{white-space:normal;overflow-wrap:anywhere}"
    ".figures td.left,.figures th.left,.figures td,.figures th{padding:.1rem .15rem!important}"
    ".scroll{overflow:visible}a{text-decoration:none}.filter,.tip{display:none}"
    "details::details-content{content-visibility:visible;display:block;block-size:auto;opacity:1}}",
    ".verdict.strong{font-weight:inherit}",
    NULL,
};
