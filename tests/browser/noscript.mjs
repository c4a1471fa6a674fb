// noscript.mjs FILE...: without script the page holds the same text, and its folds open; with it there are the script's
// extras, each of which is seen to work.
import {complain, open, withBrowser} from './browser.mjs';

// What the script adds is set aside, and a tip that it moves to a label is read there.
function textOf() {
  const words = [];
  const walk = node => {
    if (node.nodeType === Node.TEXT_NODE)
      words.push(node.data);
    else if (node.matches && node.matches('script, style, noscript, .tip, .filter, .filter + span'))
      return;
    else {
      const label = node.closest && node.closest('svg') && node.getAttribute('aria-label');
      if (label)
        words.push(label);
      node.childNodes.forEach(walk);
    }
  };
  walk(document.body);
  return words.join(' ').replace(/\s+/g, ' ').trim();
}

async function tips(page, file) {
  await page.evaluate(() => document.querySelectorAll('details').forEach(fold => { fold.open = true; }));
  const drawing = page.locator('svg[tabindex="0"]').first();
  if (await drawing.count() === 0)
    return;
  await drawing.focus();
  await page.keyboard.press('ArrowRight');
  const tip = page.locator('.tip');
  if (!await tip.isVisible() || (await tip.textContent()).trim() === '')
    complain(`${file}: an arrow key on a drawing shows no tip`);
  await page.keyboard.press('Escape');
  if (await tip.isVisible())
    complain(`${file}: Escape does not take the tip away`);
}

async function filter(page, file) {
  const fold = page.locator('#numbers details');
  const shown = () => fold.locator('tbody tr:visible').count();
  if (await fold.locator('input').count() === 0) { // to be filled in, it would be waited for
    complain(`${file}: the numbers have no filter`);
    return;
  }
  const all = await shown();
  await fold.locator('input').fill('step_ns');
  const few = await shown();
  if (all < 10 || few < 1 || few >= all)
    complain(`${file}: the filter shows ${few} of ${all} lines`);
  await fold.locator('input').fill('');
  if (await shown() !== all)
    complain(`${file}: an empty filter hides lines`);
}

await withBrowser(async browser => {
  for (const file of process.argv.slice(2)) {
    const plain = await open(browser, file, {javaScriptEnabled: false});
    await plain.locator('#numbers summary').first().click();
    if (!await plain.locator('#numbers table').first().isVisible())
      complain(`${file}: without script the numbers cannot be unfolded`);
    // Text is read by another engine than the page's own script: evaluate works where the page's script may not.
    const without = await plain.evaluate(textOf);
    const page = await open(browser, file);
    const withScript = await page.evaluate(textOf);
    const at = [...without].findIndex((letter, i) => letter !== withScript[i]);
    if (without !== withScript)
      complain(`${file}: the texts differ: "${without.substr(at - 30, 80)}" with script "${withScript.substr(at - 30, 80)}"`);
    if (without.length < 2000)
      complain(`${file}: only ${without.length} characters of text`);
    await tips(page, file);
    await filter(page, file);
    await plain.context().close();
    await page.context().close();
  }
});
