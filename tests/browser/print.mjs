// print.mjs FILE PDF: with scripting off the page is printed whole. What a fold holds is laid out on paper, nothing is
// wider than it, and the PDF is written to PDF.
import {complain, open, withBrowser} from './browser.mjs';

const [file, pdf] = process.argv.slice(2);
const a4 = {width: 718, height: 1047}; // pixels of the paper inside of its margins of 1 cm

await withBrowser(async browser => {
  const page = await open(browser, file, {javaScriptEnabled: false, viewport: a4});
  const hidden = () => page.evaluate(() => [...document.querySelectorAll('details:not([open]) > :not(summary)')]
    .filter(part => !part.checkVisibility({contentVisibilityAuto: true}) || part.getBoundingClientRect().height === 0)
    .map(part => part.closest('details').querySelector('summary').textContent));
  if ((await hidden()).length === 0)
    complain('on the screen every fold is open: nothing is tested');
  await page.emulateMedia({media: 'print'});
  // The browser lays the page out anew for the other medium; on a busy machine that is not done at once.
  for (let tries = 0; tries < 30 && (await hidden()).length > 0; tries++)
    await new Promise(resolve => setTimeout(resolve, 100));
  for (const name of await hidden())
    complain(`"${name}" is not printed`);
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
