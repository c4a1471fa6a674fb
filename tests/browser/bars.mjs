// bars.mjs FILE WORD: the page of the default run is small (its folds closed), and its first screen holds answer, chart,
// trust (WORD, as the terminal says it) and the command that repeats it; on a phone the answer and what to distrust. No
// drawing stands alone in a row of the desk.
import {statSync} from 'node:fs';
import {complain, open, withBrowser} from './browser.mjs';

const [file, word] = process.argv.slice(2);
const MOST = {bytes: 250000, height: 8000, sheets: 6, findings: 5};
const margin = {top: '1cm', bottom: '1cm', left: '1cm', right: '1cm'};

function holds(what, value, most) {
  console.log(`${what}: ${value} of ${most}`);
  if (value > most)
    complain(`${what}: ${value}, at most ${most}`);
}

await withBrowser(async browser => {
  const page = await open(browser, file, {viewport: {width: 1280, height: 800}});
  holds('bytes', statSync(file).size, MOST.bytes);
  holds('height', await page.evaluate(() => document.documentElement.scrollHeight), MOST.height);
  const parts = {answer: '#answer li.said', chart: '#answer figure svg', trust: '#answer .trust', command: '#answer .scope code'};
  for (const [name, selector] of Object.entries(parts)) {
    const ends = await page.evaluate(selector => [...document.querySelectorAll(selector)]
      .map(part => part.getBoundingClientRect().bottom), selector);
    if (ends.length === 0)
      complain(`the first screen has no ${name}`);
    holds(`${name} ends at`, Math.ceil(Math.max(...ends)), 800);
  }
  const width = await page.evaluate(() => [...document.querySelectorAll('#answer .scope')]
    .map(line => line.clientWidth / line.closest('.verdict').clientWidth).at(-1));
  if (!(width > 0.9)) // a column of its own leaves half of the place below the chart empty
    complain(`the words below the chart have ${Math.round(100 * width)} % of the width`);
  const said = await page.evaluate(() => document.querySelector('#answer .trust .tag')?.textContent);
  if (said !== word)
    complain(`trust is "${said}" on the page and "${word}" on the terminal`);
  holds('findings in sight', await page.evaluate(() => [...document.querySelectorAll('#findings .findings > li')]
    .filter(item => item.checkVisibility() && !item.closest('details')).length), MOST.findings);
  const alone = await page.evaluate(() => {
    document.querySelectorAll('#cell-1 details').forEach(fold => { fold.open = true; });
    const box = (figure, part) => figure.querySelector(part).getBoundingClientRect();
    const figures = [...document.querySelectorAll('.figures figure')].filter(figure => figure.clientWidth > 800);
    const empty = figures.filter(figure => box(figure, 'figcaption').left < box(figure, '.drawing').right ||
      box(figure, '.scroll').right > figure.getBoundingClientRect().right + 1);
    document.querySelectorAll('details').forEach(fold => { fold.open = false; });
    return {figures: figures.length, empty: empty.map(figure => figure.id)};
  });
  if (alone.figures === 0 || alone.empty.length > 0)
    complain(`of ${alone.figures} figures with tables these have no words beside them: ${alone.empty.join(' ')}`);
  await page.evaluate(() => scrollTo({top: 2000, behavior: 'instant'}));
  const bar = await page.evaluate(() => document.querySelector('nav.bar').getBoundingClientRect().top);
  if (bar !== 0)
    complain(`the contents do not stay in sight but lie at ${bar}`);
  await page.evaluate(() => scrollTo({top: 0, behavior: 'instant'}));
  const heading = page.locator('#results th a').first();
  await heading.evaluate(link => link.scrollIntoView({block: 'center', behavior: 'instant'}));
  await page.waitForTimeout(300); // a tip goes when the page moves below the pointer
  await heading.hover();
  await page.locator('.tip').waitFor({state: 'visible'}).catch(() => complain('a heading shows no tip'));
  const pdf = await page.pdf({format: 'A4', margin});
  holds('sheets', pdf.toString('latin1').match(/\/Type \/Page\b/g).length, MOST.sheets);
  const phone = await open(browser, file, {viewport: {width: 390, height: 844}});
  const ends = await phone.evaluate(() => document.querySelector('#answer .trust').getBoundingClientRect().bottom);
  holds('trust on a phone ends at', Math.ceil(ends), 844);
  await phone.evaluate(() => document.querySelectorAll('details').forEach(fold => { fold.open = true; }));
  const menu = await phone.evaluate(() => {
    const bar = document.querySelector('nav.bar');
    return {scrolls: bar.scrollWidth > bar.clientWidth, bar: getComputedStyle(bar).scrollbarWidth};
  });
  if (menu.scrolls && menu.bar !== 'none')
    complain(`the contents have a bar of the system below them on a phone (scrollbar-width: ${menu.bar})`);
  const least = await phone.evaluate(() => Math.min(...[...document.querySelectorAll('svg text')].map(text =>
    parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getBoundingClientRect().width /
    text.ownerSVGElement.viewBox.baseVal.width)));
  console.log(`letters of drawings on a phone: ${least.toFixed(1)} pixels`);
  if (least < 11.95)
    complain(`a drawing has letters of ${least.toFixed(1)} pixels on a phone`);
});
