// Looks at HTML files in a real browser, at two widths, light and dark:
//
//   node check.mjs --modules DIR [--shots DIR] FILE...
//   node check.mjs --modules DIR --self-check
//
// A finding is a console error, a request, a page that is wider than its window,
// a plot without a name, labels of a plot that touch or are cut, a cell of a table
// that its text leaves, or what axe-core objects to. DIR holds node_modules; CHROMIUM names the browser if it is not on
// PATH as chromium. The self-check opens the pages in broken/, each of which must
// be found guilty of the fault it is named after. Exit code 1: there are findings.

import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { modules: { type: 'string' }, shots: { type: 'string' }, 'self-check': { type: 'boolean' } },
});
if (!options.modules || (files.length === 0) !== Boolean(options['self-check'])) {
  console.error('usage: node check.mjs --modules DIR [--shots DIR] FILE... | --self-check');
  process.exit(2);
}
const modules = createRequire(path.resolve(options.modules, 'package.json'));
const { default: puppeteer } = await import(pathToFileURL(modules.resolve('puppeteer-core')));
const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');

const views = [1280, 390].flatMap((width) => ['light', 'dark'].map((scheme) => ({ width, scheme })));

// inPage runs in the browser, before and after all details are opened.
function inPage() {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll('body *')].find((e) => {
      if (e.getBoundingClientRect().right <= root.clientWidth) return false;
      for (let p = e.parentElement; p; p = p.parentElement) if (getComputedStyle(p).overflowX !== 'visible') return false;
      return true;
    });
    found.push(['overflow', `${root.scrollWidth} px in a window of ${root.clientWidth}, by ${wide ? wide.outerHTML.slice(0, 80) : 'unknown'}`]);
  }
  for (const cell of document.querySelectorAll('td, th')) {
    if (cell.scrollWidth > cell.clientWidth + 1) found.push(['cell', `"${cell.textContent}" needs ${cell.scrollWidth} px and has ${cell.clientWidth}`]);
  }
  for (const svg of document.querySelectorAll('svg')) {
    if (svg.parentElement.closest('svg') || svg.closest('[aria-hidden=true]')) continue;
    const names = (svg.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent.trim());
    if (svg.getAttribute('role') !== 'img' || names.length < 2 || names.some((n) => !n)) {
      found.push(['name', `needs role=img and a title and a desc that label it: ${svg.outerHTML.slice(0, 80)}`]);
    }
    found.push(...labels(svg));
  }
  return found;

  // labels must stay inside the window and apart from each other.
  function labels(svg) {
    const found = [];
    const boxes = [...svg.querySelectorAll('text')].map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() })).filter((l) => l.box.width > 0);
    for (const [i, a] of boxes.entries()) {
      if (a.box.left < -0.5 || a.box.right > root.clientWidth + 0.5) found.push(['label', `"${a.text}" is cut by the window`]);
      for (const b of boxes.slice(i + 1)) {
        const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (x > -2 && y > 3) found.push(['label', `"${a.text}" touches "${b.text}"`]); // the boxes of two lines may share their leading
      }
    }
    return found;
  }
}

// look opens one file in one view and returns its findings as [kind, text].
async function look(browser, file, view) {
  const found = [];
  const page = await browser.newPage();
  try {
    const url = pathToFileURL(path.resolve(file)).href;
    page.on('console', (m) => m.type() === 'error' && found.push(['console', m.text()]));
    page.on('pageerror', (e) => found.push(['console', String(e)]));
    page.on('request', (r) => r.url() === url || r.url().startsWith('data:') || found.push(['request', r.url()]));
    await page.setViewport({ width: view.width, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: view.scheme }]);
    await page.goto(url, { waitUntil: 'load' });
    found.push(...(await page.evaluate(inPage)));
    await shoot(page, file, view);
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)));
    found.push(...(await page.evaluate(inPage)));
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run({ preload: false, resultTypes: ['violations'] }));
    for (const v of violations) {
      const node = v.nodes[0];
      found.push(['axe', `${v.id}: ${v.help}, ${v.nodes.length} times, first ${node.html.slice(0, 100)} ${node.any[0]?.message ?? ''}`]);
    }
  } finally {
    await page.close();
  }
  return [...new Map(found.map((f) => [f.join(), f])).values()];
}

async function shoot(page, file, view) {
  if (!options.shots) return;
  const name = path.resolve(file).split(path.sep).slice(-2).join('-').replace(/\.html$/, '');
  await page.screenshot({ path: path.join(options.shots, `${name}-${view.width}-${view.scheme}.png`), fullPage: true });
}

// lookAtAll looks at every file in every view, in two browsers: the pages behind
// the first one of a browser are not drawn.
async function lookAtAll(list) {
  const jobs = list.flatMap((file) => views.map((view) => ({ file, view, found: null })));
  const queue = [...jobs];
  const worker = async () => {
    const browser = await puppeteer.launch({ executablePath: chromium(), args: ['--no-sandbox', '--force-color-profile=srgb'] });
    try {
      for (let job = queue.shift(); job; job = queue.shift()) job.found = await look(browser, job.file, job.view);
    } finally {
      await browser.close();
    }
  };
  await Promise.all([worker(), worker()]);
  return jobs;
}

// selfCheck requires of every broken page the fault that it is named after, in
// every view, and nothing of the sound one.
async function selfCheck() {
  const folder = path.join(here, 'broken');
  const jobs = await lookAtAll(readdirSync(folder).filter((f) => f.endsWith('.html')).map((f) => path.join(folder, f)));
  return jobs.map(({ file, view, found }) => {
    const fault = path.basename(file, '.html');
    const kinds = new Set(found.map(([kind]) => kind));
    const ok = fault === 'sound' ? kinds.size === 0 : kinds.has(fault);
    return { name: `broken/${fault}.html, ${view.width} px, ${view.scheme}`, problems: ok ? [] : [`found ${[...kinds].join(', ') || 'nothing'}`] };
  });
}

async function check() {
  if (options.shots) mkdirSync(options.shots, { recursive: true });
  const jobs = await lookAtAll(files);
  return files.map((file) => {
    const views = new Map(); // by problem
    for (const { view, found } of jobs.filter((j) => j.file === file)) {
      for (const f of found) views.set(f.join(': '), [...(views.get(f.join(': ')) ?? []), `${view.width} ${view.scheme}`]);
    }
    return { name: file, problems: [...views].map(([problem, at]) => `${problem} (${at.join(', ')})`) };
  });
}

function chromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const paths = (process.env.PATH ?? '').split(':').flatMap((dir) => names.map((n) => path.join(dir, n)));
  const found = process.env.CHROMIUM ?? paths.find(existsSync);
  if (!found) throw new Error('no chromium on PATH: install it, or name it in CHROMIUM');
  return found;
}

const results = await (options['self-check'] ? selfCheck() : check());
const bad = results.filter((r) => r.problems.length > 0);
for (const { name, problems } of bad) for (const p of problems) console.log(`${name}: ${p}`);
console.log(`${results.length - bad.length} passed, ${bad.length} failed`);
process.exitCode = bad.length > 0 ? 1 : 0;
