// later.mjs FILE: of a page of very many cells the drawings lie there as text; sight, a link and paper make them, and each
// is then whole: its numbers and the script's tips too. Without script the page says what is missing.
import {complain, open, withBrowser} from './browser.mjs';

const drawings = page => page.evaluate(() => document.querySelectorAll('svg').length);

async function becomes(page, question, argument) {
  for (let tries = 0; tries < 100; tries++) {
    if (await page.evaluate(question, argument))
      return true;
    await page.waitForTimeout(100);
  }
  return false;
}

await withBrowser(async browser => {
  const file = process.argv[2];
  const page = await open(browser, file, {viewport: {width: 1280, height: 800}});
  const cells = await page.evaluate(() => document.querySelectorAll('section[id^=cell-]').length);
  const held = await page.evaluate(() => document.querySelectorAll('.later').length);
  if (cells < 257 || held < cells - 20)
    complain(`of ${cells} cells ${held} are without drawings at first: nothing is tested`);
  await page.evaluate(n => document.getElementById(`cell-${n}`).scrollIntoView(), cells - 20);
  if (!await becomes(page, n => document.querySelectorAll(`#cell-${n} svg`).length > 1, cells - 20))
    complain('a cell in sight has no drawings');
  const figure = await page.evaluate(() =>
    document.querySelectorAll('.later script')[150].textContent.match(/id="([^"]*timeline)"/)[1]);
  await page.evaluate(id => { location.hash = id; }, figure);
  if (!await becomes(page, id => {
    const box = document.getElementById(id)?.getBoundingClientRect();
    return box && box.top < innerHeight && box.bottom > 0;
  }, figure))
    complain(`a link to ${figure} does not lead there`);
  const whole = await page.evaluate(id => {
    const made = document.getElementById(id);
    return made.querySelectorAll('table').length > 0 && made.querySelector('svg').hasAttribute('aria-label');
  }, figure);
  if (!whole)
    complain(`${figure} has no numbers, or the script did not prepare it`);
  if (await drawings(page) > 200)
    complain(`${await drawings(page)} drawings are made before anybody saw them`);
  await page.emulateMedia({media: 'print'});
  if (!await becomes(page, n => document.querySelectorAll('svg').length >= 2 * n, cells))
    complain(`paper has ${await drawings(page)} drawings of ${cells} cells`);
  const plain = await open(browser, file, {javaScriptEnabled: false});
  await plain.evaluate(n => document.getElementById(`cell-${n}`).scrollIntoView(), cells);
  if (!await becomes(plain, n => /drawings need scripts/.test(document.querySelector(`#cell-${n}`).innerText), cells))
    complain('without script nothing says where the drawings are');
});
