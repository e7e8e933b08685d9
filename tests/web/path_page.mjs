// Finds the path between two nodes of the graph, once by the address and once by choosing both. Prints as JSON what it
// showed.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const { START, START_TITLE, END, END_TITLE } = process.env
const complaints = []

async function opened (address) {
  const page = await newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(address, { waitUntil: 'networkidle0' })
  await page.waitForSelector('#graph-search:not([disabled])')
  return page
}

const shown = (page) => page.evaluate(() => ({
  said: document.querySelector('#graph-card .help')?.textContent,
  steps: [...document.querySelectorAll('#graph-card .path li button')].map((each) => each.textContent),
}))
const image = (page) => page.$eval('.graph canvas', (canvas) => canvas.toDataURL())

const linked = await opened(`${url}#path:${encodeURIComponent(START)}/${encodeURIComponent(END)}`)
await linked.waitForSelector('#graph-card .path')
const byAddress = await shown(linked)

const page = await opened(url)
async function choose (title) {
  await page.$eval('#graph-search', (field, title) => { field.value = title; field.dispatchEvent(new Event('input')) }, title)
  for (const button of await page.$$('#graph-results button')) {
    if (await button.evaluate((each) => each.textContent) === title) return button.click()
  }
}
await choose(START_TITLE)
await page.click('#graph-card .quiet')
const before = await image(page)
await choose(END_TITLE)
await page.waitForSelector('#graph-card .path')
await page.waitForFunction((before) => document.querySelector('.graph canvas').toDataURL() !== before, {}, before)
const chosen = { ...await shown(page), hash: await page.evaluate(() => location.hash) }

for (const box of await page.$$('[data-domain]')) await box.click()
await linked.bringToFront()
for (const box of await linked.$$('[data-domain]')) await box.click()
await linked.evaluate(() => dispatchEvent(new Event('hashchange')))
const none = await linked.$eval('#graph-card', (each) => each.innerText)
await browser.close()
console.log(JSON.stringify({ byAddress, chosen, none, complaints }))
