// print.mjs FILE PDF: with scripting off the page is printed as it lies on the screen: a closed fold is left out with its
// title, an open one is printed whole, nothing is wider than the paper, and the PDF is written to PDF.
import {complain, open, withBrowser} from './browser.mjs';

const [file, pdf] = process.argv.slice(2);
const a4 = {width: 718, height: 1047}; // pixels of the paper inside of its margins of 1 cm

await withBrowser(async browser => {
  const page = await open(browser, file, {javaScriptEnabled: false, viewport: a4});
  const shown = id => page.evaluate(id => document.querySelector(`${id} details, ${id}`).checkVisibility() &&
    document.querySelector(`${id} details`).getBoundingClientRect().height > 50, id);
  await page.locator('#environment summary').click(); // it holds a table of its own
  await page.emulateMedia({media: 'print'});
  // The browser lays the page out anew for the other medium; on a busy machine that is not done at once.
  for (let tries = 0; tries < 30 && await shown('#configuration'); tries++)
    await new Promise(resolve => setTimeout(resolve, 100));
  if (await shown('#configuration'))
    complain('a closed fold is printed');
  if (!await shown('#environment'))
    complain('an open fold is not printed');
  for (const id of ['results', 'findings', 'limits']) // findings have folds of their own behind the first of each cause
    if (!await page.evaluate(id => document.getElementById(id).checkVisibility(), id))
      complain(`${id} is not printed`);
  const needs = await page.evaluate(() => document.documentElement.scrollWidth);
  if (needs > a4.width)
    complain(`the page is ${needs} pixels wide, the paper ${a4.width}`);
  const wide = await page.evaluate(() => [...document.querySelectorAll('table')]
    .filter(table => table.getBoundingClientRect().right > innerWidth).map(table => table.textContent.slice(0, 60)));
  for (const text of wide)
    complain(`a table is wider than the paper: ${text}`);
  const colours = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  if (colours !== 'rgb(255, 255, 255)')
    complain(`paper is not white but ${colours}`);
  await page.pdf({path: pdf, format: 'A4', margin: {top: '1cm', bottom: '1cm', left: '1cm', right: '1cm'}});
});
