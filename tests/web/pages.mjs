// Opens pages in a narrow light window, in a wide dark one and without scripts. The windows are then resized and change
// their colours, so that one load shows several views. Prints as JSON what was seen in each view. A picture of the wide
// view, and of each view with a fault or, with PICTURES=all, of all views is written to the directory given.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { browser, newPage } from './browser.mjs'

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
  'no-script': { width: 1440, scheme: 'light' },
}
/** Views of one load of a page each; the page is loaded in the first. */
const LOADS = [['narrow', 'phone', 'phone-dark'], ['wide-dark', 'wide', 'tablet'], ['no-script']]
const chosen = process.env.VIEWS?.split(',') ?? Object.keys(VIEWS)
/** Views that axe judges: by default the first of each load, both colours and widths among them. */
const judgedByAxe = process.env.JUDGED?.split(',') ?? LOADS.map(([first]) => first)
/** Views of which a picture is written in any case. */
const pictured = process.env.PICTURES === 'all' ? chosen : ['wide']

const pages = Object.fromEntries(paths.map((at) => [at, {}]))

/**
 * What is seen of every page in these views, all in one tab: a tab for each page would start a process each, which takes
 * half as long as to judge one.
 */
async function seenInOneTab (views) {
  const page = await newPage()
  const scriptless = views[0] === 'no-script'
  let load
  const client = await page.createCDPSession()
  await client.send('Network.enable')
  client.on('Network.loadingFinished', ({ encodedDataLength }) => { load.bytes += encodedDataLength }) // of a first visit
  page.on('request', (request) => load.requests.push(request.url()))
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && load.console.push(message.text()))
  page.on('pageerror', (error) => load.console.push(String(error)))
  page.on('response', (response) => response.status() >= 400 && load.failed.push(response.url()))
  await page.setJavaScriptEnabled(!scriptless)
  for (const at of paths) {
    load = { requests: [], console: [], failed: [], bytes: 0 }
    const stem = at.replaceAll('/', '-').replace(/^-|-$/g, '') || 'home'
    await arranged(page, VIEWS[views[0]])
    await page.goto(base + at, { waitUntil: 'load' })
    if (!scriptless) Object.assign(load, await settled(page))
    for (const name of views) {
      await arranged(page, VIEWS[name])
      const view = { ...await drawn(page), violations: scriptless || !judgedByAxe.includes(name) ? [] : await judged(page) }
      if (pictured.includes(name) || view.sideways || view.targets || view.violations.length || load.shift > 0.02) {
        await page.screenshot({ path: path.join(directory, `${stem}-${name}.png`), fullPage: true })
      }
      pages[at][name] = Object.assign(view, load)
    }
  }
  await page.close()
}

async function arranged (page, { width, scheme }) {
  await page.setViewport({ width, height: 900, isMobile: width < 500, hasTouch: width < 500 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
}

/** Waits until the page says what is served now and asks for nothing more. How far its layout moved meanwhile. */
async function settled (page) {
  await page.waitForFunction(() => !document.querySelector('#now[hidden]'))
  await page.waitForNetworkIdle({ idleTime: 100 })
  return page.evaluate(() => new Promise((resolve) => {
    let shift = 0
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value }).observe({ type: 'layout-shift', buffered: true })
    requestAnimationFrame(() => requestAnimationFrame(() => resolve({ shift })))
  }))
}

/** Puppeteer evaluates beside the page's Content-Security-Policy, which stays in force for the page itself. */
async function drawn (page) {
  return page.evaluate(() => ({
    title: document.title,
    text: document.querySelector('main').innerText,
    background: getComputedStyle(document.body).backgroundColor,
    sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    targets: [...document.querySelectorAll('main button:not([hidden]), header a')].filter((each) => each.offsetHeight && each.offsetHeight < 24).length,
  }))
}

/** What axe finds. */
async function judged (page) {
  await page.evaluate(axe)
  const options = { runOnly: { type: 'tag', values: rules }, resultTypes: ['violations'], preload: false }
  const found = await page.evaluate((options) => window.axe.run(document, options), options)
  return found.violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, at: nodes.slice(0, 3).map(({ target }) => target.join(' ')) }))
}

for (const load of LOADS) {
  const views = load.filter((name) => chosen.includes(name))
  if (views.length) await seenInOneTab(views)
}
await browser.close()
console.log(JSON.stringify(pages))
