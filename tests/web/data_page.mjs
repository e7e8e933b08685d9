// Checks open data in a browser: the manifest, a file that it names, one that it doesn't, a manifest that was tampered
// with, a browser without Ed25519, and a service that is silent. Prints as JSON what the page said.
import { browser, newPage } from './browser.mjs'

const [url, good, bad] = process.argv.slice(2)

async function opened (prepare) {
  const page = await newPage()
  if (prepare) await page.evaluateOnNewDocument(prepare)
  await page.goto(url, { waitUntil: 'networkidle0' })
  return page
}

async function checked (page, file) {
  await page.click('#check-file button')
  await page.waitForFunction(() => !document.querySelector('#check-file button[disabled]'))
  if (file) {
    await (await page.$('#file')).uploadFile(file)
    await page.waitForFunction(() => /ok|read/.test(document.querySelector('[data-step=file] span').textContent))
  }
  return page.$$eval('[data-step]', (all) => Object.fromEntries(all.map((each) => [each.dataset.step, [each.className, each.querySelector('span').textContent]])))
}

const page = await opened()
const named = await checked(page, good)
const sizes = await page.$$eval('[data-size]', (all) => all.map((each) => each.textContent))
const unnamed = await checked(page, bad)
const tampered = await checked(await opened(() => {
  const honest = window.fetch
  window.fetch = async (address, ...rest) => {
    const answer = await honest(address, ...rest)
    if (!String(address).endsWith('manifest.json')) return answer
    const manifest = await answer.json()
    Object.values(manifest.files)[0].bytes += 1
    return new Response(JSON.stringify(manifest))
  }
}))
const old = await checked(await opened(() => {
  crypto.subtle.generateKey = async () => { throw new DOMException('unknown', 'NotSupportedError') }
}))
const silent = await opened()
await silent.setOfflineMode(true)
const silence = await checked(silent)
await browser.close()
console.log(JSON.stringify({ named, sizes, unnamed, tampered, old, silence }))
