// axe.mjs FILE...: axe finds nothing in any of them, light and dark, narrow and wide, folded and unfolded.
import {axeSource, complain, open, withBrowser} from './browser.mjs';

const widths = {narrow: {width: 390, height: 844}, wide: {width: 1280, height: 900}};
const source = axeSource();

async function look(page, name) {
  const {violations, passes} = await page.evaluate(() => axe.run(document, {resultTypes: ['violations', 'passes']}));
  for (const violation of violations)
    for (const node of violation.nodes.slice(0, 3))
      complain(`${name}: ${violation.id} (${violation.help}): ${node.html.slice(0, 160)} ${node.failureSummary}`);
  if (passes.length < 15)
    complain(`${name}: axe looked at ${passes.length} rules only`);
}

// The first of several files is looked at in all four ways, the others in two that differ in both; one alone in one way.
await withBrowser(async browser => {
  const files = process.argv.slice(2);
  for (const [index, file] of files.entries()) {
    const page = await open(browser, file, {bypassCSP: true});
    await page.evaluate(source);
    for (const colorScheme of ['light', 'dark'])
      for (const [name, viewport] of Object.entries(widths)) {
        if ((index > 0 || files.length === 1) && (colorScheme === 'light') !== (name === 'wide'))
          continue;
        if (files.length === 1 && name !== 'wide')
          continue;
        await page.emulateMedia({colorScheme, reducedMotion: 'reduce'});
        await page.setViewportSize(viewport);
        const [needs, has] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        if (needs > has)
          complain(`${file} ${name}: must be scrolled sideways, ${needs} pixels on ${has}`);
        await page.evaluate(() => document.querySelectorAll('details').forEach(fold => { fold.open = true; }));
        await look(page, `${file} ${colorScheme} ${name}`);
      }
    await page.context().close();
  }
});
