// Opens each of a server's pages in Chromium, wide and narrow, light and dark:
//
//   open_pages.mjs CHROMIUM BASE_URL [SCREENSHOTS]
//
// A page must load, ask nobody else for anything, say nothing on the console,
// draw each of its charts, not scroll sideways on a phone, be reachable by
// keyboard, and pass axe's rules for WCAG 2 A and AA. Links that pages have to
// other pages are followed, one of each kind. SCREENSHOTS: a folder for pictures.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import puppeteer from 'puppeteer-core';

const [chromium, base, screenshots] = process.argv.slice(2);
if (base === undefined) {
  console.error('usage: open_pages.mjs CHROMIUM BASE_URL [SCREENSHOTS]');
  process.exit(2);
}
const axe = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);
const LOOKS = [
  { name: 'wide', width: 1280, height: 900, scheme: 'light' },
  { name: 'phone', width: 390, height: 800, scheme: 'dark' },
];

const faults = [];
const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});

async function open(path, look) {
  const page = await browser.newPage();
  const where = `${path} (${look.name})`;
  const fault = (text) => faults.push(`${where}: ${text}`);
  page.on('console', (message) => fault(`console: ${message.text()}`));
  page.on('pageerror', (error) => fault(`script: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${base}/`) && !url.startsWith('data:')) {
      fault(`asks for ${url}`);
    }
  });
  page.on('requestfailed', (request) => fault(`cannot load ${request.url()}`));
  page.on('dialog', (dialog) => {
    fault(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.setViewport({ width: look.width, height: look.height });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: look.scheme },
  ]);
  const answer = await page.goto(base + path, { waitUntil: 'networkidle0' });
  if (answer.status() !== 200) fault(`answers ${answer.status()}`);

  const seen = await page.evaluate(() => ({
    charts: document.querySelectorAll('figure[data-chart]').length,
    drawn: document.querySelectorAll('figure[data-chart] .drawing svg').length,
    wider: document.documentElement.scrollWidth > window.innerWidth,
    heading: document.querySelector('h1')?.textContent ?? '',
    links: [...document.querySelectorAll('main a[href^="/"]')].map((a) =>
      a.getAttribute('href'),
    ),
  }));
  if (seen.drawn < seen.charts) {
    fault(`draws ${seen.drawn} of ${seen.charts} charts`);
  }
  if (seen.wider) fault('is wider than the screen');
  if (seen.heading === '') fault('has no heading');

  await page.keyboard.press('Tab');
  const focus = await page.evaluate(() => document.activeElement.textContent);
  if (focus !== 'To the content') fault(`Tab goes first to "${focus}"`);

  if (screenshots !== undefined) {
    const name = path.split('?')[0].slice(1) || 'fleet';
    await page.evaluate(() => document.activeElement.blur());
    await page.screenshot({
      path: join(screenshots, `${name}_${look.name}.png`),
      fullPage: false,
    });
  }

  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }),
  );
  for (const { id, help, nodes } of violations) {
    fault(`axe ${id}: ${help} (${nodes[0].target})`);
  }
  await page.close();
  return seen;
}

// One link of each kind: /host of many hosts is one page.
const kindOf = (path) => path.split('?')[0];
const waiting = ['/'];
const known = new Set();
let charts = 0;
while (waiting.length > 0) {
  const path = waiting.shift();
  if (known.has(kindOf(path))) continue;
  known.add(kindOf(path));
  for (const look of LOOKS) {
    const seen = await open(path, look);
    charts += seen.charts;
    if (look !== LOOKS[0]) continue;
    const nav = ['/kernels', '/verdicts', '/holds', '/coverage', '/pipeline'];
    for (const link of [...nav, ...seen.links]) {
      if (!/^\/(api|metrics|assets)/.test(link)) waiting.push(link);
    }
  }
}
await browser.close();
for (const expected of ['/host', '/hold', '/verdict']) {
  if (!known.has(expected)) faults.push(`no page leads to ${expected}`);
}
if (charts === 0) faults.push('no page has a chart');
for (const fault of faults) console.log(`FAILED: ${fault}`);
console.log(`${known.size} pages: ${[...known].join(' ')}; ${charts} charts`);
process.exit(faults.length > 0 ? 1 : 0);
