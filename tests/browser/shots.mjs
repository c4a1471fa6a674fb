// shots.mjs FILE FOLDER: the top of a report as six PNGs: phone and desk, light and dark; a tablet; the first page on
// paper.
import {open, withBrowser} from './browser.mjs';

const [file, folder] = process.argv.slice(2);
const shots = {
  'phone-light': {width: 390, height: 844, deviceScaleFactor: 2, colorScheme: 'light'},
  'phone-dark': {width: 390, height: 844, deviceScaleFactor: 2, colorScheme: 'dark'},
  'desk-light': {width: 1280, height: 800, colorScheme: 'light'},
  'desk-dark': {width: 1280, height: 800, colorScheme: 'dark'},
  'tablet-light': {width: 834, height: 1112, colorScheme: 'light'},
  'print': {width: 794, height: 1123, colorScheme: 'light', media: 'print'},
};

await withBrowser(async browser => {
  for (const [name, {width, height, deviceScaleFactor, colorScheme, media}] of Object.entries(shots)) {
    const page = await open(browser, file, {viewport: {width, height}, deviceScaleFactor, colorScheme});
    if (media === 'print') { // an A4 sheet at 96 dpi with margins of 1 cm
      await page.emulateMedia({media});
      await page.evaluate(() => { document.documentElement.style.padding = '38px'; });
    }
    await page.screenshot({timeout: 120000, path: `${folder}/report-${name}.png`});
    await page.context().close();
  }
});
