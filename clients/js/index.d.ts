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
    constructor(baseUrl: string, options?: Options);
    /** @type {string | undefined} The API key to send. A trial or a claim sets it. */
    key: string | undefined;
    /** Reads a published document, such as `/api/site-metrics`. Returns its JSON, or else its text. */
    document(path: string, query?: Record<string, any>): Promise<any>;
    /** Reads the plans that can be bought, and what a trial key offers. @returns {Promise<Schemas["PlansAnswer"]>} */
    plans(): Promise<Schemas["PlansAnswer"]>;
    /**
     * Gets a trial key in return for a wallet's signature, without payment, and uses it from then on.
     *
     * @returns {Promise<Schemas["TrialPacket"]>}
     */
    trialKey(account: Account): Promise<Schemas["TrialPacket"]>;
    /**
     * Requests an offer for the address that will pay. Throws `Altered` if the offer does not match its hashes.
     *
     * @returns {Promise<Schemas["QuoteAnswer"]>}
     */
    quote(planId: string, payerAddress: string): Promise<Schemas["QuoteAnswer"]>;
    /**
     * Redeems a paid quote, waiting up to `waitS` seconds for the payment to settle, and uses the key from then on.
     * `account` signs if the quote requires the payer's proof. If the answer is lost, repeat the claim with the same
     * arguments, even from another process: it never pays or issues twice. Throws `Pending`.
     *
     * @returns {Promise<Schemas["ClaimAnswer"]>}
     */
    claim(offered: Schemas["QuoteAnswer"], transactionHash: string, { account, waitS }?: {
        account?: Account;
        waitS?: number;
    }): Promise<Schemas["ClaimAnswer"]>;
    /** Queries the graph: the key's own part and the public part. @returns {Promise<Schemas["GraphQueryAnswer"]>} */
    query(body: Schemas["GraphQueryRequest"]): Promise<Schemas["GraphQueryAnswer"]>;
    /** Reads a node with its states, decisions and sources. @returns {Promise<Schemas["NodeHistoryAnswer"]>} */
    node(nodeId: string, query?: Record<string, any>): Promise<Schemas["NodeHistoryAnswer"]>;
    /**
     * States a fact, exactly once even if it is retried. A stage may reject it: see `data.verdict`.
     *
     * @returns {Promise<Schemas["SignalAnswer"]>}
     */
    signal(statement: Schemas["SignalRequest"]): Promise<Schemas["SignalAnswer"]>;
    /** Erases a private node and its edges. @returns {Promise<Schemas["ErasureAnswer"]>} */
    erase(nodeId: string): Promise<Schemas["ErasureAnswer"]>;
    /**
     * Builds a graph from documents. Repeating `apply` with a graph id replaces that graph's content.
     *
     * @returns {Promise<Schemas["BuildAnswer"]>}
     */
    build(body: Schemas["BuildRequest"]): Promise<Schemas["BuildAnswer"]>;
    /** Creates a memory plan for an agent. @returns {Promise<Schemas["DesignAnswer"]>} */
    designMemory(body: Schemas["DesignRequest"]): Promise<Schemas["DesignAnswer"]>;
    /**
     * Has an action judged before it is taken: if `data.passed` is false, don't take it.
     *
     * @returns {Promise<Schemas["GuardrailAnswer"]>}
     */
    check(body: Schemas["GuardrailRequest"]): Promise<Schemas["GuardrailAnswer"]>;
    /** Reads the count, concentration and proof of the token's holders. @returns {Promise<Schemas["TokenHolders"]>} */
    holders(): Promise<Schemas["TokenHolders"]>;
    /** Reads the history of one address. @returns {Promise<Schemas["TokenHolder"]>} */
    holder(address: string, query?: Record<string, any>): Promise<Schemas["TokenHolder"]>;
    /**
     * Reads the whole list of holders and checks that its count and sum are those that the service states. Throws
     * `NotProven`. `svc verify` proves more, against nodes of the chain.
     */
    verify(): Promise<{
        holderCount: number;
        totalSupplyRaw: bigint;
        block: number;
        blockHash: string;
    }>;
    #private;
}
export type Schemas = import("./api-types.js").components["schemas"];
/**
 * A wallet, such as one of viem.
 */
export type Account = {
    address: string;
    signTypedData: (typedData: any) => Promise<string>;
};
export type Options = {
    /**
     * The API key, if there is one yet
     */
    key?: string | undefined;
    /**
     * Used instead of the platform's
     */
    fetch?: typeof fetch | undefined;
    /**
     * Longest pause before a retry; the default of 65 seconds outlasts a per-minute limit
     */
    mostWaitS?: number | undefined;
    /**
     * Used for pauses
     */
    sleep?: ((seconds: number) => Promise<void>) | undefined;
};
export type Asked = {
    query?: Record<string, any> | undefined;
    body?: any;
    headers?: Record<string, string> | undefined;
    /**
     * True if sending it twice has the effect of sending it once
     */
    repeatable?: boolean | undefined;
};
export type Answer = {
    status: number;
    body: any;
    bytes: ArrayBuffer;
    retryAfterS: number | null;
};
