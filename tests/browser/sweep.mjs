// sweep.mjs FILE: a page of many cells lays out only what is in sight, and nothing is lost by that: a link, a search and
// the wheel reach late cells, with script and without, and all of them are printed.
import {complain, open, withBrowser} from './browser.mjs';

// These run in the page. What lies in a part that was skipped has no place to be seen at.
const laidOut = () => [...document.querySelectorAll('svg')].map(drawing =>
  drawing.checkVisibility({contentVisibilityAuto: true}));
const place = id => {
  const section = document.getElementById(id), box = section.getBoundingClientRect();
  const drawing = section.querySelector('svg');
  return {top: box.top, bottom: box.bottom, height: innerHeight,
    drawn: drawing.checkVisibility({contentVisibilityAuto: true}) && drawing.getBoundingClientRect().height > 50};
};
const settle = page => page.waitForTimeout(100); // without script no frame can be waited for

// A busy machine takes its time: what was asked for is waited for.
async function until(page, question, argument) {
  let answer;
  for (let tries = 0; tries < 30; tries++) {
    answer = await page.evaluate(question, argument);
    if (answer === true)
      return true;
    await settle(page);
  }
  return answer;
}

async function link(page, name, id) {
  await page.evaluate(id => { location.hash = id; }, id);
  await settle(page);
  await settle(page);
  const at = await page.evaluate(place, id);
  const bar = await page.evaluate(() => parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop));
  if (Math.abs(at.top - bar) > 2 || !at.drawn) // below the contents, which stay in sight
    complain(`${name}: the link to ${id} ends ${at.top.toFixed(0)} pixels from it${at.drawn ? '' : ', and nothing is drawn'}`);
}

// The name of a cell stands in the summary too: the search goes on to the cell's own section.
async function search(page, name, id) {
  await page.evaluate(() => { history.replaceState(null, '', ' '); scrollTo(0, 0); });
  const found = await page.evaluate(id => {
    const words = document.querySelector(`#${id} h2`).textContent;
    for (let tries = 0; tries < 20 && window.find(words, true); tries++)
      if (getSelection().anchorNode.parentElement.closest(`#${id}`))
        return true;
    return false;
  }, id);
  if (!found)
    complain(`${name}: a search does not find the name of ${id}`);
  const seen = await until(page, id => {
    const box = document.getElementById(id).getBoundingClientRect();
    return box.top < innerHeight && box.bottom > 0;
  }, id);
  if (!seen)
    complain(`${name}: what was found in ${id} is not in sight`);
}

async function wheel(page, name, ids) {
  for (const id of ids) {
    await page.evaluate(id => document.getElementById(id).scrollIntoView(), id);
    if (await until(page, id => {
      const drawings = [...document.querySelectorAll(`#${id} svg`)];
      return drawings.length > 0 && drawings.every(drawing =>
        drawing.checkVisibility({contentVisibilityAuto: true}) && drawing.getBoundingClientRect().height > 50);
    }, id) !== true)
      return complain(`${name}: in sight, ${id} is not drawn`);
  }
}

await withBrowser(async browser => {
  const file = process.argv[2];
  for (const javaScriptEnabled of [true, false]) {
    const name = javaScriptEnabled ? 'with script' : 'without script';
    const page = await open(browser, file, {javaScriptEnabled, viewport: {width: 1280, height: 800}});
    const ids = await page.evaluate(() => [...document.querySelectorAll('section[id^=cell-]')].map(cell => cell.id));
    const skipped = (await page.evaluate(laidOut)).filter(is => !is).length;
    if (ids.length < 33 || skipped < ids.length)
      complain(`${name}: ${ids.length} cells, ${skipped} drawings are skipped: nothing is tested`);
    await link(page, name, ids[ids.length - 2]);
    await search(page, name, ids[ids.length - 5]);
    await wheel(page, name, ids);
    await page.evaluate(() => scrollTo(0, 0));
    await page.emulateMedia({media: 'print'});
    if (await until(page, () => [...document.querySelectorAll('svg')].every(drawing =>
      drawing.checkVisibility({contentVisibilityAuto: true}) && drawing.getBoundingClientRect().height > 50)) !== true)
      complain(`${name}: not every drawing is printed`);
    await page.context().close();
  }
});
