// Uses the pages as people do: opens the drawer of a number, follows a chart by pointer and keys, looks up holders, has a
// wrong clock, and waits while newer numbers are published. Prints as JSON what happened.
import { browser, newPage } from './browser.mjs'

const [base, holder, stranger] = process.argv.slice(2)
const complaints = []

async function opened (path, prepare = async () => {}) {
  const page = await newPage()
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  await prepare(page)
  await page.goto(base + path, { waitUntil: 'networkidle0' })
  return page
}

const text = (page, selector) => page.$eval(selector, (found) => found.innerText)
const seen = {}

{
  const page = await opened('/token/')
  await page.focus('.tile a.mark')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog[open]')
  seen.drawer = await text(page, 'dialog')
  seen.focusIn = await page.evaluate(() => Boolean(document.activeElement.closest('dialog')))
  await page.keyboard.press('Escape')
  seen.closed = await page.evaluate(() => document.querySelector('dialog[open]') === null && document.activeElement.matches('a.mark'))
  await page.waitForSelector('#now:not([hidden])')
  seen.now = await text(page, '#now')

  const first = await page.$eval('#chart-days tr[data-x]:last-child', (row) => [...row.cells].map((cell) => cell.textContent))
  const box = await (await page.$('#chart-days svg:has(.cursor)')).boundingBox()
  seen.before = await text(page, '#chart-days .readout')
  await page.mouse.move(box.x + box.width * 0.11, box.y + 60)
  seen.hover = [await text(page, '#chart-days .readout'), first]
  await page.$eval('#chart-days svg:has(.cursor)', (drawing) => drawing.focus())
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowRight')
  seen.keys = await text(page, '#chart-days .readout')
  await page.close()
}

{
  const page = await opened('/holders/')
  await page.type('#lookup', ` ${holder} `)
  await Promise.all([page.waitForNavigation({ waitUntil: 'networkidle0' }), page.keyboard.press('Enter')])
  await page.waitForSelector('#holder .tiles')
  seen.lookedUp = page.url()
  seen.holder = await text(page, '#holder')
  seen.line = await page.$eval('#holder .line', (line) => line.getAttribute('d'))
  seen.ranks = await page.$eval('[data-chart="rank"]', (chart) => ({
    summary: chart.querySelector('.help').textContent,
    line: chart.querySelector('.line').getAttribute('d'),
    dots: chart.querySelectorAll('.dot').length,
    rows: [...chart.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)),
  }))
  await page.click('#holder a.mark')
  seen.holderDrawer = await text(page, 'dialog')
  await page.close()
}

{
  // A holder whose snapshots are none, one, and two at which it held nothing.
  const body = await (await fetch(`${base}/api/token/holders/${holder}?limit=500&ranks=60`)).json()
  const empty = body.ranks.map((point) => ({ ...point, rank: null }))
  seen.withoutRanks = []
  for (const ranks of [[], body.ranks.slice(0, 1), empty]) {
    const page = await opened(`/holders/one/?address=${holder}`, async (page) => {
      await page.setRequestInterception(true)
      page.on('request', (request) => request.url().includes('ranks=60')
        ? request.respond({ contentType: 'application/json', body: JSON.stringify({ ...body, ranks }) })
        : request.continue())
    })
    seen.withoutRanks.push(await page.$$eval('[data-chart], .charts .empty', (all) => all.map((each) => each.dataset.chart ?? each.textContent)))
    await page.close()
  }
}
{
  const page = await opened(`/holders/one/?address=${stranger}`)
  seen.stranger = await text(page, '#holder')
  await page.close()
}
{
  // The page as it is where both attested.
  const html = await (await fetch(`${base}/holders/one/`)).text()
  const lines = [holder, stranger].map((each) => `<p data-attester="${each}">It attested.</p>`).join('')
  const page = await opened(`/holders/one/?address=${stranger}`, async (page) => {
    await page.setRequestInterception(true)
    page.on('request', (request) => request.isNavigationRequest()
      ? request.respond({ contentType: 'text/html', body: html.replace('<template id="holder-found">', `$&${lines}`) })
      : request.continue())
  })
  seen.attesters = await page.$$eval('[data-attester]', (all) => all.map((each) => each.dataset.attester))
  await page.close()
}
complaints.push('--')
{
  const page = await opened('/holders/one/?address=nonsense%20%3Cb%3E')
  seen.nonsense = await text(page, '#holder')
  await page.close()
}
seen.complaintsOfNonsense = complaints.splice(complaints.indexOf('--')).length - 1

seen.refused = []
for (const answer of [
  { status: 429, contentType: 'application/problem+json', headers: { 'Retry-After': '7' }, body: '{"detail": "At most 20 a minute."}' },
  { status: 503, contentType: 'application/problem+json', headers: { 'Retry-After': '9' }, body: '{"detail": "The store is locked."}' },
  { status: 502, contentType: 'text/html', body: '<html>502</html>' },
]) {
  const page = await opened('/holders/one/')
  await page.setRequestInterception(true)
  page.on('request', (request) => request.url().includes('/api/token/holders/') ? request.respond(answer) : request.continue())
  await page.goto(`${base}/holders/one/?address=${stranger}`, { waitUntil: 'networkidle0' })
  seen.refused.push(await text(page, '#holder'))
  await page.close()
}
complaints.splice(0)

{
  // A clock that is a day ahead must not make everything stale.
  const page = await opened('/token/', (page) => page.evaluateOnNewDocument(() => {
    const now = Date.now
    Date.now = () => now() + 86_400_000
  }))
  await page.waitForSelector('#now:not([hidden])')
  await page.reload({ waitUntil: 'networkidle0' })
  seen.clock = [await text(page, '#now'), await page.$eval('#from-holders summary time', (time) => time.title)]
  await page.close()
}

{
  // The page stays open until its numbers expire, and newer ones are published.
  const page = await opened('/token/')
  await page.waitForSelector('#now:not([hidden])')
  await page.evaluate(() => {
    const fetched = window.fetch
    window.fetch = async (...request) => {
      const served = await (await fetched(...request)).json()
      for (const path of Object.keys(served.pages)) served.pages[path] = 'later'
      return new Response(JSON.stringify(served), { headers: { Date: new Date(Date.now() + 86_400_000).toUTCString() } })
    }
  })
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await page.waitForSelector('#newer')
  seen.newer = await text(page, '#newer')
  seen.expired = await text(page, '#notices')
  seen.marks = await page.$$eval('.tile a.mark', (marks) => marks.map((mark) => mark.title))
  await page.close()
}

{
  const page = await opened('/token/', async (page) => {
    await page.setRequestInterception(true)
    page.on('request', (request) => request.url().endsWith('/now.json') ? request.respond({ status: 502, body: 'no' }) : request.continue())
  })
  await page.waitForSelector('#now:not([hidden])')
  seen.unreachable = await text(page, '#now')
  await page.close()
}
await browser.close()
console.log(JSON.stringify({ ...seen, complaints: complaints.filter((text) => !text.includes('502')) }))
