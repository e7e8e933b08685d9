// Filters the transfers of the wall by token and direction, with the keyboard, loads the page again, and opens it without
// scripts. Prints as JSON what is left.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const complaints = []
const page = await newPage()
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()))
await page.goto(url, { waitUntil: 'networkidle0' })
const options = await page.$$eval('form.filter select', (all) => all.map((field) => [...field.options].map((option) => option.text)))
const left = {}
for (const [token, direction] of [[0, 0], [2, 0], [2, 2], [0, 2], [1, 2], [1, 1]]) {
  for (const [id, place] of [['transfers-token', token], ['transfers-direction', direction]]) {
    await page.focus(`#${id}`)
    await page.keyboard.press('Home')
    for (let step = 0; step < place; step += 1) await page.keyboard.press('ArrowDown')
  }
  left[`${options[0][token]}, ${options[1][direction]}`] = await page.evaluate(() => [
    document.querySelector('form.filter [data-found]').textContent,
    ...[...document.querySelectorAll('#newest tr')].filter((row) => row.offsetHeight).map((row) => row.lastElementChild.textContent)
  ])
}
const shown = () => page.evaluate(() => [
  ...[...document.querySelectorAll('.filter select')].map((field) => field.selectedOptions[0].text),
  document.querySelector('form.filter [data-found]').textContent
])
await page.reload({ waitUntil: 'networkidle0' })
const reloaded = await shown()
await page.goto(`${url}?token=none%20of%20these&direction=`, { waitUntil: 'networkidle0' })
const unknown = await shown()
const plain = await newPage()
await plain.setJavaScriptEnabled(false)
await plain.goto(url)
const withoutScript = await plain.evaluate(() => ({ rows: document.querySelectorAll('#newest tr').length, enabled: document.querySelectorAll('.filter select:enabled').length }))
await browser.close()
console.log(JSON.stringify({ options, left, reloaded, unknown, withoutScript, complaints }))
