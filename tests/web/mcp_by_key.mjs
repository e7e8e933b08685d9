// The official TypeScript client, first or second edition, uses the server by key with nothing but a header; prints what
// it saw.
//   node mcp_by_key.mjs URL KEY sdk | legacy | auto | 2026-07-28
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [url, key, era] = process.argv.slice(2)
const me = { name: 'svc-web-checks', version: '1.0.0' }
const options = { requestInit: { headers: { Authorization: `Bearer ${key}` } } }

async function connected() {
  if (era === 'sdk') {
    const client = new FirstClient(me)
    await client.connect(new FirstTransport(new URL(url), options))
    return client
  }
  const mode = era === '2026-07-28' ? { pin: era } : era
  const client = new Client(me, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), options))
  return client
}

const client = await connected()

// the client itself holds structuredContent against the tool's outputSchema
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args })
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`)
  return result
}

const { tools } = await client.listTools()
const { prompts } = await client.listPrompts()
const { resources } = await client.listResources()
const { resourceTemplates } = await client.listResourceTemplates()
const written = await call('svc_remember', { title: `Tea is served at five in ${era}`, source: 'a note' })
const found = await call('svc_search', { query: 'when is tea served', scope: 'own' })
const { id, resource } = written.structuredContent
const { contents } = await client.readResource({ uri: resource })
await call('svc_node', { id })
await call('svc_correct', { id, action: 'confirms', reason: 'so it is' })
await call('svc_build', { documents: [{ id: 'a', text: '# Acme\n\n- Project: Apollo\n' }] })
await call('svc_memory_design', { agent_id: 'a', goals: [{ title: 'Support', kinds: ['messages'] }] })
const judged = await call('svc_guardrail_check', { action: 'ls -la' })
await call('svc_holders', {})
await call('svc_verify', {})
await call('svc_plans', {})
const mine = await call('svc_my_key', {})
const wrong = await client.callTool({ name: 'svc_node', arguments: { id: 'nobody' } })
await client.close()

console.log(
  JSON.stringify({
    revision: client.getNegotiatedProtocolVersion?.() ?? null,
    tools: tools.map((tool) => tool.name),
    prompts: prompts.map((prompt) => prompt.name),
    resources: resources.map((each) => each.uri),
    templates: resourceTemplates.map((each) => each.uriTemplate),
    links: written.content.map((block) => block.type),
    found: found.structuredContent.nodes.map((node) => node.id).includes(id),
    read: JSON.parse(contents[0].text).node.id === id,
    passed: judged.structuredContent.passed,
    owner: mine.structuredContent.owner,
    wrong: JSON.parse(wrong.content[0].text).code,
  }),
)
