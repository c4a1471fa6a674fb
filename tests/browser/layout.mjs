// layout.mjs FILE...: how pages lie on a phone, a tablet and a desk, in light and dark, and on paper: no words lie on
// others, none are cut off or leave their place, those of a drawing stay inside of it and are large enough to read, and
// nothing is wider than the page. Every fold is opened first. What is found is said once a page, with the place.
import {basename, dirname} from 'node:path';
import {complain, open, withBrowser} from './browser.mjs';

const places = {
  phone: {width: 390, height: 844, colorScheme: 'light'},
  'phone, dark': {width: 390, height: 844, colorScheme: 'dark'},
  tablet: {width: 834, height: 1112, colorScheme: 'light'},
  desk: {width: 1280, height: 900, colorScheme: 'light'},
  'desk, dark': {width: 1280, height: 900, colorScheme: 'dark'},
  paper: {width: 718, height: 1047, colorScheme: 'light', media: 'print'},
};
const MOST = 4; // complaints of one kind, of one page at one place

// Runs in the page. Of a text only the middle of its line counts: letters reach neither end of it.
function look() {
  const said = {out: [], small: [], cut: [], on: [], wide: []};
  const words = [];
  const short = text => JSON.stringify(text.replace(/\s+/g, ' ').trim().slice(0, 48));
  const add = (box, text, element) => {
    const across = element.closest('svg') && box.height > 1.5 * box.width && text.length > 2; // turned by 90 degrees
    const dx = across ? 0.22 * box.width : 0, dy = across ? 0 : 0.22 * box.height;
    const word = {left: box.left + dx, right: box.right - dx, top: box.top + dy, bottom: box.bottom - dy, text, element};
    if (word.right - word.left > 0.5 && word.bottom - word.top > 0.5)
      words.push(word);
  };
  const seen = element => element.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true}) &&
    !element.closest('.sr, thead, title, desc, defs, script, style, input') ||
    (element.closest('thead') && getComputedStyle(element.closest('thead')).position !== 'absolute');

  for (const text of document.querySelectorAll('svg text')) {
    if (!seen(text) || text.textContent.trim() === '')
      continue;
    const box = text.getBoundingClientRect(), svg = text.ownerSVGElement, frame = svg.getBoundingClientRect();
    add(box, text.textContent, text);
    const word = words.at(-1);
    const slack = 1.5; // how far a letter may reach beyond its own width
    if (word.left < frame.left - slack || word.right > frame.right + slack || word.top < frame.top - slack ||
        word.bottom > frame.bottom + slack)
      said.out.push(`${short(text.textContent)} leaves its drawing`);
    const pixels = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
    if (pixels < (innerWidth < 500 ? 11.95 : 8))
      said.small.push(`${short(text.textContent)} is ${pixels.toFixed(1)} pixels high`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (node.data.trim() === '' || element.closest('svg') || !seen(element))
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const cell = element.closest('td, th, section, .verdict, header, footer, nav:not(.scroll), pre');
    const frame = cell && cell.getBoundingClientRect();
    const scrolls = element.closest('.scroll, pre');
    const clips = scrolls !== null && getComputedStyle(scrolls).overflowX !== 'visible';
    const window = clips ? scrolls.getBoundingClientRect() : {left: -Infinity, right: Infinity};
    for (const box of range.getClientRects()) {
      const left = Math.max(box.left, window.left), right = Math.min(box.right, window.right);
      if (right - left < 0.5) // scrolled away
        continue;
      add({left, right, top: box.top, bottom: box.bottom, width: right - left, height: box.height}, node.data, element);
      if (frame && !element.closest('pre') && (box.left < frame.left - 1 || box.right > frame.right + 1))
        said.out.push(`${short(node.data)} leaves its ${cell.localName}`);
      if (!clips && (box.left < -0.5 || box.right > innerWidth + 0.5))
        said.out.push(`${short(node.data)} leaves the page`);
    }
    for (let at = element; at !== null && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === 'hidden' && at.scrollWidth > at.clientWidth + 1)
        said.cut.push(`${short(node.data)} is cut off`);
    }
  }
  words.sort((a, b) => a.top - b.top);
  for (let i = 0; i < words.length; i++)
    for (let k = i + 1; k < words.length && words[k].top < words[i].bottom; k++) {
      const a = words[i], b = words[k];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - b.top;
      if (wide > 1 && high > 1)
        said.on.push(`${short(a.text)} and ${short(b.text)} lie on each other`);
    }
  for (const mark of document.querySelectorAll('sup'))
    if (mark.offsetParent !== null && getComputedStyle(mark.parentElement).display === 'flex')
      said.on.push(`the mark ${mark.textContent} of ${short(mark.parentElement.textContent)} stands on the line`);
  const needs = document.documentElement.scrollWidth;
  if (needs > innerWidth)
    said.wide.push(`the page is ${needs} pixels wide, its place ${innerWidth}`);
  return {said: Object.values(said).map(kind => [...new Set(kind)]), words: words.length, drawn: document.querySelectorAll('svg text').length};
}

await withBrowser(async browser => {
  let words = 0, drawn = 0;
  for (const file of process.argv.slice(2))
    for (const [place, {width, height, colorScheme, media}] of Object.entries(places)) {
      const page = await open(browser, file, {viewport: {width, height}, colorScheme});
      if (media !== undefined)
        await page.emulateMedia({media});
      await page.evaluate(() => document.querySelectorAll('details').forEach(fold => { fold.open = true; }));
      const found = await page.evaluate(look);
      const name = `${basename(dirname(file)) || file}, ${place}`;
      for (const kind of found.said) {
        kind.slice(0, MOST).forEach(text => complain(`${name}: ${text}`));
        if (kind.length > MOST)
          complain(`${name}: and ${kind.length - MOST} more of this kind`);
      }
      words += found.words;
      drawn += found.drawn;
      await page.context().close();
    }
  console.log(`${words} lines of text and ${drawn} words in drawings`);
});
