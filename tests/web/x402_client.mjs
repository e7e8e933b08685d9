// What the official x402 client buys from a bare URL: one call, then a key that is used. Prints how many requests it took.
import { wrapFetchWithPaymentFromConfig, decodePaymentResponseHeader } from '@x402/fetch'
import { ExactEvmScheme } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'

const [base, key] = process.argv.slice(2)
let requests = 0
const counted = (...request) => { requests += 1; return fetch(...request) }
const account = privateKeyToAccount(key)
const paying = wrapFetchWithPaymentFromConfig(counted, {
  schemes: [{ network: 'eip155:8453', client: new ExactEvmScheme(account) }],
  spendControls: false,
})
const bought = async (path, options) => {
  const [before, began] = [requests, performance.now()]
  const response = await paying(base + path, options)
  const body = await response.json()
  const settled = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE'))
  return { status: response.status, body, settled, requests: requests - before, ms: performance.now() - began }
}

const call = await bought('/api/v2/guardrail/check', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ action: 'ls -la' }),
})
const plan = await bought('/api/v2/world-model/live')
const apiKey = plan.body.data?.activationPacket.apiKey
const used = await fetch(`${base}/api/v2/world-model/live`, { headers: { Authorization: `Bearer ${apiKey}` } })
console.log(JSON.stringify({ call, plan, used: used.status, payer: account.address }))
