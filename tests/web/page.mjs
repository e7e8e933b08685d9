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

await browser.defaultBrowserContext().overridePermissions(new URL(url).origin, ['clipboard-read', 'clipboard-sanitized-write'])

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
  const used = scriptless ? { violations: [] } : await use(page)
  await page.close()
  return { ...seen, ...drawn, ...used }
}

/** What the script adds: a quote checked, one that was tampered with, a command copied; all of it accessible. */
async function use (page) {
  // Puppeteer evaluates beside the page's Content-Security-Policy, which stays in force for the page itself.
  await page.evaluate(axe)
  const scripted = await page.evaluate(() => [...document.querySelectorAll('#check, [data-copy]')].map((each) => each.innerText).join(' '))
  await page.bringToFront()
  await page.click('[data-copy]')
  await page.waitForFunction(() => document.querySelector('[data-copy]').firstChild.textContent !== 'Copy')
  const copied = await page.evaluate(async () => {
    const button = document.querySelector('[data-copy]')
    const text = document.getElementById(button.dataset.copy).textContent
    return { label: button.firstChild.textContent, same: (await navigator.clipboard.readText()) === text }
  })
  const checked = await asked(page)
  const found = await page.evaluate((values) => window.axe.run(document, { runOnly: { type: 'tag', values } }), rules)
  const violations = found.violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map(({ target }) => target.join(' ')) }))
  await page.evaluate(() => {
    const honest = window.fetch
    window.fetch = async (...request) => {
      const said = await (await honest(...request)).json()
      said.data.quote.payTo = '0x' + '66'.repeat(20)
      return new Response(JSON.stringify(said), { status: 201 })
    }
  })
  return { scripted, copied, checked, tampered: await asked(page), violations }
}

async function asked (page) {
  await page.evaluate(() => document.getElementById('outcome').replaceChildren())
  await page.click('#check button')
  await page.waitForSelector('#outcome .verdict', { timeout: 30_000 })
  return page.evaluate(() => ({
    verdict: document.querySelector('#outcome .verdict').textContent,
    hashes: [...document.querySelectorAll('#outcome dd')].map((each) => each.textContent).filter((text) => /^[0-9a-f]{64}/.test(text)),
  }))
}

const views = {}
for (const [name, view] of Object.entries(VIEWS)) views[name] = await look(name, view)
await browser.close()
console.log(JSON.stringify(views))
