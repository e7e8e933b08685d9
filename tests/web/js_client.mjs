// The JavaScript client against a service that listens: a trial, what a key is for, and a cold start to a paid answer.
// argv: base URL, RPC URL, the payer's private key.
import { createWalletClient, encodeFunctionData, http, parseAbi, publicActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { Client, Refused } from "../../clients/js/index.js";

const [baseUrl, rpcUrl, key] = process.argv.slice(2);
const payer = privateKeyToAccount(key);
const wallet = createWalletClient({ account: payer, chain: base, transport: http(rpcUrl) }).extend(publicActions);

async function paid(quote) {
  const { asset, to, amountUnits } = quote.data.next.pay;
  const abi = parseAbi(["function transfer(address to, uint256 value) returns (bool)"]);
  const data = encodeFunctionData({ abi, functionName: "transfer", args: [to, BigInt(amountUnits)] });
  const hash = await wallet.sendTransaction({ to: asset, data });
  await wallet.waitForTransactionReceipt({ hash, pollingInterval: 20 });
  for (let block = 0; block < 3; block += 1) await wallet.request({ method: "evm_mine" });
  return hash;
}

async function code(work) {
  try {
    return (await work(), null);
  } catch (error) {
    return [error.name, error.code, error instanceof Refused, Object.keys(error.links)];
  }
}

const asked = [];
const counting = (...args) => (asked.push(args[0]), fetch(...args));
const began = performance.now();
const cold = new Client(baseUrl, { fetch: counting });
const { plans } = await cold.plans();
const plan = plans.find((each) => each.tier === "basic");
const quote = await cold.quote(plan.id, payer.address);
const claim = await cold.claim(quote, await paid(quote));
const verdict = (await cold.check({ action: "rm -rf / --no-preserve-root", severity: "high" })).data;
const checked = await cold.verify();
const coldMs = performance.now() - began;

const client = new Client(baseUrl);
const refused = await code(() => client.query({ search: "garden" }));
const trial = await client.trialKey(privateKeyToAccount(generatePrivateKey()));
const written = (await client.signal({ type: "Goal", title: "A garden", source: "me" })).data;
const found = (await client.query({ search: "garden", scope: "own" })).data.nodes;
const history = (await client.node(found[0].id)).data.node.id;
const built = (await client.build({ documents: [{ id: "n", mediaType: "text/markdown", text: "# Plan\n\nOwner: Ada" }] })).data;
const design = (await client.designMemory({ agent: { id: "gardener" }, goals: ["Remember what was planted"] })).data;
const erased = (await client.erase(found[0].id)).data.nodes;
const named = ["task", "task#1", "team/a:b@c"].map((id) => ({ id, type: "Task", title: id }));
await client.build({ mode: "apply", graphId: "tasks", nodes: named });
const hash = (await client.node("task#1")).data.node.title;
for (const id of ["task#1", "team/a:b@c"]) await client.erase(id);
const left = (await client.query({ scope: "own" })).data.nodes.map(({ title }) => title);
const unknown = await code(() => client.node(`${found[0].id}x`));
const metrics = await client.document("/api/site-metrics");

console.log(
  JSON.stringify({
    cold: { requests: asked.length, ms: coldMs, tier: claim.data.activationPacket.tier, passed: verdict.passed },
    checked: { holders: checked.holderCount, supply: String(checked.totalSupplyRaw) },
    refused,
    trial: { prefix: trial.apiKey.slice(0, 9), used: client.key === trial.apiKey },
    written: written.verdict,
    found: found.map(({ title }) => title),
    history: history === found[0].id,
    built: built.nodes.length,
    design: design.mode,
    erased,
    hash,
    left,
    unknown,
    metrics: metrics.ok,
  }),
);
