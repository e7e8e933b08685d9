// Calculates what numbers of calls a day cost on the page of prices, and on one where single calls are sold. Prints as JSON what it said, and what it asked for.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const page = await newPage()
const complaints = []
page.on('pageerror', (error) => complaints.push(String(error)))
await page.goto(url, { waitUntil: 'networkidle0' })
const asked = []
page.on('request', (request) => asked.push(request.url()))
const said = {}
for (const calls of ['50', '500', '5000', '0', '']) {
  await page.$eval('#calls-a-day', (field) => field.select())
  await page.keyboard.press('Backspace')
  await page.type('#calls-a-day', calls)
  said[calls] = await page.$eval('#calculated', (output) => output.textContent)
}
await page.keyboard.press('Enter')
await page.waitForNetworkIdle({ idleTime: 100 })

const selling = await newPage()
await selling.setRequestInterception(true)
selling.on('request', async (request) => {
  if (request.url() !== url) return request.continue()
  const html = await (await fetch(url)).text()
  request.respond({ contentType: 'text/html', body: html.replace('<table class="wrap described">', '<table><tr data-single="0.002"></tr><tr data-single="0.02"></tr></table>$&') })
})
await selling.goto(url, { waitUntil: 'networkidle0' })
const singly = await selling.$eval('#calculated', (output) => output.textContent)
await browser.close()
console.log(JSON.stringify({ said, singly, asked, complaints }))
