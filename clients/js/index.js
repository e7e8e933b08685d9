/** A client for the service, built on `fetch` without dependencies. `api-types.d.ts` has the types of all bodies. */

import { Altered, Pending, Unreachable, refusal } from "./errors.js";
import { addressOf, authorization, canonical, listToVerify, pauseBeforeAgain, secondsOf, sha256, verified } from "./rules.js";

export * from "./errors.js";

/** @typedef {import("./api-types.js").components["schemas"]} Schemas */
/** @typedef {{address: string, signTypedData: (typedData: any) => Promise<string>}} Account A wallet, such as one of viem. */
/**
 * @typedef {object} Options
 * @property {string} [key] The API key, if there is one yet
 * @property {typeof fetch} [fetch] Used instead of the platform's
 * @property {number} [mostWaitS] Longest pause before a retry; the default of 65 seconds outlasts a per-minute limit
 * @property {(seconds: number) => Promise<void>} [sleep] Used for pauses
 */
/**
 * @typedef {object} Asked
 * @property {Record<string, any>} [query]
 * @property {any} [body]
 * @property {Record<string, string>} [headers]
 * @property {boolean} [repeatable] True if sending it twice has the effect of sending it once
 */
/** @typedef {{status: number, body: any, bytes: ArrayBuffer, retryAfterS: number | null}} Answer */

/** Sends requests, and retries those that may be repeated after the time that the service states. */
export class Client {
  /** @type {string} */ #baseUrl;
  /** @type {typeof fetch} */ #fetch;
  /** @type {boolean} */ #mayBeRelative;
  /** @type {number} */ #mostWaitS;
  /** @type {(seconds: number) => Promise<void>} */ #sleep;

  constructor(/** @type {string} */ baseUrl, /** @type {Options} */ options = {}) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#fetch = options.fetch ?? ((...asked) => fetch(...asked));
    this.#mayBeRelative = (options.fetch ?? globalThis.location) !== undefined;
    this.#mostWaitS = options.mostWaitS ?? 65;
    this.#sleep = options.sleep ?? ((seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)));
    /** @type {string | undefined} The API key to send. A trial or a claim sets it. */
    this.key = options.key;
  }

  /** Reads a published document, such as `/api/site-metrics`. Returns its JSON, or else its text. */
  async document(/** @type {string} */ path, /** @type {Record<string, any>} */ query = {}) {
    return (await this.#ask("GET", path, { query, repeatable: true })).body;
  }

  /** Reads the plans that can be bought, and what a trial key offers. @returns {Promise<Schemas["PlansAnswer"]>} */
  async plans() {
    return await this.document("/api/agent-access/plans");
  }

  /**
   * Gets a trial key in return for a wallet's signature, without payment, and uses it from then on.
   *
   * @returns {Promise<Schemas["TrialPacket"]>}
   */
  async trialKey(/** @type {Account} */ account) {
    const path = `/api/agent-access/trials/${encodeURIComponent(account.address)}`;
    const challenge = (await this.#ask("GET", path, { repeatable: true })).body;
    const signature = await account.signTypedData(challenge.typedData);
    const body = { issuedAt: challenge.issuedAt, proof: { type: "eip712", signature } };
    const packet = (await this.#ask("POST", path, { body, repeatable: true })).body.data;
    this.key = packet.apiKey;
    return packet;
  }

  /**
   * Requests an offer for the address that will pay. Throws `Altered` if the offer does not match its hashes.
   *
   * @returns {Promise<Schemas["QuoteAnswer"]>}
   */
  async quote(/** @type {string} */ planId, /** @type {string} */ payerAddress) {
    const body = { planId, payerAddress };
    const offered = (await this.#ask("POST", "/api/agent-access/quote", { body, repeatable: true })).body;
    const { quote, paymentRequirement } = offered.data;
    const said = await Promise.all([quote, paymentRequirement].map((part) => sha256(canonical(part))));
    if (said[0] !== offered.quoteHash || said[1] !== offered.paymentRequirementHash) {
      throw new Altered("the quote or its payment requirement does not match its hash");
    }
    return offered;
  }

  /**
   * Redeems a paid quote, waiting up to `waitS` seconds for the payment to settle, and uses the key from then on.
   * `account` signs if the quote requires the payer's proof. If the answer is lost, repeat the claim with the same
   * arguments, even from another process: it never pays or issues twice. Throws `Pending`.
   *
   * @returns {Promise<Schemas["ClaimAnswer"]>}
   */
  async claim(
    /** @type {Schemas["QuoteAnswer"]} */ offered,
    /** @type {string} */ transactionHash,
    /** @type {{account?: Account, waitS?: number}} */ { account, waitS = 300 } = {},
  ) {
    const { quoteId, quoteHash, paymentRequirementHash } = offered;
    const step = offered.data.next.claim;
    const proof =
      step.proofRequired && account
        ? { integrity: { type: "eip712", signature: await account.signTypedData(step.proof) } }
        : {};
    const body = { quoteId, quoteHash, paymentRequirementHash, transactionHash, ...proof };
    const headers = { "Idempotency-Key": `claim-${quoteId}` };
    for (let waitedS = 0; ; ) {
      const answer = await this.#ask("POST", "/api/agent-access/claim", { body, headers, repeatable: true });
      if (answer.status !== 202) {
        this.key = answer.body.data.activationPacket.apiKey;
        return answer.body;
      }
      const pauseS = answer.retryAfterS ?? answer.body.retryAfter;
      if (waitedS + pauseS > waitS) throw new Pending(answer.body);
      waitedS += pauseS;
      await this.#sleep(pauseS);
    }
  }

  /** Queries the graph: the key's own part and the public part. @returns {Promise<Schemas["GraphQueryAnswer"]>} */
  async query(/** @type {Schemas["GraphQueryRequest"]} */ body) {
    return (await this.#ask("POST", "/api/v2/world-model/query", { body, repeatable: true })).body;
  }

  /** Reads a node with its states, decisions and sources. @returns {Promise<Schemas["NodeHistoryAnswer"]>} */
  async node(/** @type {string} */ nodeId, /** @type {Record<string, any>} */ query = {}) {
    return await this.document(`/api/v2/world-model/nodes/${encodeURIComponent(nodeId)}`, query);
  }

  /**
   * States a fact, exactly once even if it is retried. A stage may reject it: see `data.verdict`.
   *
   * @returns {Promise<Schemas["SignalAnswer"]>}
   */
  async signal(/** @type {Schemas["SignalRequest"]} */ statement) {
    const body = { idempotencyKey: crypto.randomUUID(), ...statement };
    return (await this.#ask("POST", "/api/v2/world-model/signal", { body, repeatable: true })).body;
  }

  /** Erases a private node and its edges. @returns {Promise<Schemas["ErasureAnswer"]>} */
  async erase(/** @type {string} */ nodeId) {
    return (await this.#ask("DELETE", `/api/v2/world-model/nodes/${encodeURIComponent(nodeId)}`, { repeatable: true })).body;
  }

  /**
   * Builds a graph from documents. Repeating `apply` with a graph id replaces that graph's content.
   *
   * @returns {Promise<Schemas["BuildAnswer"]>}
   */
  async build(/** @type {Schemas["BuildRequest"]} */ body) {
    const { mode = "preview", graphId } = /** @type {{mode?: string, graphId?: string | null}} */ (body);
    const repeatable = mode === "preview" || graphId !== undefined;
    return (await this.#ask("POST", "/api/v2/knowledge-graph/build", { body, repeatable })).body;
  }

  /** Creates a memory plan for an agent. @returns {Promise<Schemas["DesignAnswer"]>} */
  async designMemory(/** @type {Schemas["DesignRequest"]} */ body) {
    const repeatable = (body.mode ?? "preview") === "preview";
    return (await this.#ask("POST", "/api/v2/memory/design", { body, repeatable })).body;
  }

  /**
   * Has an action judged before it is taken: if `data.passed` is false, don't take it.
   *
   * @returns {Promise<Schemas["GuardrailAnswer"]>}
   */
  async check(/** @type {Schemas["GuardrailRequest"]} */ body) {
    return (await this.#ask("POST", "/api/v2/guardrail/check", { body, repeatable: true })).body;
  }

  /** Reads the count, concentration and proof of the token's holders. @returns {Promise<Schemas["TokenHolders"]>} */
  async holders() {
    return await this.document("/api/token/holders");
  }

  /** Reads the history of one address. @returns {Promise<Schemas["TokenHolder"]>} */
  async holder(/** @type {string} */ address, /** @type {Record<string, any>} */ query = {}) {
    return await this.document(`/api/token/holders/${encodeURIComponent(address)}`, query);
  }

  /**
   * Reads the whole list of holders and checks that its count and sum are those that the service states. Throws
   * `NotProven`. `svc verify` proves more, against nodes of the chain.
   */
  async verify() {
    const document = await this.holders();
    const { bytes } = await this.#ask("GET", listToVerify(document).path, { repeatable: true });
    return await verified(document, bytes);
  }

  /** @returns {Promise<Answer>} */
  async #ask(/** @type {string} */ method, /** @type {string} */ path, /** @type {Asked} */ asked) {
    // Built before the first attempt, so that an invalid address throws here: a retry would not help.
    const address = addressOf(this.#baseUrl, path, asked.query ?? {}, this.#mayBeRelative);
    const hasBody = asked.body !== undefined;
    const headers = { ...authorization(this.key), ...(hasBody && { "Content-Type": "application/json" }), ...asked.headers };
    const body = hasBody ? JSON.stringify(asked.body) : undefined;
    for (let attempt = 1; ; attempt += 1) {
      /** @type {Answer | null} */
      let answer = null;
      /** @type {unknown} */
      let lost;
      try {
        answer = await this.#send(address, { method, headers, body });
      } catch (error) {
        lost = error;
      }
      const pauseS = pauseBeforeAgain(asked.repeatable ?? false, answer, attempt, this.#mostWaitS);
      if (pauseS !== null) {
        await this.#sleep(pauseS);
      } else if (answer === null) {
        throw new Unreachable(`${method} ${path} got no answer: ${lost}`, { cause: lost });
      } else if (answer.status >= 400) {
        throw refusal(answer.status, answer.body, answer.retryAfterS);
      } else {
        return answer;
      }
    }
  }

  /** @returns {Promise<Answer>} */
  async #send(/** @type {string} */ address, /** @type {RequestInit} */ request) {
    const answer = await this.#fetch(address, request);
    const bytes = await answer.arrayBuffer();
    const retryAfterS = secondsOf(answer.headers.get("retry-after"), Date.now());
    return { status: answer.status, body: decoded(answer, bytes), bytes, retryAfterS };
  }
}

/** Returns the decoded JSON of an answer, or its text if it is not JSON. */
function decoded(/** @type {Response} */ answer, /** @type {ArrayBuffer} */ bytes) {
  const mediaType = (answer.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  const text = new TextDecoder().decode(bytes);
  return mediaType === "application/json" || mediaType.endsWith("+json") ? JSON.parse(text) : text;
}
