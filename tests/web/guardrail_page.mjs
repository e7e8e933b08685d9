// Uses the playground of the guardrail by the keyboard: examples, a text of its own, one that is refused, a service
// that is silent. Prints as JSON what it showed.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const page = await newPage()
const complaints = []
page.on('pageerror', (error) => complaints.push(String(error)))
await page.goto(url, { waitUntil: 'networkidle0' })

/** The words of a verdict: its decision, its reason, what was marked and read. */
function seen (root) {
  return page.evaluate((root) => {
    const within = document.querySelector(root)
    const texts = (selector) => [...within.querySelectorAll(selector)].map((each) => each.innerText.replace(/\s+/g, ' ').trim())
    return {
      decision: texts('.verdict strong').at(0),
      because: texts('.because').at(0),
      marked: [...within.querySelectorAll('.action mark')].map((each) => [each.className, each.textContent]),
      reading: texts('.reading > div:not(:has(pre))'),
    }
  }, root)
}

async function settled () {
  await page.waitForFunction(() => !document.getElementById('outcome').hasAttribute('aria-busy') && !document.querySelector('#judge button[disabled]'))
  return seen('#outcome')
}

async function typed (text) {
  await page.focus('#action')
  await page.keyboard.down('Control')
  await page.keyboard.press('a')
  await page.keyboard.up('Control')
  await page.keyboard.sendCharacter(text)
  await page.evaluate(() => document.getElementById('outcome').replaceChildren())
  for (let at = 0; at < 2; at += 1) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  return settled()
}

const examples = []
for (const id of await page.$$eval('.example:has(.try)', (all) => all.map((each) => each.id))) {
  await page.evaluate((id) => { document.getElementById('outcome').replaceChildren(); document.querySelector(`#${id} .try`).click() }, id)
  const judged = await settled()
  await page.evaluate((id) => { document.querySelector(`#${id} details`).open = true }, id)
  examples.push({ judged, published: await seen(`#${id}`) })
}
const own = await typed('😀 "rm -rf ~"; rm -rf ~/Documents')
const left = await page.$eval('#left', (each) => each.textContent)
const markup = await typed('<img src=x onerror=alert(1)> rm -rf /')
const long = await typed('x'.repeat(5000))
const asked = []
page.on('request', (request) => asked.push(request.url()))
const blank = { ...await typed('   '), asked: asked.length }
await page.setRequestInterception(true)
const inHtml = (request) => request.respond({ status: 502, contentType: 'text/html', body: '<html>Bad gateway</html>' })
page.on('request', inHtml)
const unreadable = await typed('git status')
page.off('request', inHtml)
await page.setRequestInterception(false)
await page.setOfflineMode(true)
const silent = await typed('git status')
await browser.close()
console.log(JSON.stringify({ examples, own, left, markup, long, blank, unreadable, silent, complaints }))
