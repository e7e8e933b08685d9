// Compares two lists of holders: opened plainly, by fields and button, by a preset, by the page's address, and refused.
// Prints as JSON what it showed.
import { browser, newPage } from './browser.mjs'

const [url] = process.argv.slice(2)
const complaints = []
const LISTS = `block,block_time,holders
20,2026-01-01T00:20:00Z,64
40,2026-01-09T00:40:00Z,65
60,2026-01-10T01:00:00Z,2065
`

/** A page, and the paths that it asks of the counted API. `answers` answers some requests instead of the service. */
async function opened (query = '', answers = {}) {
  const page = await newPage()
  const asked = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(pathname + search)
    const answer = answers[pathname]
    return answer ? request.respond(answer) : request.continue()
  })
  await page.goto(url + query, { waitUntil: 'networkidle0' })
  return [page, asked]
}

const text = (page) => page.$eval('#comparison', (room) => room.innerText)
const search = (page) => page.evaluate(() => location.search)
const values = (page) => page.$$eval('#choose-lists select', (selects) => selects.map(({ value }) => value))
const seen = {}

{
  const [page, asked] = await opened()
  seen.plain = { asked: [...asked], published: (await text(page)).includes('Between the two newest snapshots') }
  await page.click('#choose summary')
  await page.waitForSelector('#choose-from:not([disabled])')
  seen.fields = {
    options: await page.$$eval('#choose-from option', (options) => options.map(({ text }) => text)),
    values: await values(page),
    presets: await page.$$eval('[data-days]', (buttons) => buttons.map(({ textContent, disabled }) => [textContent, disabled])),
  }
  await page.select('#choose-from', '40')
  await page.select('#choose-to', '20')
  await page.click('#choose-lists button[type="submit"]')
  await page.waitForSelector('#chosen')
  seen.chosen = {
    text: await text(page),
    search: await search(page),
    values: await values(page),
    link: await page.$eval('[data-link]', (link) => link.getAttribute('href')),
    holder: await page.$eval('#comparison tbody a', (link) => link.getAttribute('href')),
    said: await page.$eval('#choose-said', (each) => each.textContent),
    bars: await page.$$eval('#comparison .bar', (bars) => bars.map((bar) => bar.getBoundingClientRect().width * bar.firstElementChild.getAttribute('width')).some((width) => width > 0)),
    asked: [...asked],
  }
  await page.click('#comparison a.mark')
  seen.drawer = await page.$eval('dialog', (drawer) => drawer.innerText)
  await page.keyboard.press('Escape')
  await page.goBack()
  seen.back = { published: (await text(page)).includes('Between the two newest snapshots'), search: await search(page) }
  await page.close()
}

{
  const [page] = await opened('', { '/data/holder_lists.csv': { contentType: 'text/csv', body: LISTS } })
  await page.click('#choose summary')
  await page.waitForSelector('#choose-from:not([disabled])')
  seen.presets = []
  for (const days of ['1', '7', '']) {
    await page.click(`[data-days="${days}"]`)
    seen.presets.push(await search(page))
  }
  await page.waitForNetworkIdle()
  await page.close()
}

{
  const [page, asked] = await opened('?from=20&to=30')
  seen.linked = { text: await text(page), values: await values(page), asked }
  await page.close()
}

{
  const [page, asked] = await opened('?from=20&to=20')
  seen.same = { text: await text(page), asked }
  await page.close()
}

seen.refused = []
for (const answer of [
  { status: 429, contentType: 'application/problem+json', headers: { 'Retry-After': '7' }, body: '{"detail": "At most 20 a minute."}' },
  { status: 404, contentType: 'application/problem+json', body: '{"detail": "The newest list is of block 60."}' },
  { status: 502, contentType: 'text/html', body: '<html>502</html>' },
]) {
  const [page] = await opened('?from=20&to=40', { '/api/token/holders-map-temporal': answer })
  seen.refused.push(await text(page))
  await page.close()
}

{
  const [page] = await opened('', { '/data/holder_lists.csv': { status: 404, body: '' } })
  await page.click('#choose summary')
  await page.waitForFunction(() => document.getElementById('choose-said').textContent)
  seen.withoutFile = await page.$eval('#choose-said', (each) => each.textContent)
  await page.close()
}
await browser.close()
console.log(JSON.stringify({ ...seen, complaints }))
