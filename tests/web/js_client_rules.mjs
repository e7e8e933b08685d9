// What the JavaScript client decides without a service. argv: the tables of retries and of requests. Prints what differs from it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import * as exported from "../../clients/js/index.js";
import { canonical, pauseBeforeAgain, secondsOf, verified } from "../../clients/js/rules.js";

const { AddressInvalid, Client, ClientError, KeyInvalid, Refused } = exported;
const rows = JSON.parse(readFileSync(process.argv[2], "utf8"));
const differ = rows.filter((row) => pauseBeforeAgain(row.repeatable, row.reply, row.attempt, 65) !== row.pauseS);

const now = Date.parse("2026-01-02T12:00:00Z");
const seconds = [null, "5", "-3", "Fri, 02 Jan 2026 12:00:30 GMT", "soon"].map((text) => secondsOf(text, now));

// A client whose answers are given, and what it sent and waited.
function clientOf(...replies) {
  const sent = [];
  const pauses = [];
  const fetch = async (url, options) => {
    sent.push({ url, ...options });
    const reply = replies.shift();
    if (reply instanceof Error) throw reply;
    const [status, body, headers = {}] = reply;
    return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
  };
  const sleep = async (pause) => void pauses.push(pause);
  return { client: new Client("https://svc.example/under/", { key: "svc_free_x", fetch, sleep }), sent, pauses };
}

const again = clientOf(new TypeError("gone"), [503, { retryable: true }, { "retry-after": "2" }], [201, { ok: true }]);
await again.client.signal({ type: "Goal", title: "A garden", source: "me" });
const keys = new Set(again.sent.map(({ body }) => JSON.parse(body).idempotencyKey));

async function thrown(work) {
  try {
    return (await work(), null);
  } catch (error) {
    return error;
  }
}

// What a client without a `fetch` given does: the platform's is replaced, which gets only what may be sent.
const { addresses, keys: apiKeys } = JSON.parse(readFileSync(process.argv[3], "utf8"));
const platformFetch = globalThis.fetch;
async function sentBy(base, key, ask) {
  const sent = [];
  globalThis.fetch = async (url, { headers }) => (sent.push([url, headers.Authorization ?? null]), Response.json({}));
  const sleep = () => Promise.reject(new Error("it waits"));
  const error = await thrown(() => ask(new Client(base, { key, sleep })));
  globalThis.fetch = platformFetch;
  return [error, sent];
}

const asTheTable = [];
for (const { base, path, query, url } of addresses) {
  const [error, sent] = await sentBy(base, undefined, (client) => client.document(path, query));
  const holds = url === null ? error instanceof AddressInvalid && sent.length === 0 : error === null && sent[0][0] === url;
  asTheTable.push(holds || [base, path, String(error), sent]);
}
for (const { key, authorization, refused } of apiKeys) {
  const [error, sent] = await sentBy("https://svc.example", key, (client) => client.plans());
  const holds = refused ? error instanceof KeyInvalid && sent.length === 0 : error === null && sent[0][1] === authorization;
  asTheTable.push(holds || [key, String(error), sent]);
}
const [withPassword] = await sentBy("https://me:secret@svc.example", undefined, (client) => client.plans());
const [unwritable] = await sentBy("https://svc.example", undefined, (client) => client.query({ limit: 5n }));
const relative = [];
for (const base of ["", "/under", "//svc.example", "127.0.0.1:18411"]) {
  const fetch = async (url) => (relative.push(url), Response.json({}));
  relative.push((await thrown(() => new Client(base, { fetch }).plans()))?.name);
}

const kinds = {};
for (const status of [400, 413, 401, 402, 403, 404, 409, 429, 500]) {
  const problem = { code: "some_code", detail: "Not so.", retryable: false, links: { plans: "https://x.example" } };
  const error = await thrown(() => clientOf([status, problem, { "retry-after": "90" }]).client.holders());
  kinds[status] = [error.name, error instanceof Refused, error.code, error.links.plans, error.retryAfterS];
}

const once = clientOf(new TypeError("gone"));
const unreachable = await thrown(() => once.client.designMemory({ agent: { id: "a" }, goals: ["x"], mode: "apply" }));

const quote = { b: 1, a: [true, null, "ä", 1e21] };
const hash = (value) => createHash("sha256").update(value).digest("hex");
const offered = {
  data: { quote, paymentRequirement: {}, next: { claim: { proofRequired: false } } },
  quoteId: "q1",
  quoteHash: hash(canonical(quote)),
  paymentRequirementHash: hash("{}"),
};
const altered = await thrown(() => clientOf([201, { ...offered, quoteHash: "0" }]).client.quote("a", "0xab"));
const whole = await clientOf([201, offered]).client.quote("a", "0xab");

const pending = { ok: true, code: "confirmations", quoteId: "q1", retryAfter: 5 };
const issued = { data: { activationPacket: { apiKey: "svc_basic_new" } } };
const claim = clientOf([202, pending, { "retry-after": "5" }], [202, pending, { "retry-after": "7" }], [201, issued]);
await claim.client.claim(whole, "0xaa");
const waiting = await thrown(() => clientOf([202, pending]).client.claim(whole, "0xaa", { waitS: 4 }));

function listed(rows, { sha256, holderCount = 2, total = "7" } = {}) {
  const packed = gzipSync(["address,balance_raw", ...rows].join("\n"));
  const holderList = { path: "/x", sha256: sha256 ?? hash(packed) };
  const proof = { verdict: "proven", sumOfBalances: total, holderList };
  const document = { consistency: { proof, block: 9, blockHash: "0xbb" }, holderCount, totalSupplyRaw: total };
  return [document, packed];
}

const lists = [];
for (const list of [
  listed(["0xa,3", "0xb,5"]),
  listed(["0xa,3", "0xb,4"], { sha256: "0" }),
  listed(["0xa,3", "0xb,4"], { holderCount: 3 }),
  listed(["0xa,3", "0xa,4"]),
  listed(["0xa,7", "0xb,0"]),
]) {
  lists.push((await thrown(() => verified(...list)))?.message);
}
const proven = await verified(...listed(["0xa,3", "0xb,4"]));

console.log(
  JSON.stringify({
    rows: rows.length,
    differ,
    seconds,
    again: { keys: keys.size, sent: again.sent.length, pauses: again.pauses, url: again.sent[0].url },
    asTheTable,
    withPassword: String(withPassword),
    unwritable: unwritable.name,
    relative,
    errors: Object.keys(exported).filter((name) => exported[name].prototype instanceof ClientError),
    kinds,
    unreachable: [unreachable.name, once.sent.length],
    canonical: canonical(quote),
    altered: altered.name,
    claim: { key: claim.client.key, pauses: claim.pauses, keys: claim.sent.map(({ headers }) => headers["Idempotency-Key"]) },
    waiting: waiting.name,
    lists,
    proven: [proven.holderCount, String(proven.totalSupplyRaw), proven.block],
  }),
);
