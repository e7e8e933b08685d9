// Uses the explorer of the graph: searches, chooses by keyboard and by address, filters, drags, with the file and
// without. Prints as JSON what it showed.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const page = await newPage()
await page.setViewport({ width: 1440, height: 1000 })
const complaints = []
const asked = []
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('dialog', async (dialog) => { complaints.push(dialog.message()); await dialog.dismiss() })
page.on('request', (request) => asked.push(new URL(request.url()).pathname))
await page.goto(url, { waitUntil: 'networkidle0' })
await page.waitForSelector('#graph-search:not([disabled])')

const results = () => page.$$eval('#graph-results button', (all) => all.map((each) => each.textContent))
const card = () => page.$eval('#graph-card', (each) => each.innerText)
const dark = () => page.$eval('.graph canvas', (canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let painted = 0
  for (let at = 3; at < data.length; at += 4) painted += data[at] > 0
  return painted
})

await page.type('#graph-search', process.env.WORDS)
const found = await results()
await page.focus('#graph-results button')
await page.keyboard.press('Enter')
const chosen = await card()
const address = await page.evaluate(() => decodeURIComponent(location.hash))
const hostile = await page.evaluate(() => document.querySelectorAll('main script, main img, main b').length)

await page.$eval('#graph-search', (each) => { each.value = 'zzzz nothing'; each.dispatchEvent(new Event('input')) })
const nothing = { results: await results(), said: await page.$eval('#graph-found', (each) => each.textContent) }

const all = await dark()
for (const box of await page.$$('[data-domain]')) await box.click()
await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
const none = await dark()
await page.$eval('#graph-search', (each, words) => { each.value = words; each.dispatchEvent(new Event('input')) }, process.env.WORDS)
const hidden = { results: await results(), said: await page.$eval('#graph-found', (each) => each.textContent) }
for (const box of await page.$$('[data-domain]')) await box.click()

const { x, y, width, height } = await (await page.$('.graph canvas')).boundingBox()
// By the CPU clock of its main thread, since on a busy machine frames wait for others.
const clock = await page.createCDPSession()
await clock.send('Performance.enable', { timeDomain: 'threadTicks' })
const cpu = async () => (await clock.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value
await page.evaluate(() => {
  window.frames = 0
  const tick = () => { window.frames += 1; window.ticking = requestAnimationFrame(tick) }
  window.ticking = requestAnimationFrame(tick)
})
const began = await cpu()
await page.mouse.move(x + width / 2, y + height - 20)
await page.mouse.down()
for (let step = 0; step < 60; step += 1) await page.mouse.move(x + width / 2 + 60 * Math.sin(step / 5), y + height - 20 - step * 3)
await page.mouse.up()
const frames = await page.evaluate(() => {
  cancelAnimationFrame(window.ticking)
  return window.frames
})
const frameCpuMs = (await cpu() - began) / frames * 1000
await page.focus('.graph canvas')
for (const key of ['+', '-', 'ArrowLeft', 'ArrowUp', '0']) await page.keyboard.press(key)

const linked = await newPage()
await linked.goto(`${url}#${process.env.NODE}`, { waitUntil: 'networkidle0' })
await linked.waitForFunction(() => document.querySelector('#graph-card h2'))
const byAddress = await linked.$eval('#graph-card h2', (each) => each.textContent)

const strays = {}
for (const hash of ['#node:none%20such', '#%E0%A4%A', '#node:%E0%A4%A']) {
  const stray = await newPage()
  stray.on('pageerror', (error) => complaints.push(String(error)))
  await stray.goto(url + hash, { waitUntil: 'networkidle0' })
  await stray.waitForSelector('#graph-search:not([disabled])')
  strays[hash] = await stray.$eval('#graph-card', (each) => each.innerText.split('\n')[0])
}

const broken = await newPage()
await broken.setRequestInterception(true)
broken.on('request', (request) => request.url().includes('/data/graph-') ? request.respond({ status: 404, body: '' }) : request.continue())
await broken.goto(url, { waitUntil: 'networkidle0' })
const withoutFile = await broken.evaluate(() => ({ said: document.getElementById('graph-found').textContent, drawn: document.querySelectorAll('.graph svg circle').length }))
await browser.close()
console.log(JSON.stringify({ found, chosen, address, hostile, nothing, hidden, strays, all, none, frameCpuMs, byAddress, withoutFile, complaints, counted: asked.filter((each) => each.startsWith('/api/')) }))
