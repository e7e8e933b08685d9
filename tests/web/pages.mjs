// Opens pages at three widths in light and dark and without scripts, or in the views that VIEWS names; prints as JSON
// what was seen. A picture of each view is written to the directory given.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const [base, directory, ...paths] = process.argv.slice(2)
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const VIEWS = {
  narrow: { width: 320, scheme: 'light' },
  phone: { width: 390, scheme: 'light' },
  'phone-dark': { width: 390, scheme: 'dark' },
  tablet: { width: 768, scheme: 'light' },
  wide: { width: 1440, scheme: 'light' },
  'wide-dark': { width: 1440, scheme: 'dark' },
  'no-script': { width: 1440, scheme: 'light', scriptless: true },
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

async function look (address, name, { width, scheme, scriptless = false }) {
  const page = await browser.newPage()
  const seen = { requests: [], console: [], failed: [], bytes: 0 }
  const client = await page.createCDPSession()
  await client.send('Network.enable')
  client.on('Network.loadingFinished', ({ encodedDataLength }) => { seen.bytes += encodedDataLength })
  page.on('request', (request) => seen.requests.push(request.url()))
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && seen.console.push(message.text()))
  page.on('pageerror', (error) => seen.console.push(String(error)))
  page.on('response', (response) => response.status() >= 400 && seen.failed.push(response.url()))
  await page.setViewport({ width, height: 900, isMobile: width < 500, hasTouch: width < 500 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setJavaScriptEnabled(!scriptless)
  await page.goto(address, { waitUntil: 'networkidle0' })
  const moved = scriptless ? {} : await painted(page)
  await page.screenshot({ path: path.join(directory, `${name}.png`), fullPage: true })
  // Puppeteer evaluates beside the page's Content-Security-Policy, which stays in force for the page itself.
  const drawn = await page.evaluate(() => ({
    title: document.title,
    text: document.querySelector('main').innerText,
    background: getComputedStyle(document.body).backgroundColor,
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    targets: [...document.querySelectorAll('main button:not([hidden]), header a')].filter((each) => each.offsetHeight && each.offsetHeight < 24).length,
  }))
  const violations = scriptless ? [] : await judged(page)
  await page.close()
  return { ...seen, ...drawn, ...moved, violations }
}

/** What axe finds. */
async function judged (page) {
  await page.evaluate(axe)
  const found = await page.evaluate((values) => window.axe.run(document, { runOnly: { type: 'tag', values } }), rules)
  return found.violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, at: nodes.slice(0, 3).map(({ target }) => target.join(' ')) }))
}

/** How far the layout moved while loading, and when the first content was there. A picture moves it again. */
async function painted (page) {
  return page.evaluate(() => new Promise((resolve) => {
    let shift = 0
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value }).observe({ type: 'layout-shift', buffered: true })
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    setTimeout(() => resolve({ shift, paint_ms: paint ? Math.round(paint.startTime) : null }), 50)
  }))
}

const chosen = Object.entries(VIEWS).filter(([name]) => !process.env.VIEWS || process.env.VIEWS.split(',').includes(name))
const pages = {}
for (const at of paths) {
  pages[at] = {}
  const stem = at.replaceAll('/', '-').replace(/^-|-$/g, '') || 'home'
  for (const [name, view] of chosen) pages[at][name] = await look(base + at, `${stem}-${name}`, view)
}
await browser.close()
console.log(JSON.stringify(pages))
