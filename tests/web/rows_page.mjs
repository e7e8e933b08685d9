// Uses the explorer of rows: filters, sorts, pages through, with the files and without. Prints as JSON what it showed.
import { browser, newPage } from './browser.mjs'

const [url, dataset] = process.argv.slice(2)
const complaints = []
/** The cache modes of what the scripts fetch, by the end of its address. */
const modes = {}
const room = `#rows-${dataset}`

async function opened (prepare = async () => {}) {
  const page = await newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.exposeFunction('fetches', (address, mode) => { modes[address.split('/').at(-1)] = mode })
  await page.evaluateOnNewDocument(() => {
    const fetched = window.fetch
    window.fetch = (address, options) => { window.fetches(String(address), options?.cache ?? 'default'); return fetched(address, options) }
  })
  await prepare(page)
  await page.goto(`${url}${room}`, { waitUntil: 'networkidle0' })
  return page
}

const page = await opened()
const said = (of = page) => of.$eval(`${room} [data-at]`, (each) => each.textContent)
/** The values of a column, or how many rows there are. */
const column = (name) => page.$$eval(`${room} tbody tr`, (rows, at) => rows.map((row) => row.children[at].title || row.children[at].textContent),
  page.heads.indexOf(name))
async function after (act, of = page) {
  const before = await said(of)
  await act()
  await of.waitForFunction((room, before) => document.querySelector(`${room} [data-at]`).textContent !== before, {}, room, before)
}

page.heads = await page.$$eval(`${room} th`, (heads) => heads.map((head) => head.textContent))
const first = { said: await said(), ranks: await column('rank') }
const head = (name) => page.click(`${room} th[data-column="${name}"] button`)
await after(() => page.click(`${room} [data-step="1"]`))
const second = { said: await said(), ranks: await column('rank') }
await after(() => head('rank'))
await head('rank')
await page.waitForSelector(`${room} th[aria-sort="descending"]`)
const falling = { said: await said(), ranks: await column('rank') }
await head('balance_raw')
await page.waitForSelector(`${room} th[data-column="balance_raw"][aria-sort="ascending"]`)
await head('balance_raw')
await page.waitForSelector(`${room} th[data-column="balance_raw"][aria-sort="descending"]`)
const amounts = await column('balance_raw')
await after(() => page.type(`${room} input`, process.env.WORD))
const filtered = { said: await said(), addresses: await column('address') }
await after(() => page.type(`${room} input`, ' zzzz'))
const nothing = await said()

const broken = await opened(async (page) => {
  await page.setRequestInterception(true)
  page.on('request', (request) => request.url().includes('/data/first-') ? request.respond({ status: 404, body: '' }) : request.continue())
})
await after(() => broken.click(`${room} [data-step="1"]`), broken)
const withoutFile = { said: await said(broken), rows: await broken.$$eval(`${room} tbody tr`, (rows) => rows.length) }
await browser.close()
console.log(JSON.stringify({ first, second, falling, amounts, modes, filtered, nothing, withoutFile, complaints }))
