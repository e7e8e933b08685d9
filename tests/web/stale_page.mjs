// Has the service call a document stale before its time while the page is open. Prints as JSON what turned grey.
import { browser, newPage } from './browser.mjs'

const [url, document_] = process.argv.slice(2)
const page = await newPage()
const grey = () => page.$$eval('[data-from]', (all) => all.map((each) => [each.dataset.from, each.classList.contains('stale'), each.querySelector('.since').innerText]))
await page.goto(url, { waitUntil: 'networkidle0' })
await page.waitForSelector('#now:not([hidden])')
const before = { grey: await grey(), health: await page.$eval('#health', (each) => each.innerText.trim()) }
await page.evaluate((path) => {
  const fetched = window.fetch
  window.fetch = async (...request) => {
    const answer = await fetched(...request)
    const served = await answer.json()
    served.documents[path].staleReason = 'check_failed'
    return new Response(JSON.stringify(served), { headers: { Date: answer.headers.get('date') } })
  }
  document.dispatchEvent(new Event('visibilitychange'))
}, document_)
await page.waitForSelector('[data-from].stale')
const after = { grey: await grey(), health: await page.$eval('#health', (each) => each.innerText.trim()), said: await page.$eval('#notices', (each) => each.innerText) }
await browser.close()
console.log(JSON.stringify({ before, after }))
