// Opens a page in light, dark and phone width and without scripts; prints as JSON what it did. A picture of each is
// written to the directory given.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const [url, directory] = process.argv.slice(2)
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const VIEWS = {
  light: { width: 1280, scheme: 'light' },
  dark: { width: 1280, scheme: 'dark' },
  phone: { width: 390, scheme: 'light' },
  'phone-dark': { width: 390, scheme: 'dark' },
  'no-script': { width: 1280, scheme: 'light', scriptless: true },
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

async function look (name, { width, scheme, scriptless = false }) {
  const page = await browser.newPage()
  const seen = { requests: [], console: [], failed: [] }
  page.on('request', (request) => seen.requests.push(request.url()))
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && seen.console.push(message.text()))
  page.on('pageerror', (error) => seen.console.push(String(error)))
  page.on('response', (response) => response.status() >= 400 && seen.failed.push(response.url()))
  await page.setViewport({ width, height: 900, isMobile: width < 500, hasTouch: width < 500 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.setJavaScriptEnabled(!scriptless)
  await page.goto(url, { waitUntil: 'networkidle0' })
  await page.screenshot({ path: path.join(directory, `${name}.png`), fullPage: true })
  const drawn = await page.evaluate(() => ({
    title: document.title,
    text: document.body.innerText,
    background: getComputedStyle(document.body).backgroundColor,
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }))
  let violations = []
  if (!scriptless) {
    // Puppeteer's own world: the page's Content-Security-Policy stays in force for the page.
    await page.evaluate(axe)
    const found = await page.evaluate((values) => window.axe.run(document, { runOnly: { type: 'tag', values } }), rules)
    violations = found.violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.target.join(' ')) }))
  }
  await page.close()
  return { ...seen, ...drawn, violations }
}

const views = {}
for (const [name, view] of Object.entries(VIEWS)) views[name] = await look(name, view)
await browser.close()
console.log(JSON.stringify(views))
