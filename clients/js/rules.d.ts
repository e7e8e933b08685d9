/**
 * Returns the seconds to wait before a request is sent again after its `attempt` (from 1), or null to stop. A reply is
 * null where none came. A 429 refused the request before any work, so that one may always go again.
 */
export function pauseBeforeAgain(repeatable: boolean, reply: Reply | null, attempt: number, mostWaitS: number): number | null;
/** Returns a `Retry-After` field, which has seconds or a date, in seconds from `nowMs`; null if it is neither. */
export function secondsOf(retryAfter: string | null, nowMs: number): number | null;
/**
 * Returns the address of a path below the service's, with a query. Throws `AddressInvalid`. An address without a host is
 * the page's, or known to the caller's own `fetch`: `mayBeRelative`.
 */
export function addressOf(baseUrl: string, path: string, query: Record<string, any>, mayBeRelative: boolean): string;
/**
 * Returns the header field that has the key, if there is one. Throws `KeyInvalid`.
 *
 * @returns {Record<string, string>}
 */
export function authorization(key: string | null | undefined): Record<string, string>;
/** Returns a value as RFC 8785 writes it: JavaScript's numbers and strings, and the names of objects in order. */
export function canonical(value: any): string;
/** Returns the SHA-256 of bytes or of a text as hex. */
export function sha256(content: string | ArrayBuffer): Promise<string>;
/** Returns the file that a document's proof is about. Throws `NotProven` if there is no such proof. */
export function listToVerify(document: Schemas["TokenHolders"]): Schemas["HolderListFile"];
/**
 * Verifies the list's file (gzip) against its document. Throws `NotProven` with what does not hold.
 *
 * @returns {Promise<{holderCount: number, totalSupplyRaw: bigint, block: number, blockHash: string}>}
 */
export function verified(document: Schemas["TokenHolders"], packed: ArrayBuffer): Promise<{
    holderCount: number;
    totalSupplyRaw: bigint;
    block: number;
    blockHash: string;
}>;
/** @typedef {import("./api-types.js").components["schemas"]} Schemas */
/** @typedef {{status: number, body: any, retryAfterS: number | null}} Reply */
/** How often a request is sent at most. */
export const ATTEMPTS: 4;
export type Schemas = import("./api-types.js").components["schemas"];
export type Reply = {
    status: number;
    body: any;
    retryAfterS: number | null;
};
