// paint.mjs FILE...: the first contentful paint of each, in ms since its navigation began: the median of seven
// openings, each with a fresh cache.
import {open, withBrowser} from './browser.mjs';

const OPENINGS = 7;

await withBrowser(async browser => {
  for (const file of process.argv.slice(2)) {
    const times = [];
    for (let i = 0; i < OPENINGS; i++) {
      const page = await open(browser, file);
      times.push(await page.evaluate(() => new Promise(resolve => {
        new PerformanceObserver((list, observer) => {
          const paint = list.getEntriesByName('first-contentful-paint')[0];
          if (paint) {
            observer.disconnect();
            resolve(paint.startTime);
          }
        }).observe({type: 'paint', buffered: true});
      })));
      await page.context().close();
    }
    times.sort((a, b) => a - b);
    console.log(`${file} ${times[(OPENINGS - 1) / 2].toFixed(0)}`);
  }
});
