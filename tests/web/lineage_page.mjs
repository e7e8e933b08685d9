// Looks for a word on the page of lineage, and follows the drawer of a number to it. Prints as JSON what was found.
import { browser, newPage } from './browser.mjs'

const [base, ...words] = process.argv.slice(2)
const complaints = []
const page = await newPage()
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()))
await page.goto(`${base}/token/`, { waitUntil: 'networkidle0' })
await page.focus('.tile a.mark')
await page.keyboard.press('Enter')
await page.waitForSelector('dialog[open]')
await page.focus('dialog a[href*="/data/lineage/"]')
await Promise.all([page.waitForNavigation({ waitUntil: 'networkidle0' }), page.keyboard.press('Enter')])
const followed = await page.evaluate(() => [location.hash, document.getElementById(location.hash.slice(1)).open])

const found = {}
for (const word of words) {
  await page.focus('#numbers-filter')
  await page.$eval('#numbers-filter', (field) => { field.value = '' })
  await page.keyboard.type(word)
  found[word] = await page.evaluate(() => [
    document.querySelector('[data-found]').textContent,
    ...[...document.querySelectorAll('.number-of')].filter((each) => each.offsetHeight).map((each) => `${each.id} ${each.querySelector('details').open}`)
  ])
}
await browser.close()
console.log(JSON.stringify({ followed, found, complaints }))
