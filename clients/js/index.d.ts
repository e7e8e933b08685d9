export * from "./errors.js";
/** @typedef {import("./api-types.js").components["schemas"]} Schemas */
/** @typedef {{address: string, signTypedData: (typedData: any) => Promise<string>}} Account A wallet, as viem's are. */
/**
 * @typedef {object} Options
 * @property {string} [key] The API key, if there is one yet
 * @property {typeof fetch} [fetch] Used instead of the platform's
 * @property {number} [mostWaitS] Longest pause before a request is sent again: a minute's limit passes in 65 seconds
 * @property {(seconds: number) => Promise<void>} [sleep] Used for pauses
 */
/**
 * @typedef {object} Asked
 * @property {Record<string, any>} [query]
 * @property {any} [body]
 * @property {Record<string, string>} [headers]
 * @property {boolean} [repeatable] Sent twice, it has the effect of one
 */
/** @typedef {{status: number, body: any, bytes: ArrayBuffer, retryAfterS: number | null}} Answer */
/** Sends again what may go again, after the time that the service names. */
export class Client {
    constructor(baseUrl: string, options?: Options);
    /** @type {string | undefined} The API key that is sent. A trial or a claim sets it. */
    key: string | undefined;
    /** Reads a published document, such as `/api/site-metrics`: its JSON, or its text. */
    document(path: string, query?: Record<string, any>): Promise<any>;
    /** Reads what can be bought, and what a trial key gets. @returns {Promise<Schemas["PlansAnswer"]>} */
    plans(): Promise<Schemas["PlansAnswer"]>;
    /**
     * Gets a trial key for a wallet's signature, without a payment, and uses it from then on.
     *
     * @returns {Promise<Schemas["TrialPacket"]>}
     */
    trialKey(account: Account): Promise<Schemas["TrialPacket"]>;
    /**
     * Asks for an offer to the address that will pay. Throws `Altered` if it is not what its hashes say.
     *
     * @returns {Promise<Schemas["QuoteAnswer"]>}
     */
    quote(planId: string, payerAddress: string): Promise<Schemas["QuoteAnswer"]>;
    /**
     * Redeems a paid quote, waits at most `waitS` seconds until the payment is settled, and uses the key from then on.
     * `account` signs where the quote asks for the payer's proof. A claim whose answer was lost is claimed again with the
     * same arguments, also by another process: it never pays or issues twice. Throws `Pending`.
     *
     * @returns {Promise<Schemas["ClaimAnswer"]>}
     */
    claim(offered: Schemas["QuoteAnswer"], transactionHash: string, { account, waitS }?: {
        account?: Account;
        waitS?: number;
    }): Promise<Schemas["ClaimAnswer"]>;
    /** Asks the graph: what is the key's own, and what is public. @returns {Promise<Schemas["GraphQueryAnswer"]>} */
    query(body: Schemas["GraphQueryRequest"]): Promise<Schemas["GraphQueryAnswer"]>;
    /** Reads a node with its states, decisions and sources. @returns {Promise<Schemas["NodeHistoryAnswer"]>} */
    node(nodeId: string, query?: Record<string, any>): Promise<Schemas["NodeHistoryAnswer"]>;
    /**
     * States something, once however often it has to be sent. A stage may reject it: see `data.verdict`.
     *
     * @returns {Promise<Schemas["SignalAnswer"]>}
     */
    signal(statement: Schemas["SignalRequest"]): Promise<Schemas["SignalAnswer"]>;
    /** Erases a private node and the edges at it. @returns {Promise<Schemas["ErasureAnswer"]>} */
    erase(nodeId: string): Promise<Schemas["ErasureAnswer"]>;
    /**
     * Makes a graph from documents. Sent again, `apply` of a graph with an id replaces what it said.
     *
     * @returns {Promise<Schemas["BuildAnswer"]>}
     */
    build(body: Schemas["BuildRequest"]): Promise<Schemas["BuildAnswer"]>;
    /** Makes a memory plan for an agent. @returns {Promise<Schemas["DesignAnswer"]>} */
    designMemory(body: Schemas["DesignRequest"]): Promise<Schemas["DesignAnswer"]>;
    /**
     * Has an action judged before it is taken: where `data.passed` is false, don't do it.
     *
     * @returns {Promise<Schemas["GuardrailAnswer"]>}
     */
    check(body: Schemas["GuardrailRequest"]): Promise<Schemas["GuardrailAnswer"]>;
    /** Reads count, concentration and proof of the token's holders. @returns {Promise<Schemas["TokenHolders"]>} */
    holders(): Promise<Schemas["TokenHolders"]>;
    /** Reads the history of one address. @returns {Promise<Schemas["TokenHolder"]>} */
    holder(address: string, query?: Record<string, any>): Promise<Schemas["TokenHolder"]>;
    /**
     * Reads the whole list of holders and adds it up: count and sum are those that the service states at its block. Throws
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
 * A wallet, as viem's are.
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
     * Longest pause before a request is sent again: a minute's limit passes in 65 seconds
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
     * Sent twice, it has the effect of one
     */
    repeatable?: boolean | undefined;
};
export type Answer = {
    status: number;
    body: any;
    bytes: ArrayBuffer;
    retryAfterS: number | null;
};
