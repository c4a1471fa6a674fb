// A browser for the tests of the report: opened once, closed at the end; every complaint is a line on standard output
// and makes the exit status 1.
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const {IFM_NODE_MODULES, IFM_CHROMIUM} = process.env;
const require = createRequire(`${IFM_NODE_MODULES}/node_modules/`);
export const axeSource = () => readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
export const urlOf = file => pathToFileURL(resolve(file)).href;

const PATIENCE = 300000; // ms; what hangs never ends, and a busy machine needs long for what others do at once

let complaints = 0;
export function complain(text) {
  complaints++;
  console.log(text);
}

// work(browser) -> nothing; the report's own errors, and anything that it asks for from outside, are complaints too.
export async function withBrowser(work) {
  const {chromium} = require('playwright-core');
  const browser = await chromium.launch({
    executablePath: IFM_CHROMIUM,
    timeout: PATIENCE,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
  });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
  process.exitCode = complaints > 0 ? 1 : 0;
}

export async function open(browser, file, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on('console', message => message.type() === 'error' && complain(`${file}: ${message.text()}`));
  page.on('pageerror', error => complain(`${file}: ${error}`));
  page.on('request', request => request.url() !== urlOf(file) && complain(`${file} asks for ${request.url()}`));
  await page.goto(urlOf(file));
  return page;
}
