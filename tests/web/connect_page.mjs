// Uses the connect page: copies a command, checks a quote, and one that was tampered with. Prints as JSON what happened.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
await browser.defaultBrowserContext().overridePermissions(new URL(url).origin, ['clipboard-read', 'clipboard-sanitized-write'])
const page = await newPage()
await page.goto(url, { waitUntil: 'networkidle0' })
await page.bringToFront()
await page.click('[data-copy]')
await page.waitForFunction(() => document.querySelector('[data-copy]').firstChild.textContent !== 'Copy')
const copied = await page.evaluate(async () => {
  const button = document.querySelector('[data-copy]')
  const text = document.getElementById(button.dataset.copy).textContent
  return { label: button.firstChild.textContent, same: (await navigator.clipboard.readText()) === text }
})

async function asked () {
  await page.evaluate(() => document.getElementById('outcome').replaceChildren())
  await page.click('#check button')
  await page.waitForSelector('#outcome .verdict')
  return page.evaluate(() => ({
    verdict: document.querySelector('#outcome .verdict').textContent,
    hashes: [...document.querySelectorAll('#outcome dd')].map((each) => each.textContent).filter((text) => /^[0-9a-f]{64}/.test(text)),
  }))
}

const checked = await asked()
await page.evaluate(() => {
  const honest = window.fetch
  window.fetch = async (...request) => {
    const said = await (await honest(...request)).json()
    said.data.quote.payTo = '0x' + '66'.repeat(20)
    return new Response(JSON.stringify(said), { status: 201 })
  }
})
const tampered = await asked()
await browser.close()
console.log(JSON.stringify({ copied, checked, tampered }))
