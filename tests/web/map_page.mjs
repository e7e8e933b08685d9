// Uses the map of holders: goes back in time, shows two thousand, zooms and moves by pointer, wheel, keys and buttons,
// chooses one, with the files and without. Prints as JSON what it showed.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const page = await newPage()
await page.setViewport({ width: 1440, height: 1000 })
const complaints = []
/** The cache modes of what the scripts fetch, by the end of its address. */
const modes = {}
await page.exposeFunction('fetches', (address, mode) => { modes[address.split('/').at(-1)] = mode })
await page.evaluateOnNewDocument(() => {
  const { lineTo } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.lineTo = function (...place) { window.lines += 1; lineTo.apply(this, place) }
  const fetched = window.fetch
  window.fetch = (address, options) => { window.fetches(String(address), options?.cache ?? 'default'); return fetched(address, options) }
})
const asked = []
page.on('pageerror', (error) => complaints.push(String(error)))
page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()))
page.on('request', (request) => asked.push(new URL(request.url()).pathname))
await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
await page.goto(url, { waitUntil: 'networkidle0' })
await page.waitForSelector('#map-time:not([disabled])')

const said = () => page.$eval('#map-said', (each) => each.textContent)
const image = () => page.$eval('.map canvas', (canvas) => canvas.toDataURL())
/** Does something and waits until the canvas shows another picture. */
async function changed (act) {
  const before = await image()
  await act()
  await page.waitForFunction((before) => document.querySelector('.map canvas').toDataURL() !== before, {}, before)
}

await page.evaluate(() => { document.querySelector('.map').scrollIntoView() })
const newest = await said()
const block = () => page.$eval('.map', (each) => each.dataset.block)
const blocks = [await block()]
const legend = () => page.$eval('.map figcaption', (each) => each.innerText.replace(/\s+/g, ' ').trim())
const legends = [await legend()]
const told = () => page.$eval('#map-chosen', (each) => each.textContent.trim())
/** Presses a key on the canvas; how many lines are drawn then. */
async function linesAfter (key) {
  await page.evaluate(() => { document.querySelector('.map canvas').focus(); window.lines = 0 })
  await page.keyboard.press(key)
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.lines)))))
}
const linked = { rows: await page.$$eval('#links tr', (rows) => rows.map((row) => row.dataset.ranks)), lines: [] }
for (const key of ['n', 'n', 'n']) {
  linked.lines.push(await linesAfter(key))
  linked[`number ${linked.lines.length}`] = await told()
}
await page.focus('#map-time')
await page.keyboard.press('Home')
await page.waitForFunction((before) => document.querySelector('.map').dataset.block !== before, {}, blocks[0])
blocks.push(await block())
const oldest = await said()
legends.push(await legend())
linked.lines.push(await linesAfter('p'))
linked.past = await told()
await page.focus('#map-time')
await page.keyboard.press('End')
await page.waitForFunction((before) => document.querySelector('.map').dataset.block !== before, {}, blocks[1])

const canvas = await page.$('.map canvas')
const { x, y, width, height } = await canvas.boundingBox()
const [middleX, middleY] = [x + width / 2, y + height / 2]
await page.mouse.click(middleX, middleY)
const chosen = await page.$eval('#map-chosen', (each) => each.innerText)
const link = await page.$eval('#map-chosen a', (each) => each.getAttribute('href'))
await page.evaluate(() => document.querySelector('.map canvas').focus())
for (const key of ['+', '-', 'ArrowLeft', 'ArrowUp', '0']) await changed(() => page.keyboard.press(key))
await changed(() => page.mouse.wheel({ deltaY: -300 }))
await changed(() => page.click('[data-zoom="0"]'))

await changed(() => page.select('#map-most', '2000'))
legends.push(await legend())
await page.evaluate(() => {
  window.frames_at = []
  const tick = (at) => { window.frames_at.push(at); window.ticking = requestAnimationFrame(tick) }
  window.ticking = requestAnimationFrame(tick)
})
await page.mouse.move(middleX, middleY)
await page.mouse.down()
for (let step = 0; step < 60; step += 1) await page.mouse.move(middleX + 60 * Math.sin(step / 5), middleY - step * 3)
await page.mouse.up()
const frames = await page.evaluate(() => {
  cancelAnimationFrame(window.ticking)
  const [first, last] = [window.frames_at[0], window.frames_at.at(-1)]
  return Math.round((window.frames_at.length - 1) / (last - first) * 1000)
})

/** How far the list reaches beyond its room with the widest cells that a row usually has. */
const beyond = await page.$eval('table.holders', (table) => {
  const [rank, , balance, share, kind] = table.tBodies[0].rows[0].cells
  const widest = [[rank, '100'], [balance.firstChild, '375.747\u202fM'], [share.lastElementChild, '37.549\u202f%'], [kind, 'contract, dolphin']]
  for (const [cell, text] of widest) cell.textContent = text
  return table.parentElement.scrollWidth - table.parentElement.clientWidth
})

const broken = await newPage()
await broken.setRequestInterception(true)
broken.on('request', (request) => request.url().includes('/data/holder_lists.csv') ? request.respond({ status: 404, body: '' }) : request.continue())
await broken.goto(url, { waitUntil: 'networkidle0' })
const withoutFile = await broken.evaluate(() => ({ said: document.getElementById('map-said').textContent, drawn: document.querySelectorAll('.map svg circle').length }))
await browser.close()
console.log(JSON.stringify({ newest, oldest, linked, beyond, legends, modes, blocks, chosen, link, frames, withoutFile, complaints, counted: asked.filter((each) => each.startsWith('/api/')) }))
