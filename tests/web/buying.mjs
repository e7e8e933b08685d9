// Buys a key on a page with a wallet that is put into it. The wallet forwards to a chain, is on the wrong one first,
// rejects the first transfer, and is left in the middle by a reload. Prints as JSON what happened.
import { browser, newPage } from './browser.mjs'

const [url, rpcUrl, account] = process.argv.slice(2)
const calls = []
const wallet = { chain: '0x1', rejects: 1, accounts: [account] }

async function rpc (method, params = []) {
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  const { result, error } = await answer.json()
  if (error) throw new Error(error.message)
  return result
}

/** What a wallet answers; errors are passed as values, since an exposed function loses their code. */
async function asked (method, params) {
  calls.push(method)
  if (method === 'eth_requestAccounts') return { result: wallet.accounts }
  if (method === 'eth_chainId') return { result: wallet.chain }
  if (method === 'wallet_switchEthereumChain') {
    wallet.chain = params[0].chainId
    return { result: null }
  }
  if (method === 'eth_sendTransaction' && wallet.rejects-- > 0) return { code: 4001, message: 'User rejected the request.' }
  return { result: await rpc(method, params) }
}

await rpc('anvil_impersonateAccount', [account])
await rpc('anvil_setBalance', [account, '0xde0b6b3a7640000'])
const page = await newPage()
const complaints = []
page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()))
page.on('pageerror', (error) => complaints.push(String(error)))
const posts = []
page.on('request', (request) => request.method() === 'POST' && posts.push(new URL(request.url()).pathname))
await page.exposeFunction('askWallet', asked)
await page.evaluateOnNewDocument(() => {
  window.ethereum = {
    async request ({ method, params }) {
      const { result, code, message } = await window.askWallet(method, params)
      if (code) throw Object.assign(new Error(message), { code })
      return result
    }
  }
})
await page.goto(url, { waitUntil: 'networkidle0' })
const outcome = () => page.$eval('#buy .outcome', (found) => found.innerText)
const until = (text) => page.waitForFunction((text) => document.querySelector('#buy .outcome').innerText.includes(text), {}, text)
const kept = () => page.evaluate(() => JSON.parse(sessionStorage.getItem('svc.payment')))
const seen = {}

await page.waitForSelector('#buy:not([hidden]) button[type=submit]:not([disabled])')
seen.asksForHash = await page.$eval('.recover', (found) => found.offsetHeight > 0)
await page.click('#buy button[type=submit]')
await until('rejected')
seen.rejected = await outcome()
const first = await kept()
seen.afterRejection = { quote: Boolean(first.quoteId), sending: Boolean(first.isSending) }

await page.click('#buy button[type=submit]')
await until('more confirmations')
seen.pending = await outcome()
seen.sameQuote = (await kept()).quoteId === first.quoteId
seen.transaction = (await kept()).transactionHash

await page.reload({ waitUntil: 'domcontentloaded' })
await until('more confirmations')
seen.afterReload = { hash: (await kept()).transactionHash, step: await page.$eval('#buy [aria-current]', (found) => found.dataset.step) }
for (let block = 0; block < 4; block++) await rpc('evm_mine')
await until('shown once')
seen.key = await page.$eval('#new-key', (found) => found.textContent)
seen.keptAfterwards = await kept()
if (process.env.PICTURE) await (await page.$('#buy')).screenshot({ path: process.env.PICTURE })

await page.reload({ waitUntil: 'networkidle0' })
seen.isKeyGone = !(await page.content()).includes(seen.key) && !(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).includes('svc_')

// Left while the wallet was asked: the page must not pay twice, and takes the hash.
await page.evaluate(() => sessionStorage.setItem('svc.payment', JSON.stringify({ quoteId: 'quote_1', isSending: true })))
await page.reload({ waitUntil: 'networkidle0' })
await page.waitForSelector('.recover:not([hidden])')
seen.left = await outcome()
await page.click('[data-act=forget]')
seen.forgotten = await kept()
await browser.close()
console.log(JSON.stringify({ ...seen, calls, posts, complaints }))
