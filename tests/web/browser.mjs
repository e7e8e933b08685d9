// The browser that the scripts for pages drive, and its tabs.
import puppeteer from 'puppeteer-core'

/** Longer than any step takes beside twenty busy processes, so that it passes for no other reason. */
const HANG_MS = 600_000

export const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  timeout: HANG_MS,
  protocolTimeout: HANG_MS,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

/**
 * A tab that keeps no copies. A copy that turned stale is renewed behind the page (`stale-while-revalidate`), and Chromium
 * never tells that such a request ended, so a wait for a quiet network would not end either.
 */
export async function newPage () {
  const page = await browser.newPage()
  page.setDefaultTimeout(HANG_MS)
  await page.setCacheEnabled(false)
  return page
}
