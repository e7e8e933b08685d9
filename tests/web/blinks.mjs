// Unfurls an address by the registry of actions and runs the action as a wallet's client does; prints what it saw.
import { BlinkInstance, BlinksURLMapper, setProxyUrl } from '@dialectlabs/blinks-core'

const [origin, page, account] = process.argv.slice(2)
setProxyUrl(null)
const rules = await (await fetch(`${origin}/actions.json`)).json()
const api = new BlinksURLMapper(rules).mapUrl(page)
const action = await BlinkInstance.fetch(api, () => ({ isSupported: true }), null)
const linked = action.actions.map((each) => ({
  label: each.label,
  type: each.type,
  parameters: each.parameters.map(({ name, type, required }) => ({ name, type, required: required ?? false })),
}))
const first = action.actions[0]
for (const parameter of first.parameters) first.setValue?.(parameter.options?.[0].value ?? 'ls -la', parameter.name)
const posted = await first.post(account)
console.log(JSON.stringify({ api: String(api), title: action.title, icon: action.icon, metadata: action.metadata, linked, posted }))
