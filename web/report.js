// The report's script: tips, a reading under the pointer, a filter, and the drawings of a page of very many cells. Any
// other page says the same without it; nothing here computes a result, asks for anything from outside, or keeps anything.
'use strict';
(() => {
  const make = (name, properties) => Object.assign(document.createElement(name), properties);
  const tip = make('div', {className: 'tip', hidden: true});
  tip.setAttribute('role', 'status');
  document.body.append(tip);

  // ---- numbers for people, as the page writes them ----
  const ladders = {
    ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
    s: [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']],
    B: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [1, 'B']],
    'B/s': [[1e12, 'TB/s'], [1e9, 'GB/s'], [1e6, 'MB/s'], [1, 'B/s']],
    'FLOP/s': [[1e12, 'TFLOP/s'], [1e9, 'GFLOP/s'], [1e6, 'MFLOP/s'], [1, 'FLOP/s']],
  };
  function quantity(number, unit) {
    const ladder = ladders[unit];
    const size = Math.abs(number);
    const [divide, shown] = ladder ? ladder.find(([from]) => size >= from) || ladder[ladder.length - 1]
      : [1, unit === '1' || unit === 'count' ? '' : unit];
    const value = number / divide;
    const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    return `${value.toFixed(Math.min(digits, 6))} ${shown}`.trim();
  }

  // data-x and data-y of a drawing: scale, low, high, the pixels of both, unit.
  function axisOf(drawing, name) {
    const text = drawing.getAttribute(`data-${name}`);
    if (!text)
      return null;
    const [scale, low, high, from, to, ...unit] = text.split(' ');
    return {log: scale === 'log', low: +low, high: +high, from: +from, to: +to, unit: unit.join(' ')};
  }
  function valueAt(axis, pixel) {
    const share = (pixel - axis.from) / (axis.to - axis.from);
    if (share < 0 || share > 1)
      return null;
    const value = axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + (axis.high - axis.low) * share;
    return quantity(value, axis.unit);
  }

  // ---- the tip ----
  function show(lines, x, y) {
    tip.textContent = lines.filter(Boolean).join('\n');
    tip.hidden = tip.textContent === '';
    const {width, height} = tip.getBoundingClientRect();
    const room = document.documentElement.clientWidth - width - 8;
    tip.style.left = `${Math.max(8, Math.min(x + 14, room))}px`;
    tip.style.top = `${y + height + 28 > innerHeight ? y - height - 14 : y + 18}px`;
  }
  let place = null; // what puts the tip of the keyboard beside its mark
  function hide() {
    place = null;
    tip.hidden = true;
    document.querySelectorAll('svg .cross').forEach(line => line.remove());
    document.querySelectorAll('svg .told').forEach(mark => mark.classList.remove('told'));
  }

  // ---- what a heading means: the first words of its definition ----
  function explain(event) {
    const link = event.target.closest && event.target.closest('a[href^="#metric-"]');
    const meaning = link && document.getElementById(link.hash.slice(1));
    if (!meaning)
      return;
    const box = link.getBoundingClientRect();
    show([meaning.nextElementSibling.firstChild.textContent], box.left, box.bottom - 12);
  }
  addEventListener('pointerover', explain);
  addEventListener('focusin', explain);
  for (const name of ['pointerout', 'focusout'])
    addEventListener(name, event => event.target.closest && event.target.closest('a[href^="#metric-"]') && hide());

  // ---- drawings ----
  function cross(drawing, x, axis) {
    let line = drawing.querySelector('.cross');
    if (!line) {
      line = document.createElementNS(drawing.namespaceURI, 'line');
      line.setAttribute('class', 'cross');
      drawing.append(line);
    }
    for (const [name, value] of [['x1', x], ['x2', x], ['y1', axis.from], ['y2', axis.to]])
      line.setAttribute(name, value);
  }
  function prepare(drawing) {
    // A browser would show a <title> a second time beside the tip, so each moves to a label, which is read out too.
    const marks = [];
    const says = new Map();
    for (const title of drawing.querySelectorAll(':scope * > title')) {
      const mark = title.parentNode;
      says.set(mark, title.textContent);
      marks.push(mark);
      mark.setAttribute('role', 'img'); // what has no role may not have a label
      mark.setAttribute('aria-label', title.textContent);
      title.remove();
    }
    const x = axisOf(drawing, 'x');
    const y = axisOf(drawing, 'y');
    if (marks.length === 0 && !x && !y)
      return;
    const own = drawing.querySelector(':scope > title');
    if (own) { // the name of the drawing would cover its marks
      drawing.setAttribute('aria-label', own.textContent);
      own.remove();
    }

    drawing.addEventListener('pointermove', event => {
      const matrix = drawing.getScreenCTM();
      if (!matrix)
        return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      const mark = event.target.closest('[aria-label]');
      const values = [x && valueAt(x, at.x), y && valueAt(y, at.y)];
      const inside = (!x || values[0] !== null) && (!y || values[1] !== null);
      hide();
      if (inside && x && y)
        cross(drawing, at.x, y);
      show([says.get(mark), inside && values.filter(Boolean).join(', ')], event.clientX, event.clientY);
    });
    drawing.addEventListener('pointerleave', hide);

    // With the keyboard: the drawing takes the focus, the arrows go from mark to mark.
    if (marks.length === 0)
      return;
    let current = -1;
    drawing.setAttribute('tabindex', '0');
    function tell(index) {
      current = (index + marks.length) % marks.length;
      hide();
      const mark = marks[current];
      mark.classList.add('told');
      place = () => {
        const box = mark.getBoundingClientRect();
        show([says.get(mark)], box.left + box.width / 2, box.top + box.height / 2);
      };
      place();
    }
    drawing.addEventListener('keydown', event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (event.key === 'Escape')
        hide();
      if (!step)
        return;
      event.preventDefault();
      tell(current < 0 && step < 0 ? marks.length - 1 : current + step);
    });
    drawing.addEventListener('blur', () => {
      current = -1;
      hide();
    });
  }
  document.querySelectorAll('svg[role=img]').forEach(prepare);

  // ---- drawings that lie in the page as text: made when they come near the window, are linked to, or are printed ----
  const sight = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting)
    .forEach(entry => draw(entry.target)), {rootMargin: '100%'});
  function draw(figures) {
    sight.unobserve(figures);
    figures.classList.remove('later');
    figures.innerHTML = figures.querySelector('script').textContent;
    figures.querySelectorAll('svg[role=img]').forEach(prepare);
  }
  document.querySelectorAll('.later').forEach(figures => sight.observe(figures));
  matchMedia('print').addEventListener('change', () => document.querySelectorAll('.later').forEach(draw));
  function find(id) {
    const held = document.getElementById(id);
    const figures = !held && [...document.querySelectorAll('.later')]
      .find(later => later.textContent.includes(`id="${id}"`));
    if (figures)
      draw(figures);
    return held || document.getElementById(id);
  }

  // The page moves away below a pointer; a mark that the keyboard went to takes its tip along.
  addEventListener('scroll', () => (place || hide)(), {passive: true});

  // ---- a filter for every number: rows whose metric holds all the words ----
  const numbers = document.querySelector('#numbers details');
  if (numbers) {
    const label = make('label', {className: 'filter', textContent: 'Show only metrics with '});
    const box = make('input', {type: 'search', spellcheck: false, autocomplete: 'off'});
    const count = make('span', {className: 'dim'});
    count.setAttribute('role', 'status');
    label.append(box);
    numbers.querySelector('p').after(label, count);
    let rows = null; // of all cells: read when somebody first asks
    box.addEventListener('input', () => {
      rows ||= [...numbers.querySelectorAll('tbody tr')].map(row => [row, row.cells[0].textContent]);
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [row, metric] of rows) {
        row.hidden = !words.every(word => metric.includes(word));
        shown += !row.hidden;
      }
      for (const table of numbers.querySelectorAll('.scroll'))
        table.hidden = !table.querySelector('tbody tr:not([hidden])');
      count.textContent = words.length === 0 ? '' : ` ${shown} of ${rows.length} lines`;
    });
  }

  // ---- a link into something folded opens it, also where the browser does not do so by itself ----
  function unfold() {
    const target = location.hash.length > 1 && find(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target && target.closest('details'); fold; fold = fold.parentElement.closest('details'))
      fold.open = true;
    if (target)
      target.scrollIntoView();
  }
  addEventListener('hashchange', unfold);
  unfold();
})();
