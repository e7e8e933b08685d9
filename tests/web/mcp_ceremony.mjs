// The official TypeScript client, first or second edition, leads the whole ceremony; prints what it saw.
//   node mcp_ceremony.mjs URL PAIRING_CODE sdk | legacy | auto | 2026-07-28
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const [url, pairingCode, era] = process.argv.slice(2)
const me = { name: 'svc-web-checks', version: '1.0.0' }

async function connected() {
  if (era === 'sdk') {
    const client = new FirstClient(me)
    await client.connect(new FirstTransport(new URL(url)))
    return client
  }
  const mode = era === '2026-07-28' ? { pin: era } : era
  const client = new Client(me, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

const client = await connected()

// the client itself holds structuredContent against the tool's outputSchema
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args })
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`)
  return result.structuredContent
}

async function problem(name, args) {
  const result = await client.callTool({ name, arguments: args })
  if (!result.isError) throw new Error(`${name} succeeded`)
  return JSON.parse(result.content[0].text).code
}

const { tools } = await client.listTools()
const { resources } = await client.listResources()
const read = []
for (const { uri } of resources) {
  const { contents } = await client.readResource({ uri })
  read.push(contents[0].text.length > 0)
}
const unpaired = await problem('svc_connect_plan', {})
const { session_token } = await call('svc_connect_handshake', { pairing_code: pairingCode, agent: 'Ada' })
const again = await problem('svc_connect_handshake', { pairing_code: pairingCode })
let { progress } = await call('svc_connect_plan', { session_token, assistant: 'gemini', os: 'linux' })
const steps = []
while (progress.next) {
  steps.push(progress.next.step.id)
  ;({ progress } = await call('svc_connect_report_step', { session_token, step_id: steps.at(-1), outcome: 'done' }))
}
const status = await call('svc_connect_status', { session_token })
await call('svc_connect_talk', { session_token, question: 'What is left to do?' })
const judged = await call('svc_guardrail_check', { session_token, action: 'ls -la' })
const graph = await call('svc_world_query', { session_token, limit: 2 })
const { plans } = await call('svc_plans', { session_token })
const intake = await problem('svc_intake_status', { session_token })
await call('svc_connect_close', { session_token })
const closed = await problem('svc_connect_status', { session_token })
const unknown = await client.callTool({ name: 'svc_nothing', arguments: {} }).then(
  () => null,
  (error) => error.code,
)
await client.close()

console.log(
  JSON.stringify({
    revision: client.getNegotiatedProtocolVersion?.() ?? null,
    tools: tools.map((tool) => tool.name),
    resources: resources.map((resource) => resource.uri),
    read,
    unpaired,
    again,
    steps: steps.length,
    finished: status.progress.finished,
    passed: judged.passed,
    nodes: graph.nodes.length,
    plans: plans.length,
    intake,
    closed,
    unknown,
  }),
)
